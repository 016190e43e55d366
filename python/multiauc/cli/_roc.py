"""``multiauc roc``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import multiauc
from multiauc._digits import decimals
from multiauc._files.predictions import read_predictions
from multiauc._wording import counted
from multiauc.cli._output import Outcome, Table, show
from multiauc.cli._problems import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._files.predictions import Predictions, Request
    from multiauc.multiclass_curve_results import MulticlassRocBootstrap

# Where the table shows the curve.
SHOWN_FPR = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5])


def roc_of_file(  # noqa: PLR0913 - the options of the command
    request: Request,
    *,
    kind: str,
    thresholds: int,
    ci: float,
    n_resamples: int,
    seed: int,
    plot: str | None,
    absent: Any,
    style: str,
) -> None:
    """Compute, print and perhaps draw the curve or curves of one model."""
    predictions = read_predictions(request)
    if len(predictions.models) > 1:
        raise Problem("roc takes one model: give --scores once")
    ((name, scores),) = predictions.models.items()
    common = {"sample_weight": predictions.weights, "labels": predictions.labels, "absent": absent}
    if kind != "multiclass":
        _several_curves(predictions, scores, kind, plot, style, common)
        return
    curve = multiauc.multiclass_roc(predictions.y_true, scores, thresholds=thresholds, **common)
    bootstrap = curve.bootstrap(n_resamples, rng=seed) if n_resamples else None
    show(_multiclass(name, curve, bootstrap, ci), style)
    if plot is not None:
        _use_files_only()
        band = None if bootstrap is None else bootstrap.band(ci)
        _save(curve.plot(band=band, label=name), plot)


def _multiclass(
    name: str, curve: multiauc.MulticlassRoc, bootstrap: MulticlassRocBootstrap | None, level: float
) -> Outcome:
    low = high = float("nan")
    heights = np.interp(SHOWN_FPR, curve.fpr, curve.tpr)
    data: dict[str, Any] = {
        "model": name,
        "area": curve.auc,
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


def _several_curves(
    predictions: Predictions, scores: NDArray[Any], kind: Any, plot: str | None, style: str, common: dict[str, Any]
) -> None:
    curves = multiauc.roc_curves(predictions.y_true, scores, kind=kind, **common)
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
    show(Outcome([Table(title, header, summary)], {"curves": data}, (columns, records)), style)
    if plot is not None:
        from multiauc.plotting import RocCurvesDisplay  # noqa: PLC0415

        _use_files_only()
        _save(RocCurvesDisplay(curves).plot(), plot)


def _use_files_only() -> None:
    """Draw without a screen."""
    try:
        import matplotlib as mpl  # noqa: PLC0415
    except ImportError:
        raise Problem("--plot needs matplotlib; install it with: pip install 'multiauc[plot]'") from None
    mpl.use("agg")


def _save(display: Any, path: str) -> None:
    try:
        display.figure_.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: cannot be written: {error}") from None
