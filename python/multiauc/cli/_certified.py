"""``multiauc evaluate`` on a file that is read in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._common.progress import Stage
from multiauc._common.result import document, provenance, without_nan
from multiauc._common.wording import counted, shown_name
from multiauc._inference.estimates import format_bounds
from multiauc._inference.pair_matrix import PairMatrix
from multiauc._io.dataset import Plan, checkpoint_of, evaluated, refuse_exact
from multiauc._io.fingerprints import file_size
from multiauc._io.streams import open_stream, source_contents, source_identity
from multiauc._render.words import metric_name
from multiauc.cli import _gates
from multiauc.cli._memory import size_in_words
from multiauc.cli._output import (
    ESTIMATE,
    Outcome,
    Table,
    interval_cell,
    pair_cells,
    pair_value_in_words,
    printing,
)
from multiauc.cli._problems import Problem, note

if TYPE_CHECKING:
    from multiauc._io.content import Content
    from multiauc._io.predictions import Request
    from multiauc.cli._gates import Floor
    from multiauc.cli._pieces import InPieces
    from multiauc.streaming import CertifiedEvaluation

COLUMNS = ("value", "certified_low", "certified_high", *ESTIMATE[1:])
METHOD = "closed form, class sizes fixed; Wilson intervals with Student's t around both bounds"


def evaluate_in_pieces(
    request: Request,
    pieces: InPieces,
    *,
    given: dict[str, Any],
    metrics: tuple[str, ...],
    ci: float,
    worst: int,
    gates: tuple[tuple[Floor, ...], bool],
    options: dict[str, Any],
) -> None:
    """Evaluate one model, print it, and look whether it is good enough.

    `gates` are the floors of ``--fail-under``, and whether intervals are held against them.
    """
    if len(request.sources) > 1:
        raise Problem("evaluate takes one model: give --scores once, or use compare")
    ((name, (path, pattern)),) = request.sources.items()
    contents = source_contents(path)
    shown = printing(options, tuple(content.path for content in contents if content.store is None))
    stream = open_stream(path, pattern, request)
    if pieces.exact:
        refuse_exact(stream, request)

    def resumed(n_rows: int) -> None:
        note(f"going on after {counted(n_rows, 'row')} that {pieces.checkpoint} has kept")

    plan = Plan(
        None,
        metrics,
        pieces.memory_limit,
        absent=request.absent,
        exact=pieces.exact,
        on_resume=resumed,
        outputs=request.outputs,
    )
    kept = None
    if pieces.checkpoint is not None:
        kept = checkpoint_of(pieces.checkpoint, stream, request, plan, source_identity(path) or {})
    evaluation = evaluated(stream, plan, kept)
    found = _numbers(evaluation, metrics, ci, worst) | {"model": name}
    found["reading"] = {"why": pieces.why, "memory_limit": pieces.memory_limit, "exact": pieces.exact}
    floors, on_interval = gates
    if on_interval:
        limited = {metric: one.confidence_interval for metric, one in evaluation.metrics.items()}
        found["gates"] = _gates.under_limits(limited, floors, ci)
    elif floors:
        # Passed only for certain.
        sure = {metric: one["certified_low"] for metric, one in found["metrics"].items()}
        found["gates"] = _gates.under(sure, floors)
    data = found
    if shown.style == "json":
        rows = found["rows"] if len(contents) == 1 else None
        with Stage("SHA-256 of the files"):
            files = [_facts(content) | {"holds": "predictions", "rows": rows} for content in contents]
        data = document("evaluation", ci, found, provenance(given, files))
    pair_value = pair_value_in_words(next(iter(evaluation.pair_bounds))) if evaluation.pair_bounds else ""
    shown.show(_outcome(found, data, pair_value))
    _gates.close(found.get("gates", []))


def _facts(content: Content) -> dict[str, Any]:
    """Name, size and SHA-256, but for files in a store, which would have to come here once more."""
    if content.store is None:
        return content.facts()
    return {"name": content.name, "size": file_size(content), "sha256": None}


def _numbers(evaluation: CertifiedEvaluation, metrics: tuple[str, ...], level: float, worst: int) -> dict[str, Any]:
    found: dict[str, Any] = without_nan(evaluation.to_dict(level))
    found["metrics"] = {metric: found["metrics"][metric] for metric in metrics}
    found["per_class"] = [one | {"label": str(one["label"])} for one in found["per_class"]]
    return found | {"level": level, "method": METHOD, "worst_pairs": _worst_pairs(evaluation, worst)}


def _worst_pairs(evaluation: CertifiedEvaluation, n: int) -> list[dict[str, Any]]:
    """The pairs that are separated worst by the first metric that averages over pairs; there are no intervals."""
    if not evaluation.pair_bounds:
        return []
    metric, (low, high) = next(iter(evaluation.pair_bounds.items()))
    matrix = PairMatrix((low + high) / 2, evaluation.labels, evaluation.counts, metric)
    place = {label: k for k, label in enumerate(evaluation.labels)}
    found = []
    for first, second, value in matrix.worst(n):
        at = place[first], place[second]
        sizes = {"first_rows": int(matrix.counts[at[0]]), "second_rows": int(matrix.counts[at[1]])}
        bounds = {
            "certified_low": float(low[at]),
            "certified_high": float(high[at]),
            "exact": bool(low[at] == high[at]),
        }
        found.append(
            {"first": str(first), "second": str(second), **sizes, "value": value, "low": None, "high": None, **bounds}
        )
    return found


def _outcome(found: dict[str, Any], data: dict[str, Any], pair_value: str) -> Outcome:
    metrics, classes, pairs = found["metrics"], found["per_class"], found["worst_pairs"]
    interval = f"{100 * found['level']:g}% interval"
    bounds = [] if found["exact"] else ["certain bounds"]
    head = ["value", *bounds, "std. error", interval]

    def cells(one: dict[str, Any]) -> list[Any]:
        return [*_value_cells(one, has_bounds=bool(bounds)), one["standard_error"], interval_cell(one)]

    tables = [
        Table(
            f"{found['model']}: {counted(found['rows'], 'row')}, {counted(len(found['labels']), 'class', 'classes')}",
            ["metric", *head],
            [[metric_name(metric), *cells(one)] for metric, one in metrics.items()],
        )
    ]
    if classes:
        rows = [[shown_name(one["label"]), one["rows"], *cells(one)] for one in classes]
        tables.append(Table("Each class against the rest", ["class", "rows", *head], rows))
    if pairs:
        rows = [[*pair_cells(pair), *_value_cells(pair, has_bounds=bool(bounds))] for pair in pairs]
        title = f"Pairs that are separated worst ({pair_value})"
        tables.append(Table(title, ["pair", "rows", "value", *bounds], rows))
    records = [
        *(["metric", metric, "", *map(one.get, COLUMNS)] for metric, one in metrics.items()),
        *(["class", one["label"], "", *map(one.get, COLUMNS)] for one in classes),
        *(["pair", pair["first"], pair["second"], *map(pair.get, COLUMNS)] for pair in pairs),
    ]
    return Outcome(tables, data, (["kind", "name", "other", *COLUMNS], records), _notes(found))


def _notes(found: dict[str, Any]) -> list[str]:
    reading = found["reading"]
    values = "exact." if found["exact"] else "the exact ones of all rows lie between the bounds, always."
    return [
        f"Read in pieces with {size_in_words(reading['memory_limit'])} of memory, {reading['why']}.",
        f"Values: {values}",
        f"Intervals: {found['method']}.",
    ]


def _value_cells(one: dict[str, Any], *, has_bounds: bool) -> list[Any]:
    """The value, and perhaps its bounds."""
    value, low, high = one["value"], one["certified_low"], one["certified_high"]
    if not has_bounds or value is None:
        return [value, *(["-"] if has_bounds else [])]
    return list(format_bounds(value, low, high))
