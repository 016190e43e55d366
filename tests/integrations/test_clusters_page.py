"""The page on clusters: every section with code prints what it shows."""

from pathlib import Path

import pytest
from page_blocks import run_section, sections

PAGE = (Path(__file__).parents[2] / "docs" / "clusters.md").read_text("utf-8")
#: By what they need to be running.
ENGINES = {"Dask": "dask_client", "Ray": "ray_runtime"}
LIBRARIES = ["DuckDB", "Polars", "Beam-style combiners"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data")  # Ray warns of its own defaults
@pytest.mark.parametrize("section", [*ENGINES, *LIBRARIES])
def test_the_examples_print_what_the_page_shows(section, request):
    if section in ENGINES:
        request.getfixturevalue(ENGINES[section])
    run_section(PAGE, section)


def test_every_section_with_code_is_run():
    with_code = {heading for heading, text in sections(PAGE).items() if "```python" in text}
    assert with_code == {"", *ENGINES, *LIBRARIES}
