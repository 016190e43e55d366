"""States of streams against the functions that see all rows at once."""

import pickle
from datetime import date
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import multiauc
from multiauc.streaming import Accumulator, evaluate_exactly

METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")
#: The least memory for three classes, whose histograms are as coarse as they get.
COARSE = 60_000


def softmax(seed, n, k, *, scale, dtype, skill=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, size=n)
    logits = rng.normal(size=(n, k))
    logits[np.arange(n), y] += skill
    logits = (scale * logits).astype(dtype)
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return y, exponentials / exponentials.sum(axis=1, keepdims=True)


def accumulated(y, p, *, weights=None, batch=1000, order=None, **options):
    state = Accumulator(range(p.shape[1]), **options)
    starts = np.arange(0, len(y), batch)
    for start in starts if order is None else np.random.default_rng(order).permutation(starts):
        rows = slice(start, start + batch)
        state.update(y[rows], p[rows], None if weights is None else weights[rows])
    return state


def kinds(y, p):
    """Scores of many kinds made of the same ones."""
    return {
        "smooth": p,
        "two decimals": np.round(p, 2),
        "six decimals": np.round(p, 6),
        "sevenths": np.round(p * 7) / 7,
        "half rounded": np.where(np.arange(len(p))[:, None] % 2, p, np.round(p, 3)),
        "logits": np.log(np.maximum(p, 1e-30)),
        "hard": np.eye(p.shape[1], dtype=p.dtype)[p.argmax(axis=1)],
        "constant": np.full_like(p, 0.25),
        "tiny": p * p.dtype.type(1e-30),
        "all one": np.ones_like(p),
        "perfect": np.eye(p.shape[1], dtype=p.dtype)[y],
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", kinds(np.zeros(1, int), np.ones((1, 4))))
class TestAgainstAllRows:
    @pytest.fixture
    def rows(self, dtype, kind):
        y, p = softmax(3, 3000, 4, scale=2.0, dtype=dtype)
        return y, kinds(y, p)[kind].astype(dtype)

    def test_exact_while_numbers_fit(self, rows, kind):
        y, p = rows
        found = accumulated(y, p, batch=317).evaluate()
        whole = multiauc.evaluate(y, p)
        for metric in METRICS:
            ours, exact = getattr(found, metric), getattr(whole, metric)
            assert ours.low <= exact.value <= ours.high
            if kind != "half rounded":  # fractions less other numbers are not followed up
                assert ours.exact
                assert ours.value == exact.value
            assert ours.standard_error == pytest.approx(exact.standard_error, rel=1e-9, abs=1e-15)
        for label, one in found.per_class.items():
            assert one.value == whole.per_class[label].value
            assert one.standard_error == pytest.approx(whole.per_class[label].standard_error, rel=1e-9, abs=1e-15)
        np.testing.assert_array_equal(found.pair_bounds["hand_till"][0], multiauc.hand_till_matrix(y, p).values)

    def test_bounds_hold_in_little_memory(self, rows):
        y, p = rows
        state = accumulated(y, p, memory_limit=150_000)
        found = state.evaluate()
        whole = multiauc.evaluate(y, p)
        for metric in METRICS:
            ours, exact = getattr(found, metric), getattr(whole, metric)
            assert ours.low <= exact.value <= ours.high
        low, high = found.pair_bounds["auc_mu"]
        values = multiauc.auc_mu_matrix(y, p).values
        off_diagonal = ~np.eye(4, dtype=bool)
        assert (low[off_diagonal] <= values[off_diagonal]).all()
        assert (values[off_diagonal] <= high[off_diagonal]).all()

    def test_several_passes_give_the_bits_of_all_rows(self, rows):
        y, p = rows
        state = accumulated(y, p, memory_limit=150_000)

        def batches():
            return (state.read(y[i : i + 700], p[i : i + 700]) for i in range(0, len(y), 700))

        found = evaluate_exactly(batches, state, 200_000, "raise")
        whole = multiauc.evaluate(y, p)
        for metric in METRICS:
            assert getattr(found, metric).exact
            assert getattr(found, metric).value == getattr(whole, metric).value


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.3, 1.0, 8.0, 30.0], ids=["unsure", "usual", "confident", "saturated"])
def test_bounds_are_narrow_and_standard_errors_close(dtype, scale):
    # More distinct numbers than fit: about 60,000 in each histogram, which has half as many bins.
    y, p = softmax(7, 600_000, 10, scale=scale, dtype=dtype)
    found = accumulated(y, p, batch=20_000).evaluate()
    whole = multiauc.evaluate(y, p)
    for metric in METRICS:
        ours, exact = getattr(found, metric), getattr(whole, metric)
        assert ours.high - ours.low < 1e-4
        assert ours.low <= exact.value <= ours.high
        assert ours.standard_error == pytest.approx(exact.standard_error, rel=0.05)
        inner, outer = exact.confidence_interval(), ours.confidence_interval()
        assert outer.low == pytest.approx(inner.low, abs=2e-3)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(0, 600), max_size=5),
    decimals=st.sampled_from([1, 3, 17]),
    memory=st.sampled_from([COARSE, 2**20]),
    single=st.booleans(),
)
def test_neither_order_nor_parts_change_a_bit(seed, cuts, decimals, memory, single):
    y, p = softmax(seed, 600, 3, scale=3.0, dtype=np.float32 if single else np.float64)
    p = np.round(p, decimals)
    whole = accumulated(y, p, memory_limit=memory).to_bytes()
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(600)
    parts = []
    for start, end in pairwise(sorted({0, 600, *cuts})):
        rows = shuffled[start:end]
        parts.append(accumulated(y[rows], p[rows], memory_limit=memory, batch=int(rng.integers(1, 200))))
    merged = sum((parts[i] for i in rng.permutation(len(parts))), start=Accumulator(range(3), memory_limit=memory))
    assert merged.to_bytes() == whole


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_damaged_bytes_are_refused(seed, data):
    y, p = softmax(seed, 200, 3, scale=1.0, dtype=np.float64)
    whole = accumulated(y, p, memory_limit=COARSE).to_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "insert"]))
    if kind == "flip":
        damaged = bytearray(whole)
        damaged[place] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        damaged = whole[:place]
    else:
        damaged = whole[:place] + b"x" + whole[place:]
    with pytest.raises(ValueError, match="state"):
        Accumulator.from_bytes(bytes(damaged))


