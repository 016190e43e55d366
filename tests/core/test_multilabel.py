"""Several labels per row: every label is a binary problem, rows are the units of the mean."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import average_precision_score, roc_auc_score

import multiauc

METRICS = ("one_vs_rest", "average_precision")


@pytest.fixture
def data(rng):
    y_true = (rng.random((150, 4)) < [0.5, 0.3, 0.2, 0.1]).astype(int)
    return y_true, np.round(rng.normal(size=(150, 4)) + y_true, 1)


def evaluate(y_true, y_score, **options):
    return multiauc.evaluate(y_true, y_score, task="multilabel", **options)


def placements(y, s, weights):
    """Value and influence value of every row of a binary AUC, by the definition."""
    u = np.zeros(len(y))
    wins = (s[:, None] > s).astype(float) + 0.5 * (s[:, None] == s)
    own, other = weights * (y == 1), weights * (y == 0)
    value = own @ wins @ other / own.sum() / other.sum()
    u[y == 1] = (own / own.sum() * (wins @ other / other.sum() - value))[y == 1]
    u[y == 0] = (other / other.sum() * (own @ wins / own.sum() - value))[y == 0]
    return value, u


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_scikit_learn(data, rng, weighted):
    y_true, y_score = data
    weight = rng.random(len(y_true)) if weighted else None
    found = evaluate(y_true, y_score, sample_weight=weight)
    for metric, score in zip(METRICS, (roc_auc_score, average_precision_score), strict=True):
        expected = score(y_true, y_score, average=None, sample_weight=weight)
        assert found.metrics[metric].value == pytest.approx(expected.mean(), abs=1e-12)
        each = found.per_label if metric == "one_vs_rest" else found.average_precision_per_label
        assert [each[label].value for label in range(4)] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("with_groups", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_are_binary_problems(data, rng, weighted, with_groups):
    y_true, y_score = data
    options = {
        "sample_weight": rng.random(len(y_true)) if weighted else None,
        "groups": rng.integers(60, size=len(y_true)) if with_groups else None,
    }
    found = evaluate(y_true, y_score, **options)
    for label in range(4):
        alone = multiauc.evaluate(y_true[:, label], y_score[:, label], metrics=METRICS, sampling="iid", **options)
        for metric, each in zip(METRICS, (found.per_label, found.average_precision_per_label), strict=True):
            expected = alone.metrics[metric]
            assert each[label].value == pytest.approx(expected.value, abs=1e-13)
            assert each[label].standard_error == pytest.approx(expected.standard_error, rel=1e-12)
            assert each[label].confidence_interval() == pytest.approx(expected.confidence_interval(), rel=1e-12)


@pytest.mark.parametrize("with_groups", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_variance_of_the_mean_is_that_of_the_formula(data, rng, weighted, with_groups):
    y_true, y_score = data
    other = np.round(y_score + rng.normal(size=y_score.shape), 1)
    weights = rng.random(len(y_true)) if weighted else np.ones(len(y_true))
    groups = rng.integers(60, size=len(y_true)) if with_groups else np.arange(len(y_true))
    units = np.eye(groups.max() + 1)[groups]
    masses = weights @ units / weights.sum()
    factor = 1 / (1 - (masses**2).sum())
    phi = [
        np.mean([placements(y_true[:, k], s[:, k], weights)[1] for k in range(4)], axis=0) @ units
        for s in (y_score, other)
    ]
    options = {"sample_weight": weights if weighted else None, "groups": groups if with_groups else None}
    found = multiauc.compare(y_true, {"a": y_score, "b": other}, task="multilabel", **options)
    assert found.covariance == pytest.approx(factor * np.array(phi) @ np.transpose(phi), rel=1e-10)
    difference = found.difference("a", "b")
    assert difference.variance == pytest.approx(factor * ((phi[0] - phi[1]) ** 2).sum(), rel=1e-10)
    assert 0 < difference.p_value < 1
    alone = evaluate(y_true, y_score, **options)
    assert alone.metrics["one_vs_rest"].standard_error == pytest.approx(found.estimates["a"].standard_error, rel=1e-12)
    assert found.per_label[2]["a"].value == alone.per_label[2].value


@pytest.mark.parametrize(
    ("metric", "score"), [("one_vs_rest", roc_auc_score), ("average_precision", average_precision_score)]
)
def test_standard_errors_are_near_the_jackknife(rng, metric, score):
    y_true = (rng.random((300, 3)) < [0.5, 0.3, 0.2]).astype(int)
    y_score = rng.normal(size=(300, 3)) + 1.2 * y_true + 0.7 * rng.normal(size=(300, 1))
    without = np.array([score(np.delete(y_true, i, 0), np.delete(y_score, i, 0)) for i in range(300)])
    expected = np.sqrt(299 / 300 * ((without - without.mean()) ** 2).sum())
    assert evaluate(y_true, y_score).metrics[metric].standard_error == pytest.approx(expected, rel=0.03)


def test_rows_of_weight_zero_do_not_exist(data):
    y_true, y_score = data
    weight = np.ones(len(y_true))
    weight[::3] = 0
    found, expected = evaluate(y_true, y_score, sample_weight=weight), evaluate(y_true[weight > 0], y_score[weight > 0])
    for metric in METRICS:
        a, b = found.metrics[metric], expected.metrics[metric]
        assert (a.value, a.standard_error) == pytest.approx((b.value, b.standard_error), rel=1e-12)
        assert a.degrees_of_freedom == pytest.approx(b.degrees_of_freedom, rel=1e-9)
    assert found.n_rows == expected.n_rows == 100
    assert found.counts.tolist() == expected.counts.tolist()


def test_correlated_labels_do_not_count_twice(rng):
    y_true = (rng.random((200, 1)) < 0.3).astype(int)
    y_score = rng.normal(size=(200, 1)) + y_true
    one, many = evaluate(y_true, y_score), evaluate(np.tile(y_true, 5), np.tile(y_score, 5))
    for metric in METRICS:
        assert many.metrics[metric].standard_error == pytest.approx(one.metrics[metric].standard_error, rel=1e-12)


def test_perfect_scores_have_an_interval(data):
    y_true, _ = data
    found = evaluate(y_true, y_true.astype(float)).metrics["one_vs_rest"]
    low, high = found.confidence_interval()
    assert found.value == 1.0
    assert 0.5 < low < 1.0 == high


@pytest.mark.parametrize("fill", [0, 1])
def test_labels_without_rows_follow_the_policy(data, fill):
    y_true, y_score = data
    with_all = evaluate(np.delete(y_true, 1, axis=1), np.delete(y_score, 1, axis=1))
    y_true[:, 1] = fill
    with pytest.raises(ValueError, match=r"1 label: 1; pass absent='ignore'"):
        evaluate(y_true, y_score)
    ignored = evaluate(y_true, y_score, absent="ignore")
    assert list(ignored.per_label) == [0, 2, 3]
    assert ignored.metrics["one_vs_rest"].value == with_all.metrics["one_vs_rest"].value
    unknown = evaluate(y_true, y_score, absent="nan")
    assert np.isnan(unknown.metrics["one_vs_rest"].value)
    assert np.isnan(unknown.per_label[1].value)
    assert unknown.per_label[0].value == ignored.per_label[0].value
    compared = multiauc.compare(y_true, {"a": y_score, "b": -y_score}, task="multilabel", absent="nan")
    assert np.isnan(compared.difference("a", "b").value)


def test_a_single_positive_row_has_no_standard_error(data):
    y_true, y_score = data
    y_true[:, 2] = 0
    y_true[5, 2] = 1
    with pytest.warns(RuntimeWarning, match="a single row has, or lacks, 2,"):
        found = evaluate(y_true, y_score)
    assert np.isnan(found.metrics["one_vs_rest"].standard_error)
    assert found.per_label[0].standard_error > 0


def test_names_come_from_columns(data):
    y_true, y_score = data
    names = ["news", "sport", "art", "law"]
    found = evaluate(pd.DataFrame(y_true, columns=names), y_score)
    assert list(found.per_label) == list(evaluate(y_true, y_score, labels=names).per_label) == names
    frame = pd.DataFrame(y_score, columns=names[::-1])
    with pytest.raises(ValueError, match="in this order"):
        evaluate(pd.DataFrame(y_true, columns=names), frame)
    assert "AUC (mean over labels)" in repr(found)
    assert "150 rows, 4 labels (news" in repr(found)
    assert pickle.loads(pickle.dumps(found)).per_label["art"].value == found.per_label["art"].value
    assert found.to_dict()["task"] == "multilabel"
    assert found.to_flat_dict()["per_label_art"] == found.per_label["art"].value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_true": [0, 1, 0]}, "a column of zeros and ones per label"),
        ({"y_true": [[0, 2], [1, 1], [0, 0]]}, "a column of zeros and ones per label"),
        ({"y_score": np.zeros((4, 3))}, r"the shape of y_true, \(4, 2\); got \(4, 3\)"),
        ({"y_score": [[0.1, 0.2], [0.3, np.nan], [0.2, 0.2], [0, 0]]}, "nan at row 1, column 1"),
        ({"metrics": ["auc_mu"]}, "metrics"),
        ({"k": 2}, "k has no meaning for task='multilabel'"),
        ({"sampling": "stratified"}, "sampling has no meaning for task='multilabel'"),
        ({"labels": ["a"]}, "labels must name the 2 columns"),
    ],
)
def test_wrong_arguments(change, message):
    y_true, y_score = [[0, 1], [1, 1], [0, 0], [1, 0]], [[0.1, 0.2], [0.3, 0.4], [0.2, 0.2], [0, 0]]
    given = {"y_true": y_true, "y_score": y_score} | change
    with pytest.raises(ValueError, match=message):
        evaluate(**given)


def test_what_is_not_offered_says_so(data):
    found = evaluate(*data)
    with pytest.raises(ValueError, match="not offered for task='multilabel'"):
        found.bootstrap()
    with pytest.raises(AttributeError, match="task='multilabel'"):
        multiauc.evaluate([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]).per_label  # noqa: B018
    with pytest.raises(ValueError, match='task="multilabel"'):
        multiauc.evaluate(*data)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.7, 1.5, 3.0])
@pytest.mark.parametrize("shared", [0.0, 2.0])
def test_intervals_of_the_mean_cover(shift, shared):
    rng = np.random.default_rng(int(10 * (shift + shared)))
    rates, scale = np.array([0.5, 0.3, 0.1, 0.06]), np.sqrt(2 * (1 + shared))

    def sample(n):
        y_true = (rng.random((n, 4)) < rates).astype(int)
        noise = rng.normal(size=(n, 4)) + np.sqrt(shared) * rng.normal(size=(n, 1))
        return y_true, noise + shift * y_true

    population = norm.cdf(shift / scale)
    precision = average_precision_score(*sample(1_000_000))
    covered = {metric: [] for metric in METRICS}
    while len(covered["one_vs_rest"]) < 1000:
        y_true, y_score = sample(150)
        if y_true.sum(axis=0).min() < 3:
            continue
        found = evaluate(y_true, y_score)
        for metric, truth in zip(METRICS, (population, precision), strict=True):
            low, high = found.metrics[metric].confidence_interval()
            covered[metric].append(low <= truth <= high)
    assert np.mean(covered["one_vs_rest"]) > 0.93
    assert np.mean(covered["average_precision"]) > 0.92
