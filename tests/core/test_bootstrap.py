"""The bootstrap of `evaluate` and `compare`, and rankings of models."""

import pickle

import numpy as np
import pytest

import multiauc
from multiclass_roc_data import shifted_normals
from strategies import coarse_votes, make_sample, smooth, with_weights

METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")


@pytest.fixture
def sample():
    return make_sample(coarse_votes, [60, 40, 50], 3)


def models_of(rng, n=200, k=3):
    codes, scores = shifted_normals(rng, n, k, shift=1.5)
    worse = np.where(rng.random((n, 1)) < 0.4, rng.dirichlet(np.ones(k), n), scores)
    return codes, {"good": scores, "worse": worse, "noise": rng.dirichlet(np.ones(k), n)}


class TestEvaluation:
    def test_columns_estimates_and_spread(self, sample):
        result = multiauc.evaluate(*sample.data)
        bootstrap = result.bootstrap(4000, rng=1)
        assert bootstrap.metrics == METRICS
        assert bootstrap.replicates.shape == (4000, 4)
        np.testing.assert_array_equal(bootstrap.estimates, [getattr(result, metric).value for metric in METRICS])
        limits = [getattr(result, metric).variance("bootstrap_limit") for metric in METRICS]
        np.testing.assert_allclose(bootstrap.standard_error**2, limits, rtol=0.1)
        np.testing.assert_allclose(np.cov(bootstrap.replicates.T), result.covariance, rtol=0.15)

    def test_depends_on_the_seed_alone(self, sample):
        result = multiauc.evaluate(*sample.data)
        first = result.bootstrap(60, rng=5).replicates
        np.testing.assert_array_equal(result.bootstrap(60, rng=5).replicates, first)
        np.testing.assert_array_equal(result.bootstrap(20, rng=5).replicates, first[:20])
        np.testing.assert_array_equal(result.bootstrap(60, rng=np.random.default_rng(5)).replicates, first)
        np.testing.assert_array_equal(result.bootstrap(60, rng=np.int64(5)).replicates, first)
        assert not np.array_equal(result.bootstrap(60, rng=6).replicates, first)
        generator = np.random.default_rng(5)
        assert not np.array_equal(
            result.bootstrap(20, rng=generator).replicates, result.bootstrap(20, rng=generator).replicates
        )
        assert not np.array_equal(result.bootstrap(20).replicates, result.bootstrap(20).replicates)

    @pytest.mark.usefixtures("restore_threads")
    def test_threads_change_nothing(self, sample):
        found = []
        for threads in (1, 2):
            multiauc.set_num_threads(threads)
            found.append(multiauc.evaluate(*sample.data).bootstrap(100, rng=1).replicates)
        np.testing.assert_array_equal(*found)

    def test_some_metrics(self, sample):
        result = multiauc.evaluate(*sample.data)
        everything = result.bootstrap(30, rng=2)
        some = result.bootstrap(30, rng=2, metrics=["one_vs_rest", "auc_mu"])
        np.testing.assert_array_equal(some.replicates, everything.replicates[:, [2, 0]])
        np.testing.assert_array_equal(some.accelerations, everything.accelerations[[2, 0]])
        assert some.confidence_interval("auc_mu") == everything.confidence_interval("auc_mu")

    def test_iid_moves_the_class_sizes(self):
        sample = make_sample(smooth, [120, 20, 60], 4)
        fixed = multiauc.evaluate(*sample.data).bootstrap(1500, rng=0)
        result = multiauc.evaluate(*sample.data, sampling="iid")
        moving = result.bootstrap(1500, rng=0)
        assert (fixed.sampling, moving.sampling) == ("stratified", "iid")
        assert moving.standard_error[3] == pytest.approx(result.one_vs_rest_prevalence.standard_error, rel=0.1)

    def test_groups_are_drawn_whole(self, rng):
        """Rows that come five by five know less than their number: the standard error grows by about the root of 5."""
        base = make_sample(smooth, [60, 60, 60], 5)
        groups = np.repeat(np.arange(180), 5)
        codes, scores = base.codes[groups], base.scores[groups] + 1e-6 * rng.random((900, 3))
        result = multiauc.evaluate(codes, scores, groups=groups)
        grouped = result.bootstrap(800, rng=0)
        assert grouped.sampling == "groups"
        assert "groups of rows" in repr(grouped)
        alone = multiauc.evaluate(codes, scores).bootstrap(800, rng=0)
        np.testing.assert_allclose(grouped.standard_error[:2] / alone.standard_error[:2], 5**0.5, rtol=0.15)
        closed = [result.auc_mu.standard_error, result.hand_till.standard_error]
        np.testing.assert_allclose(grouped.standard_error[:2], closed, rtol=0.1)

    def test_weights(self):
        sample = with_weights(make_sample(smooth, [80, 60, 70], 6), "real", 6)
        result = multiauc.evaluate(*sample.data, sample_weight=sample.weights)
        bootstrap = result.bootstrap(1500, rng=0)
        closed = [getattr(result, metric).standard_error for metric in METRICS]
        np.testing.assert_allclose(bootstrap.standard_error, closed, rtol=0.12)

    def test_one_score_for_two_classes(self, rng):
        y = rng.integers(0, 2, 90)
        result = multiauc.evaluate(y, y + rng.normal(size=90))
        bootstrap = result.bootstrap(500, rng=0)
        assert np.all(np.ptp(bootstrap.replicates, axis=1) < 1e-14)
        assert bootstrap.standard_error[0] == pytest.approx(result.auc_mu.standard_error, rel=0.15)

    def test_a_lost_class(self):
        sample = make_sample(smooth, [40, 2, 40], 2)
        result = multiauc.evaluate(*sample.data, sampling="iid")
        with pytest.warns(RuntimeWarning, match=r"\d+ resamples of 200 contain no row of some class"):
            bootstrap = result.bootstrap(200, rng=0)
        assert 5 < bootstrap.undefined < 60
        assert bootstrap.standard_error[0] > 0
        assert f"{bootstrap.undefined} resamples without some class" in repr(bootstrap)

    def test_absent_classes(self):
        codes, scores = np.array([0, 2] * 20), np.random.default_rng(0).random((40, 3))
        how = {"labels": [0, 1, 2]}
        ignored = multiauc.evaluate(codes, scores, absent="ignore", **how).bootstrap(50, rng=0)
        assert not np.isnan(ignored.replicates).any()
        nan = multiauc.evaluate(codes, scores, absent="nan", **how).bootstrap(50, rng=0)
        assert np.isnan(nan.replicates).all()
        assert np.isnan(nan.confidence_interval("auc_mu")).all()
        comparison = multiauc.compare(
            codes, {"a": scores, "b": scores**2}, metric="multiclass_roc", absent="nan", **how
        )
        assert comparison.ranking_probabilities(n_resamples=5) == {}

    def test_bca(self, sample):
        result = multiauc.evaluate(*sample.data)
        bootstrap = result.bootstrap(3000, rng=0)
        u = result.influences()
        np.testing.assert_allclose(bootstrap.accelerations, (u**3).sum(axis=0) / (u**2).sum(axis=0) ** 1.5 / 6)
        for metric in METRICS:
            bca, closed = bootstrap.confidence_interval(metric, method="bca"), getattr(result, metric)
            np.testing.assert_allclose(bca, closed.confidence_interval(), atol=0.02)

    def test_perfect_scores(self):
        codes = np.repeat([0, 1, 2], 10)
        bootstrap = multiauc.evaluate(codes, np.eye(3)[codes]).bootstrap(50, rng=0)
        assert bootstrap.confidence_interval("auc_mu") == pytest.approx((0.025**0.1, 1.0))
        assert "1.0000" in repr(bootstrap)

    def test_data_that_changed_or_stayed_behind(self, sample):
        scores = sample.scores.copy()
        result = multiauc.evaluate(sample.codes, scores)
        again = pickle.loads(pickle.dumps(result))
        with pytest.raises(ValueError, match="unpickled"):
            again.bootstrap(3)
        scores[:] = 0.5
        with pytest.raises(ValueError, match="was changed"):
            result.bootstrap(3)

    @pytest.mark.parametrize(
        ("options", "error", "match"),
        [
            ({"n_resamples": 0}, ValueError, "n_resamples must be a positive integer; got 0"),
            ({"n_resamples": 10.5}, TypeError, "n_resamples must be a positive integer; got 10.5"),
            ({"rng": "seed"}, TypeError, r"rng must be an int, a numpy.random.Generator or None; got 'seed'"),
            ({"rng": 1.5}, TypeError, "rng must be an int"),
            ({"rng": True}, TypeError, "rng must be an int"),
            ({"rng": np.random.RandomState(0)}, TypeError, "got RandomState"),
            ({"rng": -1}, ValueError, "rng must not be negative as a seed; got -1"),
            ({"metrics": "auc_mu"}, TypeError, r"for one metric write \('auc_mu',\)"),
            ({"metrics": ["auc"]}, ValueError, "metrics must be one of 'auc_mu', 'hand_till'"),
            ({"metrics": []}, ValueError, "metrics must name one metric or more"),
            ({"metrics": ["auc_mu", "auc_mu"]}, ValueError, "each once"),
        ],
    )
    def test_errors(self, sample, options, error, match):
        result = multiauc.evaluate(*sample.data)
        with pytest.raises(error, match=match):
            result.bootstrap(**options)


