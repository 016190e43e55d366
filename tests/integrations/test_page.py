"""The page "Drop-in replacements": its examples print what it shows."""

import contextlib
import io
import re
from pathlib import Path

import multiauc.sklearn

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "replace-what-you-use-today.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE, re.DOTALL)


def test_the_examples_print_what_the_page_shows(monkeypatch):
    made, patch_now = [], multiauc.sklearn.patch

    def remembering():
        made.append(patch_now())
        return made[-1]

    monkeypatch.setattr(multiauc.sklearn, "patch", remembering)
    names: dict[str, object] = {}
    try:
        for code, shown in EXAMPLES:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, names)
            assert printed.getvalue() == shown
    finally:
        for patch in made:
            patch.undo()


def test_every_example_is_run():
    assert PAGE.count("```python") == len(EXAMPLES) > 6
