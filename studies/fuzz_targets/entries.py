"""A target per entry of the compiled core: through public functions, with arguments that may be wrong.

Whatever they are, there is a finite answer in its range, or an error that Python code expects; never a panic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

import multiauc
import multiauc.sklearn
from fuzz_targets.registry import Rng, answer, outside, target
from fuzz_targets.samples import any_sample, sound
from multiauc.streaming import Accumulator, evaluate_exactly

if TYPE_CHECKING:
    from collections.abc import Iterator

AVERAGES = ("macro", "prevalence", "prevalence_equal_rest", "micro")
METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence", "pdi")


def _choice(rng: Rng, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


@target("score", "Sample", "MetricOptions", "class_sizes", "code_integers", "code_bytes", "code_objects", "recode")
def scores(rng: Rng) -> Iterator[str]:
    """The averages over pairs of classes, with labels of any kind."""
    y, p, w = any_sample(rng)
    if rng.random() < 0.1:
        y = y.astype(object)
    if rng.random() < 0.3 and y.dtype.kind in "iu":
        y = y.astype(str) if rng.random() < 0.5 else y + np.int64(rng.choice([-(2**62), 2**62, 0, 255]))
    for function in (multiauc.auc_mu_score, multiauc.hand_till_score):
        weights = _choice(rng, [None, "size_product", "size_sum"])
        yield from outside(
            function.__name__, answer(function, y, p, sample_weight=w, pair_weights=weights, absent="ignore")
        )


@target("one_vs_rest", "one_vs_rest_per_class")
def one_vs_rest(rng: Rng) -> Iterator[str]:
    """One-vs-rest with every average."""
    s = any_sample(rng)
    yield from outside(
        "one_vs_rest", answer(multiauc.one_vs_rest_score, s.y, s.p, average=_choice(rng, AVERAGES), **s.options)
    )
    for value in (answer(multiauc.one_vs_rest_per_class, s.y, s.p, **s.options) or {}).values():
        yield from outside("one_vs_rest_per_class", value)


@target("pair_matrix")
def pair_matrices(rng: Rng) -> Iterator[str]:
    """Values of pairs."""
    s = any_sample(rng)
    for function in (multiauc.auc_mu_matrix, multiauc.hand_till_matrix):
        found = answer(function, s.y, s.p, **s.options)
        if found is not None:
            values = np.asarray(found.values)
            for value in values[np.isfinite(values)]:
                yield from outside(function.__name__, value)


@target("SparseSample", "sparse_hand_till", "sparse_one_vs_rest", "sparse_one_vs_rest_per_class")
def sparse(rng: Rng) -> Iterator[str]:
    """Sparse scores, with indices that may be wrong."""
    y, p, w = any_sample(rng)
    matrix = scipy.sparse.csr_matrix(np.where(rng.random(p.shape) < 0.5, p, 0.0))
    if rng.random() < 0.3 and matrix.nnz:
        part = _choice(rng, [matrix.indices, matrix.indptr])
        part[int(rng.integers(len(part)))] = _choice(rng, [-1, 2**31 - 1, 0, p.shape[1]])
    options = {"sample_weight": w, "absent": "ignore", "labels": list(range(p.shape[1]))}
    yield from outside("hand_till", answer(multiauc.hand_till_score, y, matrix, **options))
    yield from outside(
        "one_vs_rest", answer(multiauc.one_vs_rest_score, y, matrix, average=_choice(rng, AVERAGES), **options)
    )
    for value in (answer(multiauc.one_vs_rest_per_class, y, matrix, **options) or {}).values():
        yield from outside("one_vs_rest_per_class", value)


@target("pdi_per_class")
def pdi(rng: Rng) -> Iterator[str]:
    """The polytomous discrimination index."""
    s = any_sample(rng)
    yield from outside("pdi", answer(multiauc.pdi_score, s.y, s.p, **s.options))


@target("hum", "hum_score")
def hum(rng: Rng) -> Iterator[str]:
    """Volumes, of few rows: their number of tuples grows fast."""
    y, p, _ = any_sample(rng, most_rows=9, most_classes=4)
    rule = _choice(rng, ["sum", "prod", "distance", "x"])
    yield from outside("hum_score", answer(multiauc.hum_score, y, p, rule=rule, rng=0, absent="ignore"))
    found = answer(multiauc.hum, y, p, rule=rule, rng=0, absent="ignore")
    yield from outside("hum", None if found is None else found.value)


@target("covered_share")
def ferri(rng: Rng) -> Iterator[str]:
    """Ferri's volume, from scores and from confusion matrices."""
    y, p, _ = any_sample(rng, most_rows=9, most_classes=3)
    options = {"precision": 0.1, "rng": 0}
    yield from outside("ferri_vus", answer(multiauc.ferri_vus_score, y, p, absent="ignore", **options))
    k = int(rng.integers(2, 4))
    matrices = rng.choice([0.0, 1.0, 5.0, np.nan, -1.0, 1e300], size=(3, k, k), p=[0.3, 0.3, 0.3, 0.03, 0.03, 0.04])
    found = answer(multiauc.ferri_vus_of_confusions, matrices, **options)
    yield from outside("ferri_vus_of_confusions", None if found is None else found.value)


