"""``multiauc evaluate``: on a file as a whole, or on one that is read in pieces."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click
import numpy as np

import multiauc
from multiauc._common import hints, registry
from multiauc._common.progress import Stage
from multiauc._common.wording import pluralize
from multiauc._display import model as views
from multiauc._display import numbers, tables
from multiauc._input.columns import drop_zeros, find_score_columns
from multiauc._io import dataset, predictions, readers, sources
from multiauc._io.output import STANDARD
from multiauc.cli import _gates
from multiauc.cli._output import Printing
from multiauc.cli._problems import as_typed, note, spell_options
from multiauc.cli._requests import WHOLE, refuse_several, spell_notes
from multiauc.streaming import STREAMED_METRICS, SUMMED_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from multiauc._io.predictions import Predictions
    from multiauc.cli._commands import CompareRequest, EvaluateRequest
    from multiauc.cli._requests import InferenceRequest, Models

    # A result, the intervals of its metrics at any level, and what finds out where it came from.
    Evaluated: TypeAlias = tuple[
        views.Evaluation | views.Runs, Mapping[str, _gates.Limited], Callable[[], dict[str, Any]]
    ]

MEMINFO = Path("/proc/meminfo")
# The limit of a container and what it uses of it, by the versions of the kernel's interface.
LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)
# Options that take all rows at once.
NEED_ALL_ROWS = ("bootstrap", "groups", "folds", "runs", "by", "partition")
# A file whose rows take up more than this part of the memory is read in pieces: in memory they exist about four times.
MEMORY_SHARE = 4
SHARE_IN_WORDS = "a quarter"
# Files that are smaller are not even looked at.
SMALL = 2**24
# A cell of a packed text takes up more in memory than in the file.
UNPACKED = 4
BYTES_OF_LABEL = 16


def evaluate_file(request: EvaluateRequest) -> None:
    """Evaluate one model, print it, and look whether it is good enough."""
    if request.fail_on_interval:
        if not request.fail_under:
            raise click.UsageError("--fail-on-interval needs --fail-under, which says what the limit is held against")
        _gates.refuse_level("--fail-on-interval", request.level, request.bootstrap or 0)
    if request.folds is not None and request.by:
        raise click.UsageError("--folds and --by cannot be combined: slices are of rows that one model has scored")
    if request.runs is None and request.row_id is not None:
        raise click.UsageError("--id needs --runs, whose rows it matches")
    refuse_single_run(request)
    source = request.source()
    metrics = _asked_metrics(request, registry.DEFAULT_METRICS)
    pieces = choose_pieces(request, source, metrics)
    refuse_several("evaluate", len(source.sources))
    printing = Printing(request)
    if pieces is None:
        shown, limited, origin = _evaluate_whole(request, source, metrics)
    else:
        shown, limited, origin = _evaluate_pieces(request, source, metrics, pieces)
    if request.fail_under:
        level = request.level if request.fail_on_interval else None
        shown = replace(shown, gates=_gates.check_floors(request.fail_under, shown.metrics, limited, level))
    printing.show(shown, origin)
    _gates.close_gates(shown.gates)


def _asked_metrics(request: EvaluateRequest, usual: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Those that are asked for, or the usual ones, and those of --fail-under."""
    return tuple(dict.fromkeys([*(request.metrics or usual), *(floor.metric for floor in request.fail_under)]))


def _evaluate_whole(request: EvaluateRequest, source: predictions.Request, metrics: Any) -> Evaluated:
    models = request.read(source)
    found, (name, scores) = models.predictions, models.only("evaluate")
    if found.predicted is not None:
        metrics = dataset.read_decision_metrics(
            found.predicted, _asked_metrics(request), registry.PREDICTION_METRICS, source
        )
    evaluate: Any = _evaluate_model if request.runs is None else _evaluate_runs
    shown, limited = evaluate(request, models, name, scores, metrics)
    if found.predicted is not None:
        shown = replace(shown, notes=(*shown.notes, dataset.describe_predicted(found.predicted)))
    return shown, limited, models.provenance


def _evaluate_model(
    request: EvaluateRequest, models: Models, name: str, scores: NDArray[Any], metrics: Any
) -> tuple[views.Evaluation, dict[str, _gates.Limited]]:
    found, y_true = models.predictions, models.predictions.y_true
    evaluation = spell_notes(multiauc.evaluate(y_true, scores, metrics=metrics, **models.arguments))
    shown = numbers.view_evaluation(evaluation, name, request.level, request.worst)
    if found.predicted is not None:
        y_pred = np.array(found.labels, dtype=object)[scores.argmax(axis=1)]
        matrix = multiauc.confusion_matrix(y_true, y_pred, sample_weight=found.weights, labels=found.labels)
        shown = replace(shown, confusion=numbers.freeze(matrix.counts))
    limited = _find_intervals(evaluation)
    if request.bootstrap:
        bootstrap = evaluation.bootstrap(request.bootstrap, rng=request.seed)
        shown = numbers.view_resampled_evaluation(shown, bootstrap)
        limited |= {metric: partial(bootstrap.confidence_interval, metric) for metric in bootstrap.metrics}
    if request.by:
        slices = multiauc.evaluate_slices(y_true, scores, found.by, metric=metrics[0], **models.arguments)
        shown = replace(shown, slices=numbers.view_slices(slices, request.level))
    return shown, limited


