"""Scores of scipy.sparse: what is not stored is 0, and every value is that of the dense matrix."""

import functools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc

sparse = pytest.importorskip("scipy.sparse")

PAIR_WEIGHTS = (None, "size_sum", "size_product")
AVERAGES = ("macro", "prevalence", "prevalence_equal_rest", "micro")
FUNCTIONS = [
    *(functools.partial(multiauc.hand_till_score, pair_weights=kind) for kind in PAIR_WEIGHTS),
    *(functools.partial(multiauc.one_vs_rest_score, average=average) for average in AVERAGES),
    multiauc.one_vs_rest_per_class,
]
NAMES = [
    *(f"hand_till {kind}" for kind in PAIR_WEIGHTS),
    *(f"one_vs_rest {average}" for average in AVERAGES),
    "per class",
]


def all_values(y_true, y_score, **options):
    """The values of all functions that take sparse scores, and those of classes in their order."""
    found = [function(y_true, y_score, **options) for function in FUNCTIONS]
    return [*found[:-1], *found[-1].values()]


def assert_same_bits(y_true, y_score, **options):
    np.testing.assert_array_equal(
        all_values(y_true, y_score, **options), all_values(y_true, y_score.toarray(), **options)
    )


def compressed(rows, width, dtype=np.float64, index=np.int32, kind=sparse.csr_matrix):
    """A matrix from lists of cells (column, value), stored as they are: unsorted, and repeated cells too."""
    cells = [cell for row in rows for cell in row]
    columns, values = ([cell[k] for cell in cells] for k in (0, 1))
    starts = np.cumsum([0, *map(len, rows)])
    arrays = np.array(values, dtype), np.array(columns, index), starts.astype(index)
    matrix = kind((len(rows), width), dtype=dtype)
    matrix.data, matrix.indices, matrix.indptr = arrays
    return matrix


@st.composite
def samples(draw, width=None):
    """(rows of cells, width, codes): few distinct values, zeros and negative ones too, empty rows, absent classes."""
    width = draw(st.integers(2, 9)) if width is None else width
    cells = st.tuples(st.integers(0, width - 1), st.integers(-2, 4).map(lambda value: value / 4))
    codes = draw(st.lists(st.integers(0, max(width, 2) - 1), min_size=2, max_size=40).filter(lambda c: len(set(c)) > 1))
    rows = [draw(st.lists(cells, max_size=5)) for _ in codes]
    return rows, width, codes


@given(
    samples(),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([np.int32, np.int64]),
    st.sampled_from([sparse.csr_matrix, sparse.csr_array]),
)
def test_values_have_the_bits_of_the_dense_ones(sample, dtype, index, kind):
    rows, width, codes = sample
    matrix = compressed(rows, width, dtype, index, kind)
    assert matrix.indices.dtype == index
    assert_same_bits(codes, matrix, labels=range(width), absent="ignore")


@given(samples(), st.randoms(use_true_random=False))
def test_weighted_values_are_the_dense_ones(sample, random):
    rows, width, codes = sample
    weights = [random.choice([0.0, 0.3, 1.0, 7.5]) for _ in codes]
    weights[0] = weights[next(k for k, code in enumerate(codes) if code != codes[0])] = 1.0
    matrix = compressed(rows, width)
    options = {"labels": range(width), "absent": "ignore", "sample_weight": weights}
    np.testing.assert_allclose(
        all_values(codes, matrix, **options), all_values(codes, matrix.toarray(), **options), rtol=0, atol=1e-14
    )


@given(samples(), st.integers(0, 2**32))
def test_a_matrix_of_pair_weights_counts_as_with_dense_scores(sample, seed):
    rows, width, codes = sample
    weights = np.random.default_rng(seed).random((width, width))
    matrix = compressed(rows, width)
    options = {"labels": range(width), "absent": "ignore", "pair_weights": weights + weights.T}
    assert multiauc.hand_till_score(codes, matrix, **options) == multiauc.hand_till_score(
        codes, matrix.toarray(), **options
    )


@given(samples(width=1))
def test_one_column_scores_the_second_of_two_classes(sample):
    rows, width, codes = sample
    assert_same_bits(codes, compressed(rows, width))


def test_the_definition_of_m():
    # Class 0: rows with 0.9 and nothing; class 1: a row with 0.5 in column 0, 0.4 in its own; class 2: -1 in column 0.
    matrix = compressed([[(0, 0.9)], [], [(1, 0.4), (0, 0.5)], [(0, -1.0)]], 3)
    of_0 = (0.5, 1.0)  # against class 1: one of two pairs; against class 2: both
    of_1 = (1.0, 1.0)
    of_2 = (0.5, 0.5)  # nothing is stored in its column
    expected = math.fsum([*of_0, *of_1, *of_2]) / 6
    assert multiauc.hand_till_score([0, 0, 1, 2], matrix) == expected
    per_class = multiauc.one_vs_rest_per_class([0, 0, 1, 2], matrix)
    assert per_class == {0: 0.75, 1: 1.0, 2: 0.5}


