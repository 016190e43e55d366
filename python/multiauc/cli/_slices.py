"""Slices among the results of commands."""

from __future__ import annotations

from typing import Any

from multiauc._common.wording import corrected_p, decimals
from multiauc._evaluation.slices import NUMBERS
from multiauc._render.words import metric_name
from multiauc.cli._output import Table, interval_cell

# Of more slices those are printed that are most surely worse.
PRINTED = 40


def slice_table(found: dict[str, Any], level: float) -> tuple[Table, str]:
    """The slices for people, and a sentence about all of them."""
    rows = found["slices"][:PRINTED]
    has_reasons = any(one["reason"] for one in rows)
    percent = f"{100 * level:g}%"
    header = [
        "slice",
        "rows",
        "value",
        f"{percent} interval",
        "difference",
        f"{percent}, simultaneous",
        "p (corrected)",
    ]
    cells = [
        [
            one["name"],
            one["rows"],
            one["value"],
            interval_cell(one),
            _signed(one["difference"]),
            _signed_interval(one),
            None if one["corrected_p_value"] is None else corrected_p(one["corrected_p_value"]),
            *([one["reason"]] if has_reasons else []),
        ]
        for one in rows
    ]
    title = f"{metric_name(found['metric'])} by {', '.join(found['by'])}, against the rest of the rows"
    left_out = found["count"] - len(rows)
    remark = found["summary"]
    if left_out:
        remark += f" {left_out} slices are not printed; --format csv and json have all."
    return Table(title, [*header, *(["why not"] if has_reasons else [])], cells), remark


def slice_records(found: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """The slices for programs: a column for each of those that make up a slice, then the numbers."""
    names = [f"by_{name}" if name in NUMBERS else name for name in found["by"]]
    rows = [
        [*(one["slice"][name] for name in found["by"]), *(one[name] for name in NUMBERS)] for one in found["slices"]
    ]
    return [*names, *NUMBERS], rows


def _signed_interval(one: dict[str, Any]) -> str | None:
    low, high = _signed(one["simultaneous_low"]), _signed(one["simultaneous_high"])
    return None if low is None else f"{low} to {high}"


def _signed(value: float | None) -> str | None:
    return None if value is None else decimals(value, sign=True)
