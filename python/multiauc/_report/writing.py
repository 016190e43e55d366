"""From results to a page in a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from multiauc._common.progress import Stage
from multiauc._common.registry import DEFAULT_METRICS, METRICS, MULTICLASS_ROC
from multiauc._common.result import document, provenance, versions
from multiauc._common.wording import names_as_text, printable, shown_name
from multiauc._costs.decisions import decisions_of
from multiauc._curves.multiclass import default_curve
from multiauc._evaluation.evaluation import evaluate_inputs
from multiauc._evaluation.slices import evaluate_sliced_inputs
from multiauc._input.options import read_costs
from multiauc._input.slices import read_slices
from multiauc._io.output import Output
from multiauc._render import numbers
from multiauc._render.curve import QUANTILES_FROM, resampled, resamples_for, roc_numbers
from multiauc._render.decisions import decision_numbers
from multiauc._render.slices import slice_numbers
from multiauc._render.words import percent
from multiauc._report.page import page
from multiauc._volumes.roc_surface import find_surface

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike

    from multiauc._curves.multiclass import MulticlassRoc
    from multiauc._evaluation.comparison import Comparison
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc._input.held_inputs import HeldInputs

TITLE = "How well are the classes told apart?"
SENTENCES = 5
# Of more slices those are shown that are most surely worse.
SLICES = 100
# A curve for this many classes and its bootstrap take seconds; with more classes the page has no curve.
CURVE_UP_TO_CLASSES = 200
# The ROC surface of three classes is drawn from so many offsets of each of two.
SURFACE_POINTS = 22


def write_report(
    path: str | PathLike[str],
    evaluations: Mapping[str, Evaluation],
    comparison: Comparison | None,
    **options: Any,
) -> Path:
    """Write the page about one or several models, and return where it is; `options` are those of `report_page`."""
    output = Output(os.fspath(path), force=True)
    output.refuse()
    return output.write(report_page(evaluations, comparison, **options))


def report_page(  # noqa: PLR0913 - what a page depends on
    evaluations: Mapping[str, Evaluation],
    comparison: Comparison | None,
    *,
    title: str | None,
    level: float,
    n_resamples: int | None,
    rng: np.random.Generator | int | None,
    costs: ArrayLike | None = None,
    by: Any = None,
    origin: dict[str, Any] | None = None,
) -> str:
    """The page about one or several models; `origin` is the provenance of files, if there are any.

    With `costs` of predicting the class of the row when the truth is that of the column, also what decisions cost; with
    `by`, how the models do on slices of the rows.
    """
    common = numbers.common_numbers(list(evaluations.values()))
    shown = [] if common["heat_map"] is None else common["heat_map"]["classes"]
    if n_resamples is None:
        n_resamples = resamples_for(common["rows"], len(common["labels"]), len(evaluations))
    models = []
    for name, evaluation in evaluations.items():
        inputs = evaluation.inputs()
        with Stage(f"fitting the ROC curve of {printable(shown_name(name))}"):
            curve = _curve(inputs)
        found = None if curve is None else resampled(curve, inputs, n_resamples, rng)
        models.append(_model_numbers(name, evaluation, shown, roc_numbers(curve, found, level), level))
        if costs is not None:
            with Stage(f"deciding under costs by {printable(shown_name(name))}"):
                models[-1]["decisions"] = _decisions(inputs, costs, level)
        if by is not None:
            metric = _slice_metric(evaluation, comparison)
            slices = evaluate_sliced_inputs(
                inputs.asking_for((metric,)), read_slices(by, len(inputs.sample.codes)), "rest"
            )
            models[-1]["slices"] = slice_numbers(slices, level, SLICES)
    report = common | _report_numbers(evaluations, comparison, models, level=level)
    report["title"] = TITLE if title is None else str(title)
    if origin is None:
        options = next(iter(evaluations.values())).inputs().describe_options()
        origin = provenance(options | {"n_resamples": n_resamples})
    return page(document("report", level, report, origin))


def evaluations_of(comparison: Comparison) -> dict[str, Evaluation]:
    """The default metrics of each of the compared models, and the one that they are compared by."""
    metrics = DEFAULT_METRICS
    if METRICS[comparison.metric].has_closed_form and comparison.metric not in metrics:
        metrics = (*metrics, comparison.metric)
    held = comparison.inputs()
    named = zip(names_as_text(held), held.values(), strict=True)
    return {name: evaluate_inputs(inputs.asking_for(metrics)) for name, inputs in named}


def _report_numbers(
    evaluations: Mapping[str, Evaluation],
    comparison: Comparison | None,
    models: list[dict[str, Any]],
    *,
    level: float,
) -> dict[str, Any]:
    """Everything that the page shows."""
    first = next(iter(evaluations.values()))
    compared = None if comparison is None else numbers.comparison_numbers(comparison, level)
    best = next(iter(evaluations)) if compared is None else compared["order"][0]
    return {
        "created": numbers.now(),
        "versions": versions(),
        "level": level,
        "level_text": percent(level),
        "units": "rows" if first.inputs().groups is None else "groups",
        "models": models,
        "comparison": compared,
        "best": best,
        "worst_pairs": _worst_pairs(evaluations, best, level),
        "notes": list(first.notes if comparison is None else comparison.notes),
        "method": _method(first, models, level),
    }


def _model_numbers(
    name: str, evaluation: Evaluation, shown: list[int], curve: dict[str, Any] | None, level: float
) -> dict[str, Any]:
    metrics = numbers.metric_numbers(evaluation, level)
    if curve is not None:
        metrics[MULTICLASS_ROC] = curve.pop("area")
    return {
        "name": name,
        "metrics": metrics,
        "per_class": numbers.class_numbers(evaluation, level),
        "pairs": {metric: numbers.pair_numbers(evaluation, metric, shown, level) for metric in evaluation.matrices},
        "worst_pairs": numbers.worst_pairs(evaluation, level, SENTENCES),
        "roc": curve,
        "surface": _surface(evaluation),
    }


def _surface(evaluation: Evaluation) -> dict[str, Any] | None:
    """The ROC surface of three classes, by sums of scores."""
    sample = evaluation.inputs().unchanged_sample()
    if sample.n_classes != 3 or (sample.rows == 0).any():
        return None
    found = find_surface(sample, "sum", SURFACE_POINTS)
    return {"labels": [shown_name(label) for label in found.labels], "rates": found.rates.round(4).tolist()}


def _worst_pairs(evaluations: Mapping[str, Evaluation], best: str, level: float) -> list[dict[str, Any]]:
    """The pairs that the best model separates worst, with their numbers in all models."""
    pairs = numbers.pairs_of_models(evaluations[best], list(evaluations.values()), level)
    return [names | {"models": found} for names, found in pairs]


def _curve(inputs: HeldInputs) -> MulticlassRoc | None:
    """The multi-class ROC curve of the data behind an evaluation."""
    sample = inputs.unchanged_sample()
    if sample.n_classes > CURVE_UP_TO_CLASSES:
        return None
    return default_curve(sample, inputs.options["pair_weights"])


def _decisions(inputs: HeldInputs, costs: ArrayLike, level: float) -> dict[str, Any]:
    """The rule that costs least, and what it costs."""
    sample = inputs.unchanged_sample()
    decisions = decisions_of(sample, read_costs(costs, sample.n_classes), inputs.groups)
    return decision_numbers(decisions, decisions.cross_validated, level)


def _slice_metric(evaluation: Evaluation, comparison: Comparison | None) -> str:
    """The metric that slices are judged by: the one that models are compared by, or the first."""
    if comparison is not None and comparison.metric in evaluation.metrics:
        return comparison.metric
    return next(iter(evaluation.metrics))


def _method(evaluation: Evaluation, models: list[dict[str, Any]], level: float) -> dict[str, str]:
    curves = [model["roc"] for model in models if model["roc"] is not None]
    method = {
        "Metrics": "; ".join(METRICS[metric].title for metric in models[0]["metrics"]),
        **_options_in_words(evaluation.inputs()),
        "Intervals": f"{percent(level)}, {evaluation.method}",
    }
    if evaluation.matrices:
        method["Intervals of pairs"] = f"{percent(level)}, Wilson intervals with Student's t of the pair"
    return method | (
        {"Curve": f"100 thresholds shared by all pairs; {_resampling(curves[0], evaluation.inputs().resampled_unit)}"}
        if curves
        else {}
    )


def _resampling(curve: dict[str, Any], drawn: str) -> str:
    """How the limits of the curve were found, and how well that many resamples know them."""
    size, error = curve["n_resamples"], curve["monte_carlo_error"]
    if not size or error is None:
        return "no intervals"
    what = {"stratified": "rows within classes", "iid": "rows", "groups": "groups"}[drawn]
    words = f"{size} bootstrap samples of {what}, which know its standard error to {100 * error:.0f}%"
    return words if size >= QUANTILES_FROM else f"{words}; intervals and bands allow for that (Student's t)"


def _options_in_words(inputs: HeldInputs) -> dict[str, str]:
    """What the metrics asked for depend on."""
    used = {option for metric in inputs.metrics for option in METRICS[metric].options}
    partition, weighting = inputs.options["partition"], inputs.options["pair_weights"]
    decision = "the largest score" if partition is None else "a given matrix of costs"
    weights = "equal"
    if weighting is not None:
        named = {"size_product": "the product of their sizes", "size_sum": "the sum of their sizes"}
        weights = named[weighting] if isinstance(weighting, str) else "a given matrix"
    words = {"partition": ("Decision by", decision), "pair_weights": ("Weights of pairs", weights)}
    return dict(words[option] for option in words if option in used)
