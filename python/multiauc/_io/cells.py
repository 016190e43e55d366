"""Cells of text as numbers."""

from __future__ import annotations

import re

DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9.\u00a0 ']*,[0-9]+([eE][+-]?[0-9]+)?\s*")
WHOLE_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0*")


def plain_number(text: str | float) -> float:
    """A number as files have it. Python's own ``float`` also takes 1_0, and digits of any script."""
    if isinstance(text, str) and ("_" in text or not text.isascii()):
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def why_no_number(value: object) -> str:
    """What to say of a cell that `plain_number` refuses."""
    if value is None:
        return "the value is missing"
    if isinstance(value, str) and DECIMAL_COMMA.fullmatch(value):
        return f"{value!r} has a decimal comma; numbers are written with a point, as in 0.5"
    return f"{value!r} is not a number"


def as_whole(label: str) -> str:
    """A label as one would write it: 3.0, which is how data frames keep integers beside gaps, is 3; 03 is not."""
    whole = WHOLE_NUMBER.fullmatch(label)
    if whole is None:
        return label
    return "0" if whole[1] == "-0" else whole[1]


def spelled_like(labels: list[str], names: list[str]) -> list[str]:
    """The labels as the names spell them, where they are the same number (1.0 and 1); the others as they are."""
    if set(labels) <= set(names):
        return labels
    by_number = {as_whole(name): name for name in names}
    if len(by_number) < len(names):  # 1 and 1.0 are two classes here
        return labels
    known = set(names)
    return [label if label in known else by_number.get(as_whole(label), label) for label in labels]
