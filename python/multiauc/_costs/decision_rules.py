"""Decision rules, and the choice between them by cross-validation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from multiauc import _rust
from multiauc._costs.calibration import (
    LabelledRows,
    all_columns,
    calibration_p_value,
    correct,
    most_likely,
    spreads,
    take_logs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

BAYES: Final = "bayes"
ARGMAX: Final = "argmax"
CALIBRATED: Final = "calibrated"
OFFSETS: Final = "offsets"

# Relative to the largest cost: expected costs that are equal but for rounding.
TIED = 1e-13
SEARCH_SPANS = (2.0, 1.0, 0.5, 0.25)
SEARCH_STEPS = np.linspace(-1.0, 1.0, 9)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule, and what it multiplies and adds to the logarithms of the probabilities first."""

    name: str
    scale: float
    offsets: NDArray[np.float64]

    def decide(self, probabilities: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.intp]:
        """The class predicted for each row; of equally good ones the first."""
        if self.name == ARGMAX:
            return np.asarray(probabilities.argmax(axis=1))
        if self.name != BAYES:
            probabilities = correct(take_logs(probabilities), self.scale, self.offsets)
        above = regrets(costs)
        expected = probabilities @ above.T
        # What differs by rounding alone is a tie, so that errors that cost the same lead to the decisions of argmax.
        return np.asarray((expected <= expected.min(axis=1, keepdims=True) + TIED * above.max()).argmax(axis=1))


def label_order(labels: Sequence[Any]) -> NDArray[np.intp]:
    """The columns sorted by their labels: rules are fitted and ties broken in this order, whatever that of columns."""
    places = range(len(labels))
    try:
        found = sorted(places, key=labels.__getitem__)
    except TypeError:  # labels of several types
        found = sorted(places, key=lambda place: (type(labels[place]).__name__, repr(labels[place])))
    return np.array(found, dtype=np.intp)


def plain_rule(name: str, n_classes: int) -> Rule:
    """A rule that nothing is fitted for."""
    return Rule(name, 1.0, np.zeros(n_classes))


