"""Hulls, cost curves, the H-measure and the LC index against their definitions."""

import copy
import math
import pickle
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import multiauc
import oracle_costs
from small_sample import Y_SCORE, Y_TRUE

# The vector of the H-measure that other implementations agree on.
KNOWN_TRUE = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
KNOWN_SCORE = [
    *[0.84901876, 0.10282827, 0.43752488, 0.46004468, 0.90878931],
    *[0.79177719, 0.5297229, 0.13803906, 0.73166264, 0.22959056],
]

LEVELS = st.sampled_from([1, 2, 4, 9, None])


def drawn(seed, n, n_classes, levels, weighted=False):
    """Rows of every class with scores of so few values that many tie, and perhaps whole weights, some of them 0."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    scores = rng.random((n, n_classes)) + 0.4 * np.eye(n_classes)[codes]
    if levels is not None:
        scores = np.floor(levels * scores) / levels
    weights = rng.integers(0, 4, size=n).astype(float) if weighted else None
    if weighted:
        weights[[np.argmax(codes == k) for k in range(n_classes)]] = 1.0
    return codes, scores, weights


def curve_of(codes, scores, weights, c, d=None):
    """The points of the oracle, and the prevalence."""
    mass = np.ones(len(codes)) if weights is None else weights
    own = codes == c
    other = ~own if d is None else codes == d
    sides = [list(zip(scores[side, c].tolist(), mass[side].tolist(), strict=True)) for side in (own, other)]
    return oracle_costs.points(*sides), float(mass[own].sum() / mass[own | other].sum())


class TestKnownVector:
    @pytest.fixture
    def hull(self):
        return multiauc.roc_hulls(KNOWN_TRUE, KNOWN_SCORE)[1]

    def test_vertices(self, hull):
        np.testing.assert_array_equal(hull.fpr, [0, 0, 1 / 3, 1])
        np.testing.assert_array_equal(hull.tpr, [0, 2 / 7, 5 / 7, 1])
        np.testing.assert_array_equal(hull.thresholds, [np.inf, 0.84901876, 0.46004468, 0.10282827])
        assert hull.prevalence == 0.7

    def test_h_measure(self, hull):
        assert hull.h_measure() == pytest.approx(0.18889596344769588, abs=1e-14)
        assert hull.h_measure(0.5) == pytest.approx(0.10750123502531805, abs=1e-14)
        assert multiauc.h_measure_score(KNOWN_TRUE, KNOWN_SCORE) == hull.h_measure()

    def test_cost_curve(self, hull):
        assert hull.cost_curve().area == pytest.approx(0.19375, abs=1e-15)


@given(st.integers(0, 2**32), st.integers(6, 24), st.integers(2, 3), LEVELS, st.booleans())
@settings(max_examples=60)
def test_vertices_are_those_of_the_definition(seed, n, n_classes, levels, weighted):
    codes, scores, weights = drawn(seed, n, n_classes, levels, weighted)
    options = {"sample_weight": weights, "labels": range(n_classes)}
    found = multiauc.roc_hulls(codes, scores, **options) | multiauc.roc_hulls(codes, scores, kind="pairwise", **options)
    assert len(found) == n_classes + n_classes * (n_classes - 1)
    for key, hull in found.items():
        c, d = key if isinstance(key, tuple) else (key, None)
        curve, prevalence = curve_of(codes, scores, weights, c, d)
        expected = oracle_costs.hull(curve)
        np.testing.assert_array_equal(hull.fpr, [float(x) for x, _, _ in expected])
        np.testing.assert_array_equal(hull.tpr, [float(y) for _, y, _ in expected])
        np.testing.assert_array_equal(hull.thresholds, [t for _, _, t in expected])
        assert hull.prevalence == pytest.approx(prevalence, abs=1e-15)
        area = sum(float((b[0] - a[0]) * (a[1] + b[1]) / 2) for a, b in pairwise(expected))
        assert hull.auc == pytest.approx(area, abs=1e-14)


@given(
    st.integers(0, 2**32),
    st.integers(6, 24),
    LEVELS,
    st.sampled_from([(1, 1), (1, 10), (7, 0.3), (0, 1), (1, 0)]),
    st.sampled_from([None, 0.0, 0.01, 0.5, 1.0]),
)
@settings(max_examples=80)
def test_the_optimum_is_the_cheapest_of_all_thresholds(seed, n, levels, costs, prevalence):
    codes, scores, _ = drawn(seed, n, 2, levels)
    curve, share = curve_of(codes, scores, None, 1)
    point = multiauc.roc_hulls(codes, scores)[1].optimum(*costs, prevalence=prevalence)
    wanted = share if prevalence is None else prevalence
    assert point.expected_cost == pytest.approx(oracle_costs.best_cost(curve, *costs, wanted), abs=1e-14)
    called = scores[:, 1] >= point.threshold
    assert point.tpr == called[codes == 1].mean()
    assert point.fpr == called[codes == 0].mean()


def test_lines_of_equal_cost_touch_the_hull(rng):
    codes, scores, _ = drawn(1, 200, 2, None)
    hull = multiauc.roc_hulls(codes, scores)[1]
    for cost_fp in (0.2, 1.0, 5.0):
        point = hull.optimum(cost_fp, 1.0)
        assert point.slope == pytest.approx((1 - hull.prevalence) * cost_fp / hull.prevalence)
        assert (hull.tpr - point.slope * hull.fpr).max() == pytest.approx(point.tpr - point.slope * point.fpr)
    assert hull.optimum(1.0, 0.0).slope == math.inf
    assert hull.optimum(1.0, 0.0).threshold == math.inf
    assert hull.optimum(0.0, 1.0).threshold == pytest.approx(scores[codes == 1, 1].min())
    assert multiauc.roc_hulls([0, 1, 0], [0.5, 0.4, 0.3])[1].optimum(0.001, 1.0).threshold == 0.4
    assert multiauc.roc_hulls([0, 1, 1, 0], [0.5, 0.4, 0.3, 0.6])[1].optimum(0.001, 1.0).threshold == -math.inf


@given(st.integers(0, 2**32), st.integers(6, 30), LEVELS, st.booleans())
@settings(max_examples=60)
def test_cost_curves(seed, n, levels, weighted):
    codes, scores, weights = drawn(seed, n, 3, levels, weighted)
    curve, _ = curve_of(codes, scores, weights, 0)
    found = multiauc.roc_hulls(codes, scores, sample_weight=weights, labels=range(3))[0].cost_curve()
    assert (np.diff(found.x) > 0).all()
    assert (found.x[0], found.x[-1], found.cost[0], found.cost[-1]) == (0.0, 1.0, 0.0, 0.0)
    for x in np.linspace(0, 1, 41):
        assert found.at(x) == pytest.approx(oracle_costs.cost_curve(curve, x), abs=1e-14)
    fine = np.union1d(np.linspace(0, 1, 101), found.x)
    heights = np.array([oracle_costs.cost_curve(curve, x) for x in fine])
    assert found.area == pytest.approx(0.5 * np.dot(np.diff(fine), heights[1:] + heights[:-1]), abs=1e-14)
    assert 0.0 <= found.area <= 0.25


@given(st.integers(0, 2**32), st.integers(6, 20), LEVELS, st.booleans(), st.sampled_from([None, 0.1, 1.0, 7.0]))
@settings(max_examples=25)
def test_the_h_measure_by_quadrature(seed, n, levels, weighted, ratio):
    codes, scores, weights = drawn(seed, n, 3, levels, weighted)
    hulls = multiauc.roc_hulls(codes, scores, sample_weight=weights, labels=range(3))
    expected, shares = [], []
    for c, hull in hulls.items():
        curve, prevalence = curve_of(codes, scores, weights, c)
        severity = prevalence / (1 - prevalence) if ratio is None else ratio
        expected.append(oracle_costs.h_measure(curve, prevalence, severity))
        shares.append(prevalence)
        assert hull.h_measure(ratio) == pytest.approx(expected[-1], abs=1e-10)
    options = {"sample_weight": weights, "labels": range(3), "severity_ratio": ratio}
    assert multiauc.h_measure_score(codes, scores, **options) == pytest.approx(np.mean(expected), abs=1e-10)
    by_size = multiauc.h_measure_score(codes, scores, average="prevalence", **options)
    assert by_size == pytest.approx(np.average(expected, weights=shares), abs=1e-10)


def test_the_h_measure_of_very_unequal_classes():
    """A class of one row in a hundred thousand: b of the beta distribution is as large."""
    from scipy import integrate, stats

    codes = np.zeros(100_001, dtype=int)
    codes[-1] = 1
    score = np.linspace(0, 1, 100_001)
    score[-1] = 0.75
    hull = multiauc.roc_hulls(codes, score)[1]
    belief = stats.beta(2, 1 + (1 - hull.prevalence) / hull.prevalence)

    def expected(fpr, tpr):
        def loss(u):  # in units of the prevalence, where all of the density is
            c = u * hull.prevalence
            losses = c * (1 - hull.prevalence) * fpr + (1 - c) * hull.prevalence * (1 - tpr)
            return losses.min() * belief.pdf(c) * hull.prevalence

        return integrate.quad(loss, 0, 60, points=[1.0, 2.0, 4.0, 8.0], limit=500, epsabs=0, epsrel=1e-12)[0]

    ends = np.array([0.0, 1.0])
    assert hull.h_measure() == pytest.approx(1 - expected(hull.fpr, hull.tpr) / expected(ends, ends), abs=1e-9)
    assert 0.0 < hull.h_measure(1e-12) < 1.0
    assert 0.0 <= hull.h_measure(1e12) <= 1.0


class TestBounds:
    def test_perfect_scores(self):
        hull = multiauc.roc_hulls([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])[1]
        assert (hull.auc, hull.h_measure(), hull.cost_curve().area) == (1.0, 1.0, 0.0)
        assert hull.optimum(1, 1).threshold == 0.8
        assert hull.optimum(1, 1).expected_cost == 0.0

    @pytest.mark.parametrize("score", [[0.5] * 4, [0.9, 0.8, 0.2, 0.1]])
    def test_useless_and_wrong_scores_are_not_turned_round(self, score):
        hull = multiauc.roc_hulls([0, 0, 1, 1], score)[1]
        assert (hull.auc, hull.h_measure(), hull.cost_curve().area) == (0.5, 0.0, 0.25)

    def test_two_columns_are_read_as_one(self):
        codes, scores, _ = drawn(3, 50, 2, 9)
        assert multiauc.h_measure_score(codes, scores) == multiauc.h_measure_score(codes, scores[:, 1])
        assert multiauc.h_measure_score(codes, scores) == multiauc.roc_hulls(codes, scores)[1].h_measure()


@given(st.integers(0, 2**32), LEVELS, st.sampled_from([((0.1, 0.5), 0.3), ((0.0, 1.0), 0.0), ((0.2, 0.9), 0.9)]))
@settings(max_examples=25)
def test_the_lc_index_by_its_definition(seed, levels, beliefs):
    codes, first, _ = drawn(seed, 18, 2, levels)
    second = drawn(seed + 1, 18, 2, levels)[1] + 0.4 * np.eye(2)[codes]
    (a, prevalence), (b, _) = curve_of(codes, first, None, 1), curve_of(codes, second, None, 1)
    cost_range, most_likely = beliefs
    options = {"cost_range": cost_range, "most_likely": most_likely}
    found = multiauc.lc_index(codes, first, second, **options)
    assert found == pytest.approx(oracle_costs.lc_index(a, b, prevalence, cost_range, most_likely), abs=2e-3)
    assert multiauc.lc_index(codes, second, first, **options) == -found
    assert multiauc.lc_index(codes, first, first, **options) == 0.0


@given(st.integers(0, 2**32), st.sampled_from([0.1, 1 / 3, 7e-5, 1e12, 1e-200]))
@settings(max_examples=40)
def test_the_scale_of_weights_does_not_matter(seed, factor):
    rng = np.random.default_rng(seed)
    codes = np.array([0, 1, 0, 0, 1, 1, *rng.integers(2, size=6)])
    first, second = rng.integers(4, size=(2, 12)) / 4
    weights = rng.integers(1, 5, 12).astype(np.float64)
    hull, scaled = (multiauc.roc_hulls(codes, first, sample_weight=w)[1] for w in (weights, weights * factor))
    assert hull.thresholds.tolist() == scaled.thresholds.tolist()
    assert scaled.h_measure() == pytest.approx(hull.h_measure(), abs=1e-12)
    for costs in ((1, 1), (1, 2), (0.1, 0.3)):
        assert scaled.optimum(*costs).threshold == hull.optimum(*costs).threshold
    options = {"cost_range": (0.1, 0.9), "most_likely": 0.5}
    found, again = (
        multiauc.lc_index(codes, first, second, sample_weight=w, **options) for w in (weights, weights * factor)
    )
    assert again == pytest.approx(found, abs=1e-11)


class TestLcIndex:
    def test_sums_of_weights_in_another_order_tie(self):
        codes, weights = [0, 0, 0, 1, 1, 1], np.array([0.1, 0.2, 0.3, 1.0, 1.0, 1.0])
        first, second = [0.25, 0.75, 0.0, 0.25, 0.5, 0.0], [0.0, 0.0, 0.75, 0.0, 0.5, 0.25]
        options = {"cost_range": (0.1, 0.9), "most_likely": 0.5}
        assert multiauc.lc_index(codes, first, second, sample_weight=10 * weights, **options) == 0.0
        assert multiauc.lc_index(codes, first, second, sample_weight=weights, **options) == 0.0

    def test_a_model_that_is_always_better(self):
        codes = np.array([0, 0, 0, 1, 1, 1])
        options = {"cost_range": (0.05, 0.95), "most_likely": 0.3}
        assert multiauc.lc_index(codes, codes + 0.0, [0.1, 0.6, 0.2, 0.5, 0.7, 0.3], **options) == 1.0

    def test_classes_are_averaged(self):
        codes, first, _ = drawn(5, 60, 3, None)
        second = drawn(6, 60, 3, None)[1]
        options = {"cost_range": (0.1, 0.6), "most_likely": 0.2}
        per_class = [multiauc.lc_index(codes == c, first[:, c], second[:, c], **options) for c in range(3)]
        assert multiauc.lc_index(codes, first, second, **options) == pytest.approx(np.mean(per_class), abs=1e-14)
        weights = np.where(codes == 0, 2.0, 1.0)
        per_class = [
            multiauc.lc_index(codes == c, first[:, c], second[:, c], sample_weight=weights, **options) for c in range(3)
        ]
        found = multiauc.lc_index(codes, first, second, average="prevalence", sample_weight=weights, **options)
        assert found == pytest.approx(np.average(per_class, weights=[2, 1, 1]), abs=1e-14)

    def test_columns_are_found_by_name(self):
        pd = pytest.importorskip("pandas")
        codes, first, _ = drawn(5, 60, 3, None)
        second = drawn(6, 60, 3, None)[1]
        names = np.array(["a", "b", "c"])
        options = {"cost_range": (0.1, 0.6), "most_likely": 0.2}
        frame = pd.DataFrame(second[:, [2, 0, 1]], columns=names[[2, 0, 1]])
        found = multiauc.lc_index(names[codes], pd.DataFrame(first, columns=names), frame, **options)
        assert found == multiauc.lc_index(codes, first, second, **options)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"cost_range": (0.5, 0.1)}, r"cost_range must rise from low to high; got \(0.5, 0.1\)"),
            ({"cost_range": (0.1, 1.5)}, "cost_range must be a number of at least 0 and at most 1; got 1.5"),
            ({"cost_range": 0.5}, r"cost_range must be two numbers between 0 and 1, \(low, high\); got 0.5"),
            ({"cost_range": "ab"}, "cost_range must be two numbers"),
            ({"most_likely": 0.7}, "most_likely must lie within cost_range, 0.1 to 0.5; got 0.7"),
            ({"average": "micro"}, "average must be one of 'macro', 'prevalence'"),
        ],
    )
    def test_bad_options(self, options, said):
        usual = {"cost_range": (0.1, 0.5), "most_likely": 0.3}
        with pytest.raises(ValueError, match=said):
            multiauc.lc_index(Y_TRUE, Y_SCORE, Y_SCORE, **(usual | options))

    def test_errors_name_the_model(self):
        usual = {"cost_range": (0.1, 0.5), "most_likely": 0.3}
        with pytest.raises(TypeError, match="scores_b must hold real numbers"):
            multiauc.lc_index(Y_TRUE, Y_SCORE, np.array(Y_SCORE).astype(str), **usual)
        with pytest.raises(ValueError, match="scores_b is for 3 classes"):
            multiauc.lc_index([0, 1, 0], [0.1, 0.2, 0.3], [[0.1] * 3] * 3, **usual)


class TestAbsentClasses:
    def test_policies(self):
        codes, scores, _ = drawn(2, 30, 3, None)
        keep = codes != 1
        options = {"labels": range(3)}
        with pytest.raises(ValueError, match="y_true has no rows of 1 class: 1"):
            multiauc.roc_hulls(codes[keep], scores[keep], **options)
        left = multiauc.roc_hulls(codes[keep], scores[keep], absent="ignore", kind="pairwise", **options)
        assert set(left) == {(0, 2), (2, 0)}
        found = multiauc.roc_hulls(codes[keep], scores[keep], absent="nan", **options)
        lost = found[1]
        assert math.isnan(lost.auc)
        assert math.isnan(lost.h_measure())
        assert math.isnan(lost.prevalence)
        assert math.isnan(lost.optimum(1, 1).expected_cost)
        assert math.isnan(lost.cost_curve().area)
        assert math.isnan(lost.cost_curve().at(0.5))
        assert not math.isnan(found[0].auc)
        assert math.isnan(multiauc.h_measure_score(codes[keep], scores[keep], absent="nan", **options))
        ignored = multiauc.h_measure_score(codes[keep], scores[keep], absent="ignore", **options)
        assert ignored == pytest.approx(np.mean([found[0].h_measure(), found[2].h_measure()]), abs=1e-15)
        beliefs = {"cost_range": (0.1, 0.5), "most_likely": 0.3}
        assert math.isnan(
            multiauc.lc_index(codes[keep], scores[keep], scores[keep], absent="nan", **options, **beliefs)
        )


class TestBadInput:
    @pytest.fixture
    def hull(self):
        return multiauc.roc_hulls(KNOWN_TRUE, KNOWN_SCORE)[1]

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ((-1, 1), "cost_fp must be a finite number of at least 0; got -1"),
            ((1, np.inf), "cost_fn must be a finite number of at least 0; got inf"),
            ((1, np.nan), "cost_fn must be a finite number of at least 0; got nan"),
            ((0, 0), "cost_fp and cost_fn must not both be 0"),
            ((1, 1, 1.2), "prevalence must be a number of at least 0 and at most 1; got 1.2"),
            ((1, 1, -0.1), "prevalence must be a number of at least 0 and at most 1; got -0.1"),
        ],
    )
    def test_costs(self, hull, arguments, said):
        with pytest.raises(ValueError, match=said):
            hull.optimum(*arguments)

    def test_types(self, hull):
        with pytest.raises(TypeError, match="cost_fp must be a finite number of at least 0; got 'much'"):
            hull.optimum("much", 1)
        with pytest.raises(ValueError, match="x must be a number of at least 0 and at most 1; got 2"):
            hull.cost_curve().at(2)

    @pytest.mark.parametrize("ratio", [0, -1, np.nan, np.inf, 5e-324])
    def test_severity(self, hull, ratio):
        with pytest.raises(ValueError, match="severity_ratio must be"):
            hull.h_measure(ratio)
        with pytest.raises(ValueError, match="severity_ratio must be"):
            multiauc.h_measure_score(KNOWN_TRUE, KNOWN_SCORE, severity_ratio=ratio)

    def test_unknown_words(self):
        with pytest.raises(ValueError, match="kind must be one of"):
            multiauc.roc_hulls(Y_TRUE, Y_SCORE, kind="ovr")
        with pytest.raises(ValueError, match="average must be one of"):
            multiauc.h_measure_score(Y_TRUE, Y_SCORE, average="weighted")
        with pytest.raises(TypeError, match="its name here is sample_weight="):
            multiauc.roc_hulls(Y_TRUE, Y_SCORE, weights=[1] * len(Y_TRUE))


class TestResults:
    @pytest.mark.usefixtures("restore_threads")
    def test_order_of_rows_and_threads_do_not_matter(self, rng):
        codes, scores, _ = drawn(7, 3000, 4, 50)
        order = rng.permutation(3000)
        multiauc.set_num_threads(1)
        first = multiauc.roc_hulls(codes, scores, kind="pairwise")
        multiauc.set_num_threads(4)
        assert multiauc.roc_hulls(codes[order], scores[order], kind="pairwise") == first
        assert multiauc.h_measure_score(codes, scores) == multiauc.h_measure_score(codes[order], scores[order])

    def test_float32(self):
        codes, scores, _ = drawn(7, 300, 3, 8)  # eighths, the same numbers in both precisions
        assert multiauc.roc_hulls(codes, scores.astype(np.float32)) == multiauc.roc_hulls(codes, scores)

    def test_copies_and_pickles(self):
        hull = multiauc.roc_hulls(Y_TRUE, Y_SCORE)["a"]
        for result in (hull, hull.cost_curve(), hull.optimum(1, 2)):
            for again in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
                assert again == result
                assert repr(again) == repr(result)
        with pytest.raises(ValueError, match="read-only"):
            hull.fpr[0] = 1.0

    def test_plain_objects(self):
        hull = multiauc.roc_hulls(Y_TRUE, Y_SCORE)["a"]
        assert hull.to_dict()["fpr"] == hull.fpr.tolist()
        assert set(hull.cost_curve().to_dict()) == {"x", "cost", "fpr", "tpr", "positive", "negative"}
        assert '"threshold": null' in hull.optimum(1, 0).to_json()
        pd = pytest.importorskip("pandas")
        assert list(hull.to_frame().columns) == ["fpr", "tpr", "threshold"]
        assert list(hull.cost_curve().to_frame().columns) == ["x", "cost"]
        assert isinstance(hull.optimum(1, 1).to_frame(), pd.DataFrame)

    def test_inputs_are_not_modified(self):
        codes, scores, weights = drawn(4, 40, 3, None, weighted=True)
        before = scores.copy(), weights.copy(), codes.copy()
        for c, d in permutations(range(3), 2):
            multiauc.roc_hulls(codes, scores, sample_weight=weights, kind="pairwise")[c, d].cost_curve()
        for array, old in zip((scores, weights, codes), before, strict=True):
            np.testing.assert_array_equal(array, old)
