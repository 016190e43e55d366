"""Evaluations and comparisons as a user meets them: known values, intervals, tables, errors."""

import json
import math
import pickle

import numpy as np
import pytest
from scipy import stats

import multiauc
from strategies import make_sample, smooth, softmax

LEVELS = [0.5, 0.9, 0.95, 0.999]


@pytest.fixture
def result(paper):
    return multiauc.evaluate(*paper)


@pytest.fixture
def models(rng):
    y = rng.integers(3, size=200)
    signal = np.eye(3)[y]
    return y, {
        "good": softmax(2 * signal + rng.normal(size=(200, 3))),
        "fair": softmax(signal + rng.normal(size=(200, 3))),
        "poor": softmax(0.3 * signal + rng.normal(size=(200, 3))),
    }


# --- known values -----------------------------------------------------------------------------------------------------


def test_the_worked_example(result):
    assert result.auc_mu.value == 73 / 80
    assert result.auc_mu.variance() == pytest.approx(0.004942129630, abs=5e-13)
    assert result.auc_mu.variance("unbiased") == pytest.approx(0.003952546296, abs=5e-13)
    assert result.auc_mu.variance("bootstrap_limit") == pytest.approx(0.004367404514, abs=5e-13)
    assert result.hand_till.value == 883 / 960
    assert result.hand_till.variance() == pytest.approx(0.003222656250, abs=5e-13)
    assert result.one_vs_rest.value == 991 / 1080
    assert result.one_vs_rest.variance() == pytest.approx(0.003239419010, abs=5e-13)
    assert result.one_vs_rest_prevalence.value == 863 / 936
    assert result.one_vs_rest_prevalence.variance() == pytest.approx(0.002908024159, abs=5e-13)


def test_the_components_of_the_worked_example(paper, result):
    codes, _ = paper
    sizes = np.bincount(codes)[codes]
    t = np.array([2 / 3, 9 / 20, 2 / 3, 8 / 15, 2 / 3, 7 / 12, 2 / 3, 2 / 3, 2 / 3, 1 / 2, 1 / 2, 2 / 3, 2 / 3])
    means = np.array([t[codes == c].mean() for c in range(3)])
    np.testing.assert_allclose(result.influences()[:, 0] * sizes, t - means[codes], atol=1e-15)


# --- intervals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_are_those_of_their_formulas(result, level):
    estimate = result.hand_till
    theta, error = estimate.value, estimate.standard_error
    t = stats.t.isf((1 - level) / 2, estimate.degrees_of_freedom)
    low, high = estimate.confidence_interval(level, method="logit")
    middle, reach = math.log(theta / (1 - theta)), t * error / (theta * (1 - theta))
    assert low == pytest.approx(1 / (1 + math.exp(reach - middle)), rel=1e-9)
    assert high == pytest.approx(1 / (1 + math.exp(-reach - middle)), rel=1e-9)
    wald = estimate.confidence_interval(level, method="wald")
    assert wald.low == pytest.approx(max(0.0, theta - t * error), rel=1e-9)
    assert wald.high == pytest.approx(min(1.0, theta + t * error), rel=1e-9)


def test_degrees_of_freedom_are_satterthwaite_s(paper, result):
    codes, _ = paper
    u = result.influences()[:, 0]
    terms = [(len(r) / (len(r) - 1)) * (r**2).sum() for r in (u[codes == c] for c in range(3))]
    freedom = sum(terms) ** 2 / sum(v**2 / (n - 1) for v, n in zip(terms, [4, 4, 5], strict=True))
    assert result.auc_mu.degrees_of_freedom == pytest.approx(freedom, rel=1e-12)


def test_perfect_and_hopeless_models():
    y = np.repeat([0, 1, 2], [5, 7, 6])
    perfect, hopeless = multiauc.evaluate(y, np.eye(3)[y]), multiauc.evaluate(y, 1 - np.eye(3)[y])
    assert perfect.auc_mu.standard_error == 0.0
    assert perfect.auc_mu.confidence_interval(method="logit") == pytest.approx((0.025 ** (1 / 5), 1.0))
    assert hopeless.auc_mu.confidence_interval(0.9, "logit") == pytest.approx((0.0, 1 - 0.05 ** (1 / 5)))


