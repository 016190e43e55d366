"""What `fuzz.py` holds against the definitions: every check yields what it compared, and whether that is right."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from fuzz_exact import Exact, Pairs
from sklearn.metrics import roc_auc_score as theirs

import multiauc
import multiauc.sklearn
import oracle
import oracle_uncertainty
import oracle_volumes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from fuzz_cases import Case

AVERAGES: Final = ("macro", "prevalence", "prevalence_equal_rest", "micro")
# Of weighted values, and of others that are not correctly rounded.
TOLERANCE = 1e-12
# Uncertainty and the drop-in take many times as long as the values: one case in so many has them.
SELDOM = 16
# With less, the variance within a class is a difference of nearly equal numbers, or has no value at all.
LEAST_WEIGHT_BESIDE_HEAVIEST = 1e-6


class Compared(NamedTuple):
    """A number of the library beside the right one."""

    what: str
    found: Any
    expected: Any
    is_right: bool


def first_difference(case: Case) -> Compared | None:
    """What the library gets wrong in this case; an error that it raises is wrong too."""
    checks = [values(case)]
    if case.number % SELDOM == 0:
        checks.append(uncertainty(case))
    if case.number % SELDOM == 1:
        checks.append(drop_in(case))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return next((one for check in checks for one in check if not one.is_right), None)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            return Compared("an error", repr(error), None, is_right=False)


def values(case: Case) -> Iterator[Compared]:
    """The scores, matrices and values by class of all metrics."""
    exact = Exact(case.codes, case.scores, case.weights)
    data, options = (case.codes, case.given), case.options
    is_exact = case.weights is None
    if case.partition is None:
        differences = exact.auc_mu_pairs()
    else:
        differences = oracle.auc_mu_pairs(case.codes, case.scores, case.weights, case.partition)
    columns = exact.hand_till_pairs()
    weighting = case.pair_weights
    is_rounded = is_exact and (weighting is None or isinstance(weighting, str))
    found = multiauc.auc_mu_score(*data, partition=case.partition, pair_weights=weighting, **options)
    yield _score("auc_mu_score", found, exact.mean(differences, weighting), is_rounded)
    found = multiauc.hand_till_score(*data, pair_weights=weighting, **options)
    yield _score("hand_till_score", found, exact.mean(columns, weighting), is_rounded)
    matrix = multiauc.auc_mu_matrix(*data, partition=case.partition, **options).values
    yield _matrix("auc_mu_matrix", matrix, differences, is_exact, symmetric=True)
    matrix = multiauc.hand_till_matrix(*data, **options).values
    yield _matrix("hand_till_matrix", matrix, columns, is_exact, symmetric=False)
    for average in AVERAGES:
        if average == "micro" and case.is_single:
            continue  # the cells of the other column are not the library's to make up
        found = multiauc.one_vs_rest_score(*data, average=average, **options)
        yield _score(f"one_vs_rest_score({average!r})", found, exact.one_vs_rest(average), is_exact)
    by_class = multiauc.one_vs_rest_per_class(*data, **options)
    for c, value in exact.one_vs_rest_per_class().items():
        yield _score(f"one_vs_rest_per_class, {c}", by_class[c], value, is_exact)
    shares = exact.pdi_per_class()
    yield _close("pdi_score", multiauc.pdi_score(*data, **options), float(sum(shares.values()) / len(shares)))
    volume = multiauc.pdi(*data, **options)
    yield _close("pdi, per class", [volume.per_class[c] for c in shares], [float(one) for one in shares.values()])


def uncertainty(case: Case) -> Iterator[Compared]:
    """Variances and covariances against sums over all pairs of rows."""
    sizes = np.bincount(case.codes if case.weights is None else case.codes[case.weights > 0])
    if (sizes == 1).any() or _weight_beside_heaviest(case) < LEAST_WEIGHT_BESIDE_HEAVIEST:
        return
    options = {"partition": case.partition, "pair_weights": case.pair_weights}
    result = multiauc.evaluate(case.codes, case.given, **options, **case.options)
    problem = oracle_uncertainty.Problem(case.codes, case.scores, case.weights, **options)
    metrics = list(result.metrics)
    covariances = [[problem.covariance(first, second) for second in metrics] for first in metrics]
    yield _close("covariance", result.covariance, covariances)
    by_class = {str(c): estimate for c, estimate in result.per_class.items()}
    for name, estimate in by_class.items():
        yield _close(f"variance of class {name}", estimate.variance(), problem.covariance(name))
    if case.weights is None:
        for name, estimate in (result.metrics | by_class).items():
            unbiased = max(0.0, problem.unbiased(name))
            yield _close(f"unbiased variance of {name}", estimate.variance("unbiased"), unbiased)
            limit = problem.bootstrap_limit(name)
            yield _close(f"bootstrap limit of {name}", estimate.variance("bootstrap_limit"), limit)
        yield _pdi_variance(case)


def _weight_beside_heaviest(case: Case) -> float:
    """The smallest share of a class's weight that is not on its heaviest row."""
    if case.weights is None:
        return 1.0
    by_class = [case.weights[case.codes == c] for c in np.unique(case.codes[case.weights > 0])]
    return min(float((np.sort(weights)[:-1] / weights.sum()).sum()) for weights in by_class)


