"""The report: one HTML page that works offline. Its texts are the parts of page.html, which are filled with content."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from string import Template


def read(name: str) -> str:
    """The text of a file beside this one."""
    return resources.files("multiauc._report").joinpath(name).read_text("utf-8")


@cache
def _read_parts() -> dict[str, str]:
    """The parts of page.html by name: the page, and what it is made of."""
    found = re.split(r"<!-- part: (.*) -->\n", read("page.html"))[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def fill(part: str, **content: str) -> str:
    """A part of the page with its content, which is HTML."""
    return Template(_read_parts()[part].rstrip("\n")).substitute(content)
