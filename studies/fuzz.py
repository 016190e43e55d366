"""Random small samples against exact arithmetic, until the first difference (`make fuzz`).

    python studies/fuzz.py [--cases N] [--seconds S] [--seed SEED] [--state FILE] [--case NUMBER]
                           [--target NAME]

Each case is a sample of up to 12 rows of up to 5 classes with scores of many kinds (see fuzz_cases.py). AUC_mu, Hand &
Till's M, one-vs-rest, PDI and their values by class and by pair are compared with exact fractions; in one case of
sixteen the variances with sums over all pairs of rows, in another the drop-in with scikit-learn (see fuzz_checks.py).

Beside it, each case has one of the targets of fuzz_targets: an entry of the compiled core with arguments that may be
wrong, an invariance (of weights, hulls, decisions, densities), or stored bytes that were changed. `--target NAME` runs
that one alone; `--target none` runs the comparison alone.

A difference ends the run with the smallest part of the sample that still shows it, and the seed and the number of the
case: `--seed SEED --case NUMBER` runs it alone. With `--state FILE` a run goes on where the one before it stopped, with
its seed; `--cases` then counts those of all runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "core"))

from fuzz_cases import Case, make_case
from fuzz_checks import Compared, first_difference
from fuzz_targets import TARGETS, Finding, first_finding

# How often a run says how far it is and writes its state.
SECONDS_BETWEEN_REPORTS = 10.0
NO_TARGET = "none"


@dataclass
class State:
    """How far the runs have come."""

    seed: int
    cases: int = 0
    seconds: float = 0.0

    @classmethod
    def read(cls, path: Path | None, seed: int | None) -> State:
        """That of the runs before; a new one if there were none, or none of this seed."""
        if path is not None and path.exists():
            state = cls(**json.loads(path.read_text("utf-8")))
            if seed in (None, state.seed):
                return state
        return cls(0 if seed is None else seed)

    def write(self, path: Path | None) -> None:
        """Into a file of its own first, so that a run that is stopped leaves the old state or the new one."""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(path.name + ".new")
            new.write_text(json.dumps(asdict(self)) + "\n", "utf-8")
            new.replace(path)


def found_in(seed: int, number: int, target: str | None) -> Case | Finding | None:
    """What is wrong in a case; `target` is as that of the command line."""
    if target in (None, NO_TARGET):
        case = make_case(seed, number)
        if first_difference(case) is not None:
            return case
    return None if target == NO_TARGET else first_finding(seed, number, target)


def run(
    state: State, path: Path | None, cases: float, seconds: float, target: str | None = None
) -> Case | Finding | None:
    """Check cases until there are so many, or so many seconds have passed; returns the first that is wrong."""
    begin = told = time.monotonic()
    before, first = state.seconds, state.cases
    found: Case | Finding | None = None
    while found is None and state.cases < cases and time.monotonic() - begin < seconds:
        found = found_in(state.seed, state.cases, target)
        if found is None:
            state.cases += 1
        now = time.monotonic()
        state.seconds = before + now - begin
        if now - told > SECONDS_BETWEEN_REPORTS:
            told = now
            state.write(path)
            tell(state, state.cases - first, now - begin)
    state.write(path)
    tell(state, state.cases - first, time.monotonic() - begin)
    return found


def tell(state: State, cases: int, seconds: float) -> None:
    """How many cases there were, and how fast."""
    speed = cases / max(seconds, 1e-9)
    print(f"seed {state.seed}: {state.cases:,} cases without a difference, {speed:,.0f} a second", flush=True)


def smallest(case: Case) -> tuple[Case, Compared]:
    """The case with as many rows taken out as leave a difference, and that difference."""
    found = first_difference(case)
    if found is None:
        raise ValueError("there is no difference in this case")
    row = 0
    while row < len(case.codes):
        fewer = case.without_row(row)
        difference = first_difference(fewer) if fewer.is_defined else None
        if difference is None:
            row += 1
        else:
            case, found = fewer, difference
    return case, found


def explain(case: Case | Finding) -> None:
    """Say what is wrong, and how to see it again."""
    if isinstance(case, Finding):
        print(f"\n{case}")
        return
    part, difference = smallest(case)
    print(f"\n{part}\n{difference.what}: found {difference.found}, expected {difference.expected}")
    print(f"\nThe whole case: python studies/fuzz.py --seed {case.seed} --case {case.number}")


def main() -> int:
    """0 if there was no difference, 1 after the first."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--cases", type=float, default=float("inf"), help="how many cases, those of former runs included"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long at most")
    parser.add_argument("--seed", type=int, help="which cases (default: those of the state, or 0)")
    parser.add_argument("--state", type=Path, help="where to keep how far the runs have come")
    parser.add_argument("--case", type=int, help="check the case of this number alone")
    parser.add_argument("--target", choices=[NO_TARGET, *TARGETS], help="one target alone, or none of them")
    options = parser.parse_args()
    state = State.read(options.state, options.seed)
    if options.case is not None:
        seed = options.seed or 0
        print(make_case(seed, options.case))
        found = found_in(seed, options.case, options.target)
    else:
        found = run(state, options.state, options.cases, options.seconds, options.target)
    if found is None:
        return 0
    explain(found)
    return 1


if __name__ == "__main__":
    sys.exit(main())
