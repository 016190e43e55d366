"""Ferri's volume: known values, and drawn points against a general solver of linear programmes."""

import sys
from itertools import product
from math import factorial

import numpy as np
import pytest

import multiauc

scipy_optimize = pytest.importorskip("scipy.optimize")


def even(n_classes, right):
    """The rates of a classifier that is right that often, and errs evenly."""
    wrong = (1.0 - right) / (n_classes - 1)
    return np.full((n_classes, n_classes), wrong) + (right - wrong) * np.eye(n_classes)


def points_of(matrices):
    n_classes = matrices.shape[1]
    always = np.stack([np.tile(answer, (n_classes, 1)) for answer in np.eye(n_classes)])
    return np.concatenate([always, matrices])[:, ~np.eye(n_classes, dtype=bool)]


def is_covered(points, point):
    """Whether a mixture of the points is nowhere above the point."""
    found = scipy_optimize.linprog(
        np.zeros(len(points)), A_ub=points.T, b_ub=point, A_eq=np.ones((1, len(points))), b_eq=[1.0], method="highs"
    )
    return found.status == 0


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (even(3, 0.8), 0.060933333333),
        (even(3, 1 / 3), 1 / 180),
        (np.eye(3), 1 / 8),
        (np.eye(2), 1.0),
        ([[5, 5], [5, 5]], 0.5),
        ([[80, 20], [30, 70]], 0.75),
    ],
)
def test_known_values(matrix, expected):
    found = multiauc.ferri_vus_of_confusions(matrix)
    assert found.value == pytest.approx(expected, rel=1e-9)
    n_classes = len(matrix)
    assert found.perfect == factorial(n_classes - 1) ** -n_classes
    assert (found.exact, found.monte_carlo_error) == (True, 0.0)
    assert np.isnan(found.standard_error)
    assert repr(found).startswith("Volume(Ferri's VUS ")
    assert found.to_frame()["value"][0] == found.value
    with pytest.raises(ValueError, match="not a mean over rows"):
        found.confidence_interval()


def test_two_classes_have_the_area_under_the_hull():
    rng = np.random.default_rng(0)
    fpr = np.sort(rng.random(6))
    tpr = np.sort(np.minimum(1.0, fpr + 0.4 * rng.random(6)))
    matrices = np.stack([[[1 - f, f], [1 - t, t]] for f, t in zip(fpr, tpr, strict=True)])
    points = np.array([(0.0, 0.0), *zip(fpr, tpr, strict=True), (1.0, 1.0)])
    # The hull by its definition: at every rate the largest value on a line between two points.
    grid = np.linspace(0.0, 1.0, 4001)
    height = np.zeros_like(grid)
    for (x, y), (u, v) in product(points, points):
        inside = (grid >= x) & (grid <= u) if u > x else np.zeros(len(grid), bool)
        height[inside] = np.maximum(height[inside], y + (v - y) * (grid[inside] - x) / (u - x))
    assert multiauc.ferri_vus_of_confusions(matrices).value == pytest.approx(np.trapezoid(height, grid), abs=1e-5)


def random_matrices(seed, count, n_classes):
    rng = np.random.default_rng(seed)
    return 0.5 * np.eye(n_classes) + 0.5 * rng.dirichlet(np.ones(n_classes), size=(count, n_classes))


def test_four_classes_are_drawn_and_say_so():
    found = multiauc.ferri_vus_of_confusions(even(4, 0.9), rng=0, precision=5e-3)
    assert not found.exact
    assert 0.0 < found.monte_carlo_error <= 5e-3 / 1296
    assert found.chance == 1 / 17_740_800
    assert found.chance < found.value < found.perfect
    assert multiauc.ferri_vus_of_confusions(even(4, 0.9), rng=0, precision=5e-3) == found
    perfect = multiauc.ferri_vus_of_confusions(np.eye(4), rng=0)
    assert perfect.value == perfect.perfect
    assert "sampled, Monte Carlo error" in repr(perfect)


