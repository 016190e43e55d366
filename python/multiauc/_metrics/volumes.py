"""Metrics of tuples with one row of every class: volumes under ROC surfaces, and the surface of three classes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from multiauc import _rust
from multiauc._common import registry, result
from multiauc._common.hints import needs, with_hints
from multiauc._common.progress import Stage
from multiauc._common.wording import decimals, names_as_text, one_of, pluralize
from multiauc._inference import estimates
from multiauc._inference.bootstrap import draw_seed
from multiauc._input import options
from multiauc._input.arrays import as_float64
from multiauc._input.sample import HeldInputs, read_ordered_sample, read_sample
from multiauc._metrics.scoring import compute_score

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Absent, Labels, Outputs
    from multiauc._inference.intervals import ConfidenceInterval
    from multiauc._input.sample import Sample
    from multiauc.plotting import RocSurfaceDisplay

#: The rules that rate an assignment of rows to classes, and their names in results.
RULES = {"sum": "sums", "prod": "products", "distance": "distances"}
Rule: TypeAlias = Literal["sum", "prod", "distance"]
FERRI = "Ferri's VUS"
# Three classes are computed without sampling up to this many classifiers; two classes always.
MOST_EXACT = 100
UNKNOWN = dict.fromkeys(("standard_error", "low", "high"), math.nan)
# Zero as a factor: as in the core, the smallest normal number.
SMALLEST = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Volume(result.Number, result.Tabular):
    """A metric of tuples with one row of every class, with its uncertainty; see `multiauc.pdi` and `multiauc.hum`.

    Attributes
    ----------
    name : str
        What it is.
    value : float
        The number.
    estimate : Estimate or None
        The value with its standard error over rows; None if it is not a mean over rows.
    monte_carlo_error : float
        The standard error of sampling tuples; 0 if all were counted.
    chance : float
        The chance level.
    exact : bool
        Whether all tuples were counted.
    perfect : float
        The value for scores that are always right.
    rule : str or None
        The rule that rates assignments of rows to classes, if one was chosen.
    per_class : dict of float
        The value of each class by its label; empty if the value is not a mean over classes.

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
        """The standard error over rows; nan if the value is not a mean over rows."""
        return math.nan if self.estimate is None else self.estimate.standard_error

    @property
    def normalised(self) -> float:
        """The value rescaled so chance is 0 and perfect is 1."""
        return (self.value - self.chance) / (self.perfect - self.chance)

    def confidence_interval(
        self, level: float = 0.95, method: estimates.IntervalMethod | None = None
    ) -> ConfidenceInterval:
        """An interval with Student's t, as `Estimate.confidence_interval`; it includes the Monte Carlo error."""
        known = self._with_drawing()
        if known is None:
            raise ValueError(
                f"{self.name} has no interval: it is not a mean over rows; .monte_carlo_error is the error of sampling"
            )
        return known.confidence_interval(level, method)

    def surface(self, points: int = 48) -> RocSurface:
        """The ROC surface of three classes: true positive rates as offsets are added to their scores.

        Parameters
        ----------
        points : int, default 48
            How many offsets to use for each of two classes.

        Returns
        -------
        RocSurface
            The volume under the surface is the value.
        """
        if self.rule is None:
            raise ValueError(f"{self.name} has no ROC surface; use multiauc.hum")
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
            How many offsets to use for each of two classes.

        Returns
        -------
        multiauc.plotting.RocSurfaceDisplay
            With ``.ax_`` and ``.figure_``.
        """
        from multiauc.plotting import RocSurfaceDisplay  # noqa: PLC0415

        return RocSurfaceDisplay(self, points=points).plot(ax)

    def _with_drawing(self) -> estimates.Estimate | None:
        """The estimate with the standard error of both rows and sampling."""
        if self.exact or self.estimate is None:
            return self.estimate
        added = self.monte_carlo_error**2
        variance = self.standard_error**2 + added
        cautious = self.estimate._cautious  # noqa: SLF001
        if cautious is not None:
            cautious = (cautious[0], cautious[1] + added, cautious[2])
        return replace(self.estimate, standard_error=math.sqrt(variance), _first_order=variance, _cautious=cautious)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """All numbers as plain Python objects, with intervals at this level; nan if a number is missing."""
        estimate = None if self.estimate is None else self.estimate.to_dict(level)
        return result.Result.to_dict(self) | {"estimate": estimate} | self._known(level)

    def _known(self, level: float) -> result.Record:
        """Value, standard error (including sampling) and interval."""
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
        drawn = "" if self.exact else f"; sampled, Monte Carlo error {decimals(self.monte_carlo_error)}"
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
    r"""The polytomous discrimination index: how often a class's own row, of one row per class, has its highest score.

    .. math::
        \mathrm{PDI} = \frac{1}{K} \sum_k
            P\Bigl(p_k(x_k) > \max_{j \ne k} p_k(x_j)\Bigr),

    :math:`x_1, \ldots, x_K` being one row of each class; where t other rows tie with :math:`x_k` for the highest score,
    the tuple counts 1/(1 + t). The chance level is 1/K, a perfect value 1. With two classes it is Hand & Till's M.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out of the tuples, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    pdi : The same with a standard error, and class by class.

    Notes
    -----
    All tuples are counted, in time that grows like n K log n + n K^2.

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

    Parameters
    ----------
    y_true, y_score, sample_weight, labels, absent, outputs
        As in `pdi_score`, which defines the index.

    Returns
    -------
    Volume
        Exact, with ``.per_class``. For groups of rows, covariances and paired tests use the metric ``"pdi"`` of
        `evaluate` and `compare`.

    Notes
    -----
    With :math:`T(i)` the mean credit of the tuples that include row i, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`.

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
    return replace(_build_volume(inputs, estimates.compute(inputs)), per_class=per_class)


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
    r"""The hypervolume under the ROC manifold: how often one row of each class are all assigned to their own classes.

    A tuple :math:`x_1, \ldots, x_K` is right if no assignment of its rows to the classes is better than the true one,

    .. math::
        \mathrm{HUM} = P\Bigl(\sum_k s_k(x_k) \ge \sum_k s_{\sigma(k)}(x_k)
            \text{ for all permutations } \sigma\Bigr),

    and counts 1/m where m assignments are equally good. With three classes this is Mossman's volume under the three-way
    ROC surface [1]_; the form for more classes is that of Li and Fine [2]_. The chance level is 1/K!, a perfect value
    1. With two classes and sums of scores it is AUC_mu.

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
        The Monte Carlo error at which to stop, if there are too many tuples to count.
    rng : numpy.random.Generator or int, optional
        Seed or generator for sampling tuples.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows: raise an error, leave it out of the tuples, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    hum : The same with its standard errors, over rows and of sampling.
    landgrebe_duin_score : The rule "prod" under its own name.

    Notes
    -----
    Three classes are counted exactly, in time that grows like n^2 log n and memory that grows like n (seconds for
    n = 20,000), unless the smallest class times the rows of the others exceeds 10^10. With four or more classes, all
    tuples are counted if there are at most 10^7 of different rows and the ties take about a second at most; otherwise
    tuples are sampled with each row equally often, which has a smaller error than independent sampling.

    Sums of scores are compared without rounding. Scores on a lattice (vote shares, rounded decimals) count as the
    fractions they stand for, others as exactly their floating-point value. Products tie if they agree to about 22
    significant digits, sums of distances if they differ by less than about 4e-22 times the largest score (or 1, if that
    is larger). Proportional rows therefore tie by products, and equal columns by distances, in any order of rows and
    columns.

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
    drawing = (one_of("rule", rule, tuple(RULES)), *_read_drawing(precision, rng))
    return _compute_hum(read_sample(y_true, y_score, None, labels, absent, outputs), "hum", drawing)


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
    r"""The hypervolume under the ROC manifold with its standard error over rows and its Monte Carlo error.

    Parameters
    ----------
    y_true, y_score, rule, precision, rng, labels, absent, outputs
        As in `hum_score`, which defines the volume.

    Returns
    -------
    Volume
        With ``.plot()`` for three classes. For groups of rows, covariances and paired tests use the metrics ``"hum"``
        (rule "sum") and ``"landgrebe_duin"`` (rule "prod") of `evaluate` and `compare`.

    Notes
    -----
    With :math:`T(i)` the mean credit of the tuples that include row i, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`. If
    tuples are sampled, the part of the spread of T that comes from sampling is subtracted. Its standard error is
    ``.monte_carlo_error``; intervals include both.

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
    return replace(_build_volume(inputs, found, kind), monte_carlo_error=error, exact=exact)


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

    The surface consists of the true positive rates of all classes for the classifiers :math:`\operatorname{argmax}_k
    \varphi_k p_k(x)`, for all :math:`\varphi \ge 0` [1]_. The volume under it equals `hum_score` with the rule "prod".

    Parameters
    ----------
    y_true, y_score, precision, rng, labels, absent, outputs
        As in `hum_score`; scores must not be negative.
    normalised : bool, default False
        Whether to rescale it so chance is 0 and perfect 1: :math:`(V - 1/K!)/(1 - 1/K!)`.

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
    drawing = ("prod", *_read_drawing(precision, rng))
    sample = read_sample(y_true, y_score, None, labels, absent, outputs)
    value = _compute_hum(sample, "landgrebe_duin", drawing)
    chance = registry.METRICS["landgrebe_duin"].chance_of(len(sample.reported_classes()))
    return (value - chance) / (1.0 - chance) if is_normalised else value


