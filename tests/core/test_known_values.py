"""Values known in advance: the papers' examples, and cases small enough to work out by hand."""

from fractions import Fraction as F

import numpy as np
import pytest

import multiauc
import oracle

# Rows (6,5,5), (7,9,0), (7,0,9) over 16, one of each class: argmax is always right, yet no column separates its class.
FIGURE_ONE = np.array([[6, 5, 5], [7, 9, 0], [7, 0, 9]]) / 16


def test_figure_one_separates_auc_mu_from_hand_till_and_one_vs_rest():
    y = [0, 1, 2]
    assert multiauc.auc_mu_score(y, FIGURE_ONE) == 1.0
    assert multiauc.hand_till_score(y, FIGURE_ONE) == 2 / 3
    assert multiauc.one_vs_rest_score(y, FIGURE_ONE) == 2 / 3


APPENDIX_ROWS = np.array([[0.5, 0.45, 0.05], [0.35, 0.4, 0.25]])


@pytest.mark.parametrize(
    ("partition", "orientation", "value"),
    [
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], 0.2, 1.0),
        ([[0, 4, 1], [1, 0, 1], [1, 1, 0]], -0.25, 0.0),
    ],
)
def test_the_partition_matrix_decides_the_orientation_of_a_pair(partition, orientation, value):
    found = oracle.orientation(np.array(partition, dtype=float), 0, 1, *APPENDIX_ROWS)
    assert found == pytest.approx(orientation, abs=1e-15)
    options = {"partition": partition, "labels": [0, 1, 2], "absent": "ignore"}
    assert multiauc.auc_mu_score([0, 1], APPENDIX_ROWS, **options) == value
    assert multiauc.auc_mu_matrix([0, 1], APPENDIX_ROWS, **options).values[0, 1] == value


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
class TestWorkedExample:
    """Thirteen rows in sixteenths."""

    def test_auc_mu(self, paper, dtype):
        y, scores = paper[0], paper[1].astype(dtype)
        assert multiauc.auc_mu_score(y, scores) == float(F(73, 80))

    def test_auc_mu_pairs(self, paper, dtype):
        y, scores = paper[0], paper[1].astype(dtype)
        nan = np.nan
        expected = [[nan, 15 / 16, 4 / 5], [15 / 16, nan, 1], [4 / 5, 1, nan]]
        np.testing.assert_array_equal(multiauc.auc_mu_matrix(y, scores).values, expected)

    def test_hand_till(self, paper, dtype):
        y, scores = paper[0], paper[1].astype(dtype)
        assert multiauc.hand_till_score(y, scores) == float(F(883, 960))

    def test_hand_till_pairs(self, paper, dtype):
        y, scores = paper[0], paper[1].astype(dtype)
        nan = np.nan
        expected = [[nan, 7 / 8, 31 / 40], [31 / 32, nan, 19 / 20], [19 / 20, 1, nan]]
        np.testing.assert_array_equal(multiauc.hand_till_matrix(y, scores).values, expected)

    def test_one_vs_rest_macro(self, paper, dtype):
        y, scores = paper[0], paper[1].astype(dtype)
        assert multiauc.one_vs_rest_score(y, scores) == float(F(991, 1080))

    def test_one_vs_rest_by_prevalence(self, paper, dtype):
        y, scores = paper[0], paper[1].astype(dtype)
        assert multiauc.one_vs_rest_score(y, scores, average="prevalence") == float(F(863, 936))

    def test_one_vs_rest_per_class_averages_to_macro(self, paper, dtype):
        y, scores = paper[0], paper[1].astype(dtype)
        per_class = multiauc.one_vs_rest_per_class(y, scores)
        assert list(per_class) == [0, 1, 2]
        assert np.mean(list(per_class.values())) == pytest.approx(991 / 1080, abs=1e-15)

    def test_counts_and_labels_come_with_the_matrix(self, paper, dtype):
        y, scores = paper[0], paper[1].astype(dtype)
        names = np.array(["ant", "bee", "cat"])
        result = multiauc.auc_mu_matrix(names[y], scores)
        assert list(result.labels) == ["ant", "bee", "cat"]
        assert list(result.counts) == [4, 4, 5]


def test_differences_that_tie_on_paper_count_half():
    """0.3 - 0.2 and 0.2 - 0.1 differ in doubles and are equal as decimals."""
    assert multiauc.auc_mu_score([0, 1], np.array([[0.3, 0.2], [0.2, 0.1]])) == 0.5


def test_float32_tenths_tie_on_their_lattice_and_not_beside_another_score():
    tenths = np.array([[0.3, 0.2], [0.2, 0.1], [0.7, 0.3]], dtype=np.float32)
    on_lattice = multiauc.auc_mu_matrix([0, 1, 0], tenths).values[0, 1]
    assert on_lattice == 0.75
    tenths[2, 0] = 0.7123456
    exact = oracle.auc_mu_pairs([0, 1, 0], tenths)[0, 1]
    assert exact != F(3, 4)
    assert multiauc.auc_mu_matrix([0, 1, 0], tenths).values[0, 1] == float(exact)


def test_perfect_and_reversed_scores_give_one_and_zero():
    y = [0, 0, 1, 1, 2, 2]
    perfect = np.eye(3)[y]
    for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
        assert score(y, perfect) == 1.0
        assert score(y, -perfect) == 0.0


@pytest.mark.parametrize("k", [2, 3, 7, 20])
def test_constant_scores_are_worth_one_half(k):
    y = np.arange(3 * k) % k
    scores = np.full((3 * k, k), 1 / k)
    for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
        assert score(y, scores) == 0.5
    assert multiauc.one_vs_rest_score(y, scores, average="micro") == 0.5


def test_scores_are_python_floats(paper):
    assert type(multiauc.auc_mu_score(*paper)) is float
    assert type(multiauc.hand_till_score(*paper)) is float
    assert type(multiauc.one_vs_rest_score(*paper)) is float
    assert {type(value) for value in multiauc.one_vs_rest_per_class(*paper).values()} == {float}


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_a_single_column_is_the_score_of_the_second_label(shape):
    y, p = ["no", "yes", "no", "yes"], np.array([0.1, 0.4, 0.35, 0.35]).reshape(shape)
    for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
        assert score(y, p) == 0.875
        assert score(y, p, labels=["yes", "no"]) == 0.125
