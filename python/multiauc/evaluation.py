"""Everything about one model: metrics with their uncertainty."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Never

import numpy as np

from multiauc import _rust
from multiauc._column_order import column_order_note, warn_of_order
from multiauc._folds import compared_in_folds, read_folds
from multiauc._hints import refuse_unknown
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import (
    SAMPLINGS,
    read_groups,
    read_metric_options,
    read_metrics,
    refuse_idle_options,
    refuse_weights,
    take_one_score,
)
from multiauc._input.probabilities import NOT_PROBABILITIES, are_probabilities, depend_on_scale
from multiauc._input.sample import read_ordered_sample, read_sample
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._registry import CLOSED_FORM_METRICS, DEFAULT_METRICS, HAND_TILL, METRICS, ONE_SCORE_METRICS
from multiauc._wording import one_of, shown_name
from multiauc.estimates import estimate_of, estimate_without_error, smallest_of, warn_of_single_units
from multiauc.evaluation_results import Evaluation
from multiauc.results import PairMatrix, pair_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from multiauc._types import Absent, Labels, Outputs, PairWeights, Sampling
    from multiauc.estimates import Estimate


@shares_parameter_texts
def evaluate(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metrics: Sequence[str] | None = None,
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    pooled: bool = False,
    sampling: Sampling = "stratified",
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> Evaluation:
    r"""AUC_mu, Hand & Till's M and one-vs-rest of a model, with standard errors and intervals in closed form.

    Every one of these metrics is a weighted sum :math:`\theta = \sum \omega_{cd} U_{cd}` of shares of pairs of rows in
    the right order. With :math:`T(i)` the weighted share of the other classes that row i is on the right side of,

    .. math::
        \operatorname{Var}(\theta) = \sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} \bigl(T(i) - \bar T_k\bigr)^2,

    which is DeLong's variance [1]_ for two classes and the jackknife within classes for any number of them.

    Parameters
    ----------
    {y_true}
    {y_score}
    metrics : sequence of str, optional
        The metrics wanted, in this order; fewer take less time. By default ``"auc_mu"``, ``"hand_till"``,
        ``"one_vs_rest"`` and ``"one_vs_rest_prevalence"``. Others are ``"pdi"``, ``"hum"``, ``"landgrebe_duin"``; about
        decisions ``"matthews"``, ``"kappa"``, ``"accuracy"``, ``"balanced_accuracy"`` and ``"macro_f1"``; and by itself
        ``"ordered_vus"``, for which `y_score` has one score per row.
    partition : array-like of shape (K, K), optional
        Costs that rank the pairs of AUC_mu, as in `auc_mu_score`, and by which ``"matthews"``, ``"kappa"`` and other
        numbers about decisions decide, as in `matthews_score`.
    pair_weights : {"size_product", "size_sum"} or array-like of shape (K, K), optional
        How much each pair of classes counts in AUC_mu and in M, as in `auc_mu_score`.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows: how much of the population each of them stands for.
    groups : array-like of shape (n,), optional
        The group of each row (patient, user, document), where rows of one group are alike: standard errors then treat
        groups, not rows, as independent.
    folds : array-like of shape (n,), optional
        The fold of each row, where scores come from a cross-validation. Scores of models fitted on different rows are
        not comparable, so that metrics are computed within folds and averaged, a fold counting by its share of the
        weight. Standard errors are about these rows and these fitted models: they know nothing of retraining.
    pooled : bool, default False
        Whether to rank the rows of all folds against each other after all; warns.
    sampling : {"stratified", "iid"}, default "stratified"
        Whether the class sizes are fixed, or random like everything else. It matters for metrics that depend on them:
        one-vs-rest, and `pair_weights` by size.
    {labels}
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out, or have nan in every number that
        needs it.
    {outputs}

    Returns
    -------
    Evaluation
        With an `Estimate` for each metric (`metrics` by name; `auc_mu`, `hand_till`, `one_vs_rest`,
        `one_vs_rest_prevalence`) and for each class against the rest (`per_class`).

    See Also
    --------
    compare : Several models on the same rows.

    Notes
    -----
    A standard error needs two rows of every class (two groups, where rows are grouped): otherwise it is nan, and a
    warning names the class. The result refers to `y_score`; it does not copy it. If the columns seem to belong to other
    classes than the ones they were taken for, a `ColumnOrderWarning` says so, and so does the result (`notes`): less
    than once in a thousand samples without reason. Another note says if the scores are not probabilities, that is, if
    rows do not sum to 1 (within 1e-3, in up to 10,000 rows spread over the data).

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves: a nonparametric approach", Biometrics 44 (1988), 837-845.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=300)
    >>> y_score = rng.random((300, 3)) + 0.5 * (y_true[:, None] == ["cat", "dog", "eel"])
    >>> y_score /= y_score.sum(axis=1, keepdims=True)
    >>> result = multiauc.evaluate(y_true, y_score)
    >>> result
    Evaluation of 300 rows, 3 classes (cat 90, dog 95, eel 115)
                                  value  std. error      95% interval
    AUC_mu                       0.9584      0.0077  0.9385 to 0.9720
    Hand & Till's M              0.8817      0.0114  0.8563 to 0.9032
    one-vs-rest (macro)          0.8817      0.0115  0.8565 to 0.9029
    one-vs-rest (prevalence)     0.8800      0.0116  0.8546 to 0.9015
    each class against the rest
      cat                        0.8938      0.0194  0.8482 to 0.9268
      dog                        0.8909      0.0191  0.8465 to 0.9237
      eel                        0.8603      0.0207  0.8141 to 0.8964
    closed form, class sizes fixed; Wilson intervals with Student's t
    >>> low, high = result.auc_mu.confidence_interval(level=0.9)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.942 to 0.970
    >>> multiauc.evaluate(y_true, y_score, metrics=["auc_mu"])
    Evaluation of 300 rows, 3 classes (cat 90, dog 95, eel 115)
             value  std. error      95% interval
    AUC_mu  0.9584      0.0077  0.9385 to 0.9720
    closed form, class sizes fixed; Wilson intervals with Student's t
    """
    refuse_unknown(evaluate, unknown)
    offered = (*CLOSED_FORM_METRICS, *ONE_SCORE_METRICS)
    names = DEFAULT_METRICS if metrics is None else read_metrics(metrics, offered)
    refuse_idle_options(names, partition=partition, pair_weights=pair_weights)
    refuse_weights(names, sample_weight)
    is_ordered = take_one_score(names)
    read = read_ordered_sample if is_ordered else read_sample
    sample = read(y_true, y_score, sample_weight, labels, absent, outputs)
    inputs = HeldInputs(
        sample,
        names,
        read_metric_options(sample, partition=partition, pair_weights=pair_weights),
        groups=read_groups(groups, len(sample.codes)),
        folds=read_folds(folds, pooled, len(sample.codes), stacklevel=2),
        sampling=one_of("sampling", sampling, SAMPLINGS),
    )
    shares = None
    if inputs.folds is not None:
        result = _evaluation_in_folds(inputs, stacklevel=2)
    else:
        found = computed(inputs)
        warn_of_single_units(inputs, found.units, found.effective_units, stacklevel=2)
        shares = found.pairs[HAND_TILL].values if HAND_TILL in names else None
        result = evaluation_from(inputs, found)
    if is_ordered:
        return result
    note = column_order_note(sample, inputs.groups, shares, inputs.folds)
    warn_of_order(note, stacklevel=2)
    notes: tuple[str, ...] = () if note is None else (note,)
    if depend_on_scale(names, partition) and not are_probabilities(sample):
        notes += (NOT_PROBABILITIES,)
    return replace(result, notes=notes)


def _evaluation_in_folds(inputs: HeldInputs, stacklevel: int) -> Evaluation:
    sample, units = inputs.sample, inputs.units()
    found = compared_in_folds([inputs], inputs.metrics)
    warn_of_single_units(inputs, units, units.tolist(), stacklevel=stacklevel + 1)
    smallest = smallest_of(units)

    def estimate(metric: str, one: _rust.Estimate) -> Estimate:
        title = METRICS[metric].title
        if sample.is_undefined:
            return estimate_without_error(math.nan, title, smallest, metric, inputs)
        return estimate_of(one, title, smallest, metric, inputs)

    return Evaluation(
        metrics={metric: estimate(metric, one) for metric, one in zip(inputs.metrics, found.estimates, strict=True)},
        covariance=np.full_like(found.covariance, np.nan) if sample.is_undefined else found.covariance,
        matrices={},
        labels=tuple(sample.labels),
        counts=sample.rows,
        method=inputs.method(),
        _per_class={},
        _inputs=inputs,
    )


def evaluation_of(inputs: HeldInputs) -> Evaluation:
    """The metrics that the inputs ask for, without a warning about classes that have a single row."""
    return evaluation_from(inputs, computed(inputs))


def computed(inputs: HeldInputs) -> _rust.Evaluated:
    """What the core finds for the metrics that the inputs ask for."""
    return _rust.evaluate(inputs.arguments(), list(inputs.metrics), inputs.options, inputs.sampling == "iid")


def evaluation_from(inputs: HeldInputs, found: _rust.Evaluated) -> Evaluation:
    """The result made of what the core found."""
    sample, smallest = inputs.sample, smallest_of(found.units)

    def estimate(metric: str) -> Estimate:
        title = METRICS[metric].title
        if sample.is_undefined:
            return estimate_without_error(math.nan, title, smallest, metric, inputs)
        return estimate_of(found.estimates[metric], title, smallest, metric, inputs)

    labels = tuple(sample.labels)
    per_class = {
        labels[c]: estimate_of(found.per_class[c], f"{shown_name(labels[c])} against the rest", smallest, c, inputs)
        for c in (sample.reported_classes() if found.per_class else ())
    }
    return Evaluation(
        metrics={metric: estimate(metric) for metric in inputs.metrics},
        covariance=np.full_like(found.covariance, np.nan) if sample.is_undefined else found.covariance,
        matrices={
            metric: PairMatrix(pairs.values, labels, sample.rows, metric, pair_errors(found, metric))
            for metric, pairs in found.pairs.items()
        },
        labels=labels,
        counts=sample.rows,
        method=inputs.method(),
        _per_class=per_class,
        _inputs=inputs,
    )
