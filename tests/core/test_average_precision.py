"""Average precision against its definition, scikit-learn and the jackknife."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_curve

import multiauc
import oracle_beside_auc as oracle

MACRO, PREVALENCE = "average_precision", "average_precision_prevalence"


def sample_of(seed, sizes, digits=1, height=0.5):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    scores = np.round(rng.random((len(codes), len(sizes))) + height * np.eye(len(sizes))[codes], digits)
    return codes, scores


@given(st.integers(0, 2**32), st.lists(st.integers(1, 12), min_size=2, max_size=5), st.integers(0, 8), st.booleans())
@settings(max_examples=80, deadline=None)
def test_values_are_those_of_scikit_learn(seed, sizes, digits, has_weights):
    codes, scores = sample_of(seed, sizes, digits)
    weights = np.random.default_rng(seed).lognormal(size=len(codes)) if has_weights else None
    one_hot = np.eye(len(sizes))[codes]
    expected = average_precision_score(one_hot, scores, average=None, sample_weight=weights)
    found = multiauc.precision_recall_curves(codes, scores, sample_weight=weights)
    for c, curve in found.items():
        assert curve.average_precision == pytest.approx(expected[c], abs=1e-12)
        assert curve.average_precision == pytest.approx(oracle.average_precision(codes, scores, c, weights), abs=1e-12)
    macro = multiauc.average_precision_score(codes, scores, sample_weight=weights)
    assert macro == pytest.approx(
        average_precision_score(one_hot, scores, average="macro", sample_weight=weights), abs=1e-12
    )
    shares = np.bincount(codes, weights=weights)
    by_prevalence = multiauc.average_precision_score(codes, scores, average="prevalence", sample_weight=weights)
    assert by_prevalence == pytest.approx(np.average(expected, weights=shares), abs=1e-12)


def test_one_score_of_two_classes_is_the_second_ones():
    codes, scores = sample_of(1, [12, 5], 1)
    expected = average_precision_score(codes, scores[:, 1])
    for average in ("macro", "prevalence"):
        assert multiauc.average_precision_score(codes, scores[:, 1], average=average) == pytest.approx(
            expected, abs=1e-12
        )
    result = multiauc.evaluate(codes, scores[:, 1], metrics=[MACRO])
    assert result.metrics[MACRO].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_curves_are_those_of_scikit_learn(seed):
    codes, scores = sample_of(seed, [9, 14, 25], 1)
    weights = np.random.default_rng(seed).random(len(codes)) if seed % 2 else None
    for c, curve in multiauc.precision_recall_curves(codes, scores, sample_weight=weights).items():
        precision, recall, thresholds = precision_recall_curve(codes == c, scores[:, c], sample_weight=weights)
        assert curve.precision == pytest.approx(precision[::-1], abs=1e-12)
        assert curve.recall == pytest.approx(recall[::-1], abs=1e-12)
        assert curve.thresholds.tolist() == [np.inf, *thresholds[::-1]]


def variance_of(codes, influences, weights=None):
    """Class by class with e/(e - 1), the sum over classes of what varies within them and of what does not."""
    weights = np.ones(len(codes)) if weights is None else weights
    total, parts = 0.0, np.zeros(len(codes))
    for k in np.unique(codes):
        rows = codes == k
        w = weights[rows]
        mean = influences[rows].sum() / w.sum()
        inner = influences[rows] - w * mean
        spread = 1 / (1 - (w**2).sum() / w.sum() ** 2)
        parts[rows] = np.sqrt(spread) * inner + w * mean
        total += spread * (inner**2).sum()
    return total, (parts**2).sum()


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_standard_errors_are_those_of_the_influences(seed, has_weights):
    codes, scores = sample_of(seed, [9, 14, 25], 1)
    weights = np.random.default_rng(seed).lognormal(size=len(codes)) if has_weights else None
    of_classes = [oracle.influences(codes, scores, c, weights) for c in range(3)]
    for sampling, place in (("stratified", 0), ("iid", 1)):
        result = multiauc.evaluate(codes, scores, metrics=[MACRO, PREVALENCE], sampling=sampling, sample_weight=weights)
        macro = variance_of(codes, np.mean(of_classes, axis=0), weights)[place]
        assert result.metrics[MACRO].standard_error == pytest.approx(np.sqrt(macro), rel=1e-9)
        for c, estimate in result.average_precision_per_class.items():
            assert estimate.standard_error == pytest.approx(
                np.sqrt(variance_of(codes, of_classes[c], weights)[place]), rel=1e-9
            )
    found = multiauc.evaluate(codes, scores, metrics=[MACRO], sampling="iid", sample_weight=weights).influences()
    assert found[:, 0] == pytest.approx(np.mean(of_classes, axis=0), abs=1e-12)


def test_groups_add_up_before_they_are_squared():
    codes, scores = sample_of(2, [20, 30, 40], 2)
    groups = np.random.default_rng(2).integers(0, 25, len(codes))
    twice = np.repeat(np.arange(len(codes)), 2)
    one = multiauc.evaluate(codes, scores, metrics=[MACRO]).metrics[MACRO]
    # Rows that are there twice, in groups of their own, know no more than once.
    two = multiauc.evaluate(codes[twice], scores[twice], metrics=[MACRO], groups=twice).metrics[MACRO]
    assert (two.value, two.standard_error) == pytest.approx((one.value, one.standard_error), rel=1e-12)
    grouped = multiauc.evaluate(codes, scores, metrics=[MACRO], groups=groups, sampling="iid")
    sums = np.bincount(groups, weights=grouped.influences()[:, 0])
    assert grouped.metrics[MACRO].standard_error == pytest.approx(np.sqrt((sums**2).sum()), rel=0.06)


@pytest.mark.parametrize(("sizes", "low", "high"), [([40, 10], 0.7, 0.95), ([300, 30], 0.85, 1.0)])
def test_variances_are_a_little_below_the_jackknife(sizes, low, high):
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        codes = np.repeat([0, 1], sizes)
        score = rng.normal(size=len(codes)) + 1.5 * codes
        of = multiauc.evaluate(codes, score, metrics=[MACRO]).metrics[MACRO]

        def without(rows, codes=codes, score=score):
            return oracle.average_precision(codes[rows], np.c_[-score, score][rows], 1)

        found.append((of.variance(), oracle.class_jackknife(codes, without)))
    closed_form, jackknife = np.sum(found, axis=0)
    assert low < closed_form / jackknife < high


def test_perfect_scores_and_constant_ones():
    codes = np.repeat([0, 1, 2], [5, 7, 9])
    perfect = multiauc.evaluate(codes, np.eye(3)[codes], metrics=[MACRO]).metrics[MACRO]
    assert (perfect.value, perfect.standard_error) == (1.0, 0.0)
    low, high = perfect.confidence_interval()
    # The worst case is one of five rows: Wilson's limit at 1 is 1/(1 + z^2/5).
    assert (low, high) == pytest.approx((1 / (1 + 1.959964**2 / 5), 1.0), abs=1e-6)
    constant = multiauc.evaluate(codes, np.ones((21, 3)), metrics=[MACRO, PREVALENCE])
    assert constant.metrics[MACRO].value == pytest.approx(1 / 3)
    assert constant.metrics[PREVALENCE].value == pytest.approx((25 + 49 + 81) / 21**2)
    with pytest.warns(RuntimeWarning, match="do not vary"):
        assert np.isnan(constant.metrics[MACRO].confidence_interval().low)


def test_missing_classes():
    codes, scores = sample_of(3, [9, 14, 25], 1)
    with pytest.raises(ValueError, match="absent"):
        multiauc.average_precision_score(codes, np.c_[scores, scores[:, 0]], labels=[0, 1, 2, 3])
    ignored = multiauc.average_precision_score(codes, np.c_[scores, scores[:, 0]], labels=[0, 1, 2, 3], absent="ignore")
    assert ignored == multiauc.average_precision_score(codes, scores)
    assert np.isnan(
        multiauc.average_precision_score(codes, np.c_[scores, scores[:, 0]], labels=[0, 1, 2, 3], absent="nan")
    )
    curves = multiauc.precision_recall_curves(codes, np.c_[scores, scores[:, 0]], labels=[0, 1, 2, 3], absent="ignore")
    assert list(curves) == [0, 1, 2]


def test_models_are_compared_by_average_precision():
    codes, scores = sample_of(5, [20, 30, 40], 3)
    other = scores + np.random.default_rng(0).normal(0, 0.3, scores.shape)
    result = multiauc.compare(codes, {"a": scores, "b": other}, metric=MACRO)
    difference = result.difference("a", "b")
    influences = [multiauc.evaluate(codes, one, metrics=[MACRO]).influences()[:, 0] for one in (scores, other)]
    expected = variance_of(codes, influences[0] - influences[1])[0]
    assert difference.value == pytest.approx(result.estimates["a"].value - result.estimates["b"].value)
    assert difference.standard_error == pytest.approx(np.sqrt(expected), rel=1e-9)


def test_an_average_that_is_not_known_is_named():
    codes, scores = sample_of(3, [9, 14], 1)
    with pytest.raises(ValueError, match=r"average.*'macro'.*'prevalence'"):
        multiauc.average_precision_score(codes, scores, average="micro")
