"""Sample size planning for evaluations and comparisons."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common import registry, result, wording
from multiauc._common.hints import with_hints
from multiauc._evaluation.comparison import Comparison
from multiauc._evaluation.evaluation import Evaluation, evaluate_inputs
from multiauc._inference import estimates
from multiauc._input.options import read_level, read_metric, read_metric_options, read_number
from multiauc._input.sample import HeldInputs, read_sample
from multiauc.densities import ScorePopulation

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

DEFAULT_POWER = 0.8
FEWEST = 2
MOST = 10**15

# Rows drawn where scores are assumed: so many, and more if a class has fewer than its least share of them.
DRAWN, FEWEST_DRAWN, MOST_DRAWN = 100_000, 1_000, 2_000_000

# Room for rounding where a plan asks for exactly what the pilot has.
ENOUGH = 1.0 + 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SampleSize(result.Printed, result.Result):
    """The rows per class that a target needs; see `multiauc.sample_size`.

    Attributes
    ----------
    aim : str
        The target, in words.
    unit : {"rows", "groups"}
        What is counted: groups, if rows of the pilot are grouped.
    pilot : dict of int
        The rows of each class in the pilot.
    per_class : dict of int
        The rows needed per class, with the class prevalences of the pilot.
    best_per_class : dict of int or None
        The same with the prevalences that need the fewest rows in total. If None, see `note`.
    standard_error, degrees_of_freedom : float
        The expected values with `per_class`.
    relative_error : float
        The relative standard error of `total`, because the pilot's variance is itself an estimate.
    note : str
        Why there are no best prevalences; empty if there are.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["a", "b"], size=100, p=[0.8, 0.2])
    >>> pilot = multiauc.evaluate(y_true, rng.random(100) + 0.5 * (y_true == "b"))
    >>> plan = multiauc.sample_size(pilot, half_width=0.03)
    >>> plan.total, plan.best_total
    (342, 234)
    """

    aim: str
    unit: str
    pilot: dict[Any, int]
    per_class: dict[Any, int]
    best_per_class: dict[Any, int] | None
    standard_error: float
    degrees_of_freedom: float
    relative_error: float
    note: str = ""

    @property
    def total(self) -> int:
        """The sum of `per_class`."""
        return sum(self.per_class.values())

    @property
    def best_total(self) -> int | None:
        """The sum of `best_per_class`, if there is one."""
        return None if self.best_per_class is None else sum(self.best_per_class.values())

    def to_dict(self) -> result.Record:
        """All numbers as plain Python objects."""
        return result.Result.to_dict(self) | {"total": self.total, "best_total": self.best_total}

    def _plans(self) -> dict[str, dict[Any, int]]:
        plans = {"pilot": self.pilot, "same_shares": self.per_class}
        return plans if self.best_per_class is None else plans | {"best_shares": self.best_per_class}

    def _columns(self) -> result.Columns:
        return {"class": list(self.pilot)} | {name: list(plan.values()) for name, plan in self._plans().items()}

    def _table(self) -> result.Cells:
        plans = self._plans()
        body = [[result.shorten(label), *(str(plan[label]) for plan in plans.values())] for label in self.pilot]
        total = ["total", *(str(sum(plan.values())) for plan in plans.values())]
        head = [f"{self.unit} per class", *(name.replace("_", " ") for name in plans)]
        return [head, *result.without_middle(body, ["..."] * len(head)), total]

    def _below(self) -> list[str]:
        trust = "planned with the value and variance of the pilot: the total has a standard error"
        return [f"{trust} of about {self.relative_error:.0%}", *([wording.printable(self.note)] if self.note else [])]

    def _title(self) -> str:
        return f"SampleSize: {wording.printable(self.aim)}"


@with_hints
def sample_size(
    pilot: Evaluation | Comparison | ScorePopulation,
    *,
    metric: str | None = None,
    models: tuple[Hashable, Hashable] | None = None,
    half_width: float | None = None,
    difference: float | None = None,
    power: float = DEFAULT_POWER,
    level: float = 0.95,
) -> SampleSize:
    r"""How many rows of each class you need for an interval of a given width, or to detect a difference.

    A pilot sample shows how much each class contributes to the variance, and so how many rows of each class you need.

    Parameters
    ----------
    pilot : Evaluation, Comparison, NormalScores or ScoreDensities
        The result of `evaluate` or `compare` for rows like the planned ones. Planned rows have weights like the
        pilot's; with groups, the number of groups like the pilot's is planned. If you have no rows yet, pass an
        assumption about the scores: a hundred thousand rows are sampled from it, with a fixed seed, as the pilot.
    metric : str, optional
        Which metric of an Evaluation; default: its first one, or AUC_mu for an assumption.
    models : tuple of two names, optional
        Which difference of a Comparison; required with more than two models.
    half_width : float, optional
        Half the width of the interval you want: of the default interval for an Evaluation, whose centre need not be the
        value; of the interval of the difference for a Comparison.
    difference : float, optional
        The difference between models that the two-sided test at 1 - `level` should detect. Pass either this, with a
        Comparison, or `half_width`.
    power : float, default 0.8
        The probability that the test detects the difference.
    level : float, default 0.95
        The level of the interval, or 1 minus the level of the test.

    Returns
    -------
    SampleSize
        With `per_class` and `total` for the class prevalences of the pilot, and `best_per_class` and `best_total`.

    Notes
    -----
    The variance of an estimate, or of a difference of models on the same rows, is a sum over classes,

    .. math:: V = \sum_k \frac{\sigma_k^2}{n_k},

    so the :math:`\sigma_k` of a pilot give V for other class sizes and, with the fourth moments of its influence
    values, the degrees of freedom of Student's t. For a given total, V is smallest with :math:`n_k \propto \sigma_k`.

    The plan treats the pilot's value and its :math:`\sigma_k` as those of the population. The relative standard error
    of the planned total is therefore `relative_error`, :math:`\sqrt{2/\nu}` with the pilot's degrees of freedom: with
    fewer than fifty rows in a class, the plan is rough. The first-order variance is a little too large in small
    samples, and so is the plan.

    Metrics that depend on class sizes (one-vs-rest of three or more classes, pair weights by size) change with the
    prevalences, so there are no best ones.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=300)
    >>> models = {
    ...     name: rng.random((300, 3)) + height * (y_true[:, None] == ["cat", "dog", "eel"])
    ...     for name, height in [("new", 0.5), ("old", 0.4)]
    ... }
    >>> multiauc.sample_size(multiauc.evaluate(y_true, models["new"]), half_width=0.01)
    SampleSize: a 95% interval of AUC_mu, 0.9584 in the pilot, of half-width 0.01
    rows per class  pilot  same shares  best shares
    cat                90          225          216
    dog                95          237          278
    eel               115          287          243
    total             300          749          737
    planned with the value and variance of the pilot: the total has a standard error of about 13%
    >>> plan = multiauc.sample_size(multiauc.compare(y_true, models), difference=0.02, power=0.9)
    >>> plan.total
    1623
    """
    tail = read_level(level)
    if (half_width is None) == (difference is None):
        found = "neither" if half_width is None else "both"
        raise ValueError(f"exactly one of half_width and difference must be passed; got {found}")
    if isinstance(pilot, Comparison):
        known = _find_difference(pilot, metric, models)
    elif isinstance(pilot, (Evaluation, ScorePopulation)):
        kind = "an Evaluation" if isinstance(pilot, Evaluation) else type(pilot).__name__
        if models is not None:
            raise ValueError(f"models has no meaning for {kind}, which is of one model; got {models!r}")
        if difference is not None:
            raise ValueError(
                "difference needs a Comparison as the pilot, which shows how much the difference of two models on the "
                f"same rows varies; for {kind} give half_width"
            )
        known = _find_metric(pilot, metric) if isinstance(pilot, Evaluation) else _assume(pilot, metric)
    else:
        raise TypeError(
            "pilot must be an Evaluation or a Comparison, as `evaluate` and `compare` return them, or NormalScores or "
            f"ScoreDensities; got {wording.describe_type(pilot)}"
        )
    if difference is None:
        if read_number("power", power, 0.0, 1.0) != DEFAULT_POWER:
            raise ValueError(f"power has no meaning with half_width, only with difference; got {power!r}")
        # An interval lies between 0 and 1, that of a difference between -1 and 1.
        reach = read_number("half_width", half_width, 0.0, 1.0 if known.value is None else 0.5)
        aim = f"a {100.0 * level:.6g}% interval of {known.name}, of half-width {reach:g}"
        return _plan(known, aim, lambda sizes, v, freedom: known.half_width(sizes, v, freedom, tail) <= reach * ENOUGH)
    gap = read_number("difference", difference, 0.0, 1.0)
    chance = read_number("power", power, 2.0 * tail, 1.0)
    aim = f"power {chance:g} to detect a difference of {gap:g}: {known.name}, two-sided test at {200.0 * tail:.6g}%"
    return _plan(
        known, aim, lambda _, v, freedom: _rust.student_power(gap / math.sqrt(v), freedom, tail) * ENOUGH >= chance
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Pilot:
    """What a pilot says about one number.

    Attributes
    ----------
    name, value
        What it is in words, and its value; None for a difference.
    metric, inputs
        What it is computed from.
    core
        Sums over the independent units of each class that has any.
    ceilings
        The largest influence value of each class, if the number has a Wilson interval.
    """

    name: str
    value: float | None
    metric: str
    inputs: HeldInputs
    core: _rust.Pilot
    ceilings: list[float] | None = None

    @property
    def unit(self) -> str:
        """What is counted."""
        return "rows" if self.inputs.groups is None else "groups"

    def half_width(self, sizes: Sequence[int], variance: float, freedom: float, tail: float) -> float:
        """Half of the length of the default interval with so many units per class."""
        if self.value is None:
            return _rust.student_upper_quantile(tail, freedom) * math.sqrt(variance)
        worst = None
        if self.ceilings is not None:
            worst = _rust.worst_case(self.metric, self.ceilings, self.core.effective_of(sizes), self.value)
        rule, known = "logit" if worst is None else "wilson", (self.value, variance, freedom, 1.0, worst)
        low, high = _rust.interval(known, rule, registry.METRICS[self.metric].scale, tail, None)
        return 0.5 * (high - low)


def _find_metric(pilot: Evaluation, metric: Any, value: float | None = None, where: str = "in the pilot") -> _Pilot:
    """A metric of the pilot, of another value if one is known."""
    name = next(iter(pilot.metrics)) if metric is None else wording.one_of("metric", metric, tuple(pilot.metrics))
    inputs = _require_plannable(pilot.inputs(), name)
    alone = inputs.asking_for((name,), "stratified")
    title, value = registry.METRICS[name].title, pilot.metrics[name].value if value is None else value
    core = _read_pilot(title, value, inputs, alone.influences()[:, 0])
    ceilings = estimates.compute(alone).ceilings[name]
    of_classes = None if ceilings is None else [ceilings[c] for c in core.classes]
    return _Pilot(f"{title}, {wording.decimals(value)} {where}", value, name, inputs, core, of_classes)


def _assume(population: ScorePopulation, metric: Any) -> _Pilot:
    """A large sample of the population, in its class shares, with the population's own value."""
    name = registry.DEFAULT_METRIC if metric is None else read_metric(metric)
    size = min(MOST_DRAWN, max(DRAWN, math.ceil(FEWEST_DRAWN / float(population.prevalence.min()))))
    counts = np.maximum(FEWEST, np.round(size * population.prevalence)).astype(int)
    classes = np.repeat(np.arange(population.n_classes), counts)
    # Of a seed that is always the same: a plan does not change from call to call.
    sample = read_sample(classes, population.scores_of(classes, rng=0), None, range(population.n_classes), "raise")
    drawn = evaluate_inputs(HeldInputs(sample, (name,), read_metric_options(sample)))
    return _find_metric(drawn, name, getattr(population, name, None), "under the assumptions")


