"""R_K, kappa, accuracy, balanced accuracy and macro F1 against the confusion matrix and scikit-learn."""

import math
import pickle
import warnings
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score, f1_score, matthews_corrcoef

import multiauc
import oracle_hard_labels as oracle
from multiauc.plotting import EvaluationDisplay

METRICS = list(oracle.METRICS)
SCIKIT_LEARN = {
    "matthews": matthews_corrcoef,
    "kappa": lambda y, decided, sample_weight: cohen_kappa_score(y, decided, sample_weight=sample_weight),
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "macro_f1": lambda y, decided, sample_weight: f1_score(y, decided, average="macro", sample_weight=sample_weight),
}


def sample_of(seed, sizes, height=0.5):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    scores = np.round(rng.random((len(codes), len(sizes))) + height * np.eye(len(sizes))[codes], 1)
    return codes, scores


def of_confusion(counts):
    """Rows whose decisions have this confusion matrix."""
    counts = np.asarray(counts)
    codes, decided = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape))
    return codes, np.eye(len(counts))[decided]


def evaluated(codes, scores, **options):
    found = multiauc.evaluate(codes, scores, metrics=METRICS, **options)
    return found, [found.metrics[metric] for metric in METRICS]


@pytest.mark.parametrize(
    ("counts", "matthews", "kappa"),
    [
        ([[50, 3, 2], [4, 40, 6], [1, 9, 35]], (0.749196901, 0.045589), (0.748995984, 0.045639)),
        ([[20, 5], [10, 15]], (0.408248290, 0.127475), (0.4, 0.126996)),
    ],
)
def test_worked_examples(counts, matthews, kappa):
    result = multiauc.evaluate(*of_confusion(counts), sampling="iid")
    for found, (value, error) in ((result.matthews, matthews), (result.kappa, kappa)):
        assert found.value == pytest.approx(value, abs=1e-9)
        assert found.standard_error == pytest.approx(error, abs=1e-6)


@given(st.integers(0, 2**32), st.lists(st.integers(3, 12), min_size=2, max_size=5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_values_are_those_of_scikit_learn(seed, sizes, has_weights):
    codes, scores = sample_of(seed, sizes)
    weights = np.random.default_rng(seed).lognormal(size=len(codes)) if has_weights else None
    found, estimates = evaluated(codes, scores, sample_weight=weights)
    decided = oracle.decisions(scores)
    shares = oracle.confusion(codes, decided, len(sizes), weights)
    for metric, estimate in zip(METRICS, estimates, strict=True):
        expected = SCIKIT_LEARN[metric](codes, decided, sample_weight=weights)
        assert estimate.value == pytest.approx(expected, abs=1e-12)
        assert estimate.value == pytest.approx(oracle.value(metric, shares), abs=1e-12)
    assert multiauc.matthews_score(codes, scores, sample_weight=weights) == found.matthews.value
    assert multiauc.kappa_score(codes, scores, sample_weight=weights) == found.kappa.value


@pytest.mark.parametrize("seed", range(6))
def test_iid_standard_errors_are_those_of_the_delta_method(seed):
    codes, scores = sample_of(seed, [9, 14, 25, 6][: 2 + seed % 3])
    shares = oracle.confusion(codes, oracle.decisions(scores), scores.shape[1])
    _, estimates = evaluated(codes, scores, sampling="iid")
    for metric, estimate in zip(METRICS, estimates, strict=True):
        expected = oracle.iid_variance(metric, shares, len(codes))
        if metric == "balanced_accuracy":  # a mean of classes: class sizes do not matter to it
            expected = oracle.stratified_variance(metric, codes, oracle.decisions(scores), scores.shape[1])
        assert estimate.variance() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_stratified_standard_errors_centre_within_classes(seed):
    codes, scores = sample_of(seed, [9, 14, 25, 6][: 2 + seed % 3])
    rng = np.random.default_rng(seed)
    weights = rng.lognormal(size=len(codes))
    groups = codes * 100 + rng.integers(5, size=len(codes))
    decided = oracle.decisions(scores)
    for options in ({}, {"weights": weights}, {"groups": groups}, {"weights": weights, "groups": groups}):
        given_options = {"sample_weight" if name == "weights" else name: value for name, value in options.items()}
        _, estimates = evaluated(codes, scores, sampling="stratified", **given_options)
        for metric, estimate in zip(METRICS, estimates, strict=True):
            expected = oracle.stratified_variance(metric, codes, decided, scores.shape[1], **options)
            assert estimate.variance() == pytest.approx(expected, rel=1e-6)


def test_the_jackknife_agrees():
    codes, scores = sample_of(3, [60, 90, 70])
    n, decided = len(codes), oracle.decisions(scores)
    _, estimates = evaluated(codes, scores, sampling="iid")
    for metric, estimate in zip(METRICS, estimates, strict=True):
        left = [oracle.value(metric, oracle.confusion(np.delete(codes, i), np.delete(decided, i), 3)) for i in range(n)]
        assert estimate.standard_error == pytest.approx(math.sqrt((n - 1) / n * n * np.var(left)), rel=0.02)


def test_groups_that_span_classes_and_covariances():
    codes, scores = sample_of(4, [40, 50, 60])
    groups = np.random.default_rng(0).integers(30, size=150)
    _, alone = evaluated(codes, scores, sampling="iid")
    found, grouped = evaluated(codes, scores, groups=groups)
    # With each row twice, in a group of two, nothing more is known than with each once.
    pairs = {"groups": np.repeat(np.arange(150), 2), "sampling": "stratified"}
    twice, _ = evaluated(np.repeat(codes, 2), np.repeat(scores, 2, axis=0), **pairs)
    once, _ = evaluated(codes, scores, sampling="stratified")
    for metric in METRICS:
        assert twice.metrics[metric].standard_error == pytest.approx(once.metrics[metric].standard_error, rel=1e-9)
    assert all(0.3 < a.standard_error / g.standard_error < 3 for a, g in zip(alone, grouped, strict=True))
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), [one.standard_error for one in grouped])


