"""Where the numbers contradict the multi-class ROC paper: its intervals, its remark on kappa and MCC, costs, skew."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from pages import table
from redrawn_rates import redraw_rates

import multiauc

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "core"))
from coverage_multiclass_roc import PaperPopulation

from table_one import MEASURES, change_with_skew

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# --- intervals --------------------------------------------------------------------------------------------------------

RESAMPLINGS: Final = {
    "rows": "D, rows drawn within classes (the default here)",
    "binomial": "D, rates redrawn as binomial shares of n_c n_d trials (the paper)",
    "binomial_class_size": "D, the same with n_c and n_d trials",
}
CLOSED_FORMS: Final = {"hand_till": "M, analytic", "auc_mu": "AUC_mu, analytic"}


def coverage(samples: int, resamples: int) -> dict[str, tuple[float, float, float]]:
    """By method: the share of nominal 95% intervals that hold the population's value, their mean width, the sd wanted.

    The population is the paper's simulation with three classes; a sample has 600 rows.
    """
    population = PaperPopulation(3, 600)
    codes, scores = population.large_sample()
    whole = multiauc.evaluate(codes, scores, metrics=tuple(CLOSED_FORMS))
    true_d = multiauc.multiclass_roc(codes, scores).auc
    names = [*RESAMPLINGS, *CLOSED_FORMS]
    hits, widths, values = np.empty((samples, 5)), np.empty((samples, 5)), np.empty((samples, 5))
    rng = np.random.default_rng(6)
    for s in range(samples):
        codes, scores = population.sample(rng)
        roc = multiauc.multiclass_roc(codes, scores)
        evaluation = multiauc.evaluate(codes, scores, metrics=tuple(CLOSED_FORMS))
        redrawn = [redraw_rates(roc, resamples, s, by_pair=by_pair) for by_pair in (True, False)]
        bootstraps = [roc.bootstrap(resamples, s), *redrawn]
        found = [(true_d, roc.auc, bootstrap.confidence_interval()) for bootstrap in bootstraps]
        for name in CLOSED_FORMS:
            estimate = evaluation.metrics[name]
            found.append((whole.metrics[name].value, estimate.value, estimate.confidence_interval()))
        for j, (truth, value, (low, high)) in enumerate(found):
            hits[s, j], widths[s, j], values[s, j] = low <= truth <= high, high - low, value
    spread = values.std(axis=0, ddof=1)
    return {
        name: (float(hits[:, j].mean()), float(widths[:, j].mean()), float(spread[j])) for j, name in enumerate(names)
    }


def coverage_table(found: dict[str, tuple[float, float, float]], samples: int) -> str:
    """The shares with their Monte-Carlo standard errors."""
    rows = []
    for name, text in (*RESAMPLINGS.items(), *CLOSED_FORMS.items()):
        share, width, spread = found[name]
        error = np.sqrt(share * (1 - share) / samples)
        rows.append([text, f"{share:.3f} ± {error:.3f}", f"{width:.4f}", f"{3.92 * spread:.4f}"])
    return table(["interval", "covers", "mean width", "3.92 standard deviations of the value"], rows)


# --- kappa and MCC ----------------------------------------------------------------------------------------------------

#: (TP, FN, FP, TN)
CONFUSIONS: Final = ((20, 5, 10, 15), (90, 10, 5, 895), (30, 20, 60, 890), (8, 2, 400, 590))


def means_of_the_paper(tp: int, fn: int, fp: int, tn: int) -> tuple[float, Fraction]:
    """The geometric and the harmonic mean of the two ratios in section 1.1 of the paper."""
    excess = tp * tn - fp * fn
    first, second = Fraction(excess, (tp + fp) * (fp + tn)), Fraction(excess, (tp + fn) * (fn + tn))
    return float(np.sqrt(float(first * second))), 2 * first * second / (first + second)


def kappa_and_mcc(tp: int, fn: int, fp: int, tn: int) -> tuple[float, float]:
    """(kappa, MCC) of the same decisions."""
    y_true = np.repeat([1, 1, 0, 0], [tp, fn, fp, tn])
    decided = np.repeat([1, 0, 1, 0], [tp, fn, fp, tn])
    found = multiauc.evaluate(y_true, np.eye(2)[decided], metrics=("kappa", "matthews"))
    return found.kappa.value, found.matthews.value


def kappa_table() -> str:
    """Both means beside kappa and MCC."""
    rows = []
    for cells in CONFUSIONS:
        geometric, harmonic = means_of_the_paper(*cells)
        kappa, mcc = kappa_and_mcc(*cells)
        numbers = (geometric, mcc, float(harmonic), kappa)
        rows.append([", ".join(map(str, cells)), *(f"{number:.6f}" for number in numbers)])
    return table(["TP, FN, FP, TN", "geometric mean", "MCC", "harmonic mean", "kappa"], rows)


# --- costs and AUC_mu -------------------------------------------------------------------------------------------------

#: costs[i, j]: of deciding for class i where the truth is j.
COSTS: Final = {
    "all mistakes cost 1": np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, 0]]),
    "confusing the first two classes costs 10": np.array([[0.0, 10, 1], [10, 0, 1], [1, 1, 0]]),
}


def two_models(n: int) -> tuple[NDArray[np.intp], dict[str, Array]]:
    """Three classes; A knows the first two better than the third, B the third better than the first two."""
    codes = np.arange(n) % 3
    noise = np.random.default_rng(0).normal(size=(n, 3))
    signals = {"A": (1.6, 1.6, 0.6), "B": (1.0, 1.0, 2.0)}
    odds = {name: np.exp(noise + np.eye(3)[codes] * signal) for name, signal in signals.items()}
    return codes, {name: values / values.sum(axis=1, keepdims=True) for name, values in odds.items()}


def cost_table(n: int = 3000) -> tuple[str, dict[str, float]]:
    """AUC_mu and what decisions of least expected cost do cost; also the difference A - B of AUC_mu by costs."""
    codes, models = two_models(n)
    rows, differences = [], {}
    for text, costs in COSTS.items():
        compared = multiauc.compare(codes, models, partition=costs).difference("A", "B")
        values = [multiauc.auc_mu_score(codes, p, partition=costs) for p in models.values()]
        spent = [costs[(p @ costs.T).argmin(axis=1), codes].mean() for p in models.values()]
        low, high = compared.confidence_interval()
        differences[text] = compared.value
        rows.append(
            [
                text,
                *(f"{value:.4f}" for value in values),
                f"{compared.value:+.4f} ({low:+.4f} to {high:+.4f})",
                *(f"{mean:.3f}" for mean in spent),
            ]
        )
    heads = ["costs", "AUC_mu of A", "AUC_mu of B", "A − B (95%)", "mean cost of A", "mean cost of B"]
    return table(heads, rows), differences


# --- skew -------------------------------------------------------------------------------------------------------------


def skew_table() -> tuple[str, dict[str, float]]:
    """How much measures change when every row of one class is there ten times instead of once."""
    changes = {name: change_with_skew(MEASURES[name]) for name in ("D", "H&T (M)", "AUC_mu", "P&D")}
    return table(["measure", "change"], ([name, f"{change:.4f}"] for name, change in changes.items())), changes
