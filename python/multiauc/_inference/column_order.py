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
    known = None if shares is None else np.ascontiguousarray(shares)
    better, most_below = _rust.check_column_order(sample.arguments(groups), folds, known)
    return _sentence(sample, dict(better), most_below=most_below) if better or most_below else None


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