def test_passes_over_other_rows_are_refused():
    y, p = softmax(1, 600, 3, scale=1.0, dtype=np.float64)
    for metrics in (["auc_mu"], ["hand_till"], ["one_vs_rest"]):
        state = Accumulator(range(3), metrics=metrics, memory_limit=COARSE)
        state.update(y[:300], p[:300])
        with pytest.raises(ValueError, match="not the same when they were read again"):
            evaluate_exactly(lambda state=state: iter([state.read(y, p)]), state, 2**20, "raise")


class TestWeights:
    @pytest.fixture
    def rows(self):
        y, p = softmax(5, 2000, 3, scale=2.0, dtype=np.float64)
        return y, p, np.random.default_rng(1).lognormal(size=2000)

    @pytest.mark.parametrize("memory", [COARSE, 2**24])
    def test_against_all_rows(self, rows, memory):
        y, p, weights = rows
        found = accumulated(y, p, weights=weights, memory_limit=memory).evaluate()
        whole = multiauc.evaluate(y, p, sample_weight=weights)
        for metric in METRICS:
            ours, exact = getattr(found, metric), getattr(whole, metric)
            assert ours.low - 1e-12 <= exact.value <= ours.high + 1e-12
            if memory > COARSE:
                assert ours.exact
                assert ours.value == pytest.approx(exact.value, abs=1e-12)
                assert ours.standard_error == pytest.approx(exact.standard_error, rel=1e-6)

    def test_batches_with_and_without(self, rows):
        y, p, weights = rows
        mixed = accumulated(y[:1000], p[:1000])
        mixed.merge(accumulated(y[1000:], p[1000:], weights=weights[1000:]))
        weights[:1000] = 1.0
        exact = multiauc.auc_mu_score(y, p, sample_weight=weights)
        assert mixed.evaluate().auc_mu.value == pytest.approx(exact, abs=1e-12)

    def test_perfect_separation_is_exactly_one(self):
        y = np.arange(300) % 3
        weights = np.random.default_rng(0).lognormal(sigma=3.0, size=300)
        found = accumulated(y, np.eye(3)[y], weights=weights).evaluate()
        assert found.auc_mu.value == found.one_vs_rest.value == 1.0

    def test_rows_of_weight_zero_do_not_exist(self, rows):
        y, p, weights = rows
        weights[::3] = 0.0
        state = accumulated(y, p, weights=weights)
        assert state.n_rows == np.count_nonzero(weights)

    @pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, 1e200])
    def test_impossible_weights_are_refused(self, rows, weight):
        y, p, weights = rows
        weights[7] = weight
        with pytest.raises(ValueError, match=r"sample_weight contains .* at row 7"):
            accumulated(y, p, weights=weights)

    def test_passes_refuse_weights(self, rows):
        y, p, weights = rows
        state = accumulated(y, p, weights=weights)
        with pytest.raises(ValueError, match="weights"):
            evaluate_exactly(lambda: [state.read(y, p)], state, 2**20, "raise")