def _find_difference(pilot: Comparison, metric: Any, models: Any) -> _Pilot:
    if metric is not None:
        wording.one_of("metric", metric, (pilot.metric,))
    names = tuple(pilot.estimates) if models is None else models
    if not isinstance(names, (tuple, list)) or len(names) != 2:
        raise ValueError(f"models must be two of {wording.listing(pilot.estimates)}; got {models!r}")
    found = pilot.difference(*names)
    a, b = (_require_plannable(pilot.inputs()[name], pilot.metric) for name in names)
    texts = dict(zip(pilot.estimates, wording.names_as_text(pilot.estimates), strict=True))
    told = f"{texts[names[0]]} - {texts[names[1]]} in {registry.METRICS[pilot.metric].title}"
    core = _read_pilot(told, found.value, a, a.influences()[:, 0] - b.influences()[:, 0])
    return _Pilot(f"{told}, {wording.decimals(found.value, sign=True)} in the pilot", None, pilot.metric, a, core)


def _require_plannable(inputs: HeldInputs, metric: str) -> HeldInputs:
    """The inputs, if the variance of the metric is a sum over classes of sizes that one can choose."""
    inputs.refuse_folds("a plan")
    if inputs.is_natural:
        inputs = inputs.asking_for((metric,), "stratified")
    title = registry.METRICS[metric].title
    if registry.METRICS[metric].scale.is_log:
        raise ValueError(f"pilot has {title}, for which plans are not offered; other metrics have them")
    if inputs.groups_span_classes():
        raise ValueError(
            "pilot must have groups that lie within classes; got groups with rows of several classes, whose numbers "
            "per class cannot be planned"
        )
    if inputs.sampling == "iid" and _depends_on_sizes(inputs, metric):
        raise ValueError(
            f"pilot must have sampling='stratified' for {title}, which depends on the class sizes; got sampling='iid', "
            "where these are random and cannot be planned"
        )
    return inputs


