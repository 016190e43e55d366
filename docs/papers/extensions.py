"""Figures 4 to 6 of the paper on extensions of ROC and AUC to several classes, for extensions.md.

    python docs/papers/extensions.py [--quick]

Every score has a normal density in every class, so that all values have closed forms (`multiauc.NormalScores`); samples
drawn from the densities check them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import pyplot as plt
from pages import is_quick, publish, save, table
from scipy import integrate, stats

import multiauc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Figure 4(a): the mean of a score in its own class, and in the two others.
CASES = {"o": (1.5, (1.0, 1.25)), "a": (5.0, (1.0, 3.0)), "b": (5.0, (1.0, 2.0)), "c": (5.0, (1.0, 4.0))}
CASE_NAMES = {"o": "all close", "a": "evenly apart", "b": "own apart", "c": "own close to one"}

#: Figure 4(b): one letter for each score.
SCENARIOS = {
    "ooo": 0.6042, "ooa": 0.7226, "oob": 0.7329, "ooc": 0.6958, "oaa": 0.8411,
    "oab": 0.8513, "oac": 0.8142, "obb": 0.8616, "obc": 0.8245, "occ": 0.7874,
    "aaa": 0.9595, "aab": 0.9698, "aac": 0.9327, "abb": 0.9801, "abc": 0.9429,
    "acc": 0.9058, "bbb": 0.9904, "bbc": 0.9532, "bcc": 0.9161, "ccc": 0.8790,
}  # fmt: skip

#: Section 5.2: the mean of score i in class j.
SITUATIONS = {
    "A": np.array([[5.0, 3, 1], [1, 5, 3], [1, 3, 5]]),
    "B": np.array([[1.5, 1.25, 1], [1, 5, 3], [1, 4, 5]]),
}
# The second class's share of the rows; the first has a third, the third class what is left.
SHARES = (0.02, 0.1, 1 / 6, 0.25, 1 / 3, 5 / 12, 0.5, 0.6, 0.6467)


def scenario(cases: str) -> multiauc.NormalScores:
    """Three balanced classes, whose scores have these cases."""
    means = np.empty((3, 3))
    for axis, case in enumerate(cases):
        own, others = CASES[case]
        means[axis] = np.insert(np.array(others), axis, own)
    return multiauc.NormalScores(means, 1.0)


def situation(name: str, share: float) -> multiauc.NormalScores:
    """The first class has a third of the rows, the second the share given."""
    return multiauc.NormalScores(SITUATIONS[name], 1.0, prevalence=[1 / 3, share, 2 / 3 - share])


def entropy(share: float) -> float:
    """The paper's measure of balance, 1 for classes of equal size."""
    return -sum(p * math.log(p, 3) for p in (1 / 3, share, 2 / 3 - share))


# --- numbers ----------------------------------------------------------------------------------------------------------


def rows_of_scenarios(n: int) -> str:
    """Figure 4(b)."""
    rows = []
    for cases, says in SCENARIOS.items():
        scores = scenario(cases)
        y_true, y_score = scores.sample(n, rng=1)
        found = multiauc.evaluate(y_true, y_score, metrics=["hand_till"]).hand_till
        rows.append(
            [
                "".join(f"[{case}]" for case in cases),
                f"{says:.4f}",
                f"{scores.one_vs_rest_prevalence:.4f}",
                f"{scores.hand_till:.4f}",
                f"{found.value:.4f} ± {found.standard_error:.4f}",
                f"{scores.auc_mu:.4f}",
            ]
        )
    header = ["scenario", "the paper: one-vs-rest", "we get: one-vs-rest", "M", "M of a sample", "AUC_mu"]
    return table(header, rows)


def largest_gap() -> float:
    """How far M and one-vs-rest are apart, at most, in the twenty scenarios."""
    return max(abs(each.hand_till - each.one_vs_rest_prevalence) for each in map(scenario, SCENARIOS))


def equation_eight(means: Array, i: int, j: int) -> float:
    """The right side of the paper's equation 8, as it is printed, by quadrature."""
    own, other = stats.norm(means[i, i], 1.0), stats.norm(means[i, j], 1.0)
    found, _ = integrate.quad(lambda t: other.pdf(t) * own.cdf(t), -12.0, 18.0, points=[means[i, i], means[i, j]])
    return float(found)


def rows_of_imbalance(name: str, n: int) -> str:
    """Figure 5 (situation A) or 6 (B)."""
    rows = []
    for share in SHARES:
        scores = situation(name, share)
        y_true, y_score = scores.sample(n, rng=2)
        estimates = (
            multiauc.one_vs_rest_score(y_true, y_score, average=average)
            for average in ("prevalence_equal_rest", "prevalence")
        )
        equal, pooled = (f"{value:.4f}" for value in estimates)
        rows.append(
            [
                f"{share:.3f}, {2 / 3 - share:.3f}",
                f"{entropy(share):.3f}",
                f"{scores.hand_till:.4f} ({multiauc.hand_till_score(y_true, y_score):.4f})",
                f"{scores.one_vs_rest_prevalence_equal_rest:.4f} ({equal})",
                f"{scores.one_vs_rest_prevalence:.4f} ({pooled})",
            ]
        )
    header = ["shares of classes 2, 3", "entropy", "M", "one-vs-rest, eq. 18", "one-vs-rest, eq. 2"]
    return table(header, rows)


