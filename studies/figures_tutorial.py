"""The pictures of docs/tutorial.md, drawn by the code on the page itself (`make figures`)."""

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

import matplotlib as mpl

DOCS = Path(__file__).resolve().parent.parent / "docs"
PICTURES = {"pairs.svg": "tutorial-pairs.svg", "comparison.svg": "tutorial-comparison.svg"}


def main() -> None:
    """Run the page in an empty folder and take its pictures from there."""
    mpl.use("agg")
    # The same page gives the same bytes.
    mpl.rcParams["svg.hashsalt"] = "multiauc"
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    names: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for code in re.findall(r"```python\n(.*?)```", (DOCS / "tutorial.md").read_text("utf-8"), re.DOTALL):
            exec(code, names)
        for drawn, kept in PICTURES.items():
            lines = Path(drawn).read_text("utf-8").splitlines()
            (DOCS / "figures" / kept).write_text("".join(f"{line.rstrip()}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
