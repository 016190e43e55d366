"""Table 1 of the AUC_mu paper with every entry computed, and what the paper proves about AUC_mu (docs/volumes.md)."""

import numpy as np
import pytest

import multiauc
from table_one import MEASURES, change_with_skew, on_constant_scores, on_separable_rows

pytest.importorskip("scipy.spatial")

# Where argmax is always right: 1, or what is reached instead.
SEPARABLE = {"H&T (M)": 2 / 3, "P&D": 2 / 3, "PDI": 2 / 3}
CHANCE = {"H&T (M)": 1 / 2, "P&D": 1 / 2, "AUC_mu": 1 / 2, "D": 1 / 2, "PDI": 1 / 3, "VUS (Ferri) / V_max": 8 / 180}
SENSITIVE = {"P&D", "D"}


@pytest.mark.parametrize("name", MEASURES)
def test_perfect_is_one(name):
    found = on_separable_rows(MEASURES[name])
    if name == "D":
        assert found < 0.99
    else:
        assert found == pytest.approx(SEPARABLE.get(name, 1.0), abs=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_random_is_chance(name):
    assert on_constant_scores(MEASURES[name]) == pytest.approx(CHANCE.get(name, 1 / 6), abs=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_skew(name):
    change = change_with_skew(MEASURES[name])
    if name in SENSITIVE:
        assert change > 1e-3
    else:
        assert change < 1e-12


# --- the paper's theorems ---------------------------------------------------------------------------------------------


def partitions(rng, n_classes, count):
    """Random costs with zero diagonals."""
    costs = rng.random((count, n_classes, n_classes))
    costs[:, np.arange(n_classes), np.arange(n_classes)] = 0.0
    return costs


def test_theorem_5_1_no_partition_changes_two_classes():
    rng = np.random.default_rng(2)
    codes = rng.integers(2, size=200)
    second = np.round(rng.random(200) * 0.6 + 0.3 * codes, 2)
    scores = np.stack([1.0 - second, second], axis=1)
    value = multiauc.auc_mu_score(codes, scores)
    # Corollary 5.1.1: it is the AUC, the share of pairs in the right order.
    differences = second[codes == 1][:, None] - second[codes == 0]
    assert value == pytest.approx(np.mean((differences > 0) + 0.5 * (differences == 0)), abs=1e-12)
    smooth = rng.random((200, 1)) * 0.6 + 0.3 * codes[:, None]
    scores = np.hstack([1.0 - smooth, smooth])
    value = multiauc.auc_mu_score(codes, scores)
    for costs in partitions(rng, 2, 20):
        assert multiauc.auc_mu_score(codes, scores, partition=costs) == pytest.approx(value, abs=1e-12)


def test_theorem_5_2_a_partition_changes_more_than_two():
    scores = np.array([[0.5, 0.45, 0.05], [0.35, 0.4, 0.25], [0.0, 0.1, 0.9]])
    costs = np.array([[0, 4, 1], [1, 0, 1], [1, 1, 0]])
    plain = multiauc.auc_mu_matrix([0, 1, 2], scores).values[0, 1]
    assert (plain, multiauc.auc_mu_matrix([0, 1, 2], scores, partition=costs).values[0, 1]) == (1.0, 0.0)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_theorem_5_3_the_mean_of_partitions_decides_by_argmax(n_classes):
    rng = np.random.default_rng(3)
    mean = partitions(rng, n_classes, 40_000).mean(axis=0)
    off_diagonal = mean[~np.eye(n_classes, dtype=bool)]
    np.testing.assert_allclose(off_diagonal, 0.5, atol=0.01)
    # Half of the argmax matrix, which decides alike: costs in proportion have the same boundaries.
    codes = rng.integers(n_classes, size=300)
    scores = rng.dirichlet(np.ones(n_classes), size=300) + 0.2 * np.eye(n_classes)[codes]
    scores /= scores.sum(axis=1, keepdims=True)
    half = 0.5 * (1.0 - np.eye(n_classes))
    assert multiauc.auc_mu_score(codes, scores, partition=half) == pytest.approx(
        multiauc.auc_mu_score(codes, scores), abs=1e-12
    )


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_the_appendix_separable_random_and_skew(n_classes):
    rng = np.random.default_rng(4)
    codes = np.repeat(np.arange(n_classes), 20)
    # Property 1: argmax always right.
    scores = rng.dirichlet(np.ones(n_classes), size=len(codes))
    rows = np.arange(len(codes))
    best = scores.argmax(axis=1)
    scores[rows, best], scores[rows, codes] = scores[rows, codes], scores[rows, best].copy()
    assert multiauc.auc_mu_score(codes, scores) == 1.0
    assert multiauc.hum_score(codes, scores, rng=0) == 1.0
    # Property 2: scores that know nothing, one half on average.
    values = [multiauc.auc_mu_score(rng.permutation(codes), scores) for _ in range(200)]
    assert np.mean(values) == pytest.approx(0.5, abs=4 * np.std(values) / np.sqrt(200))
    # Property 3: the mean over pairs of classes does not change with their sizes.
    times = np.where(codes == 0, 7, 1)
    noisy = scores + 0.3 * rng.random(scores.shape)
    value = multiauc.auc_mu_score(codes, noisy)
    assert multiauc.auc_mu_score(np.repeat(codes, times), np.repeat(noisy, times, axis=0)) == pytest.approx(
        value, abs=1e-14
    )