def test_decisions_by_costs():
    codes, scores = sample_of(5, [30, 30, 40])
    shares = scores / scores.sum(axis=1, keepdims=True)
    plain, costs = 3 * (1 - np.eye(3)), np.array([[0, 1, 5], [2, 0, 3], [1, 4, 0]])
    assert multiauc.matthews_score(codes, scores, partition=plain) == multiauc.matthews_score(codes, scores)
    decided = oracle.decisions(shares, costs)
    expected = oracle.value("matthews", oracle.confusion(codes, decided, 3))
    assert multiauc.matthews_score(codes, shares, partition=costs) == pytest.approx(expected, abs=1e-12)
    assert multiauc.evaluate(codes, shares, partition=costs).kappa.value == pytest.approx(
        cohen_kappa_score(codes, decided), abs=1e-12
    )
    with pytest.raises(ValueError, match="every row of y_score must sum to 1"):
        multiauc.kappa_score(codes, scores, partition=costs)


def test_ties_go_to_the_first_column_whatever_the_order_of_rows():
    codes = np.array([0, 1, 2, 0, 1, 2, 2])
    scores = np.array([[5, 5, 1], [5, 5, 1], [1, 4, 4], [3, 3, 3], [0, 2, 2], [1, 1, 2], [7, 7, 7]], float)
    expected = matthews_corrcoef(codes, scores.argmax(axis=1))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(7)
        assert multiauc.matthews_score(codes[order], scores[order]) == pytest.approx(expected, abs=1e-15)


def test_the_order_of_rows_columns_and_threads_changes_no_bit():
    rng = np.random.default_rng(6)
    codes = np.concatenate([np.arange(7), rng.integers(7, size=20_000)])
    scores = rng.random((len(codes), 7)) + 0.4 * np.eye(7)[codes]
    first = [one.value for one in evaluated(codes, scores)[1]]
    rows, columns = rng.permutation(len(codes)), rng.permutation(7)
    assert [one.value for one in evaluated(codes[rows], scores[rows][:, columns], labels=columns)[1]] == first
    multiauc.set_num_threads(3)
    try:
        _, estimates = evaluated(codes, np.asfortranarray(scores).astype(np.float32))
        errors = [one.standard_error for one in estimates]
        multiauc.set_num_threads(1)
        assert [one.standard_error for one in evaluated(codes, scores.astype(np.float32))[1]] == errors
    finally:
        multiauc.set_num_threads(0)


def test_one_score_of_two_classes_is_a_probability():
    rng = np.random.default_rng(7)
    codes = rng.integers(2, size=100)
    p = np.round(np.clip(0.3 * codes + 0.7 * rng.random(100), 0, 1), 1)
    expected = matthews_corrcoef(codes, p > 0.5)
    assert multiauc.matthews_score(codes, p) == pytest.approx(expected, abs=1e-14)
    assert multiauc.matthews_score(codes, np.column_stack([1 - p, p])) == pytest.approx(expected, abs=1e-14)
    with pytest.raises(ValueError, match="needs probabilities of the second class, between 0 and 1"):
        multiauc.kappa_score(codes, p - 0.2)


