"""The core's distributions against SciPy's."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from multiauc import _rust
from multiauc._common.registry import METRICS
from multiauc._costs.decisions import RowMean
from multiauc._inference.differences import min_p, p_values_of

FREEDOMS = (1.0, 1.5, 4.2, 30.0, 999.0, 1999.0, 2001.0, 1e4, 3e6, 9e7)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_tails_and_quantiles_of_t(freedom):
    for t in (0.3, 1.0, 1.96, 2.5, 7.0, 30.0):
        expected = 2 * stats.t.sf(t, freedom)
        assert _rust.student_two_sided_p(t, freedom) == pytest.approx(expected, rel=1e-12)
        assert _rust.student_upper_p(t, freedom) == pytest.approx(expected / 2, rel=1e-12)
        assert _rust.student_upper_p(-t, freedom) == pytest.approx(1 - expected / 2, rel=1e-12)
    for tail in (0.4, 0.1, 0.025, 1e-6, 1e-12):
        assert _rust.student_upper_quantile(tail, freedom) == pytest.approx(stats.t.isf(tail, freedom), rel=1e-12)


def test_infinitely_many_degrees_of_freedom_are_normal():
    for freedom in (_rust.NORMAL_FROM, math.inf):
        for z in (1e-9, 0.7, 2.1, 2.2, 8.0, 37.0):
            assert _rust.student_two_sided_p(z, freedom) == pytest.approx(2 * stats.norm.sf(z), rel=1e-12)
        for tail in (0.49, 0.025, 1e-9, 1e-200):
            assert _rust.student_upper_quantile(tail, freedom) == pytest.approx(stats.norm.isf(tail), rel=1e-12)


def test_ends_and_unknown_numbers():
    assert _rust.student_two_sided_p(0.0, 3.0) == 1.0
    assert _rust.student_two_sided_p(math.inf, 3.0) == 0.0
    assert math.isnan(_rust.student_two_sided_p(1.0, math.nan))
    assert math.isnan(_rust.student_upper_quantile(0.025, math.nan))
    assert _rust.student_upper_quantile(0.5, 3.0) == 0.0


@pytest.mark.parametrize("tail", [0.25, 0.05, 0.025, 0.0005, 1e-6])
def test_quantiles_of_many_degrees_of_freedom(tail, rng):
    freedoms = np.r_[1.0, 1.5, 2.0, 3.0, 10 ** rng.uniform(0, 12, size=200)]
    expected = stats.t.isf(tail, freedoms)
    # Of losses of 1 with a standard error of 0.001, whose limits are exp(± t / 1000).
    for count in (5, len(freedoms)):
        ones, unknown = np.ones(count), np.full(count, np.nan)
        side = (ones, 1e-6 * ones, freedoms[:count], ones.astype(np.int64), unknown, unknown)
        losses = _rust.SampleDifferences(side, side, 0.0 * ones, (0.0, math.inf, True))
        _, high = losses.first_intervals(tail)
        np.testing.assert_allclose(1000 * np.log(high), expected[:count], rtol=2e-11)


def test_quantiles_as_far_as_a_normal_number(rng):
    freedoms = np.repeat([1, 1.5, 3, 10, 200, 1999, 2001, 1e7], 30)
    ones, unknown, size = np.ones(240), np.full(240, np.nan), np.full(240, 50)
    side = (rng.uniform(0.3, 0.7, 240), 10 ** rng.uniform(-6, -3, 240), freedoms, size, unknown, unknown)
    rest = (0.5 * ones, 1e-30 * ones, 1e9 * ones, size, unknown, unknown)
    differences = _rust.SampleDifferences(side, rest, 0.0 * ones, (0.0, 1.0, False))
    z, t = differences.statistics()
    expected = stats.t.isf(stats.norm.sf(z), differences.degrees_of_freedom)
    kept = (z > 0.1) & (z < 8)
    assert kept.sum() > 100
    np.testing.assert_allclose(np.abs(t[kept]), expected[kept], rtol=1e-12)
    assert (np.sign(t) == np.sign(differences.values)).all()


@pytest.mark.parametrize("freedom", [1.0, 2.5, 12.0, 400.0, 1e5])
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.8])
def test_power_of_t(freedom, shift):
    t = stats.t.isf(0.025, freedom)
    expected = stats.nct.sf(t, freedom, shift) + stats.nct.cdf(-t, freedom, shift)
    assert _rust.student_power(shift, freedom, 0.025) == pytest.approx(expected, abs=1e-9)
    z = stats.norm.isf(0.025)
    expected = stats.norm.sf(z - shift) + stats.norm.cdf(-z - shift)
    assert _rust.student_power(shift, 1e9, 0.025) == pytest.approx(expected, rel=1e-12)


def test_tails_of_f_and_chi_squared():
    for x in (1e-3, 0.2, 1.0, 3.0, 50.0):
        for first, second in ((1, 5.0), (2, 3.3), (7, 120.0), (30, 2.0)):
            assert _rust.f_tail(x, first, second) == pytest.approx(stats.f.sf(x, first, second), rel=1e-12)
        for freedom in (1, 2, 3, 8, 45):
            assert _rust.chi_squared_tail(x, freedom) == pytest.approx(stats.chi2.sf(x, freedom), rel=1e-12)
    assert _rust.f_tail(0.0, 3, 5.0) == _rust.chi_squared_tail(0.0, 3) == 1.0


@pytest.mark.parametrize("freedom", [1600, 4001])
def test_many_degrees_of_freedom_of_chi_squared(freedom):
    """The first terms of the sum are too small for a double."""
    for x in (0.9 * freedom, freedom, 1.2 * freedom):
        assert _rust.chi_squared_tail(x, freedom) == pytest.approx(stats.chi2.sf(x, freedom), rel=1e-11)


@pytest.mark.parametrize(("m", "tolerance"), [(3, 1e-6), (4, 1e-4), (6, 1e-4), (10, 1e-4)])
def test_equally_correlated_models_have_the_studentized_range(m, tolerance):
    """All differences of m independent means: Tukey's distribution."""
    vectors = np.array([np.eye(m)[i] - np.eye(m)[j] for i in range(m) for j in range(i)])
    smallest = _rust.MinP(len(vectors), vectors)
    for p in (0.2, 0.05, 0.01):
        z = stats.studentized_range.ppf(1 - p, m, np.inf) / math.sqrt(2)
        assert smallest.correct(2 * stats.norm.sf(z)) == pytest.approx(p, abs=tolerance * max(1.0, p / 0.05))


