"""Log loss and the Brier score against plain NumPy and scikit-learn; smaller is better."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.naive_bayes import GaussianNB

import multiauc
import oracle_beside_auc as oracle
from multiauc.boosting import catboost_metric, lightgbm_metric, xgboost_metric
from multiauc.sklearn import AucScorer

SCORES = {"log_loss": multiauc.log_loss_score, "brier": multiauc.brier_score}
LOSSES = {"log_loss": oracle.log_losses, "brier": oracle.brier_scores}
SCIKIT_LEARN = {"log_loss": log_loss, "brier": brier_score_loss}


def sample_of(seed, sizes, confidence=1.0):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    logits = rng.normal(size=(len(codes), len(sizes))) + confidence * np.eye(len(sizes))[codes]
    odds = np.exp(logits)
    return codes, odds / odds.sum(axis=1, keepdims=True)


@given(st.integers(0, 2**32), st.lists(st.integers(1, 12), min_size=2, max_size=5), st.booleans())
@settings(max_examples=50, deadline=None)
def test_values_are_those_of_scikit_learn(seed, sizes, has_weights):
    codes, probabilities = sample_of(seed, sizes)
    weights = np.random.default_rng(seed).lognormal(size=len(codes)) if has_weights else None
    for metric, score in SCORES.items():
        found = score(codes, probabilities, sample_weight=weights)
        expected = SCIKIT_LEARN[metric](codes, probabilities, labels=range(len(sizes)), sample_weight=weights)
        assert found == pytest.approx(expected, abs=1e-12)
        assert found == pytest.approx(np.average(LOSSES[metric](codes, probabilities), weights=weights), abs=1e-12)


@pytest.mark.parametrize("metric", SCORES)
def test_one_probability_stands_for_two_classes(metric):
    codes, probabilities = sample_of(1, [12, 8])
    both, one = (SCORES[metric](codes, given) for given in (probabilities, probabilities[:, 1]))
    assert one == pytest.approx(both, abs=1e-15)
    assert one == pytest.approx(SCIKIT_LEARN[metric](codes, probabilities[:, 1]), abs=1e-12)
    with pytest.raises(ValueError, match=r"y_score is 1\.5 at row 3"):
        SCORES[metric](codes, np.where(np.arange(20) == 3, 1.5, probabilities[:, 1]))


@pytest.mark.parametrize("metric", SCORES)
def test_values_do_not_depend_on_the_order_of_rows(metric):
    codes, probabilities = sample_of(2, [40, 50, 60])
    order = np.random.default_rng(0).permutation(150)
    assert SCORES[metric](codes, probabilities) == SCORES[metric](codes[order], probabilities[order])


@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.parametrize("seed", range(4))
def test_means_have_the_standard_error_and_log_t_interval_of_means(metric, seed):
    codes, probabilities = sample_of(seed, [4, 14, 25][: 2 + seed % 2], 2.0)
    losses = LOSSES[metric](codes, probabilities)
    estimate = multiauc.evaluate(codes, probabilities, metrics=[metric]).metrics[metric]
    error = losses.std(ddof=1) / math.sqrt(len(losses))
    freedom = oracle.kurtosis_freedom(losses)
    assert estimate.value == SCORES[metric](codes, probabilities)
    assert estimate.standard_error == pytest.approx(error, rel=1e-10)
    assert estimate.degrees_of_freedom == pytest.approx(freedom, rel=1e-10)
    reach = stats.t.ppf(0.975, freedom) * error / losses.mean()
    low, high = estimate.confidence_interval()
    assert (low, high) == pytest.approx((losses.mean() * math.exp(-reach), losses.mean() * math.exp(reach)), rel=1e-9)
    # The test inverts the interval.
    assert estimate.test(low).p_value == pytest.approx(0.05, abs=1e-9)
    assert estimate.test(2 * high).p_value < 0.05
    low, high = estimate.confidence_interval(method="wald")
    assert (low + high) / 2 == pytest.approx(estimate.value) or low == 0.0


def test_a_class_of_one_row_is_no_obstacle():
    codes, probabilities = sample_of(3, [1, 14, 25])
    losses = oracle.log_losses(codes, probabilities)
    with pytest.warns(RuntimeWarning, match="single row"):
        estimate = multiauc.evaluate(codes, probabilities, metrics=["auc_mu", "log_loss"]).metrics["log_loss"]
    assert estimate.standard_error == pytest.approx(losses.std(ddof=1) / math.sqrt(40), rel=1e-10)


def test_groups_add_up_before_they_are_squared():
    codes, probabilities = sample_of(4, [30, 20, 25])
    groups = np.random.default_rng(4).integers(0, 20, 75)
    losses = oracle.log_losses(codes, probabilities)
    estimate = multiauc.evaluate(codes, probabilities, metrics=["log_loss"], groups=groups).metrics["log_loss"]
    sums = np.bincount(groups, weights=losses - losses.mean())
    effective = 75**2 / (np.bincount(groups) ** 2).sum()
    expected = effective / (effective - 1) * (sums**2).sum() / 75**2
    assert estimate.variance() == pytest.approx(expected, rel=1e-10)


def test_weights_and_fixed_class_sizes():
    codes, probabilities = sample_of(5, [30, 20, 25])
    weights = np.random.default_rng(5).lognormal(size=75)
    losses = oracle.brier_scores(codes, probabilities)
    estimate = multiauc.evaluate(codes, probabilities, metrics=["brier"], sample_weight=weights).metrics["brier"]
    mean, share = np.average(losses, weights=weights), weights / weights.sum()
    assert estimate.variance() == pytest.approx((share**2 * (losses - mean) ** 2).sum() / (1 - (share**2).sum()))
    fixed = multiauc.evaluate(codes, probabilities, metrics=["brier"], sampling="stratified").metrics["brier"]
    parts = [(codes == k).sum() * losses[codes == k].var(ddof=1) for k in range(3)]
    assert fixed.variance() == pytest.approx(sum(parts) / 75**2, rel=1e-10)


def test_what_is_not_a_probability_is_an_error_that_names_it():
    codes, probabilities = sample_of(6, [5, 6, 7])
    logits = np.log(probabilities)
    for score in SCORES.values():
        with pytest.raises(ValueError, match=r"row 0 sums to .*outputs='logits'"):
            score(codes, logits)
    row = int(np.flatnonzero(codes == 2)[1])
    probabilities[row] = [0.25, 0.75, 0.0]
    with pytest.raises(ValueError, match=rf"row {row}, column 2.*clip="):
        multiauc.log_loss_score(codes, probabilities)
    with pytest.raises(ValueError, match=rf"row {row}, column 2.*clip="):
        multiauc.evaluate(codes, probabilities, metrics=["log_loss"])
    expected = np.clip(probabilities, 1e-3, None)
    found = multiauc.log_loss_score(codes, probabilities, clip=1e-3)
    assert found == pytest.approx(oracle.log_losses(codes, expected).mean())
    assert multiauc.evaluate(codes, probabilities, metrics=["log_loss"], clip=1e-3).metrics["log_loss"].value == found
    assert multiauc.brier_score(codes, probabilities) > 0
    with pytest.raises(ValueError, match=r"clip must be a number above 0 and below 1"):
        multiauc.log_loss_score(codes, probabilities, clip=2.0)
    with pytest.raises(ValueError, match="clip"):
        multiauc.evaluate(codes, probabilities, metrics=["auc_mu"], clip=0.1)
    probabilities[0] = [-0.25, 0.75, 0.5]
    with pytest.raises(ValueError, match=r"-0\.25 at row 0, column 0"):
        multiauc.brier_score(codes, probabilities)


def test_singles_may_sum_to_one_less_exactly():
    codes, probabilities = sample_of(7, [5, 6, 7])
    loose = (probabilities * 1.0005).astype(np.float32)
    assert multiauc.brier_score(codes, loose) == pytest.approx(multiauc.brier_score(codes, probabilities), abs=2e-3)
    with pytest.raises(ValueError, match="sums to"):
        multiauc.brier_score(codes, loose.astype(np.float64))


@pytest.mark.parametrize("metric", SCORES)
def test_the_smaller_loss_is_the_better_one(metric, tmp_path):
    codes, good = sample_of(8, [60, 60, 60], 3.0)
    poor = 0.5 * good + 0.5 / 3
    result = multiauc.compare(codes, {"good": good, "poor": poor}, metric=metric)
    difference = result.difference("good", "poor")
    losses = LOSSES[metric](codes, good) - LOSSES[metric](codes, poor)
    assert difference.value == pytest.approx(losses.mean(), rel=1e-9)
    assert difference.value < 0
    assert difference.standard_error == pytest.approx(losses.std(ddof=1) / math.sqrt(180), rel=1e-9)
    assert difference.degrees_of_freedom == pytest.approx(oracle.kurtosis_freedom(losses), rel=1e-9)
    assert difference.non_inferiority(0.01).p_value < 1e-6
    assert difference.reversed().non_inferiority(0.01).p_value > 0.9
    page = result.report(tmp_path / "page.html", n_resamples=0).read_text("utf-8")
    assert "good is better than poor" in page
    assert "poor is better" not in page


def test_folds_are_averaged():
    codes, probabilities = sample_of(9, [30, 20, 25])
    folds = np.arange(75) % 3
    estimate = multiauc.evaluate(codes, probabilities, metrics=["log_loss"], folds=folds).metrics["log_loss"]
    losses = oracle.log_losses(codes, probabilities)
    assert estimate.value == pytest.approx(losses.mean())
    centred = losses - np.array([losses[folds == f].mean() for f in range(3)])[folds]
    assert estimate.standard_error == pytest.approx(math.sqrt((centred**2).sum()) / 75, rel=0.02)


def test_perfect_probabilities():
    codes = np.repeat([0, 1, 2], 5)
    result = multiauc.evaluate(codes, np.eye(3)[codes], metrics=["log_loss", "brier"])
    for estimate in result.metrics.values():
        assert (estimate.value, estimate.standard_error) == (0.0, 0.0)
        with pytest.warns(RuntimeWarning, match="interval"):
            assert math.isnan(estimate.confidence_interval().low)


@pytest.mark.parametrize("metric", SCORES)
def test_slices_with_larger_losses_are_the_worse_ones(metric):
    codes, good = sample_of(10, [100, 100, 100], 3.0)
    where = np.arange(300) % 3
    scores = np.where((where == 2)[:, None], 0.4 * good + 0.6 / 3, good)
    slices = multiauc.evaluate_slices(codes, scores, where, metric=metric)
    assert slices.worse() == [2]
    assert slices.names[0] == 2
    assert slices[2].difference > 0
    losses = LOSSES[metric](codes, scores)
    for one in slices:
        rows = where == one.name
        alone = multiauc.evaluate(codes[rows], scores[rows], metrics=[metric]).metrics[metric]
        assert one.value == pytest.approx(losses[rows].mean(), rel=1e-12)
        assert (one.low, one.high) == pytest.approx(tuple(alone.confidence_interval()), rel=1e-9)


def test_samples_of_different_rows_are_compared_on_the_scale_of_losses():
    first = multiauc.evaluate(*sample_of(11, [60, 60, 60], 3.0), metrics=["log_loss"])
    second = multiauc.evaluate(*sample_of(12, [60, 60, 60], 0.5), metrics=["log_loss"])
    difference = multiauc.compare_samples(first, second, metric="log_loss")
    a, b = (one.metrics["log_loss"] for one in (first, second))
    (low_a, high_a), (low_b, high_b) = a.confidence_interval(), b.confidence_interval()
    expected = difference.value + np.array(
        [-math.hypot(a.value - low_a, high_b - b.value), math.hypot(high_a - a.value, b.value - low_b)]
    )
    assert tuple(difference.confidence_interval()) == pytest.approx(tuple(expected), rel=1e-9)
    assert difference.p_value < 1e-4


def test_other_libraries_are_told_that_less_is_better():
    codes, probabilities = sample_of(13, [20, 20, 20])

    rng = np.random.default_rng(0)
    features = np.eye(3)[codes] + rng.normal(size=(60, 3))
    model = GaussianNB().fit(features, codes)
    expected = multiauc.log_loss_score(codes, model.predict_proba(features))
    assert AucScorer("log_loss")(model, features, codes) == pytest.approx(-expected)
    assert AucScorer("auc_mu")(model, features, codes) > 0
    value = multiauc.log_loss_score(codes, probabilities)
    assert lightgbm_metric("log_loss")(codes, probabilities) == ("log_loss", pytest.approx(value), False)
    assert xgboost_metric("log_loss").__name__ == "log_loss"
    assert catboost_metric("log_loss").is_max_optimal() is False
    assert catboost_metric("one_vs_rest").is_max_optimal() is True


def test_runs_of_a_model():
    codes, probabilities = sample_of(15, [60, 60, 60], 2.0)
    runs = [probabilities, 0.9 * probabilities + 0.1 / 3, 0.8 * probabilities + 0.2 / 3]
    found = multiauc.evaluate_runs(codes, runs, metrics=["log_loss"]).metrics["log_loss"]
    assert found.value == pytest.approx(np.mean([oracle.log_losses(codes, run).mean() for run in runs]))
    rows = np.mean([oracle.log_losses(codes, run) for run in runs], axis=0)
    assert found.rows_standard_error == pytest.approx(rows.std(ddof=1) / math.sqrt(180), rel=1e-9)
