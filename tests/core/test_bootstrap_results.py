"""Intervals, standard errors, rankings and texts of bootstrap results."""

import pickle
from statistics import NormalDist

import numpy as np
import pytest

import multiauc

NORMAL = NormalDist()


def bootstrap_of(replicates, estimates, accelerations=None, kind=multiauc.Bootstrap, names=("auc_mu", "hand_till")):
    replicates = np.asarray(replicates, dtype=float)
    names = names[: replicates.shape[1]]
    accelerations = None if accelerations is None else np.asarray(accelerations)
    counts = np.array([30, 20])
    return kind(replicates, names, np.asarray(estimates, dtype=float), accelerations, "stratified", counts, 20)


@pytest.fixture
def bootstrap(rng):
    replicates = 0.8 + 0.03 * rng.normal(size=(500, 2)) - 0.01 * rng.exponential(size=(500, 2))
    return bootstrap_of(replicates, [0.8, 0.79], [0.02, -0.03])


class TestIntervals:
    def test_percentile_and_basic(self, bootstrap):
        low, high = bootstrap.confidence_interval("hand_till", 0.9, "percentile")
        np.testing.assert_allclose([low, high], np.quantile(bootstrap.replicates[:, 1], [0.05, 0.95]))
        mirrored = bootstrap.confidence_interval("hand_till", 0.9, "basic")
        np.testing.assert_allclose(mirrored, [2 * 0.79 - high, 2 * 0.79 - low])

    def test_logit_by_hand(self, bootstrap):
        error = np.std(bootstrap.replicates[:, 0], ddof=1)
        assert bootstrap.standard_error[0] == pytest.approx(error, rel=1e-12)
        ends = np.log(0.8 / 0.2) + np.array([-1, 1]) * NORMAL.inv_cdf(0.975) * error / 0.16
        np.testing.assert_allclose(bootstrap.confidence_interval("auc_mu"), 1 / (1 + np.exp(-ends)))

    def test_bca_by_hand(self, bootstrap):
        values, a = bootstrap.replicates[:, 0], 0.02
        z0 = NORMAL.inv_cdf(np.mean(values < 0.8))
        levels = [NORMAL.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in map(NORMAL.inv_cdf, (0.05, 0.95))]
        found = bootstrap.confidence_interval("auc_mu", 0.9, "bca")
        np.testing.assert_allclose(found, np.quantile(values, levels))

    def test_levels_widen(self, bootstrap):
        for method in ("logit", "percentile", "basic", "bca"):
            low, high = bootstrap.confidence_interval("auc_mu", 0.9, method)
            wider = bootstrap.confidence_interval("auc_mu", 0.99, method)
            assert wider.low < low < high < wider.high

    def test_perfect_and_constant(self):
        perfect = bootstrap_of(np.ones((10, 2)), [1.0, 0.5])
        assert perfect.confidence_interval("auc_mu") == pytest.approx((0.025 ** (1 / 20), 1.0))
        with pytest.warns(RuntimeWarning, match="replicates are"):
            assert np.isnan(bootstrap_of(np.full((10, 2), 0.5), [0.5, 0.5]).confidence_interval("auc_mu")).all()
        worst = bootstrap_of(np.zeros((10, 2)), [0.0, 0.5])
        assert worst.confidence_interval("auc_mu") == pytest.approx((0.0, 1.0 - 0.025 ** (1 / 20)))

    def test_bca_without_an_answer(self):
        one_sided = bootstrap_of(np.linspace([0.3, 0.3], [0.4, 0.4], 10), [0.5, 0.5], [0.0, 0.0])
        with pytest.warns(RuntimeWarning, match="on one side of the estimate"):
            assert np.isnan(one_sided.confidence_interval("auc_mu", method="bca")).all()

    def test_undefined_replicates_count_for_nothing(self, bootstrap):
        holes = bootstrap.replicates.copy()
        holes[::5] = np.nan
        partly = bootstrap_of(holes, bootstrap.estimates, bootstrap.accelerations)
        rest = bootstrap_of(holes[~np.isnan(holes[:, 0])], bootstrap.estimates, bootstrap.accelerations)
        assert (partly.undefined, rest.undefined, bootstrap.undefined) == (100, 0, 0)
        np.testing.assert_array_equal(partly.standard_error, rest.standard_error)
        for method in ("logit", "percentile", "basic", "bca"):
            assert partly.confidence_interval("auc_mu", 0.9, method) == rest.confidence_interval("auc_mu", 0.9, method)
        nothing = bootstrap_of(np.full((3, 2), np.nan), bootstrap.estimates)
        assert np.isnan([*nothing.standard_error, *nothing.confidence_interval("auc_mu")]).all()

    @pytest.mark.parametrize(
        ("arguments", "error", "match"),
        [
            (("auc",), ValueError, "no metric 'auc' in this bootstrap; it has 'auc_mu', 'hand_till'"),
            (("auc_mu", 95), ValueError, "level must be a number above 0 and below 1; got 95"),
            (("auc_mu", 0.0), ValueError, "level must be a number above 0 and below 1; got 0.0"),
            (("auc_mu", "high"), TypeError, "level must be a number above 0 and below 1; got 'high'"),
            (("auc_mu", 0.95, "wald"), ValueError, "method must be one of 'logit', 'percentile', 'basic', 'bca'"),
            (("auc_mu", True), TypeError, "level must be a number"),
        ],
        ids=str,
    )
    def test_errors(self, bootstrap, arguments, error, match):
        with pytest.raises(error, match=match):
            bootstrap.confidence_interval(*arguments)


