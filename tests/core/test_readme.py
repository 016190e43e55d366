"""The README shows what its code prints."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_examples_print_what_the_readme_shows():
    examples = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    for code, shown in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == shown
