"""Summary ROC curves: what `summary_roc` and `summary_roc_of_pairs` return."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multiauc._digits import decimals
from multiauc._input.arrays import as_float64
from multiauc._input.options import read_level
from multiauc._intervals import NO_INTERVAL, logit_interval
from multiauc._meta_fits import expit
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._replicates import Replicates, standard_errors
from multiauc._result import Result
from multiauc._student import upper_quantile
from multiauc._tables import html_table, text_table
from multiauc._wording import counted
from multiauc.multiclass_curve_results import RocBand, quantile_band
from multiauc.results import ConfidenceInterval, read_only

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc.plotting import SummaryRocDisplay

# Points of a region's outline.
OUTLINE = 200
INTERVALS = ("logit", "percentile", "basic")
SHARED_ROWS = (
    "the pairs of classes share rows, so that the model's own standard errors are not valid: take those of .bootstrap()"
)


@dataclass(frozen=True, eq=False, repr=False)
class SummaryRoc(Result):
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
        Their standard errors and that of ``"auc"``; nan where `notes` say why, or at an edge of what there can be.
    intercept, slope : float
        The curve: logit TPR = intercept + slope * logit FPR.
    operating_point : tuple of two floats or None
        The false- and the true-positive rate of a table in the middle, for models that have one.
    log_likelihood : float
        Of the fit; nan for a regression.
    tables : ndarray of shape (n, 4)
        True positives, false negatives, false positives, true negatives. Read-only.
    notes : tuple of str
        What to know about the result, in words.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", read_only(self.tables))

    def sensitivity(self, fpr: ArrayLike) -> Any:
        """The true-positive rate of the curve at one or several false-positive rates, between 0 and 1."""
        rates = as_float64("fpr", fpr)
        if not ((rates >= 0.0) & (rates <= 1.0)).all():
            raise ValueError(f"fpr must be between 0 and 1; got {rates[~((rates >= 0.0) & (rates <= 1.0))][0]}")
        with np.errstate(divide="ignore"):
            heights = expit(self.intercept + self.slope * (np.log(rates) - np.log1p(-rates)))
        return float(heights.item()) if np.ndim(fpr) == 0 else heights

    @shares_parameter_texts
    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """Of the area: a logit interval with Student's t of two degrees of freedom fewer than there are tables.

        Parameters
        ----------
        {level}
        """
        tail = read_level(level)
        self._refuse_shared_rows("an interval")
        error = self.standard_errors["auc"]
        if not error > 0.0:
            return NO_INTERVAL
        return logit_interval(self.auc, error, upper_quantile(tail, max(1, len(self.tables) - 2)))

    def confidence_region(self, level: float = 0.95) -> NDArray[np.float64]:
        """The outline of a region for the operating point, (m, 2): false- and true-positive rates.

        Parameters
        ----------
        level : float, default 0.95
            How often such a region holds the population's point.
        """
        return self._region(level, is_prediction=False)

    def prediction_region(self, level: float = 0.95) -> NDArray[np.float64]:
        """The outline of a region for the rates of one more table, as large as tables get; as `confidence_region`."""
        return self._region(level, is_prediction=True)

    def _region(self, level: Any, *, is_prediction: bool) -> NDArray[np.float64]:
        tail = read_level(level)
        if self._of_mean is None or self._between is None or self._middle is None:
            raise ValueError(
                f"model={self.model!r} is a regression and has no regions; 'bivariate', 'hsroc' and 'binomial' have"
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
        return np.asarray(expit(outline[::-1].T))

    def _refuse_shared_rows(self, what: str) -> None:
        """Overridden where the tables share rows."""

    def plot(self, ax: Axes | None = None, *, label: str | None = None, **line: Any) -> SummaryRocDisplay:
        """Draw the curve, the tables and the regions. Needs matplotlib (``multiauc[plot]``).

        `ax` is a matplotlib Axes, a new one by default; `line` is passed on to ``ax.plot`` for the curve.
        """
        from multiauc.plotting import SummaryRocDisplay  # noqa: PLC0415

        return SummaryRocDisplay(self).plot(ax, label=label, **line)

    def __repr__(self) -> str:
        return "\n".join([self._title(), *text_table(self._table()), *self.notes])

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._table(), list(self.notes))

    def _title(self) -> str:
        how = {"reml": "restricted maximum likelihood", "ml": "maximum likelihood", "least_squares": "least squares"}
        return f"SummaryRoc of {counted(len(self.tables), 'table')}: {self.model}, {how[self.estimation]}"

    def _table(self) -> list[list[str]]:
        rows = [("AUC", "auc", self.auc)] + [(name.replace("_", " "), name, v) for name, v in self.parameters.items()]
        cells = [[shown, decimals(value), decimals(self.standard_errors[name])] for shown, name, value in rows]
        return [["", "value", "std. error"], *cells]


@dataclass(frozen=True, eq=False, repr=False)
class SummaryRocOfPairs(SummaryRoc):
    """A `SummaryRoc` whose tables are those of the pairs of classes of a classifier; see `summary_roc_of_pairs`.

    Attributes
    ----------
    pairs : tuple of tuples
        The two classes of each table: the first is the positive one.
    threshold : float or None
        Above which score a row is taken for the first class; None for the higher of both scores.
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
    _model: Callable[[int, Any], SummaryRocBootstrap] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # The data are left behind: an unpickled curve can be read, but not resampled.
        known = (self.model, self.estimation, self.auc, self.parameters, self.standard_errors, self.intercept)
        more = (self.slope, self.operating_point, self.log_likelihood, self.tables, self.notes)
        spread = (self._of_mean, self._between, self._middle, self.pairs, self.threshold, self.smallest_class)
        return SummaryRocOfPairs, (*known, *more, *spread)

    def _refuse_shared_rows(self, what: str) -> None:
        raise ValueError(f"{what} of the model is not offered here: {SHARED_ROWS}")

    def bootstrap(self, n_resamples: int = 200, rng: np.random.Generator | int | None = None) -> SummaryRocBootstrap:
        """Resample the rows within classes and fit the curve again to their tables.

        Parameters
        ----------
        n_resamples : int, default 200
            How many samples.
        rng : numpy Generator or int, optional
            The random numbers or their seed.
        """
        if self._model is None:
            raise ValueError("this curve was unpickled, without its data; call summary_roc_of_pairs on them again")
        return self._model(n_resamples, rng)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SummaryRocBootstrap(Result):
    """Summary curves of resampled rows.

    Attributes
    ----------
    estimate : float
        The area under the curve of the sample itself.
    replicates : ndarray of shape (n_resamples,)
        The areas of the resamples; nan where the curve does not rise. Read-only.
    parameters : dict of ndarray
        The resampled parameters by name.
    heights : ndarray of shape (n_resamples, 101)
        True-positive rates at the false-positive rates of `band`. Read-only.
    n_symmetric : int
        In how many resamples nothing shows the shape of the curve, which is then symmetric.
    smallest_class : int
        The rows of the smallest class.

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

    estimate: float
    replicates: NDArray[np.float64]
    parameters: dict[str, NDArray[np.float64]]
    heights: NDArray[np.float64]
    n_symmetric: int
    smallest_class: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "replicates", read_only(self.replicates))
        object.__setattr__(self, "heights", read_only(self.heights))

    @property
    def standard_errors(self) -> dict[str, float]:
        """The standard deviation of the replicates of each parameter and of ``"auc"``; nan for fewer than two."""
        known = {"auc": self.replicates, **self.parameters}
        return {name: float(standard_errors(values[:, None])[0]) for name, values in known.items()}

    @shares_parameter_texts
    def confidence_interval(
        self, level: float = 0.95, method: Literal["logit", "percentile", "basic"] = "logit"
    ) -> ConfidenceInterval:
        """Of the area, by its replicates; the methods are those of `multiauc.MulticlassRocBootstrap`.

        Parameters
        ----------
        {level}
        method : {"logit", "percentile", "basic"}, default "logit"
            From the spread of the replicates' logits, from quantiles, or from quantiles mirrored at the estimate.
        """
        found = Replicates(self.estimate, self.replicates, self.smallest_class, is_fitted=True)
        return found.interval(level, method, INTERVALS, stacklevel=2)

    def band(self, level: float = 0.95) -> RocBand:
        """Quantiles of the resampled true-positive rates at fixed false-positive rates, point by point.

        Parameters
        ----------
        level : float, default 0.95
            The share of resampled curves between the limits at each false-positive rate.
        """
        return quantile_band(self.heights[~np.isnan(self.heights).any(axis=1)], level)

    def __repr__(self) -> str:
        size = counted(len(self.replicates), "resample")
        numbers = f"auc {decimals(self.estimate)}, se {decimals(self.standard_errors['auc'])}"
        symmetric = f", {self.n_symmetric} of them symmetric" if self.n_symmetric else ""
        return f"SummaryRocBootstrap({size} by rows{symmetric}: {numbers})"
