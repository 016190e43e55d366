"""Results as tables for people, and as one table of plain numbers for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.result import notes_in_words
from multiauc._common.wording import corrected_p, decimals, p_text, pluralize, shown_name
from multiauc._display import model as views
from multiauc._display.words import describe_pair_value, describe_rule, name_metric
from multiauc._evaluation.slices import NUMBERS
from multiauc._inference.estimates import format_bounds

if TYPE_CHECKING:
    from multiauc._display.model import Number

Cell = str | float | None
Records = tuple[Sequence[str], Sequence[Sequence[Any]]]

ESTIMATE = ("value", "standard_error", "low", "high")
BOUNDS = ("guaranteed_low", "guaranteed_high")
TESTED = ("t", "degrees_of_freedom", "p_value", "corrected_low", "corrected_high", "corrected_p_value")
OF_RUNS = (*ESTIMATE, "rows_standard_error", "runs_standard_error", "degrees_of_freedom")
COSTED = ("t", "degrees_of_freedom", "p_value")
# The most slices that are printed.
SLICES_AT_MOST = 40
# Where the table shows the curve.
SHOWN_FPR = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5])


@dataclass(frozen=True, slots=True)
class Table:
    """A title, a header and rows of cells; a cell is text or a number."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    @classmethod
    def of_columns(cls, title: str, columns: Mapping[str, Sequence[Cell]]) -> Table:
        """A table of columns with names."""
        return cls(title, list(columns), list(zip(*columns.values(), strict=True)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result as text: tables, one table of plain numbers for CSV (a header and rows), sentences under the tables."""

    tables: Sequence[Table]
    records: Records
    notes: Sequence[str] = ()


@singledispatch
def tabulate(shown: views.Document) -> Outcome:
    """A result as text."""
    raise NotImplementedError


@tabulate.register
def tabulate_evaluation(shown: views.Evaluation) -> Outcome:
    """One model: its metrics, classes, worst pairs and slices."""
    has_bounds = shown.exact is False
    bounds = ["guaranteed bounds"] if has_bounds else []
    head = [*bounds, "std. error", _interval_header(shown.level)]

    def estimate(one: views.Estimate) -> list[Cell]:
        return _estimate_cells(one, has_bounds=has_bounds)

    metrics = [[name_metric(metric), *estimate(one)] for metric, one in shown.metrics.items()]
    tables = [Table(f"{shown.model}: {_describe_size(shown)}", ["metric", "value", *head], metrics)]
    if shown.per_class:
        rows = [[shown_name(one.label), one.rows, *estimate(one.estimate)] for one in shown.per_class]
        tables.append(Table("Each class against the rest", ["class", "rows", "AUC", *head], rows))
    if shown.worst_pairs:
        # Those of files read in pieces have no intervals.
        last = bounds if shown.reading is not None else [_interval_header(shown.level)]
        title = f"Pairs that are separated worst ({describe_pair_value(shown.pairs_of or '')})"
        pairs = [_pair_cells(pair, has_bounds=has_bounds)[: 3 + len(last)] for pair in shown.worst_pairs]
        tables.append(Table(title, ["pair", "rows", "value", *last], pairs))
    if shown.confusion is not None:
        names = [shown_name(str(label)) for label in shown.labels]
        rows = [[name, *(f"{count:g}" for count in row)] for name, row in zip(names, shown.confusion, strict=True)]
        tables.append(Table("Rows of each class by predicted class", ["class", *names], rows))
    notes = [*_describe_reading(shown.reading, exact=not has_bounds), f"Intervals: {shown.method}."]
    notes += notes_in_words(shown.notes)
    if shown.slices is None:
        return Outcome(tables, _list_evaluation(shown), notes)
    table, remark = _tabulate_slices(shown.slices, shown.level)
    return Outcome([*tables, table], _list_slices(shown.slices), [*notes, remark])


@tabulate.register
def tabulate_runs(shown: views.Runs) -> Outcome:
    """Means over runs, with the parts of their standard errors."""
    rows = [
        [name_metric(metric), *_estimate_cells(one), *_numbers(one, OF_RUNS[4:6]), _fixed(one.degrees_of_freedom, 1)]
        for metric, one in shown.metrics.items()
    ]
    head = ["metric", "mean", "std. error", _interval_header(shown.level), "from rows", "from runs", "df"]
    records = [[metric, *_numbers(one, OF_RUNS)] for metric, one in shown.metrics.items()]
    title = f"{shown.model}: {pluralize(shown.n_runs, 'run')} on {_describe_size(shown)}"
    notes = [*shown.helps, *notes_in_words(shown.notes)]
    return Outcome([Table(title, head, rows)], (["metric", *OF_RUNS], records), notes)


def _describe_size(shown: views.Document) -> str:
    return f"{pluralize(shown.rows, 'row')}, {pluralize(len(shown.labels), 'class', 'classes')}"


def _describe_reading(reading: views.Reading | None, *, exact: bool) -> list[str]:
    if reading is None:
        return []
    values = "exact." if exact else "the exact values of all rows always lie between the bounds."
    return [f"Read in pieces with {format_size(reading.memory_limit)} of memory, {reading.why}.", f"Values: {values}"]


def format_size(n_bytes: int) -> str:
    """Bytes as people write them: 1.3 GB."""
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def _list_evaluation(shown: views.Evaluation) -> Records:
    columns = ESTIMATE if shown.reading is None else (ESTIMATE[0], *BOUNDS, *ESTIMATE[1:])
    rows = [
        *(["metric", metric, "", *_numbers(one, columns)] for metric, one in shown.metrics.items()),
        *(["class", one.label, "", *_numbers(one, columns)] for one in shown.per_class),
        *(["pair", pair.first, pair.second, *_numbers(pair, columns)] for pair in shown.worst_pairs),
    ]
    return ["kind", "name", "other", *columns], rows


def _tabulate_slices(shown: views.Slices, level: float) -> tuple[Table, str]:
    """The slices, and a sentence about all of them."""
    slices = shown.slices[:SLICES_AT_MOST]
    columns: dict[str, list[Cell]] = {
        "slice": [one.name for one in slices],
        "rows": [one.rows for one in slices],
        "value": [one.estimate.value for one in slices],
        _interval_header(level): [_interval_cell(one.estimate) for one in slices],
        "difference": [_signed(one.difference) for one in slices],
        f"{100 * level:g}%, simultaneous": [
            _limits_cell(one.simultaneous_low, one.simultaneous_high, _signed) for one in slices
        ],
        "p (corrected)": [None if (p := one.corrected_p_value) is None else corrected_p(p) for one in slices],
    }
    if any(one.reason for one in slices):
        columns["why not"] = [one.reason for one in slices]
    title = f"{name_metric(shown.metric)} by {', '.join(shown.by)}, against the rest of the rows"
    left_out = shown.count - len(slices)
    more = f" {left_out} slices are not printed; --format csv and json have all." if left_out else ""
    return Table.of_columns(title, columns), shown.summary + more


def _list_slices(shown: views.Slices) -> Records:
    """A column for each of those that make up a slice, then the numbers."""
    names = [f"by_{name}" if name in NUMBERS else name for name in shown.by]
    rows = [[*(one.slice[name] for name in shown.by), *_numbers(one, NUMBERS)] for one in shown.slices]
    return [*names, *NUMBERS], rows


@tabulate.register
def tabulate_comparison(shown: views.Compared) -> Outcome:
    """Models from best to worst, and their differences."""
    found = shown.comparison
    title = f"{name_metric(found.metric)} of {len(found.estimates)} models on the same {pluralize(shown.rows, 'row')}"
    estimates = [[name, *_estimate_cells(found.estimates[name])] for name in found.order]
    tables = [Table(title, ["model", "value", "std. error", _interval_header(shown.level)], estimates)]
    if found.differences:
        tables.append(_tabulate_differences(found.differences, shown.level, found.correction))
    columns = (*ESTIMATE, *TESTED)
    rows = [
        *([name, "", *_numbers(one, columns)] for name, one in found.estimates.items()),
        *([one.first, one.second, *_numbers(one, columns)] for one in found.differences),
    ]
    notes = [shown.verdict, f"Intervals: {shown.method}.", *notes_in_words(shown.notes)]
    return Outcome(tables, (["first", "second", *columns], rows), notes)


def _tabulate_differences(differences: Sequence[views.Difference], level: float, correction: str) -> Table:
    """Differences with their intervals and tests, after the correction for their number."""
    correct = f" ({correction})" if len(differences) > 1 else ""
    columns: dict[str, list[Cell]] = {
        "models": [f"{one.first} - {one.second}" for one in differences],
        "difference": [one.estimate.value for one in differences],
        _interval_header(level) + correct: [_limits_cell(one.corrected_low, one.corrected_high) for one in differences],
    }
    # Those of a bootstrap have no t.
    if any(one.share_better is not None for one in differences):
        columns["first is better in"] = [
            None if one.share_better is None else f"{100 * one.share_better:.1f}%" for one in differences
        ]
    else:
        columns["t"] = [_fixed(one.t, 2) for one in differences]
        columns["df"] = [_fixed(one.degrees_of_freedom, 1) for one in differences]
    columns[f"p{correct}"] = [
        "-" if one.corrected_p_value is None else p_text(one.corrected_p_value, 1.0 - level) for one in differences
    ]
    return Table.of_columns("Differences", columns)


@tabulate.register
def tabulate_costs(shown: views.Costs) -> Outcome:
    """What the rules cost, their differences, and the fitted rule."""
    found, interval = shown.decisions, _interval_header(shown.level)
    how = f"{shown.judged_by}, {pluralize(found.judged_rows, 'row')}"
    title = f"Costs of the decision rules for {shown.model} cost ({how})"
    costs = [[rule, *_estimate_cells(one)] for rule, one in found.costs.items()]
    differences = [
        [f"{one.first} - {one.second}", *_estimate_cells(one.estimate), one.p_value] for one in found.differences
    ]
    tables = [
        Table(title, ["rule", "mean cost", "std. error", interval], costs),
        Table("Differences on the same rows", ["rules", "difference", "std. error", interval, "p"], differences),
    ]
    offsets = list(zip(shown.labels, found.offsets, strict=True))
    if found.rule in ("calibrated", "offsets"):
        title = f"Offsets of the logarithms of probabilities, after multiplying them by {found.scale:.4f}"
        of_classes: list[list[Cell]] = [[shown_name(label), offset] for label, offset in offsets]
        tables.append(Table(title, ["class", "offset"], of_classes))
    columns = (*ESTIMATE, *COSTED)
    nothing = [None] * (len(columns) - 1)
    rows = [
        *(["cost", rule, "", *_numbers(one, columns)] for rule, one in found.costs.items()),
        *(["difference", one.first, one.second, *_numbers(one, columns)] for one in found.differences),
        *(["offset", label, "", offset, *nothing] for label, offset in offsets),
        ["scale", found.rule, "", found.scale, *nothing],
    ]
    note = f"The fitted rule: {describe_rule(found.rule)}."
    return Outcome(tables, (["kind", "name", "other", *columns], rows), [note])


@tabulate.register
def tabulate_multiclass_roc(shown: views.MulticlassRoc) -> Outcome:
    """The curve at some false-positive rates; for programs at all of its points, or those of its band."""
    fpr, tpr = np.array(shown.fpr, dtype=np.float64), np.array(shown.tpr, dtype=np.float64)
    header, columns = ["false-positive rate", "true-positive rate"], [SHOWN_FPR, np.interp(SHOWN_FPR, fpr, tpr)]
    names, points = ["fpr", "tpr"], [fpr, tpr]
    interval = ""
    if shown.band is not None:
        percent = f"{100 * shown.level:g}%"
        interval = f", {percent} interval {_decimals(shown.low)} to {_decimals(shown.high)}"
        at, low, high = (np.array(edge, dtype=np.float64) for edge in (shown.band.fpr, shown.band.low, shown.band.high))
        header += [f"{percent} from", "to"]
        columns += [np.interp(SHOWN_FPR, at, edge) for edge in (low, high)]
        names, points = [*names, "low", "high"], [at, np.interp(at, fpr, tpr), low, high]
    title = f"Multi-class ROC curve of {shown.model}: area D = {_decimals(shown.area)}{interval}"
    table = Table(title, header, np.column_stack(columns).tolist())
    return Outcome([table], (names, np.column_stack(points).tolist()))


@tabulate.register
def tabulate_roc_curves(shown: views.RocCurves) -> Outcome:
    """The area of each curve; for programs all points."""
    of_pairs = any(curve.against is not None for curve in shown.curves)
    what = "every pair" if of_pairs else "each class against the rest"
    columns: dict[str, list[Cell]] = {"class": [curve.positive for curve in shown.curves]}
    if of_pairs:
        columns["against"] = [curve.against for curve in shown.curves]
    columns["area"] = [curve.area for curve in shown.curves]
    columns["points"] = [len(curve.fpr) for curve in shown.curves]
    summary = Table.of_columns(f"{pluralize(len(shown.curves), 'ROC curve')}, {what}", columns)
    rows = [
        [curve.positive, curve.against or "", *point]
        for curve in shown.curves
        for point in zip(curve.fpr, curve.tpr, curve.thresholds, strict=True)
    ]
    return Outcome([summary], (["class", "against", "fpr", "tpr", "threshold"], rows))


def _interval_header(level: float) -> str:
    return f"{100 * level:g}% interval"


def _numbers(one: views.View, names: Sequence[str]) -> list[Number]:
    """The numbers of these names as JSON has them; None for those that are not there."""
    found = views.as_plain(one)
    return [found.get(name) for name in names]


def _estimate_cells(one: views.Estimate, *, has_bounds: bool = False) -> list[Cell]:
    """Value, perhaps its bounds, standard error and interval."""
    return [*_value_cells(one, has_bounds=has_bounds), one.standard_error, _interval_cell(one)]


def _value_cells(one: views.Estimate | views.PairEstimate, *, has_bounds: bool) -> list[Cell]:
    if not has_bounds:
        return [one.value]
    low, high = _numbers(one, BOUNDS)
    if one.value is None or low is None or high is None:
        return [one.value, "-"]
    return list(format_bounds(one.value, low, high))


def _pair_cells(pair: views.Pair, *, has_bounds: bool) -> list[Cell]:
    """The classes of a pair, their rows, its value, and its bounds or its interval."""
    names = f"{shown_name(pair.first)} - {shown_name(pair.second)}"
    value = _value_cells(pair.estimate, has_bounds=has_bounds)
    return [names, f"{pair.first_rows} + {pair.second_rows}", *value, _interval_cell(pair.estimate)]


def _interval_cell(found: views.Estimate | views.PairEstimate) -> str:
    return _limits_cell(found.low, found.high)


def _limits_cell(low: Number, high: Number, show: Callable[[Number], str | None] | None = None) -> str:
    """The limits, or a dash."""
    show = show or _decimals
    return "-" if low is None else f"{show(low)} to {show(high)}"


def _decimals(value: Number) -> str:
    return decimals(float("nan") if value is None else value)


def _signed(value: Number) -> str | None:
    return None if value is None else decimals(value, sign=True)


def _fixed(value: Number, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"
