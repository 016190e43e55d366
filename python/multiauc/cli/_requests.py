"""What commands are asked to do: options, parsed and typed, and what is read for them.

Each option is a field of a request, declared once with its type, its help and how it is read.
"""

from __future__ import annotations

import re
from collections import ChainMap
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import click

from multiauc import set_num_threads
from multiauc._common import registry, result
from multiauc._io import predictions, readers, sources
from multiauc._io.output import STANDARD
from multiauc.cli._problems import SPELLED, as_typed, spell_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from dataclasses import Field

    from numpy.typing import NDArray

    from multiauc import Comparison, Evaluation, RunsComparison, RunsEvaluation
    from multiauc._common.types import Outputs
    from multiauc._io.predictions import Predictions

    Asked = TypeVar("Asked", bound="FileRequest")
    Noted = TypeVar("Noted", Evaluation, Comparison, RunsEvaluation, RunsComparison)

SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?\s*", re.IGNORECASE)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
#: The limit of memory that reads files whole.
WHOLE = "none"

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
# Options that say where and how a result is shown; the help has them last.
LAST = ("style", "output", "force")
# Options that say how a result is shown, not what it is.
OF_PRINTING = {"files", "output", "force", "style", "threads", "plot", "title", "worst", "checkpoint"}
# What the help of options may refer to.
HELP_WORDS = {
    "metrics": ", ".join(registry.ANALYTIC_METRICS),
    "usual_metrics": ", ".join(registry.DEFAULT_METRICS),
    "delimiters": ", ".join(sources.DELIMITERS),
}


def option(
    *short: str, default: Any = None, read: Callable[[Any], Any] | None = None, show: bool | str = False, **more: Any
) -> Any:
    """A field of a request that is an option of the same name; `read` makes its value of what was typed."""
    if read is not None:
        more["callback"] = lambda _, __, typed: read(typed)
    if default is not None:
        more["default"] = default
    if show:
        more["show_default"] = show
    if more.get("multiple"):
        default = () if read is None else read(())
    return field(default=default, metadata={"option": (short, more)})


def column() -> Any:
    """A field of a request that is an option with the name of a column."""
    return option(metavar="COLUMN", shell_complete=complete_columns)


def several(read: Callable[[Any], Any], complete: Callable[..., list[str]]) -> Any:
    """A field of a request that is an option with names, which may have commas between and may be repeated."""
    return option(multiple=True, metavar="A,B,...", read=read, shell_complete=complete)


def argument(**more: Any) -> Any:
    """The field of the files that a command is about."""
    return field(metadata={"argument": {"type": click.Path(), "nargs": -1, "required": True} | more})


def command(group: click.Group) -> Callable[[type[Asked]], type[Asked]]:
    """Make a request a command of a group: its fields are the options.

    The docstring of the request is the help of the command, and what it says of attributes that of the options. The
    tests run its examples on the files of `multiauc demo`.
    """

    def decorate(request: type[Asked]) -> type[Asked]:
        def work(**options: Any) -> None:
            asked = request(**options)
            if asked.threads is not None:
                set_num_threads(asked.threads)
            asked.run()

        documented = list(map(_read_docstring, request.__mro__))
        helps = ChainMap(*(found.attributes for found in documented))
        declared = [_make_parameter(one, helps) for one in sorted(fields(request), key=lambda one: one.name in LAST)]
        made = click.Command(
            request.__name__.removesuffix("Request").lower(),
            params=[parameter for parameter in declared if parameter is not None],
            callback=work,
            help=documented[0].text,
            epilog=f"\b\nExamples, with the files that `multiauc demo` writes:\n{documented[0].examples}",
            context_settings=SETTINGS,
        )
        group.add_command(made)
        return request

    return decorate


class Documented(NamedTuple):
    """What a docstring says: in general, about each attribute, and its examples line by line."""

    text: str
    attributes: dict[str, str]
    examples: str


def _read_docstring(request: type) -> Documented:
    text, *parts = re.split(r"\n\n(Attributes|Examples)\n-+\n", cleandoc(request.__doc__ or ""))
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    attributes = re.findall(r"^(\w+)\n((?: .*\n?)+)", sections.get("Attributes", ""), re.MULTILINE)
    helps = {name: " ".join(about.split()).format_map(HELP_WORDS) for name, about in attributes}
    return Documented(text, helps, indent(sections.get("Examples", ""), "  "))


