"""Which columns of a file hold the scores, and of which classes: the same rules for files read whole and in pieces."""

from __future__ import annotations

import math
import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple, Protocol

from multiauc._common.wording import counted, listing
from multiauc._io.cells import plain_number, spelled_like

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from multiauc._io.predictions import Request

# Where scores are looked for unless a pattern is given.
USUAL_SCORES = ("p_*", "y_score")


class Columns(Protocol):
    """What has columns with names, and is called something."""

    @property
    def path(self) -> str:
        """What messages call it."""

    @property
    def names(self) -> list[str]:
        """Its columns."""


class ScoreColumns(NamedTuple):
    """Columns of scores, and what their names say about the classes: the first of `class_names` that fits."""

    names: list[str]
    class_names: list[list[str]]


def require(file: Columns, names: Iterable[str], option: str) -> None:
    """Raise unless the file has all columns, each once."""
    for name in names:
        if name not in file.names:
            raise ValueError(f"{file.path}: no column {name!r} ({option}); it has {listing(file.names)}")
        if file.names.count(name) > 1:
            raise ValueError(f"{file.path}: there are {file.names.count(name)} columns {name!r} ({option})")


def score_columns(file: Columns, pattern: str | Sequence[str], request: Request) -> ScoreColumns:
    """The columns that a pattern asks for: one with a star, or names separated by commas; or a sequence of names."""
    taken = {request.label, request.weights, request.groups, request.row_id, *request.by}
    if not pattern:
        usual = next((usual for usual in USUAL_SCORES if _matching(file.names, usual, taken)), None)
        if usual is None:
            missing = f"{file.path}: no columns {' or '.join(map(repr, USUAL_SCORES))}"
            others = [name for name in file.names if name not in taken]
            if not others:
                raise ValueError(f"{missing}; beside {listing(file.names)} there are none that could hold scores")
            raise ValueError(f"{missing}; name the scores with {request.spelled('scores')}, out of {listing(others)}")
        pattern = usual
    if not isinstance(pattern, str) or "*" not in pattern:
        names = [name.strip() for name in pattern.split(",")] if isinstance(pattern, str) else list(pattern)
        require(file, names, request.spelled("scores"))
        return _in_order_of_classes(ScoreColumns(names, [_without_prefix(names), names]), request.classes)
    names = _matching(file.names, pattern, taken)
    require(file, names, request.spelled("scores"))
    if len(names) < 2:
        raise ValueError(
            f"{file.path}: {request.spelled('scores', pattern)} fits {counted(len(names), 'column')}, and two classes "
            f"or more are needed; it has {listing(file.names)}"
        )
    before, after = pattern.split("*", 1)
    classes = [name[len(before) : len(name) - len(after)] for name in names]
    return _in_order_of_classes(ScoreColumns(names, [classes, names]), request.classes)


def _in_order_of_classes(columns: ScoreColumns, classes: Sequence[str] | None) -> ScoreColumns:
    """The columns in the order of the classes that a request names, if these are what the columns are called."""
    for names in columns.class_names:
        if classes is not None and len(set(names)) == len(names) and sorted(names) == sorted(classes):
            order = [names.index(label) for label in classes]
            return ScoreColumns(
                [columns.names[k] for k in order], [[own[k] for k in order] for own in columns.class_names]
            )
    return columns


def given_classes(file: Columns, n_columns: int, request: Request) -> list[str]:
    """The classes that a request names, if they are as many as the scores are for."""
    classes, expected = request.classes or (), max(2, n_columns)
    if len(classes) != expected:
        named = f"{request.spelled('classes')} names {len(classes)} classes"
        raise ValueError(f"{named}, but {file.path} has scores for {expected}")
    return list(classes)


def sorted_classes(file: Columns, texts: Iterable[str], n_columns: int, request: Request) -> list[str]:
    """The labels in order: the classes of one column of a two-class problem, or of a matrix, which has no names."""
    found, expected = sorted(set(texts), key=_number_or_text), max(2, n_columns)
    if len(found) != expected:
        problem = f"{counted(len(found), 'label')} ({listing(found)}) for scores of {expected} classes"
        advice = f"name the classes in column order with {request.spelled('classes')}"
        raise ValueError(f"{file.path}: {problem}; {advice}")
    return found


def fitting_names(columns: ScoreColumns, texts: Collection[str]) -> list[list[str]]:
    """What the names of the columns may say about the classes, if these are labels of the rows."""
    found = list(texts)
    return [names for names in columns.class_names if set(spelled_like(found, names)) <= set(names)]


def no_score_column(place: str, label: str, labels: list[str], request: Request) -> ValueError:
    """The error of a label that has no column."""
    return ValueError(
        f"{place}: the class {label!r} has no score column; there are scores for {listing(labels)} "
        f"(see {request.spelled('scores')} and {request.spelled('classes')})"
    )


def refuse_absent(file: Columns, labels: list[str], seen: Collection[str], request: Request) -> None:
    """Raise if a class has no rows."""
    absent = [label for label in labels if label not in seen]
    if absent:
        spelled = request.spelled
        raise ValueError(
            f"{file.path}: column {request.label!r} has no rows of "
            f"{counted(len(absent), 'class', 'classes')}: {listing(absent)}; {spelled('absent', 'ignore')} leaves "
            f"it out, {spelled('absent', 'nan')} gives no value to what needs it"
        )


def _matching(names: list[str], pattern: str, taken: set[str | None]) -> list[str]:
    return [name for name in names if fnmatchcase(name, pattern) and name not in taken]


def _without_prefix(columns: list[str]) -> list[str]:
    """Column names without the beginning that they share, up to a separator: p_cat, p_dog to cat, dog."""
    prefix = os.path.commonprefix(columns)  # noqa: RUF071 - of names, character by character
    start = max((k + 1 for k, sign in enumerate(prefix) if not sign.isalnum()), default=0)
    return [name[start:] for name in columns]


def _number_or_text(text: str) -> tuple[bool, float, str]:
    """Sorts numbers by size and before text."""
    try:
        number = plain_number(text)
    except ValueError:
        number = math.nan
    return (True, 0.0, text) if math.isnan(number) else (False, number, text)
