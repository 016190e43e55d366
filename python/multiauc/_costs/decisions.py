"""Predictions that cost least: rules fitted to probabilities, and what they cost on other rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multiauc import _rust
from multiauc._common.hints import with_hints
from multiauc._common.result import (
    ESTIMATE_HEADER,
    Result,
    Tabular,
    html_table,
    pick_numbers,
    shorten,
    text_table,
)
from multiauc._common.wording import counted, decimals, format_interval, listing, one_of, p_in_line, printable
from multiauc._costs.calibration import RowMean, probability_blocks, read_probabilities, row_mean
from multiauc._costs.decision_rules import (
    ARGMAX,
    BAYES,
    CALIBRATED,
    OFFSETS,
    FitRows,
    Rule,
    choose,
    label_order,
    plain_rule,
    rows_to_fit,
)
from multiauc._inference.column_order import column_order_note, warn_of_order
from multiauc._inference.differences import Difference
from multiauc._inference.intervals import NO_INTERVAL, ConfidenceInterval, wald_interval
from multiauc._input.labels import column_names, order_of_names
from multiauc._input.options import read_costs, read_groups, read_level
from multiauc._input.sample import read_sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.result import Cells, Numbers, Record
    from multiauc._common.types import Labels, Outputs
    from multiauc._input.sample import Sample

FITTED = "fitted"
#: The rules that a fitted one is compared with.
PLAIN_RULES = (BAYES, ARGMAX)

RULES_IN_WORDS = {
    BAYES: "the smallest expected cost by the probabilities as they are",
    ARGMAX: "the largest probability, whatever it costs",
    CALIBRATED: "the smallest expected cost by probabilities that were calibrated",
    OFFSETS: "the smallest expected cost by probabilities with offsets that cost least",
}
DIFFERENCE_HEADER = ["", "difference", "std. error", "95% interval", "t", "df", "p"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostDifference(Difference):
    """How much more the decisions of one rule cost than those of another on the same rows, on average.

    Attributes
    ----------
    first, second : str
        The rules: ``"fitted"``, ``"bayes"`` or ``"argmax"``.
    value : float
        The mean cost of the first less that of the second: negative where the first is cheaper.
    variance : float
        From the difference in each row (paired); nan for a single row or group.
    degrees_of_freedom : float
        How well the variance is known.
    is_same_rule : bool
        Whether both are one and the same rule, so that there can be no difference.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(2, size=400)
    >>> sure = 1 / (1 + np.exp(-8 * (y_true - 0.5 + rng.normal(size=400))))
    >>> decisions = multiauc.fit_decisions(y_true[:200], sure[:200], costs=[[0, 5], [1, 0]])
    >>> difference = decisions.compare(y_true[200:], sure[200:]).difference("fitted", "bayes")
    >>> difference.value < 0 and difference.p_value < 0.05
    True
    """

    # An expected cost has no bounds of its own.
    _largest: float = math.inf
    is_same_rule: bool = False

    def interval_beyond(self, tail: float) -> ConfidenceInterval:
        """The interval with this probability beyond each limit: (0, 0) for one and the same rule."""
        return ConfidenceInterval(0.0, 0.0) if self.is_same_rule else Difference.interval_beyond(self, tail)

    def to_dict(self, level: float = 0.95) -> Record:
        """Everything by name, with the limits of the interval; nan where they are not known."""
        # There are two differences at most, and no correction for their number.
        return {name: entry for name, entry in Difference.to_dict(self, level).items() if name != "corrected_p_value"}

    def cells(self, interval: tuple[float, float]) -> list[str]:
        """Difference, standard error, an interval, t, degrees of freedom and p-value as text."""
        return [*Difference.cells(self, interval)[:-1], "-" if math.isnan(self.p_value) else p_in_line(self.p_value)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostComparison(Tabular):
    """What the decisions of a fitted rule and of plain rules cost on the same rows.

    Attributes
    ----------
    means : dict
        The mean cost of a row, its variance and degrees of freedom by rule: ``"fitted"``, ``"bayes"`` (the smallest
        expected cost by the probabilities as they are) and ``"argmax"`` (the largest probability).
    differences : tuple of CostDifference
        The fitted rule less each of the plain ones.
    n_rows : int
        How many rows (of positive weight) were decided.
    bounds : tuple of two floats
        The smallest and the largest of the costs.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(2, size=400)
    >>> sure = 1 / (1 + np.exp(-8 * (y_true - 0.5 + rng.normal(size=400))))
    >>> decisions = multiauc.fit_decisions(y_true[:200], sure[:200], costs=[[0, 5], [1, 0]])
    >>> comparison = decisions.compare(y_true[200:], sure[200:])
    >>> comparison.values["fitted"] < comparison.values["bayes"] < comparison.values["argmax"]
    True
    """

    means: dict[str, RowMean]
    differences: tuple[CostDifference, ...]
    n_rows: int
    bounds: tuple[float, float]

    @property
    def values(self) -> dict[str, float]:
        """The mean cost of a row by rule."""
        return {name: mean.value for name, mean in self.means.items()}

    @property
    def standard_errors(self) -> dict[str, float]:
        """Of the mean costs, by rule."""
        return {name: math.sqrt(mean.variance) for name, mean in self.means.items()}

    def difference(self, first: str, second: str) -> CostDifference:
        """The difference of the fitted rule (`first`) and a plain one (`second`)."""
        for found in self.differences:
            if (found.first, found.second) == (first, second):
                return found
        known = [(one.first, one.second) for one in self.differences]
        raise ValueError(f"there is no difference of {first!r} and {second!r}; there are {listing(known)}")

    def confidence_interval(self, rule: str, level: float = 0.95) -> ConfidenceInterval:
        """The mean cost of a rule ± t times its standard error, within the smallest and the largest cost."""
        if rule not in self.means:
            raise ValueError(f"rule must be one of {', '.join(map(repr, self.means))}; got {rule!r}")
        return self._interval(rule, read_level(level))

    def _interval(self, rule: str, tail: float) -> ConfidenceInterval:
        mean, (smallest, largest) = self.means[rule], self.bounds
        if not mean.variance > 0.0:
            return NO_INTERVAL
        t = _rust.student_upper_quantile(tail, mean.degrees_of_freedom)
        return wald_interval(mean.value, math.sqrt(mean.variance), t, smallest=smallest, largest=largest)

    def to_dict(self, level: float = 0.95) -> Record:
        """Everything in plain Python objects, with the limits of intervals."""
        tail = read_level(level)
        errors = self.standard_errors
        costs = {
            name: {"value": value, "standard_error": errors[name]}
            | dict(zip(("low", "high"), self._interval(name, tail), strict=True))
            for name, value in self.values.items()
        }
        return {"rows": self.n_rows, "costs": costs, "differences": [one.to_dict(level) for one in self.differences]}

    def _rows(self, level: float) -> list[Record]:
        return [{"rule": name} | found for name, found in self.to_dict(level)["costs"].items()]

    def _numbers(self) -> dict[str, Numbers]:
        costs = {f"{row['rule']}_cost": pick_numbers(row) for row in self._rows(0.95)}
        return costs | {name: found for one in self.differences for name, found in one._numbers().items()}  # noqa: SLF001

    def tables(self) -> tuple[Cells, Cells]:
        """The costs and the differences as cells of text."""
        costs = []
        for name, value in self.values.items():
            limits = format_interval(*self._interval(name, 0.025))
            costs.append([name, decimals(value), decimals(self.standard_errors[name]), limits])
        header = [ESTIMATE_HEADER[0], "mean cost", *ESTIMATE_HEADER[2:]]
        differences = (
            [f"{one.first} - {one.second}", *one.cells(one.interval_beyond(0.025))] for one in self.differences
        )
        return [header, *costs], [DIFFERENCE_HEADER, *differences]

    def _title(self) -> str:
        return f"CostComparison on {counted(self.n_rows, 'row')}"

    def __repr__(self) -> str:
        costs, differences = map(text_table, self.tables())
        return "\n".join([self._title(), *costs, "", *differences])

    def _repr_html_(self) -> str:
        costs, differences = self.tables()
        return html_table(self._title(), costs) + html_table("Differences on the same rows", differences)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostDecisions(Tabular):
    r"""A rule that predicts classes so that errors cost little; see `multiauc.fit_decisions`.

    Attributes
    ----------
    rule : {"bayes", "calibrated", "offsets", "argmax"}
        What the rule is. ``"bayes"`` predicts the class i of the smallest expected cost :math:`\sum_j C_{ij} p_j`.
        ``"calibrated"`` and ``"offsets"`` do the same with :math:`q_j \propto p_j^s \exp(b_j)` in the place of p.
        ``"argmax"`` predicts the class of the largest probability.
    offsets : ndarray of shape (K,)
        The offsets b, whose mean is 0; zeros for ``"bayes"`` and ``"argmax"``.
    scale : float
        The power s: below 1 where probabilities are too sure of themselves.
    costs : ndarray of shape (K, K)
        The cost of predicting the class of the row when the truth is that of the column.
    labels : tuple
        The classes.
    calibration_p_value : float
        Of the test whether probabilities fit the rows as they are; nan where there are too few rows for it.
    cross_validated : CostComparison
        What the rules cost on the rows that they were fitted to, each part of them decided by a rule fitted to the
        others. As the rule was chosen by it, it flatters a little: other rows (`compare`) are the judge.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(2, size=400)
    >>> sure = 1 / (1 + np.exp(-8 * (y_true - 0.5 + rng.normal(size=400))))
    >>> decisions = multiauc.fit_decisions(y_true[:200], sure[:200], costs=[[0, 5], [1, 0]])
    >>> decisions.rule
    'calibrated'
    >>> decisions.decide([1e-8, 0.2, 0.9]).tolist()
    [0, 1, 1]
    """

    rule: str
    offsets: NDArray[np.float64]
    scale: float
    costs: NDArray[np.float64]
    labels: tuple[Any, ...]
    calibration_p_value: float
    cross_validated: CostComparison

    def decide(self, y_score: ArrayLike, *, outputs: Outputs = None) -> NDArray[Any]:
        """The class predicted for each row.

        Parameters
        ----------
        y_score : array-like of shape (n, K)
            Probabilities, columns in the order of `labels` or with their names; with two classes also of shape (n,) or
            (n, 1), the probability of the second.
        outputs : {"logits"} or None
            "logits" if `y_score` has logits, whose softmax is then taken.

        Returns
        -------
        ndarray of shape (n,)
            Labels. Of classes of the same expected cost the first in sorted order, whatever the order of columns.
        """
        scores = read_probabilities(self._in_order(y_score), len(self.labels), outputs)
        return _as_array(self.labels)[self._codes(scores, self._own_rule())]

    @with_hints
    def expected_cost(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        outputs: Outputs = None,
    ) -> float:
        """The mean cost of the decisions on some rows.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The class of each row.
        y_score : array-like of shape (n, K)
            Their probabilities, as in `decide`.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows.
        outputs : {"logits"} or None
            As in `decide`.
        """
        return self.compare(y_true, y_score, sample_weight=sample_weight, outputs=outputs).values[FITTED]

    @with_hints
    def compare(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        outputs: Outputs = None,
    ) -> CostComparison:
        """What the decisions cost on some rows beside those of Bayes' rule and of the largest probability.

        Rows count as drawn as they come, class sizes included, which an expected cost depends on.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The class of each row.
        y_score : array-like of shape (n, K)
            Their probabilities, as in `decide`.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows.
        groups : array-like of shape (n,), optional
            The group of each row (a patient, a user): intervals treat groups, not rows, as independent.
        outputs : {"logits"} or None
            As in `decide`.

        Returns
        -------
        CostComparison
            With the mean costs, and paired intervals and tests of the differences.
        """
        sample = read_sample(
            y_true, self._in_order(y_score), sample_weight, self.labels, "ignore", outputs, fewest_classes=1
        )
        scores = read_probabilities(sample.scores, sample.n_classes)
        numbers = read_groups(groups, len(sample.codes))
        rules = {FITTED: self._own_rule()} | {name: plain_rule(name, len(self.labels)) for name in PLAIN_RULES}
        costs = {name: self.costs[self._codes(scores, rule), sample.codes] for name, rule in rules.items()}
        return compare_costs(
            self.rule, costs, sample.weights, numbers, (float(self.costs.min()), float(self.costs.max()))
        )

    def _own_rule(self) -> Rule:
        return Rule(self.rule, self.scale, self.offsets)

    def _codes(self, scores: NDArray[Any], rule: Rule) -> NDArray[np.intp]:
        codes = np.empty(len(scores), dtype=np.intp)
        columns = label_order(self.labels)
        sorted_rule = Rule(rule.name, rule.scale, rule.offsets[columns])
        costs = self.costs[np.ix_(columns, columns)]
        for rows, probabilities in probability_blocks(scores):
            codes[rows] = columns[sorted_rule.decide(probabilities[:, columns], costs)]
        return codes

    def _in_order(self, y_score: Any) -> Any:
        """The scores with their columns in the order of the labels, if these are their names."""
        names = None if type(y_score) is np.ndarray else column_names(y_score, len(self.labels))
        order = order_of_names(names, list(self.labels))
        return y_score if order is None or order == sorted(order) else np.asarray(y_score)[:, order]

    def to_dict(self, level: float = 0.95) -> Record:
        """Everything in plain Python objects, with the limits of intervals."""
        return Result.to_dict(self) | {"cross_validated": self.cross_validated.to_dict(level)}

    def _rows(self, level: float) -> list[Record]:
        read_level(level)
        return [
            {"label": label, "offset": offset} for label, offset in zip(self.labels, self.offsets.tolist(), strict=True)
        ]

    def _title(self) -> str:
        return f"CostDecisions for {len(self.labels)} classes: {RULES_IN_WORDS[self.rule]} ({self.rule!r})"

    def _parameters(self) -> Cells:
        names = [shorten(label) for label in self.labels]
        return [["", "scale", *names], ["", decimals(self.scale), *(decimals(b, sign=True) for b in self.offsets)]]

    def __repr__(self) -> str:
        costs, differences = map(text_table, self.cross_validated.tables())
        fitted = [] if self.rule in PLAIN_RULES else [*text_table(self._parameters()), ""]
        seen = f"cross-validated on {counted(self.cross_validated.n_rows, 'row')}"
        return "\n".join([printable(self._title()), *fitted, seen, *costs, "", *differences])

    def _repr_html_(self) -> str:
        costs, differences = self.cross_validated.tables()
        seen = f"Cross-validated on {counted(self.cross_validated.n_rows, 'row')}"
        tables = [html_table(seen, costs), html_table("Differences on the same rows", differences)]
        return html_table(self._title(), self._parameters()) + "".join(tables)


def compare_costs(
    rule: str,
    row_costs: dict[str, NDArray[np.float64]],
    weights: NDArray[np.float64] | None,
    groups: NDArray[np.uint32] | None,
    bounds: tuple[float, float],
) -> CostComparison:
    """The comparison of a fitted `rule` with the plain ones, from what each row costs under each of them."""
    differences = []
    for plain in PLAIN_RULES:
        mean = row_mean(row_costs[FITTED] - row_costs[plain], weights, groups)
        differences.append(CostDifference(FITTED, plain, *mean, is_same_rule=rule == plain))
    means = {name: row_mean(costs, weights, groups) for name, costs in row_costs.items()}
    n_rows = len(row_costs[FITTED]) if weights is None else int(np.count_nonzero(weights))
    return CostComparison(means, tuple(differences), n_rows, bounds)


def _as_array(labels: tuple[Any, ...]) -> NDArray[Any]:
    """Labels to pick from: of their own type if they share one, otherwise as objects."""
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], (str, bool, int, float)):
        return np.array(labels)
    found = np.empty(len(labels), dtype=object)
    found[:] = labels
    return found


@with_hints
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
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
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
    labels : sequence of K labels, optional
        The classes in the order of the columns; of a data frame whose columns are named by these classes, the names say
        which column is which. By default the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, or go on without having seen any.
    outputs : {"logits"} or None, default None
        What the columns are: None takes them as they are; ``"logits"`` takes the softmax of each row first (of one
        score per row, the logistic function). Scores of different rows are compared, so logits and the probabilities
        made of them have different values.

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
    policy = one_of("absent", absent, ("raise", "ignore"))
    sample = read_sample(y_true, y_score, sample_weight, labels, policy, outputs)
    matrix, numbers = read_costs(costs, sample.n_classes), read_groups(groups, len(sample.codes))
    found = decisions_of(sample, matrix, numbers)
    warn_of_order(column_order_note(sample, numbers))
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
        cross_validated=compare_costs(rule.name, row_costs, seen.weights, seen.groups, bounds),
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
