"""How many threads the compiled core may use."""

from __future__ import annotations

import os
from functools import cache
from operator import index

from multiauc import _rust
from multiauc._common.hints import warn
from multiauc._common.wording import pluralize


def set_num_threads(n: int) -> None:
    """Use at most `n` threads in all later calls, from any Python thread.

    Results do not depend on the number of threads. By default it is that of the environment variable
    ``MULTIAUC_NUM_THREADS``, or else one per available core. A variable that holds anything else is ignored, with a
    warning.

    Parameters
    ----------
    n : int
        The number of threads; 0 restores the default.

    Examples
    --------
    >>> import multiauc
    >>> multiauc.set_num_threads(1)
    >>> multiauc.get_num_threads()
    1
    >>> multiauc.set_num_threads(0)
    """
    try:
        threads = index(n)
    except TypeError:
        raise TypeError(f"n must be an integer number of threads; got {n!r}") from None
    if isinstance(n, bool) or not 0 <= threads <= 65_536:
        raise ValueError(f"n must be a number of threads from 1 to 65536, or 0 for the default; got {n!r}")
    _rust.set_num_threads(threads)


def get_num_threads() -> int:
    """The number of threads that the next call may use.

    Examples
    --------
    >>> import multiauc
    >>> multiauc.get_num_threads() > 0
    True
    """
    check_num_threads()
    return _rust.get_num_threads()


VARIABLE = "MULTIAUC_NUM_THREADS"
# The core reads the variable into 64 bits.
TOO_MANY = 2**64


@cache  # once in the life of a process
def check_num_threads() -> None:
    """Warn if the variable is set to anything but a number of threads."""
    value = os.environ.get(VARIABLE)
    if value is None or _is_number_of_threads(value):
        return
    used = pluralize(_rust.get_num_threads(), "thread")
    warn(
        f"{VARIABLE} must be a number of threads from 1 on; got {value!r}, which is ignored: using {used}",
    )


def _is_number_of_threads(value: str) -> bool:
    """Whether the core reads it as one; otherwise it takes its own default."""
    digits = value.strip().removeprefix("+")
    return digits.isascii() and digits.isdigit() and 0 < int(digits) < TOO_MANY
