"""Replicates of the compiled core against plain scores of the rows that they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc
from multiauc import _rust
from multiauc._inference.bootstrap import Replicates, ranking_shares
from multiauc._input.options import read_groups
from strategies import (
    arbitrary_samples,
    class_sizes,
    coarse_votes,
    huge,
    make_sample,
    mixed_denominators,
    near_equal_differences,
    near_ties,
    samples,
    smooth,
    tiny_beside_ordinary,
    with_weights,
)

METRICS = ["auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"]
KEEP, FORGET = 1 << 30, 0


def resampler_of(sample, sampling="stratified", groups=None, metrics=METRICS, memory=KEEP, **options):
    rows = _rust.Sample(np.asarray(sample.scores), sample.codes.astype(np.uint8), sample.weights, groups, sampling)
    return _rust.Resampler([rows], metrics, memory, _rust.MetricOptions(**options))


def plain_scores(codes, scores, weights=None, partition=None, pair_weights=None):
    how = {"sample_weight": weights, "labels": list(range(scores.shape[1])), "absent": "ignore"}
    return [
        multiauc.auc_mu_score(codes, scores, partition=partition, pair_weights=pair_weights, **how),
        multiauc.hand_till_score(codes, scores, pair_weights=pair_weights, **how),
        multiauc.one_vs_rest_score(codes, scores, **how),
        multiauc.one_vs_rest_score(codes, scores, average="prevalence", **how),
    ]


def scores_of_repeated_rows(sample, times, **options):
    rows = np.repeat(np.arange(len(times)), times)
    weights = None if sample.weights is None else sample.weights[rows]
    return plain_scores(sample.codes[rows], sample.scores[rows], weights, **options)


DISTRIBUTIONS = [
    smooth,
    coarse_votes,
    mixed_denominators,
    near_ties,
    near_equal_differences,
    tiny_beside_ordinary,
    huge,
]


class TestAgainstResampledRows:
    @pytest.mark.parametrize("make", DISTRIBUTIONS)
    @pytest.mark.parametrize("sizes", [[20, 11], [15, 4, 30], [9] * 12], ids=str)
    def test_every_sampling(self, make, sizes):
        sample = make_sample(make, sizes, 1)
        groups = np.random.default_rng(2).integers(0, len(sample.codes) // 2, len(sample.codes)).astype(np.uint32)
        for sampling, of_rows in (("stratified", None), ("iid", None), ("stratified", groups)):
            resampler = resampler_of(sample, sampling, of_rows)
            times = resampler.multiplicities(7, 3, 20)
            expected = [
                scores_of_repeated_rows(sample, row)
                if set(sample.codes[row > 0]) == set(sample.codes)
                else [np.nan] * 4
                for row in times
            ]
            np.testing.assert_array_equal(resampler.replicates(7, 3, 20), expected)

    @pytest.mark.parametrize("pair_weights", [None, "size_product", "size_sum", "matrix"])
    def test_pair_weights_and_partition(self, pair_weights):
        sample = make_sample(smooth, [12, 20, 8], 3)
        partition = np.array([[0.0, 2, 1], [1, 0, 4], [1, 1, 0]])
        if pair_weights == "matrix":
            pair_weights = np.array([[0.0, 1, 3], [1, 0, 0.5], [3, 0.5, 0]])
        options = {"partition": partition, "pair_weights": pair_weights}
        resampler = resampler_of(sample, "iid", **options)
        expected = [scores_of_repeated_rows(sample, row, **options) for row in resampler.multiplicities(1, 0, 10)]
        np.testing.assert_array_equal(resampler.replicates(1, 0, 10), expected)

    @pytest.mark.parametrize("make", [smooth, coarse_votes, near_ties])
    def test_weighted_rows_keep_their_weights(self, make):
        sample = with_weights(make_sample(make, [25, 14, 30], 4), "integer", 4)
        resampler = resampler_of(sample)
        times = resampler.multiplicities(2, 0, 25)
        assert np.all(times[:, sample.weights == 0] == 0)
        for c in range(3):
            drawable = (sample.codes == c) & (sample.weights > 0)
            np.testing.assert_array_equal(times[:, drawable].sum(axis=1), drawable.sum())
        expected = [scores_of_repeated_rows(sample, row) for row in times]
        np.testing.assert_allclose(resampler.replicates(2, 0, 25), expected, rtol=0, atol=1e-12)

    @given(
        # float64: whether float32 scores lie on one lattice is a property of the whole sample, not of a replicate.
        arbitrary_samples() | samples(dtypes=[np.float64], sizes=class_sizes(6, 60), weights=(None, "integer")),
        st.integers(0, 2**64 - 1),
    )
    def test_any_sample(self, sample, seed):
        resampler = resampler_of(sample)
        (times,) = resampler.multiplicities(seed, 0, 1)
        tolerance = 0 if sample.weights is None else 1e-12
        expected = scores_of_repeated_rows(sample, times)
        np.testing.assert_allclose(resampler.replicates(seed, 0, 1)[0], expected, rtol=0, atol=tolerance)


class TestSchedules:
    """Threads, memory and the cutting into calls change nothing."""

    @pytest.mark.usefixtures("restore_threads")
    @pytest.mark.parametrize("weighted", [False, True])
    def test_threads_and_memory(self, weighted):
        sample = make_sample(mixed_denominators, [200, 300, 150, 50], 8)
        if weighted:
            sample = with_weights(sample, "real", 8)
        found = []
        for threads in (1, 2, 3):
            multiauc.set_num_threads(threads)
            for memory in (KEEP, FORGET):
                resampler = resampler_of(sample, memory=memory)
                found.append(resampler.replicates(3, 0, 70))
        for other in found[1:]:
            np.testing.assert_array_equal(found[0], other)

    def test_replicates_are_numbered(self):
        resampler = resampler_of(make_sample(smooth, [30, 20, 25], 9))
        whole = resampler.replicates(4, 10, 50)
        parts = [resampler.replicates(4, first, count) for first, count in ((10, 1), (11, 16), (27, 33))]
        np.testing.assert_array_equal(whole, np.concatenate(parts))

    def test_models_share_their_rows(self):
        first, second = (make_sample(smooth, [40, 30, 20], seed) for seed in (1, 2))
        codes = first.codes.astype(np.uint8)
        scores_of_models = (first.scores, second.scores.astype(np.float32))
        models = [_rust.Sample(scores, codes, sampling="iid") for scores in scores_of_models]
        both = _rust.Resampler(models, METRICS[:2], KEEP).replicates(5, 0, 30)
        second = type(second)(first.codes, second.scores.astype(np.float32))
        alone = [resampler_of(sample, "iid", metrics=METRICS[:2]).replicates(5, 0, 30) for sample in (first, second)]
        np.testing.assert_array_equal(both, np.hstack(alone))

    def test_the_rows_are_those_of_the_multi_class_curve(self, rng):
        """The curve of a score of two values has the area of the AUC, so its replicates show which rows were drawn."""
        codes = rng.integers(0, 2, 80)
        scores = ((codes + rng.random(80)) > 0.8).astype(float)
        curve = multiauc.multiclass_roc(codes, scores, thresholds=[0.5]).bootstrap(40, rng=11)
        seed = int(np.random.default_rng(11).integers(2**64, dtype=np.uint64))
        sample = _rust.Sample(scores[:, np.newaxis], codes.astype(np.uint8))
        resampler = _rust.Resampler([sample], ["auc_mu"], KEEP)
        np.testing.assert_allclose(resampler.replicates(seed, 0, 40)[:, 0], curve.replicates, rtol=1e-14)


class TestDraws:
    def test_stratified_and_iid_and_groups(self, rng):
        sample = make_sample(smooth, [30, 20, 10], 2)
        times = resampler_of(sample).multiplicities(1, 0, 200)
        for c, size in enumerate([30, 20, 10]):
            np.testing.assert_array_equal(times[:, sample.codes == c].sum(axis=1), size)
        times = resampler_of(sample, "iid").multiplicities(1, 0, 200)
        np.testing.assert_array_equal(times.sum(axis=1), 60)
        assert len(set(times[:, sample.codes == 0].sum(axis=1))) > 5
        groups = rng.integers(0, 12, 60).astype(np.uint32) * 7
        times = resampler_of(sample, groups=groups).multiplicities(1, 0, 200)
        drawn = np.stack([times[:, groups == g].max(axis=1) for g in np.unique(groups)], axis=1)
        np.testing.assert_array_equal(drawn.sum(axis=1), len(np.unique(groups)))
        for g in np.unique(groups):
            assert np.all(np.ptp(times[:, groups == g], axis=1) == 0)

    def test_a_class_that_was_not_drawn(self):
        sample = make_sample(smooth, [40, 2, 40], 2)
        resampler = resampler_of(sample, "iid")
        lost = resampler.multiplicities(0, 0, 300)[:, sample.codes == 1].sum(axis=1) == 0
        assert 20 < lost.sum() < 80  # exp(-2) of them
        np.testing.assert_array_equal(np.isnan(resampler.replicates(0, 0, 300)).any(axis=1), lost)


class TestSpread:
    """The variance over many replicates is the one of the ideal bootstrap."""

    def test_worked_example(self, paper):
        codes, scores = paper
        sample = _rust.Sample(scores, codes.astype(np.uint8))
        resampler = _rust.Resampler([sample], ["auc_mu"], KEEP)
        assert np.var(resampler.replicates(1, 0, 60_000)) == pytest.approx(0.004367404514, rel=0.03)

    def test_brute_force_with_the_prevalence_in_play(self, rng):
        """iid draws move the class shares, on which the prevalence average depends."""
        sample = make_sample(coarse_votes, [30, 10, 20], 7)
        by_hand = []
        for _ in range(1500):
            rows = rng.integers(0, 60, 60)
            by_hand.append(plain_scores(sample.codes[rows], sample.scores[rows]))
        found = resampler_of(sample, "iid").replicates(2, 0, 1500)
        np.testing.assert_allclose(np.std(found, axis=0), np.std(by_hand, axis=0), rtol=0.1)
        np.testing.assert_allclose(np.mean(found, axis=0), np.mean(by_hand, axis=0), atol=0.01)


class TestRankings:
    def test_counted_by_hand(self):
        replicates = np.array([[0.9, 0.8], [0.7, 0.8], [0.9, 0.1], [0.6, 0.5]])
        assert ranking_shares(replicates, ["a", "b"]) == {("a", "b"): 0.75, ("b", "a"): 0.25}

    def test_ties_are_shared_among_the_orders_that_agree(self):
        replicates = np.array([[0.9, 0.5, 0.5], [0.9, 0.5, 0.4]])
        assert ranking_shares(replicates, "abc") == {("a", "b", "c"): 0.75, ("a", "c", "b"): 0.25}
        everything = ranking_shares(np.full((2, 3), 0.5), "abc")
        assert len(everything) == 6
        assert list(everything.values()) == pytest.approx([1 / 6] * 6)

    def test_undefined_replicates_do_not_count(self):
        replicates = np.array([[0.9, 0.5], [np.nan, np.nan]])
        assert ranking_shares(replicates, "ab") == {("a", "b"): 1.0}
        assert ranking_shares(replicates[1:], "ab") == {}

    def test_too_many_ties(self):
        with pytest.raises(ValueError, match="9 models tie, too many to share"):
            ranking_shares(np.full((2, 9), 0.5), "abcdefghi")

    def test_one_model(self):
        assert ranking_shares(np.array([[0.5], [0.6]]), ["only"]) == {("only",): 1.0}


def test_bca_of_scipy(rng):
    """The mean of a skewed sample, whose jackknife acceleration is the one of the components."""
    stats = pytest.importorskip("scipy.stats")
    x = rng.exponential(size=60)
    expected = stats.bootstrap((x,), np.mean, n_resamples=4000, method="BCa", rng=np.random.default_rng(1))
    u = (x - x.mean()) / len(x)
    acceleration = np.sum(u**3) / np.sum(u**2) ** 1.5 / 6
    replicates = Replicates(x.mean(), expected.bootstrap_distribution, 1, acceleration)
    found = replicates.interval(0.95, "bca", ("bca",))
    # SciPy's jackknife has n - 1 in place of n.
    np.testing.assert_allclose(found, expected.confidence_interval, rtol=2e-3)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integer_groups_are_numbered_in_order(dtype):
    rng = np.random.default_rng(4)
    limits = np.iinfo(dtype)
    for low, high in [(0, 10), (max(limits.min, -50), 50), (limits.min, limits.max), (limits.max - 3, limits.max)]:
        groups = rng.integers(low, high, 500, dtype=dtype, endpoint=True)
        groups[:2] = [low, high]
        expected = np.unique(groups, return_inverse=True)[1]
        assert np.array_equal(read_groups(groups, 500), expected)