def test_intervals_stay_between_their_limits():
    result = multiauc.evaluate(*of_confusion([[3, 9], [8, 4]]), metrics=["matthews", "kappa"], sampling="iid")
    for estimate in result.metrics.values():
        low, high = estimate.confidence_interval()
        assert -1 < low < estimate.value < high < 1
        u, error = (1 + estimate.value) / 2, estimate.standard_error / 2
        middle, reach = math.log(u / (1 - u)), 1.0 * error / (u * (1 - u))
        expected = [2 / (1 + math.exp(-(middle + sign * reach))) - 1 for sign in (-1, 1)]
        t = estimate.test(expected[0], "two-sided").t
        assert t == pytest.approx(1.0, abs=1e-9)
        wide = estimate.confidence_interval(method="cautious")
        assert wide.low <= low < high <= wide.high
    with pytest.raises(ValueError, match="above -1 and below 1"):
        result.matthews.test(-1.5)


def test_perfect_useless_and_reversed_decisions():
    perfect = multiauc.evaluate(*of_confusion([[20, 0], [0, 30]]), metrics=METRICS)
    for metric, estimate in perfect.metrics.items():
        assert (estimate.value, estimate.standard_error) == (1.0, 0.0)
        low, high = estimate.confidence_interval()
        hidden = 0.025 ** (1 / 20)
        # Half of the balanced accuracy is the recall of the smaller class: Wilson's limit with 2 x 20 rows.
        wilson = 1 / (1 + NormalDist().inv_cdf(0.975) ** 2 / 40)
        expected = {"matthews": 2 * hidden - 1, "kappa": 2 * hidden - 1, "balanced_accuracy": wilson}
        assert (low, high) == (pytest.approx(expected.get(metric, hidden)), 1.0)
    with pytest.warns(multiauc.ColumnOrderWarning):
        backwards = multiauc.evaluate(*of_confusion([[0, 25], [25, 0]]), metrics=METRICS)
    assert [one.value for one in backwards.metrics.values()] == [-1.0, -1.0, 0.0, 0.0, 0.0]
    useless = multiauc.evaluate(*of_confusion([[20, 0, 0], [30, 0, 0], [10, 0, 0]]), metrics=METRICS)
    assert (useless.matthews.value, useless.kappa.value) == (0.0, 0.0)
    assert math.isnan(useless.matthews.standard_error)  # no derivative where all rows are decided alike
    assert useless.kappa.standard_error == 0.0
    with pytest.warns(RuntimeWarning, match="no interval is available"):
        assert math.isnan(useless.matthews.confidence_interval().low)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("predicted", [0, 1])
def test_weights_do_not_hide_that_all_rows_get_the_same_prediction(n_classes, predicted):
    rng = np.random.default_rng(n_classes)
    for trial in range(30):
        codes = rng.permutation(np.arange(40) % n_classes)
        weights = rng.lognormal(sigma=3.0, size=40) if trial % 2 else rng.integers(1, 9, size=40) / 10
        scores = np.tile(np.eye(n_classes)[predicted], (40, 1))
        assert multiauc.matthews_score(codes, scores, sample_weight=weights) == 0.0
        assert multiauc.kappa_score(codes, scores, sample_weight=weights) == 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weighted, plain = (
                multiauc.evaluate(codes, scores, metrics=["matthews", "kappa"], sample_weight=w)
                for w in (weights, None)
            )
        assert (weighted.matthews.value, weighted.kappa.value) == (0.0, 0.0)
        # The value is 0 by definition, and has no derivative.
        assert np.isnan(plain.matthews.standard_error)
        assert np.isnan(weighted.matthews.standard_error)
        perfect = np.eye(n_classes)[codes]
        assert multiauc.matthews_score(codes, perfect, sample_weight=weights) == 1.0
        assert multiauc.kappa_score(codes, perfect, sample_weight=weights) == 1.0


def test_absent_classes():
    codes, scores = of_confusion([[8, 1, 1], [2, 7, 1], [0, 0, 0]])
    with pytest.raises(ValueError, match="absent='ignore'"):
        multiauc.matthews_score(codes, scores, labels=range(3))
    decided = scores.argmax(axis=1)
    found = multiauc.evaluate(codes, scores, metrics=METRICS, labels=range(3), absent="ignore")
    assert found.matthews.value == pytest.approx(matthews_corrcoef(codes, decided), abs=1e-14)
    assert found.metrics["macro_f1"].value == pytest.approx(
        f1_score(codes, decided, average="macro", labels=[0, 1]), abs=1e-14
    )
    assert math.isnan(multiauc.evaluate(codes, scores, labels=range(3), absent="nan").matthews.value)


