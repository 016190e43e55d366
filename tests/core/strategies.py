"""Samples to test on: score distributions by name, hypothesis strategies over them, and the worked example."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

Rng = np.random.Generator
Maker = Callable[[Rng, int, int], np.ndarray]

# The worked example: thirteen rows in sixteenths, all its values known as fractions.
PAPER_CODES = np.array([0] * 4 + [1] * 4 + [2] * 5)
PAPER_SCORES = (
    np.array(
        [
            *[(8, 4, 4), (5, 6, 5), (10, 4, 2), (6, 4, 6)],
            *[(4, 8, 4), (7, 6, 3), (2, 10, 4), (4, 8, 4)],
            *[(4, 4, 8), (8, 2, 6), (7, 3, 6), (2, 7, 7), (1, 2, 13)],
        ]
    )
    / 16
)


@dataclass(frozen=True)
class Sample:
    """Labels 0..K-1, scores and weights; `labels` are passed because a class may have no rows."""

    codes: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None = None

    @property
    def n_classes(self) -> int:
        return self.scores.shape[1]

    @property
    def labels(self) -> list[int]:
        return list(range(self.n_classes))

    @property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        return self.codes, self.scores


# --- Score distributions ----------------------------------------------------------------------------------------------


def softmax(logits: np.ndarray) -> np.ndarray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def smooth(rng: Rng, n: int, k: int) -> np.ndarray:
    """Probabilities of a plausible classifier."""
    return softmax(rng.normal(scale=2.0, size=(n, k)))


def votes(rng: Rng, n: int, k: int, voters: Any) -> np.ndarray:
    """Shares of `voters` votes (one number, or one per row), as k nearest neighbours or a forest give them."""
    voters = np.broadcast_to(voters, n)
    return (
        np.stack([rng.multinomial(m, row) for m, row in zip(voters, smooth(rng, n, k), strict=True)]) / voters[:, None]
    )


def coarse_votes(rng: Rng, n: int, k: int) -> np.ndarray:
    return votes(rng, n, k, rng.integers(1, 13))


def fine_votes(rng: Rng, n: int, k: int) -> np.ndarray:
    return votes(rng, n, k, rng.integers(13, 1001))


def mixed_denominators(rng: Rng, n: int, k: int) -> np.ndarray:
    """Leaves of different sizes: small ones that tie often, and any up to 1000."""
    small, any_size = rng.integers(1, 8, size=n), rng.integers(1, 1001, size=n)
    return votes(rng, n, k, np.where(rng.random(n) < 0.7, small, any_size))


def independent_fractions(rng: Rng, n: int, k: int) -> np.ndarray:
    """Cells with their own small denominators, of either sign and beyond 1."""
    return rng.integers(-8, 9, size=(n, k)) / rng.integers(1, 7, size=(n, k))


def rounded_decimals(rng: Rng, n: int, k: int) -> np.ndarray:
    return np.round(smooth(rng, n, k), int(rng.integers(1, 9)))


def decimals_of_all_lengths(rng: Rng, n: int, k: int) -> np.ndarray:
    """One to eight digits in one sample, from a few values so that differences tie."""
    digits = 10.0 ** rng.integers(1, 9, size=(n, k))
    return np.round(rng.integers(0, 12, size=(n, k)) / 10 + rng.integers(0, 4, size=(n, k)) / digits, 8)


def fractions_and_smooth(rng: Rng, n: int, k: int) -> np.ndarray:
    return np.where(rng.random((n, 1)) < 0.5, votes(rng, n, k, 10), smooth(rng, n, k))


def near_ties(rng: Rng, n: int, k: int) -> np.ndarray:
    """Tenths and thirds, and doubles a few units in the last place away from them."""
    base = rng.choice([0.1, 0.2, 0.3, 1 / 3, 2 / 3, 0.5, 1.0], size=(n, k))
    return base + rng.integers(-2, 3, size=(n, k)) * np.spacing(base)


def near_equal_differences(rng: Rng, n: int, k: int) -> np.ndarray:
    """Rows that differ by a constant up to rounding, so that differences of scores nearly tie."""
    pattern = rng.choice([0.0, 0.1, 0.25, 1 / 3], size=(n, k))
    return pattern + rng.choice([0.0, 0.3, 1e-3, 7.0, 1e6], size=(n, 1))


def tiny(rng: Rng, n: int, k: int) -> np.ndarray:
    """Denormal numbers, their neighbourhood, and zero."""
    scores = 10.0 ** rng.uniform(-323, -290, size=(n, k))
    return np.where(rng.random((n, k)) < 0.2, 5e-324 * rng.integers(0, 4, size=(n, k)), scores)


def tiny_beside_ordinary(rng: Rng, n: int, k: int) -> np.ndarray:
    return np.where(
        rng.random((n, k)) < 0.6, 10.0 ** rng.choice([-26.0, -200.0, -300.0], size=(n, k)), rng.random((n, k))
    )


def tiny_beside_fractions(rng: Rng, n: int, k: int) -> np.ndarray:
    """Differences such as 1/3 - 1e-300: the tiny operand decides, however many digits below the other."""
    tiny_values = 10.0 ** rng.choice([-18.0, -26.0, -40.0, -200.0, -300.0], size=(n, k)) * rng.integers(
        1, 4, size=(n, k)
    )
    return np.where(rng.random((n, k)) < 0.5, tiny_values, rng.choice([1 / 3, 0.1, 0.7, 1 / 7, 0.5, 1.0], size=(n, k)))


def huge(rng: Rng, n: int, k: int) -> np.ndarray:
    """Up to the largest double, of both signs: differences overflow."""
    return rng.choice([-1.0, 1.0], size=(n, k)) * rng.choice([1.7e308, 1.6e308, 1e300, 1.0], size=(n, k))


def huge_near_ties(rng: Rng, n: int, k: int) -> np.ndarray:
    """Differences that overflow and are equal but for the last place."""
    base = rng.choice([-1.7e308, 1.7e308, -8e307, 1e308], size=(n, k))
    return base + rng.integers(-2, 3, size=(n, k)) * np.spacing(base)


def all_magnitudes(rng: Rng, n: int, k: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], size=(n, k)) * 10.0 ** rng.uniform(-307, 308, size=(n, k))


def saturated(rng: Rng, n: int, k: int) -> np.ndarray:
    """A confident network: exactly 1.0 beside probabilities far below the spacing of doubles at 1."""
    scores = 10.0 ** rng.uniform(-24, -17, size=(n, k))
    scores[np.arange(n), rng.integers(0, k, size=n)] = 1.0
    return scores


def signed_zeros(rng: Rng, n: int, k: int) -> np.ndarray:
    return rng.choice([0.0, -0.0, 5e-324, -5e-324, 1.0], size=(n, k))


def large_fractions(rng: Rng, n: int, k: int) -> np.ndarray:
    """Fractions of every denominator as far out as a double still names a single one."""
    base = rng.choice([1e3, 1e6, 2.0**21], size=(n, 1))
    return base + rng.integers(0, 100, size=(n, k)) / rng.integers(1, 1001, size=(n, k))


def fractions_out_of_range(rng: Rng, n: int, k: int) -> np.ndarray:
    """Thirds on both sides of the limit from which on a double stands for itself."""
    return 2.0**22 + rng.integers(-6, 7, size=(n, k)) / 3


def two_values(rng: Rng, n: int, k: int) -> np.ndarray:
    return rng.choice([0.2, 0.7], size=(n, k))


def constant(rng: Rng, n: int, k: int) -> np.ndarray:
    return np.full((n, k), rng.choice([0.0, 1 / k, 1.0]))


def near_ties_single(rng: Rng, n: int, k: int) -> np.ndarray:
    """Neighbouring float32 numbers: off every lattice, so each stands for itself."""
    base = rng.choice(np.array([0.1, 0.2, 0.3, 0.7], dtype=np.float32), size=(n, k))
    return base + rng.integers(-2, 3, size=(n, k)).astype(np.float32) * np.spacing(base)


def one_off_lattice(rng: Rng, n: int, k: int) -> np.ndarray:
    """Tenths, except for one cell: a single precision sample that is not on a lattice."""
    scores = votes(rng, n, k, 10)
    scores[rng.integers(n), rng.integers(k)] = np.pi / 10
    return scores


def percentages(rng: Rng, n: int, k: int) -> np.ndarray:
    return np.round(100 * smooth(rng, n, k), int(rng.integers(0, 4)))


def tiny_single(rng: Rng, n: int, k: int) -> np.ndarray:
    return 10.0 ** rng.uniform(-45, -30, size=(n, k))


def huge_single(rng: Rng, n: int, k: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], size=(n, k)) * rng.choice([3.4e38, 3.3e38, 1e30, 1.0], size=(n, k))


COMMON: tuple[Maker, ...] = (
    *(smooth, coarse_votes, fine_votes, rounded_decimals, saturated, signed_zeros, two_values, constant),
    *(fractions_and_smooth, tiny_beside_ordinary),
)
DOUBLE: tuple[Maker, ...] = (
    *COMMON,
    *(mixed_denominators, independent_fractions, near_ties, near_equal_differences, tiny, tiny_beside_fractions),
    *(decimals_of_all_lengths, huge, huge_near_ties, all_magnitudes, large_fractions, fractions_out_of_range),
)
SINGLE: tuple[Maker, ...] = (*COMMON, near_ties_single, one_off_lattice, percentages, tiny_single, huge_single)


# --- Samples ----------------------------------------------------------------------------------------------------------


def rows_of_sizes(sizes: Sequence[int]) -> np.ndarray:
    return np.repeat(np.arange(len(sizes)), sizes)


def make_sample(make: Maker, sizes: Sequence[int], seed: Any, dtype: Any = np.float64, signal: bool = True) -> Sample:
    """Rows in random order; with `signal` the best score of a row tends to be that of its class."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(rows_of_sizes(sizes))
    with np.errstate(under="ignore"):
        scores = make(rng, len(codes), len(sizes)).astype(dtype)
    if signal:
        for i in np.flatnonzero(rng.random(len(codes)) < 0.5):
            best = int(np.argmax(scores[i]))
            scores[i, [best, codes[i]]] = scores[i, [codes[i], best]]
    return Sample(codes, scores)


