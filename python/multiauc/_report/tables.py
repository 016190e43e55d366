"""The tables of a report."""

from __future__ import annotations

from html import escape
from typing import Any

from multiauc._render.words import chances, interval, metric_name, number, percent

Cell = str

# Longer tables scroll inside their own frame on a screen; on paper they are whole.
TALL_FROM = 12


def text_cell(text: str) -> Cell:
    """A cell of text, escaped."""
    return f"<td>{escape(text)}</td>"


def number_cell(value: float | None, shown: str, *, extra: str = "") -> Cell:
    """A cell that sorts by its number."""
    key = "" if value is None else repr(value)
    return f'<td class="number" data-value="{key}">{shown}{extra}</td>'


def estimate_cell(estimate: dict[str, Any], *, best: bool = False) -> Cell:
    """A value above its interval."""
    shown = number(estimate["value"], 4)
    if best:
        shown = f'<strong>{shown}</strong><span class="visually-hidden"> (highest)</span>'
    return number_cell(estimate["value"], shown, extra=f'<span class="interval">{interval(estimate, 4)}</span>')


def table(caption: str, header: list[str], rows: list[str], *, sortable: bool = False) -> str:
    """A table; the first cell of each row names it. Header cells and caption are text, rows are ready HTML."""
    heads = "".join(
        f'<th scope="col"><button type="button" class="sort">{escape(name)}</button></th>'
        if sortable
        else f'<th scope="col">{escape(name)}</th>'
        for name in header
    )
    kind = "sortable" if sortable else "plain"
    tall = " tall" if len(rows) > TALL_FROM else ""
    return (
        f'<div class="scroll{tall}" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="{kind}"><caption><span>{escape(caption)}</span></caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def row(name: str, cells: list[Cell]) -> str:
    """A row whose header is `name`, escaped."""
    return f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'


def summary(report: dict[str, Any]) -> str:
    """Models by metrics."""
    models = report["models"]
    metrics = list(models[0]["metrics"])
    best = {
        metric: max((m["metrics"][metric]["value"] for m in models), key=lambda value: -1.0 if value is None else value)
        for metric in metrics
    }
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
    caption = f"All classes together, with {percent(report['level'])} intervals (chance is {chance}, 1 is perfect)"
    return table(caption, ["model", *map(metric_name, metrics)], rows)


def comparison(report: dict[str, Any]) -> str:
    """Every pair of models: difference, interval, test."""
    rows = [
        row(
            f"{found['first']} − {found['second']}",
            [
                number_cell(found["value"], number(found["value"], 4)),
                f'<td class="nowrap">{interval(found, 4)}</td>',
                number_cell(found["t"], number(found["t"], 2)),
                number_cell(found["degrees_of_freedom"], number(found["degrees_of_freedom"], 1)),
                number_cell(found["p_value"], _p(found["p_value"])),
                number_cell(found["corrected_p_value"], _p(found["corrected_p_value"])),
                text_cell(_whether_different(found)),
            ],
        )
        for found in report["comparison"]["differences"]
    ]
    name = metric_name(report["comparison"]["metric"])
    header = ["models", "difference", "interval", "t", "df", "p", "p (max-t)", "differ?"]
    return table(f"Differences in {name} on the same rows, {percent(report['level'])} intervals", header, rows)


def _whether_different(found: dict[str, Any]) -> str:
    if found["p_value"] is None:
        return "–"
    return "yes" if found["decided"] else "no"


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "&lt; 0.0001" if value < 1e-4 else f"{value:.4f}"


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
    header = ["class", "rows", *names, "hardest to tell from" + (f" ({best['name']})" if several else "")]
    caption = f"Each class against all others: one-vs-rest AUC with {percent(report['level'])} intervals"
    return table(caption, header, rows, sortable=True)


def _hardest(found: dict[str, Any]) -> Cell:
    if found["hardest"] is None:
        return number_cell(None, "–")
    value = f'<span class="interval">{number(found["hardest_value"], 4)}</span>'
    return f'<td data-value="{found["hardest_value"]!r}">{escape(found["hardest"])} {value}</td>'
