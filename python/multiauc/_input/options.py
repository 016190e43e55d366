"""The options of all functions: each is checked here, and read once into what the core takes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.registry import CLOSED_FORM_METRICS, METRICS, metrics_with_option, natural_sampling
from multiauc._common.wording import counted, described, listing, one_of
from multiauc._input.arrays import as_float64, as_labels
from multiauc._input.labels import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.sample import ClassedRows, Sample

PAIR_WEIGHTS = ("size_product", "size_sum")
SAMPLINGS = ("stratified", "iid")
SCOPES = ("shared", "class", "pair")
CENTERS = ("intercept", "projection")
MOST_THRESHOLDS = 65_535
NO_OPTIONS = _rust.MetricOptions()

# How far W and its transpose may differ, relative to the largest entry: room for rounding in a computed matrix.
ASYMMETRY_FROM_ROUNDING = 1e-12


def read_metric(metric: Any) -> str:
    """The name of a metric that has a closed form."""
    return one_of("metric", metric, CLOSED_FORM_METRICS)


def read_metrics(metrics: Any, accepted: tuple[str, ...]) -> tuple[str, ...]:
    """Names of metrics in the order given, each once."""
    if isinstance(metrics, str):
        raise TypeError(f"metrics must be a sequence of names; got {metrics!r}, for one metric write ({metrics!r},)")
    names = tuple(one_of("metrics", metric, accepted) for metric in metrics)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"metrics must name one metric or more, each once; got {list(metrics)!r}")
    return names


def refuse_idle_options(metrics: tuple[str, ...], **options: Any) -> None:
    """Raise if an option was given that none of the metrics depends on."""
    for option, value in options.items():
        if value is not None and not any(option in METRICS[metric].options for metric in metrics):
            accepted = listing(metrics_with_option(option))
            raise ValueError(f"{option} has no meaning for {_asked_for(metrics)}; it has for {accepted}")


def read_sampling(sampling: Any, metrics: tuple[str, ...]) -> str:
    """Whether class sizes are fixed or random; by default as is natural for the metrics."""
    return natural_sampling(metrics) if sampling is None else one_of("sampling", sampling, SAMPLINGS)


def take_one_score(metrics: tuple[str, ...]) -> bool:
    """Whether the metrics rank rows by one score, not by one for every class; they cannot be of both kinds."""
    kinds = {METRICS[metric].has_class_scores for metric in metrics}
    if len(kinds) > 1:
        alone = tuple(metric for metric in metrics if not METRICS[metric].has_class_scores)
        raise ValueError(
            f"metrics must all take a score per class, or all take one score per row as {listing(alone)} does; "
            f"got {list(metrics)!r}: evaluate them one after the other"
        )
    return kinds == {False}


def refuse_weights(metrics: tuple[str, ...], sample_weight: Any) -> None:
    """Raise if rows have weights and one of the metrics is defined for rows of equal weight only."""
    unweighted = tuple(metric for metric in metrics if not METRICS[metric].has_weights)
    if sample_weight is not None and unweighted:
        raise ValueError(
            f"sample_weight cannot be used with {_asked_for(unweighted)}: all rows have equal weight there"
        )


def read_metric_options(
    sample: Sample, *, partition: Any = None, pair_weights: Any = None, clip: Any = None, k: Any = None
) -> _rust.MetricOptions:
    """The options that metrics depend on."""
    if partition is pair_weights is clip is k is None:
        return NO_OPTIONS
    return _rust.MetricOptions(
        read_partition(partition, sample.n_classes),
        read_pair_weights(pair_weights, sample),
        read_clip(clip),
        read_k(k, sample.n_classes),
    )


def read_clip(clip: Any) -> float | None:
    """The smallest probability that counts as such, or None."""
    if clip is None:
        return None
    found = read_positive("clip", clip)
    if found >= 1.0:
        raise ValueError(f"clip must be a probability between 0 and 1, such as 1e-15; got {clip!r}")
    return found


def read_k(k: Any, n_classes: int) -> int | None:
    """How many of the highest scores count, or None."""
    if k is None:
        return None
    found = positive_integer("k", k)
    if found > n_classes:
        raise ValueError(f"k must be at most the number of classes, {n_classes}; got {found}")
    return found


def _asked_for(metrics: tuple[str, ...]) -> str:
    return f"metric={metrics[0]!r}" if len(metrics) == 1 else f"metrics={list(metrics)!r}"


def read_partition(partition: Any, n_classes: int) -> NDArray[np.float64] | None:
    """The partition matrix as K x K float64, or None."""
    if partition is None:
        return None
    # A copy, because results keep it.
    costs = _class_by_class("partition", partition, n_classes).copy()
    if not np.isfinite(costs).all():
        i, j = np.argwhere(~np.isfinite(costs))[0].tolist()
        raise ValueError(f"partition must be finite; got {costs[i, j]} at [{i}, {j}]")
    return costs


def read_costs(costs: Any, n_classes: int) -> NDArray[np.float64]:
    """A copy of the costs of predicting the class of the row when the truth is that of the column, K x K."""
    matrix = _class_by_class("costs", costs, n_classes).copy()
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise ValueError(f"costs must be finite; got {matrix[i, j]} at [{i}, {j}]")
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
        return one_of("pair_weights", pair_weights, PAIR_WEIGHTS)
    weights = _class_by_class("pair_weights", pair_weights, sample.n_classes).copy()
    np.fill_diagonal(weights, 0.0)
    wrong = ~((weights >= 0.0) & np.isfinite(weights))
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        raise ValueError(f"pair_weights must be finite and not negative; got {weights[i, j]} at [{i}, {j}]")
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
            f"got a sum of {total} over {counted(int(present.sum()), 'class', 'classes')}"
        )
    return np.triu(weights) + np.triu(weights).T


def _class_by_class(argument: str, value: Any, n_classes: int) -> NDArray[np.float64]:
    matrix = as_float64(argument, value)
    if matrix.shape != (n_classes, n_classes):
        accepted = " or one of " + ", ".join(map(repr, PAIR_WEIGHTS)) if argument == "pair_weights" else ""
        raise ValueError(
            f"{argument} must be a {n_classes} x {n_classes} array, a row and a column per class in the order of "
            f"labels{accepted}; got shape {matrix.shape}"
        )
    return matrix


def read_level(level: Any) -> float:
    """The probability beyond each end of an interval of this level."""
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, (float, int, np.floating, np.integer)):
        raise TypeError(f"level must be a number between 0 and 1; got {described(level)}")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, such as 0.95; got {level!r}")
    return (1.0 - float(level)) / 2.0


def read_groups(groups: Any, n_rows: int, argument: str = "groups") -> NDArray[np.uint32] | None:
    """The number of each row's group, or of its fold."""
    if groups is None:
        return None
    labels = as_labels(argument, groups)
    if labels.ndim != 1 or len(labels) != n_rows:
        found = f"shape {labels.shape}" if labels.ndim else described(groups)
        raise ValueError(f"{argument} must have one entry per row, {counted(n_rows, 'row')}; got {found}")
    if labels.dtype.kind == "O":
        codes, distinct = _number_objects(argument, labels)
    else:
        values, codes = _number_integers(labels) if labels.dtype.kind in "iu" else _numbered(labels)
        # Nothing else can be missing; of whole numbers there may be many.
        distinct = values[:2].tolist() if labels.dtype.kind in "iubUS" else values.tolist()
    missing = next((label for label in distinct if is_missing(label)), None)
    if missing is not None or None in distinct:
        raise ValueError(f"{argument} must name the {argument[:-1]} of every row; got {missing!r} for some")
    if len(distinct) < 2:
        raise ValueError(f"{argument} must have at least two distinct {argument}; all rows are in {distinct[0]!r}")
    return codes.astype(np.uint32, copy=False)


