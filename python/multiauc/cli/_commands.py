"""The commands: what they are for, and examples."""

from __future__ import annotations

from pathlib import Path

import click

from multiauc import __version__
from multiauc.cli import _requests
from multiauc.cli._options import SETTINGS, command
from multiauc.cli._problems import emit

# The commands import what they do when they are called: help and completion do not wait for it.


@click.group(
    context_settings=SETTINGS,
    epilog="\b\nExamples, with the files that `multiauc demo` writes:\n"
    "  $ multiauc evaluate net.parquet --label y --scores 'p_*'\n"
    "  $ multiauc compare net.parquet forest.parquet --label y\n"
    "  $ multiauc report net.parquet forest.parquet linear.parquet --label y -o report.html",
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


@command(
    multiauc,
    _requests.EvaluateRequest,
    "multiauc evaluate net.parquet --label y --scores 'p_*'",
    "multiauc evaluate net.parquet --label y --metrics auc_mu,hand_till",
    "multiauc evaluate net.parquet --label y --groups user --level 0.9 --format markdown",
    "multiauc evaluate net.parquet --label y --by region",
    "multiauc evaluate net.parquet --label y --partition costs.csv -o net.json",
    "multiauc evaluate net.parquet --label y --fail-under auc_mu=0.9 --fail-on-interval",
    "multiauc evaluate net.parquet --label y --memory-limit 512MB --checkpoint net.checkpoint",
)
def evaluate(request: _requests.EvaluateRequest) -> None:
    """Areas under the curve of one model, with intervals.

    The metrics that --metrics names, each class, and the pairs of classes that are separated worst, as far as these
    metrics need them. Intervals are analytic unless --bootstrap asks for resamples. With --by also the slices of the
    rows, by the first metric: the one that is most surely worse than the rest comes first, and p-values and intervals
    allow for their number; --format csv then has the slices. With --runs the means over several trainings instead.

    A file that is too large for the memory is read in pieces, and values have guaranteed bounds unless they are exact;
    the output says so. Then FILE may also be the address of files in a store, such as s3://bucket/folder.
    """
    from multiauc.cli._evaluate import evaluate_file  # noqa: PLC0415

    evaluate_file(request)


@command(
    multiauc,
    _requests.CompareRequest,
    "multiauc compare net.parquet forest.parquet linear.parquet --label y",
    "multiauc compare 'deep net=net.parquet' forest.parquet --label y --id row --metric hand_till",
    "multiauc compare all.csv --label y --scores 'net_*' --scores 'forest_*' --format csv",
    "multiauc compare net.parquet forest.parquet --label y --metric multiclass_roc --bootstrap 200",
    "multiauc compare net.parquet forest.parquet --label y --fail-if-worse 0.01",
)
def compare(request: _requests.CompareRequest) -> None:
    """Compare models on the same rows, with paired tests.

    A model is a file, or some columns of one file (several --scores). p-values are also corrected for the number of
    comparisons. Intervals are analytic unless --bootstrap asks for resamples; multiclass_roc has no others.
    """
    from multiauc.cli._compare import compare_files  # noqa: PLC0415

    compare_files(request)


@command(
    multiauc,
    _requests.RocRequest,
    "multiauc roc net.parquet --label y",
    "multiauc roc net.parquet --label y --bootstrap 200 --format csv",
    "multiauc roc net.parquet --label y --kind one_vs_rest --plot roc.png",
)
def roc(request: _requests.RocRequest) -> None:
    """The multi-class ROC curve, or the curves of classes or pairs.

    Prints areas; --format csv and json have the points too. --bootstrap gives the one curve an interval and a band.
    """
    from multiauc.cli._roc import compute_curves  # noqa: PLC0415

    compute_curves(request)


@command(
    multiauc,
    _requests.DecideRequest,
    "multiauc decide net.parquet --label y --costs costs.csv",
    "multiauc decide linear.parquet --label y --costs costs.csv --groups user --decisions decisions.csv",
    "multiauc decide net.parquet --label y --costs costs.csv --judge net.parquet --format json",
)
def decide(request: _requests.DecideRequest) -> None:
    """Find the decisions that cost least, and say what they cost.

    A rule is fitted to the probabilities and classes of FILE: the smallest expected cost, by probabilities that are
    corrected if they need it. Beside it, the plain rules: the smallest expected cost by the probabilities as they are
    (bayes), and the largest probability (argmax), with paired intervals of the differences.
    """
    from multiauc.cli._decide import decide_file  # noqa: PLC0415

    decide_file(request)


@command(
    multiauc,
    _requests.ReportRequest,
    "multiauc report net.parquet --label y -o net.html",
    "multiauc report net.parquet forest.parquet linear.parquet --label y -o report.html --title 'Animals'",
    "multiauc report net.parquet forest.parquet --label y --costs costs.csv -o costs.html",
    "multiauc report net.parquet --label y --by region -o regions.html",
)
def report(request: _requests.ReportRequest) -> None:
    """Write a page that says which model is best and which classes it confuses.

    One HTML file that works offline, for one model or several: summary with intervals, comparison with tests, pairs of
    classes as a heat map and in words, every class, the multi-class ROC curve with its band; with --costs also what
    decisions cost, and with --by how the models do on slices of the rows.
    """
    from multiauc.cli._report import report_on_files  # noqa: PLC0415

    report_on_files(request)


@multiauc.command(context_settings=SETTINGS, epilog="\b\nExample:\n  $ multiauc demo --directory demo")
@click.option("--directory", type=click.Path(file_okay=False, path_type=Path), default=Path("multiauc-demo"),
              show_default=True, help="Where to write the files.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace a file that is there already, unless it is an input.")
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
