r"""Whether the columns of the scores seem to belong to other classes than the ones they were taken for.

What is looked at are the shares A(j|k) of Hand & Till's M: how often the scores of column j put a row of class j above
a row of class k. They depend on nothing but the order of the scores within a column, so that neither calibration nor
the scale of logits nor a favourite class matters. In the right order A(j|k) is at least 1/2: 1/2 for classes that the
model cannot tell apart, more for others. Two things speak against the order:

- Another one fits better. A permutation that gives the columns of some m classes to others of them, column j to class
  p(j), gains :math:`G = \sum_j (1/2 - A(j|p(j)))`. The best one is found by linear assignment.
- Most of the classes have a one-vs-rest AUC below 1/2.

Both must be beyond chance. Let the classes concerned be alike to the model. Then the share of the other class that a
row is above is uniform, with variance 1/12. Every row of the m classes is compared in two columns, its own and the one
its class is given, so that its variance is at most 4/12 whatever the dependence between columns. With
:math:`h_c = \sum_i w_i^2 / W_c^2`, which is :math:`1/n_c` without weights,

.. math:: \operatorname{Var}(G) \le \frac{1}{3} \sum_c h_c \, \bigl(1 + \tfrac{1}{2} \max_c h_c\bigr),

the last factor for classes of a few rows (Wilcoxon's variance has :math:`n_j + n_k + 1` in it). Rows of one group
count as one row of their total weight, in all classes of the group together. As uniform shares have lighter tails than
the normal distribution, :math:`P(G > t) \le \exp(-t^2 / (2 \operatorname{Var}(G)))`. There are at most
:math:`N_m / 2 = K (K-1) \cdots (K-m+1) / 2` permutations that move m classes; if each of them may give a false alarm
with probability :math:`2 \alpha / (N_m m (m-1))`, all of them together do with probability at most :math:`\alpha`. With
skill A(j|k) is larger, and an alarm less likely. The one-vs-rest AUCs are tested by partial conjunction (Y. Benjamini
and R. Heller, "Screening for partial conjunction hypotheses", Biometrics 64 (2008), 1215-1222): of K p-values the m-th
smallest, times K - m + 1, tests whether m of them are below 1/2.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from multiauc import _rust
from multiauc._common.hints import warn
from multiauc._common.wording import listing, pluralize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.sample import Sample

#: How often each of the two signs may be seen by chance: together less than once in a thousand samples.
FALSE_ALARMS = 1 / 2000
#: A share this close to 1/2 is no sign of a wrong order, however many rows there are: a model may well put two classes
#: that it hardly knows in the wrong order.
CLOSE_TO_HALF = 0.02
#: Rows of all classes together, and of each class at least, that are looked at where the shares are not known yet.
ROWS_LOOKED_AT = 10_000
ROWS_OF_A_CLASS = 50
#: Where the classes of the columns come from, in words.
ORIGINS = {"labels": "labels=", "names": "the names of the columns", "sorted": "the sorted labels"}
#: Beyond this, a message gives neither all the columns nor the order of all the classes.
SHOWN_COLUMNS = 3
SHOWN_ORDER = 8


class ColumnOrderWarning(UserWarning):
    """The columns of the scores seem to belong to other classes than the ones they were taken for.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["low", "mid", "top"], size=300)
    >>> y_score = rng.random((300, 3)) + (y_true[:, None] == ["top", "mid", "low"])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = multiauc.evaluate(y_true, y_score)
    >>> caught[0].category is multiauc.ColumnOrderWarning
    True
    >>> result.notes[0].partition("; ")[0]
    "the column taken for 'low' fits 'top' better, that for 'top' fits 'low'"
    >>> result.notes[0].partition("perhaps ")[2]
    "labels=['top', 'mid', 'low']"
    """


def warn_of_order(note: str | None) -> None:
    """Warn, if there is a note."""
    if note is not None:
        warn(note, ColumnOrderWarning)


def column_order_note(
    sample: Sample,
    groups: NDArray[np.uint32] | None,
    shares: NDArray[np.float64] | None = None,
    folds: NDArray[np.uint32] | None = None,
) -> str | None:
    """A sentence if the columns seem to be in another order.

    `shares` are A(j|k) of all rows, where they are known. With `folds`, rows count by their ranks within their fold.
    """
    rows: Any = slice(None)
    if shares is None:
        rows = _some_rows(sample)
        weights = None if sample.weights is None else sample.weights[rows]
        scores: NDArray[Any] = sample.scores[rows]
        if folds is not None:
            scores = _ranks_within(folds[rows], scores)
        try:
            shares = _rust.pair_matrix(_rust.Sample(scores, sample.codes[rows], weights), "hand_till")
        except ValueError:  # weights that no pair can be counted with, but for which there is the curve
            return None
    present = np.flatnonzero(sample.rows)
    shares = shares[np.ix_(present, present)]
    note = None
    # Groups say less than as many rows would, so that they are looked at only where rows would be enough.
    for named in [None] if groups is None else [None, groups[rows]]:
        units = _Units.of(sample, named, rows)
        others = {int(present[j]): int(present[k]) for j, k in _better_columns(shares, units, present).items()}
        most_below = _are_most_below_half(shares, sample, units.concentrations[present])
        note = _sentence(sample, others, most_below=most_below) if others or most_below else None
        if note is None:
            break
    return note


class _Units(NamedTuple):
    """What is independent: rows or groups of rows.

    Attributes
    ----------
    concentrations
        h of each class: one divided by the number of its rows or groups, if they are of equal weight.
    groups
        None where rows are independent. Groups are in parts that each lie within one class: the group of each part, its
        class, and its weight divided by that of its class.
    """

    concentrations: NDArray[np.float64]
    groups: tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]] | None = None

    @classmethod
    def of(cls, sample: Sample, groups: NDArray[np.uint32] | None, rows: Any) -> _Units:
        codes, n_classes = sample.codes[rows], sample.n_classes
        if groups is None and sample.weights is None:
            sizes = sample.rows if len(codes) == len(sample.codes) else np.bincount(codes, minlength=n_classes)
            return cls((sizes > 0) / np.maximum(sizes, 1))
        weights = np.ones(len(codes))
        if sample.weights is not None:
            # By the largest weight of the class: sums and squares can then neither overflow nor vanish.
            weights = sample.weights[rows]
            largest = np.zeros(n_classes)
            np.maximum.at(largest, codes, weights)
            weights = weights / np.where(largest > 0, largest, 1.0)[codes]
        if groups is None:
            return cls(_sums(codes, _shares(codes, weights, n_classes) ** 2, n_classes))
        parts, part_of = np.unique(groups * np.int64(n_classes) + codes, return_inverse=True)
        names, codes = np.divmod(parts, n_classes)
        shares = _shares(codes, _sums(part_of, weights, len(parts)), n_classes)
        return cls(_sums(codes, shares**2, n_classes), (names, codes, shares))

    def concentration(self, classes: NDArray[np.intp]) -> float:
        """The sum of h over some classes; parts of one group in several of them count as one."""
        if self.groups is None:
            return float(self.concentrations[classes].sum())
        names, codes, shares = self.groups
        chosen = np.isin(codes, classes)
        return float((np.bincount(names[chosen], shares[chosen]) ** 2).sum())


def _shares(codes: NDArray[Any], weights: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Each weight divided by the sum of those of its code."""
    totals = _sums(codes, weights, n)
    return np.asarray(weights / np.where(totals > 0, totals, 1.0)[codes])


