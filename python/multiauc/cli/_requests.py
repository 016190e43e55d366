"""What a command was asked to do: its options, parsed and typed, and what it reads for them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from multiauc._common.result import provenance
from multiauc._io.content import content_of
from multiauc._io.costs import read_costs
from multiauc._io.output import STANDARD
from multiauc._io.paths import data_files, is_there, model_name
from multiauc._io.predictions import Request, Source, read_predictions
from multiauc.cli._problems import SPELLED, Problem, as_typed, spell_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc import Comparison, Evaluation
    from multiauc._common.types import Outputs
    from multiauc._io.content import Content
    from multiauc._io.predictions import Predictions
    from multiauc.cli._gates import Floor

    Noted = TypeVar("Noted", Evaluation, Comparison)

# Options that say how a result is shown, not what it is.
OF_PRINTING = {"files", "output", "force", "style", "threads", "plot", "title", "worst", "checkpoint"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRequest:
    """Which columns of which files, and where the result goes: what every command on files is told."""

    files: tuple[str, ...]
    label: str
    scores: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    sample_weight: str | None = None
    absent: str = "raise"
    outputs: Outputs = None
    format_in: str | None = None
    delimiter: str | None = None
    threads: int | None = None
    level: float = 0.95
    output: str = STANDARD
    force: bool = False
    style: str | None = None

    def source(
        self,
        *others: str | None,
        groups: str | None = None,
        by: tuple[str, ...] = (),
        row_id: str | None = None,
    ) -> Request:
        """What to read, with the columns that only some commands take; `others` are the other files of the command."""
        if [*(split_path(file)[1] for file in self.files), *others].count(STANDARD) > 1:
            raise Problem("standard input ('-') can be given once, because it can be read only once")
        return Request(
            sources=find_sources(self.files, self.scores),
            label=self.label,
            classes=self.labels,
            weights=self.sample_weight,
            groups=groups,
            by=by,
            row_id=row_id,
            absent=self.absent,
            outputs=self.outputs,
            format_in=self.format_in,
            delimiter=self.delimiter,
            spelled=as_typed,
        )

    def given(self) -> dict[str, Any]:
        """The options that decide what the result is, by their names on the command line."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in OF_PRINTING}
        return {
            SPELLED.get(name, name): list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceRequest(FileRequest):
    """What is estimated, and how its uncertainty is."""

    groups: str | None = None
    sampling: str = "stratified"
    partition: str | None = None
    pair_weights: str = "equal"
    bootstrap: int | None = 0
    seed: int = 0

    def read(self, source: Request) -> Models:
        """The predictions, with the options of `multiauc.evaluate` and `multiauc.compare`."""
        predictions = read_predictions(source)
        costs = None if self.partition is None else content_of(self.partition)
        arguments = {
            "partition": None if costs is None else read_costs(costs, predictions.labels),
            "pair_weights": None if self.pair_weights == "equal" else self.pair_weights,
            "sample_weight": predictions.weights,
            "groups": predictions.groups,
            "sampling": self.sampling,
            "labels": predictions.labels,
            "absent": self.absent,
            "outputs": self.outputs,
        }
        return Models(predictions, arguments, () if costs is None else (costs,))


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateRequest(InferenceRequest):
    """``multiauc evaluate``; `memory_limit` is in bytes, or "none"."""

    metrics: tuple[str, ...] | None = None
    by: tuple[str, ...] = ()
    worst: int = 5
    fail_under: tuple[Floor, ...] = ()
    fail_on_interval: bool = False
    memory_limit: int | str | None = None
    checkpoint: str | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest(InferenceRequest):
    """``multiauc compare``."""

    metric: str
    row_id: str | None = None
    fail_if_worse: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest(InferenceRequest):
    """``multiauc report``."""

    metric: str
    metrics: tuple[str, ...] | None = None
    row_id: str | None = None
    by: tuple[str, ...] = ()
    costs: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RocRequest(FileRequest):
    """``multiauc roc``."""

    kind: str
    thresholds: int
    bootstrap: int = 0
    seed: int = 0
    plot: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideRequest(FileRequest):
    """``multiauc decide``."""

    costs: str
    groups: str | None = None
    judge: str | None = None
    decisions: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    """What the files of a command hold.

    Attributes
    ----------
    predictions
        The models.
    arguments
        The options of `multiauc.evaluate` and `multiauc.compare`.
    costs
        The files of costs that were read.
    """

    predictions: Predictions
    arguments: dict[str, Any]
    costs: tuple[Content, ...] = ()

    def only(self, command: str) -> tuple[str, NDArray[Any]]:
        """Name and scores of the one model that the command takes."""
        refuse_several(command, len(self.predictions.models))
        (found,) = self.predictions.models.items()
        return found

    def sizes(self) -> dict[str, int]:
        """The rows of each class."""
        return {label: int((self.predictions.y_true == label).sum()) for label in self.predictions.labels}

    def provenance(self, request: FileRequest, others: Sequence[Predictions] = ()) -> dict[str, Any]:
        """The files with their sizes and SHA-256, the options of the command, the versions."""
        predictions = self.predictions.files
        files = [content.facts() | {"holds": "predictions", "rows": rows} for content, rows in predictions]
        files += [content.facts() | {"holds": "costs", "rows": None} for content in self.costs]
        files += [
            content.facts() | {"holds": "predictions", "rows": rows}
            for other in others
            for content, rows in other.files
        ]
        return provenance(request.given(), files)


def spell_notes(result: Noted) -> Noted:
    """A result whose notes name options as the command line spells them."""
    return replace(result, notes=tuple(map(spell_options, result.notes)))


def refuse_several(command: str, n_models: int) -> None:
    """Raise if a command on one model got several."""
    if n_models > 1:
        instead = ", or use compare" if command == "evaluate" else ""
        raise Problem(f"{command} takes one model: give --scores once{instead}")


def find_sources(files: Sequence[str], patterns: Sequence[str]) -> dict[str, Source]:
    """The models of several files, or of several patterns of columns in one file.

    Either may have a name before it (``knn=a.parquet``); otherwise a model is called like its columns or its file.
    """
    if len(files) > 1 and len(patterns) > 1:
        raise Problem(
            "give several files or several --scores, not both: a model is a file, or some columns of one file"
        )
    models: dict[str, Source] = {}
    for file_name, path in map(split_path, files):
        for pattern_name, pattern in map(split_name, patterns or ("",)):
            stem = pattern.split("*")[0].strip("_-. ") if len(patterns) > 1 else ""
            name = pattern_name or file_name or stem or model_name(path)
            if name in models:
                raise Problem(f"two models are called {name!r}; give them names, as in other={path}")
            models[name] = Source(path, pattern)
    return models


def list_inputs(source: Request, *others: str | None) -> tuple[str, ...]:
    """Every file that a command reads."""
    paths = dict.fromkeys(one.path for one in source.sources.values())
    return (*(file for path in paths for file in data_files(path)), *(other for other in others if other is not None))


def split_path(text: str) -> tuple[str, str]:
    """``name=path`` as (name, path); a path that is there may have an equals sign in it (``run=3/preds.csv``)."""
    name, path = split_name(text)
    if is_there(text) or ("/" in name and not is_there(path)):
        return "", text
    return name, path


def split_name(text: str) -> tuple[str, str]:
    """``name=rest`` as (name, rest); without a name the name is empty."""
    name, separator, rest = text.partition("=")
    return (name, rest) if separator else ("", text)
