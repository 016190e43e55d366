"""Every metric of the family against its definition: averages, weights, partitions, absent classes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc
import oracle
from strategies import Sample, class_sizes, make_sample, mixed_denominators, rounded_decimals, samples, smooth, votes

AVERAGES = ["macro", "prevalence", "prevalence_equal_rest", "micro"]
WEIGHTS = [None, "integer", "real", "wild"]
TOLERANCE = 1e-12

any_samples = samples(weights=WEIGHTS)
small_samples = samples(sizes=class_sizes(5, 60), weights=WEIGHTS)


def assert_value(found: float, exact, sample: Sample) -> None:
    """Unweighted: correctly rounded up to one unit in the last place. Weighted: to 1e-12."""
    if sample.weights is None:
        assert oracle.ulps(found, exact) <= 1
    else:
        assert abs(found - float(exact)) <= TOLERANCE


def assert_matrix(found: np.ndarray, pairs: oracle.Pairs, sample: Sample, symmetric: bool) -> None:
    exact = oracle.matrix(pairs, sample.n_classes, symmetric)
    if sample.weights is None:
        np.testing.assert_array_equal(found, exact)
    else:
        np.testing.assert_allclose(found, exact, rtol=0, atol=TOLERANCE)


def options(sample: Sample) -> dict:
    return {"labels": sample.labels, "sample_weight": sample.weights}


@given(any_samples, st.sampled_from([None, "size_product", "size_sum"]))
def test_auc_mu_score(sample: Sample, pair_weights):
    found = multiauc.auc_mu_score(*sample.data, pair_weights=pair_weights, **options(sample))
    assert_value(found, oracle.auc_mu(*sample.data, sample.weights, pair_weights=pair_weights), sample)


@given(any_samples)
def test_auc_mu_matrix(sample: Sample):
    found = multiauc.auc_mu_matrix(*sample.data, **options(sample)).values
    assert_matrix(found, oracle.auc_mu_pairs(*sample.data, sample.weights), sample, symmetric=True)


@given(any_samples, st.sampled_from([None, "size_product", "size_sum"]))
def test_hand_till_score(sample: Sample, pair_weights):
    found = multiauc.hand_till_score(*sample.data, pair_weights=pair_weights, **options(sample))
    assert_value(found, oracle.hand_till(*sample.data, sample.weights, pair_weights=pair_weights), sample)


@given(any_samples)
def test_hand_till_matrix(sample: Sample):
    found = multiauc.hand_till_matrix(*sample.data, **options(sample)).values
    assert_matrix(found, oracle.hand_till_pairs(*sample.data, sample.weights), sample, symmetric=False)


@given(any_samples, st.sampled_from(AVERAGES))
def test_one_vs_rest_score(sample: Sample, average: str):
    found = multiauc.one_vs_rest_score(*sample.data, average=average, **options(sample))
    assert_value(found, oracle.one_vs_rest(*sample.data, sample.weights, average), sample)


@given(any_samples)
def test_one_vs_rest_per_class(sample: Sample):
    found = multiauc.one_vs_rest_per_class(*sample.data, **options(sample))
    exact = oracle.one_vs_rest_per_class(*sample.data, sample.weights)
    assert list(found) == sample.labels
    for c, value in found.items():
        assert_value(value, exact[c], sample)


@given(small_samples, st.integers(0, 2**32 - 1))
def test_pair_weights_of_ones_own(sample: Sample, seed: int):
    w = np.random.default_rng(seed).random((sample.n_classes, sample.n_classes)) + 0.01
    w = w + w.T
    for score, exact in [(multiauc.auc_mu_score, oracle.auc_mu), (multiauc.hand_till_score, oracle.hand_till)]:
        found = score(*sample.data, pair_weights=w, **options(sample))
        expected = float(exact(*sample.data, sample.weights, pair_weights=w))
        assert found == pytest.approx(expected, abs=TOLERANCE)


def test_a_pair_of_weight_zero_does_not_count(paper):
    w = np.ones((3, 3))
    w[0, 2] = w[2, 0] = 0
    assert multiauc.auc_mu_score(*paper, pair_weights=w) == pytest.approx((15 / 16 + 1) / 2, abs=1e-15)


def test_pair_weights_are_normalised(paper):
    w = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=float)
    once = multiauc.auc_mu_score(*paper, pair_weights=w)
    assert multiauc.auc_mu_score(*paper, pair_weights=1e6 * w) == pytest.approx(once, abs=1e-15)
    assert once == pytest.approx((15 / 16 + 2 * 4 / 5 + 3) / 6, abs=1e-15)


@given(samples(sizes=class_sizes(8, 60)))
def test_the_argmax_partition_gives_the_same_bits_as_none(sample: Sample):
    default = multiauc.auc_mu_matrix(*sample.data).values
    score = multiauc.auc_mu_score(*sample.data)
    for scale in (1, 3, 0.1):
        partition = scale * (1 - np.eye(sample.n_classes))
        np.testing.assert_array_equal(multiauc.auc_mu_matrix(*sample.data, partition=partition).values, default)
        assert multiauc.auc_mu_score(*sample.data, partition=partition) == score


def costs(k: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 6, size=(k, k)) * (1.0 - np.eye(k))


@given(
    samples([smooth, rounded_decimals, mixed_denominators], [np.float64], class_sizes(6, 60), WEIGHTS),
    st.integers(0, 2**32 - 1),
)
def test_partition_matrix(sample: Sample, seed: int):
    if not np.allclose(sample.scores.sum(axis=1), 1, rtol=0, atol=1e-7):
        sample = Sample(sample.codes, sample.scores / sample.scores.sum(axis=1, keepdims=True), sample.weights)
    partition = costs(sample.n_classes, np.random.default_rng(seed))
    found = multiauc.auc_mu_matrix(*sample.data, partition=partition, **options(sample)).values
    assert_matrix(found, oracle.auc_mu_pairs(*sample.data, sample.weights, partition), sample, symmetric=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_partition_matrix_on_scores_without_rounding(dtype, rng):
    """Sixteenths and small integer costs: floating-point ties are the ties on paper."""
    for k in (3, 5, 9):
        codes = np.arange(90) % k
        scores = votes(rng, 90, k, 16).astype(dtype)
        partition = costs(k, rng)
        found = multiauc.auc_mu_matrix(codes, scores, partition=partition).values
        exact = oracle.auc_mu_pairs(codes, scores, partition=partition)
        np.testing.assert_array_equal(found, oracle.matrix(exact, k, symmetric=True))


def test_a_partition_that_cannot_tell_two_classes_apart_is_worth_one_half(paper):
    partition = np.array([[1.0, 1, 2], [1, 1, 2], [3, 2, 0]])  # classes 0 and 1: A_00 - A_01 - A_10 + A_11 = 0
    scores = multiauc.auc_mu_matrix(*paper, partition=partition).values
    assert scores[0, 1] == 0.5
    exact = oracle.auc_mu_pairs(*paper, partition=partition)
    np.testing.assert_array_equal(scores, oracle.matrix(exact, 3, symmetric=True))


def test_a_transposed_partition_is_another_partition(paper):
    """Rows are predictions: the matrix is not symmetric in its meaning."""
    partition = np.array([[0.0, 9, 1], [1, 0, 1], [2, 1, 0]])
    given_, transposed = (multiauc.auc_mu_score(*paper, partition=a) for a in (partition, partition.T))
    assert given_ == float(oracle.auc_mu(*paper, partition=partition))
    assert transposed == float(oracle.auc_mu(*paper, partition=partition.T))
    assert given_ != transposed


class TestAbsentClasses:
    """Class 1 of four has no rows."""

    @pytest.fixture
    def sample(self) -> Sample:
        drawn = make_sample(mixed_denominators, [20, 0, 15, 5], 3)
        return Sample(drawn.codes, drawn.scores)

    @pytest.mark.parametrize("average", AVERAGES)
    def test_ignore_one_vs_rest(self, sample, average):
        found = multiauc.one_vs_rest_score(*sample.data, average=average, labels=sample.labels, absent="ignore")
        assert_value(found, oracle.one_vs_rest(*sample.data, average=average), sample)

    @pytest.mark.parametrize("pair_weights", [None, "size_product", "size_sum"])
    def test_ignore_pair_averages(self, sample, pair_weights):
        how = {"pair_weights": pair_weights, "labels": sample.labels, "absent": "ignore"}
        assert_value(
            multiauc.auc_mu_score(*sample.data, **how), oracle.auc_mu(*sample.data, pair_weights=pair_weights), sample
        )
        exact = oracle.hand_till(*sample.data, pair_weights=pair_weights)
        assert_value(multiauc.hand_till_score(*sample.data, **how), exact, sample)

    def test_ignore_leaves_nan_in_the_matrices(self, sample):
        found = multiauc.auc_mu_matrix(*sample.data, labels=sample.labels, absent="ignore")
        assert_matrix(found.values, oracle.auc_mu_pairs(*sample.data), sample, symmetric=True)
        found = multiauc.hand_till_matrix(*sample.data, labels=sample.labels, absent="ignore")
        assert_matrix(found.values, oracle.hand_till_pairs(*sample.data), sample, symmetric=False)
        assert list(found.counts) == [20, 0, 15, 5]

    def test_ignore_keeps_the_column_in_a_partition(self, sample):
        partition = np.array([[0.0, 1, 2, 3], [1, 0, 1, 1], [2, 5, 0, 2], [1, 4, 1, 0]])
        how = {"partition": partition, "labels": sample.labels, "absent": "ignore"}
        assert_value(
            multiauc.auc_mu_score(*sample.data, **how), oracle.auc_mu(*sample.data, partition=partition), sample
        )

    def test_raise_names_the_class(self, sample):
        names = ["ant", "bee", "cat", "dog"]
        for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
            with pytest.raises(ValueError, match="bee"):
                score(np.array(names)[sample.codes], sample.scores, labels=names)

    def test_nan_marks_every_number_that_needs_the_class(self, sample):
        how = {"labels": sample.labels, "absent": "nan"}
        for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
            assert math.isnan(score(*sample.data, **how))
        found = multiauc.auc_mu_matrix(*sample.data, **how).values
        assert_matrix(found, oracle.auc_mu_pairs(*sample.data), sample, symmetric=True)
        per_class = multiauc.one_vs_rest_per_class(*sample.data, **how)
        assert [c for c, value in per_class.items() if math.isnan(value)] == [1]

    def test_a_class_without_weight_is_absent(self, sample):
        weights = np.where(sample.codes == 2, 0.0, 1.0)
        how = {"labels": sample.labels, "sample_weight": weights}
        with pytest.raises(ValueError, match="2"):
            multiauc.auc_mu_score(*sample.data, **how)
        found = multiauc.auc_mu_score(*sample.data, absent="ignore", **how)
        assert found == pytest.approx(float(oracle.auc_mu(*sample.data, weights)), abs=TOLERANCE)

    def test_fewer_than_two_classes_left_is_an_error(self):
        for absent in ("raise", "ignore", "nan"):
            with pytest.raises(ValueError, match="class"):
                multiauc.auc_mu_score([0, 0], np.eye(2), labels=[0, 1], absent=absent)


@given(st.integers(2, 30), st.integers(0, 2**32 - 1), st.sampled_from([None, "real"]))
def test_many_absent_classes_are_ignored(k: int, seed: int, weights):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 4, size=k)
    sizes[rng.choice(k, size=2, replace=False)] = 3
    sample = make_sample(rounded_decimals, list(sizes), seed)
    w = None if weights is None else rng.random(len(sample.codes)) + 0.1
    sample = Sample(sample.codes, sample.scores, w)
    how = {"absent": "ignore", **options(sample)}
    assert_value(multiauc.auc_mu_score(*sample.data, **how), oracle.auc_mu(*sample.data, w), sample)
    assert_value(multiauc.hand_till_score(*sample.data, **how), oracle.hand_till(*sample.data, w), sample)
    for average in AVERAGES:
        found = multiauc.one_vs_rest_score(*sample.data, average=average, **how)
        assert_value(found, oracle.one_vs_rest(*sample.data, w, average), sample)


@given(samples(sizes=class_sizes(6, 60), weights=["integer"]))
def test_integer_weights_are_repeated_rows(sample: Sample):
    times = sample.weights.astype(int)
    repeated = np.repeat(sample.codes, times), np.repeat(sample.scores, times, axis=0)
    weighted = options(sample)
    pairs = [
        (multiauc.auc_mu_score, {}),
        (multiauc.hand_till_score, {"pair_weights": "size_sum"}),
        *[(multiauc.one_vs_rest_score, {"average": average}) for average in AVERAGES],
    ]
    for score, how in pairs:
        expected = score(*repeated, labels=sample.labels, **how)
        assert score(*sample.data, **weighted, **how) == pytest.approx(expected, abs=TOLERANCE)
