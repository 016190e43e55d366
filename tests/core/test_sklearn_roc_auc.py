"""`multiauc.sklearn.roc_auc_score` against scikit-learn's function of that name."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score as theirs

import multiauc
import multiauc.sklearn
from multiauc.sklearn import roc_auc, roc_auc_score

NAMES = np.array(["ant", "bee", "cow", "dog", "eel", "fox"])


def outcome(function, *arguments, **options):
    """Value, type, warnings and error of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value, error = function(*arguments, **options), None
        except Exception as raised:  # noqa: BLE001 - whatever it is has to be the same
            value, error = None, (type(raised), str(raised))
    return value, error, [(warning.category, str(warning.message)) for warning in caught]


def assert_same(*arguments, tolerance=1e-12, **options):
    value, error, warned = outcome(roc_auc_score, *arguments, **options)
    expected, expected_error, expected_warnings = outcome(theirs, *arguments, **options)
    assert error == expected_error
    assert warned == expected_warnings
    if error is None:
        assert isinstance(value, type(expected)) or isinstance(expected, float) is isinstance(value, float)
        np.testing.assert_allclose(value, expected, rtol=0, atol=tolerance, equal_nan=True)


@pytest.fixture
def no_help(monkeypatch):
    """Fail if a call is handed over to scikit-learn."""

    def refuse(*_arguments, **_options):
        raise AssertionError("handed over to scikit-learn")

    monkeypatch.setattr(roc_auc, "_ask_scikit_learn", refuse)


