"""``multiauc evaluate``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._common.registry import DEFAULT_METRICS
from multiauc._common.result import document, notes_in_words
from multiauc._common.wording import counted, shown_name
from multiauc._render import numbers
from multiauc._render.slices import slice_numbers
from multiauc._render.words import metric_name
from multiauc.cli import _gates
from multiauc.cli._models import read_models, with_typed_notes
from multiauc.cli._output import (
    ESTIMATE,
    Outcome,
    Table,
    estimate_cells,
    interval_cell,
    pair_cells,
    pair_value_in_words,
    printing,
)
from multiauc.cli._pieces import chosen_pieces
from multiauc.cli._problems import Problem
from multiauc.cli._requests import input_files
from multiauc.cli._slices import slice_records, slice_table

if TYPE_CHECKING:
    from multiauc._common.registry import MetricName
    from multiauc._io.predictions import Request
    from multiauc.cli._gates import Floor


def evaluate_file(  # noqa: PLR0913 - the options of the command
    request: Request,
    *,
    given: dict[str, Any],
    metrics: tuple[MetricName, ...] | None,
    ci: float,
    n_resamples: int,
    seed: int,
    worst: int,
    fail_under: tuple[Floor, ...],
    fail_on_interval: bool,
    checkpoint: str | None,
    memory_limit: int | str | None,
    exact: bool,
    **options: Any,
) -> None:
    """Evaluate one model, print it, and look whether it is good enough."""
    if fail_on_interval:
        _gates.refuse_level("--fail-on-interval", ci, n_resamples)
    wanted: Any = tuple(dict.fromkeys([*(metrics or DEFAULT_METRICS), *(floor.metric for floor in fail_under)]))
    pieces = chosen_pieces(
        request,
        checkpoint=checkpoint,
        exact=exact,
        memory_limit=memory_limit,
        metrics=wanted,
        n_resamples=n_resamples,
        options=options,
    )
    if pieces is not None:
        from multiauc.cli._certified import evaluate_in_pieces  # noqa: PLC0415 - small files do not wait for it

        gates = (fail_under, fail_on_interval)
        evaluate_in_pieces(
            request, pieces, given=given, metrics=wanted, ci=ci, worst=worst, gates=gates, options=options
        )
        return
    shown = printing(options, input_files(request, options["partition"]))
    models = read_models(request, **options)
    if len(models.predictions.models) > 1:
        raise Problem("evaluate takes one model: give --scores once, or use compare")
    ((name, scores),) = models.predictions.models.items()
    evaluation = with_typed_notes(
        multiauc.evaluate(models.predictions.y_true, scores, metrics=wanted, **models.arguments)
    )
    found = evaluation.to_dict(ci) | {
        "model": name,
        "metrics": numbers.metric_numbers(evaluation, ci),
    }
    limited: dict[str, Any] = {metric: one.confidence_interval for metric, one in evaluation.metrics.items()}
    if n_resamples:
        limited |= _resample(found, evaluation, n_resamples, seed, ci)
    if fail_on_interval:
        found["gates"] = _gates.under_limits(limited, fail_under, ci)
    elif fail_under:
        values = {metric: one["value"] for metric, one in found["metrics"].items()}
        found["gates"] = _gates.under(values, fail_under)
    matrix = numbers.main_matrix(evaluation)
    found["per_class"] = numbers.class_numbers(evaluation, ci)
    found["worst_pairs"] = numbers.worst_pairs(evaluation, ci, worst)
    pair_value = "" if matrix is None else pair_value_in_words(matrix.kind)
    if request.by:
        slices = multiauc.evaluate_slices(
            models.predictions.y_true, scores, models.predictions.by, metric=wanted[0], **models.arguments
        )
        found["slices"] = slice_numbers(slices, ci)
    data = found
    if shown.style == "json":  # the files are read once more for their SHA-256
        data = document("evaluation", ci, found, models.provenance(given))
    shown.show(_outcome(found, data, pair_value))
    _gates.close(found.get("gates", []))


def _resample(
    found: dict[str, Any], evaluation: multiauc.Evaluation, n_resamples: int, seed: int, level: float
) -> dict[str, Any]:
    """Put intervals of the bootstrap in the place of those in closed form, where there are any.

    Returns the intervals at any level, by metric.
    """
    bootstrap = evaluation.bootstrap(n_resamples, rng=seed)
    for metric, error in zip(bootstrap.metrics, bootstrap.standard_error.tolist(), strict=True):
        low, high = bootstrap.confidence_interval(metric, level=level)
        found["metrics"][metric] |= {
            "standard_error": numbers.known(error),
            "low": numbers.known(low),
            "high": numbers.known(high),
        }
    closed_form = found["method"]
    found["method"] = f"{counted(n_resamples, 'bootstrap sample')}; logit intervals"
    others = [metric_name(metric) for metric in found["metrics"] if metric not in bootstrap.metrics]
    if others:
        found["method"] += f"; {', '.join(others)}: {closed_form}"
    del found["covariance"]  # of the closed form
    return {metric: partial(bootstrap.confidence_interval, metric) for metric in bootstrap.metrics}


def _outcome(found: dict[str, Any], data: dict[str, Any], pair_value: str) -> Outcome:
    metrics, classes, pairs = found["metrics"], found["per_class"], found["worst_pairs"]
    interval = f"{100 * found['level']:g}% interval"
    tables = [
        Table(
            f"{found['model']}: {counted(found['rows'], 'row')}, {counted(len(found['labels']), 'class', 'classes')}",
            ["metric", "value", "std. error", interval],
            [[metric_name(metric), *estimate_cells(one)] for metric, one in metrics.items()],
        )
    ]
    if classes:
        tables.append(
            Table(
                "Each class against the rest",
                ["class", "rows", "AUC", "std. error", interval],
                [[shown_name(one["label"]), one["rows"], *estimate_cells(one)] for one in classes],
            )
        )
    if pairs:
        tables.append(
            Table(
                f"Pairs that are separated worst ({pair_value})",
                ["pair", "rows", "value", interval],
                [[*pair_cells(pair), pair["value"], interval_cell(pair)] for pair in pairs],
            )
        )
    records = [
        *(["metric", metric, "", *map(one.get, ESTIMATE)] for metric, one in metrics.items()),
        *(["class", one["label"], "", *map(one.get, ESTIMATE)] for one in classes),
        *(["pair", pair["first"], pair["second"], *map(pair.get, ESTIMATE)] for pair in pairs),
    ]
    notes = [f"Intervals: {found['method']}.", *notes_in_words(found["notes"])]
    if "slices" not in found:
        return Outcome(tables, data, (["kind", "name", "other", *ESTIMATE], records), notes)
    table, remark = slice_table(found["slices"], found["level"])
    return Outcome([*tables, table], data, slice_records(found["slices"]), [*notes, remark])