def rows_of_volumes(n: int) -> str:
    """What Table 2 has no formula for, in the two situations with balanced classes."""
    rows = []
    for name, means in SITUATIONS.items():
        scores = multiauc.NormalScores(means, 1.0)
        classes = np.repeat(np.arange(3), n // 3)
        y_score = scores.scores_of(classes, rng=3)
        volume = multiauc.hum(classes, y_score)
        ferri = multiauc.ferri_vus_score(classes, y_score, classifiers=24, rng=0)
        rows.append(
            [
                f"situation {name}",
                f"{scores.hand_till:.4f}",
                f"{scores.auc_mu:.4f}",
                f"{volume.value:.4f} ± {volume.standard_error:.4f}",
                f"at least {ferri:.4f}",
            ]
        )
    header = ["", "M", "AUC_mu", "HUM, three scores at a time (chance 0.1667)", "Ferri's volume (largest 0.1250)"]
    return table(header, rows)


def texts(*, quick: bool) -> dict[str, str]:
    """All that this script fills in."""
    n = 3_000 if quick else 200_000
    # Where a class is rare, the two kinds of one-vs-rest differ most.
    rare = situation("A", SHARES[0])
    printed = equation_eight(SITUATIONS["A"], 0, 1)
    return {
        "scenarios": rows_of_scenarios(n),
        "largest-gap": f"{largest_gap():.0e}",
        "equation-eight": f"{printed:.4f}, where A(1|2) is {rare.pair_auc(0, 1):.4f}",
        "situation-a": rows_of_imbalance("A", n),
        "situation-b": rows_of_imbalance("B", n),
        "volumes": rows_of_volumes(300 if quick else 3_000),
    }


# --- figures ----------------------------------------------------------------------------------------------------------


def draw_cases() -> None:
    """Figure 4(a)."""
    figure, panels = plt.subplots(1, 4, figsize=(9.2, 2.0), layout="constrained", sharey=True)
    x = np.linspace(-2.5, 8.5, 150)
    for axes, (case, (own, others)) in zip(panels, CASES.items(), strict=True):
        for mean in others:
            axes.plot(x, stats.norm.pdf(x, mean), color="0.55")
        axes.fill_between(x, stats.norm.pdf(x, own), color="#0072B2", alpha=0.25)
        axes.plot(x, stats.norm.pdf(x, own), color="#0072B2")
        axes.set(title=f"[{case}] {CASE_NAMES[case]}", yticks=[], xlabel="score")
        axes.spines[["top", "right", "left"]].set_visible(False)
    save(figure, "extensions-4a")


def draw_imbalance(n: int) -> None:
    """Figures 5 and 6: lines are closed forms, dots are samples."""
    figure, panels = plt.subplots(1, 2, figsize=(9.2, 3.8), layout="constrained")
    kinds = {
        "one-vs-rest, rest weighted equally (eq. 18)": ("one_vs_rest_prevalence_equal_rest", "#D55E00"),
        "one-vs-rest, rest pooled (eq. 2)": ("one_vs_rest_prevalence", "#0072B2"),
    }
    for axes, name, number in zip(panels, SITUATIONS, (5, 6), strict=True):
        samples = {share: situation(name, share).sample(n, rng=2) for share in SHARES}
        for label, (attribute, colour) in kinds.items():
            for low, high, style, rarer in ((0.005, 1 / 3, "-", "2"), (1 / 3, 2 / 3 - 0.005, "--", "3")):
                shares = np.linspace(low, high, 50)
                values = [getattr(situation(name, share), attribute) for share in shares]
                text = f"{label}, class {rarer} rarer"
                axes.plot([entropy(share) for share in shares], values, style, color=colour, label=text)
            average = attribute.removeprefix("one_vs_rest_")
            dots = [multiauc.one_vs_rest_score(*drawn, average=average) for drawn in samples.values()]  # type: ignore[arg-type]
            axes.plot([entropy(share) for share in SHARES], dots, "o", color=colour, markersize=4)
        axes.axhline(situation(name, 1 / 3).hand_till, color="black", linewidth=1, linestyle=":", label="M")
        axes.set(xlabel="entropy of the class shares", title=f"Figure {number} (situation {name})", ylabel="value")
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", frameon=False, fontsize=8, ncols=2
    )
    save(figure, "extensions-5-6")


def main() -> None:
    """Fill the page and draw."""
    quick = is_quick(__doc__)
    publish("extensions.md", texts(quick=quick), quick=quick)
    if not quick:
        draw_cases()
        draw_imbalance(200_000)


if __name__ == "__main__":
    main()
