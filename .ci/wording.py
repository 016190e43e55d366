"""Name turns of phrase that a native speaker would not use, in what people read. It only warns: the exit code is 0.

python .ci/wording.py [path ...]
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
READ = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "docs/**/*.rst",
    "python/multiauc/**/*.py",
    "rust/multiauc/README.md",
)
#: What to look for, and what to write instead.
TURNS = {
    r"\bcertain (?:bounds?|limits?)\b|\bcertified\b": "guaranteed bounds",
    r"\bclosed[- ]form\b|\bin closed form\b": "analytic",
    r"\bcoin toss(?:es)?\b": "chance level",
    r"\bmix of (?:the )?classes\b|\bclass mix\b": "class prevalence",
    r"\bmatrix of costs\b|\bmatrices of costs\b": "cost matrix",
    r"\bhard labels?\b": "predicted labels",
    r"\bis there where\b|\b(?:is|are) there (?:on request|to compare)\b": "is available",
    r"\bof which (?:there )?(?:is|are)\b": "two sentences",
    r"\b[Ss]o that\b": "so, or because",
    r"\bknows? nothing\b": "is at the chance level; says nothing about",
    r"\ball the same\b|\bafter all\b|\ball right\b": "leave it out; correct",
    r"\bsurely worse\b": "sorted by the evidence that … is worse",
    r"\btold (?:from|by)\b": "inferred from",
    r"(?<![</])\bpictures?\b": "figure, plot",
    r"\brooms?\b": "layer",
    r"\b(?:the )?same bits\b": "bit-for-bit reproducible",
}


def main() -> int:
    """Print every line with such a turn, then how many there are."""
    paths = [Path(name) for name in sys.argv[1:]] or sorted({path for glob in READ for path in ROOT.glob(glob)})
    found = 0
    for path in paths:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for turn, better in TURNS.items():
                if match := re.search(turn, line):
                    found += 1
                    print(f"{path.resolve().relative_to(ROOT)}:{number}: {match[0]!r}; better: {better}")
    print(f"{found} turns of phrase to look at")
    return 0


if __name__ == "__main__":
    sys.exit(main())
