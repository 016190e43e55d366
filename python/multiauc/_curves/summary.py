"""Summary ROC curves of several 2x2 tables, or of the pairs of classes of one model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations, pairwise, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common import hints, result, wording
from multiauc._common.progress import Progress
from multiauc._curves.multiclass import BAND_FPR, CurveBootstrap
from multiauc._inference import bootstrap as resampling
from multiauc._inference import intervals
from multiauc._inference.estimates import count_smallest
from multiauc._input import options
from multiauc._input.arrays import as_float64
from multiauc._input.sample import HeldInputs, read_sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc import plotting
    from multiauc._common.types import Absent, Labels, Outputs

# Points of a region's outline.
OUTLINE = 200
SHARED_ROWS = (
    "the pairs of classes share rows, so the model's own standard errors are not valid: use those of .bootstrap()"
)


@dataclass(frozen=True, eq=False, repr=False)
class SummaryRoc(result.Printed, result.Result):
    """One ROC curve for several 2 x 2 tables; see `multiauc.summary_roc`.

    Attributes
    ----------
    model : {"moses_littenberg", "bivariate", "hsroc", "binomial"}
        What was fitted.
    estimation : {"reml", "ml", "least_squares"}
        By what.
    auc : float
        The area under the curve; nan where the curve does not rise.
    parameters : dict of float
        The estimates by name.
    standard_errors : dict of float
        Their standard errors and that of ``"auc"``; nan if a parameter is at the edge of its range, or for a reason
        that `notes` give.
    intercept, slope : float
        The curve: logit TPR = intercept + slope * logit FPR.
    operating_point : tuple of two floats or None
        The mean false- and true-positive rate, for models that have one.
    log_likelihood : float
        Of the fit; nan for a regression.
    tables : ndarray of shape (n, 4)
        True positives, false negatives, false positives, true negatives. Read-only.
    notes : tuple of str
        Caveats about the result.

    Examples
    --------
    >>> import multiauc
    >>> roc = multiauc.summary_roc(
    ...     [47, 126, 19, 36, 130], [9, 51, 10, 3, 19], [101, 272, 12, 78, 211], [738, 1543, 192, 276, 959]
    ... )
    >>> round(roc.sensitivity(0.2), 3)
    0.882
    >>> low, high = roc.confidence_interval()
    >>> 0.8 < low < roc.auc < high < 1.0
    True
    """

    model: str
    estimation: str
    auc: float
    parameters: dict[str, float]
    standard_errors: dict[str, float]
    intercept: float
    slope: float
    operating_point: tuple[float, float] | None
    log_likelihood: float
    tables: NDArray[np.float64]
    notes: tuple[str, ...] = ()
    # Of (logit TPR, logit FPR): the covariance of their mean, that between tables, and the mean; None for a regression.
    _of_mean: NDArray[np.float64] | None = None
    _between: NDArray[np.float64] | None = None
    _middle: NDArray[np.float64] | None = None

    def sensitivity(self, fpr: ArrayLike) -> Any:
        """The true-positive rate of the curve at one or several false-positive rates, between 0 and 1."""
        rates = as_float64("fpr", fpr)
        if not ((rates >= 0.0) & (rates <= 1.0)).all():
            raise ValueError(f"fpr must be between 0 and 1; got {rates[~((rates >= 0.0) & (rates <= 1.0))][0]}")
        with np.errstate(divide="ignore"):
            heights = _expit(self.intercept + self.slope * (np.log(rates) - np.log1p(-rates)))
        return float(heights.item()) if np.ndim(fpr) == 0 else heights

    def confidence_interval(self, level: float = 0.95) -> intervals.ConfidenceInterval:
        """A logit interval for the area, with Student's t and two degrees of freedom fewer than tables.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        """
        tail = options.read_level(level)
        self._refuse_shared_rows("an interval")
        error = self.standard_errors["auc"]
        if not error > 0.0:
            return intervals.NO_INTERVAL
        return intervals.logit_interval(
            self.auc, error, _rust.student_upper_quantile(tail, max(1, len(self.tables) - 2))
        )

    def confidence_region(self, level: float = 0.95) -> NDArray[np.float64]:
        """The outline of a region for the operating point, (m, 2): false- and true-positive rates.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        """
        return self._region(level, is_prediction=False)

    def prediction_region(self, level: float = 0.95) -> NDArray[np.float64]:
        """The outline of a prediction region for the rates of another large table; as `confidence_region`."""
        return self._region(level, is_prediction=True)

    def _region(self, level: Any, *, is_prediction: bool) -> NDArray[np.float64]:
        tail = options.read_level(level)
        if self._of_mean is None or self._between is None or self._middle is None:
            raise ValueError(
                f"model={self.model!r} is a regression and has no regions; use 'bivariate', 'hsroc' or 'binomial'"
            )
        self._refuse_shared_rows("a region")
        # Twice the quantile of F with 2 and n - 2 degrees of freedom.
        freedom = max(1, len(self.tables) - 2)
        reach = math.sqrt(freedom * ((2.0 * tail) ** (-2.0 / freedom) - 1.0))
        spread = self._of_mean + self._between if is_prediction else self._of_mean
        values, vectors = np.linalg.eigh(spread)
        angles = np.linspace(0.0, 2.0 * math.pi, OUTLINE)
        circle = np.stack([np.cos(angles), np.sin(angles)])
        outline = self._middle[:, None] + reach * (vectors * np.sqrt(np.clip(values, 0.0, None))) @ circle
        return np.asarray(_expit(outline[::-1].T))

    def _refuse_shared_rows(self, what: str) -> None:
        """Overridden where the tables share rows."""

    def plot(self, ax: Axes | None = None, *, label: str | None = None, **line: Any) -> plotting.SummaryRocDisplay:
        """Draw the curve, the tables and the regions. Needs matplotlib.

        `ax` is a matplotlib Axes, a new one by default; `line` is passed on to ``ax.plot`` for the curve.
        """
        from multiauc import plotting  # noqa: PLC0415

        return plotting.SummaryRocDisplay(self).plot(ax, label=label, **line)

    def _below(self) -> list[str]:
        return list(self.notes)

    def _numbers(self) -> dict[str, result.Numbers]:
        values = {"auc": self.auc, **self.parameters}
        return {name: {"value": value, "standard_error": self.standard_errors[name]} for name, value in values.items()}

    def _title(self) -> str:
        how = {"reml": "restricted maximum likelihood", "ml": "maximum likelihood", "least_squares": "least squares"}
        return f"SummaryRoc of {wording.pluralize(len(self.tables), 'table')}: {self.model}, {how[self.estimation]}"

    def _table(self) -> result.Cells:
        rows = [("AUC", "auc", self.auc)] + [(name.replace("_", " "), name, v) for name, v in self.parameters.items()]
        cells = [
            [shown, wording.decimals(value), wording.decimals(self.standard_errors[name])]
            for shown, name, value in rows
        ]
        return [["", "value", "std. error"], *cells]


