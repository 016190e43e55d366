"""``multiauc evaluate``: on a file as a whole, or on one that is read in pieces."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import multiauc
from multiauc._common.progress import Stage
from multiauc._common.registry import DEFAULT_METRICS
from multiauc._common.result import provenance
from multiauc._common.wording import counted
from multiauc._display import model as views
from multiauc._display.numbers import view_bounded_evaluation, view_evaluation, view_resampled_evaluation, view_slices
from multiauc._display.tables import tabulate_evaluation
from multiauc.cli._gates import check_limits, check_values, close_gates, refuse_level
from multiauc.cli._output import Printing
from multiauc.cli._pieces import choose_pieces
from multiauc.cli._problems import note, spell_options
from multiauc.cli._requests import list_inputs, refuse_several, spell_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from multiauc._io.predictions import Request
    from multiauc._io.sources import Content
    from multiauc.cli._gates import Limited
    from multiauc.cli._pieces import Pieces
    from multiauc.cli._requests import EvaluateRequest


class Evaluated(NamedTuple):
    """A result, the intervals of its metrics at any level, and what finds out where it came from."""

    shown: views.Evaluation
    limited: Mapping[str, Limited]
    origin: Callable[[], dict[str, Any]]


def evaluate_file(request: EvaluateRequest) -> None:
    """Evaluate one model, print it, and look whether it is good enough."""
    if request.fail_on_interval:
        refuse_level("--fail-on-interval", request.level, request.bootstrap or 0)
    source = request.source(request.partition, groups=request.groups, by=request.by)
    floors = (floor.metric for floor in request.fail_under)
    metrics = tuple(dict.fromkeys([*(request.metrics or DEFAULT_METRICS), *floors]))
    pieces = choose_pieces(request, source, metrics)
    refuse_several("evaluate", len(source.sources))
    if pieces is None:
        printing = Printing.open(request, list_inputs(source, request.partition))
        shown, limited, origin = _evaluate_whole(request, source, metrics)
    else:
        from multiauc._io.readers import source_contents  # noqa: PLC0415 - small files do not wait for it

        contents = source_contents(next(iter(source.sources.values())).path)
        printing = Printing.open(request, tuple(content.path for content in contents if content.store is None))
        shown, limited, origin = _evaluate_pieces(request, source, metrics, pieces, contents)
    if request.fail_on_interval:
        shown = replace(shown, gates=check_limits(limited, request.fail_under, request.level))
    elif request.fail_under:
        shown = replace(shown, gates=check_values(shown.metrics, request.fail_under))
    printing.show(shown, tabulate_evaluation(shown), origin)
    close_gates(shown.gates)


def _evaluate_whole(request: EvaluateRequest, source: Request, metrics: tuple[str, ...]) -> Evaluated:
    models = request.read(source)
    y_true, (name, scores) = models.predictions.y_true, models.only("evaluate")
    wanted: Any = metrics
    evaluation = spell_notes(multiauc.evaluate(y_true, scores, metrics=wanted, **models.arguments))
    shown = view_evaluation(evaluation, name, request.level, request.worst)
    limited: dict[str, Limited] = {metric: one.confidence_interval for metric, one in evaluation.metrics.items()}
    if request.bootstrap:
        bootstrap = evaluation.bootstrap(request.bootstrap, rng=request.seed)
        shown = view_resampled_evaluation(shown, bootstrap)
        limited |= {metric: partial(bootstrap.confidence_interval, metric) for metric in bootstrap.metrics}
    if request.by:
        slices = multiauc.evaluate_slices(y_true, scores, models.predictions.by, metric=wanted[0], **models.arguments)
        shown = replace(shown, slices=view_slices(slices, request.level))
    return Evaluated(shown, limited, lambda: models.provenance(request))


def _evaluate_pieces(
    request: EvaluateRequest, source: Request, metrics: tuple[str, ...], pieces: Pieces, contents: list[Content]
) -> Evaluated:
    from multiauc._io.dataset import Plan, evaluate_stream, make_checkpoint, refuse_exact  # noqa: PLC0415
    from multiauc._io.predictions import open_stream  # noqa: PLC0415
    from multiauc._io.readers import identify_source  # noqa: PLC0415

    ((name, (path, pattern)),) = source.sources.items()
    stream = open_stream(path, pattern, source)
    if request.exact:
        refuse_exact(stream, source)

    def report_resumption(n_rows: int) -> None:
        note(f"going on after {counted(n_rows, 'row')} that {request.checkpoint} has kept")

    notes: list[str] = []
    plan = Plan(
        None,
        metrics,
        pieces.memory_limit,
        absent=request.absent,
        exact=request.exact,
        on_resume=report_resumption,
        on_note=notes.append,
        outputs=request.outputs,
    )
    kept = None
    if request.checkpoint is not None:
        kept = make_checkpoint(request.checkpoint, stream, source, plan, identify_source(path) or {})
    evaluation = evaluate_stream(stream, plan, kept)
    shown = view_bounded_evaluation(evaluation, name, metrics, request.level, request.worst)
    reading = views.Reading(pieces.why, pieces.memory_limit, request.exact)

    def trace() -> dict[str, Any]:
        rows = shown.rows if len(contents) == 1 else None
        with Stage("SHA-256 of the files"):
            files = [_describe_file(content) | {"holds": "predictions", "rows": rows} for content in contents]
        return provenance(request.given(), files)

    limited = {metric: one.confidence_interval for metric, one in evaluation.metrics.items()}
    shown = replace(shown, notes=(*shown.notes, *map(spell_options, notes)))
    return Evaluated(replace(shown, reading=reading), limited, trace)


def _describe_file(content: Content) -> dict[str, Any]:
    """Name, size and SHA-256, but for files in a store, which would have to come here once more."""
    if content.store is None:
        return content.facts()
    return {"name": content.name, "size": content.size, "sha256": None}