def test_comparison_report_and_folds(tmp_path):
    codes, scores = sample_of(8, [60, 70, 80])
    other = scores + np.random.default_rng(1).normal(scale=0.4, size=scores.shape)
    comparison = multiauc.compare(codes, {"a": scores, "b": other}, metric="matthews", sampling="iid")
    difference = comparison.difference("a", "b")
    influence = [
        multiauc.evaluate(codes, one, metrics=["matthews"], sampling="iid").influences()[:, 0]
        for one in (scores, other)
    ]
    assert difference.variance == pytest.approx(np.sum((influence[0] - influence[1]) ** 2), rel=0.02)
    assert "Matthews (R_K)" in repr(comparison)
    with pytest.raises(ValueError, match=r"no bootstrap.*'matthews'"):
        comparison.bootstrap(10)
    page = comparison.report(tmp_path / "page.html", n_resamples=0).read_text("utf-8")
    assert "Differences in Matthews (R_K)" in page
    folds = np.arange(len(codes)) % 3
    in_folds = multiauc.evaluate(codes, scores, folds=folds)
    alone = [multiauc.matthews_score(codes[folds == f], scores[folds == f]) for f in range(3)]
    assert in_folds.matthews.value == pytest.approx(np.average(alone, weights=np.bincount(folds)), abs=1e-12)
    assert in_folds.matthews.standard_error > 0
    pytest.importorskip("matplotlib")
    assert EvaluationDisplay(multiauc.evaluate(codes, scores, metrics=METRICS)).plot().ax_ is not None


def test_differences_of_negative_metrics_may_exceed_one():
    codes = np.repeat([0, 1], 12)
    good, bad = np.eye(2)[codes], np.eye(2)[1 - codes]
    good[0], bad[0] = good[0, ::-1].copy(), bad[0, ::-1].copy()
    difference = multiauc.compare(codes, {"good": good, "bad": bad}, metric="matthews").difference("good", "bad")
    assert difference.value > 1.5
    low, high = difference.confidence_interval()
    assert low < difference.value < high <= 2.0


@pytest.mark.parametrize("metric", ["matthews", "kappa", "accuracy", "macro_f1"])
def test_class_sizes_are_random_unless_they_are_said_to_be_fixed(metric):
    codes, scores = sample_of(7, [30, 20, 40])
    drawn, fixed = (evaluated(codes, scores, sampling=kind)[0].metrics[metric] for kind in ("iid", "stratified"))
    alone = multiauc.evaluate(codes, scores, metrics=[metric]).metrics[metric]
    assert alone.standard_error == drawn.standard_error != fixed.standard_error
    assert multiauc.compare(codes, {"a": scores, "b": np.round(scores)}, metric=metric).estimates[
        "a"
    ].standard_error == (pytest.approx(drawn.standard_error, rel=1e-12))
    if metric in ("matthews", "kappa"):
        beside = multiauc.evaluate(codes, scores)
        assert getattr(beside, metric).standard_error == drawn.standard_error
        assert "class sizes fixed" in beside.method
        asked = multiauc.evaluate(codes, scores, sampling="stratified")
        assert getattr(asked, metric).standard_error == fixed.standard_error


def test_results_keep_their_metrics_when_pickled():
    codes, scores = sample_of(9, [20, 20])
    result = multiauc.evaluate(codes, scores, metrics=["matthews"])
    assert repr(pickle.loads(pickle.dumps(result)).matthews) == repr(result.matthews)
    lazily = pickle.loads(pickle.dumps(multiauc.evaluate(codes, scores)))
    with pytest.raises(ValueError, match="without its data"):
        _ = lazily.matthews
    plan = multiauc.sample_size(result, half_width=0.05)
    assert plan.best_per_class is None
    assert plan.total > 40


def test_intervals_cover():
    """Of R_K in 400 samples of 150 rows."""
    rng = np.random.default_rng(10)
    shares = np.array([[0.35, 0.05, 0.04], [0.06, 0.25, 0.03], [0.02, 0.05, 0.15]])
    truth = oracle.value("matthews", shares)
    covered = 0
    for _ in range(400):
        cells = rng.choice(9, size=150, p=shares.ravel())
        low, high = multiauc.evaluate(cells // 3, np.eye(3)[cells % 3], sampling="iid").matthews.confidence_interval()
        covered += low <= truth <= high
    assert 0.92 <= covered / 400 <= 0.98