def test_constant_scores_have_no_interval():
    result = multiauc.evaluate([0, 0, 1, 1, 2, 2], np.full((6, 3), 1 / 3))
    assert (result.auc_mu.value, result.auc_mu.standard_error) == (0.5, 0.0)
    with pytest.warns(
        RuntimeWarning, match="no interval is available for AUC_mu: its standard error is 0: the scores do not vary"
    ):
        interval = result.auc_mu.confidence_interval()
    assert np.isnan(interval).all()
    assert "-" in repr(result)


def test_a_class_of_one_row_has_no_standard_error(rng):
    y = np.array(["a"] * 5 + ["b"] * 6 + ["c"])
    with pytest.warns(RuntimeWarning, match="class 'c' has a single row, .* nan"):
        result = multiauc.evaluate(y, rng.random((12, 3)))
    assert np.isnan(result.auc_mu.standard_error)
    assert 0 < result.auc_mu.value < 1
    assert result.auc_mu_matrix.standard_error[0, 1] > 0
    assert np.isnan(result.auc_mu_matrix.standard_error[0, 2])
    with pytest.warns(RuntimeWarning, match="standard error is nan"):
        assert np.isnan(result.auc_mu.confidence_interval().low)


def test_a_class_in_one_group_has_no_standard_error(rng):
    y = np.repeat([0, 1, 2], 6)
    groups = np.r_[np.arange(12) % 4, np.full(6, 9)]
    with pytest.warns(RuntimeWarning, match="class 2 has the rows of one group only"):
        result = multiauc.evaluate(y, rng.random((18, 3)), groups=groups)
    assert np.isnan(result.one_vs_rest.standard_error)


def test_a_negative_unbiased_variance_is_zero_with_a_warning():
    scores = np.array([[1, 0, 0], [3, 2, 4], [3, 3, 4], [3, 2, 1], [0, 2, 2], [2, 0, 2]])
    estimate = multiauc.evaluate([0, 0, 1, 1, 2, 2], scores).auc_mu
    with pytest.warns(
        RuntimeWarning, match=r"the unbiased variance of AUC_mu is negative \(-0.\d+\) and is reported as 0"
    ):
        assert estimate.variance("unbiased") == 0.0
    assert estimate.variance() > 0.0


# --- options ----------------------------------------------------------------------------------------------------------


def test_absent_classes(rng):
    y = rng.permutation(np.repeat([0, 1, 3], 8))
    scores = rng.random((24, 4))
    with pytest.raises(ValueError, match="no rows of 1 class: 2"):
        multiauc.evaluate(y, scores, labels=range(4))
    ignored = multiauc.evaluate(y, scores, labels=range(4), absent="ignore")
    without = multiauc.evaluate(y, scores[:, [0, 1, 3]], labels=[0, 1, 3])
    assert ignored.auc_mu.value == without.auc_mu.value
    assert ignored.covariance.tolist() == without.covariance.tolist()
    assert list(ignored.per_class) == [0, 1, 3]
    nan = multiauc.evaluate(y, scores, labels=range(4), absent="nan")
    assert np.isnan(nan.auc_mu.value)
    assert np.isnan(nan.covariance).all()
    assert np.isnan(nan.per_class[2].value)
    assert nan.per_class[3].standard_error == without.per_class[3].standard_error
    compared = multiauc.compare(y, {"a": scores, "b": scores**2}, labels=range(4), absent="nan")
    assert np.isnan(compared.difference("a", "b").value)


def test_zero_weights_do_not_exist(rng):
    y, scores = make_sample(smooth, [12, 10, 9], 3).data
    weights = rng.random(len(y)) + 0.5
    more_y, more_scores = np.r_[y, [0, 1, 2]], np.r_[scores, np.full((3, 3), np.nan)]
    expected = multiauc.evaluate(y, scores, sample_weight=weights)
    found = multiauc.evaluate(more_y, more_scores, sample_weight=np.r_[weights, [0, 0, 0]])
    np.testing.assert_array_equal(found.covariance, expected.covariance)
    assert (found.influences()[-3:] == 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling": "random"}, r"sampling must be one of 'stratified', 'iid'; got 'random'"),
        ({"groups": [1, 2]}, r"groups must have one entry per row, 13 rows; got shape \(2,\)"),
        ({"groups": 5}, r"groups must have one entry per row, 13 rows; got 5"),
        ({"groups": ["x"] * 13}, r"groups must have at least two distinct groups; all rows are in 'x'"),
        ({"groups": [None, *range(12)]}, r"groups must name the group of every row; got None"),
        ({"groups": [np.nan, *range(12)]}, r"groups must name the group of every row; got nan"),
        ({"pair_weights": "sizes"}, "pair_weights must be one of"),
        ({"absent": "skip"}, "absent must be one of"),
    ],
)
def test_bad_options_are_named(paper, options, message):
    with pytest.raises(ValueError, match=message):
        multiauc.evaluate(*paper, **options)
    with pytest.raises(ValueError, match=message):
        multiauc.compare(paper[0], {"a": paper[1], "b": paper[1]}, **options)


