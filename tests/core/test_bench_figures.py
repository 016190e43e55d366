"""Figures in the README and the docs are those of the results files."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "studies" / "refresh_figures.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the sources of the project are needed")


@pytest.fixture(scope="module")
def script():
    specification = importlib.util.spec_from_file_location("refresh_figures", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_every_marked_figure_is_the_measured_one(script):
    for page in (path for pattern in script.PAGES for path in ROOT.glob(pattern)):
        text = page.read_text("utf-8")
        assert text.count("<!-- bench:") == text.count("<!-- /bench -->") == len(script.MARK.findall(text)), page
        assert script.refresh(text) == text, f"{page}: run studies/refresh_figures.py"


def test_keys_lead_to_entries(script, tmp_path, monkeypatch):
    (tmp_path / "benches").mkdir()
    (tmp_path / "benches" / "RESULTS.md").write_text(
        "# R\n\n### M, float64\n\n| n | multiauc, 1 thread | multiauc, 2 threads | peer `x` |\n|---|---:|---:|---:|\n"
        "| 1e5 | 7.123 | 3.9 | 3,866 (92.1×) |\n",  # noqa: RUF001
        "utf-8",
    )
    monkeypatch.setattr(script, "ROOT", tmp_path)
    script.tables.cache_clear()
    try:
        assert script.look_up("M, float64 | 1e5 | multiauc") == "3.9"
        assert script.look_up("M | 1e5 | multiauc, 1 thread | number 2") == "7.1"
        assert script.look_up("M | 1e5 | peer x | ratio") == "92.1×"  # noqa: RUF001
        assert script.look_up("M | 1e5 | peer | ratio 1") == "90×"  # noqa: RUF001
        assert script.look_up("M | 1e5 | peer | number 2") == "3,900"
        page = "takes <!-- bench: M | 1e5 | multiauc -->?<!-- /bench --> ms"
        assert script.refresh(page) == "takes <!-- bench: M | 1e5 | multiauc -->3.9<!-- /bench --> ms"
        for wrong in ("M | 1e6 | multiauc", "M | 1e5", "Z | 1e5 | multiauc"):
            with pytest.raises(KeyError):
                script.look_up(wrong)
    finally:
        script.tables.cache_clear()
