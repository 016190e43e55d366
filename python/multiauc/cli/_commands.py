"""The commands: what they are for, their options, and examples."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from multiauc import __version__
from multiauc._common import registry
from multiauc.cli import _gates, _requests
from multiauc.cli._problems import emit
from multiauc.cli._requests import SETTINGS, FileRequest, InferenceRequest, argument, column, command, option

# What the demo writes beside its data.
REPORT = "demo.html"
# Arguments and options of several commands.
FILE = argument(callback=_requests.require_one, metavar="FILE")
FILES = argument(metavar="[NAME=]FILE...")
METRIC = option(type=click.Choice(list(registry.METRICS)), default=registry.DEFAULT_METRIC, show=True)
METRICS = _requests.several(_requests.read_metrics, _requests.complete_metrics)
BY = _requests.several(lambda words: _requests.split_commas(words) or (), _requests.complete_columns)
CLIP = option(type=_requests.INSIDE_UNIT, metavar="P")
TOP_K = option(type=click.IntRange(min=1), metavar="K")


@click.group(
    context_settings=SETTINGS,
    epilog="\b\nExamples, with the files that `multiauc demo` writes:\n"
    "  $ multiauc evaluate net.parquet --label y --scores 'p_*'\n"
    "  $ multiauc compare net.parquet forest.parquet --label y\n"
    "  $ multiauc report net.parquet forest.parquet linear.parquet --label y -o report.html",
)
@click.version_option(__version__, prog_name="multiauc", message="%(prog)s %(version)s")
def multiauc() -> None:
    """Evaluate multi-class classifiers from files of predictions.

    Files are CSV, TSV, Parquet, Arrow/Feather or NPZ: a row per instance, a column with the true class and a column
    with the score for each class. Rows are counted from 1, without the header. To read several files with the same
    columns as one data set, pass a folder or a quoted pattern ('parts/*.parquet'). - is standard input.

    Exit codes: 0 success, 1 invalid data or values, 2 invalid command line, 3 a model failed --fail-under or
    --fail-if-worse, 130 stopped by Ctrl-C.
    """


@command(multiauc)
@dataclass(frozen=True, kw_only=True)
class EvaluateRequest(InferenceRequest):
    """Evaluate one model: AUCs and other metrics, with intervals.

    Prints the metrics, each class against the rest, and the worst separated pairs of classes. Intervals are analytic;
    pass --bootstrap to resample instead. --by adds slices of the rows, by the first metric, sorted by the evidence that
    a slice is worse, with p-values and intervals corrected for their number; --format csv then prints the slices.
    --runs averages over several trainings.

    A file that does not fit in memory is read in pieces; values then have guaranteed bounds unless they are exact, and
    the output says which. FILE may then also be a URL such as s3://bucket/folder.

    Attributes
    ----------
    row_id
        Column that identifies rows, to match them between --runs. [default: by order within each run]
    runs
        Column with the run (training, seed) of each row: evaluates the mean over runs, with standard errors from rows
        and runs.
    worst
        How many pairs to list.
    fail_under
        Exit with code 3 if the metric is below this value. Repeat for several metrics.
    fail_on_interval
        Compare --fail-under with the one-sided lower confidence limit at --level, not with the value.
    memory_limit
        Read the file in pieces with about this much memory, such as 512MB; none reads it whole. [default: whole, or
        1GiB if it would use more than a quarter of the free memory]
    checkpoint
        Read the file in pieces, and save the progress in FILE: if stopped, the same command resumes there.
    exact
        Read the file in pieces, in as many passes as exact values need.

    Examples
    --------
    $ multiauc evaluate net.parquet --label y --scores 'p_*'
    $ multiauc evaluate net.parquet --label y --metrics auc_mu,hand_till
    $ multiauc evaluate net.parquet --label y --groups user --level 0.9 --format markdown
    $ multiauc evaluate net.parquet --label y --by region
    $ multiauc evaluate net.parquet --label y --partition costs.csv -o net.json
    $ multiauc evaluate net.parquet --label y --fail-under auc_mu=0.9 --fail-on-interval
    $ multiauc evaluate net.parquet --label y --memory-limit 512MB --checkpoint net.checkpoint
    """

    may_predict = True
    work = "multiauc.cli._evaluate:evaluate_file"
    files: tuple[str, ...] = FILE
    metrics: tuple[str, ...] | None = METRICS
    folds: str | None = column()
    clip: float | None = CLIP
    k: int | None = TOP_K
    by: tuple[str, ...] = BY
    runs: str | None = column()
    row_id: str | None = column()
    worst: int = option(type=click.IntRange(min=0), default=5, show=True)
    fail_under: tuple[_gates.Floor, ...] = option(multiple=True, metavar="METRIC=VALUE", read=_gates.read_floors)
    fail_on_interval: bool = option(default=False, is_flag=True)
    memory_limit: int | str | None = option(metavar="SIZE", read=_requests.read_limit)
    checkpoint: str | None = option(metavar="FILE", type=click.Path())
    exact: bool = option(default=False, is_flag=True)


@command(multiauc)
@dataclass(frozen=True, kw_only=True)
class CompareRequest(InferenceRequest):
    """Compare models on the same rows, with paired tests.

    A model is a file, or some columns of one file (several --scores). p-values are corrected for the number of
    comparisons. Intervals are analytic; pass --bootstrap to resample instead, which multiclass_roc needs.

    Attributes
    ----------
    runs
        Column with the run (training, seed) of each row: the means over runs, with errors from rows and runs.
    fail_if_worse
        Exit with code 3 unless the data show that the first model is worse than each of the others by less than this
        margin (one-sided, at --level).

    Examples
    --------
    $ multiauc compare net.parquet forest.parquet linear.parquet --label y
    $ multiauc compare 'deep net=net.parquet' forest.parquet --label y --id row --metric hand_till
    $ multiauc compare all.csv --label y --scores 'net_*' --scores 'forest_*' --format csv
    $ multiauc compare net.parquet forest.parquet --label y --metric multiclass_roc --bootstrap 200
    $ multiauc compare net.parquet forest.parquet --label y --fail-if-worse 0.01
    """

    work = "multiauc.cli._compare:compare_files"
    files: tuple[str, ...] = FILES
    row_id: str | None = column()
    metric: str = METRIC
    folds: str | None = column()
    runs: str | None = column()
    clip: float | None = CLIP
    k: int | None = TOP_K
    fail_if_worse: float | None = option(metavar="MARGIN", read=_gates.read_margin)

    @property
    def may_predict(self) -> bool:  # type: ignore[override]
        """Whether predicted labels suffice."""
        return self.metric in registry.PREDICTION_METRICS


@command(multiauc)
@dataclass(frozen=True, kw_only=True)
class RocRequest(FileRequest):
    """Compute the multi-class ROC curve, or the curves of classes or pairs.

    Prints areas; --format csv and json include the points. --bootstrap adds an interval and a band to the multi-class
    curve.

    Attributes
    ----------
    kind
        One curve for all pairs of classes, one per class, or one per pair.
    thresholds
        The number of thresholds of the multi-class curve.
    bootstrap
        Number of bootstrap resamples; 0 for none.
    seed
        Seed of the random numbers.
    plot
        Plot the curves into a .png, .svg or .pdf file.

    Examples
    --------
    $ multiauc roc net.parquet --label y
    $ multiauc roc net.parquet --label y --bootstrap 200 --format csv
    $ multiauc roc net.parquet --label y --kind one_vs_rest --plot roc.png
    """

    work = "multiauc.cli._curves_and_costs:compute_curves"
    files: tuple[str, ...] = FILE
    kind: str = option(type=click.Choice(["multiclass", *registry.CURVE_KINDS]), default="multiclass", show=True)
    thresholds: int = option(type=click.IntRange(min=2), default=100, show=True)
    bootstrap: int = option(default=0, show=True, **_requests.RESAMPLES)
    seed: int = _requests.SEED
    plot: str | None = option(type=click.Path(), metavar="FILE")


@command(multiauc)
@dataclass(frozen=True, kw_only=True)
class DecideRequest(FileRequest):
    """Find the decision rule with the lowest cost, and estimate that cost.

    Fits a rule to the probabilities and classes of FILE: the smallest expected cost, with probabilities corrected if
    they need it. It is compared with two simple rules, the smallest expected cost by the probabilities as they are
    (bayes) and the largest probability (argmax), with paired intervals of the differences.

    Attributes
    ----------
    judge
        Other rows with the same columns to test the rule on. [default: cross-validation within FILE]
    decisions
        Write the predicted class of each row, of the --judge file if there is one.

    Examples
    --------
    $ multiauc decide net.parquet --label y --costs costs.csv
    $ multiauc decide linear.parquet --label y --costs costs.csv --groups user --decisions decisions.csv
    $ multiauc decide net.parquet --label y --costs costs.csv --judge net.parquet --format json
    """

    work = "multiauc.cli._curves_and_costs:decide_file"
    files: tuple[str, ...] = FILE
    costs: str = option(**_requests.COSTS, required=True)
    groups: str | None = column()
    judge: str | None = option(metavar="FILE", type=click.Path())
    decisions: str | None = option(metavar="OUT.CSV", type=click.Path())


@command(multiauc)
@dataclass(frozen=True, kw_only=True)
class ReportRequest(InferenceRequest):
    """Write an HTML report: which model is best, and which classes it confuses.

    One file that works offline, for one model or several: summary with intervals, comparison with tests, pairs of
    classes as a heat map and in words, confusion matrix, every class, the multi-class ROC curve with its band. --costs
    adds the cost of predictions, --by slices of the rows.

    Attributes
    ----------
    output
        Where to write the page; - is standard output.
    title
        The title of the page.

    Examples
    --------
    $ multiauc report net.parquet --label y -o net.html
    $ multiauc report net.parquet forest.parquet linear.parquet --label y -o report.html --title 'Animals'
    $ multiauc report net.parquet forest.parquet --label y --costs costs.csv -o costs.html
    $ multiauc report net.parquet --label y --by region -o regions.html
    """

    work = "multiauc.cli._compare:report_on_files"
    files: tuple[str, ...] = FILES
    row_id: str | None = column()
    bootstrap: int | None = option(show="200, or fewer for many classes", **_requests.RESAMPLES)
    metric: str = METRIC
    metrics: tuple[str, ...] | None = METRICS
    by: tuple[str, ...] = BY
    costs: str | None = option(**_requests.COSTS)
    style: str | None = None
    output: str = option("-o", type=click.Path(), default="report.html", show=True)
    title: str | None = option()


@multiauc.command(context_settings=SETTINGS, epilog="\b\nExample:\n  $ multiauc demo --directory demo")
@click.option("--directory", type=click.Path(file_okay=False, path_type=Path), default=Path("multiauc-demo"),
              show_default=True, help="Where to write the files.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite an existing file, unless it is an input.")
def demo(directory: Path, *, force: bool) -> None:
    """Write predictions of three simulated models, compare them, and write a report."""
    from multiauc.cli import _demo  # noqa: PLC0415

    files = _demo.write_files(directory, force=force, also=(REPORT,))
    CompareRequest(files=files, label="y").run()
    emit("\n")
    page: dict[str, Any] = {"output": str(directory / REPORT), "title": "Which animal is it?", "bootstrap": 200}
    ReportRequest(files=files, label="y", force=force, **page).run()
    here = shlex.quote(str(directory))
    emit(f"\nTry:\n  cd {here}\n  multiauc evaluate net.parquet --label y --by region\n")


@multiauc.command(
    context_settings=SETTINGS,
    epilog='\b\nFor example in ~/.bashrc:\n  eval "$(multiauc completion bash)"\n'
    'in ~/.zshrc:\n  eval "$(multiauc completion zsh)"\n'
    "in ~/.config/fish/completions/multiauc.fish:\n  multiauc completion fish | source",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the SHELL completion script for commands, options and column names."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    emit(kind(multiauc, {}, "multiauc", "_MULTIAUC_COMPLETE").source() + "\n")
