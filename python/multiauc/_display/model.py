"""What is shown of results: frozen dataclasses that text, Markdown, CSV, HTML and JSON render.

Each is made once, by the functions of `multiauc._display.numbers`; a number that is not known is None. JSON has their
fields by name, as docs/result.schema.json describes them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from multiauc._common.result import VERSION, without_nan
from multiauc._common.wording import names_as_text

if TYPE_CHECKING:
    from multiauc._common.registry import PairValues

Number = float | None
Rows = tuple[tuple[Number, ...], ...]

# What JSON makes of a field: its parts are among those of the whole, it is left out where it is None, or always.
INLINE, OPTIONAL, HIDDEN = ({"role": role} for role in ("inline", "optional", "hidden"))


def as_number(value: float) -> Number:
    """None for nan and infinity."""
    return float(value) if math.isfinite(value) else None


def find_limits(interval: Callable[[float], tuple[float, float]], level: float) -> tuple[float, float]:
    """The limits at a level, without the warning that there are none: where they are shown, readers see a dash."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        low, high = interval(level)
    return float(low), float(high)


def as_plain(value: Any) -> Any:
    """The fields of dataclasses by name, through all that they hold; None for nan and infinity."""
    if is_dataclass(value):
        plain: dict[str, Any] = {}
        for one in fields(value):
            part = getattr(value, one.name)
            if one.metadata == INLINE:
                plain |= {} if part is None else as_plain(part)
            elif one.metadata != HIDDEN and (part is not None or one.metadata != OPTIONAL):
                plain[one.metadata.get("name", one.name)] = as_plain(part)
        return plain
    if isinstance(value, Mapping):
        return dict(zip(names_as_text(value), map(as_plain, value.values()), strict=True))
    if isinstance(value, tuple | list):
        return [as_plain(entry) for entry in value]
    return without_nan(value)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class View:
    """What is shown of something: a frozen dataclass, as are all classes derived from it."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class Bounds(View):
    """What the exact value of rows read in pieces lies between."""

    guaranteed_low: Number
    guaranteed_high: Number
    exact: bool


class Estimate(View):
    """A number with its standard error and the limits of its interval."""

    value: Number
    standard_error: Number
    low: Number
    high: Number
    bounds: Bounds | None = field(default=None, metadata=INLINE)


class Class(View):
    """A class against all others, and the class that it is hardest to tell from."""

    label: str
    rows: int
    estimate: Estimate = field(metadata=INLINE)
    hardest: str | None = None
    hardest_value: Number = None


class PairEstimate(View):
    """How well a model separates two classes."""

    value: Number
    low: Number
    high: Number
    bounds: Bounds | None = field(default=None, metadata=INLINE)


class PairOfClasses(View):
    """Two classes, and how many rows they have."""

    first: str
    second: str
    first_rows: int
    second_rows: int


class Pair(PairOfClasses):
    """Two classes, and how well a model separates them."""

    estimate: PairEstimate = field(metadata=INLINE)


class PairOfModels(PairOfClasses):
    """Two classes, and how well each model of a report separates them."""

    models: tuple[PairEstimate, ...]


class CostDifference(View):
    """What one rule costs more than another, per row."""

    first: str
    second: str
    estimate: Estimate = field(metadata=INLINE)
    t: Number
    degrees_of_freedom: Number
    p_value: Number


class Difference(CostDifference):
    """The first model minus the second with its test, alone and among the others.

    `decided` says whether it is more than chance among all of them; only a bootstrap has `share_better`.
    """

    corrected_low: Number
    corrected_high: Number
    corrected_p_value: Number
    decided: bool
    share_better: Number = field(default=None, metadata=OPTIONAL)


class Comparison(View):
    """Models by one metric, from best to worst, and every difference."""

    metric: str
    estimates: Mapping[str, Estimate]
    order: tuple[str, ...]
    correction: str
    differences: tuple[Difference, ...]


class Slice(View):
    """A slice of the rows, beside what it is compared with; `reason` says why a number is not known."""

    name: str
    slice: Mapping[str, Any]
    rows: int
    estimate: Estimate = field(metadata=INLINE)
    reference: Number
    difference: Number
    difference_error: Number
    difference_low: Number
    difference_high: Number
    simultaneous_low: Number
    simultaneous_high: Number
    t: Number
    degrees_of_freedom: Number
    p_value: Number
    corrected_p_value: Number
    reason: str


class Slices(View):
    """Slices of the rows, or the first of `count`."""

    metric: str
    reference: str | None
    by: tuple[str, ...]
    count: int
    summary: str
    overall: Estimate
    slices: tuple[Slice, ...]


class Decisions(View):
    """The rule that costs least, and what it costs on some rows beside plain rules."""

    rule: str
    scale: float
    offsets: tuple[float, ...]
    cost_matrix: tuple[tuple[float, ...], ...]
    calibration_p_value: Number
    judged_rows: int
    costs: Mapping[str, Estimate]
    differences: tuple[CostDifference, ...]


class Gate(View):
    """What a model had to reach, and whether it did."""

    metric: str
    of: str
    found: Number
    bound: float
    passed: bool
    first: str | None = field(default=None, metadata=OPTIONAL)
    second: str | None = field(default=None, metadata=OPTIONAL)
    level: float | None = field(default=None, metadata=OPTIONAL)


class Reading(View):
    """Why and how a file was read in pieces."""

    why: str
    memory_limit: int
    exact: bool


class Document(View):
    """A result by itself: the level of its intervals, and the rows that it is about."""

    kind: ClassVar[str]

    level: float
    rows: int
    labels: tuple[Any, ...]
    counts: tuple[int, ...]

    def document(self, origin: dict[str, Any]) -> dict[str, Any]:
        """What JSON has: the result, what it is in which version of the layout, and where it came from."""
        return {"version": VERSION, "kind": self.kind, **as_plain(self), "provenance": origin}


class OfModel(Document):
    """A result on one model."""

    model: str


class Evaluation(OfModel):
    """One model; `exact` and `reading` are of files that were read in pieces, `pairs_of` is the metric of the pairs.

    `confusion` is of predicted labels: the rows of each class (rows) by what they are predicted to be (columns).
    """

    kind = "evaluation"

    method: str
    metrics: Mapping[str, Estimate]
    per_class: tuple[Class, ...]
    worst_pairs: tuple[Pair, ...]
    pairs_of: str | None = field(metadata=HIDDEN)
    notes: tuple[str, ...] = ()
    covariance: Rows | None = field(default=None, metadata=OPTIONAL)
    exact: bool | None = field(default=None, metadata=OPTIONAL)
    reading: Reading | None = field(default=None, metadata=OPTIONAL)
    slices: Slices | None = field(default=None, metadata=OPTIONAL)
    confusion: Rows | None = field(default=None, metadata=OPTIONAL)
    gates: tuple[Gate, ...] | None = field(default=None, metadata=OPTIONAL)


class RunsEstimate(Estimate):
    """The mean of a metric over runs, with the parts of its standard error."""

    rows_standard_error: Number = None
    runs_standard_error: Number = None
    degrees_of_freedom: Number = None


class Runs(OfModel):
    """Several runs of one model on the same rows; `helps` says what more rows and runs would do."""

    kind = "runs"

    n_runs: int
    metrics: Mapping[str, RunsEstimate]
    helps: tuple[str, ...] = field(metadata=HIDDEN)
    notes: tuple[str, ...] = ()
    gates: tuple[Gate, ...] | None = field(default=None, metadata=OPTIONAL)


class Compared(Document):
    """Several models on the same rows."""

    kind = "comparison"

    method: str
    comparison: Comparison = field(metadata=INLINE)
    verdict: str
    notes: tuple[str, ...]
    covariance: Rows | None = field(default=None, metadata=OPTIONAL)
    gates: tuple[Gate, ...] | None = field(default=None, metadata=OPTIONAL)


class Band(View):
    """Limits of a curve at fixed false-positive rates."""

    fpr: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


class MulticlassRoc(OfModel):
    """One ROC curve for all pairs of classes."""

    kind = "multiclass_roc"

    area: Number
    standard_error: Number
    low: Number
    high: Number
    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    deviance: Number
    converged: bool
    band: Band | None = field(default=None, metadata=OPTIONAL)


class RocCurve(View):
    """The curve of a class against another, or against the rest."""

    positive: str = field(metadata={"name": "class"})
    against: str | None
    area: Number
    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    thresholds: tuple[float, ...] = field(metadata=HIDDEN)


class RocCurves(OfModel):
    """A ROC curve for each class or pair."""

    kind = "roc_curves"

    curves: tuple[RocCurve, ...]


class Costs(OfModel):
    """The decisions of one model, and what they cost."""

    kind = "decisions"

    judged_by: str
    decisions: Decisions = field(metadata=INLINE)


class Curve(View):
    """The multi-class ROC curve of a model in a report; the limits of its area are among the model's metrics."""

    auc: float
    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    band: Band | None
    n_resamples: int
    monte_carlo_error: Number


