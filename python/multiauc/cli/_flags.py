"""Options as the command line spells them."""

from __future__ import annotations

import ast
import re
import shlex


def with_flags(text: str) -> str:
    """A sentence of the library, with the options that it names as the command line spells them."""
    text = re.sub(r"labels=\[([^\]]*)\]", _typed_labels, text)
    return text.replace("labels=", as_typed("labels")).replace("outputs='logits'", as_typed("outputs", "logits"))


def _typed_labels(given: re.Match[str]) -> str:
    try:
        labels = ast.literal_eval(f"[{given[1]}]")
    except (ValueError, SyntaxError):  # a list that was cut short
        return as_typed("labels")
    return as_typed("labels", ",".join(map(str, labels)))


def as_typed(option: str, value: str | None = None) -> str:
    """How an option, perhaps with a value, is written on the command line."""
    flag = "--id" if option == "row_id" else "--" + option.replace("_", "-")
    return flag if value is None or option == "exact" else f"{flag} {shlex.quote(value)}"
