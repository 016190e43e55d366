"""``multiauc report``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._common.progress import Stage
from multiauc._common.wording import printable
from multiauc._io.costs import read_costs
from multiauc._io.output import STANDARD, Output
from multiauc._io.sources import open_content
from multiauc._report.writing import evaluations_of, report_page
from multiauc.cli._comparison import compare_models
from multiauc.cli._models import read_models, with_typed_notes
from multiauc.cli._output import refuse, write
from multiauc.cli._problems import Problem, emit
from multiauc.cli._requests import input_files

if TYPE_CHECKING:
    from multiauc._common.registry import MetricName
    from multiauc._io.predictions import Request


def report_on_files(  # noqa: PLR0913 - the options of the command
    request: Request,
    *,
    given: dict[str, Any],
    ci: float,
    metric: Any,
    n_resamples: int | None,
    seed: int,
    output: str,
    force: bool,
    title: str | None,
    metrics: tuple[MetricName, ...] | None = None,
    costs: str | None = None,
    **options: Any,
) -> None:
    """Write the page on one or several models, and say where it is."""
    inputs = input_files(request, options["partition"])
    place = Output(output, inputs if costs is None else (*inputs, costs), force=force)
    refuse(place)
    with Stage("reading the predictions"):
        models = read_models(request, **options)
        of_decisions = None if costs is None else open_content(costs)
        matrix = None if of_decisions is None else read_costs(of_decisions, models.predictions.labels)
    predictions = models.predictions
    if metrics is not None and len(predictions.models) > 1:
        raise Problem("--metrics is for a report on one model; several are compared by one --metric")
    comparison = None
    if len(predictions.models) == 1:
        ((name, scores),) = predictions.models.items()
        with Stage("evaluating the model"):
            found = multiauc.evaluate(predictions.y_true, scores, metrics=metrics, **models.arguments)
            evaluations = {name: with_typed_notes(found)}
    else:
        with Stage("comparing the models"):
            comparison = compare_models(models, metric)
            evaluations = evaluations_of(comparison)
    origin = models.provenance(given)
    if of_decisions is not None:
        origin["files"].append(of_decisions.facts() | {"holds": "costs", "rows": None})
    page = report_page(
        evaluations,
        comparison,
        title=title,
        level=ci,
        n_resamples=n_resamples,
        rng=seed,
        costs=matrix,
        by=predictions.by or None,
        origin=origin,
    )
    if output == STANDARD:
        emit(page)
        return
    written = write(place, page)
    if written.is_file():
        emit(f"Wrote {printable(str(written.resolve()))} ({written.stat().st_size / 1e6:.2f} MB)\n")