def test_rounding_errors_of_correlations_do_not_move_p_values():
    rng = np.random.default_rng(3)
    for count in (3, 5, 8):
        vectors = rng.normal(size=(count, count + 2))
        correlations = np.corrcoef(vectors)
        noise = 1e-15 * rng.normal(size=(count, count))
        found, again = min_p(count, correlations), min_p(count, correlations + noise + noise.T)
        for p in (0.5, 0.05, 0.001):
            assert again.correct(p) == pytest.approx(found.correct(p), abs=1e-12)


def test_one_test_and_perfectly_correlated_ones_need_no_correction():
    perfect = min_p(2, np.array([[1.0, -1.0], [-1.0, 1.0]]))
    for smallest in (min_p(1, None), perfect):
        assert smallest.correct(0.02) == pytest.approx(0.02, rel=1e-12)
    independent, known = min_p(2, None), min_p(2, np.eye(2))
    assert independent.correct(0.02) == pytest.approx(1 - 0.98**2, rel=1e-12)
    assert known.correct(0.02) == pytest.approx(1 - 0.98**2, abs=1e-5)
    assert math.isnan(known.correct(math.nan))


def test_correlations_of_a_few_slices_matter_little(rng):
    """Ten equal slices: the correction for independent ones, which more slices get, is hardly different."""
    correlations = np.full((10, 10), -1 / 9) + np.eye(10) * 10 / 9
    known, independent = min_p(10, correlations), min_p(10, None)
    for p in (0.001, 0.005, 0.02):
        assert known.correct(p) == pytest.approx(independent.correct(p), rel=0.03)
        assert known.correct(p) <= independent.correct(p)
    assert independent.tail_of_one(0.025) == pytest.approx((1 - 0.95**0.1) / 2, rel=1e-12)
    assert known.correct(2 * known.tail_of_one(0.025)) == pytest.approx(0.05, rel=1e-6)


