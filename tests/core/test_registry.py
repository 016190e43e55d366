"""The registry is the only place that lists the metrics, and a row of it is all that a new metric needs."""

import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

import multiauc
from multiauc import _rust
from multiauc._common import registry as _registry
from multiauc.boosting import catboost_metric, lightgbm_metric, xgboost_metric
from multiauc.sklearn import AucScorer
from multiauc.training import ArrayMulticlassAuc as MulticlassAuc
from strategies import make_sample, smooth

PACKAGE = Path(multiauc.__file__).parent
NAMES = set(_registry.METRICS)


def test_rows_agree_with_the_types():
    assert get_args(_registry.MetricName) == tuple(_registry.METRICS)
    assert get_args(_registry.CurveKind) == _registry.CURVE_KINDS
    assert all(metric.name == name for name, metric in _registry.METRICS.items())
    assert _registry.DEFAULT_METRIC in _registry.DEFAULT_METRICS


def test_the_core_and_the_registry_have_the_same_metrics():
    assert set(_rust.METRICS) == NAMES - {"multiclass_roc"}


@pytest.mark.parametrize("name", _rust.METRICS)
def test_what_the_core_says_about_a_metric_is_so(name):
    rng = np.random.default_rng(0)
    scores, codes = rng.dirichlet(np.ones(3), 50), rng.integers(3, size=50).astype(np.uint8)
    facts = _rust.METRICS[name]
    weights = np.linspace(1.0, 2.0, 50)
    plain, weighted = _rust.Sample(scores, codes), _rust.Sample(scores, codes, weights)

    def value(sample, **options):
        return _rust.score(sample, name, _rust.MetricOptions(**options))

    if facts["has_class_scores"]:
        costs = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [2.0, 5.0, 0.0]])
        assert (value(plain, partition=costs) != value(plain)) == facts["has_partition"]
        pairs = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
        assert (value(plain, pair_weights=pairs) != value(plain)) == facts["has_pair_weights"]
    if facts["has_weights"] and facts["has_class_scores"]:
        assert value(weighted) != value(plain)


# --- a new row --------------------------------------------------------------------------------------------------------

NEW = "made_up"


@pytest.fixture
def new_metric(monkeypatch):
    """A metric of the name "made_up", whose core computes M and calls it so."""
    row = _registry.Metric(
        NEW,
        "Made-up",
        "looks at nothing in particular",
        has_weights=False,
        has_bootstrap=False,
        has_interactions=False,
        chance="one_of_classes",
    )
    monkeypatch.setitem(_registry.METRICS, NEW, row)
    monkeypatch.setattr(_registry, "ANALYTIC_METRICS", (*_registry.ANALYTIC_METRICS, NEW))
    score, evaluate, compare = _rust.score, _rust.evaluate, _rust.compare

    def known(metric):
        return "hand_till" if metric == NEW else metric

    def evaluated(sample, metrics, *rest):
        found = [evaluate(sample, [known(metric)], *rest) for metric in metrics]
        several = evaluate(sample, [metric for metric in metrics if metric != NEW] or ["auc_mu"], *rest)
        return SimpleNamespace(
            estimates={m: one.estimates[known(m)] for m, one in zip(metrics, found, strict=True)},
            covariance=np.zeros((len(metrics), len(metrics))),
            per_class=several.per_class if metrics != [NEW] else [],
            average_precisions=[],
            pairs={m: one.pairs[m] for m, one in zip(metrics, found, strict=True) if m in one.pairs},
            units=several.units,
            effective_units=several.effective_units,
        )

    monkeypatch.setattr(_rust, "score", lambda sample, metric, how: score(sample, known(metric), how))
    monkeypatch.setattr(_rust, "evaluate", evaluated)
    monkeypatch.setattr(_rust, "compare", lambda samples, metric, *rest: compare(samples, known(metric), *rest))
    return NEW


@pytest.fixture
def data():
    return make_sample(smooth, [20, 25, 30], 4).data


