"""A value for every pair of classes, with standard errors and intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from multiauc import _rust
from multiauc._common import result, wording
from multiauc._common.registry import METRICS
from multiauc._inference.intervals import is_at_chance, wilson_limits
from multiauc._input.options import read_level

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from multiauc._input.sample import HeldInputs
    from multiauc.plotting import PairMatrixDisplay

    PairErrors: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairMatrix(result.Result):
    """How well every pair of classes is separated.

    Attributes
    ----------
    values : ndarray of shape (K, K)
        The value of each pair, rows and columns in the order of `labels`; nan on the diagonal and for classes without
        rows. Read-only.
    labels : tuple
        The classes.
    counts : ndarray of shape (K,)
        The number of rows of each class (with weights, of positive weight). Read-only.
    kind : {"auc_mu", "hand_till"}
        ``"auc_mu"``: symmetric, S(c, d) of both classes of a pair. ``"hand_till"``: A(c|d) at row c and column d, how
        well the score of class c separates it from class d.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> pairs = multiauc.auc_mu_matrix(y_true, y_score)
    >>> pairs
    PairMatrix: auc_mu of 3 classes
            a       b       c
    a       -  0.7500  1.0000
    b  0.7500       -  1.0000
    c  1.0000  1.0000       -
    >>> pairs["a", "b"]
    0.75
    >>> np.asarray(pairs).shape
    (3, 3)
    >>> pairs.worst(1)
    [('a', 'b', 0.75)]
    >>> round(float(pairs.standard_error[0, 1]), 4)
    0.3536
    """

    values: NDArray[np.float64]
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    kind: str
    # The standard errors, their degrees of freedom and the effective rows (or groups) of each class, computed on first
    # access.
    _errors: PairErrors | None = field(default=None, compare=False)
    _inputs: HeldInputs | None = field(default=None, metadata=result.HELD)

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """The analytic standard error of each value, K x K; nan if a class has a single row. Read-only.

        Computed on first access from the data you passed, which must not have changed since.
        """
        return self._found_errors()[0]

    @property
    def degrees_of_freedom(self) -> NDArray[np.float64]:
        """How well each standard error is known, K x K, as in `Estimate`. Read-only."""
        return self._found_errors()[1]

    def confidence_intervals(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper Wilson limits of each value, K x K, as in `Estimate.confidence_interval` for two classes.

        nan without a standard error, and on the diagonal.
        """
        errors, freedoms, units = self._found_errors()
        first, second = units[:, None], units[None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            # Each pair is a binary AUC.
            effects = (first**2 + second**2) / ((first + second) * first * second)
        limits = wilson_limits(self.values, errors**2, freedoms, effects, 1.0 / 3.0, read_level(level))
        low, high = (np.where(is_at_chance(self.values, errors, 0.5), np.nan, limit) for limit in limits)
        return low, high

    def _found_errors(self) -> PairErrors:
        if self._errors is not None:
            return self._errors
        if self._inputs is None:
            raise ValueError("this matrix was made without data or unpickled, and has no standard errors")
        found = _rust.evaluate(self._inputs.arguments(), [self.kind], self._inputs.options)
        errors = collect_pair_errors(found.pairs[self.kind], found.effective_units)
        object.__setattr__(self, "_errors", errors)
        return errors

    @property
    def _has_errors(self) -> bool:
        return self._errors is not None or self._inputs is not None

    @property
    def is_symmetric(self) -> bool:
        """Whether a pair has one value, whichever of its classes comes first."""
        pairs = METRICS[self.kind].pairs
        return pairs is not None and pairs.is_symmetric

    # It has cells, but results do not unpack.
    __iter__ = None

    def __getitem__(self, pair: tuple[Hashable, Hashable]) -> float:
        """``matrix["cat", "dog"]``: the value of a pair of classes, given by label."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"index the matrix by two labels, such as matrix[{self.labels[0]!r}, {self.labels[1]!r}]; got {pair!r}"
            )
        try:
            return self.between(*pair)
        except ValueError as error:
            raise KeyError(str(error)) from None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001 - NumPy's protocol
        return np.array(self.values, dtype=dtype, copy=copy)

    def between(self, c: Hashable, d: Hashable) -> float:
        """The value of the pair of classes `c` and `d`, given by label."""
        return float(self.values[self._position(c), self._position(d)])

    def worst(self, n: int = 5) -> list[tuple[Any, Any, float]]:
        """The `n` worst separated pairs, as (label, label, value), worst first.

        Pairs with an empty class are left out. Ties are in the order of `labels`. A symmetric matrix lists each pair
        once, `"hand_till"` both directions.
        """
        counts = ~np.isnan(self.values)
        if self.is_symmetric:
            counts = np.triu(counts)
        rows, columns = np.nonzero(counts)
        values = self.values[rows, columns]
        order = np.argsort(values, kind="stable")[: max(n, 0)]
        return [(self.labels[rows[k]], self.labels[columns[k]], float(values[k])) for k in order]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        order: Literal["labels", "worst"] = "labels",
        numbers: bool | None = None,
        **image: Any,
    ) -> PairMatrixDisplay:
        """Draw the matrix as a heat map, the worst pairs dark. Needs matplotlib (``pip install matplotlib``).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; default: new axes, large enough for the names of a hundred classes.
        order : {"labels", "worst"}, default "labels"
            The order of the classes: that of `labels`, or by each class's worst pair, which puts the worst pairs into
            the upper left corner.
        numbers : bool, optional
            Whether to print the values; default: with up to 12 classes.
        **image
            Passed on to ``ax.imshow``, such as `cmap` or `vmin`.

        Returns
        -------
        multiauc.plotting.PairMatrixDisplay
            With `ax_`, `figure_`, `im_` and `text_`.
        """
        from multiauc.plotting import PairMatrixDisplay  # noqa: PLC0415

        return PairMatrixDisplay(self).plot(ax, order=order, numbers=numbers, **image)

    def to_dict(self) -> result.Record:
        """All numbers as plain Python objects; standard errors if they can be computed."""
        errors = {"standard_error": self.standard_error.tolist()} if self._has_errors else {}
        return result.Result.to_dict(self) | errors

    def _columns(self) -> result.Columns:
        """The pairs, once each if the matrix is symmetric."""
        errors = self.standard_error if self._has_errors else np.full_like(self.values, np.nan)
        pairs = self._pairs()
        return {
            "first": [self.labels[c] for c, _ in pairs],
            "second": [self.labels[d] for _, d in pairs],
            "value": [float(self.values[pair]) for pair in pairs],
            "standard_error": [float(errors[pair]) for pair in pairs],
            "first_rows": [int(self.counts[c]) for c, _ in pairs],
            "second_rows": [int(self.counts[d]) for _, d in pairs],
        }

    def _numbers(self) -> dict[str, result.Numbers]:
        names, columns = wording.names_as_text(self.labels), self._columns()
        found = zip(self._pairs(), columns["value"], columns["standard_error"], strict=True)
        return {f"{names[c]}_{names[d]}": {"value": value, "standard_error": error} for (c, d), value, error in found}

    def _pairs(self) -> list[tuple[int, int]]:
        return list((combinations if self.is_symmetric else permutations)(range(len(self.labels)), 2))

    def __repr__(self) -> str:
        return "\n".join([self._title(), *result.text_table(self._table(text=result.shorten))])

    def _repr_html_(self) -> str:
        return result.html_table(self._title(), self._table(text=str))

    def _title(self) -> str:
        return f"PairMatrix: {self.kind} of {len(self.labels)} classes"

    def _position(self, label: Hashable) -> int:
        if label not in self.labels:
            raise ValueError(f"no class {label!r} in this matrix; its labels are {wording.listing(self.labels)}")
        return self.labels.index(label)

    def _table(self, text: Callable[[Any], str]) -> result.Cells:
        """Rows of cells, the first row and the first column being labels; a wide table without its middle."""
        shown = result.without_middle(list(range(len(self.labels))), None)

        def cell(c: int | None, d: int | None) -> str:
            if c is None or d is None:
                return "..."
            return "-" if c == d else wording.decimals(self.values[c, d])

        names = ["..." if c is None else text(self.labels[c]) for c in shown]
        body = [[name, *(cell(c, d) for d in shown)] for name, c in zip(names, shown, strict=True)]
        return [["", *names], *body]


def collect_pair_errors(pairs: _rust.PairTable, effective_units: list[float]) -> PairErrors:
    """The standard errors of the pairs behind a metric, their degrees of freedom and effective class sizes."""
    found = (np.sqrt(pairs.variances), pairs.degrees_of_freedom, np.array(effective_units))
    errors, freedoms, units = map(result.read_only, found)
    return errors, freedoms, units