def test_groups_of_any_kind(paper):
    numbers = np.arange(13) // 2
    expected = multiauc.evaluate(*paper, groups=numbers).auc_mu.standard_error
    names = [f"patient {k}" for k in numbers]
    for groups in (numbers.tolist(), names, np.array(names, dtype=object), numbers.astype(float)):
        assert multiauc.evaluate(*paper, groups=groups).auc_mu.standard_error == expected
    with pytest.raises(TypeError, match="groups must hold hashable"):
        multiauc.evaluate(*paper, groups=np.array([[k] for k in names] + [None], dtype=object)[:13])


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, math.nan])
def test_levels_outside_of_0_and_1_are_refused(result, level):
    with pytest.raises(ValueError, match="level must be a number above 0 and below 1"):
        result.auc_mu.confidence_interval(level)


def test_wrong_kinds_are_named(result, paper):
    with pytest.raises(TypeError, match=r"level must be a number above 0 and below 1; got '0\.95'"):
        result.auc_mu.confidence_interval("0.95")
    with pytest.raises(ValueError, match=r"method must be one of 'wilson', .*'cautious'; got 'percentile'"):
        result.auc_mu.confidence_interval(method="percentile")
    with pytest.raises(ValueError, match="kind must be one of"):
        result.auc_mu.variance("second_order")
    for options in ({"sample_weight": np.ones(13)}, {"groups": np.arange(13)}, {"sampling": "iid"}):
        with pytest.raises(ValueError, match=f"'unbiased' is not defined with {next(iter(options))}"):
            multiauc.evaluate(*paper, **options).auc_mu.variance("unbiased")


# --- results ----------------------------------------------------------------------------------------------------------


def test_results_read_as_a_table(result):
    text = repr(result)
    assert text.startswith("Evaluation of 13 rows, 3 classes (0 4, 1 4, 2 5)")
    assert "AUC_mu                       0.9125      0.0703" in text
    assert text.endswith("analytic standard errors, class sizes fixed; Wilson intervals with Student's t")
    many = multiauc.evaluate(np.arange(60) % 20, np.random.default_rng(0).random((60, 20)))
    assert "and 10 more" in repr(many)
    assert "..." in repr(many)


def test_html_is_escaped():
    y = np.repeat(["<b>", "a&b"], 5)
    scores = np.random.default_rng(1).random((10, 2))
    for html in (
        multiauc.evaluate(y, scores)._repr_html_(),
        multiauc.compare(y, {"<i>": scores, "x": scores**2})._repr_html_(),
        multiauc.compare(y, {"<i>": scores, "x": scores**2}, metric="multiclass_roc")._repr_html_(),
    ):
        assert "&lt;" in html
        assert "<b>" not in html
        assert "<i>" not in html


def test_dictionaries_and_json(result, models):
    found = json.loads(result.to_json())
    assert found["metrics"]["auc_mu"]["value"] == 73 / 80
    assert found["per_class"][2]["label"] == 2
    assert found["covariance"] == result.covariance.tolist()
    compared = json.loads(multiauc.compare(*models).to_json())
    assert compared["differences"][0]["first"] == "good"
    constant = multiauc.evaluate([0, 0, 1, 1], np.full(4, 0.5))
    assert json.loads(constant.to_json())["metrics"]["auc_mu"]["low"] is None