def _compute_hum(sample: Sample, metric: str, drawing: tuple[str, float, int]) -> float:
    """The value alone; `drawing` is the rule, the precision and the seed."""
    with Stage(registry.METRICS[metric].title):
        value, _, _ = _rust.hum_score(sample.arguments(), *drawing, is_latin=True)
    return sample.nan_if_absent(value)


def _read_drawing(precision: Any, rng: Any) -> tuple[float, int]:
    """The Monte Carlo error at which to stop, and the seed."""
    return options.read_number("precision", precision, 0.0), draw_seed(options.read_rng(rng))


def _build_volume(inputs: HeldInputs, found: _rust.Evaluated, rule: str | None = None) -> Volume:
    """Build the result from the core's output for the one metric of the inputs, all tuples being counted."""
    (metric,) = inputs.metrics
    estimates.warn_of_single_units(inputs, found)
    name = registry.METRICS[metric].title + ("" if rule is None else f" by {RULES[rule]}")
    smallest = estimates.count_smallest(found.units)
    estimate = estimates.build_estimate(found.estimates[metric], name, smallest, metric, inputs)
    chance = registry.METRICS[metric].chance_of(len(inputs.sample.reported_classes()))
    held = None if rule is None else inputs
    return Volume(name, estimate.value, estimate, 0.0, chance, rule=rule, _inputs=held)


