"""Predictions that cost least: rules fitted to probabilities, and what they cost on other rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from multiauc import _rust
from multiauc._common import hints, result, wording
from multiauc._inference import column_order, intervals
from multiauc._inference.differences import Difference, format_p
from multiauc._input import options, probabilities
from multiauc._input.arrays import as_scores
from multiauc._input.labels import column_names, order_of_names
from multiauc._input.sample import Sample, read_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Labels, Outputs

FITTED = "fitted"
#: The rules that a fitted one is compared with.
PLAIN_RULES = ("bayes", "argmax")

RULES_IN_WORDS = {
    "bayes": "the smallest expected cost by the probabilities as they are",
    "argmax": "the largest probability, whatever it costs",
    "calibrated": "the smallest expected cost by probabilities that were calibrated",
    "offsets": "the smallest expected cost by probabilities with offsets that cost least",
}
DIFFERENCE_HEADER = ["", "difference", "std. error", "95% interval", "t", "df", "p"]
# What probabilities are needed for, in a message.
WANTED_FOR = "to weigh costs with"


class RowMean(NamedTuple):
    """A mean over rows, its variance, and how well that is known; nan where there is a single row or group."""

    value: float
    variance: float
    degrees_of_freedom: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostDifference(Difference):
    """The difference between the mean costs of two decision rules on the same rows.

    Attributes
    ----------
    first, second : str
        The rules: ``"fitted"``, ``"bayes"`` or ``"argmax"``.
    value : float
        The mean cost of the first minus that of the second: negative if the first is cheaper.
    variance : float
        From the difference in each row (paired); nan for a single row or group.
    degrees_of_freedom : float
        How well the variance is known.
    is_same_rule : bool
        Whether both are the same rule, so there is no difference.

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

    def interval_beyond(self, tail: float) -> intervals.ConfidenceInterval:
        """The interval with this probability beyond each limit: (0, 0) for one and the same rule."""
        return intervals.ConfidenceInterval(0.0, 0.0) if self.is_same_rule else Difference.interval_beyond(self, tail)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Everything by name, with the limits of the interval; nan where they are not known."""
        # There are two differences at most, and no correction for their number.
        return {name: entry for name, entry in Difference.to_dict(self, level).items() if name != "corrected_p_value"}

    def cells(self, interval: tuple[float, float]) -> list[str]:
        """Difference, standard error, an interval, t, degrees of freedom and p-value as text."""
        return [*Difference.cells(self, interval)[:-1], format_p(self.p_value)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostComparison(result.Printed, result.Tabular):
    """The mean costs of a fitted decision rule and of simple rules on the same rows.

    Attributes
    ----------
    means : dict
        The mean cost of a row, its variance and degrees of freedom by rule: ``"fitted"``, ``"bayes"`` (the smallest
        expected cost by the probabilities as they are) and ``"argmax"`` (the largest probability).
    differences : tuple of CostDifference
        The fitted rule minus each of the simple ones.
    n_rows : int
        The number of rows (of positive weight).
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
        """The difference between the fitted rule (`first`) and a simple one (`second`)."""
        for found in self.differences:
            if (found.first, found.second) == (first, second):
                return found
        known = [(one.first, one.second) for one in self.differences]
        raise ValueError(f"there is no difference of {first!r} and {second!r}; there are {wording.listing(known)}")

    def confidence_interval(self, rule: str, level: float = 0.95) -> intervals.ConfidenceInterval:
        """The mean cost of a rule ± t times its standard error, within the smallest and the largest cost."""
        return self._interval(wording.one_of("rule", rule, tuple(self.means)), options.read_level(level))

    def _interval(self, rule: str, tail: float) -> intervals.ConfidenceInterval:
        mean, (smallest, largest) = self.means[rule], self.bounds
        if not mean.variance > 0.0:
            return intervals.NO_INTERVAL
        t = _rust.student_upper_quantile(tail, mean.degrees_of_freedom)
        return intervals.wald_interval(mean.value, math.sqrt(mean.variance), t, smallest=smallest, largest=largest)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Everything in plain Python objects, with the limits of intervals."""
        costs = self._costs(options.read_level(level))
        return {"rows": self.n_rows, "costs": costs, "differences": [one.to_dict(level) for one in self.differences]}

    def _costs(self, tail: float) -> dict[str, result.Numbers]:
        """The mean cost of each rule, its standard error and the limits of its interval."""
        errors = self.standard_errors
        return {
            name: {"value": value, "standard_error": errors[name], **self._interval(name, tail)._asdict()}
            for name, value in self.values.items()
        }

    def _rows(self, level: float) -> list[result.Record]:
        return [{"rule": name} | found for name, found in self._costs(options.read_level(level)).items()]

    def _numbers(self) -> dict[str, result.Numbers]:
        costs = {f"{name}_cost": found for name, found in self._costs(0.025).items()}
        return costs | {name: found for one in self.differences for name, found in one._numbers().items()}  # noqa: SLF001

    def _title(self) -> str:
        return f"CostComparison on {wording.pluralize(self.n_rows, 'row')}"

    def _table(self) -> result.Cells:
        return result.table_of_numbers(["", "mean cost", *result.ESTIMATE_HEADER[2:]], self._costs(0.025))

    def _more_tables(self) -> dict[str, result.Cells]:
        named = ([f"{one.first} - {one.second}", *one.cells(one.interval_beyond(0.025))] for one in self.differences)
        return {"Differences on the same rows": [DIFFERENCE_HEADER, *named]}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostDecisions(result.Tabular):
    r"""A decision rule that makes errors cheap; see `multiauc.fit_decisions`.

    Attributes
    ----------
    rule : {"bayes", "calibrated", "offsets", "argmax"}
        The kind of rule. ``"bayes"`` predicts the class i with the smallest expected cost :math:`\sum_j C_{ij} p_j`.
        ``"calibrated"`` and ``"offsets"`` do the same with :math:`q_j \propto p_j^s \exp(b_j)` instead of p.
        ``"argmax"`` predicts the class with the largest probability.
    offsets : ndarray of shape (K,)
        The offsets b, whose mean is 0; zeros for ``"bayes"`` and ``"argmax"``.
    scale : float
        The power s: below 1 if probabilities are overconfident.
    costs : ndarray of shape (K, K)
        The cost matrix: predicted classes in rows, true classes in columns.
    labels : tuple
        The classes.
    calibration_p_value : float
        The p-value of the test that the probabilities are calibrated; nan with too few rows.
    cross_validated : CostComparison
        The cross-validated costs of the rules on the rows they were fitted to. They are slightly optimistic, because
        the rule was chosen by them: use `compare` on other rows.

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
            "logits" if `y_score` contains logits; their softmax is used.

        Returns
        -------
        ndarray of shape (n,)
            Labels. Ties go to the first class in sorted order, whatever the column order.
        """
        scores = read_probabilities(self._in_order(y_score), len(self.labels), outputs)
        is_plain = len(set(map(type, self.labels))) == 1 and isinstance(self.labels[0], (str, bool, int, float))
        # Of labels that are tuples, NumPy would make a matrix.
        labels = np.array(self.labels) if is_plain else np.array([*self.labels, None], dtype=object)[:-1]
        return labels[self._decide(scores, self.rule)]

    @hints.with_hints
    def expected_cost(
        self, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None, outputs: Outputs = None
    ) -> float:
        """The mean cost of the predictions on some rows.

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

    @hints.with_hints
    def compare(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        outputs: Outputs = None,
    ) -> CostComparison:
        """Compare the costs on some rows with those of Bayes' rule and of argmax.

        Class sizes are treated as random, because an expected cost depends on them.

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
        numbers = options.read_groups(groups, len(sample.codes))
        rules = {FITTED: self.rule} | {name: name for name in PLAIN_RULES}
        costs = {name: self.costs[self._decide(scores, rule), sample.codes] for name, rule in rules.items()}
        return compare_costs(self.rule, costs, sample.weights, numbers, self.costs)

    def _decide(self, scores: NDArray[Any], rule: str) -> NDArray[np.intp]:
        """The column of the class that a rule predicts for each row; ties are broken in the order of the labels."""
        columns = label_order(self.labels)
        costs, offsets = self.costs[np.ix_(columns, columns)], self.offsets[columns]
        return np.asarray(columns[_rust.decide(scores, columns.tolist(), costs, rule, self.scale, offsets)])

    def _in_order(self, y_score: Any) -> Any:
        """The scores with their columns in the order of the labels, if these are their names."""
        names = None if type(y_score) is np.ndarray else column_names(y_score, len(self.labels))
        order = order_of_names(names, list(self.labels))
        return y_score if order is None or order == sorted(order) else np.asarray(y_score)[:, order]

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Everything in plain Python objects, with the limits of intervals."""
        return result.Result.to_dict(self) | {"cross_validated": self.cross_validated.to_dict(level)}

    def _rows(self, level: float) -> list[result.Record]:
        options.read_level(level)
        named = zip(self.labels, self.offsets.tolist(), strict=True)
        return [{"label": label, "offset": offset} for label, offset in named]

    def _title(self) -> str:
        return f"CostDecisions for {len(self.labels)} classes: {RULES_IN_WORDS[self.rule]} ({self.rule!r})"

    def _parameters(self) -> result.Cells:
        names = [result.shorten(label) for label in self.labels]
        return [
            ["", "scale", *names],
            ["", wording.decimals(self.scale), *(wording.decimals(b, sign=True) for b in self.offsets)],
        ]

    def __repr__(self) -> str:
        fitted = [] if self.rule in PLAIN_RULES else [*result.text_table(self._parameters()), ""]
        seen = f"cross-validated on {wording.pluralize(self.cross_validated.n_rows, 'row')}"
        return "\n".join([wording.printable(self._title()), *fitted, self.cross_validated.to_text(seen)])

    def _repr_html_(self) -> str:
        seen = f"Cross-validated on {wording.pluralize(self.cross_validated.n_rows, 'row')}"
        return result.html_table(self._title(), self._parameters()) + self.cross_validated.to_html(seen)


