"""Several trainings of a model, scored on the same rows: `evaluate_runs`, `compare_runs`; repeated cross-validation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from multiauc import _rust
from multiauc._common import registry, result, wording
from multiauc._common.hints import with_hints
from multiauc._evaluation.comparison import ComparedModels, name_models
from multiauc._evaluation.evaluation import read_inputs
from multiauc._inference import differences, estimates
from multiauc._inference.differences import Difference
from multiauc._inference.estimates import Estimate
from multiauc._input import options, probabilities

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.registry import MetricName
    from multiauc._common.types import Absent, Labels, Outputs, PairWeights, Sampling
    from multiauc._input.sample import HeldInputs

ONE_RUN = "one run only: the variance between trainings is unknown"
FEW_RUNS = (
    "fewer than ten runs: where runs vary more than rows do, and unevenly, intervals cover less than they say "
    "(.88 to .94 at 95% with 3 to 5 runs)"
)
HEADER = ["", "mean", "std. error", "95% interval", "from rows", "from runs", "df"]
REPEATS_HEADER = [*HEADER[:4], "rows", "beyond rows", "df"]
REPEATS_NOTE = (
    "two standard errors, of which the larger counts: one of the test rows with these fitted models, and Nadeau and "
    "Bengio's of folds, which covers retraining on overlapping rows. Neither is exact: in simulations 95% intervals of "
    "the first covered .89 to .93, of the second .92 to .96"
)


class Parts(NamedTuple):
    """The variance of a mean over runs, split into what rows and runs contribute.

    Attributes
    ----------
    rows
        The variance that comes from the rows, as though the runs were fixed.
    runs
        The variance that comes from the runs.
    degrees_of_freedom
        Of the sum of both.
    """

    rows: float
    runs: float
    degrees_of_freedom: float

    @property
    def total(self) -> float:
        """The variance of the mean."""
        return self.rows + self.runs


class _TwoParts:
    """What estimates and differences share."""

    __slots__ = ()
    parts: Parts
    standard_error: Any

    @property
    def rows_standard_error(self) -> float:
        """The part of the standard error that more rows would reduce."""
        return math.sqrt(self.parts.rows)

    @property
    def runs_standard_error(self) -> float:
        """The part of the standard error that more runs would reduce."""
        return math.sqrt(self.parts.runs)

    def what_helps(self) -> str:
        """How the standard error would change with twice the rows or twice the runs, in words."""
        share = self.parts.rows / self.parts.total if self.parts.total > 0.0 else math.nan
        more_rows = math.sqrt(self.parts.rows / 2 + self.parts.runs)
        more_runs = math.sqrt(self.parts.rows + self.parts.runs / 2)
        return (
            f"rows account for {share:.0%} of the variance: twice the rows would bring the standard error from "
            f"{wording.decimals(math.sqrt(self.parts.total))} to {wording.decimals(more_rows)}, twice the runs to "
            f"{wording.decimals(more_runs)}"
        )

    def _format_parts(self) -> list[str]:
        return [wording.decimals(self.rows_standard_error), wording.decimals(self.runs_standard_error)]

    def _describe(self, name: str, cells: list[str]) -> str:
        value, error, interval, rows, runs, *_ = cells
        return f"{name} {value}, standard error {error} (rows {rows}, runs {runs}), 95% interval {interval}"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class RunsEstimate(_TwoParts, Estimate):
    """The mean of a metric over runs.

    Attributes
    ----------
    values : ndarray of shape (R,)
        The value of each run.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> signal = np.eye(3)[y_true]
    >>> models = {name: [signal + size * rng.random((300, 3)) for _ in range(4)] for name, size in [("a", 2), ("b", 3)]}
    >>> found = multiauc.evaluate_runs(y_true, models["a"], outputs="logits").metrics["auc_mu"]
    >>> low, high = found.confidence_interval()
    >>> low < found.value < high
    True
    """

    values: NDArray[np.float64]
    parts: Parts

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Value, standard errors and limits by name."""
        parts = self._pick("rows_standard_error", "runs_standard_error", "degrees_of_freedom")
        return Estimate.to_dict(self, level) | parts

    def cells(self) -> list[str]:
        """The columns of a table."""
        return [*Estimate.cells(self), *self._format_parts(), f"{self.degrees_of_freedom:.1f}"]

    def __repr__(self) -> str:
        return f"RunsEstimate({self._describe(str(self.name), self.cells())})"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class RunsDifference(_TwoParts, Difference):
    """The difference between two models, each a mean over runs.

    Attributes
    ----------
    corrected_p_value : float
        Corrected by Holm's method for the number of differences in the comparison.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> signal = np.eye(3)[y_true]
    >>> models = {name: [signal + size * rng.random((300, 3)) for _ in range(4)] for name, size in [("a", 2), ("b", 3)]}
    >>> difference = multiauc.compare_runs(y_true, models, outputs="logits").difference("a", "b")
    >>> difference.value > 0, difference.p_value < 0.01
    (True, True)
    """

    parts: Parts

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Value, standard errors, limits and p-values by name."""
        return Difference.to_dict(self, level) | self._pick("rows_standard_error", "runs_standard_error")

    def cells(self, limits: tuple[float, float]) -> list[str]:
        """The columns of a table."""
        value, error, interval, _, freedom, p_value = Difference.cells(self, limits)
        return [value, error, interval, *self._format_parts(), freedom, p_value]

    def __repr__(self) -> str:
        told = self._describe(f"{self.first} - {self.second}:", self.cells(self.interval_beyond(0.025)))
        return f"RunsDifference({told}, p {wording.p_in_line(self.p_value)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunsEvaluation(result.Printed, result.Tabular):
    """The metrics of several runs of one model.

    Attributes
    ----------
    metrics : dict of RunsEstimate
        By name.
    n_runs : int
        How many runs.
    labels : tuple
        The classes in the order of the columns.
    counts : ndarray of shape (K,)
        The rows of each class.
    notes : tuple of str
        Caveats about the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> signal = np.eye(3)[y_true]
    >>> models = {name: [signal + size * rng.random((300, 3)) for _ in range(4)] for name, size in [("a", 2), ("b", 3)]}
    >>> evaluation = multiauc.evaluate_runs(y_true, models["a"], outputs="logits")
    >>> evaluation.n_runs, list(evaluation.metrics)
    (4, ['auc_mu', 'hand_till', 'one_vs_rest', 'one_vs_rest_prevalence'])
    """

    metrics: dict[str, RunsEstimate]
    n_runs: int
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    def to_dict(self, level: float = 0.95) -> result.Record:
        """The metrics by name, and the number of runs."""
        return {"n_runs": self.n_runs, "metrics": {name: one.to_dict(level) for name, one in self.metrics.items()}}

    def _rows(self, level: float) -> list[result.Record]:
        return [{"metric": name, **one.to_dict(level)} for name, one in self.metrics.items()]

    def _numbers(self) -> dict[str, result.Numbers]:
        return {name: result.pick_numbers(one.to_dict()) for name, one in self.metrics.items()}

    _UNIT: ClassVar = "run"
    _HEADER: ClassVar = HEADER

    def _title(self) -> str:
        return f"{wording.pluralize(self.n_runs, self._UNIT)} on {result.sizes_in_words(self.labels, self.counts)}"

    def _table(self) -> result.Cells:
        return [self._HEADER, *([str(one.name), *one.cells()] for one in self.metrics.values())]

    def _below(self) -> list[str]:
        first = next(iter(self.metrics.values()))
        helps = [f"{first.name}: {first.what_helps()}"] if self.n_runs > 1 else []
        return [*helps, *result.notes_in_words(self.notes)]


@dataclass(frozen=True, eq=False, repr=False)
class RunsComparison(ComparedModels[RunsEstimate, RunsDifference]):
    """Several models, each with several runs, on the same rows.

    Attributes
    ----------
    metric : str
        What was compared.
    estimates : dict of RunsEstimate
        By model.
    differences : tuple of RunsDifference
        For all pairs of models.
    labels, counts, notes
        As in `RunsEvaluation`.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> signal = np.eye(3)[y_true]
    >>> models = {name: [signal + size * rng.random((300, 3)) for _ in range(4)] for name, size in [("a", 2), ("b", 3)]}
    >>> comparison = multiauc.compare_runs(y_true, models, metric="hand_till", outputs="logits")
    >>> comparison.estimates["a"].value > comparison.estimates["b"].value
    True
    """

    notes: tuple[str, ...] = ()

    _KIND: ClassVar = "Runs compared"
    _HEADER: ClassVar = HEADER

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Models and differences by name."""
        return {
            "metric": self.metric,
            "estimates": {name: one.to_dict(level) for name, one in self.estimates.items()},
            "differences": [one.to_dict(level) for one in self.differences],
        }

    def _contrasts(self) -> result.Cells:
        head = ["", "difference", *HEADER[2:], "p (Holm)" if len(self.differences) > 1 else "p"]
        named = zip(self._pair_names(), self.differences, strict=True)
        return [head, *([" - ".join(pair), *one.cells(one.interval_beyond(0.025))] for pair, one in named)]

    def _below(self) -> list[str]:
        return result.notes_in_words(self.notes)


