"""``multiauc evaluate``: on a file as a whole, or on one that is read in pieces."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

import multiauc
from multiauc._common import hints, registry, result
from multiauc._common.progress import Stage
from multiauc._common.wording import pluralize
from multiauc._display import model as views
from multiauc._display import numbers, tables
from multiauc._input.columns import find_score_columns
from multiauc._io import dataset, predictions, readers, sources
from multiauc._io.output import STANDARD
from multiauc.cli import _gates
from multiauc.cli._options import WHOLE
from multiauc.cli._output import Printing
from multiauc.cli._problems import as_typed, note, spell_options
from multiauc.cli._requests import refuse_several, spell_notes
from multiauc.cli._runs import match_runs, refuse_beside_runs
from multiauc.streaming import STREAMED_METRICS, SUMMED_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from multiauc.cli._requests import EvaluateRequest

MEMINFO = Path("/proc/meminfo")
# The limit of a container and what it uses of it, by the versions of the kernel's interface.
LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)
# A file whose rows take up more than this part of the memory is read in pieces: in memory they exist about four times.
MEMORY_SHARE = 4
SHARE_IN_WORDS = "a quarter"
# Files that are smaller are not even looked at.
SMALL = 2**24
# A cell of a packed text takes up more in memory than in the file.
UNPACKED = 4
BYTES_OF_LABEL = 16


class Evaluated(NamedTuple):
    """A result, the intervals of its metrics at any level, and what finds out where it came from."""

    shown: views.Evaluation | views.Runs
    limited: Mapping[str, _gates.Limited]
    origin: Callable[[], dict[str, Any]]


def evaluate_file(request: EvaluateRequest) -> None:
    """Evaluate one model, print it, and look whether it is good enough."""
    if request.fail_on_interval:
        if not request.fail_under:
            raise click.UsageError("--fail-on-interval needs --fail-under, which says what the limit is held against")
        _gates.refuse_level("--fail-on-interval", request.level, request.bootstrap or 0)
    if request.folds is not None and request.by:
        raise click.UsageError("--folds and --by cannot be combined: slices are of rows that one model has scored")
    refuse_beside_runs(request)
    source = request.source()
    metrics = _asked_metrics(request, registry.DEFAULT_METRICS)
    pieces = choose_pieces(request, source, metrics)
    refuse_several("evaluate", len(source.sources))
    printing = Printing.open(request)
    if pieces is None:
        whole = _evaluate_whole if request.runs is None else _evaluate_runs
        shown, limited, origin = whole(request, source, metrics)
    else:
        shown, limited, origin = _evaluate_pieces(request, source, metrics, pieces)
    if request.fail_on_interval:
        shown = replace(shown, gates=_gates.check_limits(limited, request.fail_under, request.level))
    elif request.fail_under:
        shown = replace(shown, gates=_gates.check_values(shown.metrics, request.fail_under))
    outcome = tables.tabulate_runs(shown) if isinstance(shown, views.Runs) else tables.tabulate_evaluation(shown)
    printing.show(shown, outcome, origin)
    _gates.close_gates(shown.gates)


def _asked_metrics(request: EvaluateRequest, usual: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Those that are asked for, or the usual ones, and those of --fail-under."""
    return tuple(dict.fromkeys([*(request.metrics or usual), *(floor.metric for floor in request.fail_under)]))


def _evaluate_whole(request: EvaluateRequest, source: predictions.Request, metrics: Any) -> Evaluated:
    models = request.read(source)
    y_true, (name, scores) = models.predictions.y_true, models.only("evaluate")
    predicted = models.predictions.predicted
    if predicted is not None:
        metrics = dataset.read_decision_metrics(predicted, _asked_metrics(request), dataset.DECISIONS, source)
    evaluation = spell_notes(multiauc.evaluate(y_true, scores, metrics=metrics, **models.arguments))
    shown = numbers.view_evaluation(evaluation, name, request.level, request.worst)
    if predicted is not None:
        found, labels = models.predictions, models.predictions.labels
        y_pred = np.array(labels, dtype=object)[scores.argmax(axis=1)]
        matrix = multiauc.confusion_matrix(y_true, y_pred, sample_weight=found.weights, labels=labels)
        notes = (*shown.notes, dataset.describe_predicted(predicted))
        shown = replace(shown, confusion=numbers.freeze(matrix.counts), notes=notes)
    limited: dict[str, _gates.Limited] = {metric: one.confidence_interval for metric, one in evaluation.metrics.items()}
    if request.bootstrap:
        bootstrap = evaluation.bootstrap(request.bootstrap, rng=request.seed)
        shown = numbers.view_resampled_evaluation(shown, bootstrap)
        limited |= {metric: partial(bootstrap.confidence_interval, metric) for metric in bootstrap.metrics}
    if request.by:
        slices = multiauc.evaluate_slices(y_true, scores, models.predictions.by, metric=metrics[0], **models.arguments)
        shown = replace(shown, slices=numbers.view_slices(slices, request.level))
    return Evaluated(shown, limited, lambda: models.provenance(request))


