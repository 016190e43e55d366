"""Targets of single ratios, in words."""

from __future__ import annotations

from comparison.grid import TIMES


def verdict(found: float, *, at_least: float | None = None, at_most: float | None = None) -> str:
    """The target and whether it is met."""
    if at_least is not None:
        return f"at least {at_least:g}{TIMES}: {'met' if found >= at_least else '**not met**'}"
    if at_most is not None:
        return f"at most {at_most:g}{TIMES}: {'met' if found <= at_most else '**not met**'}"
    return ""
