"""The notebooks of examples/ run, and the outputs that they keep are those of a fresh run."""

import sys
from pathlib import Path

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))

import notebooks

LARGEST = 200 * 1024


def shown(output):
    """An output as a reader sees it, but for the pixels of a picture, which depend on the fonts there are."""
    if output.output_type == "stream":
        return output.name, output.text
    return {kind: "" if kind == "image/png" else content for kind, content in output.data.items()}


def shown_of(notebook):
    return [[shown(output) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_three():
    names = [path.stem for path in notebooks.notebooks()]
    assert names == ["comparing_models", "first_evaluation", "large_file"]


@pytest.mark.parametrize("path", notebooks.notebooks(), ids=lambda path: path.stem)
class TestNotebook:
    @pytest.mark.slow
    def test_keeps_the_outputs_of_a_fresh_run(self, path):
        kept = nbformat.read(path, as_version=4)
        nbformat.validate(kept)
        fresh = notebooks.executed(path)
        assert shown_of(kept) == shown_of(fresh)
        assert any(shown_of(kept)), "no cell shows anything"

    def test_ran_from_top_to_bottom_without_warnings(self, path):
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
        assert not [output for cell in cells for output in cell.outputs if output.get("name") == "stderr"]

    def test_is_small(self, path):
        assert path.stat().st_size < LARGEST

    def test_leads_only_to_files_that_are_there(self, path):
        text = "".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
        targets = [part.split(")")[0] for part in text.split("](")[1:]]
        assert all((path.parent / target).is_file() for target in targets if "://" not in target), targets