class Surface(View):
    """The ROC surface of three classes: the share of each that is decided rightly, by two offsets."""

    labels: tuple[str, ...]
    rates: tuple[tuple[tuple[float, ...], ...], ...]


class PairMatrix(View):
    """Values and limits of all pairs of the classes in a heat map."""

    value: Rows
    low: Rows
    high: Rows


class ClassRates(View):
    """Precision, recall and F1 of a class, and how many rows are predicted to be of it (with weights, their sum)."""

    label: str
    predicted: Number
    precision: Estimate
    recall: Estimate
    f1: Estimate


class Confusion(View):
    """The confusion matrix of some classes, given by their positions; shares are of all rows of a true class."""

    classes: tuple[int, ...]
    counts: Rows
    shares: Rows
    low: Rows
    high: Rows
    per_class: tuple[ClassRates, ...]


class Reliability(View):
    """The reliability curve of a class, with the limits of each bin."""

    label: str
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    rows: tuple[int, ...]


class PairKind(View):
    """What a heat map can show: the values that a metric has of pairs."""

    metric: str
    values: PairValues = field(metadata=INLINE)


class HeatMap(View):
    """The classes shown by their positions, where the colours begin, and the matrices to choose from."""

    classes: tuple[int, ...]
    floor: float
    kinds: tuple[PairKind, ...]


class Model(View):
    """What a report shows of one model."""

    name: str
    metrics: Mapping[str, Estimate]
    per_class: tuple[Class, ...]
    pairs: Mapping[str, PairMatrix]
    worst_pairs: tuple[Pair, ...]
    roc: Curve | None
    surface: Surface | None
    confusion: Confusion | None = None
    reliability: tuple[Reliability, ...] = ()
    decisions: Decisions | None = field(default=None, metadata=OPTIONAL)
    slices: Slices | None = field(default=None, metadata=OPTIONAL)


class Report(Document):
    """Everything that a page shows."""

    kind = "report"

    heat_map: HeatMap | None
    created: str
    versions: Mapping[str, str]
    level_text: str
    units: str
    models: tuple[Model, ...]
    comparison: Comparison | None
    best: str
    worst_pairs: tuple[PairOfModels, ...]
    notes: tuple[str, ...]
    method: Mapping[str, str]
    title: str

    def best_model(self) -> Model:
        """The model that the page recommends."""
        return next(model for model in self.models if model.name == self.best)
