"""Several trainings of a model, scored on the same rows: `evaluate_runs`, `compare_runs`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.hints import with_hints
from multiauc._common.registry import CLOSED_FORM_METRICS, DEFAULT_METRIC, DEFAULT_METRICS, METRICS
from multiauc._common.result import (
    Printed,
    Tabular,
    html_table,
    notes_in_words,
    pick_numbers,
    sizes_in_words,
    text_table,
)
from multiauc._common.wording import counted, decimals, described, listing, names_as_text
from multiauc._inference.differences import Difference, holm, read_scale
from multiauc._inference.estimates import Estimate, build_estimate, count_smallest, warn_of_single_units
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import (
    read_groups,
    read_metric,
    read_metric_options,
    read_metrics,
    read_sampling,
    refuse_idle_options,
    refuse_weights,
)
from multiauc._input.probabilities import NOT_PROBABILITIES, are_probabilities, depend_on_scale
from multiauc._input.sample import read_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.registry import MetricName
    from multiauc._common.result import Cells, Numbers, Record
    from multiauc._common.types import Absent, Labels, Outputs, PairWeights, Sampling
    from multiauc._inference.intervals import ConfidenceInterval
    from multiauc._input.sample import Sample

ONE_RUN = "one run only: nothing is known of how much another training would differ"
FEW_RUNS = (
    "fewer than ten runs: where runs vary more than rows do, and unevenly, intervals cover less than they say "
    "(.88 to .94 at 95% with 3 to 5 runs)"
)
# Relative to a variance, what rounding leaves when an equal one is subtracted.
ROUNDING = 1e-12
HEADER = ["", "mean", "std. error", "95% interval", "from rows", "from runs", "df"]


@dataclass(frozen=True, slots=True)
class Parts:
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


def split_variance(mean: _rust.Estimate, runs: Sequence[_rust.Estimate]) -> Parts:
    r"""Split the variance of a mean over R runs.

    With A the variance of the mean over rows, :math:`s^2` that of the values over runs and
    :math:`I = \frac{R}{R-1}(\overline{V_r} - A)` what rows and runs have together,
    :math:`V = A + \max(0, s^2 - I)/R`.
    """
    size = len(runs)
    if size < 2:
        return Parts(mean.variance, 0.0, mean.degrees_of_freedom)
    spread = float(np.var([one.value for one in runs], ddof=1))
    together = size / (size - 1) * (float(np.mean([one.variance for one in runs])) - mean.variance)
    beyond = spread - together
    # Equal runs leave nothing but rounding.
    from_runs = beyond / size if beyond > ROUNDING * mean.variance else 0.0
    return _with_freedom(mean, [(from_runs, spread / size, size)])


def split_variance_of_unpaired(
    mean: _rust.Estimate, models: Sequence[tuple[_rust.Estimate, Sequence[_rust.Estimate]]]
) -> Parts:
    """Split that of a difference between models with different numbers of runs: those of both add up."""
    terms = []
    for of_model, runs in models:
        alone = split_variance(of_model, runs)
        spread = float(np.var([one.value for one in runs], ddof=1)) if len(runs) > 1 else 0.0
        terms.append((alone.runs, spread / len(runs), len(runs)))
    return _with_freedom(mean, terms)


def _with_freedom(mean: _rust.Estimate, terms: Sequence[tuple[float, float, int]]) -> Parts:
    """Satterthwaite's degrees of freedom; `terms` are (variance from runs, that of the plain mean, number of runs)."""
    from_runs = sum(variance for variance, _, _ in terms)
    total = mean.variance + from_runs
    noise = sum(plain**2 / (size - 1) for _, plain, size in terms if size > 1)
    if mean.variance > 0.0:
        noise += mean.variance**2 / mean.degrees_of_freedom
    return Parts(mean.variance, from_runs, total**2 / noise if noise > 0.0 else mean.degrees_of_freedom)