def test_results_cannot_be_changed(result, models):
    with pytest.raises(AttributeError):
        result.auc_mu = None
    with pytest.raises(ValueError, match="read-only"):
        result.covariance[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        result.hand_till_matrix.standard_error[0, 1] = 1.0
    with pytest.raises(AttributeError):
        multiauc.compare(*models).metric = "x"


def test_pickled_results_leave_the_data_behind(result, models):
    for original in (result, multiauc.compare(*models)):
        copy = pickle.loads(pickle.dumps(original))
        assert repr(copy) == repr(original)
        assert copy.to_json() == original.to_json()
        assert len(pickle.dumps(original)) < 5000
        with pytest.raises(ValueError, match="unpickled"):
            copy.inputs()
    copy = pickle.loads(pickle.dumps(result))
    with pytest.raises(ValueError, match="needs the data"):
        copy.auc_mu.variance("unbiased")
    assert copy.auc_mu.confidence_interval() == result.auc_mu.confidence_interval()
    np.testing.assert_array_equal(copy.auc_mu_matrix.standard_error, result.auc_mu_matrix.standard_error)
    matrix = pickle.loads(pickle.dumps(multiauc.hand_till_matrix(*models[:1], models[1]["good"])))
    with pytest.raises(ValueError, match="has no standard errors"):
        _ = matrix.standard_error


def test_changed_data_are_noticed(models):
    y, scores = models
    result = multiauc.evaluate(y, scores["good"], sample_weight=np.ones(200))
    assert np.shares_memory(result.inputs().sample.scores, scores["good"])
    matrix = multiauc.hand_till_matrix(y, scores["good"])
    scores["good"] *= 2
    with pytest.raises(ValueError, match="was changed after this result was computed"):
        result.influences()
    with pytest.raises(ValueError, match="was changed after this result was computed"):
        _ = matrix.standard_error


# --- comparisons ------------------------------------------------------------------------------------------------------


def test_differences_and_their_tests(models):
    comparison = multiauc.compare(*models)
    a, b = comparison.estimates["good"], comparison.estimates["poor"]
    difference = comparison.difference("good", "poor")
    assert difference.value == a.value - b.value
    variance = comparison.covariance[0, 0] + comparison.covariance[2, 2] - 2 * comparison.covariance[0, 2]
    assert difference.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)
    assert difference.t == difference.value / difference.standard_error
    p_value = 2 * stats.t.sf(difference.t, difference.degrees_of_freedom)
    assert difference.p_value == pytest.approx(p_value, rel=1e-8)
    t = stats.t.isf(0.05, difference.degrees_of_freedom)
    low, high = difference.confidence_interval(0.9)
    assert low == pytest.approx(difference.value - t * difference.standard_error, rel=1e-9)
    assert high == pytest.approx(difference.value + t * difference.standard_error, rel=1e-9)
    back = comparison.difference("poor", "good")
    assert (back.value, back.t, back.p_value) == (-difference.value, -difference.t, difference.p_value)


def test_holm_s_correction_on_request(models):
    comparison = multiauc.compare(*models)
    found = comparison.corrected_p_values("holm")
    p = sorted((d.p_value, found[d.first, d.second]) for d in comparison.differences)
    expected = np.minimum(1, np.maximum.accumulate([3 * p[0][0], 2 * p[1][0], p[2][0]]))
    np.testing.assert_allclose([corrected for _, corrected in p], expected)


def test_models_that_rank_alike(models):
    y, scores = models
    comparison = multiauc.compare(y, {"a": scores["good"], "b": scores["good"].copy()})
    difference = comparison.difference("a", "b")
    assert (difference.value, difference.t, difference.p_value) == (0.0, 0.0, 1.0)
    with pytest.warns(RuntimeWarning, match="no interval is available for a - b: the standard error is 0"):
        assert np.isnan(difference.confidence_interval()).all()


@pytest.mark.parametrize("weights", [None, np.exp(np.linspace(-1, 1, 12))])
def test_a_difference_that_does_not_vary_has_no_test(weights):
    y = np.repeat([0, 1, 2], 4)
    models = {"perfect": np.eye(3)[y], "constant": np.full((12, 3), 1 / 3), "same": np.full((12, 3), 1 / 3)}
    with pytest.warns(RuntimeWarning, match="standard error of 0.* its p-value is nan") as caught:
        comparison = multiauc.compare(y, models, sample_weight=weights)
    assert [str(one.message).split(" has")[0] for one in caught] == [
        "the difference between 'perfect' and 'constant'",
        "the difference between 'perfect' and 'same'",
    ]
    difference = comparison.difference("constant", "perfect")
    assert (difference.value, difference.standard_error) == (-0.5, 0.0)
    assert np.isnan([difference.t, difference.p_value, difference.corrected_p_value]).all()
    assert "<0.0001" not in repr(comparison)
    same = comparison.difference("constant", "same")
    assert (same.value, same.t, same.p_value) == (0.0, 0.0, 1.0)


