"""Figures 2 to 8 and Table 1 of the multi-class ROC paper (Wang and Carvalho), for multiclass-roc.md.

    python docs/papers/multiclass_roc.py [--quick]

A few minutes. Simulations are in multiclass_roc_simulations.py, what contradicts the paper in multiclass_roc_claims.py;
here are the six data sets: models fitted to one half and judged on the other, on several splits. Without the data
(`../shared/data`) these places of the page and their figures stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal

import multiclass_roc_claims as claims
import multiclass_roc_sets as sets
import multiclass_roc_simulations as simulations
import numpy as np
from matplotlib import pyplot as plt
from pages import is_quick, publish, save, table
from redrawn_rates import redraw_rates

import multiauc
from multiauc._inference.bootstrap import ranking_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PAGE = "multiclass-roc.md"
Measure = Literal["multiclass_roc", "hand_till", "auc_mu"]
MEASURES: Final[dict[Measure, str]] = {"multiclass_roc": "D", "hand_till": "M", "auc_mu": "AUC_mu"}
COLOURS: Final = {"knn": "C0", "multi": "C1", "tree": "C2"}
LOW_RATES: Final = (0.02, 0.05, 0.10)


@dataclass(frozen=True)
class Outcome:
    """How the models fared on one data set; the first axis of arrays is the split."""

    name: str
    values: dict[str, Array]
    """By measure: (splits, models)."""
    shares: dict[str, Array]
    """By measure, and "binomial" for the paper's redrawn rates: (splits, orders), the share of resamples."""
    errors: dict[str, Array]
    """Standard errors of D by "rows" and "binomial": (splits, models)."""
    ratios: dict[str, Array]
    """By measure: |difference| / standard error of pairs of models, (splits, pairs)."""
    heights: Array
    """True-positive rates of the curves at `LOW_RATES`: (splits, models, rates)."""
    first: dict[str, Any]
    """Of the first split: the curves, their bootstraps, and the intervals by (measure, model)."""

    def orders(self, measure: str = "multiclass_roc") -> list[sets.Order]:
        """The order by a measure on each split."""
        return [sets.order_of(dict(zip(sets.MODELS, row, strict=True))) for row in self.values[measure].tolist()]


def outcome(name: str, splits: int, resamples: int, redrawn: int) -> Outcome:
    """Judge the models on the test half of every split."""
    found: dict[str, list[Any]] = {key: [] for key in ("values", "shares", "errors", "ratios", "heights", "binomial")}
    first: dict[str, Any] = {}
    for split in range(splits):
        codes, scores = sets.predictions(name, splits, split)
        compared = {measure: multiauc.compare(codes, scores, metric=measure) for measure in MEASURES}
        drawn = {measure: comparison.bootstrap(resamples, rng=split) for measure, comparison in compared.items()}
        curves = {model: multiauc.multiclass_roc(codes, p) for model, p in scores.items()}
        redrawn_curves = [redraw_rates(roc, redrawn, split, by_pair=True) for roc in curves.values()]
        binomial = np.stack([bootstrap.replicates for bootstrap in redrawn_curves], axis=1)
        found["values"].append([[e.value for e in comparison.estimates.values()] for comparison in compared.values()])
        found["shares"].append([in_columns(b.ranking_probabilities()) for b in drawn.values()])
        found["binomial"].append(in_columns(ranking_shares(binomial, sets.MODELS)))
        found["errors"].append([drawn["multiclass_roc"].standard_error, binomial.std(axis=0, ddof=1)])
        found["ratios"].append([difference_ratios(b) for b in drawn.values()])
        found["heights"].append([np.interp(LOW_RATES, roc.fpr, roc.tpr) for roc in curves.values()])
        if split == 0:
            first = {
                "curves": curves,
                "bootstraps": {model: roc.bootstrap(resamples, rng=0) for model, roc in curves.items()},
                "replicates": drawn["multiclass_roc"].replicates,
                "intervals": {
                    (measure, model): (
                        drawn[measure].confidence_interval(model)
                        if measure == "multiclass_roc"
                        else compared[measure].estimates[model].confidence_interval()
                    )
                    for measure in MEASURES
                    for model in sets.MODELS
                },
            }
    arrays = {key: np.array(lists) for key, lists in found.items()}
    by_measure: dict[str, dict[str, Array]] = {
        key: {measure: arrays[key][:, j] for j, measure in enumerate(MEASURES)}
        for key in ("values", "shares", "ratios")
    }
    return Outcome(
        name,
        by_measure["values"],
        {**by_measure["shares"], "binomial": arrays["binomial"]},
        {"rows": arrays["errors"][:, 0], "binomial": arrays["errors"][:, 1]},
        by_measure["ratios"],
        arrays["heights"],
        first,
    )


