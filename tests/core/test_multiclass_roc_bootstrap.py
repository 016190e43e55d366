"""Intervals and bands of the multi-class ROC curve, and its pictures."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student

import multiauc
from internals import draw_rows
from multiclass_roc_data import shifted_normals, softmax


@pytest.fixture
def roc(rng):
    return multiauc.multiclass_roc(*shifted_normals(rng, 150, 3))


class TestRows:
    def test_depends_on_the_seed_alone(self, roc):
        first, again, other = (roc.bootstrap(40, rng=seed).replicates for seed in (3, 3, 4))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)
        np.testing.assert_array_equal(roc.bootstrap(40, rng=np.random.default_rng(3)).replicates, first)
        np.testing.assert_array_equal(roc.bootstrap(20, rng=3).replicates, first[:20])

    def test_replicates_are_curves_of_resampled_rows(self, rng):
        """The spread is that of drawing rows by hand, within classes, at the thresholds of the sample."""
        codes, scores = shifted_normals(rng, 150, 3)
        roc = multiauc.multiclass_roc(codes, scores, thresholds=30)
        by_hand = []
        for _ in range(150):
            rows = np.concatenate([rng.choice(np.flatnonzero(codes == c), np.sum(codes == c)) for c in range(3)])
            by_hand.append(multiauc.multiclass_roc(codes[rows], scores[rows], thresholds=roc.thresholds).auc)
        bootstrap = roc.bootstrap(600, rng=1)
        assert bootstrap.standard_error == pytest.approx(np.std(by_hand, ddof=1), rel=0.25)
        assert np.mean(bootstrap.replicates) == pytest.approx(np.mean(by_hand), abs=4 * np.std(by_hand) / 150**0.5)

    def test_one_stream_serves_several_models(self, rng):
        codes, scores = shifted_normals(rng, 200, 3)
        close = scores + 1e-9 * rng.random(scores.shape)
        one, other = (multiauc.multiclass_roc(codes, p).bootstrap(50, rng=5).replicates for p in (scores, close))
        assert np.corrcoef(one, other)[0, 1] > 0.999

    def test_weighted_rows_keep_their_weights(self, rng):
        codes, scores = shifted_normals(rng, 120, 3)
        plain = multiauc.multiclass_roc(codes, scores).bootstrap(30, rng=0)
        same = multiauc.multiclass_roc(codes, scores, sample_weight=np.ones(120)).bootstrap(30, rng=0)
        np.testing.assert_allclose(plain.replicates, same.replicates, atol=1e-12)
        skewed = multiauc.multiclass_roc(codes, scores, sample_weight=rng.exponential(size=120)).bootstrap(30, rng=0)
        assert skewed.standard_error > plain.standard_error

    def test_two_classes(self, rng):
        codes, scores = shifted_normals(rng, 100, 2)
        bootstrap = multiauc.multiclass_roc(codes, scores[:, 1]).bootstrap(400, rng=0)
        low, high = bootstrap.confidence_interval()
        assert low < bootstrap.estimate < high


class TestGroups:
    """Groups are drawn as all bootstraps draw them: the multiplicities are those of the resampler."""

    @staticmethod
    def by_hand(codes, scores, seed, count, *, groups=None, sampling="stratified", weights=None, **options):
        """D of the resampled rows themselves, at the thresholds and with the continuity correction of the sample."""
        roc = multiauc.multiclass_roc(codes, scores, sample_weight=weights, **options)

        def mean_size(weights):
            rows = np.bincount(codes[weights > 0], minlength=scores.shape[1])
            sizes = np.maximum(np.bincount(codes, weights=weights), rows)
            return len(sizes) / np.sum(1 / sizes)

        size = mean_size(np.ones(len(codes)) if weights is None else weights)
        areas = []
        for counts in draw_rows(codes, scores, seed, count, weights=weights, groups=groups, sampling=sampling):
            drawn = counts.astype(float) if weights is None else counts * weights
            continuity = 0.5 * mean_size(drawn) / size
            how = {"thresholds": roc.thresholds, "continuity": continuity, **options}
            areas.append(multiauc.multiclass_roc(codes, scores, sample_weight=drawn, **how).auc)
        return roc, np.array(areas)

    @pytest.mark.parametrize("pair_weights", [None, "size_product", "size_sum"])
    @pytest.mark.parametrize("drawn", ["groups", "iid", "stratified"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_replicates_are_curves_of_the_groups_drawn(self, rng, drawn, weighted, pair_weights):
        codes, scores = shifted_normals(rng, 200, 3)
        groups = rng.integers(60, size=200).astype(np.uint32) if drawn == "groups" else None
        sampling = "stratified" if drawn == "groups" else drawn
        weights = rng.uniform(0.5, 2.0, size=200) if weighted else None
        how = {"groups": groups, "sampling": sampling}
        roc, expected = self.by_hand(codes, scores, 5, 8, weights=weights, **how, pair_weights=pair_weights)
        found = roc.bootstrap(8, rng=5, **how).replicates
        np.testing.assert_allclose(found, expected, atol=2e-5)

    def test_two_classes(self, rng):
        codes, scores = shifted_normals(rng, 100, 2)
        groups = (np.arange(100) // 4).astype(np.uint32)
        for how in ({"groups": groups}, {"sampling": "iid"}):
            roc, expected = self.by_hand(codes, scores, 1, 20, **how)
            np.testing.assert_allclose(roc.bootstrap(20, rng=1, **how).replicates, expected, atol=1e-12)

    def test_any_names_of_groups(self, rng):
        codes, scores = shifted_normals(rng, 120, 3)
        numbers = rng.integers(30, size=120)
        roc = multiauc.multiclass_roc(codes, scores)
        named = roc.bootstrap(10, rng=0, groups=np.array([f"g{number:02}" for number in numbers]))
        np.testing.assert_array_equal(roc.bootstrap(10, rng=0, groups=numbers).replicates, named.replicates)

    def test_singleton_groups_are_rows_of_any_class(self, rng):
        codes, scores = shifted_normals(rng, 120, 3)
        roc = multiauc.multiclass_roc(codes, scores)
        rows = roc.bootstrap(200, rng=0, sampling="iid")
        alone = roc.bootstrap(200, rng=0, groups=np.arange(120))
        assert alone.standard_error == pytest.approx(rows.standard_error, rel=0.25)
        assert alone.smallest_class == rows.smallest_class == np.bincount(codes).min()

    def test_repeated_rows_in_groups_are_as_uncertain_as_the_rows(self, rng):
        codes, scores = shifted_normals(rng, 150, 3)
        roc = multiauc.multiclass_roc(codes, scores)
        four = multiauc.multiclass_roc(np.repeat(codes, 4), np.repeat(scores, 4, axis=0), continuity=2.0)
        expected = roc.bootstrap(300, rng=0, sampling="iid").standard_error
        grouped = four.bootstrap(300, rng=0, groups=np.repeat(np.arange(150), 4))
        assert grouped.standard_error == pytest.approx(expected, rel=0.15)
        assert grouped.smallest_class == np.bincount(codes).min()
        assert four.bootstrap(300, rng=0).standard_error < 0.7 * expected

    def test_a_class_that_was_not_drawn(self, rng):
        codes, scores = shifted_normals(rng, 60, 3)
        codes[codes == 2] = 1
        codes[:2] = 2
        roc = multiauc.multiclass_roc(codes, scores)
        with pytest.warns(RuntimeWarning, match=r"resamples of 100 contain no row of some class"):
            bootstrap = roc.bootstrap(100, rng=0, sampling="iid")
        lost = np.isnan(bootstrap.replicates)
        assert 0 < lost.sum() < 40
        assert np.isnan(bootstrap.heights[lost]).all()
        assert np.isfinite(bootstrap.standard_error)
        assert np.isfinite(bootstrap.confidence_interval(method="percentile")).all()
        assert np.isfinite(bootstrap.band().low).all()
        with pytest.warns(RuntimeWarning, match="contain no row of some class"):
            nothing = roc.bootstrap(30, rng=0, groups=codes == 2)
        assert np.isnan(nothing.replicates).any()

    def test_errors(self, roc):
        with pytest.raises(ValueError, match="groups must have one entry per row, 150 rows"):
            roc.bootstrap(3, groups=[1, 2])
        with pytest.raises(ValueError, match="sampling must be one of 'stratified', 'iid'"):
            roc.bootstrap(3, sampling="rows")


class TestIntervals:
    def test_methods(self, roc):
        bootstrap = roc.bootstrap(300, rng=2)
        low, high = bootstrap.confidence_interval(0.9, "percentile")
        np.testing.assert_allclose([low, high], np.quantile(bootstrap.replicates, [0.05, 0.95]))
        mirrored = bootstrap.confidence_interval(0.9, "basic")
        assert mirrored.low == pytest.approx(2 * roc.auc - high)
        default = bootstrap.confidence_interval()
        assert 0.0 < default.low < roc.auc < default.high < 1.0
        wider = bootstrap.confidence_interval(level=0.99)
        assert wider.low < default.low < default.high < wider.high

    def test_logit_by_hand(self, roc):
        bootstrap = roc.bootstrap(300, rng=2)
        d = roc.auc
        replicates = np.clip(bootstrap.replicates, (1 - d) / 5, 1 - (1 - d) / 5)
        spread = max(np.std(logit(replicates), ddof=1), bootstrap.standard_error / (d * (1 - d)))
        quantile = student.ppf(0.975, bootstrap.smallest_class - 1)
        ends = logit(d) + np.array([-1, 1]) * quantile * spread
        np.testing.assert_allclose(bootstrap.confidence_interval(), expit(ends))

    def test_an_interval_alone_and_in_a_comparison(self, rng):
        codes, scores = shifted_normals(rng, 90, 3)
        alone = multiauc.multiclass_roc(codes, scores).bootstrap(50, rng=1).confidence_interval()
        models = {"a": scores, "b": rng.random((90, 3))}
        paired = multiauc.compare(codes, models, metric="multiclass_roc").bootstrap(50, rng=1)
        assert paired.confidence_interval("a") == alone

    def test_perfect_and_constant_scores(self):
        codes = np.repeat([0, 1], 10)
        perfect = multiauc.multiclass_roc(codes, codes.astype(float)).bootstrap(10, rng=0)
        assert perfect.confidence_interval() == (0.025 ** (1 / 10), 1.0)
        constant = multiauc.multiclass_roc(codes, np.zeros(20)).bootstrap(10, rng=0)
        with pytest.warns(RuntimeWarning, match="replicates are"):
            assert np.isnan(constant.confidence_interval()).all()

    @pytest.mark.parametrize("size", [5, 20])
    @pytest.mark.parametrize("method", ["logit", "percentile", "basic"])
    def test_a_perfect_classifier_has_what_its_smallest_class_can_hide(self, rng, size, method):
        codes = np.r_[np.repeat(np.arange(3), 2 * size), [3] * size]
        for scores in (np.eye(4)[codes], softmax(rng.normal(size=(7 * size, 4)) + 15 * np.eye(4)[codes])):
            roc = multiauc.multiclass_roc(codes, scores)
            low, high = roc.bootstrap(50, rng=0).confidence_interval(method=method)
            assert low == pytest.approx(0.025 ** (1 / size), abs=1e-12)
            assert high == 1.0
            flipped = multiauc.multiclass_roc(codes, -scores).bootstrap(50, rng=0)
            low, high = flipped.confidence_interval(method=method)
            assert low == 0.0
            assert high == pytest.approx(1.0 - 0.025 ** (1 / size), abs=1e-12)

    @pytest.mark.parametrize("method", ["logit", "percentile", "basic"])
    def test_replicates_that_are_all_alike_have_no_interval(self, method):
        """Two rows of a class are the same, so resamples are too; errors there are, so that D is not 1."""
        codes = np.repeat([0, 1, 2], 2)
        scores = np.repeat([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], 2, axis=0)
        bootstrap = multiauc.multiclass_roc(codes, scores).bootstrap(20, rng=0)
        assert bootstrap.estimate < 0.99
        with pytest.warns(RuntimeWarning, match="replicates are"):
            assert np.isnan(bootstrap.confidence_interval(method=method)).all()

    def test_band(self, roc):
        bootstrap = roc.bootstrap(200, rng=2)
        band = bootstrap.band(0.8)
        assert band.fpr[0] == 0.0
        assert band.fpr[-1] == 1.0
        assert np.all(band.low <= band.high)
        assert np.all(np.diff(band.low) >= -1e-12)
        inside = np.interp(band.fpr, roc.fpr, roc.tpr)
        assert np.mean((inside >= band.low - 1e-9) & (inside <= band.high + 1e-9)) > 0.9

    def test_errors(self, roc):
        with pytest.raises(ValueError, match="n_resamples must be a positive integer; got 0"):
            roc.bootstrap(0)
        with pytest.raises(ValueError, match=r"level must be a number above 0 and below 1; got 95"):
            roc.bootstrap(3, rng=0).confidence_interval(95)
