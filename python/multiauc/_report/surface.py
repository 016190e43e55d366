"""The drawing of an ROC surface of three classes: a net of quadrilaterals, seen from above its best corner."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from multiauc._common.wording import shown_name
from multiauc._render.words import joined

WIDTH, HEIGHT = 420, 400
# The middle of the floor's far edge, the pixels of a unit along the floor (across and down) and of a unit up.
CENTRE, TOP, ACROSS, DOWN, UP = 210.0, 34.0, 150.0, 78.0, 165.0
SHADES = 9


def surface(model: dict[str, Any]) -> str:
    """The figure of a model; the floor has the rates of the first two classes, the height is that of the third."""
    found = model["surface"]
    labels = [shown_name(label) for label in found["labels"]]
    rates = np.array(found["rates"])
    name = shown_name(model["name"])
    title = f"ROC surface of {name}: shares of {joined(labels)} that are decided rightly, as offsets vary"
    parts = [
        f'<figure><svg class="chart surface" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        *_frame(),
        *_net(rates),
        *_names(labels),
        f"</svg><figcaption>{escape(name)}</figcaption></figure>",
    ]
    return "".join(parts)


def _place(first: Any, second: Any, third: Any) -> tuple[Any, Any]:
    """On paper: the first rate comes towards the reader to the left, the second to the right."""
    return CENTRE + ACROSS * (second - first), TOP + UP + DOWN * (first + second) - UP * third


def _path(corners: list[tuple[float, float, float]]) -> str:
    return "M" + "L".join("{:.1f},{:.1f}".format(*_place(*corner)) for corner in corners)


def _frame() -> list[str]:
    """The floor and the two walls behind, with lines at quarters."""
    lines = []
    for k in range(5):
        at = k / 4
        lines += [
            _path([(at, 0, 0), (at, 1, 0)]),
            _path([(0, at, 0), (1, at, 0)]),
            _path([(0, 0, at), (1, 0, at)]),
            _path([(0, 0, at), (0, 1, at)]),
            _path([(at, 0, 0), (at, 0, 1)]),
            _path([(0, at, 0), (0, at, 1)]),
        ]
    return [f'<path class="grid" d="{"".join(lines)}"/>']


def _net(rates: Any) -> list[str]:
    """The quadrilaterals from the far corner on, so that those in front cover those behind; the higher the paler."""
    quads = []
    size = rates.shape[1]
    for i in range(size - 1):
        for j in range(size - 1):
            corners = [rates[:, a, b] for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))]
            middle = np.mean(corners, axis=0)
            if np.ptp(corners, axis=0).max() > 0.0:
                shade = min(SHADES - 1, int(SHADES * middle[2]))
                order = float(middle[0] + middle[1] + 0.3 * middle[2])
                points = " ".join("{:.1f},{:.1f}".format(*_place(*corner)) for corner in corners)
                quads.append((order, f'<polygon class="h{shade}" points="{points}"/>'))
    return ['<g class="net">', *(text for _, text in sorted(quads)), "</g>"]


def _names(labels: list[str]) -> list[str]:
    """The three classes, each along an edge where its rate alone varies, and the ends of the edges."""
    first, second, third = (f"{escape(_short(label))} right" for label in labels)
    texts = [(0.5, 1.0, 0.0, 14, 24, "start", first), (1.0, 0.5, 0.0, -14, 24, "end", second)]
    texts.append((1.0, 0.0, 1.0, -34, -18, "start", third))
    for rate in (0.0, 1.0):
        texts += [
            (rate, 1.0, 0.0, 9, 13, "start", f"{rate:g}"),
            (1.0, rate, 0.0, -9, 13, "end", f"{rate:g}"),
            (1.0, 0.0, rate, -9, -2, "end", f"{rate:g}"),
        ]
    parts = []
    for a, b, c, right, below, anchor, text in texts:
        x, y = _place(a, b, c)
        parts.append(f'<text x="{x + right:.1f}" y="{y + below:.1f}" text-anchor="{anchor}">{text}</text>')
    return parts


def _short(label: str) -> str:
    return label if len(label) <= 18 else f"{label[:17]}…"
