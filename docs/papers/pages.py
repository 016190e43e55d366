"""What the scripts beside the pages share: filling the marked places of a page, saving figures, writing tables.

A place is marked by two comments, `<!--[name]-->` and `<!--[/name]-->`; a script computes what stands between them, so
that no number of a page is typed by hand.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

# The same picture has the same bytes.
mpl.rcParams["svg.hashsalt"] = "multiauc"
mpl.rcParams["font.size"] = 9.0

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "figures"
MARKED = re.compile(r"(<!--\[(?P<name>[a-z0-9-]+)\]-->)(?P<text>.*?)(<!--\[/(?P=name)\]-->)", re.DOTALL)


def places(page: str) -> dict[str, str]:
    """What stands in the marked places of a page, without the white space around."""
    return {found["name"]: found["text"].strip() for found in MARKED.finditer((HERE / page).read_text("utf-8"))}


def fill(page: str, texts: Mapping[str, str]) -> None:
    """Write texts into the marked places of a page: tables and paragraphs on lines of their own, words in the line."""
    path = HERE / page
    source = path.read_text("utf-8")
    unknown = texts.keys() - {found["name"] for found in MARKED.finditer(source)}
    if unknown:
        raise ValueError(f"{page} has no place for {', '.join(sorted(unknown))}")

    def replaced(found: re.Match[str]) -> str:
        if found["name"] not in texts:
            return found[0]
        text = texts[found["name"]]
        around = "\n\n" if "\n" in text else ""
        return f"{found[1]}{around}{text}{around}{found[4]}"

    path.write_text(MARKED.sub(replaced, source), "utf-8")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def save(figure: Figure, name: str) -> None:
    """Write a picture beside the pages."""
    FIGURES.mkdir(exist_ok=True)
    # Without a date, for the same reason as above.
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def is_quick(description: str | None) -> bool:
    """Read the command line: whether to compute small versions and to print them instead of writing pages."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small samples, printed: no page or figure is written")
    return bool(parser.parse_args().quick)


def publish(page: str, texts: Mapping[str, str], *, quick: bool) -> None:
    """Fill the page, or only print what would be filled in."""
    if quick:
        for name, text in texts.items():
            print(f"[{name}]\n{text}\n")
    else:
        fill(page, texts)
