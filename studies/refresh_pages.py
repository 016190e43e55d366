"""Rewrite the text blocks of the README and of the docs' pages from what the Python blocks above them print.

For use after a change of numbers or of wording: `python studies/refresh_pages.py [page ...]`, then read the diff.
A page whose blocks raise is left as it is, and named. tests/core/test_readme.py checks the same blocks.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "core"))

from test_readme import FENCE, PAGES, RUN_ELSEWHERE  # type: ignore[import-not-found]  # noqa: E402


def refresh(text: str, page: str) -> str:
    """Run the blocks of a page in turn, in the current folder, and put what they print into the blocks below them."""
    names: dict[str, object] = {}
    found = list(FENCE.finditer(text))
    parts, end = [], 0
    for k, block in enumerate(found):
        below = found[k + 1] if k + 1 < len(found) else None
        if block["language"] != "python" or block["why"] is not None:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["text"], page, "exec"), names)
        if below is not None and below["language"] == "text" and below.start() == block.end() + 1:
            parts += [text[end : below.start("text")], printed.getvalue()]
            end = below.end("text")
    return "".join([*parts, text[end:]])


def main() -> int:
    """Refresh the pages named, or all that tests/core runs."""
    os.environ["MPLBACKEND"] = "agg"
    status = 0
    for page in sys.argv[1:] or [page for page in PAGES if page not in RUN_ELSEWHERE]:
        path = ROOT / page
        text = path.read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            try:
                fresh = refresh(text, page)
            except Exception:  # noqa: BLE001 - whatever a page raises
                traceback.print_exc(limit=-1)
                print(f"{page}: left as it is", flush=True)
                status = 1
                continue
        if fresh != text:
            path.write_text(fresh, "utf-8")
            print(f"{page}: rewritten", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