def _evaluate_runs(
    request: EvaluateRequest, models: Models, name: str, _: NDArray[Any], metrics: Any
) -> tuple[views.Runs, dict[str, _gates.Limited]]:
    y_true, runs, arguments = part_runs(request, models)
    evaluation = spell_notes(multiauc.evaluate_runs(y_true, runs[name], metrics=metrics, **arguments))
    return numbers.view_runs(evaluation, name, request.level), _find_intervals(evaluation)


def part_runs(
    request: EvaluateRequest | CompareRequest, models: Models
) -> tuple[NDArray[Any], dict[str, list[NDArray[Any]]], dict[str, Any]]:
    """The classes of the rows, the scores of each run of each model, and the other arguments."""
    matched = _match_runs(models.predictions, request)
    of_rows = {name: values for name in ("sample_weight", "groups") if (values := models.arguments[name]) is not None}
    arguments = models.arguments | {name: values[matched[0]] for name, values in of_rows.items()}
    runs = {name: [scores[rows] for rows in matched] for name, scores in models.predictions.models.items()}
    return models.predictions.y_true[matched[0]], runs, arguments


def _find_intervals(evaluation: Any) -> dict[str, _gates.Limited]:
    return {metric: one.confidence_interval for metric, one in evaluation.metrics.items()}


def _evaluate_pieces(
    request: EvaluateRequest, source: predictions.Request, metrics: tuple[str, ...], reading: views.Reading
) -> Evaluated:
    ((name, (path, pattern)),) = source.sources.items()
    notes: list[str] = []
    asked: Any = request.source(
        dataset.DatasetRequest,
        metrics=metrics,
        memory_limit=reading.memory_limit,
        on_resume=lambda rows: note(f"going on after {pluralize(rows, 'row')} that {request.checkpoint} has kept"),
        on_note=notes.append,
    )
    evaluation, stream = dataset.evaluate_source(path, pattern, asked, _asked_metrics(request))
    shown = numbers.view_bounded_evaluation(evaluation, name, request.level, request.worst)
    if stream.predicted is not None:
        notes.append(dataset.describe_predicted(stream.predicted))
        shown = replace(shown, confusion=numbers.freeze(evaluation.confusion_matrix))

    def trace() -> dict[str, Any]:
        rows = shown.rows if len(stream.contents) == 1 else None
        with Stage("SHA-256 of the files"):
            return request.provenance((content, rows, "predictions") for content in stream.contents)

    shown = replace(shown, notes=tuple(map(spell_options, notes)), reading=reading)
    return shown, _find_intervals(evaluation), trace


def refuse_single_run(request: InferenceRequest) -> None:
    """Raise if an option that is for a single run is given beside ``--runs``."""
    of_one = [one for one in fields(request) if one.name in {"by", "bootstrap", "folds", "worst", "seed"}]
    other = next((one.name for one in of_one if getattr(request, one.name) != one.default), None)
    if request.runs is not None and other is not None:
        raise click.UsageError(f"--runs and --{other} cannot be combined: --{other} is for a single run")


def _match_runs(found: Predictions, request: EvaluateRequest | CompareRequest) -> list[NDArray[np.intp]]:
    """The rows of each run, in the order of those of the first; raises unless they are the same rows."""
    file = found.files[0][0].name if len(found.files) == 1 else request.files[0]
    ids = None if request.row_id is None else found.by[request.row_id]
    runs: dict[str, dict[Any, int]] = {}
    for row, name in enumerate(map(drop_zeros, found.by[request.runs or ""])):
        run = runs.setdefault(name, {})
        key = len(run) if ids is None else drop_zeros(ids[row])
        if key in run:
            raise ValueError(f"{file}: column {request.row_id!r}, row {row + 1}: run {name!r} has {key!r} twice")
        run[key] = row
    start, first = next(iter(runs.items()))
    rule = "runs are scored on the same rows (--id matches them)"
    columns = [(request.label, found.y_true), (request.sample_weight, found.weights), (request.groups, found.groups)]
    matched: list[NDArray[np.intp]] = []
    for name, run in runs.items():
        if ids is None and len(run) != len(first):
            raise ValueError(f"{file}: rows of run {name!r}: {len(run)}, of run {start!r}: {len(first)}; {rule}")
        for lacks, has in ((name, start), (start, name)):
            missing = next((key for key in runs[has] if key not in runs[lacks]), None)
            if missing is not None:
                raise ValueError(f"{file}: run {lacks!r} has no row with --id {missing!r}, which run {has!r} has")
        matched.append(np.array([run[key] for key in first], dtype=np.intp))
        for column, values in columns:
            for place in [] if values is None else np.flatnonzero(values[matched[0]] != values[matched[-1]]):
                row, other = matched[-1][place], matched[0][place]
                both = "" if values is None or values is found.groups else f" ({values[row]} and {values[other]})"
                where = f"row {row + 1} of run {name!r} differs from row {other + 1} of run {start!r}"
                raise ValueError(f"{file}: column {column!r}: {where}{both}; {rule}")
    return matched


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
        **{as_typed(option): bool(getattr(request, option)) for option in NEED_ALL_ROWS},
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
