"""Cells of text as numbers."""


def plain_number(text: str | float) -> float:
    """A number as files have it. Python's own ``float`` also takes 1_0, and digits of any script."""
    if isinstance(text, str) and ("_" in text or not text.isascii()):
        raise ValueError(f"{text!r} is not a number")
    return float(text)