def test_many_classifiers_of_three_classes_are_drawn():
    matrices = random_matrices(7, 110, 3)
    found = multiauc.ferri_vus_of_confusions(matrices, rng=0, precision=5e-3)
    assert not found.exact
    assert found.value > multiauc.ferri_vus_of_confusions(matrices[:3]).value


def test_more_classifiers_cover_more_and_worse_ones_nothing():
    matrices = random_matrices(6, 4, 3)
    values = [multiauc.ferri_vus_of_confusions(matrices[:k]).value for k in (1, 2, 4)]
    assert values == sorted(values)
    worse = 0.5 * matrices[:1] + 0.5 * np.tile(np.eye(3)[0], (3, 1))
    assert multiauc.ferri_vus_of_confusions(np.concatenate([matrices, worse])).value == pytest.approx(values[-1])
    counts = np.round(1000 * matrices)
    assert multiauc.ferri_vus_of_confusions(counts).value == pytest.approx(values[-1], abs=2e-3)


# --- soft classifiers -------------------------------------------------------------------------------------------------

#: How likely each of five values of the scores is in each of three classes.
LIKELIHOODS = np.array([[0.5, 0.2, 0.1, 0.15, 0.05], [0.1, 0.5, 0.15, 0.05, 0.2], [0.1, 0.1, 0.5, 0.1, 0.2]])


def all_answers(likelihoods):
    """The confusions of all crisp classifiers of scores with few values: every map from values to classes."""
    n_classes, n_values = likelihoods.shape
    answers = product(range(n_classes), repeat=n_values)
    return np.stack([likelihoods @ np.eye(n_classes)[list(answer)] for answer in answers])


def rows_of(likelihoods, per_class=200):
    counts = np.round(per_class * likelihoods).astype(int)
    codes = np.repeat(np.arange(3), counts.sum(axis=1))
    values = np.concatenate([np.repeat(np.arange(5), row) for row in counts])
    return codes, (likelihoods / likelihoods.sum(axis=0)).T[values]


def test_scores_of_known_problems():
    codes = np.tile(np.arange(3), 20)
    assert multiauc.ferri_vus_score(codes, np.eye(3)[codes], classifiers=3, rng=0) == pytest.approx(1 / 8, rel=1e-9)
    constant = multiauc.ferri_vus_score(codes, np.ones((60, 3)), classifiers=3, rng=0)
    assert constant == pytest.approx(1 / 180, rel=1e-9)
    binary = np.tile([0, 1], 30)
    scores = binary + np.random.default_rng(0).normal(size=60)
    found = multiauc.ferri_vus_score(binary, scores, classifiers=200, rng=0)
    auc = multiauc.auc_mu_score(binary, scores)
    assert auc < found < auc + 0.1
    present = codes != 1
    ignored = multiauc.ferri_vus_score(codes[present], np.eye(3)[codes[present]], labels=range(3), absent="ignore")
    assert ignored == 1.0
    assert np.isnan(multiauc.ferri_vus_score(codes[present], np.eye(3)[codes[present]], labels=range(3), absent="nan"))


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        (np.ones((3, 2)), r"shape \(m, K, K\) or \(K, K\); got shape \(1, 3, 2\)"),
        (np.ones((1, 1)), "at least two classes"),
        (-np.eye(3), r"not negative; got -1.0 at \[0, 0, 0\]"),
        (np.full((2, 3, 3), np.nan), "must be finite"),
        (np.diag([1, 0, 1]), "row 1 of matrix 0 is all zeros"),
    ],
)
def test_bad_matrices(matrices, message):
    with pytest.raises(ValueError, match=message):
        multiauc.ferri_vus_of_confusions(matrices)


def test_bad_scores():
    with pytest.raises(ValueError, match="classifiers must be a positive integer; got 0"):
        multiauc.ferri_vus_score([0, 1, 2], np.eye(3), classifiers=0)
    with pytest.raises(ValueError, match="y_score contains nan at row 1, column 2"):
        multiauc.ferri_vus_score([0, 1, 2], np.where(np.arange(9).reshape(3, 3) == 5, np.nan, np.eye(3)))


def test_without_scipy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        multiauc.ferri_vus_of_confusions(np.eye(3))