def in_columns(probabilities: dict[sets.Order, float]) -> list[float]:
    """Probabilities of orders in the order of the paper's columns."""
    return [probabilities.get(order, 0.0) for order in sets.ORDERS]


def difference_ratios(drawn: multiauc.ComparisonBootstrap) -> list[float]:
    """|Difference| / standard error of each pair of models; nan where resamples do not vary."""
    differences = [drawn.difference(a, b) for a, b in combinations(sets.MODELS, 2)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return [float(np.abs(d.value) / np.std(d.replicates, ddof=1)) for d in differences]


# --- tables -----------------------------------------------------------------------------------------------------------


def share(value: float) -> str:
    """Two decimals, a dash for never."""
    return f"{value:.2f}" if value > 0.0 else "–"


def table_1(outcomes: Sequence[Outcome]) -> str:
    """The paper's ranking probabilities, ours as means over splits, and the orders of D itself."""
    rows = []
    for found in outcomes:
        ours = found.shares["multiclass_roc"].mean(axis=0)
        split_shares = [found.orders().count(order) / len(found.orders()) for order in sets.ORDERS]
        rows.append([found.name, "paper", *map(share, sets.PAPER_TABLE[found.name])])
        rows.append(["", "we get", *map(share, ours)])
        rows.append(["", "splits", *map(share, split_shares)])
    return table(["data", "", *(" > ".join(order) for order in sets.ORDERS)], rows)


def values_table(outcomes: Sequence[Outcome]) -> str:
    """D, M and AUC_mu with intervals on the first split, and their spread over splits."""
    rows = []
    for found in outcomes:
        for j, model in enumerate(sets.MODELS):
            row = [found.name if j == 0 else "", model]
            for measure in MEASURES:
                low, high = found.first["intervals"][measure, model]
                row.append(f"{found.values[measure][0, j]:.3f} ({low:.3f} to {high:.3f})")
            row += [
                f"{found.values[measure][:, j].mean():.3f} ± {found.values[measure][:, j].std(ddof=1):.3f}"
                for measure in MEASURES
            ]
            rows.append(row)
    heads = [f"{name}, first split (95%)" for name in MEASURES.values()]
    return table(["data", "model", *heads, *(f"{name}, all splits" for name in MEASURES.values())], rows)


def agreement(orders: list[sets.Order]) -> float:
    """The share of pairs of splits with the same order."""
    pairs = list(combinations(orders, 2))
    return sum(a == b for a, b in pairs) / len(pairs)


def certainty_table(outcomes: Sequence[Outcome]) -> str:
    """How sure the two bootstraps are of an order, and how often two splits agree on it; standard errors of D."""
    rows = []
    for found in outcomes:
        sure = [found.shares[kind].max(axis=1).mean() for kind in ("binomial", "multiclass_roc")]
        errors = [found.errors[kind].mean() for kind in ("binomial", "rows")]
        spread = found.values["multiclass_roc"].std(axis=0, ddof=1).mean()
        numbers = [*(f"{p:.2f}" for p in (*sure, agreement(found.orders()))), *(f"{e:.4f}" for e in (*errors, spread))]
        rows.append([found.name, *numbers])
    heads = ["surest order, binomial", "surest order, rows", "two splits agree"]
    return table(["data", *heads, "SE of D, binomial", "SE of D, rows", "sd of D over splits"], rows)


def sharpness(found: Outcome, measure: str) -> float:
    """The mean over splits and pairs of models of |difference| / standard error, where both are defined."""
    ratios = found.ratios[measure]
    return float(ratios[np.isfinite(ratios)].mean())


def sharpness_table(outcomes: Sequence[Outcome]) -> str:
    """Which measure tells models apart best."""
    rows = []
    for found in outcomes:
        agreeing = [f"{agreement(found.orders(measure)):.2f}" for measure in MEASURES]
        rows.append([found.name, *(f"{sharpness(found, measure):.2f}" for measure in MEASURES), *agreeing])
    heads = [f"difference / SE, {name}" for name in MEASURES.values()]
    return table(["data", *heads, *(f"two splits agree, {name}" for name in MEASURES.values())], rows)


def glass_table(glass: Outcome) -> str:
    """The left ends of the curves of Figure 8 for glass."""
    best = glass.heights.argmax(axis=1)
    rows = []
    for j, model in enumerate(sets.MODELS):
        heights = glass.heights[:, j]
        cells = [
            f"{heights[:, r].mean():.3f} ± {heights[:, r].std(ddof=1):.3f}, best in {(best[:, r] == j).sum()}"
            for r in range(len(LOW_RATES))
        ]
        rows.append([model, *cells])
    return table(["model", *(f"TPR at FPR {rate:g}" for rate in LOW_RATES)], rows)


def variants_table(names: Sequence[str], splits: int) -> str:
    """The share of splits on which D has the paper's surest order, by what the paper does not say."""
    rows = []
    for text, choices in sets.VARIANTS.items():
        orders = {name: sets.orders_of_splits(name, splits, choices) for name in names}
        rows.append([text, *(share(found.count(sets.paper_order(name)) / splits) for name, found in orders.items())])
    return table(["choice", *(f"{name}: {' > '.join(sets.paper_order(name))}" for name in names)], rows)


def readings_table(name: str, splits: int) -> str:
    """Mean D of the models over splits by how the paper can be read, the largest in bold."""
    rows = []
    for scope in sets.SCOPES:
        for center in sets.CENTERS:
            choices = replace(sets.DEFAULTS, scope=scope, center=center)
            areas = [sets.areas_of_split(name, splits, split, choices) for split in range(splits)]
            means = {model: float(np.mean([found[model] for found in areas])) for model in sets.MODELS}
            best = max(means.values())
            cells = (f"**{mean:.3f}**" if mean == best else f"{mean:.3f}" for mean in means.values())
            rows.append([scope, center, *cells])
    return table(["thresholds", "model of rates", *sets.MODELS], rows)


# --- figures ----------------------------------------------------------------------------------------------------------


def draw_7(outcomes: Sequence[Outcome]) -> None:
    """Boxes of resampled D on the first split; M as a blue dot, as in the paper, AUC_mu as a triangle."""
    figure, panels = plt.subplots(2, 3, figsize=(8.4, 5.4), layout="constrained", squeeze=False)
    for axes, found in zip(panels.flat, outcomes, strict=False):
        axes.boxplot(found.first["replicates"], whis=(2.5, 97.5), sym="", widths=0.5, medianprops={"color": "0.3"})
        places = np.arange(1, 4)
        for measure, style in zip(MEASURES, ("kD", "bo", "r^"), strict=True):
            axes.plot(places, found.values[measure][0], style, markersize=4, label=MEASURES[measure])
        axes.set_title(found.name)
        axes.set_xticks(places, sets.MODELS)
    panels[0, 0].legend(frameon=False, fontsize=8)
    save(figure, "multiclass-roc-7")


def draw_8(outcomes: Sequence[Outcome]) -> None:
    """The curves of the first split with their bands; where all models are good, only the corner."""
    figure, panels = plt.subplots(2, 3, figsize=(8.4, 6), layout="constrained", squeeze=False)
    for axes, found in zip(panels.flat, outcomes, strict=False):
        for model, roc in found.first["curves"].items():
            band = found.first["bootstraps"][model].band()
            axes.fill_between(band.fpr, band.low, band.high, color=COLOURS[model], alpha=0.2, linewidth=0)
            axes.plot(roc.fpr, roc.tpr, color=COLOURS[model], linewidth=1.2, label=f"{model}: D = {roc.auc:.3f}")
        simulations.frame_curves(axes, found.name)
        if min(roc.auc for roc in found.first["curves"].values()) > 0.955:
            axes.set(xlim=(0, 0.2), ylim=(0.8, 1), title=f"{found.name} (the corner)")
        axes.legend(fontsize=7, loc="lower right")
    save(figure, "multiclass-roc-8")


# --- the page ---------------------------------------------------------------------------------------------------------


def simulated(*, quick: bool) -> dict[str, str]:
    """Figures 2 to 6."""
    n, size, mixes = (4000, 2000, 4) if quick else (50_000, 30_000, 30)
    ratios = np.geomspace(1.2, 100.0, 6 if quick else 25)
    counts = simulations.class_counts(n, 5 if quick else 200)
    models = simulations.discrimination(n, (2, 5, 10) if quick else range(1, 11))
    chances = simulations.skew_chances(10_000, ratios)
    mixed = simulations.class_skew(n, size, mixes)
    values = (0.1, 1.0, 10.0) if quick else simulations.REWARDS
    rewarded = simulations.rewards(10_000, (5,) if quick else (5, 10, 15), values)
    if not quick:
        simulations.draw_2(counts)
        simulations.draw_3(models)
        simulations.draw_4(chances, ratios)
        simulations.draw_5(mixed)
        simulations.draw_6(rewarded)
    return {
        "figure-2": simulations.table_2(counts),
        "figure-3": simulations.table_3(models),
        "figure-4": simulations.table_4(),
        "figure-4-error": f"{simulations.furthest(chances):.3f}",
        "figure-5": simulations.table_5(mixed),
        "figure-6": simulations.table_6(rewarded),
    }


def contradicted(*, quick: bool) -> dict[str, str]:
    """The evidence where we disagree."""
    samples, resamples = (10, 20) if quick else (500, 100)
    return {
        "coverage": claims.coverage_table(claims.coverage(samples, resamples), samples),
        "kappa": claims.kappa_table(),
        "costs": claims.cost_table()[0],
        "skew": claims.skew_table()[0],
    }


def on_data(*, quick: bool) -> dict[str, str]:
    """Figures 7 and 8, Table 1, and what they depend on."""
    splits, resamples, redrawn = (3, 40, 10) if quick else (20, 1000, 100)
    names = sets.SMALL if quick else tuple(sets.FILES)
    outcomes = [outcome(name, splits, resamples, redrawn) for name in names]
    if not quick:
        draw_7(outcomes)
        draw_8(outcomes)
    return {
        "table-1": table_1(outcomes),
        "values": values_table(outcomes),
        "certainty": certainty_table(outcomes),
        "sharpness": sharpness_table(outcomes),
        "glass": glass_table(outcomes[-1]),
        "variants": variants_table(names, splits),
        "readings": readings_table("glass", splits),
    }


def main() -> None:
    """Compute everything; fill the page."""
    quick = is_quick(__doc__)
    texts = simulated(quick=quick) | contradicted(quick=quick)
    if sets.are_there():
        texts |= on_data(quick=quick)
    else:
        print(sets.ABSENT)
    publish(PAGE, texts, quick=quick)


if __name__ == "__main__":
    main()
