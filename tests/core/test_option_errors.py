"""Bad options raise an error that names the option, what was found and what is accepted."""

import numpy as np
import pytest

import multiauc
from small_sample import FUNCTIONS, LABELS, Y_SCORE, Y_TRUE


@pytest.fixture(params=FUNCTIONS, ids=lambda function: function.__name__)
def function(request):
    return request.param


# Options


@pytest.mark.parametrize("absent", ["drop", None, True, ["nan"]])
def test_an_unknown_policy(function, absent):
    with pytest.raises(ValueError, match=r"absent must be one of 'raise', 'ignore', 'nan'; got"):
        function(Y_TRUE, Y_SCORE, absent=absent)


@pytest.mark.parametrize("average", ["weighted", None, 1])
def test_an_unknown_average(average):
    with pytest.raises(ValueError, match=r"average must be one of 'macro', 'prevalence', .*'micro'; got"):
        multiauc.one_vs_rest_score(Y_TRUE, Y_SCORE, average=average)


@pytest.mark.parametrize("kind", ["ovr", None])
def test_an_unknown_kind_of_curve(kind):
    with pytest.raises(ValueError, match=r"kind must be one of 'one_vs_rest', 'pairwise'; got"):
        multiauc.roc_curves(Y_TRUE, Y_SCORE, kind=kind)


def test_drop_intermediate_is_yes_or_no():
    with pytest.raises(TypeError, match="drop_intermediate must be True or False; got 'no'"):
        multiauc.roc_curves(Y_TRUE, Y_SCORE, drop_intermediate="no")


def test_options_are_given_by_name(function):
    with pytest.raises(TypeError, match="positional"):
        function(Y_TRUE, Y_SCORE, None)


@pytest.mark.parametrize("weights", [[1] * 5, np.ones(7), []])
def test_weights_of_a_wrong_length(function, weights):
    with pytest.raises(ValueError, match=rf"sample_weight .*got {len(weights)} weights for 6 rows"):
        function(Y_TRUE, Y_SCORE, sample_weight=weights)


@pytest.mark.parametrize(("weights", "shape"), [(np.ones((6, 1)), r"\(6, 1\)"), (2.0, r"\(1,\)|shape \(\)")])
def test_weights_of_a_wrong_shape(function, weights, shape):
    with pytest.raises(ValueError, match=f"sample_weight .*got (shape {shape}|1 weight for 6 rows)"):
        function(Y_TRUE, Y_SCORE, sample_weight=weights)


@pytest.mark.parametrize(
    ("weights", "found"),
    [
        (["1"] * 6, "dtype <U1"),
        ([1j] * 6, "dtype complex128"),
        ("balanced", "'balanced'"),
        ([1, 2, None] * 2, "object"),
    ],
)
def test_weights_that_are_not_real_numbers(function, weights, found):
    with pytest.raises(TypeError, match=f"sample_weight must hold real numbers; got .*{found}"):
        function(Y_TRUE, Y_SCORE, sample_weight=weights)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_are_negative_or_not_finite(function, weight):
    weights = np.ones(6)
    weights[3] = weight
    with pytest.raises(ValueError, match=rf"(?i)sample_weight .*{weight:g}.* row 3"):
        function(Y_TRUE, Y_SCORE, sample_weight=weights)


def test_weights_that_are_all_zero(function):
    with pytest.raises(ValueError, match="sample_weight"):
        function(Y_TRUE, Y_SCORE, sample_weight=np.zeros(6))


@pytest.mark.parametrize("partition", [np.ones((2, 2)), np.ones((3, 4)), np.ones(3), 1.0])
@pytest.mark.parametrize("score", [multiauc.auc_mu_score, multiauc.auc_mu_matrix])
def test_a_partition_of_a_wrong_shape(score, partition):
    with pytest.raises(ValueError, match=r"partition must be a 3 x 3 array.* order of labels; got shape \("):
        score(Y_TRUE, Y_SCORE, partition=partition)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_partition_that_is_not_finite(value):
    partition = 1 - np.eye(3)
    partition[1, 2] = value
    with pytest.raises(ValueError, match=rf"partition must be finite; got {value} at \[1, 2\]"):
        multiauc.auc_mu_score(Y_TRUE, Y_SCORE, partition=partition)


