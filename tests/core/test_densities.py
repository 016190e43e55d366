"""Population values of scores of known distribution: the papers' tables, quadrature, and large samples."""

import math

import numpy as np
import pytest
from scipy import stats

import multiauc

# Means of the own class and of the two others, on one score axis (Figure 4(a) of Ke's paper).
CASES = {"o": (1.5, (1.0, 1.25)), "a": (5.0, (1.0, 3.0)), "b": (5.0, (1.0, 2.0)), "c": (5.0, (1.0, 4.0))}

# Figure 4(b).
SCENARIOS = {
    "ooo": 0.6042, "ooa": 0.7226, "oob": 0.7329, "ooc": 0.6958, "oaa": 0.8411,
    "oab": 0.8513, "oac": 0.8142, "obb": 0.8616, "obc": 0.8245, "occ": 0.7874,
    "aaa": 0.9595, "aab": 0.9698, "aac": 0.9327, "abb": 0.9801, "abc": 0.9429,
    "acc": 0.9058, "bbb": 0.9904, "bbc": 0.9532, "bcc": 0.9161, "ccc": 0.8790,
}  # fmt: skip

SITUATION_A = [[5, 3, 1], [1, 5, 3], [1, 3, 5]]
SITUATION_B = [[1.5, 1.25, 1], [1, 5, 3], [1, 4, 5]]


def scenario(cases):
    means = np.empty((3, 3))
    for axis, case in enumerate(cases):
        own, others = CASES[case]
        means[axis] = np.insert(np.array(others), axis, own)
    return means


@pytest.mark.parametrize(("cases", "expected"), SCENARIOS.items())
def test_the_twenty_scenarios(cases, expected):
    scores = multiauc.NormalScores(scenario(cases), 1.0)
    for value in (scores.hand_till, scores.one_vs_rest_prevalence, scores.one_vs_rest_prevalence_equal_rest):
        assert value == pytest.approx(expected, abs=5.1e-5)


def test_the_study_of_class_imbalance():
    """Equal rests do not feel imbalance where all axes are alike; a pooled rest does."""
    mixes = [(1 / 3, 1 / 3, 1 / 3), (1 / 3, 0.5, 1 / 6), (1 / 3, 0.1, 17 / 30), (1 / 3, 0.02, 1 - 1 / 3 - 0.02)]
    alike = [multiauc.NormalScores(SITUATION_A, 1.0, prevalence=mix) for mix in mixes]
    unlike = [multiauc.NormalScores(SITUATION_B, 1.0, prevalence=mix) for mix in mixes]
    for scores in alike:
        assert scores.one_vs_rest_prevalence_equal_rest == pytest.approx(scores.hand_till, abs=1e-14)
    assert max(abs(scores.one_vs_rest_prevalence - scores.hand_till) for scores in alike) > 0.005
    gaps = [scores.one_vs_rest_prevalence_equal_rest - scores.hand_till for scores in unlike]
    assert gaps[0] == pytest.approx(0.0, abs=1e-14)
    assert gaps[1] > 0.005  # the easy axis 2 is more frequent
    assert abs(gaps[1]) < abs(gaps[2]) < abs(gaps[3])
    assert gaps[3] < -0.005


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.6, -0.3, 1.0])
def test_estimates_from_a_million_rows(correlation):
    rng = np.random.default_rng(1)
    means = rng.normal(size=(4, 4)) + 1.5 * np.eye(4)
    scores = multiauc.NormalScores(
        means, rng.uniform(0.5, 2.0, (4, 4)), prevalence=[0.4, 0.3, 0.25, 0.05], correlation=correlation
    )
    y_true, y_score = scores.sample(1_000_000, rng=2)
    result = multiauc.evaluate(y_true, y_score, sampling="iid")
    for name, estimate in result.metrics.items():
        assert abs(estimate.value - getattr(scores, name)) < 4 * estimate.standard_error
    for name, weights in (("auc_mu", "size_product"), ("hand_till", "size_sum")):
        found = multiauc.evaluate(y_true, y_score, metrics=[name], pair_weights=weights, sampling="iid").metrics[name]
        assert abs(found.value - getattr(scores, f"{name}_{weights}")) < 4 * found.standard_error
    for k, estimate in result.per_class.items():
        assert abs(estimate.value - scores.one_vs_rest_per_class[k]) < 4 * estimate.standard_error
    matrix = result.hand_till_matrix
    for i, j in [(0, 1), (1, 0), (2, 3), (3, 2)]:
        assert abs(matrix.values[i, j] - scores.pair_auc(i, j)) < 4 * matrix.standard_error[i, j]
    error = result.one_vs_rest_prevalence.standard_error
    for average in ("prevalence_equal_rest", "micro"):
        value = multiauc.one_vs_rest_score(y_true, y_score, average=average)
        assert abs(value - getattr(scores, f"one_vs_rest_{average}")) < 8 * error
    assert abs(np.corrcoef(y_score[y_true == 0].T)[0, 1] - correlation) < 0.01


