"""Exact counts of rows that lie on many machines, which send blocks of keys to each other."""

import numpy as np
import pytest

import multiauc
from multiauc import _rust
from multiauc.streaming import Accumulator

K = 4
#: So little that bins hold many numbers.
TIGHT = 62_000
MACHINES, PARTS = 3, 4


def made(n=12_000, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.choice(K, size=n, p=[0.1, 0.2, 0.3, 0.4]).astype(np.uint8)
    powers = np.exp(rng.normal(size=(n, K)) + 1.5 * np.eye(K)[codes])
    return codes, powers / powers.sum(axis=1, keepdims=True)


def state_of(codes, scores, metrics, lattice=None):
    accumulator = Accumulator(range(K), metrics=metrics, memory_limit=TIGHT)
    if lattice is not None:
        accumulator = accumulator.on_lattice(lattice)
    for rows in np.array_split(np.arange(len(codes)), 5):
        accumulator.update(codes[rows], scores[rows])
    return accumulator


def counted(codes, scores, longest, metrics):
    """The evaluation from counts in blocks, and the plan."""
    accumulator = state_of(codes, scores, metrics)
    if accumulator.state().lattice is not None:
        accumulator = state_of(codes, scores, metrics, accumulator.state().lattice)
    plan = _rust.RangePlan(accumulator.state(), longest)
    plan.split(PARTS)
    sent = plan.to_bytes()
    blocks = []
    for machine in range(MACHINES):
        gathering = _rust.RangePlan.from_bytes(sent)
        for rows in np.array_split(np.arange(machine, len(codes), MACHINES), 4):
            gathering.update(_rust.Sample(scores[rows], codes[rows]))
            if gathering.gathered_bytes > 50_000:
                blocks += gathering.take_blocks()
                assert gathering.gathered_bytes == 0
        blocks += gathering.take_blocks()
    for part in range(PARTS):
        counting = _rust.RangePlan.from_bytes(sent)
        for _, block in (one for one in reversed(blocks) if one[0] == part):
            counting.receive(block)
        plan.add_counts(counting.take_counts())
    found = accumulator.results(plan.answers(accumulator.state()), "raise")
    return found, plan, sum(len(block) for _, block in blocks)


def kinds(scores):
    half = np.arange(len(scores))[:, None] % 2 == 0
    return {
        "doubles": scores,
        "singles": scores.astype(np.float32),
        "singles on a lattice": np.round(scores, 3).astype(np.float32),
        "fractions": np.round(scores * 7) / 7,
        "ties among other numbers": np.where(half, scores, np.round(scores, 1)),
        "saturated": np.where(scores > 0.7, 1.0, np.where(scores < 0.05, 0.0, scores)),
        "nearly equal": 0.3 + np.round(scores * 4) * 1e-16,
    }


@pytest.mark.parametrize("kind", kinds(np.zeros((1, 1))))
@pytest.mark.parametrize("longest", [20, 500, 10**6])
@pytest.mark.parametrize("metrics", [["auc_mu", "hand_till", "one_vs_rest"], ["one_vs_rest"]])
def test_values_are_those_of_all_rows_bit_for_bit(kind, longest, metrics):
    codes, scores = made()
    scores = kinds(scores)[kind]
    found, *_ = counted(codes, scores, longest, metrics)
    expected = multiauc.evaluate(codes, scores)
    for name in metrics:
        assert found.metrics[name].exact
        assert found.metrics[name].value == expected.metrics[name].value


def test_a_number_that_most_rows_have_is_not_sent():
    codes, scores = made()
    smooth = counted(codes, scores, 500, ["auc_mu"])[2]
    scores[: len(scores) * 9 // 10] = 0.25
    assert counted(codes, scores, 500, ["auc_mu"])[2] < smooth / 5


def test_equal_keys_of_a_long_range_travel_as_one():
    codes, scores = made()
    tied = scores.copy()
    # A number that shares its bin with others, so that the state does not know it.
    tied[::2] = [0.1, 0.3, 0.2, 0.4]
    sent = {longest: counted(codes, tied, longest, ["auc_mu"])[2] for longest in (64, 10**6)}
    assert sent[64] < sent[10**6] * 0.7


def test_ranges_are_as_long_as_asked_for():
    codes, scores = made()
    plans = [counted(codes, scores, longest, ["auc_mu"])[1] for longest in (500, 10**6)]
    # Every range has its limits among the bytes of the plan.
    assert len(plans[0].to_bytes()) > 10 * len(plans[1].to_bytes())
    assert plans[0].keys <= len(codes) * (K - 1)


def test_other_rows_and_damaged_bytes_are_refused():
    codes, scores = made(2000)
    accumulator = state_of(codes, scores, ["auc_mu"])
    plan = _rust.RangePlan(accumulator.state(), 100)
    gathering = _rust.RangePlan.from_bytes(plan.to_bytes())
    gathering.update(_rust.Sample(scores[1:], codes[1:]))
    ((_, block),) = gathering.take_blocks()
    with pytest.raises(ValueError, match="not the bytes of a state"):
        gathering.receive(block[:-1])
    with pytest.raises(ValueError, match="not the bytes of a state"):
        _rust.RangePlan.from_bytes(plan.to_bytes()[:-1])
    counting = _rust.RangePlan.from_bytes(plan.to_bytes())
    counting.receive(block)
    plan.add_counts(counting.take_counts())
    with pytest.raises(ValueError, match="not the same when they were read again"):
        plan.answers(accumulator.state())
    with pytest.raises(ValueError, match="different labels"):
        gathering.update(_rust.Sample(scores.astype(np.float32), codes))
