"""Scores, labels and weights in the containers of other libraries, in their own memory where they have one block."""

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import multiauc
from conftest import NAMES
from multiauc._input.arrays import as_scores, label_codes

jax.config.update("jax_enable_x64", True)


def values(y_true, y_score, **options):
    functions = (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score)
    return [function(y_true, y_score, **options) for function in functions]


@pytest.fixture(scope="module")
def expected(codes, scores):
    return values(codes, scores)


def polars_frame(scores, names=NAMES):
    return pl.DataFrame(scores, schema=list(names))


def arrow_table(scores, names=NAMES):
    return pa.table({name: scores[:, k] for k, name in enumerate(names)})


class OnlyDlpack:
    """An array that offers the DLPack protocol and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnlyArray:
    """An object with `__array__` and nothing else."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


SCORES = {
    "pandas": lambda scores: pd.DataFrame(scores, columns=NAMES),
    "pandas, types of Arrow": lambda scores: pd.DataFrame(scores, columns=NAMES).astype("double[pyarrow]"),
    "polars": polars_frame,
    "Arrow table": arrow_table,
    "Arrow table in chunks": lambda scores: pa.concat_tables([arrow_table(scores[:150]), arrow_table(scores[150:])]),
    "Arrow record batch": lambda scores: arrow_table(scores).to_batches()[0],
    "torch": torch.tensor,
    "torch, part of a graph": lambda scores: torch.tensor(scores, requires_grad=True),
    "torch, transposed": lambda scores: torch.tensor(scores.T.copy()).T,
    "JAX": jnp.asarray,
    "array API": array_api_strict.asarray,
    "DLPack": lambda scores: OnlyDlpack(torch.tensor(scores)),
    "__array__": OnlyArray,
}


@pytest.mark.parametrize("kind", SCORES)
def test_scores(names, scores, expected, kind):
    assert values(names, SCORES[kind](scores), labels=NAMES) == expected


