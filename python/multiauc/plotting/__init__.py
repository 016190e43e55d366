"""Pictures, with matplotlib (``pip install multiauc[plot]``).

A display holds what a picture shows, as in scikit-learn: make one with ``from_predictions`` or ``from_estimator``, or
take the one that ``.plot()`` of a result returns; ``display.plot(ax=...)`` draws it (again), ``display.ax_`` and
``display.figure_`` are where it was drawn. Colours can be told apart by colour-blind readers, and line styles, markers
and lightness carry the same difference in grey.
"""

from multiauc.plotting._comparison import ComparisonDisplay
from multiauc.plotting._confusion_matrix import ConfusionMatrixDisplay
from multiauc.plotting._costs import CostCurveDisplay, RocHullDisplay
from multiauc.plotting._evaluation import EvaluationDisplay
from multiauc.plotting._multiclass_roc import MulticlassRocDisplay
from multiauc.plotting._pair_matrix import PairMatrixDisplay
from multiauc.plotting._precision_recall import PrecisionRecallCurvesDisplay
from multiauc.plotting._roc_curves import RocCurvesDisplay
from multiauc.plotting._roc_surface import RocSurfaceDisplay
from multiauc.plotting._simplex import SimplexDisplay
from multiauc.plotting._slices import SlicesDisplay
from multiauc.plotting._summary_roc import SummaryRocDisplay

__all__ = [
    "ComparisonDisplay",
    "ConfusionMatrixDisplay",
    "CostCurveDisplay",
    "EvaluationDisplay",
    "MulticlassRocDisplay",
    "PairMatrixDisplay",
    "PrecisionRecallCurvesDisplay",
    "RocCurvesDisplay",
    "RocHullDisplay",
    "RocSurfaceDisplay",
    "SimplexDisplay",
    "SlicesDisplay",
    "SummaryRocDisplay",
]
