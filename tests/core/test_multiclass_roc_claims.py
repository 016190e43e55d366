"""The four claims of the paper on its own simulation (smaller here than in `docs/papers/multiclass_roc.py`)."""

import numpy as np
import pytest

import multiauc
from multiclass_roc_data import majority_classifier, majority_rewards, mixed_rows, model_of_first, paper_simulation

REWARDS = (0.1, 0.3, 0.5, 1.0, 2.0, 3.3, 10.0)


@pytest.mark.parametrize("labels", ["sample", "argmax"])
def test_tells_better_models_from_worse(labels):
    rng = np.random.default_rng(20)
    x, _, codes = paper_simulation(rng, 8000, labels=labels)
    areas = [multiauc.multiclass_roc(codes, model_of_first(x, codes, d)).auc for d in (1, 2, 4, 6, 8, 10)]
    assert np.all(np.diff(areas) > 0)
    if labels == "argmax":
        assert areas[-1] >= 0.999
    noise = multiauc.multiclass_roc(codes, model_of_first(rng.normal(size=x.shape), codes, 10))
    assert noise.auc == pytest.approx(0.5, abs=0.03)


@pytest.mark.slow
def test_hardly_depends_on_the_class_mix():
    rng = np.random.default_rng(21)
    x, _, codes = paper_simulation(rng, 50_000)
    for d in (2, 5, 9):
        scores = model_of_first(x, codes, d)
        areas = []
        for _ in range(20):
            rows = mixed_rows(rng, codes, 2.0)
            areas.append(multiauc.multiclass_roc(codes[rows], scores[rows]).auc)
        assert np.std(areas, ddof=1) <= 0.006


@pytest.mark.parametrize("k", [5, 10, 15])
def test_rewards_move_the_majority_classifier(k):
    codes, scores, majority = majority_classifier(np.random.default_rng(22 + k), 10_000, k)
    areas = [multiauc.multiclass_roc(codes, scores, rate_weights=majority_rewards(k, majority, c)).auc for c in REWARDS]
    assert np.all(np.diff(areas) > 0)
    assert areas[REWARDS.index(1.0)] == pytest.approx(0.5, abs=0.12)
    assert areas[0] < 0.15
    assert areas[-1] > 0.85


@pytest.mark.slow
def test_intervals_cover():
    """The full table is made by studies/coverage_multiclass_roc.py; here only that nothing is badly off."""
    rng = np.random.default_rng(23)
    x, b, codes = paper_simulation(rng, 60_000, k=3)
    scores = np.exp(x[:, :5] @ b[:5])
    scores /= scores.sum(axis=1, keepdims=True)
    truth = multiauc.multiclass_roc(codes, scores).auc
    covered = 0
    for seed in range(40):
        rows = np.concatenate([rng.choice(np.flatnonzero(codes == c), 100, replace=False) for c in range(3)])
        low, high = multiauc.multiclass_roc(codes[rows], scores[rows]).bootstrap(100, rng=seed).confidence_interval()
        covered += low <= truth <= high
    assert covered >= 32
