"""Results that compute later have their own copy of what they need, or notice that it was changed."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import multiauc
from multiauc.boosting import lightgbm_metric
from multiauc.sklearn import AucScorer
from multiauc.training import ArrayMulticlassAuc as MulticlassAuc

CHANGED = "was changed after this result was computed"
COSTS = [[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [1.0, 5.0, 0.0]]

# What results compute when it is asked for: how to get the result, and what to ask it for.
LATER = {
    "evaluate, bootstrap": (multiauc.evaluate, lambda result: result.bootstrap(5, rng=0).replicates),
    "evaluate, influences": (multiauc.evaluate, lambda result: result.influences()),
    "evaluate, unbiased": (multiauc.evaluate, lambda result: result.hand_till.variance("unbiased")),
    "evaluate, limit": (multiauc.evaluate, lambda result: result.per_class[0].variance("bootstrap_limit")),
    "auc_mu_matrix": (multiauc.auc_mu_matrix, lambda result: result.standard_error),
    "hand_till_matrix": (multiauc.hand_till_matrix, lambda result: result.standard_error),
    "partial_auc": (partial(multiauc.partial_auc, max_fpr=0.4), lambda result: result.bootstrap(5, rng=0).replicates),
    "pairwise partial_auc": (
        partial(multiauc.partial_auc, min_tpr=0.4, kind="pairwise"),
        lambda result: result.bootstrap(5, rng=0).replicates,
    ),
}
WEIGHTED = [name for name in LATER if "unbiased" not in name and "limit" not in name]


@pytest.fixture
def sample(rng):
    codes = np.arange(60) % 3
    scores = np.eye(3)[codes] + 2 * rng.random((60, 3))
    return codes, scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_changed_scores_are_noticed(sample, name, dtype):
    codes, scores = sample[0], sample[1].astype(dtype)
    compute, ask = LATER[name]
    result, other = compute(codes, scores), compute(codes, scores)
    ask(other)
    scores[[3, 5]] = scores[[5, 3]]
    with pytest.raises(ValueError, match=CHANGED):
        ask(result)


@pytest.mark.parametrize("name", WEIGHTED)
def test_changed_weights_are_noticed(sample, rng, name):
    weights = rng.random(60)
    compute, ask = LATER[name]
    result = compute(*sample, sample_weight=weights)
    weights[7] *= 2
    with pytest.raises(ValueError, match=CHANGED):
        ask(result)


@pytest.mark.parametrize("metric", ["auc_mu", "pdi", "multiclass_roc"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_changed_model_of_a_comparison_is_noticed(sample, tmp_path, metric, which):
    codes, scores = sample
    models = {"a": scores.copy(), "b": scores**2 / (scores**2).sum(axis=1, keepdims=True)}
    comparison = multiauc.compare(codes, models, metric=metric)
    list(models.values())[which][-1] = 9.0
    with pytest.raises(ValueError, match=CHANGED):
        comparison.report(tmp_path / "a.html")
    if metric != "pdi":
        for ask in (comparison.bootstrap, comparison.ranking_probabilities):
            with pytest.raises(ValueError, match=CHANGED):
                ask(5, rng=0)


def overwrite(value):
    """Whatever it holds becomes something else, of the same kind."""
    if isinstance(value, list):
        value[:] = value[::-1]
    else:
        value[...] = value[::-1].copy()


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64, "U1", object, list])
def test_labels_of_rows_are_copied(sample, name, kind):
    y_true = sample[0].tolist() if kind is list else sample[0].astype(kind)
    labels = [0, 1, 2] if kind is list else sorted(set(y_true.tolist()))
    compute, ask = LATER[name]
    if kind == "U1" and "limit" in name:
        pytest.skip("asks for the class 0")
    expected = ask(compute(y_true, sample[1], labels=labels))
    result = compute(y_true, sample[1], labels=labels)
    overwrite(y_true)
    overwrite(labels)
    np.testing.assert_array_equal(ask(result), expected)


@pytest.mark.parametrize("option", ["partition", "pair_weights", "groups"])
@pytest.mark.parametrize("ask", [LATER["evaluate, bootstrap"][1], LATER["evaluate, influences"][1]])
def test_small_arrays_are_copied(sample, option, ask):
    value = {
        "partition": np.array(COSTS),
        "pair_weights": np.array(COSTS) + np.array(COSTS).T,
        "groups": np.arange(60) // 4,
    }[option]
    result = multiauc.evaluate(*sample, **{option: value})
    expected = ask(multiauc.evaluate(*sample, **{option: value.copy()}))
    shown = repr(result)
    overwrite(value)
    np.testing.assert_array_equal(ask(result), expected)
    assert repr(result) == shown


@pytest.mark.parametrize("option", ["partition", "pair_weights"])
def test_small_arrays_of_pairs_and_comparisons_are_copied(sample, option):
    value = np.array(COSTS) if option == "partition" else np.array(COSTS) + np.array(COSTS).T
    models = {"a": sample[1], "b": sample[1][:, [1, 0, 2]]}
    comparison = multiauc.compare(sample[0], models, **{option: value})
    expected = multiauc.compare(sample[0], models, **{option: value.copy()}).bootstrap(5, rng=0).replicates
    matrix = multiauc.auc_mu_matrix(*sample, partition=value)
    errors = multiauc.auc_mu_matrix(*sample, partition=value.copy()).standard_error
    overwrite(value)
    np.testing.assert_array_equal(comparison.bootstrap(5, rng=0).replicates, expected)
    np.testing.assert_array_equal(matrix.standard_error, errors)


@pytest.mark.parametrize("scope", ["shared", "class", "pair"])
def test_the_multiclass_roc_curve_has_its_own_copy(sample, rng, scope):
    codes, scores, weights = sample[0].copy(), sample[1].copy(), rng.random(60)
    pair_weights = np.array(COSTS) + np.array(COSTS).T
    rate_weights = np.array(COSTS) + 1, np.array(COSTS) + 2
    options = {"sample_weight": weights, "pair_weights": pair_weights, "rate_weights": rate_weights, "scope": scope}
    expected = multiauc.multiclass_roc(codes, scores, **options).bootstrap(5, rng=0)
    roc = multiauc.multiclass_roc(codes, scores, **options)
    shown = roc.fpr.copy(), roc.tpr.copy(), roc.thresholds.copy()
    for array in (codes, scores, weights, pair_weights, *rate_weights):
        overwrite(array)
    np.testing.assert_array_equal(roc.bootstrap(5, rng=0).replicates, expected.replicates)
    for found, before in zip((roc.fpr, roc.tpr, roc.thresholds), shown, strict=True):
        np.testing.assert_array_equal(found, before)


def test_given_thresholds_are_copied(sample):
    thresholds = np.linspace(0.9, 0.1, 20)
    expected = multiauc.multiclass_roc(*sample, thresholds=thresholds).bootstrap(5, rng=0).replicates
    roc = multiauc.multiclass_roc(*sample, thresholds=thresholds)
    shown = roc.thresholds.copy()
    overwrite(thresholds)
    np.testing.assert_array_equal(roc.bootstrap(5, rng=0).replicates, expected)
    np.testing.assert_array_equal(roc.thresholds, shown)


def test_metrics_and_scorers_copy_their_options(sample):
    codes, scores = sample
    costs = np.array(COSTS)
    expected = multiauc.auc_mu_score(codes, scores, partition=costs)
    metric, booster = MulticlassAuc(3, partition=costs), lightgbm_metric(partition=costs)
    scorer = AucScorer("auc_mu", partition=costs)
    metric.update(scores, codes)
    overwrite(costs)
    assert multiauc.auc_mu_score(codes, scores, partition=costs) != expected
    assert metric.compute() == booster(codes, scores)[1] == expected

    class Fitted(ClassifierMixin, BaseEstimator):
        classes_ = np.arange(3)

        def predict_proba(self, features):
            return features

    assert scorer(Fitted(), scores, codes) == expected


class TestFingerprint:
    """It looks at some rows only: the first, the last, and some between; of these at all columns."""

    @pytest.mark.parametrize(("n", "k"), [(4, 2), (512, 5), (513, 3), (100_003, 4), (2000, 16), (3000, 40), (600, 500)])
    def test_every_column_is_seen_and_so_are_the_ends(self, rng, n, k):
        y_true = np.arange(n) % min(n // 2, k)
        scores = rng.random((n, k))
        result = multiauc.evaluate(y_true, scores, labels=np.arange(k), absent="ignore", metrics=["hand_till"])
        for row in (0, n - 1):
            for column in (0, k - 1):
                self.check(result, scores, (row, column))
        for column in range(0, k, max(1, k // 50)):
            self.check(result, scores, (slice(None), column))

    @pytest.mark.parametrize("n", [4, 60, 512])
    def test_every_cell_of_a_small_sample(self, rng, n):
        scores = rng.random((n, 3))
        result = multiauc.evaluate(np.arange(n) % 2, scores, labels=[0, 1, 2], absent="ignore", metrics=["hand_till"])
        for row in range(n):
            for column in range(3):
                self.check(result, scores, (row, column))

    def test_weights(self, rng):
        weights = rng.random(5000)
        scores = rng.random((5000, 2))
        result = multiauc.evaluate(np.arange(5000) % 2, scores, sample_weight=weights, metrics=["hand_till"])
        for row in (0, 4999):
            self.check(result, weights, row)

    def check(self, result, array, place):
        kept = array[place].copy()
        array[place] += 1.0
        with pytest.raises(ValueError, match=CHANGED):
            result.inputs().unchanged_sample()
        array[place] = kept
        result.inputs().unchanged_sample()
