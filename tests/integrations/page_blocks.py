"""Runs the examples of a page of the docs section by section: what is above the first heading, then one section."""

import contextlib
import io
import re

BLOCKS = re.compile(r"```python\n(.*?)```\n```text\n(.*?)```", re.DOTALL)


def sections(page: str) -> dict[str, str]:
    """The text under each heading of the second level, and under "" what comes before them."""
    parts = re.split(r"^## (.*)$", page, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def run_section(page: str, heading: str) -> None:
    """Run what a section needs and the section itself; both must print what the page shows."""
    found = sections(page)
    examples = [example for part in ("", heading) for example in BLOCKS.findall(found[part])]
    assert len(examples) == found[""].count("```python") + found[heading].count("```python")
    names: dict[str, object] = {}
    for code, shown in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == shown
