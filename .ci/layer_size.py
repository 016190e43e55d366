"""Print how large the Python layer is beside what it should be, and fail where it grows past a limit.

Lines of code are those that are neither blank, nor a comment, nor part of a docstring.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).parent.parent / "python" / "multiauc"

#: What each should be, and the most that is allowed. The two differ where there is still something to tidy up: lower
#: the limit with every step, and raise one only with a reason in the commit message.
LIMITS = {
    "entries in the root": (30, 30),
    "modules in the root": (16, 16),
    "Python files": (110, 100),
    "lines of code": (14_500, 14_500),
    "files called *_results.py": (0, 0),
    "dict[str, Any]": (90, 90),
    "**unknown": (2, 2),
    "stacklevel": (12, 12),
}
NOT_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def lines_of_code(text: str) -> int:
    """Count the lines that hold code."""
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NOT_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            docstring = node.body[0]
            lines -= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return len(lines)


def measure() -> dict[str, int]:
    """Count everything that has a limit."""
    files = sorted(ROOT.rglob("*.py"))
    texts = [path.read_text() for path in files]
    entries = [path for path in ROOT.iterdir() if path.suffix not in {".so", ".pyd"} and path.name != "__pycache__"]
    everything = "\n".join(texts)
    return {
        "entries in the root": len(entries),
        "modules in the root": len(list(ROOT.glob("*.py"))),
        "Python files": len(files),
        "lines of code": sum(map(lines_of_code, texts)),
        "files called *_results.py": sum(path.name.endswith("_results.py") for path in files),
        "dict[str, Any]": everything.count("dict[str, Any]"),
        "**unknown": everything.count("**unknown"),
        "stacklevel": len(re.findall(r"\bstacklevel\b", everything)),
    }


def main() -> None:
    """Print a line per measure; the exit code says whether all limits hold."""
    found = measure()
    for name, count in found.items():
        aim, limit = LIMITS[name]
        print(f"{name:<28}{count:>7}   aim {aim:>6}   limit {limit:>6}")
    sys.exit(any(count > LIMITS[name][1] for name, count in found.items()))


if __name__ == "__main__":
    main()
