"""Whether a change of the code changes results: several thousand of them through the public names, before and after.

    python studies/same_results.py OUTPUT          computes them into a JSON file of numbers and texts by name
    python studies/same_results.py BEFORE AFTER    compares two such files

Numbers without weights must agree bit for bit, with weights to 1e-12; texts and messages must be the same.
"""

import json
import math
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import multiauc
from multiauc._common.registry import ANALYTIC_METRICS, ONE_SCORE_METRICS

TOLERANCE = 1e-12
SHOWN = 10


def make_samples() -> Iterator[tuple[str, Any, Any]]:
    """Samples with many and few classes, ties, logits, perfect and constant scores."""
    rng = np.random.default_rng(0)
    for name, n_rows, n_classes in [
        ("three", 90, 3),
        ("two", 40, 2),
        ("ties", 80, 4),
        ("tiny", 8, 3),
        ("many", 240, 12),
    ]:
        codes = np.r_[np.tile(np.arange(n_classes), 2), rng.integers(n_classes, size=n_rows - 2 * n_classes)]
        scores = rng.random((n_rows, n_classes)) + 0.6 * np.eye(n_classes)[codes]
        scores = np.round(scores * 4) + 1.0 if name == "ties" else scores
        yield name, np.array([f"c{code}" for code in codes]), scores / scores.sum(axis=1, keepdims=True)
    codes = np.arange(30) % 3
    yield "logits", codes, rng.normal(size=(30, 3)) + 2 * np.eye(3)[codes]
    yield "perfect", codes, 0.7 * np.eye(3)[codes] + 0.1
    yield "constant", codes, np.full((30, 3), 1 / 3)


def describe(result: Any) -> Any:
    """What is kept of a result: its JSON, its text, its flat dict; an array as a list."""
    if isinstance(result, np.ndarray):
        return result.tolist()
    if not hasattr(result, "to_json"):
        return result
    again = pickle.loads(pickle.dumps(result))
    entries = json.loads(result.to_json())
    entries.pop("provenance", None)
    return [entries, str(result), result.to_flat_dict(), again == result]


def make_calls(y_true: Any, scores: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls by name; a name with "weights" in it has weights."""
    rng = np.random.default_rng(1)
    n_rows, n_classes = scores.shape
    other = 0.8 * scores + 0.2 * rng.random(scores.shape)
    weights = np.where(np.arange(n_rows) % 7, rng.random(n_rows), 0.0)
    groups, slices = rng.integers(n_rows // 3 + 2, size=n_rows), rng.integers(3, size=n_rows)
    costs = 1.0 - np.eye(n_classes) + 2.0 * np.eye(n_classes, k=1)
    names: list[Any] = [
        name for name in ANALYTIC_METRICS if n_classes < 5 or name not in {"pdi", "hum", "landgrebe_duin"}
    ]
    options: dict[str, dict[str, Any]] = {
        "plain": {},
        "weights": {"sample_weight": weights},
        "groups": {"groups": groups},
        "weights and groups": {"sample_weight": weights, "groups": groups},
        "iid": {"sampling": "iid"},
        "softmax": {"outputs": "logits"},
        "absent": {"labels": [*np.unique(y_true).tolist(), "none"], "absent": "ignore"},
    }
    models, runs = {"a": scores, "b": other, "c": 0.5 * (scores + other)}, [scores, other]
    trained = {"a": runs, "b": runs[:1]}
    for how, given in options.items():
        for name in names:
            evaluate = partial(multiauc.evaluate, y_true, scores, metrics=[name], **given)
            yield f"evaluate {name} {how}", evaluate
            yield f"plan {name} {how}", partial(plan, evaluate)
            yield f"runs {name} {how}", partial(multiauc.evaluate_runs, y_true, runs, metrics=[name], **given)
            one = {"metric": name, **given}
            yield f"compare {name} {how}", partial(multiauc.compare, y_true, models, **one)
            yield f"slices {name} {how}", partial(multiauc.evaluate_slices, y_true, scores, slices, **one)
            yield f"compare runs {name} {how}", partial(multiauc.compare_runs, y_true, trained, **one)
    yield "folds", partial(multiauc.evaluate, y_true, scores, metrics=names, folds=np.arange(n_rows) % 2)
    yield "partition", partial(multiauc.evaluate, y_true, scores, metrics=["auc_mu", "kappa"], partition=costs)
    yield "bootstrap", lambda: multiauc.evaluate(y_true, scores).bootstrap(50, rng=0)
    yield "bootstraps", lambda: multiauc.compare(y_true, models).bootstrap(50, rng=0)
    yield "influences", lambda: multiauc.evaluate(y_true, scores).influences()
    for name in ONE_SCORE_METRICS:
        yield name, partial(multiauc.evaluate, y_true, scores[:, -1], metrics=[name])
    functions = ["auc_mu_matrix", "hand_till_matrix", "confusion_matrix", *(["pdi", "hum"] if n_classes < 5 else [])]
    for name in functions:
        yield name, partial(getattr(multiauc, name), y_true, scores)


def plan(evaluate: Callable[[], multiauc.Evaluation]) -> multiauc.SampleSize:
    """How many rows a narrow interval takes."""
    return multiauc.sample_size(evaluate(), half_width=0.03)


def compute() -> dict[str, Any]:
    """All results by name; an error is a result, too, and so are warnings."""
    found: dict[str, Any] = {}
    for sample, y_true, scores in make_samples():
        for name, call in make_calls(y_true, scores):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    result = describe(call())
                except Exception as error:  # noqa: BLE001 - whatever it is must stay the same
                    result = f"{type(error).__name__}: {error}"
            found[f"{sample}: {name}"] = [result, *(str(one.message) for one in caught)]
    return found


def are_same(a: Any, b: Any, tolerance: float) -> bool:
    """Whether both are equal, numbers within a tolerance; texts show few enough digits to be equal anyway."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance * max(abs(a), abs(b), 1.0)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(are_same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(are_same(value, b[key], tolerance) for key, value in a.items())
    return bool(a == b)


def main() -> None:
    """Compute, or compare; the exit code says whether two files agree."""
    if len(sys.argv) < 3:
        found = compute()
        Path(sys.argv[1]).write_text(json.dumps(found))
        print(f"{len(found)} results")
        return
    before, after = (json.loads(Path(path).read_text()) for path in sys.argv[1:3])
    other = [
        name
        for name in dict.fromkeys([*before, *after])
        if not are_same(before.get(name), after.get(name), TOLERANCE if "weights" in name else 0.0)
    ]
    for name in other[:SHOWN]:
        print(name, before.get(name), after.get(name), sep="\n    ")
    print(f"{len(before)} results before, {len(after)} after; {len(other)} differ")
    sys.exit(bool(other))


if __name__ == "__main__":
    main()
