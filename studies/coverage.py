"""How often the closed-form intervals cover, and how often the paired test errs.

    MULTIAUC_NUM_THREADS=1 python studies/coverage.py --processes 2 --state target/coverage.json --output table.md

An hour at most; the same command again goes on where it was. Cells are all combinations of classes, class sizes, shapes
of scores and values of AUC_mu, and some of them once more with weights, groups, folds or class sizes drawn at random;
the populations are those of score_populations.py, whose metrics are known. Every sample gets the logit and the cautious
interval of three metrics, and paired tests of AUC_mu between models that are equally good, so that every rejection is
an error: two of the same shape, and two of different shapes.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from statistics import fmean
from typing import Final, Literal

import numpy as np
from rounds import Found, Study, Tally, arguments_of, go_on, markdown, write
from score_populations import EXTRAS, SHAPES, Model, draw, model

import multiauc

LEVEL = 0.95
THETAS: Final = (0.6, 0.8, 0.9, 0.97, 0.99)
SIZES: Final[dict[str, dict[int, tuple[int, ...]]]] = {
    "balanced": {k: (50,) * k for k in (2, 3, 4, 8)},
    "smallest 10": {
        2: (190, 10),
        3: (150, 40, 10),
        4: (120, 50, 20, 10),
        8: (150, 100, 60, 40, 30, 20, 15, 10),
    },
    "smallest 100": {
        2: (1900, 100),
        3: (1500, 400, 100),
        4: (1200, 500, 200, 100),
        8: (1500, 1000, 600, 400, 300, 200, 150, 100),
    },
}
# How many rows skewed scores near 1 need.
LARGER: Final[dict[str, dict[int, tuple[int, ...]]]] = {
    "smallest 200": {2: (3800, 200)},
    "smallest 500": {2: (9500, 500)},
}
METRICS: Final = ("auc_mu", "hand_till", "one_vs_rest_prevalence")
TITLES: Final = {"auc_mu": "AUC_mu", "hand_till": "M", "one_vs_rest_prevalence": "OvR"}
METHODS: Final[tuple[Literal["logit", "cautious"], ...]] = ("logit", "cautious")
# What the docs say: logit intervals where the smallest class has enough to show, cautious ones and tests everywhere.
ENOUGH_TO_SHOW = 10.0
LEAST_COVERAGE: Final = {"logit": 0.93, "cautious": 0.94}
LARGEST_SIZE: Final = {"same": 0.06, "different": 0.10}
# The sizes at which class shares are what other samples would not have.
SHARES_ARE_DRAWN: Final = ("groups across classes", "class sizes drawn")


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    sizes: tuple[int, ...]
    shape: str
    theta: float
    extra: str = ""

    @property
    def name(self) -> str:
        """By which the file of sums knows it."""
        return f"{self.sizes}, {self.shape}, {self.theta}, {self.extra}"

    @property
    def errors_to_show(self) -> float:
        """Rows (or groups) of the smallest class times 1 - theta."""
        return min(self.sizes) * (1.0 - self.theta)

    @property
    def methods(self) -> tuple[Literal["logit", "cautious"], ...]:
        """The intervals that there are: no cautious ones with folds."""
        return METHODS[:1] if self.extra == "folds" else METHODS

    @property
    def models(self) -> tuple[Model, Model, Model]:
        """Two of the cell's shape and one of another, all with the same AUC_mu."""
        other = "skewed" if self.shape == "normal" else "normal"
        own, different = (model(shape, len(self.sizes), self.theta) for shape in (self.shape, other))
        return own, own, different


def cells() -> Iterator[Cell]:
    """The whole table."""
    for by_k in SIZES.values():
        for sizes in by_k.values():
            yield from (Cell(sizes, shape, theta) for shape in SHAPES for theta in THETAS)
    for by_k in LARGER.values():
        yield from (Cell(by_k[2], "skewed", theta) for theta in (0.97, 0.99))
    for extra in EXTRAS[1:]:
        for kind in ("balanced", "smallest 10"):
            for k in (2, 4):
                sizes = SIZES[kind][k]
                yield from (Cell(sizes, shape, theta, extra) for shape in SHAPES for theta in (0.8, 0.97))


@cache
def columns(cell: Cell) -> tuple[float, ...]:
    """The population's A(c|d), which is the same for all d, of each class c."""
    return tuple(cell.models[0].column(c) for c in range(len(cell.sizes)))


def truth(cell: Cell) -> Found:
    """The metrics of the population."""
    prevalent = float(np.average(columns(cell), weights=cell.sizes))
    return {
        "auc_mu": cell.models[0].auc_mu,
        "hand_till": fmean(columns(cell)),
        "one_vs_rest_prevalence": prevalent,
    }