def test_a_partition_of_words():
    with pytest.raises(TypeError, match="partition must hold real numbers; got 'argmax'"):
        multiauc.auc_mu_score(Y_TRUE, Y_SCORE, partition="argmax")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_partition_with_unequal_rows_needs_probabilities(dtype):
    costs = [[0, 4, 1], [1, 0, 1], [1, 1, 0]]
    assert 0 <= multiauc.auc_mu_score(Y_TRUE, Y_SCORE.astype(dtype), partition=costs) <= 1
    with pytest.raises(ValueError, match=r"(?s)partition.*y_score.*sum to 1"):
        multiauc.auc_mu_score(Y_TRUE, 2 * Y_SCORE.astype(dtype), partition=costs)


PAIR_WEIGHTED = pytest.mark.parametrize("score", [multiauc.auc_mu_score, multiauc.hand_till_score])


@PAIR_WEIGHTED
def test_an_unknown_name_of_pair_weights(score):
    with pytest.raises(ValueError, match=r"pair_weights must be one of 'size_product', 'size_sum'; got 'weighted'"):
        score(Y_TRUE, Y_SCORE, pair_weights="weighted")


@PAIR_WEIGHTED
@pytest.mark.parametrize("weights", [np.ones((2, 2)), [1, 1, 1], 2.0])
def test_pair_weights_of_a_wrong_shape(score, weights):
    with pytest.raises(ValueError, match=r"pair_weights must be a 3 x 3 array.*or one of 'size_product'.*got shape"):
        score(Y_TRUE, Y_SCORE, pair_weights=weights)


@PAIR_WEIGHTED
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_pair_weights_that_are_negative_or_not_finite(score, value):
    weights = np.ones((3, 3))
    weights[0, 2] = weights[2, 0] = value
    with pytest.raises(ValueError, match=rf"pair_weights must be finite and not negative; got {value} at \[0, 2\]"):
        score(Y_TRUE, Y_SCORE, pair_weights=weights)


@PAIR_WEIGHTED
def test_pair_weights_that_are_not_symmetric(score):
    weights = np.ones((3, 3))
    weights[0, 2] = 1.5
    with pytest.raises(ValueError, match=r"pair_weights must be symmetric; got 1.5 at \[0, 2\] but 1.0 at \[2, 0\]"):
        score(Y_TRUE, Y_SCORE, pair_weights=weights)


@PAIR_WEIGHTED
def test_pair_weights_that_are_all_zero(score):
    with pytest.raises(ValueError, match=r"pair_weights must have a positive and finite sum.*got a sum of 0.0"):
        score(Y_TRUE, Y_SCORE, pair_weights=np.eye(3))


@PAIR_WEIGHTED
def test_pair_weights_that_are_zero_for_all_classes_with_rows(score):
    weights = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    with pytest.raises(ValueError, match=r"pair_weights .*sum over the pairs of classes that have rows.*2 classes"):
        score(list("ababab"), Y_SCORE, labels=LABELS, absent="ignore", pair_weights=weights)


@PAIR_WEIGHTED
def test_pair_weights_whose_sum_overflows(score):
    with pytest.raises(ValueError, match=r"pair_weights must have a positive and finite sum.*got a sum of inf"):
        score(Y_TRUE, Y_SCORE, pair_weights=np.full((3, 3), 1e308))


def test_wrong_options_with_one_score_per_row():
    y_true, score = [0, 1, 0, 1], [0.25, 0.5, 0.5, 0.75]
    with pytest.raises(ValueError, match=r"average must be one of"):
        multiauc.one_vs_rest_score(y_true, score, average="weighted")
    with pytest.raises(ValueError, match=r"pair_weights must be one of"):
        multiauc.hand_till_score(y_true, score, pair_weights="weighted")
    with pytest.raises(ValueError, match=r"partition must be a 2 x 2 array"):
        multiauc.auc_mu_matrix(y_true, score, partition=np.ones((3, 3)))


@pytest.mark.parametrize(("n", "error"), [(-1, ValueError), (True, ValueError), (2.0, TypeError), ("2", TypeError)])
def test_a_wrong_number_of_threads(n, error):
    with pytest.raises(error, match=f"n must be .*number of threads.*got {n!r}"):
        multiauc.set_num_threads(n)
