"""The confusion matrix, rates of classes, top-k accuracy, and predicted labels in the place of scores."""

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import multiauc
import oracle_beside_auc as oracle


def sample_of(seed, sizes, height=0.5, digits=1):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    scores = np.round(rng.random((len(codes), len(sizes))) + height * np.eye(len(sizes))[codes], digits)
    return codes, scores


def wilson(right, n, level=0.95):
    return tuple(stats.binomtest(int(right), int(n)).proportion_ci(level, method="wilson"))


@given(st.integers(0, 2**32), st.lists(st.integers(2, 12), min_size=2, max_size=5), st.booleans())
@settings(max_examples=40, deadline=None)
def test_rates_are_those_of_scikit_learn(seed, sizes, has_weights):
    codes, scores = sample_of(seed, sizes)
    predicted = scores.argmax(axis=1)
    weights = np.random.default_rng(seed).lognormal(size=len(codes)) if has_weights else None
    found = multiauc.confusion_matrix(codes, scores, sample_weight=weights)
    assert found.counts == pytest.approx(sklearn.metrics.confusion_matrix(codes, predicted, sample_weight=weights))
    expected = sklearn.metrics.precision_recall_fscore_support(
        codes, predicted, sample_weight=weights, zero_division=np.nan
    )
    for rates, values in zip((found.precision, found.recall, found.f1), expected, strict=False):
        assert [rate.value for rate in rates.values()] == pytest.approx(list(values), abs=1e-12, nan_ok=True)
    for by, name in (("all", "all"), ("true", "true"), ("predicted", "pred")):
        same = sklearn.metrics.confusion_matrix(codes, predicted, sample_weight=weights, normalize=name)
        assert np.nan_to_num(found.normalized(by)) == pytest.approx(same, abs=1e-12)


def test_intervals_of_counts_are_wilsons():
    codes, scores = sample_of(1, [12, 18, 25])
    found = multiauc.confusion_matrix(codes, scores)
    low, high = found.confidence_interval(0.9, by="true")
    for i, j in np.ndindex(3, 3):
        expected = wilson(found.counts[i, j], found.counts[i].sum(), 0.9)
        assert (low[i, j], high[i, j]) == pytest.approx(expected, abs=1e-9)
    low, high = found.confidence_interval(by="all")
    assert (low[0, 1], high[0, 1]) == pytest.approx(wilson(found.counts[0, 1], 55), abs=1e-9)
    for j, rate in found.precision.items():
        assert tuple(rate.confidence_interval()) == pytest.approx(
            wilson(found.counts[j, j], found.counts[:, j].sum()), abs=1e-9
        )
    perfect = multiauc.confusion_matrix(codes, codes)
    assert tuple(perfect.recall[0].confidence_interval()) == pytest.approx(wilson(12, 12), abs=1e-9)


def test_standard_errors_of_groups_are_those_of_the_delta_method():
    codes, scores = sample_of(2, [22, 18, 25])
    predicted = scores.argmax(axis=1)
    rng = np.random.default_rng(2)
    groups, weights = rng.integers(0, 15, 65), rng.lognormal(size=65)
    found = multiauc.confusion_matrix(codes, scores, sample_weight=weights, groups=groups)

    def error(part, whole):
        value = (weights * part).sum() / (weights * whole).sum()
        sums = np.bincount(groups, weights=weights * (part - value * whole))
        masses = np.bincount(groups, weights=weights * whole)
        effective = masses.sum() ** 2 / (masses**2).sum()
        return value, np.sqrt(effective / (effective - 1) * (sums**2).sum()) / masses.sum()

    for k in range(3):
        right, of, called = (codes == k) & (predicted == k), codes == k, predicted == k
        for rates, whole in ((found.recall, of), (found.precision, called), (found.f1, (of * 1.0 + called) / 2)):
            assert (rates[k].value, rates[k].standard_error) == pytest.approx(error(right * 1.0, whole), rel=1e-9)
    part = (codes == 0) & (predicted == 2)
    assert found.standard_errors(by="all")[0, 2] == pytest.approx(error(part * 1.0, np.ones(65))[1], rel=1e-9)


def test_rows_that_are_there_twice_know_no_more_than_once():
    codes, scores = sample_of(3, [22, 18, 25])
    twice = np.repeat(np.arange(65), 2)
    one = multiauc.confusion_matrix(codes, scores, groups=np.arange(65))
    two = multiauc.confusion_matrix(codes[twice], scores[twice], groups=twice)
    assert two.counts == pytest.approx(2 * one.counts)
    for by in ("all", "true", "predicted"):
        assert np.array(two.confidence_interval(by=by)) == pytest.approx(np.array(one.confidence_interval(by=by)))


@pytest.mark.parametrize("names", [None, ["cat", "dog", "eel"], [1, 2, 3], [5, 0, 7]])
def test_predicted_labels_are_scores_of_a_kind(names):
    codes, scores = sample_of(4, [12, 18, 25])
    decided = scores.argmax(axis=1)
    truth, predicted = (codes, decided) if names is None else (np.array(names)[codes], np.array(names)[decided])
    labels = names if names is None else list(names)
    weights = np.random.default_rng(4).random(55)
    for score in (multiauc.matthews_score, multiauc.kappa_score):
        found = score(truth, predicted, labels=labels, sample_weight=weights)
        assert found == score(codes, scores, sample_weight=weights)
    assert (
        multiauc.confusion_matrix(truth, predicted, labels=labels).counts
        == multiauc.confusion_matrix(codes, scores).counts
    ).all()
    assert multiauc.kappa_score(list(truth), list(predicted), labels=labels) == multiauc.kappa_score(codes, scores)