class TestTexts:
    def test_report(self, bootstrap):
        title, head, first, _ = repr(bootstrap).splitlines()
        assert title == "Bootstrap: 500 resamples of rows within classes, 50 rows of 2 classes"
        assert head.split() == ["metric", "estimate", "std.", "error", "95%", "interval"]
        low, high = bootstrap.confidence_interval("auc_mu")
        assert first.split() == [
            "auc_mu",
            "0.8000",
            f"{bootstrap.standard_error[0]:.4f}",
            f"{low:.4f}",
            "to",
            f"{high:.4f}",
        ]
        assert "<th>auc_mu</th>" in bootstrap._repr_html_()

    def test_a_report_never_warns(self):
        assert " - " not in repr(bootstrap_of(np.ones((4, 1)), [1.0]))
        assert repr(bootstrap_of(np.full((4, 1), 0.5), [0.5])).endswith("-")
        assert "2 resamples without some class" in repr(bootstrap_of([[0.5], [np.nan], [np.nan], [0.6]], [0.5]))

    def test_pickles(self, bootstrap):
        again = pickle.loads(pickle.dumps(bootstrap))
        np.testing.assert_array_equal(again.replicates, bootstrap.replicates)
        assert again.confidence_interval("auc_mu", method="bca") == bootstrap.confidence_interval(
            "auc_mu", method="bca"
        )
        assert not again.replicates.flags.writeable
        assert repr(again) == repr(bootstrap)


class TestComparisons:
    @pytest.fixture
    def comparison(self, rng):
        common = 0.05 * rng.normal(size=(400, 1))
        replicates = [0.8, 0.78, 0.7] + common + 0.01 * rng.normal(size=(400, 3))
        return bootstrap_of(
            replicates, [0.8, 0.78, 0.7], kind=multiauc.ComparisonBootstrap, names=("knn", "tree", "net")
        )

    def test_differences_are_paired(self, comparison):
        difference = comparison.difference("knn", "tree")
        assert difference.value == pytest.approx(0.02)
        np.testing.assert_array_equal(difference.replicates, comparison.replicates[:, 0] - comparison.replicates[:, 1])
        assert difference.standard_error < comparison.standard_error.min() / 2
        low, high = difference.confidence_interval(0.9)
        np.testing.assert_allclose([low, high], np.quantile(difference.replicates, [0.05, 0.95]))
        assert 0.5 < difference.share_better < 1.0
        assert comparison.difference("tree", "knn").share_better == pytest.approx(1 - difference.share_better)
        assert repr(difference).startswith("BootstrapDifference('knn' - 'tree': +0.0200, se 0.01")

    def test_logit_is_no_interval_of_a_difference(self, comparison):
        with pytest.raises(ValueError, match="method must be one of 'percentile', 'basic'; got 'logit'"):
            comparison.difference("knn", "tree").confidence_interval(method="logit")

    def test_unknown_models(self, comparison):
        with pytest.raises(ValueError, match="no model 'forest' in this bootstrap; it has 'knn', 'tree', 'net'"):
            comparison.difference("knn", "forest")

    def test_rankings(self, comparison):
        shares = comparison.ranking_probabilities()
        assert sum(shares.values()) == pytest.approx(1.0)
        assert next(iter(shares)) == ("knn", "tree", "net")
        best = np.argsort(-comparison.replicates, axis=1)
        expected = np.mean((best == [0, 1, 2]).all(axis=1))
        assert shares["knn", "tree", "net"] == pytest.approx(expected)