@target(
    "evaluate", "Evaluated", "Estimate", "PairTable", "influences", "interactions", "Interactions", "check_column_order"
)
def evaluation(rng: Rng) -> Iterator[str]:
    """Values with standard errors, with groups and both kinds of sampling."""
    s = any_sample(rng)
    groups = rng.integers(3, size=len(s.p)) if rng.random() < 0.4 else None
    metric = _choice(rng, METRICS)
    found = answer(
        multiauc.evaluate,
        s.y,
        s.p,
        metrics=[metric],
        groups=groups,
        sampling=_choice(rng, ["stratified", "iid"]),
        **s.options,
    )
    if found is not None:
        estimate = found.metrics[metric]
        yield from outside(metric, estimate.value)
        if estimate.standard_error < 0:
            yield f"the standard error of {metric} is {estimate.standard_error}"
        for limit in estimate.confidence_interval(0.95):
            if not np.isnan(limit):
                yield from outside(f"a limit of {metric}", limit)


@target("compare", "Compared", "compare_classes", "compare_folds")
def comparison(rng: Rng) -> Iterator[str]:
    """Two models, of which the second may not fit the first."""
    s, other = any_sample(rng), any_sample(rng)
    second = other.p if rng.random() < 0.2 else s.p[::-1]
    folds = {"folds": rng.integers(3, size=len(s.p))} if rng.random() < 0.3 else {}
    found = answer(
        multiauc.compare,
        s.y,
        {"a": s.p, "b": second},
        metric=_choice(rng, METRICS),
        sample_weight=s.w,
        absent="ignore",
        **folds,
    )
    if found is not None and hasattr(found, "estimates"):
        for estimate in found.estimates.values():
            yield from outside("the value of a model", estimate.value)
        by_class = answer(lambda: found.per_class)
        for difference in () if by_class is None else by_class.differences.values():
            yield from outside("the difference of a class", difference.value, -1.0)


@target("compare_labels", "Labelled")
def several_labels(rng: Rng) -> Iterator[str]:
    """Rows with several labels at once, some of which all rows or none may have."""
    _, p, w = any_sample(rng)
    y = rng.choice([0, 1], size=p.shape, p=[0.6, 0.4])
    if rng.random() < 0.2:
        y[:, 0] = _choice(rng, [0, 1, 2])
    groups = rng.integers(3, size=len(p)) if rng.random() < 0.4 else None
    found = answer(multiauc.evaluate, y, p, task="multilabel", sample_weight=w, groups=groups, absent="ignore")
    for name, one in {} if found is None else found.metrics.items():
        yield from outside(name, one.value)
        if one.standard_error < 0:
            yield f"the standard error of {name} is {one.standard_error}"


@target("Resampler", "count_groups", "fingerprint")
def bootstrap(rng: Rng) -> Iterator[str]:
    """Resamples of rows or of groups."""
    s = any_sample(rng, most_rows=12)
    groups = rng.integers(3, size=len(s.p)) if rng.random() < 0.4 else None
    found = answer(multiauc.evaluate, s.y, s.p, metrics=["auc_mu"], groups=groups, **s.options)
    drawn = None if found is None else answer(found.bootstrap, n_resamples=20, rng=0)
    if drawn is not None:
        values = np.asarray(drawn.replicates)
        for value in values[np.isfinite(values)]:
            yield from outside("a replicate", value)


@target("FoundSlices", "evaluate_slices")
def slices(rng: Rng) -> Iterator[str]:
    """Slices by a column of any kind."""
    s = any_sample(rng)
    column = _choice(rng, [rng.integers(3, size=len(s.p)), rng.choice(["a", "b"], size=len(s.p)), np.zeros(len(s.p))])
    found = answer(
        multiauc.evaluate_slices, s.y, s.p, {"part": column}, metric=_choice(rng, METRICS[:4]), sample_weight=s.w
    )
    for one in found or ():
        if not np.isnan(one.value):
            yield from outside("the value of a slice", one.value)


