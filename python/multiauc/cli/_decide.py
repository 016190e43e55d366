"""``multiauc decide``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._common.progress import Stage
from multiauc._display import model as views
from multiauc._display.numbers import view_decisions
from multiauc._display.tables import tabulate_costs
from multiauc._io.content import content_of
from multiauc._io.costs import read_costs
from multiauc._io.output import STANDARD, Output
from multiauc._io.predictions import Source, read_predictions
from multiauc.cli._output import Printing, format_csv, refuse, write
from multiauc.cli._problems import Problem
from multiauc.cli._requests import Models, list_inputs

if TYPE_CHECKING:
    from multiauc._io.predictions import Predictions
    from multiauc.cli._requests import DecideRequest


def decide_file(request: DecideRequest) -> None:
    """Fit a rule to the rows of one model, say what it costs there or on other rows, perhaps write its decisions."""
    source = request.source(request.costs, request.judge, groups=request.groups)
    inputs = list_inputs(source, request.costs)
    other = None
    if request.judge is not None:
        sources = {name: Source(request.judge, of.scores) for name, of in source.sources.items()}
        other = replace(source, sources=sources)
        inputs += list_inputs(other)
    place = None if request.decisions is None else Output(request.decisions, inputs, force=request.force)
    printing = Printing.open(request, inputs)
    if place is not None:
        if place.path == STANDARD:
            raise Problem("--decisions must be a file; the result goes to standard output")
        refuse(place)
    seen = read_predictions(source)
    costs = content_of(request.costs)
    matrix = read_costs(costs, seen.labels)
    models = Models(seen, {}, (costs,))
    name, scores = models.only("decide")
    absent: Any = _read_policy(request.absent)
    with Stage("finding the decisions that cost least"):
        fitted = multiauc.fit_decisions(
            seen.y_true,
            scores,
            matrix,
            labels=seen.labels,
            absent=absent,
            outputs=request.outputs,
            sample_weight=seen.weights,
            groups=seen.groups,
        )
    judged, comparison = seen, fitted.cross_validated
    if other is not None:
        judged = read_predictions(other)
        if judged.labels != seen.labels:
            raise Problem(f"{request.judge}: the classes must be those of the first file, in the same order of columns")
        (scores,) = judged.models.values()
        comparison = fitted.compare(
            judged.y_true, scores, sample_weight=judged.weights, groups=judged.groups, outputs=request.outputs
        )
    sizes = models.sizes()
    shown = views.Costs(
        level=request.level,
        rows=len(seen.y_true),
        labels=tuple(sizes),
        counts=tuple(sizes.values()),
        model=name,
        judged_by="cross-validation" if other is None else "other rows",
        decisions=view_decisions(fitted, comparison, request.level),
    )
    others = () if other is None else (judged,)
    printing.show(shown, tabulate_costs(shown), lambda: models.provenance(request, others))
    if place is not None:
        write(place, _list_decisions(judged, fitted.decide(scores, outputs=request.outputs).tolist()))


def _read_policy(absent: str) -> str:
    if absent == "nan":
        raise Problem("--absent nan has no meaning for decide; it has raise and ignore")
    return absent


def _list_decisions(judged: Predictions, labels: list[Any]) -> str:
    """A line for each row: its true class and the decision."""
    pairs = zip(judged.y_true.tolist(), labels, strict=True)
    return format_csv(["row", "y_true", "decision"], [[row, *pair] for row, pair in enumerate(pairs, 1)])
