"""What the pages of the site must not leave out, and the numbers that they repeat from elsewhere.

`make docs` builds the site, and fails where a link, a reference or a name leads nowhere.
"""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import multiauc
from internals import METRICS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MODULES = ["multiauc", *(f"multiauc.{name}" for name in dir(multiauc) if name not in multiauc.__all__)]


#: Read from their source: they cannot be imported without the library they are for.
NOT_IMPORTED = {
    "multiauc.spark": ROOT / "python/multiauc/spark/__init__.py",
    "multiauc.mlflow": ROOT / "python/multiauc/mlflow.py",
}


def public_names(module):
    if module not in NOT_IMPORTED:
        return {f"{module}.{name}" for name in import_module(module).__all__}
    tree = ast.parse(NOT_IMPORTED[module].read_text("utf-8"))
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
            elif found := re.match(r"\.\. (?:py:|auto)?(?:function|class|data|exception):: ([\w.]+)", line):
                names.append(found[1] if found[1].startswith("multiauc.") else f"{module}.{found[1]}")
    return names


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_its_place_in_the_reference(module):
    assert public_names(module) <= set(documented()), "add the missing names to a page of docs/reference"


def test_the_reference_describes_public_names_only_and_once():
    # Not in __all__, as it cannot be imported without Keras.
    keras = {"multiauc.training.KerasAuc"}
    assert sorted(documented()) == sorted(keras.union(*map(public_names, MODULES)))


def test_the_table_of_each_page_of_the_reference_lists_what_it_describes():
    for page in set((DOCS / "reference").glob("*.rst")) - {DOCS / "reference" / "index.rst"}:
        text = page.read_text("utf-8")
        described = re.findall(r"^\.\. auto(?:function|class|data|exception):: (\S+)", text, re.MULTILINE)
        listed = re.findall(r"^   ([\w.]+)$", text.partition(".. autosummary::")[2], re.MULTILINE)
        assert [name.rpartition(".")[2] for name in listed] == described


def test_the_index_of_the_reference_has_every_page_evaluate_and_compare_first():
    """The site fills in the tables of these pages, in this order (docs/_site/reference_index.py)."""
    text = (DOCS / "reference" / "index.rst").read_text("utf-8")
    pages = re.findall(r"^   ([a-z-]+)$", text.partition(".. toctree::")[2], re.MULTILINE)
    assert pages[:2] == ["evaluation", "comparison"]
    assert sorted([*pages, "index"]) == sorted(path.stem for path in (DOCS / "reference").glob("*.rst"))
    assert ".. names of all pages\n" in text


def rows(text):
    """The cells of all rows of all tables of a Markdown text."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def test_the_speed_chart_shows_what_was_measured(tmp_path, monkeypatch):
    """`make figures` draws it from the results files, whose numbers it keeps in its description."""
    described = re.compile(r"<dc:description>(.+?)</dc:description>", re.DOTALL)
    monkeypatch.syspath_prepend(str(ROOT / "studies"))
    chart = import_module("figures_speed")
    races = chart.races()
    assert [race.peer for race in races].count("scikit-learn") == 2
    assert all(race.theirs > race.ours for race in races)
    for theme in chart.THEMES:
        chart.draw(theme, tmp_path / "chart.svg")
        kept = described.findall((chart.FIGURES / f"speed-{theme}.svg").read_text("utf-8"))
        assert kept == described.findall((tmp_path / "chart.svg").read_text("utf-8"))
        assert len(kept) == 1


def test_the_table_of_limits_is_the_registry():
    table = rows((DOCS / "limits.md").read_text("utf-8"))
    shown = {cells[0].strip("`"): cells[1:] for cells in table if "`" in cells[0]}
    for name, metric in METRICS.items():
        has = (metric.has_weights, metric.is_analytic, metric.has_bootstrap, metric.has_interactions)
        assert shown.pop(name) == ["yes" if it else "no" for it in has]
    assert not shown


def test_every_file_of_results_has_its_page():
    included = [
        name
        for page in (DOCS / "benchmarks").glob("*.md")
        for name in re.findall(r"\{include\} \.\./\.\./benches/(RESULTS.*\.md)", page.read_text("utf-8"))
    ]
    assert sorted(included) == sorted(path.name for path in (ROOT / "benches").glob("RESULTS*.md"))