@dataclass(frozen=True, eq=False, repr=False)
class SummaryRocOfPairs(SummaryRoc):
    """A `SummaryRoc` whose tables are those of the pairs of classes of a classifier; see `summary_roc_of_pairs`.

    Attributes
    ----------
    pairs : tuple of tuples
        The two classes of each table: the first is the positive one.
    threshold : float or None
        Rows with a score above it are predicted as the first class; None for the higher of both scores.
    smallest_class : int
        The rows of the smallest class.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(4, size=400)
    >>> roc = multiauc.summary_roc_of_pairs(y_true, np.eye(4)[y_true] + 2 * rng.random((400, 4)), model="hsroc")
    >>> roc.pairs[0]
    (0, 1)
    >>> roc.bootstrap(20, rng=0).replicates.shape
    (20,)
    """

    pairs: tuple[tuple[Any, Any], ...] = ()
    threshold: float | None = None
    smallest_class: int = 0
    # (size, rng) to the replicates, and what they are computed from.
    _model: Callable[[int, Any], SummaryRocBootstrap] | None = field(default=None, metadata=result.HELD)

    def _refuse_shared_rows(self, what: str) -> None:
        raise ValueError(f"{what} of the model is not offered here: {SHARED_ROWS}")

    def bootstrap(self, n_resamples: int = 200, rng: np.random.Generator | int | None = None) -> SummaryRocBootstrap:
        """Resample the rows within classes and fit the curve again to their tables.

        Parameters
        ----------
        n_resamples : int, default 200
            How many resamples.
        rng : numpy Generator or int, optional
            The random numbers or their seed.
        """
        if self._model is None:
            raise ValueError("this curve was unpickled, without its data; call summary_roc_of_pairs on them again")
        return self._model(n_resamples, rng)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SummaryRocBootstrap(CurveBootstrap):
    """Summary curves of resampled rows.

    Attributes
    ----------
    estimate : float
        The area under the curve of the sample itself.
    replicates : ndarray of shape (n_resamples,)
        The areas of the resamples; nan where the curve does not rise. Read-only.
    heights : ndarray of shape (n_resamples, 101)
        True-positive rates at the false-positive rates of `band`. Read-only.
    smallest_class : int
        The rows of the smallest class.
    parameters : dict of ndarray
        The resampled parameters by name. Read-only.
    n_symmetric : int
        How many resamples do not determine the shape of the curve, which is then symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(4, size=400)
    >>> y_score = np.eye(4)[y_true] + 2 * rng.random((400, 4))
    >>> bootstrap = multiauc.summary_roc_of_pairs(y_true, y_score, model="moses_littenberg").bootstrap(50, rng=0)
    >>> low, high = bootstrap.confidence_interval()
    >>> 0.8 < low < bootstrap.estimate < high < 1.0
    True
    """

    parameters: dict[str, NDArray[np.float64]]
    n_symmetric: int

    @property
    def standard_errors(self) -> dict[str, float]:
        """The standard deviation of the replicates of each parameter and of ``"auc"``; nan for fewer than two."""
        known = {"auc": self.replicates, **self.parameters}
        return {name: float(resampling.standard_errors(values[:, None])[0]) for name, values in known.items()}

    def _describe(self) -> str:
        return f"rows, {self.n_symmetric} of them symmetric" if self.n_symmetric else "rows"


