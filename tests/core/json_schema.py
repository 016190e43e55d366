"""A small validator of JSON Schema, for the keywords that docs/result.schema.json uses."""

import re

KINDS = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
# What says nothing about values.
WORDS = {"$schema", "$defs", "title", "description"}


def problems(value, schema, root=None, where="$"):
    """What is wrong with a value, in sentences; also what its schema does not describe."""
    root = schema if root is None else root
    if "$ref" in schema:
        return problems(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
    found = []
    for keyword, wanted in schema.items():
        if keyword not in WORDS:
            found += CHECKS[keyword](value, wanted, schema, root, where)
    return found


def _kind(value, wanted, schema, root, where):
    names = [wanted] if isinstance(wanted, str) else wanted
    fits = any(isinstance(value, KINDS[name]) and (name == "boolean" or not isinstance(value, bool)) for name in names)
    return [] if fits else [f"{where}: {value!r} is not of the type {wanted}"]


def _required(value, wanted, schema, root, where):
    return [f"{where}: {name} is missing" for name in wanted if isinstance(value, dict) and name not in value]


def _properties(value, wanted, schema, root, where):
    if not isinstance(value, dict):
        return []
    found = []
    for name, entry in value.items():
        if name in wanted:
            found += problems(entry, wanted[name], root, f"{where}.{name}")
        elif "additionalProperties" not in schema:
            found.append(f"{where}: {name} is not described")
    return found


def _additional(value, wanted, schema, root, where):
    if wanted is True or not isinstance(value, dict):
        return []
    others = {name: entry for name, entry in value.items() if name not in schema.get("properties", {})}
    return [problem for name, entry in others.items() for problem in problems(entry, wanted, root, f"{where}.{name}")]


def _items(value, wanted, schema, root, where):
    if not isinstance(value, list):
        return []
    return [problem for k, entry in enumerate(value) for problem in problems(entry, wanted, root, f"{where}[{k}]")]


def _one_of(value, wanted, schema, root, where):
    each = [problems(value, one, root, where) for one in wanted]
    if sum(not found for found in each) == 1:
        return []
    return [f"{where}: fits {sum(not found for found in each)} of the kinds", *min(each, key=len)]


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _least(value, wanted, schema, root, where):
    return [f"{where}: {value} is below {wanted}"] if _is_number(value) and value < wanted else []


def _most(value, wanted, schema, root, where):
    return [f"{where}: {value} is above {wanted}"] if _is_number(value) and value > wanted else []


def _pattern(value, wanted, schema, root, where):
    return [] if not isinstance(value, str) or re.search(wanted, value) else [f"{where}: {value!r} does not fit"]


def _const(value, wanted, schema, root, where):
    return [] if value == wanted else [f"{where}: {value!r} is not {wanted!r}"]


def _enum(value, wanted, schema, root, where):
    return [] if value in wanted else [f"{where}: {value!r} is not one of {wanted}"]


CHECKS = {
    "type": _kind,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "oneOf": _one_of,
    "minimum": _least,
    "maximum": _most,
    "pattern": _pattern,
    "const": _const,
    "enum": _enum,
}
