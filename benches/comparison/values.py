"""Do the tools give the same number? On continuous scores yes; on tied or saturated ones this shows why not."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from comparison import data
from comparison.data import Sample
from comparison.grid import Cell
from comparison.tools import OURS, PEERS, our_tool

if TYPE_CHECKING:
    from comparison.grid import Grid, Size
    from comparison.tools import Tool

#: Agreement asked of every peer on continuous scores.
TOLERANCE = 1e-9
#: Doubles nearest to a fraction with a denominator up to the first, or to a decimal with the second, stand for it.
LARGEST_DENOMINATOR = 1000
DECIMAL = 1_000_000


@dataclass
class Agreement:
    """The largest difference between a peer's value and ours over a set of inputs of one dtype."""

    peer: Tool
    dtype: str
    largest: float = -1.0
    size: Size | None = None

    @property
    def within_tolerance(self) -> bool:
        """Whether the values are the same to `TOLERANCE`."""
        return 0 <= self.largest <= TOLERANCE


def agreements(grid: Grid) -> list[Agreement]:
    """Compare every value in the grid with ours for the same metric and input."""
    found: dict[tuple[Tool, str], Agreement] = {}
    for cell, value in grid.values.items():
        if cell.tool in PEERS:
            ours = grid.values[Cell(our_tool(cell.tool.metric), cell.size, cell.dtype, 1)]
            agreement = found.setdefault((cell.tool, cell.dtype), Agreement(cell.tool, cell.dtype))
            if abs(value - ours) > agreement.largest:
                agreement.largest, agreement.size = abs(value - ours), cell.size
    return list(found.values())


@dataclass
class Example:
    """An input on which tools differ, the exact AUC_mu, and each tool's value."""

    title: str
    sample: Sample
    explanation: str
    exact: float = 0.0
    values: dict[Tool, float] = field(default_factory=dict)


def _as_fraction(value: float) -> Fraction:
    candidates = (Fraction(value).limit_denominator(LARGEST_DENOMINATOR), Fraction(round(value * DECIMAL), DECIMAL))
    return next((nearest for nearest in candidates if nearest and float(nearest) == value), Fraction(value))


def exact_auc_mu(sample: Sample) -> float:
    """AUC_mu in rational arithmetic: a double nearest to a small fraction counts as that fraction, else as itself."""
    labels, scores = sample
    n_classes = scores.shape[1]
    read = _as_fraction if scores.dtype == np.float64 else Fraction
    rows = [[[read(float(value)) for value in row] for row in scores[labels == k]] for k in range(n_classes)]
    total = Fraction(0)
    for c in range(n_classes):
        for d in range(c):
            own = [row[c] - row[d] for row in rows[c]]
            other = sorted(row[c] - row[d] for row in rows[d])
            wins = sum(bisect_left(other, value) + bisect_right(other, value) for value in own)
            total += Fraction(wins, 2 * len(own) * len(other))
    return float(total * 2 / (n_classes * (n_classes - 1)))


def _votes() -> Sample:
    labels, chances = data.smooth(2_000, 4, seed=1)
    return Sample(labels, np.random.default_rng(2).multinomial(10, chances) / 10)


def _saturated() -> Sample:
    return data.smooth(2_000, 4, "float32", seed=3, sharpness=12.0)


def _tiny() -> Sample:
    generator = np.random.default_rng(4)
    labels = generator.integers(0, 2, 2_000)
    second = 1e-20 * np.exp(generator.standard_normal(2_000) + labels)
    return Sample(labels, np.column_stack([1 - second, second]))


def measure_examples() -> list[Example]:
    """Run every available tool on inputs with ties and saturation."""
    examples = [
        Example(
            "Votes: float64 scores that are multiples of 1/10",
            _votes(),
            "On paper 0.3 - 0.2 and 0.2 - 0.1 are a tie; as doubles they are not. multiauc compares such scores as the "
            "fractions they stand for; subtracting doubles breaks ties one way or the other. M and one-vs-rest compare "
            "scores, not differences, so every tool sees the same ties there.",
        ),
        Example(
            "A confident network: saturated float32 softmax",
            _saturated(),
            "Next to 1 the difference of two scores does not fit a double together with the small scores it depends "
            "on. multiauc keeps the rounding error of the subtraction where it decides; CatBoost forms the difference "
            "from sums over the row, which loses more.",
        ),
        Example(
            "Two classes, second score around 1e-20, first score 1 minus it",
            _tiny(),
            "The first score is exactly 1 in every row, and so is the difference of the two once it is rounded: all "
            "pairs tie. The second scores still have an order, which the rounding error of the subtraction preserves. "
            "M and one-vs-rest average both columns, of which the first is constant (0.5); scikit-learn is given the "
            "second alone.",
        ),
    ]
    for example in examples:
        example.exact = exact_auc_mu(example.sample)
        for tool in (*OURS, *PEERS):
            if tool.missing() is None:
                example.values[tool] = tool.call(*example.sample, 1)
    return examples
