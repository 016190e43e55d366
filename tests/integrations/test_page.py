"""The page "Replace what you use today": its examples print what it shows, and every claim names a test that exists."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import multiauc.sklearn
from multiauc.sklearn import patching

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "replace-what-you-use-today.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE, re.DOTALL)
CLAIMS = [line for line in PAGE.splitlines() if line.startswith("|") and "`test_" in line]


def test_the_examples_print_what_the_page_shows(monkeypatch):
    made = []

    def remembering():
        made.append(patching.Patch())
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


def test_every_row_of_every_table_names_its_tests():
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and not line.startswith("|---")]
    headers = [line for line in rows if line.endswith("| test |")]
    assert len(rows) == len(CLAIMS) + len(headers)


@pytest.mark.parametrize("reference", sorted(set(re.findall(r"`(test_\w+\.py::test_\w+)`", PAGE))))
def test_the_named_test_exists(reference):
    file, test = reference.split("::")
    found = [path for folder in ("core", "integrations") if (path := ROOT / "tests" / folder / file).exists()]
    assert len(found) == 1
    assert re.search(rf"^def {test}\(", found[0].read_text("utf-8"), re.MULTILINE)
