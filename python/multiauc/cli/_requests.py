"""What a command was asked to do: its options, parsed and typed, and what it reads for them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from multiauc._common import registry, result
from multiauc._io import costs, predictions, sources
from multiauc._io.output import STANDARD
from multiauc.cli import _gates, _options
from multiauc.cli._options import argument, complete_columns, option
from multiauc.cli._output import FORMATS
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
COST_FILE: dict[str, Any] = {"metavar": "COSTS.CSV", "type": click.Path()}

# fmt: off
FILE = argument(callback=_options.require_one, metavar="FILE")
FILES = argument(metavar="[NAME=]FILE...")
ROW_ID = option("--id", metavar="COLUMN", shell_complete=complete_columns,
                help="Column that identifies rows, to match several files. [default: by position]")
GROUPS = option("--groups", metavar="COLUMN", shell_complete=complete_columns,
                help="Column that says which rows belong together (patients, users): intervals allow for it.")
METRIC = option("--metric", type=click.Choice(list(registry.METRICS)), default=registry.DEFAULT_METRIC, show=True,
                help="What to compare the models by.")
METRICS = option("--metrics", multiple=True, metavar="A,B,...", read=_options.read_metrics,
                 shell_complete=_options.complete_metrics,
                 help=f"What to compute, out of {', '.join(registry.ANALYTIC_METRICS)}. "
                      f"[default: {', '.join(registry.DEFAULT_METRICS)}]")
BY = option("--by", multiple=True, metavar="A,B,...", read=lambda words: _options.split_commas(words) or (),
            shell_complete=complete_columns,
            help="Columns whose values are slices of the rows (regions, devices): each is compared with the rest of "
                 "the rows. Several columns cross.")
FOLDS = option("--folds", metavar="COLUMN", shell_complete=complete_columns,
               help="Column with the fold of each row (cross-validation): rows of different folds, scored by different "
                    "models, are not ranked against each other.")
CLIP = option("--clip", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="P",
              help="The smallest probability that log_loss counts with. [default: a probability of 0 is an error]")
TOP_K = option("--k", type=click.IntRange(min=1), metavar="K", help="How many classes top_k_accuracy looks at.")
SEED = option("--seed", type=int, default=0, show=True, help="The seed of the random numbers.")


def resamples(default: int | None, in_words: str = "") -> Any:
    """How often data are resampled; None lets the size of the data decide."""
    return option("--bootstrap", type=click.IntRange(min=0), default=default, show=in_words or True, metavar="N",
                  help="Resamples of the bootstrap; 0 for none.")


def cost_matrix(*, required: bool = False) -> Any:
    """A file of costs."""
    return option("--costs", **COST_FILE, required=required,
                  help="Costs of decisions: of predicting the class of the row when the truth is that of the column.")


@dataclass(frozen=True, kw_only=True)
class FileRequest:
    """Which columns of which files, and where the result goes: what every command on files is told.

    Those without an option are for some commands only, which declare it.
    """

    files: tuple[str, ...]
    label: str = option("-l", "--label", default="y_true", show=True, shell_complete=complete_columns,
                        help="Column with the true class of each row.")
    scores: tuple[str, ...] = option(
        "-s", "--scores", multiple=True, metavar="[NAME=]PATTERN", shell_complete=complete_columns,
        help="Columns with the scores: a pattern such as 'p_*', whose star stands for the class, or names with commas "
             "between. In an NPZ file also one matrix. Several times for several models in one file. "
             "evaluate also takes a column of predicted labels. "
             "[default: p_* or y_score, or columns called after the classes, or the one column of lists or of numbers]")
    labels: tuple[str, ...] | None = option("--labels", metavar="A,B,...", read=_options.read_classes,
        help="The classes in the order of the score columns, if their names do not say.")
    sample_weight: str | None = option("--sample-weight", metavar="COLUMN", shell_complete=complete_columns,
        help="Column with the weight of each row.")
    absent: str = option("--absent", type=click.Choice(["raise", "ignore", "nan"]), default="raise", show=True,
                         help="What to do about classes without rows.")
    outputs: Outputs = option("--outputs",  # noqa: RUF009 - a field
        type=click.Choice(["logits"]),
        help="What the scores are, if they are not probabilities: of logits the softmax of each row is taken. "
             "[default: scores are taken as they are]")
    format_in: str | None = option("--format-in", type=click.Choice(sources.FORMATS),
        help="The format of the files, if neither their names nor their first bytes tell.")
    delimiter: str | None = option("--delimiter", metavar="SIGN", read=_options.read_delimiter,
        help=f"What stands between the cells of a text file: {', '.join(sources.DELIMITERS)}, or the sign itself. "
             "[default: inferred from the first lines]")
    threads: int | None = option("--threads", type=click.IntRange(min=1),
                                 help="How many threads to use. [default: all]")
    level: float = option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95,
                          show=True, metavar="LEVEL", help="The level of the confidence intervals.")
    style: str | None = option("-f", "--format", type=click.Choice(FORMATS),
                               help="How to print the result. [default: table, or what the output's name says]")
    output: str = option("-o", "--output", type=click.Path(), default=STANDARD, show=True,
                         help="Where to write the result; - is standard output.")
    force: bool = option("--force", default=False, is_flag=True,
                         help="Replace a file that is there already, unless it is an input.")
    groups: str | None = None
    folds: str | None = None
    by: tuple[str, ...] = ()
    runs: str | None = None
    row_id: str | None = None
    partition: str | None = None
    costs: str | None = None
    judge: str | None = None
    may_predict: ClassVar[bool] = False
    # fmt: on

    def source(self) -> predictions.Request:
        """What to read."""
        others = (self.partition, self.costs, self.judge)
        if [*(_options.split_path(file)[1] for file in self.files), *others].count(STANDARD) > 1:
            raise ValueError("standard input ('-') can be given once, because it can be read only once")
        named = ("label", "labels", "sample_weight", "groups", "folds", "by", "runs", "row_id")
        read = ("absent", "outputs", "format_in", "delimiter", "may_predict")
        same: dict[str, Any] = {name: getattr(self, name) for name in (*named, *read)}
        return predictions.Request(sources=find_sources(self.files, self.scores), flags=True, **same)

    def inputs(self) -> tuple[str, ...]:
        """Every file of this machine that the command reads."""
        paths = dict.fromkeys([*(_options.split_path(file)[1] for file in self.files), self.judge])
        others = [other for other in (self.partition, self.costs) if other is not None]
        return (*(file for path in paths if path is not None for file in sources.local_files(path)), *others)

    def given(self) -> dict[str, Any]:
        """The options that decide what the result is, by their names on the command line."""
        names = [one.name for one in fields(self) if "option" in one.metadata and one.name not in OF_PRINTING]
        values = {SPELLED.get(name, name): getattr(self, name) for name in names}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


# fmt: off
@dataclass(frozen=True, kw_only=True)
class InferenceRequest(FileRequest):
    """What is estimated, and how its uncertainty is."""

    groups: str | None = GROUPS
    sampling: str | None = option("--sampling", type=click.Choice(["stratified", "iid"]), default=None,
        help="Whether class sizes are fixed or random. [default: as in multiauc.evaluate, by metric]")
    partition: str | None = option("--partition", **COST_FILE,
        help="Costs for AUC_mu: of predicting the class of the row when the truth is that of the column.")
    pair_weights: str = option("--pair-weights", type=click.Choice(["equal", "size_product", "size_sum"]),
                               default="equal", show=True, help="How pairs of classes are weighted in AUC_mu and M.")
    bootstrap: int | None = resamples(0)
    seed: int = SEED

    def read(self, source: predictions.Request) -> Models:
        """The predictions, with the options of `multiauc.evaluate` and `multiauc.compare`."""
        found = predictions.read_predictions(source)
        partition, files = read_cost_files(found.labels, self.partition)
        arguments = {
            "partition": partition,
            "pair_weights": None if self.pair_weights == "equal" else self.pair_weights,
            "sample_weight": found.weights,
            "groups": found.groups,
            "sampling": self.sampling,
            "labels": found.labels,
            "absent": self.absent,
            "outputs": self.outputs,
        }
        # Those that only some commands take.
        arguments |= {} if found.folds is None else {"folds": found.folds}
        arguments |= {name: value for name in ("clip", "k") if (value := getattr(self, name, None)) is not None}
        return Models(found, arguments, files)


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest(InferenceRequest):
    """``multiauc evaluate``; `memory_limit` is in bytes, or "none"."""

    may_predict = True
    files: tuple[str, ...] = FILE
    metrics: tuple[str, ...] | None = METRICS
    folds: str | None = FOLDS
    clip: float | None = CLIP
    k: int | None = TOP_K
    by: tuple[str, ...] = BY
    runs: str | None = option("--runs", metavar="COLUMN", shell_complete=complete_columns,
        help="Column with the run (training, seed) of each row: the mean over runs, with errors from rows and runs.")
    row_id: str | None = option("--id", metavar="COLUMN", shell_complete=complete_columns,
        help="Column that identifies rows, to match those of --runs. [default: by their order within each run]")
    worst: int = option("--worst", type=click.IntRange(min=0), default=5, show=True, help="How many pairs to list.")
    fail_under: tuple[_gates.Floor, ...] = option(
        "--fail-under", multiple=True, metavar="METRIC=VALUE", read=_gates.read_floors,
        help="End with exit code 3 if the metric is under this value. Several times for several metrics.")
    fail_on_interval: bool = option("--fail-on-interval", default=False, is_flag=True,
        help="Hold the lower limit against --fail-under, not the value: with the confidence of --level from one side, "
             "as --fail-if-worse does.")
    memory_limit: int | str | None = option("--memory-limit", metavar="SIZE", read=_options.read_limit,
        help="Read the file in pieces with about this much memory, such as 512MB; none reads it whole. "
             "[default: whole, or 1GiB if it would take up more than a quarter of the free memory]")
    checkpoint: str | None = option("--checkpoint", metavar="FILE", type=click.Path(),
        help="Read the file in pieces, and keep in FILE what has been found so far: stopped at any moment, the same "
             "command goes on there.")
    exact: bool = option("--exact", default=False, is_flag=True,
                         help="Read the file in pieces, as often as it takes for values that are exact.")


@dataclass(frozen=True, kw_only=True)
class CompareRequest(InferenceRequest):
    """``multiauc compare``."""

    files: tuple[str, ...] = FILES
    row_id: str | None = ROW_ID
    metric: str = METRIC
    folds: str | None = FOLDS
    clip: float | None = CLIP
    k: int | None = TOP_K
    fail_if_worse: float | None = option("--fail-if-worse", metavar="MARGIN", read=_gates.read_margin,
        help="End with exit code 3 unless the first model is shown to be worse than each of the others by less than "
             "this, with the confidence of --level from one side.")


@dataclass(frozen=True, kw_only=True)
class ReportRequest(InferenceRequest):
    """``multiauc report``."""

    files: tuple[str, ...] = FILES
    row_id: str | None = ROW_ID
    bootstrap: int | None = resamples(None, "200, or fewer for many classes")
    metric: str = METRIC
    metrics: tuple[str, ...] | None = METRICS
    by: tuple[str, ...] = BY
    costs: str | None = cost_matrix()
    style: str | None = None
    output: str = option("-o", "--output", type=click.Path(), default="report.html", show=True,
                         help="Where to write the page; - is standard output.")
    title: str | None = option("--title", help="The title of the page.")


@dataclass(frozen=True, kw_only=True)
class RocRequest(FileRequest):
    """``multiauc roc``."""

    files: tuple[str, ...] = FILE
    kind: str = option("--kind", type=click.Choice(["multiclass", *registry.CURVE_KINDS]), default="multiclass",
        show=True, help="One curve for all pairs of classes, a curve for each class, or a curve for each pair.")
    thresholds: int = option("--thresholds", type=click.IntRange(min=2), default=100, show=True,
                             help="Of the one curve.")
    bootstrap: int = resamples(0)
    seed: int = SEED
    plot: str | None = option("--plot", type=click.Path(), metavar="PICTURE",
                              help="Draw it: a .png, .svg or .pdf file.")


@dataclass(frozen=True, kw_only=True)
class DecideRequest(FileRequest):
    """``multiauc decide``."""

    files: tuple[str, ...] = FILE
    costs: str = cost_matrix(required=True)
    groups: str | None = GROUPS
    judge: str | None = option("--judge", metavar="FILE", type=click.Path(),
        help="Other rows of the same columns to judge the rule by. [default: cross-validation within FILE]")
    decisions: str | None = option("--decisions", metavar="OUT.CSV", type=click.Path(),
        help="Write the decision on each row, of the file of --judge if there is one.")
# fmt: on


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
    costs: tuple[sources.Content, ...] = ()

    def only(self, command: str) -> tuple[str, NDArray[Any]]:
        """Name and scores of the one model that the command takes."""
        refuse_several(command, len(self.predictions.models))
        (found,) = self.predictions.models.items()
        return found

    def sizes(self) -> dict[str, int]:
        """The rows of each class."""
        return {label: int((self.predictions.y_true == label).sum()) for label in self.predictions.labels}

    def provenance(self, request: FileRequest, *others: Predictions) -> dict[str, Any]:
        """The files with their sizes and SHA-256, the options of the command, the versions."""
        held = [
            *((*file, "predictions") for file in self.predictions.files),
            *((content, None, "costs") for content in self.costs),
            *((*file, "predictions") for other in others for file in other.files),
        ]
        files = [content.facts() | {"holds": holds, "rows": rows} for content, rows, holds in held]
        return result.provenance(request.given(), files)


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
    for file_name, path in map(_options.split_path, files):
        for pattern_name, pattern in map(_options.split_name, patterns or ("",)):
            stem = pattern.split("*")[0].strip("_-. ") if len(patterns) > 1 else ""
            name = pattern_name or file_name or stem or sources.model_name(path)
            if name in models:
                raise ValueError(f"two models are called {name!r}; give them names, as in other={path}")
            models[name] = predictions.Source(path, pattern)
    return models
