"""Several trainings on the same rows: METHODS' formula against a plain implementation, and what it covers."""

import itertools
import math

import numpy as np
import pytest

import multiauc

CLASSES = (30, 20, 25)


def softmax(scores):
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


@pytest.fixture
def data(rng):
    codes = np.repeat(np.arange(3), CLASSES)
    signal = 1.5 * np.eye(3)[codes] + rng.normal(size=(len(codes), 3))
    runs = {
        name: [softmax(signal * strength + 0.7 * rng.normal(size=signal.shape)) for _ in range(4)]
        for name, strength in (("a", 1.0), ("b", 0.7))
    }
    return codes, runs


def components(codes, scores):
    """T(i) of AUC_mu, one pair of rows at a time."""
    classes = range(scores.shape[1])
    total = np.zeros(len(codes))
    weight = 2 / (len(classes) * (len(classes) - 1))
    for c, d in itertools.combinations(classes, 2):
        s = scores[:, c] - scores[:, d]
        of_c, of_d = np.flatnonzero(codes == c), np.flatnonzero(codes == d)
        wins = (s[of_c][:, None] > s[of_d]) + 0.5 * (s[of_c][:, None] == s[of_d])
        total[of_c] += weight * wins.mean(axis=1)
        total[of_d] += weight * wins.mean(axis=0)
    return total


def variance(codes, values):
    return sum(values[codes == k].var(ddof=1) / (codes == k).sum() for k in np.unique(codes))


def split(codes, each, values):
    """(rows, runs) of the variance of a mean over runs, from the components of each run."""
    size = len(each)
    rows = variance(codes, np.mean(each, axis=0))
    spread = np.var(values, ddof=1)
    together = size / (size - 1) * (np.mean([variance(codes, one) for one in each]) - rows)
    return rows, max(0.0, spread - together) / size, spread / size


def test_means(data):
    codes, runs = data
    found = multiauc.evaluate_runs(codes, runs["a"]).metrics["auc_mu"]
    values = [multiauc.auc_mu_score(codes, scores) for scores in runs["a"]]
    rows, of_runs, plain = split(codes, [components(codes, scores) for scores in runs["a"]], values)
    assert found.values.tolist() == values
    assert found.value == pytest.approx(np.mean(values), abs=1e-14)
    assert found.rows_standard_error == pytest.approx(math.sqrt(rows), rel=1e-10)
    assert found.runs_standard_error == pytest.approx(math.sqrt(of_runs), rel=1e-9)
    assert found.standard_error == pytest.approx(math.sqrt(rows + of_runs), rel=1e-10)
    rows_alone = rows**2 / ((rows + of_runs) ** 2 / found.degrees_of_freedom - plain**2 / 3)
    assert 20 < rows_alone < sum(CLASSES)


def test_differences(data):
    codes, runs = data
    found = multiauc.compare_runs(codes, runs).difference("a", "b")
    pairs = list(zip(runs["a"], runs["b"], strict=True))
    values = [multiauc.auc_mu_score(codes, a) - multiauc.auc_mu_score(codes, b) for a, b in pairs]
    rows, of_runs, _ = split(codes, [components(codes, a) - components(codes, b) for a, b in pairs], values)
    assert found.value == pytest.approx(np.mean(values), abs=1e-14)
    assert found.rows_standard_error == pytest.approx(math.sqrt(rows), rel=1e-10)
    assert found.runs_standard_error == pytest.approx(math.sqrt(of_runs), rel=1e-9, abs=1e-12)
    assert found.t == pytest.approx(found.value / math.sqrt(rows + of_runs), rel=1e-9)
    turned = multiauc.compare_runs(codes, runs).difference("b", "a")
    assert (turned.value, turned.p_value) == (-found.value, found.p_value)


def test_different_numbers_of_runs(data):
    codes, runs = data
    found = multiauc.compare_runs(codes, {"a": runs["a"], "b": runs["b"][:2]})
    alone = [found.estimates[name].runs_standard_error ** 2 for name in "ab"]
    assert found.difference("a", "b").runs_standard_error == pytest.approx(math.sqrt(sum(alone)), rel=1e-12)


