"""Names of multiauc in code type link to the reference, on every page and in every docstring."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Pages on which a word in code type is a command, an option or a line of a table, not a function.
LEFT_ALONE = ("command-line", "json", "changelog", "decisions/", "benchmarks/")


def setup(app: Sphinx) -> dict[str, bool]:
    """Link when all pages have been read."""
    app.connect("doctree-resolved", _link)
    app.connect("doctree-resolved", lambda _app, tree, _page: _break_in_tables(tree))
    app.connect("autodoc-process-signature", _shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _link(app: Sphinx, tree: nodes.document, page: str) -> None:
    if page.startswith(LEFT_ALONE):
        return
    known = app.env.domains.python_domain.objects
    for literal in list(tree.findall(nodes.literal)):
        if _is_inside(literal, nodes.reference, nodes.title, addnodes.desc_signature):
            continue
        around = _described(literal)
        for name in _candidates(literal.astext(), around):
            if name in known and name not in around:
                entry = known[name]
                label = literal.deepcopy()
                link = make_refnode(app.builder, page, entry.docname, entry.node_id, label, name)
                literal.parent.replace(literal, link)
                break


def _break_in_tables(tree: nodes.document) -> None:
    """Let code in narrow tables break behind dots, brackets and underscores only."""
    for entry in tree.findall(nodes.entry):
        for literal in entry.findall(nodes.literal):
            parts = re.findall(r"[^._(=,/]*[._(=,/]?", literal.astext())
            literal.clear()
            for part in filter(None, parts):
                literal += [nodes.Text(part), nodes.raw("", "<wbr>", format="html")]
            literal.pop()


def _candidates(text: str, around: list[str]) -> list[str]:
    """What a text may stand for, the nearest first: a method of the class described, or a public name."""
    name = re.sub(r"\(.*\)$", "", text.strip(), flags=re.DOTALL)
    if not re.fullmatch(r"[A-Za-z_][\w.]*", name):
        return []
    return [f"{owner}.{name}" for owner in around] + [f"multiauc.{name}", name]


def _described(node: nodes.Node) -> list[str]:
    """The full names of what a docstring around this node belongs to: the method, then its class."""
    names = []
    at = node.parent
    while at is not None:
        if isinstance(at, addnodes.desc) and isinstance(at[0], addnodes.desc_signature) and at[0]["ids"]:
            names.append(at[0]["ids"][0])
        at = at.parent
    return names


def _is_inside(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    at = node.parent
    while at is not None:
        if isinstance(at, kinds):
            return True
        at = at.parent
    return False


def _shorten(
    app: Sphinx, what: str, name: str, value: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Leave out what nobody writes: the catch-all of unknown options, and fields of results, which functions make.

    Defaults stand as they are written, but for constants, whose names are private.
    """
    del app, name, options
    if what == "class" and hasattr(value, "__dataclass_fields__"):
        return "", None
    if signature is None:
        return None, returns
    module = sys.modules.get(getattr(value, "__module__", None) or "")

    def constant(default: re.Match[str]) -> str:
        return f"={getattr(module, default[1])!r}" if hasattr(module, default[1]) else default[0]

    return re.sub(r"=([A-Z_]{2,})\b", constant, re.sub(r",?\s*\*\*unknown", "", signature)), returns
