"""The README and every page of the docs show what their code prints.

A block of Python that is followed by a block of text prints it; one that is not prints nothing. The blocks of a page
run one after another in an empty folder, with the names of those before. A block behind "<!-- not run: why -->" is
left out; `NOT_RUN` lists them all, and `RUN_ELSEWHERE` the pages that other tests run.
"""

import contextlib
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from command_line import write_demo_files

ROOT = Path(__file__).parents[2]
PAGES = sorted(str(page.relative_to(ROOT)) for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
RUN_ELSEWHERE = {
    "docs/spark.md": ("tests/integrations/test_spark.py", "needs Spark"),
    "docs/clusters.md": ("tests/integrations/test_clusters_page.py", "needs Dask, Ray, DuckDB and polars"),
    "docs/use-it-in.md": ("tests/integrations/test_use_it_in.py", "needs torch, Keras, MLflow and others"),
    "docs/replace-what-you-use-today.md": (
        "tests/integrations/test_page.py",
        "needs LightGBM, XGBoost, CatBoost, torch and polars",
    ),
}
#: (page, how the block begins): why.
NOT_RUN: dict[tuple[str, str], str] = {}
#: What blocks may hold, beside what is for Sphinx and in braces. The console is run by test_console_blocks.py.
LANGUAGES = {"python", "text", "console", "diff", "json", "yaml"}
FENCE = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]*) -->\n)?(?P<fence>`{3,})(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A block of a page, and the text block that stands right below it."""

    language: str
    text: str
    why_not: str | None
    shown: str


def blocks_of(page):
    text = (ROOT / page).read_text("utf-8")
    found = list(FENCE.finditer(text))
    return [
        Block(
            block["language"],
            block["text"],
            block["why"],
            after["text"] if after and after["language"] == "text" and after.start() == block.end() + 1 else "",
        )
        for block, after in pairwise([*found, None])
    ]


def examples_of(page):
    return [block for block in blocks_of(page) if block.language == "python" and block.why_not is None]


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page not in RUN_ELSEWHERE and examples_of(page)])
def test_the_examples_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in examples_of(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.text, page, "exec"), names)
        assert printed.getvalue() == block.shown, block.text


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_holds(page):
    """So that no code hides in a block that nothing runs. Text is what the block above it prints."""
    blocks = blocks_of(page)
    assert {block.language for block in blocks if not block.language.startswith("{")} <= LANGUAGES
    texts = [block for block in blocks if block.language == "text"]
    assert len(texts) == sum(block.shown != "" for block in blocks if block.language == "python")


def test_blocks_that_are_not_run_are_listed_with_the_reason():
    left_out = {
        (page, begins): why
        for page in PAGES
        for language, text, why, _ in blocks_of(page)
        if language == "python" and why is not None
        for begins in [text.partition("\n")[0]]
    }
    assert left_out == NOT_RUN


@pytest.mark.parametrize("page", RUN_ELSEWHERE)
def test_pages_that_are_run_elsewhere_are(page):
    test, why = RUN_ELSEWHERE[page]
    assert examples_of(page)
    assert Path(page).stem in (ROOT / test).read_text("utf-8")
    assert why


def test_the_json_is_that_of_the_command(cli, in_empty_folder):
    """The page shows a part of the document, with numbers of four digits; size and hash of a Parquet file, which differ
    between versions of pyarrow, are examples.
    """
    (block,) = (block for block in blocks_of("docs/json.md") if block.language == "json")
    write_demo_files(in_empty_folder)
    written = json.loads(cli("evaluate net.parquet --label y --format json"))

    def check(shown, real):
        if isinstance(shown, dict):
            for key in shown.keys() - {"size", "sha256"}:
                check(shown[key], real[key])
        elif isinstance(shown, list):
            for value, other in zip(shown, real, strict=True):
                check(value, other)
        elif isinstance(shown, float):
            assert shown == round(real, 4)
        else:
            assert shown == real

    check(json.loads(block.text), written)
