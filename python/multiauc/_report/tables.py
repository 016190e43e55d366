"""The tables of a report."""

from __future__ import annotations

from html import escape
from typing import Any

from multiauc._common.wording import p_text, shown_name
from multiauc._render.words import (
    MINUS,
    NOT_KNOWN,
    best_of,
    chances,
    corrected,
    differences_from_best,
    interval,
    metric_name,
    number,
    percent,
    perfect,
)

Cell = str

# Longer tables scroll inside their own frame on a screen; on paper they are whole.
TALL_FROM = 12
INTERVALS_ON_PAPER_UP_TO = 4
WORD_LONG_FROM, LIMITS_LONG_FROM = 16, 22
DIFFERENCE_HEADER = ["difference", "interval", "t", "df", "p", "differ?"]


def text_cell(text: str) -> Cell:
    """A cell of text, escaped."""
    return f"<td>{escape(text)}</td>"


def number_cell(value: float | None, shown: str, *, extra: str = "") -> Cell:
    """A cell that sorts by its number."""
    return f'<td class="number" data-value="{_key(value)}">{shown}{extra}</td>'


def estimate_cell(estimate: dict[str, Any], *, best: bool = False) -> Cell:
    """A value above its interval."""
    shown = number(estimate["value"], 4)
    if best:
        shown = f'<strong>{shown}</strong><span class="visually-hidden"> (highest)</span>'
    limits = interval(estimate, 4)
    extra = f'<span class="interval{_long(limits, LIMITS_LONG_FROM)}">{limits}</span>'
    return number_cell(estimate["value"], shown, extra=extra)


def _long(text: str, most: int) -> str:
    """The class of a text that may be broken where it would otherwise not fit."""
    return " long" if len(text) > most else ""


def table(caption: str, header: list[str], rows: list[str], *, sortable: bool = False, models: int = 0) -> str:
    """A table; the first cell of each row names it. Header cells and caption are text, rows are ready HTML.

    `models` is the number of columns with estimates of models: with many of them, the intervals do not fit on paper.
    """
    heads = "".join(_head(shown_name(name), sortable=sortable) for name in header)
    kind = "sortable" if sortable else "plain"
    tall = " tall" if len(rows) > TALL_FROM else ""
    wide = models > INTERVALS_ON_PAPER_UP_TO
    kind += " wide" if wide else ""
    paper = '<p class="facts paper-only">The intervals of so many models do not fit on paper.</p>' if wide else ""
    return (
        f'<div class="scroll{tall}" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="{kind}"><caption><span>{escape(caption)}</span></caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{paper}"
    )


def _head(name: str, *, sortable: bool) -> str:
    # Only a long word is broken inside.
    long = ' class="long"' if max(map(len, name.split()), default=0) > WORD_LONG_FROM else ""
    text = f'<button type="button" class="sort">{escape(name)}</button>' if sortable else escape(name)
    return f'<th scope="col"{long}>{text}</th>'


def row(name: str, cells: list[Cell]) -> str:
    """A row whose header is `name`, escaped."""
    return f'<tr><th scope="row">{escape(shown_name(name))}</th>{"".join(cells)}</tr>'


def summary(report: dict[str, Any]) -> str:
    """Models by metrics."""
    models = report["models"]
    metrics = list(models[0]["metrics"])
    best = {metric: best_of(metric, [m["metrics"][metric]["value"] for m in models]) for metric in metrics}
    rows = [
        row(
            model["name"],
            [
                estimate_cell(
                    model["metrics"][metric],
                    best=len(models) > 1 and model["metrics"][metric]["value"] == best[metric],
                )
                for metric in metrics
            ],
        )
        for model in models
    ]
    chance = chances(metrics, len(report["labels"]))
    caption = (
        f"All classes together, with {percent(report['level'])} intervals (chance is {chance}, {perfect(metrics)})"
    )
    return table(caption, ["model", *map(metric_name, metrics)], rows)


def comparison(report: dict[str, Any]) -> str:
    """Every pair of models: difference, interval, test."""
    found = report["comparison"]
    rows = [
        row(f"{shown_name(one['first'])} {MINUS} {shown_name(one['second'])}", _difference_cells(one, report))
        for one in found["differences"]
    ]
    caption = f"Differences in {metric_name(found['metric'])} on the same rows, {_intervals(report)}"
    return table(caption, ["models", *DIFFERENCE_HEADER], rows, sortable=True)


def against_best(report: dict[str, Any]) -> str:
    """How far each model is behind the best."""
    found = report["comparison"]
    best = found["order"][0]
    rows = [
        row(one["second"], [_value_cell(found["values"][one["second"]]), *_difference_cells(one, report)])
        for one in differences_from_best(found)
    ]
    name = metric_name(found["metric"])
    caption = f"How far {shown_name(best)} ({name} {number(found['values'][best], 4)}) is ahead, {_intervals(report)}"
    return table(caption, ["model", name, *DIFFERENCE_HEADER], rows)


