"""Slices against evaluations of their rows and of the rest, one by one."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import multiauc
from multiauc._registry import CLOSED_FORM_METRICS, METRICS
from multiauc._slice_tests import Side, SliceDifferences, SliceFamily
from multiauc._student import two_sided_p, two_sided_ps, upper_quantile
from strategies import softmax

pd = pytest.importorskip("pandas")

QUICK = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence", "matthews", "balanced_accuracy")


def sample(rng, n=1200, classes=3, skill=1.0):
    y_true = rng.integers(classes, size=n)
    return y_true, softmax(skill * np.eye(classes)[y_true] + rng.normal(size=(n, classes)))


def evaluated(y_true, y_score, rows, metric, **options):
    options = {name: None if value is None else value[rows] for name, value in options.items()}
    return multiauc.evaluate(y_true[rows], y_score[rows], metrics=[metric], **options).metrics[metric]


# --- values, standard errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("metric", CLOSED_FORM_METRICS)
def test_slices_and_rests_have_the_bits_of_evaluate(rng, metric, digits, dtype):
    y_true, y_score = sample(rng, 400)
    y_score = (y_score if digits is None else y_score.round(digits)).astype(dtype)
    if METRICS[metric].title == "Landgrebe & Duin's volume":
        y_score = np.maximum(y_score, dtype(0.01))
    by = rng.integers(12, size=400)
    for one in multiauc.evaluate_slices(y_true, y_score, by, metric=metric):
        inside = evaluated(y_true, y_score, by == one.name, metric)
        assert one.rows == (by == one.name).sum()
        assert (one.value, one.standard_error) == (inside.value, inside.standard_error)
        low, high = inside._interval(0.025, "logit")
        assert (one.low, one.high) == pytest.approx((low, high), rel=1e-9, nan_ok=True)
        assert one.reference == evaluated(y_true, y_score, by != one.name, metric).value
        assert one.difference == one.value - one.reference


@pytest.mark.parametrize("metric", QUICK)
def test_with_weights(rng, metric):
    y_true, y_score = sample(rng, 600)
    by, weights = rng.integers(15, size=600), rng.exponential(size=600) * (rng.random(600) < 0.9)
    for one in multiauc.evaluate_slices(y_true, y_score.round(2), by, metric=metric, sample_weight=weights):
        inside = evaluated(y_true, y_score.round(2), by == one.name, metric, sample_weight=weights)
        rest = evaluated(y_true, y_score.round(2), by != one.name, metric, sample_weight=weights)
        assert one.rows == ((by == one.name) & (weights > 0)).sum()
        assert (one.value, one.standard_error) == (inside.value, inside.standard_error)
        assert one.reference == pytest.approx(rest.value, abs=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"pair_weights": "size_product"},
        {"pair_weights": "size_sum"},
        {"pair_weights": [[0, 1, 2], [1, 0, 5], [2, 5, 0]]},
        {"partition": [[0, 1, 5], [1, 0, 5], [1, 1, 0]]},
        {"sampling": "iid", "pair_weights": "size_sum"},
    ],
    ids=str,
)
def test_options_are_those_of_evaluate(rng, options):
    y_true, y_score = sample(rng, 600)
    by = rng.integers(12, size=600)
    for one in multiauc.evaluate_slices(y_true, y_score, by, **options):
        inside, outside = (
            multiauc.evaluate(y_true[rows], y_score[rows], metrics=["auc_mu"], **options).auc_mu
            for rows in (by == one.name, by != one.name)
        )
        assert (one.value, one.standard_error, one.reference) == (inside.value, inside.standard_error, outside.value)


def test_one_score(rng):
    y_true, by = rng.integers(3, size=300), rng.integers(4, size=300)
    score = y_true + rng.normal(size=300)
    for one in multiauc.evaluate_slices(y_true, score, by, metric="ordered_vus"):
        for rows, found in ((by == one.name, one.value), (by != one.name, one.reference)):
            assert found == multiauc.ordered_vus_score(y_true[rows], score[rows])
    binary = multiauc.evaluate_slices(y_true > 0, score, by)
    for one in binary:
        assert one.value == multiauc.auc_mu_score(y_true[by == one.name] > 0, score[by == one.name])


# --- what slices are compared with ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["auc_mu", "hand_till", "one_vs_rest", "accuracy"])
def test_few_slices_have_exact_rests(rng, metric):
    y_true, y_score = sample(rng, 500)
    by = rng.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1], size=500)
    for one in multiauc.evaluate_slices(y_true, y_score, by, metric=metric):
        parts = [evaluated(y_true, y_score, rows, metric) for rows in (by == one.name, by != one.name)]
        assert one.difference_error == pytest.approx(math.hypot(*(part.standard_error for part in parts)), rel=1e-12)
        freedom = [part.degrees_of_freedom for part in parts]
        squares = [part.variance() for part in parts]
        welch = sum(squares) ** 2 / sum(v**2 / nu for v, nu in zip(squares, freedom, strict=True))
        assert one.degrees_of_freedom == pytest.approx(welch, rel=1e-9)


@pytest.mark.parametrize("metric", ["auc_mu", "hand_till", "one_vs_rest", "accuracy"])
@pytest.mark.parametrize("has_groups", [False, True])
@pytest.mark.parametrize("count", [40, 200])
def test_the_error_of_the_standard_error_of_small_slices(rng, metric, has_groups, count):
    """Of the rest about the share of the slice, of the difference about its square, as the documentation says."""
    n = 6000
    y_true, y_score = sample(rng, n)
    by = np.arange(n) % count
    y_true[:600] = np.repeat(np.arange(3), 200)  # so that every slice has rows of every class
    by[:600] = np.tile(np.arange(200) % count, 3)
    groups = rng.integers(n // 3, size=n) if has_groups else None
    slices = multiauc.evaluate_slices(y_true, y_score, by, metric=metric, groups=groups)
    share = max((np.bincount(y_true[by == name], minlength=3) / np.bincount(y_true)).max() for name in range(count))
    assert share < 1 / 20
    for one in list(slices)[:: count // 20]:
        rest = evaluated(y_true, y_score, by != one.name, metric, groups=groups)
        own = (one.value, one.standard_error)
        assert own == pytest.approx(
            tuple(getattr(evaluated(y_true, y_score, by == one.name, metric, groups=groups), name)
                  for name in ("value", "standard_error")), nan_ok=True)  # fmt: skip
        place = slices.names.index(one.name)
        assert math.sqrt(slices._references.variances[place]) == pytest.approx(rest.standard_error, rel=2 * share)
        if not has_groups:
            exact = math.hypot(one.standard_error, rest.standard_error)
            assert one.difference_error == pytest.approx(exact, rel=5 * share**2)


def by_group(y_true, y_score, rows, groups, metric="auc_mu"):
    """What the rows of each group add to the error of the metric on some rows, by definition."""
    evaluation = multiauc.evaluate(y_true[rows], y_score[rows], metrics=[metric], groups=groups[rows])
    influences = evaluation.influences()[:, 0]
    effects = np.zeros(groups.max() + 1)
    for k in np.unique(y_true):
        of_class = y_true[rows] == k
        shares = np.bincount(groups[rows][of_class]) / of_class.sum()
        effects += math.sqrt(1 / (1 - (shares**2).sum())) * np.bincount(
            groups[rows][of_class], influences[of_class], minlength=len(effects)
        )
    assert (effects**2).sum() == pytest.approx(evaluation.metrics[metric].variance(), rel=1e-9)
    return effects


@pytest.mark.parametrize("count", [4, 30])
def test_groups_that_span_slice_and_rest_covary(rng, count):
    n = 1500
    y_true, y_score = sample(rng, n)
    groups = rng.integers(200, size=n)
    y_score += 0.3 * np.eye(3)[y_true] * rng.normal(size=200)[groups][:, None]
    by = rng.integers(count, size=n)
    slices = multiauc.evaluate_slices(y_true, y_score, by, groups=groups)
    share = 1.6 / count if count > 10 else 0.0
    for one in list(slices)[:6]:
        inside, outside = (by_group(y_true, y_score, rows, groups) for rows in (by == one.name, by != one.name))
        expected = math.sqrt(((inside - outside) ** 2).sum())
        assert one.difference_error == pytest.approx(expected, rel=1e-9 + share**2)


def test_all_rows_as_the_reference(rng):
    y_true, y_score = sample(rng, 900)
    by = rng.integers(13, size=900)
    everything = multiauc.evaluate(y_true, y_score, metrics=["auc_mu"])
    slices = multiauc.evaluate_slices(y_true, y_score, by, reference="all")
    effects = by_group(y_true, y_score, np.ones(900, dtype=bool), np.arange(900))
    for one in slices:
        rows = by == one.name
        own = np.zeros(900)
        own[rows] = by_group(y_true[rows], y_score[rows], np.ones(rows.sum(), dtype=bool), np.arange(rows.sum()))
        assert one.reference == everything.auc_mu.value
        assert one.difference_error == pytest.approx(math.sqrt(((own - effects) ** 2).sum()), rel=1e-9)


def test_no_reference(rng):
    y_true, y_score = sample(rng, 900)
    slices = multiauc.evaluate_slices(y_true, y_score, rng.integers(13, size=900), reference=None)
    assert np.isnan(slices.p_values).all()
    assert np.isnan(slices.differences).all()
    assert slices.worse() == slices.better() == []
    uppers = [interval.high for interval in slices.confidence_intervals().values()]
    assert uppers == sorted(uppers)
    assert "difference" not in repr(slices)


# --- tests and their correction ---------------------------------------------------------------------------------------


def test_p_values_invert_intervals(rng):
    y_true, y_score = sample(rng, 2000, skill=3.0)
    slices = multiauc.evaluate_slices(y_true, y_score, rng.integers(60, size=2000))
    assert (slices.values == 1.0).any()
    for level in (0.5, 0.9, 0.99):
        intervals = slices.difference_intervals(level)
        for one in slices:
            low, high = intervals[one.name]
            assert low < one.difference < high or one.difference in (low, high)
            assert (low > 0 or high < 0) == (one.p_value < 1 - level)


@pytest.mark.parametrize("count", [2, 3, 7, 11, 60])
def test_corrected_p_values_agree_with_simultaneous_intervals(rng, count):
    y_true, y_score = sample(rng, 60 * count)
    by = np.arange(60 * count) % count
    y_score[by == 1] = softmax(np.log(y_score[by == 1]) + 0.7 * rng.normal(size=y_score[by == 1].shape))
    slices = multiauc.evaluate_slices(y_true, y_score, by)
    for level in (0.5, 0.8, 0.95):
        intervals = slices.simultaneous_intervals(level)
        for one in slices:
            low, high = intervals[one.name]
            assert (low > 0 or high < 0) == (one.corrected_p_value < 1 - level)
            assert (low > 0) == (one.name in slices.better(level))
    independent = 1 - (1 - slices.p_values) ** count
    assert (slices.corrected_p_values <= independent + 1e-12).all()
    assert (slices.corrected_p_values >= slices.p_values).all()
    if count > 10:
        assert slices.corrected_p_values == pytest.approx(independent, abs=1e-12)


def test_two_slices_are_one_comparison(rng):
    y_true, y_score = sample(rng, 400)
    first, second = multiauc.evaluate_slices(y_true, y_score, np.arange(400) % 2)
    assert first.difference == -second.difference
    assert first.p_value == pytest.approx(second.p_value, rel=1e-9)
    assert first.corrected_p_value == pytest.approx(first.p_value, rel=1e-6)


def test_correlations_of_a_few_slices_matter_little(rng):
    """Ten equal slices: the correction for independent ones, which more slices get, is hardly different."""
    correlations = np.full((10, 10), -1 / 9) + np.eye(10) * 10 / 9
    known, independent = SliceFamily(10, correlations), SliceFamily(10, None)
    for p in (0.001, 0.005, 0.02):
        assert known.corrected(p) == pytest.approx(independent.corrected(p), rel=0.03)
        assert known.corrected(p) <= independent.corrected(p)
    assert independent.tail_of_one(0.025) == pytest.approx((1 - 0.95**0.1) / 2, rel=1e-12)
    assert known.corrected(2 * known.tail_of_one(0.025)) == pytest.approx(0.05, rel=1e-6)


def test_perfect_slices_are_no_proof(rng):
    """Ten rows without an error say little: the difference is tested by what they could still hide."""
    y_true, y_score = sample(rng, 1000, skill=3.0)
    by = np.arange(1000) % 50
    first = by == 0
    y_score[first] = np.eye(3)[y_true[first]]
    found = multiauc.evaluate_slices(y_true, y_score, by)[0]
    assert (found.value, found.standard_error) == (1.0, 0.0)
    hidden = (0.025) ** (1 / np.bincount(y_true[first]).min())
    assert found.low == pytest.approx(hidden)
    assert found.p_value > 0.2


def test_constant_scores_have_no_test():
    y_true, by = np.tile([0, 1], 40), np.repeat([0, 1], 40)
    slices = multiauc.evaluate_slices(y_true, np.where(by == 0, 0.5, np.arange(80) % 7), by)
    assert slices[0].value == 0.5
    assert math.isnan(slices[0].p_value)
    assert "do not vary" in slices[0].reason


def test_order(rng):
    y_true, y_score = sample(rng, 1500)
    slices = multiauc.evaluate_slices(y_true, y_score, rng.integers(40, size=1500))
    lower = [p / 2 if t < 0 else 1 - p / 2 for p, t in zip(slices.p_values, slices.t, strict=True)]
    assert lower == sorted(lower)


def test_size_and_coverage(rng):
    """All slices alike: few differ by themselves and hardly ever one by corrected p-values, on either side."""
    repeats, count, rows = 40, 25, 100
    below, above, wrong, covered = 0, 0, 0, 0
    for _ in range(repeats):
        y_true, y_score = sample(rng, count * rows, skill=2.0)
        slices = multiauc.evaluate_slices(y_true, y_score, np.arange(count * rows) % count)
        below += int(((slices.p_values < 0.05) & (slices.t < 0)).sum())
        above += int(((slices.p_values < 0.05) & (slices.t > 0)).sum())
        wrong += bool(slices.worse() or slices.better())
        covered += all(low <= 0 <= high for low, high in slices.simultaneous_intervals().values())
    tests = repeats * count
    # 99.9% limits of a binomial of 2.5%, which no side must exceed; symmetric intervals have 7% above.
    assert max(below, above) <= stats.binom.ppf(0.999, tests, 0.025)
    assert below + above >= stats.binom.ppf(0.001, tests, 0.02)
    assert wrong == repeats - covered <= stats.binom.ppf(0.999, repeats, 0.05)


def test_power(rng):
    y_true, y_score = sample(rng, 5000, skill=2.0)
    by = np.arange(5000) % 25
    spoilt = by == 7
    y_score[spoilt] = softmax(np.log(y_score[spoilt]) + 2.0 * rng.normal(size=y_score[spoilt].shape))
    slices = multiauc.evaluate_slices(y_true, y_score, by)
    assert slices.worse() == [7]
    assert slices.names[0] == 7


@given(st.lists(st.tuples(st.floats(0, 60), st.floats(1, 1e9)), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_many_p_values_at_once(cases):
    t, freedom = (np.array(values) for values in zip(*cases, strict=True))
    expected = [two_sided_p(*case) for case in cases]
    assert two_sided_ps(t, freedom) == pytest.approx(expected, rel=1e-7, abs=1e-300)


@given(
    st.floats(0.01, 1.0), st.floats(0.0, 0.1), st.floats(1.0, 500.0), st.floats(0.01, 1.0), st.floats(0.0, 0.05),
    st.floats(1.0, 1e6), st.integers(1, 50), st.floats(-0.9, 0.9),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_statistics_invert_any_interval(value, variance, freedom, other, other_variance, other_freedom, size, shared):
    variance, other_variance = variance * value * (1 - value), other_variance * other * (1 - other)
    covariance = shared * math.sqrt(variance * other_variance)
    differences = SliceDifferences(
        Side(*map(np.array, ([value], [variance], [freedom], [size]))),
        Side(*map(np.array, ([other], [other_variance], [other_freedom], [10 * size]))),
        np.array([covariance]),
        0.0,
    )
    (t,), (p,) = differences.statistics()
    if not differences.are_testable()[0]:
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
    side = Side(*map(np.array, ([0.8], [0.002], [30.0], [10])))
    rest = Side(*map(np.array, ([0.9], [1e-18], [1e6], [1000])))
    differences = SliceDifferences(side, rest, np.zeros(1), 0.0)
    (t,), (p,) = differences.statistics()
    distance = (math.log(0.8 / 0.2) - math.log(0.9 / 0.1)) * 0.16 / math.sqrt(0.002)
    assert t == pytest.approx(distance, rel=1e-6)
    assert p == pytest.approx(two_sided_p(distance, 30.0), rel=1e-6)
    assert upper_quantile(p / 2, 30.0) == pytest.approx(abs(t), rel=1e-6)


# --- slices that are listed without a value ---------------------------------------------------------------------------


class TestReasons:
    y_true = np.array([*"aabbcc" * 10, *"aabb", *"aa", *"abbcc"])
    by = np.array(["full"] * 60 + ["gap"] * 4 + ["one class"] * 2 + ["one row"] * 5)

    @pytest.fixture
    def y_score(self, rng):
        return rng.random((71, 3)) + 0.5 * (self.y_true[:, None] == ["a", "b", "c"])

    def test_without_classes(self, y_score):
        slices = multiauc.evaluate_slices(self.y_true, y_score, self.by)
        assert len(slices) == 4
        assert slices["gap"].reason == "no rows of 'c'"
        assert slices["one class"].reason == "rows of 'a' only"
        assert slices["one row"].reason == "a single row of 'a': no standard error"
        assert slices["full"].reason == ""
        assert math.isnan(slices["gap"].value)
        assert not math.isnan(slices["one row"].value)
        assert all(name in repr(slices) for name in ("gap", "one class", "one row"))
        assert "3 not compared" in slices.summary()
        assert list(slices.to_frame()["reason"]) == list(slices.reasons)

    def test_ignoring_them(self, y_score):
        slices = multiauc.evaluate_slices(self.y_true, y_score, self.by, absent="ignore")
        rows = self.by == "gap"
        expected = multiauc.evaluate(self.y_true[rows], y_score[rows], labels=["a", "b", "c"], absent="ignore").auc_mu
        assert (slices["gap"].value, slices["gap"].standard_error) == (expected.value, expected.standard_error)
        assert "not compared" in slices["gap"].reason
        assert math.isnan(slices["gap"].difference)
        assert slices["one class"].reason == "rows of 'a' only"

    def test_absent_from_all(self, y_score):
        options = {"labels": ["a", "b", "c"]}
        rows = self.y_true != "c"
        with pytest.raises(ValueError, match="no rows of 1 class: 'c'"):
            multiauc.evaluate_slices(self.y_true[rows], y_score[rows], self.by[rows], **options)
        slices = multiauc.evaluate_slices(self.y_true[rows], y_score[rows], self.by[rows], absent="nan", **options)
        assert np.isnan(slices.values).all()
        assert math.isnan(slices.overall.value)
        assert set(slices.reasons) == {"no rows of 'c' in any slice"}
        left = multiauc.evaluate_slices(self.y_true[rows], y_score[rows], self.by[rows], absent="ignore", **options)
        assert left["gap"].reason == ""
        assert not math.isnan(left["gap"].p_value)

    def test_all_rows_of_a_class_in_one_slice(self, rng):
        y_true, y_score = sample(rng, 300)
        by = np.where(y_true == 2, 0, np.arange(300) % 3)
        slices = multiauc.evaluate_slices(y_true, y_score, by)
        assert slices[0].reason == "all rows of 2 are in this slice: there is no rest to compare it with"
        assert not math.isnan(slices[0].value)
        only = multiauc.evaluate_slices(y_true, y_score, np.zeros(300))
        assert only[0].reason == "all rows are in this slice: there is no rest to compare it with"

    def test_weights_of_zero(self, y_score):
        weights = np.where(self.by == "gap", 0.0, 1.0)
        slices = multiauc.evaluate_slices(self.y_true, y_score, self.by, sample_weight=weights)
        assert (slices["gap"].rows, slices["gap"].reason) == (0, "no rows of positive weight")

    def test_single_groups(self, y_score):
        groups = np.where(self.by == "full", np.arange(71), 100)
        slices = multiauc.evaluate_slices(self.y_true, y_score, self.by, groups=groups)
        assert "no standard error" in slices["one row"].reason


# --- what slices can be made of ---------------------------------------------------------------------------------------


class TestBy:
    @pytest.fixture
    def data(self, rng):
        return sample(rng, 400)

    def names(self, data, by):
        return set(multiauc.evaluate_slices(*data, by).names)

    def test_labels_of_any_kind(self, data):
        words = np.array(["x", "y"])[np.arange(400) % 2]
        assert self.names(data, words) == self.names(data, list(words)) == {"x", "y"}
        assert self.names(data, np.arange(400) % 3) == {0, 1, 2}
        assert self.names(data, [(k % 2, "z") for k in range(400)]) == {(0, "z"), (1, "z")}
        assert self.names(data, [k % 2 == 0 for k in range(400)]) == {True, False}
        assert self.names(data, [frozenset({k % 2}) for k in range(400)]) == {frozenset({0}), frozenset({1})}
        days = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")[np.arange(400) % 2]
        assert self.names(data, days) == set(days)
        category = pd.Categorical.from_codes(np.arange(400) % 2, ["low", "high", "never"])
        assert self.names(data, category) == self.names(data, pd.Series(category)) == {"low", "high"}

    def test_missing_values_are_a_slice(self, data):
        numbers = np.where(np.arange(400) % 3 == 0, np.nan, 1.0)
        mixed = [[None, math.nan, "x"][k % 3] for k in range(400)]
        category = pd.Categorical.from_codes(np.arange(400) % 2 - 1, ["low"])
        times = np.array(["NaT", "2024-01-02"], dtype="datetime64[D]")[np.arange(400) % 2]
        nullable = pd.Series([1, None] * 200, dtype="Int64")
        text = pd.Series(["a", None] * 200, dtype="string")
        for by in (numbers, mixed, category, times, nullable, text):
            slices = multiauc.evaluate_slices(*data, by)
            assert len(slices) == 2
            assert None in slices.names
            assert "(missing)" in repr(slices)
            assert slices[None].rows == int(pd.isna(pd.Series(by)).sum())
        assert multiauc.evaluate_slices(*data, mixed)[None].rows == 267

    def test_columns_cross(self, data):
        first, second = np.arange(400) % 2, np.array(["x", None], dtype=object)[np.arange(400) // 2 % 2]
        frame = pd.DataFrame({"site": first, "value": second})
        expected = {(0, "x"), (1, "x"), (0, None), (1, None)}
        found = multiauc.evaluate_slices(*data, frame)
        assert set(found.names) == expected
        assert found.columns == ("site", "value")
        assert list(found.to_frame().columns[:3]) == ["site", "by_value", "rows"]
        assert found[1, None].rows == 100
        for by in ([first, second], {"a": first, "b": list(second)}, np.stack([first, second], axis=1)):
            assert self.names(data, by) == expected
        assert self.names(data, [first]) == {0, 1}
        assert "1, (missing)" in repr(found)

    def test_other_frames(self, data):
        pl = pytest.importorskip("polars")
        pa = pytest.importorskip("pyarrow")
        columns = {"site": ["a", "b"] * 200, "day": [1, 2, 2, 1] * 100}
        for frame in (pl.DataFrame(columns), pa.table(columns)):
            found = multiauc.evaluate_slices(*data, frame)
            assert set(found.names) == {("a", 1), ("b", 2), ("a", 2), ("b", 1)}
        assert self.names(data, pl.Series(["a", None] * 200)) == {"a", None}
        assert multiauc.evaluate_slices(*data, pd.Series(columns["site"], name="town")).columns == ("town",)

    @pytest.mark.parametrize(
        ("by", "message"),
        [
            ("site", "by must have a label of its slice for each of 400 rows"),
            (None, "by must have a label of its slice"),
            (3, "by must have a label of its slice"),
            ([1, 2, 3], "by must have one label per row, 400 rows; got 3 labels"),
            ({"a": [1] * 400, "b": [1] * 399}, r"by\['b'\] must have one label per row, 400 rows; got 399 labels"),
            ({}, "by must name at least one column"),
            ([{}] * 400, "hashable"),
            (np.zeros((400, 2, 2)), "by must have one label per row, 400 rows; got shape"),
        ],
    )
    def test_errors(self, data, by, message):
        with pytest.raises((ValueError, TypeError), match=message):
            multiauc.evaluate_slices(*data, by)

    def test_other_errors(self, data):
        by = np.arange(400) % 2
        with pytest.raises(ValueError, match="reference must be one of 'rest', 'all'; got 'others'"):
            multiauc.evaluate_slices(*data, by, reference="others")
        with pytest.raises(ValueError, match="metric must be one of .* got 'multiclass_roc'"):
            multiauc.evaluate_slices(*data, by, metric="multiclass_roc")
        with pytest.raises(ValueError, match="partition has no meaning for metric='pdi'"):
            multiauc.evaluate_slices(*data, by, metric="pdi", partition=1 - np.eye(3))
        with pytest.raises(TypeError, match="unexpected keyword argument 'weights'; .*sample_weight"):
            multiauc.evaluate_slices(*data, by, weights=by)
        with pytest.raises(KeyError, match="no slice 7; there are"):
            multiauc.evaluate_slices(*data, by)[7]


# --- results ----------------------------------------------------------------------------------------------------------


class TestResult:
    @pytest.fixture
    def slices(self, rng):
        y_true, y_score = sample(rng, 3000)
        return multiauc.evaluate_slices(y_true, y_score, rng.integers(30, size=3000))

    def test_frame(self, slices):
        frame = slices.to_frame(level=0.9)
        assert len(frame) == len(slices) == 30
        assert tuple(frame["slice"]) == slices.names
        assert frame["low"].iloc[3] == slices.confidence_intervals(0.9)[slices.names[3]].low
        assert frame["simultaneous_high"].iloc[3] == slices.simultaneous_intervals(0.9)[slices.names[3]].high

    def test_json(self, slices):
        found = json.loads(slices.to_json())
        assert (found["kind"], found["by"], len(found["slices"])) == ("slices", ["slice"], 30)
        assert found["slices"][0]["slice"] == {"slice": slices.names[0]}
        assert found["provenance"]["options"]["metric"] == "auc_mu"

    def test_pickle_and_equality(self, slices):
        again = pickle.loads(pickle.dumps(slices))
        assert again == slices
        assert repr(again) == repr(slices)
        with pytest.raises(ValueError, match="read-only"):
            again.p_values[0] = 0.0

    def test_repr(self, slices):
        lines = repr(slices).splitlines()
        assert lines[0].startswith("AUC_mu of 3000 rows by slice: ")
        assert len([line for line in lines if " to " in line]) == 16
        assert "14 slices are not printed; to_frame() has all." in lines
        assert slices._repr_html_().count("<tr>") == 18

    def test_threads_and_order_of_rows(self, rng):
        y_true, y_score = sample(rng, 2000)
        by, groups = rng.integers(40, size=2000), rng.integers(300, size=2000)
        first = multiauc.evaluate_slices(y_true, y_score, by, groups=groups)
        try:
            multiauc.set_num_threads(1)
            assert multiauc.evaluate_slices(y_true, y_score, by, groups=groups) == first
        finally:
            multiauc.set_num_threads(0)
        order = rng.permutation(2000)
        other = multiauc.evaluate_slices(y_true[order], y_score[order], by[order], groups=groups[order])
        assert other.names == first.names
        assert other.values.tobytes() == first.values.tobytes()
        assert other.reference_values.tobytes() == first.reference_values.tobytes()
        assert other.p_values == pytest.approx(first.p_values, rel=1e-6)
