"""``multiauc compare`` and ``multiauc report``: models side by side."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import multiauc
from multiauc import _rust
from multiauc._common.progress import Stage
from multiauc._common.registry import METRICS
from multiauc._common.wording import pluralize, printable
from multiauc._display import model as views
from multiauc._display import numbers, words
from multiauc._io import dataset
from multiauc._io.output import STANDARD
from multiauc.cli import _gates
from multiauc.cli._evaluate import part_runs, refuse_single_run
from multiauc.cli._output import Printing
from multiauc.cli._problems import emit
from multiauc.cli._requests import read_cost_files, spell_notes

if TYPE_CHECKING:
    from multiauc.cli._commands import CompareRequest, ReportRequest
    from multiauc.cli._requests import Models


MEANS_OF_RUNS = "means over runs; standard errors from rows and runs"


def compare_files(request: CompareRequest) -> None:
    """Compare several models, print the comparison, and look whether the first is hardly worse than the others."""
    level, size = request.level, request.bootstrap or 0
    if request.fail_if_worse is not None:
        if not METRICS[request.metric].is_analytic and not size:
            problem = f"--fail-if-worse needs --bootstrap for {request.metric}, which has no intervals without it"
            raise click.UsageError(problem)
        _gates.refuse_level("--fail-if-worse", level, size)
    source = request.source()
    printing = Printing(request)
    models = request.read(source)
    comparison: Any = (compare_models if request.runs is None else _compare_runs)(models, request.metric)
    found = numbers.view_comparison(comparison, level)
    differences = comparison
    if size:
        differences = comparison.bootstrap(size, rng=request.seed)
        found = _view_resampled(found, differences, level)
        method = _describe_resampling(differences, len(found.differences), level)
    elif METRICS[request.metric].is_analytic:
        method = comparison.method if request.runs is None else MEANS_OF_RUNS
    else:
        method = "no analytic intervals; --bootstrap gives intervals and differences"
    gates = None
    if request.fail_if_worse is not None:
        candidate, *others = found.estimates
        against = {other: differences.difference(candidate, other) for other in others}
        gates = _gates.check_differences(candidate, against, request.metric, request.fail_if_worse, level)
    headline, _ = words.judge_models(found, level)
    shown = numbers.fill(
        views.Compared,
        comparison,
        **numbers.describe_rows(level, dict(zip(comparison.labels, comparison.counts.tolist(), strict=True))),
        method=method,
        comparison=found,
        verdict=headline,
        covariance=None if size or request.runs is not None else numbers.freeze(comparison.covariance),
        gates=gates,
    )
    printing.show(shown, models.provenance)
    _gates.close_gates(gates)


def compare_models(models: Models, metric: Any) -> multiauc.Comparison:
    """The models side by side."""
    predictions = models.predictions
    _refuse_one_model(predictions.models)
    found = multiauc.compare(predictions.y_true, predictions.models, metric=metric, **models.arguments)
    notes = () if predictions.predicted is None else (dataset.describe_predicted(predictions.predicted),)
    return spell_notes(replace(found, notes=(*found.notes, *notes)))


def _compare_runs(models: Models, metric: Any) -> multiauc.RunsComparison:
    request: Any = models.request
    refuse_single_run(request)
    _refuse_one_model(models.predictions.models)
    if len(request.files) > 1:
        raise click.UsageError("--runs needs all models in one file, each with its own --scores")
    y_true, runs, arguments = part_runs(request, models)
    return spell_notes(multiauc.compare_runs(y_true, runs, metric=metric, **arguments))


def _refuse_one_model(models: dict[str, Any]) -> None:
    if len(models) < 2:
        raise ValueError("compare needs two models or more: several files, or several --scores in one file")


def _view_resampled(shown: views.Comparison, bootstrap: multiauc.ComparisonBootstrap, level: float) -> views.Comparison:
    """The comparison with bootstrap numbers instead of analytic ones."""
    pairs = list(combinations(shown.estimates, 2))
    return replace(
        shown,
        estimates=numbers.replace_errors(shown.estimates, bootstrap, level),
        differences=tuple(_view_difference(bootstrap.difference(*pair), level, len(pairs)) for pair in pairs),
        correction="Bonferroni",
    )


def _describe_resampling(bootstrap: multiauc.ComparisonBootstrap, n_differences: int, level: float) -> str:
    size = len(bootstrap.replicates)
    method = (
        f"{pluralize(size, 'bootstrap sample')}, the same rows for all models; "
        "logit intervals of models, percentile of differences"
    )
    needed = _gates.count_needed((1.0 - level) / (2 * n_differences))
    if size < needed:
        tests = pluralize(n_differences, "difference")
        method += f"; too few to test {tests} at the level {level:g}, which takes {needed} or more"
    return method


def _view_difference(one: multiauc.BootstrapDifference, level: float, n_differences: int) -> views.Difference:
    """A difference with its percentile interval, and the p-value that agrees with it."""
    p_value = _rust.percentile_p_value(one.replicates)
    corrected, limits = math.nan, (math.nan, math.nan)
    if np.count_nonzero(~np.isnan(one.replicates)) >= _gates.count_needed((1.0 - level) / (2 * n_differences)):
        corrected = min(1.0, n_differences * p_value)
        limits = one.confidence_interval(1.0 - (1.0 - level) / n_differences)
    return numbers.view_difference(
        one,
        (str(one.first), str(one.second)),
        level,
        limits,
        corrected,
        t=None,
        degrees_of_freedom=None,
        p_value=None if math.isnan(corrected) else p_value,
    )


def report_on_files(request: ReportRequest) -> None:
    """Write the page on one or several models, and say where it is."""
    from multiauc._report import writing  # noqa: PLC0415 - nothing that compare waits for

    source = request.source()
    place = Printing(request).output
    models = request.read(source)
    matrix, files = read_cost_files(models.predictions.labels, request.costs)
    models = replace(models, costs=(*models.costs, *files))
    predictions = models.predictions
    comparison = None
    if len(predictions.models) == 1:
        name, scores = models.only("report")
        wanted: Any = request.metrics
        with Stage("evaluating the model"):
            found = multiauc.evaluate(predictions.y_true, scores, metrics=wanted, **models.arguments)
            evaluations = {name: spell_notes(found)}
    else:
        if request.metrics is not None:
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
        origin=models.provenance(),
    )
    if request.output == STANDARD:
        emit(page)
        return
    written = place.write(page)
    if written.is_file():
        emit(f"Wrote {printable(str(written.resolve()))} ({written.stat().st_size / 1e6:.2f} MB)\n")