class TestUse:
    def test_labels_of_any_kind_and_pickles(self):
        labels = [date(2026, 1, day) for day in (1, 2, 3)]
        state = Accumulator(labels)
        p = np.random.default_rng(0).dirichlet([1.0] * 3, size=60)
        state.update([labels[i % 3] for i in range(60)], p)
        again = pickle.loads(pickle.dumps(state))
        assert again.evaluate() == state.evaluate()
        with pytest.raises(TypeError, match="labels must be strings, numbers or bools"):
            state.to_bytes()

    def test_one_score_of_two_classes(self):
        rng = np.random.default_rng(0)
        y, s = rng.integers(0, 2, size=500), rng.normal(size=500)
        state = Accumulator([0, 1])
        state.update(y, s)
        assert state.evaluate().auc_mu.value == multiauc.auc_mu_score(y, s)
        assert state.evaluate().one_vs_rest.value == multiauc.one_vs_rest_score(y, s)

    def test_bad_batches_leave_no_trace(self):
        y, p = softmax(0, 100, 3, scale=1.0, dtype=np.float64)
        state = accumulated(y, p)
        before = state.to_bytes()
        wrong = p.copy()
        wrong[50, 1] = np.nan
        for labels, scores, message in [
            (y, wrong, "nan at row 50, column 1"),
            (np.where(y == 2, 7, y), p, "label 7"),
            (y[:-1], p, "y_true"),
            (y, p[:, :2], "class of each of the 2 columns of y_score; got 3 labels"),
            (y, p.astype(np.float32), "float32"),
        ]:
            with pytest.raises(ValueError, match=message):
                state.update(labels, scores)
        assert state.to_bytes() == before

    def test_batches_of_weight_zero_and_of_nothing_add_no_rows(self):
        state = Accumulator(["a", "b"])
        state.update(["a", "b"], [[0.9, 0.1], [0.1, 0.9]], [0.0, 0.0])
        state.update([], np.empty((0, 2)))
        assert state.n_rows == 0

    def test_absent_classes(self):
        y, p = softmax(0, 200, 3, scale=1.0, dtype=np.float64)
        state = Accumulator(range(3))
        state.update(y[y < 2], p[y < 2])
        with pytest.raises(ValueError, match="no rows of 1 class: 2"):
            state.evaluate()
        ignored = state.evaluate(absent="ignore")
        assert ignored.auc_mu.value == multiauc.auc_mu_score(y[y < 2], p[y < 2], labels=range(3), absent="ignore")
        assert list(ignored.per_class) == [0, 1]
        assert np.isnan(state.evaluate(absent="nan").auc_mu.value)

    def test_states_of_other_kinds_do_not_merge(self):
        y, p = softmax(0, 50, 3, scale=1.0, dtype=np.float64)
        state = accumulated(y, p)
        with pytest.raises(ValueError, match="same memory"):
            state.merge(Accumulator(range(3), memory_limit=2**20))
        with pytest.raises(ValueError, match="float32"):
            state.merge(accumulated(y, p.astype(np.float32)))
        with pytest.raises(TypeError, match="only an Accumulator"):
            state.merge(3)
        assert (state + state).n_rows == 100
        assert state.n_rows == 50

    def test_small_memory_names_what_is_needed(self):
        with pytest.raises(ValueError, match="memory_limit must be at least"):
            Accumulator(range(1000), memory_limit=2**20)

    def test_nothing_before_the_first_row(self):
        state = Accumulator(["a", "b"])
        with pytest.raises(ValueError, match="before the first update"):
            state.evaluate()
        assert Accumulator.from_bytes(state.to_bytes()).n_rows == 0
        state.update([], np.empty((0, 2)))

    def test_one_vs_rest_alone_of_many_classes(self):
        y, p = softmax(0, 5000, 300, scale=2.0, dtype=np.float32, skill=3.0)
        found = accumulated(y, p, metrics=["one_vs_rest"], memory_limit=2**24).evaluate()
        whole = multiauc.evaluate(y, p, metrics=["one_vs_rest"])
        assert found.one_vs_rest.low <= whole.one_vs_rest.value <= found.one_vs_rest.high
        assert found.one_vs_rest.standard_error == pytest.approx(whole.one_vs_rest.standard_error, rel=0.05)
        with pytest.raises(AttributeError, match="hand_till was not computed"):
            _ = found.hand_till

    def test_prints_what_is_known(self):
        y, p = softmax(0, 3000, 3, scale=1.0, dtype=np.float64)
        text = repr(accumulated(y, p, memory_limit=COARSE).evaluate())
        assert "guaranteed bounds" in text
        assert " to " in text
        assert "exact" in repr(accumulated(y, p).evaluate())
        frame = accumulated(y, p).evaluate().to_frame()
        assert len(frame) == 4 + 3
