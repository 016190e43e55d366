"""``multiauc evaluate``, ``compare`` and ``report``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import multiauc
from multiauc._digits import decimals, p_text
from multiauc._files.costs import read_costs
from multiauc._files.predictions import read_predictions
from multiauc._progress import Stage
from multiauc._registry import METRICS
from multiauc._render import numbers
from multiauc._render.words import metric_name, verdict
from multiauc._wording import counted, printable, shown_name
from multiauc.cli._output import Outcome, Table, show
from multiauc.cli._problems import Problem

if TYPE_CHECKING:
    from multiauc._files.predictions import Predictions, Request
    from multiauc._registry import MetricName

ESTIMATE = ("value", "standard_error", "low", "high")


def evaluate_file(
    request: Request,
    *,
    metrics: tuple[MetricName, ...] | None,
    ci: float,
    n_resamples: int,
    seed: int,
    worst: int,
    style: str,
    **options: Any,
) -> None:
    """Evaluate one model and print it."""
    predictions = read_predictions(request)
    if len(predictions.models) > 1:
        raise Problem("evaluate takes one model: give --scores once, or use compare")
    ((name, scores),) = predictions.models.items()
    arguments = _arguments(predictions, **options)
    evaluation = multiauc.evaluate(predictions.y_true, scores, metrics=metrics, **arguments)
    estimates = numbers.metric_numbers(evaluation, ci)
    closed_form = how = numbers.method_in_words(evaluation.metrics, evaluation.inputs())
    if n_resamples:
        bootstrap = evaluation.bootstrap(n_resamples, rng=seed)
        for metric, error in zip(bootstrap.metrics, bootstrap.standard_error.tolist(), strict=True):
            low, high = bootstrap.confidence_interval(metric, level=ci)
            estimates[metric] |= {"standard_error": error, "low": low, "high": high}
        how = f"{counted(n_resamples, 'bootstrap sample')}; logit intervals"
        others = [metric_name(metric) for metric in estimates if metric not in bootstrap.metrics]
        if others:
            how += f"; {', '.join(others)}: {closed_form}"
    show(_evaluation_outcome(name, evaluation, estimates, worst=worst, level=ci, how=how), style)


def _evaluation_outcome(
    name: str,
    evaluation: multiauc.Evaluation,
    estimates: dict[str, dict[str, Any]],
    *,
    worst: int,
    level: float,
    how: str,
) -> Outcome:
    classes = numbers.class_numbers(evaluation, level)
    matrix = numbers.main_matrix(evaluation)
    pairs = numbers.worst_pairs(evaluation, level, worst)
    n_rows, n_classes = int(evaluation.counts.sum()), len(evaluation.labels)
    interval = f"{100 * level:g}% interval"
    tables = [
        Table(
            f"{name}: {counted(n_rows, 'row')}, {counted(n_classes, 'class', 'classes')}",
            ["metric", "value", "std. error", interval],
            [[metric_name(metric), *_cells(found)] for metric, found in estimates.items()],
        )
    ]
    if classes:
        tables.append(
            Table(
                "Each class against the rest",
                ["class", "rows", "AUC", "std. error", interval],
                [[shown_name(found["label"]), found["rows"], *_cells(found)] for found in classes],
            )
        )
    if matrix is not None and pairs:
        tables.append(
            Table(
                f"Pairs that are separated worst ({_pair_value(matrix.kind)})",
                ["pair", "rows", "value", interval],
                [
                    [_pair(pair), f"{pair['first_rows']} + {pair['second_rows']}", pair["value"], _interval(pair)]
                    for pair in pairs
                ],
            )
        )
    data = {
        "model": name,
        "rows": n_rows,
        "level": level,
        "method": how,
        "metrics": estimates,
        "classes": classes,
        "worst_pairs": pairs,
    }
    records = [
        *(["metric", metric, "", *map(found.get, ESTIMATE)] for metric, found in estimates.items()),
        *(["class", found["label"], "", *map(found.get, ESTIMATE)] for found in classes),
        *(["pair", pair["first"], pair["second"], *map(pair.get, ESTIMATE)] for pair in pairs),
    ]
    return Outcome(tables, data, (["kind", "name", "other", *ESTIMATE], records), [f"Intervals: {how}."])


def compare_files(request: Request, *, ci: float, metric: Any, style: str, **options: Any) -> None:
    """Compare several models and print the comparison."""
    predictions = read_predictions(request)
    comparison = _compare(predictions, metric, _arguments(predictions, **options))
    found = numbers.comparison_numbers(comparison, ci)
    estimates = {name: numbers.estimate_numbers(one, ci) for name, one in comparison.estimates.items()}
    interval = f"{100 * ci:g}% interval"
    tables = [
        Table(
            f"{metric_name(metric)} of {len(estimates)} models on the same {counted(len(predictions.y_true), 'row')}",
            ["model", "value", "std. error", interval],
            [[name, *_cells(estimates[name])] for name in found["order"]],
        ),
        Table(
            "Differences",
            ["models", "difference", _corrected_heading(interval, found), "t", "df", _corrected_heading("p", found)],
            [
                [
                    f"{one['first']} - {one['second']}",
                    one["value"],
                    _interval({"low": one["corrected_low"], "high": one["corrected_high"]}),
                    f"{one['t']:.2f}" if one["t"] is not None else None,
                    f"{one['degrees_of_freedom']:.1f}" if one["degrees_of_freedom"] is not None else None,
                    "-" if one["corrected_p_value"] is None else p_text(one["corrected_p_value"], 1.0 - ci),
                ]
                for one in found["differences"]
            ],
        ),
    ]
    headline, _ = verdict({"models": [], "comparison": found, "level": ci})
    data = {
        "level": ci,
        "metric": metric,
        "verdict": headline,
        "estimates": estimates,
        "differences": found["differences"],
    }
    tested = ("t", "degrees_of_freedom", "p_value", "corrected_low", "corrected_high", "corrected_p_value")
    columns = ["first", "second", *ESTIMATE, *tested]
    records = [
        *([name, "", *map(one.get, ESTIMATE), *([None] * len(tested))] for name, one in estimates.items()),
        *([one[column] for column in columns] for one in found["differences"]),
    ]
    notes = [headline]
    if METRICS[metric].has_closed_form:
        inputs = next(iter(comparison.inputs().values()))
        notes.append(f"Intervals: {numbers.method_in_words(comparison.estimates, inputs)}.")
    show(Outcome(tables, data, (columns, records), notes), style)


def report_on_files(
    request: Request,
    *,
    ci: float,
    metric: Any,
    n_resamples: int | None,
    seed: int,
    output: str,
    title: str | None,
    metrics: tuple[MetricName, ...] | None = None,
    **options: Any,
) -> None:
    """Write the page on one or several models, and say what it says and where it is."""
    with Stage("reading the predictions"):
        predictions = read_predictions(request)
    if metrics is not None and len(predictions.models) > 1:
        raise Problem("--metrics is for a report on one model; several are compared by one --metric")
    arguments = _arguments(predictions, **options)
    common: dict[str, Any] = {"title": title, "level": ci, "n_resamples": n_resamples, "rng": seed}
    try:
        if len(predictions.models) == 1:
            ((name, scores),) = predictions.models.items()
            with Stage("evaluating the model"):
                evaluation = multiauc.evaluate(predictions.y_true, scores, metrics=metrics, **arguments)
            place = evaluation.report(output, name=name, **common)
        else:
            with Stage("comparing the models"):
                comparison = _compare(predictions, metric, arguments)
            place = comparison.report(output, **common)
    except OSError as error:
        raise Problem(f"{output}: cannot be written: {error.strerror}") from None
    click.echo(f"Wrote {printable(str(place.resolve()))} ({place.stat().st_size / 1e6:.2f} MB)")


def _compare(predictions: Predictions, metric: Any, arguments: dict[str, Any]) -> multiauc.Comparison:
    if len(predictions.models) < 2:
        raise Problem("compare needs two models or more: several files, or several --scores in one file")
    return multiauc.compare(predictions.y_true, predictions.models, metric=metric, **arguments)


def _arguments(
    predictions: Predictions, *, partition: str | None, pair_weights: str, sampling: str, absent: str
) -> dict[str, Any]:
    """The options of `multiauc.evaluate` and `multiauc.compare`."""
    return {
        "partition": None if partition is None else read_costs(partition, predictions.labels),
        "pair_weights": None if pair_weights == "equal" else pair_weights,
        "sample_weight": predictions.weights,
        "groups": predictions.groups,
        "sampling": sampling,
        "labels": predictions.labels,
        "absent": absent,
    }


def _cells(found: dict[str, Any]) -> list[Any]:
    return [found["value"], found["standard_error"], _interval(found)]


def _interval(found: dict[str, Any]) -> str:
    return "-" if found["low"] is None else f"{decimals(found['low'])} to {decimals(found['high'])}"


def _pair(pair: dict[str, Any]) -> str:
    return f"{shown_name(pair['first'])} - {shown_name(pair['second'])}"


def _pair_value(metric: str) -> str:
    """What the value of a listed pair is."""
    pairs = METRICS[metric].pairs
    return f"{pairs.title} of the pair" if pairs and pairs.is_symmetric else "by the score of the first class"


def _corrected_heading(name: str, comparison: dict[str, Any]) -> str:
    """What a column is called whose numbers allow for the number of comparisons."""
    return name if len(comparison["differences"]) < 2 else f"{name} ({comparison['correction']})"
