"""Pictures of multi-class ROC curves, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from multiauc.multiclass_roc_results import MulticlassRoc, RocBand

CHANCE = "multiauc chance line"


def draw(
    roc: MulticlassRoc, ax: Axes | None, *, band: RocBand | None, pairs: bool, label: str | None, **line: Any
) -> Axes:
    """Draw a curve on axes that other curves may share."""
    axes = _new_axes() if ax is None else ax
    if not any(drawn.get_gid() == CHANCE for drawn in axes.lines):
        axes.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1, gid=CHANCE, zorder=1)
        axes.set(
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            xlabel="false-positive rate",
            ylabel="true-positive rate",
            aspect="equal",
        )
    area = f"D = {roc.auc:.3f}"
    (curve,) = axes.plot(roc.fpr, roc.tpr, label=area if label is None else f"{label} ({area})", zorder=3, **line)
    if pairs:
        for tp, fp in zip(roc.tp_rates.T, roc.fp_rates.T, strict=True):
            ends = np.array([0.0]), np.array([1.0])
            axes.plot(
                np.concatenate([ends[0], fp, ends[1]]),
                np.concatenate([ends[0], tp, ends[1]]),
                color=curve.get_color(),
                alpha=max(0.04, min(0.35, 4.0 / len(roc.pairs))),
                linewidth=0.8,
                zorder=2,
            )
    if band is not None:
        axes.fill_between(band.fpr, band.low, band.high, color=curve.get_color(), alpha=0.2, linewidth=0, zorder=2)
    axes.legend(loc="lower right", frameon=False)
    return axes


def _new_axes() -> Axes:
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415
    except ImportError:
        raise ImportError("plotting needs matplotlib; install it with: pip install multiauc[plot]") from None
    _, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    return axes
