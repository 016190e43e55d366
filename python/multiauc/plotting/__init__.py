"""Plots, with matplotlib (``pip install matplotlib``).

A display holds what a plot shows, as in scikit-learn: make one with ``from_predictions``, ``from_estimator`` or, for
curves, ``from_cv_results``, or take the one that ``.plot()`` of a result returns; ``display.plot(ax=...)`` draws it
(again), ``display.ax_`` and ``display.figure_`` are where it was drawn. Colours can be told apart by colour-blind
readers, and line styles, markers and lightness carry the same difference in grey.
"""

from multiauc.plotting._curves import CostCurveDisplay as CostCurveDisplay
from multiauc.plotting._curves import MulticlassRocDisplay as MulticlassRocDisplay
from multiauc.plotting._curves import PrecisionRecallCurvesDisplay as PrecisionRecallCurvesDisplay
from multiauc.plotting._curves import ReliabilityDisplay as ReliabilityDisplay
from multiauc.plotting._curves import RocCurvesDisplay as RocCurvesDisplay
from multiauc.plotting._curves import RocHullDisplay as RocHullDisplay
from multiauc.plotting._curves import SummaryRocDisplay as SummaryRocDisplay
from multiauc.plotting._intervals import ComparisonDisplay as ComparisonDisplay
from multiauc.plotting._intervals import EvaluationDisplay as EvaluationDisplay
from multiauc.plotting._intervals import SlicesDisplay as SlicesDisplay
from multiauc.plotting._matrices import ConfusionMatrixDisplay as ConfusionMatrixDisplay
from multiauc.plotting._matrices import PairMatrixDisplay as PairMatrixDisplay
from multiauc.plotting._three_classes import RocSurfaceDisplay as RocSurfaceDisplay
from multiauc.plotting._three_classes import SimplexDisplay as SimplexDisplay

__all__ = [name for name in dir() if name.endswith("Display")]
