"""Drawings of a report: ROC curves with bands, estimates with intervals. Colours come from the page's style sheet."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from multiauc._render.words import number

ROC_SIDE = 420
ROC_LEFT, ROC_BOTTOM = 52, 44
ROC_POINTS_AT_MOST = 400

FOREST_ROW = 34
FOREST_LABEL = 190
FOREST_PLOT = 380


def roc_curves(models: list[dict[str, Any]]) -> str:
    """The multi-class ROC curves of the models, with their bands."""
    width, height = ROC_LEFT + ROC_SIDE + 12, ROC_SIDE + ROC_BOTTOM + 12

    def place(x: float, y: float) -> str:
        return f"{ROC_LEFT + ROC_SIDE * x:.1f},{12 + ROC_SIDE * (1 - y):.1f}"

    parts = [
        f'<svg class="chart roc" viewBox="0 0 {width} {height}" role="img" aria-labelledby="roc-title">',
        f'<title id="roc-title">{escape(_roc_title(models))}</title>',
    ]
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x, y = ROC_LEFT + ROC_SIDE * tick, 12 + ROC_SIDE * (1 - tick)
        parts += [
            f'<path class="grid" d="M{place(0, tick)}L{place(1, tick)}M{place(tick, 0)}L{place(tick, 1)}"/>',
            f'<text x="{x:.1f}" y="{ROC_SIDE + 28}" text-anchor="middle">{tick:.1f}</text>',
            f'<text x="{ROC_LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{tick:.1f}</text>',
        ]
    middle = 12 + ROC_SIDE // 2
    parts += [
        f'<path class="chance" d="M{place(0, 0)}L{place(1, 1)}"/>',
        f'<text x="{ROC_LEFT + ROC_SIDE / 2:.1f}" y="{height - 4}" text-anchor="middle">false-positive rate</text>',
        f'<text class="upright" transform="translate(13 {middle}) rotate(-90)">true-positive rate</text>',
    ]
    for k, model in enumerate(models):
        roc = model["roc"]
        if roc is None:
            continue
        parts.append(f'<g class="curve m{k % 7}" data-model="{k}">')
        if roc["band"] is not None:
            band = roc["band"]
            upper = [place(x, y) for x, y in zip(band["fpr"], band["high"], strict=True)]
            lower = [place(x, y) for x, y in zip(band["fpr"], band["low"], strict=True)]
            parts.append(f'<path class="band" d="M{"L".join(upper + lower[::-1])}Z"/>')
        points = [place(x, y) for x, y in zip(roc["fpr"], roc["tpr"], strict=True)]
        parts.append(f'<path class="line" d="M{"L".join(points)}"/></g>')
    return "".join([*parts, "</svg>"])


def _roc_title(models: list[dict[str, Any]]) -> str:
    areas = [f"{model['name']}: area {model['roc']['auc']:.3f}" for model in models if model["roc"] is not None]
    return "Multi-class ROC curves. " + "; ".join(areas)


def estimates(models: list[dict[str, Any]], metric: str, name: str) -> str:
    """A dot and an interval for each model, on one scale."""
    found = [model["metrics"][metric] for model in models]
    ends = [end for one in found for end in (one["low"], one["value"], one["high"]) if end is not None]
    if not ends:
        return ""
    low, high, step = _scale(min(ends), max(ends))
    height = FOREST_ROW * len(models) + 40
    width = FOREST_LABEL + FOREST_PLOT + 20

    def x(value: float) -> float:
        return FOREST_LABEL + FOREST_PLOT * (value - low) / (high - low)

    texts = "; ".join(f"{model['name']} {number(one['value'])}" for model, one in zip(models, found, strict=True))
    parts = [
        f'<svg class="chart estimates" viewBox="0 0 {width} {height}" role="img" aria-labelledby="estimates-title">',
        f'<title id="estimates-title">{escape(f"{name} with intervals. {texts}")}</title>',
    ]
    ticks = [low + k * step for k in range(round((high - low) / step) + 1)]
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    for tick in ticks:
        parts += [
            f'<path class="grid" d="M{x(tick):.1f},4V{height - 34}"/>',
            f'<text x="{x(tick):.1f}" y="{height - 18}" text-anchor="middle">{tick:.{digits}f}</text>',
        ]
    parts.append(
        f'<text x="{FOREST_LABEL + FOREST_PLOT / 2:.0f}" y="{height - 2}" text-anchor="middle">{escape(name)}</text>'
    )
    for k, (model, one) in enumerate(zip(models, found, strict=True)):
        y = 4 + FOREST_ROW * (k + 0.5)
        label = model["name"] if len(model["name"]) <= 26 else model["name"][:25] + "…"
        parts.append(
            f'<g class="m{k % 7}"><text class="end" x="{FOREST_LABEL - 12}" y="{y + 4:.1f}">{escape(label)}</text>'
        )
        if one["low"] is not None:
            parts.append(f'<path class="line solid" d="M{x(one["low"]):.1f},{y:.1f}H{x(one["high"]):.1f}"/>')
        if one["value"] is not None:
            parts.append(f'<circle class="dot" cx="{x(one["value"]):.1f}" cy="{y:.1f}" r="5"/>')
        parts.append("</g>")
    return "".join([*parts, "</svg>"])


def _scale(low: float, high: float) -> tuple[float, float, float]:
    """Round ends and step of an axis that covers low to high."""
    span = max(high - low, 1e-4)
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * factor for factor in (0.2, 0.5, 1, 2) if span / (power * factor) <= 6)
    first, last = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return (first, last, step) if last > first else (first - step, first + step, step)
