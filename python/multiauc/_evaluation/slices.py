"""Slices of the rows compared with the rest: `evaluate_slices` and `Slices`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from multiauc import _rust
from multiauc._common import registry, result, wording
from multiauc._common.hints import with_hints
from multiauc._common.progress import Stage
from multiauc._evaluation.comparison import name_models
from multiauc._evaluation.evaluation import count_classes, read_inputs, split_rows
from multiauc._evaluation.paired import build_paired
from multiauc._inference.column_order import column_order_note, warn_of_order
from multiauc._inference.differences import Side, min_p, p_values_of
from multiauc._inference.estimates import Estimate, build_estimate
from multiauc._inference.intervals import ConfidenceInterval
from multiauc._input.labels import SliceColumns, read_slices
from multiauc._input.options import read_level

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Absent, Labels, Outputs, PairWeights, Sampling
    from multiauc._evaluation.paired import PairedDifferences
    from multiauc._input.sample import HeldInputs, Sample
    from multiauc.plotting import SlicesDisplay

REFERENCES = ("rest", "all")
# Of more slices the first and the last are printed.
PRINTED_AT_MOST = 20
PRINTED_FIRST = 12
PRINTED_LAST = 4
MISSING = "(missing)"


@dataclass(frozen=True, slots=True, eq=False)
class Slice(result.Result):
    """One slice of the rows, with its 95% intervals; see `Slices`.

    Attributes
    ----------
    name : hashable
        The value of the slice's column, None if it is missing; a tuple of values if there are several columns.
    rows : int
        Its number of rows.
    value, standard_error, low, high : float
        The metric on these rows alone.
    reference : float
        The metric on the reference rows.
    difference, difference_error : float
        The value minus that of the reference, and its standard error.
    difference_low, difference_high : float
        The interval of the difference.
    simultaneous_low, simultaneous_high : float
        The simultaneous interval of the difference, over all slices.
    t, degrees_of_freedom, p_value : float
        The two-sided test for a difference.
    corrected_p_value : float
        The p-value corrected for the number of slices.
    reason : str
        Why a number is missing (nan); empty if none is.

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


#: The columns of a frame behind those that name the slice.
NUMBERS = tuple(one.name for one in fields(Slice) if one.name != "name")


