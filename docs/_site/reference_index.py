"""The front page of the reference lists every name with one line: the tables of its pages, in toctree order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PLACE = ".. names of all pages\n"
INDEX = "reference/index"


def setup(app: Sphinx) -> dict[str, bool]:
    """Fill the place while the page is read."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _fill(app: Sphinx, page: str, source: list[str]) -> None:
    if page != INDEX:
        return
    pages = re.findall(r"^   ([a-z-]+)$", source[0].partition(".. toctree::")[2], re.MULTILINE)
    source[0] = source[0].replace(PLACE, "\n".join(_table(app, name) for name in pages))


def _table(app: Sphinx, name: str) -> str:
    """A heading that links to the page, and its tables."""
    text = (app.srcdir / "reference" / f"{name}.rst").read_text("utf-8")
    title = text.partition("\n")[0]
    heading = f":doc:`{title} <{name}>`"
    parts = re.findall(r"^\.\. (?:currentmodule|autosummary)::.*\n(?:(?: .*)?\n)*", text, re.MULTILINE)
    return "\n".join([heading, "-" * len(heading), "", *(part.rstrip() + "\n" for part in parts)])
