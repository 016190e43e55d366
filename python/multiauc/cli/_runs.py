"""Runs that stand one below the other in a file: which rows of them belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from multiauc._input.columns import drop_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._io.predictions import Predictions
    from multiauc.cli._requests import EvaluateRequest


def refuse_beside_runs(request: EvaluateRequest) -> None:
    """Raise if an option has no meaning with ``--runs``, or none without it."""
    if request.runs is None and request.row_id is not None:
        raise click.UsageError("--id needs --runs, whose rows it matches")
    other = next((option for option in ("by", "bootstrap", "folds") if getattr(request, option)), None)
    if request.runs is not None and other is not None:
        raise click.UsageError(f"--runs and --{other} cannot be combined: --{other} is for a single run")


def match_runs(found: Predictions, request: EvaluateRequest) -> list[NDArray[np.intp]]:
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
