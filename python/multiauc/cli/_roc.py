"""``multiauc roc``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._display import numbers, tables
from multiauc._inference.column_order import column_order_note, warn_of_order
from multiauc._input.sample import read_sample
from multiauc._io.output import STANDARD, Output
from multiauc._io.predictions import read_predictions
from multiauc.cli._output import Printing
from multiauc.cli._requests import Models

if TYPE_CHECKING:
    from multiauc.cli._requests import RocRequest


def compute_curves(request: RocRequest) -> None:
    """Compute, print and perhaps draw the curve or curves of one model."""
    source = request.source()
    printing = Printing.open(request)
    picture = None if request.plot is None else _open_picture(request, request.plot)
    predictions = read_predictions(source)
    models = Models(predictions, {})
    name, scores = models.only("roc")
    common: dict[str, Any] = {
        "sample_weight": predictions.weights,
        "labels": predictions.labels,
        "absent": request.absent,
        "outputs": request.outputs,
    }
    y_true, level = predictions.y_true, request.level
    # As `evaluate` does, if the columns seem to be in another order.
    warn_of_order(column_order_note(read_sample(y_true, scores, **common), None))
    shown: Any
    display: Any
    if request.kind == "multiclass":
        curve = multiauc.multiclass_roc(y_true, scores, thresholds=request.thresholds, **common)
        bootstrap = curve.bootstrap(request.bootstrap, rng=request.seed) if request.bootstrap else None
        shown = numbers.view_multiclass_roc(curve, bootstrap, name, level, models.sizes())
        printing.show(shown, tables.tabulate_multiclass_roc(shown), lambda: models.provenance(request))
        if picture is not None:
            display = curve.plot(band=None if bootstrap is None else bootstrap.band(level), label=name)
    else:
        kind: Any = request.kind
        curves = multiauc.roc_curves(y_true, scores, kind=kind, **common)
        shown = numbers.view_roc_curves(curves.values(), name, level, models.sizes())
        printing.show(shown, tables.tabulate_roc_curves(shown), lambda: models.provenance(request))
        if picture is not None:
            from multiauc.plotting import RocCurvesDisplay  # noqa: PLC0415

            display = RocCurvesDisplay(curves).plot()
    if picture is not None:
        content = io.BytesIO()
        display.figure_.savefig(content, dpi=150, format=_read_kind(picture))
        picture.write(content.getvalue())


def _open_picture(request: RocRequest, path: str) -> Output:
    """Where the picture goes; refused before any work is done. From now on, drawing needs no screen."""
    picture = Output(path, request.inputs(), force=request.force)
    if path == STANDARD:
        raise ValueError("--plot must be a file; the result goes to standard output")
    picture.refuse()
    try:
        import matplotlib as mpl  # noqa: PLC0415
    except ImportError:
        raise ValueError("--plot needs matplotlib; install it with: pip install matplotlib") from None
    mpl.use("agg")
    from matplotlib.backend_bases import FigureCanvasBase  # noqa: PLC0415

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if _read_kind(picture) not in known:
        raise ValueError(f"{path}: cannot be written: a picture's name ends in {', '.join(known)}")
    if request.output != STANDARD and Path(path).resolve() == Path(request.output).resolve():
        raise ValueError(f"{path}: this is the file of --output, too")
    return picture


def _read_kind(picture: Output) -> str:
    return Path(picture.path).suffix.lower().removeprefix(".")