@with_hints
def ordered_vus_score(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
) -> float:
    r"""The volume under the ROC surface of ordered classes: how often scores rise in class order.

    .. math::
        \mathrm{VUS} = P\bigl(s(x_1) < s(x_2) < \ldots < s(x_K)\bigr)

    for one row of each class [1]_; where t consecutive classes tie, the tuple counts 1/t!. The chance level is 1/K!, a
    perfect value 1. With two classes it is the AUC.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    score : array-like of shape (n,)
        One score per row, higher for later classes.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
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

    Parameters
    ----------
    y_true, score, sample_weight, labels, absent
        As in `ordered_vus_score`, which defines the volume.

    Returns
    -------
    Volume
        Exact. For groups of rows and paired tests use the metric ``"ordered_vus"`` of `evaluate` and `compare`, with
        one score per row.

    Notes
    -----
    With :math:`T(i)` the fraction of the tuples with row i that are in order, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`.

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
    """True positive rates of three classes, as offsets are added to the scores of two of them.

    Attributes
    ----------
    rates : ndarray of shape (3, m, m)
        The rate of each class; the first class's offset rises along the second axis, the second class's along the
        third.
    offsets : ndarray of shape (2, m)
        The offsets added to the scores of the first and second class before the largest wins (to logarithms or negative
        distances if the rule compares those).
    labels : tuple
        The three classes.

    Examples
    --------
    >>> import multiauc
    >>> volume = multiauc.hum([0, 0, 1, 1, 2, 2], [[3, 1, 1], [2, 2, 1], [1, 3, 1], [2, 3, 1], [1, 2, 3], [1, 1, 3]])
    >>> surface = volume.surface(points=10)
    >>> surface
    RocSurface(0, 1, 2: true positive rates at 10 x 10 offsets)
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
        return f"RocSurface({names}: true positive rates at {points} x {points} offsets)"


