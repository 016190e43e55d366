"""Results as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

from multiauc._wording import names_as_text


def without_nan(value: Any) -> Any:
    """The same structure with None for nan and infinity, and text for keys: what JSON has."""
    if isinstance(value, dict):
        return {key: without_nan(entry) for key, entry in zip(names_as_text(value), value.values(), strict=True)}
    if isinstance(value, (list, tuple)):
        return [without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_json(value: Any) -> str:
    """`value` as JSON: null for a missing number, text for a label that JSON does not have."""
    return json.dumps(without_nan(value), default=str)
