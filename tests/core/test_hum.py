"""The hypervolume under the ROC manifold against its definition: all tuples, all assignments."""

import pickle
from contextlib import nullcontext
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import factorial, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import multiauc
import oracle_volumes
from strategies import PAPER_CODES, PAPER_SCORES, make_sample, smooth

RTOL = 1e-14
RULES = ("sum", "prod", "distance")


def distance_table(numerators, m):
    """-|p - e_j| of scores in m-ths, to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return [
            [-(sum((Decimal(a) / m - (i == j)) ** 2 for i, a in enumerate(row))).sqrt() for j in range(len(row))]
            for row in numerators.tolist()
        ]


def rounded_sum(values):
    with localcontext() as context:
        context.prec = 60
        return sum(values, Decimal(0)).quantize(Decimal("1e-45"))


def expected_of(codes, numerators, m, rule):
    """(value, components) by definition, for scores that are whole multiples of 1/m."""
    if rule == "distance":
        return oracle_volumes.hum_components(codes, distance_table(numerators, m), rounded_sum)
    table = [[Fraction(a, m) for a in row] for row in numerators.tolist()]
    key = oracle_volumes.sum_key if rule == "sum" else oracle_volumes.product_key
    return oracle_volumes.hum_components(codes, table, key)


def lattice_sample(seed, sizes, m):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return codes, rng.integers(0, m + 1, size=(len(codes), len(sizes))) + m // 2 * np.eye(len(sizes), dtype=int)[codes]


SIZES = st.one_of(
    st.lists(st.integers(1, 5), min_size=2, max_size=3),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
    st.lists(st.integers(1, 2), min_size=5, max_size=5),
)


@given(st.integers(0, 2**32), SIZES, st.sampled_from([1, 2, 3, 10, 1000]), st.sampled_from(RULES))
@settings(max_examples=150, deadline=None)
def test_value_and_components_are_those_of_all_tuples(seed, sizes, m, rule):
    codes, numerators = lattice_sample(seed, sizes, m)
    value, components = expected_of(codes, numerators, m, rule)
    scores = numerators / m
    assert multiauc.hum_score(codes, scores, rule=rule) == pytest.approx(float(value), abs=RTOL)
    with pytest.warns(RuntimeWarning, match="single row") if 1 in sizes else nullcontext():
        found = multiauc.hum(codes, scores, rule=rule)
    assert found.value == pytest.approx(float(value), abs=RTOL)
    assert (found.exact, found.monte_carlo_error, found.rule) == (True, 0.0, rule)
    if min(sizes) > 1:
        variance = sum(components[codes == k].var(ddof=1) / size for k, size in enumerate(sizes))
        assert found.standard_error == pytest.approx(np.sqrt(variance), abs=1e-12)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.lists(st.integers(2, 6), min_size=3, max_size=4), st.sampled_from(["sum", "prod"]))
@settings(max_examples=60, deadline=None)
def test_smooth_scores(seed, sizes, rule):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes[: len(sizes)]))
    scores = rng.random((len(codes), len(sizes))) + 0.3 * np.eye(len(sizes))[codes]
    table = [[Fraction(p) for p in row] for row in scores.tolist()]
    key = oracle_volumes.sum_key if rule == "sum" else oracle_volumes.product_key
    value, components = oracle_volumes.hum_components(codes, table, key)
    found = multiauc.hum(codes, scores, rule=rule)
    assert found.value == pytest.approx(float(value), abs=RTOL)
    variance = sum(components[codes == k].var(ddof=1) / size for k, size in enumerate(sizes))
    assert found.standard_error == pytest.approx(np.sqrt(variance), abs=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_the_worked_examples(rule):
    assert multiauc.hum_score(PAPER_CODES, PAPER_SCORES, rule=rule) == 0.75
    figure = np.array([[6, 5, 5], [7, 9, 0], [7, 0, 9]]) / 16
    assert multiauc.hum_score([0, 1, 2], figure, rule=rule) == 1.0


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 9, 40])
@pytest.mark.parametrize("rule", RULES)
def test_chance_and_perfect(n_classes, rule):
    codes = np.repeat(np.arange(n_classes), 2)
    constant = np.full((len(codes), n_classes), 0.25)
    assert multiauc.hum_score(codes, constant, rule=rule) == pytest.approx(1 / factorial(n_classes), rel=1e-12)
    perfect = multiauc.hum(codes, np.eye(n_classes)[codes], rule=rule)
    assert (perfect.value, perfect.exact) == (1.0, True)
    assert perfect.chance == pytest.approx(1 / factorial(n_classes), rel=1e-14)
    wrong = np.eye(n_classes)[(codes + 1) % n_classes]
    assert multiauc.hum_score(codes, wrong, rule=rule) == 0.0


@pytest.mark.parametrize("levels", [None, 10])
def test_two_classes_have_auc_mu_bit_for_bit(levels):
    rng = np.random.default_rng(3)
    codes = rng.integers(2, size=500)
    scores = rng.random((500, 2)) + 0.3 * np.eye(2)[codes]
    scores = scores if levels is None else np.round(scores * levels) / levels
    for y_score in (scores, scores.astype(np.float32), scores[:, 1]):
        assert multiauc.hum_score(codes, y_score) == multiauc.auc_mu_score(codes, y_score)
        found, expected = multiauc.hum(codes, y_score), multiauc.evaluate(codes, y_score).auc_mu
        assert (found.value, found.standard_error) == (expected.value, expected.standard_error)
    scores = np.maximum(scores, 0.1)
    for rule in ("prod", "distance"):
        keys = np.log(scores[:, 0]) - np.log(scores[:, 1])
        if rule == "distance":
            keys = np.linalg.norm(scores - [0, 1], axis=1) - np.linalg.norm(scores - [1, 0], axis=1)
        expected = multiauc.auc_mu_score(1 - codes, keys)
        assert multiauc.hum_score(codes, scores, rule=rule) == pytest.approx(expected, abs=2e-3 if levels else RTOL)


@pytest.mark.parametrize("sizes", [[60, 60, 60], [5, 90, 40], [7, 6, 8, 9]])
def test_the_order_of_rows_and_columns_and_threads_do_not_matter_by_a_bit(sizes):
    rng = np.random.default_rng(4)
    n_classes = len(sizes)
    codes = np.repeat(np.arange(n_classes), sizes)
    smooth_scores = rng.random((len(codes), n_classes)) + 0.3 * np.eye(n_classes)[codes]
    for scores, rule in product((smooth_scores, np.round(smooth_scores, 1)), RULES):
        found = multiauc.hum(codes, scores, rule=rule)
        for _ in range(3):
            rows, columns = rng.permutation(len(codes)), rng.permutation(n_classes)
            again = multiauc.hum(codes[rows], scores[rows][:, columns], rule=rule, labels=columns)
            assert again.value == found.value
            assert again.standard_error == pytest.approx(found.standard_error, rel=1e-12)
        multiauc.set_num_threads(3)
        try:
            several = multiauc.hum(codes, scores, rule=rule)
        finally:
            multiauc.set_num_threads(0)
        assert (several.value, several.standard_error) == (found.value, found.standard_error)


def test_products_are_those_of_the_surface_of_landgrebe_and_duin():
    rng = np.random.default_rng(6)
    codes = np.repeat(np.arange(3), [5, 6, 4])
    scores = rng.dirichlet(np.ones(3), size=15) * 0.6 + 0.4 * np.eye(3)[codes] * rng.random((15, 1))
    # Decisions change on lines in the plane of the factors' logarithms, where two scores of a row become equal. Each
    # part of the plane between lines has a corner where two of them cross: look all round every crossing.
    first, second = np.log(scores[:, 2] / scores[:, 0]), np.log(scores[:, 2] / scores[:, 1])
    between = np.log(scores[:, 1] / scores[:, 0])
    crossings = [*product(first, second), *((a, a - d) for a, d in product(first, between))]
    crossings += [(b + d, b) for b, d in product(second, between)]
    angles = 2 * np.pi * (np.arange(12) + 0.5) / 12
    round_them = 1e-7 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    factors = [np.exp([a, b, 0.0]) for a, b in (np.array(crossings)[:, None] + round_them).reshape(-1, 2)]
    volume = oracle_volumes.surface_volume(codes, scores, factors)
    found = multiauc.landgrebe_duin_score(codes, scores)
    assert found == pytest.approx(volume, abs=1e-12)
    assert found == multiauc.hum_score(codes, scores, rule="prod")
    normalised = multiauc.landgrebe_duin_score(codes, scores, normalised=True)
    assert normalised == pytest.approx((found - 1 / 6) / (5 / 6), abs=1e-15)


# --- drawn tuples -----------------------------------------------------------------------------------------------------


def large_sample(seed, n=1500, n_classes=5, signal=0.5):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    return codes, rng.random((n, n_classes)) + signal * np.eye(n_classes)[codes]


def test_drawn_tuples_are_near_the_value_of_all():
    # Rows repeated often: the same value as of the few, which are all gone through.
    rng = np.random.default_rng(8)
    few_codes = np.repeat(np.arange(4), 4)
    few = np.round(rng.random((16, 4)) + 0.4 * np.eye(4)[few_codes], 2)
    codes, scores = np.tile(few_codes, 30), np.tile(few, (30, 1))
    exact = multiauc.hum(codes, scores)
    assert exact.exact
    assert exact.value == pytest.approx(multiauc.hum_score(few_codes, few), abs=RTOL)
    # Noise too small to matter makes all rows different, and their tuples too many to go through.
    noisy = scores + 1e-9 * rng.random(scores.shape)
    drawn = multiauc.hum(codes, noisy, rng=1, precision=2e-3)
    assert not drawn.exact
    assert 0.0 < drawn.monte_carlo_error <= 2e-3
    assert abs(drawn.value - exact.value) < 5 * drawn.monte_carlo_error
    assert drawn.standard_error == pytest.approx(exact.standard_error, rel=0.15)
    assert "sampled, Monte Carlo error 0.0" in repr(drawn)


def test_the_error_of_drawing_is_what_it_says():
    codes, scores = large_sample(9)
    found = [multiauc.hum(codes, scores, precision=4e-3, rng=seed) for seed in range(60)]
    assert not any(one.exact for one in found)
    values, errors = [one.value for one in found], [one.monte_carlo_error for one in found]
    assert np.std(values, ddof=1) == pytest.approx(np.mean(errors), rel=0.35)


def test_drawing_depends_on_the_seed_alone():
    codes, scores = large_sample(11, n=300)
    value = multiauc.hum_score(codes, scores, rng=5)
    assert multiauc.hum_score(codes, scores, rng=5) == value
    assert multiauc.hum_score(codes, scores, rng=6) != value
    multiauc.set_num_threads(3)
    try:
        assert multiauc.hum_score(codes, scores, rng=5) == value
    finally:
        multiauc.set_num_threads(0)


def test_drawn_standard_errors_do_not_hold_the_noise_of_drawing():
    codes, scores = large_sample(12)
    rough, fine = (multiauc.hum(codes, scores, rng=1, precision=p) for p in (3e-3, 2e-4))
    assert rough.standard_error == pytest.approx(fine.standard_error, rel=0.1)
    evaluated = multiauc.evaluate(codes, scores, metrics=["hum"]).metrics["hum"]
    assert evaluated.standard_error == pytest.approx(fine.standard_error, rel=0.05)
    assert abs(evaluated.value - fine.value) < evaluated.standard_error / 2
    low, high = rough.confidence_interval()
    assert high - low > rough.estimate.confidence_interval().high - rough.estimate.confidence_interval().low


def test_a_perfect_drawn_score_is_not_called_exact():
    codes = np.tile(np.arange(5), 60)
    scores = np.eye(5)[codes] + 1e-6 * np.random.default_rng(0).random((300, 5))
    found = multiauc.hum(codes, scores, rng=0)
    assert (found.value, found.exact) == (1.0, False)
    assert 0.0 < found.monte_carlo_error < 1e-3


# --- everything else --------------------------------------------------------------------------------------------------


def test_absent_classes():
    codes, numerators = lattice_sample(5, [4, 4, 4, 3], 6)
    scores, present = numerators / 6, codes != 1
    with pytest.raises(ValueError, match="absent='ignore'"):
        multiauc.hum_score(codes[present], scores[present], labels=range(4))
    relabelled = np.searchsorted([0, 2, 3], codes[present])
    for rule in RULES:
        ignored = multiauc.hum(codes[present], scores[present], labels=range(4), absent="ignore", rule=rule)
        assert ignored.value == multiauc.hum_score(relabelled, scores[present][:, [0, 2, 3]], rule=rule)
        assert ignored.chance == 1 / 6
        assert np.isnan(multiauc.hum_score(codes[present], scores[present], labels=range(4), absent="nan", rule=rule))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"rule": "max"}, ValueError, "rule must be one of 'sum', 'prod', 'distance'; got 'max'"),
        ({"precision": 0.0}, ValueError, "precision must be a finite number above 0"),
        ({"precision": inf}, ValueError, "precision must be a finite number above 0"),
        ({"precision": "x"}, TypeError, "precision must be a finite number"),
        ({"rng": 0.5}, TypeError, "rng must be"),
        ({"sample_weight": [1.0] * 4}, TypeError, "sample_weight"),
    ],
)
def test_bad_options(arguments, error, message):
    with pytest.raises(error, match=message):
        multiauc.hum([0, 1, 2, 0], np.eye(3)[[0, 1, 2, 0]], **arguments)


def test_bad_scores():
    scores = np.eye(3)[[0, 1, 2, 0]]
    with pytest.raises(ValueError, match=r"y_score contains -0.5 at row 2, column 1.*rule='sum'"):
        multiauc.landgrebe_duin_score([0, 1, 2, 0], scores - np.outer([0, 0, 1, 0], [0, 0.5, 0]))
    with pytest.raises(ValueError, match="y_score contains nan at row 1, column 0"):
        multiauc.hum([0, 1, 2, 0], np.where(np.arange(12).reshape(4, 3) == 3, np.nan, scores))
    with pytest.raises(ValueError, match="sample_weight cannot be used with metric='hum'"):
        multiauc.evaluate([0, 1, 2, 0], scores, metrics=["hum"], sample_weight=np.ones(4))


def test_more_ties_than_can_be_counted_are_refused():
    # Thirty classes in a ring of ties: neither all permutations nor few.
    n_classes = 30
    scores = np.full((n_classes, n_classes), -5.0)
    ring = np.arange(n_classes)
    for step in range(3):
        scores[ring, (ring + step) % n_classes] = 0.0
    with pytest.raises(ValueError, match="y_score ties 30 classes"):
        multiauc.hum_score(ring, scores)


def test_it_is_a_metric_of_evaluate_and_compare():
    y_true, scores = make_sample(smooth, [30, 40, 20], 4).data
    other = scores + np.random.default_rng(0).normal(scale=0.1, size=scores.shape)
    names = ["auc_mu", "hum", "landgrebe_duin", "pdi"]
    evaluation = multiauc.evaluate(y_true, scores, metrics=names, groups=np.arange(90) // 2)
    assert list(evaluation.metrics) == names
    assert "HUM" in repr(evaluation)
    assert evaluation.metrics["hum"].value == multiauc.hum_score(y_true, scores)
    assert evaluation.metrics["landgrebe_duin"].value == multiauc.hum_score(y_true, scores, rule="prod")
    low, high = evaluation.metrics["hum"].confidence_interval(method="cautious")
    assert 0.0 <= low < high <= 1.0
    comparison = multiauc.compare(y_true, {"a": scores, "b": other}, metric="hum")
    difference = comparison.difference("a", "b")
    inner = [multiauc.evaluate(y_true, s, metrics=["hum"]).influences()[:, 0] for s in (scores, other)]
    sizes = np.bincount(y_true)[y_true]
    expected = np.sqrt((sizes / (sizes - 1) * (inner[0] - inner[1]) ** 2).sum())
    assert difference.standard_error == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match="no bootstrap is available for 'hum'"):
        comparison.bootstrap(10)
    folds = multiauc.evaluate(y_true, scores, metrics=["hum"], folds=np.arange(90) % 3)
    assert 0.0 < folds.metrics["hum"].value < 1.0


def test_results_can_be_kept_and_shown():
    found = multiauc.hum(PAPER_CODES, PAPER_SCORES)
    low, high = found.estimate.confidence_interval()
    text = f"Volume(HUM by sums 0.7500, standard error 0.1852, 95% interval {low:.4f} to {high:.4f}; chance 0.1667)"
    assert repr(found) == text
    kept = pickle.loads(pickle.dumps(found))
    assert kept == found
    assert repr(kept) == text
    assert found.to_dict()["rule"] == "sum"
    assert len(found.to_frame()) == 1
    with pytest.raises(ValueError, match="unpickled"):
        kept.surface()


# --- the surface ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_the_volume_under_the_surface_is_the_value(rule):
    codes, scores = large_sample(13, n=600, n_classes=3)
    found = multiauc.hum(codes, scores / scores.sum(axis=1, keepdims=True), rule=rule)
    rates = found.surface(points=120).rates
    assert rates.shape == (3, 120, 120)
    assert ((rates >= 0.0) & (rates <= 1.0)).all()
    # Volume below z = r3 over (r1, r2), by the change of variables along both offsets.
    first, second, third = rates
    jacobian = np.gradient(first, axis=0) * np.gradient(second, axis=1) - np.gradient(first, axis=1) * np.gradient(
        second, axis=0
    )
    assert (third * np.abs(jacobian)).sum() == pytest.approx(found.value, abs=0.03)


def test_surfaces_are_of_three_classes():
    codes, scores = large_sample(14, n=40, n_classes=4)
    with pytest.raises(ValueError, match="three classes; y_true has 4 classes"):
        multiauc.hum(codes, scores, precision=0.1).surface()
    with pytest.raises(ValueError, match=r"PDI has no ROC surface; use multiauc.hum"):
        multiauc.pdi(codes, scores).surface()