def test_quadrature_agrees_with_the_closed_form():
    rng = np.random.default_rng(3)
    means, sds = rng.normal(size=(3, 3)) + np.eye(3), rng.uniform(0.3, 3.0, (3, 3))
    closed = multiauc.NormalScores(means, sds, prevalence=[0.5, 0.3, 0.2])
    densities = [[stats.norm(means[i, j], sds[i, j]) for j in range(3)] for i in range(3)]
    found = multiauc.ScoreDensities(densities, prevalence=[0.5, 0.3, 0.2])
    np.testing.assert_allclose(found.hand_till_matrix, closed.hand_till_matrix, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.auc_mu_matrix, closed.auc_mu_matrix, rtol=0, atol=1e-6)
    for name in ("one_vs_rest", "one_vs_rest_prevalence", "one_vs_rest_prevalence_equal_rest", "one_vs_rest_micro"):
        assert getattr(found, name) == pytest.approx(getattr(closed, name), abs=1e-7)


def test_other_distributions_agree_with_large_samples():
    kinds = [[stats.gamma(4), stats.expon(), stats.uniform(0, 3)],
             [stats.beta(2, 5), stats.beta(5, 2), stats.beta(2, 2)],
             [stats.lognorm(0.5), stats.weibull_min(1.5), stats.t(5, loc=4)]]  # fmt: skip
    scores = multiauc.ScoreDensities(kinds, prevalence=[0.2, 0.3, 0.5])
    y_true, y_score = scores.sample(300_000, rng=4)
    for name, estimate in multiauc.evaluate(y_true, y_score, sampling="iid").metrics.items():
        assert abs(estimate.value - getattr(scores, name)) < 4 * estimate.standard_error


def test_uneven_densities():
    narrow = stats.norm(0, 1e-6)
    scores = multiauc.ScoreDensities([[stats.norm(1, 1), narrow], [narrow, stats.uniform(-1, 1)]])
    assert scores.pair_auc(0, 1) == pytest.approx(stats.norm.cdf(1), abs=1e-6)
    # A standard normal number is below 1 + V, V uniform from -1 to 0.
    expected = stats.norm.cdf(1) + stats.norm.pdf(1) - stats.norm.pdf(0)
    assert scores.auc_mu == pytest.approx(expected, abs=1e-4)


def test_densities_that_are_too_uneven_are_told():
    # Two sizes of the Gauss-Hermite rule agree on 3/4.
    ends = stats.beta(0.05, 0.05)
    scores = multiauc.ScoreDensities([[ends, stats.norm(0.4, 1e-6)], [ends, stats.norm(0.5, 1e-6)]])
    with pytest.warns(RuntimeWarning, match="too uneven"):
        found = scores.auc_mu
    assert found == pytest.approx(0.7041, abs=2e-3)