@with_hints
def evaluate_runs(  # noqa: PLR0913
    y_true: ArrayLike,
    runs: Sequence[ArrayLike],
    *,
    metrics: Sequence[MetricName] | None = None,
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    clip: float | None = None,
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sampling: Sampling | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> RunsEvaluation:
    r"""Evaluate several trainings of a model that scored the same rows.

    The mean over R runs varies with the rows and with the runs, and so do its standard error and interval.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row.
    runs : sequence of R array-likes of shape (n, K)
        The scores of each run, for the same rows in the same order.
    metrics : sequence of str, optional
        As in `evaluate`.
    partition, pair_weights, clip, k, sample_weight, groups, sampling, labels, absent, outputs
        As in `evaluate`.

    Returns
    -------
    RunsEvaluation
        ``.metrics[name]`` has `value`, `standard_error`, `rows_standard_error`, `runs_standard_error`,
        `degrees_of_freedom` and `confidence_interval()`. With one run, standard errors include the rows only, and a
        note says so.

    See Also
    --------
    compare_runs : Several models with several runs each.

    Notes
    -----
    With :math:`\bar T(i)` the mean over runs of the influence value of row i, A the variance of the mean that results
    from it, :math:`s^2` the variance of the values over runs, :math:`\overline{V_r}` the mean of the runs' own
    variances and :math:`I = \frac{R}{R-1}(\overline{V_r} - A)`,

    .. math::
        V = A + \frac{\max(0, s^2 - I)}{R}, \qquad \nu = \frac{V^2}{A^2/\nu_A + (s^2/R)^2/(R-1)}.

    Intervals are those of `evaluate` with this variance. The spread of the runs alone, :math:`s^2/R`, ignores the
    variance of the rows, and the rows alone ignore that of retraining.

    In simulations with 3 to 10 runs, 95% intervals covered .933 to .961; .884 to .937 with 3 to 5 runs if runs varied
    much more than rows, and unevenly. The runs must be independent trainings of one procedure, such as different seeds.
    Cross-validation repeats on the same rows are not: use ``multiauc.sklearn.cross_validate_evaluation``.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> signal = np.eye(3)[y_true]
    >>> runs = [signal + noise * rng.random((300, 3)) for noise in (1, 2, 3, 4, 5)]
    >>> found = multiauc.evaluate_runs(y_true, runs, outputs="logits").metrics["auc_mu"]
    >>> len(found.values), found.standard_error > found.rows_standard_error
    (5, True)
    """
    names = registry.DEFAULT_METRICS if metrics is None else options.read_metrics(metrics, registry.ANALYTIC_METRICS)
    given = {"partition": partition, "pair_weights": pair_weights, "clip": clip, "k": k}
    shared = (sample_weight, labels, absent, outputs)
    scores = _name_runs("runs", runs)
    _, held = read_inputs(y_true, scores, names, shared, groups=groups, sampling=sampling, **given)
    found, inputs = _evaluate_models([held]), held[0]
    smallest = estimates.count_smallest(found.units)
    means = {
        metric: _build_estimate(one.estimate, one, registry.METRICS[metric].title, metric, smallest, inputs)
        for metric, one in zip(names, found.means[0], strict=True)
    }
    return RunsEvaluation(means, len(held), tuple(inputs.sample.labels), inputs.sample.rows, _find_notes([held]))


@with_hints
def compare_runs(  # noqa: PLR0913
    y_true: ArrayLike,
    models: Mapping[Any, Sequence[ArrayLike]],
    *,
    metric: MetricName = registry.DEFAULT_METRIC,
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    clip: float | None = None,
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sampling: Sampling | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> RunsComparison:
    r"""Compare models that were each trained several times.

    Models with the same number of runs are compared run by run: put runs that share a seed in the same position.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row.
    models : dict of sequences of array-like
        By the name of each model, the scores of its runs, each of shape (n, K).
    metric : str, default "auc_mu"
        Any metric of `evaluate` that takes a column per class.
    partition, pair_weights, clip, k, sample_weight, groups, sampling, labels, absent, outputs
        As in `evaluate`.

    Returns
    -------
    RunsComparison
        ``.difference(a, b)`` has `value`, `standard_error`, `rows_standard_error`, `runs_standard_error`,
        `degrees_of_freedom`, `confidence_interval()` and `p_value`; with more than two models, `corrected_p_value` is
        corrected by Holm's method.

    Notes
    -----
    The variance of the difference is that of `evaluate_runs`, with :math:`T_A(i) - T_B(i)` instead of :math:`T(i)`.
    With different numbers of runs, the parts that come from the runs add up.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> noise = {"small": 3.0, "large": 2.0}
    >>> signal = np.eye(3)[y_true]
    >>> models = {name: [signal + size * rng.random((300, 3)) for _ in range(4)] for name, size in noise.items()}
    >>> difference = multiauc.compare_runs(y_true, models, outputs="logits").difference("large", "small")
    >>> difference.value > 0, difference.p_value < 0.05
    (True, True)
    """
    kind = options.read_metric(metric)
    given = {"partition": partition, "pair_weights": pair_weights, "clip": clip, "k": k}
    shared = (sample_weight, labels, absent, outputs)
    named = name_models(models, "runs", "{'net': [scores_1, scores_2], ...}")
    runs = [_name_runs(argument, of_model) for argument, of_model in named.items()]
    scores = {argument: y_score for of_model in runs for argument, y_score in of_model.items()}
    _, held = read_inputs(y_true, scores, (kind,), shared, groups=groups, sampling=sampling, **given)
    left = iter(held)
    by_model = [[next(left) for _ in of_model] for of_model in runs]
    found, inputs = _evaluate_models(by_model), held[0]
    smallest = estimates.count_smallest(found.units)
    means = {
        name: _build_estimate(one.estimate, one, name, kind, smallest, inputs)
        for name, (one,) in zip(models, found.means, strict=True)
    }
    contrasts = _build_differences(models, kind, [(one.estimate.value, one.parts) for (one,) in found.differences])
    sizes = (tuple(inputs.sample.labels), inputs.sample.rows)
    return RunsComparison(kind, means, contrasts, *sizes, _find_notes(by_model))


def _build_differences(
    models: Iterable[Any], metric: str, found: list[tuple[float, tuple[float, float, float]]]
) -> tuple[RunsDifference, ...]:
    """The differences of all pairs of models, their p-values corrected by Holm's method."""
    scale = differences.read_scale(metric)
    plain = []
    for (a, b), (value, numbers) in zip(combinations(models, 2), found, strict=True):
        parts = Parts(*numbers)
        plain.append(RunsDifference(a, b, value, parts.total, parts.degrees_of_freedom, parts=parts, **scale))
    corrected = _rust.holm([one.p_value for one in plain])
    return tuple(replace(one, corrected_p_value=p) for one, p in zip(plain, corrected, strict=True))


def _name_runs(argument: str, runs: Any) -> dict[str, Any]:
    """The scores of each run, by the name that messages use."""
    if isinstance(runs, (Mapping, str, bytes)) or not hasattr(runs, "__iter__"):
        raise TypeError(f"{argument} must be a sequence with the scores of each run; got {wording.describe_type(runs)}")
    named = {f"{argument}[{place}]": y_score for place, y_score in enumerate(runs)}
    if not named:
        raise ValueError(f"{argument} must have at least one run; got none")
    return named


def _evaluate_models(models: list[list[HeldInputs]]) -> _rust.Runs:
    inputs = models[0][0]
    arguments = [[one.arguments() for one in runs] for runs in models]
    found = _rust.evaluate_runs(arguments, list(inputs.metrics), inputs.options)
    estimates.warn_of_single_units(inputs, found)
    return found


def _build_estimate(
    of_rows: _rust.Estimate,
    mean: _rust.RunsMean | _rust.RepeatedMetric,
    name: Any,
    metric: str,
    smallest_class: int,
    inputs: HeldInputs,
    **changes: Any,
) -> RunsEstimate:
    """The estimate from rows alone, with the variance of rows and runs."""
    alone, parts = estimates.build_estimate(of_rows, name, smallest_class, metric, inputs), Parts(*mean.parts)
    variance, freedom = inputs.sample.nan_if_absent(parts.total), parts.degrees_of_freedom
    known = {one.name: getattr(alone, one.name) for one in fields(alone)}
    known |= {"standard_error": math.sqrt(variance), "degrees_of_freedom": freedom, "_first_order": variance}
    # The data are those of one run.
    known |= {"_inputs": None, **changes}
    return RunsEstimate(**known, values=np.array(mean.values), parts=parts)


def _find_notes(models: list[list[HeldInputs]]) -> tuple[str, ...]:
    fewest, inputs = min(map(len, models)), models[0][0]
    notes = [ONE_RUN] if fewest == 1 else [FEW_RUNS] if fewest < 10 else []
    needs_scale = probabilities.depend_on_scale(inputs.metrics, inputs.options.partition)
    if needs_scale and not all(probabilities.sum_to_one(one.sample.scores) for runs in models for one in runs):
        notes.append(probabilities.NOT_PROBABILITIES)
    return tuple(notes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RepeatedEvaluation(RunsEvaluation):
    """The metrics of a repeated cross-validation.

    `n_runs` is the number of repeats. `rows_standard_error` of a metric is that of the test rows with these fitted
    models, `runs_standard_error` what Nadeau and Bengio's standard error adds to it, if it is the larger one.
    """

    _UNIT: ClassVar = "repeat"
    _HEADER: ClassVar = REPEATS_HEADER

    def _below(self) -> list[str]:
        return result.notes_in_words(self.notes)


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedComparison(RunsComparison):
    """Models of a repeated cross-validation; see `RepeatedEvaluation`."""

    _KIND: ClassVar = "Repeated cross-validations compared"
    _HEADER: ClassVar = REPEATS_HEADER


def evaluate_repeats(y_true: Any, scores: Sequence[Any], folds: Any, labels: Any, metrics: Any) -> RepeatedEvaluation:
    """Evaluate a model that a repeated cross-validation scored: `scores` and `folds` of the rows by repeat."""
    names = registry.DEFAULT_METRICS if metrics is None else tuple(metrics)
    inputs, found = _gather(y_true, scores, folds, labels, names)
    known = {name: _build_repeated(one, registry.METRICS[name].title, name, inputs) for name, one in found.items()}
    return RepeatedEvaluation(known, len(scores), tuple(inputs.sample.labels), inputs.sample.rows, (REPEATS_NOTE,))


def compare_repeats(
    y_true: Any, models: Mapping[Any, Sequence[Any]], folds: Any, labels: Any, metric: str
) -> RepeatedComparison:
    """Compare models that a repeated cross-validation scored on the same folds."""
    gathered = {name: _gather(y_true, scores, folds, labels, (metric,)) for name, scores in models.items()}
    inputs = next(iter(gathered.values()))[0]
    found = {name: of_metrics[metric] for name, (_, of_metrics) in gathered.items()}
    means = {name: _build_repeated(one, name, metric, inputs) for name, one in found.items()}
    pairs = [a.minus(b) for a, b in combinations(found.values(), 2)]
    contrasts = _build_differences(models, metric, [(one.value, one.parts) for one in pairs])
    sizes = (tuple(inputs.sample.labels), inputs.sample.rows)
    return RepeatedComparison(metric, means, contrasts, *sizes, (REPEATS_NOTE,))


def _build_repeated(found: _rust.RepeatedMetric, name: Any, metric: str, inputs: HeldInputs) -> RunsEstimate:
    # All but value and variance are those of the rows in one fold.
    whole = estimates.compute(inputs.asking_for((metric,))).estimates[metric]
    changes = {"value": found.value, "_cautious": None}
    return _build_estimate(whole, found, name, metric, int(inputs.sample.rows.min()), inputs, **changes)


def _gather(
    y_true: Any, scores: Sequence[Any], folds: Any, labels: Any, metrics: tuple[str, ...]
) -> tuple[HeldInputs, dict[str, _rust.RepeatedMetric]]:
    """Every fold of every repeat by itself."""
    for name in metrics:
        wording.one_of("metric", name, registry.DEFAULT_METRICS)
    named = {f"scores[{place}]": one for place, one in enumerate(scores)}
    _, held = read_inputs(y_true, named, metrics, (None, labels, "raise", None))
    sample = held[0].sample
    codes = sample.codes.astype(np.uint32)
    rows = [[np.flatnonzero(of_rows == fold).astype(np.uint32) for fold in np.unique(of_rows)] for of_rows in folds]
    for fold in (fold for repeat in rows for fold in repeat):
        if not np.bincount(codes[fold], minlength=sample.n_classes).all():
            raise ValueError("cv must test rows of every class in every fold; stratified folds do")
    samples = [[one.arguments(fold) for fold in repeat] for one, repeat in zip(held, rows, strict=True)]
    found = _rust.evaluate_repeats(samples, rows, codes, list(metrics), held[0].options)
    return held[0], dict(zip(metrics, found, strict=True))
