"""The command line of a benchmark that writes one report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def write_report(description: str | None, report: Callable[[bool], str]) -> None:
    """Read the command line, measure by `report(smoke)`, and write or print what it returns."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--output", type=Path, help="the file to write; without it the report is printed")
    arguments = parser.parse_args()
    text = report(arguments.smoke)
    if arguments.output is None:
        print(text)
    else:
        arguments.output.write_text(text, encoding="utf-8")
        print(f"wrote {arguments.output}")
