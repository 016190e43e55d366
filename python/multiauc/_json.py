"""Results as JSON: one layout for `to_dict`, the command line and reports, described in docs/result.schema.json."""

from __future__ import annotations

import json
import math
import platform
from typing import Any

import numpy as np

from multiauc._rust import __version__
from multiauc._wording import names_as_text

#: The version of the layout. A field that is renamed, removed or changed in meaning makes a new one; a new field that
#: may be missing does not.
VERSION = 1


def document(kind: str, level: float, content: dict[str, Any], origin: dict[str, Any]) -> dict[str, Any]:
    """A result that says what it is, in which version of the layout, and where it came from."""
    return {"version": VERSION, "kind": kind, "level": level, **content, "provenance": origin}


def provenance(options: dict[str, Any], files: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Where a result came from: files, options, versions."""
    return {"files": files or [], "options": options, "versions": versions()}


def versions() -> dict[str, str]:
    """What computed the numbers."""
    return {"multiauc": __version__, "NumPy": np.__version__, "Python": platform.python_version()}


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
