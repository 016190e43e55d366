"""Metrics within the folds of a cross-validation, averaged over folds: scores of different models do not compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from multiauc import _rust
from multiauc._common.wording import counted, listing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.held_inputs import HeldInputs
    from multiauc._input.sample import SampleArguments


def compare_in_folds(models: list[HeldInputs], metrics: tuple[str, ...]) -> _rust.Compared:
    """Some metrics of models on the same rows, averaged over their folds: by model, then by metric."""
    inputs = models[0]
    _check_folds(inputs)
    rows = _rows_of_folds(inputs)
    arguments = [[_fold_arguments(model, of_fold) for of_fold in rows] for model in models]
    is_iid = inputs.sampling == "iid"
    return _rust.compare_folds(arguments, rows, inputs.groups, list(metrics), inputs.options, is_iid)


def _rows_of_folds(inputs: HeldInputs) -> list[NDArray[np.uint32]]:
    folds = np.zeros(len(inputs.sample.codes), np.uint32) if inputs.folds is None else inputs.folds
    order = np.argsort(folds, kind="stable").astype(np.uint32)
    return np.split(order, np.cumsum(np.bincount(folds))[:-1])


def _fold_arguments(inputs: HeldInputs, rows: NDArray[np.uint32]) -> SampleArguments:
    scores, codes, weights, groups = inputs.arguments()
    return (
        scores[rows],
        codes[rows],
        None if weights is None else weights[rows],
        None if groups is None else groups[rows],
    )


def _check_folds(inputs: HeldInputs) -> None:
    """Every fold needs rows of every class that there is."""
    sample = inputs.sample
    folds = _rows_of_folds(inputs)
    for fold, rows in enumerate(folds):
        codes = sample.codes[rows] if sample.weights is None else sample.codes[rows[sample.weights[rows] > 0]]
        counts = np.bincount(codes, minlength=sample.n_classes)
        missing = [sample.labels[k] for k in np.flatnonzero((counts == 0) & (sample.rows > 0)).tolist()]
        if missing:
            raise ValueError(
                f"folds must each have rows of every class; fold number {fold + 1} of {len(folds)} "
                f"(in sorted order) has {counted(len(rows), 'row')} and none of {listing(missing)}; "
                "stratified folds have them"
            )
