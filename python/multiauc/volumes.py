"""Numbers about one row of every class at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Never

from multiauc import _rust
from multiauc._digits import decimals
from multiauc._hints import refuse_unknown
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.sample import read_sample
from multiauc._registry import METRICS, PDI
from multiauc._result import Tabular
from multiauc._scoring import score_of
from multiauc.estimates import warn_of_single_units
from multiauc.evaluation import computed, evaluation_from

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from multiauc._types import Absent, Labels
    from multiauc.estimates import Estimate
    from multiauc.results import ConfidenceInterval


def pdi_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    **unknown: Never,
) -> float:
    r"""The polytomous discrimination index: of one row of each class, how often a class has the highest of its scores.

    .. math::
        \mathrm{PDI} = \frac{1}{K} \sum_k
            P\Bigl(p_k(x_k) > \max_{j \ne k} p_k(x_j)\Bigr),

    :math:`x_1, \dots, x_K` being one row of each class; where t other rows tie with :math:`x_k` for the highest score,
    the tuple counts 1/(1 + t). Scores without information have the value 1/K, perfect ones 1. With two classes it is
    Hand & Till's M.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows; sums of weights take the place of all counts.
    labels : sequence of K labels, optional
        The classes in the order of the columns. By default the column names of a data frame, if they are strings or
        contain all labels; otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out of the tuples, or return nan.

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    pdi : The same with a standard error, and class by class.

    Notes
    -----
    All tuples are counted, from how much of each other class lies below each row, in time that grows like
    n K log n + n K^2.

    References
    ----------
    .. [1] B. Van Calster, V. Van Belle, Y. Vergouwe, D. Timmerman, S. Van Huffel and E. W. Steyerberg, "Extending the
       c-statistic to nominal polytomous outcomes: the Polytomous Discrimination Index", Statistics in Medicine 31
       (2012), 2610-2626.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.pdi_score(y_true, y_score), 4)
    0.875
    """
    refuse_unknown(pdi_score, unknown)
    return score_of(read_sample(y_true, y_score, sample_weight, labels, absent), PDI, {})


def pdi(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    **unknown: Never,
) -> Volume:
    r"""The polytomous discrimination index with its standard error, and class by class.

    With :math:`T(i)` the mean credit of the tuples through row i, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`.

    Parameters
    ----------
    y_true, y_score, sample_weight, labels, absent
        As in `pdi_score`, which has the formula.

    Returns
    -------
    Volume
        Exact, with ``.per_class``. `evaluate` and `compare` have it too, as the metric ``"pdi"``: with groups of rows,
        covariances and paired tests.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=300)
    >>> y_score = rng.random((300, 3)) + 0.5 * (y_true[:, None] == ["cat", "dog", "eel"])
    >>> result = multiauc.pdi(y_true, y_score)
    >>> result
    Volume(PDI 0.8049, standard error 0.0175, 95% interval 0.7680 to 0.8371; chance 0.3333)
    >>> {label: round(value, 4) for label, value in result.per_class.items()}
    {'cat': 0.8246, 'dog': 0.8194, 'eel': 0.7706}
    """
    refuse_unknown(pdi, unknown)
    inputs = HeldInputs(read_sample(y_true, y_score, sample_weight, labels, absent), (PDI,), {})
    found = computed(inputs)
    warn_of_single_units(inputs, found.units, found.effective_units, stacklevel=2)
    return _exact_volume(inputs, found, PDI, _rust.pdi_per_class(inputs.arguments()).tolist())


def _exact_volume(inputs: HeldInputs, found: _rust.Evaluated, metric: str, per_class: list[float]) -> Volume:
    sample = inputs.sample
    return Volume(
        evaluation_from(inputs, found).metrics[metric],
        monte_carlo_error=0.0,
        chance=METRICS[metric].chance_of(len(sample.reported_classes())),
        per_class={sample.labels[c]: per_class[c] for c in sample.reported_classes()},
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Volume(Tabular):
    """A number about one row of every class at a time, with its uncertainty; see `multiauc.pdi`.

    Attributes
    ----------
    estimate : Estimate
        The value with its standard error over rows.
    monte_carlo_error : float
        The standard error of drawing tuples instead of counting all of them; 0 where all were counted.
    chance : float
        The value for uninformative scores.
    per_class : dict of float
        The value for each class by its label.

    Examples
    --------
    >>> import multiauc
    >>> volume = multiauc.pdi([0, 0, 1, 1, 2, 2], [[3, 1, 1], [2, 2, 1], [1, 3, 1], [2, 3, 1], [1, 2, 3], [1, 1, 3]])
    >>> volume.value, volume.exact, volume.perfect
    (0.9583333333333334, True, 1.0)
    >>> round(volume.normalised, 4)
    0.9375
    """

    estimate: Estimate
    monte_carlo_error: float
    chance: float
    per_class: dict[Any, float]

    @property
    def value(self) -> float:
        """The number."""
        return self.estimate.value

    @property
    def standard_error(self) -> float:
        """Its standard error over rows."""
        return self.estimate.standard_error

    @property
    def exact(self) -> bool:
        """Whether all tuples were counted."""
        return self.monte_carlo_error == 0.0

    @property
    def perfect(self) -> float:
        """The value for scores that are always right."""
        return 1.0

    @property
    def normalised(self) -> float:
        """The value on a scale where chance is 0 and perfect is 1."""
        return (self.value - self.chance) / (self.perfect - self.chance)

    def confidence_interval(
        self, level: float = 0.95, method: Literal["logit", "wald", "cautious"] = "logit"
    ) -> ConfidenceInterval:
        """An interval with Student's t, as `Estimate.confidence_interval`."""
        return self.estimate.confidence_interval(level, method)

    def _rows(self, level: float) -> list[dict[str, Any]]:
        unknown = dict.fromkeys(("standard_error", "low", "high"), float("nan"))
        rows = [{"kind": "class", "name": label, "value": value, **unknown} for label, value in self.per_class.items()]
        return [{"kind": "all classes", "name": None, **self.estimate.to_dict(level)}, *rows]

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        """The value, if a number's format is asked for."""
        return format(self.value, spec) if spec else str(self)

    def __repr__(self) -> str:
        value, error, interval = self.estimate.cells()
        numbers = f"{self.estimate.name} {value}, standard error {error}, 95% interval {interval}"
        return f"Volume({numbers}; chance {decimals(self.chance)})"
