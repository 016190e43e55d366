"""``multiauc roc`` and ``multiauc decide``: the curves of one model, and the decisions that cost least."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._common.progress import Stage
from multiauc._display import model as views
from multiauc._display import numbers
from multiauc._inference.column_order import column_order_note, warn_of_order
from multiauc._input.sample import read_sample
from multiauc._io.output import STANDARD, Output
from multiauc._io.predictions import Source, read_predictions
from multiauc.cli._output import Printing, format_csv
from multiauc.cli._requests import read_cost_files

if TYPE_CHECKING:
    from multiauc.cli._commands import DecideRequest, RocRequest


def compute_curves(request: RocRequest) -> None:
    """Compute, print and perhaps draw the curve or curves of one model."""
    source = request.source()
    printing = Printing(request)
    plot = None if request.plot is None else _open_plot(request, request.plot)
    models = request.read(source)
    (name, scores), y_true, level = models.only("roc"), models.predictions.y_true, request.level
    # As `evaluate` does, if the columns seem to be in another order.
    warn_of_order(column_order_note(read_sample(y_true, scores, **models.arguments), None))
    shown: Any
    if request.kind == "multiclass":
        curve = multiauc.multiclass_roc(y_true, scores, thresholds=request.thresholds, **models.arguments)
        bootstrap = curve.bootstrap(request.bootstrap, rng=request.seed) if request.bootstrap else None
        shown = numbers.view_multiclass_roc(curve, bootstrap, name, level, models.sizes())
    else:
        kind: Any = request.kind
        curves = multiauc.roc_curves(y_true, scores, kind=kind, **models.arguments)
        shown = numbers.view_roc_curves(curves.values(), name, level, models.sizes())
    printing.show(shown, models.provenance)
    if plot is None:
        return
    if request.kind == "multiclass":
        display: Any = curve.plot(band=None if bootstrap is None else bootstrap.band(level), label=name)
    else:
        from multiauc.plotting import RocCurvesDisplay  # noqa: PLC0415

        display = RocCurvesDisplay(curves).plot()
    content = io.BytesIO()
    display.figure_.savefig(content, dpi=150, format=_read_kind(plot))
    plot.write(content.getvalue())


def _open_plot(request: RocRequest, path: str) -> Output:
    """The plot's output, checked before any work is done. From now on, drawing needs no screen."""
    plot = Printing.open_beside(request, "plot", path)
    try:
        import matplotlib as mpl  # noqa: PLC0415
    except ImportError:
        raise ValueError("--plot needs matplotlib; install it with: pip install matplotlib") from None
    mpl.use("agg")
    from matplotlib.backend_bases import FigureCanvasBase  # noqa: PLC0415

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if _read_kind(plot) not in known:
        raise ValueError(f"{path}: cannot be written: the name of a plot ends in {', '.join(known)}")
    if request.output != STANDARD and Path(path).resolve() == Path(request.output).resolve():
        raise ValueError(f"{path}: this is the file of --output, too")
    return plot


def _read_kind(plot: Output) -> str:
    return Path(plot.path).suffix.lower().removeprefix(".")


def decide_file(request: DecideRequest) -> None:
    """Fit a rule to the rows of one model, say what it costs there or on other rows, perhaps write its decisions."""
    source = request.source()
    printing = Printing(request)
    place = None if request.decisions is None else Printing.open_beside(request, "decisions", request.decisions)
    models = request.read(source)
    seen, (name, scores) = models.predictions, models.only("decide")
    matrix, files = read_cost_files(seen.labels, request.costs)
    if request.absent == "nan":
        raise ValueError("--absent nan has no meaning for decide; it has raise and ignore")
    with Stage("finding the decisions that cost least"):
        fitted = multiauc.fit_decisions(seen.y_true, scores, matrix, groups=seen.groups, **models.arguments)
    judged, comparison = seen, fitted.cross_validated
    if request.judge is not None:
        same = {model: Source(request.judge, found.scores) for model, found in source.sources.items()}
        judged = read_predictions(replace(source, sources=same))
        if judged.labels != seen.labels:
            raise ValueError(
                f"{request.judge}: the classes must be those of the first file, in the same order of columns"
            )
        (scores,) = judged.models.values()
        comparison = fitted.compare(
            judged.y_true, scores, sample_weight=judged.weights, groups=judged.groups, outputs=request.outputs
        )
    shown = views.Costs(
        **numbers.describe_rows(request.level, models.sizes()),
        model=name,
        judged_by="cross-validation" if judged is seen else "other rows",
        decisions=numbers.view_decisions(fitted, comparison, request.level),
    )
    others = () if judged is seen else (judged,)
    printing.show(shown, lambda: replace(models, costs=files).provenance(*others))
    if place is not None:
        pairs = zip(judged.y_true.tolist(), fitted.decide(scores, outputs=request.outputs).tolist(), strict=True)
        lines = [[row, *pair] for row, pair in enumerate(pairs, 1)]
        place.write(format_csv(["row", "y_true", "decision"], lines))