class TestComparison:
    def test_models_are_paired_and_those_of_evaluate(self, rng):
        codes, models = models_of(rng)
        bootstrap = multiauc.compare(codes, models, metric="hand_till").bootstrap(200, rng=4)
        assert bootstrap.metrics == ("good", "worse", "noise")
        for k, scores in enumerate(models.values()):
            alone = multiauc.evaluate(codes, scores).bootstrap(200, rng=4)
            np.testing.assert_array_equal(bootstrap.replicates[:, k], alone.replicates[:, 1])

    def test_difference(self, rng):
        codes, models = models_of(rng, 400)
        comparison = multiauc.compare(codes, models)
        difference = comparison.bootstrap(2000, rng=0).difference("good", "worse")
        closed = comparison.difference("good", "worse")
        assert difference.value == pytest.approx(closed.value)
        assert difference.standard_error == pytest.approx(closed.standard_error, rel=0.1)
        for method in ("percentile", "basic", "bca"):
            found = difference.confidence_interval(method=method)
            np.testing.assert_allclose(found, closed.confidence_interval(), atol=0.3 * closed.standard_error)
        mirrored = comparison.bootstrap(2000, rng=0).difference("worse", "good").confidence_interval(method="bca")
        np.testing.assert_allclose(mirrored, [-found[1], -found[0]], atol=0.02 * closed.standard_error)

    def test_one_score_beside_two_columns(self, rng):
        y = rng.integers(0, 2, 60)
        s = y + rng.normal(size=60)
        bootstrap = multiauc.compare(y, {"one": s, "two": np.stack([-s, s], axis=1)}).bootstrap(30, rng=0)
        np.testing.assert_array_equal(bootstrap.replicates[:, 0], bootstrap.replicates[:, 1])

    def test_bca_of_the_curve_is_not_offered(self, rng):
        codes, models = models_of(rng)
        bootstrap = multiauc.compare(codes, models, metric="multiclass_roc").bootstrap(20, rng=0)
        with pytest.raises(ValueError, match="method must be one of 'logit', 'percentile', 'basic'; got 'bca'"):
            bootstrap.confidence_interval("good", method="bca")
        low, high = bootstrap.confidence_interval("good")
        assert low < bootstrap.estimates[0] < high

    def test_pickles(self, rng):
        codes, models = models_of(rng)
        bootstrap = multiauc.compare(codes, models).bootstrap(100, rng=0)
        again = pickle.loads(pickle.dumps(bootstrap))
        difference = again.difference("good", "worse")
        expected = bootstrap.difference("good", "worse").confidence_interval(method="bca")
        assert difference.confidence_interval(method="bca") == expected
        assert repr(again).startswith("ComparisonBootstrap: 100 resamples of rows within classes")


