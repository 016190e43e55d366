"""What the pages of the site must not leave out, and the numbers that they repeat from elsewhere.

`make docs` builds the site, and fails where a link, a reference or a name leads nowhere.
"""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import multiauc
from multiauc._common.registry import METRICS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MODULES = ["multiauc", *(f"multiauc.{name}" for name in dir(multiauc) if name not in multiauc.__all__)]


def public_names(module):
    """From the source of `multiauc.spark`, which cannot be imported without Spark."""
    if module != "multiauc.spark":
        return {f"{module}.{name}" for name in import_module(module).__all__}
    tree = ast.parse((ROOT / "python/multiauc/spark/__init__.py").read_text("utf-8"))
    (names,) = (it.value for it in tree.body if isinstance(it, ast.Assign) and it.targets[0].id == "__all__")
    return {f"{module}.{name}" for name in ast.literal_eval(names)}


def documented():
    """The full names that pages of the reference describe, as often as they do."""
    names = []
    for page in sorted((DOCS / "reference").glob("*.rst")):
        module = None
        for line in page.read_text("utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"\.\. (?:auto)?(?:function|class|data|exception):: (\S+)", line):
                names.append(f"{module}.{found[1]}")
    return names


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_its_place_in_the_reference(module):
    assert public_names(module) <= set(documented()), "add the missing names to a page of docs/reference"


def test_the_reference_describes_public_names_only_and_once():
    assert sorted(documented()) == sorted(set().union(*map(public_names, MODULES)))


def test_the_table_of_each_page_of_the_reference_lists_what_it_describes():
    for page in (DOCS / "reference").glob("*.rst"):
        text = page.read_text("utf-8")
        described = re.findall(r"^\.\. auto(?:function|class|data|exception):: (\S+)", text, re.MULTILINE)
        listed = re.findall(r"^   ([\w.]+)$", text.partition(".. autosummary::")[2], re.MULTILINE)
        assert [name.rpartition(".")[2] for name in listed] == described


def rows(text):
    """The cells of all rows of all tables of a Markdown text."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def test_the_times_of_the_front_page_are_those_that_were_measured():
    measured = {cells[0]: cells[1:4] for cells in rows((ROOT / "benches/RESULTS-drop-in.md").read_text("utf-8"))}
    page = (DOCS / "index.md").read_text("utf-8")
    shown = [cells for cells in rows(page) if cells[1].endswith(" ms")]
    assert len(shown) > 3
    for call, ours, theirs, ratio in shown:
        numbers = [float(cell.removesuffix(" ms").replace(",", "")) for cell in (ours, theirs)]
        assert numbers == [float(cell) for cell in measured[call][:2]]
        assert ratio == measured[call][2]
    (boast,) = re.findall(r"(\d+) times less time for a million rows of ten classes", page)
    assert boast == measured["1,000,000 \N{MULTIPLICATION SIGN} 10, ovo"][2][:-1]


def test_the_table_of_limits_is_the_registry():
    table = rows((DOCS / "limits.md").read_text("utf-8"))
    shown = {cells[0].strip("`"): cells[1:] for cells in table if "`" in cells[0]}
    for name, metric in METRICS.items():
        has = (metric.has_weights, metric.has_closed_form, metric.has_bootstrap, metric.has_interactions)
        assert shown.pop(name) == ["yes" if it else "no" for it in has]
    assert not shown


def test_every_file_of_results_has_its_page():
    included = [
        name
        for page in (DOCS / "benchmarks").glob("*.md")
        for name in re.findall(r"\{include\} \.\./\.\./benches/(RESULTS.*\.md)", page.read_text("utf-8"))
    ]
    assert sorted(included) == sorted(path.name for path in (ROOT / "benches").glob("RESULTS*.md"))
