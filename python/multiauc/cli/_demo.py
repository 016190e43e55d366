"""``multiauc demo``: files to try the commands on."""

from __future__ import annotations

import io
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from multiauc._io.output import Output
from multiauc.cli._compare import compare_files
from multiauc.cli._problems import emit
from multiauc.cli._report import report_on_files
from multiauc.cli._requests import CompareRequest, ReportRequest

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

ANIMALS = ("cat", "dog", "fox", "hen", "lynx", "wolf")
ROWS = 1500
USERS = 200
# Which animals look alike, and how well each model sees.
ALIKE = (("dog", "wolf", 0.85), ("cat", "lynx", 0.75), ("dog", "fox", 0.6), ("fox", "wolf", 0.5))
SIGHT = {"net": 3.5, "forest": 2.85, "linear": 2.0}
REPORT = "demo.html"
SHARE = (0.25, 0.25, 0.15, 0.15, 0.1, 0.1)


def run_demo(directory: Path, *, force: bool) -> None:
    """Write three files of predictions and a matrix of costs, compare the models, write a report, say what to try."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in [*(f"{model}.parquet" for model in SIGHT), "all.csv", "costs.csv", REPORT]:
        Output(str(directory / name), force=force).refuse()
    write_files(directory, force=force)
    files = tuple(str(directory / f"{name}.parquet") for name in SIGHT)
    compare_files(CompareRequest(files=files, label="y"))
    emit("\n")
    place, title = str(directory / REPORT), "Which animal is it?"
    report_on_files(ReportRequest(files=files, label="y", bootstrap=200, output=place, force=force, title=title))
    here = shlex.quote(str(directory))
    emit(f"\nTry:\n  cd {here}\n  multiauc evaluate net.parquet --label y --by region\n")


def write_files(directory: Path, *, force: bool = False) -> None:
    """The predictions of each model, all of them in one CSV file, and a matrix of costs."""
    rng = np.random.default_rng(6)
    users = rng.integers(USERS, size=ROWS)
    codes = rng.choice(len(ANIMALS), size=ROWS, p=SHARE)
    seen, noise = _appearance(codes), rng.normal(size=(ROWS, len(ANIMALS)))
    names = {"row": np.arange(1, ROWS + 1), "y": np.array(ANIMALS)[codes]}
    base = names | {"user": users, "region": _regions(users, codes, noise)}
    everything = pa.table(base)
    for name, sight in SIGHT.items():
        scores = _softmax(sight * seen + noise + 0.5 * rng.normal(size=noise.shape))
        columns = dict(zip(ANIMALS, scores.T, strict=True))
        content = io.BytesIO()
        parquet.write_table(pa.table(base | {f"p_{animal}": p for animal, p in columns.items()}), content)
        Output(str(directory / f"{name}.parquet"), force=force).write(content.getvalue())
        for animal, p in columns.items():
            everything = everything.append_column(f"{name}_{animal}", pa.array(p.round(6)))
    content = io.BytesIO()
    csv.write_csv(everything, content)
    Output(str(directory / "all.csv"), force=force).write(content.getvalue())
    # A wolf taken for anything else is ten times as bad as any other mistake.
    costs = [[c, *("0" if c == d else "10" if d == "wolf" else "1" for d in ANIMALS)] for c in ANIMALS]
    lines = [["predicted", *ANIMALS], *costs]
    Output(str(directory / "costs.csv"), force=force).write("\n".join(map(",".join, lines)) + "\n")


def _regions(users: NDArray[np.intp], codes: NDArray[np.intp], noise: NDArray[np.float64]) -> NDArray[Any]:
    """Where each row comes from; in the marsh it is often foggy, so that animals are hard to tell apart."""
    is_foggy = noise.max(axis=1) - noise[np.arange(len(codes)), codes] > 1.5
    from_marsh = np.random.default_rng(7).random(len(users)) < np.where(is_foggy, 0.2, 0.05)
    return np.where(from_marsh, "marsh", np.array(["coast", "hills", "plain"])[users % 3])


def _appearance(codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """How much each row looks like each animal."""
    likeness = np.eye(len(ANIMALS))
    for one, other, much in ALIKE:
        c, d = ANIMALS.index(one), ANIMALS.index(other)
        likeness[c, d] = likeness[d, c] = much
    return likeness[codes]


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return shares
