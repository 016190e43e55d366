"""Draw time per call against the fastest other tool, from the results files, as docs/benchmarks/speed.svg.

    python benches/chart.py [--check]

Every row of the chart is a row of a table in benches/RESULTS*.md; nothing is measured here. Results that have no page
in docs/benchmarks yet get one. With --check nothing is written, and an outdated chart is an error.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "studies"))

from refresh_figures import tables  # noqa: E402

OUTPUT = ROOT / "docs" / "benchmarks" / "speed.svg"
#: (title, results file, start of the heading, start of the row).
ROWS = (
    ("AUC_mu, 1e6 \N{MULTIPLICATION SIGN} 10", "", "AUC_mu, float64", "1e6 \N{MULTIPLICATION SIGN} 10"),
    ("Hand & Till's M, 1e6 \N{MULTIPLICATION SIGN} 10", "", "M, float64", "1e6 \N{MULTIPLICATION SIGN} 10"),
    ("one-vs-rest, 1e6 \N{MULTIPLICATION SIGN} 10", "", "one-vs-rest, float64", "1e6 \N{MULTIPLICATION SIGN} 10"),
    ("one-vs-rest, 1e5 \N{MULTIPLICATION SIGN} 100", "", "one-vs-rest, float64", "1e5 \N{MULTIPLICATION SIGN} 100"),
    ("two classes, 1e6 rows", "two-classes", "", "two classes"),
    ("two classes, weighted", "two-classes", "", "two classes, weighted"),
    ("two classes, max_fpr=0.1", "two-classes", "", "two classes, `max_fpr=0.1`"),
)
WIDTH, LEFT, RIGHT, ROW, TOP = 760, 210, 190, 46, 46
OURS, THEIRS, INK = "#0b6e4f", "#b8bfc6", "#24292f"


class Bar(NamedTuple):
    """One row: our milliseconds, and those of the fastest other tool."""

    title: str
    ours: float
    theirs: float
    tool: str


def _milliseconds(cell: str) -> float | None:
    found = re.match(r"[\d,.]+", cell)
    return None if found is None else float(found[0].replace(",", ""))


def bars() -> list[Bar]:
    """Read the rows of the chart; those not measured yet are left out."""
    found = []
    for title, file, heading, name in ROWS:
        if file and not (ROOT / "benches" / f"RESULTS-{file}.md").exists():
            continue
        table = next((table for table in tables(file) if table.heading.startswith(heading)), None)
        row = next((row for row in table.rows if row[0] == name), None) if table else None
        if table is None or row is None:
            continue
        times = {column: _milliseconds(cell) for column, cell in zip(table.columns[1:], row[1:], strict=True)}
        ours = [time for column, time in times.items() if column.startswith("multiauc") and time]
        others = {
            column.partition(",")[0]: time
            for column, time in sorted(times.items(), key=lambda item: -(item[1] or math.inf))
            if time and not column.startswith(("multiauc", "on CPU"))
        }
        if ours and others:
            tool = min(others, key=others.__getitem__)
            found.append(Bar(title, min(ours), others[tool], tool))
    return found


def _time(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.3g} ms"


def draw(rows: list[Bar]) -> str:
    """Return the chart as SVG, on a logarithmic scale."""
    low = 10.0 ** math.floor(math.log10(min(row.ours for row in rows)))
    high = max(row.theirs for row in rows)
    scale = (WIDTH - LEFT - RIGHT) / math.log10(high / low)

    def length(milliseconds: float) -> float:
        return round(scale * math.log10(milliseconds / low), 1)

    height = TOP + ROW * len(rows) + 12
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'font-family="system-ui, sans-serif" font-size="13" fill="{INK}">'
        ),
        "<title>Time per call against the fastest other tool</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="12" y="20" font-weight="600">Time per call against the fastest other tool</text>',
        '<text x="12" y="37" font-size="11">shorter is better; logarithmic scale; made by make bench</text>',
    ]
    for index, row in enumerate(rows):
        y = TOP + ROW * index
        lines += [
            f'<text x="{LEFT - 10}" y="{y + 24}" text-anchor="end">{row.title.replace("&", "&amp;")}</text>',
            f'<rect x="{LEFT}" y="{y + 4}" width="{length(row.ours)}" height="16" fill="{OURS}"/>',
            f'<text x="{LEFT + length(row.ours) + 6}" y="{y + 17}">multiauc {_time(row.ours)}</text>',
            f'<rect x="{LEFT}" y="{y + 22}" width="{length(row.theirs)}" height="16" fill="{THEIRS}"/>',
            (
                f'<text x="{LEFT + length(row.theirs) + 6}" y="{y + 35}">{row.tool} {_time(row.theirs)} '
                f'<tspan font-weight="600">({row.theirs / row.ours:.2g}\N{MULTIPLICATION SIGN})</tspan></text>'
            ),
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> int:
    """Write the chart, or check it."""
    chart = draw(bars())
    if "--check" in sys.argv[1:]:
        is_current = OUTPUT.exists() and OUTPUT.read_text("utf-8") == chart
        print(f"{OUTPUT.relative_to(ROOT)}: {'as measured' if is_current else 'out of date'}")
        return int(not is_current)
    OUTPUT.write_text(chart, "utf-8")
    for results in sorted((ROOT / "benches").glob("RESULTS-*.md")):
        page = OUTPUT.with_name(results.name.removeprefix("RESULTS-"))
        if not page.exists():
            page.write_text(f"```{{include}} ../../benches/{results.name}\n```\n", "utf-8")
    print(f"wrote {OUTPUT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
