"""What docstrings say of parameters that many functions share, written once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Documented = TypeVar("Documented", bound="type | Callable[..., Any]")

_TEXTS = {
    "y_true": """\
y_true : array-like of shape (n,)
    The class of each row: integers, strings, bools or a categorical.""",
    "y_score": """\
y_score : array-like of shape (n, K)
    The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape (n,)
    or (n, 1), the score of the second of `labels`.""",
    "y_score_or_sparse": """\
y_score : array-like or sparse matrix of shape (n, K)
    The score of each row for each class: probabilities, or other finite scores that compare between rows (for logits
    see `outputs`), float32 or float64, in any memory layout. With two classes also of shape (n,) or (n, 1), the score
    of the second of `labels`. Of a ``scipy.sparse`` matrix or array, what is not stored is a score of 0, and several
    numbers stored for one cell are added; time and memory grow with what is stored, also for 100,000 classes.""",
    "y_score_of_curves": """\
y_score : array-like of shape (n, K)
    The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape (n,)
    or (n, 1), the score of the second of `labels`; the first is then given the negated score.""",
    "labels": """\
labels : sequence of K labels, optional
    The classes in the order of the columns; of a data frame whose columns are named by these classes, the names say
    which column is which. By default the column names of a data frame, if they are strings or contain all labels;
    otherwise the sorted labels of `y_true`, if there are K of them.""",
    "sample_weight": """\
sample_weight : array-like of shape (n,), optional
    Non-negative weights of the rows. Sums of weights take the place of all counts, so that a row of weight 2 counts
    like two rows and a row of weight 0 not at all.""",
    "absent": """\
absent : {"raise", "ignore", "nan"}, default "raise"
    What to do if a class has no rows (or no weight): raise an error, leave it out, or return nan.""",
    "absent_in_mean": """\
absent : {"raise", "ignore", "nan"}, default "raise"
    What to do if a class has no rows (or no weight): raise an error, leave out its pairs and give their weight to the
    others, or return nan.""",
    "absent_in_matrix": """\
absent : {"raise", "ignore", "nan"}, default "raise"
    What to do if a class has no rows (or no weight): raise an error, or have nan in its row and column (``"ignore"``
    and ``"nan"`` alike).""",
    "outputs": """\
outputs : {"logits"} or None, default None
    What the columns are: None takes them as they are; ``"logits"`` takes the softmax of each row first (of one score
    per row, the logistic function). Scores of different rows are compared, so logits and the probabilities made of them
    have different values.""",
    "groups_drawn": """\
groups : array-like of shape (n,), optional
    The group of each row (a patient, a user): whole groups are drawn, within classes if `sampling` says so and no group
    has rows of several. A resample that holds no row of some class is nan and does not count.""",
    "n_resamples": """\
n_resamples : int, default 2000
    How many samples.""",
    "sampling_of_rows": """\
sampling : {"stratified", "iid"}, default "stratified"
    Rows drawn with replacement within each class, or whatever their class.""",
    "level": """\
level : float, default 0.95
    The nominal coverage.""",
    "metric_options": """\
**options
    Options of the metric, such as ``absent="ignore"`` or ``partition=``.""",
}
_PLACE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def shares_parameter_texts(documented: Documented) -> Documented:
    """Puts the shared text in the place of every line ``{name}`` of a docstring."""

    def text(place: re.Match[str]) -> str:
        indent, name = place.groups()
        return "\n".join(indent + line for line in _TEXTS[name].split("\n"))

    if documented.__doc__ is not None:  # python -OO leaves docstrings out
        documented.__doc__ = _PLACE.sub(text, documented.__doc__)
    return documented
