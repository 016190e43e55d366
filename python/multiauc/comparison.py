"""Several models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multiauc import _rust
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import SAMPLINGS, positive_integer, read_groups, read_pair_weights, read_partition
from multiauc._input.sample import read_sample
from multiauc._json import to_json
from multiauc._replicates import warn_of_lost_classes
from multiauc._tables import html_table, text_table
from multiauc._wording import described, listing, one_of
from multiauc.bootstrap import ComparisonBootstrap, model_accelerations, resampled_curves, resampled_metrics
from multiauc.differences import Difference, holm
from multiauc.evaluation import (
    HEADER,
    METRIC_NAMES,
    METRICS,
    make_estimate,
    method_of,
    sizes_in_words,
    smallest_units,
)
from multiauc.multiclass_roc import multiclass_roc
from multiauc.results import _read_only

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._input.sample import Sample
    from multiauc._types import Absent, Labels, PairWeights
    from multiauc.estimates import Estimate
    from multiauc.plotting import ComparisonDisplay

COMPARED = (*METRICS, "multiclass_roc")
# The metrics that these options have a meaning for.
WITH_PARTITION = ("auc_mu",)
WITH_PAIR_WEIGHTS = ("auc_mu", "hand_till", "multiclass_roc")


def compare(  # noqa: PLR0913
    y_true: ArrayLike,
    models: Mapping[str, ArrayLike],
    *,
    metric: Literal["auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence", "multiclass_roc"] = "auc_mu",
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sampling: Literal["stratified", "iid"] = "stratified",
    labels: Labels = None,
    absent: Absent = "raise",
) -> Comparison:
    r"""Compare models that scored the same rows: which is better, and how sure that is.

    Models that see the same rows err together, so that their difference is known much better than either of them. With
    :math:`D(i) = T_A(i) - T_B(i)` the difference of what row i contributes to the metric under the two models,

    .. math::
        \operatorname{Var}(\theta_A - \theta_B)
            = \sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} \bigl(D(i) - \bar D_k\bigr)^2.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row.
    models : dict of array-like
        The scores of each model by its name, each of shape (n, K); with two classes also (n,) or (n, 1).
    metric : {"auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence", "multiclass_roc"}, default "auc_mu"
        What to compare. The area D of ``"multiclass_roc"`` has no standard error in closed form, so that its models
        are compared by the bootstrap only.
    partition : array-like of shape (K, K), optional
        As in `auc_mu_score`; for AUC_mu only.
    pair_weights : {"size_product", "size_sum"} or array-like of shape (K, K), optional
        As in `auc_mu_score`; not for one-vs-rest.
    sample_weight, groups, sampling, labels, absent
        As in `evaluate`.

    Returns
    -------
    Comparison
        With ``.estimates``, ``.difference(a, b)`` and a table of all differences, their p-values corrected for their
        number after Holm [1]_.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
       (1979), 65-70.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> signal = np.eye(3)[y_true]
    >>> noise = rng.random((300, 3))
    >>> models = {"good": signal + 2 * noise, "fair": signal + 3 * noise, "other": 0.6 * signal + rng.random((300, 3))}
    >>> comparison = multiauc.compare(y_true, models)
    >>> comparison
    Comparison by AUC_mu on 300 rows, 3 classes (0 90, 1 95, 2 115)
            value  std. error      95% interval
    good   0.9584      0.0077  0.9403 to 0.9712
    fair   0.8718      0.0164  0.8359 to 0.9008
    other  0.9855      0.0038  0.9759 to 0.9913
    <BLANKLINE>
                  difference  std. error        95% interval      z        p  p (Holm)
    good - fair      +0.0865      0.0093  +0.0682 to +0.1049   9.28  <0.0001   <0.0001
    good - other     -0.0271      0.0085  -0.0439 to -0.0104  -3.19   0.0016    0.0016
    fair - other     -0.1137      0.0168  -0.1468 to -0.0806  -6.77  <0.0001   <0.0001
    <BLANKLINE>
    closed form, class sizes fixed; logit intervals with Student's t
    >>> comparison.difference("other", "good")
    Difference(other - good: +0.0271, standard error 0.0085, 95% interval +0.0104 to +0.0439, z 3.19, p 0.0016)
    """
    kind = one_of("metric", metric, COMPARED)
    _refuse_idle_option("partition", partition, kind, WITH_PARTITION)
    _refuse_idle_option("pair_weights", pair_weights, kind, WITH_PAIR_WEIGHTS)
    samples = _read_models(y_true, models, sample_weight, labels, absent)
    first = next(iter(samples.values()))
    if partition is not None and len({sample.has_one_score for sample in samples.values()}) > 1:
        raise ValueError(
            "models with one score per row cannot be compared by a partition with models that have two: "
            "give all of them two columns"
        )
    group_codes = read_groups(groups, len(first.codes))
    costs, weighting = read_partition(partition, first.n_classes), read_pair_weights(pair_weights, first)
    drawn = one_of("sampling", sampling, SAMPLINGS)
    held = {
        name: HeldInputs(sample, groups=group_codes, partition=costs, pair_weights=weighting, sampling=drawn)
        for name, sample in samples.items()
    }
    if kind == "multiclass_roc":
        areas = [
            multiclass_roc(
                y_true,
                models[name],
                pair_weights=pair_weights,
                sample_weight=sample_weight,
                labels=labels,
                absent=absent,
            ).auc
            for name in samples
        ]
        return _without_errors(held, areas)
    inputs = next(iter(held.values()))
    arguments = [data.arguments() for data in held.values()]
    found, covariance, contrasts, units = _rust.compare(arguments, inputs.partition, weighting, drawn == "iid", kind)
    smallest = smallest_units(first, units, grouped=group_codes is not None)
    if first.absent == "nan" and 0 in first.rows:
        for array in (found, covariance, contrasts):
            array[:] = np.nan
    place = METRICS.index(kind)
    estimates = {
        name: make_estimate(name, row, smallest, place, data)
        for (name, data), row in zip(held.items(), found, strict=True)
    }
    differences = [
        Difference(a, b, *row[:3].tolist()) for (a, b), row in zip(combinations(held, 2), contrasts, strict=True)
    ]
    corrected = holm([difference.p_value for difference in differences])
    return Comparison(
        metric=kind,
        estimates=estimates,
        covariance=covariance,
        differences=tuple(replace(d, corrected_p_value=p) for d, p in zip(differences, corrected, strict=True)),
        labels=tuple(first.labels),
        counts=first.rows,
        method=method_of(inputs),
        _inputs=held,
    )


def _refuse_idle_option(option: str, value: Any, metric: str, accepted: tuple[str, ...]) -> None:
    if value is not None and metric not in accepted:
        raise ValueError(f"{option} has no meaning for metric={metric!r}; it has for {listing(accepted)}")


def _read_models(y_true: Any, models: Any, sample_weight: Any, labels: Any, absent: Any) -> dict[str, Sample]:
    """The samples by model, the columns of all of them in the order of the first's."""
    if not isinstance(models, Mapping):
        raise TypeError(f"models must be a dict from the name of each model to its scores; got {described(models)}")
    if len(models) < 2:
        raise ValueError(f"models must have at least two models to compare; got {len(models)}")
    samples: dict[str, Sample] = {}
    first: Sample | None = None
    for name, y_score in models.items():
        try:
            sample = read_sample(y_true, y_score, sample_weight, labels, absent)
        except (TypeError, ValueError) as error:
            raise type(error)(f"models[{name!r}]: {error}") from None
        first = first or sample
        samples[name] = _in_order_of(first, sample, name)
    return samples


