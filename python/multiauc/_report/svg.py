"""Drawings of a report: ROC curves with bands, estimates with intervals. Colours come from the page's style sheet."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from multiauc._common.wording import shown_name
from multiauc._render.words import number
from multiauc.plotting._zoom import BAND_FROM_ZOOM, zoom_of

ROC_SIDE = 420
ROC_LEFT, ROC_TOP, ROC_RIGHT, ROC_BOTTOM = 58, 12, 24, 46
COLOURS = 7
# So many models stay together on one page of paper.
ONE_PAGE = 20


def colour(k: int) -> str:
    """The classes of model k: seven colours, and other dashes for the eighth and on."""
    return f"m{k % COLOURS} d{(k + k // COLOURS) % COLOURS}"


def roc_panels(models: list[dict[str, Any]]) -> list[str]:
    """The multi-class ROC curves of the models; and their corner enlarged, where they are squeezed into it."""
    zoom = zoom_of((model["roc"]["fpr"], model["roc"]["tpr"]) for model in models if model["roc"] is not None)
    whole = _roc_panel(models, 1.0, marked=zoom)
    if zoom is None:
        return [whole]
    times = f"{1.0 / zoom:g}"
    no_band = "" if zoom >= BAND_FROM_ZOOM else ", without bands"
    caption = f"<figcaption>The upper left corner, {times} times as large{no_band}</figcaption>"
    return [whole, _roc_panel(models, zoom, caption=caption)]


def _roc_panel(models: list[dict[str, Any]], window: float, *, marked: float | None = None, caption: str = "") -> str:
    """The curves in the corner of side `window`; `marked` is the corner that another panel enlarges."""
    width, height = ROC_LEFT + ROC_SIDE + ROC_RIGHT, ROC_TOP + ROC_SIDE + ROC_BOTTOM
    name = "roc-title" if window == 1.0 else "zoom-title"

    def place(x: float, y: float) -> str:
        return f"{ROC_SIDE * x / window:.1f},{ROC_SIDE * (1 - y) / window:.1f}"

    parts = [
        f'<figure><svg class="chart roc" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}">',
        f'<title id="{name}">{escape(_roc_title(models, window))}</title>',
        *_roc_frame(window),
        # A drawing of its own: what lies outside the window is cut off.
        f'<svg x="{ROC_LEFT}" y="{ROC_TOP}" width="{ROC_SIDE}" height="{ROC_SIDE}" role="presentation">',
    ]
    if window == 1.0:
        parts.append(f'<path class="chance" d="M{place(0, 0)}L{place(1, 1)}"/>')
    if marked is not None:
        side = ROC_SIDE * marked
        parts.append(f'<rect class="marked" x="0.5" y="0.5" width="{side:.1f}" height="{side:.1f}"/>')
    for k, model in enumerate(models):
        if model["roc"] is not None:
            parts.append(f'<g class="curve {colour(k)}" data-model="{k}">')
            band = model["roc"]["band"] if window >= BAND_FROM_ZOOM else None
            if band is not None:
                upper = [place(x, y) for x, y in zip(band["fpr"], band["high"], strict=True)]
                lower = [place(x, y) for x, y in zip(band["fpr"], band["low"], strict=True)]
                parts.append(f'<path class="band" d="M{"L".join(upper + lower[::-1])}Z"/>')
            points = [place(x, y) for x, y in zip(model["roc"]["fpr"], model["roc"]["tpr"], strict=True)]
            parts.append(f'<path class="line" d="M{"L".join(points)}"/></g>')
    return "".join([*parts, "</svg></svg>", caption, "</figure>"])


def _roc_frame(window: float) -> list[str]:
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


def _roc_title(models: list[dict[str, Any]], window: float) -> str:
    shown = [model for model in models if model["roc"] is not None]
    areas = [f"{shown_name(model['name'])}: area {number(model['roc']['auc'])}" for model in shown]
    what = "Multi-class ROC curves" if window == 1.0 else f"The same curves up to a false-positive rate of {window:g}"
    return f"{what}. {'; '.join(areas)}"


def estimates(models: list[dict[str, Any]], metric: str, name: str) -> str:
    """A dot and an interval for each model, on one scale; names are text of the page, which wraps where it must."""
    found = [model["metrics"][metric] for model in models]
    ends = [end for one in found for end in (one["low"], one["value"], one["high"]) if end is not None]
    if not ends:
        return ""
    low, high, step = _scale(min(ends), max(ends))

    def x(value: float) -> str:
        return f"{100 * (value - low) / (high - low):.2f}%"

    count = round((high - low) / step)
    ticks = [low + k * step for k in range(count + 1)]
    grid = "".join(f'<line class="grid" x1="{x(tick)}" x2="{x(tick)}" y1="0" y2="100%"/>' for tick in ticks)
    rows = []
    for k, (model, one) in enumerate(zip(models, found, strict=True)):
        bar = dot = ""
        if one["low"] is not None:
            bar = f'<line class="line solid" x1="{x(one["low"])}" x2="{x(one["high"])}" y1="50%" y2="50%"/>'
        if one["value"] is not None:
            dot = f'<circle class="dot" cx="{x(one["value"])}" cy="50%" r="5"/>'
        drawing = f'<svg class="chart" aria-hidden="true">{grid}<g class="{colour(k)}">{bar}{dot}</g></svg>'
        label = f'<span class="forest-name">{escape(shown_name(model["name"]))}</span>'
        rows.append(f'<div class="forest-row">{label}<div class="track">{drawing}</div></div>')
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    # Every second tick has its number: all of them would touch on a phone.
    numbers = "".join(
        f'<text class="{"every" if k % 2 == 0 else "roomy"}" x="{x(tick)}" y="14">{tick:.{digits}f}</text>'
        for k, tick in enumerate(ticks)
    )
    texts = "; ".join(
        f"{shown_name(model['name'])} {number(one['value'])}" for model, one in zip(models, found, strict=True)
    )
    title = escape(f"{name} with intervals. {texts}")
    axis = f'<svg class="chart axis" aria-hidden="true">{numbers}</svg>'
    kind = "forest short" if len(models) <= ONE_PAGE else "forest"
    return (
        f'<div class="{kind}" role="img" aria-label="{title}">{"".join(rows)}'
        f'<div class="forest-row"><span class="forest-name axis-name">{escape(name)}</span>{axis}</div></div>'
    )


def _scale(low: float, high: float) -> tuple[float, float, float]:
    """Round ends and step of an axis that covers low to high."""
    span = max(high - low, 1e-4)
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * factor for factor in (0.2, 0.5, 1, 2) if span / (power * factor) <= 6)
    first, last = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return (first, last, step) if last > first else (first - step, first + step, step)
