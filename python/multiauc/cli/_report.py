"""``multiauc report``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._common.progress import Stage
from multiauc._common.wording import printable
from multiauc._io.output import STANDARD, Output
from multiauc._report import writing
from multiauc.cli._compare import compare_models
from multiauc.cli._problems import emit
from multiauc.cli._requests import read_cost_files, spell_notes

if TYPE_CHECKING:
    from multiauc.cli._requests import ReportRequest


def report_on_files(request: ReportRequest) -> None:
    """Write the page on one or several models, and say where it is."""
    source = request.source()
    place = Output(request.output, request.inputs(), force=request.force)
    place.refuse()
    models = request.read(source)
    matrix, files = read_cost_files(models.predictions.labels, request.costs)
    models = replace(models, costs=(*models.costs, *files))
    predictions, metrics = models.predictions, request.metrics
    comparison = None
    if len(predictions.models) == 1:
        name, scores = models.only("report")
        wanted: Any = metrics
        with Stage("evaluating the model"):
            found = multiauc.evaluate(predictions.y_true, scores, metrics=wanted, **models.arguments)
            evaluations = {name: spell_notes(found)}
    else:
        if metrics is not None:
            raise ValueError("--metrics is for a report on one model; several are compared by one --metric")
        with Stage("comparing the models"):
            comparison = compare_models(models, request.metric)
            evaluations = writing.evaluate_models(comparison)
    page = writing.make_page(
        evaluations,
        comparison,
        title=request.title,
        level=request.level,
        n_resamples=request.bootstrap,
        rng=request.seed,
        costs=matrix,
        by=predictions.by or None,
        origin=models.provenance(request),
    )
    if request.output == STANDARD:
        emit(page)
        return
    written = place.write(page)
    if written.is_file():
        emit(f"Wrote {printable(str(written.resolve()))} ({written.stat().st_size / 1e6:.2f} MB)\n")