MODELS = ("moses_littenberg", "bivariate", "hsroc", "binomial")
ESTIMATIONS = ("reml", "ml")
LINE, NORMAL, HSROC, BINOMIAL = MODELS
FEWEST_TABLES = 3
# Standard deviations between tables below which nothing shows the shape of the curve.
NO_SPREAD = 1e-3
SYMMETRIC = (
    "one of the rates does not vary between tables by more than chance, so that nothing shows the shape of the curve: "
    "it is taken to be symmetric, with one odds ratio"
)
# Bytes of multiplicities at a time.
BLOCK_BYTES = 1 << 26


@hints.with_hints
def summary_roc(
    tp: ArrayLike,
    fn: ArrayLike,
    fp: ArrayLike,
    tn: ArrayLike,
    *,
    model: str = NORMAL,
    estimation: str | None = None,
) -> SummaryRoc:
    r"""One ROC curve for several 2 x 2 tables: studies of a test, or pairs of classes, each at its own threshold.

    With :math:`y_1 = \operatorname{logit} \mathrm{TPR}` and :math:`y_2 = \operatorname{logit} \mathrm{FPR}` of a table:

    * ``"moses_littenberg"`` [1]_: the regression :math:`y_1 - y_2 = a + b (y_1 + y_2)` by least squares, which gives
      :math:`y_1 = \frac{a}{1 - b} + \frac{1 + b}{1 - b} y_2` along the curve;
    * ``"bivariate"`` [2]_: :math:`y \sim N(\mu, \Sigma + D)`, with D the known variances
      1/TP + 1/FN and 1/FP + 1/TN within the table;
    * ``"hsroc"`` [3]_: the same fit in other parameters [4]_, shape :math:`\beta = \ln(\sigma_2 / \sigma_1)`, accuracy
      :math:`\Lambda = \sqrt{\sigma_2/\sigma_1}\, \mu_1 - \sqrt{\sigma_1/\sigma_2}\, \mu_2` and threshold;
    * ``"binomial"`` [5]_: counts are binomial, and their logits normal, :math:`N(\mu, \Sigma)`; by Laplace's
      approximation. No correction for zeros.

    The curve of the last three is :math:`\operatorname{logit} \mathrm{TPR} = \Lambda e^{-\beta/2} + e^{-\beta}
    \operatorname{logit} \mathrm{FPR}`.

    Parameters
    ----------
    tp, fn, fp, tn : array-like of shape (n,)
        True positives, false negatives, false positives and true negatives of each of three tables or more. If any
        count is zero, one half is added to all counts of all tables (not by ``"binomial"``).
    model : {"bivariate", "moses_littenberg", "hsroc", "binomial"}, default "bivariate"
        As above.
    estimation : {"reml", "ml"}, optional
        Restricted or full maximum likelihood, for ``"bivariate"`` and ``"hsroc"``; default: restricted. ``"binomial"``
        supports ``"ml"`` only.

    Returns
    -------
    SummaryRoc
        With the area `auc`, `sensitivity(fpr)`, `parameters`, `standard_errors`, regions and a plot.

    See Also
    --------
    summary_roc_of_pairs : The tables of the pairs of classes of a classifier.
    multiclass_roc : A curve for all pairs of classes along all thresholds.

    References
    ----------
    .. [1] L. E. Moses, D. Shapiro and B. Littenberg, "Combining independent studies of a diagnostic test into a summary
       ROC curve", Statistics in Medicine 12 (1993), 1293-1316.
    .. [2] J. B. Reitsma et al., "Bivariate analysis of sensitivity and specificity produces informative summary
       measures in diagnostic reviews", Journal of Clinical Epidemiology 58 (2005), 982-990.
    .. [3] C. M. Rutter and C. A. Gatsonis, "A hierarchical regression approach to meta-analysis of diagnostic test
       accuracy evaluations", Statistics in Medicine 20 (2001), 2865-2884.
    .. [4] R. M. Harbord et al., "A unification of models for meta-analysis of diagnostic accuracy studies",
       Biostatistics 8 (2007), 239-251.
    .. [5] H. Chu and S. R. Cole, "Bivariate meta-analysis of sensitivity and specificity with sparse data", Journal of
       Clinical Epidemiology 59 (2006), 1331-1332.

    Examples
    --------
    >>> import multiauc
    >>> tp, fn = [47, 126, 19, 36, 130, 84], [9, 51, 10, 3, 19, 2]
    >>> fp, tn = [101, 272, 12, 78, 211, 68], [738, 1543, 192, 276, 959, 89]
    >>> multiauc.summary_roc(tp, fn, fp, tn, model="moses_littenberg")
    SummaryRoc of 6 tables: moses_littenberg, least squares
          value  std. error
    AUC  0.9130      0.0101
    a    3.4341      0.1639
    b    0.1578      0.0920
    """
    kind, how = _read_model(model, estimation)
    tables = _read_tables(tp, fn, fp, tn)
    return SummaryRoc(**_fit(tables, kind, how).fields())