def _in_order_of(first: Sample, sample: Sample, name: str) -> Sample:
    if sample.labels == first.labels:
        return replace(sample, codes=first.codes, weights=first.weights)
    if set(sample.labels) != set(first.labels):
        raise ValueError(
            f"models[{name!r}] must have the same classes as the first model, {listing(first.labels)}; "
            f"got {listing(sample.labels)}"
        )
    if sample.has_one_score:
        raise ValueError(
            f"models[{name!r}] must be the score of {first.labels[1]!r}, as in the first model; "
            f"got that of {sample.labels[1]!r}"
        )
    order = [sample.labels.index(label) for label in first.labels]
    return replace(first, scores=sample.scores[:, order])


def _without_errors(held: dict[str, HeldInputs], areas: list[float]) -> Comparison:
    sample = next(iter(held.values())).sample
    size = len(held)
    smallest = int(sample.rows[sample.rows > 0].min())
    rows = [np.array([area, np.nan, np.nan, np.nan]) for area in areas]
    return Comparison(
        metric="multiclass_roc",
        estimates={name: make_estimate(name, row, smallest, 0, None) for name, row in zip(held, rows, strict=True)},
        covariance=np.full((size, size), np.nan),
        differences=(),
        labels=tuple(sample.labels),
        counts=sample.rows,
        method="no standard errors in closed form; use .bootstrap() or .ranking_probabilities()",
        _inputs=held,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
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
        The first model less the second, for all pairs of models, with p-values corrected for their number.
    labels : tuple
        The classes.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    method : str
        How the uncertainty was found, in words.
    """

    metric: str
    estimates: dict[str, Estimate]
    covariance: NDArray[np.float64]
    differences: tuple[Difference, ...]
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    method: str
    _inputs: dict[str, HeldInputs] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", _read_only(self.covariance))
        object.__setattr__(self, "counts", _read_only(self.counts))

    def __reduce__(self) -> tuple[Any, ...]:
        # The data stay behind: an unpickled comparison can be read, not computed further.
        known = (self.metric, self.estimates, self.covariance, self.differences)
        return Comparison, (*known, self.labels, self.counts, self.method)

    def difference(self, a: str, b: str) -> Difference:
        """Model `a` less model `b`."""
        for name in (a, b):
            if name not in self.estimates:
                raise ValueError(f"no model {name!r} in this comparison; its models are {listing(self.estimates)}")
        if a == b:
            raise ValueError(f"a difference needs two models; got {a!r} twice")
        if not self.differences:
            raise ValueError(
                f"differences of metric={self.metric!r} have no closed form; "
                "use .bootstrap(), whose replicates are paired"
            )
        found = next(d for d in self.differences if {d.first, d.second} == {a, b})
        return found if found.first == a else found.reversed()

    def bootstrap(self, n_resamples: int = 2000, rng: np.random.Generator | int | None = None) -> ComparisonBootstrap:
        """Resample the rows (or groups), the same ones for all models.

        Parameters
        ----------
        n_resamples : int, default 2000
            How many samples.
        rng : numpy Generator or int, optional
            The random numbers or their seed. It does not matter how many threads work.

        Returns
        -------
        ComparisonBootstrap
            Its columns are the models, in the order of `estimates`; ``.difference(a, b)`` is paired.
        """
        size = positive_integer("n_resamples", n_resamples)
        held = self.inputs()
        models = list(held.values())
        inputs = models[0]
        of_models = of_differences = None
        if self.metric == "multiclass_roc":
            replicates = resampled_curves(models, size, rng)
        else:
            replicates = resampled_metrics(models, [self.metric], size, rng)
            of_models, of_differences = model_accelerations(models, METRICS.index(self.metric))
        estimates = np.array([estimate.value for estimate in self.estimates.values()])
        warn_of_lost_classes(replicates, estimates, stacklevel=2)
        return ComparisonBootstrap(
            replicates,
            tuple(held),
            estimates,
            of_models,
            inputs.sampling if inputs.groups is None else "groups",
            self.counts,
            next(iter(self.estimates.values())).smallest_class,
            of_differences,
        )

    def ranking_probabilities(
        self, n_resamples: int = 2000, rng: np.random.Generator | int | None = None
    ) -> dict[tuple[str, ...], float]:
        """The share of resamples in which the models come in each order, the best first.

        Models that tie in a resample share it equally among the orders that agree with it. Orders that never occur are
        left out; the most frequent one comes first.

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

    def inputs(self) -> dict[str, HeldInputs]:
        """The data behind the result, for what is computed when asked for."""
        if self._inputs is None:
            raise ValueError("this comparison was unpickled, without its data; call compare on them again")
        return self._inputs

    def plot(self, ax: Sequence[Axes] | None = None, *, level: float = 0.95, **points: Any) -> ComparisonDisplay:
        """Draw the estimates and their differences with intervals. Needs matplotlib (``pip install multiauc[plot]``).

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
        n_resamples: int = 200,
        rng: np.random.Generator | int | None = 0,
    ) -> Path:
        """Write a page that compares the models: one HTML file that works offline.

        It says which model is best and whether that is more than chance, and shows for each of them what
        `Evaluation.report` does. Parameters and result are those of `Evaluation.report`.
        """
        from multiauc._report.writing import evaluations_of, write_report  # noqa: PLC0415

        models = evaluations_of(self)
        return write_report(path, models, self, title=title, level=level, n_resamples=n_resamples, rng=rng)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python objects, with 95% intervals."""
        return {
            "metric": self.metric,
            "estimates": {name: estimate.to_dict() for name, estimate in self.estimates.items()},
            "differences": [difference.to_dict() for difference in self.differences],
            "covariance": self.covariance.tolist(),
            "labels": list(self.labels),
            "counts": self.counts.tolist(),
            "method": self.method,
        }

    def to_json(self) -> str:
        """The same as JSON; null where a number is missing, labels that JSON does not have as text."""
        return to_json(self.to_dict())

    def __repr__(self) -> str:
        blocks = [text_table(self._models())]
        if self.differences:
            blocks.append(text_table(self._contrasts()))
        return "\n".join([self._title(), *(line for block in blocks for line in [*block, ""]), self.method])

    def _repr_html_(self) -> str:
        models = html_table(self._title(), self._models())
        if not self.differences:
            return models + html_table("", [[self.method]])
        return models + html_table("Differences", self._contrasts(), [self.method])

    def _title(self) -> str:
        return f"Comparison by {METRIC_NAMES[self.metric]} on {sizes_in_words(self.labels, self.counts)}"

    def _models(self) -> list[list[str]]:
        return [HEADER, *([name, *estimate.cells()] for name, estimate in self.estimates.items())]

    def _contrasts(self) -> list[list[str]]:
        head = ["", "difference", "std. error", "95% interval", "z", "p", "p (Holm)"]
        return [head, *([f"{d.first} - {d.second}", *d.cells()] for d in self.differences)]
