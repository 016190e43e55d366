"""The core's distributions against SciPy's."""

import math

import numpy as np
import pytest
from scipy import stats

from multiauc import _rust
from multiauc._inference.differences import min_p

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
