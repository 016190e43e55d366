"""Every console block of the README and the docs is typed into a shell in an empty folder, page by page.

A line that begins with "$ " is a command, and what follows it is what it prints; a block without such lines has
commands only, which must all succeed. A block behind "<!-- not run: why -->" is left out; `NOT_RUN` lists them all.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from command_line import write_demo_files

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = {
    ("README.md", "pip install"): "builds the package, which takes a Rust toolchain and the network",
    ("docs/index.md", "pip install"): "builds the package, which takes a Rust toolchain and the network",
    ("docs/install.md", "pip install"): "builds the package, which takes a Rust toolchain and the network",
}
SHELLS = "console|bash|sh|shell"
BLOCK = re.compile(
    rf"(?:^<!-- not run: (?P<why>.*?) -->\n)?^```(?:{SHELLS})\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
BETWEEN = "~~~ next block ~~~"


class Block(NamedTuple):
    """A block of a page."""

    page: str
    text: str
    why_not: str | None

    def script(self):
        """The block as a script that stops at the first command that fails, unless its output is shown."""
        if not self.shows_output():
            return f"set -e\n{self.text}"
        return "".join(f"{line[2:]}\n" for line in self.text.splitlines() if line.startswith("$ "))

    def shows_output(self):
        return any(line.startswith("$ ") for line in self.text.splitlines())

    def output(self):
        """What the commands print, as the page shows it."""
        return "".join(f"{line}\n" for line in self.text.splitlines() if not line.startswith("$ "))


def blocks_of(page):
    name = str(page.relative_to(ROOT))
    return [Block(name, found["text"], found["why"]) for found in BLOCK.finditer(page.read_text("utf-8"))]


def type_in(blocks, folder, monkeypatch):
    """Type blocks into one shell; return what each of them printed."""
    commands = folder / "commands"
    commands.mkdir()
    shim = commands / "multiauc"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m multiauc "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    empty = folder / "empty"
    empty.mkdir()
    script = "".join(f"set +e\n{block.script()}\necho '{BETWEEN}'\n" for block in blocks)
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"], cwd=empty, capture_output=True, text=True, check=False
    )
    printed = done.stdout.split(f"{BETWEEN}\n")
    assert done.returncode == 0, f"{blocks[len(printed) - 1].text}\n{printed[-1]}"
    assert len(printed) == len(blocks) + 1
    return printed[:-1]


@pytest.mark.slow
@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_the_blocks_of_a_page_work(page, tmp_path, monkeypatch):
    blocks = [block for block in blocks_of(page) if block.why_not is None]
    if not blocks:
        assert "```console" not in page.read_text("utf-8") or blocks_of(page)
        return
    for block, printed in zip(blocks, type_in(blocks, tmp_path, monkeypatch), strict=True):
        if block.shows_output():
            assert printed == block.output(), block.text
    if page.name == "README.md":
        assert (tmp_path / "empty" / "multiauc-demo" / "report.html").stat().st_size > 50_000


def test_blocks_that_are_not_run_are_listed_with_the_reason():
    left_out = [block for page in PAGES for block in blocks_of(page) if block.why_not is not None]
    assert len(left_out) == len(NOT_RUN)
    for (page, begins), why in NOT_RUN.items():
        assert [block.why_not for block in left_out if block.page == page and block.text.startswith(begins)] == [why]


def test_every_block_is_found():
    for page in PAGES:
        assert len(re.findall(rf"^\s*```(?:{SHELLS})\b", page.read_text("utf-8"), re.MULTILINE)) == len(blocks_of(page))
    assert sum(len(blocks_of(page)) for page in PAGES) > 10


def test_a_command_that_fails_is_noticed(tmp_path, monkeypatch):
    with pytest.raises(AssertionError, match=r"no\.csv: there is no such file"):
        type_in([Block("page", "multiauc roc no.csv\ntrue\n", None)], tmp_path, monkeypatch)


def test_the_gates_of_the_workflow(tmp_path, monkeypatch):
    """The lines of the GitHub Actions example that are ours, with a new model that is better than the old one."""
    text = (ROOT / "docs" / "how-to" / "gate-a-pipeline.md").read_text("utf-8")
    (workflow,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"run: (multiauc .*)", workflow)
    assert len(lines) == 3
    for new, old, code in (("net", "forest", 0), ("linear", "net", 3)):
        folder = tmp_path / new
        folder.mkdir()
        write_demo_files(folder)
        prepare = f"cp ../{new}.parquet new.parquet\ncp ../{old}.parquet old.parquet\n"
        codes = "".join(f"{line} > /dev/null 2>&1\necho $?\n" for line in lines)
        printed = type_in([Block("page", f"{prepare}set +e\n{codes}", None)], folder, monkeypatch)[0].split()
        assert printed == [str(code), str(code), "0"]
        assert (folder / "empty" / "comparison.json").exists()
