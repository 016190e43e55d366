"""Everything about one model: the metrics with their uncertainty."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multiauc import _rust
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import SAMPLINGS, positive_integer, read_groups, read_pair_weights, read_partition
from multiauc._input.sample import read_sample
from multiauc._json import to_json
from multiauc._replicates import warn_of_lost_classes
from multiauc._tables import html_table, text_table
from multiauc._wording import counted, listing, one_of
from multiauc.bootstrap import Bootstrap, metric_accelerations, resampled_metrics
from multiauc.estimates import Estimate
from multiauc.results import TABLE_AT_MOST, TABLE_EDGE, PairMatrix, _read_only, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from multiauc._input.sample import Sample
    from multiauc._types import Absent, Labels, PairWeights

METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")
METRIC_NAMES = {
    "auc_mu": "AUC_mu",
    "hand_till": "Hand & Till's M",
    "one_vs_rest": "one-vs-rest (macro)",
    "one_vs_rest_prevalence": "one-vs-rest (prevalence)",
    "multiclass_roc": "multi-class ROC (D)",
}
HEADER = ["", "value", "std. error", "95% interval"]


def evaluate(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sampling: Literal["stratified", "iid"] = "stratified",
    labels: Labels = None,
    absent: Absent = "raise",
) -> Evaluation:
    r"""AUC_mu, Hand & Till's M and one-vs-rest of a model, with standard errors and intervals in closed form.

    Every one of these metrics is a weighted sum :math:`\theta = \sum \omega_{cd} U_{cd}` of shares of pairs of rows in
    the right order. With :math:`T(i)` the weighted share of the other classes that row i is on the right side of,

    .. math::
        \operatorname{Var}(\theta) = \sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} \bigl(T(i) - \bar T_k\bigr)^2,

    which is DeLong's variance [1]_ for two classes and the jackknife within classes for any number of them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`.
    partition : array-like of shape (K, K), optional
        Costs that rank the pairs of AUC_mu, as in `auc_mu_score`.
    pair_weights : {"size_product", "size_sum"} or array-like of shape (K, K), optional
        How much each pair of classes counts in AUC_mu and in M, as in `auc_mu_score`.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows: how much of the population each of them stands for.
    groups : array-like of shape (n,), optional
        The group of each row (patient, user, document), where rows of one group are alike: standard errors then treat
        groups, not rows, as independent.
    sampling : {"stratified", "iid"}, default "stratified"
        Whether the class sizes are fixed, or as random as the rest. It matters for metrics that depend on them:
        one-vs-rest, and `pair_weights` by size.
    labels : sequence of K labels, optional
        The classes in the order of the columns. By default the column names of a data frame, if they are strings or
        contain all labels; otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out, or have nan in every number that
        needs it.

    Returns
    -------
    Evaluation
        With an `Estimate` for each metric (`auc_mu`, `hand_till`, `one_vs_rest`, `one_vs_rest_prevalence`) and for each
        class against the rest (`per_class`).

    See Also
    --------
    compare : Several models on the same rows.

    Notes
    -----
    A standard error needs two rows of every class (two groups, where rows are grouped): otherwise it is nan, and a
    warning names the class. The result refers to `y_score`; it does not copy it.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves: a nonparametric approach", Biometrics 44 (1988), 837-845.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=300)
    >>> y_score = rng.random((300, 3)) + 0.5 * (y_true[:, None] == ["cat", "dog", "eel"])
    >>> result = multiauc.evaluate(y_true, y_score)
    >>> result
    Evaluation of 300 rows, 3 classes (cat 90, dog 95, eel 115)
                                  value  std. error      95% interval
    AUC_mu                       0.9584      0.0077  0.9403 to 0.9712
    Hand & Till's M              0.8817      0.0114  0.8573 to 0.9025
    one-vs-rest (macro)          0.8817      0.0115  0.8572 to 0.9024
    one-vs-rest (prevalence)     0.8800      0.0116  0.8552 to 0.9011
    each class against the rest
      cat                        0.8938      0.0194  0.8489 to 0.9264
      dog                        0.8909      0.0191  0.8472 to 0.9233
      eel                        0.8603      0.0207  0.8144 to 0.8962
    closed form, class sizes fixed; logit intervals with Student's t
    >>> low, high = result.auc_mu.confidence_interval(level=0.9)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.944 to 0.969
    """
    sample = read_sample(y_true, y_score, sample_weight, labels, absent)
    inputs = HeldInputs(
        sample,
        groups=read_groups(groups, len(sample.codes)),
        partition=read_partition(partition, sample.n_classes),
        pair_weights=read_pair_weights(pair_weights, sample),
        sampling=one_of("sampling", sampling, SAMPLINGS),
    )
    found = _rust.evaluate(inputs.arguments(), inputs.partition, inputs.pair_weights, inputs.sampling == "iid")
    smallest = smallest_units(sample, found.units, grouped=inputs.groups is not None)
    counts_all = not (sample.absent == "nan" and 0 in sample.rows)
    estimates = {
        metric: make_estimate(METRIC_NAMES[metric], row if counts_all else np.full(4, np.nan), smallest, place, inputs)
        for place, (metric, row) in enumerate(zip(METRICS, found.estimates, strict=True))
    }
    per_class = {
        sample.labels[c]: make_estimate(
            f"{sample.labels[c]} against the rest", found.per_class[c], smallest, len(METRICS) + c, inputs
        )
        for c in sample.reported_classes()
    }
    names = tuple(sample.labels)
    errors_mu, errors_m = np.sqrt(found.auc_mu_variances), np.sqrt(found.hand_till_variances)
    return Evaluation(
        **estimates,
        per_class=per_class,
        covariance=found.covariance if counts_all else np.full_like(found.covariance, np.nan),
        auc_mu_matrix=PairMatrix(found.auc_mu_values, names, sample.rows, "auc_mu", errors_mu),
        hand_till_matrix=PairMatrix(found.hand_till_values, names, sample.rows, "hand_till", errors_m),
        labels=names,
        counts=sample.rows,
        method=method_of(inputs),
        _inputs=inputs,
    )


def read_metrics(metrics: Sequence[str]) -> tuple[str, ...]:
    """Names of metrics, each at most once."""
    if isinstance(metrics, str):
        raise TypeError(f"metrics must be a sequence of names; got {metrics!r}, for one metric write ({metrics!r},)")
    names = tuple(one_of("metrics", metric, METRICS) for metric in metrics)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"metrics must name one metric or more, each once; got {list(metrics)!r}")
    return names


def make_estimate(
    name: str, row: NDArray[np.float64], smallest: int, place: int, inputs: HeldInputs | None
) -> Estimate:
    """An estimate from the core's (value, variance, degrees of freedom, plug-in variance)."""
    value, variance, freedom, plug_in = row.tolist()
    return Estimate(name, value, math.sqrt(variance), freedom, smallest, variance, plug_in, place, inputs)


