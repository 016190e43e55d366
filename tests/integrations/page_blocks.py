"""Runs the examples of a page of the docs section by section, because each may need another library."""

import contextlib
import io
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = re.compile(r"```python\n(.*?)```\n```text\n(.*?)```", re.DOTALL)


def sections(page: str) -> dict[str, str]:
    """The text under each heading of the second level, and under "" what comes before them."""
    parts = re.split(r"^## (.*)$", (DOCS / f"{page}.md").read_text("utf-8"), flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def run_section(page: str, heading: str) -> None:
    """Run what is above all headings, then a section; both must print what the page shows."""
    found = sections(page)
    text = found[""] + found[heading]
    examples = BLOCKS.findall(text)
    assert len(examples) == text.count("```python") > found[""].count("```python")
    names: dict[str, object] = {}
    for code, shown in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == shown
