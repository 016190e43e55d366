"""Which columns hold scores, which class each stands for, and how labels are matched with them.

One rule book for data frames in memory, files, Dask, Ray and Spark:

- The scores are the columns that fit a pattern, whose star stands for the class, or those that are named. Unless they
  are asked for, they are those with usual names, then those called after the classes, then the one column of lists,
  then the one column of numbers beside two classes; where there is a choice, that is an error.
- A column stands for the class that it is named after, perhaps with a prefix that all columns share, up to a separator
  or to digits: ``p_ant`` and ``p_bee`` for ``ant`` and ``bee``, ``s0`` and ``s1`` for ``0`` and ``1``. The labels of
  the rows decide which of the possible readings it is; where they fit more than one, that is an error, and `labels`
  must name the classes.
- Labels are compared as text, and 3.0, which is how data frames keep integers beside gaps, is 3.
- A label, score or weight that is missing (null, None, nan) is an error, never a class or a number.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from multiauc._common.wording import describe_type, listing, pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Sequence

# Where scores are looked for unless a pattern is given.
USUAL_SCORES = ("p_*", "y_score")

DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9.\u00a0 ']*,[0-9]+([eE][+-]?[0-9]+)?\s*")
WHOLE_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0*")


class Table(Protocol):
    """What has columns with names, and is called something."""

    @property
    def path(self) -> str:
        """What messages call it."""

    @property
    def names(self) -> list[str]:
        """Its columns."""


class Header(NamedTuple):
    """The columns of a data frame, and what messages call it."""

    path: str
    names: list[str]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ColumnRequest:
    """Which columns to read.

    Attributes
    ----------
    label, sample_weight, groups, folds, runs, row_id
        Columns, all but the first perhaps None.
    by
        The columns whose values are slices of the rows; perhaps none.
    labels
        The classes in the order of the score columns, as text, or None.
    may_predict
        Whether the one column of scores may hold predicted labels.
    flags
        Whether messages name options as the command line spells them.
    """

    label: str
    labels: tuple[str, ...] | None = None
    sample_weight: str | None = None
    groups: str | None = None
    folds: str | None = None
    by: tuple[str, ...] = ()
    runs: str | None = None
    row_id: str | None = None
    may_predict: bool = False
    flags: bool = False

    @property
    def taken(self) -> set[str | None]:
        """The columns that hold no scores."""
        return {self.label, self.sample_weight, self.groups, self.folds, self.runs, self.row_id, *self.by}

    def option(self, name: str, value: str | Literal[True] | None = None) -> str:
        """How messages name an option, perhaps with a value."""
        if not self.flags:
            return name if value is None else f"{name}={value!r}"
        flag = "--id" if name == "row_id" else f"--{name.replace('_', '-')}"
        return f"{flag} {shlex.quote(value)}" if isinstance(value, str) else flag


class Cells(NamedTuple):
    """The columns that may hold scores, by what is in their cells."""

    numbers: list[str]
    lists: list[str]


class ScoreColumns(NamedTuple):
    """Columns of scores, and what their names may say about the classes, the likeliest reading first."""

    names: list[str]
    readings: list[list[str]]


def read_request(label: Any, sample_weight: Any, labels: Any) -> ColumnRequest:
    """The columns of labels and weights, and the classes if they are given."""
    return ColumnRequest(
        label=read_column("label", label),
        labels=None if labels is None else read_label_texts(labels),
        sample_weight=None if sample_weight is None else read_column("sample_weight", sample_weight),
    )


def read_column(option: str, name: Any) -> str:
    """The name of a column."""
    if not isinstance(name, str):
        raise TypeError(f"{option} must be the name of a column; got {describe_type(name)}")
    return name


def read_wanted_scores(scores: Any, option: str = "scores") -> str | list[str]:
    """A pattern or names of columns; an empty pattern for the usual ones."""
    if scores is None or isinstance(scores, str):
        return scores or ""
    names = list(scores) if hasattr(scores, "__iter__") else []
    if not names or not all(isinstance(name, str) for name in names):
        accepted = "a pattern such as 'p_*' or a sequence of names of columns"
        raise TypeError(f"{option} must be {accepted}; got {describe_type(scores)}")
    return names


def read_label_texts(labels: Sequence[Hashable]) -> tuple[str, ...]:
    """The classes as text, which is how labels are compared."""
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise TypeError(f"labels must be a sequence of classes; got {labels!r}")
    texts = tuple(map(to_text, labels))
    twice = next((text for k, text in enumerate(texts) if text in texts[:k]), None)
    if twice is not None:
        raise ValueError(f"labels must differ as text, which is how labels are compared; two read {twice!r}")
    return texts


def require_columns(table: Table, names: Iterable[str], option: str) -> None:
    """Raise unless the table has all columns, each once."""
    for name in names:
        if name not in table.names:
            raise ValueError(f"{table.path}: no column {name!r} ({option}); it has {listing(table.names)}")
        if table.names.count(name) > 1:
            raise ValueError(f"{table.path}: there are {table.names.count(name)} columns {name!r} ({option})")


def find_score_columns(table: Table, wanted: str | Sequence[str], request: ColumnRequest) -> ScoreColumns:
    """The columns that are asked for: a pattern with a star, names separated by commas, or a sequence of names.

    They are in the order of the classes that the request names, if these are what the columns are called.
    """
    option = request.option("scores")
    wanted = wanted or find_usual_scores(table, request)
    if not wanted:
        missing = f"{table.path}: no columns {' or '.join(map(repr, USUAL_SCORES))}"
        others = [name for name in table.names if name not in request.taken]
        if not others:
            raise ValueError(f"{missing}; beside {listing(table.names)} there are none that could hold scores")
        raise ValueError(f"{missing}; name the scores with {option}, out of {listing(others)}")
    if isinstance(wanted, str) and "*" in wanted and wanted not in table.names:
        names = _match(table, wanted, request)
        before, after = wanted.split("*", 1)
        readings = [[name[len(before) : len(name) - len(after)] for name in names], names]
        if len(names) < 2:
            raise ValueError(
                f"{table.path}: {request.option('scores', wanted)} fits {pluralize(len(names), 'column')}, and two "
                f"classes or more are needed; it has {listing(table.names)}"
            )
    elif isinstance(wanted, str):
        names = [wanted] if wanted in table.names else [name.strip() for name in wanted.split(",")]
        readings = list_readings(names)
    else:
        names = list(wanted)
        readings = list_readings(names)
    require_columns(table, names, option)
    order = None if request.labels is None else order_columns(readings, list(request.labels))
    if order is not None:
        names, readings = [names[k] for k in order], [[own[k] for k in order] for own in readings]
    return ScoreColumns(names, readings)


def find_usual_scores(table: Table, request: ColumnRequest) -> str | list[str]:
    """The usual pattern that columns fit, or the columns called after the classes that are given; empty if none are."""
    usual = next((usual for usual in USUAL_SCORES if _match(table, usual, request)), "")
    given = [name for name in request.labels or () if name in table.names and name not in request.taken]
    return usual or (given if len(given) == len(request.labels or ()) else [])


def choose_scores(
    table: Table, request: ColumnRequest, found: list[str], cells: Cells, are_whole: Callable[[list[str]], bool]
) -> list[str]:
    """The columns of scores if none has a usual name: those called after the classes, or the only one; none if not so.

    `found` are the labels of the rows, and `are_whole` says of columns whether they are probabilities that sum to 1:
    then other columns of numbers are not those of further classes.
    """
    classes = set(spell_like(found, cells.numbers))
    named = [name for name in cells.numbers if name in classes]
    choices = [[name] for name in cells.lists]
    if len(named) == len(classes) > 1:
        choices.insert(0, named)
        if len(named) < len(cells.numbers) and not are_whole(named):
            choices.insert(1, cells.numbers)
    elif not choices and len(cells.numbers) == 1 and len(classes) == 2:
        choices = [cells.numbers]
    if len(choices) > 1:
        options = " or ".join(request.option("scores", ",".join(names)) for names in choices)
        raise ValueError(f"{table.path}: it is not clear which columns hold the scores; choose {options}")
    return choices[0] if choices else []


def _match(table: Table, pattern: str, request: ColumnRequest) -> list[str]:
    return [name for name in table.names if fnmatchcase(name, pattern) and name not in request.taken]


def list_readings(names: list[str]) -> list[list[str]]:
    """What names of columns may say about the classes: less of a prefix that they share, up to a separator; themselves.

    The shortest comes first: ant, bee before p_ant, p_bee.
    """
    prefix = os.path.commonprefix(names) if len(names) > 1 else ""  # noqa: RUF071 - of names, by character
    starts = [k + 1 for k, sign in enumerate(prefix) if _ends_prefix(sign, [name[k + 1 : k + 2] for name in names])]
    return [[name[start:] for name in names] for start in [*reversed(starts), 0]]


def _ends_prefix(last: str, following: list[str]) -> bool:
    """Whether a prefix may end with this character: a separator, or a letter before digits, as in s0, s1."""
    if not last.isalnum():
        return all(following)
    return last.isalpha() and all(map(str.isdigit, following))


def choose_reading(
    place: str,
    readings: list[list[str]],
    first: list[str],
    option: str,
    find_all: Callable[[], list[str]] | None = None,
) -> list[str]:
    """The reading of the column names in which every label is a class: by the first labels, or else by all of them.

    If none is, that with most of the labels, whose errors say what it lacks.
    """
    fitting = _fit(readings, first)
    if len(fitting) > 1 and find_all is not None:
        fitting = _fit(fitting, find_all())
    if len(fitting) > 1:
        raise ValueError(
            f"{place}: the score columns can stand for {listing(fitting[0])} or for {listing(fitting[1])}, and the "
            f"labels of the rows fit both; name the classes in column order with {option}"
        )
    if fitting:
        return fitting[0]
    return max(readings, key=lambda names: len(set(names).intersection(spell_like(first, names))))


def _fit(readings: list[list[str]], texts: list[str]) -> list[list[str]]:
    """The readings, none of them twice, in which every one of these labels is a class."""
    fitting = [names for names in readings if set(spell_like(texts, names)) <= set(names)]
    return [names for k, names in enumerate(fitting) if names not in fitting[:k]]


def order_columns(readings: list[list[Any]], labels: list[Any]) -> list[int] | None:
    """The column of each class, if the columns are called after the classes, in whatever order; None otherwise."""
    for names in readings:
        place = {name: k for k, name in enumerate(names)}
        if len(place) == len(labels) and all(label in place for label in labels):
            return [place[label] for label in labels]
    return None


def check_label_count(table: Table, n_columns: int, request: ColumnRequest) -> list[str]:
    """The classes that a request names, if they are as many as the scores are for."""
    labels, expected = request.labels or (), max(2, n_columns)
    if len(labels) != expected:
        named = f"{request.option('labels')} names {len(labels)} classes"
        raise ValueError(f"{named}, but {table.path} has scores for {expected}")
    return list(labels)


def sort_labels(table: Table, texts: Iterable[str], n_columns: int, request: ColumnRequest) -> list[str]:
    """The labels in order: the classes of one column of a two-class problem, or of a matrix, which has no names."""
    found, expected = sorted(set(texts), key=_number_or_text), max(2, n_columns)
    if len(found) != expected:
        problem = f"{pluralize(len(found), 'label')} ({listing(found)}) for scores of {expected} classes"
        advice = f"name the classes in column order with {request.option('labels')}"
        raise ValueError(f"{table.path}: {problem}; {advice}")
    return found


def _number_or_text(text: str) -> tuple[bool, float, str]:
    """Sorts numbers by size and before text."""
    try:
        number = parse_number(text)
    except ValueError:
        number = math.nan
    return (True, 0.0, text) if math.isnan(number) else (False, number, text)


def unknown_label(place: str, label: str, labels: list[str], request: ColumnRequest) -> ValueError:
    """The error of a label that has no column."""
    return ValueError(
        f"{place}: the class {label!r} has no score column; there are scores for {listing(labels)} "
        f"(see {request.option('scores')} and {request.option('labels')})"
    )


def refuse_absent(table: Table, labels: list[str], counts: Iterable[int], request: ColumnRequest) -> None:
    """Raise if a class has no rows; `counts` are the rows of each."""
    absent = [label for label, count in zip(labels, counts, strict=True) if not count]
    if absent:
        raise ValueError(
            f"{table.path}: column {request.label!r} has no rows of "
            f"{pluralize(len(absent), 'class', 'classes')}: {listing(absent)}; {request.option('absent', 'ignore')} "
            f"leaves it out, {request.option('absent', 'nan')} gives no value to what needs it"
        )


def to_text(label: Any) -> str:
    """A label as one would write it: 3.0, which is how data frames keep integers beside gaps, is 3."""
    label = label.item() if hasattr(label, "item") else label
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    return label.decode(errors="replace") if isinstance(label, bytes) else str(label)


def drop_zeros(label: str) -> str:
    """The text of a whole number without a decimal point: 3 for 3.0; 03 stays as it is."""
    whole = WHOLE_NUMBER.fullmatch(label)
    if whole is None:
        return label
    return "0" if whole[1] == "-0" else whole[1]


def spell_like(labels: list[str], names: Collection[str]) -> list[str]:
    """The labels as the names spell them, where they are the same number (1.0 and 1); the others as they are."""
    known = set(names)
    if known.issuperset(labels):
        return labels
    by_number = {drop_zeros(name): name for name in names}
    if len(by_number) < len(names):  # 1 and 1.0 are two classes here
        return labels
    return [label if label in known else by_number.get(drop_zeros(label), label) for label in labels]


def parse_number(text: str | float) -> float:
    """A number as files have it. Python's own ``float`` also takes 1_0, and digits of any script."""
    if isinstance(text, str) and ("_" in text or not text.isascii()):
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def explain_no_number(value: object) -> str:
    """What to say of a cell that `parse_number` refuses."""
    if value is None:
        return "the value is missing"
    if isinstance(value, str) and DECIMAL_COMMA.fullmatch(value):
        return f"{value!r} has a decimal comma; numbers are written with a point, as in 0.5"
    return f"{value!r} is not a number"
