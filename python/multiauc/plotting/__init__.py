"""Plots, with matplotlib (``pip install matplotlib``).

A display holds what a plot shows, as in scikit-learn: make one with ``from_predictions``, ``from_estimator`` or, for
curves, ``from_cv_results``, or take the one that ``.plot()`` of a result returns; ``display.plot(ax=...)`` draws it
(again), ``display.ax_`` and ``display.figure_`` are where it was drawn. Colours can be told apart by colour-blind
readers, and line styles, markers and lightness carry the same difference in grey.
"""

from multiauc.plotting._curves import (
    CostCurveDisplay,
    MulticlassRocDisplay,
    PrecisionRecallCurvesDisplay,
    ReliabilityDisplay,
    RocCurvesDisplay,
    RocHullDisplay,
    SummaryRocDisplay,
)
from multiauc.plotting._intervals import ComparisonDisplay, EvaluationDisplay, SlicesDisplay
from multiauc.plotting._matrices import ConfusionMatrixDisplay, PairMatrixDisplay
from multiauc.plotting._three_classes import RocSurfaceDisplay, SimplexDisplay

__all__ = [
    "ComparisonDisplay",
    "ConfusionMatrixDisplay",
    "CostCurveDisplay",
    "EvaluationDisplay",
    "MulticlassRocDisplay",
    "PairMatrixDisplay",
    "PrecisionRecallCurvesDisplay",
    "ReliabilityDisplay",
    "RocCurvesDisplay",
    "RocHullDisplay",
    "RocSurfaceDisplay",
    "SimplexDisplay",
    "SlicesDisplay",
    "SummaryRocDisplay",
]
