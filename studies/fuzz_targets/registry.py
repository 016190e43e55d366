"""Targets of the fuzz: small functions that call the library with random arguments and say what is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Rng = np.random.Generator
#: Yields sentences about what is wrong; none if all is right.
Check = Callable[[Rng], Iterator[str]]

#: What a public function may raise for arguments that it cannot use. A panic of the core is none of them.
ALLOWED = (ValueError, TypeError, OverflowError, MemoryError)


@dataclass(frozen=True)
class Target:
    """A check, and the functions of the compiled core that it reaches."""

    name: str
    check: Check
    reaches: tuple[str, ...]


TARGETS: dict[str, Target] = {}


def target(*reaches: str) -> Callable[[Check], Check]:
    """Put a check among the targets; `reaches` are functions and classes of ``multiauc._rust``."""

    def registered(check: Check) -> Check:
        TARGETS[check.__name__] = Target(check.__name__, check, reaches)
        return check

    return registered


@dataclass(frozen=True)
class Finding:
    """What is wrong, and how to see it again."""

    target: str
    seed: int
    number: int
    problem: str

    def __str__(self) -> str:
        again = f"python studies/fuzz.py --seed {self.seed} --case {self.number} --target {self.target}"
        return f"{self.target}: {self.problem}\n\nAgain: {again}"


def first_finding(seed: int, number: int, name: str | None = None) -> Finding | None:
    """What the target of this number (or of this name) finds; the same for the same seed and number."""
    names = list(TARGETS)
    name = names[number % len(names)] if name is None else name
    rng = np.random.default_rng([seed, number, 1])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            problem = next(TARGETS[name].check(rng), None)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a panic is no Exception
            problem = f"raised {type(error).__name__}: {error}"
    return None if problem is None else Finding(name, seed, number, problem)


def answer(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a function returns, or None if it refuses the arguments as it may."""
    try:
        return function(*arguments, **options)
    except ALLOWED:
        return None


def outside(what: str, value: Any, low: float = 0.0, high: float = 1.0) -> Iterator[str]:
    """A sentence if a number is not finite or lies outside of its range."""
    if value is not None and not low <= float(value) <= high:
        yield f"{what} is {value!r}, not between {low} and {high}"


def unequal(what: str, found: Any, expected: Any, tolerance: float = 1e-12) -> Iterator[str]:
    """A sentence if one of two calls was refused, or their answers differ."""
    if (found is None) != (expected is None):
        yield f"{what}: one of two equivalent calls was refused: {found!r}, {expected!r}"
    elif found is not None and not np.allclose(found, expected, rtol=0.0, atol=tolerance, equal_nan=True):
        yield f"{what}: {found!r} instead of {expected!r}"
