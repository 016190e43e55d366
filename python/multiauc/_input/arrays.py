"""Arrays, tensors and data frames as NumPy arrays, without a copy wherever possible."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.wording import describe_type
from multiauc.threads import check_num_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    # Codes, and what gives the labels of rows; or labels themselves, and None.
    LabelCodes = tuple[Any, Callable[[NDArray[np.intp]], list[Any]] | None]


# Up to here every integer is a double.
LARGEST_INTEGER = 2**53


def as_array(argument: str, value: Any) -> NDArray[Any]:
    """`value` as a plain array of any dtype; ragged lists, masked entries and sparse matrices are refused."""
    if type(value) is np.ndarray:
        return value
    if is_sparse(value):
        raise TypeError(
            f"{argument} must be a dense array here; got {describe_type(value)}, which is sparse: pass its .toarray() "
            "(sparse scores go into hand_till_score, one_vs_rest_score and one_vs_rest_per_class)"
        )
    try:
        array = to_numpy(value)
    except ValueError as error:
        raise ValueError(f"{argument} must be a rectangular array; {error}") from None
    except (TypeError, RuntimeError, BufferError) as error:  # raised by libraries for arrays on another device
        raise TypeError(
            f"{argument} must be an array in the main memory; {describe_type(value)} says: {error}"
        ) from None
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
        found = f"{value!r}" if array.ndim == 0 and len(repr(value)) < 80 else f"dtype {array.dtype}"
        raise TypeError(f"{argument} must hold real numbers; got {found}")
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
    found = next((one for one in (integers.max(), integers.min()) if abs(int(one)) > LARGEST_INTEGER), None)
    if found is not None:
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
        _refuse_inexact(argument, np.array([0, *integers], dtype=object))


def _has_nullable_numbers(value: Any) -> bool:
    """Whether `value` is a pandas frame or series whose columns are all of nullable numeric types."""
    dtypes = getattr(value, "dtypes", None)
    if dtypes is None or not hasattr(value, "to_numpy"):
        return False
    columns = dtypes if hasattr(dtypes, "__iter__") else [dtypes]
    return all(getattr(dtype, "kind", "O") in "fiub" for dtype in columns)


def to_numpy(value: Any) -> NDArray[Any]:
    """`value` as an array, in its own memory if it is in one block."""
    if _package(value) == "torch":
        # A tensor that is part of a graph, or of a type that NumPy lacks, does not become an array by itself.
        value = value.detach()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    elif hasattr(value, "column_names") and hasattr(value, "num_rows"):
        return _arrow_columns(value)
    elif hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    array = np.asarray(value)
    # NumPy does not know the bfloat16 type of JAX and others, whose values float32 holds exactly.
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def is_sparse(value: Any) -> bool:
    """Whether `value` is a matrix of scipy.sparse, or one that becomes such a matrix in the same way."""
    return callable(getattr(value, "tocsr", None)) and hasattr(value, "nnz")


def frame_columns(y_score: Any) -> list[Any] | None:
    """The names of a data frame's columns, None if it has none, or only the default ones (0, 1, 2, ...)."""
    names = getattr(y_score, "column_names", None)
    if names is None:
        names = getattr(y_score, "columns", None)
    if names is None or callable(names):
        return None
    if type(names).__name__ == "RangeIndex" and names.start == 0 and names.step == 1:
        return None
    names = list(names)
    if _package(y_score) == "polars" and names == [f"column_{k}" for k in range(len(names))]:
        return None
    return names


def holds_integers(column: Any) -> bool:
    """Whether a column of a data frame is of an integer type, perhaps with missing values."""
    kind = getattr(column, "dtype", getattr(column, "type", ""))
    return re.match(r"u?int\d+", str(kind).lower()) is not None


def entries_of(column: Any) -> list[Any]:
    """The entries of a column as Python objects."""
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def frame_parts(value: Any) -> list[Any]:
    """The columns of a data frame; the rows of nested lists; otherwise the value alone."""
    if hasattr(value, "get_columns"):  # Polars
        return list(value.get_columns())
    if hasattr(value, "column_names"):  # Arrow
        return [value.column(k) for k in range(len(value.column_names))]
    if hasattr(value, "iloc") and hasattr(value, "columns"):  # pandas; names may be there twice
        return [value.iloc[:, k] for k in range(value.shape[1])]
    if isinstance(value, (list, tuple)) and value and all(isinstance(row, (list, tuple)) for row in value):
        return list(value)
    return [value]


def label_codes(y_true: Any) -> LabelCodes | None:
    """The codes of labels that are stored as codes, or that their library encodes in one pass; None for all others."""
    by_package = {"polars": _polars_codes, "pyarrow": _arrow_codes}
    return by_package.get(_package(y_true), _pandas_codes)(y_true)


def _package(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _arrow_columns(table: Any) -> NDArray[Any]:
    """The columns of an Arrow table or record batch, side by side: each is in a block of its own, so this is a copy."""
    columns = [to_numpy(table.column(k)) for k in range(table.num_columns)]
    if not columns:
        return np.empty((table.num_rows, 0))
    matrix = np.empty((table.num_rows, len(columns)), np.result_type(*columns), order="F")
    for k, column in enumerate(columns):
        matrix[:, k] = column
    return matrix


def _pandas_codes(y_true: Any) -> LabelCodes | None:
    """Of a categorical series, index or array."""
    source: Any = y_true if hasattr(y_true, "codes") else getattr(y_true, "cat", None)
    if getattr(getattr(y_true, "dtype", None), "categories", None) is None or not hasattr(source, "codes"):
        return None
    codes = np.asarray(source.codes)
    return codes, lambda rows: source.categories[codes[rows]].tolist()


def _polars_codes(y_true: Any) -> LabelCodes | None:
    """Of a series of categories or strings."""
    kind = str(getattr(y_true, "dtype", ""))
    if not kind.startswith(("String", "Categorical", "Enum")):
        return None
    coded = y_true.cast(sys.modules["polars"].Categorical) if kind == "String" else y_true
    codes = coded.to_physical()
    if codes.null_count():
        codes = codes.cast(sys.modules["polars"].Int64).fill_null(-1)
    return codes.to_numpy(), lambda rows: y_true.gather(rows).to_list()


def _arrow_codes(y_true: Any) -> LabelCodes | None:
    """Of an array or chunked array of categories (a dictionary) or strings."""
    kind = str(getattr(y_true, "type", ""))
    if not kind.startswith(("string", "large_string", "string_view", "dictionary")):
        return None
    coded = y_true if kind.startswith("dictionary") else y_true.dictionary_encode()
    if hasattr(coded, "unify_dictionaries"):  # in chunks
        coded = coded.unify_dictionaries().combine_chunks()
    codes = coded.indices
    if codes.null_count:
        codes = codes.cast("int64").fill_null(-1)
    return codes.to_numpy(zero_copy_only=False), lambda rows: y_true.take(rows).to_pylist()
