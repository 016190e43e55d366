"""Merging states is associative and commutative, and an empty one changes nothing: any tree over any split of the rows.

Without weights a state is the same to the byte. With weights its sums are rounded, and answers agree within 1e-12.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internals import least_memory
from multiauc.streaming import DEFAULT_METRICS, Accumulator
from strategies import class_sizes, samples


def settings_of(n_classes, draw):
    """Memory for all numbers, or as little as there can be."""
    least = least_memory(n_classes, list(DEFAULT_METRICS))
    return {"labels": range(n_classes), "memory_limit": draw(st.sampled_from([least, 8 * least, max(least, 2**22)]))}


@st.composite
def pieces(draw, weights=(None,)):
    """The state of all rows at once, and states of pieces of them, some of which are empty."""
    sample = draw(samples(sizes=class_sizes(max_classes=5, max_rows=200), weights=weights))
    options = settings_of(sample.scores.shape[1], draw)
    n, seed = len(sample.codes), draw(st.integers(0, 2**32 - 1))
    n_pieces = draw(st.integers(1, 9))
    piece = np.random.default_rng(seed).integers(0, n_pieces, size=n)

    def state(rows):
        found = Accumulator(**options)
        found.update(sample.codes[rows], sample.scores[rows], None if sample.weights is None else sample.weights[rows])
        return found

    parts = [state(piece == k) for k in range(n_pieces)]
    return state(np.ones(n, dtype=bool)), draw(st.permutations([*parts, Accumulator(**options)]))


def merged_in_a_tree(parts, draw):
    """Merge neighbours until one is left: in place or into a new one, some of them by way of bytes."""
    states = [part.copy() for part in parts]
    while len(states) > 1:
        k = draw(st.integers(0, len(states) - 2))
        left, right = states[k : k + 2]
        how = draw(st.sampled_from(["new", "in place", "bytes"]))
        if how == "bytes":
            left, right = (Accumulator.from_bytes(side.to_bytes()) for side in (left, right))
        states[k : k + 2] = [left + right if how == "new" else left.merge(right)]
    return states[0]


@given(drawn=pieces(), data=st.data())
def test_any_tree_over_any_split_gives_the_same_bytes(drawn, data):
    whole, parts = drawn
    before = [part.to_bytes() for part in parts]
    assert merged_in_a_tree(parts, data.draw).to_bytes() == whole.to_bytes()
    assert [part.to_bytes() for part in parts] == before


@given(drawn=pieces())
def test_associative_and_commutative_to_the_byte(drawn):
    _, parts = drawn
    a, b, c = (parts * 3)[:3]
    assert ((a + b) + c).to_bytes() == (a + (b + c)).to_bytes()
    assert (a + b).to_bytes() == (b + a).to_bytes()
    empty = Accumulator(a.labels, memory_limit=a.memory_limit)
    assert (a + empty).to_bytes() == (empty + a).to_bytes() == a.to_bytes()


@given(drawn=pieces(weights=("integer", "real")), data=st.data())
def test_weights_change_answers_by_no_more_than_a_rounding(drawn, data):
    whole, parts = drawn
    found = merged_in_a_tree(parts, data.draw)
    np.testing.assert_array_equal(found.counts, whole.counts)
    ours, theirs = found.evaluate(), whole.evaluate()
    for name, value in theirs.metrics.items():
        assert ours.metrics[name].value == pytest.approx(value.value, abs=1e-12)
        assert ours.metrics[name].low == pytest.approx(value.low, abs=1e-12)
        assert ours.metrics[name].high == pytest.approx(value.high, abs=1e-12)
    for label, value in theirs.per_class.items():
        assert ours.per_class[label].value == pytest.approx(value.value, abs=1e-12)
