"""From the words of the command line to what is read from files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from multiauc._files.predictions import Request, Source
from multiauc.cli._problems import Problem


def request(options: dict[str, Any]) -> Request:
    """What to read, from the options of a command; these are taken out of `options`."""
    files = options.pop("files")
    classes = options.pop("classes")
    return Request(
        sources=sources((files,) if isinstance(files, str) else files, options.pop("scores")),
        label=options.pop("label"),
        classes=None if classes is None else tuple(name.strip() for name in classes.split(",")),
        weights=options.pop("weights"),
        groups=options.pop("groups", None),
        row_id=options.pop("row_id", None),
        absent=options["absent"],
        spelled=as_typed,
    )


def sources(files: tuple[str, ...], patterns: tuple[str, ...]) -> dict[str, Source]:
    """The models of several files, or of several patterns of columns in one file.

    Either may have a name before it (``knn=a.parquet``); otherwise a model is called like its columns or its file.
    """
    if len(files) > 1 and len(patterns) > 1:
        raise Problem(
            "give several files or several --scores, not both: a model is a file, or some columns of one file"
        )
    models: dict[str, Source] = {}
    for file_name, path in map(split_path, files):
        for pattern_name, pattern in map(split_name, patterns or ("",)):
            stem = pattern.split("*")[0].strip("_-. ") if len(patterns) > 1 else ""
            name = pattern_name or file_name or stem or Path(path).name.split(".")[0]
            if name in models:
                raise Problem(f"two models are called {name!r}; give them names, as in other={path}")
            models[name] = Source(path, pattern)
    return models


def split_path(text: str) -> tuple[str, str]:
    """``name=path`` as (name, path); a path that is there may have an equals sign in it (``run=3/preds.csv``)."""
    name, path = split_name(text)
    if Path(text).exists() or ("/" in name and not Path(path).exists()):
        return "", text
    return name, path


def split_name(text: str) -> tuple[str, str]:
    """``name=rest`` as (name, rest); without a name the name is empty."""
    name, separator, rest = text.partition("=")
    return (name, rest) if separator else ("", text)


def as_typed(option: str, value: str | None = None) -> str:
    """How an option, perhaps with a value, is written on the command line."""
    flag = "--id" if option == "row_id" else f"--{option}"
    return flag if value is None else f"{flag} {shlex.quote(value)}"
