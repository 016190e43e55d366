# ruff: noqa: S101 - a smoke test asserts and prints
"""Smoke test of an installed wheel: run by an interpreter that sees the wheel and not the source tree."""

import importlib.metadata
import math
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np

import multiauc

#: Rows of three classes over 16, and what the definitions give for them in rational arithmetic.
SIXTEENTHS = (
    ((8, 4, 4), (5, 6, 5), (10, 4, 2), (6, 4, 6)),
    ((4, 8, 4), (7, 6, 3), (2, 10, 4), (4, 8, 4)),
    ((4, 4, 8), (8, 2, 6), (7, 3, 6), (2, 7, 7), (1, 2, 13)),
)
EXPECTED = {
    multiauc.auc_mu_score: Fraction(73, 80),
    multiauc.hand_till_score: Fraction(883, 960),
    multiauc.one_vs_rest_score: Fraction(991, 1080),
}


def main() -> None:
    """Check where the package came from, what it depends on, and its values for each kind of input."""
    origin = Path(multiauc.__file__).resolve()
    assert not origin.is_relative_to(Path(sys.argv[1]).resolve()), f"{origin} is in the source tree"

    needed = [line for line in importlib.metadata.requires("multiauc") or [] if "extra ==" not in line]
    assert [line.split(">")[0] for line in needed] == ["numpy"], f"needs more than numpy: {needed}"
    installed = {distribution.metadata["Name"].lower() for distribution in importlib.metadata.distributions()}
    assert installed <= {"multiauc", "numpy", "pip", "setuptools"}, f"more than numpy came along: {installed}"

    codes = np.repeat([0, 1, 2], [len(rows) for rows in SIXTEENTHS])
    scores = np.concatenate([np.array(rows) for rows in SIXTEENTHS]) / 16
    for labels in (codes, np.array(["ant", "bee", "cat"])[codes], codes.astype(np.uint8)):
        for dtype in (np.float64, np.float32):
            for score, expected in EXPECTED.items():
                found = score(labels, scores.astype(dtype))
                assert isinstance(found, float), type(found)
                assert math.isclose(found, expected, rel_tol=0, abs_tol=1e-15), f"{score.__name__}: {found}"
    [(first, second, value)] = multiauc.auc_mu_matrix(codes, scores).worst(1)
    assert {first, second} == {0, 2}, (first, second)
    assert value == 0.8, value
    with tempfile.TemporaryDirectory() as folder:
        page = multiauc.evaluate(codes, scores).report(Path(folder) / "report.html", n_resamples=10).read_text("utf-8")
    assert "orders 91.2 of 100 pairs" in page, "the report has another verdict"
    assert page.count("</script>") == 2, "a part of the report's page is missing"
    message = ""
    try:
        multiauc.auc_mu_score(codes, np.where(scores > 0.7, np.nan, scores))
    except ValueError as error:
        message = str(error)
    assert "y_score" in message, f"a NaN score was not refused by name: {message!r}"
    print(f"multiauc {importlib.metadata.version('multiauc')} works from {origin.parent}")


if __name__ == "__main__":
    main()
