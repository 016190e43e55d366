"""Words and numbers as people read them: lists, counts, decimals, p-values."""

from __future__ import annotations

import math
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

SHOWN_AT_MOST = 8

# Terminal control characters: control codes, line ends, changes of direction; also halves of surrogate pairs, which
# cannot be encoded.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def listing(labels: Collection[Hashable]) -> str:
    """Labels separated by commas; the tail of a long list is only counted."""
    shown = ", ".join(repr(label) for label in islice(labels, SHOWN_AT_MOST))
    hidden = len(labels) - SHOWN_AT_MOST
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def printable(text: str) -> str:
    r"""The text with terminal control characters escaped as in JSON (``\u001b``)."""
    return _OBEYED.sub(lambda found: "\\n" if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def shown_name(name: Hashable) -> str:
    """The printed name of a class or model: the name, or words in brackets if it is invisible."""
    text = str(name)
    if any(sign.isprintable() and not sign.isspace() for sign in text):
        return text
    return "(blank)" if text else "(empty)"


def names_as_text(names: Collection[Hashable]) -> list[str]:
    """Names of any kind as text; their ``repr`` if two would otherwise look the same, such as 1 and "1"."""
    texts = [str(name) for name in names]
    return texts if len(set(texts)) == len(texts) else [repr(name) for name in names]


def pluralize(number: int, noun: str, plural: str | None = None) -> str:
    """Number and noun: "1 row", "3 rows"."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def describe_type(value: Any) -> str:
    """A short description of any argument: its type, and its shape if it has one."""
    if value is None or isinstance(value, (str, int, float)):
        return repr(value)
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    return f"{kind} of shape {shape}" if isinstance(shape, tuple) else kind


def one_of(argument: str, value: object, accepted: tuple[str, ...]) -> str:
    """Return `value` if it is one of the accepted words, otherwise raise."""
    if isinstance(value, str) and value in accepted:
        return value
    words = ", ".join(repr(word) for word in accepted)
    raise ValueError(f"{argument} must be one of {words}; got {value!r}{_hint(argument, value)}")


#: Words of other libraries for values of options, by option.
_ELSEWHERE: dict[str, dict[object, str]] = {
    "average": {
        "weighted": "scikit-learn's 'weighted' is 'prevalence'",
        "samples": "for 'samples', the average of multilabel rows, use multiauc.sklearn.roc_auc_score",
        None: "for the values of all classes use one_vs_rest_per_class",
    },
    "kind": {"ovr": "scikit-learn's 'ovr' is 'one_vs_rest'", "ovo": "scikit-learn's 'ovo' is 'pairwise'"},
    "metric": {"ovr": "scikit-learn's 'ovr' is 'one_vs_rest'", "ovo": "scikit-learn's 'ovo' is 'hand_till'"},
    "metrics": {"ovr": "scikit-learn's 'ovr' is 'one_vs_rest'", "ovo": "scikit-learn's 'ovo' is 'hand_till'"},
    "pair_weights": {"weighted": "scikit-learn's 'weighted' of 'ovo' is 'size_sum'"},
}


def _hint(argument: str, value: object) -> str:
    """Our name for a word from another library, if it is known."""
    known = _ELSEWHERE.get(argument, {})
    found = known.get(value) if value is None or isinstance(value, str) else None
    return f" ({found})" if found else ""


# A number closer to 0 than this many decimals can show is printed with an exponent.
DECIMALS_AT_MOST = 9
# Enough for the largest double below 1.
DECIMALS_BELOW_ONE = 16


def decimals(value: float, digits: int = 4, *, sign: bool = False) -> str:
    """The number with `digits` decimals, and with more if it would be rounded to 0, 1 or -1.

    >>> from multiauc._common.wording import decimals
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


def format_interval(low: float, high: float, *, sign: bool = False) -> str:
    """Both limits, or a dash if there are none."""
    return "-" if math.isnan(low) else f"{decimals(low, sign=sign)} to {decimals(high, sign=sign)}"


def p_text(p: float, threshold: float | None = None, digits: int = 4) -> str:
    """A p-value for a table: "0.0312", "< 0.0001"; on its own side of the threshold, if one is given.

    >>> from multiauc._common.wording import p_text
    >>> [p_text(p, 0.05) for p in (0.03123, 1e-9, 0.049999, 0.05, 1.0 - 1e-15)]
    ['0.0312', '< 0.0001', '0.049999', '0.0500', '1.0000']
    """
    if math.isnan(p):
        return "nan"
    smallest = 10.0**-digits
    if p < smallest and (threshold is None or smallest <= threshold):
        return f"< {smallest:.{digits}f}"
    for count in range(digits, DECIMALS_BELOW_ONE):
        text = f"{p:.{count}f}"
        if threshold is None or (float(text) < threshold) == (p < threshold):
            return text
    return repr(p)


def corrected_p(p: float) -> str:
    """A corrected p-value for a table: "0.0312", "<0.0001", ">0.999", and a dash for nan.

    >>> from multiauc._common.wording import corrected_p
    >>> [corrected_p(p) for p in (0.03123, 1e-9, 0.99999, 1.0)]
    ['0.0312', '<0.0001', '>0.999', '1.0000']
    """
    if math.isnan(p):
        return "-"
    return ">0.999" if 0.9995 <= p < 1.0 else p_in_line(p)


def p_in_line(p: float) -> str:
    """The same within a line of text, as in "p 0.0312" and "p <0.0001"."""
    return p_text(p).replace(" ", "")