def _numbered(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """(distinct labels, the number of each label among them), in increasing order."""
    return np.unique(labels, return_inverse=True)


def _number_integers(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same for integers: without sorting, where they lie close together."""
    lowest = labels.min(initial=np.iinfo(labels.dtype).max)
    span = int(labels.max(initial=np.iinfo(labels.dtype).min)) - int(lowest)
    # Differences of small integers of both signs may not fit.
    if not 0 <= span <= min(4 * len(labels), np.iinfo(labels.dtype).max):
        return _numbered(labels)
    offsets = (labels - lowest).astype(np.intp, copy=False)
    is_there = np.zeros(span + 1, dtype=bool)
    is_there[offsets] = True
    numbers = np.cumsum(is_there, dtype=np.uint32) - np.uint32(1)
    return np.flatnonzero(is_there).astype(labels.dtype) + lowest, numbers[offsets]


def _number_objects(argument: str, labels: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    numbers: dict[Any, int] = {}
    try:
        codes = np.fromiter((numbers.setdefault(label, len(numbers)) for label in labels), np.int64, len(labels))
    except TypeError as error:
        raise TypeError(f"{argument} must hold hashable names such as numbers or strings; {error}") from None
    return codes, list(numbers)


def read_rng(rng: Any) -> np.random.Generator:
    """The generator itself, or a new one from a seed or from the system."""
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    if isinstance(rng, (bool, np.bool_)) or not hasattr(rng, "__index__"):
        raise TypeError(f"rng must be an int, a numpy.random.Generator or None; got {described(rng)}")
    seed = operator.index(rng)
    if seed < 0:
        raise ValueError(f"rng must not be negative as a seed; got {seed}")
    return np.random.default_rng(seed)


def read_region(max_fpr: Any, min_tpr: Any) -> tuple[str, float]:
    """The part of ROC curves that counts: "max_fpr" or "min_tpr", and the rate."""
    if (max_fpr is None) == (min_tpr is None):
        found = "neither" if max_fpr is None else "both"
        raise ValueError(f"either max_fpr or min_tpr must be given; got {found}")
    name, value = ("max_fpr", max_fpr) if min_tpr is None else ("min_tpr", min_tpr)
    accepted = "above 0 and at most 1" if min_tpr is None else "at least 0 and below 1"
    if isinstance(value, (str, bool, np.bool_)):
        raise TypeError(f"{name} must be a number {accepted}; got {value!r}")
    try:
        rate = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number {accepted}; got {described(value)}") from None
    if not (0.0 < rate <= 1.0 if min_tpr is None else 0.0 <= rate < 1.0):
        raise ValueError(f"{name} must be {accepted}; got {value!r}")
    return name, rate


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


def read_rate_weights(rate_weights: Any, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Weights of the true-positive and of the false-positive rates at [c, d], None where all are equal."""
    if rate_weights is None:
        return None
    if not isinstance(rate_weights, (tuple, list)) or len(rate_weights) != 2:
        raise TypeError(
            "rate_weights must be a tuple (tp, fp) of two arrays, a row and a column per class; "
            f"got {described(rate_weights)}"
        )
    first, second = (
        _positive_matrix(f"rate_weights[{position}]", matrix, n_classes) for position, matrix in enumerate(rate_weights)
    )
    return first, second


def _positive_matrix(argument: str, matrix: Any, n_classes: int) -> NDArray[np.float64]:
    weights = as_float64(argument, matrix)
    if weights.shape != (n_classes, n_classes):
        raise ValueError(
            f"{argument} must be a {n_classes} x {n_classes} array, a row and a column per class in the order of "
            f"`labels`; got shape {weights.shape}"
        )
    weights = weights.copy()
    np.fill_diagonal(weights, 1.0)
    wrong = ~((weights > 0.0) & np.isfinite(weights))
    if wrong.any():
        c, d = np.argwhere(wrong)[0].tolist()
        raise ValueError(f"{argument} must be positive and finite; got {weights[c, d]} at [{c}, {d}]")
    return weights


def read_non_negative(argument: str, value: Any, largest: float | None = None) -> float:
    """A finite number that is not negative and not above the largest, if there is one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} must be a number; got {described(value)}") from None
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{argument} must be finite and not negative; got {value!r}")
    if largest is not None and number > largest:
        raise ValueError(f"{argument} must be at most {largest:g}; got {value!r}")
    return number


def read_share(argument: str, value: Any) -> float:
    """A number from 0 to 1."""
    share = read_non_negative(argument, value)
    if share > 1.0:
        raise ValueError(f"{argument} must be between 0 and 1; got {value!r}")
    return share


def read_positive(argument: str, value: Any) -> float:
    """A finite number above 0."""
    number = read_non_negative(argument, value)
    if number == 0.0:
        raise ValueError(f"{argument} must be positive; got {value!r}")
    return number


def positive_integer(argument: str, value: Any) -> int:
    """A whole number of at least one."""
    number = whole_number(argument, value, "a positive integer")
    if number < 1:
        raise ValueError(f"{argument} must be a positive integer; got {number}")
    return number


def read_flag(argument: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{argument} must be True or False; got {described(value)}")
    return bool(value)


def whole_number(argument: str, value: Any, accepted: str) -> int:
    """An integer that is not a bool."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} must be {accepted}; got {described(value)}")
    return operator.index(value)
