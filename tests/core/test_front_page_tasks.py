"""Five tasks of people who see the README for the first time, each a script of clicks and commands that starts there.

A click is the text of a link on the page at hand; a command is run as the page prints it.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

from test_console_blocks import BLOCK, Block, type_in
from test_readme import FENCE

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def click(page, words):
    """The page behind the link with these words, and the text of the section it leads to (or of all of it)."""
    targets = re.findall(rf"\[{re.escape(words)}\]\(([^)]+)\)", page.read_text("utf-8"))
    assert targets, f"{page.name} has no link {words!r}"
    path, _, anchor = targets[0].partition("#")
    page = (page.parent / path).resolve() if path else page
    text = page.read_text("utf-8")
    if not anchor:
        return page, text
    parts = re.split(r"^(?=#+ )", text, flags=re.MULTILINE)
    (section,) = [part for part in parts if slug(part.partition("\n")[0]) == anchor]
    return page, section


def slug(heading):
    return re.sub(r"[^\w\s-]", "", heading.lstrip("# ").lower()).strip().replace(" ", "-")


def section_of(title):
    parts = re.split(r"^## (.*)$", README.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[title]


def run_blocks(text):
    """What the Python blocks of a text print, one after the other."""
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        for block in FENCE.finditer(text):
            if block["language"] == "python":
                exec(block["text"], names)
    return printed.getvalue()


@pytest.mark.slow
def test_get_a_first_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page, text = click(README, "Five minutes with real predictions")
    assert page.name == "tutorial.md"
    printed = run_blocks(text)
    assert re.search(r"^AUC_mu +0\.\d{4} +0\.\d{4} +0\.\d{4} to 0\.\d{4}$", printed, re.MULTILINE)


def test_replace_roc_auc_score():
    section = section_of("Replace `roc_auc_score`")
    ((removed, added),) = re.findall(r"```diff\n-(.*)\n\+(.*)\n```", section)
    theirs, ours = {}, {}
    exec(removed, theirs)
    exec(added, ours)
    y_true = [0, 1, 2, 0, 1, 2]
    y_score = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.3, 0.6, 0.1], [0.1, 0.8, 0.1], [0.2, 0.5, 0.3]]
    for options in ({"multi_class": "ovo"}, {"multi_class": "ovr"}, {"multi_class": "ovr", "average": "weighted"}):
        assert ours["roc_auc_score"](y_true, y_score, **options) == pytest.approx(
            theirs["roc_auc_score"](y_true, y_score, **options), abs=1e-15
        )
    _, exceptions = click(README, "exceptions")
    assert "| scikit-learn | multiauc |" in exceptions


def test_is_b_better_than_a():
    printed = run_blocks(section_of("Evaluate and compare"))
    (line,) = re.findall(r"^neighbours - logistic .*$", printed, re.MULTILINE)
    assert re.search(r"\+0\.\d{4} to \+0\.\d{4}", line)  # an interval that excludes 0
    assert float(line.split()[-1]) < 0.05
    page, _ = click(README, "Compare models")
    assert page.exists()


@pytest.mark.slow
def test_write_a_report_for_a_manager(tmp_path, monkeypatch):
    blocks = [Block("README.md", found["text"], None) for found in BLOCK.finditer(section_of("Report"))]
    assert len(blocks) == 1
    type_in(blocks, tmp_path, monkeypatch)
    page = (tmp_path / "empty" / "multiauc-demo" / "report.html").read_text("utf-8")
    verdict = re.search(r"<p[^>]*class=\"verdict[^>]*>(.*?)</p>|<h2[^>]*>(.*?)</h2>", page, re.DOTALL)
    assert verdict is not None
    assert "net" in page


def test_add_a_metric():
    page, steps = click(README, "Contributing")
    assert page.name == "CONTRIBUTING.md"
    numbered = re.findall(r"^(\d)\. ", steps, re.MULTILINE)
    assert numbered == [str(k + 1) for k in range(len(numbered))]
    assert len(numbered) >= 5
    paths = re.findall(r"`((?:python|rust|tests|docs)/[\w./-]+)`", steps)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
