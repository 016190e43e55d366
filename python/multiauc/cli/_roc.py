"""``multiauc roc``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._display.numbers import view_multiclass_roc, view_roc_curves
from multiauc._display.tables import tabulate_multiclass_roc, tabulate_roc_curves
from multiauc._inference.column_order import column_order_note, warn_of_order
from multiauc._input.sample import read_sample
from multiauc._io.output import STANDARD, Output
from multiauc._io.predictions import read_predictions
from multiauc.cli._output import Printing, refuse, write
from multiauc.cli._problems import Problem
from multiauc.cli._requests import Models, list_inputs

if TYPE_CHECKING:
    from multiauc.cli._requests import RocRequest


def compute_curves(request: RocRequest) -> None:
    """Compute, print and perhaps draw the curve or curves of one model."""
    source = request.source()
    inputs = list_inputs(source)
    picture = None if request.plot is None else Output(request.plot, inputs, force=request.force)
    printing = Printing.open(request, inputs)
    if picture is not None:
        _refuse_picture(picture)
        written = printing.output.path
        if written != STANDARD and Path(picture.path).resolve() == Path(written).resolve():
            raise Problem(f"{picture.path}: this is the file of --output, too")
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
    if request.kind == "multiclass":
        curve = multiauc.multiclass_roc(y_true, scores, thresholds=request.thresholds, **common)
        bootstrap = curve.bootstrap(request.bootstrap, rng=request.seed) if request.bootstrap else None
        one = view_multiclass_roc(curve, bootstrap, name, level, models.sizes())
        printing.show(one, tabulate_multiclass_roc(one), lambda: models.provenance(request))
        if picture is not None:
            band = None if bootstrap is None else bootstrap.band(level)
            _save(curve.plot(band=band, label=name), picture)
        return
    kind: Any = request.kind
    curves = multiauc.roc_curves(y_true, scores, kind=kind, **common)
    several = view_roc_curves(curves.values(), name, level, models.sizes())
    printing.show(several, tabulate_roc_curves(several), lambda: models.provenance(request))
    if picture is not None:
        from multiauc.plotting._roc_curves import RocCurvesDisplay  # noqa: PLC0415

        _save(RocCurvesDisplay(curves).plot(), picture)


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
