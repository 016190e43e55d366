"""Repeated cross-validation: the mean over repeats and folds, with what rows and what retraining do to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from multiauc import _rust
from multiauc._common import registry, result, wording
from multiauc._evaluation.evaluation import read_inputs
from multiauc._evaluation.runs import Parts, RunsComparison, RunsDifference, RunsEstimate, RunsEvaluation
from multiauc._inference import differences, estimates
from multiauc._input.sample import HeldInputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

NOTE = (
    "two standard errors, of which the larger counts: one of the test rows with these fitted models, and Nadeau and "
    "Bengio's of folds, which covers retraining on overlapping rows. Neither is exact: in simulations 95% intervals of "
    "the first covered .89 to .93, of the second .92 to .96"
)
HEADER = ["", "mean", "std. error", "95% interval", "rows", "beyond rows", "df"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RepeatedEvaluation(RunsEvaluation):
    """The metrics of a repeated cross-validation.

    `n_runs` is the number of repeats. `rows_standard_error` of a metric is that of the test rows with these fitted
    models, `runs_standard_error` what Nadeau and Bengio's standard error adds to it, if it is the larger one.
    """

    def _title(self) -> str:
        return f"{wording.pluralize(self.n_runs, 'repeat')} on {result.sizes_in_words(self.labels, self.counts)}"

    def _table(self) -> result.Cells:
        return [HEADER, *([str(one.name), *one.cells()] for one in self.metrics.values())]

    def _below(self) -> list[str]:
        return result.notes_in_words(self.notes)


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedComparison(RunsComparison):
    """Models of a repeated cross-validation; see `RepeatedEvaluation`."""

    _KIND: ClassVar = "Repeated cross-validations compared"
    _HEADER: ClassVar = HEADER


class Repeats(NamedTuple):
    """A metric of one model, or the difference between two."""

    #: Of each fold of each repeat, and their share of the rows.
    values: NDArray[np.float64]
    shares: NDArray[np.float64]
    #: T of each row, not centred, averaged over repeats.
    components: NDArray[np.float64]
    #: Rows tested for each row trained on, on average.
    ratio: float

    def minus(self, other: Repeats) -> Repeats:
        """The difference, fold by fold and row by row."""
        return self._replace(values=self.values - other.values, components=self.components - other.components)

    @property
    def value(self) -> float:
        """The mean over folds, weighted by rows, and over repeats."""
        return float(np.average(self.values, weights=self.shares))

    def parts(self, codes: NDArray[Any]) -> Parts:
        """The larger of two variances, split into that of the rows and what is beyond it."""
        counts = np.bincount(codes).astype(float)
        means = np.bincount(codes, weights=self.components) / counts
        deviations = (self.components - means[codes]) / counts[codes]
        squares, fourths = (np.bincount(codes, weights=deviations**power) for power in (2, 4))
        factors = counts / (counts - 1)
        of_classes = factors * squares
        rows = float(of_classes.sum())
        freedom = _rust.degrees_of_freedom(of_classes, factors**2 * fourths, counts, counts)
        # Nadeau and Bengio: folds overlap in what they train on, which 1/J alone would ignore.
        size = len(self.values)
        folds = (1 / size + self.ratio) * float(np.var(self.values, ddof=1))
        widths = [
            _rust.student_upper_quantile(0.025, max(1.0, one)) * math.sqrt(variance)
            for variance, one in ((rows, freedom if rows > 0.0 else 1.0), (folds, size - 1.0))
        ]
        if widths[0] >= widths[1]:
            return Parts(rows, 0.0, freedom)
        return Parts(min(rows, folds), folds - min(rows, folds), size - 1.0)


def evaluate_repeats(y_true: Any, scores: Sequence[Any], folds: Any, labels: Any, metrics: Any) -> RepeatedEvaluation:
    """Evaluate a model that a repeated cross-validation scored: `scores` and `folds` of the rows by repeat."""
    names = registry.DEFAULT_METRICS if metrics is None else tuple(metrics)
    inputs, found = _gather(y_true, scores, folds, labels, names)
    known = {name: _build(found[name], registry.METRICS[name].title, name, inputs) for name in names}
    return RepeatedEvaluation(known, len(scores), tuple(inputs.sample.labels), inputs.sample.rows, (NOTE,))


def compare_repeats(
    y_true: Any, models: Mapping[Any, Sequence[Any]], folds: Any, labels: Any, metric: str
) -> RepeatedComparison:
    """Compare models that a repeated cross-validation scored on the same folds."""
    gathered = {name: _gather(y_true, scores, folds, labels, (metric,)) for name, scores in models.items()}
    inputs = next(iter(gathered.values()))[0]
    found = {name: of_metrics[metric] for name, (_, of_metrics) in gathered.items()}
    scale, plain = differences.read_scale(metric), []
    for a, b in combinations(found, 2):
        contrast = found[a].minus(found[b])
        parts = contrast.parts(inputs.sample.codes)
        numbers = (contrast.value, parts.total, parts.degrees_of_freedom)
        plain.append(RunsDifference(a, b, *numbers, parts=parts, **scale))
    corrected = differences.holm([one.p_value for one in plain])
    return RepeatedComparison(
        metric=metric,
        estimates={name: _build(one, name, metric, inputs) for name, one in found.items()},
        differences=tuple(replace(one, corrected_p_value=p) for one, p in zip(plain, corrected, strict=True)),
        labels=tuple(inputs.sample.labels),
        counts=inputs.sample.rows,
        notes=(NOTE,),
    )


def _build(found: Repeats, name: Any, metric: str, inputs: HeldInputs) -> RunsEstimate:
    parts = found.parts(inputs.sample.codes)
    # All but value and variance are those of the rows in one fold.
    whole = estimates.compute(inputs.asking_for((metric,))).estimates[metric]
    of_rows = estimates.build_estimate(whole, name, int(inputs.sample.rows.min()), metric, inputs)
    known = {one.name: getattr(of_rows, one.name) for one in fields(of_rows)} | {
        "value": found.value,
        "standard_error": math.sqrt(parts.total),
        "degrees_of_freedom": parts.degrees_of_freedom,
        "_first_order": parts.total,
        "_cautious": None,
        "_inputs": None,
    }
    return RunsEstimate(**known, values=found.values, parts=parts)


def _gather(
    y_true: Any, scores: Sequence[Any], folds: Any, labels: Any, metrics: tuple[str, ...]
) -> tuple[HeldInputs, dict[str, Repeats]]:
    """Every fold of every repeat by itself."""
    ranked = registry.DEFAULT_METRICS
    for name in metrics:
        wording.one_of("metric", name, ranked)
    shared = (None, labels, "raise", None)
    named = {f"scores[{place}]": one for place, one in enumerate(scores)}
    _, held = read_inputs(y_true, named, ranked, shared)
    codes, sizes = held[0].sample.codes, held[0].sample.rows.astype(float)
    values: dict[str, list[float]] = {name: [] for name in metrics}
    shares: list[float] = []
    components = {name: np.zeros(len(codes)) for name in metrics}
    for one, of_rows in zip(held, folds, strict=True):
        for fold in np.unique(of_rows):
            rows = np.flatnonzero(of_rows == fold)
            inside = np.bincount(codes[rows], minlength=len(sizes))
            if not inside.all():
                raise ValueError("cv must test rows of every class in every fold; stratified folds do")
            sample = replace(one.sample, scores=one.sample.scores[rows], codes=codes[rows], rows=inside)
            inputs = HeldInputs(sample, ranked, one.options)
            found, influences = estimates.compute(inputs), inputs.influences()
            share = len(rows) / len(codes)
            shares.append(share)
            # A row counts for the share of its class that the fold has.
            scale = (share * sizes / inside)[codes[rows]]
            for name in metrics:
                values[name].append(found.estimates[name].value)
                means = _mean_components(name, found, inside)[codes[rows]]
                of_fold = influences[:, ranked.index(name)] * inside[codes[rows]] + means
                components[name][rows] += scale * of_fold / len(scores)
    n_folds = len(shares) / len(scores)
    return held[0], {
        name: Repeats(np.array(values[name]), np.array(shares), components[name], 1 / (n_folds - 1)) for name in metrics
    }


def _mean_components(metric: str, found: _rust.Evaluated, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean of T in each class, from the values of all pairs of classes."""
    size, total = len(counts), int(counts.sum())
    if metric == "auc_mu":
        return np.asarray(np.nansum(found.pairs[metric].values, axis=1) * 2 / (size * (size - 1)))
    shares = np.nan_to_num(found.pairs["hand_till"].values)
    if metric == "hand_till":
        return np.asarray((shares.sum(axis=0) + shares.sum(axis=1)) / (size * (size - 1)))
    of_class = counts / total if metric == "one_vs_rest_prevalence" else np.full(size, 1 / size)
    # How much the pair of class c, whose score ranks, and class d counts.
    weights = of_class[:, None] * counts / (total - counts)[:, None]
    return np.asarray((weights * shares).sum(axis=1) + (weights * shares).sum(axis=0))
