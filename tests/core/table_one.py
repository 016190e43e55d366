"""The entries of Table 1 of the AUC_mu paper, computed: for its five measures and for the others of this package."""

from collections.abc import Callable

import numpy as np

import multiauc

Measure = Callable[[np.ndarray, np.ndarray], float]


def ferri(codes: np.ndarray, scores: np.ndarray) -> float:
    """As a share of the perfect value, with few offsets; three classes."""
    return 8.0 * multiauc.ferri_vus_score(codes, scores, classifiers=4, rng=0)


def area_d(codes: np.ndarray, scores: np.ndarray) -> float:
    """The area under the multi-class ROC curve."""
    return float(multiauc.multiclass_roc(codes, scores).auc)


MEASURES: dict[str, Measure] = {
    "VUS-3 (Mossman) = HUM, sums": lambda y, p: multiauc.hum_score(y, p, rng=0),
    "HUM, products = Landgrebe & Duin": lambda y, p: multiauc.landgrebe_duin_score(y, p, rng=0),
    "HUM, distances": lambda y, p: multiauc.hum_score(y, p, rule="distance", rng=0),
    "VUS (Ferri) / V_max": ferri,
    "H&T (M)": multiauc.hand_till_score,
    "P&D": lambda y, p: multiauc.one_vs_rest_score(y, p, average="prevalence"),
    "AUC_mu": multiauc.auc_mu_score,
    "PDI": multiauc.pdi_score,
    "D": area_d,
}

#: Figure 1 of the paper: argmax is right about all rows.
FIGURE_ONE = np.array([0, 1, 2]), np.array([[6, 5, 5], [7, 9, 0], [7, 0, 9]]) / 16


def on_separable_rows(measure: Measure) -> float:
    """The value where argmax is always right, as in the paper's Figure 1."""
    return measure(*FIGURE_ONE)


def on_constant_scores(measure: Measure) -> float:
    """The value where all rows of three classes have the same scores."""
    codes = np.repeat(np.arange(3), [10, 20, 30])
    return measure(codes, np.full((60, 3), 1 / 3))


def change_with_skew(measure: Measure) -> float:
    """How much the value changes when every row of one class is there ten times instead of once."""
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(3), 40)
    scores = rng.dirichlet(np.ones(3), size=120) + [0.3, 0.5, 0.8] * np.eye(3)[codes]
    times = np.where(codes == 2, 10, 1)
    return abs(measure(np.repeat(codes, times), np.repeat(scores, times, axis=0)) - measure(codes, scores))
