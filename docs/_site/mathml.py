"""Formulas as MathML, written by docutils: no script, no font to download, and it works offline and on paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer, by the name that ``html_math_renderer`` asks for."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_without_blanks(tex2mathml(node.astext())))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """A formula may be wider than a phone: it scrolls by itself."""
    writer.body.append(f'<div class="formula">{_without_blanks(tex2mathml(node.astext(), as_block=True))}</div>\n')
    raise nodes.SkipNode


def _without_blanks(element: str) -> str:
    """The lines between elements would be blanks in the middle of a sentence."""
    return re.sub(r">\s+<", "><", element)
