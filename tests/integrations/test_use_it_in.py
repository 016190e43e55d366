"""The page "Use it in ...": every section runs with the real library, and prints what the page shows."""

import pytest
from page_blocks import run_section, sections

PAGE = "use-it-in"


@pytest.mark.filterwarnings("ignore")  # of the libraries, about what the examples leave out
@pytest.mark.parametrize(
    "heading", [heading for heading, text in sections(PAGE).items() if heading and "```python" in text]
)
def test_a_section(heading, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_section(PAGE, heading)