def with_weights(sample: Sample, kind: str, seed: Any) -> Sample:
    """Weights of a kind: "integer" (with zeros), "real", or "wild" (sixteen orders of magnitude)."""
    rng, n = np.random.default_rng(seed), len(sample.codes)
    weights = {
        "integer": lambda: rng.integers(0, 5, size=n).astype(float),
        "real": lambda: rng.random(n) + 0.01,
        "wild": lambda: 10.0 ** rng.uniform(-8, 8, size=n),
    }[kind]()
    for c in np.unique(sample.codes):  # every class keeps some weight
        weights[np.flatnonzero(sample.codes == c)[0]] += 1
    return Sample(sample.codes, sample.scores, weights)


@st.composite
def class_sizes(draw: st.DrawFn, max_classes: int = 30, max_rows: int = 100) -> list[int]:
    """From two to many classes, balanced or not, each with at least one row."""
    k = draw(st.integers(2, max_classes))
    return draw(st.lists(st.integers(1, max(2, min(25, max_rows // k))), min_size=k, max_size=k))


@st.composite
def samples(
    draw: st.DrawFn,
    makers: Sequence[Maker] | None = None,
    dtypes: Sequence[Any] = (np.float64, np.float32),
    sizes: st.SearchStrategy[list[int]] | None = None,
    weights: Sequence[str | None] = (None,),
) -> Sample:
    """A sample of one of the `makers` (by default all that suit the dtype)."""
    dtype = draw(st.sampled_from(list(dtypes)))
    make = draw(st.sampled_from(makers or (DOUBLE if dtype is np.float64 else SINGLE)))
    drawn = draw(sizes if sizes is not None else class_sizes())
    seed = draw(st.integers(0, 2**32 - 1))
    sample = make_sample(make, drawn, seed, dtype, signal=draw(st.booleans()))
    kind = draw(st.sampled_from(list(weights)))
    return sample if kind is None else with_weights(sample, kind, seed)


@st.composite
def arbitrary_samples(draw: st.DrawFn) -> Sample:
    """Few rows, every score drawn on its own: what hypothesis finds nasty, small fractions, copies of either."""
    k = draw(st.integers(2, 4))
    codes = draw(st.permutations([*range(k), *draw(st.lists(st.integers(0, k - 1), max_size=10))]))
    doubles = st.floats(allow_nan=False, allow_infinity=False)
    fractions = st.builds(lambda a, b: a / b, st.integers(-1000, 1000), st.integers(1, 1000))
    pool = draw(st.lists(doubles | fractions, min_size=1, max_size=8))
    cells = draw(st.lists(st.sampled_from(pool), min_size=len(codes) * k, max_size=len(codes) * k))
    return Sample(np.array(codes), np.array(cells, dtype=np.float64).reshape(len(codes), k))


def memory_layouts(scores: np.ndarray) -> dict[str, np.ndarray]:
    """The same numbers in every way NumPy can hold them."""
    n, k = scores.shape
    padded = np.full((2 * n, 3 * k), np.nan, dtype=scores.dtype)
    padded[::2, ::3] = scores
    read_only = scores.copy()
    read_only.flags.writeable = False
    return {
        "C order": np.ascontiguousarray(scores),
        "Fortran order": np.asfortranarray(scores),
        "strided": padded[::2, ::3],
        "negative strides": np.ascontiguousarray(scores[::-1, ::-1])[::-1, ::-1],
        "transposed view": np.ascontiguousarray(scores.T).T,
        "read-only": read_only,
    }