def find_surface(sample: Sample, rule: str, points: int) -> RocSurface:
    """The surface at offsets that are quantiles of the score differences, so rates are evenly spaced."""
    classes = np.flatnonzero(sample.rows).tolist()
    if len(classes) != 3:
        raise ValueError(
            f"an ROC surface can be drawn for three classes; y_true has {pluralize(len(classes), 'class', 'classes')}"
        )
    judged = score_by_rule(sample.scores[:, classes].astype(np.float64), rule)
    if sample.is_undefined:
        return RocSurface(np.full((3, points, points), np.nan), np.full((2, points), np.nan), tuple(sample.labels))
    first, second = judged[:, 0] - judged[:, 2], judged[:, 1] - judged[:, 2]
    a, b = (_offsets(difference, points) for difference in (first, second))
    codes = np.searchsorted(classes, sample.codes).astype(np.uint32)
    rates = _rust.roc_surface(codes, [first, second], sample.weights, [a, b]).reshape(3, points, points)
    return RocSurface(rates, np.stack([a, b]), tuple(sample.labels[k] for k in classes))


def score_by_rule(scores: NDArray[np.float64], rule: str) -> NDArray[np.float64]:
    """The scores whose sums are compared: as they are, their logarithms, or distances from the corners."""
    if rule == "distance":
        return np.asarray(-np.linalg.norm(scores[:, np.newaxis] - np.eye(scores.shape[1]), axis=2))
    return np.asarray(np.log(np.maximum(scores, SMALLEST))) if rule == "prod" else scores


def _offsets(difference: NDArray[np.float64], points: int) -> NDArray[np.float64]:
    inner = -np.quantile(difference, np.linspace(1.0, 0.0, max(points - 2, 1)))
    ends = np.ptp(difference) + 1.0
    return np.concatenate([[inner[0] - 2.0 * ends], inner, [inner[-1] + 2.0 * ends]])[-points:]


@with_hints
def ferri_vus_of_confusions(
    matrices: ArrayLike, *, precision: float = 1e-3, rng: np.random.Generator | int | None = None
) -> Volume:
    r"""Ferri's volume under the ROC surface of a set of crisp classifiers, from their confusion matrices.

    A crisp classifier is a point in the space of its K(K-1) error rates. Together with the K constant classifiers, the
    given ones span a convex set; the volume counts all possible error rates that some mixture of them does not exceed:

    .. math::
        \operatorname{vol}\bigl((\operatorname{conv}(\text{classifiers}) + \mathbb{R}_+^{K(K-1)}) \cap \Omega\bigr),

    :math:`\Omega` being the rates whose sum is at most 1 for every class [1]_. A perfect classifier has
    :math:`((K-1)!)^{-K}`: 1 for two classes, 1/8 for three, 1/1296 for four. The constant classifiers alone have 1/2,
    1/180 and 1/17740800. With two classes it is the area under the convex hull of the ROC points.

    Parameters
    ----------
    matrices : array-like of shape (m, K, K) or (K, K)
        Confusion matrices, a row for each true class, in counts or in rates.
    precision : float, default 1e-3
        If points are sampled, the Monte Carlo error at which to stop, as a fraction of the perfect value.
    rng : numpy.random.Generator or int, optional
        Seed or generator for sampling.

    Returns
    -------
    Volume
        Without a standard error over rows, because it is not a mean over rows. It is exact with two classes, and with
        three classes and up to 100 classifiers, which needs scipy (``pip install scipy``). Otherwise points are
        sampled, each checked by a linear programme, and ``.monte_carlo_error`` is the standard error of sampling.

    References
    ----------
    .. [1] C. Ferri, J. Hernandez-Orallo and M. A. Salido, "Volume under the ROC surface for multi-class problems",
       ECML 2003, 108-120.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> matrix = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    >>> volume = multiauc.ferri_vus_of_confusions(matrix)
    >>> volume
    Volume(Ferri's VUS 0.0609; chance 0.0056, perfect 0.1250)
    >>> round(volume.normalised, 4)
    0.4636
    """
    return _compute_covered_volume(_read_confusions(matrices), *_read_drawing(precision, rng))


