"""How numbers are printed: one rule for reports, tables and reprs."""

from __future__ import annotations

import math

# A number closer to 0 than this many decimals can show is printed with an exponent.
DECIMALS_AT_MOST = 9
# Enough for the largest double below 1.
DECIMALS_BELOW_ONE = 16


def decimals(value: float, digits: int = 4, *, sign: bool = False) -> str:
    """The number with `digits` decimals, and with more where it would read as 0, 1 or -1 without being it.

    >>> from multiauc._digits import decimals
    >>> [decimals(value) for value in (0.91234, 0.99997, 1.0, 0.00003, -2e-17, 0.0)]
    ['0.9123', '0.99997', '1.0000', '0.00003', '-2e-17', '0.0000']
    """
    plus = "+" if sign else ""
    if value == 0.0 or not abs(value) < 1.0:
        return f"{value + 0.0:{plus}.{digits}f}"  # + 0.0 turns -0.0 into 0.0
    most = DECIMALS_BELOW_ONE if abs(value) > 0.5 else DECIMALS_AT_MOST
    for count in range(digits, max(digits, most) + 1):
        text = f"{value:{plus}.{count}f}"
        if abs(float(text)) not in (0.0, 1.0):
            return text
    return f"{value:{plus}.0e}"


def p_text(p: float, threshold: float | None = None, digits: int = 4) -> str:
    """A p-value for a table: "0.0312", "< 0.0001"; on its own side of the threshold, if one is given.

    >>> from multiauc._digits import p_text
    >>> [p_text(p, 0.05) for p in (0.03123, 1e-9, 0.049999, 0.05)]
    ['0.0312', '< 0.0001', '0.049999', '0.0500']
    """
    if math.isnan(p):
        return "nan"
    smallest = 10.0**-digits
    if p < smallest and (threshold is None or smallest <= threshold):
        return f"< {smallest:.{digits}f}"
    for count in range(digits, DECIMALS_BELOW_ONE):
        text = decimals(p, count)
        if threshold is None or (float(text) < threshold) == (p < threshold):
            return text
    return repr(p)


def corrected_p(p: float) -> str:
    """A corrected p-value for a table: "0.0312", "<0.0001", ">0.999", and a dash for nan.

    >>> from multiauc._digits import corrected_p
    >>> [corrected_p(p) for p in (0.03123, 1e-9, 0.99999, 1.0)]
    ['0.0312', '<0.0001', '>0.999', '1.0000']
    """
    if math.isnan(p):
        return "-"
    return ">0.999" if 0.9995 <= p < 1.0 else p_in_line(p)


def p_in_line(p: float) -> str:
    """The same within a line of text, as in "p 0.0312" and "p <0.0001"."""
    return p_text(p).replace(" ", "")