def _evaluate_runs(request: EvaluateRequest, source: predictions.Request, metrics: Any) -> Evaluated:
    models = request.read(source)
    found, (name, scores) = models.predictions, models.only("evaluate")
    if found.predicted is not None:
        metrics = dataset.read_decision_metrics(found.predicted, _asked_metrics(request), dataset.DECISIONS, source)
    first, *others = match_runs(found, request)
    of_rows = {name: values for name in ("sample_weight", "groups") if (values := models.arguments[name]) is not None}
    arguments = models.arguments | {name: values[first] for name, values in of_rows.items()}
    runs = [scores[rows] for rows in (first, *others)]
    evaluation = spell_notes(multiauc.evaluate_runs(found.y_true[first], runs, metrics=metrics, **arguments))
    shown = numbers.view_runs(evaluation, name, request.level)
    if found.predicted is not None:
        shown = replace(shown, notes=(*shown.notes, dataset.describe_predicted(found.predicted)))
    limited = {metric: one.confidence_interval for metric, one in evaluation.metrics.items()}
    return Evaluated(shown, limited, lambda: models.provenance(request))


def _evaluate_pieces(
    request: EvaluateRequest, source: predictions.Request, metrics: tuple[str, ...], reading: views.Reading
) -> Evaluated:
    ((name, (path, pattern)),) = source.sources.items()
    stream = predictions.open_stream(path, pattern, source)
    if request.exact:
        dataset.refuse_exact(stream, source)
    notes: list[str] = []
    if stream.predicted is not None:
        asked = _asked_metrics(request)
        metrics = dataset.read_decision_metrics(stream.predicted, asked, dataset.STREAMED_DECISIONS, source)
        notes.append(dataset.describe_predicted(stream.predicted))
    plan = dataset.Plan(
        None,
        metrics,
        reading.memory_limit,
        absent=request.absent,
        exact=request.exact,
        on_resume=lambda rows: note(f"going on after {pluralize(rows, 'row')} that {request.checkpoint} has kept"),
        on_note=notes.append,
        outputs=request.outputs,
    )
    kept = None
    if request.checkpoint is not None:
        kept = dataset.make_checkpoint(request.checkpoint, stream, source, plan, readers.identify_source(path) or {})
    evaluation = dataset.evaluate_stream(stream, plan, kept)
    shown = numbers.view_bounded_evaluation(evaluation, name, metrics, request.level, request.worst)
    if stream.predicted is not None:
        shown = replace(shown, confusion=numbers.freeze(evaluation.confusion_matrix))

    def trace() -> dict[str, Any]:
        contents = readers.source_contents(path)
        rows = shown.rows if len(contents) == 1 else None
        with Stage("SHA-256 of the files"):
            files = [content.facts() | {"holds": "predictions", "rows": rows} for content in contents]
        return result.provenance(request.given(), files)

    limited = {metric: one.confidence_interval for metric, one in evaluation.metrics.items()}
    return Evaluated(replace(shown, notes=tuple(map(spell_options, notes)), reading=reading), limited, trace)


