"""Replicates of models scored on the same rows, and the accelerations of their metrics."""

from __future__ import annotations

import copy
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from multiauc import _rust
from multiauc._curves.multiclass import default_curve
from multiauc._inference.bootstrap import MEMORY_LIMIT, accelerations, draw_seed, run_replicates
from multiauc._input.options import read_rng

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.held_inputs import HeldInputs


def resampled_metrics(
    models: list[HeldInputs], size: int, rng: np.random.Generator | int | None
) -> NDArray[np.float64]:
    """Replicates of the metrics that all models were asked for: a row each, models side by side, metrics in them."""
    generator = read_rng(rng)
    inputs = models[0]
    samples = [model.arguments() for model in models]
    if inputs.sample.is_undefined:
        return np.full((size, len(models) * len(inputs.metrics)), np.nan)
    resampler = _rust.Resampler(samples, list(inputs.metrics), inputs.options, inputs.sampling, MEMORY_LIMIT)
    return run_replicates(resampler, size, draw_seed(generator))


def resampled_curves(
    models: list[HeldInputs], size: int, rng: np.random.Generator | int | None
) -> tuple[NDArray[np.float64], list[float | None]]:
    """Replicates of the areas D of the models, and the bounds that they are at: a column and an entry per model."""
    generator = read_rng(rng)
    if models[0].sample.is_undefined:
        return np.full((size, len(models)), np.nan), [None] * len(models)
    found = []
    for model in models:
        roc = default_curve(model.unchanged_sample(), model.options["pair_weights"])
        # A copy of the same generator draws the same rows for every model.
        found.append(roc.resampled(size, copy.deepcopy(generator), "rows", model.groups, model.sampling))
    draw_seed(generator)
    return np.stack([one.replicates for one in found], axis=1), [one.bound for one in found]


def model_accelerations(models: list[HeldInputs]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The accelerations of the one metric of some models, and those of the differences of models, m x m."""
    groups = models[0].groups
    of_models = np.concatenate([inputs.influences() for inputs in models], axis=1)
    differences = np.full((len(models), len(models)), np.nan)
    for i, j in combinations(range(len(models)), 2):
        differences[i, j] = accelerations(of_models[:, [i]] - of_models[:, [j]], groups)[0]
        differences[j, i] = -differences[i, j]
    return accelerations(of_models, groups), differences
