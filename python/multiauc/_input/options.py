"""The options of all functions: each is checked here, and read once into what the core takes."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common import registry, wording
from multiauc._input import labels as row_labels
from multiauc._input.arrays import as_float64, as_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.sample import ClassedRows, Sample

PAIR_WEIGHTS = ("size_product", "size_sum")
SAMPLINGS = ("stratified", "iid")
SCOPES = ("shared", "class", "pair")
CENTERS = ("intercept", "projection")
MOST_THRESHOLDS = 65_535
NO_OPTIONS = _rust.MetricOptions()

#: What the entries of matrices can be asked to be: the least number, and whether it is one of them.
ENTRIES = {"finite": (-np.inf, False), "finite and not negative": (0.0, True), "positive and finite": (0.0, False)}
# How far W and its transpose may differ, relative to the largest entry, because of rounding.
ASYMMETRY_FROM_ROUNDING = 1e-12


def read_metric(metric: Any) -> str:
    """The name of a metric with analytic standard errors."""
    return wording.one_of("metric", metric, registry.ANALYTIC_METRICS)


def read_metrics(metrics: Any, accepted: tuple[str, ...]) -> tuple[str, ...]:
    """Names of metrics in the order given, each once."""
    if isinstance(metrics, str):
        raise TypeError(f"metrics must be a sequence of names; got {metrics!r}, for one metric write ({metrics!r},)")
    names = tuple(wording.one_of("metrics", metric, accepted) for metric in metrics)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"metrics must name one metric or more, each once; got {list(metrics)!r}")
    return names


def refuse_idle_options(metrics: tuple[str, ...], **options: Any) -> None:
    """Raise if an option was given that none of the metrics depends on."""
    for option, value in options.items():
        if value is not None and not any(option in registry.METRICS[metric].options for metric in metrics):
            accepted = wording.listing(registry.metrics_with_option(option))
            raise ValueError(f"{option} has no meaning for {_name_argument(metrics)}; it has for {accepted}")


def refuse_weights(metrics: tuple[str, ...], sample_weight: Any) -> None:
    """Raise if rows have weights and one of the metrics is defined for rows of equal weight only."""
    if sample_weight is None:
        return
    unweighted = tuple(metric for metric in metrics if not registry.METRICS[metric].has_weights)
    if unweighted:
        named = _name_argument(unweighted)
        raise ValueError(f"sample_weight cannot be used with {named}: all rows have equal weight there")


def _name_argument(metrics: tuple[str, ...]) -> str:
    return f"metric={metrics[0]!r}" if len(metrics) == 1 else f"metrics={list(metrics)!r}"


def read_sampling(sampling: Any, metrics: tuple[str, ...]) -> str:
    """Whether class sizes are fixed or random; by default as is natural for the metrics."""
    return registry.natural_sampling(metrics) if sampling is None else wording.one_of("sampling", sampling, SAMPLINGS)


def take_one_score(metrics: tuple[str, ...]) -> bool:
    """Whether the metrics rank rows by one score, not by one for every class; they cannot be of both kinds."""
    alone = tuple(metric for metric in metrics if not registry.METRICS[metric].has_class_scores)
    if 0 < len(alone) < len(metrics):
        raise ValueError(
            f"metrics must all take a score per class, or all take one score per row as {wording.listing(alone)} does; "
            f"got {list(metrics)!r}: evaluate them one after the other"
        )
    return bool(alone)


def read_metric_options(
    sample: Sample, *, partition: Any = None, pair_weights: Any = None, clip: Any = None, k: Any = None
) -> _rust.MetricOptions:
    """The options that metrics depend on: a matrix, how pairs count, the smallest probability, the highest scores."""
    if partition is pair_weights is clip is k is None:
        return NO_OPTIONS
    costs, weights = read_partition(partition, sample.n_classes), read_pair_weights(pair_weights, sample)
    smallest = None if clip is None else read_number("clip", clip, 0.0, 1.0)
    highest = None if k is None else positive_integer("k", k)
    if highest is not None and highest > sample.n_classes:
        raise ValueError(f"k must be at most the number of classes, {sample.n_classes}; got {highest}")
    return _rust.MetricOptions(costs, weights, smallest, highest)


def read_partition(partition: Any, n_classes: int) -> NDArray[np.float64] | None:
    """The partition matrix as K x K float64, or None."""
    return None if partition is None else _read_matrix("partition", partition, n_classes, "finite")


def read_costs(costs: Any, n_classes: int) -> NDArray[np.float64]:
    """A copy of the costs of predicting the class of the row when the truth is that of the column, K x K."""
    matrix = _read_matrix("costs", costs, n_classes, "finite")
    if not (matrix > np.diag(matrix)).any():
        raise ValueError(
            "costs must make some error cost more than the right prediction, costs[i, j] > costs[j, j]; "
            "got none that does: rows are predictions and columns the truth"
        )
    return matrix


def read_pair_weights(pair_weights: Any, sample: ClassedRows) -> str | NDArray[np.float64] | None:
    """The weighting of the pairs: None, the name of one, or a symmetric K x K array with a zero diagonal."""
    if pair_weights is None:
        return None
    if isinstance(pair_weights, str):
        return wording.one_of("pair_weights", pair_weights, PAIR_WEIGHTS)
    accepted = " or one of " + ", ".join(map(repr, PAIR_WEIGHTS))
    weights = _read_matrix(
        "pair_weights", pair_weights, sample.n_classes, "finite and not negative", diagonal=0.0, instead=accepted
    )
    asymmetry = np.abs(weights - weights.T)
    if asymmetry.max() > ASYMMETRY_FROM_ROUNDING * weights.max():
        i, j = np.unravel_index(asymmetry.argmax(), asymmetry.shape)
        raise ValueError(
            f"pair_weights must be symmetric; got {weights[i, j]} at [{i}, {j}] but {weights[j, i]} at [{j}, {i}]"
        )
    present = sample.rows > 0
    with np.errstate(over="ignore"):
        total = weights[np.ix_(present, present)].sum()
    if not 0.0 < total < np.inf:
        raise ValueError(
            "pair_weights must have a positive and finite sum over the pairs of classes that have rows; "
            f"got a sum of {total} over {wording.pluralize(int(present.sum()), 'class', 'classes')}"
        )
    return np.triu(weights) + np.triu(weights).T


def read_rate_weights(rate_weights: Any, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Weights of the true-positive and of the false-positive rates at [c, d], None where all are equal."""
    if rate_weights is None:
        return None
    if not isinstance(rate_weights, (tuple, list)) or len(rate_weights) != 2:
        raise TypeError(
            "rate_weights must be a tuple (tp, fp) of two arrays, a row and a column per class; "
            f"got {wording.describe_type(rate_weights)}"
        )
    first, second = (
        _read_matrix(f"rate_weights[{k}]", matrix, n_classes, "positive and finite", diagonal=1.0)
        for k, matrix in enumerate(rate_weights)
    )
    return first, second


