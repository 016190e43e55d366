"""Options of commands: each is a field of a request, with its type, its help and how it is read."""

from __future__ import annotations

import re
from collections import ChainMap
from dataclasses import field, fields
from inspect import cleandoc
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from multiauc import set_num_threads
from multiauc._common import registry
from multiauc._io import readers, sources
from multiauc.cli._problems import as_typed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import Field

    from multiauc.cli._requests import FileRequest

    Asked = TypeVar("Asked", bound=FileRequest)

SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?\s*", re.IGNORECASE)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
#: The limit of memory that reads files whole.
WHOLE = "none"

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
# Options that say where and how a result is shown; the help has them last.
LAST = ("style", "output", "force")
# What the help of options may refer to.
HELP_WORDS = {
    "metrics": ", ".join(registry.ANALYTIC_METRICS),
    "usual_metrics": ", ".join(registry.DEFAULT_METRICS),
    "delimiters": ", ".join(sources.DELIMITERS),
}


def option(
    *short: str, default: Any = None, read: Callable[[Any], Any] | None = None, show: bool | str = False, **more: Any
) -> Any:
    """A field of a request that is an option of the same name; `read` makes its value of what was typed."""
    if read is not None:
        more["callback"] = lambda _, __, typed: read(typed)
    if default is not None:
        more["default"] = default
    if show:
        more["show_default"] = show
    if more.get("multiple"):
        default = () if read is None else read(())
    return field(default=default, metadata={"option": (short, more)})


def column() -> Any:
    """A field of a request that is an option with the name of a column."""
    return option(metavar="COLUMN", shell_complete=complete_columns)


def argument(**more: Any) -> Any:
    """The field of the files that a command is about."""
    return field(metadata={"argument": {"type": click.Path(), "nargs": -1, "required": True} | more})


def command(group: click.Group) -> Callable[[type[Asked]], type[Asked]]:
    """Make a request a command of a group: its fields are the options, its method `run` is the work.

    The docstring of the request is the help of the command, and what it says of attributes that of the options. The
    tests run its examples on the files of `multiauc demo`.
    """

    def decorate(request: type[Asked]) -> type[Asked]:
        def work(**options: Any) -> None:
            asked = request(**options)
            if asked.threads is not None:
                set_num_threads(asked.threads)
            asked.run()

        documented = list(map(_read_docstring, request.__mro__))
        helps = ChainMap(*(found.attributes for found in documented))
        declared = [_make_parameter(one, helps) for one in sorted(fields(request), key=lambda one: one.name in LAST)]
        made = click.Command(
            request.__name__.removesuffix("Request").lower(),
            params=[parameter for parameter in declared if parameter is not None],
            callback=work,
            help=documented[0].text,
            epilog=f"\b\nExamples, with the files that `multiauc demo` writes:\n{documented[0].examples}",
            context_settings=SETTINGS,
        )
        group.add_command(made)
        return request

    return decorate


class Documented(NamedTuple):
    """What a docstring says: in general, about each attribute, and its examples line by line."""

    text: str
    attributes: dict[str, str]
    examples: str


def _read_docstring(request: type) -> Documented:
    text, *parts = re.split(r"\n\n(Attributes|Examples)\n-+\n", cleandoc(request.__doc__ or ""))
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    attributes = re.findall(r"^(\w+)\n((?: .*\n?)+)", sections.get("Attributes", ""), re.MULTILINE)
    helps = {name: " ".join(about.split()).format_map(HELP_WORDS) for name, about in attributes}
    return Documented(text, helps, indent(sections.get("Examples", ""), "  "))


def _make_parameter(one: Field[Any], helps: Mapping[str, str]) -> click.Parameter | None:
    """The option or argument that a field of a request declares, or None."""
    if "argument" in one.metadata:
        return click.Argument([one.name], **one.metadata["argument"])
    if "option" not in one.metadata:
        return None
    short, more = one.metadata["option"]
    return click.Option([*short, as_typed(one.name), one.name], help=helps[one.name], **more)


