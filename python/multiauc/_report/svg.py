"""Drawings of a report: ROC curves with bands, ROC surfaces, estimates with intervals.

Colours come from the page's style sheet.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.wording import shown_name
from multiauc._display.words import format_number, join_words
from multiauc.plotting._roc_frame import BAND_FROM_ZOOM, zoom_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc._display import model as views

ROC_SIDE = 420
ROC_LEFT, ROC_TOP, ROC_RIGHT, ROC_BOTTOM = 58, 12, 24, 46
SMALL_SIDE, SMALL_LEFT, SMALL_TOP = 150, 26, 8
COLOURS = 7
# So many models stay together on one page of paper.
ONE_PAGE = 20

# Of a surface: the middle of the floor's far edge, the pixels of a unit along the floor (across and down) and of a unit
# up.
SURFACE_WIDTH, SURFACE_HEIGHT = 420, 400
CENTRE, TOP, ACROSS, DOWN, UP = 210.0, 34.0, 150.0, 78.0, 165.0
SHADES = 9


def choose_colour(k: int) -> str:
    """The classes of model k: seven colours, and other dashes for the eighth and on."""
    return f"m{k % COLOURS} d{(k + k // COLOURS) % COLOURS}"


def draw_curves(models: Sequence[views.Model]) -> list[str]:
    """The multi-class ROC curves of the models; and their corner enlarged, where they are squeezed into it."""
    zoom = zoom_of((model.roc.fpr, model.roc.tpr) for model in models if model.roc is not None)
    whole = _draw_panel(models, 1.0, marked=zoom)
    if zoom is None:
        return [whole]
    times = f"{1.0 / zoom:g}"
    no_band = "" if zoom >= BAND_FROM_ZOOM else ", without bands"
    caption = f"<figcaption>The upper left corner, {times} times as large{no_band}</figcaption>"
    return [whole, _draw_panel(models, zoom, caption=caption)]


def _draw_panel(models: Sequence[views.Model], window: float, *, marked: float | None = None, caption: str = "") -> str:
    """The curves in the corner of side `window`; `marked` is the corner that another panel enlarges."""
    width, height = ROC_LEFT + ROC_SIDE + ROC_RIGHT, ROC_TOP + ROC_SIDE + ROC_BOTTOM
    name = "roc-title" if window == 1.0 else "zoom-title"

    def place(x: float, y: float) -> str:
        return f"{ROC_SIDE * x / window:.1f},{ROC_SIDE * (1 - y) / window:.1f}"

    parts = [
        f'<figure><svg class="chart roc" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}">',
        f'<title id="{name}">{escape(_describe_curves(models, window))}</title>',
        *_draw_frame(window),
        # A drawing of its own: what lies outside the window is cut off.
        f'<svg x="{ROC_LEFT}" y="{ROC_TOP}" width="{ROC_SIDE}" height="{ROC_SIDE}" role="presentation">',
    ]
    if window == 1.0:
        parts.append(f'<path class="chance" d="M{place(0, 0)}L{place(1, 1)}"/>')
    if marked is not None:
        side = ROC_SIDE * marked
        parts.append(f'<rect class="marked" x="0.5" y="0.5" width="{side:.1f}" height="{side:.1f}"/>')
    for k, model in enumerate(models):
        if model.roc is not None:
            parts.append(f'<g class="curve {choose_colour(k)}" data-model="{k}">')
            band = model.roc.band if window >= BAND_FROM_ZOOM else None
            if band is not None:
                upper = [place(x, y) for x, y in zip(band.fpr, band.high, strict=True)]
                lower = [place(x, y) for x, y in zip(band.fpr, band.low, strict=True)]
                parts.append(f'<path class="band" d="M{"L".join(upper + lower[::-1])}Z"/>')
            points = [place(x, y) for x, y in zip(model.roc.fpr, model.roc.tpr, strict=True)]
            parts.append(f'<path class="line" d="M{"L".join(points)}"/></g>')
    return "".join([*parts, "</svg></svg>", caption, "</figure>"])


def _draw_frame(window: float) -> list[str]:
    """Grid lines, ticks and the names of the axes."""
    bottom = ROC_TOP + ROC_SIDE
    digits = max(1, 1 - math.floor(math.log10(window) + 1e-9))
    parts = []
    for k in range(6):
        along = ROC_SIDE * k / 5
        x, y = ROC_LEFT + along, bottom - along
        across, up = window * k / 5, 1.0 - window * (5 - k) / 5
        parts += [
            f'<path class="grid" d="M{ROC_LEFT},{y:.1f}h{ROC_SIDE}M{x:.1f},{ROC_TOP}v{ROC_SIDE}"/>',
            f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{across:.{digits}f}</text>',
            f'<text x="{ROC_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{up:.{digits}f}</text>',
        ]
    middle_x, middle_y = ROC_LEFT + ROC_SIDE // 2, ROC_TOP + ROC_SIDE // 2
    return [
        *parts,
        f'<text x="{middle_x}" y="{bottom + 38}" text-anchor="middle">false-positive rate</text>',
        f'<text class="upright" transform="translate(13 {middle_y}) rotate(-90)">true-positive rate</text>',
    ]


def _describe_curves(models: Sequence[views.Model], window: float) -> str:
    areas = [
        f"{shown_name(model.name)}: area {format_number(model.roc.auc)}" for model in models if model.roc is not None
    ]
    what = "Multi-class ROC curves" if window == 1.0 else f"The same curves up to a false-positive rate of {window:g}"
    return f"{what}. {'; '.join(areas)}"


def draw_reliability(curve: views.Reliability) -> str:
    """A small panel: how often a class occurs over its predicted probability, with limits."""
    left, top, side = SMALL_LEFT, SMALL_TOP, SMALL_SIDE

    def place(x: float, y: float) -> str:
        return f"{left + side * x:.1f},{top + side * (1.0 - y):.1f}"

    ticks = "".join(
        f'<text x="{left + side * tick:g}" y="{top + side + 15}" text-anchor="middle">{tick:g}</text>'
        f'<text x="{left - 5}" y="{top + side * (1 - tick) + 4:g}" text-anchor="end">{tick:g}</text>'
        for tick in (0.0, 0.5, 1.0)
    )
    grid = "".join(f"M{place(0, tick)}h{side}M{place(tick, 0)}v-{side}" for tick in (0.0, 0.5, 1.0))
    edges = curve.high, curve.observed, curve.low
    upper, line, lower = (list(map(place, curve.predicted, edge)) for edge in edges)
    limits = "".join(f"M{low}L{high}" for low, high in zip(lower, upper, strict=True))
    name = escape(shown_name(curve.label))
    return (
        f'<figure><svg class="chart small" viewBox="0 0 {left + side + 12} {top + side + 20}" role="img" '
        f'aria-label="Reliability of {name}">{ticks}<path class="grid" d="{grid}"/>'
        f'<path class="chance" d="M{place(0, 0)}L{place(1, 1)}"/><g class="m0">'
        f'<path class="band" d="M{"L".join(upper + lower[::-1])}Z"/><path class="line thin" d="{limits}"/>'
        f'<path class="line" d="M{"L".join(line)}"/><path class="line dots" d="M{"h0M".join(line)}h0"/></g></svg>'
        f"<figcaption>{name}</figcaption></figure>"
    )


def draw_estimates(models: Sequence[views.Model], metric: str, name: str) -> str:
    """A dot and an interval for each model, on one scale; names are text of the page, which wraps where it must."""
    found = [model.metrics[metric] for model in models]
    ends = [end for one in found for end in (one.low, one.value, one.high) if end is not None]
    if not ends:
        return ""
    low, high, step = _choose_scale(min(ends), max(ends))

    def x(value: float) -> str:
        return f"{100 * (value - low) / (high - low):.2f}%"

    count = round((high - low) / step)
    ticks = [low + k * step for k in range(count + 1)]
    grid = "".join(f'<line class="grid" x1="{x(tick)}" x2="{x(tick)}" y1="0" y2="100%"/>' for tick in ticks)
    rows = []
    for k, (model, one) in enumerate(zip(models, found, strict=True)):
        bar = dot = ""
        if one.low is not None and one.high is not None:
            bar = f'<line class="line solid" x1="{x(one.low)}" x2="{x(one.high)}" y1="50%" y2="50%"/>'
        if one.value is not None:
            dot = f'<circle class="dot" cx="{x(one.value)}" cy="50%" r="5"/>'
        drawing = f'<svg class="chart" aria-hidden="true">{grid}<g class="{choose_colour(k)}">{bar}{dot}</g></svg>'
        label = f'<span class="forest-name">{escape(shown_name(model.name))}</span>'
        rows.append(f'<div class="forest-row">{label}<div class="track">{drawing}</div></div>')
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    # Every second tick has its number: all of them would touch on a phone.
    numbers = "".join(
        f'<text class="{"every" if k % 2 == 0 else "roomy"}" x="{x(tick)}" y="14">{tick:.{digits}f}</text>'
        for k, tick in enumerate(ticks)
    )
    texts = "; ".join(
        f"{shown_name(model.name)} {format_number(one.value)}" for model, one in zip(models, found, strict=True)
    )
    title = escape(f"{name} with intervals. {texts}")
    axis = f'<svg class="chart axis" aria-hidden="true">{numbers}</svg>'
    kind = "forest short" if len(models) <= ONE_PAGE else "forest"
    return (
        f'<div class="{kind}" role="img" aria-label="{title}">{"".join(rows)}'
        f'<div class="forest-row"><span class="forest-name axis-name">{escape(name)}</span>{axis}</div></div>'
    )


def _choose_scale(low: float, high: float) -> tuple[float, float, float]:
    """Round ends and step of an axis that covers low to high."""
    span = max(high - low, 1e-4)
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * factor for factor in (0.2, 0.5, 1, 2) if span / (power * factor) <= 6)
    first, last = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return (first, last, step) if last > first else (first - step, first + step, step)


def draw_surface(name: str, found: views.Surface) -> str:
    """The ROC surface of three classes: a net of quadrilaterals, seen from above its best corner.

    The floor has the rates of the first two classes, the height is that of the third.
    """
    labels = [shown_name(label) for label in found.labels]
    rates = np.array(found.rates)
    name = shown_name(name)
    title = f"ROC surface of {name}: shares of {join_words(labels)} that are decided rightly, as offsets vary"
    size = f"0 0 {SURFACE_WIDTH} {SURFACE_HEIGHT}"
    parts = [
        f'<figure><svg class="chart surface" viewBox="{size}" role="img" aria-label="{escape(title)}">',
        *_draw_walls(),
        *_draw_net(rates),
        *_draw_names(labels),
        f"</svg><figcaption>{escape(name)}</figcaption></figure>",
    ]
    return "".join(parts)


def _place(first: Any, second: Any, third: Any) -> tuple[Any, Any]:
    """On paper: the first rate comes towards the reader to the left, the second to the right."""
    return CENTRE + ACROSS * (second - first), TOP + UP + DOWN * (first + second) - UP * third


def _path(corners: list[tuple[float, float, float]]) -> str:
    return "M" + "L".join("{:.1f},{:.1f}".format(*_place(*corner)) for corner in corners)


def _draw_walls() -> list[str]:
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


def _draw_net(rates: NDArray[np.float64]) -> list[str]:
    """The quadrilaterals from the far corner on, so those in front cover those behind; the higher the paler."""
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


def _draw_names(labels: list[str]) -> list[str]:
    """The three classes, each along an edge where its rate alone varies, and the ends of the edges."""
    first, second, third = (f"{escape(_shorten(label))} right" for label in labels)
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


def _shorten(label: str) -> str:
    return label if len(label) <= 18 else f"{label[:17]}…"