def sample(cell: Cell, true: Found, rng: np.random.Generator) -> Found:
    """What one sample shows."""
    drawn = draw(rng, cell.sizes, cell.models, cell.extra)
    if cell.extra not in SHARES_ARE_DRAWN:  # the class sizes are what they are
        masses = np.bincount(drawn.codes, drawn.options.get("sample_weight"))
        true = true | {"one_vs_rest_prevalence": float(np.average(columns(cell), weights=masses))}
    found: Found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of samples in which nothing varies
        result = multiauc.evaluate(drawn.codes, drawn.scores[0], metrics=METRICS, **drawn.options)
        for metric in METRICS:
            estimate = result.metrics[metric]
            for method in cell.methods:
                low, high = estimate.confidence_interval(LEVEL, method=method)
                found[f"{metric} {method}"] = float(low <= true[metric] <= high)
                if metric == "auc_mu":
                    found[f"width {method}"] = float(np.nan_to_num(high - low))
        found |= {"value": result.auc_mu.value, "variance": result.auc_mu.variance()}
        models = dict(zip(("own", "same", "different"), drawn.scores, strict=True))
        comparison = multiauc.compare(drawn.codes, models, metric="auc_mu", **drawn.options)
        for name in ("same", "different"):
            found[f"test {name}"] = float(comparison.difference("own", name).p_value < 1.0 - LEVEL)
    return found


STUDY = Study({cell.name: cell for cell in cells()}, sample, truth, {"study": "closed form", "level": LEVEL})

HEAD: Final = [
    *("class sizes", "scores", "θ", "SE / sd"),
    *(f"{TITLES[metric]}, {method}" for metric in METRICS for method in METHODS),
    *("width", "test, same shape", "test, other shape", "samples"),
]


def table(found: dict[str, Tally], extra: str) -> str:
    """All cells of a kind, every share with its Monte-Carlo standard error."""
    rows = []
    for name, tally in found.items():
        cell = STUDY.cells[name]
        if cell.extra != extra or tally.samples < 2:
            continue
        ratio = np.sqrt(tally.mean("variance")) / tally.deviation("value")
        row = [", ".join(map(str, cell.sizes)), cell.shape, f"{cell.theta:g}", f"{ratio:.2f}"]
        for metric, method in product(METRICS, METHODS):
            row.append(tally.share(f"{metric} {method}") if method in cell.methods else "")
        has_both = cell.methods == METHODS
        row.append(f"{tally.mean('width cautious') / tally.mean('width logit'):.2f}" if has_both else "")
        rows.append([*row, tally.share("test same"), tally.share("test different"), str(tally.samples)])
    return markdown(HEAD, rows)


def summary(found: dict[str, Tally]) -> str:
    """The lowest coverage over numbers of classes and metrics, and the largest sizes of the tests over all values."""
    kinds = {sizes: kind for kind, by_k in (SIZES | LARGER).items() for sizes in by_k.values()}
    gathered: dict[tuple[str, ...], list[tuple[Cell, Tally]]] = defaultdict(list)
    for name, tally in found.items():
        cell = STUDY.cells[name]
        if tally.samples >= 2:
            gathered[cell.extra or "plain", kinds[cell.sizes], cell.shape].append((cell, tally))
    rows = []
    for key, members in gathered.items():
        by_theta = [[one for one in members if one[0].theta == theta] for theta in THETAS]
        sizes = [max(tally.mean(f"test {kind}") for _, tally in members) for kind in ("same", "different")]
        rows.append([*key, *(_lowest(cells) for cells in by_theta), *(f"{size:.3f}" for size in sizes)])
    head = ["", "class sizes", "scores", *(f"θ = {theta:g}" for theta in THETAS)]
    return markdown([*head, "test, same shape", "test, other shape"], rows)


def _lowest(cells: list[tuple[Cell, Tally]]) -> str:
    """The lowest coverage of logit and of cautious intervals in some cells."""
    lowest = [
        min(tally.mean(f"{metric} {method}") for _, tally in cells for metric in METRICS)
        for method in (cells[0][0].methods if cells else ())
    ]
    return " / ".join(f"{share:.3f}" for share in lowest)


def problems(found: dict[str, Tally]) -> list[str]:
    """What does not hold of what the docs say, by more than three Monte-Carlo standard errors."""
    wrong = []
    for name, tally in found.items():
        cell = STUDY.cells[name]
        for metric, method in product(METRICS, cell.methods if tally.samples else ()):
            least, share = LEAST_COVERAGE[method], tally.mean(f"{metric} {method}")
            is_promised = method == "cautious" or round(cell.errors_to_show, 9) >= ENOUGH_TO_SHOW
            if is_promised and share < least - three_errors(least, tally):
                wrong.append(f"{name}: {method} intervals of {metric} cover {share:.3f}")
        for kind, largest in LARGEST_SIZE.items() if tally.samples else ():
            share = tally.mean(f"test {kind}")
            if share > largest + three_errors(largest, tally):
                wrong.append(f"{name}: the test of {kind} shapes errs {share:.3f}")
    return wrong


def three_errors(share: float, tally: Tally) -> float:
    """Three Monte-Carlo standard errors of a share."""
    return 3.0 * float(np.sqrt(share * (1.0 - share) / tally.samples))


def main() -> None:
    """Go on with the simulation and write the tables."""
    arguments = arguments_of(__doc__, samples=1000, size=50, seconds=3600.0).parse_args()
    found = go_on(STUDY, arguments)
    parts = [summary(found), *(f"{extra or 'plain'}\n\n{table(found, extra)}" for extra in EXTRAS)]
    write("\n\n".join(parts), arguments)
    print("\n".join(problems(found)) or f"{len(found)} cells: all limits are kept")


if __name__ == "__main__":
    main()