@dataclass(frozen=True, eq=False, repr=False)
class Slices(result.Printed, result.Tabular):
    """A metric on every slice, sorted by the evidence that a slice is worse; see `multiauc.evaluate_slices`.

    Attributes
    ----------
    metric : str
        What was computed.
    reference : {"rest", "all"} or None
        The rows that slices are compared with.
    columns : tuple of str
        The columns whose values make up a slice.
    names : tuple
        The slices: the value of the column, None if it is missing; a tuple of values if there are several columns.
    rows : ndarray
        The number of rows of each slice.
    overall : Estimate
        The metric on all rows.
    labels, counts : tuple and ndarray
        The classes, and the rows of each.
    values, standard_errors : ndarray
        The metric on each slice alone; if nan, see `reasons`.
    reference_values : ndarray
        The metric on the reference rows of each slice.
    differences, difference_errors : ndarray
        The values minus those of the reference, and their standard errors.
    t, degrees_of_freedom, p_values : ndarray
        Two-sided tests for a difference.
    corrected_p_values : ndarray
        The p-values corrected for the number of slices.
    reasons : tuple of str
        Why a slice has no value, standard error or test; empty if it has all three.
    method : str
        The method behind standard errors and intervals, in words.
    notes : tuple of str
        Possible problems with the data.

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
    notes: tuple[str, ...] = ()
    _options: result.Record = field(default_factory=dict, compare=False)

    @property
    def values(self) -> NDArray[np.float64]:
        """The metric on each slice."""
        return self._slices.values

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """The standard errors of the values."""
        return result.read_only(np.sqrt(self._slices.variances))

    @property
    def reference_values(self) -> NDArray[np.float64]:
        """The metric on the reference rows of each slice."""
        return self._references.values

    @property
    def differences(self) -> NDArray[np.float64]:
        """The values minus those of the reference."""
        return result.read_only(self._tests().values)

    @property
    def difference_errors(self) -> NDArray[np.float64]:
        """The standard errors of the differences."""
        return result.read_only(np.sqrt(self._tests().variances))

    @property
    def degrees_of_freedom(self) -> NDArray[np.float64]:
        """Welch's degrees of freedom of the differences."""
        return result.read_only(self._tests().degrees_of_freedom)

    def confidence_intervals(self, level: float = 0.95) -> dict[Any, ConfidenceInterval]:
        """The interval of the value of each slice, by name, as in `Estimate`; (nan, nan) if there is none."""
        return _by_name(self.names, self._tests().first_intervals(read_level(level)))

    def difference_intervals(self, level: float = 0.95) -> dict[Any, ConfidenceInterval]:
        """The individual interval of each difference, by name; (nan, nan) if there is none."""
        return _by_name(self.names, self._tests().intervals(read_level(level)))

    def simultaneous_intervals(self, level: float = 0.95) -> dict[Any, ConfidenceInterval]:
        """Simultaneous intervals of all differences at this level, by name.

        An interval excludes 0 exactly if the corrected p-value is below 1 - `level`. (nan, nan) without a test.
        """
        return _by_name(self.names, self._simultaneous(read_level(level)))

    def worse(self, level: float = 0.95) -> list[Any]:
        """The slices that are worse than the reference, by corrected p-values below 1 - `level`."""
        return self._beyond_chance(level, -registry.METRICS[self.metric].sign)

    def better(self, level: float = 0.95) -> list[Any]:
        """The slices that are better than the reference, by corrected p-values below 1 - `level`."""
        return self._beyond_chance(level, registry.METRICS[self.metric].sign)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Slice]:
        """The slices one by one, sorted by the evidence that they are worse."""
        yield from (Slice(name, **row) for name, row in zip(self.names, self._entries(0.95), strict=True))

    def __getitem__(self, name: Hashable) -> Slice:
        """One slice by its name: ``slices["phone"]``, or ``slices["north", "phone"]`` of two columns."""
        if name not in self.names:
            raise KeyError(f"no slice {name!r}; there are {wording.listing(self.names)}")
        return Slice(name, **self._entries(0.95)[self.names.index(name)])

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, at_most: int = 40, **points: Any) -> SlicesDisplay:
        """Draw a forest plot of the slices with their intervals. Needs matplotlib.

        `ax` is a matplotlib Axes, a new one by default. At most `at_most` slices are drawn, those with the strongest
        evidence of being worse. `points` are passed on to ``ax.plot`` for the dots.
        """
        from multiauc.plotting import SlicesDisplay  # noqa: PLC0415

        return SlicesDisplay(self).plot(ax, level=level, at_most=at_most, **points)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """All numbers as plain Python objects, with intervals at this level; nan if a number is missing.

        The command line uses the same layout, whose number is `version`; see docs/json.md.
        """
        content = {"rows": int(self.rows.sum()), **self._pick("labels", "counts", "metric", "reference")}
        content |= {"by": list(self.columns), "method": self.method, "overall": self.overall.to_dict(level)}
        content["slices"] = [
            {"name": shown, "slice": dict(zip(self.columns, self._values_of(name), strict=True)), **row}
            for shown, name, row in zip(self.shown_names(), self.names, self._entries(level), strict=True)
        ]
        content["notes"] = list(self.notes)
        return result.document("slices", level, content, result.provenance(self._options))

    def shown_names(self) -> list[str]:
        """The names of the slices for people."""
        return [", ".join(_shown(value) for value in self._values_of(name)) for name in self.names]

    def summary(self, level: float = 0.95) -> str:
        """How many slices are worse and better than the reference, in a sentence."""
        tested = int(np.isfinite(self.corrected_p_values).sum())
        others = len(self) - tested
        if self.reference is None:
            wanting = int(np.isnan(self.values).sum())
            return wording.pluralize(len(self), "slice") + (f", {wanting} without a value" if wanting else "")
        what = "the rest" if self.reference == "rest" else "all rows"
        found = (
            f"Of {wording.pluralize(tested, 'slice')} compared with {what}, {_so_many(self.worse(level))} worse and "
            f"{_so_many(self.better(level))} better (corrected p < {1.0 - level:.2g})"
        )
        return found + (f"; {others} not compared." if others else ".")

    def _values_of(self, name: Any) -> tuple[Any, ...]:
        return name if len(self.columns) > 1 else (name,)

    def _tests(self) -> _rust.SampleDifferences:
        scale = registry.METRICS[self.metric].scale
        return _rust.SampleDifferences(self._slices, self._references, self._covariances, scale)

    def _simultaneous(self, tail: float) -> list[NDArray[np.float64]]:
        family = min_p(int(np.isfinite(self.p_values).sum()), self._correlations)
        return self._tests().intervals(family.tail_of_one(tail))

    def _beyond_chance(self, level: float, sign: float) -> list[Any]:
        is_found = (self.corrected_p_values < 2.0 * read_level(level)) & (sign * self.t > 0.0)
        return [self.names[place] for place in np.flatnonzero(is_found)]

    def _entries(self, level: float) -> list[result.Record]:
        """The numbers of each slice, by `NUMBERS`."""
        tail, tests = read_level(level), self._tests()
        of_slices = (self.rows, self.values, self.standard_errors, *tests.first_intervals(tail), self.reference_values)
        compared = (tests.values, self.difference_errors, *tests.intervals(tail), *self._simultaneous(tail))
        tested = (self.t, tests.degrees_of_freedom, self.p_values, self.corrected_p_values)
        columns = [*(array.tolist() for array in (*of_slices, *compared, *tested)), self.reasons]
        return [dict(zip(NUMBERS, cells, strict=True)) for cells in zip(*columns, strict=True)]

    def _numbers(self) -> dict[str, result.Numbers]:
        named = zip(self.shown_names(), self._entries(0.95), strict=True)
        slices = {f"{self.metric}_{name}": result.pick_numbers(row) for name, row in named}
        return {self.metric: result.pick_numbers(self.overall.to_dict())} | slices

    def _rows(self, level: float) -> list[result.Record]:
        named = [f"by_{column}" if column in NUMBERS else column for column in self.columns]
        return [
            dict(zip(named, self._values_of(name), strict=True)) | row
            for name, row in zip(self.names, self._entries(level), strict=True)
        ]

    def _title(self) -> str:
        by = " and ".join(map(wording.printable, self.columns))
        rows = wording.pluralize(int(self.rows.sum()), "row")
        title, overall = registry.METRICS[self.metric].title, wording.decimals(self.overall.value)
        return f"{title} of {rows} by {by}: {overall} overall"

    def _below(self) -> list[str]:
        left_out = len(self) - PRINTED_FIRST - PRINTED_LAST
        hidden = f"{left_out} slices are not printed; to_frame() lists them all."
        lines = [hidden, self.summary(), self.method, *result.notes_in_words(self.notes)]
        return lines if len(self) > PRINTED_AT_MOST else lines[1:]

    def _table(self) -> result.Cells:
        listed = zip(self.shown_names(), self._entries(0.95), strict=True)
        table = [["", "rows", "value", "95% interval", "difference", "95%, simultaneous", "p (corrected)", "why not"]]
        for shown in result.without_middle(list(listed), None, PRINTED_AT_MOST, PRINTED_FIRST, PRINTED_LAST):
            if shown is None:
                table.append(["...", *[""] * 7])
                continue
            name, row = shown
            interval = wording.format_interval(row["low"], row["high"])
            limits = wording.format_interval(row["simultaneous_low"], row["simultaneous_high"], sign=True)
            difference, p_value = _number(row["difference"], sign=True), wording.corrected_p(row["corrected_p_value"])
            numbers = [str(row["rows"]), _number(row["value"]), interval, difference, limits, p_value]
            table.append([name, *numbers, row["reason"]])
        has_reasons = any(row[-1] for row in table[1:])
        columns = [0, 1, 2, 3, *([4, 5, 6] if self.reference is not None else []), *([7] if has_reasons else [])]
        return [[row[column] for column in columns] for row in table]