def _sums(codes: NDArray[Any], weights: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """The sums of the weights of each of `n` codes."""
    return np.bincount(codes, weights, n).astype(np.float64, copy=False)


def _some_rows(sample: Sample) -> Any:
    """Up to a number of rows of each class (of positive weight), spread over all rows of the class."""
    most = max(ROWS_OF_A_CLASS, ROWS_LOOKED_AT // sample.n_classes)
    sizes = sample.rows
    if sizes.max() <= most:
        return slice(None)
    kept = None if sample.weights is None else np.flatnonzero(sample.weights)
    by_class = np.argsort(sample.codes if kept is None else sample.codes[kept], kind="stable")
    taken = [
        end - size + np.arange(min(size, most)) * size // min(size, most)
        for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True)
        if size
    ]
    rows = np.sort(by_class[np.concatenate(taken)])
    return rows if kept is None else kept[rows]


def _ranks_within(folds: NDArray[np.uint32], scores: NDArray[Any]) -> NDArray[np.float64]:
    """The share of the rows of its fold that each score is above (ties half), column by column.

    Models of different folds have different scales. In the right order the mean of a class in its own column is at
    least 1/2 in every fold, whatever the share of the class among its rows, and that of other classes at most 1/2.
    """
    ranks = np.empty(scores.shape)
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        for j in range(scores.shape[1]):
            _, place, times = np.unique(scores[rows, j], return_inverse=True, return_counts=True)
            ranks[rows, j] = ((np.cumsum(times) - times / 2) / len(rows))[place]
    return ranks


def _better_columns(shares: NDArray[np.float64], units: _Units, present: NDArray[np.intp]) -> dict[int, int]:
    """The class that the column of each class fits better, for a gain that is beyond chance; else nothing."""
    gains = 0.5 - CLOSE_TO_HALF - shares
    np.fill_diagonal(gains, 0.0)
    if not _can_be_beyond_chance(gains, units.concentrations[present]):
        return {}
    best = _rust.best_assignment(gains)
    cycles = _cycles(best)
    found: set[int] = set()
    for classes in [*cycles, [j for cycle in cycles for j in cycle]] if len(cycles) > 1 else cycles:
        largest = units.concentrations[present[classes]].max()
        concentration = units.concentration(present[classes]) * (1 + largest / 2)
        # What some permutation that moves any number of classes gains by chance, in a share `FALSE_ALARMS` of samples.
        bound = math.sqrt(2 * concentration / 3 * float(_exponents(len(gains))[len(classes) - 2]))
        if gains[classes, best[classes]].sum() > bound:
            found.update(classes)
    return {j: int(best[j]) for j in sorted(found)}


@lru_cache(maxsize=32)  # called again and again for the same few numbers of classes
def _exponents(n_classes: int) -> NDArray[np.float64]:
    """log(N m (m - 1) / 2 alpha), N = K (K - 1) ... (K - m + 1), for m = 2, ..., K."""
    moved = np.arange(2, n_classes + 1)
    log_permutations = np.cumsum(np.log(np.arange(n_classes, 0, -1)))[1:]
    return np.asarray(log_permutations + np.log(moved * (moved - 1) / 2 / FALSE_ALARMS))


def _can_be_beyond_chance(gains: NDArray[np.float64], h: NDArray[np.float64]) -> bool:
    """Whether the columns would gain enough if several of them could go to the same class: else no order does.

    By Cauchy's inequality the square of a sum of gains is at most the sum of gain^2 / ((h_j + h_k) / 2) times that of
    (h_j + h_k) / 2, which over the pairs (j, k) of a permutation is the sum of h.
    """
    most = (np.maximum(gains, 0.0) ** 2 / ((h[:, None] + h) / 2)).max(axis=1)
    sums = np.cumsum(np.sort(most)[::-1])[1:]
    return bool((sums > 2 / 3 * _exponents(len(gains))).any())


def _cycles(permutation: NDArray[np.intp]) -> list[list[int]]:
    """The classes that a permutation moves, those that pass their columns round among each other together."""
    cycles: list[list[int]] = []
    seen: set[int] = set()
    for start in range(len(permutation)):
        cycle, at = [], start
        while at not in seen:
            seen.add(at)
            cycle.append(at)
            at = int(permutation[at])
        cycles += [cycle] if len(cycle) > 1 else []
    return cycles


def _are_most_below_half(shares: NDArray[np.float64], sample: Sample, h: NDArray[np.float64]) -> bool:
    """Whether most classes have a one-vs-rest AUC below 1/2, beyond chance."""
    totals = sample.rows.astype(np.float64)
    if sample.weights is not None:
        totals = _sums(sample.codes, sample.weights / sample.weights.max(), sample.n_classes)
    totals = totals[sample.rows > 0]
    n_classes = len(totals)
    rest = np.tile(totals, (n_classes, 1))
    np.fill_diagonal(rest, 0.0)
    rest /= np.maximum(rest.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    aucs = (np.nan_to_num(shares) * rest).sum(axis=1)
    # The rows of a class add at most h / 12, as above, and those of the rest, by convexity, at most the mean of what
    # their classes would, however groups are spread over them. Twice that, as groups may be on both sides.
    variances = (h + rest @ h) / 6
    distances = np.maximum(0.5 - CLOSE_TO_HALF - aucs, 0.0)
    p_values = np.sort(np.exp(-(distances**2) / (2 * variances)))
    most = n_classes // 2 + 1
    return bool(p_values[most - 1] * (n_classes - most + 1) < FALSE_ALARMS)


def _sentence(sample: Sample, others: dict[int, int], *, most_below: bool) -> str:
    if sample.has_one_score:
        first, second = sample.labels
        return (
            f"the scores are higher for {first!r} than for {second!r}, but were taken for scores of {second!r}, "
            f"the second of {ORIGINS[sample.named_by]}: if they are not, pass labels=[{second!r}, {first!r}]"
        )
    facts = ["most classes have a one-vs-rest AUC below 1/2"] if most_below else []
    if others:
        facts.append(_fits(sample.labels, others))
    return f"{' and '.join(facts)}; {_cure(sample, others)}"


def _fits(labels: list[Any], others: dict[int, int]) -> str:
    pairs = [(labels[j], labels[k]) for j, k in others.items()]
    (taken, better), *more = pairs[:SHOWN_COLUMNS]
    text = f"the column taken for {taken!r} fits {better!r} better"
    text += "".join(f", that for {taken!r} fits {better!r}" for taken, better in more)
    return text + (f", and {pluralize(len(pairs) - SHOWN_COLUMNS, 'other')}" if len(pairs) > SHOWN_COLUMNS else "")


def _cure(sample: Sample, others: dict[int, int]) -> str:
    if sample.named_by == "labels":
        return "check that labels= has the classes in the order of the columns"
    advice = "pass labels= with the classes in the order of the columns"
    if sample.named_by == "names":
        return (
            "the columns were taken for the classes of their names: if these are wrong, rename them, "
            "or pass the scores as an array and labels= with the classes in the order of the columns"
        )
    if others and sample.n_classes <= SHOWN_ORDER:
        order = [sample.labels[others.get(j, j)] for j in range(sample.n_classes)]
        advice += f", perhaps labels=[{listing(order)}]"
    return f"the columns were taken in the sorted order of the labels: {advice}"