def test_a_new_metric_is_evaluated(new_metric, data, tmp_path):
    result = multiauc.evaluate(*data, metrics=[new_metric])
    assert list(result.metrics) == [new_metric]
    assert result.metrics[new_metric].value == multiauc.hand_till_score(*data)
    assert "Made-up" in repr(result)
    assert "against the rest" not in repr(result)
    assert list(result.to_dict()["metrics"]) == [new_metric]
    assert repr(pickle.loads(pickle.dumps(result))) == repr(result)
    with pytest.raises(ValueError, match="not available for Made-up; use 'first_order'"):
        result.metrics[new_metric].variance("unbiased")
    with pytest.raises(ValueError, match="no bootstrap is available for 'made_up'"):
        result.bootstrap(10)
    page = result.report(tmp_path / "page.html", n_resamples=0).read_text("utf-8")
    assert "The model reaches Made-up" in page
    assert "chance is 0.333" in page
    assert "Which classes are confused" not in page
    assert "Class by class" not in page


def test_a_new_metric_beside_others(new_metric, data, tmp_path):
    result = multiauc.evaluate(*data, metrics=["auc_mu", new_metric, "one_vs_rest"])
    assert result.bootstrap(10, rng=0).metrics == ("auc_mu", "one_vs_rest")
    page = result.report(tmp_path / "page.html", n_resamples=0).read_text("utf-8")
    assert "chance is 0.5 for AUC_mu, one-vs-rest (macro) and multi-class ROC (D) and 0.333 for Made-up" in page


def test_models_are_compared_by_a_new_metric(new_metric, data, tmp_path):
    y_true, scores = data
    other = scores**2 / (scores**2).sum(axis=1, keepdims=True)
    comparison = multiauc.compare(y_true, {"a": scores, "b": other}, metric=new_metric)
    assert comparison.estimates["a"].value == multiauc.hand_till_score(*data)
    assert repr(comparison).startswith("Comparison by Made-up")
    page = comparison.report(tmp_path / "page.html", n_resamples=0).read_text("utf-8")
    assert "Differences in Made-up" in page
    with pytest.raises(ValueError, match="no bootstrap is available for 'made_up'"):
        comparison.bootstrap(10)


def test_a_new_metric_is_offered_in_training(new_metric, data):
    y_true, scores = data
    value = multiauc.hand_till_score(*data)
    assert lightgbm_metric(new_metric)(y_true, scores) == ("auc_made_up", value, True)
    assert xgboost_metric(new_metric)(y_true, scores) == value
    assert type(catboost_metric(new_metric)).__name__ == "auc_made_up"
    metric = MulticlassAuc(3, new_metric)
    metric.update(scores, y_true)
    assert metric.compute() == value
    assert repr(AucScorer(new_metric)) == "AucScorer('made_up')"


def test_a_metric_without_weights_refuses_them(new_metric, data):
    y_true, scores = data
    weights = np.ones(len(y_true))
    match = "sample_weight cannot be used with metric='made_up'"
    with pytest.raises(ValueError, match=match):
        multiauc.evaluate(*data, metrics=["auc_mu", new_metric], sample_weight=weights)
    with pytest.raises(ValueError, match=match):
        multiauc.compare(y_true, {"a": scores, "b": scores}, metric=new_metric, sample_weight=weights)
    with pytest.raises(ValueError, match=match):
        lightgbm_metric(new_metric)(y_true, scores, weights)


def test_options_that_a_metric_has_not(data):
    with pytest.raises(TypeError, match="metric='hand_till' has no option 'partition'; it has 'pair_weights', "):
        MulticlassAuc(3, "hand_till", partition=np.ones((3, 3)))
    with pytest.raises(ValueError, match="partition has no meaning for metric='hand_till'; it has for 'auc_mu'"):
        multiauc.evaluate(*data, metrics=["hand_till"], partition=np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"pair_weights has no meaning for metrics=\['one_vs_rest', 'one_vs_rest_pre"):
        multiauc.evaluate(*data, metrics=["one_vs_rest", "one_vs_rest_prevalence"], pair_weights="size_sum")