@target("worst_case")
def sample_sizes(rng: Rng) -> Iterator[str]:
    """How many rows a narrow interval needs, from a pilot of any kind."""
    s = any_sample(rng)
    metric = _choice(rng, METRICS[:4])
    pilot = answer(multiauc.evaluate, s.y, s.p, metrics=[metric], sample_weight=s.w)
    if pilot is not None:
        plan = answer(multiauc.sample_size, pilot, metric=metric, half_width=float(_choice(rng, [0.01, 0.1, 0.4, 2.0])))
        if plan is not None:
            yield from outside("the rows of a plan", plan.total, 1, np.inf)


@target("partial_aucs", "roc_curve_points", "roc_hull_points")
def curves(rng: Rng) -> Iterator[str]:
    """Partial areas, curves and hulls."""
    s = any_sample(rng)
    kind = _choice(rng, ["one_vs_rest", "pairwise"])
    limit = float(_choice(rng, [0.1, 1.0, 0.0, 1e-12, np.nan, 2.0]))
    yield from outside(
        "partial_auc_score",
        answer(multiauc.partial_auc_score, s.y, s.p, max_fpr=limit, kind=kind, **s.options),
    )
    for function in (multiauc.roc_curves, multiauc.roc_hulls):
        for curve in (answer(function, s.y, s.p, kind=kind, **s.options) or {}).values():
            for rates in (curve.fpr, curve.tpr):
                if not (np.diff(rates) >= 0).all() or not ((rates >= 0) & (rates <= 1)).all():
                    yield f"{function.__name__} has rates {rates!r}"


@target("roc_heights", "roc_limits", "side_sizes", "CurveResampler")
def bands(rng: Rng) -> Iterator[str]:
    """Bands of ROC curves, pointwise and for the whole curve."""
    s = any_sample(rng, most_rows=12)
    curves = answer(multiauc.roc_curves, s.y, s.p, **s.options) or {}
    for curve in list(curves.values())[:1]:
        band = answer(curve.band, float(_choice(rng, [0.5, 0.95, 1.0])), simultaneous=bool(rng.random() < 0.5), rng=0)
        for limits in () if band is None else (band.low, band.high):
            for value in limits[np.isfinite(limits)]:
                yield from outside("a limit of a ROC curve", value)


@target("cost_curve", "h_measure", "lc_index", "fit_decision_rule", "decide")
def costs(rng: Rng) -> Iterator[str]:
    """H-measure, LC index and decision rules, with costs of any size."""
    s = any_sample(rng)
    ratio = float(_choice(rng, [1.0, 1e-6, 1e6, 0.0, np.nan]))
    yield from outside("h_measure", answer(multiauc.h_measure_score, s.y, s.p, severity_ratio=ratio, **s.options))
    ends = np.sort(rng.choice([0.0, 0.1, 0.5, 0.9, 1.0, 2.0], size=3))
    belief = {"cost_range": (ends[0], ends[2]), "most_likely": ends[1]}
    yield from outside("lc_index", answer(multiauc.lc_index, s.y, s.p, s.p[::-1], **belief), -1.0)
    k = s.p.shape[1]
    rule = answer(multiauc.fit_decisions, s.y, s.p, rng.choice([0.0, 1.0, 5.0, 1e9], size=(k, k)) * (1 - np.eye(k)))
    predicted = None if rule is None else answer(rule.decide, s.p[:3])
    if predicted is not None and not set(np.asarray(predicted).tolist()) <= set(np.asarray(s.y).tolist()):
        yield f"a decision rule predicts {predicted!r}"


@target("multiclass_roc", "RocModel")
def multiclass_roc(rng: Rng) -> Iterator[str]:
    """The multi-class curve, with few thresholds or none."""
    y, p, _ = any_sample(rng)
    thresholds = _choice(rng, [5, 1, 0, -1, [0.5], [np.nan], [], 10**9])
    scope, center = _choice(rng, ["shared", "x"]), _choice(rng, ["intercept", "x"])
    found = answer(multiauc.multiclass_roc, y, p, thresholds=thresholds, scope=scope, center=center)
    yield from outside("the area of multiclass_roc", getattr(found, "auc", None))


