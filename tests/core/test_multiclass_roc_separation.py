"""D of scores that one threshold tells apart without an error: exactly 1, in the sample and in every resample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc
import oracle_multiclass_roc as oracle
from multiclass_roc_data import softmax

SIZE = 40
CODES = np.repeat(np.arange(3), SIZE)
OWN = np.eye(3, dtype=bool)[CODES]


def separable(rng: np.random.Generator) -> np.ndarray:
    """Smooth scores: those of a row's own class above 0.6, all others below 0.4."""
    scores = 0.4 * rng.random(OWN.shape)
    return np.where(OWN, 1.0 - scores, scores)


def with_an_error(scores: np.ndarray, score: float = 0.0) -> np.ndarray:
    """Another score of the first row for its own class."""
    spoilt = scores.copy()
    spoilt[0, 0] = score
    return spoilt


@pytest.mark.parametrize("scope", ["shared", "class", "pair"])
@pytest.mark.parametrize("center", ["intercept", "projection"])
@pytest.mark.parametrize("thresholds", [1, 7, 100, 300])
def test_one_exactly(rng, scope, center, thresholds):
    roc = multiauc.multiclass_roc(CODES, separable(rng), scope=scope, center=center, thresholds=thresholds)
    assert roc.auc == 1.0
    assert len(roc.fpr) == len(roc.thresholds) + 2
    assert np.all(np.diff(roc.fpr) >= 0)
    assert np.all(np.diff(roc.tpr) >= 0)
    assert np.any((roc.fpr == 0.0) & (roc.tpr == 1.0))
    assert oracle.area(roc.fpr, roc.tpr) == pytest.approx(1.0, abs=1e-15)
    bootstrap = roc.bootstrap(20, rng=0)
    assert np.all(bootstrap.replicates == 1.0)
    assert np.all(bootstrap.heights == 1.0)
    assert bootstrap.confidence_interval() == (0.025 ** (1 / SIZE), 1.0)


@pytest.mark.parametrize("k", [2, 3])
def test_hard_decisions_do_not_beat_smooth_scores(rng, k):
    codes = np.repeat(np.arange(k), 700)
    smooth = softmax(rng.normal(size=(len(codes), k)) + 15 * np.eye(k)[codes])
    comparison = multiauc.compare(codes, {"hard": np.eye(k)[codes], "smooth": smooth}, metric="multiclass_roc")
    assert [estimate.value for estimate in comparison.estimates.values()] == [1.0, 1.0]
    assert comparison.ranking_probabilities(40, rng=0) == {("hard", "smooth"): 0.5, ("smooth", "hard"): 0.5}


@given(seed=st.integers(0, 2**32), shift=st.floats(0.3, 0.5), thresholds=st.integers(1, 60))
def test_only_where_a_threshold_tells_all_apart(seed, shift, thresholds):
    scores = np.random.default_rng(seed).random(OWN.shape) * 0.45
    scores[OWN] += shift
    roc = multiauc.multiclass_roc(CODES, scores, thresholds=thresholds)
    assert (roc.auc == 1.0) == (scores[OWN].min() > scores[~OWN].max())


def test_pairs_that_need_different_thresholds_are_not_told_apart(rng):
    scores = separable(rng) + np.array([0.0, 1.0, 2.0])
    assert multiauc.hand_till_score(CODES, scores) == 1.0
    roc = multiauc.multiclass_roc(CODES, scores, thresholds=20)
    assert roc.auc == pytest.approx(oracle.multiclass_roc(CODES, scores, 20)[0], abs=1e-6)
    assert roc.auc < 0.99
    assert multiauc.multiclass_roc(CODES, scores, scope="class").auc == 1.0


def test_thresholds_that_are_given_are_the_only_ones(rng):
    scores, thresholds = separable(rng), np.array([0.9, 0.8, 0.2, 0.1])
    roc = multiauc.multiclass_roc(CODES, scores, thresholds=thresholds)
    assert roc.auc == pytest.approx(oracle.multiclass_roc(CODES, scores, thresholds)[0], abs=1e-6)
    assert roc.auc < 0.95


def test_an_error_between_two_thresholds_counts(rng):
    """The rates at the thresholds are those of a separable sample; the rows between them are not in order."""
    scores = separable(rng)
    highest = scores[~OWN].max()
    for score, is_perfect in ((highest + 1e-9, True), (highest - 1e-9, False), (highest, False)):
        assert (multiauc.multiclass_roc(CODES, with_an_error(scores, score)).auc == 1.0) == is_perfect


@pytest.mark.slow
@pytest.mark.parametrize(("is_bad", "expected"), [(True, 0.363), (False, 0.595)])
def test_resamples_without_the_error_are_perfect(rng, is_bad, expected):
    """A row in forty errs: (1 - 1/40)^40 of the resamples leave it out. By a little, it is enough to leave out the one
    row that it falls behind."""
    scores = separable(rng)
    spoilt = with_an_error(scores, 0.0 if is_bad else scores[~OWN].max() - 1e-9)
    replicates = multiauc.multiclass_roc(CODES, spoilt).bootstrap(1000, rng=0).replicates
    without = float(np.mean(replicates == 1.0))
    assert without == pytest.approx(expected, abs=0.065)  # four standard errors
    models = {"perfect": scores, "spoilt": spoilt}
    shares = multiauc.compare(CODES, models, metric="multiclass_roc").ranking_probabilities(1000, rng=0)
    assert shares["perfect", "spoilt"] == pytest.approx(1 - without / 2, abs=0.04)


def test_groups_and_weights(rng):
    """The row that errs is left out with its group, and does not exist with weight zero."""
    scores, groups = separable(rng), np.arange(len(CODES)) // 4
    spoilt = with_an_error(scores)
    replicates = multiauc.multiclass_roc(CODES, spoilt).bootstrap(1000, rng=0, groups=groups).replicates
    assert float(np.mean(replicates == 1.0)) == pytest.approx((1 - 1 / 10) ** 10, abs=0.06)
    weights = np.r_[0.0, np.ones(len(CODES) - 1)]
    assert multiauc.multiclass_roc(CODES, spoilt, sample_weight=weights).auc == 1.0
    assert multiauc.multiclass_roc(CODES, spoilt, sample_weight=1.0 - 0.9 * weights).auc < 1.0


def test_pairs_without_weight_do_not_count(rng):
    """The error is that of class 0 against the others; the pair of classes 1 and 2 has none."""
    only = np.zeros((3, 3))
    only[1, 2] = only[2, 1] = 1.0
    assert multiauc.multiclass_roc(CODES, with_an_error(separable(rng)), pair_weights=only).auc == 1.0