def choose_pieces(
    request: EvaluateRequest, source: predictions.Request, metrics: tuple[str, ...]
) -> views.Reading | None:
    """Why and how to read the file in pieces, or None if it is to be read whole."""
    path = next(iter(source.sources.values())).path
    limit = request.memory_limit
    asked_for = {
        "--checkpoint": request.checkpoint is not None,
        "--exact": request.exact,
        "--memory-limit": isinstance(limit, int),
    }
    asked = next((option for option, is_given in asked_for.items() if is_given), None)
    if limit == WHOLE:
        if asked is not None:
            raise click.UsageError(f"{asked} reads the file in pieces, and --memory-limit {limit} reads it whole")
        return None
    why = asked and f"because of {asked}"
    if why is None and sources.is_address(path):
        why = "because it is in a store"
    if why is None and sources.is_partitioned(path):
        why = "because it is a folder of folders"
    obstacle = _find_obstacle(request, path, metrics)
    if why is not None and obstacle is not None:
        raise ValueError(f"{path} is read in pieces {why}, and {obstacle} needs all rows at once")
    if why is None:
        size = _too_large(source, path)
        if size is not None and obstacle is not None:
            whole = f"{path} is read whole because {obstacle} needs all rows at once"
            hints.warn(f"{whole}, though it takes up {size}", RuntimeWarning)
            return None
        why = size and f"because it would take up {size}"
    limit = limit if isinstance(limit, int) else dataset.MEMORY_LIMIT
    return None if why is None else views.Reading(why, limit, request.exact)


def _find_obstacle(request: EvaluateRequest, path: str, metrics: tuple[str, ...]) -> str | None:
    """What was asked for that cannot be had in pieces."""
    other = next((metric for metric in metrics if metric not in STREAMED_METRICS), None)
    found = {
        "standard input": path == STANDARD,
        "an NPZ file": (request.format_in or sources.format_by_name(path)) == "npz",
        as_typed("metrics", other): other is not None,
        as_typed("bootstrap"): bool(request.bootstrap),
        as_typed("groups"): request.groups is not None,
        as_typed("folds"): request.folds is not None,
        as_typed("runs"): request.runs is not None,
        as_typed("k"): request.k is not None,
        as_typed("clip"): request.clip is not None,
        as_typed("by"): bool(request.by),
        as_typed("partition"): request.partition is not None,
        as_typed("pair_weights", request.pair_weights): request.pair_weights != "equal",
        as_typed("sampling", request.sampling): request.sampling == "iid"
        or (request.sampling is not None and any(metric in SUMMED_METRICS for metric in metrics)),
    }
    return next((what for what, is_so in found.items() if is_so), None)


def _too_large(request: predictions.Request, path: str) -> str | None:
    """The size of a file that is too large for memory, in words; None if it is not."""
    memory = available_memory()
    if memory is None or path == STANDARD:
        return None
    try:
        contents = sources.find_files(path)
        size = sum(content.size for content in contents)
    except (ValueError, OSError):  # which reading it whole says better; pipes, too
        return None
    if size < SMALL and size * MEMORY_SHARE < memory // UNPACKED:
        return None
    needed = sum(_size_in_memory(content, request) for content in contents)
    if needed * MEMORY_SHARE <= memory:
        return None
    free = f"{SHARE_IN_WORDS} of the memory that is free ({tables.format_size(memory)})"
    return f"{tables.format_size(needed)} in memory, more than {free}"


def _size_in_memory(content: sources.Content, request: predictions.Request) -> int:
    """About how many bytes the columns of a file take up in memory that are read of it."""
    if (request.format_in or sources.format_by_name(content.path)) != "parquet":
        return content.size * (UNPACKED if content.path.endswith(".gz") else 1)
    try:
        rows = readers.ParquetRows(content)
        names = find_score_columns(rows, next(iter(request.sources.values())).scores, request).names
    except ValueError:  # which reading it says, too
        return content.size
    return int(rows.n_rows) * ((4 if readers.are_single(rows, names) else 8) * len(names) + BYTES_OF_LABEL)


def available_memory() -> int | None:
    """Bytes that the process could still take up; None where the system does not say."""
    found = []
    for limit, used in LIMITS:
        with suppress(OSError, ValueError):  # there is no limit, or it is "max"
            found.append(int(limit.read_text("utf-8")) - int(used.read_text("utf-8")))
    with suppress(OSError, ValueError):
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text("utf-8").splitlines() if ":" in line)
        found.append(int(lines["MemAvailable"].split()[0]) * 1024)
    if found:
        return max(0, min(found))
    with suppress(AttributeError, OSError, ValueError):  # half of what is built in, on other systems than Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None