def compare_costs(
    rule: str,
    row_costs: dict[str, NDArray[np.float64]],
    weights: NDArray[np.float64] | None,
    groups: NDArray[np.uint32] | None,
    costs: NDArray[np.float64],
) -> CostComparison:
    """The comparison of a fitted `rule` with the plain ones, from what each row costs under each of them."""
    fitted, differences = row_costs[FITTED], []
    for plain in PLAIN_RULES:
        gap = _rust.row_mean(fitted - row_costs[plain], weights, groups)
        differences.append(CostDifference(FITTED, plain, *gap, is_same_rule=rule == plain))
    means = {name: RowMean(*_rust.row_mean(values, weights, groups)) for name, values in row_costs.items()}
    n_rows = len(fitted) if weights is None else int(np.count_nonzero(weights))
    return CostComparison(means, tuple(differences), n_rows, (float(costs.min()), float(costs.max())))


def read_probabilities(y_score: Any, n_classes: int, outputs: Any = None) -> NDArray[np.float32] | NDArray[np.float64]:
    """(n, K) probabilities, or (n, 1) of the second of two classes; raises unless they are, or are made of logits."""
    scores = as_scores("y_score", y_score)
    if scores.ndim == 1:
        scores = scores[:, np.newaxis]
    if scores.ndim != 2 or scores.shape[1] not in ({1, 2} if n_classes == 2 else {n_classes}):
        raise ValueError(f"y_score must have a column for each of the {n_classes} classes; got shape {scores.shape}")
    return probabilities.check_probabilities(probabilities.as_outputs("y_score", scores, outputs), WANTED_FOR)