def side(*numbers):
    return tuple(np.array([number]) for number in numbers)


@pytest.mark.parametrize("worst", [(math.nan, math.nan), (0.05, 0.25)])
@given(
    st.floats(0.01, 1.0), st.floats(0.0, 0.1), st.floats(1.0, 500.0), st.floats(0.01, 1.0), st.floats(0.0, 0.05),
    st.floats(1.0, 1e6), st.integers(1, 50), st.floats(-0.9, 0.9),
)  # fmt: skip
@settings(max_examples=2 * settings.default.max_examples, deadline=None)
def test_statistics_invert_any_interval(  # noqa: PLR0917
    worst, value, variance, freedom, other, other_variance, other_freedom, size, shared
):
    variance, other_variance = variance * value * (1 - value), other_variance * other * (1 - other)
    covariance = shared * math.sqrt(variance * other_variance)
    differences = _rust.SampleDifferences(
        side(value, variance, freedom, size, *worst),
        side(other, other_variance, other_freedom, 10 * size, *worst),
        np.array([covariance]),
        METRICS["auc_mu"].scale,
    )
    z, (t,) = differences.statistics()
    (p,) = p_values_of(z)
    if not differences.are_testable[0]:
        assert math.isnan(t)
        return
    for tail in (0.4, 0.1, 0.025, 1e-4):
        (low,), (high,) = differences.intervals(tail)
        assert low <= value - other <= high
        if abs(p - 2 * tail) > 1e-6 * tail:
            assert (low > 0 or high < 0) == (p < 2 * tail)
    if variance > 0 and other_variance == 0 and shared == 0:
        assert t == pytest.approx(math.copysign(t, value - other))


def test_the_reach_against_a_known_rest_is_that_of_the_logit_interval():
    """With a rest that is known exactly, a slice differs where its own interval leaves the rest out."""
    rest = side(0.9, 1e-18, 1e6, 1000, math.nan, math.nan)
    differences = _rust.SampleDifferences(
        side(0.8, 0.002, 30.0, 10, math.nan, math.nan), rest, np.zeros(1), METRICS["auc_mu"].scale
    )
    z, (t,) = differences.statistics()
    (p,) = p_values_of(z)
    distance = (math.log(0.8 / 0.2) - math.log(0.9 / 0.1)) * 0.16 / math.sqrt(0.002)
    assert t == pytest.approx(distance, rel=1e-6)
    assert p == pytest.approx(_rust.student_two_sided_p(distance, 30.0), rel=1e-6)
    assert _rust.student_upper_quantile(p / 2, 30.0) == pytest.approx(abs(t), rel=1e-6)


def row_mean(values, weights, groups):
    return RowMean(*_rust.row_mean(values, weights, groups))


class TestRowMeans:
    def test_a_mean_is_the_usual_one(self, rng):
        values = rng.normal(size=40)
        mean = row_mean(values, None, None)
        assert mean.value == pytest.approx(values.mean(), abs=1e-15)
        assert mean.variance == pytest.approx(values.var(ddof=1) / 40, rel=1e-12)
        assert mean.degrees_of_freedom <= 39
        alternating = row_mean(np.tile([0.0, 1.0], 20), None, None)  # no fourth moments to speak of
        assert alternating.degrees_of_freedom == pytest.approx(39)
        same = stats.sem(np.tile([0.0, 1.0], 20))
        assert math.sqrt(alternating.variance) == pytest.approx(same)

    def test_groups_and_weights(self, rng):
        values, groups = rng.normal(size=60), np.arange(60, dtype=np.uint32) // 3
        grouped = row_mean(values, None, groups)
        of_groups = values.reshape(20, 3).mean(axis=1)
        assert grouped.variance == pytest.approx(of_groups.var(ddof=1) / 20, rel=1e-12)
        scaled = row_mean(values, np.full(60, 7.0), groups)
        assert scaled == pytest.approx(grouped)
        padded = row_mean(np.append(values, 99.0), np.append(np.ones(60), 0.0), None)
        assert padded == pytest.approx(row_mean(values, None, None))
        assert math.isnan(row_mean(np.array([1.0]), None, None).variance)
        assert row_mean(np.full(5, 0.1), None, None).variance == 0.0
