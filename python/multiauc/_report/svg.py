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
from multiauc._report import fill
from multiauc.plotting._base import BAND_FROM_ZOOM, zoom_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from multiauc._display import model as views

ROC_SIDE = 420
ROC_LEFT, ROC_TOP = 58, 12
SMALL_SIDE, SMALL_LEFT, SMALL_TOP = 150, 26, 8
COLOURS = 7
# So many models stay together on one page of paper.
ONE_PAGE = 20

# Of a surface: the middle of the floor's far edge, the pixels of a unit along the floor (across and down) and of a unit
# up.
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
    no_band = "" if zoom >= BAND_FROM_ZOOM else ", without bands"
    return [whole, _draw_panel(models, zoom, caption=f"The upper left corner, {1.0 / zoom:g} times as large{no_band}")]


def _draw_panel(models: Sequence[views.Model], window: float, *, marked: float | None = None, caption: str = "") -> str:
    """The curves in the corner of side `window`; `marked` is the corner that another panel enlarges."""

    def place(x: float, y: float) -> str:
        return f"{ROC_SIDE * x / window:.1f},{ROC_SIDE * (1 - y) / window:.1f}"

    parts = []
    if window == 1.0:
        parts.append(f'<path class="chance" d="M{place(0, 0)}L{place(1, 1)}"/>')
    if marked is not None:
        side = ROC_SIDE * marked
        parts.append(f'<rect class="marked" x="0.5" y="0.5" width="{side:.1f}" height="{side:.1f}"/>')
    for k, model in enumerate(models):
        if model.roc is not None:
            band = _draw_band(place, model.roc.band) if window >= BAND_FROM_ZOOM else ""
            line = "L".join(map(place, model.roc.fpr, model.roc.tpr))
            colour = choose_colour(k)
            parts.append(f'<g class="curve {colour}" data-model="{k}">{band}<path class="line" d="M{line}"/></g>')
    return fill(
        "roc panel",
        name="roc-title" if window == 1.0 else "zoom-title",
        title=escape(_describe_curves(models, window)),
        frame=_draw_frame(window),
        curves="".join(parts),
        caption=f"<figcaption>{caption}</figcaption>" if caption else "",
    )


def _draw_band(place: Callable[[float, float], str], band: views.Band | None) -> str:
    if band is None:
        return ""
    upper, lower = (list(map(place, band.fpr, edge)) for edge in (band.high, band.low))
    return f'<path class="band" d="M{"L".join(upper + lower[::-1])}Z"/>'


def _draw_frame(window: float) -> str:
    """Grid lines and ticks."""
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
    return "".join(parts)


def _describe_curves(models: Sequence[views.Model], window: float) -> str:
    areas = [
        f"{shown_name(model.name)}: area {format_number(model.roc.auc)}" for model in models if model.roc is not None
    ]
    what = "Multi-class ROC curves" if window == 1.0 else f"The same curves up to a false-positive rate of {window:g}"
    return f"{what}. {'; '.join(areas)}"


def draw_reliability(curve: views.Reliability) -> str:
    """A small panel: how often a class occurs over its predicted probability, with limits."""

    def place(x: float, y: float) -> str:
        return f"{SMALL_LEFT + SMALL_SIDE * x:.1f},{SMALL_TOP + SMALL_SIDE * (1.0 - y):.1f}"

    upper, line, lower = (list(map(place, curve.predicted, edge)) for edge in (curve.high, curve.observed, curve.low))
    return fill(
        "reliability panel",
        name=escape(shown_name(curve.label)),
        band="L".join(upper + lower[::-1]),
        limits="".join(f"M{low}L{high}" for low, high in zip(lower, upper, strict=True)),
        line="L".join(line),
        dots="h0M".join(line),
    )