def smallest_units(sample: Sample, units: NDArray[np.int64], *, grouped: bool) -> int:
    """Rows (or groups) of the smallest class that has any; a warning for classes with a single one."""
    single = [label for label, count in zip(sample.labels, units.tolist(), strict=True) if count == 1]
    if single:
        what = "has the rows of one group only" if grouped else "has a single row"
        names = f"{'class' if len(single) == 1 else 'each of the classes'} {listing(single)}"
        warnings.warn(
            f"{names} {what}, which does not show how much it varies: the standard errors that need it are nan",
            RuntimeWarning,
            stacklevel=3,
        )
    return int(units[units > 0].min())


def method_of(inputs: HeldInputs) -> str:
    """How the uncertainty was found, in words."""
    sizes = "class sizes fixed" if inputs.sampling == "stratified" else "class sizes random"
    weights = "" if inputs.sample.weights is None else ", weighted rows"
    groups = "" if inputs.groups is None else f", {counted(int(inputs.groups.max()) + 1, 'group')} of rows"
    return f"closed form, {sizes}{weights}{groups}; logit intervals with Student's t"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation:
    """The metrics of one model with their uncertainty; see `multiauc.evaluate`.

    Attributes
    ----------
    auc_mu, hand_till, one_vs_rest, one_vs_rest_prevalence : Estimate
        The metrics.
    per_class : dict of Estimate
        Each class against all the others by its own score, by label.
    covariance : ndarray of shape (4, 4)
        Of the four metrics in that order. Read-only.
    auc_mu_matrix, hand_till_matrix : PairMatrix
        The values of all pairs of classes, with their standard errors.
    labels : tuple
        The classes.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    method : str
        How the uncertainty was found, in words.
    """

    auc_mu: Estimate
    hand_till: Estimate
    one_vs_rest: Estimate
    one_vs_rest_prevalence: Estimate
    per_class: dict[Any, Estimate]
    covariance: NDArray[np.float64]
    auc_mu_matrix: PairMatrix
    hand_till_matrix: PairMatrix
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    method: str
    _inputs: HeldInputs | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", _read_only(self.covariance))
        object.__setattr__(self, "counts", _read_only(self.counts))

    def __reduce__(self) -> tuple[Any, ...]:
        # The data stay behind: an unpickled evaluation can be read, not computed further.
        metrics = (self.auc_mu, self.hand_till, self.one_vs_rest, self.one_vs_rest_prevalence)
        matrices = (self.auc_mu_matrix, self.hand_till_matrix)
        rest = (self.labels, self.counts, self.method)
        return Evaluation, (*metrics, self.per_class, self.covariance, *matrices, *rest)

    @property
    def metrics(self) -> dict[str, Estimate]:
        """The four metrics by name."""
        return {metric: getattr(self, metric) for metric in METRICS}

    def bootstrap(
        self,
        n_resamples: int = 2000,
        rng: np.random.Generator | int | None = None,
        *,
        metrics: Sequence[str] = METRICS,
    ) -> Bootstrap:
        """Resample the rows (or groups), as `sampling` and `groups` of `evaluate` say.

        Parameters
        ----------
        n_resamples : int, default 2000
            How many samples.
        rng : numpy Generator or int, optional
            The random numbers or their seed. The same seed draws the same rows for every metric and every model scored
            on the same `y_true`, on any number of threads.
        metrics : sequence of str, default all four
            The metrics wanted; fewer take less time.

        Returns
        -------
        Bootstrap
            With `replicates`, `standard_error` and `confidence_interval(metric)`.
        """
        size = positive_integer("n_resamples", n_resamples)
        wanted = read_metrics(metrics)
        inputs = self.inputs()
        replicates = resampled_metrics([inputs], wanted, size, rng)
        estimates = np.array([getattr(self, metric).value for metric in wanted])
        warn_of_lost_classes(replicates, estimates, stacklevel=2)
        places = [METRICS.index(metric) for metric in wanted]
        return Bootstrap(
            replicates,
            wanted,
            estimates,
            metric_accelerations(inputs)[places],
            inputs.sampling if inputs.groups is None else "groups",
            self.counts,
            self.auc_mu.smallest_class,
        )

    def influences(self) -> NDArray[np.float64]:
        r"""What each row adds to the error of the four metrics, (n, 4).

        :math:`u_i = (T(i) - \bar T_k) / n_k`: to first order, the estimate moves by :math:`-u_i` when row i is left
        out. Rows with large entries are those that the estimate rests on.
        """
        inputs = self.inputs()
        return _rust.influences(inputs.arguments(), inputs.partition, inputs.pair_weights)

    def inputs(self) -> HeldInputs:
        """The data behind the result, for what is computed when asked for."""
        if self._inputs is None:
            raise ValueError("this evaluation was unpickled, without its data; call evaluate on them again")
        return self._inputs

    def report(
        self,
        path: str | PathLike[str],
        *,
        name: str = "The model",
        title: str | None = None,
        level: float = 0.95,
        n_resamples: int = 200,
        rng: np.random.Generator | int | None = 0,
    ) -> Path:
        """Write a page about the model: one HTML file that works offline, for readers who do not write Python.

        It shows the metrics with intervals, the pairs of classes as a heat map and in words, every class, the
        multi-class ROC curve with its band, the method and the versions.

        Parameters
        ----------
        path : path-like
            Where to write it.
        name : str
            What the page calls the model.
        title : str, optional
            The title of the page.
        level : float, default 0.95
            The level of the intervals.
        n_resamples : int, default 200
            Bootstrap samples for the band of the multi-class ROC curve; 0 for a curve without a band.
        rng : numpy Generator or int, default 0
            Their random numbers, or the seed.

        Returns
        -------
        pathlib.Path
            Where it is.
        """
        from multiauc._report.writing import write_report  # noqa: PLC0415

        models = {str(name): self}
        return write_report(path, models, None, title=title, level=level, n_resamples=n_resamples, rng=rng)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python objects, with 95% intervals."""
        return {
            "metrics": {name: estimate.to_dict() for name, estimate in self.metrics.items()},
            "per_class": [{"label": label, **estimate.to_dict()} for label, estimate in self.per_class.items()],
            "covariance": self.covariance.tolist(),
            "labels": list(self.labels),
            "counts": self.counts.tolist(),
            "method": self.method,
        }

    def to_json(self) -> str:
        """The same as JSON; null where a number is missing, labels that JSON does not have as text."""
        return to_json(self.to_dict())

    def __repr__(self) -> str:
        return "\n".join([self._title(), *text_table(self._table()), self.method])

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._table(), [self.method])

    def _title(self) -> str:
        return f"Evaluation of {sizes_in_words(self.labels, self.counts)}"

    def _table(self) -> list[list[str]]:
        rows = [[estimate.name, *estimate.cells()] for estimate in self.metrics.values()]
        classes = [[f"  {shortened(label)}", *estimate.cells()] for label, estimate in self.per_class.items()]
        if len(classes) > TABLE_AT_MOST:
            classes[TABLE_EDGE:-TABLE_EDGE] = [["  ...", "", "", ""]]
        return [HEADER, *rows, ["each class against the rest", "", "", ""], *classes]


def sizes_in_words(labels: tuple[Any, ...], counts: NDArray[np.int64]) -> str:
    """Rows in all and per class, the tail of a long list only counted."""
    sizes = [f"{shortened(label)} {count}" for label, count in zip(labels, counts.tolist(), strict=True)]
    if len(sizes) > TABLE_AT_MOST:
        sizes[TABLE_AT_MOST:] = [f"and {len(sizes) - TABLE_AT_MOST} more"]
    n_rows, n_classes = counted(int(counts.sum()), "row"), counted(len(labels), "class", "classes")
    return f"{n_rows}, {n_classes} ({', '.join(sizes)})"
