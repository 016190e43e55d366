"""Bad input raises an error that names the argument, what was found and what is accepted."""

import numpy as np
import pytest

import multiauc
from small_sample import FUNCTIONS, LABELS, Y_SCORE, Y_TRUE

pd = pytest.importorskip("pandas")


@pytest.fixture(params=FUNCTIONS, ids=lambda function: function.__name__)
def function(request):
    return request.param


def with_score(value, row=4, column=2):
    y_score = Y_SCORE.copy()
    y_score[row, column] = value
    return y_score


# Scores


@pytest.mark.parametrize(("value", "name"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_that_are_not_finite(function, value, name, dtype):
    with pytest.raises(ValueError, match=f"(?i)y_score .*{name} at row 4, column 2"):
        function(Y_TRUE, with_score(value).astype(dtype))


def test_scores_that_are_not_finite_under_nan_policy():
    kept = [0, 1, 3, 4]
    with pytest.raises(ValueError, match=r"(?i)y_score .*nan at row 3, column 2"):
        multiauc.auc_mu_score(["a", "b", "a", "b"], with_score(np.nan)[kept], labels=LABELS, absent="nan")


def test_a_missing_score_of_a_nullable_frame():
    frame = pd.DataFrame(Y_SCORE).astype("Float64")
    frame.iloc[1, 0] = pd.NA
    with pytest.raises(ValueError, match=r"(?i)y_score .*nan at row 1, column 0"):
        multiauc.auc_mu_score(Y_TRUE, frame)


def test_one_score_per_row_that_is_not_finite(function):
    with pytest.raises(ValueError, match=r"(?i)y_score .*nan at row 1"):
        function([0, 1, 1], [0.5, np.nan, 0.25])


@pytest.mark.parametrize(
    ("y_score", "dtype"),
    [
        (Y_SCORE.astype(object), "object"),
        (Y_SCORE.astype(complex), "complex128"),
        (Y_SCORE.astype(str), "<U"),
        (np.zeros((6, 3), dtype="M8[s]"), "datetime64"),
        (pd.DataFrame(Y_SCORE).assign(text="x"), "object"),
    ],
)
def test_scores_of_a_dtype_that_is_not_real(function, y_score, dtype):
    with pytest.raises(TypeError, match=f"y_score must hold real numbers; got dtype {dtype}"):
        function(Y_TRUE, y_score)


@pytest.mark.parametrize("value", [None, "scores", {}])
def test_scores_that_are_no_array(function, value):
    with pytest.raises(TypeError, match=f"y_score must hold real numbers; got {value!r}"):
        function(Y_TRUE, value)


@pytest.mark.parametrize("shape", [(6, 3, 1), (1, 6, 3), ()])
def test_scores_of_a_wrong_number_of_dimensions(function, shape):
    with pytest.raises(ValueError, match=rf"y_score must have a row per instance.*got shape \({str(shape)[1:-1]}\)"):
        function(Y_TRUE, np.ones(shape))


@pytest.mark.parametrize("shape", [(0, 3), (0,), (6, 0)])
def test_no_scores_at_all(function, shape):
    with pytest.raises(ValueError, match=r"y_score must have a row per instance.*got an empty array of shape"):
        function([], np.ones(shape))


def test_ragged_scores(function):
    with pytest.raises(ValueError, match=r"y_score must be a rectangular array"):
        function([0, 1], [[0.5, 0.5], [1.0]])


def test_masked_scores(function):
    with pytest.raises(ValueError, match=r"y_score must not have masked entries"):
        function(Y_TRUE, np.ma.masked_less(Y_SCORE, 0.15))


def test_too_many_columns():
    with pytest.raises(ValueError, match=r"y_score must have at most 65536 columns; got shape \(2, 65537\)"):
        multiauc.auc_mu_score([0, 1], np.broadcast_to(0.0, (2, 65537)))


@pytest.mark.parametrize("n", [5, 7])
def test_lengths_that_differ(function, n):
    for y_true in (list("abcabca"[:n]), np.arange(n) % 3, pd.Categorical(list("abcabca"[:n]))):
        with pytest.raises(ValueError, match=rf"y_true and y_score .*same number of rows; got {n} labels and 6 rows"):
            function(y_true, Y_SCORE)


# Labels


@pytest.mark.parametrize("y_true", [np.eye(3)[[0, 1, 2, 0, 1, 2]], np.eye(3, dtype=int)[[0, 1, 2, 0, 1, 2]].tolist()])
def test_one_hot_labels(function, y_true):
    with pytest.raises(ValueError, match=r"y_true .*shape \(6, 3\), which looks one-hot: pass .*\.argmax\(axis=1\)"):
        function(y_true, Y_SCORE)


@pytest.mark.parametrize("y_true", [np.array(Y_TRUE)[:, None], pd.DataFrame({"label": Y_TRUE})])
def test_labels_in_a_column_vector(function, y_true):
    with pytest.raises(ValueError, match=r"y_true .*shape \(6, 1\): pass .*\.ravel\(\)"):
        function(y_true, Y_SCORE)


@pytest.mark.parametrize(("y_true", "found"), [(None, "None"), ("abcabc", "'abcabc'"), (3, "3"), ({"a", "b"}, "set")])
def test_labels_that_are_no_array(function, y_true, found):
    with pytest.raises(ValueError, match=f"y_true must be one-dimensional with one label per row; got {found}"):
        function(y_true, Y_SCORE)


def test_labels_of_too_many_dimensions(function):
    with pytest.raises(ValueError, match=r"y_true must be one-dimensional .* got shape \(6, 5\)"):
        function(np.zeros((6, 5)), Y_SCORE)


@pytest.mark.parametrize(
    ("y_true", "missing"),
    [
        (["a", "b", None, "a", "b", "c"], "None"),
        (["a", "b", np.nan, "a", "b", "c"], "nan"),
        ([1, 2, None, 1, 2, 3], "None"),
        ([1, 2, np.nan, 1, 2, 3], "nan"),
        ([np.inf, 2, np.nan, 1, "a", 3], "nan"),
        (np.array([1, 2, np.nan, 1, 2, 3], dtype=np.float32), "nan"),
        (np.array(["a", "b", None, "a", "b", "c"], dtype=object), "None"),
        (pd.Series(["a", "b", None, "a", "b", "c"]), "(None|nan)"),
        (pd.Series([1, 2, None, 1, 2, 3], dtype="Int64"), "(<NA>|nan)"),
        (pd.Series(["a", "b", None, "a", "b", "c"], dtype="category"), "None"),
        (pd.Categorical(["a", "b", None, "a", "b", "c"]), "None"),
        (np.array(["2024", "2025", "NaT", "2024", "2025", "2026"], dtype="M8[Y]"), r".*NaT.*"),
    ],
)
def test_missing_labels_name_the_row(function, y_true, missing):
    with pytest.raises(ValueError, match=rf"y_true has a missing label \({missing}\) at row 2"):
        function(y_true, Y_SCORE)


def test_masked_labels(function):
    with pytest.raises(ValueError, match="y_true must not have masked entries"):
        function(np.ma.masked_equal([0, 1, 2, 0, 1, 2], 1), Y_SCORE)


def test_labels_that_cannot_be_hashed(function):
    with pytest.raises(TypeError, match=r"y_true must hold hashable labels.*list"):
        function(["a", "b", ["c"], "a", "b", "c"], Y_SCORE)


def test_labels_that_cannot_be_sorted(function):
    with pytest.raises(ValueError, match=r"labels of y_true cannot be sorted.*1, 'b'.*pass labels="):
        function([1, "b", "c", 1, "b", "c"], Y_SCORE)


@pytest.mark.parametrize("absent", ["raise", "ignore", "nan"])
@pytest.mark.parametrize("y_true", [list("ababab"), np.array(list("ababab")), [0, 1] * 3, np.array([2.5, 7.5] * 3)])
def test_fewer_labels_than_columns(function, y_true, absent):
    with pytest.raises(ValueError, match=r"y_true has 2 distinct labels .*3 classes; pass labels= with the 3 classes"):
        function(y_true, Y_SCORE, absent=absent)


def test_more_labels_than_columns(function):
    with pytest.raises(
        ValueError, match=r"y_true has 6 distinct labels \(0, 1, 2, 3, 4, 5\) .*3 classes; pass labels="
    ):
        function(np.arange(6), Y_SCORE)


def test_more_labels_than_can_be_numbered():
    y_true = [f"row {k}" for k in range(65_537)]
    with pytest.raises(ValueError, match="y_true must have at most 65536 distinct labels; got 65537"):
        multiauc.auc_mu_score(y_true, np.zeros((65_537, 2)))


def test_more_than_two_labels_for_one_score_per_row(function):
    with pytest.raises(ValueError, match=r"y_true has 3 distinct labels .*2 classes; pass labels="):
        function(Y_TRUE, Y_SCORE[:, 0])


def test_a_long_list_of_labels_is_cut(function):
    with pytest.raises(ValueError, match=r"20 distinct labels \(0, 1, 2, 3, 4, 5, 6, 7 and 12 more\)"):
        function(np.arange(20), np.ones((20, 3)))


@pytest.mark.parametrize("absent", ["raise", "ignore", "nan"])
def test_one_class_only(function, absent):
    with pytest.raises(ValueError, match=r"y_true has 1 distinct label \('a'\).* at least two"):
        function(["a"] * 6, Y_SCORE, absent=absent)
    with pytest.raises(ValueError, match=r"y_true has rows of one class only \('a'\).* at least two"):
        function(["a"] * 6, Y_SCORE, labels=LABELS, absent=absent)
    with pytest.raises(ValueError, match=r"y_true has rows of positive weight of one class only \('b'\)"):
        function(Y_TRUE, Y_SCORE, sample_weight=[0, 1, 0, 0, 1, 0], absent=absent)


def test_an_absent_class_is_named_with_the_cure(function):
    with pytest.raises(ValueError, match=r"y_true has no rows of 1 class: 'c'; pass absent='ignore' .*absent='nan'"):
        function(list("ababab"), Y_SCORE, labels=LABELS)


def test_many_absent_classes_are_cut():
    with pytest.raises(ValueError, match=r"no rows of 18 classes: 2, 3, 4, 5, 6, 7, 8, 9 and 10 more"):
        multiauc.auc_mu_score([0, 1], np.ones((2, 20)), labels=range(20))


@pytest.mark.parametrize("form", [list, np.array, lambda y: np.array(y, dtype=object), pd.Categorical])
def test_an_unknown_label_is_named_with_its_row(function, form):
    with pytest.raises(
        ValueError, match=r"y_true has the label 'c' at row 2, which is not among labels: 'a', 'b', 'x'"
    ):
        function(form(Y_TRUE), Y_SCORE, labels=["a", "b", "x"])


def test_numbers_where_labels_are_strings(function):
    with pytest.raises(ValueError, match=r"label 0 at row 0, .*among labels: 'a', 'b', 'c'"):
        function([0, 1, 2, 0, 1, 2], Y_SCORE, labels=LABELS)
    with pytest.raises(ValueError, match=r"among labels: '0', '1', '2' \(0 is of type int, '0' of type str\)"):
        function([0, 1, 2, 0, 1, 2], Y_SCORE, labels=["0", "1", "2"])


def test_a_label_that_no_column_is_named_for(function):
    frame = pd.DataFrame(Y_SCORE, columns=["p_x", "p_b", "p_c"])
    with pytest.raises(ValueError, match=r"label 'a' at row 0, .*column names of y_score: 'x', .*pass labels="):
        function(Y_TRUE, frame)


def test_column_names_that_repeat(function):
    frame = pd.DataFrame(Y_SCORE, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match=r"column names of y_score must be distinct; 'a' is there more than once"):
        function(Y_TRUE, frame)


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c", "d"], []])
def test_a_wrong_number_of_labels(function, labels):
    with pytest.raises(
        ValueError, match=rf"labels must name the class of each of the 3 columns.*got {len(labels)} label"
    ):
        function(Y_TRUE, Y_SCORE, labels=labels)


@pytest.mark.parametrize(("labels", "twice"), [(["a", "b", "a"], "'a'"), ([1, 2, 2.0], "2.0"), ([0, 1, True], "True")])
def test_labels_that_repeat(function, labels, twice):
    with pytest.raises(ValueError, match=f"labels must be distinct; {twice} is there more than once"):
        function(Y_TRUE, Y_SCORE, labels=labels)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_entries_of_labels(function, missing):
    with pytest.raises(ValueError, match=r"labels has a missing entry \(.*\) at position 1"):
        function(Y_TRUE, Y_SCORE, labels=["a", missing, "c"])


@pytest.mark.parametrize(("labels", "found"), [("abc", "'abc'"), ({"a", "b", "c"}, "set"), (3, "3")])
def test_labels_without_an_order(function, labels, found):
    with pytest.raises(TypeError, match=f"labels must be a sequence of the classes in column order; got {found}"):
        function(Y_TRUE, Y_SCORE, labels=labels)


def test_entries_of_labels_that_cannot_be_hashed(function):
    with pytest.raises(TypeError, match=r"labels must be hashable.*got \['b'\]"):
        function(Y_TRUE, Y_SCORE, labels=["a", ["b"], "c"])
