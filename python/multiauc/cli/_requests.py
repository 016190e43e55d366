"""From the words of the command line to what is read from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._io.output import STANDARD
from multiauc._io.predictions import Request, Source
from multiauc._io.sources import data_files, is_there, model_name
from multiauc.cli._problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence


def request(options: dict[str, Any]) -> Request:
    """What to read, from the options of a command; these are taken out of `options`."""
    labels, files = options.pop("labels"), options.pop("files")
    if [*(split_path(file)[1] for file in files), options.get("partition"), options.get("costs")].count(STANDARD) > 1:
        raise Problem("standard input ('-') can be given once, because it can be read only once")
    return Request(
        sources=sources(files, options.pop("scores")),
        label=options.pop("label"),
        labels=None if labels is None else tuple(name.strip() for name in labels.split(",")),
        sample_weight=options.pop("sample_weight"),
        groups=options.pop("groups", None),
        by=options.pop("by", ()),
        row_id=options.pop("row_id", None),
        absent=options["absent"],
        outputs=options.pop("outputs"),
        format_in=options.pop("format_in"),
        delimiter=options.pop("delimiter"),
        flags=True,
    )


def sources(files: Sequence[str], patterns: Sequence[str]) -> dict[str, Source]:
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
            name = pattern_name or file_name or stem or model_name(path)
            if name in models:
                raise Problem(f"two models are called {name!r}; give them names, as in other={path}")
            models[name] = Source(path, pattern)
    return models


def input_files(wanted: Request, partition: str | None = None) -> tuple[str, ...]:
    """Every file that a command reads."""
    paths = dict.fromkeys(source.path for source in wanted.sources.values())
    files = [file for path in paths for file in data_files(path)]
    return tuple(files if partition is None else [*files, partition])


def split_path(text: str) -> tuple[str, str]:
    """``name=path`` as (name, path); a path that is there may have an equals sign in it (``run=3/preds.csv``)."""
    name, path = split_name(text)
    if is_there(text) or ("/" in name and not is_there(path)):
        return "", text
    return name, path


def split_name(text: str) -> tuple[str, str]:
    """``name=rest`` as (name, rest); without a name the name is empty."""
    name, separator, rest = text.partition("=")
    return (name, rest) if separator else ("", text)
