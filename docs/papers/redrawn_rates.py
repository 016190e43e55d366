"""The parametric bootstrap of the multi-class ROC paper: rates redrawn as binomial shares around their fitted means."""

from __future__ import annotations

import numpy as np

import multiauc

# The false-positive rates at which curves are kept, as `MulticlassRoc.bootstrap` does.
AT = np.linspace(0.0, 1.0, 101)


def redraw_rates(
    roc: multiauc.MulticlassRoc, size: int, rng: np.random.Generator | int, *, by_pair: bool
) -> multiauc.MulticlassRocBootstrap:
    """Curves fitted to redrawn rates.

    With `by_pair` a rate of the pair (c, d) has n_c n_d trials, as in the paper; otherwise a true-positive rate has n_c
    and a false-positive rate n_d.
    """
    model = roc._model  # noqa: SLF001 - the means and the fit of the core
    if model is None:
        raise ValueError("this curve was unpickled, or a class has no rows")
    generator, means = np.random.default_rng(rng), model.means
    totals = {c: max(1, round(total)) for c, total in model.class_totals}
    trials = np.array([[totals[c] for c, _ in model.pairs], [totals[d] for _, d in model.pairs]])
    if by_pair:
        trials = np.broadcast_to(trials.prod(axis=0), trials.shape)
    trials = np.repeat(trials, len(means) // 2, axis=0)
    areas, heights = np.empty(size), np.empty((size, len(AT)))
    for k in range(size):
        areas[k], heights[k] = model.refit(generator.binomial(trials, means) / trials, AT)
    smallest = model.smallest_class("stratified", None)
    return multiauc.MulticlassRocBootstrap(roc.auc, areas, heights, smallest, model.separation)
