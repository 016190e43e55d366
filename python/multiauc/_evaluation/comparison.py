"""Several models on the same rows, or on different rows: `compare`, `compare_samples`, `Comparison`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from multiauc import _rust
from multiauc._common import registry, result, wording
from multiauc._common.hints import warn, with_hints
from multiauc._curves.multiclass import fit_curve
from multiauc._evaluation import multilabel
from multiauc._evaluation.evaluation import Evaluation, compare_in_folds, find_notes, read_inputs
from multiauc._evaluation.paired import compare_classes
from multiauc._inference import bootstrap, differences, estimates
from multiauc._inference.bootstrap import ComparisonBootstrap
from multiauc._inference.differences import Difference
from multiauc._inference.estimates import Estimate
from multiauc._input import options

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from os import PathLike
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Absent, Labels, Outputs, PairWeights, Sampling, Task
    from multiauc._evaluation.paired import PairedDifferences
    from multiauc._inference.intervals import ConfidenceInterval
    from multiauc._input.sample import HeldInputs
    from multiauc.plotting import ComparisonDisplay

CORRECTIONS = ("min_p", "holm")
# Relative to the largest, an eigenvalue of a covariance matrix that is rounding.
ROUNDING = 1e-11

#: Estimates by model, differences, the covariance of the models, and the method in words.
Compared: TypeAlias = "tuple[dict[Any, Estimate], tuple[Difference, ...], NDArray[np.float64], str]"

OfModel = TypeVar("OfModel", bound=Estimate)
OfPair = TypeVar("OfPair", bound=Difference)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OmnibusTest(result.Result):
    """The test whether several models are equally good; see `Comparison.omnibus`.

    Attributes
    ----------
    f : float
        The statistic.
    degrees_of_freedom : tuple of two floats
        Of the F distribution.
    p_value : float
        The probability of a statistic at least as large if all models were equally good.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> models = {name: np.eye(3)[y_true] + 2 * rng.random((200, 3)) for name in "abc"}
    >>> multiauc.compare(y_true, models).omnibus().p_value > 0.05
    True
    """

    f: float
    degrees_of_freedom: tuple[float, float]
    p_value: float

    def __repr__(self) -> str:
        first, second = self.degrees_of_freedom
        test = f"F({first:.0f}, {second:.1f}) {self.f:.2f}, p {wording.p_in_line(self.p_value)}"
        return f"OmnibusTest(all models are equal: {test})"


@dataclass(frozen=True, eq=False, repr=False)
class ComparedModels(result.Printed, result.Tabular, Generic[OfModel, OfPair]):
    """The base of comparisons of models and of runs: an estimate of each model, and the differences of all pairs."""

    metric: str
    estimates: dict[Any, OfModel]
    differences: tuple[OfPair, ...]
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]

    # The beginning of the title, and the header of the table of models.
    _KIND: ClassVar[str]
    _HEADER: ClassVar[list[str]]

    def difference(self, a: Hashable, b: Hashable) -> OfPair:
        """Model `a` minus model `b`."""
        for name in (a, b):
            if name not in self.estimates:
                known = wording.listing(self.estimates)
                raise ValueError(f"no model {name!r} in this comparison; its models are {known}")
        if a == b:
            raise ValueError(f"a difference needs two models; got {a!r} twice")
        found = next(one for one in self._known_differences() if {one.first, one.second} == {a, b})
        return found if found.first == a else found.reversed()

    def _known_differences(self) -> tuple[OfPair, ...]:
        if not self.differences:
            raise ValueError(
                f"differences of metric={self.metric!r} have no analytic standard errors; "
                "use .bootstrap(), whose replicates are paired"
            )
        return self.differences

    def _pair_names(self) -> list[tuple[str, str]]:
        """The models of each difference, if there are differences."""
        return list(combinations(wording.names_as_text(self.estimates), 2))[: len(self.differences)]

    def _numbers(self) -> dict[str, result.Numbers]:
        names = [*wording.names_as_text(self.estimates), *(f"{a}_minus_{b}" for a, b in self._pair_names())]
        found = zip(names, [*self.estimates.values(), *self.differences], strict=True)
        return {f"{name}_{self.metric}": result.pick_numbers(one.to_dict()) for name, one in found}

    def _rows(self, level: float) -> list[result.Record]:
        """The models, then the differences between every two of them."""
        models = [{"first": name, "second": None, **one.to_dict(level)} for name, one in self.estimates.items()]
        rows = [*models, *(one.to_dict(level) for one in self.differences)]
        columns = dict.fromkeys(name for row in rows for name in row)
        return [{name: row.get(name, math.nan) for name in columns} for row in rows]

    def _title(self) -> str:
        title = registry.METRICS[self.metric].title
        return f"{self._KIND} by {title} on {result.sizes_in_words(self.labels, self.counts)}"

    def _table(self) -> result.Cells:
        named = zip(wording.names_as_text(self.estimates), self.estimates.values(), strict=True)
        return [self._HEADER, *([name, *estimate.cells()] for name, estimate in named)]

    def _more_tables(self) -> dict[str, result.Cells]:
        return {"Differences": self._contrasts()} if self.differences else {}

    def _contrasts(self) -> result.Cells:
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparedModels[Estimate, Difference]):
    """Models on the same rows, and all their differences; see `multiauc.compare`.

    Attributes
    ----------
    metric : str
        What is compared.
    estimates : dict of Estimate
        The value of each model by its name.
    covariance : ndarray of shape (m, m)
        Of the models, in the order of `estimates`. Read-only.
    differences : tuple of Difference
        The first model minus the second, for all pairs of models, with p-values corrected for their number.
    labels : tuple
        The classes.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    method : str
        The method behind standard errors and intervals, in words.
    notes : tuple of str
        Possible problems with the data: columns that seem to be in another order, or scores that are not probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> models = {name: np.eye(3)[y_true] + noise * rng.random((200, 3)) for name, noise in [("good", 2), ("fair", 3)]}
    >>> comparison = multiauc.compare(y_true, models)
    >>> comparison.estimates["good"]
    Estimate(good 0.9669, standard error 0.0086, 95% interval 0.9406 to 0.9817)
    >>> comparison.difference("good", "fair")
    Difference(good - fair: +0.0901, standard error 0.0221, 95% interval +0.0463 to +0.1338, t(116.6) 4.08, p <0.0001)
    """

    covariance: NDArray[np.float64]
    method: str
    notes: tuple[str, ...] = ()
    _options: result.Record = field(default_factory=dict, compare=False)
    # An unpickled comparison can be read, but nothing more can be computed from it.
    _inputs: dict[Any, HeldInputs] | None = field(default=None, metadata=result.HELD)

    _WITHOUT_INPUTS: ClassVar = "this comparison was unpickled, without its data; call compare on them again"
    _KIND: ClassVar = "Comparison"
    _HEADER: ClassVar = result.ESTIMATE_HEADER

    @property
    def per_class(self) -> PairedDifferences:
        """The differences of one-vs-rest AUCs class by class, with simultaneous intervals and corrected p-values.

        It does not depend on the metric of the comparison. Computed on access; each class takes as long as one
        comparison.
        """
        return compare_classes(self.inputs())

    @property
    def per_label(self) -> dict[Any, dict[Any, Estimate]]:
        """The estimates by label and model, for multilabel data."""
        raise AttributeError("per_label comes with task='multilabel'")

    def corrected_p_values(self, method: Literal["min_p", "holm"] = "min_p") -> dict[tuple[Any, Any], float]:
        """The p-values of all differences, corrected for multiple comparisons, by pair of models.

        Parameters
        ----------
        method : {"min_p", "holm"}, default "min_p"
            ``"min_p"``: from the distribution of the smallest p-value, with the correlations of the differences and
            their degrees of freedom; agrees with `simultaneous_intervals`. ``"holm"``: Holm's step-down correction,
            which ignores correlations and has no intervals.
        """
        known = self._known_differences()
        values = [one.corrected_p_value for one in known]
        if wording.one_of("method", method, CORRECTIONS) == "holm":
            values = _rust.holm([one.p_value for one in known])
        return {(one.first, one.second): value for one, value in zip(known, values, strict=True)}

    def simultaneous_intervals(self, level: float = 0.95) -> dict[tuple[Any, Any], ConfidenceInterval]:
        """Simultaneous intervals of all differences at this level, by pair of models.

        An interval excludes 0 exactly if the corrected p-value is below 1 - `level`. (nan, nan) if the standard error
        of a difference is missing or 0.
        """
        tail, known = options.read_level(level), self._known_differences()
        found = differences.Family(known, covariance=self.covariance).intervals(tail)
        return {(one.first, one.second): interval for one, interval in zip(known, found, strict=True)}

    def omnibus(self) -> OmnibusTest:
        """Test whether all models are equally good, against the alternative that some differ.

        Wald's F: the differences from the first model in units of their covariance, with the fewest degrees of freedom
        that any difference has.

        Returns
        -------
        OmnibusTest
            nan, with a warning, if models differ but the variance of a difference is unknown.
        """
        varying = [one.degrees_of_freedom for one in self._known_differences() if one.variance > 0.0]
        freedom = min(varying, default=math.nan)
        values = np.array([estimate.value for estimate in self.estimates.values()])
        found = None if np.isnan(self.covariance).any() else _wald_f(values, self.covariance, freedom)
        if found is None:
            warn("no test of all models is possible: the variance of some of them is unknown")
            return OmnibusTest(math.nan, (math.nan, math.nan), math.nan)
        return found

    @with_hints
    def bootstrap(self, n_resamples: int = 2000, rng: np.random.Generator | int | None = None) -> ComparisonBootstrap:
        """Resample the rows (or groups), the same ones for all models.

        Parameters
        ----------
        n_resamples : int, default 2000
            How many resamples.
        rng : numpy Generator or int, optional
            The generator or its seed. The result does not depend on the number of threads.

        Returns
        -------
        ComparisonBootstrap
            Its columns are the models, in the order of `estimates`; ``.difference(a, b)`` is paired.
        """
        size = options.positive_integer("n_resamples", n_resamples)
        held = self.inputs()
        models = list(held.values())
        models[0].refuse_folds("a bootstrap")
        of_models = of_differences = bounds = None
        if self.metric == "multiclass_roc":
            replicates, bounds = _resample_curves(models, size, rng)
        elif registry.METRICS[self.metric].has_bootstrap:
            replicates = bootstrap.resample_metrics(models, size, rng)
            of_models, of_differences = bootstrap.compute_model_accelerations(models)
        else:
            raise ValueError(f"no bootstrap is available for {self.metric!r}")
        values = np.array([estimate.value for estimate in self.estimates.values()])
        bootstrap.warn_of_lost_classes(replicates, values)
        smallest = next(iter(self.estimates.values())).smallest_class
        drawn = (models[0].resampled_unit, self.counts, smallest, bounds, of_differences)
        return ComparisonBootstrap(replicates, tuple(held), values, of_models, *drawn)

    @with_hints
    def ranking_probabilities(
        self, n_resamples: int = 2000, rng: np.random.Generator | int | None = None
    ) -> dict[tuple[Any, ...], float]:
        """How often each ranking of the models occurs among the resamples, best model first.

        A resample with ties is split equally among the rankings that agree with it. Rankings that never occur are left
        out; the most frequent one comes first.

        Parameters
        ----------
        n_resamples, rng
            As in `bootstrap`.

        Examples
        --------
        >>> import numpy as np
        >>> import multiauc
        >>> rng = np.random.default_rng(0)
        >>> y_true = rng.integers(3, size=200)
        >>> models = {name: np.eye(3)[y_true] + noise * rng.random((200, 3)) for name, noise in [("a", 2), ("b", 3)]}
        >>> multiauc.compare(y_true, models).ranking_probabilities(n_resamples=500, rng=0)
        {('a', 'b'): 1.0}
        """
        return self.bootstrap(n_resamples, rng).ranking_probabilities()

    def inputs(self) -> dict[Any, HeldInputs]:
        """The data behind the result, for values computed on access."""
        if self._inputs is None:
            raise ValueError(self._WITHOUT_INPUTS)
        return self._inputs

    def plot(self, ax: Sequence[Axes] | None = None, *, level: float = 0.95, **points: Any) -> ComparisonDisplay:
        """Draw the estimates and their differences with intervals. Needs matplotlib (``pip install matplotlib``).

        `ax` is two matplotlib axes, new ones by default; `points` are passed on to ``ax.plot`` for the dots. The
        result is a `multiauc.plotting.ComparisonDisplay` with `axes_` and `figure_`.
        """
        from multiauc.plotting import ComparisonDisplay  # noqa: PLC0415

        return ComparisonDisplay(self).plot(ax, level=level, **points)

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        level: float = 0.95,
        n_resamples: int | None = None,
        rng: np.random.Generator | int | None = 0,
        costs: ArrayLike | None = None,
        by: Any = None,
    ) -> Path:
        """Write a report that compares the models: one HTML file that works offline.

        It says which model is best and whether the evidence is significant, and shows for each model what
        `Evaluation.report` shows. Parameters and result are those of `Evaluation.report`.
        """
        from multiauc._report.writing import evaluate_models, write_report  # noqa: PLC0415

        next(iter(self.inputs().values())).refuse_folds_and_one_score("a report")
        given = {"title": title, "level": level, "n_resamples": n_resamples, "rng": rng, "costs": costs, "by": by}
        return write_report(path, evaluate_models(self), self, **given)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """All numbers as plain Python objects, with intervals at this level; nan if a number is missing.

        The command line and reports use the same layout, whose number is `version`; see docs/json.md.
        """
        content = {"rows": int(self.counts.sum()), **self._pick("labels", "counts", "method", "metric")}
        content["estimates"] = {name: estimate.to_dict(level) for name, estimate in self.estimates.items()}
        content["differences"] = [difference.to_dict(level) for difference in self.differences]
        content |= self._pick("covariance", "notes")
        return result.document("comparison", level, content, result.provenance(self._options))

    def to_json(self, level: float = 0.95) -> str:
        """The same as JSON; null if a number is missing, text for names and labels without a JSON type."""
        content = self.to_dict(level)
        for difference, (first, second) in zip(content["differences"], self._pair_names(), strict=True):
            difference |= {"first": first, "second": second}
        return result.to_json(content)

    def _below(self) -> list[str]:
        return [self.method, *result.notes_in_words(self.notes)]

    def _contrasts(self) -> result.Cells:
        # Interval and p-value have the same correction, so they never disagree; two models need none.
        are_many = len(self.differences) > 1
        interval, p_value = ("95%, simultaneous", "p (min-p)") if are_many else ("95% interval", "p")
        head = ["", "difference", "std. error", interval, "t", "df", p_value]
        contrasts = zip(self._pair_names(), self.differences, self.simultaneous_intervals().values(), strict=True)
        return [head, *([" - ".join(pair), *one.cells(limits)] for pair, one, limits in contrasts)]


def _wald_f(values: NDArray[np.float64], covariance: NDArray[np.float64], freedom: float) -> OmnibusTest | None:
    """Wald's F test of the hypothesis that all values are equal.

    None where values differ in a direction in which nothing varies.
    """
    contrasts = np.eye(len(values))[1:] - np.eye(len(values))[0]
    differences, spread = contrasts @ values, contrasts @ covariance @ contrasts.T
    sizes, axes = np.linalg.eigh(spread)
    varies = sizes > ROUNDING * max(float(covariance.diagonal().max()), 1e-300)
    along = axes.T @ differences
    if (np.abs(along[~varies]) > 1e-12).any():
        return None
    rank = int(varies.sum())
    if rank == 0:
        return OmnibusTest(0.0, (0.0, freedom), 1.0)
    f = float((along[varies] ** 2 / sizes[varies]).sum() / rank)
    return OmnibusTest(f, (float(rank), freedom), _rust.f_tail(f, rank, freedom))


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelComparison(Comparison):
    """Models that scored several labels of the same rows; see `multiauc.compare`."""

    n_rows: int = 0
    _WITHOUT_INPUTS: ClassVar = multilabel.NO_INPUTS
    _per_label: dict[Any, dict[Any, Estimate]] = field(default_factory=dict)

    @property
    def per_label(self) -> dict[Any, dict[Any, Estimate]]:
        """The metric of each label, by label and model."""
        return self._per_label

    def _title(self) -> str:
        title = multilabel.TITLES[self.metric]
        return f"Comparison by {title} on {result.sizes_in_words(self.labels, self.counts, self.n_rows)}"


@with_hints
def compare(  # noqa: PLR0913
    y_true: ArrayLike,
    models: Mapping[Any, ArrayLike],
    *,
    metric: registry.MetricName | None = None,
    task: Task = "multiclass",
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    clip: float | None = None,
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    sampling: Sampling | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> Comparison:
    r"""Compare models that scored the same rows, with paired tests.

    Models on the same rows make similar errors, which cancel in the difference, so a difference has a smaller standard
    error than the models' own would suggest.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row.
    models : dict of array-like
        The scores of each model by its name (any hashable), each of shape (n, K); with two classes also (n,) or (n, 1).
        Predicted classes where they are enough, as in `evaluate`.
    metric : str, optional
        The metric to compare, default ``"auc_mu"``; also ``"hand_till"``, ``"one_vs_rest"``,
        ``"one_vs_rest_prevalence"``, ``"pdi"``, ``"average_precision"``, ``"average_precision_prevalence"``,
        ``"log_loss"``, ``"brier"`` (of these two, less is better), ``"hum"``, ``"landgrebe_duin"``, ``"matthews"`` and
        other classification metrics, ``"ordered_vus"`` (of models with one score per row) or ``"multiclass_roc"``. The
        area D of the last has no analytic standard error; compare it by the bootstrap.
    task : {"multiclass", "multilabel"}, default "multiclass"
        As in `evaluate`. With several labels per row, `metric` is ``"one_vs_rest"`` (the mean AUC over labels, the
        default) or ``"average_precision"``, and ``.per_label`` has the estimates by label and model.
    partition : array-like of shape (K, K), optional
        As in `auc_mu_score`; for AUC_mu only.
    pair_weights : {"size_product", "size_sum"} or array-like of shape (K, K), optional
        As in `auc_mu_score`; not for one-vs-rest.
    clip, k
        As in `evaluate`; for ``"log_loss"`` and for ``"top_k_accuracy"``.
    sample_weight, groups, folds, sampling, labels, absent, outputs
        As in `evaluate`.

    Returns
    -------
    Comparison
        With ``.estimates``, ``.difference(a, b)`` and a table of all differences, whose p-values are corrected for
        multiple comparisons by the distribution of the smallest p-value (single-step min-p [1]_).
        ``.simultaneous_intervals()`` uses the same distribution; ``.omnibus()`` tests all models jointly.

    Notes
    -----
    With :math:`D(i) = T_A(i) - T_B(i)` the difference of the influence values of row i under the two models,

    .. math::
        \operatorname{Var}(\theta_A - \theta_B)
            = \sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} \bigl(D(i) - \bar D_k\bigr)^2.

    As in `evaluate`, a `ColumnOrderWarning` names each model whose columns seem to be in another order, and a note says
    if the scores are not probabilities. If only some models have probabilities, a `UserWarning` names them, because the
    same model scored once as probabilities and once as logits differs from itself. `outputs` applies to all models.

    References
    ----------
    .. [1] T. Hothorn, F. Bretz and P. Westfall, "Simultaneous inference in general parametric models", Biometrical
       Journal 50 (2008), 346-363.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> signal = np.eye(3)[y_true]
    >>> noise = rng.random((300, 3))
    >>> models = {"good": signal + 2 * noise, "fair": signal + 3 * noise, "other": 0.6 * signal + rng.random((300, 3))}
    >>> comparison = multiauc.compare(y_true, models, outputs="logits")
    >>> comparison
    Comparison by AUC_mu on 300 rows, 3 classes (0 90, 1 95, 2 115)
            value  std. error      95% interval
    good   0.9566      0.0081  0.9360 to 0.9708
    fair   0.8662      0.0172  0.8281 to 0.8969
    other  0.9853      0.0038  0.9715 to 0.9925
    <BLANKLINE>
                  difference  std. error   95%, simultaneous      t     df  p (min-p)
    good - fair      +0.0905      0.0099  +0.0687 to +0.1122   9.10  284.9    <0.0001
    good - other     -0.0287      0.0089  -0.0483 to -0.0091  -3.22  149.8     0.0031
    fair - other     -0.1191      0.0176  -0.1578 to -0.0805  -6.75  284.9    <0.0001
    <BLANKLINE>
    analytic standard errors, class sizes fixed; Wilson intervals with Student's t
    >>> comparison.difference("other", "good")
    Difference(other - good: +0.0287, standard error 0.0089, 95% interval +0.0111 to +0.0463, t(149.8) 3.22, p 0.0016)
    """
    rows = {"groups": groups, "folds": folds, "sampling": sampling}
    given = {"partition": partition, "pair_weights": pair_weights, "clip": clip, "k": k}
    shared = (sample_weight, labels, absent, outputs)
    is_multilabel = wording.one_of("task", task, registry.TASKS) == "multilabel"
    offered = multilabel.METRICS_OF_LABELS if is_multilabel else (registry.DEFAULT_METRIC, *registry.METRICS)
    kind = offered[0] if metric is None else wording.one_of("metric", metric, tuple(dict.fromkeys(offered)))
    scores = name_models(models, "scores", "{'net': net.predict_proba(X), ...}")
    if is_multilabel:
        labelled = multilabel.read_labelled(y_true, scores, shared, **rows, **given)
        return _compare_labels(labelled, tuple(models), kind)
    samples, held = read_inputs(y_true, scores, (kind,), shared, **rows, **given)
    named, inputs = dict(zip(models, held, strict=True)), held[0]
    means, contrasts, covariance, method = (_compare_curves if kind == "multiclass_roc" else _compare_metric)(named)
    sizes = (tuple(inputs.sample.labels), inputs.sample.rows)
    notes = find_notes(dict(zip(models, samples, strict=True)), inputs)
    return Comparison(kind, means, contrasts, *sizes, covariance, method, notes, inputs.describe_options(), named)


def name_models(models: Any, what: str, example: str) -> dict[str, Any]:
    """The scores of each model, by the name that messages use."""
    if not isinstance(models, Mapping):
        raise TypeError(
            f"models must be a dict from the name of each model to its {what}; got {wording.describe_type(models)}: "
            f"write such as {example}"
        )
    if len(models) < 2:
        raise ValueError(f"models must have at least two models to compare; got {len(models)}")
    return {f"models[{name!r}]": value for name, value in models.items()}


def _compare_metric(models: dict[Any, HeldInputs]) -> Compared:
    """Estimates, differences, covariance and method, by the one metric that the inputs ask for."""
    inputs = next(iter(models.values()))
    (metric,) = inputs.metrics
    if inputs.folds is None:
        found = _rust.compare([model.arguments() for model in models.values()], metric, inputs.options)
    else:
        found = compare_in_folds(list(models.values()), (metric,))
    estimates.warn_of_single_units(inputs, found)
    smallest = estimates.count_smallest(found.units)
    means = {
        name: estimates.build_estimate(one, name, smallest, metric, model)
        for (name, model), one in zip(models.items(), found.estimates, strict=True)
    }
    is_known = not inputs.sample.is_undefined
    contrasts, covariance = _build_differences(models, found.differences, found.covariance, metric, is_known=is_known)
    return means, contrasts, covariance, inputs.describe_method()


def _build_differences(
    models: Iterable[Any],
    found: Sequence[_rust.Estimate],
    covariance: NDArray[np.float64],
    metric: str,
    *,
    is_known: bool,
) -> tuple[tuple[Difference, ...], NDArray[np.float64]]:
    """The differences of all pairs of models and the covariance of the models; nan if they are not known."""
    numbers = ((one.value, one.variance, one.degrees_of_freedom) if is_known else (math.nan,) * 3 for one in found)
    scale, pairs = differences.read_scale(metric), combinations(models, 2)
    plain = [Difference(a, b, *three, **scale) for (a, b), three in zip(pairs, numbers, strict=True)]
    differences.warn_of_untestable(plain)
    corrected = differences.Family(plain, covariance=covariance).correct()
    return tuple(corrected), covariance if is_known else np.full_like(covariance, np.nan)


def _compare_labels(sample: multilabel.LabelledSample, models: tuple[Any, ...], metric: str) -> MultilabelComparison:
    """The mean over labels of every model, and their differences."""
    found = sample.compute((metric,))
    pairs, is_known = [of_pair[0] for of_pair in found.differences], not sample.is_undefined()
    means = {name: sample.mean(found, k, 0, metric, name) for k, name in enumerate(models)}
    contrasts, covariance = _build_differences(models, pairs, found.covariance, metric, is_known=is_known)
    sizes = (tuple(sample.labels), sample.counts)
    each = [sample.estimates(found, (metric,), model)[0] for model in range(len(models))]
    per_label = {label: {name: each[k][label] for k, name in enumerate(models)} for label in each[0]}
    given = sample.describe_options((metric,))
    known: result.Record = {"n_rows": sample.n_rows, "_options": given, "_per_label": per_label}
    return MultilabelComparison(metric, means, contrasts, *sizes, covariance, sample.describe(), **known)


def _compare_curves(models: dict[Any, HeldInputs]) -> Compared:
    """The same by the areas of the multi-class ROC curves, which have no analytic standard errors."""
    next(iter(models.values())).refuse_folds("metric='multiclass_roc'")
    found = {}
    for name, model in models.items():
        area = fit_curve(model.sample, model.options.pair_weights).auc
        smallest = estimates.count_smallest(model.units())
        found[name] = estimates.build_bare_estimate(area, name, smallest, "multiclass_roc", model)
    unknown = np.full((len(models), len(models)), np.nan)
    return found, (), unknown, "no analytic standard errors; use .bootstrap() or .ranking_probabilities()"


def _resample_curves(
    models: list[HeldInputs], size: int, rng: np.random.Generator | int | None
) -> tuple[NDArray[np.float64], list[float | None]]:
    """Replicates of the areas D of the models, and the bounds that they are at: a column and an entry per model."""
    generator = options.read_rng(rng)
    if models[0].sample.is_undefined:
        return np.full((size, len(models)), np.nan), [None] * len(models)
    # The same seed draws the same rows for every model.
    draws, found = (size, bootstrap.draw_seed(generator)), []
    for model in models:
        roc = fit_curve(model.unchanged_sample(), model.options.pair_weights)
        found.append(roc.resample(draws, model.groups, model.sampling))
    return np.stack([one.replicates for one in found], axis=1), [one.bound for one in found]


@with_hints
def compare_samples(
    a: Evaluation, b: Evaluation, *, metric: registry.MetricName = registry.DEFAULT_METRIC
) -> Difference:
    r"""The difference between two evaluations of different rows, such as two hospitals, or last year and this year.

    The samples must be independent. For models scored on the same rows use `compare`, which is much more precise.

    Parameters
    ----------
    a, b : Evaluation
        Evaluations of samples without common rows or groups.
    metric : str, default "auc_mu"
        What to compare; both must have been evaluated with it.

    Returns
    -------
    Difference
        a minus b.

    Notes
    -----
    The limits :math:`l, u` of both default intervals are combined into an interval for the difference
    :math:`d = \theta_a - \theta_b`,

    .. math:: d - \sqrt{(\theta_a - l_a)^2 + (u_b - \theta_b)^2} \quad \text{to} \quad
              d + \sqrt{(u_a - \theta_a)^2 + (\theta_b - l_b)^2}

    (MOVER: G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008), 1693-1702). The test inverts it, with Welch's
    degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> def sample(n, noise):
    ...     y_true = rng.integers(3, size=n)
    ...     return y_true, np.eye(3)[y_true] + noise * rng.random((n, 3))
    >>> old, new = multiauc.evaluate(*sample(300, 2)), multiauc.evaluate(*sample(200, 3))
    >>> multiauc.compare_samples(old, new)
    Difference(a - b: +0.1262, standard error 0.0239, 95% interval +0.0811 to +0.1782, p <0.0001)
    """
    for name, given in (("a", a), ("b", b)):
        if not isinstance(given, Evaluation):
            raise TypeError(
                f"{name} must be an Evaluation, as `evaluate` returns it; got {wording.describe_type(given)}"
            )
        wording.one_of("metric", metric, tuple(given.metrics))
    if set(a.labels) != set(b.labels):
        raise ValueError(
            f"a and b must have the same classes; got {wording.listing(a.labels)} and {wording.listing(b.labels)}, "
            "whose values are not comparable"
        )
    first, second = a.metrics[metric], b.metrics[metric]
    variance, scale = first.variance() + second.variance(), registry.METRICS[metric].scale
    sides = (differences.Side.of(first), differences.Side.of(second))
    freedom = float(_rust.SampleDifferences(*sides, np.zeros(1), scale).degrees_of_freedom[0])
    known = {"_samples": (*sides, scale), **differences.read_scale(metric)}
    difference = Difference("a", "b", first.value - second.value, variance, freedom, **known)
    if math.isnan(variance):
        warn("no test is possible: a standard error is nan, because a class has a single row or a single group")
    differences.warn_of_untestable([difference])
    return difference
