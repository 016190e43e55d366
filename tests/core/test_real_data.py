"""Votes of nearest neighbours on real data: scores as users have them, ties by the thousand, values known exactly."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

import multiauc
import oracle
from strategies import softmax

DATA = Path(__file__).parents[3] / "shared" / "data"
ORDERED = {"small": 0, "low": 0, "med": 1, "big": 2, "high": 2, "vhigh": 3, "5more": 5, "more": 5}

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not part of the repository")


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(features, labels) of a data set; ordered categories as numbers."""
    path = DATA / name
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        rows = list(csv.reader(lines))[1:]
    features = [[float(ORDERED.get(cell, cell)) for cell in row[:-1]] for row in rows]
    return np.array(features), np.array([row[-1] for row in rows])


def neighbour_votes(features: np.ndarray, codes: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Shares of the classes among the k[i] nearest other rows of row i."""
    z = (features - features.mean(axis=0)) / features.std(axis=0)
    squares = (z**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * z @ z.T
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, : k.max()]
    counted = np.arange(k.max())[None, :] < k[:, None]
    one_hot = np.eye(codes.max() + 1)[codes]
    return (one_hot[order] * counted[:, :, None]).sum(axis=1) / k[:, None]


@pytest.fixture(params=["iris.csv", "glass.csv", "tae.csv", "car.csv"], scope="module")
def data_set(request) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(features, labels, codes)."""
    features, labels = read(request.param)
    return features, labels, np.unique(labels, return_inverse=True)[1]


def assert_exact(labels: np.ndarray, codes: np.ndarray, scores: np.ndarray) -> None:
    k = scores.shape[1]
    names = list(np.unique(labels))
    pairs = oracle.auc_mu_pairs(codes, scores)
    np.testing.assert_array_equal(multiauc.auc_mu_matrix(labels, scores).values, oracle.matrix(pairs, k, True))
    columns = oracle.hand_till_pairs(codes, scores)
    np.testing.assert_array_equal(multiauc.hand_till_matrix(labels, scores).values, oracle.matrix(columns, k, False))
    per_class = oracle.one_vs_rest_per_class(codes, scores)
    assert multiauc.one_vs_rest_per_class(labels, scores) == {names[c]: float(v) for c, v in per_class.items()}
    assert oracle.ulps(multiauc.auc_mu_score(labels, scores), oracle.auc_mu(codes, scores)) <= 1
    assert oracle.ulps(multiauc.hand_till_score(labels, scores), oracle.hand_till(codes, scores)) <= 1
    for average in ("macro", "prevalence", "prevalence_equal_rest", "micro"):
        found = multiauc.one_vs_rest_score(labels, scores, average=average)
        assert oracle.ulps(found, oracle.one_vs_rest(codes, scores, average=average)) <= 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 7, 10])
def test_votes_of_k_neighbours(data_set, k, dtype):
    features, labels, codes = data_set
    assert_exact(labels, codes, neighbour_votes(features, codes, np.full(len(codes), k)).astype(dtype))


def test_votes_of_different_numbers_of_neighbours(data_set):
    """As the leaves of a tree: every row with its own denominator."""
    features, labels, codes = data_set
    assert_exact(labels, codes, neighbour_votes(features, codes, 3 + np.arange(len(codes)) % 11))


def test_subtraction_in_doubles_would_be_wrong_here(data_set):
    """The policy on ties is not academic: on these data rounding breaks ties that exist on paper."""
    features, labels, codes = data_set
    scores = neighbour_votes(features, codes, np.full(len(codes), 10))
    exact = oracle.auc_mu(codes, scores)
    scaled = np.rint(scores * 10).astype(int)
    rounded, on_paper = (len({float(a) - float(b) for row in s for a in row for b in row}) for s in (scores, scaled))
    assert rounded > on_paper
    assert multiauc.auc_mu_score(labels, scores) == float(exact)


@pytest.mark.parametrize("name", ["pendigits.csv.gz", "optdigits.csv.gz"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nearest_centre_probabilities_of_handwritten_digits(name, dtype):
    features, labels = read(name)
    codes = labels.astype(int)
    centres = np.stack([features[codes == c].mean(axis=0) for c in range(10)])
    distances = ((features[:, None, :] - centres[None]) ** 2).sum(axis=2)
    scores = softmax(-distances / distances.std()).astype(dtype)
    found = multiauc.auc_mu_matrix(labels, scores).values
    for c in range(10):
        for d in range(c):
            rows = np.flatnonzero((codes == c) | (codes == d))
            ranks = oracle.difference_ranks(scores[rows, c], scores[rows, d])
            exact = oracle.separation_by_ranks(ranks[codes[rows] == c], ranks[codes[rows] == d])
            assert found[c, d] == float(exact)
    columns = oracle.hand_till_pairs(codes, scores, how=oracle.separation_by_ranks)
    np.testing.assert_array_equal(multiauc.hand_till_matrix(labels, scores).values, oracle.matrix(columns, 10, False))
