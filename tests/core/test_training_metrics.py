"""`multiauc.training` and `multiauc.boosting` by themselves; tests/integrations runs them inside the libraries."""

import copy
import math
import pickle

import numpy as np
import pytest

import multiauc
from multiauc.boosting import catboost_metric, lightgbm_metric, xgboost_metric
from multiauc.training import ArrayMulticlassAuc as MulticlassAuc
from strategies import make_sample, smooth, softmax

FUNCTIONS = {
    "auc_mu": multiauc.auc_mu_score,
    "hand_till": multiauc.hand_till_score,
    "one_vs_rest": multiauc.one_vs_rest_score,
    "one_vs_rest_prevalence": lambda *data, **options: multiauc.one_vs_rest_score(
        *data, average="prevalence", **options
    ),
}


@pytest.fixture
def sample():
    return make_sample(smooth, (30, 20, 10), 5)


def fed(metric, codes, scores, weights=None, size=7):
    for start in range(0, len(codes), size):
        rows = slice(start, start + size)
        metric.update(scores[rows], codes[rows], None if weights is None else weights[rows])
    return metric


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", [1, 7, 60])
def test_batches_together_are_the_whole(sample, name, size):
    assert fed(MulticlassAuc(3, name), *sample.data, size=size).compute() == FUNCTIONS[name](*sample.data)
    weights = np.arange(60) % 5 + 0.5
    weighted = fed(MulticlassAuc(3, name), *sample.data, weights, size).compute()
    assert weighted == FUNCTIONS[name](*sample.data, sample_weight=weights)


def test_more_batches_after_a_value(sample):
    codes, scores = sample.data
    metric = fed(MulticlassAuc(3), codes[::2], scores[::2])
    assert metric.compute() == multiauc.auc_mu_score(codes[::2], scores[::2])
    fed(metric, codes[1::2], scores[1::2])
    assert metric.compute() == metric.compute() == multiauc.auc_mu_score(codes, scores)


def test_batches_without_weights_count_one_each(sample):
    metric = MulticlassAuc(3)
    metric.update(sample.scores[:40], sample.codes[:40])
    metric.update(sample.scores[40:], sample.codes[40:], np.full(20, 3.0))
    expected = multiauc.auc_mu_score(*sample.data, sample_weight=np.repeat([1.0, 3.0], [40, 20]))
    assert metric.compute() == expected


def test_reset_forgets(sample):
    metric = fed(MulticlassAuc(3), *sample.data)
    assert repr(metric) == "MulticlassAuc(3, 'auc_mu', outputs='probabilities'): 60 rows"
    metric.reset()
    with pytest.raises(ValueError, match="before the first update"):
        metric.compute()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logits(sample, dtype):
    logits = (3 * np.log(sample.scores)).astype(dtype)
    found = fed(MulticlassAuc(3, outputs="logits"), sample.codes, logits).compute()
    assert found == pytest.approx(multiauc.auc_mu_score(sample.codes, softmax(logits.astype(float))), abs=1e-4)
    each = fed(MulticlassAuc(3, "hand_till", outputs="one_vs_all_logits"), sample.codes, logits).compute()
    assert each == pytest.approx(multiauc.hand_till_score(sample.codes, logits), abs=1e-4)


def test_huge_logits_do_not_overflow():
    logits = [[800.0, 0.0, -800.0], [-800.0, 700.0, 0.0], [0.0, -3000.0, 900.0]]
    for outputs in ("logits", "one_vs_all_logits"):
        metric = MulticlassAuc(3, outputs=outputs)
        metric.update(logits, [0, 1, 2])
        assert metric.compute() == 1.0