@pytest.mark.parametrize(
    ("right", "wrong"), [((5, 2), (0.1, 0.1)), ((0.1, 0.1), (5, 2)), ((0.1, 5), (0.02, 0.01)), ((300, 1), (0.05, 7))]
)
def test_distributions_that_pile_up_at_their_ends(right, wrong):
    own, rival = stats.beta(*right), stats.beta(*wrong)
    scores = multiauc.ScoreDensities([[own, rival], [rival, own]])
    rng = np.random.default_rng(0)
    expected = rival.cdf(own.rvs(size=100_000, random_state=rng)).mean()
    assert scores.pair_auc(0, 1) == pytest.approx(expected, abs=0.006)
    turned = multiauc.ScoreDensities([[rival, own], [own, rival]])
    assert turned.pair_auc(0, 1) == pytest.approx(1.0 - scores.pair_auc(0, 1), abs=1e-9)


def test_the_beta_distribution_beside_one_with_two_peaks():
    own, rival = stats.beta(5, 2), stats.beta(0.1, 0.1)
    assert multiauc.ScoreDensities([[own, rival], [rival, own]]).pair_auc(0, 1) == pytest.approx(0.5464806, abs=1e-7)


def test_uniform_densities():
    # P(X + V > Y + U), all uniform from 0 to 1 but for a shift of 0.4 in all: a cubic spline.
    moved, still = stats.uniform(0.2, 1), stats.uniform(0, 1)
    scores = multiauc.ScoreDensities([[moved, still], [still, moved]])
    x = 2.0 + 0.4  # the sum of four uniform numbers is below this as often
    expected = (x**4 - 4 * (x - 1) ** 4 + 6 * (x - 2) ** 4) / 24
    assert scores.auc_mu == pytest.approx(expected, abs=2e-6)


def test_a_quadrature_that_fails_is_an_error():
    good, bad = stats.norm(0, 1), stats.beta(-1, 1)
    scores = multiauc.ScoreDensities([[good, bad], [bad, good]])
    with pytest.raises(ValueError, match=r"densities\[0\]\[1\]"):
        scores.pair_auc(0, 1)
    with pytest.raises(ValueError, match="densities of classes 0 and 1"):
        _ = scores.auc_mu


@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e155, 1e300])
@pytest.mark.parametrize("correlation", [0.0, 0.9, 1.0])
def test_normal_scores_in_any_unit(unit, correlation):
    means, sds = np.array([[1.0, 0.5], [0.0, 1.5]]), np.array([[1.0, 2.0], [3.0, 1.0]])
    expected = multiauc.NormalScores(means, sds, correlation=correlation)
    found = multiauc.NormalScores(means * unit, sds * unit, correlation=correlation)
    np.testing.assert_allclose(found.hand_till_matrix, expected.hand_till_matrix, rtol=1e-3 if unit < 1e-300 else 1e-14)
    np.testing.assert_allclose(found.auc_mu_matrix, expected.auc_mu_matrix, rtol=1e-3 if unit < 1e-300 else 1e-14)


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.7, 1.0])
def test_shares_of_normal_scores(correlation):
    """The core's shares are those of scipy's normal distribution at the standardised difference of means."""
    rng = np.random.default_rng(4)
    means, sds = rng.normal(size=(3, 3)), rng.gamma(2.0, size=(3, 3)) + 0.05
    scores = multiauc.NormalScores(means, sds, correlation=correlation)
    for c, d in ((0, 1), (1, 2), (2, 0)):
        gap, spread = means[c, c] - means[c, d], math.hypot(sds[c, c], sds[c, d])
        assert scores.pair_auc(c, d) == pytest.approx(stats.norm.cdf(gap / spread), rel=1e-14)
        gap = means[c, c] - means[d, c] - means[c, d] + means[d, d]
        variance = sum(sds[c, k] ** 2 + sds[d, k] ** 2 - 2 * correlation * sds[c, k] * sds[d, k] for k in (c, d))
        assert scores.auc_mu_matrix[c, d] == pytest.approx(stats.norm.cdf(gap / math.sqrt(variance)), rel=1e-13)


def test_limits():
    same = multiauc.NormalScores(np.zeros((3, 3)), 1.0)
    assert (same.hand_till, same.auc_mu, same.one_vs_rest) == (0.5, 0.5, pytest.approx(0.5, abs=1e-15))
    together = multiauc.NormalScores([[2, 1], [0, 0]], 1.0, correlation=1.0)
    assert together.auc_mu == 1.0  # s_0 - s_1 does not vary: 2 in class 0, 1 in class 1
    tied = multiauc.NormalScores([[1, 1], [0, 0]], 1.0, correlation=1.0)
    assert tied.auc_mu == 0.5
    assert multiauc.NormalScores([[100, 0], [0, 100]], 1.0).hand_till == 1.0


