"""Sums over rows in streams: what `evaluate` finds in memory, in any number of parts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, top_k_accuracy_score

import multiauc
from multiauc.streaming import Accumulator

METRICS = ("accuracy", "top_k_accuracy", "log_loss", "brier")


@pytest.fixture(params=["double", "single", "logits", "two classes"])
def rows(request, rng):
    """Labels, classes, scores and options."""
    classes = 2 if request.param == "two classes" else 4
    codes = rng.choice(classes, size=600, p=np.arange(1, classes + 1) / np.arange(1, classes + 1).sum())
    logits = rng.normal(size=(600, classes)) + 1.5 * np.eye(classes)[codes]
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    options = {"outputs": "logits"} if request.param == "logits" else {}
    scores = {"logits": logits, "single": probabilities.astype(np.float32), "two classes": probabilities[:, 1]}
    return codes, range(classes), scores.get(request.param, probabilities), options


def parts(accumulator, codes, scores, weights, cuts, rng):
    """An accumulator per part, in random order."""
    found = []
    for part in np.split(np.arange(len(codes)), cuts):
        one = accumulator.copy()
        one.update(codes[part], scores[part], None if weights is None else weights[part])
        found.append(one)
    return [found[k] for k in rng.permutation(len(found))]


@pytest.mark.parametrize("weighted", [False, True])
def test_estimates_are_those_of_rows_in_memory(rows, rng, weighted):
    codes, labels, scores, options = rows
    weights = rng.lognormal(size=len(codes)) * (rng.random(len(codes)) > 0.1) if weighted else None
    expected = multiauc.evaluate(codes, scores, metrics=METRICS, labels=labels, sample_weight=weights, **options)
    empty = Accumulator(labels, metrics=("auc_mu", *METRICS), **options)
    found = []
    for cuts in ([], [1, 2, 300], np.arange(7, 600, 7)):
        first, *others = parts(empty, codes, scores, weights, cuts, rng)
        for one in others:
            first.merge(pickle.loads(pickle.dumps(one)) if rng.random() < 0.3 else one)
        found.append(Accumulator.from_bytes(first.to_bytes()).evaluate())
    for result in found:
        assert np.array_equal(result.confusion_matrix, found[0].confusion_matrix) or weighted
        for name in METRICS:
            one, known = result.metrics[name], expected.metrics[name]
            assert one.exact
            assert one.value == pytest.approx(known.value, rel=1e-12)
            assert one.value == pytest.approx(found[0].metrics[name].value, rel=1e-12)
            assert one.standard_error == pytest.approx(known.standard_error, rel=1e-9)
            assert one.standard_error == pytest.approx(found[0].metrics[name].standard_error, rel=1e-12)
            assert one.degrees_of_freedom == pytest.approx(known.degrees_of_freedom, rel=1e-6)
            if one.standard_error > 0:
                assert one.confidence_interval() == pytest.approx(known.confidence_interval(), rel=1e-8)


def test_values_are_those_of_scikit_learn(rng):
    codes = rng.integers(5, size=400)
    scores = rng.dirichlet(np.ones(5), size=400) + 0.2 * np.eye(5)[codes]
    scores /= scores.sum(axis=1, keepdims=True)
    accumulator = Accumulator(range(5), metrics=METRICS, k=3)
    for part in np.split(np.arange(400), 8):
        accumulator.update(codes[part], scores[part])
    found = accumulator.evaluate()
    assert found.metrics["accuracy"].value == pytest.approx(accuracy_score(codes, scores.argmax(axis=1)), abs=1e-14)
    assert found.metrics["log_loss"].value == pytest.approx(log_loss(codes, scores), rel=1e-12)
    expected = top_k_accuracy_score(codes, scores, k=3)
    assert found.metrics["top_k_accuracy"].value == pytest.approx(expected, abs=1e-14)
    brier = ((scores - np.eye(5)[codes]) ** 2).sum(axis=1).mean()
    assert found.metrics["brier"].value == pytest.approx(brier, rel=1e-12)
    assert np.array_equal(found.confusion_matrix, confusion_matrix(codes, scores.argmax(axis=1)))
    assert found.per_class == {}
    assert Accumulator(range(5)).labels == (0, 1, 2, 3, 4)


def test_batches_that_are_refused_leave_nothing_behind(rng):
    codes, scores = np.array([0, 1, 2, 0]), rng.dirichlet(np.ones(3), size=4)
    accumulator = Accumulator(range(3), metrics=["log_loss"])
    accumulator.update(codes, scores)
    before = accumulator.to_bytes()
    for wrong, message in (
        (2 * scores, "sums to"),
        (np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]], dtype=float), "y_score is 0 at row 1, column 1"),
        (np.where(np.arange(4)[:, None] == 2, np.nan, scores), "nan"),
    ):
        with pytest.raises(ValueError, match=message):
            accumulator.update(codes, wrong)
        assert accumulator.to_bytes() == before
    clipped = Accumulator(range(3), metrics=["log_loss"], clip=1e-3)
    clipped.update([1, 0], np.array([[1.0, 0, 0], [1, 0, 0]]))
    clipped.update([2, 2], np.array([[0.0, 0, 1], [0, 0, 1]]))
    assert clipped.evaluate().metrics["log_loss"].value == pytest.approx(-np.log(1e-3) / 4)


def test_options_are_kept_and_compared():
    with pytest.raises(ValueError, match="k has no meaning"):
        Accumulator(range(3), k=2)
    first, second = (Accumulator(range(3), metrics=["top_k_accuracy"], k=k) for k in (1, 2))
    with pytest.raises(ValueError, match="same k"):
        first.merge(second)
    assert Accumulator.from_bytes(second.to_bytes()).k == 2


def test_files_in_pieces_have_them(tmp_path, rng):
    codes = rng.integers(3, size=500)
    scores = rng.dirichlet(np.ones(3), size=500)
    path = tmp_path / "predictions.csv"
    lines = [f"{code},{','.join(map(repr, row))}" for code, row in zip(codes.tolist(), scores.tolist(), strict=True)]
    path.write_text("\n".join(["label,p_0,p_1,p_2", *lines]))
    expected = multiauc.evaluate(codes, scores, metrics=METRICS)
    for exact in (False, True):
        found = multiauc.evaluate_dataset(path, label="label", metrics=["auc_mu", *METRICS], exact=exact)
        for name in METRICS:
            assert found.metrics[name].value == pytest.approx(expected.metrics[name].value, rel=1e-12)
            assert found.metrics[name].confidence_interval() == pytest.approx(
                expected.metrics[name].confidence_interval(), rel=1e-8
            )