def test_one_run_is_evaluate(data):
    codes, runs = data
    found = multiauc.evaluate_runs(codes, runs["a"][:1])
    plain = multiauc.evaluate(codes, runs["a"][0])
    for name, one in found.metrics.items():
        other = plain.metrics[name]
        assert (one.value, one.standard_error, one.runs_standard_error) == (other.value, other.standard_error, 0.0)
        assert one.confidence_interval() == other.confidence_interval()
    assert "variance between trainings is unknown" in found.notes[0]


def test_the_same_run_again_and_again(data):
    codes, runs = data
    found = multiauc.evaluate_runs(codes, [runs["a"][0]] * 5).metrics["hand_till"]
    plain = multiauc.evaluate(codes, runs["a"][0]).hand_till
    assert found.runs_standard_error == 0.0
    assert found.standard_error == pytest.approx(plain.standard_error, rel=1e-12)


@pytest.mark.parametrize("sampling", ["stratified", "iid"])
def test_weights_and_groups(data, rng, sampling):
    codes, runs = data
    weights, groups = rng.exponential(size=len(codes)), rng.integers(20, size=len(codes))
    options = {"sample_weight": weights, "groups": groups, "sampling": sampling}
    found = multiauc.evaluate_runs(codes, runs["a"], **options)
    again = multiauc.evaluate_runs(codes, [np.asfortranarray(one) for one in runs["a"]], **options)
    for name, one in found.metrics.items():
        values = [multiauc.evaluate(codes, p, metrics=[name], **options).metrics[name].value for p in runs["a"]]
        assert one.value == pytest.approx(np.mean(values), abs=1e-13)
        assert one.standard_error >= one.rows_standard_error > 0
        assert again.metrics[name].standard_error == one.standard_error


def test_printed_and_flat(data):
    codes, runs = data
    evaluation, comparison = multiauc.evaluate_runs(codes, runs["a"]), multiauc.compare_runs(codes, runs)
    assert "4 runs" in repr(evaluation)
    assert "twice the runs" in repr(evaluation)
    assert "a - b" in repr(comparison)
    for result in (evaluation, comparison):
        assert "<table" in result._repr_html_()
        assert len(result.to_frame()) >= 3


def test_mistakes(data):
    codes, runs = data
    with pytest.raises(ValueError, match=r"runs\[1\].*rows"):
        multiauc.evaluate_runs(codes, [runs["a"][0], runs["a"][1][:-1]])
    with pytest.raises(ValueError, match="at least one run"):
        multiauc.evaluate_runs(codes, [])
    with pytest.raises(TypeError, match="models must be a dict"):
        multiauc.compare_runs(codes, [runs["a"], runs["b"]])
    with pytest.raises(ValueError, match="no model 'c'"):
        multiauc.compare_runs(codes, runs).difference("a", "c")
    with pytest.raises(TypeError, match="metrics="):
        multiauc.evaluate_runs(codes, runs["a"], metric=["auc_mu"])


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 10])
def test_coverage(size):
    """95% intervals of the mean cover the value of infinitely many runs on infinitely many rows."""
    rng = np.random.default_rng(size)
    intervals = []
    for _ in range(300):
        codes = np.repeat(np.arange(3), (40, 30, 30))
        signal = 1.2 * np.eye(3)[codes] + rng.normal(size=(100, 3))
        # A training shifts the strength of the signal for all rows, and each row by itself.
        runs = [softmax((1 + 0.3 * rng.normal()) * signal + 0.5 * rng.normal(size=signal.shape)) for _ in range(size)]
        found = multiauc.evaluate_runs(codes, runs, metrics=["hand_till"]).metrics["hand_till"]
        intervals.append((found.value, *found.confidence_interval()))
    truth = np.mean([value for value, *_ in intervals])
    assert np.mean([low <= truth <= high for _, low, high in intervals]) > 0.91
