"""``multiauc decide``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import multiauc
from multiauc._common.progress import Stage
from multiauc._common.result import document
from multiauc._common.wording import counted, shown_name
from multiauc._io.output import STANDARD, Output
from multiauc._io.predictions import Source, read_predictions
from multiauc._render.decisions import decision_numbers, rule_in_words
from multiauc.cli._models import read_models
from multiauc.cli._output import (
    ESTIMATE,
    Outcome,
    Table,
    csv_text,
    estimate_cells,
    printing,
    refuse,
    write,
)
from multiauc.cli._problems import Problem
from multiauc.cli._requests import input_files

if TYPE_CHECKING:
    from multiauc._io.predictions import Predictions, Request

DIFFERENCE = (*ESTIMATE, "t", "degrees_of_freedom", "p_value")


def decide_file(
    request: Request,
    *,
    given: dict[str, Any],
    costs: str,
    judge: str | None,
    decisions: str | None,
    ci: float,
    absent: str,
    **options: Any,
) -> None:
    """Fit a rule to the rows of one model, say what it costs there or on other rows, perhaps write its decisions."""
    inputs = input_files(request, costs)
    other = None
    if judge is not None:
        other = replace(request, sources={name: Source(judge, of.scores) for name, of in request.sources.items()})
        inputs += input_files(other)
    place = None if decisions is None else Output(decisions, inputs, force=options["force"])
    shown = printing(options, inputs)
    if place is not None:
        if place.path == STANDARD:
            raise Problem("--decisions must be a file; the result goes to standard output")
        refuse(place)
    models = read_models(request, partition=costs, pair_weights="equal", sampling="iid", absent=absent)
    if len(models.predictions.models) > 1:
        raise Problem("decide takes one model: give --scores once")
    seen, ((name, scores),) = models.predictions, models.predictions.models.items()
    weighted: dict[str, Any] = {"sample_weight": seen.weights, "groups": seen.groups}
    options_of_fit = {"labels": seen.labels, "absent": _policy(absent), "outputs": request.outputs} | weighted
    with Stage("finding the decisions that cost least"):
        fitted = multiauc.fit_decisions(seen.y_true, scores, models.arguments["partition"], **options_of_fit)
    judged, comparison = seen, fitted.cross_validated
    if other is not None:
        judged = _like(read_predictions(other), seen, judge or "")
        (scores,) = judged.models.values()
        weighted = {"sample_weight": judged.weights, "groups": judged.groups}
        comparison = fitted.compare(judged.y_true, scores, **weighted, outputs=request.outputs)
    found = decision_numbers(fitted, comparison, ci) | {
        "model": name,
        "judged_by": "cross-validation" if other is None else "other rows",
        "labels": seen.labels,
        "counts": [int((seen.y_true == label).sum()) for label in seen.labels],
        "rows": len(seen.y_true),
    }
    data = found
    if shown.style == "json":  # the files are read once more for their SHA-256
        origin = models.provenance(given)
        if other is not None:
            files = [one.facts() | {"holds": "predictions", "rows": rows} for one, rows in judged.files]
            origin["files"] = [*origin["files"], *files]
        data = document("decisions", ci, found, origin)
    shown.show(_outcome(found, data, ci))
    if place is not None:
        write(place, _decided(judged, fitted.decide(scores, outputs=request.outputs).tolist()))


def _policy(absent: str) -> Any:
    if absent == "nan":
        raise Problem("--absent nan has no meaning for decide; it has raise and ignore")
    return absent


def _like(found: Predictions, seen: Predictions, path: str) -> Predictions:
    """The other rows, if their classes are in the same columns."""
    if found.labels != seen.labels:
        raise Problem(f"{path}: the classes must be those of the first file, in the same order of columns")
    return found


def _decided(judged: Predictions, labels: list[Any]) -> str:
    """A line for each row: its true class and the decision."""
    pairs = zip(judged.y_true.tolist(), labels, strict=True)
    return csv_text(["row", "y_true", "decision"], [[row, *pair] for row, pair in enumerate(pairs, 1)])


def _outcome(found: dict[str, Any], data: dict[str, Any], level: float) -> Outcome:
    interval = f"{100 * level:g}% interval"
    costs, differences = found["costs"], found["differences"]
    how = f"{found['judged_by']}, {counted(found['judged_rows'], 'row')}"
    tables = [
        Table(
            f"What the decisions of {found['model']} cost ({how})",
            ["rule", "mean cost", "std. error", interval],
            [[rule, *estimate_cells(one)] for rule, one in costs.items()],
        ),
        Table(
            "Differences on the same rows",
            ["rules", "difference", "std. error", interval, "p"],
            [[f"{one['first']} - {one['second']}", *estimate_cells(one), one["p_value"]] for one in differences],
        ),
    ]
    if found["rule"] in ("calibrated", "offsets"):
        offsets = zip(found["labels"], found["offsets"], strict=True)
        tables.append(
            Table(
                f"Offsets of the logarithms of probabilities, after multiplying them by {found['scale']:.4f}",
                ["class", "offset"],
                [[shown_name(label), offset] for label, offset in offsets],
            )
        )
    records = [
        *(["cost", rule, "", *map(one.get, DIFFERENCE)] for rule, one in costs.items()),
        *(["difference", one["first"], one["second"], *map(one.get, DIFFERENCE)] for one in differences),
        *(
            ["offset", label, "", offset, *[None] * (len(DIFFERENCE) - 1)]
            for label, offset in zip(found["labels"], found["offsets"], strict=True)
        ),
        ["scale", found["rule"], "", found["scale"], *[None] * (len(DIFFERENCE) - 1)],
    ]
    note = f"The fitted rule: {rule_in_words(found['rule'])}."
    return Outcome(tables, data, (["kind", "name", "other", *DIFFERENCE], records), [note])
