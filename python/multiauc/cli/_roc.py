"""``multiauc roc``."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import multiauc
from multiauc._common.registry import MULTICLASS_ROC
from multiauc._common.result import document
from multiauc._common.wording import counted, decimals
from multiauc._inference.column_order import column_order_note, warn_of_order
from multiauc._input.options import read_groups
from multiauc._input.sample import read_sample
from multiauc._io.output import STANDARD, Output
from multiauc.cli._models import read_models
from multiauc.cli._output import Outcome, Printing, Table, printing, refuse, write
from multiauc.cli._problems import Problem
from multiauc.cli._requests import input_files

if TYPE_CHECKING:
    from multiauc._curves.multiclass import MulticlassRocBootstrap
    from multiauc._io.predictions import Request
    from multiauc.cli._models import Models

# Where the table shows the curve.
SHOWN_FPR = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5])


def roc_of_file(  # noqa: PLR0913 - the options of the command
    request: Request,
    *,
    given: dict[str, Any],
    kind: str,
    thresholds: int,
    ci: float,
    n_resamples: int,
    seed: int,
    plot: str | None,
    absent: Any,
    **options: Any,
) -> None:
    """Compute, print and perhaps draw the curve or curves of one model."""
    inputs = input_files(request)
    picture = None if plot is None else Output(plot, inputs, force=options["force"])
    shown = printing(options, inputs)
    if picture is not None:
        _refuse_picture(picture)
        if shown.output.path != STANDARD and Path(plot or "").resolve() == Path(shown.output.path).resolve():
            raise Problem(f"{plot}: this is the file of --output, too")
    models = read_models(request, partition=None, pair_weights="equal", sampling="stratified", absent=absent)
    if len(models.predictions.models) > 1:
        raise Problem("roc takes one model: give --scores once")
    y_true, ((name, scores),) = models.predictions.y_true, models.predictions.models.items()
    common = {word: models.arguments[word] for word in ("sample_weight", "labels", "absent", "outputs")}
    if kind == "multiclass":
        curve = multiauc.multiclass_roc(y_true, scores, thresholds=thresholds, **common)
        bootstrap = curve.bootstrap(n_resamples, rng=seed) if n_resamples else None
        band = None if bootstrap is None else bootstrap.band(ci)
        _show(shown, _multiclass(name, curve, bootstrap, ci), models, given)
        if picture is not None:
            _save(curve.plot(band=band, label=name), picture)
        return
    curves = multiauc.roc_curves(y_true, scores, kind=cast("Any", kind), **common)
    _show(shown, _several_curves(name, curves, ci), models, given)
    if picture is not None:
        from multiauc.plotting import RocCurvesDisplay  # noqa: PLC0415

        _save(RocCurvesDisplay(curves).plot(), picture)


def _show(shown: Printing, outcome: Outcome, models: Models, given: dict[str, Any]) -> None:
    _warn_of_order(models)
    if shown.style == "json":  # the files are read once more for their SHA-256
        predictions, data = models.predictions, outcome.data
        counts = [int((predictions.y_true == label).sum()) for label in predictions.labels]
        content = data | {"rows": len(predictions.y_true), "labels": predictions.labels, "counts": counts}
        outcome = replace(outcome, data=document(data["kind"], data["level"], content, models.provenance(given)))
    shown.show(outcome)


def _warn_of_order(models: Models) -> None:
    """As `evaluate` does, if the columns seem to be in another order."""
    predictions, arguments = models.predictions, models.arguments
    (scores,) = predictions.models.values()
    known = {word: arguments[word] for word in ("sample_weight", "labels", "absent", "outputs")}
    sample = read_sample(predictions.y_true, scores, **known)
    warn_of_order(column_order_note(sample, read_groups(arguments["groups"], len(sample.codes))))


def _multiclass(
    name: str, curve: multiauc.MulticlassRoc, bootstrap: MulticlassRocBootstrap | None, level: float
) -> Outcome:
    low = high = float("nan")
    heights = np.interp(SHOWN_FPR, curve.fpr, curve.tpr)
    data: dict[str, Any] = {
        "kind": MULTICLASS_ROC,
        "model": name,
        "area": curve.auc,
        "standard_error": None,
        "low": None,
        "high": None,
        "level": level,
        "fpr": curve.fpr.tolist(),
        "tpr": curve.tpr.tolist(),
        "deviance": curve.deviance,
        "converged": curve.converged,
    }
    header, rows = ["fpr", "tpr"], np.column_stack([curve.fpr, curve.tpr])
    table = np.column_stack([SHOWN_FPR, heights])
    columns = ["false-positive rate", "true-positive rate"]
    if bootstrap is not None:
        low, high = bootstrap.confidence_interval(level)
        band = bootstrap.band(level)
        data |= {"low": low, "high": high, "standard_error": bootstrap.standard_error}
        data["band"] = {"fpr": band.fpr.tolist(), "low": band.low.tolist(), "high": band.high.tolist()}
        header, rows = (
            ["fpr", "tpr", "low", "high"],
            np.column_stack([band.fpr, np.interp(band.fpr, curve.fpr, curve.tpr), band.low, band.high]),
        )
        limits = [np.interp(SHOWN_FPR, band.fpr, edge) for edge in (band.low, band.high)]
        table = np.column_stack([table, *limits])
        columns += [f"{100 * level:g}% from", "to"]
    interval = "" if bootstrap is None else f", {100 * level:g}% interval {decimals(low)} to {decimals(high)}"
    title = f"Multi-class ROC curve of {name}: area D = {decimals(curve.auc)}{interval}"
    return Outcome([Table(title, columns, table.tolist())], data, (header, rows.tolist()))


def _several_curves(name: str, curves: dict[Any, multiauc.RocCurve], level: float) -> Outcome:
    records, summary, data = [], [], []
    for curve in curves.values():
        against = "" if curve.negative is None else curve.negative
        points = np.column_stack([curve.fpr, curve.tpr, curve.thresholds])
        records += [[curve.positive, against, *point] for point in points.tolist()]
        names = [curve.positive] if curve.negative is None else [curve.positive, against]
        summary.append([*names, curve.auc, len(points)])
        entry = {"class": curve.positive, "against": curve.negative, "area": curve.auc}
        data.append(entry | {"fpr": curve.fpr.tolist(), "tpr": curve.tpr.tolist()})
    if any(curve.negative is not None for curve in curves.values()):
        header, what = ["class", "told from", "area", "points"], "every pair"
    else:
        header, what = ["class", "area", "points"], "each class against the rest"
    title = f"{counted(len(curves), 'ROC curve')}, {what}"
    columns = ["class", "against", "fpr", "tpr", "threshold"]
    content = {"kind": "roc_curves", "model": name, "level": level, "curves": data}
    return Outcome([Table(title, header, summary)], content, (columns, records))


def _refuse_picture(picture: Output) -> None:
    """Raise before any work is done if the picture cannot be drawn or written; from now on draw without a screen."""
    if picture.path == STANDARD:
        raise Problem("--plot must be a file; the result goes to standard output")
    refuse(picture)
    try:
        import matplotlib as mpl  # noqa: PLC0415
    except ImportError:
        raise Problem("--plot needs matplotlib; install it with: pip install matplotlib") from None
    mpl.use("agg")
    from matplotlib.backend_bases import FigureCanvasBase  # noqa: PLC0415

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if _kind_of_picture(picture) not in known:
        raise Problem(f"{picture.path}: cannot be written: a picture's name ends in {', '.join(known)}")


def _kind_of_picture(picture: Output) -> str:
    return Path(picture.path).suffix.lower().removeprefix(".")


def _save(display: Any, picture: Output) -> None:
    content = io.BytesIO()
    display.figure_.savefig(content, dpi=150, format=_kind_of_picture(picture))
    write(picture, content.getvalue())
