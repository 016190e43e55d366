"""States of streams: how fast they take rows, how narrow their bounds are, and what others do instead.

    python benches/streaming.py [--smoke] [--output FILE]

Speed is CPU time on one thread. Errors are measured against the exact value of all rows.
"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

import multiauc
from multiauc.streaming import Accumulator

CLASSES = 10
BATCH = 50_000
#: What updates must reach, in million cells per second and core.
TARGETS = {("hand_till", "one_vs_rest"): 30.0, ("auc_mu",): 5.0}


def softmax(n: int, scale: float, dtype: Any, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of a network, the more confident the larger the scale."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, CLASSES, size=n).astype(np.uint8)
    logits = rng.normal(size=(n, CLASSES))
    logits[np.arange(n), codes] += 1.0
    logits = (scale * logits).astype(dtype)
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return codes, exponentials / exponentials.sum(axis=1, keepdims=True)


def fed(codes: np.ndarray, scores: np.ndarray, times: int = 1, **options: Any) -> Accumulator:
    """A state that has seen all rows so many times."""
    state = Accumulator(range(CLASSES), **options)
    for _ in range(times):
        for start in range(0, len(codes), BATCH):
            state.update(codes[start : start + BATCH], scores[start : start + BATCH])
    return state


def speed_lines(n: int, times: int) -> list[str]:
    """Cells per second and core."""
    lines = ["| metrics | type | million cells/s | target |", "|---|---|---|---|"]
    before = multiauc.get_num_threads()
    multiauc.set_num_threads(1)
    for dtype in (np.float32, np.float64):
        codes, scores = softmax(n, 2.0, dtype)
        for metrics in [("hand_till", "one_vs_rest"), ("auc_mu",), ("auc_mu", "hand_till", "one_vs_rest")]:
            start = time.process_time()
            fed(codes, scores, times, metrics=metrics).to_bytes()  # with the rows that wait to be sorted in
            rate = n * CLASSES * times / (time.process_time() - start) / 1e6
            target = TARGETS.get(metrics) if dtype is np.float32 else None
            verdict = "" if target is None else f"at least {target:g}: {'met' if rate >= target else '**not met**'}"
            lines.append(f"| {', '.join(metrics)} | {np.dtype(dtype)} | {rate:.1f} | {verdict} |")
    multiauc.set_num_threads(before)
    return lines


def bound_lines(n: int) -> list[str]:
    """Distances of the bounds, and standard errors."""
    lines = [
        "| network | type | AUC_mu: high - low | M: high - low | standard errors, of the exact |",
        "|---|---|---|---|---|",
    ]
    for name, scale in (("unsure", 0.3), ("usual", 1.0), ("confident", 8.0), ("saturated", 30.0)):
        for dtype in (np.float32, np.float64):
            codes, scores = softmax(n, scale, dtype, seed=7)
            found, exact = fed(codes, scores).evaluate(), multiauc.evaluate(codes, scores)
            ratios = [
                getattr(found, metric).standard_error / getattr(exact, metric).standard_error
                for metric in ("auc_mu", "hand_till", "one_vs_rest")
            ]
            for metric in ("auc_mu", "hand_till", "one_vs_rest"):
                ours = getattr(found, metric)
                if not ours.low <= getattr(exact, metric).value <= ours.high:
                    raise AssertionError(f"{metric} of {name} {dtype} is not between its bounds")
            widths = " | ".join(f"{value.bounds[1] - value.bounds[0]:.1e}" for value in (found.auc_mu, found.hand_till))
            lines.append(f"| {name} | {np.dtype(dtype)} | {widths} | {min(ratios):.4f} to {max(ratios):.4f} |")
    return lines


def other_lines(n: int) -> list[str]:
    """Bins of fixed width and means over parts, as others do it."""
    codes, scores = softmax(n, 8.0, np.float32, seed=1)
    exact = multiauc.one_vs_rest_score(codes, scores)
    lines = ["| what | error of one-vs-rest | seconds | bytes kept |", "|---|---|---|---|"]
    start = time.perf_counter()
    state = fed(codes, scores, metrics=["one_vs_rest"])
    ours = state.evaluate().one_vs_rest
    seconds = time.perf_counter() - start
    lines.append(
        f"| `Accumulator`, bounds {ours.bounds[1] - ours.bounds[0]:.0e} apart | {ours.value - exact:+.1e} | "
        f"{seconds:.2f} | {len(state.to_bytes()):,} |"
    )
    lines += binned_lines(codes, scores, exact)
    for parts in (10, max(1, n // 200)):
        values = [
            multiauc.one_vs_rest_score(codes[rows], scores[rows], labels=range(CLASSES), absent="ignore")
            for rows in np.array_split(np.argsort(codes, kind="stable") if parts == 10 else np.arange(n), parts)
            if len(np.unique(codes[rows])) > 1
        ]
        if not values:
            continue
        how = "in the order of the classes" if parts == 10 else "in random order"
        lines.append(f"| mean of {parts:,} partitions {how} | {np.mean(values) - exact:+.1e} | | |")
    return lines


def binned_lines(codes: np.ndarray, scores: np.ndarray, exact: float) -> list[str]:
    """Of torchmetrics with thresholds, where it is installed."""
    try:
        import torch  # noqa: PLC0415
        from torchmetrics.classification import MulticlassAUROC  # noqa: PLC0415
    except ImportError:
        return ["| torchmetrics is not installed | | | |"]
    lines = []
    preds, target = torch.from_numpy(scores), torch.from_numpy(codes.astype(np.int64))
    for thresholds in (200, 2000):
        metric = MulticlassAUROC(num_classes=CLASSES, thresholds=thresholds, validate_args=False)
        start = time.perf_counter()
        for begin in range(0, len(codes), BATCH):
            metric.update(preds[begin : begin + BATCH], target[begin : begin + BATCH])
        error = float(metric.compute()) - exact
        seconds = time.perf_counter() - start
        kept = metric.confmat.numel() * metric.confmat.element_size()
        lines.append(f"| torchmetrics, {thresholds} thresholds | {error:+.1e} | {seconds:.2f} | {kept:,} |")
    return lines


def main() -> None:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="tiny data")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    n, times = (3000, 1) if arguments.smoke else (1_000_000, 8)
    lines = [
        "# Streams",
        "",
        f"Written by `benches/streaming.py`. {platform.machine()}; ten classes, 64 MiB, softmax outputs.",
        "",
        "## Updates: CPU time on one thread",
        "",
        *speed_lines(n, times),
        "",
        f"## Bounds after {n:,} rows",
        "",
        *bound_lines(n),
        "",
        f"## Against bins of fixed width and means of partitions: a confident network, {n // 5:,} rows of float32",
        "",
        *other_lines(n // 5),
        "",
    ]
    text = "\n".join(lines)
    print(text)
    if arguments.output:
        arguments.output.write_text(text)


if __name__ == "__main__":
    main()
