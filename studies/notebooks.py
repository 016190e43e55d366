"""Run the notebooks of examples/ and keep what they print and draw: ``make notebooks``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "examples"
#: It needs torch and MLflow: tests/integrations/test_notebook.py runs it, with the libraries of .venv-integrations.
ELSEWHERE = FOLDER / "training_to_gate.ipynb"


def notebooks() -> list[Path]:
    """The notebooks that need no other libraries than the tests, by name."""
    return sorted(path for path in FOLDER.glob("*.ipynb") if path != ELSEWHERE)


def executed(path: Path) -> Any:
    """The notebook with the outputs of a fresh run, in an empty folder and with no settings but its own."""
    notebook: Any = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "IPYTHONDIR": folder, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        client = NotebookClient(
            notebook,
            timeout=300,
            kernel_name="python3",
            record_timing=False,
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=environment)
    # The version of Python that happened to run it is nothing to keep.
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def main() -> None:
    """Run all notebooks and write their outputs into them."""
    for path in notebooks():
        nbformat.write(executed(path), path)
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
