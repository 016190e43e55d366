"""Numbers about one row of every class at a time: volumes under ROC surfaces, and the surface of three classes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from multiauc import _rust
from multiauc._common import registry, result
from multiauc._common.hints import with_hints
from multiauc._common.progress import Stage
from multiauc._common.wording import decimals, names_as_text, one_of, pluralize
from multiauc._inference import estimates
from multiauc._inference.bootstrap import draw_seed
from multiauc._input import options
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.sample import read_ordered_sample, read_sample
from multiauc._metrics.scoring import compute_score

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Absent, Labels, Outputs
    from multiauc._inference.intervals import ConfidenceInterval
    from multiauc._input.sample import Sample
    from multiauc.plotting import RocSurfaceDisplay

#: What makes an assignment of rows to classes good, and the word for it.
RULES = {"sum": "sums", "prod": "products", "distance": "distances"}
Rule: TypeAlias = Literal["sum", "prod", "distance"]
UNKNOWN = dict.fromkeys(("standard_error", "low", "high"), math.nan)
# Zero as a factor: as in the core, the smallest normal number.
SMALLEST = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Volume(result.Number, result.Tabular):
    """A number about one row of every class at a time, with its uncertainty; see `multiauc.pdi` and `multiauc.hum`.

    Attributes
    ----------
    name : str
        What it is.
    value : float
        The number.
    estimate : Estimate or None
        The value with its standard error over rows; None where it is not a mean over rows.
    monte_carlo_error : float
        The standard error of drawing instead of counting everything; 0 where everything was counted.
    chance : float
        The value for uninformative scores.
    exact : bool
        Whether everything was counted.
    perfect : float
        The value for scores that are always right.
    rule : str or None
        What makes an assignment of rows to classes good, where that was chosen.
    per_class : dict of float
        The value for each class by its label; empty for what is not a mean over classes.

    Examples
    --------
    >>> import multiauc
    >>> volume = multiauc.pdi([0, 0, 1, 1, 2, 2], [[3, 1, 1], [2, 2, 1], [1, 3, 1], [2, 3, 1], [1, 2, 3], [1, 1, 3]])
    >>> volume.value, volume.exact, volume.perfect
    (0.9583333333333334, True, 1.0)
    >>> round(volume.normalised, 4)
    0.9375
    """

    name: str
    value: float
    estimate: estimates.Estimate | None
    monte_carlo_error: float
    chance: float
    exact: bool = True
    perfect: float = 1.0
    rule: str | None = None
    per_class: dict[Any, float] = field(default_factory=dict)
    _inputs: HeldInputs | None = field(default=None, metadata=result.HELD)

    @property
    def standard_error(self) -> float:
        """Its standard error over rows; nan where it is not a mean over rows."""
        return math.nan if self.estimate is None else self.estimate.standard_error

    @property
    def normalised(self) -> float:
        """The value on a scale where chance is 0 and perfect is 1."""
        return (self.value - self.chance) / (self.perfect - self.chance)

    def confidence_interval(
        self, level: float = 0.95, method: estimates.IntervalMethod | None = None
    ) -> ConfidenceInterval:
        """An interval with Student's t, as `Estimate.confidence_interval`; it accounts for drawing, too."""
        known = self._with_drawing()
        if known is None:
            raise ValueError(
                f"{self.name} has no interval: it is not a mean over rows. .monte_carlo_error has the error of drawing"
            )
        return known.confidence_interval(level, method)

    def surface(self, points: int = 48) -> RocSurface:
        """The ROC surface of three classes: rates of right decisions as offsets are added to their scores.

        Parameters
        ----------
        points : int, default 48
            How many offsets of each of two classes.

        Returns
        -------
        RocSurface
            The volume under the surface is the value.
        """
        if self.rule is None:
            raise ValueError(f"there is no ROC surface of {self.name}; multiauc.hum has one")
        if self._inputs is None:
            raise ValueError("the surface needs the data, which an unpickled result does not have; compute it again")
        return find_surface(self._inputs.unchanged_sample(), self.rule, options.positive_integer("points", points))

    def plot(self, ax: Axes | None = None, *, points: int = 48) -> RocSurfaceDisplay:
        """Draw the ROC surface of three classes. Needs matplotlib (``pip install matplotlib``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Three-dimensional axes to draw on; by default those of a new figure.
        points : int, default 48
            How many offsets of each of two classes.

        Returns
        -------
        multiauc.plotting.RocSurfaceDisplay
            With ``.ax_`` and ``.figure_``.
        """
        from multiauc.plotting import RocSurfaceDisplay  # noqa: PLC0415

        return RocSurfaceDisplay(self, points=points).plot(ax)

    def _with_drawing(self) -> estimates.Estimate | None:
        """The estimate with the standard error of both, rows and drawing."""
        if self.exact or self.estimate is None:
            return self.estimate
        added = self.monte_carlo_error**2
        variance = self.standard_error**2 + added
        cautious = self.estimate._cautious  # noqa: SLF001
        if cautious is not None:
            cautious = (cautious[0], cautious[1] + added, cautious[2])
        return replace(self.estimate, standard_error=math.sqrt(variance), _first_order=variance, _cautious=cautious)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Everything in plain Python objects, with an interval of this level; nan where a number is missing."""
        estimate = None if self.estimate is None else self.estimate.to_dict(level)
        return result.Result.to_dict(self) | {"estimate": estimate} | self._known(level)

    def _known(self, level: float) -> result.Record:
        """Value, standard error (of drawing, too) and interval."""
        options.read_level(level)
        known = self._with_drawing()
        return {"value": self.value} | (UNKNOWN if known is None else known.to_dict(level))

    def _rows(self, level: float) -> list[result.Record]:
        rows = [{"kind": "class", "name": label, "value": value} | UNKNOWN for label, value in self.per_class.items()]
        return [{"kind": "all classes", "name": None, **self._known(level)}, *rows]

    def _numbers(self) -> dict[str, result.Numbers]:
        classes = zip(names_as_text(self.per_class), self.per_class.values(), strict=True)
        of_classes = {f"per_class_{label}": {"value": value} for label, value in classes}
        return {self.name: result.pick_numbers(self._known(0.95))} | of_classes

    def __repr__(self) -> str:
        known = ""
        if (estimate := self._with_drawing()) is not None:
            *_, interval = estimate.cells()
            known = f", standard error {decimals(self.standard_error)}, 95% interval {interval}"
        drawn = "" if self.exact else f"; drawn, Monte-Carlo error {decimals(self.monte_carlo_error)}"
        best = "" if self.perfect == 1.0 else f", perfect {decimals(self.perfect)}"
        return f"Volume({self.name} {decimals(self.value)}{known}; chance {decimals(self.chance)}{best}{drawn})"


@with_hints
def pdi_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""The polytomous discrimination index: of one row of each class, how often a class has the highest of its scores.

    .. math::
        \mathrm{PDI} = \frac{1}{K} \sum_k
            P\Bigl(p_k(x_k) > \max_{j \ne k} p_k(x_j)\Bigr),

    :math:`x_1, \ldots, x_K` being one row of each class; where t other rows tie with :math:`x_k` for the highest score,
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
        Non-negative weights of the rows. Sums of weights take the place of all counts, so that a row of weight 2 counts
        like two rows and a row of weight 0 not at all.
    labels : sequence of K labels, optional
        The classes in the order of the columns; of a data frame whose columns are named by these classes, the names say
        which column is which. By default the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out of the tuples, or return nan.
    outputs : {"logits"} or None, default None
        What the columns are: None takes them as they are; ``"logits"`` takes the softmax of each row first (of one
        score per row, the logistic function). Scores of different rows are compared, so logits and the probabilities
        made of them have different values.

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
    return compute_score("pdi", y_true, y_score, sample_weight, labels, absent, outputs)


@with_hints
def pdi(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> Volume:
    r"""The polytomous discrimination index with its standard error, and class by class.

    With :math:`T(i)` the mean credit of the tuples through row i, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`.

    Parameters
    ----------
    y_true, y_score, sample_weight, labels, absent, outputs
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
    Volume(PDI 0.8049, standard error 0.0175, 95% interval 0.7669 to 0.8380; chance 0.3333)
    >>> {label: round(value, 4) for label, value in result.per_class.items()}
    {'cat': 0.8246, 'dog': 0.8194, 'eel': 0.7706}
    """
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    inputs = HeldInputs(sample, ("pdi",))
    values = _rust.pdi_per_class(inputs.arguments()).tolist()
    per_class = {sample.labels[c]: values[c] for c in sample.reported_classes()}
    return _build_volume(inputs, estimates.compute(inputs), per_class=per_class)


@with_hints
def hum_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    rule: Rule = "sum",
    precision: float = 1e-3,
    rng: np.random.Generator | int | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""The hypervolume under the ROC manifold: how often the rows of a tuple, one of each class, get their own classes.

    A tuple :math:`x_1, \ldots, x_K` is right if no assignment of its rows to the classes is better than the true one,

    .. math::
        \mathrm{HUM} = P\Bigl(\sum_k s_k(x_k) \ge \sum_k s_{\sigma(k)}(x_k)
            \text{ for all permutations } \sigma\Bigr),

    and counts 1/m where m assignments are equally good. With three classes this is Mossman's volume under the three-way
    ROC surface [1]_; the form for more classes is that of Li and Fine [2]_. Scores without information have the value
    1/K!, perfect ones 1. By sums of scores, two classes have AUC_mu.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`.
    rule : {"sum", "prod", "distance"}, default "sum"
        What makes an assignment good: the sum of the scores (:math:`s = p`), their product (:math:`s = \log p`, for
        scores that are not negative, a zero counting as the smallest normal number), or the distance from the corners
        of the simplex (:math:`s_j = -\lVert p - e_j \rVert`). They give different values.
    precision : float, default 1e-3
        The standard error of drawing at which to stop, where there are too many tuples to count them all.
    rng : numpy.random.Generator or int, optional
        What the tuples are drawn from, if they are.
    labels : sequence of K labels, optional
        The classes in the order of the columns; of a data frame whose columns are named by these classes, the names say
        which column is which. By default the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows: raise an error, leave it out of the tuples, or return nan.
    outputs : {"logits"} or None, default None
        What the columns are: None takes them as they are; ``"logits"`` takes the softmax of each row first (of one
        score per row, the logistic function). Scores of different rows are compared, so logits and the probabilities
        made of them have different values.

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    hum : The same with its standard errors, over rows and of drawing.
    landgrebe_duin_score : The rule "prod" under its own name.

    Notes
    -----
    Three classes are counted exactly, in time that grows like n^2 log n and memory that grows like n (seconds for
    n = 20,000), unless the smallest class times the rows of the others exceeds 10^10. Four and more are gone through
    while there are at most 10^7 tuples of different rows, and while counting the best assignments of tied tuples takes
    about a second at most; beyond that tuples are sampled, each row equally often, which brings the error down faster
    than sampling them independently.

    Sums of scores are compared without rounding, however small some of the scores are. Scores on a lattice (shares of
    votes, rounded decimals) count as the fractions that they stand for; others as the floating-point numbers that they
    are. Products tie if they agree to about 22 significant digits, and sums of distances if they differ by less than
    about 4e-22 times the largest score (or 1, if that is larger): rows that are proportional tie by products, and equal
    columns by distances, in any order of rows and columns.

    References
    ----------
    .. [1] D. Mossman, "Three-way ROCs", Medical Decision Making 19 (1999), 78-89.
    .. [2] J. Li and J. P. Fine, "ROC analysis with multiple classes and multiple tests: methodology and its application
       in microarray studies", Biostatistics 9 (2008), 566-576.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> multiauc.hum_score(y_true, y_score)
    0.75
    """
    kind = one_of("rule", rule, tuple(RULES))
    drawing = _read_drawing(precision, rng)
    sample = read_sample(y_true, y_score, None, labels, absent, outputs)
    with Stage(registry.METRICS["hum"].title):
        value, _, _ = _rust.hum_score(sample.arguments(), kind, *drawing, is_latin=True)
    return sample.nan_if_absent(value)


@with_hints
def hum(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    rule: Rule = "sum",
    precision: float = 1e-3,
    rng: np.random.Generator | int | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> Volume:
    r"""The hypervolume under the ROC manifold with its standard error over rows, and that of drawing tuples.

    With :math:`T(i)` the mean credit of the tuples through row i, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`. Where tuples are drawn, what drawing adds
    to the spread of T is taken out, and its own standard error is ``.monte_carlo_error``; intervals account for both.

    Parameters
    ----------
    y_true, y_score, rule, precision, rng, labels, absent, outputs
        As in `hum_score`, which has the formula.

    Returns
    -------
    Volume
        With ``.plot()`` for three classes. `evaluate` and `compare` have the rule "sum" too, as the metric ``"hum"``,
        and "prod" as ``"landgrebe_duin"``: with groups of rows, covariances and paired tests.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=300)
    >>> y_score = rng.random((300, 3)) + 0.5 * (y_true[:, None] == ["cat", "dog", "eel"])
    >>> multiauc.hum(y_true, y_score)
    Volume(HUM by sums 0.8793, standard error 0.0209, 95% interval 0.8310 to 0.9152; chance 0.1667)
    >>> y_true = rng.integers(6, size=3000)
    >>> y_score = rng.random((3000, 6)) + 0.7 * np.eye(6)[y_true]
    >>> volume = multiauc.hum(y_true, y_score, rng=0)
    >>> volume.exact, volume.monte_carlo_error < 0.001
    (False, True)
    """
    kind = one_of("rule", rule, tuple(RULES))
    drawing = _read_drawing(precision, rng)
    inputs = HeldInputs(read_sample(y_true, y_score, None, labels, absent, outputs), ("hum",))
    with Stage(registry.METRICS["hum"].title):
        found, error, exact = _rust.hum(inputs.arguments(), kind, *drawing)
    return _build_volume(inputs, found, monte_carlo_error=error, exact=exact, rule=kind)


@with_hints
def landgrebe_duin_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    normalised: bool = False,
    precision: float = 1e-3,
    rng: np.random.Generator | int | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""The simplified volume under the ROC surface of Landgrebe and Duin.

    The surface has the rates of right decisions of the classifiers
    :math:`\operatorname{argmax}_k \varphi_k p_k(x)`, for all :math:`\varphi \ge 0` [1]_. The volume under it equals
    `hum_score` with the rule "prod".

    Parameters
    ----------
    y_true, y_score, precision, rng, labels, absent, outputs
        As in `hum_score`; scores must not be negative.
    normalised : bool, default False
        Whether to put it on a scale where chance is 0 and perfect 1: :math:`(V - 1/K!)/(1 - 1/K!)`.

    Returns
    -------
    float
        The value.

    References
    ----------
    .. [1] T. C. W. Landgrebe and R. P. W. Duin, "A simplified extension of the area under the ROC to the multiclass
       domain", Proceedings of PRASA 2006, 241-245.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> multiauc.landgrebe_duin_score(y_true, y_score)
    0.75
    >>> round(multiauc.landgrebe_duin_score(y_true, y_score, normalised=True), 4)
    0.7
    """
    is_normalised = options.read_flag("normalised", normalised)
    drawing = _read_drawing(precision, rng)
    sample, metric = read_sample(y_true, y_score, None, labels, absent, outputs), registry.METRICS["landgrebe_duin"]
    with Stage(metric.title):
        value, _, _ = _rust.hum_score(sample.arguments(), "prod", *drawing, is_latin=True)
    chance = metric.chance_of(len(sample.reported_classes()))
    return sample.nan_if_absent((value - chance) / (1.0 - chance) if is_normalised else value)


def _read_drawing(precision: Any, rng: Any) -> tuple[float, int]:
    """The error of drawing at which to stop, and the seed."""
    return options.read_positive("precision", precision), draw_seed(options.read_rng(rng))


def _build_volume(
    inputs: HeldInputs,
    found: _rust.Evaluated,
    *,
    monte_carlo_error: float = 0.0,
    exact: bool = True,
    rule: str | None = None,
    per_class: dict[Any, float] | None = None,
) -> Volume:
    """The volume that the core found, by the one metric that the inputs ask for."""
    (metric,) = inputs.metrics
    estimates.warn_of_single_units(inputs, found.units, found.effective_units)
    name = registry.METRICS[metric].title + ("" if rule is None else f" by {RULES[rule]}")
    smallest = estimates.count_smallest(found.units)
    estimate = estimates.build_estimate(found.estimates[metric], name, smallest, metric, inputs)
    chance = registry.METRICS[metric].chance_of(len(inputs.sample.reported_classes()))
    held = None if rule is None else inputs
    numbers = (estimate.value, estimate, monte_carlo_error, chance)
    return Volume(name, *numbers, exact=exact, rule=rule, per_class=per_class or {}, _inputs=held)


@with_hints
def ordered_vus_score(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
) -> float:
    r"""The volume under the ROC surface of ordered classes: how often scores rise in the order of the classes.

    .. math::
        \mathrm{VUS} = P\bigl(s(x_1) < s(x_2) < \ldots < s(x_K)\bigr)

    for one row of each class [1]_; where t consecutive classes tie, the tuple counts 1/t!. Scores without information
    have the value 1/K!, perfect ones 1. With two classes it is the AUC.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    score : array-like of shape (n,)
        One score per row, higher for later classes.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights take the place of all counts, so that a row of weight 2 counts
        like two rows and a row of weight 0 not at all.
    labels : sequence of K labels, optional
        The classes in rising order; by default the sorted labels of `y_true`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if one of `labels` has no rows (or no weight): raise an error, leave it out, or return nan.

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    ordered_vus : The same with a standard error.

    Notes
    -----
    All tuples are counted in one pass over the sorted scores, in time that grows like n log n + nK.

    References
    ----------
    .. [1] C. T. Nakas and C. T. Yiannoutsos, "Ordered multiple-class ROC analysis with continuous measurements",
       Statistics in Medicine 23 (2004), 3437-3449.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["mild", "mild", "moderate", "moderate", "severe"]
    >>> multiauc.ordered_vus_score(y_true, [1.0, 2.5, 2.0, 3.0, 4.0], labels=["mild", "moderate", "severe"])
    0.75
    """
    shared = (y_true, score, sample_weight, labels, absent)
    return compute_score("ordered_vus", *shared, read=partial(read_ordered_sample, argument="score"))


@with_hints
def ordered_vus(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
) -> Volume:
    r"""The volume under the ROC surface of ordered classes with its standard error.

    With :math:`T(i)` the share of the tuples through row i that are in order, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`.

    Parameters
    ----------
    y_true, score, sample_weight, labels, absent
        As in `ordered_vus_score`, which has the formula.

    Returns
    -------
    Volume
        Exact. `evaluate` and `compare` have it too, as the metric ``"ordered_vus"`` of one score per row: with groups
        of rows and paired tests.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> stage = rng.integers(1, 5, size=200)
    >>> multiauc.ordered_vus(stage, stage + rng.normal(size=200))
    Volume(ordered VUS 0.3552, standard error 0.0418, 95% interval 0.2768 to 0.4423; chance 0.0417)
    """
    sample = read_ordered_sample(y_true, score, sample_weight, labels, absent, argument="score")
    inputs = HeldInputs(sample, ("ordered_vus",))
    return _build_volume(inputs, estimates.compute(inputs))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocSurface(result.Result):
    """Rates of right decisions of three classes, as offsets are added to the scores of two of them.

    Attributes
    ----------
    rates : ndarray of shape (3, m, m)
        The rate of each class; the first class's offset rises along the second axis, the second class's along the
        third.
    offsets : ndarray of shape (2, m)
        What is added to the scores of the first class, and of the second, before the largest decides; to logarithms
        or negative distances where these are compared.
    labels : tuple
        The three classes.

    Examples
    --------
    >>> import multiauc
    >>> volume = multiauc.hum([0, 0, 1, 1, 2, 2], [[3, 1, 1], [2, 2, 1], [1, 3, 1], [2, 3, 1], [1, 2, 3], [1, 1, 3]])
    >>> surface = volume.surface(points=10)
    >>> surface
    RocSurface(0, 1, 2: rates of right decisions at 10 x 10 offsets)
    >>> surface.rates.shape
    (3, 10, 10)
    """

    rates: NDArray[np.float64]
    offsets: NDArray[np.float64]
    labels: tuple[Any, ...]

    def _columns(self) -> result.Columns:
        """One row for each pair of offsets, with the rate of each class."""
        offsets = np.meshgrid(*self.offsets, indexing="ij")
        columns = {f"offset_{label}": values.ravel() for label, values in zip(self.labels[:2], offsets, strict=True)}
        return columns | {f"rate_{label}": rates.ravel() for label, rates in zip(self.labels, self.rates, strict=True)}

    def __repr__(self) -> str:
        points = self.offsets.shape[1]
        names = ", ".join(map(repr, self.labels))
        return f"RocSurface({names}: rates of right decisions at {points} x {points} offsets)"


def find_surface(sample: Sample, rule: str, points: int) -> RocSurface:
    """The surface at offsets that are quantiles of the differences of scores, so that rates are evenly spread."""
    classes = np.flatnonzero(sample.rows).tolist()
    if len(classes) != 3:
        raise ValueError(
            f"an ROC surface can be drawn for three classes; y_true has {pluralize(len(classes), 'class', 'classes')}"
        )
    judged = score_by_rule(sample.scores[:, classes].astype(np.float64), rule)
    if sample.is_undefined:
        return RocSurface(np.full((3, points, points), np.nan), np.full((2, points), np.nan), tuple(sample.labels))
    first, second = judged[:, 0] - judged[:, 2], judged[:, 1] - judged[:, 2]
    # A row goes to class 1 if x + a is above 0 and above y + b, to class 2 if y + b is, otherwise to class 3.
    a, b = (_offsets(difference, points) for difference in (first, second))
    rates = np.empty((3, points, points))
    weights = np.ones(len(sample.codes)) if sample.weights is None else sample.weights
    for k, column in enumerate(classes):
        rows = np.flatnonzero(sample.codes == column)
        x, y, mass = first[rows], second[rows], weights[rows]
        for index, offset in enumerate(a):
            if k == 0:
                shares = _share_above(np.where(x + offset >= 0, x + offset - y, -np.inf), mass, b)
            elif k == 1:
                shares = 1.0 - _share_above(np.maximum(0.0, x + offset) - y, mass, b)
            else:
                shares = _share_above(np.where(x + offset < 0, -y, -np.inf), mass, b)
            rates[k, index] = shares
    return RocSurface(rates, np.stack([a, b]), tuple(sample.labels[k] for k in classes))


def score_by_rule(scores: NDArray[np.float64], rule: str) -> NDArray[np.float64]:
    """The scores whose sums are compared: as they are, their logarithms, or distances from the corners."""
    if rule == "sum":
        return scores
    if rule == "prod":
        return np.asarray(np.log(np.maximum(scores, SMALLEST)))
    corners = np.eye(scores.shape[1])
    return np.stack([-np.sqrt(((scores - corner) ** 2).sum(axis=1)) for corner in corners], axis=1)


def _offsets(difference: NDArray[np.float64], points: int) -> NDArray[np.float64]:
    inner = -np.quantile(difference, np.linspace(1.0, 0.0, max(points - 2, 1)))
    ends = np.ptp(difference) + 1.0
    return np.concatenate([[inner[0] - 2.0 * ends], inner, [inner[-1] + 2.0 * ends]])[-points:]


def _share_above(
    values: NDArray[np.float64], weights: NDArray[np.float64], limits: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Of each limit, the share of the values that are at least as large."""
    order = np.argsort(values)
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    below = sums[np.searchsorted(values[order], limits, side="left")] / sums[-1]
    return np.asarray(np.clip(1.0 - below, 0.0, 1.0))
