"""The options that commands share, and the completion of column names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from multiauc._common.registry import CLOSED_FORM_METRICS, DEFAULT_METRIC, DEFAULT_METRICS, METRICS
from multiauc._io.delimited import DELIMITERS
from multiauc._io.readers import open_rows
from multiauc._io.sources import FORMATS as FILE_FORMATS
from multiauc._io.sources import data_files, open_content
from multiauc.cli._memory import read_limit
from multiauc.cli._output import FORMATS
from multiauc.cli._requests import split_path

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = TypeVar("Command", bound=Callable[..., Any])


def _column_names(context: click.Context, _: click.Parameter, typed: str) -> list[str]:
    """Columns of the files on the command line so far."""
    # An option that still lacks its value keeps click from telling which words are the files.
    given: Any = context.params.get("files") or context.args
    names: dict[str, None] = {}
    for path in given:
        try:
            first = data_files(split_path(path)[1])[0]
            if Path(first).is_file():  # a pipe is not emptied for this
                names |= dict.fromkeys(open_rows(open_content(first)).names)
        except ValueError:
            continue
    return [name for name in names if name.startswith(typed)]


def _metric_names(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Metrics named one by one or with commas between, each once; None if there are none."""
    names = tuple(dict.fromkeys(name.strip() for word in words for name in word.split(",")))
    unknown = next((name for name in names if name not in CLOSED_FORM_METRICS), None)
    if unknown is not None:
        raise click.BadParameter(f"{unknown!r} is not one of {', '.join(map(repr, CLOSED_FORM_METRICS))}.")
    return names or None


