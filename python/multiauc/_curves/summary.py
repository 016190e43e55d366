"""Summary ROC curves of several 2x2 tables, or of the pairs of classes of one model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common import hints, result, wording
from multiauc._curves.multiclass import BAND_FPR, CurveBootstrap, refit
from multiauc._inference import bootstrap as resampling
from multiauc._inference import intervals
from multiauc._inference.estimates import count_smallest
from multiauc._input import options
from multiauc._input.arrays import as_float64
from multiauc._input.sample import HeldInputs, read_sample

if TYPE_CHECKING:
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
    # Means of both logits, their covariance, and that between tables.
    _effects: tuple[NDArray[np.float64], ...] | None = None

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
        t, error = _rust.student_upper_quantile(tail, max(1, len(self.tables) - 2)), self.standard_errors["auc"]
        return intervals.logit_interval(self.auc, error, t) if error > 0.0 else intervals.NO_INTERVAL

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
        if self._effects is None:
            raise ValueError(
                f"model={self.model!r} is a regression and has no regions; use 'bivariate', 'hsroc' or 'binomial'"
            )
        self._refuse_shared_rows("a region")
        # Twice the quantile of F with 2 and n - 2 degrees of freedom.
        freedom = max(1, len(self.tables) - 2)
        reach = math.sqrt(freedom * ((2.0 * tail) ** (-2.0 / freedom) - 1.0))
        middle, of_mean, between = self._effects
        values, vectors = np.linalg.eigh(of_mean + between if is_prediction else of_mean)
        angles = np.linspace(0.0, 2.0 * math.pi, OUTLINE)
        circle = np.stack([np.cos(angles), np.sin(angles)])
        outline = middle[:, None] + reach * (vectors * np.sqrt(np.clip(values, 0.0, None))) @ circle
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
        rows = {name.replace("_", " "): one.values() for name, one in self._numbers().items()}
        cells = [["AUC" if name == "auc" else name, *map(wording.decimals, numbers)] for name, numbers in rows.items()]
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
    # The data, the columns of the pairs, and the fit.
    _held: tuple[HeldInputs, list[tuple[int, int]], _rust.SummaryFit] | None = field(default=None, metadata=result.HELD)

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
        if self._held is None:
            raise ValueError("this curve was unpickled, without its data; call summary_roc_of_pairs on them again")
        inputs, columns, fit = self._held
        draws = resampling.read_draws(n_resamples, rng)
        outcomes = _rust.PairOutcomes(inputs.arguments(), columns, self.threshold)
        parts = refit(*draws, lambda some: fit.bootstrap(outcomes, some, BAND_FPR))
        values, heights, symmetric = zip(*parts, strict=True)
        areas, *parameters = np.concatenate(values).T
        named = dict(zip(self.parameters, parameters, strict=True))
        return SummaryRocBootstrap(
            self.auc, areas, np.concatenate(heights), self.smallest_class, named, n_symmetric=sum(symmetric)
        )


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
_EFFECTS = ("logit_tpr", "logit_fpr", "sd_tpr", "sd_fpr", "correlation")
#: The parameters of each model, in the order of the core.
PARAMETERS = {
    LINE: ("a", "b"),
    NORMAL: _EFFECTS,
    HSROC: ("Lambda", "Theta", "beta", "sigma2_alpha", "sigma2_theta"),
    BINOMIAL: _EFFECTS,
}
SYMMETRIC = (
    "one of the rates does not vary between tables by more than chance, so the shape of the curve is unknown: "
    "it is taken to be symmetric, with one odds ratio"
)


@hints.with_hints
def summary_roc(
    tp: ArrayLike, fn: ArrayLike, fp: ArrayLike, tn: ArrayLike, *, model: str = NORMAL, estimation: str | None = None
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
    tables = _read_tables(tp=tp, fn=fn, fp=fp, tn=tn)
    fit = _rust.fit_summary_roc(tables, kind, how == "reml")
    return SummaryRoc(**_describe_fit(fit, tables, kind, how))


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
    limit = None if threshold is None else options.read_number("threshold", threshold, -math.inf)
    sample = read_sample(y_true, y_score, None, labels, wording.one_of("absent", absent, ("raise", "ignore")), outputs)
    present = np.flatnonzero(sample.rows).tolist()
    if len(present) < FEWEST_TABLES:
        raise ValueError(f"y_true must have {FEWEST_TABLES} classes or more, for as many pairs; got {len(present)}")
    pairs = list(combinations(present, 2) if limit is None else permutations(present, 2))
    tables = _rust.PairOutcomes(sample.arguments(), pairs, limit).of_sample()
    fit = _rust.fit_summary_roc(tables, kind, how == "reml")
    return SummaryRocOfPairs(
        **_describe_fit(fit, tables, kind, how, are_independent=False),
        pairs=tuple((sample.labels[c], sample.labels[d]) for c, d in pairs),
        threshold=limit,
        smallest_class=count_smallest(sample.rows),
        _held=(HeldInputs(sample, ()), pairs, fit),
    )


def _describe_fit(
    fit: _rust.SummaryFit, tables: NDArray[np.float64], model: str, estimation: str, *, are_independent: bool = True
) -> result.Record:
    """The fields of the result, with warnings. The standard errors need tables that are independent."""
    names = ("auc", *PARAMETERS[model])
    values = dict(zip(names, fit.values, strict=True))
    errors = zip(names, fit.standard_errors, strict=True) if are_independent else dict.fromkeys(names, math.nan)
    intercept, slope = fit.curve
    found: result.Record = {"auc": values.pop("auc"), "parameters": values, "standard_errors": dict(errors)}
    found |= {"model": model, "estimation": estimation, "intercept": intercept, "slope": slope}
    found |= {"operating_point": None, "log_likelihood": fit.log_likelihood, "tables": tables}
    notes = [] if are_independent else [SHARED_ROWS]
    if math.isnan(found["auc"]):
        hints.warn(f"the curve of model={model!r} does not rise from (0, 0) to (1, 1): its AUC is nan", RuntimeWarning)
        notes.append("the fitted curve does not rise from (0, 0) to (1, 1): it has no area")
    if fit.is_symmetric:
        hints.warn(SYMMETRIC, RuntimeWarning)
        notes.append(SYMMETRIC)
    if model != LINE:
        if are_independent and np.isnan(fit.covariance).any():
            notes.append("the spread between tables is at the edge of what there can be: it has no standard errors")
        middle, (first, second, correlation) = fit.estimates[:2], fit.estimates[2:].tolist()
        both = correlation * first * second
        between = np.array([[first**2, both], [both, second**2]])
        found["operating_point"] = tuple(_expit(middle).tolist()[::-1])
        found["_effects"] = (middle, fit.covariance[:2, :2], between)
    return found | {"notes": tuple(notes)}


def _expit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(-x)) without overflow, exact also near 0."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -x)))


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


def _read_tables(**cells: Any) -> NDArray[np.float64]:
    counts = {name: as_float64(name, given) for name, given in cells.items()}
    for name, found in counts.items():
        if found.ndim != 1:
            raise ValueError(f"{name} must have a count for each table; got shape {found.shape}")
        wrong = ~((found >= 0.0) & np.isfinite(found) & (found == np.floor(found)))
        if wrong.any():
            raise ValueError(f"{name} must hold counts, whole and not negative; got {found[wrong][0]:g}")
    if len({len(found) for found in counts.values()}) > 1:
        lengths = ", ".join(f"{name} {len(found)}" for name, found in counts.items())
        raise ValueError(f"tp, fn, fp and tn must have the same length, a count for each table; got {lengths}")
    tables = np.stack(list(counts.values()), axis=1)
    if len(tables) < FEWEST_TABLES:
        raise ValueError(
            f"tp, fn, fp, tn must be of {FEWEST_TABLES} tables or more; got {wording.pluralize(len(tables), 'table')}"
        )
    for table, (first, second) in enumerate(np.any(tables.reshape(-1, 2, 2), axis=2)):
        if not (first and second):
            names = "fp + tn" if first else "tp + fn"
            raise ValueError(f"{names} must be positive in every table; got 0 in table {table}")
    return tables
