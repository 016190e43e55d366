"""From results to a page in a file."""

from __future__ import annotations

import datetime as dt
import math
import os
from typing import TYPE_CHECKING, Any

from multiauc import _rust
from multiauc._common import registry, result
from multiauc._common.progress import Stage
from multiauc._common.wording import names_as_text, printable, shown_name
from multiauc._costs.decisions import fit_rule
from multiauc._curves.multiclass import fit_curve
from multiauc._curves.per_class import fit_reliability
from multiauc._display import model as views
from multiauc._display import numbers
from multiauc._display.words import format_percent
from multiauc._evaluation.evaluation import evaluate_inputs
from multiauc._evaluation.slices import evaluate_sliced_inputs
from multiauc._input.labels import read_slices
from multiauc._input.options import read_costs
from multiauc._io.output import Output
from multiauc._metrics.classification import count_confusions
from multiauc._metrics.volumes import find_surface
from multiauc._report.page import render_page

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike

    from multiauc._evaluation.comparison import Comparison
    from multiauc._evaluation.evaluation import Evaluation
    from multiauc._input.sample import HeldInputs, Sample

TITLE = "How well are the classes separated?"
SENTENCES = 5
# The most slices that are shown.
SLICES = 100
# A curve for this many classes and its bootstrap take seconds; with more classes the page has no curve, and no
# confusion matrix.
CURVE_UP_TO_CLASSES = 200
# The ROC surface of three classes is drawn from so many offsets of each of two.
SURFACE_POINTS = 22


def write_report(
    path: str | PathLike[str], evaluations: Mapping[str, Evaluation], comparison: Comparison | None, **options: Any
) -> Path:
    """Write the page about one or several models, and return where it is; `options` are those of `make_page`."""
    output = Output(os.fspath(path), force=True)
    output.refuse()
    return output.write(make_page(evaluations, comparison, **options))