def _complete_metrics(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    before, comma, name = typed.rpartition(",")
    return [f"{before}{comma}{metric}" for metric in CLOSED_FORM_METRICS if metric.startswith(name)]


def _one_data_set(context: click.Context, _: click.Parameter, files: tuple[str, ...]) -> tuple[str, ...]:
    if len(files) > 1:
        raise click.UsageError(
            f"{context.info_name} takes one file; got {len(files)}. Several files that are one data set are a folder, "
            "or a pattern in quotes: 'parts/*.parquet'.",
            context,
        )
    return files


def _sign(_: click.Context, __: click.Parameter, word: str | None) -> str | None:
    """The delimiter by its name or as it is."""
    sign = DELIMITERS.get(word or "", "\t" if word == "\\t" else word)
    if sign is not None and (len(sign) != 1 or not sign.isascii() or sign in '"\r\n'):
        raise click.BadParameter(f"{word!r} is neither one sign nor one of {', '.join(DELIMITERS)}.")
    return sign


def _by_names(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """Columns named one by one or with commas between, each once."""
    return tuple(dict.fromkeys(name.strip() for word in words for name in word.split(",")))


FILE = click.argument("files", type=click.Path(), nargs=-1, required=True, callback=_one_data_set, metavar="FILE")
FILES = click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="[NAME=]FILE...")

_DATA = (
    click.option("-l", "--label", default="y_true", show_default=True, shell_complete=_column_names,
                 help="Column with the true class of each row."),
    click.option("-s", "--scores", multiple=True, metavar="[NAME=]PATTERN", shell_complete=_column_names,
                 help="Columns with the scores: a pattern such as 'p_*', whose star stands for the class, or names "
                      "with commas between. In an NPZ file also one matrix. Several times for several models in one "
                      "file. [default: p_* or y_score]"),
    click.option("--labels", metavar="A,B,...",
                 help="The classes in the order of the score columns, if their names do not say."),
    click.option("--sample-weight", metavar="COLUMN", shell_complete=_column_names,
                 help="Column with the weight of each row."),
    click.option("--absent", type=click.Choice(["raise", "ignore", "nan"]), default="raise", show_default=True,
                 help="What to do about classes without rows."),
    click.option("--outputs", type=click.Choice(["logits"]),
                 help="What the scores are, if they are not probabilities: of logits the softmax of each row is taken. "
                      "[default: scores are taken as they are]"),
    click.option("--format-in", type=click.Choice(FILE_FORMATS),
                 help="The format of the files, if neither their names nor their first bytes tell."),
    click.option("--delimiter", metavar="SIGN", callback=_sign,
                 help=f"What stands between the cells of a text file: {', '.join(DELIMITERS)}, or the sign itself. "
                      "[default: told from the first lines]"),
    click.option("--threads", type=click.IntRange(min=1), help="How many threads to use. [default: all]"),
)  # fmt: skip

_INFERENCE = (
    click.option("--groups", metavar="COLUMN", shell_complete=_column_names,
                 help="Column that says which rows belong together (patients, users): intervals allow for it."),
    click.option("--sampling", type=click.Choice(["stratified", "iid"]), default="stratified", show_default=True,
                 help="Whether class sizes are fixed or random."),
    click.option("--partition", metavar="COSTS.CSV", type=click.Path(),
                 help="Costs for AUC_mu: of predicting the class of the row when the truth is that of the column."),
    click.option("--pair-weights", type=click.Choice(["equal", "size_product", "size_sum"]), default="equal",
                 show_default=True, help="How pairs of classes are weighted in AUC_mu and M."),
)  # fmt: skip

_READING = (
    click.option("--memory-limit", metavar="SIZE", callback=read_limit,
                 help="Read the file in pieces with about this much memory, such as 512MB; none reads it whole. "
                      "[default: whole, or 1GiB if it would take up more than a quarter of the free memory]"),
    click.option("--checkpoint", metavar="FILE", type=click.Path(),
                 help="Read the file in pieces, and keep in FILE what has been found so far: stopped at any moment, "
                      "the same command goes on there."),
    click.option("--exact", is_flag=True,
                 help="Read the file in pieces, as often as it takes for values that are exact."),
)  # fmt: skip

_COSTS_HELP = "Costs of decisions: of predicting the class of the row when the truth is that of the column."
_CI = click.option("--ci", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
                   metavar="LEVEL", help="The level of the confidence intervals.")  # fmt: skip
_ID = click.option("--id", "row_id", metavar="COLUMN", shell_complete=_column_names,
                   help="Column that identifies rows, to match several files. [default: by position]")  # fmt: skip
_FORMAT = click.option("-f", "--format", "style", type=click.Choice(FORMATS),
                       help="How to print the result. [default: table, or what the output's name says]")  # fmt: skip
_FORCE = click.option("--force", is_flag=True,
                      help="Replace a file that is there already, unless it is an input.")  # fmt: skip
_METRICS = click.option("--metrics", multiple=True, metavar="A,B,...", callback=_metric_names,
                        shell_complete=_complete_metrics,
                        help=f"What to compute, out of {', '.join(CLOSED_FORM_METRICS)}. "
                             f"[default: {', '.join(DEFAULT_METRICS)}]")  # fmt: skip
_BY = click.option("--by", multiple=True, metavar="A,B,...", callback=_by_names, shell_complete=_column_names,
                   help="Columns whose values are slices of the rows (regions, devices): each is compared with the "
                        "rest of the rows. Several columns cross.")  # fmt: skip
_SEED = click.option("--seed", type=int, default=0, show_default=True, help="The seed of the random numbers.")


def data_options(command: Command) -> Command:
    """Which columns of which file."""
    return _all(_DATA, command)


def inference_options(command: Command) -> Command:
    """What is estimated, and how its uncertainty is."""
    return _all((*_INFERENCE, _CI), command)


def reading_options(command: Command) -> Command:
    """How a file that may be larger than memory is read."""
    return _all(_READING, command)


def several_files(command: Command) -> Command:
    """Several files, one model each."""
    return _all((FILES, _ID), command)


def printing(command: Command) -> Command:
    """How and where results are printed."""
    return _all((_FORMAT, output_option("-", "Where to write the result; - is standard output."), _FORCE), command)


def output_option(default: str, text: str) -> Callable[[Command], Command]:
    """Where something is written."""
    return click.option("-o", "--output", type=click.Path(), default=default, show_default=True, help=text)


def force_option(command: Command) -> Command:
    """Whether other files may be replaced."""
    return _FORCE(command)


def resampling(default: int | None, in_words: str | None = None) -> Callable[[Command], Command]:
    """How often, and with which random numbers, data are resampled; None lets the size of the data decide."""
    count = click.option("--bootstrap", "n_resamples", type=click.IntRange(min=0), default=default,
                         show_default=in_words or True, metavar="N",
                         help="Resamples of the bootstrap; 0 for none.")  # fmt: skip
    return lambda command: _all((count, _SEED), command)


def groups_option(command: Command) -> Command:
    """Which rows belong together."""
    return _INFERENCE[0](command)


def costs_option(command: Command, *, required: bool = False) -> Command:
    """What errors cost."""
    return click.option("--costs", metavar="COSTS.CSV", type=click.Path(), required=required, help=_COSTS_HELP)(command)


def level_option(command: Command) -> Command:
    """The level of intervals alone."""
    return _CI(command)


def metrics_option(command: Command) -> Command:
    """The metrics of one model."""
    return _METRICS(command)


def by_option(command: Command) -> Command:
    """The slices of the rows."""
    return _BY(command)


def metric_option(command: Command) -> Command:
    """The metric by which models are compared."""
    return click.option("--metric", type=click.Choice(list(METRICS)), default=DEFAULT_METRIC, show_default=True,
                        help="What to compare the models by.")(command)  # fmt: skip


def _all(options: tuple[Callable[[Any], Any], ...], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