def _read_matrix(
    argument: str, value: Any, n_classes: int, wanted: str, *, diagonal: float | None = None, instead: str = ""
) -> NDArray[np.float64]:
    """A copy of a K x K array whose entries are as wanted; results keep it. `diagonal` replaces what is there."""
    matrix = as_float64(argument, value).copy()
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"{argument} must be a {n_classes} x {n_classes} array, a row and a column per class in the order of "
            f"labels{instead}; got shape {matrix.shape}"
        )
    if diagonal is not None:
        np.fill_diagonal(matrix, diagonal)
    check_entries(argument, matrix, wanted)
    return matrix


def check_entries(argument: str, matrix: NDArray[np.float64], wanted: str) -> None:
    """Raise unless all entries are as wanted."""
    least, is_allowed = ENTRIES[wanted]
    wrong = np.argwhere(~(((matrix > least) | ((matrix == least) & is_allowed)) & np.isfinite(matrix)))
    if len(wrong):
        i, j = wrong[0].tolist()
        raise ValueError(f"{argument} must be {wanted}; got {matrix[i, j]} at [{i}, {j}]")


def read_level(level: Any) -> float:
    """The probability beyond each end of an interval of this level."""
    return (1.0 - read_number("level", level, 0.0, 1.0)) / 2.0


