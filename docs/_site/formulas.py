"""Formulas as SVG, drawn while the site is built: alike with any font, offline, without scripts, and in the dark."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from sphinx.util.logging import getLogger

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = getLogger(__name__)

UNITS = 100  # per em
FONT = FontProperties(math_fontfamily="cm")
#: LaTeX that matplotlib knows by another name.
ALIASES = {
    r"\\[bB]igg?l\b": r"\\left",
    r"\\[bB]igg?r\b": r"\\right",
    r"\\ge\b": r"\\geq",
    r"\\le\b": r"\\leq",
    r"\\[lr]Vert\b": r"\\|",
    r"\\tfrac": r"\\frac",
    r"(\\d?frac)\s*([\dA-Z])\s*([\dA-Z])": r"\1{\2}{\3}",
}
COMMANDS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer, by the name that ``html_math_renderer`` asks for."""
    app.add_html_math_renderer("svg", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(draw(node.astext()))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    r"""Formulas with a \qquad between them stand below each other on a phone; one that is still too wide scrolls."""
    source = re.sub(r"\\frac(?![a-z])", r"\\dfrac", node.astext())
    source = re.sub(r"(\\sum(?:_(?:\{[^}]*\}|\w))?)", r"\\;\1\\,", source)
    parts = "".join(f"<span>{draw(part)}</span> " for part in re.split(r"\\qquad", source))
    writer.body.append(f'<div class="formula">{parts}</div>\n')
    raise nodes.SkipNode


@cache
def draw(tex: str) -> str:
    """Return an SVG element whose baseline is that of the text around it."""
    source = " ".join(tex.split())
    for ours, theirs in ALIASES.items():
        source = re.sub(ours, theirs, source)
    try:
        outline = TextPath((0, 0), f"${source}$", size=UNITS, prop=FONT)
    except ValueError as error:
        logger.warning("matplotlib cannot draw the formula %s: %s", tex, error)
        return f"<code>{html.escape(tex)}</code>"
    box = outline.get_extents()
    left, low, right, high = box.x0 - 2, min(box.y0, 0) - 2, box.x1 + 2, max(box.y1, 0) + 2
    strokes = "".join(
        COMMANDS[code]
        + " ".join(f"{x:.0f} {-y:.0f}" for x, y in (() if code == Path.CLOSEPOLY else points.reshape(-1, 2)))
        for points, code in outline.iter_segments(simplify=False)
    )
    size = (
        f"width:{(right - left) / UNITS:.3f}em;height:{(high - low) / UNITS:.3f}em;vertical-align:{low / UNITS:.3f}em"
    )
    return (
        f'<svg class="math" role="img" aria-label="{html.escape(tex.strip())}" style="{size}" '
        f'viewBox="{left:.0f} {-high:.0f} {right - left:.0f} {high - low:.0f}"><path d="{strokes}"/></svg>'
    )