def _by_name(names: tuple[Any, ...], limits: list[NDArray[np.float64]]) -> dict[Any, ConfidenceInterval]:
    low, high = limits
    return dict(zip(names, map(ConfidenceInterval, low.tolist(), high.tolist()), strict=True))


def _so_many(names: list[Any]) -> str:
    return "none is" if not names else "1 is" if len(names) == 1 else f"{len(names)} are"


def _shown(value: Any) -> str:
    return MISSING if value is None else wording.printable(wording.shown_name(value))


def _number(value: float, *, sign: bool = False) -> str:
    return "-" if math.isnan(value) else wording.decimals(value, sign=sign)


@overload
def evaluate_slices(
    y_true: ArrayLike, y_score: Mapping[Any, ArrayLike], by: Any, **options: Any
) -> PairedDifferences: ...
@overload
def evaluate_slices(
    y_true: ArrayLike,
    y_score: ArrayLike,
    by: Any,
    *,
    metric: registry.MetricName = ...,
    reference: Literal["rest", "all"] | None = ...,
    partition: ArrayLike | None = ...,
    pair_weights: PairWeights = ...,
    clip: float | None = ...,
    k: int | None = ...,
    sample_weight: ArrayLike | None = ...,
    groups: ArrayLike | None = ...,
    sampling: Sampling | None = ...,
    labels: Labels = ...,
    absent: Absent = ...,
    outputs: Outputs = ...,
) -> Slices: ...
@with_hints  # type: ignore[misc]
def evaluate_slices(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[Any, ArrayLike],
    by: Any,
    *,
    metric: registry.MetricName = registry.DEFAULT_METRIC,
    reference: Literal["rest", "all"] | None = "rest",
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    clip: float | None = None,
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sampling: Sampling | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> Slices | PairedDifferences:
    r"""Evaluate a metric on every slice of the rows, with intervals, and compare each slice with the rest.

    Each slice gets the value, standard error and interval that `evaluate` returns for its rows alone, and a test of its
    difference from the rest. p-values are corrected for the number of slices and agree with the simultaneous intervals.

    Parameters
    ----------
    y_true, y_score
        As in `evaluate`; or a dict of the scores of several models, which are then compared within each slice.
    by : array-like of shape (n,), or a list, dict or data frame of several
        The slice of each row: strings, numbers, a categorical, anything hashable. Several columns cross: a slice is a
        combination of their values that occurs. Missing values (None, nan) are a slice of their own, called None.
    metric : str, default "auc_mu"
        What to compute: any metric of `evaluate`.
    reference : {"rest", "all"} or None, default "rest"
        What to compare slices with: the rows outside the slice, all rows (the slice included), or nothing.
    partition, pair_weights, clip, k, sample_weight, groups, sampling, labels, outputs
        As in `evaluate`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows at all, as in `evaluate`. A slice without rows of some class is listed without
        a value, with the reason; with "ignore" its value is that of the other classes, and it is not compared.

    Returns
    -------
    Slices
        With a row per slice, sorted by the evidence that a slice is worse; `to_frame`, `plot`, `to_json`. Several
        models give a `PairedDifferences`: the first model minus the second in each slice, with p-values and intervals
        corrected for their number by Sidak's rule, because slices have no rows in common.

    See Also
    --------
    evaluate : All metrics on the rows of one slice. compare_samples : Two samples.

    Notes
    -----
    The difference :math:`d = \theta_s - \theta_r` between a slice and the rest, which have no rows in common, has the
    variance :math:`V_s + V_r`. Groups with rows in both add :math:`-2 C`, where C is the sum over groups of the product
    of their influences on the two values. The interval combines the default intervals of both sides [1]_, and the test
    inverts it.

    Values are those of `evaluate` on the rows of the slice, and on the rows of the rest, bit for bit (with weights to
    1e-12). The variance of the rest is exact with up to ten slices, and for the (up to 32) slices with more than 1/32
    of the rows of some class. For smaller ones it is approximated from the influence values on all rows: its standard
    error is then off by about the slice's share of a class, that of the difference by about the square of it. The
    metrics "pdi", "hum", "landgrebe_duin" and "ordered_vus" are evaluated on the rest of each slice separately, which
    takes as long as one evaluation per slice.

    References
    ----------
    .. [1] R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven
       methods", Statistics in Medicine 17 (1998), 873-890.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=2000)
    >>> device = rng.choice(["phone", "tablet", "watch"], size=2000, p=[0.6, 0.3, 0.1])
    >>> noise = np.where(device == "watch", 3.0, 1.5)[:, None]
    >>> y_score = noise * rng.random((2000, 3)) + (y_true[:, None] == ["cat", "dog", "eel"])
    >>> slices = multiauc.evaluate_slices(y_true, y_score, {"device": device})
    >>> slices
    AUC_mu of 2000 rows by device: 0.9788 overall
            rows   value      95% interval  difference   95%, simultaneous  p (corrected)
    watch    197  0.8853  0.8401 to 0.9189     -0.1053  -0.1598 to -0.0667        <0.0001
    tablet   563  0.9881  0.9807 to 0.9927     +0.0127  +0.0016 to +0.0228         0.0233
    phone   1240  0.9917  0.9883 to 0.9941     +0.0342  +0.0215 to +0.0509        <0.0001
    Of 3 slices compared with the rest, 1 is worse and 2 are better (corrected p < 0.05).
    analytic standard errors, class sizes fixed; Wilson intervals with Student's t
    >>> slices.worse()
    ['watch']
    """
    name = wording.one_of("metric", metric, (*registry.ANALYTIC_METRICS, *registry.ONE_SCORE_METRICS))
    if reference is not None:
        wording.one_of("reference", reference, REFERENCES)
    given = {"partition": partition, "pair_weights": pair_weights, "clip": clip, "k": k}
    shared, rows = (sample_weight, labels, absent, outputs), {"groups": groups, "sampling": sampling}
    models = y_score if isinstance(y_score, Mapping) else None
    scores = {"y_score": y_score} if models is None else name_models(models, "scores", "{'net': p, ...}")
    _, held = read_inputs(y_true, scores, (name,), shared, **rows, **given)
    inputs = held[0]
    columns = read_slices(by, len(inputs.sample.codes))
    if models is not None:
        if reference == "all":
            raise ValueError("reference='all' goes with the scores of one model; several are compared in each slice")
        return _compare_slices(dict(zip(models, held, strict=True)), columns)
    note = None if name in registry.ONE_SCORE_METRICS else column_order_note(inputs.sample, inputs.groups)
    found = evaluate_sliced_inputs(inputs, columns, reference, () if note is None else (note,))
    warn_of_order(note)
    return found


def _compare_slices(models: dict[Any, HeldInputs], columns: SliceColumns) -> PairedDifferences:
    """The differences of models within each slice, sorted by the evidence that the first model is worse."""
    inputs = next(iter(models.values()))
    sample, (metric,) = inputs.sample, inputs.metrics
    found: dict[Any, list[_rust.Estimate]] = {}
    lacking: dict[Any, str] = {}
    with Stage("comparing the models slice by slice"):
        for name, rows in zip(columns.names, split_rows(columns.codes, len(columns.names)), strict=True):
            counts = count_classes(sample, rows)
            lacking[name] = _find_lacking(sample, counts, is_nan=True)
            is_known = not lacking[name] or (sample.absent == "ignore" and int((counts > 0).sum()) > 1)
            arguments = [model.arguments(rows) for model in models.values()] if is_known else []
            found[name] = []
            if arguments and not sample.is_undefined:
                found[name] = _rust.compare(arguments, metric, inputs.options).differences
    paired = build_paired(models, " and ".join(columns.columns), found)
    sign = registry.METRICS[metric].sign
    listed = sorted(paired.items(), key=lambda item: math.inf if math.isnan(item[1].t) else sign * item[1].t)
    names = {key: key if len(models) == 2 else key[0] for key, _ in listed}
    reasons = {
        key: lacking[names[key]] or "a class has a single row, or rows that do not vary: no standard error"
        for key, one in listed
        if lacking[names[key]] or math.isnan(one.t)
    }
    return replace(paired, differences=dict(listed), reasons=reasons)


def evaluate_sliced_inputs(
    inputs: HeldInputs, columns: SliceColumns, reference: str | None, notes: tuple[str, ...] = ()
) -> Slices:
    """The slices of data that were read, by the one metric of the inputs."""
    sample, (metric,) = inputs.sample, inputs.metrics
    count, described = len(columns.names), registry.METRICS[metric]
    chance = described.chance_of(int((sample.rows > 0).sum()))
    how = (reference, sample.absent == "ignore", chance)
    with Stage("evaluating the slices"):
        found = _rust.evaluate_slices(inputs.arguments(), columns.codes, count, metric, inputs.options, *how)
    slices, references = Side(*found.slices), Side(*found.references)
    if sample.is_undefined:
        slices, references = (one._replace(values=np.full(count, math.nan)) for one in (slices, references))
    differences = _rust.SampleDifferences(slices, references, found.covariances, described.scale)
    z, t = differences.statistics()
    p_values = p_values_of(z)
    compared, correlations = found.joint if found.joint and not sample.is_undefined else ([], None)
    family = min_p(int(np.isfinite(p_values).sum()), correlations)
    t_of_worse, worth = described.sign * t, described.sign * slices.values
    if reference is None:
        # The best that each slice may still be.
        low, high = differences.first_intervals(0.025)
        certainty = high if described.higher_is_better else -low
    else:
        # Twice the probability of a t as low as this one.
        certainty = np.where(t_of_worse < 0.0, p_values, 2.0 - p_values)
    # By the evidence that slices are worse; those without a test last, by value.
    order = np.lexsort((np.where(np.isnan(t), worth, t_of_worse), certainty))
    if correlations is not None:
        in_order = np.argsort(np.argsort(order)[compared])
        correlations = correlations[np.ix_(in_order, in_order)]
    has_test = differences.are_known if reference is None else differences.are_testable
    reasons = _find_reasons(inputs, columns, np.flatnonzero(~has_test), slices, references)
    counted_codes = columns.codes if sample.weights is None else columns.codes[sample.weights > 0.0]
    given = inputs.describe_options()
    del given["metrics"]
    return Slices(
        metric=metric,
        reference=reference,
        columns=columns.columns,
        names=tuple(columns.names[place] for place in order),
        rows=np.bincount(counted_codes, minlength=count)[order],
        overall=build_estimate(found.whole, described.title, found.whole_smallest, metric, inputs),
        labels=tuple(sample.labels),
        counts=sample.rows,
        reasons=tuple(reasons[place] for place in order),
        method=inputs.describe_method(),
        t=t[order],
        p_values=p_values[order],
        corrected_p_values=np.array([family.correct(p) for p in p_values[order].tolist()]),
        _slices=slices.take(order),
        _references=references.take(order),
        _covariances=found.covariances[order],
        _correlations=correlations,
        _options={"metric": metric, "by": list(columns.columns), "reference": reference} | given,
        notes=notes,
    )


def _find_reasons(
    inputs: HeldInputs, columns: SliceColumns, wanting: NDArray[np.intp], slices: Side, references: Side
) -> list[str]:
    """Why a slice has no value, standard error or test; empty if it has all three."""
    sample = inputs.sample
    reasons = [""] * len(columns.names)
    if sample.is_undefined:
        absent = [label for label, rows in zip(sample.labels, sample.rows.tolist(), strict=True) if not rows]
        return [f"no rows of {wording.listing(absent)} in any slice"] * len(reasons)
    # Many slices lack the same classes.
    known: dict[tuple[bytes, bool], str] = {}
    parts = split_rows(columns.codes, len(reasons)) if len(wanting) else []
    for place in wanting.tolist():
        counts = count_classes(sample, parts[place])
        kind = ((counts > 0).tobytes(), math.isnan(slices.values[place]))
        if kind not in known:
            known[kind] = _find_lacking(sample, counts, is_nan=kind[1])
        numbers = (slices.values[place], slices.variances[place], references.values[place])
        reasons[place] = known[kind] or _find_obstacle(inputs, counts, *numbers)
    return reasons


def _find_lacking(sample: Sample, counts: NDArray[np.int64], *, is_nan: bool) -> str:
    """The classes that a slice has no rows of, in words."""
    lacking = [sample.labels[k] for k in np.flatnonzero((sample.rows > 0) & (counts == 0))]
    having = [sample.labels[k] for k in np.flatnonzero(counts)]
    if len(having) < 2:
        return f"rows of {having[0]!r} only" if having else "no rows of positive weight"
    rest = "" if is_nan else "; the value is that of the other classes, and is not compared"
    return f"no rows of {wording.listing(lacking)}{rest}" if lacking else ""


def _find_obstacle(
    inputs: HeldInputs, counts: NDArray[np.int64], value: float, variance: float, reference: float
) -> str:
    """What is wrong with a slice that has rows of all classes, or with what it is compared with."""
    sample = inputs.sample
    if math.isnan(value):
        return "the weights of a class are too small, or no pair of classes counts"
    if math.isnan(variance):
        single = [sample.labels[k] for k in np.flatnonzero(counts == 1)]
        unit = "row" if inputs.groups is None else "group"
        what = f"a single row of {wording.listing(single)}" if single else f"a class has all its weight on one {unit}"
        return f"{what}: no standard error"
    if variance == 0.0:
        return "the rows of each class do not vary: no standard error"
    gone = [sample.labels[k] for k in np.flatnonzero((sample.rows > 0) & (counts == sample.rows))]
    if gone and math.isnan(reference):
        are_all = len(gone) == int((sample.rows > 0).sum())
        what = "all rows are" if are_all else f"all rows of {wording.listing(gone)} are"
        return f"{what} in this slice: there is no rest to compare it with"
    return "the rows it is compared with have no standard error"