def _pdi_variance(case: Case) -> Compared:
    present = np.unique(case.codes)
    codes, scores = np.searchsorted(present, case.codes), case.scores[:, present]
    components = oracle_volumes.pdi_components(codes, scores)
    rows = [components[codes == c] for c in range(len(present))]
    variance = sum(part.var(ddof=1) / len(part) for part in rows)
    found = multiauc.evaluate(case.codes, case.given, metrics=["pdi"], **case.options).metrics["pdi"]
    return _close("variance of pdi", found.variance(), variance)


def drop_in(case: Case) -> Iterator[Compared]:
    """One call of `multiauc.sklearn.roc_auc_score` against scikit-learn: binary, multi-class or multi-label."""
    binary = case.codes == case.codes[0], case.scores[:, 0]
    calls: list[tuple[tuple[Any, Any], dict[str, Any]]] = [(binary, {}), (binary, {"max_fpr": 0.3})]
    indicators = np.eye(case.n_classes, dtype=int)[case.codes]
    calls += [((indicators, case.scores), {"average": average}) for average in ("macro", "micro", "samples", None)]
    if case.n_classes > 2:
        sizes = np.abs(case.scores.astype(float))
        probabilities = sizes / np.maximum(sizes.max(axis=1, keepdims=True), 1e-300) + 0.01
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        for multi_class in ("ovr", "ovo"):
            options: dict[str, Any] = {"multi_class": multi_class, "labels": list(range(case.n_classes))}
            calls += [((case.codes, probabilities), options | {"average": name}) for name in ("macro", "weighted")]
    data, options = calls[case.number // SELDOM % len(calls)]
    if options.get("multi_class") != "ovo":  # for which scikit-learn has no weights
        options = options | {"sample_weight": case.weights}
    yield _alike(f"roc_auc_score({data[0].tolist()}, {data[1].tolist()}, **{options})", data, options)


def _alike(what: str, data: tuple[Any, Any], options: dict[str, Any]) -> Compared:
    """The same value, or an error in the same words."""
    found, expected = (_outcome(function, data, options) for function in (multiauc.sklearn.roc_auc_score, theirs))
    if isinstance(found, str) or isinstance(expected, str):
        return Compared(what, found, expected, isinstance(found, str) and found == expected)
    return _close(what, found, expected)


def _outcome(function: Any, data: tuple[Any, Any], options: dict[str, Any]) -> Any:
    try:
        return function(*data, **options)
    except ValueError as error:
        return str(error)


def _score(what: str, found: float, exact: Fraction, is_rounded: bool) -> Compared:  # noqa: FBT001
    """One number: to a unit in the last place where it is rounded once, otherwise to the tolerance."""
    if not is_rounded:
        return _close(what, found, float(exact))
    return Compared(what, found, float(exact), oracle.ulps(found, exact) <= 1)


def _matrix(what: str, found: Any, pairs: Pairs, is_exact: bool, *, symmetric: bool) -> Compared:  # noqa: FBT001
    expected = oracle.matrix(pairs, len(found), symmetric)
    if not is_exact:
        return _close(what, found, expected)
    return Compared(what, found.tolist(), expected.tolist(), np.array_equal(found, expected, equal_nan=True))


def _close(what: str, found: Any, expected: Any) -> Compared:
    if isinstance(found, float) and isinstance(expected, float):  # the quick way for most of them
        is_right = abs(found - expected) <= TOLERANCE or (math.isnan(found) and math.isnan(expected))
        return Compared(what, found, expected, is_right)
    is_right = np.allclose(found, expected, rtol=0, atol=TOLERANCE, equal_nan=True)
    return Compared(what, np.asarray(found).tolist(), np.asarray(expected).tolist(), bool(is_right))