@pytest.mark.parametrize(
    ("arguments", "options", "error", "match"),
    [
        (([[1, 2, 3]], 1.0), {}, ValueError, "means must be a K x K array"),
        (([[1, math.nan], [0, 0]], 1.0), {}, ValueError, r"means must be finite; got nan at \[0, 1\]"),
        (([[1, 2], [3, 4]], [1, 2]), {}, ValueError, "sds must be a number or have the shape of means"),
        (([[1, 2], [3, 4]], 0.0), {}, ValueError, "sds must be positive"),
        (([[1, 2], [3, 4]], 1.0), {"prevalence": [0.5, 0.6]}, ValueError, "prevalence must sum to 1; got a sum of 1.1"),
        (([[1, 2], [3, 4]], 1.0), {"prevalence": [1.0, 0.0]}, ValueError, "prevalence must be positive"),
        (([[1, 2], [3, 4]], 1.0), {"prevalence": [1.0]}, ValueError, "a share for each of the 2 classes"),
        (([[1, 2], [3, 4]], 1.0), {"correlation": -1.5}, ValueError, "correlation must be a number of at least -1"),
        (([[1, 2], [3, 4]], 1.0), {"correlation": "x"}, TypeError, "correlation must be a number of at least -1"),
    ],
)
def test_bad_input(arguments, options, error, match):
    with pytest.raises(error, match=match):
        multiauc.NormalScores(*arguments, **options)


def test_bad_densities_and_classes():
    with pytest.raises(TypeError, match=r"densities\[0\]\[1\] must be a frozen continuous distribution"):
        multiauc.ScoreDensities([[stats.norm(), stats.poisson(3)], [stats.norm(), stats.norm()]])
    with pytest.raises(ValueError, match="K sequences of K distributions"):
        multiauc.ScoreDensities([[stats.norm()], [stats.norm(), stats.norm()]])
    scores = multiauc.NormalScores(np.eye(2), 1.0)
    with pytest.raises(ValueError, match="j must be between 0 and 1; got 2"):
        scores.pair_auc(0, 2)
    with pytest.raises(ValueError, match="two classes; got 1 twice"):
        scores.pair_auc(1, 1)
    with pytest.raises(ValueError, match="n must be a positive integer"):
        scores.sample(0)


def test_sample_sizes_from_assumptions():
    """Samples of the planned size have intervals of the planned width."""
    scores = multiauc.NormalScores(np.eye(3), 1.0, prevalence=[0.5, 0.3, 0.2])
    for metric in ("auc_mu", "one_vs_rest"):
        plan = multiauc.sample_size(scores, metric=metric, half_width=0.03)
        assert plan == multiauc.sample_size(scores, metric=metric, half_width=0.03)
        assert f"{getattr(scores, metric):.4f} under the assumptions" in plan.aim
        shares = np.array(list(plan.per_class.values())) / plan.total
        np.testing.assert_allclose(shares, scores.prevalence, atol=0.01)
        assert (plan.best_per_class is None) == (metric == "one_vs_rest")
        classes = np.repeat(np.arange(3), list(plan.per_class.values()))
        widths = []
        for seed in range(40):
            found = multiauc.evaluate(classes, scores.scores_of(classes, rng=seed), metrics=[metric]).metrics[metric]
            low, high = found.confidence_interval()
            widths.append((high - low) / 2)
        assert np.mean(widths) == pytest.approx(0.03, rel=0.05)
    with pytest.raises(ValueError, match="for NormalScores give half_width"):
        multiauc.sample_size(scores, difference=0.1)
    with pytest.raises(ValueError, match="classes must be between 0 and 2"):
        scores.scores_of([0, 3])
    with pytest.raises(ValueError, match="the number of a class for each row"):
        scores.scores_of([0.5])