def regrets(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Costs above the least possible for the true class, which lead to the same decisions."""
    found: NDArray[np.float64] = costs - costs.min(axis=0)
    return found


def calibrate(rows: LabelledRows) -> Rule:
    """Bayes' rule with the correction of the highest likelihood."""
    scale, offsets = most_likely(rows)
    return Rule(CALIBRATED, scale, offsets - offsets.mean())


def compute_row_costs(rows: LabelledRows, rule: Rule, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the decision on each row costs."""
    found: NDArray[np.float64] = costs[rule.decide(rows.probabilities, costs), rows.codes]
    return found


def search_offsets(rows: LabelledRows, costs: NDArray[np.float64], start: Rule) -> Rule:
    """Offsets that cost least on these rows, one class at a time, in ever smaller steps from where others left off."""
    logs = rows.logs()
    above = regrets(costs)
    of_truth = above[:, rows.codes].T if rows.weights is None else above[:, rows.codes].T * rows.weights[:, None]
    offsets = start.offsets.copy()
    everything = np.arange(len(logs))
    for span in SEARCH_SPANS:
        for j in range(len(offsets)):
            q = correct(logs, start.scale, offsets)
            expected = q @ above.T
            added = q[:, [j]] * above[:, j]
            shifts = span * SEARCH_STEPS
            totals = [
                float(of_truth[everything, (expected + math.expm1(shift) * added).argmin(axis=1)].sum())
                for shift in shifts.tolist()
            ]
            least = np.flatnonzero(np.array(totals) <= min(totals) * (1.0 + 1e-12))
            # Of equally good shifts the smallest.
            offsets[j] += shifts[least[np.abs(shifts[least]).argmin()]]
    return Rule(OFFSETS, start.scale, offsets - offsets.mean())


FOLDS = 5
# More rows than this are thinned out for fitting, evenly over the classes and their probabilities.
FIT_ROWS = 10_000
# With more classes, or fewer rows for each, offsets are found by likelihood alone.
SEARCH_UP_TO_CLASSES = 30
SEARCH_FROM_ROWS_PER_CLASS = 100
# Calibration is corrected where a test says at this level that it is needed,
CALIBRATION_LEVEL = 0.001
# and where plain rules cost more than so many times what the uncertainty of the correction does.
WORTH = 5.0
# How rarely a rule may seem cheaper by chance to be preferred: a plain one to a corrected one and to another plain one,
# and offsets by search to any.
BACK_TAIL = 0.4
PLAIN_TAIL = 0.05
OFFSETS_TAIL = 0.003
# How many products of costs and probabilities the worth of a correction may take.
PRODUCTS = 4e8


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The rule that was chosen, and why.

    Attributes
    ----------
    rule
        The rule.
    calibration_p_value
        Of the test whether probabilities are calibrated.
    row_costs
        What each of the rows costs under each rule, fitted to other rows.
    """

    rule: Rule
    calibration_p_value: float
    row_costs: dict[str, NDArray[np.float64]]


def choose(rows: LabelledRows, costs: NDArray[np.float64]) -> Chosen:
    """The best rule for rows in the order of `rows_to_fit`.

    Bayes' rule, if a test finds nothing wrong with the calibration of the probabilities. Otherwise the same with
    corrected ones, if by these the plain rules would cost clearly more, and else the better of the plain rules. Another
    rule takes its place if a cross-validation shows that it costs less by more than chance: what is fitted to few rows
    is not better than nothing by default.
    """
    n_classes = rows.probabilities.shape[1]
    fitted = calibrate(rows)
    p_value = calibration_p_value(rows, fitted.scale, fitted.offsets)
    needs_correction = p_value < CALIBRATION_LEVEL
    fits: dict[str, Callable[[LabelledRows], Rule]] = {
        BAYES: lambda _: plain_rule(BAYES, n_classes),
        ARGMAX: lambda _: plain_rule(ARGMAX, n_classes),
    }
    if needs_correction:
        fits[CALIBRATED] = calibrate
    if n_classes <= SEARCH_UP_TO_CLASSES and len(rows.codes) >= SEARCH_FROM_ROWS_PER_CLASS * n_classes:
        start = fits[CALIBRATED if needs_correction else BAYES]
        fits[OFFSETS] = lambda some: search_offsets(some, costs, start(some))
    row_costs = {name: np.full(len(rows.codes), np.nan) for name in fits}
    for fold in _folds(rows):
        for name, fit in fits.items():
            row_costs[name][fold] = compute_row_costs(rows.at(fold), fit(rows.at(~fold)), costs)
    chosen = _worth_it(rows, costs, fitted) if needs_correction else BAYES
    for plain in (BAYES, ARGMAX):
        if _is_cheaper(rows, row_costs, plain, chosen, BACK_TAIL if chosen == CALIBRATED else PLAIN_TAIL):
            chosen = plain
    if OFFSETS in fits and _is_cheaper(rows, row_costs, OFFSETS, chosen, OFFSETS_TAIL):
        chosen = OFFSETS
    return Chosen(fits[chosen](rows), p_value, row_costs)


def _worth_it(rows: LabelledRows, costs: NDArray[np.float64], fitted: Rule) -> str:
    """The corrected rule, or the better of the plain ones if a correction would cost about as much as it saves.

    Costs are expected ones by the corrected probabilities: what plain rules cost more than the corrected one, against
    what the corrected one would on average if scale and offsets were as far off as their standard errors say.
    """
    n_classes = rows.probabilities.shape[1]
    most = int(PRODUCTS / (2 * n_classes**3))
    step = max(1, -(-len(rows.codes) // max(most, 500)))
    seen = rows.at(np.arange(0, len(rows.codes), step))
    above = regrets(costs)
    expected = correct(seen.logs(), fitted.scale, fitted.offsets) @ above.T
    least = expected.min(axis=1)
    everything = np.arange(len(least))

    def excess(rule: Rule) -> float:
        return seen.mean(expected[everything, rule.decide(seen.probabilities, costs)] - least).value

    uncertainty = 0.0
    for deviation in spreads(rows, fitted.scale, fitted.offsets):
        for sign in (-1.0, 1.0):
            scale, offsets = fitted.scale + sign * deviation[0], fitted.offsets + sign * deviation[1:]
            uncertainty += 0.5 * excess(Rule(CALIBRATED, float(scale), offsets))
    found = {plain: excess(plain_rule(plain, n_classes)) for plain in (BAYES, ARGMAX)}
    best = min(found, key=found.__getitem__)
    return CALIBRATED if found[best] > WORTH * uncertainty else best


def _is_cheaper(
    rows: LabelledRows, row_costs: dict[str, NDArray[np.float64]], first: str, second: str, tail: float
) -> bool:
    """Whether the first rule costs less than the second by more than chance would have it once in 1 / `tail` times."""
    found = rows.mean(row_costs[first] - row_costs[second])
    if not (found.value < 0.0 < found.variance):
        return False
    return found.value < -_rust.student_upper_quantile(tail, found.degrees_of_freedom) * math.sqrt(found.variance)


@dataclass(frozen=True, slots=True, eq=False)
class FitRows:
    """Rows to choose from.

    Attributes
    ----------
    scores, columns
        Probabilities as they were given, and their columns in the order of the labels.
    codes
        The class of each row in that order.
    own, largest
        The probability of the true class, and that of any.
    weights, groups
        None, or those of each row.
    """

    scores: NDArray[np.float32] | NDArray[np.float64]
    columns: NDArray[np.intp]
    codes: NDArray[np.intp]
    own: NDArray[np.float64]
    largest: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.uint32] | None


def rows_to_fit(rows: FitRows) -> LabelledRows:
    """Rows by class and by the probability of their class; of many those at even distances.

    The same in the same order for any order of rows and columns: rows that tie are told apart by everything else that
    is known about them, and groups are numbered by their rows.
    """
    order, content = _by_content(rows)
    groups = None
    if rows.groups is not None:
        groups = _number_by_content(rows.groups[order], content)
        again = np.lexsort((groups, content))
        order, groups = order[again], groups[again]
    n = len(order)
    if n > FIT_ROWS:
        places = (np.arange(FIT_ROWS) * n) // FIT_ROWS
        places = _with_one_of_each(places, rows.codes[order])
        # Without other groups nothing could be tested; of many some are left anyway.
        if groups is not None and len(np.unique(groups[places])) < FOLDS:
            places = _with_one_of_each(places, groups)
        order, groups = order[places], None if groups is None else groups[places]
    weights = None if rows.weights is None else rows.weights[order]
    return LabelledRows(all_columns(rows.scores[order])[:, rows.columns], rows.codes[order], weights, groups)


def _by_content(rows: FitRows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of positive weight in order, and a rising number for each of them, the same for rows that are alike."""
    order = np.lexsort((rows.largest, rows.own, rows.codes))
    if rows.weights is not None:
        order = order[rows.weights[order] > 0.0]
    is_new = np.zeros(len(order), dtype=bool)
    is_new[0] = True
    for key in (rows.codes[order], rows.own[order], rows.largest[order]):
        is_new[1:] |= key[1:] != key[:-1]
    tied = np.flatnonzero(~is_new | np.append(~is_new[1:], False))
    if tied.size:
        some = order[tied]
        known = rows.scores[some].astype(np.float64)
        if known.shape[1] > 1:
            known = known[:, rows.columns]
        if rows.weights is not None:
            known = np.column_stack([known, rows.weights[some]])
        # As one key of bytes, plus zero so that both zeros are one.
        known = np.ascontiguousarray(known + 0.0)
        keys = known.view(np.dtype((np.void, known.itemsize * known.shape[1]))).ravel()
        _, ranks = np.unique(keys, return_inverse=True)
        run = np.cumsum(is_new)[tied]
        by_rank = np.lexsort((ranks, run))
        order[tied], ranks = some[by_rank], ranks[by_rank]
        is_new[tied[1:]] |= ranks[1:] != ranks[:-1]
    return order, np.cumsum(is_new) - 1


def _number_by_content(groups: NDArray[np.uint32], content: NDArray[np.intp]) -> NDArray[np.uint32]:
    """Groups with numbers that follow from the contents of their rows, not from their names or first rows."""
    by_group = np.lexsort((content, groups))
    numbers, starts = np.unique(groups[by_group], return_index=True)
    rows = np.split(content[by_group].astype(">u8"), starts[1:])
    ranks = np.zeros(int(numbers[-1]) + 1, dtype=np.uint32)
    for rank, place in enumerate(sorted(range(len(rows)), key=lambda place: rows[place].tobytes())):
        ranks[numbers[place]] = rank
    return np.asarray(ranks[groups])


def _with_one_of_each(places: NDArray[np.intp], kinds: NDArray[Any]) -> NDArray[np.intp]:
    """Some places, and the first of each kind that none of them has."""
    left = np.flatnonzero(~np.isin(kinds, kinds[places]))
    _, first = np.unique(kinds[left], return_index=True)
    return np.sort(np.concatenate([places, left[first]]))


def _folds(rows: LabelledRows) -> Iterator[NDArray[np.bool_]]:
    """Parts of the rows that are as alike as can be, as the rows of a class are sorted; groups stay whole."""
    if rows.groups is None:
        by_class = np.argsort(rows.codes, kind="stable")
        sizes = np.bincount(rows.codes)
        numbers = np.empty(len(by_class), dtype=np.intp)
        numbers[by_class] = (np.arange(len(by_class)) - np.repeat(np.cumsum(sizes) - sizes, sizes)) % FOLDS
        if not numbers.any():  # a single row of each class
            numbers = np.arange(len(by_class)) % FOLDS
    else:
        sizes = np.bincount(rows.groups)
        means = np.bincount(rows.groups, rows.own_probabilities()) / np.maximum(sizes, 1)
        rank = np.empty(len(sizes), dtype=np.intp)
        rank[np.lexsort((means, sizes))] = np.arange(len(sizes))
        numbers = rank[rows.groups] % FOLDS
    for fold in range(FOLDS):
        found = numbers == fold
        if found.any() and not found.all():
            yield found