def _make_parameter(one: Field[Any], helps: Mapping[str, str]) -> click.Parameter | None:
    """The option or argument that a field of a request declares, or None."""
    if "argument" in one.metadata:
        return click.Argument([one.name], **one.metadata["argument"])
    if "option" not in one.metadata:
        return None
    short, more = one.metadata["option"]
    return click.Option([*short, as_typed(one.name), one.name], help=helps.get(one.name), **more)


def split_commas(words: str | tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Names one by one or with commas between, each once; None if there are none."""
    typed = (words,) if isinstance(words, str) else words or ()
    return tuple(dict.fromkeys(name.strip() for word in typed for name in word.split(","))) or None


def read_metrics(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Metrics with analytic intervals; None if none is named."""
    names = split_commas(words)
    unknown = next((name for name in names or () if name not in registry.ANALYTIC_METRICS), None)
    if unknown is not None:
        raise click.BadParameter(f"{unknown!r} is not one of {', '.join(map(repr, registry.ANALYTIC_METRICS))}.")
    return names


def read_labels(words: str | None) -> tuple[str, ...] | None:
    """Classes with commas between."""
    return None if words is None else tuple(name.strip() for name in words.split(","))


def read_delimiter(word: str | None) -> str | None:
    """The delimiter by its name or as it is."""
    sign = sources.DELIMITERS.get(word or "", "\t" if word == "\\t" else word)
    if sign is not None and (len(sign) != 1 or not sign.isascii() or sign in '"\r\n'):
        raise click.BadParameter(f"{word!r} is neither one sign nor one of {', '.join(sources.DELIMITERS)}.")
    return sign


def read_size(text: str) -> int | None:
    """Bytes: 2**20 of them are 1M or 1MiB, a million are 1MB; None if it is not a size."""
    found = SIZE.fullmatch(text)
    if found is None or (found[3] and len(found[3]) == 2 and not found[2]):
        return None
    thousand = 1000 if (found[3] or "").lower() == "b" else 1024
    return int(float(found[1]) * thousand ** POWERS[found[2].lower()])


def read_limit(text: str | None) -> int | str | None:
    """The limit in bytes, or "none"."""
    if text is None or text.lower() == WHOLE:
        return text and WHOLE
    from multiauc._io.dataset import LEAST_MEMORY  # noqa: PLC0415 - help and completion do not wait for it

    size = read_size(text)
    if size is None:
        raise click.BadParameter(f"{text!r} is not a size such as 512MB or 2GiB, nor {WHOLE}.")
    if size < LEAST_MEMORY:
        raise click.BadParameter(f"{text!r} is too little: it takes 256MiB at least.")
    return size


def require_one(context: click.Context, _: click.Parameter, files: tuple[str, ...]) -> tuple[str, ...]:
    """The one data set that a command takes."""
    if len(files) > 1:
        raise click.UsageError(
            f"{context.info_name} takes one file; got {', '.join(map(repr, files))}. Several files that are one data "
            "set are a folder, or a pattern in quotes: 'parts/*.parquet'; names of columns have commas between them, "
            "and no spaces: p_ant,p_bee.",
            context,
        )
    return files


def complete_columns(context: click.Context, _: click.Parameter, typed: str) -> list[str]:
    """Columns of the files on the command line so far."""
    # An option that still lacks its value keeps click from telling which words are the files.
    given: Any = context.params.get("files") or context.args
    names: dict[str, None] = {}
    for path in given:
        try:
            first = sources.local_files(split_path(path)[1])[0]
            if Path(first).is_file():  # a pipe is not emptied for this
                request = predictions.Request(label="")
                names |= dict.fromkeys(readers.open_rows(sources.open_content(first), request).names)
        except (ValueError, IndexError):  # not a file that can be read, or one in a store
            continue
    return [name for name in names if name.startswith(typed)]


def complete_metrics(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    """Metrics, the last of several with commas between."""
    before, comma, name = typed.rpartition(",")
    return [f"{before}{comma}{metric}" for metric in registry.ANALYTIC_METRICS if metric.startswith(name)]


def split_path(text: str) -> tuple[str, str]:
    """``name=path`` as (name, path); a path that is there may have an equals sign in it (``run=3/preds.csv``)."""
    name, path = split_name(text)
    if sources.is_there(text) or ("/" in name and not sources.is_there(path)):
        return "", text
    return name, path


def split_name(text: str) -> tuple[str, str]:
    """``name=rest`` as (name, rest); without a name the name is empty."""
    name, separator, rest = text.partition("=")
    return (name, rest) if separator else ("", text)


# Options of several commands.
COSTS: dict[str, Any] = {"metavar": "COSTS.CSV", "type": click.Path()}
SEED = option(type=int, default=0, show=True)
RESAMPLES: dict[str, Any] = {"type": click.IntRange(min=0), "metavar": "N"}
INSIDE_UNIT = click.FloatRange(0, 1, min_open=True, max_open=True)


@dataclass(frozen=True, kw_only=True)
class FileRequest:
    """Which columns of which files, and where the result goes: what every command on files is told.

    Attributes
    ----------
    label
        Column with the true class of each row.
    scores
        Columns with the scores: a pattern such as 'p_*', whose star stands for the class, or comma-separated names; in
        an NPZ file also a matrix. Repeat for several models in one file. evaluate, and compare by metrics of
        predictions, also accept a column of predicted labels. [default: p_* or y_score, or columns named after the
        classes, or the only column of lists or numbers]
    labels
        The classes in score column order, if the column names do not tell.
    sample_weight
        Column with the weight of each row.
    absent
        What to do about classes without rows.
    outputs
        What the scores are, if they are not probabilities: logits are converted by softmax. [default: use scores as
        they are]
    format_in
        The file format, if neither name nor first bytes show it.
    delimiter
        The delimiter of a text file: {delimiters}, or the character itself. [default: inferred from the first lines]
    threads
        Number of threads. [default: all]
    level
        The level of the confidence intervals.
    style
        Output format. [default: table, or by the extension of --output]
    output
        Where to write the result; - is standard output.
    force
        Overwrite an existing file, unless it is an input.
    groups
        Column with the group of each row (patient, user): intervals then treat groups, not rows, as independent.
    folds
        Column with the fold of each row (cross-validation): metrics are computed within folds.
    by
        Columns whose values define slices of the rows (regions, devices), each compared with the rest. Several columns
        are crossed.
    row_id
        Column that identifies rows, to match several files. [default: by position]
    costs
        Cost matrix of predictions: predicted classes in rows, true classes in columns.
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
    level: float = option(type=INSIDE_UNIT, default=0.95, show=True, metavar="LEVEL")
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
    #: The function that does what is asked for, as in an entry point.
    work: ClassVar[str]

    def run(self) -> None:
        """Do what is asked for. Only now its module is imported: help and completion do not wait for it."""
        module, _, name = self.work.partition(":")
        getattr(import_module(module), name)(self)

    @property
    def paths(self) -> list[str]:
        """The files as they are given, without names of models."""
        return [split_path(file)[1] for file in self.files]

    def source(self, kind: type[predictions.Request] = predictions.Request, **given: Any) -> predictions.Request:
        """What to read; `given` is what the command line calls otherwise."""
        if [*self.paths, self.partition, self.costs, self.judge].count(STANDARD) > 1:
            raise ValueError("standard input ('-') can be given once, because it can be read only once")
        same = {one.name: getattr(self, one.name) for one in fields(kind) if hasattr(self, one.name)}
        return kind(**same | given, sources=find_sources(self.files, self.scores), flags=True)

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

    def provenance(self, held: Iterable[tuple[sources.Content, int | None, str]]) -> dict[str, Any]:
        """The options, the versions, and files with their rows, if these are known, and with what they hold."""
        files = [content.facts() | {"holds": holds, "rows": rows} for content, rows, holds in held]
        return result.provenance(self.given(), files)

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
        Cost matrix for AUC_mu: predicted classes in rows, true classes in columns.
    pair_weights
        Weights of the pairs of classes in AUC_mu and M.
    bootstrap
        Number of bootstrap resamples; 0 for none.
    seed
        Seed of the random numbers.
    metric
        The metric to compare models by.
    metrics
        Metrics to compute: {metrics}. [default: {usual_metrics}]
    clip
        Lower limit of probabilities in log_loss. [default: a probability of 0 is an error]
    k
        The k of top_k_accuracy.
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
        return self.request.provenance(held)


def read_cost_files(labels: list[str], path: str | None) -> tuple[Any, tuple[sources.Content, ...]]:
    """The matrix in a file of costs and the file, or None and none."""
    if path is None:
        return None, ()
    content = sources.open_content(path)
    return readers.read_costs(content, labels), (content,)


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
