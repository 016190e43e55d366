"""Targets for the kernels of the compiled core, average precision and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import multiauc
from fuzz_targets.registry import Rng, answer, outside, target
from fuzz_targets.samples import any_sample
from multiauc import _rust

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBERS = np.array([0.0, 1e-300, 1e-9, 0.5, 1.0, 2.5, 30.0, 1e6, 1e300, np.inf, np.nan])
FREEDOMS = np.array([1.0, 1.5, 2.0, 7.3, 100.0, 1e6, 1e9, 1e300])


@target("student_upper_quantile", "student_upper_quantiles", "student_two_sided_p", "student_upper_p", "NORMAL_FROM")
def student(rng: Rng) -> Iterator[str]:
    """Tails and quantiles of Student's t, for any numbers: a probability, or nan."""
    t, freedom = rng.choice(NUMBERS), rng.choice(FREEDOMS)
    for function in (_rust.student_two_sided_p, _rust.student_upper_p):
        found = answer(function, float(t), float(freedom))
        yield from outside(function.__name__, None if found is None or np.isnan(found) else found)
    tail = float(rng.uniform(1e-12, 0.5))
    one = answer(_rust.student_upper_quantile, tail, float(freedom))
    many = answer(_rust.student_upper_quantiles, tail, np.array([freedom, 5.0]))
    if one is not None and many is not None and np.isfinite(one) and abs(one - many[0]) > 1e-9 * abs(one):
        yield f"quantiles of {freedom} degrees of freedom: {one} alone, {many[0]} among others"


@target("normal_share_above", "normal_share_separated")
def shares_of_normal_scores(rng: Rng) -> Iterator[str]:
    """Shares of pairs of rows in any unit: what one wins the other loses."""
    means, deviations = rng.normal(size=4) * 10.0 ** rng.integers(-300, 300), 10.0 ** rng.uniform(-300, 300, size=4)
    (a, b, c, d), (s, t, u, v) = means.tolist(), deviations.tolist()
    won, lost = _rust.normal_share_above((a, s), (b, t)), _rust.normal_share_above((b, t), (a, s))
    if not (0.0 <= won <= 1.0 and abs(won + lost - 1.0) < 1e-15):
        yield f"shares {won} and {lost} of normal scores"
    r = float(rng.choice([-1.0, 0.0, 0.5, 1.0]))
    won = _rust.normal_share_separated([a, b, c, d], [s, t, u, v], r)
    lost = _rust.normal_share_separated([c, d, a, b], [u, v, s, t], r)
    if not (0.0 <= won <= 1.0 and abs(won + lost - 1.0) < 1e-15):
        yield f"shares {won} and {lost} of differences of normal scores"


@target("student_power", "student_quantiles_as_far", "f_tail", "chi_squared_tail")
def tails(rng: Rng) -> Iterator[str]:
    """Other tails."""
    a, b = (float(number) for number in rng.choice(NUMBERS, size=2))
    freedom = float(rng.choice(FREEDOMS))
    for name, found in (
        ("student_power", answer(_rust.student_power, a, freedom, float(rng.uniform(1e-6, 0.5)))),
        ("f_tail", answer(_rust.f_tail, a, int(rng.integers(1, 9)), freedom)),
        ("chi_squared_tail", answer(_rust.chi_squared_tail, a, int(rng.integers(1, 3000)))),
    ):
        yield from outside(name, None if found is None or np.isnan(found) else found)
    answer(_rust.student_quantiles_as_far, np.array([a, b]), np.array([freedom, 3.0]))


@target("MinP", "row_mean", "degrees_of_freedom")
def families(rng: Rng) -> Iterator[str]:
    """Corrections for several tests, and assignments."""
    count = int(rng.integers(1, 6))
    vectors = rng.normal(size=(count, 3))
    smallest = _rust.MinP(count, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    p = float(rng.choice([0.0, 1e-300, 1e-9, 0.01, 0.5, 1.0]))
    corrected = smallest.correct(p)
    yield from outside("a corrected p-value", corrected)
    if corrected < p:
        yield f"a p-value of {p} was corrected to {corrected}"
    s = any_sample(rng, most_classes=3)
    costs = answer(multiauc.fit_decisions, s.y, s.p, 1.0 - np.eye(s.p.shape[1]), sample_weight=s.w)
    if costs is not None:
        answer(costs.compare, s.y, s.p)


@target("average_precision_per_class", "precision_recall_points")
def average_precision(rng: Rng) -> Iterator[str]:
    """Average precision and its curves."""
    s = any_sample(rng)
    yield from outside("average_precision", answer(multiauc.average_precision_score, s.y, s.p, **s.options))
    for curve in (answer(multiauc.precision_recall_curves, s.y, s.p, **s.options) or {}).values():
        for value in (*curve.precision, *curve.recall):
            yield from outside("precision or recall", value)


@target("evaluate_runs", "Runs", "METRICS")
def runs(rng: Rng) -> Iterator[str]:
    """Several runs on the same rows."""
    s = any_sample(rng)
    scores = [s.p, s.p[:, ::-1], s.p[::-1]][: int(rng.integers(1, 4))]
    found = answer(multiauc.evaluate_runs, s.y, scores, **s.options)
    for name, one in {} if found is None else found.metrics.items():
        if np.isfinite(one.value):
            yield from outside(name, one.value)
