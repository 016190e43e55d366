"""Stored bytes that were changed, with a checksum that is right again."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzz_targets.registry import Rng, answer, outside, target
from multiauc import _rust
from multiauc._io.checkpoint import Saved, decode, encode
from multiauc.streaming import CHECKSUM_BYTES, LENGTH_BYTES, MAGIC, Accumulator
from multiauc.training import ArrayMulticlassAuc as MulticlassAuc

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY = 2**17
VALUES: list[Any] = [None, -1, 0, 1, 2**47, 2**63, 10**40, 0.5, "x", [], [[1]], {}, ["auc_mu"], [0, 1], True, "auc_mu"]


def changed(rng: Rng, content: bytes) -> bytes:
    """With one to three changes: a bit, eight bytes, a piece left out, or one put in."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(max(len(data), 1)))
        kind = int(rng.integers(4))
        if kind == 0 and data:
            data[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            word = [b"\xff" * 8, b"\0" * 8, (2**63).to_bytes(8, "little"), np.float64("nan").tobytes(), rng.bytes(8)]
            data[place : place + 8] = word[rng.integers(len(word))]
        elif kind == 2:
            del data[place : place + int(rng.integers(1, 40))]
        else:
            data[place:place] = rng.bytes(int(rng.integers(1, 40)))
    return bytes(data)


def sealed(header: bytes, content: bytes) -> bytes:
    """As `to_bytes`, of any header."""
    body = MAGIC + len(header).to_bytes(LENGTH_BYTES, "little") + header + content
    return body + blake2b(body, digest_size=CHECKSUM_BYTES).digest()


def _rows(rng: Rng) -> tuple[Accumulator, np.ndarray, np.ndarray]:
    metrics = [["auc_mu", "hand_till", "one_vs_rest"], ["one_vs_rest"], ["auc_mu"]][rng.integers(3)]
    whole = Accumulator(range(3), metrics=metrics, memory_limit=MEMORY)
    y, p = np.arange(40) % 3, rng.dirichlet(np.ones(3), 40)
    if rng.random() < 0.5:
        p = (p.round(2) if rng.random() < 0.5 else p).astype(np.float32)
    whole.update(y, p, rng.random(40) + 0.1 if rng.random() < 0.4 else None)
    return whole, y, p


@target("StreamState", "Answers", "Bounded")
def states(rng: Rng) -> Iterator[str]:
    """`Accumulator.from_bytes`: a ValueError, or a state that answers, takes rows, merges and is written again."""
    whole, y, p = _rows(rng)
    header = {"labels": [0, 1, 2], "metrics": list(whole.metrics), "memory_limit": MEMORY}
    content = whole.state().to_bytes()
    kind = int(rng.integers(3))
    if kind == 0:
        name = list(header)[rng.integers(3)]
        if rng.random() < 0.3:
            del header[name]
        else:
            header[name] = VALUES[rng.integers(len(VALUES))]
    text = json.dumps(header).encode()
    if kind == 1:
        text = changed(rng, text)
    if kind == 2:
        content = changed(rng, content)
    try:
        found = Accumulator.from_bytes(sealed(text, content))
    except ValueError:
        return
    answer(found.merge, whole)
    answer(found.update, y, p)
    if Accumulator.from_bytes(found.to_bytes()).to_bytes() != found.to_bytes():
        yield "a state is not what it was written as"
    for value in getattr(answer(found.evaluate, absent="ignore"), "metrics", {}).values():
        yield from outside(f"{value.name} of changed bytes", value.value)


@target("RangePlan")
def plans(rng: Rng) -> Iterator[str]:
    """Plans, blocks and counts on their way between machines."""
    whole = Accumulator(range(3), metrics=["auc_mu", "one_vs_rest"], memory_limit=2**16)
    y, p = (np.arange(900) % 3).astype(np.uint8), rng.random((900, 3))
    whole.update(y, p)
    plan = _rust.RangePlan(whole.state(), 100)
    plan.split(int(rng.choice([1, 3, 2**40])))
    sent = plan.to_bytes()
    gathering = _rust.RangePlan.from_bytes(sent)
    gathering.update(_rust.Sample(p, y))
    blocks = [block for _, block in gathering.take_blocks()]
    kind = int(rng.integers(3))
    try:
        counting = _rust.RangePlan.from_bytes(changed(rng, sent) if kind == 0 else sent)
        for block in blocks:
            counting.receive(changed(rng, block) if kind == 1 else block)
        counts = counting.take_counts()
        plan.add_counts(changed(rng, counts) if kind == 2 else counts)
        found = plan.answers(whole.state())
    except ValueError:
        return
    for name in ("auc_mu", "one_vs_rest"):
        one = found.metrics[name]
        yield from outside(f"{name} of changed blocks", None if one is None else one.value)


@target()
def checkpoints(rng: Rng) -> Iterator[str]:
    """Checkpoints, whose errors are ValueErrors."""
    data = encode(Saved({"files": ["a"]}, {"rows": 3}, b"state"))
    try:
        decode("c", changed(rng, data))
    except ValueError:
        return
    yield from ()


@target("StreamState")
def state_dicts(rng: Rng) -> Iterator[str]:
    """`MulticlassAuc.load_state_dict`, of both kinds."""
    metric = MulticlassAuc(3, memory_limit=MEMORY if rng.random() < 0.5 else None)
    metric.update(rng.random((12, 3)), np.arange(12) % 3)
    saved: dict[str, Any] = {**metric.state_dict()}
    name = list(saved)[rng.integers(len(saved))]
    if name == "rows" and rng.random() < 0.7:
        saved[name] = changed(rng, saved[name])
    elif rng.random() < 0.3:
        del saved[name]
    else:
        saved[name] = VALUES[rng.integers(len(VALUES))]
    with suppress(ValueError):
        metric.load_state_dict(saved)
    yield from outside("the value after a load", answer(metric.compute))