def split_commas(words: str | tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Names one by one or with commas between, each once; None if there are none."""
    typed = (words,) if isinstance(words, str) else words or ()
    return tuple(dict.fromkeys(name.strip() for word in typed for name in word.split(","))) or None


def read_metrics(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Metrics with analytic intervals; None if none is named."""
    names = split_commas(words)
    unknown = next((name for name in names or () if name not in registry.ANALYTIC_METRICS), None)
    if unknown is not None:
        raise click.BadParameter(f"{unknown!r} is not one of {', '.join(map(repr, registry.ANALYTIC_METRICS))}.")
    return names


def read_labels(words: str | None) -> tuple[str, ...] | None:
    """Classes with commas between."""
    return None if words is None else tuple(name.strip() for name in words.split(","))


def read_delimiter(word: str | None) -> str | None:
    """The delimiter by its name or as it is."""
    sign = sources.DELIMITERS.get(word or "", "\t" if word == "\\t" else word)
    if sign is not None and (len(sign) != 1 or not sign.isascii() or sign in '"\r\n'):
        raise click.BadParameter(f"{word!r} is neither one sign nor one of {', '.join(sources.DELIMITERS)}.")
    return sign


def read_size(text: str) -> int | None:
    """Bytes: 2**20 of them are 1M or 1MiB, a million are 1MB; None if it is not a size."""
    found = SIZE.fullmatch(text)
    if found is None or (found[3] and len(found[3]) == 2 and not found[2]):
        return None
    thousand = 1000 if (found[3] or "").lower() == "b" else 1024
    return int(float(found[1]) * thousand ** POWERS[found[2].lower()])


def read_limit(text: str | None) -> int | str | None:
    """The limit in bytes, or "none"."""
    if text is None or text.lower() == WHOLE:
        return text and WHOLE
    from multiauc._io.dataset import LEAST_MEMORY  # noqa: PLC0415 - help and completion do not wait for it

    size = read_size(text)
    if size is None:
        raise click.BadParameter(f"{text!r} is not a size such as 512MB or 2GiB, nor {WHOLE}.")
    if size < LEAST_MEMORY:
        raise click.BadParameter(f"{text!r} is too little: it takes 256MiB at least.")
    return size


def require_one(context: click.Context, _: click.Parameter, files: tuple[str, ...]) -> tuple[str, ...]:
    """The one data set that a command takes."""
    if len(files) > 1:
        raise click.UsageError(
            f"{context.info_name} takes one file; got {len(files)}. Several files that are one data set are a folder, "
            "or a pattern in quotes: 'parts/*.parquet'.",
            context,
        )
    return files


def complete_columns(context: click.Context, _: click.Parameter, typed: str) -> list[str]:
    """Columns of the files on the command line so far."""
    # An option that still lacks its value keeps click from telling which words are the files.
    given: Any = context.params.get("files") or context.args
    names: dict[str, None] = {}
    for path in given:
        try:
            first = sources.data_files(split_path(path)[1])[0]
            if Path(first).is_file():  # a pipe is not emptied for this
                names |= dict.fromkeys(readers.open_rows(sources.open_content(first)).names)
        except ValueError:
            continue
    return [name for name in names if name.startswith(typed)]


def complete_metrics(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    """Metrics, the last of several with commas between."""
    before, comma, name = typed.rpartition(",")
    return [f"{before}{comma}{metric}" for metric in registry.ANALYTIC_METRICS if metric.startswith(name)]


def split_path(text: str) -> tuple[str, str]:
    """``name=path`` as (name, path); a path that is there may have an equals sign in it (``run=3/preds.csv``)."""
    name, path = split_name(text)
    if sources.is_there(text) or ("/" in name and not sources.is_there(path)):
        return "", text
    return name, path


def split_name(text: str) -> tuple[str, str]:
    """``name=rest`` as (name, rest); without a name the name is empty."""
    name, separator, rest = text.partition("=")
    return (name, rest) if separator else ("", text)