LABELS = {
    "polars strings": pl.Series,
    "polars categories": lambda names: pl.Series(names, dtype=pl.Categorical),
    "polars enumeration in another order": lambda names: pl.Series(names, dtype=pl.Enum(["eel", *NAMES[::-1]])),
    "Arrow strings": pa.array,
    "Arrow large strings": lambda names: pa.array(names.tolist(), pa.large_string()),
    "Arrow strings in chunks": lambda names: pa.chunked_array([names[:7].tolist(), names[7:].tolist()]),
    "Arrow dictionary": lambda names: pa.array(names.tolist()).dictionary_encode(),
    "Arrow chunks with different dictionaries": lambda names: pa.chunked_array(
        [
            pa.array(names[:150].tolist()).dictionary_encode(),
            pa.DictionaryArray.from_arrays(
                pa.array(3 - np.searchsorted(NAMES, names[150:]), pa.int32()), NAMES[::-1].tolist()
            ),
        ]
    ),
    "pandas, strings of Arrow": lambda names: pd.Series(names.tolist(), dtype="string[pyarrow]"),
    "pandas, dictionary of Arrow": lambda names: pd.Series(names).astype(
        pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "pandas categories": lambda names: pd.Series(pd.Categorical(names, categories=NAMES[::-1])),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels(names, scores, expected, kind):
    y_true = LABELS[kind](names)
    assert len(y_true) == len(names)
    assert values(y_true, scores) == expected
    order = [2, 0, 3, 1]
    assert values(y_true, scores[:, order], labels=NAMES[order]) == expected


CODES = {
    "polars": pl.Series,
    "Arrow": pa.array,
    "Arrow in chunks": lambda codes: pa.chunked_array([codes[:9], codes[9:]]),
    "torch": torch.tensor,
    "JAX": jnp.asarray,
    "array API": array_api_strict.asarray,
    "DLPack": lambda codes: OnlyDlpack(torch.tensor(codes)),
}


@pytest.mark.parametrize("kind", CODES)
def test_numbers_as_labels_and_weights(codes, scores, expected, kind):
    assert values(CODES[kind](codes), scores) == expected
    weighted = values(codes, scores, sample_weight=codes % 3 + 1.5)
    assert values(codes, scores, sample_weight=CODES[kind](codes % 3 + 1.5)) == weighted


@pytest.mark.parametrize("frame", [polars_frame, arrow_table, lambda s, names: arrow_table(s, names).to_batches()[0]])
def test_columns_by_name_are_the_classes(names, scores, expected, frame):
    order = [3, 1, 0, 2]
    y_score = frame(scores[:, order], NAMES[order])
    assert values(names, y_score) == expected
    assert list(multiauc.one_vs_rest_per_class(names, y_score)) == NAMES[order].tolist()


def test_default_names_of_polars_are_not_the_classes(names, scores, expected):
    assert values(names, pl.DataFrame(scores)) == expected


# Half precision: converted to float32, which holds all its values

HALVES = {
    "NumPy float16": lambda scores: scores.astype(np.float16),
    "torch float16": lambda scores: torch.tensor(scores).half(),
    "torch bfloat16": lambda scores: torch.tensor(scores).bfloat16(),
    "JAX float16": lambda scores: jnp.asarray(scores, dtype=jnp.float16),
    "JAX bfloat16": lambda scores: jnp.asarray(scores, dtype=jnp.bfloat16),
    "Arrow float16": lambda scores: pa.table(
        {name: pa.array(scores[:, k].astype(np.float16)) for k, name in enumerate(NAMES)}
    ),
}


@pytest.mark.parametrize("kind", HALVES)
def test_half_precision(names, scores, kind):
    rounded = torch.tensor(scores).to(torch.bfloat16 if "bfloat16" in kind else torch.float16).float().numpy()
    y_score = HALVES[kind](scores)
    assert as_scores("y_score", y_score).dtype == np.float32
    assert values(names, y_score, labels=NAMES) == values(names, rounded)


# No copies where the memory is one block; one where each column has its own


IN_PLACE = {
    "pandas frame of one block": (lambda s: pd.DataFrame(s, copy=False), lambda _, source: source),
    "polars frame of one block": (lambda s: pl.DataFrame(np.asfortranarray(s)), lambda frame, _: frame.to_numpy()),
    "torch": (torch.from_numpy, lambda _, source: source),
    "torch, part of a graph": (
        lambda s: torch.from_numpy(s).requires_grad_(),
        lambda tensor, _: tensor.detach().numpy(),
    ),
    "torch float32, every second row": (
        lambda s: torch.from_numpy(s).float()[::2],
        lambda tensor, _: tensor.numpy(),
    ),
    "JAX": (jnp.asarray, lambda array, _: np.from_dlpack(array)),
    "array API": (array_api_strict.asarray, lambda array, _: np.from_dlpack(array)),
    "DLPack": (OnlyDlpack, lambda _, source: source),
    "polars series": (lambda s: pl.Series(s[:, 0].copy()), lambda series, _: series.to_numpy()),
    "Arrow array": (lambda s: pa.array(s[:, 0].copy()), lambda array, _: array.to_numpy()),
    "Arrow array of one chunk": (
        lambda s: pa.chunked_array([pa.array(s[:, 0].copy())]),
        lambda chunked, _: chunked.chunk(0).to_numpy(),
    ),
}


@pytest.mark.parametrize("kind", IN_PLACE)
def test_read_in_place(scores, kind):
    make, memory = IN_PLACE[kind]
    source = scores.copy()
    given = make(source)
    read = as_scores("y_score", given)
    assert np.shares_memory(read, memory(given, source))
    assert read.ctypes.data == memory(given, source).ctypes.data


COPIED = {
    "Arrow table": arrow_table,
    "Arrow chunks": lambda scores: pa.chunked_array([scores[:9, 0].copy(), scores[9:, 0].copy()]),
    "polars frame with columns of its own": lambda scores: pl.DataFrame(
        {name: scores[:, k].copy() for k, name in enumerate(NAMES)}
    ),
}


@pytest.mark.parametrize("kind", COPIED)
def test_copied_once_in_the_same_precision(scores, kind):
    assert as_scores("y_score", COPIED[kind](scores)).dtype == np.float64
    assert as_scores("y_score", COPIED[kind](scores.astype(np.float32))).dtype == np.float32


def test_codes_of_categories_are_read_in_place(names):
    coded = pa.array(names.tolist()).dictionary_encode()
    assert np.shares_memory(label_codes(coded)[0], coded.indices.to_numpy())
    series = pl.Series(names, dtype=pl.Enum(NAMES))
    assert np.shares_memory(label_codes(series)[0], series.to_physical().to_numpy())


# Errors


MISSING = {
    "Arrow dictionary": lambda names: pa.array(names).dictionary_encode(),
    "Arrow strings in chunks": lambda names: pa.chunked_array([names[:2], names[2:]]),
    "polars categories": lambda names: pl.Series(names, dtype=pl.Categorical),
    "polars strings": pl.Series,
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_label_is_named_by_its_row(names, scores, kind):
    y_true = names.tolist()
    y_true[5] = None
    with pytest.raises(ValueError, match=r"y_true has a missing label \(None\) at row 5"):
        multiauc.auc_mu_score(MISSING[kind](y_true), scores)


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_a_missing_score_is_refused(names, scores, frame):
    columns = {name: scores[:, k].tolist() for k, name in enumerate(NAMES)}
    columns["bee"][3] = None
    with pytest.raises(ValueError, match="y_score"):
        multiauc.auc_mu_score(names, frame(columns))


def test_an_array_elsewhere_is_refused_with_its_librarys_advice(names, scores):
    elsewhere = array_api_strict.asarray(scores, device=array_api_strict.Device("device1"))
    with pytest.raises(TypeError, match=r"y_score must be an array in the main memory; .*device1"):
        multiauc.auc_mu_score(names, elsewhere)
    with pytest.raises(TypeError, match=r"y_score must be an array in the main memory; .*Tensor\.cpu\(\)"):
        multiauc.auc_mu_score(names, torch.empty(400, 4, device="meta"))
