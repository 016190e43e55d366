"""The default interval against a plain implementation, and what follows from it: tests, samples, families, plans."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

import multiauc
from multiauc.streaming import Accumulator
from oracle_intervals import (
    effective_numbers,
    ordered_weights,
    wilson,
    wilson_interval,
    worst_case,
    worst_case_of_recalls,
)

SIZES = (40, 20, 10)
KINDS = ("plain", "weights", "groups")


def drawn(rng, sizes=SIZES, signal=0.9):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return codes, np.round(signal * np.eye(len(sizes))[codes] + rng.random((len(codes), len(sizes))), 2)


def options_of(kind, rng, codes):
    if kind == "weights":
        return {"sample_weight": rng.lognormal(size=len(codes))}
    return {"groups": rng.integers(9, size=len(codes)) + 20 * codes} if kind == "groups" else {}


def expected(metric, estimate, codes, options, level=0.95, pair_weights=None):
    weights = options.get("sample_weight")
    n = effective_numbers(codes, weights, options.get("groups"))
    omega = ordered_weights(metric, np.bincount(codes, weights=weights), pair_weights)
    worst = worst_case(metric, estimate.value, n, omega)
    return wilson_interval(estimate.value, estimate.variance(), estimate.degrees_of_freedom, worst, level)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [SIZES, (12, 30), (9, 8, 7, 60)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_against_the_formula(rng, kind, sizes, level):
    codes, scores = drawn(rng, sizes)
    options = options_of(kind, rng, codes)
    found = multiauc.evaluate(codes, scores, **options)
    for metric, estimate in found.metrics.items():
        limits = expected(metric, estimate, codes, options, level)
        np.testing.assert_allclose(estimate.confidence_interval(level), limits, rtol=1e-8)
        np.testing.assert_allclose(estimate.confidence_interval(level, "wilson"), limits, rtol=1e-8)
    for column, estimate in enumerate(found.per_class.values()):
        limits = expected(column, estimate, codes, options, level)
        np.testing.assert_allclose(estimate.confidence_interval(level), limits, rtol=1e-8)


def test_pair_weights(rng):
    codes, scores = drawn(rng)
    weights = np.array([[0, 1, 2], [1, 0, 5], [2, 5, 0]], dtype=float)
    found = multiauc.evaluate(codes, scores, metrics=["auc_mu", "hand_till"], pair_weights=weights)
    for metric, estimate in found.metrics.items():
        limits = expected(metric, estimate, codes, {}, pair_weights=weights)
        np.testing.assert_allclose(estimate.confidence_interval(), limits, rtol=1e-8)


@pytest.mark.parametrize("metric", ["pdi", "hum", "landgrebe_duin"])
def test_one_row_of_every_class(rng, metric):
    codes, scores = drawn(rng, (12, 9, 7))
    estimate = multiauc.evaluate(codes, scores, metrics=[metric]).metrics[metric]
    limits = wilson_interval(estimate.value, estimate.variance(), estimate.degrees_of_freedom, (1 / 7, 1 / 4))
    np.testing.assert_allclose(estimate.confidence_interval(), limits, rtol=1e-8)


def test_ordered_vus(rng):
    codes = np.repeat([0, 1, 2], [12, 9, 7])
    estimate = multiauc.ordered_vus(codes, codes + 2 * rng.random(28)).estimate
    limits = wilson_interval(estimate.value, estimate.variance(), estimate.degrees_of_freedom, (1 / 7, 1 / 4))
    np.testing.assert_allclose(estimate.confidence_interval(), limits, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_binary_aucs(rng, kind):
    codes, scores = drawn(rng, signal=0.5)
    options = options_of(kind, rng, codes)
    matrix = multiauc.evaluate(codes, scores, **options).auc_mu_matrix
    low, high = matrix.confidence_intervals(0.9)
    for c, d in ((0, 1), (2, 0), (1, 2)):
        both = (codes == c) | (codes == d)
        of_both = {name: column[both] for name, column in options.items()}
        alone = multiauc.evaluate(codes[both], scores[both][:, sorted((c, d))], **of_both).auc_mu
        np.testing.assert_allclose((low[c, d], high[c, d]), alone.confidence_interval(0.9), rtol=1e-8)
    assert np.isnan(low.diagonal()).all()


def test_one_number_of_two_classes_has_one_interval(rng):
    codes = np.repeat([0, 1], [12, 9])
    found = multiauc.evaluate(codes, codes + 2 * rng.random(21), metrics=["auc_mu", "one_vs_rest", "pdi", "hum"])
    intervals = {estimate.confidence_interval() for estimate in (*found.metrics.values(), *found.per_class.values())}
    for interval in intervals:
        np.testing.assert_allclose(interval, found.auc_mu.confidence_interval(), rtol=1e-8)


@pytest.mark.filterwarnings("ignore::multiauc.ColumnOrderWarning")
@pytest.mark.parametrize("sign", [1, -1])
def test_perfect_scores(sign):
    codes = np.repeat([0, 1, 2], SIZES)
    found = multiauc.evaluate(codes, sign * np.eye(3)[codes])
    for metric, estimate in found.metrics.items():
        assert estimate.value == (sign > 0)
        worst = worst_case(metric, estimate.value, np.array(SIZES), ordered_weights(metric, np.array(SIZES)))
        t = stats.norm.isf(0.025)
        hidden = t**2 * worst[0] / (1 + t**2 * worst[0])
        limits = (1 - hidden, 1.0) if sign > 0 else (0.0, hidden)
        np.testing.assert_allclose(estimate.confidence_interval(), limits, rtol=1e-8)


def test_rows_that_do_not_vary_off_chance():
    # Two of three pairs are told apart, the rows of the third are all tied.
    codes = np.repeat([0, 1, 2], [6, 5, 4])
    scores = np.eye(3)[np.minimum(codes, 1)]
    estimate = multiauc.evaluate(codes, scores, metrics=["auc_mu"]).auc_mu
    assert estimate.value == pytest.approx(5 / 6)
    assert estimate.standard_error == 0.0
    worst = worst_case("auc_mu", estimate.value, np.array([6, 5, 4]), ordered_weights("auc_mu", np.array([6, 5, 4])))
    limits = wilson_interval(estimate.value, 0.0, math.nan, worst)
    np.testing.assert_allclose(estimate.confidence_interval(), limits, rtol=1e-8)


def test_constant_scores_have_none():
    found = multiauc.evaluate([0, 0, 1, 1, 2, 2], np.ones((6, 3)), metrics=["auc_mu", "one_vs_rest", "pdi"])
    for estimate in (*found.metrics.values(), *found.per_class.values()):
        with pytest.warns(RuntimeWarning, match="do not vary"):
            assert np.isnan(estimate.confidence_interval()).all()


def test_tests_invert_it(rng):
    codes, scores = drawn(rng)
    estimate = multiauc.evaluate(codes, scores).hand_till
    for level in (0.8, 0.99):
        low, high = estimate.confidence_interval(level)
        for limit, side in ((low, "greater"), (high, "less")):
            assert estimate.test(limit).p_value == pytest.approx(1 - level, rel=1e-9)
            assert estimate.test(limit, side).p_value == pytest.approx((1 - level) / 2, rel=1e-9)
    worst = worst_case("hand_till", estimate.value, np.array(SIZES), ordered_weights("hand_till", np.array(SIZES)))
    effect, freedom = wilson(estimate.value, estimate.variance(), estimate.degrees_of_freedom, worst)
    test = estimate.test(0.7)
    assert test.t == pytest.approx((estimate.value - 0.7) / math.sqrt(0.7 * 0.3 * effect))
    assert test.degrees_of_freedom == pytest.approx(freedom)


def test_numbers_about_decisions_keep_theirs(rng):
    codes, scores = drawn(rng)
    found = multiauc.evaluate(codes, scores, metrics=["auc_mu", "kappa", "accuracy", "balanced_accuracy"])
    assert "Wilson" in found.method
    assert "logit for Cohen's kappa, accuracy" in found.method
    for metric in ("kappa", "accuracy"):
        estimate = found.metrics[metric]
        assert estimate.confidence_interval() == estimate.confidence_interval(method="logit")
        with pytest.raises(ValueError, match="wilson"):
            estimate.confidence_interval(method="wilson")


def balanced_accuracy_limits(estimate, codes, scores, options, level=0.95):
    weights = options.get("sample_weight", np.ones(len(codes)))
    right = weights * (scores.argmax(axis=1) == codes)
    recalls = np.bincount(codes, weights=right) / np.bincount(codes, weights=weights)
    worst = worst_case_of_recalls(recalls, effective_numbers(codes, weights, options.get("groups")))
    return wilson_interval(estimate.value, estimate.variance(), estimate.degrees_of_freedom, worst, level)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [SIZES, (12, 30), (9, 8, 7, 60)])
@pytest.mark.parametrize("signal", [0.3, 0.6, 0.99, 1.0])
def test_balanced_accuracy(rng, kind, sizes, signal):
    codes, scores = drawn(rng, sizes, signal)
    options = options_of(kind, rng, codes)
    estimate = multiauc.evaluate(codes, scores, metrics=["balanced_accuracy"], **options).metrics["balanced_accuracy"]
    for level in (0.8, 0.95):
        limits = balanced_accuracy_limits(estimate, codes, scores, options, level)
        np.testing.assert_allclose(estimate.confidence_interval(level), limits, rtol=1e-8)
    low, high = estimate.confidence_interval()
    for limit in (low,) if high == 1.0 else (low, high):
        assert estimate.test(limit).p_value == pytest.approx(0.05, rel=1e-6)


def test_folds_of_balanced_accuracy(rng):
    codes, scores = drawn(rng, (40, 20, 10), 0.6)
    folds = np.arange(len(codes)) % 5
    estimate = multiauc.evaluate(codes, scores, metrics=["balanced_accuracy"], folds=folds).metrics["balanced_accuracy"]
    limits = balanced_accuracy_limits(estimate, codes, scores, {})
    np.testing.assert_allclose(estimate.confidence_interval(), limits, rtol=1e-8)


def test_a_small_class_without_failures_is_not_believed():
    """The failures of the large class say nothing about it: the interval is near that of the small class alone."""
    codes = np.repeat([0, 1], [60, 6])
    predicted = np.where(np.arange(66) < 17, 1, codes)
    estimate = multiauc.evaluate(codes, np.eye(2)[predicted], metrics=["balanced_accuracy"]).metrics[
        "balanced_accuracy"
    ]
    low, high = estimate.confidence_interval()
    assert pytest.approx(estimate.value) == (43 / 60 + 1) / 2
    assert low < (43 / 60 + 0.6) / 2  # six of six rows are right: Wilson's limit of that recall is 0.61
    assert low > 0.5
    assert high > 0.9


def test_folds_have_the_worst_case_of_all_rows(rng):
    codes, scores = drawn(rng)
    found = multiauc.evaluate(codes, scores, folds=np.arange(len(codes)) % 5)
    for metric, estimate in found.metrics.items():
        np.testing.assert_allclose(estimate.confidence_interval(), expected(metric, estimate, codes, {}), rtol=1e-8)


def test_streams_have_the_same(rng):
    codes, scores = drawn(rng, (400, 50, 20))
    state = Accumulator([0, 1, 2], metrics=["auc_mu", "hand_till", "one_vs_rest"])
    state.update(codes, scores)
    found, whole = state.evaluate(), multiauc.evaluate(codes, scores)
    for metric, value in found.metrics.items():
        assert value.exact
        np.testing.assert_allclose(value.confidence_interval(), whole.metrics[metric].confidence_interval(), atol=1e-9)
    for label, value in found.per_class.items():
        np.testing.assert_allclose(value.confidence_interval(), whole.per_class[label].confidence_interval(), atol=1e-9)


def test_intervals_of_streams_cover_both_bounds(rng):
    codes = rng.integers(3, size=30_000)
    state = Accumulator([0, 1, 2], metrics=["auc_mu"], memory_limit=200_000)
    state.update(codes, np.eye(3)[codes] + rng.normal(size=(30_000, 3)))
    value = state.evaluate().auc_mu
    assert value.low < value.high
    low, high = value.confidence_interval(0.01)
    assert low < value.low < value.high < high


def test_slices_have_the_same(rng):
    codes, scores = drawn(rng, (80, 60, 40))
    places = rng.integers(3, size=180)
    for metric in ("auc_mu", "one_vs_rest", "kappa"):
        slices = multiauc.evaluate_slices(codes, scores, places, metric=metric)
        for place, limits in slices.confidence_intervals().items():
            alone = multiauc.evaluate(codes[places == place], scores[places == place], metrics=[metric])
            np.testing.assert_allclose(limits, alone.metrics[metric].confidence_interval(), rtol=1e-9)


def mover(a, b, level):
    (low_a, high_a), (low_b, high_b) = a.confidence_interval(level), b.confidence_interval(level)
    d = a.value - b.value
    return (
        d - math.hypot(a.value - low_a, high_b - b.value),
        d + math.hypot(high_a - a.value, b.value - low_b),
    )


def test_samples_of_different_rows(rng):
    a = multiauc.evaluate(*drawn(rng, (50, 40, 30), 0.8))
    b = multiauc.evaluate(*drawn(rng, (12, 8, 6), 0.3))
    found = multiauc.compare_samples(a, b)
    for level in (0.5, 0.95):
        np.testing.assert_allclose(found.confidence_interval(level), mover(a.auc_mu, b.auc_mu, level), rtol=1e-9)
    level = optimize.brentq(lambda one: mover(a.auc_mu, b.auc_mu, one)[0], 0.01, 1 - 1e-9, xtol=1e-14)
    assert found.p_value == pytest.approx(1 - level, rel=1e-6)
    low, high = found.confidence_interval(0.9)
    assert found.test(low, "greater").p_value == pytest.approx(0.05, rel=1e-8)
    assert found.test(high, "less").p_value == pytest.approx(0.05, rel=1e-8)
    assert found.test(low).p_value == pytest.approx(0.1, rel=1e-8)
    assert found.reversed().p_value == pytest.approx(found.p_value, rel=1e-9)
    np.testing.assert_allclose(found.reversed().confidence_interval(0.9), (-high, -low))
    low, high = found.confidence_interval(0.9)
    margin = 0.001 + max(-low, high)
    assert found.equivalence(margin).p_value < 0.05 < found.equivalence(margin - 0.002).p_value


def test_two_perfect_samples_have_a_test():
    codes = np.repeat([0, 1], 20)
    found = multiauc.evaluate(codes, codes)
    worse = multiauc.evaluate(codes, (codes + np.arange(40) % 5 / 2) % 1.9)
    assert multiauc.compare_samples(found, found).p_value == 1.0
    assert 0.0 < multiauc.compare_samples(found, worse).p_value < 1.0


def test_families_have_the_degrees_of_freedom_of_each(rng):
    codes = np.repeat([0, 1, 2], [160, 30, 10])
    models = {name: np.eye(3)[codes] + 1.5 * rng.random((200, 3)) for name in "abcd"}
    found = multiauc.compare(codes, models)
    p_values = [one.p_value for one in found.differences]
    for one in found.differences:
        assert one.p_value < one.corrected_p_value <= 1 - (1 - one.p_value) ** len(p_values) + 1e-12
    # Words, interval and p-value agree: the corrected p is 1 - level where the interval ends at 0.
    smallest = min(found.differences, key=lambda one: one.p_value)
    for factor, leaves_out in ((0.99, True), (1.01, False)):
        level = 1 - smallest.corrected_p_value / factor
        low, high = found.simultaneous_intervals(level)[smallest.first, smallest.second]
        assert (low > 0 or high < 0) == leaves_out
    # The order of p-values is kept, whatever their degrees of freedom.
    corrected = [one.corrected_p_value for one in found.differences]
    assert np.argsort(p_values).tolist() == np.argsort(corrected).tolist()


def test_a_plan_near_one_asks_for_no_more_rows_than_it_needs(rng):
    population = multiauc.NormalScores(3.5 * np.eye(2), 1.0)
    plan = multiauc.sample_size(population, half_width=0.02)
    assert max(plan.per_class.values()) < 134
    n = plan.per_class[0]
    codes = np.repeat([0, 1], n)
    widths = []
    for _ in range(40):
        low, high = multiauc.evaluate(codes, population.scores_of(codes, rng=rng)).auc_mu.confidence_interval()
        widths.append(0.5 * (high - low))
    assert np.mean(widths) == pytest.approx(0.02, rel=0.1)


def test_cautious_intervals_append_a_group(rng):
    # Rows of a group are copies: the groups are then rows, and so is what is appended.
    codes, scores = drawn(rng, (9, 8, 7))
    groups = np.arange(len(codes))
    rows = multiauc.evaluate(codes, scores).auc_mu
    copies = multiauc.evaluate(np.repeat(codes, 5), np.repeat(scores, 5, axis=0), groups=np.repeat(groups, 5)).auc_mu
    expected_limits = rows.confidence_interval(method="cautious")
    np.testing.assert_allclose(copies.confidence_interval(method="cautious"), expected_limits, rtol=1e-9)
