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


@target("student_upper_quantile", "student_two_sided_p", "student_upper_p", "NORMAL_FROM")
def student(rng: Rng) -> Iterator[str]:
    """Tails and quantiles of Student's t, for any numbers: a probability, or nan."""
    t, freedom = rng.choice(NUMBERS), rng.choice(FREEDOMS)
    for function in (_rust.student_two_sided_p, _rust.student_upper_p):
        found = answer(function, float(t), float(freedom))
        yield from outside(function.__name__, None if found is None or np.isnan(found) else found)
    tail = float(rng.uniform(1e-12, 0.5))
    quantile = answer(_rust.student_upper_quantile, tail, float(freedom))
    if quantile is not None and not quantile >= 0.0:
        yield f"the quantile of {tail} with {freedom} degrees of freedom is {quantile}"


@target("sum_to_one", "find_improbable_row")
def sums_of_probabilities(rng: Rng) -> Iterator[str]:
    """Whether rows sum to one, against NumPy's sums."""
    scores = rng.dirichlet(np.ones(3), size=int(rng.integers(1, 50)))
    scores[rng.random(len(scores)) < 0.1] += float(rng.choice([0.0, 1e-5, 0.1]))
    expected = bool((np.abs(scores.sum(axis=1) - 1.0) <= 1e-3).all())
    if _rust.sum_to_one(scores, len(scores), 1e-3) != expected:
        yield f"rows sum to one: {not expected} instead of {expected}"
    wrong = np.flatnonzero(np.abs(scores.sum(axis=1) - 1.0) > 1e-6)
    if _rust.find_improbable_row(scores) != (wrong[0] if len(wrong) else None):
        yield f"row {_rust.find_improbable_row(scores)} is not one of probabilities"


@target("find_odd_rows", "detect_delimiter")
def odd_rows_and_delimiters(rng: Rng) -> Iterator[str]:
    """A row that is no probabilities is found among others, and the delimiter of a table that has no other."""
    scores = rng.dirichlet(np.ones(3), size=int(rng.integers(20, 60)))
    row = int(rng.integers(len(scores)))
    scores[row] += 0.25 + rng.random()
    found = _rust.find_odd_rows(scores)
    if found is None or found[0] != row or found[3] != 1:
        yield f"the odd row {row} is found as {found}"
    sign = str(rng.choice(list(",;|")))
    text = "\n".join(sign.join(map(str, cells)) for cells in scores.tolist())
    if _rust.detect_delimiter(text, ",;|", bool(rng.integers(2))) != sign:
        yield f"the delimiter {sign!r} is not found"


@target("percentile_p_value")
def p_values_of_replicates(rng: Rng) -> Iterator[str]:
    """P-values of any replicates and of the same with the opposite sign."""
    values = rng.choice([rng.normal(), 0.0, -0.5, 1.0, np.nan], size=int(rng.integers(1, 30)))
    found, turned = _rust.percentile_p_value(values), _rust.percentile_p_value(-values)
    if np.isnan(found):
        if np.count_nonzero(~np.isnan(values)) > 1:
            yield f"the p-value of {values.tolist()} is not known"
    elif not 0.0 < found <= 1.0 or abs(found - turned) > 1e-12:
        yield f"the p-value of {values.tolist()} is {found}, and {turned} with the opposite sign"


@target("interval", "test_by_interval", "wilson_limits", "SampleDifferences", "chance")
def intervals_and_tests(rng: Rng) -> Iterator[str]:
    """Intervals hold their value, and differences between samples that of both."""
    value, variance, freedom = rng.random(), 10.0 ** rng.uniform(-30, 0), float(rng.choice(FREEDOMS))
    value = float(rng.choice([value, 0.0, 1.0]))
    worst, tail = (float(rng.random()), 0.25), float(rng.uniform(1e-9, 0.5))
    known = (value, variance, freedom, 9.0, worst if rng.random() < 0.5 else None)
    rule = "logit" if known[4] is None else "wilson"
    low, high = _rust.interval(known, rule, (0.0, 1.0, False), tail, None)
    if not 0.0 <= low <= value <= high <= 1.0:
        yield f"an interval from {low} to {high} of {known}"
    _rust.test_by_interval(known, rule, (0.0, 1.0, False), float(rng.uniform(0.01, 0.99)))
    values, variances, freedoms, effects = (np.array([number]) for number in (value, variance, freedom, worst[0]))
    (low,), (high,) = _rust.wilson_limits(values, variances, freedoms, effects, 0.25, tail)
    if not low <= value <= high:
        yield f"Wilson's limits {low} and {high} of {value}"
    of_both = (variances, freedoms, np.array([9]), effects, np.array([0.25]))
    sides = (values, *of_both), (np.array([rng.random()]), *of_both)
    differences = _rust.SampleDifferences(*sides, np.zeros(1), (0.0, 1.0, False))
    ((low,), (high,)), (difference,) = differences.intervals(tail), differences.values
    if not low <= difference <= high:
        yield f"a difference of {difference} with an interval from {low} to {high}"
    ((z,), (t,)) = differences.statistics()
    if z < 0.0 or t * difference < 0.0:
        yield f"z {z} and t {t} of a difference of {difference}"
    kinds = {metric["chance"] for metric in _rust.METRICS.values()}
    for kind in kinds - {"log_loss"}:
        yield from outside(f"chance {kind}", _rust.chance(kind, int(rng.integers(2, 300)), [0.5, 0.5], 2))