def _depends_on_sizes(inputs: HeldInputs, metric: str) -> bool:
    """Whether the population value of the metric depends on the class prevalences."""
    found = registry.METRICS[metric]
    if metric == "one_vs_rest_prevalence" or found.depends_on_sizes:
        return True
    by_size = "pair_weights" in found.options and isinstance(inputs.options.pair_weights, str)
    return (by_size or metric == "one_vs_rest") and int((inputs.sample.rows > 0).sum()) > 2


def _read_pilot(name: str, value: float, inputs: HeldInputs, influences: NDArray[np.float64]) -> _rust.Pilot:
    """What the influences of its rows on a number say of a pilot; groups must lie within classes."""
    sample, unit = inputs.sample, "row" if inputs.groups is None else "group"
    codes = sample.codes.astype(np.uint32)
    core = _rust.Pilot(codes, sample.n_classes, sample.weights, inputs.groups, np.ascontiguousarray(influences))
    effective = zip(core.classes, core.effective, strict=True)
    single = [sample.labels[c] for c, units in effective if units <= estimates.ONE_UNIT]
    if single or math.isnan(value):
        why = f"effectively one {unit} in {wording.listing(single)}" if single else "the value is nan"
        raise ValueError(f"pilot must show how much {name} varies; got no standard error: {why}")
    if not any(core.deviations):
        raise ValueError(f"pilot must show how much {name} varies; got {value:.6g} with a standard error of 0")
    return core


