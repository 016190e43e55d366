"""The environment variable for the number of threads, which the compiled core reads."""

from __future__ import annotations

import os
import warnings
from functools import cache

from multiauc import _rust
from multiauc._wording import counted

VARIABLE = "MULTIAUC_NUM_THREADS"
# The core reads the variable into 64 bits.
TOO_MANY = 2**64


@cache  # once in the life of a process
def check_num_threads() -> None:
    """Warn if the variable is set to anything but a number of threads."""
    value = os.environ.get(VARIABLE)
    if value is None or _is_number_of_threads(value):
        return
    import inspect  # noqa: PLC0415 - slow to import, and hardly ever needed

    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "multiauc":
        level, frame = level + 1, frame.f_back
    used = counted(_rust.get_num_threads(), "thread")
    warnings.warn(
        f"{VARIABLE} must be a number of threads from 1 on; got {value!r}, which is ignored: using {used}",
        RuntimeWarning,
        stacklevel=level,
    )


def _is_number_of_threads(value: str) -> bool:
    """Whether the core reads it as one; otherwise it takes its own default."""
    digits = value.strip().removeprefix("+")
    return digits.isascii() and digits.isdigit() and 0 < int(digits) < TOO_MANY