def test_the_value_of_a_batch_is_nan_if_it_lacks_a_class(sample):
    metric = MulticlassAuc(3)
    assert math.isnan(metric(sample.scores[:3], [0, 1, 1]))
    ignoring = MulticlassAuc(3, absent="ignore")
    assert ignoring(sample.scores[:3], [0, 1, 1]) == multiauc.auc_mu_score(
        [0, 1, 1], sample.scores[:3], labels=[0, 1, 2], absent="ignore"
    )
    assert math.isnan(ignoring(sample.scores[:2], [1, 1]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MulticlassAuc(1), "num_classes must be an integer of at least 2; got 1"),
        (lambda: MulticlassAuc(3, "auc"), "metric must be one of 'auc_mu', .*; got 'auc'"),
        (lambda: MulticlassAuc(3, outputs="softmax"), "outputs must be one of .*; got 'softmax'"),
        (lambda: MulticlassAuc(3).update([[0.2, 0.8]], [1]), r"preds must have 3 classes .* got shape \(1, 2\)"),
        (lambda: MulticlassAuc(2).update([[0.2, 0.8]], [0, 1]), r"target .* got int64 of shape \(2,\) for preds"),
        (lambda: MulticlassAuc(2).update([[0.2, 0.8]], [0.5]), "target must hold the class number"),
        (lambda: MulticlassAuc(2).update([[-2.0, 3.5]], [1]), "from -2 to 3.5: .* outputs='logits'"),
        (lambda: MulticlassAuc(2).update([[0.2, 0.8]], [1], [1, 2]), "sample_weight must have one weight per row"),
        (lambda: lightgbm_metric("auc"), "metric must be one of"),
        (lambda: xgboost_metric(outputs="raw"), "outputs must be one of .*; got 'raw'"),
        (lambda: catboost_metric("mu"), "metric must be one of"),
        (lambda: lightgbm_metric()([0, 1, 2], np.array([[-1.0, 2.0, 0.0]] * 3)), "the predictions must be prob"),
        (lambda: xgboost_metric()(np.array([0, 1, 2]), np.array([0.0, 1.0, 2.0])), "multi:softprob"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("preds", "target", "weights", "message"),
    [
        ([[0.2, np.nan], [0.5, 0.5]], [0, 1], None, "preds must be finite numbers; got nan at row 0, column 1"),
        ([[0.2, 0.8], [np.inf, 0.5]], [0, 1], None, "preds must be finite numbers; got inf at row 1, column 0"),
        ([[0.2, 0.8], [0.5, 0.5]], [0, 2], None, "target contains 2 at row 1; classes are the numbers from 0 to 1"),
        ([[0.2, 0.8], [0.5, 0.5]], [-1, 1], None, "target contains -1 at row 0"),
        ([[0.2, 0.8], [0.5, 0.5]], [0.0, 1.0], None, "target must hold the class number"),
        ([[0.2, 0.8], [0.5, 0.5]], [0, 1], [1.0, -2.0], "sample_weight contains -2 at row 1; weights must be finite"),
        ([[0.2, 0.8], [0.5, 0.5]], [0, 1], [np.nan, 1.0], "sample_weight contains nan at row 0"),
        ([[0.2, 0.8], [0.5, 0.5]], [0, 1], [[1.0, 2.0]], r"sample_weight must be one-dimensional .* shape \(1, 2\)"),
        (np.full((1, 2, 3), 0.5), [[0, 1, 1]], [[1.0], [2.0], [3.0]], "sample_weight must be one-dimensional"),
    ],
)
@pytest.mark.parametrize("outputs", ["probabilities", "logits", "one_vs_all_logits"])
def test_a_batch_with_a_fault_leaves_no_trace(preds, target, weights, message, outputs):
    metric = MulticlassAuc(2, outputs=outputs)
    metric.update([[0.9, 0.1], [0.3, 0.7]], [0, 1], [2.0, 1.0])
    for add in (metric.update, metric):
        with pytest.raises(ValueError, match=message):
            add(preds, target, weights)
    assert repr(metric).endswith(": 2 rows")
    assert metric.compute() == 1.0


def test_weights_of_pixels_have_the_shape_of_the_targets(rng):
    preds, target = rng.dirichlet(np.ones(3), size=(4, 5)).transpose(0, 2, 1), rng.integers(3, size=(4, 5))
    weights = rng.random((4, 5))
    metric = MulticlassAuc(3)
    metric.update(preds, target, weights)
    expected = multiauc.auc_mu_score(
        target.ravel(), preds.transpose(0, 2, 1).reshape(-1, 3), sample_weight=weights.ravel()
    )
    assert metric.compute() == expected


@pytest.mark.parametrize("outputs", ["probabilities", "logits", "one_vs_all_logits"])
def test_boosters_metrics_name_a_prediction_that_is_not_finite(outputs):
    scores = np.array([[0.5, np.inf, 0.5], [0.1, 0.2, 0.3], [0.1, 0.2, 0.3]])
    for metric in (lightgbm_metric(outputs=outputs), xgboost_metric(outputs=outputs)):
        with pytest.raises(ValueError, match="the predictions must be finite numbers; got inf at row 0, column 1"):
            metric([0, 1, 2], scores)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_boosters_metrics_are_the_functions(sample, name):
    shown = name if name == "auc_mu" else f"auc_{name}"
    expected = FUNCTIONS[name](*sample.data)
    assert lightgbm_metric(name)(*sample.data) == (shown, expected, True)
    assert xgboost_metric(name)(*sample.data) == expected
    assert xgboost_metric(name).__name__ == shown
    value, one = catboost_metric(name, outputs="probabilities").evaluate(sample.scores.T, sample.codes, None)
    assert (value, one) == (expected, 1.0)
    assert type(catboost_metric(name)).__name__ == shown


@pytest.mark.parametrize("make", [lightgbm_metric, xgboost_metric])
def test_boosters_metrics_survive_copies(sample, make):
    metric = make("hand_till", absent="ignore")
    assert pickle.loads(pickle.dumps(metric))(*sample.data) == metric(*sample.data)
    assert copy.deepcopy(metric) is metric
    assert repr(metric).endswith("('hand_till', outputs='probabilities', absent='ignore')")


def test_evaluate_is_the_evaluation_of_all_rows(sample):
    for name in FUNCTIONS:
        found = fed(MulticlassAuc(3, name), *sample.data).evaluate()
        expected = multiauc.evaluate(*sample.data, metrics=[name])
        assert found.metrics == expected.metrics
    with pytest.raises(ValueError, match="before the first update"):
        MulticlassAuc(3).evaluate()


def test_ignored_rows_do_not_count(sample):
    target = sample.codes.copy()
    target[::4] = 255
    kept = target != 255
    metric = fed(MulticlassAuc(3, ignore_index=255), target, sample.scores, np.arange(60) + 1.0)
    expected = multiauc.auc_mu_score(target[kept], sample.scores[kept], sample_weight=np.arange(60)[kept] + 1.0)
    assert metric.compute() == expected
    with pytest.raises(ValueError, match=r"target contains 255 at row 0; .*, and ignore_index= names one to leave out"):
        MulticlassAuc(3).update(sample.scores, target)


def test_losses_are_better_when_lower(sample):
    metric = fed(MulticlassAuc(3, "log_loss"), *sample.data)
    assert not metric.higher_is_better
    assert MulticlassAuc(3).higher_is_better
    assert metric.compute() == multiauc.log_loss_score(*sample.data)


class TestOptionsOfTorchmetrics:
    @pytest.mark.parametrize("options", [{}, {"average": "macro"}, {"task": "multiclass", "thresholds": None}])
    def test_the_same_answer(self, sample, options):
        metric = fed(MulticlassAuc(num_classes=3, metric="one_vs_rest", **options), *sample.data)
        assert metric.compute() == multiauc.one_vs_rest_score(*sample.data)

    def test_weighted_is_by_prevalence(self, sample):
        metric = fed(MulticlassAuc(3, "one_vs_rest", average="weighted"), *sample.data)
        assert metric.compute() == multiauc.one_vs_rest_score(*sample.data, average="prevalence")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"average": "macro"}, "average='macro' belongs to the metric 'one_vs_rest'"),
            ({"metric": "one_vs_rest", "average": "none"}, r"read evaluate\(\).per_class"),
            ({"thresholds": 200}, "thresholds=200 is not an option: values are exact.* memory_limit="),
            ({"task": "multilabel"}, "task='multilabel' is not an option"),
            ({"validate_args": False}, "batches are always checked"),
        ],
    )
    def test_a_hint(self, options, message):
        with pytest.raises(ValueError, match=message):
            MulticlassAuc(3, **options)


