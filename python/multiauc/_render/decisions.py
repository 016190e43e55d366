"""Decisions under costs as numbers and words, for the report and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._common.wording import p_in_line, shown_name
from multiauc._costs.decisions import RULES_IN_WORDS
from multiauc._render.numbers import known

if TYPE_CHECKING:
    from multiauc._costs.decisions import CostComparison, CostDecisions


def decision_numbers(decisions: CostDecisions, comparison: CostComparison, level: float) -> dict[str, Any]:
    """The rule, and what it costs on some rows beside plain rules."""
    found = comparison.to_dict(level)
    return {
        "rule": decisions.rule,
        "scale": decisions.scale,
        "offsets": decisions.offsets.tolist(),
        "cost_matrix": decisions.costs.tolist(),
        "calibration_p_value": known(decisions.calibration_p_value),
        "judged_rows": found["rows"],
        "costs": {rule: _known(one) for rule, one in found["costs"].items()},
        "differences": [_known(one) for one in found["differences"]],
    }


def rule_in_words(rule: str) -> str:
    """What a rule predicts."""
    return f"the class of {RULES_IN_WORDS[rule]}"


def decision_sentence(model: dict[str, Any]) -> str:
    """Which rule a model's probabilities are best used with, and why."""
    found = model["decisions"]
    p = found["calibration_p_value"]
    why = "" if p is None else f" (test of their calibration: p {p_in_line(p)})"
    return f"{shown_name(model['name'])}: predict {rule_in_words(found['rule'])}{why}."


def _known(numbers: dict[str, Any]) -> dict[str, Any]:
    return {name: known(value) if isinstance(value, float) else value for name, value in numbers.items()}