@pytest.mark.parametrize("kind", ["coo", "csc", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("family", ["matrix", "array"])
def test_other_formats_are_converted(kind, family, rng):
    dense = rng.integers(-1, 3, size=(60, 5)) / 2
    codes = np.arange(60) % 5
    matrix = getattr(sparse, f"{kind}_{family}")(dense)
    assert matrix.format == kind
    assert all_values(codes, matrix) == all_values(codes, dense)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint16, np.longdouble])
def test_numbers_of_other_types_are_those_of_the_dense_array(dtype):
    rows = [[(0, 1), (0, 1)], [(0, 1)], [(1, 1)], [(2, 1), (1, 1)], []]
    matrix = compressed(rows, 3, dtype)
    before = matrix.data.copy()
    codes = [0, 1, 1, 2, 0]
    assert all_values(codes, matrix) == all_values(codes, matrix.toarray())
    np.testing.assert_array_equal(matrix.data, before)


def test_cells_stored_more_than_once_are_added_in_their_order(rng):
    values = rng.normal(size=(300, 6)).astype(np.float32)
    rows = [[(int(c), v) for c, v in zip(rng.integers(0, 2, size=6), row, strict=True)] for row in values]
    matrix = compressed(rows, 3, np.float32)
    codes = rng.integers(0, 3, size=300)
    before = [array.copy() for array in (matrix.data, matrix.indices, matrix.indptr)]
    assert_same_bits(codes, matrix)
    for array, copy in zip((matrix.data, matrix.indices, matrix.indptr), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_stored_zeros_and_empty_matrices_tie():
    zeros = compressed([[(0, 0.0)], [(1, -0.0)], [], [(1, 0.0), (0, -0.0)]], 2)
    empty = sparse.csr_array((4, 2))
    for matrix in (zeros, empty):
        assert set(all_values([0, 1, 0, 1], matrix)) == {0.5}


def test_absent_classes(rng):
    matrix = sparse.random(50, 6, density=0.4, format="csr", random_state=1)
    codes = np.array([0, 2, 5])[np.arange(50) % 3]
    with pytest.raises(ValueError, match=r"y_true has no rows of 3 classes: 1, 3, 4; pass absent='ignore'"):
        multiauc.hand_till_score(codes, matrix, labels=range(6))
    for function in FUNCTIONS[:-1]:
        assert math.isnan(function(codes, matrix, labels=range(6), absent="nan"))
    present = matrix[:, [0, 2, 5]]
    assert all_values(codes, matrix, labels=range(6), absent="ignore") == all_values(codes, present)
    found = multiauc.one_vs_rest_per_class(codes, matrix, labels=range(6), absent="nan")
    assert [label for label, value in found.items() if math.isnan(value)] == [1, 3, 4]
    assert set(multiauc.one_vs_rest_per_class(codes, matrix, labels=range(6), absent="ignore")) == {0, 2, 5}


@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(weighted, rng, restore_threads):
    n, k = 20_000, 200  # more entries than one run of columns has
    codes = rng.integers(0, k, size=n)
    rows = [[(int(c), float(v)) for c, v in zip(cs, vs, strict=True)] for cs, vs in top_k(rng, codes, k)]
    matrix = compressed(rows, k)
    weights = rng.random(n) if weighted else None
    found = []
    for threads in (1, 2, 3):
        multiauc.set_num_threads(threads)
        found.append(all_values(codes, matrix, labels=range(k), absent="ignore", sample_weight=weights))
    assert found[0] == found[1] == found[2]
    dense = all_values(codes, matrix.toarray(), labels=range(k), absent="ignore", sample_weight=weights)
    np.testing.assert_allclose(found[0], dense, rtol=0, atol=1e-12 if weighted else 0)


def top_k(rng, codes, n_classes):
    """(columns, values) of each row's five best classes, its own among them more often than not."""
    columns = rng.integers(0, n_classes, size=(len(codes), 5))
    own = rng.random(len(codes)) < 0.7
    columns[own, 0] = codes[own]
    values = -np.sort(-rng.random((len(codes), 5)), axis=1)
    return zip(columns, values, strict=True)


class TestManyClasses:
    """More classes than dense scores may have."""

    N_CLASSES = 100_000

    @pytest.fixture
    def data(self, rng):
        codes = rng.integers(0, self.N_CLASSES, size=2000)
        codes[:2] = 0, self.N_CLASSES - 1
        rows = [list(zip(cs.tolist(), vs.tolist(), strict=True)) for cs, vs in top_k(rng, codes, self.N_CLASSES)]
        return codes, compressed(rows, self.N_CLASSES)

    @pytest.fixture
    def expected(self, data):
        """The values of the present classes, whose columns fit into a dense matrix."""
        codes, matrix = data
        present = np.unique(codes)
        return all_values(codes, matrix[:, present].toarray(), labels=present)

    def test_values(self, data, expected):
        codes, matrix = data
        assert all_values(codes, matrix, labels=range(self.N_CLASSES), absent="ignore") == expected
        float_labels = np.arange(self.N_CLASSES) / 2
        assert all_values(codes / 2, matrix, labels=float_labels, absent="ignore") == expected

    def test_labels_of_other_kinds(self, data, expected):
        pd = pytest.importorskip("pandas")
        codes, matrix = data
        names = [f"class {k}" for k in range(self.N_CLASSES)]
        y_true = [names[code] for code in codes]
        for given_labels in (y_true, np.array(y_true), np.array(y_true, object), pd.Categorical(y_true, names)):
            assert all_values(given_labels, matrix, labels=names, absent="ignore")[:3] == expected[:3]

    def test_every_class_is_present(self):
        codes = np.arange(self.N_CLASSES)[::-1].copy()
        matrix = sparse.csr_array((np.ones(self.N_CLASSES), (np.arange(self.N_CLASSES), codes)))
        assert set(all_values(codes, matrix)) == {1.0}
        matrix.data[:] = -1.0
        assert set(all_values(codes, matrix)) == {0.0}

    def test_weights(self, data):
        codes, matrix = data
        options = {"labels": range(self.N_CLASSES), "absent": "ignore"}
        weights = np.full(len(codes), 3.0)
        unweighted, weighted = (all_values(codes, matrix, sample_weight=w, **options) for w in (None, weights))
        np.testing.assert_allclose(weighted, unweighted, rtol=0, atol=1e-14)


class TestErrors:
    MATRIX = compressed([[(0, 0.9)], [(1, 0.5)], [(2, 0.4)]], 3)
    CODES = (0, 1, 2)

    @pytest.fixture(params=FUNCTIONS, ids=NAMES)
    def function(self, request):
        return request.param

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_scores_that_are_not_finite(self, function, value):
        matrix = self.MATRIX.copy()
        matrix.data[1] = value
        with pytest.raises(ValueError, match=f"y_score contains {value} at row 1, column 1"):
            function(self.CODES, matrix)
        assert function(self.CODES, matrix, sample_weight=[1, 0, 1], absent="ignore")

    def test_arrays_that_fit_no_matrix(self, function):
        matrix = self.MATRIX.copy()
        matrix.indices[2] = 3
        with pytest.raises(ValueError, match=r"indices have column 3 in row 2, but it has 3 columns"):
            function(self.CODES, matrix)
        matrix = self.MATRIX.copy()
        matrix.indptr[2] = 7
        with pytest.raises(ValueError, match=r"indptr says that row 1 starts or ends outside"):
            function(self.CODES, matrix)

    def test_shapes(self, function):
        for shape in ((0, 3), (3, 0)):
            with pytest.raises(ValueError, match=r"y_score must have a row per instance .*; got csr_matrix of shape"):
                function([], sparse.csr_matrix(shape))
        with pytest.raises(ValueError, match=r"y_score must have a row per instance .*; got coo_array of shape \(3,\)"):
            function(self.CODES, sparse.coo_array(np.ones(3)))
        with pytest.raises(ValueError, match=r"same number of rows; got 2 labels and 3 rows"):
            function([0, 1], self.MATRIX)

    def test_labels_weights_and_complex_numbers(self, function):
        with pytest.raises(ValueError, match=r"y_true has 2 distinct labels \(0, 1\) but y_score is for 3 classes"):
            function([0, 1, 1], self.MATRIX)
        with pytest.raises(ValueError, match=r"sample_weight contains -1 at row 0"):
            function(self.CODES, self.MATRIX, sample_weight=[-1, 1, 1])
        with pytest.raises(TypeError, match="y_score must hold real numbers; got dtype complex128"):
            function(self.CODES, self.MATRIX.astype(complex))
        with pytest.raises(ValueError, match=r"y_true has rows of one class only \(0\)"):
            function([0, 0, 0], self.MATRIX, labels=range(3), absent="ignore")

    @pytest.mark.parametrize(
        "dense_only",
        [
            multiauc.auc_mu_score,
            multiauc.auc_mu_matrix,
            multiauc.hand_till_matrix,
            multiauc.evaluate,
            multiauc.roc_curves,
            multiauc.pdi_score,
            multiauc.multiclass_roc,
            lambda y, s: multiauc.compare(y, {"a": s, "b": s}),
        ],
    )
    def test_functions_of_dense_scores_say_who_takes_sparse_ones(self, dense_only):
        words = (
            r"y_score.* must be a dense array here; got csr_matrix of shape \(3, 3\), which is sparse.*hand_till_score"
        )
        with pytest.raises(TypeError, match=words):
            dense_only(self.CODES, self.MATRIX)

    def test_sparse_labels(self):
        with pytest.raises(TypeError, match=r"y_true must be a dense array here; got csr_matrix of shape \(3, 3\)"):
            multiauc.hand_till_score(self.MATRIX, self.MATRIX)


def test_scipy_is_not_imported():
    lines = ["import sys", "import multiauc", "multiauc.hand_till_score([0, 1], [[1, 0], [0, 1]])"]
    command = [
        sys.executable,
        "-W",
        "ignore::RuntimeWarning",
        "-c",
        "\n".join([*lines, "print('scipy' in sys.modules)"]),
    ]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == "False"
