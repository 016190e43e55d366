"""The page docs/clusters.md: sections that need nothing but a library, and whether all are run somewhere."""

import pytest
from page_blocks import run_section, sections

LIBRARIES = ["DuckDB", "Polars", "Beam-style combiners"]
#: Run by the tests of their engines.
ENGINES = ["Dask", "Ray"]


@pytest.mark.parametrize("section", LIBRARIES)
def test_the_examples_print_what_the_page_shows(section):
    run_section("clusters", section)


def test_every_section_with_code_is_run():
    with_code = {heading for heading, text in sections("clusters").items() if "```python" in text}
    assert with_code == {"", *LIBRARIES, *ENGINES}