def label_order(labels: Sequence[Any]) -> NDArray[np.intp]:
    """The columns sorted by their labels: rules are fitted and ties broken in this order, whatever that of columns."""
    places = range(len(labels))
    try:
        found = sorted(places, key=labels.__getitem__)
    except TypeError:  # labels of several types
        found = sorted(places, key=lambda place: (type(labels[place]).__name__, repr(labels[place])))
    return np.array(found, dtype=np.intp)


@hints.with_hints
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
    r"""Learn a decision rule: which class to predict to make errors cheap on other rows.

    With calibrated probabilities p, the class i with the smallest expected cost

    .. math:: \sum_j C_{ij}\, p_j

    is the best prediction (Bayes' rule). Otherwise they are corrected to :math:`q_j \propto p_j^s \exp(b_j)` with a
    scale s and an offset :math:`b_j` per class, fitted to the rows. A test decides whether the probabilities need it.
    Then cross-validation compares other rules (argmax, plain Bayes, or offsets that minimise the cost directly), and
    one of them is used only if it costs clearly less, so few rows do not lead to a worse rule than none.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The probability of each class for each row, float32 or float64, from a model fitted to other rows. With two
        classes also of shape (n,) or (n, 1), the probability of the second of `labels`.
    costs : array-like of shape (K, K)
        ``costs[i, j]``: the cost of predicting class i when the truth is class j, in the order of `labels` (rows are
        predictions). Some error must cost more than the correct prediction.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows.
    groups : array-like of shape (n,), optional
        The group of each row (a patient, a user): groups, not rows, count as independent.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, or fit without it.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    CostDecisions
        `decide` predicts, `expected_cost` returns the mean cost on some rows, and `compare` tests it against simple
        rules.

    Notes
    -----
    With more than 10,000 rows, about 10,000 are used for fitting, evenly spread over classes and probabilities. The
    result is deterministic and does not depend on the order of rows or columns: ties are broken in the sorted order of
    labels.

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
    policy = wording.one_of("absent", absent, ("raise", "ignore"))
    sample = read_sample(y_true, y_score, sample_weight, labels, policy, outputs)
    matrix, numbers = options.read_costs(costs, sample.n_classes), options.read_groups(groups, len(sample.codes))
    found = fit_rule(sample, matrix, numbers)
    column_order.warn_of_order(column_order.column_order_note(sample, numbers))
    return found


def fit_rule(sample: Sample, costs: NDArray[np.float64], groups: NDArray[np.uint32] | None) -> CostDecisions:
    """The rule for a sample that was read."""
    if groups is not None and sample.weights is not None:  # `read_groups` wants two anyway
        left = len(np.unique(groups[sample.weights > 0.0]))
        if left < 2:
            raise ValueError(
                f"groups must have at least two groups with rows of positive sample_weight; got {left}: a rule is "
                "tested on other groups than it was fitted to"
            )
    probabilities.check_probabilities(sample.scores, WANTED_FOR)
    rule, scale, offsets, p_value, row_costs, weights, kept_groups = _rust.fit_decision_rule(
        sample.arguments(groups), label_order(sample.labels).tolist(), np.ascontiguousarray(costs)
    )
    by_rule = dict(zip((FITTED, *PLAIN_RULES), row_costs, strict=True))
    compared = compare_costs(rule, by_rule, weights, kept_groups, costs)
    return CostDecisions(rule, offsets, scale, costs, tuple(sample.labels), p_value, compared)