class _TwoParts:
    """What estimates and differences share."""

    __slots__ = ()
    parts: Parts

    @property
    def standard_error(self) -> float:
        """Of the mean, from rows and runs."""
        return math.sqrt(self.parts.total)

    @property
    def rows_standard_error(self) -> float:
        """The part that more rows would reduce."""
        return math.sqrt(self.parts.rows)

    @property
    def runs_standard_error(self) -> float:
        """The part that more runs would reduce."""
        return math.sqrt(self.parts.runs)

    @property
    def degrees_of_freedom(self) -> float:
        """How well the standard error is known."""
        return self.parts.degrees_of_freedom

    def _name_parts(self) -> dict[str, float]:
        return {"rows_standard_error": self.rows_standard_error, "runs_standard_error": self.runs_standard_error}

    def _format_parts(self) -> list[str]:
        return [decimals(self.rows_standard_error), decimals(self.runs_standard_error)]

    def what_helps(self) -> str:
        """Say what twice the rows and twice the runs would do to the standard error."""
        share = self.parts.rows / self.parts.total if self.parts.total > 0.0 else math.nan
        more_rows = math.sqrt(self.parts.rows / 2 + self.parts.runs)
        more_runs = math.sqrt(self.parts.rows + self.parts.runs / 2)
        return (
            f"rows account for {share:.0%} of the variance: twice the rows would bring the standard error from "
            f"{decimals(self.standard_error)} to {decimals(more_rows)}, twice the runs to {decimals(more_runs)}"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunsEstimate(_TwoParts, Tabular):
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
    _estimate: Estimate

    @property
    def name(self) -> Any:
        """The metric, or the model."""
        return self._estimate.name

    @property
    def value(self) -> float:
        """The mean over runs."""
        return self._estimate.value

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """The default interval of the metric, with the variance from rows and runs."""
        return self._estimate.confidence_interval(level)

    def to_dict(self, level: float = 0.95) -> Record:
        """Value, standard errors and limits by name."""
        return self._estimate.to_dict(level) | self._name_parts() | {"degrees_of_freedom": self.degrees_of_freedom}

    def _rows(self, level: float) -> list[Record]:
        return [{"name": self.name, **self.to_dict(level)}]

    def cells(self) -> list[str]:
        """The columns of a table."""
        return [*self._estimate.cells(), *self._format_parts(), f"{self.degrees_of_freedom:.1f}"]

    def __repr__(self) -> str:
        value, error, interval, rows, runs, _ = self.cells()
        return (
            f"RunsEstimate({self.name} {value}, standard error {error} (rows {rows}, runs {runs}), "
            f"95% interval {interval})"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunsDifference(_TwoParts, Tabular):
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
    _difference: Difference
    corrected_p_value: float = math.nan

    @property
    def first(self) -> Any:
        """The model whose mean is on the left of the minus."""
        return self._difference.first

    @property
    def second(self) -> Any:
        """The other model."""
        return self._difference.second

    @property
    def value(self) -> float:
        """The mean of the first less that of the second."""
        return self._difference.value

    @property
    def t(self) -> float:
        """The difference in units of its standard error."""
        return self._difference.t

    @property
    def p_value(self) -> float:
        """Two-sided, by Student's distribution with `degrees_of_freedom`."""
        return self._difference.p_value

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """The difference ± t times its standard error."""
        return self._difference.confidence_interval(level)

    def to_dict(self, level: float = 0.95) -> Record:
        """Value, standard errors, limits and p-values by name."""
        return self._difference.to_dict(level) | self._name_parts() | {"corrected_p_value": self.corrected_p_value}

    def cells(self) -> list[str]:
        """The columns of a table."""
        limits = self._difference.interval_beyond(0.025)
        interval = "-" if math.isnan(limits.low) else f"{limits.low:+.4f} to {limits.high:+.4f}"
        numbers = [f"{self.degrees_of_freedom:.1f}", f"{self.corrected_p_value:.4f}"]
        return [f"{self.value:+.4f}", decimals(self.standard_error), interval, *self._format_parts(), *numbers]

    def __repr__(self) -> str:
        value, error, interval, rows, runs, *_ = self.cells()
        return (
            f"RunsDifference({self.first} - {self.second}: {value}, standard error {error} (rows {rows}, runs {runs}), "
            f"95% interval {interval}, p {self.p_value:.4f})"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunsEvaluation(Printed, Tabular):
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
        What to know before the numbers are used.

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

    def to_dict(self, level: float = 0.95) -> Record:
        """The metrics by name, and the number of runs."""
        return {"n_runs": self.n_runs, "metrics": {name: one.to_dict(level) for name, one in self.metrics.items()}}

    def _rows(self, level: float) -> list[Record]:
        return [{"metric": name, **one.to_dict(level)} for name, one in self.metrics.items()]

    def _numbers(self) -> dict[str, Numbers]:
        return {name: pick_numbers(one.to_dict()) for name, one in self.metrics.items()}

    def _title(self) -> str:
        return f"{counted(self.n_runs, 'run')} on {sizes_in_words(self.labels, self.counts)}"

    def _table(self) -> Cells:
        return [HEADER, *([METRICS[name].title, *one.cells()] for name, one in self.metrics.items())]

    def _below(self) -> list[str]:
        name, first = next(iter(self.metrics.items()))
        helps = [f"{METRICS[name].title}: {first.what_helps()}"] if self.n_runs > 1 else []
        return [*helps, *notes_in_words(self.notes)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunsComparison(Tabular):
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

    metric: str
    estimates: dict[Any, RunsEstimate]
    differences: tuple[RunsDifference, ...]
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    def difference(self, first: Any, second: Any) -> RunsDifference:
        """The mean of the first model less that of the second."""
        for name in (first, second):
            if name not in self.estimates:
                raise ValueError(f"there is no model {name!r}; there are {listing(self.estimates)}")
        if first == second:
            raise ValueError(f"first and second must be different models; got {first!r} twice")
        for one in self.differences:
            if (one.first, one.second) == (first, second):
                return one
            if (one.first, one.second) == (second, first):
                turned = replace(one._difference, first=first, second=second, value=-one.value)  # noqa: SLF001
                return replace(one, _difference=turned)
        raise AssertionError("every pair of models has a difference")

    def to_dict(self, level: float = 0.95) -> Record:
        """Models and differences by name."""
        return {
            "metric": self.metric,
            "estimates": {name: one.to_dict(level) for name, one in self.estimates.items()},
            "differences": [one.to_dict(level) for one in self.differences],
        }

    def _rows(self, level: float) -> list[Record]:
        models = [{"first": name, "second": None, **one.to_dict(level)} for name, one in self.estimates.items()]
        rows = [*models, *(one.to_dict(level) for one in self.differences)]
        columns = dict.fromkeys(name for row in rows for name in row)
        return [{name: row.get(name, math.nan) for name in columns} for row in rows]

    def _numbers(self) -> dict[str, Numbers]:
        names = names_as_text(self.estimates)
        pairs = [f"{first}_minus_{second}" for first, second in combinations(names, 2)]
        found = zip([*names, *pairs], [*self.estimates.values(), *self.differences], strict=True)
        return {f"{name}_{self.metric}": pick_numbers(one.to_dict()) for name, one in found}

    def _title(self) -> str:
        return f"Runs compared by {METRICS[self.metric].title} on {sizes_in_words(self.labels, self.counts)}"

    def _tables(self) -> tuple[Cells, Cells]:
        names = names_as_text(self.estimates)
        models = [[name, *one.cells()] for name, one in zip(names, self.estimates.values(), strict=True)]
        pairs = [" - ".join(pair) for pair in combinations(names, 2)]
        p_value = "p (Holm)" if len(pairs) > 1 else "p"
        head = ["", "difference", *HEADER[2:], p_value]
        return [HEADER, *models], [
            head,
            *([pair, *one.cells()] for pair, one in zip(pairs, self.differences, strict=True)),
        ]

    def __repr__(self) -> str:
        models, differences = self._tables()
        tables = [*text_table(models), "", *text_table(differences)]
        return "\n".join([self._title(), *tables, *notes_in_words(self.notes)])

    def _repr_html_(self) -> str:
        models, differences = self._tables()
        return html_table(self._title(), models) + html_table("Differences", differences, notes_in_words(self.notes))


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

    The mean over R runs varies with the rows and with the runs. With :math:`\bar T(i)` the mean over runs of what row i
    contributes, A its variance, :math:`s^2` the variance of the values over runs, :math:`\overline{V_r}` the mean of
    the runs' own variances and :math:`I = \frac{R}{R-1}(\overline{V_r} - A)`,

    .. math::
        V = A + \frac{\max(0, s^2 - I)}{R}, \qquad
        \nu = \frac{V^2}{A^2/\nu_A + (s^2/R)^2/(R-1)}.

    Intervals are those of `evaluate` with this variance. The spread of the runs alone, :math:`s^2/R`, says nothing of
    other rows, and the rows alone nothing of another training.

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
        `degrees_of_freedom` and `confidence_interval()`. With one run it is about the rows only, and says so.

    See Also
    --------
    compare_runs : Several models with several runs each.

    Notes
    -----
    In simulations with 3 to 10 runs, 95% intervals covered .933 to .961; where runs varied much more than rows and
    unevenly, .884 to .937 with 3 to 5 runs. The runs must be independent trainings of one procedure, such as different
    seeds. Cross-validation repeats on the same rows are not: use ``multiauc.sklearn.cross_validate_evaluation``.

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
    names = DEFAULT_METRICS if metrics is None else read_metrics(metrics, CLOSED_FORM_METRICS)
    refuse_idle_options(names, partition=partition, pair_weights=pair_weights, clip=clip, k=k)
    refuse_weights(names, sample_weight)
    samples = _read_runs(y_true, runs, (sample_weight, labels, absent, outputs), "runs")
    options = read_metric_options(samples[0], partition=partition, pair_weights=pair_weights, clip=clip, k=k)
    inputs = _hold(samples[0], names, options, groups, sampling)
    found = _evaluate_models([samples], inputs)
    estimates = {
        metric: _estimate(mean, of_runs, METRICS[metric].title, metric, inputs, found)
        for metric, mean, of_runs in zip(names, found.means[0], found.each[0], strict=True)
    }
    notes = _notes([len(samples)], samples, depends=depend_on_scale(names, partition))
    return RunsEvaluation(estimates, len(samples), tuple(samples[0].labels), samples[0].rows, notes)


@with_hints
def compare_runs(  # noqa: PLR0913
    y_true: ArrayLike,
    models: Mapping[Any, Sequence[ArrayLike]],
    *,
    metric: MetricName = DEFAULT_METRIC,
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

    The variance of the difference between two means over runs is that of `evaluate_runs`, with
    :math:`T_A(i) - T_B(i)` instead of :math:`T(i)`. Models with the same number of runs are compared run by run: put
    runs that share a seed at the same place. With different numbers, the parts that come from the runs add up.

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
    kind = read_metric(metric)
    refuse_idle_options((kind,), partition=partition, pair_weights=pair_weights, clip=clip, k=k)
    refuse_weights((kind,), sample_weight)
    if not isinstance(models, Mapping):
        raise TypeError(
            f"models must be a dict from the name of each model to its runs; got {described(models)}: "
            "write such as {'net': [scores_1, scores_2], ...}"
        )
    if len(models) < 2:
        raise ValueError(f"models must have at least two models to compare; got {len(models)}")
    shared = (sample_weight, labels, absent, outputs)
    samples = {name: _read_runs(y_true, runs, shared, f"models[{name!r}]") for name, runs in models.items()}
    everything = [sample for runs in samples.values() for sample in runs]
    first = everything[0]
    for name, runs in samples.items():
        _check_classes(first, runs, f"models[{name!r}]")
    inputs = _hold(
        first,
        (kind,),
        read_metric_options(first, partition=partition, pair_weights=pair_weights, clip=clip, k=k),
        groups,
        sampling,
    )
    found = _evaluate_models(list(samples.values()), inputs)
    estimates = {
        name: _estimate(mean[0], of_runs[0], name, kind, inputs, found)
        for name, mean, of_runs in zip(samples, found.means, found.each, strict=True)
    }
    differences = []
    places = combinations(range(len(samples)), 2)
    for (a, b), (i, j), mean, of_runs in zip(
        combinations(samples, 2), places, found.differences, found.differences_of_each, strict=True
    ):
        if len(samples[a]) == len(samples[b]):
            parts = split_variance(mean[0], of_runs[0])
        else:
            both = [(found.means[place][0], found.each[place][0]) for place in (i, j)]
            parts = split_variance_of_unpaired(mean[0], both)
        scale = read_scale(kind)
        plain = Difference(a, b, mean[0].value, parts.total, parts.degrees_of_freedom, **scale)
        differences.append(RunsDifference(parts, plain))
    corrected = holm([one.p_value for one in differences])
    counts = [len(runs) for runs in samples.values()]
    return RunsComparison(
        metric=kind,
        estimates=estimates,
        differences=tuple(replace(one, corrected_p_value=p) for one, p in zip(differences, corrected, strict=True)),
        labels=tuple(first.labels),
        counts=first.rows,
        notes=_notes(counts, everything, depends=depend_on_scale((kind,), partition)),
    )


def _read_runs(y_true: Any, runs: Any, shared: tuple[Any, Any, Any, Any], argument: str) -> list[Sample]:
    """The sample of each run; `shared` are weights, labels, the policy for missing classes and what scores are."""
    if isinstance(runs, (Mapping, str, bytes)) or not hasattr(runs, "__iter__"):
        raise TypeError(f"{argument} must be a sequence with the scores of each run; got {described(runs)}")
    samples: list[Sample] = []
    for place, y_score in enumerate(runs):
        try:
            samples.append(read_sample(y_true, y_score, *shared))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{argument}[{place}]: {error}") from None
    if not samples:
        raise ValueError(f"{argument} must have at least one run; got none")
    _check_classes(samples[0], samples, argument)
    return samples


def _check_classes(first: Sample, samples: list[Sample], argument: str) -> None:
    for place, sample in enumerate(samples):
        if sample.labels != first.labels or sample.scores.shape != first.scores.shape:
            raise ValueError(
                f"{argument}[{place}] must have the rows and classes of the first run, "
                f"{len(first.codes)} and {listing(first.labels)}; got {len(sample.codes)} and {listing(sample.labels)}"
            )


def _hold(sample: Sample, metrics: tuple[str, ...], options: Record, groups: Any, sampling: Any) -> HeldInputs:
    drawn = read_sampling(sampling, metrics)
    return HeldInputs(
        sample, metrics, options, groups=read_groups(groups, len(sample.codes)), folds=None, sampling=drawn
    )


def _evaluate_models(models: list[list[Sample]], inputs: HeldInputs) -> _rust.Runs:
    arguments = [[sample.arguments(inputs.groups) for sample in runs] for runs in models]
    found = _rust.evaluate_runs(arguments, list(inputs.metrics), inputs.options, inputs.sampling == "iid")
    warn_of_single_units(inputs, found.units, found.effective_units)
    return found


def _estimate(
    mean: _rust.Estimate,
    runs: list[_rust.Estimate],
    name: Any,
    metric: str,
    inputs: HeldInputs,
    found: _rust.Runs,
) -> RunsEstimate:
    parts = split_variance(mean, runs)
    of_rows = build_estimate(mean, name, count_smallest(found.units), metric, inputs)
    both = replace(
        of_rows,
        value=inputs.sample.nan_if_absent(mean.value),
        standard_error=inputs.sample.nan_if_absent(math.sqrt(parts.total)),
        degrees_of_freedom=parts.degrees_of_freedom,
        _first_order=parts.total,
        # The data are those of one run.
        _inputs=None,
    )
    return RunsEstimate(np.array([one.value for one in runs]), parts, both)


def _notes(counts: list[int], samples: list[Sample], *, depends: bool) -> tuple[str, ...]:
    notes = [ONE_RUN] if min(counts) == 1 else [FEW_RUNS] if min(counts) < 10 else []
    if depends and not all(sample.has_one_score or are_probabilities(sample) for sample in samples):
        notes.append(NOT_PROBABILITIES)
    return tuple(notes)
