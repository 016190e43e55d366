"""The oracle itself, checked by hand: these tests do not need the library."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given

import oracle
from strategies import PAPER_CODES, PAPER_SCORES, Sample, class_sizes, make_sample, samples, smooth


@pytest.mark.parametrize(
    ("score", "value"),
    [
        (0.1, F(1, 10)),
        (1 / 3, F(1, 3)),
        (-2 / 3, F(-2, 3)),
        (1 - 1 / 3, F(1 - 1 / 3)),  # not the double nearest to 2/3
        (999 / 1000, F(999, 1000)),
        (1 / 1001, F(1 / 1001)),
        (0.1234, F(1234, 10**4)),
        (-0.00001, F(-1, 10**5)),
        (2.345678, F(2345678, 10**6)),
        (0.1234567, F(0.1234567)),  # seven digits
        (math.nextafter(0.123456, 0), F(math.nextafter(0.123456, 0))),
        (math.nextafter(0.1, 1), F(math.nextafter(0.1, 1))),
        (0.0, F(0)),
        (-0.0, F(0)),
        (5e-324, F(5e-324)),
        (1e300, F(1e300)),
        (2.0**22 - 1 / 3, F(3 * 2**22 - 1, 3)),
        (2.0**22 - 1e-6, F(2**22) - F(1, 10**6)),
        (2.0**22 + 1 / 3, F(2.0**22 + 1 / 3)),
        (2.0**22 + 0.1, F(2.0**22 + 0.1)),
        (math.pi / 4, F(math.pi / 4)),
    ],
)
def test_a_double_stands_for_the_nearby_small_fraction_or_for_itself(score, value):
    assert oracle.real_value_of_double(score) == value


@pytest.mark.parametrize("m", [1, 2, 3, 7, 10, 64, 100, 997, 1000, 10**4, 10**5, 10**6])
def test_a_float32_lattice_is_recognised_with_its_smallest_denominator(m):
    assert oracle.common_lattice(np.array([[0, 1, m - 1, m]], dtype=np.float32) / np.float32(m)) == m


def test_a_lattice_is_not_looked_for_among_float32_that_all_lie_on_it():
    assert oracle.common_lattice(np.float32([[2047.5]])) == 2
    assert oracle.common_lattice(np.float32([[2.0**21]])) == 1
    assert oracle.common_lattice(np.float32([[2.0**21 + 1]])) is None
    assert oracle.common_lattice(np.float32([[3000.1]])) == 10
    assert oracle.common_lattice(np.float32([[300000.1]])) is None


def test_one_float32_off_the_lattice_makes_all_scores_stand_for_themselves():
    tenths = np.array([[0.1, 0.2], [0.3, 0.7]], dtype=np.float32)
    assert oracle.real_values(tenths) == [F(1, 10), F(1, 5), F(3, 10), F(7, 10)]
    tenths[0, 0] = np.nextafter(tenths[0, 0], np.float32(1))
    assert oracle.real_values(tenths) == [F(float(x)) for x in tenths.ravel()]


def test_keys_are_integers_in_the_proportion_of_the_values():
    keys = oracle.exact_keys(np.array([[1 / 3, 0.5], [0.1, 5e-324]]))
    assert F(keys[0, 0], keys[0, 1]) == F(2, 3)
    assert F(keys[1, 1], keys[1, 0]) == 10 * F(5e-324)


def test_differences_that_rounding_separates_tie():
    assert 0.3 - 0.2 != 0.2 - 0.1
    pairs = oracle.auc_mu_pairs([0, 1], np.array([[0.3, 0.2], [0.2, 0.1]]))
    assert pairs == {(0, 1): F(1, 2)}


def test_the_worked_example_has_its_known_fractions():
    data = PAPER_CODES, PAPER_SCORES
    assert oracle.auc_mu_pairs(*data) == {(0, 1): F(15, 16), (0, 2): F(4, 5), (1, 2): F(1)}
    assert oracle.auc_mu(*data) == F(73, 80)
    assert oracle.hand_till(*data) == F(883, 960)
    assert oracle.one_vs_rest(*data) == F(991, 1080)
    assert oracle.one_vs_rest(*data, average="prevalence") == F(863, 936)


def test_micro_pools_cells_of_all_columns():
    # Own cells .6, .5 against the others' .4, .5: three wins and one tie.
    assert oracle.one_vs_rest([0, 1], np.array([[0.6, 0.4], [0.5, 0.5]]), average="micro") == F(7, 8)


def test_weights_are_exact_however_far_apart():
    # Column 0: the class-0 row of weight 1e-8 loses, the one of weight 1e8 wins.
    weights = [1e-8, 1e8, 3.0]
    pairs = oracle.hand_till_pairs([0, 0, 1], np.array([[0.1, 0], [0.9, 0], [0.5, 0]]), weights)
    assert pairs[0, 1] == F(1e8) / (F(1e8) + F(1e-8))


def test_a_class_without_weight_is_left_out():
    pairs = oracle.auc_mu_pairs([0, 1, 2], np.eye(3), [1.0, 0.0, 2.0])
    assert pairs == {(0, 2): F(1)}


@given(samples(makers=[smooth], sizes=class_sizes(6, 60)))
def test_sorting_and_comparing_all_pairs_agree(sample: Sample):
    by_definition = oracle.hand_till_pairs(*sample.data)
    assert oracle.hand_till_pairs(*sample.data, how=oracle.separation_by_ranks) == by_definition


def test_ranked_differences_agree_with_exact_ones(rng):
    scores = make_sample(smooth, [40, 40, 40], 5).scores
    scores[:60] = scores[60:] + 1e-17  # equal and nearly equal rows
    scores[30:40, 0] += 2.0**-50
    _, exact = np.unique(np.subtract(*oracle.exact_keys(scores)[:, :2].T), return_inverse=True)
    assert np.array_equal(oracle.difference_ranks(scores[:, 0], scores[:, 1]), exact)
