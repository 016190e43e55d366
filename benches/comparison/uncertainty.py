"""What standard errors cost: `evaluate`, with all metrics and their variances, against the bare scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import multiauc
from comparison import data
from comparison.timing import Contestant, take_turns
from comparison.tools import all_threads

if TYPE_CHECKING:
    from comparison.data import Labels, Scores
    from comparison.grid import Size


@dataclass(frozen=True)
class EvaluationCase:
    """Seconds of one `evaluate` and of the four scores that it contains."""

    dtype: str
    evaluate_seconds: float
    scores_seconds: float

    @property
    def ratio(self) -> float:
        """How many times the bare scores."""
        return self.evaluate_seconds / self.scores_seconds


def _bare_scores(labels: Labels, scores: Scores) -> float:
    return (
        multiauc.auc_mu_score(labels, scores)
        + multiauc.hand_till_score(labels, scores)
        + multiauc.one_vs_rest_score(labels, scores)
        + multiauc.one_vs_rest_score(labels, scores, average="prevalence")
    )


def _evaluate(labels: Labels, scores: Scores) -> float:
    result = multiauc.evaluate(labels, scores)
    return sum(estimate.value for estimate in result.metrics.values())


def measure(size: Size, dtypes: tuple[str, ...], *, max_turns: int, budget_seconds: float) -> list[EvaluationCase]:
    """Time both in turns, all threads."""
    multiauc.set_num_threads(all_threads())
    cases = []
    for dtype in dtypes:
        labels, scores = data.smooth(*size, dtype)
        contestants = {
            "evaluate": Contestant(partial(_evaluate, labels, scores)),
            "scores": Contestant(partial(_bare_scores, labels, scores)),
        }
        timings = take_turns(contestants, max_turns=max_turns, budget_seconds=budget_seconds)
        if timings["evaluate"].value != timings["scores"].value:
            raise AssertionError("evaluate and the scores disagree")
        cases.append(EvaluationCase(dtype, timings["evaluate"].best, timings["scores"].best))
    return cases
