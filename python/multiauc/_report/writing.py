"""From results to a page in a file."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from multiauc._files.output import Output
from multiauc._json import document, provenance, versions
from multiauc._registry import DEFAULT_METRICS, METRICS, MULTICLASS_ROC
from multiauc._render import numbers
from multiauc._render.words import percent
from multiauc._report.page import page
from multiauc._wording import names_as_text
from multiauc.evaluation import evaluation_of
from multiauc.multiclass_curves import default_curve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike
    from pathlib import Path

    import numpy as np

    from multiauc._input.held_inputs import HeldInputs
    from multiauc.comparison_results import Comparison
    from multiauc.evaluation_results import Evaluation
    from multiauc.multiclass_curve_results import MulticlassRoc

TITLE = "How well are the classes told apart?"
SENTENCES = 5
# A curve for this many classes and its bootstrap take seconds; with more classes the page has no curve.
CURVE_UP_TO_CLASSES = 200


def write_report(
    path: str | PathLike[str],
    evaluations: Mapping[str, Evaluation],
    comparison: Comparison | None,
    *,
    stacklevel: int,
    **options: Any,
) -> Path:
    """Write the page about one or several models, and return where it is; `options` are those of `report_page`."""
    output = Output(os.fspath(path), force=True)
    output.refuse()
    return output.write(report_page(evaluations, comparison, **options, stacklevel=stacklevel + 1))


def report_page(
    evaluations: Mapping[str, Evaluation],
    comparison: Comparison | None,
    *,
    title: str | None,
    level: float,
    n_resamples: int,
    rng: np.random.Generator | int | None,
    stacklevel: int,
    origin: dict[str, Any] | None = None,
) -> str:
    """The page about one or several models; `origin` is the provenance of files, if there are any."""
    common = numbers.common_numbers(list(evaluations.values()))
    shown = [] if common["heat_map"] is None else common["heat_map"]["classes"]
    models = []
    for name, evaluation in evaluations.items():
        curve = _curve(evaluation, stacklevel + 1)
        band = None
        if curve is not None and n_resamples and not math.isnan(curve.auc):
            band = curve.bootstrap(n_resamples, rng=rng)
        models.append(_model_numbers(name, evaluation, shown, numbers.roc_numbers(curve, band, level), level))
    report = common | _report_numbers(evaluations, comparison, models, level=level, n_resamples=n_resamples)
    report["title"] = TITLE if title is None else str(title)
    if origin is None:
        options = next(iter(evaluations.values())).inputs().given()
        origin = provenance(options | {"n_resamples": n_resamples})
    return page(document("report", level, report, origin))


def evaluations_of(comparison: Comparison) -> dict[str, Evaluation]:
    """The default metrics of each of the compared models, and the one that they are compared by."""
    metrics = DEFAULT_METRICS
    if METRICS[comparison.metric].has_closed_form and comparison.metric not in metrics:
        metrics = (*metrics, comparison.metric)
    held = comparison.inputs()
    named = zip(names_as_text(held), held.values(), strict=True)
    return {name: evaluation_of(inputs.asking_for(metrics)) for name, inputs in named}


def _report_numbers(
    evaluations: Mapping[str, Evaluation],
    comparison: Comparison | None,
    models: list[dict[str, Any]],
    *,
    level: float,
    n_resamples: int,
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
        "n_resamples": n_resamples,
        "models": models,
        "comparison": compared,
        "best": best,
        "worst_pairs": _worst_pairs(evaluations, best, level),
        "notes": list(first.notes if comparison is None else comparison.notes),
        "method": _method(first, models[0]["metrics"], level, n_resamples),
    }


def _model_numbers(
    name: str, evaluation: Evaluation, shown: list[int], curve: dict[str, Any] | None, level: float
) -> dict[str, Any]:
    metrics = numbers.metric_numbers(evaluation, level)
    if curve is not None:
        metrics[MULTICLASS_ROC] = curve.pop("area")
    matrices, matrix = evaluation.matrices, numbers.main_matrix(evaluation)
    return {
        "name": name,
        "metrics": metrics,
        "per_class": numbers.class_numbers(evaluation, level),
        "pairs": {metric: numbers.pair_numbers(pairs, shown, level) for metric, pairs in matrices.items()},
        "worst_pairs": [] if matrix is None else numbers.worst_pairs(matrix, level, SENTENCES),
        "roc": curve,
    }


def _worst_pairs(evaluations: Mapping[str, Evaluation], best: str, level: float) -> list[dict[str, Any]]:
    """The pairs that the best model separates worst, with their numbers in all models."""
    matrices = {name: numbers.main_matrix(evaluation) for name, evaluation in evaluations.items()}
    known = [matrix for matrix in matrices.values() if matrix is not None]
    worst_of = matrices[best]
    if worst_of is None:
        return []
    pairs = numbers.pairs_of_models(worst_of, known, level)
    return [names | {"models": found} for names, found in pairs]


def _curve(evaluation: Evaluation, stacklevel: int) -> MulticlassRoc | None:
    """The multi-class ROC curve of the data behind the evaluation."""
    sample = evaluation.inputs().unchanged_sample()
    return None if sample.n_classes > CURVE_UP_TO_CLASSES else default_curve(sample, stacklevel=stacklevel + 1)


def _method(evaluation: Evaluation, metrics: Iterable[str], level: float, n_resamples: int) -> dict[str, str]:
    curve = "no intervals" if not n_resamples else f"{n_resamples} bootstrap samples of rows within classes"
    return {
        "Metrics": "; ".join(METRICS[metric].title for metric in metrics),
        **_options_in_words(evaluation.inputs()),
        "Intervals": f"{percent(level)}, {numbers.method_in_words(evaluation.metrics, evaluation.inputs())}",
        "Curve": f"100 thresholds shared by all pairs; {curve}",
    }


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
