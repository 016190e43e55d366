"""``multiauc report``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._common.progress import Stage
from multiauc._common.wording import printable
from multiauc._io.content import content_of
from multiauc._io.costs import read_costs
from multiauc._io.output import STANDARD, Output
from multiauc._report.writing import evaluate_models, make_page
from multiauc.cli._compare import compare_models
from multiauc.cli._output import refuse, write
from multiauc.cli._problems import Problem, emit
from multiauc.cli._requests import list_inputs, spell_notes

if TYPE_CHECKING:
    from multiauc.cli._requests import ReportRequest


def report_on_files(request: ReportRequest) -> None:
    """Write the page on one or several models, and say where it is."""
    source = request.source(
        request.partition, request.costs, groups=request.groups, by=request.by, row_id=request.row_id
    )
    place = Output(request.output, list_inputs(source, request.partition, request.costs), force=request.force)
    refuse(place)
    matrix = None
    with Stage("reading the predictions"):
        models = request.read(source)
        if request.costs is not None:
            costs = content_of(request.costs)
            matrix = read_costs(costs, models.predictions.labels)
            models = replace(models, costs=(*models.costs, costs))
    predictions, metrics = models.predictions, request.metrics
    if metrics is not None and len(predictions.models) > 1:
        raise Problem("--metrics is for a report on one model; several are compared by one --metric")
    comparison = None
    if len(predictions.models) == 1:
        name, scores = models.only("report")
        wanted: Any = metrics
        with Stage("evaluating the model"):
            found = multiauc.evaluate(predictions.y_true, scores, metrics=wanted, **models.arguments)
            evaluations = {name: spell_notes(found)}
    else:
        with Stage("comparing the models"):
            comparison = compare_models(models, request.metric)
            evaluations = evaluate_models(comparison)
    page = make_page(
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
    written = write(place, page)
    if written.is_file():
        emit(f"Wrote {printable(str(written.resolve()))} ({written.stat().st_size / 1e6:.2f} MB)\n")
