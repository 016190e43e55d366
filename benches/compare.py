"""Compare multiauc with the tools people use, in one run, and write the report.

``make bench`` runs it in full and keeps the report as benches/RESULTS.md; ``make bench-quick`` prints a shorter one.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from comparison import memory, uncertainty
from comparison.grid import DTYPES, Deadline, Size, measure_grid, measure_shapes, measure_small
from comparison.report import Measurements, write
from comparison.tools import OURS, PEERS, Tool
from comparison.values import measure_examples


@dataclass(frozen=True)
class Plan:
    """What to measure, and how long at most."""

    command: str
    sizes: tuple[Size, ...]
    dtypes: tuple[str, ...]
    memory_sizes: tuple[Size, ...]
    #: The peers' memory is measured at these sizes, in float64.
    peer_memory_sizes: tuple[Size, ...]
    shape_size: Size
    #: Where `evaluate` is set against the bare scores.
    evaluation_size: Size
    max_turns: int
    budget_seconds: float
    deadline_seconds: float


FULL = Plan(
    command="make bench",
    sizes=(
        Size(10_000, 10),
        Size(100_000, 10),
        Size(1_000_000, 10),
        Size(1_000_000, 3),
        Size(10_000_000, 2),
        Size(100_000, 100),
        Size(1_000_000, 100),
    ),
    dtypes=DTYPES,
    memory_sizes=(Size(1_000_000, 3), Size(1_000_000, 10), Size(10_000_000, 2), Size(100_000, 100)),
    peer_memory_sizes=(Size(1_000_000, 10), Size(100_000, 100)),
    shape_size=Size(1_000_000, 10),
    evaluation_size=Size(1_000_000, 10),
    max_turns=15,
    budget_seconds=1.5,
    deadline_seconds=11 * 60,
)
QUICK = Plan(
    command="make bench-quick",
    sizes=(Size(10_000, 10), Size(100_000, 10), Size(1_000_000, 3)),
    dtypes=DTYPES,
    memory_sizes=(Size(1_000_000, 10),),
    peer_memory_sizes=(),
    shape_size=Size(100_000, 10),
    evaluation_size=Size(1_000_000, 10),
    max_turns=7,
    budget_seconds=0.8,
    deadline_seconds=80,
)
SMOKE = Plan(
    command="make bench-smoke",
    sizes=(Size(2_000, 2), Size(2_000, 5)),
    dtypes=DTYPES,
    memory_sizes=(Size(20_000, 5),),
    peer_memory_sizes=(),
    shape_size=Size(5_000, 4),
    evaluation_size=Size(5_000, 4),
    max_turns=2,
    budget_seconds=0.5,
    deadline_seconds=60,
)


def measure_memory(plan: Plan) -> dict[tuple[Tool, Size, str], float]:
    """Measure our functions at every size and dtype, the peers where the plan asks for them."""
    places = [(tool, size, dtype) for size in plan.memory_sizes for dtype in plan.dtypes for tool in OURS]
    places += [(tool, size, "float64") for size in plan.peer_memory_sizes for tool in PEERS if tool.missing() is None]
    return {place: memory.measure(place[0], *place[1], place[2]) for place in places}


def run(plan: Plan) -> Measurements:
    """Carry out `plan`."""
    for tool in PEERS:
        problem = tool.missing()
        print(f"{tool.name}: {tool.version if problem is None else f'left out: {problem}'}", flush=True)
    deadline = Deadline(plan.deadline_seconds)
    small = measure_small(max_turns=4 * plan.max_turns, budget_seconds=plan.budget_seconds)
    print(f"{deadline.elapsed:5.0f} s  shapes of scores", flush=True)
    shapes = measure_shapes(
        plan.shape_size, plan.dtypes, max_turns=plan.max_turns, budget_seconds=plan.budget_seconds / 4
    )
    print(f"{deadline.elapsed:5.0f} s  standard errors", flush=True)
    evaluations = uncertainty.measure(
        plan.evaluation_size, plan.dtypes, max_turns=plan.max_turns, budget_seconds=2 * plan.budget_seconds
    )
    print(f"{deadline.elapsed:5.0f} s  memory", flush=True)
    extra = measure_memory(plan)
    print(f"{deadline.elapsed:5.0f} s  ties and saturation", flush=True)
    examples = measure_examples()
    grid = measure_grid(plan.sizes, plan.dtypes, deadline, max_turns=plan.max_turns, budget_seconds=plan.budget_seconds)
    return Measurements(
        command=plan.command,
        sizes=plan.sizes,
        dtypes=plan.dtypes,
        grid=grid,
        small=small,
        shapes=shapes,
        shape_size=plan.shape_size,
        evaluations=evaluations,
        evaluation_size=plan.evaluation_size,
        memory=extra,
        examples=examples,
        elapsed_seconds=deadline.elapsed,
    )


def main() -> None:
    """Read the command line, measure, and write or print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_const", const=QUICK, default=FULL, dest="plan", help="a few sizes")
    effort.add_argument(
        "--smoke", action="store_const", const=SMOKE, dest="plan", help="tiny data, to see that it runs"
    )
    parser.add_argument("--output", type=Path, help="the file to write; without it the report is printed")
    arguments = parser.parse_args()
    report = write(run(arguments.plan))
    if arguments.output is None:
        print(f"\n{report}")
    else:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(report, encoding="utf-8")
        print(f"wrote {arguments.output}")


if __name__ == "__main__":
    main()
