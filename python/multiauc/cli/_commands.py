"""The commands, and the options that they share."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from multiauc import __version__, set_num_threads
from multiauc._common.registry import CLOSED_FORM_METRICS, CURVE_KINDS, DEFAULT_METRIC, DEFAULT_METRICS, METRICS
from multiauc._io.content import FORMATS as FILE_FORMATS
from multiauc._io.delimited import DELIMITERS
from multiauc._io.formats import open_file
from multiauc._io.paths import data_files
from multiauc.cli import _gates
from multiauc.cli._output import FORMATS
from multiauc.cli._problems import emit
from multiauc.cli._requests import CompareRequest, DecideRequest, EvaluateRequest, ReportRequest, RocRequest, split_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from multiauc.cli._requests import FileRequest

    Decorator = Callable[[Any], Any]

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def _column_names(context: click.Context, _: click.Parameter, typed: str) -> list[str]:
    """Columns of the files on the command line so far."""
    # An option that still lacks its value keeps click from telling which words are the files.
    given: Any = context.params.get("files") or context.args
    names: dict[str, None] = {}
    for path in given:
        try:
            first = data_files(split_path(path)[1])[0]
            if Path(first).is_file():  # a pipe is not emptied for this
                names |= dict.fromkeys(open_file(first).names)
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


def _class_names(_: click.Context, __: click.Parameter, words: str | None) -> tuple[str, ...] | None:
    return None if words is None else tuple(name.strip() for name in words.split(","))


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


def _memory_limit(_: click.Context, __: click.Parameter, text: str | None) -> int | str | None:
    from multiauc.cli._pieces import read_limit  # noqa: PLC0415 - help and completion do not wait for it

    return None if text is None else read_limit(text)


def _by_names(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """Columns named one by one or with commas between, each once."""
    return tuple(dict.fromkeys(name.strip() for word in words for name in word.split(",")))


def _all(*options: Decorator) -> Decorator:
    """Several options, in this order."""
    return lambda command: reduce(lambda done, option: option(done), reversed(options), command)


def _resampling(default: int | None, in_words: str | None = None) -> Decorator:
    """How often, and with which random numbers, data are resampled; None lets the size of the data decide."""
    count = click.option("--bootstrap", type=click.IntRange(min=0), default=default,
                         show_default=in_words or True, metavar="N",
                         help="Resamples of the bootstrap; 0 for none.")  # fmt: skip
    seed = click.option("--seed", type=int, default=0, show_default=True, help="The seed of the random numbers.")
    return _all(count, seed)


def _output(default: str, text: str) -> Decorator:
    return click.option("-o", "--output", type=click.Path(), default=default, show_default=True, help=text)


def _costs(*, required: bool = False) -> Decorator:
    text = "Costs of decisions: of predicting the class of the row when the truth is that of the column."
    return click.option("--costs", metavar="COSTS.CSV", type=click.Path(), required=required, help=text)


_FILE = click.argument("files", type=click.Path(), nargs=-1, required=True, callback=_one_data_set, metavar="FILE")

_DATA = _all(
    click.option("-l", "--label", default="y_true", show_default=True, shell_complete=_column_names,
                 help="Column with the true class of each row."),
    click.option("-s", "--scores", multiple=True, metavar="[NAME=]PATTERN", shell_complete=_column_names,
                 help="Columns with the scores: a pattern such as 'p_*', whose star stands for the class, or names "
                      "with commas between. In an NPZ file also one matrix. Several times for several models in one "
                      "file. [default: p_* or y_score]"),
    click.option("--labels", metavar="A,B,...", callback=_class_names,
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

_GROUPS = click.option("--groups", metavar="COLUMN", shell_complete=_column_names,
                       help="Column that says which rows belong together (patients, users): intervals allow for "
                            "it.")  # fmt: skip
_LEVEL = click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95,
                      show_default=True, metavar="LEVEL", help="The level of the confidence intervals.")  # fmt: skip
_INFERENCE = _all(
    _GROUPS,
    click.option("--sampling", type=click.Choice(["stratified", "iid"]), default="stratified", show_default=True,
                 help="Whether class sizes are fixed or random."),
    click.option("--partition", metavar="COSTS.CSV", type=click.Path(),
                 help="Costs for AUC_mu: of predicting the class of the row when the truth is that of the column."),
    click.option("--pair-weights", type=click.Choice(["equal", "size_product", "size_sum"]), default="equal",
                 show_default=True, help="How pairs of classes are weighted in AUC_mu and M."),
    _LEVEL,
)  # fmt: skip

_READING = _all(
    click.option("--memory-limit", metavar="SIZE", callback=_memory_limit,
                 help="Read the file in pieces with about this much memory, such as 512MB; none reads it whole. "
                      "[default: whole, or 1GiB if it would take up more than a quarter of the free memory]"),
    click.option("--checkpoint", metavar="FILE", type=click.Path(),
                 help="Read the file in pieces, and keep in FILE what has been found so far: stopped at any moment, "
                      "the same command goes on there."),
    click.option("--exact", is_flag=True,
                 help="Read the file in pieces, as often as it takes for values that are exact."),
)  # fmt: skip

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
_METRIC = click.option("--metric", type=click.Choice(list(METRICS)), default=DEFAULT_METRIC, show_default=True,
                       help="What to compare the models by.")  # fmt: skip
_FILES = _all(click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="[NAME=]FILE..."), _ID)
_PRINTING = _all(_FORMAT, _output("-", "Where to write the result; - is standard output."), _FORCE)


def _examples(*lines: str) -> str:
    """Examples under the help of a command; the tests run them on the files of ``multiauc demo``."""
    return "\b\nExamples, with the files that `multiauc demo` writes:\n" + "\n".join(f"  $ {line}" for line in lines)


@click.group(
    context_settings=SETTINGS,
    epilog=_examples(
        "multiauc evaluate net.parquet --label y --scores 'p_*'",
        "multiauc compare net.parquet forest.parquet --label y",
        "multiauc report net.parquet forest.parquet linear.parquet --label y -o report.html",
    ),
)
@click.version_option(__version__, prog_name="multiauc", message="%(prog)s %(version)s")
def multiauc() -> None:
    """Evaluate classifiers of several classes from files of predictions.

    Files are CSV, TSV, Parquet, Arrow/Feather or NPZ: a row per instance, a column with the true class and a column
    with the score for each class. Rows are counted from 1, without the header. Several files of the same columns are
    one data set if they are given as a folder or as a pattern in quotes ('parts/*.parquet'). - is standard input.

    Exit codes: 0 done, 1 data or values that cannot be used, 2 a wrong command line, 3 a model that did not pass
    --fail-under or --fail-if-worse, 130 stopped by Ctrl-C.
    """


@multiauc.command(
    context_settings=SETTINGS,
    epilog=_examples(
        "multiauc evaluate net.parquet --label y --scores 'p_*'",
        "multiauc evaluate net.parquet --label y --metrics auc_mu,hand_till",
        "multiauc evaluate net.parquet --label y --groups user --level 0.9 --format markdown",
        "multiauc evaluate net.parquet --label y --by region",
        "multiauc evaluate net.parquet --label y --partition costs.csv -o net.json",
        "multiauc evaluate net.parquet --label y --fail-under auc_mu=0.9 --fail-on-interval",
        "multiauc evaluate net.parquet --label y --memory-limit 512MB --checkpoint net.checkpoint",
    ),
)
@_FILE
@_DATA
@_METRICS
@_BY
@_INFERENCE
@_resampling(0)
@click.option("--worst", type=click.IntRange(min=0), default=5, show_default=True, help="How many pairs to list.")
@click.option(
    "--fail-under",
    multiple=True,
    metavar="METRIC=VALUE",
    callback=_gates.read_floors,
    help="End with exit code 3 if the metric is under this value. Several times for several metrics.",
)
@click.option("--fail-on-interval", is_flag=True,
              help="Hold the lower limit against --fail-under, not the value: with the confidence of --level from one "
                   "side, as --fail-if-worse does.")  # fmt: skip
@_READING
@_PRINTING
def evaluate(**options: Any) -> None:
    """Areas under the curve of one model, with intervals.

    The metrics that --metrics names, each class, and the pairs of classes that are separated worst, as far as these
    metrics need them. Intervals are closed-form unless --bootstrap asks for resamples. With --by also the slices of the
    rows, by the first metric: the one that is most surely worse than the rest comes first, and p-values and intervals
    allow for their number; --format csv then has the slices.

    A file that is too large for the memory is read in pieces, and values have certain bounds unless they are exact; the
    output says so. Then FILE may also be the address of files in a store, such as s3://bucket/folder.
    """
    from multiauc.cli._evaluate import evaluate_file  # noqa: PLC0415 - help and completion do not wait for it

    request = EvaluateRequest(**options)
    if request.fail_on_interval and not request.fail_under:
        raise click.UsageError("--fail-on-interval needs --fail-under, which says what the limit is held against")
    _run(evaluate_file, request)


@multiauc.command(
    context_settings=SETTINGS,
    epilog=_examples(
        "multiauc compare net.parquet forest.parquet linear.parquet --label y",
        "multiauc compare 'deep net=net.parquet' forest.parquet --label y --id row --metric hand_till",
        "multiauc compare all.csv --label y --scores 'net_*' --scores 'forest_*' --format csv",
        "multiauc compare net.parquet forest.parquet --label y --metric multiclass_roc --bootstrap 200",
        "multiauc compare net.parquet forest.parquet --label y --fail-if-worse 0.01",
    ),
)
@_FILES
@_DATA
@_INFERENCE
@_METRIC
@_resampling(0)
@click.option("--fail-if-worse", metavar="MARGIN", callback=_gates.read_margin,
              help="End with exit code 3 unless the first model is shown to be worse than each of the others by less "
                   "than this, with the confidence of --level from one side.")  # fmt: skip
@_PRINTING
def compare(**options: Any) -> None:
    """Compare models on the same rows, with paired tests.

    A model is a file, or some columns of one file (several --scores). p-values are also corrected for the number of
    comparisons. Intervals are closed-form unless --bootstrap asks for resamples; multiclass_roc has no others.
    """
    from multiauc.cli._compare import compare_files  # noqa: PLC0415

    _run(compare_files, CompareRequest(**options))


@multiauc.command(
    context_settings=SETTINGS,
    epilog=_examples(
        "multiauc roc net.parquet --label y",
        "multiauc roc net.parquet --label y --bootstrap 200 --format csv",
        "multiauc roc net.parquet --label y --kind one_vs_rest --plot roc.png",
    ),
)
@_FILE
@_DATA
@click.option(
    "--kind",
    type=click.Choice(["multiclass", *CURVE_KINDS]),
    default="multiclass",
    show_default=True,
    help="One curve for all pairs of classes, a curve for each class, or a curve for each pair.",
)
@click.option("--thresholds", type=click.IntRange(min=2), default=100, show_default=True, help="Of the one curve.")
@_LEVEL
@_resampling(0)
@click.option("--plot", type=click.Path(), metavar="PICTURE", help="Draw it: a .png, .svg or .pdf file.")
@_PRINTING
def roc(**options: Any) -> None:
    """The multi-class ROC curve, or the curves of classes or pairs.

    Prints areas; --format csv and json have the points too. --bootstrap gives the one curve an interval and a band.
    """
    from multiauc.cli._roc import compute_curves  # noqa: PLC0415

    _run(compute_curves, RocRequest(**options))


@multiauc.command(
    context_settings=SETTINGS,
    epilog=_examples(
        "multiauc decide net.parquet --label y --costs costs.csv",
        "multiauc decide linear.parquet --label y --costs costs.csv --groups user --decisions decisions.csv",
        "multiauc decide net.parquet --label y --costs costs.csv --judge net.parquet --format json",
    ),
)
@_FILE
@_DATA
@_costs(required=True)
@_GROUPS
@_LEVEL
@click.option("--judge", metavar="FILE", type=click.Path(),
              help="Other rows of the same columns to judge the rule by. "
                   "[default: cross-validation within FILE]")  # fmt: skip
@click.option("--decisions", metavar="OUT.CSV", type=click.Path(),
              help="Write the decision on each row, of the file of --judge if there is one.")  # fmt: skip
@_PRINTING
def decide(**options: Any) -> None:
    """Find the decisions that cost least, and say what they cost.

    A rule is fitted to the probabilities and classes of FILE: the smallest expected cost, by probabilities that are
    corrected if they need it. Beside it, the plain rules: the smallest expected cost by the probabilities as they are
    (bayes), and the largest probability (argmax), with paired intervals of the differences.
    """
    from multiauc.cli._decide import decide_file  # noqa: PLC0415

    _run(decide_file, DecideRequest(**options))


@multiauc.command(
    context_settings=SETTINGS,
    epilog=_examples(
        "multiauc report net.parquet --label y -o net.html",
        "multiauc report net.parquet forest.parquet linear.parquet --label y -o report.html --title 'Animals'",
        "multiauc report net.parquet forest.parquet --label y --costs costs.csv -o costs.html",
        "multiauc report net.parquet --label y --by region -o regions.html",
    ),
)
@_FILES
@_DATA
@_INFERENCE
@_resampling(None, "200, or fewer for many classes")
@_METRIC
@_METRICS
@_BY
@_costs()
@_output("report.html", "Where to write the page; - is standard output.")
@_FORCE
@click.option("--title", help="The title of the page.")
def report(**options: Any) -> None:
    """Write a page that says which model is best and which classes it confuses.

    One HTML file that works offline, for one model or several: summary with intervals, comparison with tests, pairs of
    classes as a heat map and in words, every class, the multi-class ROC curve with its band; with --costs also what
    decisions cost, and with --by how the models do on slices of the rows.
    """
    from multiauc.cli._report import report_on_files  # noqa: PLC0415

    _run(report_on_files, ReportRequest(**options))


@multiauc.command(context_settings=SETTINGS, epilog="\b\nExample:\n  $ multiauc demo --directory demo")
@click.option("--directory", type=click.Path(file_okay=False, path_type=Path), default=Path("multiauc-demo"),
              show_default=True, help="Where to write the files.")  # fmt: skip
@_FORCE
def demo(directory: Path, *, force: bool) -> None:
    """Write predictions of three made-up models, compare them, and write a report."""
    from multiauc.cli._demo import run_demo  # noqa: PLC0415

    run_demo(directory, force=force)


@multiauc.command(
    context_settings=SETTINGS,
    epilog='\b\nFor example in ~/.bashrc:\n  eval "$(multiauc completion bash)"\n'
    'in ~/.zshrc:\n  eval "$(multiauc completion zsh)"\n'
    "in ~/.config/fish/completions/multiauc.fish:\n  multiauc completion fish | source",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete commands, options and column names."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    emit(kind(multiauc, {}, "multiauc", "_MULTIAUC_COMPLETE").source() + "\n")


def _run(work: Callable[[Any], None], request: FileRequest) -> None:
    """Do what was asked, with so many threads."""
    if request.threads is not None:
        set_num_threads(request.threads)
    work(request)
