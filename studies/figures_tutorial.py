"""The figures of docs/tutorial.md and README.md in light and dark, drawn by the pages' own code (`make figures`)."""

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

import matplotlib as mpl
from matplotlib import style

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
STYLES = {"": "default", "-dark": "dark_background"}


def blocks_of(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


def main() -> None:
    """Run the pages in an empty folder, once in each style, and collect the figures they save there."""
    mpl.use("agg")
    # The same page gives the same bytes.
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    tutorial = blocks_of(ROOT / "docs" / "tutorial.md")
    readme = [*blocks_of(ROOT / "README.md"), *(block for block in tutorial if "comparison.svg" in block)]
    for ending, name_of_style in STYLES.items():
        style.use(name_of_style)
        mpl.rcParams["svg.hashsalt"] = "multiauc"
        mpl.rcParams["savefig.transparent"] = True
        for page, blocks in {"tutorial": tutorial, "readme": readme}.items():
            names: dict[str, object] = {}
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                with contextlib.redirect_stdout(io.StringIO()):
                    for block in blocks:
                        exec(block, names)
                for figure in sorted(Path().glob("*.svg")):
                    text = "".join(f"{line.rstrip()}\n" for line in figure.read_text("utf-8").splitlines())
                    (FIGURES / f"{page}-{figure.stem}{ending}.svg").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
