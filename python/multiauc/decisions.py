"""Decisions under costs: the rule that costs least."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Never

import numpy as np

from multiauc._column_order import column_order_note, warn_of_order
from multiauc._decision_choice import FitRows, choose, rows_to_fit
from multiauc._decision_rules import label_order
from multiauc._hints import refuse_unknown
from multiauc._input.options import read_costs, read_groups
from multiauc._input.sample import read_sample
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._probabilities import probability_blocks, read_probabilities
from multiauc._wording import one_of
from multiauc.decision_results import FITTED, PLAIN_RULES, CostDecisions, compared

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from multiauc._input.sample import Sample
    from multiauc._types import Labels, Outputs


@shares_parameter_texts
def fit_decisions(
    y_true: ArrayLike,
    y_score: ArrayLike,
    costs: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    labels: Labels = None,
    absent: Literal["raise", "ignore"] = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> CostDecisions:
    r"""Learn which class to predict so that errors cost little on other rows.

    With probabilities p that can be trusted, the class i of the smallest expected cost

    .. math:: \sum_j C_{ij}\, p_j

    is the best prediction (Bayes' rule). Where they cannot, they are corrected to
    :math:`q_j \propto p_j^s \exp(b_j)` with a scale s and an offset :math:`b_j` per class, fitted to the rows. A test
    says whether the probabilities need it. Then a cross-validation within the rows decides: another rule (the largest
    probability, the plain Bayes rule, or offsets found by the smallest cost itself) is taken if it costs clearly less,
    so that few rows do not lead to a worse rule than none.

    Parameters
    ----------
    {y_true}
    y_score : array-like of shape (n, K)
        The probability of each class for each row, float32 or float64: from a model that was fitted to other rows.
        With two classes also of shape (n,) or (n, 1), the probability of the second of `labels`.
    costs : array-like of shape (K, K)
        ``costs[i, j]``: the cost of predicting class i when the truth is class j, in the order of `labels` (rows are
        predictions). Some error must cost more than the right prediction.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows.
    groups : array-like of shape (n,), optional
        The group of each row (a patient, a user): groups, not rows, count as independent.
    {labels}
    absent : {"raise", "ignore"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, or go on without having seen any.
    {outputs}

    Returns
    -------
    CostDecisions
        `decide` predicts, `expected_cost` says what that costs on some rows, and `compare` whether it is less than what
        plain rules cost.

    Notes
    -----
    Of more than 10,000 rows, about 10,000 are taken for fitting, evenly spread over classes and probabilities. Nothing
    is random, and neither the order of rows nor that of columns matters: ties are broken in the sorted order of labels.

    References
    ----------
    C. Elkan, *The Foundations of Cost-Sensitive Learning*, IJCAI 2001.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> shares = [0.6, 0.3, 0.1]
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=1000, p=shares)
    >>> logits = 1.2 * rng.normal(size=(1000, 3)) + 1.44 * (y_true[:, None] == ["cat", "dog", "eel"]) + np.log(shares)
    >>> too_sure = np.exp(3 * logits) / np.exp(3 * logits).sum(axis=1, keepdims=True)
    >>> costs = [[0, 1, 10], [1, 0, 10], [1, 1, 0]]  # to miss an eel is expensive
    >>> decisions = multiauc.fit_decisions(y_true[:500], too_sure[:500], costs)
    >>> decisions.rule, round(decisions.scale, 2)
    ('calibrated', 0.31)
    >>> comparison = decisions.compare(y_true[500:], too_sure[500:])
    >>> {rule: round(cost, 2) for rule, cost in comparison.values.items()}
    {'fitted': 0.49, 'bayes': 0.57, 'argmax': 0.71}
    """
    refuse_unknown(fit_decisions, unknown)
    policy = one_of("absent", absent, ("raise", "ignore"))
    sample = read_sample(y_true, y_score, sample_weight, labels, policy, outputs)
    matrix, numbers = read_costs(costs, sample.n_classes), read_groups(groups, len(sample.codes))
    found = decisions_of(sample, matrix, numbers)
    warn_of_order(column_order_note(sample, numbers), stacklevel=2)
    return found


def decisions_of(sample: Sample, costs: NDArray[np.float64], groups: NDArray[np.uint32] | None) -> CostDecisions:
    """The rule for a sample that was read."""
    _check_groups(groups, sample.weights)
    scores = read_probabilities(sample.scores, sample.n_classes)
    own, largest = np.empty(len(scores)), np.empty(len(scores))
    for rows, block in probability_blocks(scores):
        own[rows] = block[np.arange(len(block)), sample.codes[rows]]
        largest[rows] = block.max(axis=1)
    # In the order of their labels, so that the order of columns changes nothing.
    columns = label_order(sample.labels)
    codes = np.argsort(columns)[sample.codes]
    seen = rows_to_fit(FitRows(scores, columns, codes, own, largest, sample.weights, groups))
    chosen = choose(seen, costs[np.ix_(columns, columns)])
    rule = chosen.rule
    offsets = rule.offsets[np.argsort(columns)]
    row_costs = {FITTED: chosen.row_costs[rule.name]} | {name: chosen.row_costs[name] for name in PLAIN_RULES}
    bounds = float(costs.min()), float(costs.max())
    return CostDecisions(
        rule=rule.name,
        offsets=offsets,
        scale=rule.scale,
        costs=costs,
        labels=tuple(sample.labels),
        calibration_p_value=chosen.calibration_p_value,
        cross_validated=compared(rule.name, row_costs, seen.weights, seen.groups, bounds),
    )


def _check_groups(groups: NDArray[np.uint32] | None, weights: NDArray[np.float64] | None) -> None:
    """Raise unless there are groups to learn from and others to test on."""
    if groups is None or weights is None:  # `read_groups` wants two anyway
        return
    found = len(np.unique(groups[weights > 0.0]))
    if found < 2:
        raise ValueError(
            f"groups must have at least two groups with rows of positive sample_weight; got {found}: a rule is tested "
            "on other groups than it was fitted to"
        )
