"""Put measured figures from benches/RESULTS*.md into the README and the docs, so nobody types them.

    python studies/refresh_figures.py [--check] [page ...]

A page marks each figure with the key of the place it comes from:

    AUC_mu takes <!-- bench: AUC_mu, float64 | 1e6 x 10 | multiauc -->47<!-- /bench --> ms.

Keys
----
`[file:] heading | row | column [| part]`, all from a table of a results file:

file
    What follows RESULTS- in the file's name (`drop-in`, `ratios`, `bootstrap`, …). Without it: RESULTS.md.
heading
    The start of the heading above the table; may be empty in files with a single table.
row
    The start of a row's first entry. Here and in columns `*`, `_` and backticks are ignored, and x
    stands for the multiplication sign, too.
column
    The start of a column's title. If several match, the last one counts: `multiauc` is multiauc on all threads.
part
    `number` (what stands before the brackets), `ratio` (what stands in them), or `whole` (the default). A number of
    digits may follow: `number 2` rounds 3,866 to 3,900.

Three keys stand for more than a figure; their marks are on lines of their own:

`speed table`
    The README's table of times: AUC_mu, M and one-vs-rest, each beside its closest peer.
`two-class table`
    Two classes, a million rows: unweighted, weighted and partial, beside every peer.
`ratio table`
    What weights, groups, standard errors and comparisons cost, as multiples of `auc_mu_score`.

`make bench` runs this script last. Results files without a page in docs/benchmarks get one. With --check nothing is
written, and outdated pages are named.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/**/*.md", "rust/multiauc/README.md")
MARK = re.compile(r"(?P<open><!-- bench: (?P<key>[^\n]*?) -->)(?P<figure>.*?)(?P<close><!-- /bench -->)", re.DOTALL)
TIMES = "\N{MULTIPLICATION SIGN}"
SPEED_SIZES = ("1e5 × 10", "1e6 × 10", "1e7 × 2", "1e5 × 100", "1e6 × 100")  # noqa: RUF001
SPEED_COLUMNS = (
    ("AUC_mu", "CatBoost", "CatBoost `AUC:type=Mu`"),
    ("M", "scikit-learn ovo", "scikit-learn `ovo`"),
    ("one-vs-rest", "torchmetrics exact", "torchmetrics (exact)"),
)


class Table(NamedTuple):
    """A table of a results file with the heading above it."""

    heading: str
    columns: list[str]
    rows: list[list[str]]


@cache
def tables(file: str) -> list[Table]:
    """Read all tables of a results file."""
    path = ROOT / "benches" / ("RESULTS.md" if not file else f"RESULTS-{file}.md")
    found: list[Table] = []
    heading, is_inside = "", False
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            is_inside = False
        elif not is_inside:
            found.append(Table(heading, cells, []))
            is_inside = True
        elif not all(set(cell) <= {"-", ":"} for cell in cells):
            found[-1].rows.append(cells)
    return found


def look_up(key: str) -> str:
    """Return the figure that a key names."""
    parts = [part.strip() for part in key.split("|")]
    if len(parts) not in (3, 4):
        message = f"{key!r} is not of the form [file:] heading | row | column [| part]"
        raise KeyError(message)
    file, separator, heading = parts[0].partition(":")
    if not separator:
        file, heading = "", parts[0]
    heading = heading.strip()
    for table in tables(file.strip()):
        if not _plain(table.heading).startswith(_plain(heading)):
            continue
        for row in table.rows:
            columns = [k for k, column in enumerate(table.columns) if _plain(column).startswith(_plain(parts[2]))]
            if _plain(row[0]).startswith(_plain(parts[1])) and columns:
                return _part(row[columns[-1]], parts[3] if len(parts) == 4 else "whole")
    message = f"{key!r} is nowhere in the results"
    raise KeyError(message)


def _plain(text: str) -> str:
    return re.sub(r"[`*_]", "", text).replace(TIMES, "x")


def _part(cell: str, wanted: str) -> str:
    kind, _, digits = wanted.partition(" ")
    if kind == "ratio":
        cell = cell.partition("(")[2].rstrip(")")
    elif kind == "number":
        cell = cell.partition("(")[0].strip()
    return round_to(cell, int(digits)) if digits else cell


def round_to(text: str, digits: int) -> str:
    """Return the number at the start of a text with fewer digits, and the rest as it is."""
    found = re.match(r"[\d,.]+(?:e[+-]?\d+)?", text)
    if found is None or not float(found[0].replace(",", "")):
        return text
    value = float(found[0].replace(",", ""))
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):,.{max(0, decimals)}f}{text[found.end() :]}"


def _speed_table() -> str:
    lines = [f"| n {TIMES} K | " + " | ".join(f"{metric} | {title}" for metric, _, title in SPEED_COLUMNS) + " |"]
    lines.append("|---|" + "---:|" * (2 * len(SPEED_COLUMNS)))
    for size in SPEED_SIZES:
        cells = [size]
        for metric, peer, _ in SPEED_COLUMNS:
            heading = f"{metric}, float64"
            cells.append(look_up(f"{heading} | {size} | multiauc | number 2"))
            number, ratio = (look_up(f"{heading} | {size} | {peer} | {part}") for part in ("number 3", "ratio"))
            cells.append(f"{number} ({ratio})" if ratio else number)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _whole(file: str, heading: str) -> str:
    table = next(table for table in tables(file) if table.heading.startswith(heading))
    lines = ["| " + " | ".join(table.columns) + " |", "|---|" + "---:|" * (len(table.columns) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in table.rows])


TABLES: dict[str, Callable[[], str]] = {
    "speed table": _speed_table,
    "two-class table": lambda: _whole("two-classes", ""),
    "ratio table": lambda: _whole("ratios", ""),
}


def refresh(text: str) -> str:
    """Return a page with the figures that its marks ask for."""

    def figure(mark: re.Match[str]) -> str:
        make = TABLES.get(mark["key"])
        found = look_up(mark["key"]) if make is None else f"\n\n{make()}\n\n"
        return mark["open"] + found + mark["close"]

    return MARK.sub(figure, text)


def main() -> int:
    """Refresh the pages named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where a page is out of date")
    parser.add_argument("pages", nargs="*", type=Path, help="without any: README.md and docs")
    arguments = parser.parse_args()
    if not arguments.check:
        for results in (ROOT / "benches").glob("RESULTS-*.md"):
            page = ROOT / "docs" / "benchmarks" / results.name.removeprefix("RESULTS-")
            if not page.exists():
                page.write_text(f"```{{include}} ../../benches/{results.name}\n```\n", "utf-8")
    pages = arguments.pages or [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]
    status = 0
    for page in pages:
        text = page.read_text("utf-8")
        fresh = refresh(text)
        if fresh != text:
            print(f"{page}: {'out of date' if arguments.check else 'rewritten'}")
            status |= int(arguments.check)
            if not arguments.check:
                page.write_text(fresh, "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
