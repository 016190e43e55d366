"""Detect score columns that seem to belong to other classes than assumed.

The core looks for another order that fits better and for AUCs below 1/2, both beyond chance
(``rust/multiauc/src/inference/column_order.rs`` has the argument); here are the rows to look at, and the words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.hints import warn
from multiauc._common.wording import listing, pluralize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.sample import Sample

#: Rows of all classes together, and of each class at least, that are looked at where the shares are not known yet.
ROWS_LOOKED_AT = 10_000
ROWS_OF_A_CLASS = 50
#: Where the classes of the columns come from, in words.
ORIGINS = {"labels": "labels=", "names": "the names of the columns", "sorted": "the sorted labels"}
#: Beyond this, a message gives neither all the columns nor the order of all the classes.
SHOWN_COLUMNS = 3
SHOWN_ORDER = 8


class ColumnOrderWarning(UserWarning):
    """The score columns seem to belong to other classes than assumed.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["low", "mid", "top"], size=300)
    >>> y_score = rng.random((300, 3)) + (y_true[:, None] == ["top", "mid", "low"])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = multiauc.evaluate(y_true, y_score)
    >>> caught[0].category is multiauc.ColumnOrderWarning
    True
    >>> result.notes[0].partition("; ")[0]
    "the column used for 'low' fits 'top' better, that for 'top' fits 'low'"
    >>> result.notes[0].partition("perhaps ")[2]
    "labels=['top', 'mid', 'low']"
    """


def warn_of_order(note: str | None) -> None:
    """Warn, if there is a note."""
    if note is not None:
        warn(note, ColumnOrderWarning)


def column_order_note(
    sample: Sample,
    groups: NDArray[np.uint32] | None,
    shares: NDArray[np.float64] | None = None,
    folds: NDArray[np.uint32] | None = None,
) -> str | None:
    """A sentence if the columns seem to be in another order.

    `shares` are A(j|k) of all rows, where they are known. With `folds`, rows count by their ranks within their fold.
    """
    rows = _some_rows(sample) if shares is None else slice(None)
    weights = None if sample.weights is None else sample.weights[rows]
    numbers = None if groups is None else groups[rows]
    scores: NDArray[Any] = sample.scores[rows]
    if folds is not None and shares is None:
        scores = _rank_within(folds[rows], scores)
    looked_at = _rust.Sample(scores, sample.codes[rows], weights, numbers)
    totals = sample.rows.astype(np.float64)
    try:
        shares = _rust.pair_matrix(looked_at, "hand_till") if shares is None else shares
        if sample.weights is not None:
            _, totals = _rust.class_sizes(sample.codes, sample.weights / sample.weights.max(), sample.n_classes)
    except ValueError:  # weights that no pair can be counted with, but for which there is the curve
        return None
    better, most_below = _rust.check_column_order(looked_at, np.ascontiguousarray(shares), totals)
    return _sentence(sample, dict(better), most_below=most_below) if better or most_below else None


def _some_rows(sample: Sample) -> Any:
    """Up to a number of rows of each class (of positive weight), spread over all rows of the class."""
    most = max(ROWS_OF_A_CLASS, ROWS_LOOKED_AT // sample.n_classes)
    sizes = sample.rows
    if sizes.max() <= most:
        return slice(None)
    kept = None if sample.weights is None else np.flatnonzero(sample.weights)
    by_class = np.argsort(sample.codes if kept is None else sample.codes[kept], kind="stable")
    taken = [
        end - size + np.arange(min(size, most)) * size // min(size, most)
        for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True)
        if size
    ]
    rows = np.sort(by_class[np.concatenate(taken)])
    return rows if kept is None else kept[rows]


def _rank_within(folds: NDArray[np.uint32], scores: NDArray[Any]) -> NDArray[np.float64]:
    """The share of the rows of its fold that each score is above (ties half), column by column.

    Models of different folds have different scales. In the right order the mean of a class in its own column is at
    least 1/2 in every fold, whatever the share of the class among its rows, and that of other classes at most 1/2.
    """
    ranks = np.empty(scores.shape)
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        for j in range(scores.shape[1]):
            _, place, times = np.unique(scores[rows, j], return_inverse=True, return_counts=True)
            ranks[rows, j] = ((np.cumsum(times) - times / 2) / len(rows))[place]
    return ranks


def _sentence(sample: Sample, others: dict[int, int], *, most_below: bool) -> str:
    if sample.has_one_score:
        first, second = sample.labels
        return (
            f"the scores are higher for {first!r} than for {second!r}, but were used as scores of {second!r}, "
            f"the second of {ORIGINS[sample.named_by]}: if they are not, pass labels=[{second!r}, {first!r}]"
        )
    facts = ["most classes have a one-vs-rest AUC below 1/2"] if most_below else []
    if others:
        facts.append(_fits(sample.labels, others))
    return f"{' and '.join(facts)}; {_cure(sample, others)}"


def _fits(labels: list[Any], others: dict[int, int]) -> str:
    pairs = [(labels[j], labels[k]) for j, k in others.items()]
    (taken, better), *more = pairs[:SHOWN_COLUMNS]
    text = f"the column used for {taken!r} fits {better!r} better"
    text += "".join(f", that for {taken!r} fits {better!r}" for taken, better in more)
    return text + (f", and {pluralize(len(pairs) - SHOWN_COLUMNS, 'other')}" if len(pairs) > SHOWN_COLUMNS else "")


def _cure(sample: Sample, others: dict[int, int]) -> str:
    if sample.named_by == "labels":
        return "check that labels= has the classes in the order of the columns"
    advice = "pass labels= with the classes in the order of the columns"
    if sample.named_by == "names":
        return (
            "the column names were used as classes: if they are wrong, rename the columns, "
            "or pass the scores as an array and labels= with the classes in the order of the columns"
        )
    if others and sample.n_classes <= SHOWN_ORDER:
        order = [sample.labels[others.get(j, j)] for j in range(sample.n_classes)]
        advice += f", perhaps labels=[{listing(order)}]"
    return f"the columns were assumed to be in the sorted order of the labels: {advice}"
