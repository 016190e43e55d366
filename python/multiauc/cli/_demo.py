"""``multiauc demo``: files to try the commands on."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from multiauc._input.probabilities import probabilities_of
from multiauc._io.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

ANIMALS = ("cat", "dog", "fox", "hen", "lynx", "wolf")
ROWS = 1500
USERS = 200
# Which animals look alike, and how well each model sees.
ALIKE = (("dog", "wolf", 0.85), ("cat", "lynx", 0.75), ("dog", "fox", 0.6), ("fox", "wolf", 0.5))
SIGHT = {"net": 3.5, "forest": 2.85, "linear": 2.0}
SHARE = (0.25, 0.25, 0.15, 0.15, 0.1, 0.1)


def write_files(directory: Path, *, force: bool = False, also: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Write the predictions of each model, all of them in one CSV file, and a cost matrix.

    Returns where the first are. Nothing is written if one of the files, or one that is to be written `also`, is there
    already.
    """
    directory.mkdir(parents=True, exist_ok=True)
    names = [*(f"{model}.parquet" for model in SIGHT), "all.csv", "costs.csv"]
    outputs = [Output(str(directory / name), force=force) for name in (*names, *also)]
    for output in outputs:
        output.refuse()
    contents: list[str | bytes] = [*_write_tables(), _write_costs()]
    for output, content in zip(outputs, contents, strict=False):
        output.write(content)
    return tuple(output.path for output in outputs[: len(SIGHT)])


def _write_tables() -> Iterator[bytes]:
    """A Parquet file for each model, and a CSV file of all."""
    rng = np.random.default_rng(6)
    users = rng.integers(USERS, size=ROWS)
    codes = rng.choice(len(ANIMALS), size=ROWS, p=SHARE)
    seen, noise = _appearance(codes), rng.normal(size=(ROWS, len(ANIMALS)))
    names = {"row": np.arange(1, ROWS + 1), "y": np.array(ANIMALS)[codes]}
    base = names | {"user": users, "region": _regions(users, codes, noise)}
    everything: dict[str, Any] = dict(base)
    for name, sight in SIGHT.items():
        logits = sight * seen + noise + 0.5 * rng.normal(size=noise.shape)
        scores = probabilities_of("logits", logits, "logits")
        columns = dict(zip(ANIMALS, scores.T, strict=True))
        content = io.BytesIO()
        parquet.write_table(pa.table(base | {f"p_{animal}": p for animal, p in columns.items()}), content)
        yield content.getvalue()
        everything |= {f"{name}_{animal}": p.round(6) for animal, p in columns.items()}
    content = io.BytesIO()
    csv.write_csv(pa.table(everything), content)
    yield content.getvalue()


def _write_costs() -> str:
    """A wolf taken for anything else is ten times as bad as any other mistake."""
    costs = [[c, *("0" if c == d else "10" if d == "wolf" else "1" for d in ANIMALS)] for c in ANIMALS]
    return "\n".join(map(",".join, [["predicted", *ANIMALS], *costs])) + "\n"


def _regions(users: NDArray[np.intp], codes: NDArray[np.intp], noise: NDArray[np.float64]) -> NDArray[Any]:
    """The region of each row; the marsh is often foggy, which makes animals hard to distinguish."""
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
