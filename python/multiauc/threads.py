"""How many threads the compiled core may use."""

from __future__ import annotations

from operator import index

from multiauc import _rust
from multiauc._environment import check_num_threads


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