def _value_cell(value: float | None) -> Cell:
    return number_cell(value, number(value, 4))


def _intervals(report: dict[str, Any]) -> str:
    """What the intervals of differences are."""
    count = len(report["comparison"]["differences"])
    joint = f" that hold for all {count} comparisons together" if count > 1 else ""
    return f"{percent(report['level'])} intervals{joint}"


def _difference_cells(found: dict[str, Any], report: dict[str, Any]) -> list[Cell]:
    p, freedom = found["corrected_p_value"], found["degrees_of_freedom"]
    limits = interval(corrected(found), 4)
    t = NOT_KNOWN if found["t"] is None else f"{found['t']:.2f}".replace("-", MINUS)
    return [
        _value_cell(found["value"]),
        _limits_cell(limits, found["corrected_low"]),
        number_cell(found["t"], t),
        number_cell(freedom, NOT_KNOWN if freedom is None else f"{freedom:.1f}"),
        number_cell(p, NOT_KNOWN if p is None else escape(p_text(p, 1.0 - report["level"]))),
        text_cell(NOT_KNOWN if p is None else "yes" if found["decided"] else "no"),
    ]


def _limits_cell(limits: str, low: float | None) -> Cell:
    return f'<td class="nowrap{_long(limits, LIMITS_LONG_FROM)}" data-value="{_key(low)}">{limits}</td>'


def _key(value: float | None) -> str:
    """What a cell sorts by."""
    return "" if value is None else repr(value)


def classes(report: dict[str, Any], best: dict[str, Any]) -> str:
    """Each class against the rest, and the class that it is hardest to tell from."""
    models = report["models"]
    rows = []
    for k, label in enumerate(report["labels"]):
        estimates = [estimate_cell(model["per_class"][k]) for model in models]
        count = number_cell(report["counts"][k], f"{report['counts'][k]:,}")
        rows.append(row(label, [count, *estimates, _hardest(best["per_class"][k])]))
    several = len(models) > 1
    names = [model["name"] for model in models] if several else ["against the rest"]
    header = ["class", "rows", *names, "hardest to tell from" + (f" ({shown_name(best['name'])})" if several else "")]
    caption = f"Each class against all others: one-vs-rest AUC with {percent(report['level'])} intervals"
    return table(caption, header, rows, sortable=True, models=len(models))


def slices(report: dict[str, Any], found: dict[str, Any]) -> str:
    """Slices of the rows, each against the others."""
    rows = []
    for one in found["slices"]:
        p = one["corrected_p_value"]
        limits = interval({"low": one["simultaneous_low"], "high": one["simultaneous_high"]}, 4)
        decided = "" if p is None or p >= 1.0 - report["level"] else "worse" if one["difference"] < 0 else "better"
        cells = [
            number_cell(one["rows"], f"{one['rows']:,}"),
            estimate_cell(one),
            _value_cell(one["difference"]),
            _limits_cell(limits, one["simultaneous_low"]),
            number_cell(p, NOT_KNOWN if p is None else escape(_corrected(p, 1.0 - report["level"]))),
            text_cell(one["reason"] or decided or "no"),
        ]
        rows.append(row(one["name"], cells))
    left_out = found["count"] - len(rows)
    some = f"; the first {len(rows)} of {found['count']:,} slices" if left_out else ""
    by = " and ".join(map(shown_name, found["by"]))
    caption = f"{metric_name(found['metric'])} by {by}, with {percent(report['level'])} intervals{some}"
    header = ["slice", "rows", metric_name(found["metric"]), "difference", "interval", "p", "differs?"]
    return table(caption, header, rows, sortable=True)


def _corrected(p: float, threshold: float) -> str:
    """A p-value corrected for many slices, most of which are next to 1."""
    return p_text(p, threshold) if p < 0.9995 or p == 1.0 else "> 0.999"


def decisions(report: dict[str, Any], models: list[dict[str, Any]]) -> str:
    """Models by rules: the mean cost of a row, and what the fitted rule saves."""
    rules = list(models[0]["decisions"]["costs"])
    rows = []
    for model in models:
        found = model["decisions"]
        cells = [estimate_cell(found["costs"][rule]) for rule in rules]
        rows.append(row(model["name"], cells + [estimate_cell(one) for one in found["differences"]]))
    differences = [f"{one['first']} {MINUS} {one['second']}" for one in models[0]["decisions"]["differences"]]
    caption = f"Mean cost of a row by the rule that decides, with {percent(report['level'])} intervals: less is better"
    return table(caption, ["model", *rules, *differences], rows)


def _hardest(found: dict[str, Any]) -> Cell:
    if found["hardest"] is None:
        return number_cell(None, "–")
    value = f'<span class="interval">{number(found["hardest_value"], 4)}</span>'
    return f'<td data-value="{found["hardest_value"]!r}">{escape(shown_name(found["hardest"]))} {value}</td>'
