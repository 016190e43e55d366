"""Simulations in rounds: every cell of a table gets some samples before any gets more, and a stopped run goes on.

A sample is a function of its cell and its number alone, so that neither the number of processes nor where a run was
stopped changes any result. What is kept of the samples are their sums, in a JSON file that is replaced as a whole.
"""

import argparse
import json
import math
import multiprocessing
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Found = dict[str, float]
SECONDS_BETWEEN_WRITES = 2.0


@dataclass
class Tally:
    """The sums over the samples of a cell, and what is true of its population."""

    truth: Found
    samples: int = 0
    sums: Found = field(default_factory=dict)
    squares: Found = field(default_factory=dict)

    def add(self, batch: list[Found]) -> None:
        """Count more samples."""
        self.samples += len(batch)
        for found in batch:
            for name, value in found.items():
                self.sums[name] = self.sums.get(name, 0.0) + value
                self.squares[name] = self.squares.get(name, 0.0) + value * value

    def mean(self, name: str) -> float:
        """The mean of a number, or the share of samples in which something holds."""
        return self.sums[name] / self.samples

    def deviation(self, name: str) -> float:
        """The standard deviation of a number over samples."""
        spread = self.squares[name] - self.samples * self.mean(name) ** 2
        return math.sqrt(max(0.0, spread) / (self.samples - 1))

    def error(self, name: str) -> float:
        """The Monte-Carlo standard error of a share; of none and all, as though one sample more were half of each."""
        share = (self.sums[name] + 0.5) / (self.samples + 1)
        own = self.mean(name)
        used = own if 0.0 < own < 1.0 else share
        return math.sqrt(used * (1.0 - used) / self.samples)

    def share(self, name: str) -> str:
        """A share with its Monte-Carlo standard error."""
        return f"{self.mean(name):.3f} ± {self.error(name):.3f}"


@dataclass(frozen=True)
class Study:
    """The cells of a table by name, what a sample of one of them shows, and what is true of its population."""

    cells: Mapping[str, Any]
    sample: Callable[[Any, Found, np.random.Generator], Found]
    truth: Callable[[Any], Found]
    # What else the samples depend on; a file of other samples is refused.
    about: dict[str, Any]

    def generator(self, name: str, number: int) -> np.random.Generator:
        """The random numbers of one sample."""
        return np.random.default_rng([zlib.crc32(name.encode()), number])

    def batch(self, name: str, truth: Found, first: int, size: int) -> list[Found]:
        """Samples first to first + size - 1 of a cell."""
        cell = self.cells[name]
        return [self.sample(cell, truth, self.generator(name, number)) for number in range(first, first + size)]


def read_state(study: Study, path: Path | None) -> dict[str, Tally]:
    """What a file has of the cells; nothing if there is no file."""
    if path is None or not path.exists():
        return {}
    content = json.loads(path.read_text())
    if content["about"] != study.about:
        raise SystemExit(f"{path} has samples of {content['about']}, not of {study.about}: give another --state")
    return {name: Tally(**tally) for name, tally in content["cells"].items() if name in study.cells}


def write_state(study: Study, tallies: dict[str, Tally], path: Path | None) -> None:
    """Replace the file, so that it is whole at any time."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    content = {"about": study.about, "cells": {name: asdict(tally) for name, tally in tallies.items()}}
    beside.write_text(json.dumps(content))
    beside.replace(path)


def run(
    study: Study, *, samples: int, size: int, seconds: float = math.inf, processes: int = 1, state: Path | None = None
) -> dict[str, Tally]:
    """Draw `size` samples of each cell in turn until all have `samples` or the time is up."""
    end = time.monotonic() + seconds
    tallies = read_state(study, state)
    written = time.monotonic()
    with _mapping(study, processes) as apply:
        unknown = [name for name in study.cells if name not in tallies]
        tallies |= {name: Tally(truth) for name, truth in apply(_truth, unknown)}
        for aim in [*range(size, samples, size), samples]:
            if time.monotonic() > end:
                break
            # An earlier run may have left in the middle of a round.
            short = [(name, tallies[name]) for name in study.cells if tallies[name].samples < aim]
            tasks = [(name, tally.truth, tally.samples, aim - tally.samples) for name, tally in short]
            for name, batch in apply(_batch, tasks):
                tallies[name].add(batch)
                if time.monotonic() > written + SECONDS_BETWEEN_WRITES:
                    write_state(study, tallies, state)
                    written = time.monotonic()
                if time.monotonic() > end:
                    break
    write_state(study, tallies, state)
    return {name: tallies[name] for name in study.cells}


class _Here:
    """The study that this process works on: it has functions, which a process inherits but cannot be sent."""

    study: Study


def _truth(name: str) -> tuple[str, Found]:
    return name, _Here.study.truth(_Here.study.cells[name])


def _batch(task: tuple[str, Found, int, int]) -> tuple[str, list[Found]]:
    return task[0], _Here.study.batch(*task)


@contextmanager
def _mapping(study: Study, processes: int) -> Iterator[Callable[[Callable[[Any], Any], list[Any]], Iterator[Any]]]:
    """What applies a function to tasks, here or in processes of its own, and gives the results in any order."""
    _Here.study = study
    if processes == 1:
        yield map
        return
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield pool.imap_unordered


def arguments_of(description: str | None, *, samples: int, size: int, seconds: float) -> argparse.ArgumentParser:
    """The options that all simulations have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=samples, help=f"of each cell, in all runs ({samples})")
    parser.add_argument("--round", type=int, default=size, help=f"samples of a cell before the next one's ({size})")
    parser.add_argument("--seconds", type=float, default=seconds, help=f"most time for this run ({seconds:.0f})")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--state", type=Path, help="the file to keep the sums in, and to go on from")
    parser.add_argument("--output", type=Path, help="the file for the table")
    return parser


def go_on(study: Study, arguments: argparse.Namespace) -> dict[str, Tally]:
    """Run the study as the command line asks."""
    return run(
        study,
        samples=arguments.samples,
        size=arguments.round,
        seconds=arguments.seconds,
        processes=arguments.processes,
        state=arguments.state,
    )


def write(text: str, arguments: argparse.Namespace) -> None:
    """Into the file that was asked for, or onto the screen."""
    if arguments.output:
        arguments.output.write_text(text + "\n")
    else:
        print(text)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
