"""The README and pages of the docs show what their code prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


PAGES_OF_DOCS = (
    "costs", "densities", "hard-labels", "larger-than-memory", "slices", "sparse", "streams", "summary-roc",
    "tutorial", "which-metric", "how-to/choose-a-metric", "how-to/clusters", "how-to/compare-models", "how-to/costs",
    "how-to/cross-validation", "how-to/how-many-rows", "how-to/huge-data", "how-to/missing-classes",
    "how-to/replace-scikit-learn", "how-to/weights-and-groups",
)  # fmt: skip
PAGES = ["README.md", *(f"docs/{page}.md" for page in PAGES_OF_DOCS)]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_print_what_the_page_shows(page, in_empty_folder):
    examples = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    assert examples
    names: dict[str, object] = {}
    for code, shown in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == shown