class TestRankingProbabilities:
    @pytest.mark.parametrize("metric", [*METRICS, "multiclass_roc"])
    def test_every_metric(self, metric, rng):
        codes, models = models_of(rng, 300)
        shares = multiauc.compare(codes, models, metric=metric).ranking_probabilities(n_resamples=60, rng=1)
        assert sum(shares.values()) == pytest.approx(1.0)
        assert next(iter(shares)) == ("good", "worse", "noise")

    def test_a_model_and_its_copy_come_first_half_the_time_each(self, rng):
        codes, models = models_of(rng)
        comparison = multiauc.compare(codes, {"a": models["good"], "b": models["good"].copy(), "c": models["noise"]})
        shares = comparison.ranking_probabilities(n_resamples=50, rng=0)
        assert shares == pytest.approx({("a", "b", "c"): 0.5, ("b", "a", "c"): 0.5})

    def test_replicates_of_the_curve_are_those_of_the_curve(self, rng):
        codes, models = models_of(rng)
        bootstrap = multiauc.compare(codes, models, metric="multiclass_roc").bootstrap(30, rng=3)
        for k, scores in enumerate(models.values()):
            alone = multiauc.multiclass_roc(codes, scores).bootstrap(30, rng=3)
            np.testing.assert_array_equal(bootstrap.replicates[:, k], alone.replicates)

    @pytest.mark.parametrize("options", [{"sampling": "iid"}, {"groups": np.arange(200) // 2}])
    def test_the_curve_is_resampled_as_asked(self, rng, options):
        codes, models = models_of(rng)
        comparison = multiauc.compare(codes, models, metric="multiclass_roc", **options)
        bootstrap = comparison.bootstrap(30, rng=3)
        assert bootstrap.sampling == ("iid" if "sampling" in options else "groups")
        for k, scores in enumerate(models.values()):
            alone = multiauc.multiclass_roc(codes, scores).bootstrap(30, rng=3, **options)
            np.testing.assert_array_equal(bootstrap.replicates[:, k], alone.replicates)
            assert alone.smallest_class == bootstrap.smallest_class
        assert comparison.ranking_probabilities(30, rng=3) == bootstrap.ranking_probabilities()

    def test_a_perfect_curve_among_models_has_what_its_smallest_class_can_hide(self, rng):
        codes, models = models_of(rng)
        comparison = multiauc.compare(codes, {"right": np.eye(3)[codes], **models}, metric="multiclass_roc")
        low, high = comparison.bootstrap(20, rng=0).confidence_interval("right")
        assert low == pytest.approx(0.025 ** (1 / np.bincount(codes).min()), abs=1e-12)
        assert high == 1.0

    def test_errors(self, rng):
        codes, models = models_of(rng)
        with pytest.raises(ValueError, match="n_resamples must be a positive integer; got -3"):
            multiauc.compare(codes, models).ranking_probabilities(n_resamples=-3)