def read_groups(groups: Any, n_rows: int, argument: str = "groups") -> NDArray[np.uint32] | None:
    """The number of each row's group, or of its fold."""
    if groups is None:
        return None
    labels = as_labels(argument, groups)
    if labels.ndim != 1 or len(labels) != n_rows:
        found = f"shape {labels.shape}" if labels.ndim else wording.describe_type(groups)
        raise ValueError(f"{argument} must have one entry per row, {wording.pluralize(n_rows, 'row')}; got {found}")
    codes: NDArray[Any]
    if labels.dtype.kind == "O":
        distinct, codes, _ = row_labels.number_objects(argument, labels.tolist())
    elif labels.dtype.kind in "iu" and labels.dtype.itemsize <= 8:
        codes, first_rows, _ = _rust.code_integers(row_labels.as_readable(labels), n_rows)
        distinct = labels[first_rows[:2]].tolist()
    else:
        values, codes = np.unique(labels, return_inverse=True)
        distinct = values.tolist()
    missing = next((label for label in distinct if row_labels.is_missing(label)), None)
    if missing is not None or None in distinct:
        raise ValueError(f"{argument} must name the {argument[:-1]} of every row; got {missing!r} for some")
    if len(distinct) < 2:
        raise ValueError(f"{argument} must have at least two distinct {argument}; all rows are in {distinct[0]!r}")
    return codes.astype(np.uint32, copy=False)


def read_rng(rng: Any) -> np.random.Generator:
    """The generator itself, or a new one from a seed or from the system."""
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    seed = whole_number("rng", rng, "an int, a numpy.random.Generator or None")
    if seed < 0:
        raise ValueError(f"rng must not be negative as a seed; got {seed}")
    return np.random.default_rng(seed)


def read_region(max_fpr: Any, min_tpr: Any) -> tuple[str, float]:
    """The part of ROC curves that counts: "max_fpr" or "min_tpr", and the rate."""
    if (max_fpr is None) == (min_tpr is None):
        found = "neither" if max_fpr is None else "both"
        raise ValueError(f"either max_fpr or min_tpr must be passed; got {found}")
    name, value = ("max_fpr", max_fpr) if min_tpr is None else ("min_tpr", min_tpr)
    return name, read_number(name, value, 0.0, 1.0, "(]" if min_tpr is None else "[)")


def read_thresholds(thresholds: Any) -> int | NDArray[np.float64]:
    """How many thresholds, or which."""
    if np.ndim(thresholds) == 0:
        count = whole_number("thresholds", thresholds, "a number of thresholds or a falling array of them")
        if not 1 <= count <= MOST_THRESHOLDS:
            raise ValueError(f"thresholds must be between 1 and {MOST_THRESHOLDS}; got {count}")
        return count
    values = as_float64("thresholds", thresholds)
    if values.ndim != 1 or not 1 <= values.size <= MOST_THRESHOLDS:
        raise ValueError(
            f"thresholds must be a number, or a one-dimensional array of 1 to {MOST_THRESHOLDS} thresholds; "
            f"got shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"thresholds must be finite; got {values[~np.isfinite(values)][0]}")
    rising = np.flatnonzero(np.diff(values) >= 0)
    if rising.size:
        k = int(rising[0])
        raise ValueError(f"thresholds must fall strictly; got {values[k]} followed by {values[k + 1]}")
    return values


def read_number(argument: str, value: Any, low: float, high: float = math.inf, ends: str = "()") -> float:
    """A number between two others; `ends` says as in mathematics whether these are among them: "[" and "]" do."""
    least = "" if low == -math.inf else f" {'above' if ends[0] == '(' else 'of at least'} {low:g}"
    most = f"{'below' if ends[1] == ')' else 'at most'} {high:g}"
    accepted = f"a finite number{least}" if high == math.inf else f"a number{least} and {most}"
    try:
        number = float("nan" if isinstance(value, (str, bool, np.bool_)) else value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) and not isinstance(value, (float, np.floating)):
        raise TypeError(f"{argument} must be {accepted}; got {wording.describe_type(value)}")
    is_inside = low < number < high or (number == low and ends[0] == "[") or (number == high and ends[1] == "]")
    if not is_inside:
        raise ValueError(f"{argument} must be {accepted}; got {value!r}")
    return number


def positive_integer(argument: str, value: Any) -> int:
    """A whole number of at least one."""
    number = whole_number(argument, value, "a positive integer")
    if number < 1:
        raise ValueError(f"{argument} must be a positive integer; got {number}")
    return number


def whole_number(argument: str, value: Any, accepted: str) -> int:
    """An integer that is not a bool."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} must be {accepted}; got {wording.describe_type(value)}")
    return operator.index(value)


def read_flag(argument: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{argument} must be True or False; got {wording.describe_type(value)}")
    return bool(value)