def test_arguments_the_other_way_round_get_a_hint(sample):
    with pytest.raises(ValueError, match=r"preds come first. In Keras use .*KerasAuc"):
        MulticlassAuc(3).update(sample.codes, sample.scores)


class TestBoundedMemory:
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_batches_together_are_the_whole(self, sample, name):
        metric = fed(MulticlassAuc(3, name, memory_limit=2**20), *sample.data)
        assert metric.compute() == FUNCTIONS[name](*sample.data)
        assert metric.evaluate().exact
        assert "memory_limit=1048576" in repr(metric)

    def test_the_value_of_a_batch(self, sample):
        codes, scores = sample.data
        assert MulticlassAuc(3, memory_limit=2**20)(scores, codes) == multiauc.auc_mu_score(codes, scores)

    def test_other_options_need_all_scores(self):
        with pytest.raises(ValueError, match="memory_limit= goes with absent= only; got 'partition'"):
            MulticlassAuc(3, memory_limit=2**20, partition=np.ones((3, 3)))


@pytest.mark.parametrize("memory", [None, 2**20])
class TestStates:
    def test_resumes_from_a_checkpoint(self, sample, memory):
        codes, scores = sample.data
        before = fed(MulticlassAuc(3, memory_limit=memory), codes[:30], scores[:30])
        state = pickle.loads(pickle.dumps(before.state_dict()))
        before.update(scores[:30], codes[:30])  # lost with the process
        after = fed(MulticlassAuc(3, memory_limit=memory).load_state_dict(state), codes[30:], scores[30:])
        assert after.compute() == multiauc.auc_mu_score(codes, scores)

    def test_merges(self, sample, memory):
        codes, scores = sample.data
        first = fed(MulticlassAuc(3, memory_limit=memory), codes[:30], scores[:30])
        second = fed(MulticlassAuc(3, memory_limit=memory), codes[30:], scores[30:])
        assert first.merge(second).compute() == multiauc.auc_mu_score(codes, scores)

    def test_other_arguments_are_refused(self, memory):
        metric = MulticlassAuc(3, memory_limit=memory)
        with pytest.raises(ValueError, match="only metrics made with the same arguments"):
            metric.merge(MulticlassAuc(4, memory_limit=memory))
        with pytest.raises(ValueError, match="the state was saved by"):
            metric.load_state_dict(MulticlassAuc(3, "hand_till", memory_limit=memory).state_dict())
