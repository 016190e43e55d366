"""docs/result.schema.json, and what is wrong with a result by it."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))


def _strict(schema):
    """The schema without room for what it does not describe."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _strict(one) for name, one in schema.items()}
    return {"additionalProperties": False} | found if isinstance(schema.get("properties"), dict) else found


STRICT = _strict(SCHEMA)


def problems(value, kind=None):
    """What is wrong with a result, or with a part of one of the given kind, in sentences."""
    schema = STRICT if kind is None else {"$defs": STRICT["$defs"], "$ref": f"#/$defs/{kind}"}
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]