@target("fit_summary_roc", "summary_area", "SummaryFit", "PairOutcomes")
def summary_roc(rng: Rng) -> Iterator[str]:
    """Summary ROC curves of tables of any kind."""
    tables = rng.choice([0, 1, 3, 20, 500, -1], size=(4, int(rng.integers(1, 8))), p=[0.15, 0.2, 0.2, 0.3, 0.13, 0.02])
    model = _choice(rng, ["moses_littenberg", "bivariate", "hsroc", "binomial", "x"])
    found = answer(multiauc.summary_roc, *tables, model=model)
    if found is not None and not np.isnan(found.auc):
        yield from outside("the AUC of a summary ROC curve", found.auc)
    y, p, _ = any_sample(rng)
    of_pairs = answer(multiauc.summary_roc_of_pairs, y, p, model=model, threshold=_choice(rng, [None, 0.5, np.nan]))
    if of_pairs is not None:
        replicates = of_pairs.bootstrap(2, rng=0).replicates
        yield from outside("the AUC of a resampled summary ROC curve", float(np.nan_to_num(replicates, nan=0.5).max()))


@target("RowSums")
def row_sums(rng: Rng) -> Iterator[str]:
    """Losses, accuracy and the confusion matrix, summed in parts."""
    s = sound(rng)
    names = ["accuracy", "log_loss", "brier", "top_k_accuracy"][: int(rng.integers(1, 5))]
    state = answer(Accumulator, range(s.p.shape[1]), metrics=names)
    if state is None:
        return
    for rows in (slice(0, 7), slice(7, None)):
        answer(state.update, s.y[rows], s.p[rows], None if s.w is None else s.w[rows])
    found = answer(state.evaluate, absent="ignore")
    for name, one in {} if found is None else found.metrics.items():
        yield from outside(name, one.value, 0.0, {"log_loss": np.inf, "brier": 2.0}.get(name, 1.0))


@target("StreamState", "RangeCounter")
def streams(rng: Rng) -> Iterator[str]:
    """States of few and of very many classes, in little memory, with exact passes afterwards."""
    k = int(_choice(rng, [2, 3, 5, 40, 1500]))
    metrics = (
        ["one_vs_rest"]
        if k > 40
        else list(rng.permutation(["auc_mu", "hand_till", "one_vs_rest"])[: rng.integers(1, 4)])
    )
    memory = int(_choice(rng, [2**16, 2**18, 2**26, 0, -1, 2**62, 2**70]))
    state = answer(Accumulator, range(k), metrics=metrics, memory_limit=memory)
    if state is None:
        return
    s = any_sample(rng, most_classes=min(k, 5))
    if k > 5:
        wide = rng.random((20, k))
        s = s._replace(y=rng.integers(k, size=20), p=wide, w=None)
    for rows in (slice(0, 7), slice(7, None)):
        answer(state.update, s.y[rows], s.p[rows], None if s.w is None else s.w[rows])
    found = answer(state.evaluate, absent="ignore")
    for value in () if found is None else found.metrics.values():
        yield from outside(f"{value.name} of a stream", value.value, *value.bounds)
        yield from outside(f"{value.name} of a stream", value.value)
    if found is not None and s.w is None and k <= 5:
        again = answer(evaluate_exactly, lambda: iter([state.read(s.y, s.p)]), state, 2**20, "ignore")
        for value in () if again is None else again.metrics.values():
            yield from outside(f"{value.name} of exact passes", value.value)


@target("get_num_threads", "set_num_threads")
def threads(rng: Rng) -> Iterator[str]:
    """Numbers of threads, some of them impossible."""
    before = multiauc.get_num_threads()
    answer(multiauc.set_num_threads, _choice(rng, [1, 2, -1, 10**30, 1.5, "x", None, 2**31]))
    multiauc.set_num_threads(0)
    yield from outside("get_num_threads", multiauc.get_num_threads(), 1, max(before, 2**16))


@target("score", "partial_aucs")
def drop_in(rng: Rng) -> Iterator[str]:
    """The drop-in for scikit-learn."""
    s = sound(rng) if rng.random() < 0.5 else any_sample(rng)
    how = {
        "multi_class": _choice(rng, ["ovo", "ovr", "raise"]),
        "average": _choice(rng, ["macro", "weighted", "micro"]),
    }
    found = answer(multiauc.sklearn.roc_auc_score, s.y, s.p, sample_weight=s.w, **how)
    # As scikit-learn's, it is nan, with a warning, where there is a single class.
    if not (isinstance(found, float) and np.isnan(found) and len(np.unique(s.y)) == 1):
        yield from outside("roc_auc_score", found)