def _plan(pilot: _Pilot, aim: str, is_reached: Callable[[Sequence[int], float, float], bool]) -> SampleSize:
    units, deviations = pilot.core.units, pilot.core.deviations
    labels = [pilot.inputs.sample.labels[c] for c in pilot.core.classes]
    numbers = _find_fewest(pilot, units, is_reached)
    best, note = None, ""
    if _depends_on_sizes(pilot.inputs, pilot.metric):
        note = "no best prevalences: this metric changes with the class prevalences"
    elif not all(deviations):
        constant = [label for label, deviation in zip(labels, deviations, strict=True) if not deviation]
        note = f"no best prevalences: the pilot does not show how much {pilot.unit} of {wording.listing(constant)} vary"
    else:
        # In small samples whole numbers and degrees of freedom can make other shares a little better.
        best = min(numbers, _find_fewest(pilot, deviations, is_reached), key=sum)
    variance, freedom = pilot.core.plan(numbers)
    seen, planned = (dict(zip(labels, sizes, strict=True)) for sizes in (units, numbers))
    cheapest = None if best is None else dict(zip(labels, best, strict=True))
    error = math.sqrt(2.0 / pilot.core.plan(units)[1])
    return SampleSize(aim, pilot.unit, seen, planned, cheapest, math.sqrt(variance), freedom, error, note)


def _find_fewest(
    pilot: _Pilot, shares: Sequence[float], is_reached: Callable[[Sequence[int], float, float], bool]
) -> list[int]:
    """The smallest class sizes with given prevalences, rounded up, that reach the target."""
    parts = [Fraction(share) / sum(map(Fraction, shares)) for share in shares]

    def sizes(total: int) -> list[int]:
        return [max(FEWEST, math.ceil(total * part)) for part in parts]

    def is_enough(total: int) -> bool:
        numbers = sizes(total)
        variance, freedom = pilot.core.plan(numbers)
        return math.isfinite(variance) and is_reached(numbers, variance, freedom)

    # More rows are never worse.
    totals = range(1, MOST + 1)
    place = bisect_left(totals, True, key=is_enough)  # noqa: FBT003
    if place == MOST:
        raise ValueError(f"half_width or difference is too small for this pilot: it takes more than {MOST:.0e} rows")
    return sizes(totals[place])