def test_columns_of_models_are_matched_by_name(rng):
    pandas = pytest.importorskip("pandas")
    y = rng.choice(["x", "y", "z"], size=60)
    first, second = rng.random((60, 3)), rng.random((60, 3))
    expected = multiauc.compare(y, {"a": first, "b": second})
    frames = {
        "a": pandas.DataFrame(first, columns=["x", "y", "z"]),
        "b": pandas.DataFrame(second[:, [2, 0, 1]], columns=["z", "x", "y"]),
    }
    found = multiauc.compare(y, frames)
    np.testing.assert_array_equal(found.covariance, expected.covariance)
    other = pandas.DataFrame(rng.random((60, 4)), columns=["x", "y", "z", "w"])
    with pytest.raises(ValueError, match=r"models\['b'\] must have the same classes as the first"):
        multiauc.compare(y, {**frames, "b": other}, absent="ignore")


def test_single_and_double_scores_side_by_side(rng):
    y = rng.integers(2, size=50)
    s = rng.random(50) + 0.3 * y
    comparison = multiauc.compare(y, {"one": s, "two": np.c_[1 - s, s], "single": s.astype(np.float32)})
    assert comparison.difference("one", "two").standard_error == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("models_given", "error", "message"),
    [
        ([1, 2], TypeError, "models must be a dict from the name of each model to its scores; got list"),
        ({}, ValueError, "at least two models to compare; got 0"),
        ({"a": np.zeros((200, 3))}, ValueError, "at least two models to compare; got 1"),
        ({"a": np.zeros((200, 3)), "b": np.zeros((9, 3))}, ValueError, r"models\['b'\]: y_true and y_score must have"),
        ({"a": np.zeros((200, 3)), "b": "x"}, TypeError, r"models\['b'\]: y_score must hold real numbers"),
    ],
)
def test_bad_models_are_named(models, models_given, error, message):
    with pytest.raises(error, match=message):
        multiauc.compare(models[0], models_given)


def test_bad_questions_to_a_comparison(models):
    comparison = multiauc.compare(*models)
    with pytest.raises(ValueError, match="no model 'best' in this comparison; its models are 'good', 'fair', 'poor'"):
        comparison.difference("best", "good")
    with pytest.raises(ValueError, match="a difference needs two models"):
        comparison.difference("good", "good")
    with pytest.raises(ValueError, match="metric must be one of"):
        multiauc.compare(*models, metric="auc")
    with pytest.raises(ValueError, match="partition has no meaning for metric='hand_till'; it has for 'auc_mu'"):
        multiauc.compare(*models, metric="hand_till", partition=np.eye(3))
    with pytest.raises(ValueError, match="pair_weights has no meaning for metric='one_vs_rest'"):
        multiauc.compare(*models, metric="one_vs_rest", pair_weights="size_sum")


def test_the_multiclass_roc_has_no_closed_form(models):
    y, scores = models
    comparison = multiauc.compare(y, scores, metric="multiclass_roc")
    for name, estimate in comparison.estimates.items():
        assert estimate.value == multiauc.multiclass_roc(y, scores[name]).auc
        assert np.isnan(estimate.standard_error)
    with pytest.raises(ValueError, match="differences of metric='multiclass_roc' have no analytic standard errors"):
        comparison.difference("good", "fair")


def test_one_partition_does_not_serve_one_and_two_columns():
    one = np.array([0.2, 0.9, 0.4, 0.6, 0.1, 0.7])
    models = {"one": one, "two": np.column_stack([1 - one, one])}
    y_true = [0, 1, 1, 1, 0, 0]
    assert multiauc.compare(y_true, models).difference("one", "two").value == 0.0
    with pytest.raises(ValueError, match="give all of them two columns"):
        multiauc.compare(y_true, models, partition=[[0, 1], [3, 0]])