@st.composite
def multi_class_problems(draw):
    k = draw(st.integers(3, 6))
    n = draw(st.integers(2 * k, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    scores = rng.random((n, k)) + np.eye(k)[codes] / 2
    decimals = draw(st.sampled_from([None, 1]))
    if decimals is not None:
        scores = np.round(scores, decimals) + 0.1
    scores = (scores / scores.sum(axis=1, keepdims=True)).astype(draw(st.sampled_from([np.float64, np.float32])))
    kind = draw(st.sampled_from(["integers", "strings", "floats", "list", "series", "categorical"]))
    y_true = {
        "integers": codes * 3 - 4,
        "strings": NAMES[codes],
        "floats": codes.astype(float),
        "list": NAMES[codes].tolist(),
        "series": pd.Series(NAMES[codes]),
        "categorical": pd.Series(pd.Categorical(NAMES[codes], categories=NAMES[::-1])),
    }[kind]
    weights = rng.integers(1, 5, n) / 2 if draw(st.booleans()) else None
    return y_true, scores, weights


@given(multi_class_problems(), st.sampled_from(["macro", "weighted", "micro", None]))
def test_one_vs_rest(problem, average):
    y_true, scores, weights = problem
    assert_same(y_true, scores, multi_class="ovr", average=average, sample_weight=weights)


@given(multi_class_problems(), st.sampled_from(["macro", "weighted"]))
def test_one_vs_one(problem, average):
    y_true, scores, _ = problem
    assert_same(y_true, scores, multi_class="ovo", average=average)


@st.composite
def binary_problems(draw):
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.concatenate([[0, 1], rng.integers(2, size=n - 2)])
    scores = np.round(rng.normal(size=n) + codes, draw(st.sampled_from([0, 1, 8])))
    kind = draw(st.sampled_from(["integers", "bools", "strings", "signs", "objects"]))
    y_true = {
        "integers": codes,
        "bools": codes.astype(bool),
        "strings": np.array(["yes", "no"])[codes],
        "signs": codes * 2.0 - 1,
        "objects": np.array(["b", "a"], dtype=object)[codes],
    }[kind]
    form = draw(st.sampled_from([np.asarray, list, lambda s: s[:, None], lambda s: s.astype(np.float32), pd.Series]))
    weights = rng.random(n) + 0.1 if draw(st.booleans()) else None
    return y_true, form(scores), weights


@given(binary_problems(), st.sampled_from([None, 1, 1.0, 0.5, 0.1, 1e-3]))
def test_binary(problem, max_fpr):
    y_true, scores, weights = problem
    assert_same(y_true, scores, sample_weight=weights, max_fpr=max_fpr)


@given(
    st.integers(0, 2**32),
    st.sampled_from(["macro", "weighted", "micro", "samples", None]),
    st.booleans(),
    st.sampled_from([None, 0.4]),
    st.sampled_from([np.int64, np.bool_, np.float64, list]),
)
def test_multi_label(seed, average, weighted, max_fpr, form):
    rng = np.random.default_rng(seed)
    n, k = rng.integers(1, 25), rng.integers(2, 6)
    y_true = rng.integers(2, size=(n, k))
    scores = np.round(rng.random((n, k)) + y_true / 3, 1)
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    given_labels = y_true.tolist() if form is list else y_true.astype(form)
    assert_same(given_labels, scores, average=average, sample_weight=weights, max_fpr=max_fpr)


@pytest.fixture
def sample(rng):
    codes = np.concatenate([np.arange(4), rng.integers(4, size=56)])
    scores = rng.random((60, 4)) + np.eye(4)[codes] / 2
    return codes, scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
def test_a_class_without_rows(sample, multi_class, average):
    codes, scores = sample
    if (multi_class, average) == ("ovo", None):
        pytest.skip("scikit-learn has no such value")
    keep = codes != 2
    assert_same(codes[keep], scores[keep], labels=[0, 1, 2, 3], multi_class=multi_class, average=average)
    assert_same(codes[codes < 2], scores[codes < 2], labels=[0, 1, 2, 3], multi_class=multi_class, average=average)
    assert_same(codes[codes < 1], scores[codes < 1], labels=[0, 1, 2, 3], multi_class=multi_class, average=average)


def test_an_undefined_value_is_nan_with_scikit_learns_warning():
    with pytest.warns(UndefinedMetricWarning):
        assert math.isnan(roc_auc_score([1, 1, 1], [0.1, 0.2, 0.3]))


@pytest.mark.parametrize("labels", [None, [0, 1], [1, 0], [0, 1, 2]])
@pytest.mark.parametrize("multi_class", ["raise", "ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "weighted", None])
@pytest.mark.parametrize("max_fpr", [None, 0.5])
def test_two_columns_and_one_class(rng, labels, multi_class, average, max_fpr):
    options = {"labels": labels, "multi_class": multi_class, "average": average, "max_fpr": max_fpr}
    positive = rng.random(5)
    for scores in (np.c_[1 - positive, positive], rng.normal(size=(5, 2))):
        for y_true in ([1] * 5, [0] * 5, ["a"] * 5):
            with pytest.warns(UndefinedMetricWarning):
                assert math.isnan(roc_auc_score(y_true, scores, **options))
            assert_same(y_true, scores, **options)
            assert_same(y_true, scores, sample_weight=rng.random(5), **options)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
def test_weights_that_remove_a_class(sample, average):
    codes, scores = sample
    weights = np.where(codes == 1, 0.0, 1.0)
    assert_same(codes, scores, multi_class="ovr", average=average, sample_weight=weights)
    assert_same(codes == 1, scores[:, 1], sample_weight=weights)


def test_everyday_calls_are_computed_here(sample, no_help):
    codes, scores = sample
    names, weights = NAMES[codes], np.ones(60)
    for multi_class in ("ovr", "ovo"):
        for average in ("macro", "weighted", None):
            roc_auc_score(codes, scores, multi_class=multi_class, average=average)
            roc_auc_score(names.tolist(), scores.astype(np.float32), multi_class=multi_class, average=average)
            roc_auc_score(pd.Series(names), pd.DataFrame(scores), multi_class=multi_class, sample_weight=weights)
    roc_auc_score(codes, scores, multi_class="ovr", average="micro")
    with pytest.warns(UndefinedMetricWarning):
        roc_auc_score(codes[codes != 2], scores[codes != 2], multi_class="ovr", average="weighted", labels=[0, 1, 2, 3])
    for y_true in (codes == 1, (codes == 1).astype(int), np.where(codes == 1, "yes", "no"), [*map(float, codes == 1)]):
        for max_fpr in (None, 0.3):
            roc_auc_score(y_true, scores[:, 1], sample_weight=weights, max_fpr=max_fpr)
    for average in ("macro", "weighted", "micro", "samples", None):
        roc_auc_score(np.eye(4, dtype=int)[codes], scores, average=average)


WRONG = {
    "one-hot scores for two classes": (([0, 1, 1], [[0.4, 0.6], [0.3, 0.7], [0.2, 0.8]]), {}),
    "no multi_class": (([0, 1, 2], np.eye(3)), {}),
    "unknown multi_class": (([0, 1, 2], np.eye(3)), {"multi_class": "ova"}),
    "unknown average": (([0, 1, 2], np.eye(3)), {"multi_class": "ovr", "average": "mean"}),
    "samples": (([0, 1, 2], np.eye(3)), {"multi_class": "ovr", "average": "samples"}),
    "micro of pairs": (([0, 1, 2], np.eye(3)), {"multi_class": "ovo", "average": "micro"}),
    "nan": (([0, 1, 2], [[np.nan, 0, 0], [0, 1, 0], [0, 0, 1]]), {"multi_class": "ovr"}),
    "infinite": (([0, 1, 1], [0.1, np.inf, 0.3]), {}),
    "nan in a multi-label score": (([[0, 1], [1, 0]], [[0.1, np.nan], [0.3, 0.4]]), {}),
    "nan where the weight is 0": (([0, 1, 1], [0.1, np.nan, 0.3]), {"sample_weight": [1, 0, 1]}),
    "nan label": (([0, 1, np.nan], [0.1, 0.2, 0.3]), {}),
    "lengths": (([0, 1, 1, 0], [0.1, 0.2, 0.3]), {}),
    "lengths of weights": (([0, 1, 1], [0.1, 0.2, 0.3]), {"sample_weight": [1, 2]}),
    "one score for three classes": (([0, 1, 2], [0.1, 0.2, 0.3]), {"multi_class": "ovr"}),
    "too many labels": (([0, 1, 2, 3], np.eye(3)[[0, 1, 2, 2]]), {"multi_class": "ovr"}),
    "labels twice": (([0, 1, 2], np.eye(3)), {"multi_class": "ovr", "labels": [0, 1, 1]}),
    "label not in labels": (([0, 1, 2], np.eye(3)), {"multi_class": "ovo", "labels": [0, 1, 3]}),
    "too few labels": (([0, 1, 2], np.eye(3)), {"multi_class": "ovr", "labels": [0, 1]}),
    "continuous": (([0.5, 1, 2], np.eye(3)), {"multi_class": "ovr"}),
    "multi-output": (([[0, 2], [1, 0], [2, 1]], np.eye(3)[:, :2]), {}),
    "objects": ((np.array([0, 1, 2], dtype=object), np.eye(3)), {"multi_class": "ovr"}),
    "bytes": (([b"a", b"b"], [0.1, 0.2]), {}),
    "empty": (([], []), {}),
    "no array": ((3, [0.1, 0.2]), {}),
    "max_fpr": (([0, 1], [0.1, 0.2]), {"max_fpr": 0}),
    "text as scores": (([0, 1], ["low", "high"]), {}),
    "negative weights": (([0, 1, 1, 0], [0.4, 0.2, 0.3, 0.1]), {"sample_weight": [1, -1, 1, 1]}),
    "negative weights, three classes": (([0, 1, 2], np.eye(3)), {"multi_class": "ovr", "sample_weight": [1, -1, 1]}),
    "labels of two classes": (([0, 1], [0.1, 0.2]), {"labels": "ab"}),
    "one label of two classes": (([0, 1], [0.1, 0.2]), {"labels": 3}),
    "matrix": (([0, 1, 1], np.array([[0.1], [0.2], [0.4]]).view(np.matrix)), {}),
    "complex": (([0, 1, 1], [0.1, 0.2j, 0.4]), {}),
    "three dimensions": (([0, 1], np.zeros((2, 2, 2))), {}),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_errors_are_scikit_learns(case):
    arguments, options = WRONG[case]
    assert_same(*arguments, **options)


@pytest.mark.parametrize("form", [lambda y: y[:, None], lambda y: pd.DataFrame({"y": y}), lambda y: y.astype("S")])
def test_odd_forms_of_labels(sample, form):
    codes, scores = sample
    assert_same(form(codes), scores, multi_class="ovr")
    assert_same(form((codes > 1).astype(int)), scores[:, 1])


def test_both_zeros_are_one_label():
    assert_same([0.0, -0.0, 0.0], [0.1, 0.2, 0.3])
    assert_same([0.0, -0.0, 1.0], [0.1, 0.2, 0.3])


@pytest.mark.parametrize("values", [(-1.0, 1.0), (0, 2), (0.0, 0.5)])
def test_other_indicators_than_zero_and_one(values, rng):
    assert_same(np.array(values)[rng.integers(2, size=(20, 3))], rng.random((20, 3)))


def test_warnings_come_once_when_a_call_is_handed_over():
    y_true, scores = np.array([[1, 0], [1, 1], [1, 0]]), np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    assert_same(y_true, scores, average=None, sample_weight=[1, 0, 1])


def test_integers_beyond_the_doubles_keep_their_order():
    assert_same([0, 1, 0, 1], np.array([2**53, 2**53 + 1, 5, 2**53]))


# What is allowed here and refused by scikit-learn


def refused(*arguments, **options):
    with pytest.raises((ValueError, NotImplementedError)):
        theirs(*arguments, **options)
    return roc_auc_score(*arguments, **options)


@pytest.mark.parametrize(("average", "pair_weights"), [("macro", None), ("weighted", "size_sum")])
def test_weights_with_ovo(sample, average, pair_weights):
    codes, scores = sample
    weights = np.arange(60) % 3 + 1
    value = refused(codes, scores, multi_class="ovo", average=average, sample_weight=weights)
    repeated = theirs(codes.repeat(weights), scores.repeat(weights, axis=0), multi_class="ovo", average=average)
    assert value == pytest.approx(repeated, abs=1e-12)
    expected = multiauc.hand_till_score(codes, scores, sample_weight=weights, pair_weights=pair_weights)
    assert value == pytest.approx(expected, abs=1e-12)


def test_all_pairs_with_ovo(sample):
    codes, scores = sample
    matrix = refused(codes, scores, multi_class="ovo", average=None)
    for c, d in [(0, 1), (3, 2)]:
        pair = (codes == c) | (codes == d)
        assert matrix[c, d] == pytest.approx(theirs(codes[pair] == c, scores[pair, c]), abs=1e-12)
    assert np.nanmean(matrix) == pytest.approx(theirs(codes, scores, multi_class="ovo"), abs=1e-12)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_labels_in_any_order(sample, multi_class):
    codes, scores = sample
    order = [2, 0, 3, 1]
    value = refused(NAMES[codes], scores[:, order], multi_class=multi_class, labels=NAMES[order])
    assert value == pytest.approx(theirs(codes, scores, multi_class=multi_class), abs=1e-12)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_logits(sample, multi_class):
    codes, scores = sample
    value = refused(codes, 10 * scores - 3, multi_class=multi_class)
    assert value == pytest.approx(theirs(codes, scores, multi_class=multi_class), abs=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
def test_partial_area_one_vs_rest(sample, average):
    codes, scores = sample
    value = refused(codes, scores, multi_class="ovr", average=average, max_fpr=0.3)
    as_multi_label = theirs(np.eye(4, dtype=int)[codes], scores, average=average, max_fpr=0.3)
    np.testing.assert_allclose(value, as_multi_label, rtol=0, atol=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted", None])
def test_partial_area_one_vs_one(sample, average):
    codes, scores = sample
    value = refused(codes, scores, multi_class="ovo", average=average, max_fpr=0.3)
    matrix, sizes = np.full((4, 4), np.nan), np.zeros((4, 4))
    for c in range(4):
        for d in {0, 1, 2, 3} - {c}:
            pair = (codes == c) | (codes == d)
            matrix[c, d] = theirs(codes[pair] == c, scores[pair, c], max_fpr=0.3)
            sizes[c, d] = pair.sum() if average == "weighted" else 1
    expected = matrix if average is None else np.nansum(matrix * sizes) / sizes.sum()
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": [3, 1, 0, 4]}, "labels"),
        ({"labels": [3, 1, 0]}, "labels"),
        ({"sample_weight": [1, 2]}, "sample_weight"),
        ({"sample_weight": np.full(60, -1.0)}, "weight"),
        ({"average": "micro"}, "average"),
    ],
)
def test_errors_of_calls_that_scikit_learn_would_refuse_anyway(sample, options, message):
    codes, scores = sample
    with pytest.raises(ValueError, match=message):
        roc_auc_score(codes, 10 * scores, multi_class="ovo", **options)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_infinite_scores_with_weights(sample, multi_class):
    codes, scores = sample
    with pytest.raises(ValueError, match="infinity"):
        roc_auc_score(codes, scores * np.inf, multi_class=multi_class, sample_weight=np.ones(60))
