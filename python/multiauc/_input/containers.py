"""Arrays, tensors and data frames of other libraries as NumPy arrays.

Their own memory is used where it is one block of main memory. No library is imported: an object is recognised by the
package that defines its type, and by its methods.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    #: The codes of all rows (negative where there is no label), and a function from row numbers to their labels.
    LabelCodes = tuple[NDArray[Any], Callable[[NDArray[np.int64]], list[Any]]]


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
    package = _package(y_true)
    if package == "polars":
        return _polars_codes(y_true)
    if package == "pyarrow":
        return _arrow_codes(y_true)
    return _pandas_codes(y_true)


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
    if getattr(getattr(y_true, "dtype", None), "categories", None) is None:
        return None
    source: Any = y_true if hasattr(y_true, "codes") else getattr(y_true, "cat", None)
    if not hasattr(source, "codes"):
        return None
    codes = np.asarray(source.codes)

    def labels_of(rows: NDArray[np.int64]) -> list[Any]:
        categories = source.categories.tolist()
        return [categories[code] for code in codes[rows]]

    return codes, labels_of


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
