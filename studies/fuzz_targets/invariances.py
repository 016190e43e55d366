"""What must not change an answer: the unit of weights, the order of rows and columns; populations beside samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.stats

import multiauc
from fuzz_targets.registry import Rng, answer, outside, target, unequal
from fuzz_targets.samples import any_sample, sound

if TYPE_CHECKING:
    from collections.abc import Iterator

COSTS = ([0.0, 1.0, 5.0, 2.0], [1.0, 0.0, 3.0, 1.0], [2.0, 7.0, 0.0, 1.0], [4.0, 1.0, 1.0, 0.0])


@target()
def weights(rng: Rng) -> Iterator[str]:
    """Weights in another unit."""
    y, p, w = sound(rng, weighted=True)
    unit = float(rng.choice([10.0, 3.0, 1e-3, 2.0**20]))
    functions = (
        multiauc.auc_mu_score,
        multiauc.hand_till_score,
        multiauc.one_vs_rest_score,
        multiauc.pdi_score,
        multiauc.partial_auc_score,
        multiauc.h_measure_score,
        multiauc.kappa_score,
        multiauc.matthews_score,
    )
    function = functions[int(rng.integers(len(functions)))]
    options = {"max_fpr": 0.3} if function is multiauc.partial_auc_score else {}
    found = [answer(function, y, p, sample_weight=one, absent="ignore", **options) for one in (w, unit * w)]
    yield from unequal(f"{function.__name__} with weights times {unit}", found[1], found[0])
    low = -1.0 if function in (multiauc.kappa_score, multiauc.matthews_score) else 0.0
    yield from outside(function.__name__, found[0], low - 1e-12, 1.0 + 1e-12)


@target()
def equal_decisions(rng: Rng) -> Iterator[str]:
    """Where all rows are decided alike, agreement beyond chance is 0 with any weights."""
    y, p, w = sound(rng, weighted=True)
    p = np.tile(rng.dirichlet(np.ones(p.shape[1])), (len(y), 1))
    for function in (multiauc.kappa_score, multiauc.matthews_score):
        found = answer(function, y, p, sample_weight=w, absent="ignore")
        yield from unequal(f"{function.__name__} of equal decisions", found, None if found is None else 0.0)


@target("roc_hull_points")
def hulls(rng: Rng) -> Iterator[str]:
    """Hulls and what is computed from them, with weights in another unit and rows in another order."""
    y, p, w = sound(rng, weighted=True)
    other = np.round(rng.dirichlet(np.ones(p.shape[1]), size=len(y)) * 4) / 4
    order, unit = rng.permutation(len(y)), float(rng.choice([10.0, 3.0, 0.1]))
    options = {"cost_range": (0.1, 0.9), "most_likely": 0.5, "absent": "ignore"}
    found = answer(multiauc.lc_index, y, p, other, sample_weight=w, **options)
    yield from outside("lc_index", found, -1.0, 1.0)
    scaled = answer(multiauc.lc_index, y, p, other, sample_weight=unit * w, **options)
    yield from unequal(f"lc_index with weights times {unit}", scaled, found)
    permuted = answer(multiauc.lc_index, y[order], p[order], other[order], sample_weight=w[order], **options)
    yield from unequal("lc_index of rows in another order", permuted, found)
    one, two = (answer(multiauc.roc_hulls, y, p, sample_weight=some, absent="ignore") for some in (w, unit * w))
    for label, hull in (one or {}).items():
        same = hull.fpr.shape == two[label].fpr.shape
        if not same or not np.allclose([hull.fpr, hull.tpr], [two[label].fpr, two[label].tpr], rtol=0, atol=1e-12):
            yield f"the hull of {label} has other corners with weights times {unit}"


@target()
def decisions(rng: Rng) -> Iterator[str]:
    """Rules that were fitted: neither the order of rows nor that of columns changes them."""
    y, p, w = sound(rng, most_rows=40, most_classes=4)
    if rng.random() < 0.3:
        p = np.round(p * 5) / 5
    k = p.shape[1]
    costs = np.array(COSTS)[:k, :k]
    order, columns = rng.permutation(len(y)), rng.permutation(k)
    fitted = answer(multiauc.fit_decisions, y, p, costs, sample_weight=w)
    rows = answer(multiauc.fit_decisions, y[order], p[order], costs, sample_weight=None if w is None else w[order])
    swapped = answer(
        multiauc.fit_decisions,
        y,
        p[:, columns],
        costs[np.ix_(columns, columns)],
        sample_weight=w,
        labels=columns.tolist(),
    )
    offsets = [None if one is None else one.offsets for one in (fitted, rows, swapped)]
    yield from unequal("offsets of rows in another order", offsets[1], offsets[0], 1e-6)
    yield from unequal(
        "offsets of columns in another order", offsets[2], None if fitted is None else fitted.offsets[columns], 1e-6
    )


@target()
def decisions_of_groups(rng: Rng) -> Iterator[str]:
    """Few groups, some of which weigh nothing: what is cross-validated is a cost that there can be."""
    y, p, _ = sound(rng, most_rows=20, most_classes=3)
    groups = rng.integers(int(rng.integers(1, 4)), size=len(y))
    w = np.where(groups == 0, rng.choice([0.0, 1.0]), 1.0)
    costs = np.array(COSTS)[: p.shape[1], : p.shape[1]]
    fitted = answer(multiauc.fit_decisions, y, p, costs, groups=groups, sample_weight=w, absent="ignore")
    for value in () if fitted is None else fitted.cross_validated.values.values():
        if not np.isnan(value) and 0.0 < value < 1e-6:
            yield f"a cross-validated cost is {value!r}"
        yield from outside("a cross-validated cost", None if np.isnan(value) else value, 0.0, 100.0)


@target()
def any_decisions(rng: Rng) -> Iterator[str]:
    """Samples that may be wrong."""
    s = any_sample(rng)
    k = s.p.shape[1]
    costs = rng.choice([0.0, 1.0, 5.0, np.nan, 1e308], size=(k, k), p=[0.4, 0.3, 0.2, 0.05, 0.05])
    fitted = answer(multiauc.fit_decisions, s.y, s.p, costs, sample_weight=s.w, absent="ignore")
    if fitted is not None and not np.isfinite(fitted.offsets).all():
        yield f"the offsets are {fitted.offsets!r}"


@target()
def densities(rng: Rng) -> Iterator[str]:
    """The areas of populations, beside those of samples of them."""
    k, n = 2, 2000

    def law() -> Any:
        a, b = rng.choice([0.1, 0.5, 1.0, 2.0, 5.0, 40.0], size=2)
        return scipy.stats.beta(a, b)

    laws = [[law() for _ in range(k)] for _ in range(k)]
    found = answer(multiauc.ScoreDensities, laws)
    for i, j in ((0, 1), (1, 0)):
        value = None if found is None else answer(found.pair_auc, i, j)
        yield from outside(f"pair_auc({i}, {j})", value)
        own, others = laws[i][i].rvs(n, random_state=rng), laws[i][j].rvs(n, random_state=rng)
        below = np.searchsorted(np.sort(others), own) / n
        above = np.searchsorted(np.sort(others), own, side="right") / n
        # Six standard errors of the widest kind.
        if value is not None and abs(value - (below + above).mean() / 2) > 6.0 * np.sqrt(0.5 / n):
            parameters = [laws[i][i].args, laws[i][j].args]
            yield f"pair_auc({i}, {j}) of {parameters} is {value!r}, in a sample {(below + above).mean() / 2}"


@target()
def normal_scores(rng: Rng) -> Iterator[str]:
    """Normal populations of any scale: another unit of the scores changes nothing."""
    k = int(rng.integers(2, 4))
    means, sd = rng.normal(size=(k, k)), float(rng.choice([0.5, 1.0, 3.0]))
    unit = float(rng.choice([1e-150, 1e-3, 1e3, 1e150]))
    found = [
        None if one is None else answer(lambda one=one: float(one.hand_till))
        for one in (answer(multiauc.NormalScores, times * means, times * sd) for times in (1.0, unit))
    ]
    yield from outside("hand_till of normal scores", found[0])
    if found[1] is not None:  # it may refuse such scales
        yield from unequal(f"hand_till of normal scores times {unit}", found[1], found[0])