def make_page(  # noqa: PLR0913 - what a page depends on
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
    first = next(iter(evaluations.values()))
    inputs, labels = first.inputs(), tuple(map(str, first.labels))
    heat_map = numbers.view_heat_map(list(evaluations.values()))
    rows = int(first.counts.sum())
    if n_resamples is None:
        n_resamples = numbers.choose_resamples(rows, len(labels), len(evaluations))
    models = []
    for name, evaluation in evaluations.items():
        held = evaluation.inputs()
        sample = held.unchanged_sample()
        roc = area = None
        if sample.n_classes <= CURVE_UP_TO_CLASSES:
            with Stage(f"fitting the ROC curve of {printable(shown_name(name))}"):
                curve = fit_curve(sample, held.options.pair_weights)
            if not math.isnan(curve.auc):
                drawn: Any = {"groups": held.groups, "sampling": held.sampling}
                bootstrap = curve.bootstrap(n_resamples, rng, **drawn) if n_resamples else None
                roc, area = numbers.view_curve(curve, bootstrap, level)
        confusion, reliability = _view_predictions(sample, held, level)
        decisions = slices = None
        if costs is not None:
            with Stage(f"deciding under costs by {printable(shown_name(name))}"):
                decided = fit_rule(sample, read_costs(costs, sample.n_classes), held.groups)
                decisions = numbers.view_decisions(decided, decided.cross_validated, level)
        if by is not None:
            metric = next(iter(evaluation.metrics))
            if comparison is not None and comparison.metric in evaluation.metrics:
                metric = comparison.metric
            with Stage(f"evaluating the slices of {printable(shown_name(name))}"):
                found = evaluate_sliced_inputs(
                    held.asking_for((metric,)), read_slices(by, len(held.sample.codes)), "rest"
                )
            slices = numbers.view_slices(found, level, SLICES)
        metrics = numbers.view_metrics(evaluation, level)
        models.append(
            views.Model(
                name=name,
                metrics=metrics if area is None else {**metrics, "multiclass_roc": area},
                per_class=numbers.view_classes(evaluation, numbers.find_matrix(evaluation), level),
                pairs=numbers.view_matrices(evaluation, () if heat_map is None else heat_map.classes, level),
                worst_pairs=numbers.view_worst_pairs(evaluation, level, SENTENCES),
                roc=roc,
                surface=_view_surface(sample),
                confusion=confusion,
                reliability=reliability,
                decisions=decisions,
                slices=slices,
            )
        )
    compared = None if comparison is None else numbers.view_comparison(comparison, level)
    best = next(iter(evaluations)) if compared is None else compared.order[0]
    report = views.Report(
        level=level,
        labels=labels,
        counts=tuple(first.counts.tolist()),
        rows=rows,
        heat_map=heat_map,
        created=dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions=result.versions(),
        level_text=format_percent(level),
        units="rows" if inputs.groups is None else "groups",
        models=tuple(models),
        comparison=compared,
        best=best,
        worst_pairs=numbers.view_pairs_of_models(evaluations[best], list(evaluations.values()), level),
        notes=first.notes if comparison is None else comparison.notes,
        method=_describe_method(first, models, level),
        title=TITLE if title is None else str(title),
    )
    if origin is None:
        origin = result.provenance(inputs.describe_options() | {"n_resamples": n_resamples})
    return render_page(report, origin)


def evaluate_models(comparison: Comparison) -> dict[str, Evaluation]:
    """The default metrics of each of the compared models, and the one that they are compared by."""
    metrics = registry.DEFAULT_METRICS
    if registry.METRICS[comparison.metric].is_analytic and comparison.metric not in metrics:
        metrics = (*metrics, comparison.metric)
    held = comparison.inputs()
    named = zip(names_as_text(held), held.values(), strict=True)
    return {name: evaluate_inputs(inputs.asking_for(metrics)) for name, inputs in named}


def _view_surface(sample: Sample) -> views.Surface | None:
    """The ROC surface of three classes, by sums of scores."""
    if sample.n_classes != 3 or (sample.rows == 0).any():
        return None
    found = find_surface(sample, "sum", SURFACE_POINTS)
    rates = tuple(tuple(map(tuple, plane)) for plane in found.rates.round(4).tolist())
    return views.Surface(tuple(map(shown_name, found.labels)), rates)


def _view_predictions(
    sample: Sample, held: HeldInputs, level: float
) -> tuple[views.Confusion | None, tuple[views.Reliability, ...]]:
    """The confusion matrix, and the reliability of its classes where scores are probabilities.

    One score that is not a probability does not say where the second class is predicted.
    """
    are_probabilities = _rust.find_improbable_row(sample.scores) is None
    if sample.n_classes > CURVE_UP_TO_CLASSES or (sample.has_one_score and not are_probabilities):
        return None, ()
    confusion = numbers.view_confusion(count_confusions(sample, held.groups), level)
    if not are_probabilities:
        return confusion, ()
    labels = [sample.labels[c] for c in confusion.classes]
    return confusion, numbers.view_reliability(fit_reliability(sample, how="uniform"), labels, level)


def _describe_method(evaluation: Evaluation, models: list[views.Model], level: float) -> dict[str, str]:
    curve = next((model.roc for model in models if model.roc is not None), None)
    percent, inputs = format_percent(level), evaluation.inputs()
    method = {
        "Metrics": "; ".join(registry.METRICS[metric].title for metric in models[0].metrics),
        **_describe_options(inputs),
        "Intervals": f"{percent}, {evaluation.method}",
    }
    if evaluation.matrices:
        method["Pair intervals"] = f"{percent}, Wilson intervals with Student's t of the pair"
    if curve is not None:
        method["Curve"] = f"100 thresholds shared by all pairs; {_describe_resampling(curve, inputs.resampled_unit)}"
    if models[0].confusion is not None:
        method["Confusion matrix"] = f"the class with the highest score; {percent}, Wilson intervals"
        left_out = ", ".join(shown_name(model.name) for model in models if not model.reliability)
        drawn = f"10 bins of the same width per class; {percent}, Wilson intervals, rows independent"
        method["Reliability"] = f"left out for {left_out}: scores are not probabilities" if left_out else drawn
    return method


def _describe_resampling(curve: views.Curve, drawn: str) -> str:
    """How the limits of the curve were found, and how well that many resamples know them."""
    size, error = curve.n_resamples, curve.monte_carlo_error
    if not size or error is None:
        return "no intervals"
    what = {"stratified": "rows within classes", "iid": "rows", "groups": "groups"}[drawn]
    words = f"{size} bootstrap samples of {what}, whose standard error is accurate to {100 * error:.0f}%"
    return words if size >= numbers.QUANTILES_FROM else f"{words}; intervals and bands allow for that (Student's t)"


def _describe_options(inputs: HeldInputs) -> dict[str, str]:
    """What the metrics asked for depend on."""
    used = {option for metric in inputs.metrics for option in registry.METRICS[metric].options}
    partition, weighting = inputs.options.partition, inputs.options.pair_weights
    decision = "the largest score" if partition is None else "a cost matrix"
    weights = "equal" if weighting is None else "a given matrix"
    if isinstance(weighting, str):
        weights = {"size_product": "the product of their sizes", "size_sum": "the sum of their sizes"}[weighting]
    words = {"partition": ("Prediction by", decision), "pair_weights": ("Pair weights", weights)}
    return dict(words[option] for option in words if option in used)