def test_predicted_labels_of_two_classes():
    codes, scores = sample_of(5, [12, 18])
    decided = scores.argmax(axis=1)
    expected = multiauc.matthews_score(codes, scores)
    # Whole numbers are labels, also where they could be probabilities of the second one.
    assert multiauc.matthews_score(codes, decided) == expected
    assert multiauc.matthews_score(codes, decided, labels=[1, 0]) == pytest.approx(expected, abs=1e-15)
    assert multiauc.matthews_score(codes == 1, decided == 1) == expected
    assert multiauc.matthews_score(2 * codes - 1, 2 * decided - 1) == expected
    # 0 and 1 are the probability of the second where they are not labels.
    names = np.array(["no", "yes"])
    assert (
        multiauc.matthews_score(names[codes], decided)
        == multiauc.matthews_score(names[codes], names[decided])
        == expected
    )
    # Numbers with a fraction are probabilities.
    probabilities = np.where(decided == 1, 0.75, 0.25)
    assert multiauc.matthews_score(codes, probabilities) == expected
    assert (
        multiauc.confusion_matrix(codes, probabilities).counts.tolist()
        == multiauc.confusion_matrix(codes, decided).counts.tolist()
    )


def test_predicted_labels_that_are_not_classes():
    with pytest.raises(ValueError, match=r"y_score.*'emu'.*labels"):
        multiauc.kappa_score(["cat", "dog", "cat"], ["cat", "emu", "dog"], labels=["cat", "dog"])
    with pytest.raises(ValueError, match="'emu'"):
        multiauc.confusion_matrix(["cat", "dog", "cat"], ["cat", "emu", "dog"])
    found = multiauc.confusion_matrix(["cat", "dog", "cat"], ["cat", "emu", "dog"], absent="ignore")
    assert found.labels == ("cat", "dog", "emu")
    assert found.counts.tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert np.isnan(found.recall["emu"].value)
    assert found.precision["emu"].value == 0.0
    with pytest.raises(ValueError, match="same number of rows"):
        multiauc.confusion_matrix(["cat", "dog", "cat"], ["cat", "dog"])


@given(st.integers(0, 2**32), st.lists(st.integers(2, 9), min_size=2, max_size=5), st.integers(1, 5), st.booleans())
@settings(max_examples=40, deadline=None)
def test_top_k_accuracy_counts_ties_as_their_expected_share(seed, sizes, k, has_weights):
    codes, scores = sample_of(seed, sizes, digits=1)
    k = min(k, len(sizes))
    weights = np.random.default_rng(seed).lognormal(size=len(codes)) if has_weights else None
    expected = np.average(oracle.top_k_credits(codes, scores, k), weights=weights)
    assert multiauc.top_k_accuracy_score(codes, scores, k=k, sample_weight=weights) == pytest.approx(
        expected, abs=1e-12
    )
    smooth = scores + np.random.default_rng(seed).normal(0, 1e-4, scores.shape)
    if k < len(sizes) > 2:
        same = sklearn.metrics.top_k_accuracy_score(codes, smooth, k=k, sample_weight=weights)
        assert multiauc.top_k_accuracy_score(codes, smooth, k=k, sample_weight=weights) == pytest.approx(
            same, abs=1e-12
        )


def test_top_k_accuracy_with_its_uncertainty():
    codes, scores = sample_of(6, [12, 18, 25, 15], digits=6)
    result = multiauc.evaluate(codes, scores, metrics=["top_k_accuracy"], k=3)
    estimate = result.metrics["top_k_accuracy"]
    counted = oracle.top_k_credits(codes, scores, 3)
    assert estimate.value == pytest.approx(counted.mean())
    assert estimate.standard_error == pytest.approx(counted.std(ddof=1) / np.sqrt(70))
    low, high = estimate.confidence_interval()
    assert (low, high) == pytest.approx(wilson(counted.sum(), 70), abs=0.01)
    assert multiauc.evaluate(codes, scores, metrics=["top_k_accuracy"]).metrics[
        "top_k_accuracy"
    ].value == pytest.approx(oracle.top_k_credits(codes, scores, 2).mean())
    with pytest.raises(ValueError, match=r"k.*4 classes|k must"):
        multiauc.top_k_accuracy_score(codes, scores, k=5)
    with pytest.raises((TypeError, ValueError), match="k must"):
        multiauc.top_k_accuracy_score(codes, scores, k=0)


def test_the_picture_has_true_classes_in_rows():
    display = multiauc.confusion_matrix(["a", "a", "b", "b", "b"], ["a", "b", "b", "b", "b"]).plot()
    assert [text.get_text() for text in display.text_] == [".500", ".500", ".000", "1.000"]
    assert (display.ax_.get_ylabel(), display.ax_.get_xlabel()) == ("true class", "predicted class")
    display.plot(by="predicted", numbers=False)
    assert display.text_ == []


def test_it_prints_a_table():
    matrix = multiauc.confusion_matrix(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"])
    assert repr(matrix).splitlines() == [
        "Confusion matrix of 4 rows, 2 classes, accuracy 0.7500; true classes down, predicted across",
        "     cat  dog  recall      95% interval",
        "cat    1    1  0.5000  0.0945 to 0.9055",
        "dog    0    2  1.0000  0.3424 to 1.0000",
    ]
    many = multiauc.confusion_matrix(np.arange(12), np.arange(12))
    assert len(repr(many).splitlines()) == 1 + 11 + 1
    assert repr(many).endswith("and 2 more classes")
