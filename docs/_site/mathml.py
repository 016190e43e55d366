"""Formulas as MathML, written by docutils: no script, no font to download, and it works offline and on paper."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ACCENTS = tuple("\u02c9\u00af\u02c6\u02dc\u02d9")  # bar, macron, hat, tilde, dot


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer, by the name that ``html_math_renderer`` asks for."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_tidied(tex2mathml(node.astext())))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """A formula may be wider than a phone: it scrolls by itself."""
    writer.body.append(f'<div class="formula">{_tidied(tex2mathml(node.astext(), as_block=True))}</div>\n')
    raise nodes.SkipNode


def _tidied(element: str) -> str:
    """Without the lines between elements, which would be blanks in a sentence, and with the index of x̄ beside it."""
    ET.register_namespace("", NAMESPACE)
    named = re.sub(r"&(?!amp;|lt;|gt;|#)\w+;", lambda entity: html.unescape(entity[0]), element)
    root = ET.fromstring(re.sub(r">\s+<", "><", named))  # noqa: S314 - docutils wrote it
    for node in root.iter(f"{{{NAMESPACE}}}munderover"):
        base, index, above = node
        if above.text in ACCENTS:
            # docutils puts an index below a letter that has an accent, as it does with limits of a sum.
            accented = ET.Element(f"{{{NAMESPACE}}}mover", accent="true")
            accented.extend([base, above])
            node[:] = [accented, index]
            node.tag = f"{{{NAMESPACE}}}msub"
    return ET.tostring(root, encoding="unicode")
