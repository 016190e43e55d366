"""Stored bytes that were changed on purpose: their checksum is right, and what they say is not."""

import json
import pickle
import warnings
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multiauc import _rust
from multiauc._io.checkpoint import DamagedError, Saved, decode, encode
from multiauc.streaming import CHECKSUM_BYTES, LENGTH_BYTES, MAGIC, Accumulator
from multiauc.training import ArrayMulticlassAuc as MulticlassAuc

METRICS = ["auc_mu", "hand_till", "one_vs_rest"]


def state(*, weights=False, dtype=np.float64, rows=60, metrics=METRICS, k=3):
    rng = np.random.default_rng(3)
    found = Accumulator(range(k), metrics=metrics, memory_limit=2**17)
    weight = rng.random(rows) + 0.1 if weights else None
    found.update(np.arange(rows) % k, rng.dirichlet(np.ones(k), rows).astype(dtype), weight)
    return found


def sealed(header, content=b""):
    """Bytes with a right checksum around any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = MAGIC + len(text).to_bytes(LENGTH_BYTES, "little") + text + content
    return body + blake2b(body, digest_size=CHECKSUM_BYTES).digest()


HEADER = {"labels": [0, 1, 2], "metrics": METRICS, "memory_limit": 2**17}


@pytest.mark.parametrize("name", HEADER)
@pytest.mark.parametrize("value", [None, 7.5, "x", [], {}, [[1], [2]], -1, 10**40, True])
def test_headers_with_another_value(name, value):
    if (name, value) in (("metrics", "x"), ("labels", "x")):
        value = {"x": 1}
    with pytest.raises(ValueError, match="damaged, or something else wrote them"):
        Accumulator.from_bytes(sealed(HEADER | {name: value}))


@pytest.mark.parametrize("name", HEADER)
def test_headers_without_something_name_it(name):
    header = {key: value for key, value in HEADER.items() if key != name}
    with pytest.raises(ValueError, match=f"no {name}"):
        Accumulator.from_bytes(sealed(header, state().state().to_bytes()))


@pytest.mark.parametrize("text", [b"", b"[]", b"7", b"\xff", b"{", b"[" * 100_000])
def test_headers_that_are_none(text):
    with pytest.raises(ValueError, match="header"):
        Accumulator.from_bytes(sealed(text))


def test_headers_longer_than_everything():
    body = MAGIC + (2**31).to_bytes(LENGTH_BYTES, "little") + b"{}"
    with pytest.raises(ValueError, match="header"):
        Accumulator.from_bytes(body + blake2b(body, digest_size=CHECKSUM_BYTES).digest())


@pytest.mark.parametrize("other", [{"metrics": ["one_vs_rest"]}, {"memory_limit": 2**20}, {"labels": [0, 1, 2, 3]}])
def test_headers_of_another_state(other):
    with pytest.raises(ValueError, match="other labels, metrics or memory"):
        Accumulator.from_bytes(sealed(HEADER | other, state().state().to_bytes()))


def test_memory_that_could_not_be_read_again():
    with pytest.raises(ValueError, match="memory_limit must be at most"):
        Accumulator(range(3), memory_limit=2**48)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metrics", [METRICS, ["one_vs_rest"]])
def test_no_change_of_the_content_gives_more_than_an_error_or_an_answer(weights, dtype, metrics):
    whole = state(weights=weights, dtype=dtype, metrics=metrics)
    header = {"labels": [0, 1, 2], "metrics": metrics, "memory_limit": 2**17}
    content = whole.state().to_bytes()
    assert Accumulator.from_bytes(sealed(header, content)).to_bytes() == whole.to_bytes()
    rng = np.random.default_rng(4)
    extremes = [b"\xff" * 8, b"\0" * 8, (2**63).to_bytes(8, "little"), np.float64("nan").tobytes()]
    read = 0
    for _ in range(300):
        damaged = bytearray(content)
        place = int(rng.integers(len(damaged) - 8))
        if rng.random() < 0.5:
            damaged[place] ^= 1 << int(rng.integers(8))
        else:
            damaged[place : place + 8] = extremes[rng.integers(4)]
        try:
            found = Accumulator.from_bytes(sealed(header, bytes(damaged)))
        except ValueError:
            continue
        read += 1
        for one in (found, found + whole):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for value in one.evaluate(absent="ignore").metrics.values():
                    assert 0 <= value.low <= value.value <= value.high <= 1
    assert read < 200  # what says the same in two places cannot be changed in one


def test_rows_that_no_histogram_has_are_refused():
    content = bytearray(state().state().to_bytes())
    rows = 8 + 5 + 3 * 8
    assert int.from_bytes(content[rows : rows + 8], "little") == 20
    content[rows : rows + 8] = (2**63).to_bytes(8, "little")
    with pytest.raises(ValueError, match="other rows"):
        _rust.StreamState.from_bytes(bytes(content))


def test_pickles_of_damaged_states():
    whole = state()
    restore, (header, content) = whole.__reduce__()
    assert restore(header, content).to_bytes() == pickle.loads(pickle.dumps(whole)).to_bytes()
    with pytest.raises(ValueError, match="other labels, metrics or memory"):
        restore(header | {"metrics": ("one_vs_rest",)}, content)


class TestPlans:
    @pytest.fixture
    def parts(self):
        rng = np.random.default_rng(1)
        y, p = np.arange(3000) % 3, rng.random((3000, 3))
        found = Accumulator(range(3), metrics=METRICS, memory_limit=2**16)
        found.update(y, p)
        plan = _rust.RangePlan(found.state(), 200)
        plan.split(3)
        gathering = _rust.RangePlan.from_bytes(plan.to_bytes())
        gathering.update(_rust.Sample(p, y.astype(np.uint8)))
        return found, plan, [block for _, block in gathering.take_blocks()]

    def test_as_many_parts_as_there_are_ranges(self, parts):
        _, plan, _ = parts
        plan.split(2**62)
        assert _rust.RangePlan.from_bytes(plan.to_bytes()).take_blocks() == []

    def test_changed_plans_blocks_and_counts(self, parts):
        found, plan, blocks = parts
        sent, rng = plan.to_bytes(), np.random.default_rng(2)
        counting = _rust.RangePlan.from_bytes(sent)
        for block in blocks:
            counting.receive(block)
        counts = counting.take_counts()
        for trial in range(200):
            damaged = [bytearray(sent), bytearray(blocks[0]), bytearray(counts)]
            one = damaged[trial % 3]
            place = int(rng.integers(len(one)))
            one[place : place + 8] = [b"\xff" * 8, b"\0" * 8, rng.bytes(1)][rng.integers(3)][: len(one) - place]
            try:
                again = _rust.RangePlan.from_bytes(bytes(damaged[0]))
                for block in (damaged[1], *blocks[1:]):
                    again.receive(bytes(block))
                again.take_counts()
                answering = _rust.RangePlan(found.state(), 200)
                answering.add_counts(bytes(damaged[2]))
                answers = answering.answers(found.state())
            except ValueError:
                continue
            assert 0 <= answers.metrics["auc_mu"].value <= 1

    def test_more_won_than_there_is(self, parts):
        found, _, _ = parts
        plan = _rust.RangePlan(found.state(), 200)
        with pytest.raises(ValueError, match="won"):
            plan.add_counts((0).to_bytes(4, "little") + b"".join([b"\1" + b"\0" * 7 + b"\xff" * 16] * 2))

    def test_plans_of_more_classes_than_bytes(self):
        plan = b"mauc-r\0\x01" + bytes([0, 1, 0, 0])
        plan += b"".join(number.to_bytes(8, "little") for number in (2**16, 0, 1))
        with pytest.raises(ValueError, match="cut short"):
            _rust.RangePlan.from_bytes(plan)


class TestCheckpoints:
    @pytest.mark.parametrize("head", [b"", b"[]", b"{}", b'{"identity": 1, "place": {}}', b"\xff", b"[" * 100_000])
    def test_heads_that_are_none(self, head):
        whole = encode(Saved({}, {}, b""))
        start = whole.index(b"\n") + 1
        content = whole[:start] + len(head).to_bytes(LENGTH_BYTES, "little") + head
        with pytest.raises(DamagedError, match=r"^c: "):
            decode("c", content + blake2b(content, digest_size=CHECKSUM_BYTES).digest())


class TestTrainingMetrics:
    @pytest.fixture
    def saved(self):
        metric = MulticlassAuc(3)
        metric.update(np.eye(3), [0, 1, 2])
        return metric.state_dict()

    @pytest.mark.parametrize("name", ["settings", "rows"])
    def test_something_is_missing(self, saved, name):
        del saved[name]
        with pytest.raises(ValueError, match=name):
            MulticlassAuc(3).load_state_dict(saved)

    @pytest.mark.parametrize(
        "damage", [lambda rows: rows[:-1], lambda rows: rows[:-20] + b"x" * 20, lambda _: b"", str]
    )
    @pytest.mark.parametrize("memory", [None, 2**17])
    def test_damaged_rows(self, damage, memory):
        metric = MulticlassAuc(3, memory_limit=memory)
        metric.update(np.eye(3), [0, 1, 2])
        saved = metric.state_dict()
        metric.update(np.eye(3)[::-1], [0, 1, 2])
        before = metric.compute()
        with pytest.raises(ValueError, match="state must be the dict"):
            metric.load_state_dict(saved | {"rows": damage(saved["rows"])})
        assert metric.compute() == before

    def test_another_number_of_classes(self, saved):
        with pytest.raises(ValueError, match="the state was saved by"):
            MulticlassAuc(4).load_state_dict(saved)

    @pytest.mark.parametrize("given", [None, 3, [], b"x"])
    def test_no_state(self, given):
        with pytest.raises(ValueError, match="state"):
            MulticlassAuc(3).load_state_dict(given)


class TestManyClasses:
    @pytest.mark.parametrize("k", [700, 1000, 3000])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_every_number_of_classes_that_is_accepted_answers(self, k, dtype):
        found = Accumulator(range(k), metrics=["one_vs_rest"])
        y = np.arange(60) % 30
        p = np.zeros((60, k), dtype=dtype)
        p[np.arange(60), y] = 1.0
        found.update(y, p)
        again = Accumulator.from_bytes(found.to_bytes())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for one in (found, again):
                value = one.evaluate(absent="ignore").one_vs_rest
                assert (value.value, value.low, value.high) == (1, 1, 1)
        least = _rust.StreamState.least_memory_for_variances(k, ["one_vs_rest"], dtype == np.float32)
        assert np.isnan(value.standard_error) == (found.memory_limit < least)
        assert bool(caught) == (found.memory_limit < least)
        assert all(f"memory_limit={least:,}" in str(warning.message) for warning in caught)

    def test_standard_errors_are_known_with_the_memory_that_the_warning_names(self):
        rng = np.random.default_rng(0)
        y, p = np.arange(120) % 40, rng.random((120, 40))
        least = _rust.StreamState.least_memory_for_variances(40, ["one_vs_rest"], False)
        for memory, is_known in ((least - 1, False), (least, True)):
            found = Accumulator(range(40), metrics=["one_vs_rest"], memory_limit=memory)
            found.update(y, p)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert np.isfinite(found.evaluate().one_vs_rest.standard_error) == is_known


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_the_core_refuses_damaged_bytes_or_reads_a_state(seed, data):
    # Without the checksum: whatever is read, nothing breaks.
    chance = np.random.default_rng(seed)
    accumulator = Accumulator(range(3), memory_limit=60_000)
    accumulator.update(chance.integers(3, size=60), chance.dirichlet(np.ones(3), size=60).astype(np.float32))
    damaged = bytearray(accumulator.state().to_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        state = _rust.StreamState.from_bytes(bytes(damaged[: data.draw(st.integers(1, len(damaged)))]))
    except ValueError:
        return
    assert isinstance(state.to_bytes(), bytes)
