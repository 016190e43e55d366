"""Weights, groups, random class sizes, degrees of freedom and cautious intervals against their definitions."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import multiauc
from oracle_inference import cautious_interval
from oracle_uncertainty import METRICS, Problem
from strategies import Sample, make_sample, mixed_denominators, samples, smooth

DESIGNS = ("rows", "within classes", "across classes", "rows as groups")


@st.composite
def sizes(draw: st.DrawFn) -> list[int]:
    """Two to five classes of at least three rows."""
    return draw(st.lists(st.integers(3, 14), min_size=2, max_size=5))


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return function(*arguments, **options)


def groups_of(design: str, codes: np.ndarray, seed: int) -> np.ndarray | None:
    """Groups of rows: none, of one class each, of several classes, or of one row each."""
    rng = np.random.default_rng(seed)
    if design == "rows":
        return None
    if design == "rows as groups":
        return rng.permutation(len(codes)) + 7
    if design == "across classes":
        return rng.integers(0, 8, size=len(codes))
    return 10 * codes + rng.integers(0, 4, size=len(codes))


def lognormal(sample: Sample, weighted: bool, seed: int) -> np.ndarray | None:
    return np.exp(np.random.default_rng(seed).normal(size=len(sample.codes))) if weighted else None


def units_of(problem: Problem, groups: np.ndarray | None) -> int:
    """The fewest rows or groups that a class has."""
    rows = (problem.rows[c] for c in problem.present)
    return min(len(r) if groups is None else len(np.unique(groups[r])) for r in rows)


# The settings that every formula has to get right, together and one by one.
settings = st.tuples(
    samples(sizes=sizes()),
    st.booleans(),
    st.sampled_from(DESIGNS),
    st.sampled_from(["stratified", "iid"]),
    st.integers(0, 10**6),
)


@given(settings)
def test_variances_degrees_of_freedom_and_cautious_intervals(setting):
    sample, weighted, design, sampling, seed = setting
    weights, groups = lognormal(sample, weighted, seed), groups_of(design, sample.codes, seed)
    problem = Problem(*sample.data, weights=weights)
    smallest = units_of(problem, groups)
    if smallest < 2:
        return
    result = quiet(multiauc.evaluate, *sample.data, sample_weight=weights, groups=groups, sampling=sampling)
    named = {**result.metrics, **{str(c): estimate for c, estimate in result.per_class.items()}}
    for metric, estimate in named.items():
        rows = problem.inference(metric, groups, sampling == "iid")
        assert estimate.variance() == pytest.approx(rows.variance(), rel=1e-9, abs=1e-18)
        if estimate.standard_error == 0.0:
            continue
        assert estimate.degrees_of_freedom == pytest.approx(rows.degrees_of_freedom(), rel=1e-6)
        at_bound = (0.05 ** (1 / smallest), 1.0) if estimate.value == 1.0 else (0.0, 1 - 0.05 ** (1 / smallest))
        expected = cautious_interval(estimate.value, rows, problem.chances(metric), 0.9, at_bound)
        assert estimate.confidence_interval(0.9, "cautious") == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@given(settings)
def test_paired_differences(metric, setting):
    sample, weighted, design, sampling, seed = setting
    weights, groups = lognormal(sample, weighted, seed), groups_of(design, sample.codes, seed)
    other = mixed_denominators(np.random.default_rng(seed), len(sample.codes), sample.n_classes)
    a, b = (Problem(sample.codes, scores, weights=weights) for scores in (sample.scores, other))
    if units_of(a, groups) < 2:
        return
    options = {"metric": metric, "sample_weight": weights, "groups": groups, "sampling": sampling}
    found = quiet(multiauc.compare, sample.codes, {"a": sample.scores, "b": other}, **options).difference("a", "b")
    rows = a.inference(metric, groups, sampling == "iid", model=b)
    assert found.variance == pytest.approx(rows.variance(), rel=1e-9, abs=1e-18)
    if found.variance > 0.0:
        assert found.degrees_of_freedom == pytest.approx(rows.freedom_of_difference(a.chances(metric)), rel=1e-6)
        assert found.t == found.value / math.sqrt(found.variance)


@given(settings)
def test_pairs_of_classes(setting):
    sample, weighted, design, _, seed = setting
    weights, groups = lognormal(sample, weighted, seed), groups_of(design, sample.codes, seed)
    problem = Problem(*sample.data, weights=weights)
    if units_of(problem, groups) < 2:
        return
    result = quiet(multiauc.evaluate, *sample.data, sample_weight=weights, groups=groups)
    for metric, matrix in result.matrices.items():
        for c, d in problem.kernels(metric):
            alone = object.__new__(Problem)
            alone.__dict__.update(problem.__dict__)
            alone.omega = lambda _metric, _share, pair=(c, d): {pair: 1.0}
            alone.present = [c, d]
            rows = alone.inference(metric, groups)
            assert matrix.standard_error[c, d] ** 2 == pytest.approx(rows.variance(), rel=1e-9, abs=1e-18)
            if matrix.standard_error[c, d] > 0.0:
                assert matrix.degrees_of_freedom[c, d] == pytest.approx(rows.degrees_of_freedom(), rel=1e-6)


@pytest.mark.parametrize("sampling", ["stratified", "iid"])
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_one_row_are_rows(sampling, weighted, rng):
    """The same bits: of everything that is computed from the rows."""
    y, scores = make_sample(mixed_denominators, [30, 9, 14, 5], 3).data
    other = smooth(rng, len(y), 4)
    weights = np.exp(rng.normal(size=len(y))) if weighted else None
    metrics = [*METRICS, "pdi"]

    def numbers(groups):
        options = {"sample_weight": weights, "groups": groups, "sampling": sampling}
        result = multiauc.evaluate(y, scores, metrics=metrics, **options)
        found = [*result.metrics.values(), *result.per_class.values()]
        for metric in metrics:
            found += multiauc.compare(y, {"a": scores, "b": other}, metric=metric, **options).differences
        intervals = [one.confidence_interval(method="cautious") for one in result.metrics.values()]
        singles = [(one.value, one.standard_error, one.degrees_of_freedom) for one in found]
        return singles, intervals, result.covariance.tolist(), result.influences().tolist()

    assert numbers(None) == numbers(rng.permutation(len(y)))


def test_influences_include_what_random_class_sizes_add(rng):
    y, scores = make_sample(smooth, [30, 12, 20], 8).data
    weights = np.exp(rng.normal(size=len(y)))
    problem = Problem(y, scores, weights=weights)
    for sampling in ("stratified", "iid"):
        found = multiauc.evaluate(y, scores, sample_weight=weights, sampling=sampling).influences()
        for k, metric in enumerate(METRICS):
            expected = problem.centred(problem.components(metric))
            if sampling == "iid":
                expected += weights / weights.sum() * problem.slopes(metric)[y]
            np.testing.assert_allclose(found[:, k], expected, rtol=0, atol=1e-14)


def test_pdi_appends_the_credit_of_chance():
    y, scores = make_sample(smooth, [12, 8, 9], 5).data
    volume = multiauc.pdi(y, scores)
    plain, cautious = (volume.confidence_interval(method=one) for one in ("logit", "cautious"))
    value, variance, freedom = volume.estimate._cautious
    # T of every class has the mean PDI, so that a row of credit 1/3 moves it by (1/3 - PDI) / (n + 1).
    assert value == pytest.approx(volume.value + sum((1 / 3 - volume.value) / (n + 1) for n in (12, 8, 9)), rel=1e-14)
    middle = math.log(value / (1 - value))
    reach = stats.t.isf(0.025, freedom) * math.sqrt(variance) / (value * (1 - value))
    low, high = (1 / (1 + math.exp(-x)) for x in (middle - reach, middle + reach))
    assert cautious == pytest.approx((min(low, plain.low), max(high, plain.high)), rel=1e-12)
    assert cautious.low < plain.low


def test_a_perfect_model_is_not_certain():
    """At an estimate of 1 the cautious interval holds the fallback, and more: ten rows hide more than it says."""
    y = np.repeat([0, 1], [190, 10])
    estimate = multiauc.evaluate(y, y.astype(float)).auc_mu
    plain, cautious = (estimate.confidence_interval(method=one) for one in ("logit", "cautious"))
    assert plain == pytest.approx((0.025**0.1, 1.0))
    assert cautious.low <= plain.low
    assert cautious.high == 1.0


def test_a_class_with_all_its_weight_on_one_row():
    y = np.repeat([0, 1], [6, 4])
    scores = np.array([0.1, 0.5, 0.3, 0.2, 0.7, 0.4, 0.6, 0.8, 0.35, 0.9])
    weights = np.array([1.0] * 6 + [1.0, 1e-20, 1e-20, 1e-20])
    with pytest.warns(RuntimeWarning, match="class 1 has nearly all its weight on one row"):
        estimate = multiauc.evaluate(y, scores, sample_weight=weights).auc_mu
    assert math.isnan(estimate.standard_error)


def test_components_that_differ_by_rounding_alone_do_not_vary():
    """Every row is right about one of the other classes and ties with one, in another order."""
    scores = np.array([[2, 0, 0], [2, 0, 0], [0, 2, 0], [0, 2, 0], [0, 0, 2], [0, 0, 2]]) / 3
    y = np.repeat([0, 1, 2], 2)
    result = multiauc.evaluate(y, scores, sample_weight=[0.1, 0.7, 0.3, 0.9, 0.2, 0.6])
    assert all(estimate.standard_error == 0.0 for estimate in result.metrics.values())
