"""From results to a page in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._render import numbers
from multiauc._render.words import percent
from multiauc._report.page import page
from multiauc.evaluation import evaluate
from multiauc.multiclass_roc import multiclass_roc

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from multiauc.comparison import Comparison
    from multiauc.evaluation import Evaluation
    from multiauc.multiclass_roc_results import MulticlassRoc

TITLE = "How well are the classes told apart?"
SENTENCES = 5
# A curve for this many pairs of classes and its bootstrap take seconds; beyond, the page does without its curve.
CURVE_UP_TO_CLASSES = 200


def write_report(
    path: str | PathLike[str],
    evaluations: Mapping[str, Evaluation],
    comparison: Comparison | None,
    *,
    title: str | None,
    level: float,
    n_resamples: int,
    rng: np.random.Generator | int | None,
) -> Path:
    """Write the page on one or several models, and return where it is."""
    report = report_numbers(evaluations, comparison, level=level, n_resamples=n_resamples, rng=rng)
    report["title"] = TITLE if title is None else str(title)
    place = Path(path)
    place.write_text(page(report), encoding="utf-8")
    return place


def report_numbers(
    evaluations: Mapping[str, Evaluation],
    comparison: Comparison | None,
    *,
    level: float,
    n_resamples: int,
    rng: np.random.Generator | int | None,
) -> dict[str, Any]:
    """Everything that the page shows."""
    matrices = {name: evaluation.auc_mu_matrix for name, evaluation in evaluations.items()}
    common = numbers.common_numbers(list(matrices.values()))
    shown = common["heat_map"]["classes"]
    models = [
        _model_numbers(name, evaluation, shown, level=level, n_resamples=n_resamples, rng=rng)
        for name, evaluation in evaluations.items()
    ]
    first = next(iter(evaluations.values()))
    compared = None if comparison is None else numbers.comparison_numbers(comparison, level)
    best = next(iter(evaluations)) if compared is None else compared["order"][0]
    pairs = numbers.pairs_of_models(matrices[best], list(matrices.values()), level)
    report: dict[str, Any] = {
        "title": TITLE,
        "created": numbers.now(),
        "versions": numbers.versions(),
        "level": level,
        "level_text": percent(level),
        "n_resamples": n_resamples,
        "models": models,
        "comparison": compared,
        "best": best,
        "worst_pairs": [names | {"models": found} for names, found in pairs],
        "method": _method(first, level, n_resamples),
    }
    return report | common


def evaluations_of(comparison: Comparison) -> dict[str, Evaluation]:
    """Everything about each of the compared models."""
    found = {}
    for name, inputs in comparison.inputs().items():
        sample = inputs.sample
        classes = np.fromiter(sample.labels, dtype=object, count=sample.n_classes)
        found[str(name)] = evaluate(
            classes[sample.codes],
            sample.scores,
            partition=inputs.partition,
            pair_weights=inputs.pair_weights,
            sample_weight=sample.weights,
            groups=inputs.groups,
            sampling=inputs.sampling,  # type: ignore[arg-type]  # one of the two words, as read
            labels=sample.labels,
            absent=sample.absent,  # type: ignore[arg-type]
        )
    return found


def _model_numbers(
    name: str,
    evaluation: Evaluation,
    shown: list[int],
    *,
    level: float,
    n_resamples: int,
    rng: np.random.Generator | int | None,
) -> dict[str, Any]:
    roc = _curve(evaluation)
    bootstrap = roc.bootstrap(n_resamples, rng=rng) if roc is not None and n_resamples and roc.auc == roc.auc else None
    curve = None if roc is None else numbers.roc_numbers(roc, bootstrap, level)
    metrics = numbers.metric_numbers(evaluation, level)
    if curve is not None:
        metrics["multiclass_roc"] = curve.pop("area")
    return {
        "name": name,
        "metrics": metrics,
        "per_class": numbers.class_numbers(evaluation, level),
        "pairs": {
            "auc_mu": numbers.pair_numbers(evaluation.auc_mu_matrix, shown, level),
            "hand_till": numbers.pair_numbers(evaluation.hand_till_matrix, shown, level),
        },
        "worst_pairs": numbers.worst_pairs(evaluation.auc_mu_matrix, level, SENTENCES),
        "roc": curve,
    }


def _curve(evaluation: Evaluation) -> MulticlassRoc | None:
    """The multi-class ROC curve of the data behind the evaluation; its classes are the numbers of the columns."""
    sample = evaluation.inputs().sample
    if sample.n_classes > CURVE_UP_TO_CLASSES:
        return None
    return multiclass_roc(
        sample.codes,
        sample.scores,
        sample_weight=sample.weights,
        labels=range(sample.n_classes),
        absent=sample.absent,  # type: ignore[arg-type]  # one of the three words, as read
    )


def _method(evaluation: Evaluation, level: float, n_resamples: int) -> dict[str, str]:
    inputs = evaluation.inputs()
    weighted = "pairs of classes count equally"
    if inputs.pair_weights is not None:
        named = {"size_product": "the product of their sizes", "size_sum": "the sum of their sizes"}
        weighted = f"pairs of classes weighted by {named.get(str(inputs.pair_weights), 'a given matrix')}"
    ranked = "largest score" if inputs.partition is None else "a given matrix of costs"
    curve = "no intervals" if not n_resamples else f"{n_resamples} bootstrap samples of rows within classes"
    return {
        "Metrics": f"AUC_mu by {ranked}, {weighted}; Hand & Till's M; one-vs-rest; multi-class ROC area D",
        "Intervals": f"{percent(level)}, {evaluation.method}",
        "Curve": f"100 thresholds shared by all pairs; {curve}",
    }