@target("confusion", "Pilot", "roc_surface", "offset_rates")
def shares_of_rows(rng: Rng) -> Iterator[str]:
    """The confusion matrix, plans, surfaces and volumes of small samples."""
    s = any_sample(rng, most_classes=3)
    found = answer(multiauc.confusion_matrix, s.y, s.p, sample_weight=s.w)
    for rate in () if found is None else (*found.recall.values(), *found.f1.values()):
        yield from outside("a rate", None if np.isnan(rate.value) else rate.value)
    pilot = answer(multiauc.evaluate, s.y, s.p, **s.options)
    plan = None if pilot is None else answer(multiauc.sample_size, pilot, half_width=0.1)
    if plan is not None and plan.total < 2 * len(plan.per_class):
        yield f"a plan of {plan.total} rows"
    volume = answer(multiauc.hum, s.y, s.p)
    surface = None if volume is None else answer(volume.surface, 5)
    if surface is not None and not ((surface.rates >= 0.0) & (surface.rates <= 1.0)).all():
        yield "rates of a surface outside of 0 and 1"
    yield from outside("ferri_vus", answer(multiauc.ferri_vus_score, s.y, s.p, classifiers=3, precision=0.1, rng=0))


@target("normal_share_above", "normal_share_separated", "share_of_sums_above")
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
    first, second, third, fourth = ((means * (k + 1), np.full(4, 0.25)) for k in range(4))
    won = _rust.share_of_sums_above((first, second), (third, fourth))
    lost = _rust.share_of_sums_above((third, fourth), (first, second))
    if not (0.0 <= won <= 1.0 and abs(won + lost - 1.0) < 1e-12):
        yield f"shares {won} and {lost} of sums"


@target("student_power", "f_tail", "holm", "chi_squared_tail")
def tails(rng: Rng) -> Iterator[str]:
    """Other tails."""
    a = float(rng.choice(NUMBERS))
    freedom = float(rng.choice(FREEDOMS))
    for name, found in (
        ("student_power", answer(_rust.student_power, a, freedom, float(rng.uniform(1e-6, 0.5)))),
        ("f_tail", answer(_rust.f_tail, a, int(rng.integers(1, 9)), freedom)),
        ("holm", max(_rust.holm([abs(a) % 1.0, 0.5]), default=None)),
        ("chi_squared_tail", answer(_rust.chi_squared_tail, a, int(rng.integers(1, 3000)))),
    ):
        yield from outside(name, None if found is None or np.isnan(found) else found)


@target("MinP", "row_mean")
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


@target("average_precision_per_class", "precision_recall_points", "reliability_points")
def average_precision(rng: Rng) -> Iterator[str]:
    """Average precision and its curves."""
    s = any_sample(rng)
    yield from outside("average_precision", answer(multiauc.average_precision_score, s.y, s.p, **s.options))
    for curve in (answer(multiauc.precision_recall_curves, s.y, s.p, **s.options) or {}).values():
        for value in (*curve.precision, *curve.recall):
            yield from outside("precision or recall", value)
    found = answer(multiauc.reliability_curves, s.y, s.p, n_bins=int(rng.integers(1, 20)), **s.options) or {}
    for curve in found.values():
        for value in (*curve.predicted, *curve.observed):
            yield from outside("a share of a bin", value)


@target("evaluate_runs", "Runs", "RunsMean", "METRICS")
def runs(rng: Rng) -> Iterator[str]:
    """Several runs on the same rows."""
    s = any_sample(rng)
    scores = [s.p, s.p[:, ::-1], s.p[::-1]][: int(rng.integers(1, 4))]
    found = answer(multiauc.evaluate_runs, s.y, scores, **s.options)
    for name, one in {} if found is None else found.metrics.items():
        if np.isfinite(one.value):
            yield from outside(name, one.value)


@target("evaluate_repeats", "RepeatedMetric")
def repeats(rng: Rng) -> Iterator[str]:
    """A repeated cross-validation of rows that all have the same score: chance, whatever the folds."""
    codes = np.repeat(np.arange(3), 4).astype(np.uint32)
    folds = [np.flatnonzero(np.arange(12) % 2 == place).astype(np.uint32) for place in (0, 1)]
    scores = np.full((12, 3), rng.random())
    samples = [[_rust.Sample(scores[rows], codes[rows]) for rows in folds] for _ in range(2)]
    (found,) = _rust.evaluate_repeats(samples, [folds, folds], codes, ["auc_mu"], _rust.MetricOptions())
    if found.value != 0.5 or found.minus(found).value != 0.0 or found.parts[0] != 0.0:
        yield f"constant scores have {found.value} with the variance {found.parts[0]}"


@target("replicate_interval")
def intervals_of_replicates(rng: Rng) -> Iterator[str]:
    """Intervals from any replicates: in order, or a reason why there are none."""
    values = rng.choice([rng.random(), 0.0, 0.5, 1.0, np.nan], size=int(rng.integers(1, 30)))
    estimate, acceleration = float(rng.choice([0.0, 0.3, 0.5, 1.0])), float(rng.normal() / 10)
    fit = (float(rng.integers(1, 9)), acceleration, None, bool(rng.integers(2)))
    for method in ("logit", "percentile", "basic", "bca"):
        found = _rust.replicate_interval(values, estimate, method, float(rng.uniform(1e-6, 0.4)), *fit)
        if not isinstance(found, str) and found[0] > found[1]:
            yield f"{method} limits {found} of {values.tolist()}"
