"""Volumes and surfaces by settings that public functions do not have, and what the core answers to wrong ones."""

import numpy as np
import pytest

import multiauc
from multiauc import _rust
from multiauc._input.sample import read_sample
from multiauc._metrics.volumes import find_surface
from test_ferri_vus import LIKELIHOODS, all_answers, is_covered, points_of, random_matrices, rows_of
from test_hum import large_sample
from test_roc_surfaces import LABELS, assert_rates, named_sample


def test_using_rows_equally_often_lowers_the_error():
    codes, scores = large_sample(10, n=600, signal=0.4)
    sample = _rust.Sample(scores, codes.astype(np.uint8))
    # Both stop after the same number of tuples: the precision is met at once.
    spread = {
        is_latin: np.std([_rust.hum_score(sample, "sum", 1.0, seed, is_latin)[0] for seed in range(300)], ddof=1)
        for is_latin in (True, False)
    }
    assert spread[True] < 0.9 * spread[False]


@pytest.mark.parametrize(("n_classes", "count"), [(3, 1), (3, 4), (4, 3), (5, 6)])
def test_points_are_covered_where_a_linear_programme_says_so(n_classes, count):
    points = np.ascontiguousarray(points_of(random_matrices(1, count, n_classes)))
    rng = np.random.default_rng(2)
    drawn = rng.dirichlet(np.ones(n_classes), size=(400, n_classes))[:, ~np.eye(n_classes, dtype=bool)]
    share, error = _rust.covered_share(points, n_classes, 5e-3, 3)
    by_solver = np.mean([is_covered(points, point) for point in drawn])
    spread = np.hypot(error, np.sqrt(max(by_solver * (1 - by_solver), 0.01) / 400))
    assert abs(share - by_solver) < 4.5 * spread


def test_three_classes_drawn_have_their_exact_volume():
    matrices = random_matrices(4, 5, 3)
    exact = multiauc.ferri_vus_of_confusions(matrices)
    share, error = _rust.covered_share(np.ascontiguousarray(points_of(matrices)), 3, 1e-3, 5)
    assert error <= 1e-3
    assert abs(share / 8 - exact.value) < 4.5 * error / 8


def test_offsets_estimate_from_below():
    codes, scores = rows_of(LIKELIHOODS)
    # Of all mixtures of crisp classifiers only the corners matter, and few of the 243 are.
    points = points_of(all_answers(LIKELIHOODS))
    known, error = _rust.covered_share(np.ascontiguousarray(points), 3, 2e-3, 0)
    values = [8 * multiauc.ferri_vus_score(codes, scores, classifiers=m, rng=1) for m in (1, 24, 1000)]
    # The shares that docs/volumes.md has.
    assert known / 8 == pytest.approx(0.0483, abs=2e-3)
    np.testing.assert_allclose(np.array(values) / known, [0.57, 0.77, 0.87], atol=3 * error / known + 0.005)


def test_a_panic_of_the_core_is_a_runtime_error():
    # Rates of another number of classes, which the public function refuses.
    with pytest.raises(RuntimeError, match=r"report"):
        _rust.covered_share(np.zeros((1, 2)), 3, 0.01, 0)


@pytest.mark.parametrize("rule", ["sum", "prod", "distance"])
def test_rates_of_weighted_surfaces(rule):
    data, weights = named_sample(), np.random.default_rng(0).lognormal(size=90)
    sample = read_sample(*data, weights, LABELS, "raise")
    assert_rates(find_surface(sample, rule, 9), data, weights, rule)
