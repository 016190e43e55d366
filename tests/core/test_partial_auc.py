"""Partial areas: the definition, scikit-learn, averages, intervals, errors."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc
import oracle
from strategies import arbitrary_samples, coarse_votes, make_sample, samples, smooth, with_weights

REGIONS = [{"max_fpr": 0.1}, {"max_fpr": 0.37}, {"max_fpr": 1.0}, {"min_tpr": 0.9}, {"min_tpr": 0.0}]


def curves_by_definition(sample, kind, region):
    codes, scores = sample.data
    present = np.unique(codes)
    if kind == "one_vs_rest":
        return {c: oracle.partial_auc(scores[codes == c, c], scores[codes != c, c], **region) for c in present}
    pairs = [(c, d) for c in present for d in present if c != d]
    return {(c, d): oracle.partial_auc(scores[codes == c, c], scores[codes == d, c], **region) for c, d in pairs}


class TestDefinition:
    @pytest.mark.parametrize("region", REGIONS, ids=str)
    @pytest.mark.parametrize("kind", ["one_vs_rest", "pairwise"])
    @pytest.mark.parametrize("make", [smooth, coarse_votes])
    def test_every_curve_and_average(self, make, kind, region):
        sample = make_sample(make, [13, 20, 7], 1)
        expected = curves_by_definition(sample, kind, region)
        found = multiauc.partial_auc(*sample.data, kind=kind, **region)
        assert list(found.values) == list(expected)
        np.testing.assert_allclose(list(found.values.values()), [float(v) for v in expected.values()], atol=1e-13)
        sizes = np.bincount(sample.codes)
        weights = [sizes[key if kind == "one_vs_rest" else key[0]] for key in expected]
        values = [float(v) for v in expected.values()]
        assert found.macro == pytest.approx(np.mean(values), abs=1e-13)
        assert found.prevalence == pytest.approx(np.average(values, weights=weights), abs=1e-13)
        for average in ("macro", "prevalence"):
            score = multiauc.partial_auc_score(*sample.data, kind=kind, average=average, **region)
            assert score == getattr(found, average)

    @given(arbitrary_samples() | samples(), st.floats(0.01, 1.0), st.sampled_from(["max_fpr", "min_tpr"]))
    def test_any_scores(self, sample, rate, name):
        region = {name: rate if name == "max_fpr" else 1.0 - rate}
        found = multiauc.partial_auc(*sample.data, labels=sample.labels, **region)
        expected = curves_by_definition(sample, "one_vs_rest", region)
        np.testing.assert_allclose(list(found.values.values()), [float(v) for v in expected.values()], atol=1e-10)

    def test_the_whole_curve_is_the_auc(self):
        sample = make_sample(coarse_votes, [30, 20, 25], 2)
        for region in ({"max_fpr": 1.0}, {"min_tpr": 0.0}):
            macro = multiauc.partial_auc_score(*sample.data, **region)
            assert macro == pytest.approx(multiauc.one_vs_rest_score(*sample.data), abs=1e-14)
            pairwise = multiauc.partial_auc_score(*sample.data, kind="pairwise", **region)
            assert pairwise == pytest.approx(multiauc.hand_till_score(*sample.data), abs=1e-14)

    @pytest.mark.parametrize("region", REGIONS, ids=str)
    def test_chance_and_perfection(self, region):
        codes = np.repeat([0, 1, 2], 4)
        assert multiauc.partial_auc_score(codes, np.zeros((12, 3)), **region) == pytest.approx(0.5)
        assert multiauc.partial_auc_score(codes, np.eye(3)[codes], **region) == pytest.approx(1.0)

    def test_integer_weights_are_repeated_rows(self):
        sample = with_weights(make_sample(coarse_votes, [13, 20, 7], 3), "integer", 3)
        rows = np.repeat(np.arange(len(sample.codes)), sample.weights.astype(int))
        for region in REGIONS:
            for kind in ("one_vs_rest", "pairwise"):
                weighted = multiauc.partial_auc(*sample.data, sample_weight=sample.weights, kind=kind, **region)
                repeated = multiauc.partial_auc(sample.codes[rows], sample.scores[rows], kind=kind, **region)
                np.testing.assert_allclose(
                    [*weighted.values.values(), weighted.macro, weighted.prevalence],
                    [*repeated.values.values(), repeated.macro, repeated.prevalence],
                    atol=1e-12,
                )


class TestScikitLearn:
    @pytest.mark.parametrize("max_fpr", [0.01, 0.2, 0.5, 0.999, 1.0])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_binary(self, max_fpr, weighted, rng):
        metrics = pytest.importorskip("sklearn.metrics")
        y, s = rng.integers(0, 2, 300), rng.integers(0, 40, 300) / 40
        s += 0.1 * y
        w = rng.random(300) if weighted else None
        expected = metrics.roc_auc_score(y, s, max_fpr=max_fpr, sample_weight=w)
        for kind in ("one_vs_rest", "pairwise"):
            found = multiauc.partial_auc_score(y, s, max_fpr=max_fpr, sample_weight=w, kind=kind)
            assert found == pytest.approx(expected, abs=1e-12)

    def test_classes_one_by_one(self):
        metrics = pytest.importorskip("sklearn.metrics")
        sample = make_sample(smooth, [50, 40, 60], 4)
        found = multiauc.partial_auc(*sample.data, max_fpr=0.25)
        for c in range(3):
            expected = metrics.roc_auc_score(sample.codes == c, sample.scores[:, c], max_fpr=0.25)
            assert found.values[c] == pytest.approx(expected, abs=1e-12)


class TestAbsentClasses:
    def test_policies(self):
        codes, scores = np.array([0, 0, 2, 2, 0]), np.random.default_rng(0).random((5, 3))
        how = {"max_fpr": 0.5, "labels": [0, 1, 2]}
        with pytest.raises(ValueError, match="no rows of 1 class: 1"):
            multiauc.partial_auc_score(codes, scores, **how)
        assert list(multiauc.partial_auc(codes, scores, absent="ignore", **how).values) == [0, 2]
        nan = multiauc.partial_auc(codes, scores, absent="nan", kind="pairwise", **how)
        assert np.isnan([nan.macro, nan.prevalence, nan.values[0, 1], nan.values[1, 2]]).all()
        assert not np.isnan(nan.values[0, 2])
        assert np.isnan(nan.bootstrap(5, rng=0).replicates).all()


class TestBootstrap:
    def test_spread_is_that_of_resampled_rows(self, rng):
        sample = make_sample(coarse_votes, [40, 30, 50], 6)
        areas = multiauc.partial_auc(*sample.data, max_fpr=0.3, kind="pairwise")
        by_hand = []
        for _ in range(400):
            rows = np.concatenate(
                [rng.choice(np.flatnonzero(sample.codes == c), n) for c, n in enumerate([40, 30, 50])]
            )
            resampled = multiauc.partial_auc(sample.codes[rows], sample.scores[rows], max_fpr=0.3, kind="pairwise")
            by_hand.append([resampled.macro, resampled.prevalence])
        bootstrap = areas.bootstrap(1000, rng=3)
        np.testing.assert_allclose(bootstrap.standard_error, np.std(by_hand, axis=0, ddof=1), rtol=0.2)
        low, high = bootstrap.confidence_interval("macro")
        assert low < areas.macro < high
        np.testing.assert_array_equal(bootstrap.replicates, areas.bootstrap(1000, rng=3).replicates)

    def test_single_score_and_weights(self, rng):
        y, s, w = rng.integers(0, 2, 80), rng.random(80), rng.random(80)
        areas = multiauc.partial_auc(y, s + 0.4 * y, min_tpr=0.5, sample_weight=w)
        assert list(areas.values) == [1]
        bootstrap = areas.bootstrap(200, rng=0, sampling="iid")
        assert bootstrap.sampling == "iid"
        assert 0.0 < bootstrap.standard_error[0] < 0.2

    def test_no_bca(self):
        areas = multiauc.partial_auc(*make_sample(smooth, [20, 20], 1).data, max_fpr=0.5)
        with pytest.raises(ValueError, match="method must be one of 'logit', 'percentile', 'basic'; got 'bca'"):
            areas.bootstrap(50, rng=0).confidence_interval("macro", method="bca")

    def test_pickled_areas_can_be_read(self):
        areas = multiauc.partial_auc(*make_sample(smooth, [20, 20], 1).data, max_fpr=0.5)
        again = pickle.loads(pickle.dumps(areas))
        assert (again.values, again.macro, again.max_fpr) == (areas.values, areas.macro, 0.5)
        with pytest.raises(ValueError, match="unpickled"):
            again.bootstrap(3)


class TestTexts:
    def test_tables(self):
        sample = make_sample(smooth, [20, 20, 20], 1)
        areas = multiauc.partial_auc(["abc"[c] for c in sample.codes], sample.scores, min_tpr=0.75, kind="pairwise")
        lines = repr(areas).splitlines()
        assert lines[0] == "PartialAuc: tpr from 0.75, 6 ordered pairs"
        assert lines[1].split() == ["area"]
        assert lines[2].startswith("a | b")
        assert lines[-1].startswith("prevalence")
        assert "<td>" in areas._repr_html_()

    @pytest.mark.parametrize(
        ("options", "error", "match"),
        [
            ({}, ValueError, "either max_fpr or min_tpr must be passed; got neither"),
            ({"max_fpr": 0.1, "min_tpr": 0.9}, ValueError, "got both"),
            ({"max_fpr": 0.0}, ValueError, "max_fpr must be a number above 0 and at most 1; got 0.0"),
            ({"max_fpr": 1.5}, ValueError, "max_fpr must be a number above 0 and at most 1; got 1.5"),
            ({"max_fpr": float("nan")}, ValueError, "max_fpr must be a number above 0"),
            ({"min_tpr": 1.0}, ValueError, "min_tpr must be a number of at least 0 and below 1; got 1.0"),
            ({"min_tpr": -0.1}, ValueError, "min_tpr must be a number of at least 0 and below 1"),
            ({"max_fpr": "small"}, TypeError, "max_fpr must be a number above 0 and at most 1; got 'small'"),
            ({"max_fpr": True}, TypeError, "max_fpr must be a number"),
            ({"min_tpr": [0.5, 0.6]}, TypeError, "min_tpr must be a number"),
            ({"max_fpr": 0.1, "kind": "micro"}, ValueError, "kind must be one of 'one_vs_rest', 'pairwise'"),
            ({"max_fpr": 0.1, "average": "weighted"}, ValueError, "average must be one of 'macro', 'prevalence'"),
        ],
        ids=str,
    )
    def test_errors(self, options, error, match):
        with pytest.raises(error, match=match):
            multiauc.partial_auc_score(*make_sample(smooth, [5, 5], 1).data, **options)

    def test_bootstrap_errors(self):
        areas = multiauc.partial_auc(*make_sample(smooth, [5, 5], 1).data, max_fpr=0.5)
        with pytest.raises(ValueError, match="sampling must be one of 'stratified', 'iid'; got 'groups'"):
            areas.bootstrap(3, sampling="groups")
        with pytest.raises(ValueError, match="n_resamples must be a positive integer; got 0"):
            areas.bootstrap(0)
