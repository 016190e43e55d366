"""The multi-class ROC curve against its plain definition and independent fits."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, isotonic_regression

import multiauc
import oracle_multiclass_roc as oracle
from multiclass_roc_data import THIRTEEN_THRESHOLDS, shifted_normals, softmax, unlike_classes

SCOPES = ("shared", "class", "pair")
CENTERS = ("intercept", "projection")


def stacked(roc):
    return np.vstack([roc.tp_rates, roc.fp_rates])


def fitted_problem(roc, codes, continuity=0.5):
    """The shrunk rates and weights that a curve with equal weights was fitted to."""
    x = oracle.shrink(stacked(roc), np.bincount(codes), continuity)
    return x, np.ones_like(x)


class TestDefinition:
    def test_thirteen_rows(self, paper):
        codes, scores = paper
        roc = multiauc.multiclass_roc(codes, scores, thresholds=THIRTEEN_THRESHOLDS)
        assert roc.auc == pytest.approx(0.934443320, abs=1e-9)
        assert roc.deviance == pytest.approx(1.041682402, abs=1e-9)
        assert roc.converged
        assert roc.pairs == tuple(oracle.ordered_pairs(3))

    def test_thirteen_rows_with_a_smaller_correction(self, paper):
        roc = multiauc.multiclass_roc(*paper, thresholds=THIRTEEN_THRESHOLDS, continuity=0.1)
        assert roc.auc == pytest.approx(0.947928289, abs=1e-9)
        assert roc.deviance == pytest.approx(1.716962762, abs=1e-9)
        as_fitted = np.r_[0.0, roc.fitted_fpr, 1.0], np.r_[0.0, roc.fitted_tpr, 1.0]
        assert oracle.area(*as_fitted) == pytest.approx(0.913066849, abs=1e-9)

    def test_the_curve_is_mapped_back(self, rng):
        codes, scores = shifted_normals(rng, 90, 3, shift=2.0)
        for continuity in (0.0, 0.1, 0.5, 4.0):
            with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # 0.0 need not converge
                roc = multiauc.multiclass_roc(codes, scores, thresholds=20, continuity=continuity)
            epsilon = oracle.correction(np.bincount(codes), continuity)
            for fitted, rates in ((roc.fitted_fpr, roc.fpr), (roc.fitted_tpr, roc.tpr)):
                expected = np.clip((fitted - epsilon) / (1 - 2 * epsilon), 0.0, 1.0)
                assert np.all((fitted > 0.0) & (fitted < 1.0))
                np.testing.assert_allclose(rates[1:-1], isotonic_regression(expected).x, atol=1e-12)

    @pytest.mark.parametrize("scope", SCOPES)
    def test_rates_and_thresholds(self, rng, scope):
        codes, scores = shifted_normals(rng, 200, 4)
        roc = multiauc.multiclass_roc(codes, scores, thresholds=30, scope=scope)
        grid = oracle.quantile_thresholds(codes, scores, 30, scope)
        shared = grid[:, 0] if scope == "shared" else grid
        np.testing.assert_array_equal(roc.thresholds, shared)
        np.testing.assert_allclose(stacked(roc), oracle.rate_matrix(codes, scores, grid), atol=1e-15)

    @pytest.mark.parametrize("scope", SCOPES)
    @pytest.mark.parametrize("center", CENTERS)
    def test_area_and_deviance(self, rng, scope, center):
        codes, scores = shifted_normals(rng, 150, 3)
        roc = multiauc.multiclass_roc(codes, scores, thresholds=20, scope=scope, center=center)
        area, deviance, fpr, tpr = oracle.multiclass_roc(codes, scores, 20, scope, center)
        assert roc.deviance <= deviance + 1e-7
        assert roc.auc == pytest.approx(area, abs=1e-5)
        np.testing.assert_allclose(roc.fpr, fpr, atol=1e-4)
        np.testing.assert_allclose(roc.tpr, tpr, atol=1e-4)

    def test_rate_weights(self, rng):
        codes, scores = shifted_normals(rng, 150, 3)
        tp, fp = rng.uniform(0.2, 5, size=(2, 3, 3))
        roc = multiauc.multiclass_roc(codes, scores, thresholds=20, rate_weights=(tp, fp))
        area, deviance, _, _ = oracle.multiclass_roc(codes, scores, 20, tp=tp, fp=fp)
        assert roc.deviance <= deviance + 1e-6
        assert roc.auc == pytest.approx(area, abs=1e-5)

    def test_pair_weights_by_name(self, rng):
        codes, scores = shifted_normals(rng, 150, 3)
        sizes = np.bincount(codes).astype(float)
        for name, matrix in (("size_product", np.outer(sizes, sizes)), ("size_sum", np.add.outer(sizes, sizes))):
            by_name = multiauc.multiclass_roc(codes, scores, pair_weights=name)
            by_matrix = multiauc.multiclass_roc(codes, scores, pair_weights=matrix)
            by_rates = multiauc.multiclass_roc(codes, scores, rate_weights=(matrix, matrix))
            assert by_name.auc == pytest.approx(by_matrix.auc, abs=1e-9)
            assert by_name.auc == pytest.approx(by_rates.auc, abs=1e-9)

    def test_curve_is_monotone_and_closed(self, rng):
        codes, scores = shifted_normals(rng, 60, 4, shift=0.2)
        roc = multiauc.multiclass_roc(codes, scores)
        for rates in (roc.fpr, roc.tpr):
            assert rates[0] == 0.0
            assert rates[-1] == 1.0
            assert np.all(np.diff(rates) >= 0)
        assert roc.auc == pytest.approx(oracle.area(roc.fpr, roc.tpr), abs=1e-14)


class TestTwoClasses:
    def test_every_score_a_threshold_gives_the_auc(self, rng):
        codes, scores = shifted_normals(rng, 301, 2)
        second = np.round(scores[:, 1], 2)  # with ties
        roc = multiauc.multiclass_roc(codes, second, thresholds=np.unique(second)[::-1])
        assert roc.auc == multiauc.auc_mu_score(codes, second)
        assert roc.pairs == ((1, 0),)
        assert (roc.deviance, roc.n_iter, roc.converged) == (0.0, 0, True)

    def test_is_the_empirical_curve_at_the_quantiles_of_the_second_column(self, rng):
        codes, scores = shifted_normals(rng, 300, 2)
        roc = multiauc.multiclass_roc(codes, scores, thresholds=25)
        levels = (np.arange(25, 0, -1) - 0.5) / 25
        grid = np.quantile(scores[:, 1], levels)
        np.testing.assert_array_equal(roc.thresholds, grid)
        tpr = [np.mean(scores[codes == 1, 1] > t) for t in grid]
        fpr = [np.mean(scores[codes == 0, 1] > t) for t in grid]
        np.testing.assert_allclose(roc.tpr, [0, *tpr, 1], atol=1e-15)
        np.testing.assert_allclose(roc.fpr, [0, *fpr, 1], atol=1e-15)
        assert roc.auc == pytest.approx(oracle.area(roc.fpr, roc.tpr), abs=1e-14)

    def test_one_score_is_the_second_column(self, rng):
        codes, scores = shifted_normals(rng, 100, 2)
        both = multiauc.multiclass_roc(codes, scores)
        one = multiauc.multiclass_roc(codes, scores[:, 1])
        assert one.auc == both.auc
        np.testing.assert_array_equal(one.thresholds, both.thresholds)


class TestIndependentFits:
    @pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
    def test_no_start_of_a_general_optimiser_does_better(self, seed):
        rng = np.random.default_rng(seed)
        codes, scores = shifted_normals(rng, (60, 150, 40)[seed], (3, 4, 5)[seed], shift=(0.5, 1, 3)[seed])
        roc = multiauc.multiclass_roc(codes, scores, thresholds=6)
        x, w = fitted_problem(roc, codes)
        starts = [oracle.svd_start(x, "intercept"), *(oracle.random_start(x, "intercept", rng) for _ in range(20))]
        best = min(oracle.fit(x, w, start=start, iterations=1000)[1] for start in starts)
        assert roc.deviance <= best + 1e-6

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("k", "n", "seed"),
        [(3, 80, 228), (3, 400, 382), (3, 400, 457), (4, 150, 187), (5, 100, 185), (5, 100, 427)],
    )
    def test_samples_with_several_optima(self, k, n, seed):
        """From the leading singular vector of the logits alone, these end .4% to 11% above the best optimum."""
        codes, scores = unlike_classes(seed, n, k)
        roc = multiauc.multiclass_roc(codes, scores, thresholds=20)
        x, w = fitted_problem(roc, codes)
        rng = np.random.default_rng(seed)
        starts = [oracle.svd_start(x, "intercept"), *(oracle.random_start(x, "intercept", rng) for _ in range(10))]
        fits = [oracle.fit(x, w, start=start, iterations=1000)[1] for start in starts]
        assert max(fits) > 1.003 * min(fits)
        assert roc.converged
        assert roc.deviance <= min(fits) * (1 + 1e-6)

    def test_gradient_vanishes(self, rng):
        codes, scores = shifted_normals(rng, 90, 3)
        roc = multiauc.multiclass_roc(codes, scores, thresholds=6, tol=1e-12)
        x, w = fitted_problem(roc, codes)
        slopes, pair_scores = roc._model.factors
        effects = np.r_[roc.fitted_tpr, roc.fitted_fpr]
        parameters = np.concatenate([np.log(effects / (1 - effects)), slopes, pair_scores])

        def deviance(p):
            return oracle.deviance(oracle.linear_predictor(p, len(x), "intercept"), x, w)

        assert deviance(parameters) == pytest.approx(roc.deviance, abs=1e-9)
        gradient = approx_fprime(parameters, deviance, 1e-6)
        assert np.abs(gradient).max() < 1e-4
        assert abs(pair_scores.sum()) < 1e-12
        assert np.linalg.norm(pair_scores) == pytest.approx(1.0)

    @given(st.integers(0, 10**6), st.integers(3, 6), st.sampled_from(SCOPES), st.sampled_from(CENTERS))
    def test_deviance_never_rises(self, seed, k, scope, center):
        rng = np.random.default_rng(seed)
        codes, scores = shifted_normals(rng, 40, k, shift=rng.uniform(-1, 6))
        roc = multiauc.multiclass_roc(codes, scores, thresholds=15, scope=scope, center=center)
        deviances = roc._model.deviances
        assert np.all(np.diff(deviances) <= 1e-12 * deviances[:-1] + 1e-10)
        assert 0.0 <= roc.auc <= 1.0


class TestInvariances:
    def test_rows_and_labels_in_any_order(self, rng):
        codes, scores = shifted_normals(rng, 200, 4)
        reference = multiauc.multiclass_roc(codes, scores)
        rows = rng.permutation(200)
        assert multiauc.multiclass_roc(codes[rows], scores[rows]).auc == reference.auc
        classes = rng.permutation(4)
        moved = multiauc.multiclass_roc(np.argsort(classes)[codes], scores[:, classes])
        assert moved.auc == pytest.approx(reference.auc, abs=1e-8)
        named = multiauc.multiclass_roc(codes, scores[:, classes], labels=classes)
        assert named.auc == pytest.approx(reference.auc, abs=1e-8)

    @pytest.mark.parametrize("center", CENTERS)
    @pytest.mark.parametrize("seed", [228, 372, 51, 382, 457, *range(8)])
    def test_several_optima_in_any_order(self, seed, center):
        codes, scores = unlike_classes(seed, 80 if seed in (228, 372) else 400, 3)
        rng = np.random.default_rng(seed)
        reference = multiauc.multiclass_roc(codes, scores, thresholds=20, center=center)
        for classes in ([1, 0, 2], [2, 1, 0], [1, 2, 0]):
            rows = rng.permutation(len(codes))
            moved = np.argsort(classes)[codes[rows]], scores[np.ix_(rows, classes)]
            roc = multiauc.multiclass_roc(*moved, thresholds=20, center=center)
            assert roc.auc == pytest.approx(reference.auc, abs=1e-8)
            assert roc.deviance == pytest.approx(reference.deviance, rel=1e-8)

    @given(st.integers(0, 10**6), st.integers(3, 6), st.sampled_from(SCOPES), st.sampled_from(CENTERS))
    def test_any_order(self, seed, k, scope, center):
        codes, scores = unlike_classes(seed, 60, k)
        rng = np.random.default_rng(seed)
        rows, classes = rng.permutation(60), rng.permutation(k)
        options = {"thresholds": 25, "scope": scope, "center": center}
        reference = multiauc.multiclass_roc(codes, scores, **options)
        moved = multiauc.multiclass_roc(np.argsort(classes)[codes[rows]], scores[np.ix_(rows, classes)], **options)
        assert moved.auc == pytest.approx(reference.auc, abs=1e-8)

    def test_equal_integer_rate_weights_repeat_columns(self, rng):
        codes, scores = shifted_normals(rng, 120, 3)
        times = np.array([[1, 2, 1], [3, 1, 1], [1, 2, 1]])
        roc = multiauc.multiclass_roc(codes, scores, thresholds=12, rate_weights=(times, times))
        columns = [j for j, (c, d) in enumerate(oracle.ordered_pairs(3)) for _ in range(times[c, d])]
        x, w = fitted_problem(roc, codes)
        eta, deviance = oracle.fit(x[:, columns], w[:, columns])
        assert roc.deviance == pytest.approx(deviance, abs=1e-6)
        curve = oracle.curve(eta, w[:, columns], oracle.correction(np.bincount(codes)))
        assert roc.auc == pytest.approx(oracle.area(*curve), abs=1e-5)

    @pytest.mark.parametrize("scope", SCOPES)
    def test_integer_sample_weights_repeat_rows(self, rng, scope):
        codes, scores = shifted_normals(rng, 80, 3)
        weights = rng.integers(0, 4, size=80)
        weights[:3] = 1
        weighted = multiauc.multiclass_roc(codes, scores, scope=scope, sample_weight=weights)
        repeated = multiauc.multiclass_roc(np.repeat(codes, weights), np.repeat(scores, weights, axis=0), scope=scope)
        np.testing.assert_array_equal(weighted.thresholds, repeated.thresholds)
        assert weighted.auc == pytest.approx(repeated.auc, abs=1e-12)

    def test_small_and_huge_sample_weights(self, rng):
        codes, scores = shifted_normals(rng, 80, 3)
        weights = rng.uniform(0.5, 2.0, size=80)
        small = multiauc.multiclass_roc(codes, scores, sample_weight=weights / weights.sum())
        tiny = multiauc.multiclass_roc(codes, scores, sample_weight=weights * 1e-300)
        assert small.auc == pytest.approx(tiny.auc, abs=1e-9)
        assert small.auc == pytest.approx(multiauc.multiclass_roc(codes, scores).auc, abs=0.05)
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # next to no correction is left
            huge = multiauc.multiclass_roc(codes, scores, sample_weight=weights * 1e307)
        assert 0.5 < huge.auc < 1.0
        two = multiauc.multiclass_roc(codes % 2, scores[:, 1], sample_weight=weights * 1e307)
        assert 0.0 < two.auc < 1.0

    @pytest.mark.usefixtures("restore_threads")
    def test_same_bits_for_any_number_of_threads(self, rng):
        codes, scores = shifted_normals(rng, 20_000, 12)
        results = []
        for threads in (1, 2, 3):
            multiauc.set_num_threads(threads)
            roc = multiauc.multiclass_roc(codes, scores, thresholds=400)
            results.append((roc.auc, roc.deviance, roc.tpr.tobytes(), roc.bootstrap(3, rng=1).replicates.tobytes()))
        assert results[0] == results[1] == results[2]

    def test_single_precision(self, rng):
        codes, scores = shifted_normals(rng, 200, 3)
        single = scores.astype(np.float32)
        assert multiauc.multiclass_roc(codes, single).auc == multiauc.multiclass_roc(codes, single.astype(float)).auc

    def test_any_memory_layout(self, rng):
        codes, scores = shifted_normals(rng, 200, 3)
        reference = multiauc.multiclass_roc(codes, scores).auc
        assert multiauc.multiclass_roc(codes, np.asfortranarray(scores)).auc == reference
        wide = np.zeros((400, 6))
        wide[::2, ::2] = scores
        assert multiauc.multiclass_roc(codes, wide[::2, ::2]).auc == reference


class TestHardCases:
    @pytest.mark.parametrize("center", CENTERS)
    def test_separable(self, center):
        codes = np.repeat(np.arange(4), 500)
        scores = np.eye(4)[codes] * 0.9 + 0.025
        roc = multiauc.multiclass_roc(codes, scores, center=center)
        assert roc.converged
        assert roc.auc > 0.999

    @pytest.mark.parametrize("size", [5, 15, 25, 700])
    def test_perfect_classifiers(self, rng, size):
        codes = np.repeat(np.arange(3), size)
        hard = multiauc.multiclass_roc(codes, np.eye(3)[codes])
        smooth = multiauc.multiclass_roc(codes, softmax(rng.normal(size=(3 * size, 3)) + 12 * np.eye(3)[codes]))
        assert hard.auc == smooth.auc == 1.0
        assert hard._model.separation == smooth._model.separation == 1.0
        wrong = multiauc.multiclass_roc(codes, np.eye(3)[(codes + 1) % 3] + np.eye(3)[(codes + 2) % 3])
        assert wrong.auc == pytest.approx(0.0, abs=1e-9)
        assert wrong._model.separation == 0.0

    @pytest.mark.parametrize("k", [2, 3, 7])
    def test_constant_scores(self, k):
        roc = multiauc.multiclass_roc(np.arange(20) % k, np.full((20, k), 1 / k))
        assert roc.auc == pytest.approx(0.5, abs=1e-12)
        assert len(roc.thresholds) == 1

    def test_one_row_per_class(self):
        roc = multiauc.multiclass_roc([0, 1, 2, 3], np.eye(4) * 0.6 + 0.1)
        assert 0.8 < roc.auc <= 1.0
        assert np.isfinite(roc.deviance)

    @pytest.mark.parametrize("k", [2, 3, 10, 100])
    @pytest.mark.parametrize("thresholds", [1, 2, 300])
    def test_any_number_of_classes_and_thresholds(self, rng, k, thresholds):
        codes, scores = shifted_normals(rng, 3 * k, k)
        roc = multiauc.multiclass_roc(codes, scores, thresholds=min(thresholds, 20 if k == 100 else thresholds))
        assert 0.0 <= roc.auc <= 1.0
        assert np.isfinite(roc.deviance)

    def test_no_continuity_correction(self, rng):
        codes, scores = shifted_normals(rng, 30, 3, shift=3.0)
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # it may converge, or say so
            roc = multiauc.multiclass_roc(codes, scores, continuity=0.0)
        assert 0.5 < roc.auc <= 1.0

    def test_too_few_sweeps_warn(self, rng):
        codes, scores = shifted_normals(rng, 100, 3)
        with pytest.warns(RuntimeWarning, match="did not converge in 1 sweep;"):
            roc = multiauc.multiclass_roc(codes, scores, max_iter=1)
        assert not roc.converged
        assert np.isfinite(roc.auc)

    def test_absent_classes(self, rng):
        codes, scores = shifted_normals(rng, 100, 4)
        labels = ["a", "b", "x", "c", "d"]
        names = np.array(["a", "b", "c", "d"])[codes]
        wide = np.insert(scores, 2, rng.random(100), axis=1)
        with pytest.raises(ValueError, match="'x'"):
            multiauc.multiclass_roc(names, wide, labels=labels)
        ignored = multiauc.multiclass_roc(names, wide, labels=labels, absent="ignore")
        assert ignored.auc == multiauc.multiclass_roc(codes, scores).auc
        assert ("a", "d") in ignored.pairs
        nothing = multiauc.multiclass_roc(names, wide, labels=labels, absent="nan")
        assert np.isnan(nothing.auc)
        with pytest.raises(ValueError, match="has a class without rows"):
            nothing.bootstrap(2)


class TestResultAndErrors:
    def test_result(self, paper):
        codes, scores = paper
        roc = multiauc.multiclass_roc(codes, scores)
        assert repr(roc).startswith("MulticlassRoc(3 classes, 6 pairs, ")
        with pytest.raises(AttributeError):
            roc.auc = 1.0
        with pytest.raises(ValueError, match="read-only"):
            roc.tpr[0] = 1.0
        with pytest.raises(TypeError):
            iter(roc)
        copy = pickle.loads(pickle.dumps(roc))
        assert copy.auc == roc.auc
        np.testing.assert_array_equal(copy.tp_rates, roc.tp_rates)
        with pytest.raises(ValueError, match="unpickled"):
            copy.bootstrap(2)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"thresholds": 0}, ValueError, "thresholds must be between 1 and 65535; got 0"),
            ({"thresholds": 1.5}, TypeError, "thresholds must be a number of thresholds or a falling array"),
            ({"thresholds": True}, TypeError, "thresholds"),
            ({"thresholds": [0.1, 0.2]}, ValueError, "thresholds must fall strictly; got 0.1 followed by 0.2"),
            ({"thresholds": [0.2, np.nan]}, ValueError, "thresholds must be finite"),
            ({"thresholds": [[0.2]]}, ValueError, r"shape \(1, 1\)"),
            ({"scope": "both"}, ValueError, "scope must be one of 'shared', 'class', 'pair'"),
            ({"center": "mean"}, ValueError, "center must be one of"),
            ({"rate_weights": np.ones((3, 3))}, TypeError, "rate_weights must be a tuple"),
            ({"rate_weights": (np.ones((3, 3)), np.ones((2, 2)))}, ValueError, r"rate_weights\[1\] must be a 3 x 3"),
            ({"rate_weights": (np.zeros((3, 3)), np.ones((3, 3)))}, ValueError, "must be positive and finite"),
            ({"continuity": -1}, ValueError, "continuity must be a number of at least 0 and at most 1e.06; got -1"),
            (
                {"continuity": 1e7},
                ValueError,
                r"continuity must be a number of at least 0 and at most 1e\+06; got 10000000.0",
            ),
            ({"continuity": "a"}, TypeError, "continuity must be a number"),
            ({"tol": np.inf}, ValueError, "tol must be a finite number of at least 0"),
            ({"max_iter": 0}, ValueError, "max_iter must be a positive integer; got 0"),
            ({"pair_weights": "equal"}, ValueError, "pair_weights must be one of"),
        ],
    )
    def test_errors(self, paper, options, error, message):
        codes, scores = paper
        with pytest.raises(error, match=message):
            multiauc.multiclass_roc(codes, scores, **options)

    def test_memory_limit(self):
        k = 300
        with pytest.raises(MemoryError, match="use fewer thresholds"):
            multiauc.multiclass_roc(np.arange(k), np.eye(k), thresholds=np.linspace(1, 0, 5000))