@with_hints
def ferri_vus_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    classifiers: int = 24,
    precision: float = 1e-3,
    rng: np.random.Generator | int | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""Ferri's volume of a soft classifier, treated as a set of crisp ones: argmax of the scores plus offsets.

    This is a lower estimate, because offsets do not produce every crisp classifier that scores allow. On a problem
    whose value is known (`docs/volumes.md`), argmax alone reaches 57% of it, 24 offsets 77% and a thousand 87%.

    Parameters
    ----------
    y_true, y_score, labels, absent, outputs
        As in `hum_score`.
    classifiers : int, default 24
        How many offsets to use: zero, and the others at random quantiles of score differences. More offsets give a
        larger value and take longer.
    precision : float, default 1e-3
        As in `ferri_vus_of_confusions`, which has the formula.
    rng : numpy.random.Generator or int, optional
        Seed or generator for the offsets and the sampled points.

    Returns
    -------
    float
        The value.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> y_score = rng.random((300, 3)) + 0.5 * np.eye(3)[y_true]
    >>> few = multiauc.ferri_vus_score(y_true, y_score, classifiers=1)
    >>> few < multiauc.ferri_vus_score(y_true, y_score, classifiers=20, rng=0) < 1 / 8
    True
    """
    count = options.positive_integer("classifiers", classifiers)
    limit, generator = options.read_number("precision", precision, 0.0), options.read_rng(rng)
    sample = read_sample(y_true, y_score, None, labels, absent, outputs)
    n_classes = int(np.count_nonzero(sample.rows))
    levels = generator.random((count - 1, n_classes - 1))
    with Stage(FERRI):
        rates = _rust.offset_rates(sample.arguments(), levels).reshape(count, n_classes, n_classes)
    return sample.nan_if_absent(_compute_covered_volume(rates, limit, draw_seed(generator)).value)


def _read_confusions(matrices: Any) -> NDArray[np.float64]:
    """(m, K, K) rates, each row summing to 1."""
    values = as_float64("matrices", matrices)
    values = values[np.newaxis] if values.ndim == 2 else values
    if values.ndim != 3 or values.shape[1] != values.shape[2] or values.shape[1] < 2 or not len(values):
        raise ValueError(
            "matrices must be confusion matrices of at least two classes, of shape (m, K, K) or (K, K); "
            f"got shape {values.shape}"
        )
    wrong = ~((values >= 0.0) & np.isfinite(values))
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise ValueError(f"matrices must be finite and not negative; got {values[place]} at {list(place)}")
    sums = values.sum(axis=2, keepdims=True)
    if not sums.all():
        m, row, _ = np.argwhere(sums == 0.0)[0].tolist()
        raise ValueError(f"matrices must have rows of every true class; row {row} of matrix {m} is all zeros")
    return np.asarray(values / sums)


def _compute_covered_volume(rates: NDArray[np.float64], precision: float, seed: int) -> Volume:
    n_classes = rates.shape[1]
    always = np.stack([np.tile(answer, (n_classes, 1)) for answer in np.eye(n_classes)])
    off_diagonal = ~np.eye(n_classes, dtype=bool)
    points = np.unique(np.concatenate([always, rates])[:, off_diagonal], axis=0)
    perfect = float(math.factorial(n_classes - 1)) ** -n_classes
    chance = _CHANCES.get(n_classes, math.nan)
    exact = n_classes == 2 or (n_classes == 3 and len(points) <= MOST_EXACT)
    with Stage(FERRI):
        if exact:
            value, error = _cover(points, n_classes), 0.0
        else:
            found = _rust.covered_share(np.ascontiguousarray(points), n_classes, precision, seed)
            value, error = (perfect * share for share in found)
    return Volume(FERRI, min(value, perfect), None, error, chance, exact=exact, perfect=perfect)


#: The volume of the constant classifiers.
_CHANCES = {2: 1 / 2, 3: 1 / 180, 4: 1 / 17_740_800}


def _cover(points: NDArray[np.float64], n_classes: int) -> float:
    """The volume of the possible rates that are nowhere below a mixture of the points."""
    with needs("Ferri's volume of up to three classes needs scipy", "scipy"):
        from scipy.spatial import ConvexHull, QhullError  # noqa: PLC0415
    # What lies above one point is a product of simplices: in each class, all that is left of 1 is put on one rate, or
    # on none. What lies above mixtures is a mixture of what lies above the points: the hull of these corners.
    by_class = points.reshape(len(points), n_classes, n_classes - 1)
    left = 1.0 - by_class.sum(axis=2)
    added = np.vstack([np.zeros(n_classes - 1), np.eye(n_classes - 1)])
    choices = map(list, product(range(n_classes), repeat=n_classes))
    above = np.concatenate([by_class + left[:, :, np.newaxis] * added[choice] for choice in choices])
    corners = np.unique(above.reshape(-1, points.shape[1]).round(14), axis=0)
    try:
        return float(ConvexHull(corners).volume)
    except QhullError:
        # Many corners in one plane, within rounding: moved by about 1e-13, no two are.
        return float(ConvexHull(corners, qhull_options="QJ").volume)