def draw_estimates(models: Sequence[views.Model], metric: str, name: str) -> str:
    """A dot and an interval for each model, on one scale; names are text of the page, which wraps where it must."""
    found = {model.name: model.metrics[metric] for model in models}
    ends = [end for one in found.values() for end in (one.low, one.value, one.high) if end is not None]
    if not ends:
        return ""
    low, high, step = _choose_scale(min(ends), max(ends))

    def x(value: float) -> str:
        return f"{100 * (value - low) / (high - low):.2f}%"

    ticks = [low + k * step for k in range(round((high - low) / step) + 1)]
    grid = "".join(f'<line class="grid" x1="{x(tick)}" x2="{x(tick)}" y1="0" y2="100%"/>' for tick in ticks)
    rows = []
    for k, (model, one) in enumerate(found.items()):
        drawn = ""
        if one.low is not None and one.high is not None:
            drawn = f'<line class="line solid" x1="{x(one.low)}" x2="{x(one.high)}" y1="50%" y2="50%"/>'
        if one.value is not None:
            drawn += f'<circle class="dot" cx="{x(one.value)}" cy="50%" r="5"/>'
        label = escape(shown_name(model))
        rows.append(fill("forest row", name=label, grid=grid, colour=choose_colour(k), drawn=drawn))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    # Every second tick has its number: all of them would touch on a phone.
    numbers = "".join(
        f'<text class="{"every" if k % 2 == 0 else "roomy"}" x="{x(tick)}" y="14">{tick:.{digits}f}</text>'
        for k, tick in enumerate(ticks)
    )
    texts = "; ".join(f"{shown_name(model)} {format_number(one.value)}" for model, one in found.items())
    return fill(
        "forest",
        kind="forest short" if len(models) <= ONE_PAGE else "forest",
        title=escape(f"{name} with intervals. {texts}"),
        rows="".join(rows),
        name=escape(name),
        numbers=numbers,
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
    labels, name = [shown_name(label) for label in found.labels], shown_name(name)
    title = f"ROC surface of {name}: true positive rates of {join_words(labels)} as offsets vary"
    return fill(
        "surface",
        title=escape(title),
        walls=_draw_walls(),
        net=_draw_net(np.array(found.rates)),
        names=_draw_names(labels),
        name=escape(name),
    )


def _place(first: Any, second: Any, third: Any) -> tuple[Any, Any]:
    """On paper: the first rate comes towards the reader to the left, the second to the right."""
    return CENTRE + ACROSS * (second - first), TOP + UP + DOWN * (first + second) - UP * third


def _join(corners: Iterable[Any], separator: str) -> str:
    """Points on paper, one after the other."""
    return separator.join("{:.1f},{:.1f}".format(*_place(*corner)) for corner in corners)


def _draw_walls() -> str:
    """The floor and the two walls behind: lines at quarters, from one edge to the other."""
    lines = []
    for at in (0.0, 0.25, 0.5, 0.75, 1.0):
        lines += [((at, 0, 0), (at, 1, 0)), ((0, at, 0), (1, at, 0)), ((0, 0, at), (1, 0, at))]
        lines += [((0, 0, at), (0, 1, at)), ((at, 0, 0), (at, 0, 1)), ((0, at, 0), (0, at, 1))]
    return "".join("M" + _join(line, "L") for line in lines)


def _draw_net(rates: NDArray[np.float64]) -> str:
    """The quadrilaterals from the far corner on, so those in front cover those behind; the higher the paler."""
    quads = []
    for i, j in np.ndindex(rates.shape[1] - 1, rates.shape[1] - 1):
        corners = [rates[:, a, b] for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))]
        middle = np.mean(corners, axis=0)
        if np.ptp(corners, axis=0).max() > 0.0:
            shade = min(SHADES - 1, int(SHADES * middle[2]))
            order = float(middle[0] + middle[1] + 0.3 * middle[2])
            quads.append((order, f'<polygon class="h{shade}" points="{_join(corners, " ")}"/>'))
    return "".join(text for _, text in sorted(quads))


def _draw_names(labels: list[str]) -> str:
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
    return "".join(parts)


def _shorten(label: str) -> str:
    return label if len(label) <= 18 else f"{label[:17]}…"
