"""``multiauc decide``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._common.progress import Stage
from multiauc._display import model as views
from multiauc._display import numbers, tables
from multiauc._io.output import STANDARD, Output
from multiauc._io.predictions import Source, read_predictions
from multiauc.cli._output import Printing, format_csv
from multiauc.cli._requests import Models, read_cost_files

if TYPE_CHECKING:
    from multiauc.cli._requests import DecideRequest


def decide_file(request: DecideRequest) -> None:
    """Fit a rule to the rows of one model, say what it costs there or on other rows, perhaps write its decisions."""
    source = request.source()
    place = None if request.decisions is None else Output(request.decisions, request.inputs(), force=request.force)
    printing = Printing.open(request)
    if place is not None:
        if place.path == STANDARD:
            raise ValueError("--decisions must be a file; the result goes to standard output")
        place.refuse()
    seen = read_predictions(source)
    matrix, files = read_cost_files(seen.labels, request.costs)
    models = Models(seen, {}, files)
    name, scores = models.only("decide")
    if request.absent == "nan":
        raise ValueError("--absent nan has no meaning for decide; it has raise and ignore")
    absent: Any = request.absent
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
    if request.judge is not None:
        others = {model: Source(request.judge, found.scores) for model, found in source.sources.items()}
        judged = read_predictions(replace(source, sources=others))
        if judged.labels != seen.labels:
            raise ValueError(
                f"{request.judge}: the classes must be those of the first file, in the same order of columns"
            )
        (scores,) = judged.models.values()
        comparison = fitted.compare(
            judged.y_true, scores, sample_weight=judged.weights, groups=judged.groups, outputs=request.outputs
        )
    shown = views.Costs(
        **numbers.describe_rows(request.level, models.sizes()),
        model=name,
        judged_by="cross-validation" if judged is seen else "other rows",
        decisions=numbers.view_decisions(fitted, comparison, request.level),
    )
    read = () if judged is seen else (judged,)
    printing.show(shown, tables.tabulate_costs(shown), lambda: models.provenance(request, *read))
    if place is not None:
        pairs = zip(judged.y_true.tolist(), fitted.decide(scores, outputs=request.outputs).tolist(), strict=True)
        lines = [[row, *pair] for row, pair in enumerate(pairs, 1)]
        place.write(format_csv(["row", "y_true", "decision"], lines))
