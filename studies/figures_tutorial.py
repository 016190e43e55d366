"""The figures of docs/tutorial.md in light and dark, drawn by the code on the page itself (`make figures`)."""

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

import matplotlib as mpl
from matplotlib import style

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES = ("comparison", "pairs")
STYLES = {"": "default", "-dark": "dark_background"}


def main() -> None:
    """Run the page in an empty folder, once in each style, and take its figures from there."""
    mpl.use("agg")
    # The same page gives the same bytes.
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    code = re.findall(r"```python\n(.*?)```", (DOCS / "tutorial.md").read_text("utf-8"), re.DOTALL)
    for ending, name_of_style in STYLES.items():
        style.use(name_of_style)
        mpl.rcParams["svg.hashsalt"] = "multiauc"
        mpl.rcParams["savefig.transparent"] = True
        names: dict[str, object] = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            with contextlib.redirect_stdout(io.StringIO()):
                for block in code:
                    exec(block, names)
            for name in FIGURES:
                lines = Path(f"{name}.svg").read_text("utf-8").splitlines()
                text = "".join(f"{line.rstrip()}\n" for line in lines)
                (DOCS / "figures" / f"tutorial-{name}{ending}.svg").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
