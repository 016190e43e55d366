"""``multiauc compare``."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import multiauc
from multiauc._common.registry import METRICS
from multiauc._common.result import document, notes_in_words
from multiauc._common.wording import counted, p_text
from multiauc._render import numbers
from multiauc._render.words import metric_name, verdict
from multiauc.cli import _gates
from multiauc.cli._models import read_models, with_typed_notes
from multiauc.cli._output import ESTIMATE, Outcome, Table, estimate_cells, interval_cell, printing
from multiauc.cli._problems import Problem
from multiauc.cli._requests import input_files

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._io.predictions import Request
    from multiauc.cli._models import Models

TESTED = ("t", "degrees_of_freedom", "p_value", "corrected_low", "corrected_high", "corrected_p_value")


def compare_files(
    request: Request,
    *,
    given: dict[str, Any],
    ci: float,
    metric: Any,
    n_resamples: int,
    seed: int,
    fail_if_worse: float | None,
    **options: Any,
) -> None:
    """Compare several models, print the comparison, and look whether the first is hardly worse than the others."""
    if fail_if_worse is not None:
        _refuse_gate(metric, ci, n_resamples)
    shown = printing(options, input_files(request, options["partition"]))
    models = read_models(request, **options)
    comparison = compare_models(models, metric)
    found = comparison.to_dict(ci) | numbers.comparison_numbers(comparison, ci)
    found["estimates"] = {name: numbers.estimate_numbers(one, ci) for name, one in comparison.estimates.items()}
    differences: Any = comparison
    if n_resamples:
        differences = comparison.bootstrap(n_resamples, rng=seed)
        _resample(found, differences, ci)
    elif METRICS[metric].has_closed_form:
        found["method"] = comparison.method
    else:
        found["method"] = "no intervals in closed form; --bootstrap gives intervals and differences"
    found["verdict"], _ = verdict({"models": [], "comparison": found, "level": ci})
    del found["values"]  # they are in the estimates
    if fail_if_worse is not None:
        candidate, *others = found["estimates"]
        against = {other: differences.difference(candidate, other) for other in others}
        found["gates"] = _gates.worse(candidate, against, metric, fail_if_worse, ci)
    data = found
    if shown.style == "json":  # the files are read once more for their SHA-256
        data = document("comparison", ci, found, models.provenance(given))
    shown.show(_outcome(found, data))
    _gates.close(found.get("gates", []))


def _refuse_gate(metric: str, level: float, n_resamples: int) -> None:
    """Raise if there would be no one-sided limit for ``--fail-if-worse``."""
    if not METRICS[metric].has_closed_form and not n_resamples:
        raise click.UsageError(f"--fail-if-worse needs --bootstrap for {metric}, which has no intervals without it")
    _gates.refuse_level("--fail-if-worse", level, n_resamples)


def compare_models(models: Models, metric: Any) -> multiauc.Comparison:
    """The models side by side."""
    predictions = models.predictions
    if len(predictions.models) < 2:
        raise Problem("compare needs two models or more: several files, or several --scores in one file")
    return with_typed_notes(multiauc.compare(predictions.y_true, predictions.models, metric=metric, **models.arguments))


def _resample(found: dict[str, Any], bootstrap: multiauc.ComparisonBootstrap, level: float) -> None:
    """Put numbers of the bootstrap in the place of those in closed form."""
    names = list(found["estimates"])
    for name, error in zip(names, bootstrap.standard_error.tolist(), strict=True):
        low, high = bootstrap.confidence_interval(name, level)
        found["estimates"][name] |= {
            "standard_error": numbers.known(error),
            "low": numbers.known(low),
            "high": numbers.known(high),
        }
    pairs = list(combinations(names, 2))
    found["differences"] = [_resampled_difference(bootstrap.difference(*pair), level, len(pairs)) for pair in pairs]
    found["correction"] = "Bonferroni"
    drawn = counted(len(bootstrap.replicates), "bootstrap sample")
    found["method"] = f"{drawn}, the same rows for all models; logit intervals of models, percentile of differences"
    needed = _gates.resamples_needed((1.0 - level) / (2 * len(pairs)))
    if len(bootstrap.replicates) < needed:
        tests = counted(len(pairs), "difference")
        found["method"] += f"; too few to test {tests} at the level {level:g}, which takes {needed} or more"
    del found["covariance"]  # of the closed form


def _resampled_difference(one: multiauc.BootstrapDifference, level: float, n_differences: int) -> dict[str, Any]:
    """A difference with its percentile interval, and the p-value that agrees with it."""
    p_value, corrected = percentile_p(one.replicates), math.nan
    among: dict[str, Any] = {"low": None, "high": None}
    if np.count_nonzero(~np.isnan(one.replicates)) >= _gates.resamples_needed((1.0 - level) / (2 * n_differences)):
        corrected = min(1.0, n_differences * p_value)
        among = numbers.estimate_numbers(one, 1.0 - (1.0 - level) / n_differences)
    return {
        "first": str(one.first),
        "second": str(one.second),
        **numbers.estimate_numbers(one, level),
        "t": None,
        "degrees_of_freedom": None,
        "p_value": None if math.isnan(corrected) else p_value,
        "corrected_low": among["low"],
        "corrected_high": among["high"],
        "corrected_p_value": numbers.known(corrected),
        "decided": bool(corrected < 1.0 - level),
        "share_better": numbers.known(one.share_better),
    }


def percentile_p(replicates: NDArray[np.float64]) -> float:
    """The p-value of a difference of 0: the largest a for which the percentile interval at level 1 - a holds 0.

    Not below 2 / (B + 1), which is what B replicates can show.
    """
    known = np.sort(replicates[~np.isnan(replicates)])
    if len(known) < 2:
        return float("nan")
    sides = (_level_at_zero(known), _level_at_zero(-known[::-1]))
    return min(1.0, max(2.0 * min(sides), 2.0 / (len(known) + 1)))


def _level_at_zero(known: NDArray[np.float64]) -> float:
    """The largest share whose quantile, between sorted values by a straight line, is not above 0."""
    below = int(np.searchsorted(known, 0.0, side="right"))
    if below in (0, len(known)):
        return float(below > 0)
    last, after = known[below - 1], known[below]
    return float((below - 1 - last / (after - last)) / (len(known) - 1))


def _outcome(found: dict[str, Any], data: dict[str, Any]) -> Outcome:
    estimates, differences, level = found["estimates"], found["differences"], found["level"]
    interval = f"{100 * level:g}% interval"
    tables = [
        Table(
            f"{metric_name(found['metric'])} of {len(estimates)} models on the same {counted(found['rows'], 'row')}",
            ["model", "value", "std. error", interval],
            [[name, *estimate_cells(estimates[name])] for name in found["order"]],
        )
    ]
    if differences:
        tables.append(_difference_table(differences, level, found["correction"]))
    columns = ["first", "second", *ESTIMATE, *TESTED]
    records = [
        *([name, "", *map(one.get, ESTIMATE), *[None] * len(TESTED)] for name, one in estimates.items()),
        *([one.get(column) for column in columns] for one in differences),
    ]
    notes = [found["verdict"], f"Intervals: {found['method']}.", *notes_in_words(found["notes"])]
    return Outcome(tables, data, (columns, records), notes)


def _difference_table(differences: list[dict[str, Any]], level: float, correction: str) -> Table:
    """Differences with their intervals and tests, after the correction for their number."""
    corrected = f" ({correction})" if len(differences) > 1 else ""
    columns = {
        "models": [f"{one['first']} - {one['second']}" for one in differences],
        "difference": [one["value"] for one in differences],
    }
    limits = [{"low": one["corrected_low"], "high": one["corrected_high"]} for one in differences]
    columns[f"{100 * level:g}% interval{corrected}"] = list(map(interval_cell, limits))
    if "share_better" in differences[0]:
        columns["first is better in"] = [_percent(one["share_better"]) for one in differences]
    else:
        columns["t"] = [_decimals(one["t"], 2) for one in differences]
        columns["df"] = [_decimals(one["degrees_of_freedom"], 1) for one in differences]
    columns[f"p{corrected}"] = [_p_value(one["corrected_p_value"], level) for one in differences]
    return Table("Differences", list(columns), list(zip(*columns.values(), strict=True)))


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.1f}%"


def _decimals(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"


def _p_value(value: float | None, level: float) -> str:
    return "-" if value is None else p_text(value, 1.0 - level)
