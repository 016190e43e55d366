"""Timing: the contestants take turns, and the best turn of each counts."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

Key = TypeVar("Key", bound="Hashable")

#: Idle time before each turn: lets the spinning worker threads of the previous contestant go to sleep.
PAUSE_SECONDS = 0.005
#: A call that takes longer than this is not repeated.
ONCE_ABOVE_SECONDS = 8.0
#: Calls shorter than this are repeated within a turn until they fill it.
TURN_SECONDS = 0.002


def seconds(work: Callable[[], object]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


@dataclass(frozen=True)
class Contestant:
    """What is timed: `call`, after an untimed `prepare`."""

    call: Callable[[], float]
    prepare: Callable[[], None] = lambda: None


@dataclass
class Timing:
    """Seconds per call in each turn, by the clock and on the processor, and the value of the last call."""

    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    value: float = math.nan

    @property
    def best(self) -> float:
        """The time of the best turn."""
        return min(self.seconds)

    @property
    def cpu(self) -> float:
        """The least processor time of a turn, all threads together."""
        return min(self.cpu_seconds)

    def take_turn(self, call: Callable[[], float]) -> float:
        """Time one turn and return how long it took in all."""
        calls = max(1, math.ceil(TURN_SECONDS / self.best)) if self.seconds else 1
        start, cpu_start = time.perf_counter(), time.process_time()
        for _ in range(calls):
            self.value = call()
        elapsed = time.perf_counter() - start
        self.seconds.append(elapsed / calls)
        self.cpu_seconds.append((time.process_time() - cpu_start) / calls)
        return elapsed


def take_turns(contestants: Mapping[Key, Contestant], *, max_turns: int, budget_seconds: float) -> dict[Key, Timing]:
    """Time `contestants` in rounds: in each, every one that has budget left is called once.

    A contestant leaves after `max_turns` turns, or when its turns so far and one more like the best would pass
    `budget_seconds`; everyone has at least one turn, and two if they are shorter than `ONCE_ABOVE_SECONDS`.
    """
    timings = {key: Timing() for key in contestants}
    budgets = dict.fromkeys(contestants, budget_seconds)
    while budgets:
        for key in list(budgets):
            timing, contestant = timings[key], contestants[key]
            contestant.prepare()
            time.sleep(PAUSE_SECONDS)
            budgets[key] -= timing.take_turn(contestant.call)
            turns = len(timing.seconds)
            over_budget = budgets[key] < timing.best and (turns > 1 or timing.best > ONCE_ABOVE_SECONDS)
            if turns >= max_turns or over_budget:
                del budgets[key]
    return timings