@hints.with_hints
def summary_roc_of_pairs(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    model: str = NORMAL,
    estimation: str | None = None,
    threshold: float | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> SummaryRocOfPairs:
    """One ROC curve for the pairs of classes of a classifier, with one prediction between the two classes of each.

    The table of a pair counts how many rows of its two classes are predicted as the first one: those whose score for
    the first is higher than for the second. With a `threshold`, pairs are ordered, and a row is predicted as the first
    class if its score for that class is above the threshold.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each of three classes or more.
    model, estimation
        As in `summary_roc`, which defines the models.
    threshold : float, optional
        Rows with a score above it are predicted as a class; default: the higher of both scores wins.
    labels : sequence of K labels, optional
        The classes, in column order. Without a threshold, the first class of a pair is the one that comes first here,
        which affects the curve.
    absent : {"raise", "ignore"}, default "raise"
        What to do if a class has no rows: raise an error, or leave out its pairs.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    SummaryRocOfPairs
        A `SummaryRoc` with ``.bootstrap()``. The models assume independent tables, but pairs share rows, so their own
        standard errors are nan here: use those of the bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(4, size=400)
    >>> y_score = np.eye(4)[y_true] + 2 * rng.random((400, 4))
    >>> roc = multiauc.summary_roc_of_pairs(y_true, y_score, model="moses_littenberg")
    >>> roc.bootstrap(50, rng=0)
    SummaryRocBootstrap(50 resamples by rows: auc 0.9207, se 0.0213)
    """
    kind, how = _read_model(model, estimation)
    limit = None if threshold is None else _read_threshold(threshold)
    sample = read_sample(y_true, y_score, None, labels, wording.one_of("absent", absent, ("raise", "ignore")), outputs)
    present = np.flatnonzero(sample.rows).tolist()
    if len(present) < FEWEST_TABLES:
        raise ValueError(f"y_true must have {FEWEST_TABLES} classes or more, for as many pairs; got {len(present)}")
    pairs = list(combinations(present, 2) if limit is None else permutations(present, 2))
    tables = PairTables(HeldInputs(sample, ("hand_till",)), pairs, limit)
    fit = _fit(tables.of_sample(), kind, how)
    return SummaryRocOfPairs(
        **fit.fields(are_independent=False),
        pairs=tuple((sample.labels[c], sample.labels[d]) for c, d in pairs),
        threshold=limit,
        smallest_class=count_smallest(sample.rows),
        _model=lambda size, rng: _resample(tables, fit, size, rng),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PairTables:
    """The tables of pairs of classes, of the sample and of its resamples; `pairs` are columns."""

    inputs: HeldInputs
    pairs: list[tuple[int, int]]
    threshold: float | None

    def of_sample(self) -> NDArray[np.float64]:
        """A table per pair."""
        return np.asarray(self._count(np.ones((1, len(self.inputs.sample.codes)), dtype=np.uint8))[0])

    def of_resamples(self, seed: int, first: int, count: int) -> NDArray[np.float64]:
        """The tables of resamples `first`, `first` + 1, ...: rows drawn within classes, as by all bootstraps."""
        resampler = _rust.Resampler([self.inputs.arguments()], list(self.inputs.metrics), 0)
        return self._count(resampler.multiplicities(seed, first, count))

    def _count(self, times: NDArray[np.uint8]) -> NDArray[np.float64]:
        sample = self.inputs.sample
        rows_of = [np.flatnonzero(sample.codes == c) for c in range(sample.n_classes)]
        times_of = [times[:, rows].astype(np.float64) for rows in rows_of]
        tables = np.empty((len(times), len(self.pairs), 4))
        for place, (c, d) in enumerate(self.pairs):
            for side, k in ((0, c), (2, d)):
                scores = sample.scores[rows_of[k]]
                is_first = scores[:, c] > (scores[:, d] if self.threshold is None else self.threshold)
                tables[:, place, side] = times_of[k] @ is_first
                tables[:, place, side + 1] = times_of[k] @ ~is_first
        return tables


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A model fitted to tables: its estimates with their covariance, and what follows from them.

    The estimates are intercept and slope of the regression; or both means, both standard deviations and the
    correlation of logit TPR and logit FPR.
    """

    tables: NDArray[np.float64]
    model: str
    estimation: str
    estimates: NDArray[np.float64]
    covariance: NDArray[np.float64]
    log_likelihood: float = math.nan

    def parameters(self) -> dict[str, Callable[[NDArray[np.float64]], float]]:
        """Each parameter as a function of the estimates."""
        if self.model == HSROC:
            return _HSROC_PARAMETERS
        names = _LINE_PARAMETERS if self.model == LINE else _EFFECTS_PARAMETERS
        return {name: _entry(place) for place, name in enumerate(names)}

    def curve(self, values: NDArray[np.float64]) -> tuple[float, float]:
        """Intercept and slope of logit TPR against logit FPR."""
        if self.model == LINE:
            a, b = values.tolist()
            return (math.nan, math.nan) if b == 1.0 else (a / (1.0 - b), (1.0 + b) / (1.0 - b))
        slope = _ratio(values) ** -2.0
        return float(values[0] - slope * values[1]), slope

    @property
    def is_symmetric(self) -> bool:
        """Whether the data do not determine the shape of the curve."""
        return self.model != LINE and min(self.estimates[2:4]) < NO_SPREAD

    def auc(self, values: NDArray[np.float64]) -> float:
        """The area under the curve; nan unless it rises."""
        return _rust.summary_area(*self.curve(values))

    def fields(self, *, are_independent: bool = True) -> result.Record:
        """Those of the result. The standard errors need tables that are independent."""
        functions = {"auc": self.auc, **self.parameters()}
        values = {name: float(function(self.estimates)) for name, function in functions.items()}
        errors = {
            name: _delta_error(function, self.estimates, self.covariance) if are_independent else math.nan
            for name, function in functions.items()
        }
        auc = values.pop("auc")
        intercept, slope = self.curve(self.estimates)
        notes = [] if are_independent else [SHARED_ROWS]
        if math.isnan(auc):
            notes.append("the fitted curve does not rise from (0, 0) to (1, 1): it has no area")
        if self.is_symmetric:
            notes.append(SYMMETRIC)
        point, of_mean, between, middle = None, None, None, None
        if self.model != LINE:
            if are_independent and np.isnan(self.covariance).any():
                notes.append("the spread between tables is at the edge of what there can be: it has no standard errors")
            middle, of_mean = self.estimates[:2], self.covariance[:2, :2]
            *_, first, second, correlation = self.estimates.tolist()
            both = correlation * first * second
            between = np.array([[first**2, both], [both, second**2]])
            point = tuple(_expit(middle).tolist()[::-1])
        return {
            "model": self.model,
            "estimation": self.estimation,
            "auc": auc,
            "parameters": values,
            "standard_errors": errors,
            "intercept": intercept,
            "slope": slope,
            "operating_point": point,
            "log_likelihood": self.log_likelihood,
            "tables": self.tables,
            "notes": tuple(notes),
            "_of_mean": of_mean,
            "_between": between,
            "_middle": middle,
        }


def _expit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(-x)) without overflow, exact also near 0."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -x)))


def _delta_error(
    function: Callable[[NDArray[np.float64]], float], at: NDArray[np.float64], covariance: NDArray[np.float64]
) -> float:
    """The standard error of a function of estimates, by its numerical slopes; nan if one without an error matters."""
    steps = 1e-5 * np.maximum(np.abs(at), 0.1)
    slopes = np.array([(function(at + step) - function(at - step)) / 2.0 for step in np.diag(steps)]) / steps
    matters = np.abs(slopes) > 1e-12
    if np.isnan(slopes).any() or not matters.any():
        return math.nan
    variance = float(slopes[matters] @ covariance[np.ix_(matters, matters)] @ slopes[matters])
    return math.sqrt(variance) if variance >= 0.0 else math.nan


def _entry(place: int) -> Callable[[NDArray[np.float64]], float]:
    return lambda values: float(values[place])


def _ratio(values: NDArray[np.float64]) -> float:
    """The root of the ratio of both standard deviations; 1 where nothing shows it."""
    return math.sqrt(values[3] / values[2]) if min(values[2:4]) >= NO_SPREAD else 1.0


_LINE_PARAMETERS = ("a", "b")
_EFFECTS_PARAMETERS = ("logit_tpr", "logit_fpr", "sd_tpr", "sd_fpr", "correlation")
_HSROC_PARAMETERS: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "Lambda": lambda v: _ratio(v) * v[0] - v[1] / _ratio(v),
    "Theta": lambda v: 0.5 * (_ratio(v) * v[0] + v[1] / _ratio(v)),
    "beta": lambda v: 2.0 * math.log(_ratio(v)),
    "sigma2_alpha": lambda v: 2.0 * v[2] * v[3] * (1.0 - v[4]),
    "sigma2_theta": lambda v: 0.5 * v[2] * v[3] * (1.0 + v[4]),
}


def _fit(tables: NDArray[np.float64], model: str, estimation: str, start: NDArray[np.float64] | None = None) -> Fit:
    """Fit a model; with the estimates from similar tables to start from, quickly and without warnings."""
    if model == LINE:
        fit = Fit(tables, model, estimation, *_fit_line(tables))
    else:
        if model == BINOMIAL:
            _check_rates(tables)
        how = BINOMIAL if model == BINOMIAL else estimation
        found = _rust.fit_summary_roc(tables, how, None if start is None else start.tolist())
        if model == BINOMIAL:
            _check_maximum(tables, found[0])
        fit = Fit(tables, model, estimation, *found)
    if start is None and math.isnan(fit.auc(fit.estimates)):
        hints.warn(
            f"the curve of model={model!r} does not rise from (0, 0) to (1, 1), so its area is nan", RuntimeWarning
        )
    if start is None and fit.is_symmetric:
        hints.warn(SYMMETRIC, RuntimeWarning)
    return fit


def _fit_line(tables: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Moses and Littenberg's regression, every table with the same weight: its two coefficients, their covariance."""
    tp, fn, fp, tn = (tables + 0.5 if (tables == 0.0).any() else tables).T
    first, second = np.log(tp / fn), np.log(fp / tn)
    design, gaps = np.column_stack([np.ones(len(tables)), first + second]), first - second
    products = design.T @ design
    if np.linalg.cond(products) > 1e12:
        raise ValueError(
            "tp, fn, fp, tn must differ in logit TPR + logit FPR for a regression; got the same for all tables"
        )
    estimates = np.linalg.solve(products, design.T @ gaps)
    rest = gaps - design @ estimates
    return estimates, np.linalg.inv(products) * (rest @ rest) / (len(tables) - 2)


def _check_rates(tables: NDArray[np.float64]) -> None:
    """Raise where one rate is 0 or 1 in all tables, which no finite logit is."""
    names = {"tp": "true-positive rate 0", "fn": "true-positive rate 1"}
    names |= {"fp": "false-positive rate 0", "tn": "false-positive rate 1"}
    for (name, rate), counts in zip(names.items(), tables.T, strict=True):
        if not counts.any():
            raise ValueError(
                f"{name} must be positive in some table for model='binomial'; got 0 in all of them: the most likely "
                f"{rate} has no finite logit; model='bivariate' adds one half to all cells"
            )


def _check_maximum(tables: NDArray[np.float64], estimates: NDArray[np.float64]) -> None:
    """Raise where the likelihood keeps rising, far beyond what logits of counts can be."""
    for side, name in enumerate(("tp and fn", "fp and tn")):
        hits, rest = tables.T[2 * side : 2 * side + 2] + 0.5
        seen = np.log(hits / rest)
        if abs(estimates[side]) > np.abs(seen).max() + 10.0 or estimates[2 + side] > 10.0 * (np.ptp(seen) + 1.0):
            raise ValueError(
                f"{name} must show how much rates vary between tables for model='binomial'; their likelihood has no "
                "maximum, as when rates are 0 in some tables and 1 in the others; model='bivariate' adds one half"
            )


def _resample(tables: PairTables, fit: Fit, n_resamples: Any, rng: Any) -> SummaryRocBootstrap:
    size, seed = options.positive_integer("n_resamples", n_resamples), resampling.draw_seed(options.read_rng(rng))
    names = list(fit.parameters())
    found = np.full((size, 2 + len(names)), np.nan)
    heights = np.full((size, len(BAND_FPR)), np.nan)
    block = max(1, BLOCK_BYTES // len(tables.inputs.sample.codes))
    with Progress(size, "bootstrap") as progress:
        for first, last in pairwise(progress.steps(min(4, block))):
            for start in range(first, last, block):
                drawn = tables.of_resamples(seed, start, min(block, last - start))
                for place, one in enumerate(drawn, start=start):
                    found[place], heights[place] = _replicate(one, fit)
    sample = tables.inputs.sample
    return SummaryRocBootstrap(
        fit.auc(fit.estimates),
        found[:, 0],
        heights,
        count_smallest(sample.rows),
        dict(zip(names, found.T[2:], strict=True)),
        int(np.nansum(found[:, 1])),
    )


def _replicate(tables: NDArray[np.float64], fit: Fit) -> tuple[list[float], NDArray[np.float64]]:
    """Area, symmetry and parameters of one resample, and the heights of its curve; nan where it has none."""
    try:
        again = _fit(tables, fit.model, fit.estimation, fit.estimates)
    except ValueError:
        return [math.nan] * (2 + len(fit.parameters())), np.full(len(BAND_FPR), np.nan)
    values = again.estimates
    intercept, slope = again.curve(values)
    with np.errstate(divide="ignore"):
        heights = _expit(intercept + slope * (np.log(BAND_FPR) - np.log1p(-BAND_FPR)))
    numbers = [function(values) for function in again.parameters().values()]
    return [again.auc(values), float(again.is_symmetric), *numbers], heights


def _read_model(model: Any, estimation: Any) -> tuple[str, str]:
    kind = wording.one_of("model", model, MODELS)
    if estimation is None:
        return kind, {LINE: "least_squares", BINOMIAL: "ml"}.get(kind, "reml")
    how = wording.one_of("estimation", estimation, ESTIMATIONS)
    if kind == LINE:
        raise ValueError(f"estimation has no meaning for model={kind!r}, which is fitted by least squares; got {how!r}")
    if kind == BINOMIAL and how != "ml":
        raise ValueError(f"estimation must be 'ml' for model={kind!r}, which has no restricted likelihood; got {how!r}")
    return kind, how


def _read_tables(tp: Any, fn: Any, fp: Any, tn: Any) -> NDArray[np.float64]:
    cells = {}
    for name, given in (("tp", tp), ("fn", fn), ("fp", fp), ("tn", tn)):
        counts = as_float64(name, given)
        if counts.ndim != 1:
            raise ValueError(f"{name} must have a count for each table; got shape {counts.shape}")
        wrong = ~((counts >= 0.0) & np.isfinite(counts) & (counts == np.floor(counts)))
        if wrong.any():
            raise ValueError(f"{name} must hold counts, whole and not negative; got {counts[wrong][0]:g}")
        cells[name] = counts
    lengths = {name: len(counts) for name, counts in cells.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"tp, fn, fp and tn must have the same length, a count for each table; got {found}")
    tables = np.stack(list(cells.values()), axis=1)
    if len(tables) < FEWEST_TABLES:
        raise ValueError(
            f"tp, fn, fp, tn must be of {FEWEST_TABLES} tables or more; got {wording.pluralize(len(tables), 'table')}"
        )
    for names, columns in (("tp + fn", slice(0, 2)), ("fp + tn", slice(2, 4))):
        empty = np.flatnonzero(tables[:, columns].sum(axis=1) == 0.0)
        if empty.size:
            raise ValueError(f"{names} must be positive in every table; got 0 in table {int(empty[0])}")
    return tables


def _read_threshold(threshold: Any) -> float:
    try:
        value = float(threshold)
    except (TypeError, ValueError):
        raise TypeError(f"threshold must be a number or None; got {wording.describe_type(threshold)}") from None
    if not math.isfinite(value):
        raise ValueError(f"threshold must be finite; got {threshold!r}")
    return value
