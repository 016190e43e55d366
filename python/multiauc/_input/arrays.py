"""Array-likes to arrays of real numbers, copying only where the core could not read the original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._environment import check_num_threads
from multiauc._input.containers import entries_of, frame_parts, holds_integers, is_sparse, to_numpy
from multiauc._wording import described

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Up to here every integer is a double.
LARGEST_INTEGER = 2**53


def as_array(argument: str, value: Any) -> NDArray[Any]:
    """`value` as a plain array of any dtype; ragged lists, masked entries and sparse matrices are refused."""
    if type(value) is np.ndarray:
        return value
    if is_sparse(value):
        raise TypeError(
            f"{argument} must be a dense array here; got {described(value)}, which is sparse: pass its .toarray() "
            "(sparse scores go into hand_till_score, one_vs_rest_score and one_vs_rest_per_class)"
        )
    try:
        array = to_numpy(value)
    except ValueError as error:
        raise ValueError(f"{argument} must be a rectangular array; {error}") from None
    except (TypeError, RuntimeError, BufferError) as error:  # raised by libraries for arrays on another device
        raise TypeError(f"{argument} must be an array in the main memory; {described(value)} says: {error}") from None
    if isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
        raise ValueError(f"{argument} must not have masked entries; drop their rows or fill them in first")
    return array


def as_labels(argument: str, value: Any) -> NDArray[Any]:
    """`as_array` of names or numbers of classes, groups or slices, in which integers stay what they are.

    Beside a missing value or a float, libraries turn integers into doubles, and beyond 2^53 two of them into one.
    """
    array = as_array(argument, value)
    if type(value) is np.ndarray or array.dtype.kind != "f" or array.ndim != 1:
        return array
    if not holds_integers(value) and not (isinstance(value, (list, tuple)) and _reaches_beyond_integers(array)):
        return array
    exact = np.empty(len(array), dtype=object)
    exact[:] = value if isinstance(value, (list, tuple)) else entries_of(value)
    return exact


def as_numbers(argument: str, value: Any) -> NDArray[Any]:
    """`value` as an array of bools, integers or floats."""
    array = as_array(argument, value)
    if array.dtype.kind == "O" and _has_nullable_numbers(value):
        array = value.to_numpy(dtype=np.float64, na_value=np.nan)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{argument} must hold real numbers; got {_type_found(value, array)}")
    return array


def as_float64(argument: str, value: Any) -> NDArray[np.float64]:
    """`value` as a C-contiguous float64 array; a copy unless it is one already."""
    return np.ascontiguousarray(as_numbers(argument, value), dtype=np.float64)


def as_scores(argument: str, value: Any) -> NDArray[np.float32] | NDArray[np.float64]:
    """`value` as float32 or float64 in its own strides; a copy only if the type or the alignment requires it.

    Half precision (float16, bfloat16) becomes float32 and every other type float64.
    """
    check_num_threads()  # whatever is computed, is computed from scores
    array = as_numbers(argument, value)
    _refuse_rounded(argument, value, array)
    dtype = array.dtype
    size = dtype.itemsize
    if dtype.kind == "f" and size in (4, 8):
        if not dtype.isnative:
            return array.astype(dtype.newbyteorder("="))
        if not array.flags.aligned or any(stride % size for stride in array.strides):
            return array.copy(order="K")
        return array
    if dtype == np.float16:
        return array.astype(np.float32)
    if dtype.kind in "iu" and size == 8 and array.size:
        _refuse_inexact(argument, array)
    return array.astype(np.float64)


def _refuse_inexact(argument: str, integers: NDArray[Any]) -> None:
    """Raise if there are integers that a double cannot hold: two that differ could become one."""
    if len(integers) and (np.max(integers) > LARGEST_INTEGER or np.min(integers) < -LARGEST_INTEGER):
        found = np.max(integers) if np.max(integers) > LARGEST_INTEGER else np.min(integers)
        raise ValueError(
            f"{argument} must not have integers beyond 2^53, which would be rounded; got {found}: subtract a constant "
            "from all of them, divide them, or pass their ranks"
        )


def _reaches_beyond_integers(array: NDArray[Any]) -> bool:
    """Whether some double is so large that it may be a rounded integer."""
    return bool((array >= LARGEST_INTEGER).any() or (array <= -LARGEST_INTEGER).any())


def _refuse_rounded(argument: str, value: Any, array: NDArray[Any]) -> None:
    """Raise if integers were rounded on the way into an array of doubles: beside floats or missing values."""
    if type(value) is np.ndarray or array.dtype != np.float64 or not _reaches_beyond_integers(array):
        return
    for column in frame_parts(value):
        entries = column if isinstance(column, (list, tuple)) else entries_of(column) if holds_integers(column) else ()
        integers = [int(one) for one in entries if isinstance(one, (int, np.integer))]
        _refuse_inexact(argument, np.array(integers, dtype=object))


def _has_nullable_numbers(value: Any) -> bool:
    """Whether `value` is a pandas frame or series whose columns are all of nullable numeric types."""
    dtypes = getattr(value, "dtypes", None)
    if dtypes is None or not hasattr(value, "to_numpy"):
        return False
    columns = dtypes if hasattr(dtypes, "__iter__") else [dtypes]
    return all(getattr(dtype, "kind", "O") in "fiub" for dtype in columns)


def _type_found(value: Any, array: NDArray[Any]) -> str:
    return f"{value!r}" if array.ndim == 0 and len(repr(value)) < 80 else f"dtype {array.dtype}"
