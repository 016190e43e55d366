"""The notebook "From a training loop to a gate in CI" runs, and the gate opens for the better model only."""

import sys
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))

import notebooks


def exit_codes(notebook):
    cell = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    lines = "".join(output.text for output in cell.outputs).splitlines()
    return [line for line in lines if line.isdigit()]


def test_it_runs_from_top_to_bottom():
    kept = nbformat.read(notebooks.ELSEWHERE, as_version=4)
    nbformat.validate(kept)
    fresh = notebooks.executed(notebooks.ELSEWHERE)
    cells = [cell for cell in fresh.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.get("name") == "stderr"]
    assert exit_codes(kept) == exit_codes(fresh) == ["0", "3"]
    assert notebooks.ELSEWHERE.stat().st_size < 200 * 1024
