"""What `evaluate_slices` returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._digits import corrected_p, decimals
from multiauc._input.options import read_level
from multiauc._json import document, provenance, to_json
from multiauc._min_p import MinP
from multiauc._registry import METRICS
from multiauc._result import Result, Tabular
from multiauc._slice_tests import Side, SliceDifferences
from multiauc._tables import html_table, notes_in_words, text_table
from multiauc._wording import counted, listing, printable, shown_name
from multiauc.results import ConfidenceInterval, read_only

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from multiauc.estimates import Estimate
    from multiauc.plotting import SlicesDisplay

# Of more slices the first and the last are printed.
PRINTED_AT_MOST = 20
PRINTED_FIRST = 12
PRINTED_LAST = 4
MISSING = "(missing)"
#: The columns of a frame behind those that name the slice.
NUMBERS = (
    "rows",
    "value",
    "standard_error",
    "low",
    "high",
    "reference",
    "difference",
    "difference_error",
    "difference_low",
    "difference_high",
    "simultaneous_low",
    "simultaneous_high",
    "t",
    "degrees_of_freedom",
    "p_value",
    "corrected_p_value",
    "reason",
)


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Result):
    """One slice of the rows, with its 95% intervals; see `Slices`.

    Attributes
    ----------
    name : hashable
        The value of the slice's column, None where it is missing; a tuple of values if there are several columns.
    rows : int
        Its number of rows.
    value, standard_error, low, high : float
        The metric on these rows alone.
    reference : float
        The metric on what it is compared with.
    difference, difference_error : float
        The value less that of the reference, and its standard error.
    difference_low, difference_high : float
        The interval of the difference.
    simultaneous_low, simultaneous_high : float
        The interval that holds for all slices at once.
    t, degrees_of_freedom, p_value : float
        The two-sided test whether there is a difference.
    corrected_p_value : float
        The p-value corrected for the number of slices.
    reason : str
        Why a number is not known (nan); empty if all are.

    Examples
    --------
    >>> import multiauc
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 1] * 5
    >>> score = [k * 7 % 11 + 4 * (k % 8 > 3) for k in range(40)]
    >>> slices = multiauc.evaluate_slices(y_true, score, [k // 16 for k in range(40)])
    >>> slices[1].rows
    16
    """

    name: Any
    rows: int
    value: float
    standard_error: float
    low: float
    high: float
    reference: float
    difference: float
    difference_error: float
    difference_low: float
    difference_high: float
    simultaneous_low: float
    simultaneous_high: float
    t: float
    degrees_of_freedom: float
    p_value: float
    corrected_p_value: float
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Slices(Tabular):
    """A metric on every slice of the rows, the one that is most surely worse first; see `multiauc.evaluate_slices`.

    Attributes
    ----------
    metric : str
        What was computed.
    reference : {"rest", "all"} or None
        What slices are compared with.
    columns : tuple of str
        The columns whose values make up a slice.
    names : tuple
        The slices: the value of the column, None where it is missing; a tuple of values if there are several columns.
    rows : ndarray
        The number of rows of each slice.
    overall : Estimate
        The metric on all rows.
    labels, counts : tuple and ndarray
        The classes, and the rows of each.
    values, standard_errors : ndarray
        The metric on each slice alone; nan where `reasons` says why.
    reference_values : ndarray
        The metric on what each slice is compared with.
    differences, difference_errors : ndarray
        The values less those of the reference, and their standard errors.
    t, degrees_of_freedom, p_values : ndarray
        Two-sided tests whether there is a difference.
    corrected_p_values : ndarray
        The p-values corrected for the number of slices.
    reasons : tuple of str
        Why a slice has no value, no standard error or no test; empty for one that has all.
    method : str
        How the uncertainty was found, in words.
    notes : tuple of str
        What looks wrong with the data, in words.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=900)
    >>> site = np.arange(900) % 3
    >>> y_score = np.eye(3)[y_true] + np.where(site == 2, 4.0, 2.0)[:, None] * rng.random((900, 3))
    >>> slices = multiauc.evaluate_slices(y_true, y_score, site)
    >>> slices.worse()
    [2]
    >>> slices.names[0], slices[2].rows
    (2, 300)
    """

    metric: str
    reference: str | None
    columns: tuple[str, ...]
    names: tuple[Any, ...]
    rows: NDArray[np.int64]
    overall: Estimate
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    reasons: tuple[str, ...]
    method: str
    t: NDArray[np.float64]
    p_values: NDArray[np.float64]
    corrected_p_values: NDArray[np.float64]
    _slices: Side
    _references: Side
    _covariances: NDArray[np.float64]
    # Of the differences that are tested, where they are few.
    _correlations: NDArray[np.float64] | None
    _options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("rows", "counts", "t", "p_values", "corrected_p_values"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because an unpickled array is no longer read-only.
        return Slices, tuple(getattr(self, one.name) for one in fields(self))

    @property
    def values(self) -> NDArray[np.float64]:
        """The metric on each slice."""
        return read_only(self._slices.values)

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """The standard errors of the values."""
        return read_only(np.sqrt(self._slices.variances))

    @property
    def reference_values(self) -> NDArray[np.float64]:
        """The metric on what each slice is compared with."""
        return read_only(self._references.values)

    @property
    def differences(self) -> NDArray[np.float64]:
        """The values less those of the reference."""
        return read_only(self._tests().values)

    @property
    def difference_errors(self) -> NDArray[np.float64]:
        """The standard errors of the differences."""
        return read_only(np.sqrt(self._tests().variances))

    @property
    def degrees_of_freedom(self) -> NDArray[np.float64]:
        """Welch's degrees of freedom of the differences."""
        return read_only(self._tests().degrees_of_freedom())

    def confidence_intervals(self, level: float = 0.95) -> dict[Any, ConfidenceInterval]:
        """The interval of the value of each slice, by name, as `Estimate` has it; (nan, nan) where there is none."""
        return _by_name(self.names, self._value_limits(read_level(level)))

    def difference_intervals(self, level: float = 0.95) -> dict[Any, ConfidenceInterval]:
        """The interval of each difference by itself, by name; (nan, nan) where there is none."""
        return _by_name(self.names, self._tests().intervals(read_level(level)))

    def simultaneous_intervals(self, level: float = 0.95) -> dict[Any, ConfidenceInterval]:
        """Intervals of all differences that cover at once with probability `level`, by name.

        An interval leaves 0 out exactly where the corrected p-value is below 1 - `level`. (nan, nan) where there is no
        test.
        """
        return _by_name(self.names, self._simultaneous(read_level(level)))

    def worse(self, level: float = 0.95) -> list[Any]:
        """The slices whose value is below that of the reference, by corrected p-values below 1 - `level`."""
        return self._beyond_chance(level, -1.0)

    def better(self, level: float = 0.95) -> list[Any]:
        """The slices whose value is above that of the reference, by corrected p-values below 1 - `level`."""
        return self._beyond_chance(level, 1.0)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Slice]:
        """The slices one by one, the one that is most surely worse first."""
        columns = self._columns(0.95)
        for place, name in enumerate(self.names):
            yield Slice(name, **{key: column[place] for key, column in columns.items()})

    def __getitem__(self, name: Hashable) -> Slice:
        """One slice by its name: ``slices["phone"]``, or ``slices["north", "phone"]`` of two columns."""
        place = next((place for place, known in enumerate(self.names) if known == name), None)
        if place is None:
            raise KeyError(f"no slice {name!r}; there are {listing(self.names)}")
        return Slice(name, **{key: column[place] for key, column in self._columns(0.95).items()})

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, at_most: int = 40, **points: Any) -> SlicesDisplay:
        """Draw a forest plot: each slice with its interval, in a row of its own. Needs matplotlib (``multiauc[plot]``).

        `ax` is a matplotlib Axes, a new one by default. Of more than `at_most` slices those are drawn that are most
        surely worse. `points` are passed on to ``ax.plot`` for the dots.
        """
        from multiauc.plotting import SlicesDisplay  # noqa: PLC0415

        return SlicesDisplay(self).plot(ax, level=level, at_most=at_most, **points)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything in plain Python objects, with intervals of this level; nan where a number is missing.

        The layout is that of the command line, and `version` is the layout's: docs/json.md has it.
        """
        columns = self._columns(level)
        rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        content = {
            "rows": int(self.rows.sum()),
            "labels": list(self.labels),
            "counts": self.counts.tolist(),
            "metric": self.metric,
            "reference": self.reference,
            "by": list(self.columns),
            "method": self.method,
            "overall": self.overall.to_dict(level),
            "slices": [
                {"name": shown, "slice": dict(zip(self.columns, self._values_of(name), strict=True)), **row}
                for shown, name, row in zip(self.shown_names(), self.names, rows, strict=True)
            ],
            "notes": list(self.notes),
        }
        return document("slices", level, content, provenance(self._options))

    def to_json(self, level: float = 0.95) -> str:
        """The same as JSON; null where a number is missing, values of slices that JSON does not have as text."""
        return to_json(self.to_dict(level))

    def shown_names(self) -> list[str]:
        """The names of the slices for people."""
        return [", ".join(_shown(value) for value in self._values_of(name)) for name in self.names]

    def summary(self, level: float = 0.95) -> str:
        """How many slices are worse and better than the reference, in a sentence."""
        tested = int(np.isfinite(self.corrected_p_values).sum())
        others = len(self) - tested
        if self.reference is None:
            wanting = int(np.isnan(self.values).sum())
            return f"{counted(len(self), 'slice')}" + (f", {wanting} without a value" if wanting else "")
        what = "the rest" if self.reference == "rest" else "all rows"
        found = (
            f"Of {counted(tested, 'slice')} compared with {what}, {_so_many(self.worse(level))} worse and "
            f"{_so_many(self.better(level))} better (corrected p < {1.0 - level:.2g})"
        )
        return found + (f"; {others} not compared." if others else ".")

    def _values_of(self, name: Any) -> tuple[Any, ...]:
        return name if len(self.columns) > 1 else (name,)

    def _tests(self) -> SliceDifferences:
        return SliceDifferences(self._slices, self._references, self._covariances, METRICS[self.metric].smallest)

    def _value_limits(self, tail: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return value_limits(self._slices, tail, METRICS[self.metric].smallest)

    def _simultaneous(self, tail: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        family = MinP(int(np.isfinite(self.p_values).sum()), self._correlations)
        return self._tests().intervals(family.tail_of_one(tail))

    def _beyond_chance(self, level: float, sign: float) -> list[Any]:
        threshold = 2.0 * read_level(level)
        return [
            name
            for name, p, t in zip(self.names, self.corrected_p_values.tolist(), self.t.tolist(), strict=True)
            if p < threshold and t * sign > 0.0
        ]

    def _columns(self, level: float) -> dict[str, list[Any]]:
        """The numbers of all slices, by `NUMBERS`."""
        tail = read_level(level)
        tests = self._tests()
        arrays = [
            self.rows,
            self.values,
            self.standard_errors,
            *self._value_limits(tail),
            self.reference_values,
            tests.values,
            self.difference_errors,
            *tests.intervals(tail),
            *self._simultaneous(tail),
            self.t,
            tests.degrees_of_freedom(),
            self.p_values,
            self.corrected_p_values,
        ]
        return dict(zip(NUMBERS, [*(array.tolist() for array in arrays), list(self.reasons)], strict=True))

    def _rows(self, level: float) -> list[dict[str, Any]]:
        named = [f"by_{column}" if column in NUMBERS else column for column in self.columns]
        columns = self._columns(level)
        return [
            dict(zip(named, self._values_of(name), strict=True)) | dict(zip(columns, cells, strict=True))
            for name, cells in zip(self.names, zip(*columns.values(), strict=True), strict=True)
        ]

    def __repr__(self) -> str:
        return "\n".join([self._title(), *text_table(self._table()), *self._below()])

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._table(), self._below())

    def _title(self) -> str:
        by = " and ".join(map(printable, self.columns))
        rows = counted(int(self.rows.sum()), "row")
        return f"{METRICS[self.metric].title} of {rows} by {by}: {decimals(self.overall.value)} overall"

    def _below(self) -> list[str]:
        left_out = len(self) - PRINTED_FIRST - PRINTED_LAST
        hidden = [f"{left_out} slices are not printed; to_frame() has all."] if len(self) > PRINTED_AT_MOST else []
        return [*hidden, self.summary(), self.method, *notes_in_words(self.notes)]

    def _table(self) -> list[list[str]]:
        names, columns = self.shown_names(), self._columns(0.95)
        places = list(range(len(self)))
        if len(self) > PRINTED_AT_MOST:
            places = [*places[:PRINTED_FIRST], *places[-PRINTED_LAST:]]
        has_reasons = any(columns["reason"][place] for place in places)
        head = ["", "rows", "value", "95% interval"]
        if self.reference is not None:
            head += ["difference", "95%, simultaneous", "p (corrected)"]
        table = [[*head, *(["why not"] if has_reasons else [])]]
        for place in places:
            if len(places) < len(self) and place == len(self) - PRINTED_LAST:
                table.append(["...", *[""] * (len(table[0]) - 1)])
            row = {key: column[place] for key, column in columns.items()}
            cells = [str(row["rows"]), _number(row["value"]), _interval(row["low"], row["high"])]
            if self.reference is not None:
                limits = _interval(row["simultaneous_low"], row["simultaneous_high"], sign=True)
                cells += [_number(row["difference"], sign=True), limits, corrected_p(row["corrected_p_value"])]
            table.append([names[place], *cells, *([row["reason"]] if has_reasons else [])])
        return table


def value_limits(slices: Side, tail: float, smallest: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The interval of every value; nan where there is none."""
    return slices.intervals(tail, smallest)


def _by_name(
    names: tuple[Any, ...], limits: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> dict[Any, ConfidenceInterval]:
    low, high = limits
    return dict(zip(names, map(ConfidenceInterval, low.tolist(), high.tolist()), strict=True))


def _so_many(names: list[Any]) -> str:
    return "none is" if not names else "1 is" if len(names) == 1 else f"{len(names)} are"


def _shown(value: Any) -> str:
    return MISSING if value is None else printable(shown_name(value))


def _number(value: float, *, sign: bool = False) -> str:
    return "-" if math.isnan(value) else decimals(value, sign=sign)


def _interval(low: float, high: float, *, sign: bool = False) -> str:
    return "-" if math.isnan(low) else f"{decimals(low, sign=sign)} to {decimals(high, sign=sign)}"
