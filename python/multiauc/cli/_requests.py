"""What a command was asked to do: its options, parsed and typed, and what it reads for them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from multiauc._common import result
from multiauc._io import costs, predictions, sources
from multiauc._io.output import STANDARD
from multiauc.cli._options import column, complete_columns, option, read_delimiter, read_labels, split_name, split_path
from multiauc.cli._problems import SPELLED, spell_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc import Comparison, Evaluation, RunsEvaluation
    from multiauc._common.types import Outputs
    from multiauc._io.predictions import Predictions

    Noted = TypeVar("Noted", Evaluation, Comparison, RunsEvaluation)

# Options that say how a result is shown, not what it is.
OF_PRINTING = {"files", "output", "force", "style", "threads", "plot", "title", "worst", "checkpoint"}

# Options of several commands.
COSTS: dict[str, Any] = {"metavar": "COSTS.CSV", "type": click.Path()}
SEED = option(type=int, default=0, show=True)
RESAMPLES: dict[str, Any] = {"type": click.IntRange(min=0), "metavar": "N"}


@dataclass(frozen=True, kw_only=True)
class FileRequest:
    """Which columns of which files, and where the result goes: what every command on files is told.

    Attributes
    ----------
    label
        Column with the true class of each row.
    scores
        Columns with the scores: a pattern such as 'p_*', whose star stands for the class, or names with commas between.
        In an NPZ file also one matrix. Several times for several models in one file. evaluate also takes a column of
        predicted labels. [default: p_* or y_score, or columns called after the classes, or the one column of lists or
        of numbers]
    labels
        The classes in the order of the score columns, if their names do not say.
    sample_weight
        Column with the weight of each row.
    absent
        What to do about classes without rows.
    outputs
        What the scores are, if they are not probabilities: of logits the softmax of each row is taken.
        [default: scores are taken as they are]
    format_in
        The format of the files, if neither their names nor their first bytes tell.
    delimiter
        What stands between the cells of a text file: {delimiters}, or the sign itself.
        [default: inferred from the first lines]
    threads
        How many threads to use. [default: all]
    level
        The level of the confidence intervals.
    style
        How to print the result. [default: table, or what the output's name says]
    output
        Where to write the result; - is standard output.
    force
        Replace a file that is there already, unless it is an input.
    groups
        Column that says which rows belong together (patients, users): intervals allow for it.
    folds
        Column with the fold of each row (cross-validation): rows of different folds, scored by different models, are
        not ranked against each other.
    by
        Columns whose values are slices of the rows (regions, devices): each is compared with the rest of the rows.
        Several columns cross.
    row_id
        Column that identifies rows, to match several files. [default: by position]
    costs
        Costs of decisions: of predicting the class of the row when the truth is that of the column.
    """

    files: tuple[str, ...]
    label: str = option("-l", default="y_true", show=True, shell_complete=complete_columns)
    scores: tuple[str, ...] = option("-s", multiple=True, metavar="[NAME=]PATTERN", shell_complete=complete_columns)
    labels: tuple[str, ...] | None = option(metavar="A,B,...", read=read_labels)
    sample_weight: str | None = column()
    absent: str = option(type=click.Choice(["raise", "ignore", "nan"]), default="raise", show=True)
    outputs: Outputs = option(type=click.Choice(["logits"]))  # noqa: RUF009 - a field
    format_in: str | None = option(type=click.Choice(sources.FORMATS))
    delimiter: str | None = option(metavar="SIGN", read=read_delimiter)
    threads: int | None = option(type=click.IntRange(min=1))
    level: float = option(
        type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show=True, metavar="LEVEL"
    )
    style: str | None = option("-f", type=click.Choice(["table", "json", "markdown", "csv"]))
    output: str = option("-o", type=click.Path(), default=STANDARD, show=True)
    force: bool = option(default=False, is_flag=True)
    # Only some commands have an option for these.
    groups: str | None = None
    folds: str | None = None
    by: tuple[str, ...] = ()
    runs: str | None = None
    row_id: str | None = None
    partition: str | None = None
    costs: str | None = None
    judge: str | None = None
    may_predict: ClassVar[bool] = False

    def run(self) -> None:
        """Do what is asked for."""
        raise NotImplementedError

    @property
    def paths(self) -> list[str]:
        """The files as they are given, without names of models."""
        return [split_path(file)[1] for file in self.files]

    def source(self) -> predictions.Request:
        """What to read."""
        if [*self.paths, self.partition, self.costs, self.judge].count(STANDARD) > 1:
            raise ValueError("standard input ('-') can be given once, because it can be read only once")
        same: dict[str, Any] = {
            one.name: getattr(self, one.name)
            for one in fields(predictions.Request)
            if one.name not in {"sources", "flags"}
        }
        return predictions.Request(sources=find_sources(self.files, self.scores), flags=True, **same)

    def inputs(self) -> tuple[str, ...]:
        """Every file of this machine that the command reads."""
        paths = dict.fromkeys([*self.paths, *([] if self.judge is None else [self.judge])])
        others = [other for other in (self.partition, self.costs) if other is not None]
        return (*(file for path in paths for file in sources.local_files(path)), *others)

    def given(self) -> dict[str, Any]:
        """The options that decide what the result is, by their names on the command line."""
        names = [one.name for one in fields(self) if "option" in one.metadata and one.name not in OF_PRINTING]
        values = {SPELLED.get(name, name): getattr(self, name) for name in names}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def read(self, source: predictions.Request) -> Models:
        """The predictions, with the options that functions on them share."""
        found = predictions.read_predictions(source)
        same = {"labels": found.labels, "absent": self.absent, "outputs": self.outputs}
        return Models(self, found, {"sample_weight": found.weights, **same})


@dataclass(frozen=True, kw_only=True)
class InferenceRequest(FileRequest):
    """What is estimated, and how its uncertainty is.

    Attributes
    ----------
    sampling
        Whether class sizes are fixed or random. [default: as in multiauc.evaluate, by metric]
    partition
        Costs for AUC_mu: of predicting the class of the row when the truth is that of the column.
    pair_weights
        How pairs of classes are weighted in AUC_mu and M.
    bootstrap
        Resamples of the bootstrap; 0 for none.
    seed
        The seed of the random numbers.
    metric
        What to compare the models by.
    metrics
        What to compute, out of {metrics}. [default: {usual_metrics}]
    clip
        The smallest probability that log_loss counts with. [default: a probability of 0 is an error]
    k
        How many classes top_k_accuracy looks at.
    """

    groups: str | None = column()
    sampling: str | None = option(type=click.Choice(["stratified", "iid"]), default=None)
    partition: str | None = option(**COSTS)
    pair_weights: str = option(type=click.Choice(["equal", "size_product", "size_sum"]), default="equal", show=True)
    bootstrap: int | None = option(default=0, show=True, **RESAMPLES)
    seed: int = SEED

    def read(self, source: predictions.Request) -> Models:
        """The predictions, with the options of `multiauc.evaluate` and `multiauc.compare`."""
        models = super().read(source)
        partition, files = read_cost_files(models.predictions.labels, self.partition)
        arguments = {
            "partition": partition,
            "pair_weights": None if self.pair_weights == "equal" else self.pair_weights,
            "groups": models.predictions.groups,
            "sampling": self.sampling,
        }
        # Those that only some commands take.
        others = {"folds": models.predictions.folds} | {name: getattr(self, name, None) for name in ("clip", "k")}
        arguments |= {name: value for name, value in others.items() if value is not None}
        return replace(models, arguments=models.arguments | arguments, costs=files)


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    """What the files of a command hold.

    Attributes
    ----------
    request
        What the command was asked to do.
    predictions
        The models.
    arguments
        The options of `multiauc.evaluate` and `multiauc.compare`.
    costs
        The files of costs that were read.
    """

    request: FileRequest
    predictions: Predictions
    arguments: dict[str, Any]
    costs: tuple[sources.Content, ...] = ()

    def only(self, command: str) -> tuple[str, NDArray[Any]]:
        """Name and scores of the one model that the command takes."""
        refuse_several(command, len(self.predictions.models))
        (found,) = self.predictions.models.items()
        return found

    def sizes(self) -> dict[str, int]:
        """The rows of each class."""
        return {label: int((self.predictions.y_true == label).sum()) for label in self.predictions.labels}

    def provenance(self, *others: Predictions) -> dict[str, Any]:
        """The files with their sizes and SHA-256, the options of the command, the versions."""
        held = [
            *((*file, "predictions") for file in self.predictions.files),
            *((content, None, "costs") for content in self.costs),
            *((*file, "predictions") for other in others for file in other.files),
        ]
        files = [content.facts() | {"holds": holds, "rows": rows} for content, rows, holds in held]
        return result.provenance(self.request.given(), files)


def read_cost_files(labels: list[str], path: str | None) -> tuple[Any, tuple[sources.Content, ...]]:
    """The matrix in a file of costs and the file, or None and none."""
    if path is None:
        return None, ()
    content = sources.open_content(path)
    return costs.read_costs(content, labels), (content,)


def spell_notes(noted: Noted) -> Noted:
    """A result whose notes name options as the command line spells them."""
    return replace(noted, notes=tuple(map(spell_options, noted.notes)))


def refuse_several(command: str, n_models: int) -> None:
    """Raise if a command on one model got several."""
    if n_models > 1:
        instead = ", or use compare" if command == "evaluate" else ""
        raise ValueError(f"{command} takes one model: give --scores once{instead}")


def find_sources(files: Sequence[str], patterns: Sequence[str]) -> dict[str, predictions.Source]:
    """The models of several files, or of several patterns of columns in one file.

    Either may have a name before it (``knn=a.parquet``); otherwise a model is called like its columns or its file.
    """
    if len(files) > 1 and len(patterns) > 1:
        raise ValueError(
            "give several files or several --scores, not both: a model is a file, or some columns of one file"
        )
    models: dict[str, predictions.Source] = {}
    for file_name, path in map(split_path, files):
        for pattern_name, pattern in map(split_name, patterns or ("",)):
            stem = pattern.split("*")[0].strip("_-. ") if len(patterns) > 1 else ""
            name = pattern_name or file_name or stem or sources.model_name(path)
            if name in models:
                raise ValueError(f"two models are called {name!r}; give them names, as in other={path}")
            models[name] = predictions.Source(path, pattern)
    return models
