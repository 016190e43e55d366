"""Several models on the same rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from multiauc import _rust
from multiauc._column_order import column_order_note, warn_of_order
from multiauc._families import Family
from multiauc._folds import compared_in_folds, read_folds
from multiauc._hints import refuse_unknown
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import (
    SAMPLINGS,
    read_groups,
    read_metric_options,
    refuse_idle_options,
    refuse_weights,
    take_one_score,
)
from multiauc._input.probabilities import NOT_PROBABILITIES, are_probabilities, depend_on_scale
from multiauc._input.sample import read_ordered_sample, read_sample
from multiauc._registry import DEFAULT_METRIC, METRICS, MULTICLASS_ROC
from multiauc._wording import described, listing, one_of
from multiauc.comparison_results import Comparison
from multiauc.differences import Difference, warn_of_untestable
from multiauc.estimates import estimate_of, estimate_without_error, smallest_of, warn_of_single_units
from multiauc.multiclass_curves import default_curve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from multiauc._input.sample import Sample
    from multiauc._registry import MetricName
    from multiauc._types import Absent, Labels, Outputs, PairWeights, Sampling


def compare(  # noqa: PLR0913
    y_true: ArrayLike,
    models: Mapping[Any, ArrayLike],
    *,
    metric: MetricName = DEFAULT_METRIC,
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
) -> Comparison:
    r"""Compare models that scored the same rows: which is better, and how certain that is.

    Models that see the same rows err together, so that their difference is known much better than either of them. With
    :math:`D(i) = T_A(i) - T_B(i)` the difference of what row i contributes to the metric under the two models,

    .. math::
        \operatorname{Var}(\theta_A - \theta_B)
            = \sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} \bigl(D(i) - \bar D_k\bigr)^2.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row.
    models : dict of array-like
        The scores of each model by its name (any hashable), each of shape (n, K); with two classes also (n,) or (n, 1).
    metric : str, default "auc_mu"
        What to compare: ``"auc_mu"``, ``"hand_till"``, ``"one_vs_rest"``, ``"one_vs_rest_prevalence"``, ``"pdi"``,
        ``"hum"``, ``"landgrebe_duin"``, ``"ordered_vus"`` (of models with one score per row) or
        ``"multiclass_roc"``. The area D of the last has no standard error in closed form, so that its models are
        compared by the bootstrap only.
    partition : array-like of shape (K, K), optional
        As in `auc_mu_score`; for AUC_mu only.
    pair_weights : {"size_product", "size_sum"} or array-like of shape (K, K), optional
        As in `auc_mu_score`; not for one-vs-rest.
    sample_weight, groups, folds, pooled, sampling, labels, absent, outputs
        As in `evaluate`.

    Returns
    -------
    Comparison
        With ``.estimates``, ``.difference(a, b)`` and a table of all differences, their p-values corrected for their
        number by the distribution of the largest of all their t (single-step max-t [1]_);
        ``.simultaneous_intervals()`` are from the same distribution, and ``.omnibus()`` tests all models at once.

    Notes
    -----
    As in `evaluate`, a `ColumnOrderWarning` names each model whose columns seem to be in another order, and a note says
    if the scores are not probabilities. If that is so of some models only, a `UserWarning` names them: a model that is
    given once as probabilities and once as logits differs from itself. `outputs` holds for all models.

    References
    ----------
    .. [1] T. Hothorn, F. Bretz and P. Westfall, "Simultaneous inference in general parametric models", Biometrical
       Journal 50 (2008), 346-363.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> signal = np.eye(3)[y_true]
    >>> noise = rng.random((300, 3))
    >>> models = {"good": signal + 2 * noise, "fair": signal + 3 * noise, "other": 0.6 * signal + rng.random((300, 3))}
    >>> comparison = multiauc.compare(y_true, models, outputs="logits")
    >>> comparison
    Comparison by AUC_mu on 300 rows, 3 classes (0 90, 1 95, 2 115)
            value  std. error      95% interval
    good   0.9584      0.0077  0.9385 to 0.9720
    fair   0.8718      0.0164  0.8354 to 0.9012
    other  0.9855      0.0038  0.9718 to 0.9926
    <BLANKLINE>
                  difference  std. error   95%, simultaneous      t     df  p (min-p)
    good - fair      +0.0865      0.0093  +0.0662 to +0.1069   9.28  290.0    <0.0001
    good - other     -0.0271      0.0085  -0.0459 to -0.0084  -3.19  132.5     0.0034
    fair - other     -0.1137      0.0168  -0.1504 to -0.0770  -6.77  236.2    <0.0001
    <BLANKLINE>
    closed form, class sizes fixed; Wilson intervals with Student's t
    >>> comparison.difference("other", "good")
    Difference(other - good: +0.0287, standard error 0.0089, 95% interval +0.0111 to +0.0463, t(149.8) 3.22, p 0.0016)
    """
    refuse_unknown(compare, unknown)
    kind = one_of("metric", metric, tuple(METRICS))
    refuse_idle_options((kind,), partition=partition, pair_weights=pair_weights)
    refuse_weights((kind,), sample_weight)
    is_ordered = take_one_score((kind,))
    given = _read_models(y_true, models, sample_weight, labels, absent, outputs, is_ordered=is_ordered)
    first = next(iter(given.values()))
    samples = {name: _in_order_of(first, sample, name) for name, sample in given.items()}
    if partition is not None and len({sample.has_one_score for sample in samples.values()}) > 1:
        raise ValueError(
            "models with one score per row cannot be compared by a partition with models that have two: "
            "give all of them two columns"
        )
    options = read_metric_options(first, partition=partition, pair_weights=pair_weights)
    group_codes = read_groups(groups, len(first.codes))
    fold_codes = read_folds(folds, pooled, len(first.codes), stacklevel=2)
    drawn = one_of("sampling", sampling, SAMPLINGS)
    held = {
        name: HeldInputs(sample, (kind,), options, groups=group_codes, folds=fold_codes, sampling=drawn)
        for name, sample in samples.items()
    }
    inputs = next(iter(held.values()))
    if kind == MULTICLASS_ROC:
        inputs.refuse_folds(f"metric={kind!r}")
        areas = []
        for sample in samples.values():
            # In Python 3.11 a comprehension would be one more level of the stack.
            areas.append(default_curve(sample, options["pair_weights"], stacklevel=2).auc)  # noqa: PERF401
        comparison = _without_errors(kind, held, areas)
        return _with_notes(comparison, given, inputs, stacklevel=2)
    if inputs.folds is None:
        arguments = [model.arguments() for model in held.values()]
        found = _rust.compare(arguments, kind, inputs.options, inputs.sampling == "iid")
        warn_of_single_units(inputs, found.units, found.effective_units, stacklevel=2)
    else:
        found = compared_in_folds(list(held.values()), (kind,))
        warn_of_single_units(inputs, inputs.units(), inputs.units().tolist(), stacklevel=2)
    comparison = _comparison(kind, held, found)
    warn_of_untestable(comparison.differences, stacklevel=2)
    return comparison if is_ordered else _with_notes(comparison, given, inputs, stacklevel=2)


def _read_models(
    y_true: Any, models: Any, sample_weight: Any, labels: Any, absent: Any, outputs: Any, *, is_ordered: bool
) -> dict[Any, Sample]:
    """The samples by model, each with its columns as they were given."""
    if not isinstance(models, Mapping):
        raise TypeError(
            f"models must be a dict from the name of each model to its scores; got {described(models)}: "
            "write such as {'net': net.predict_proba(X), ...}"
        )
    if len(models) < 2:
        raise ValueError(f"models must have at least two models to compare; got {len(models)}")
    read = read_ordered_sample if is_ordered else read_sample
    samples: dict[Any, Sample] = {}
    for name, y_score in models.items():
        try:
            samples[name] = read(y_true, y_score, sample_weight, labels, absent, outputs)
        except (TypeError, ValueError) as error:
            raise type(error)(f"models[{name!r}]: {error}") from None
    return samples


def _in_order_of(first: Sample, sample: Sample, name: Any) -> Sample:
    """The sample with its columns in the order of the first model's."""
    if sample.labels == first.labels:
        return replace(sample, codes=first.codes, weights=first.weights)
    if set(sample.labels) != set(first.labels):
        raise ValueError(
            f"models[{name!r}] must have the same classes as the first model, {listing(first.labels)}; "
            f"got {listing(sample.labels)}"
        )
    if sample.has_one_score:
        raise ValueError(
            f"models[{name!r}] must be the score of {first.labels[1]!r}, as in the first model; "
            f"got that of {sample.labels[1]!r}"
        )
    order = [sample.labels.index(label) for label in first.labels]
    return replace(first, scores=sample.scores[:, order])


def _with_notes(comparison: Comparison, given: dict[Any, Sample], inputs: HeldInputs, stacklevel: int) -> Comparison:
    """The comparison with a note, and a warning, for each model whose columns seem to be in another order.

    Another note says that scores are not probabilities; a warning too, if that is so of some models only.
    """
    found = {name: column_order_note(sample, inputs.groups, folds=inputs.folds) for name, sample in given.items()}
    notes = tuple(f"models[{name!r}]: {note}" for name, note in found.items() if note is not None)
    for note in notes:
        warn_of_order(note, stacklevel + 1)
    needs_scale = depend_on_scale(inputs.metrics, inputs.options["partition"])
    scales = _note_of_scales(given) if needs_scale else None
    if scales is not None and scales != NOT_PROBABILITIES:
        warnings.warn(scales, UserWarning, stacklevel=stacklevel + 1)
    return replace(comparison, notes=notes if scales is None else (*notes, scales))


def _note_of_scales(given: dict[Any, Sample]) -> str | None:
    """A sentence if the models, or some of them, do not have probabilities."""
    are = {name: are_probabilities(sample) for name, sample in given.items() if not sample.has_one_score}
    if all(are.values()):
        return None
    if not any(are.values()):
        return NOT_PROBABILITIES
    rows_sum, others = (listing([name for name, found in are.items() if found is kind]) for kind in (True, False))
    return (
        f"models differ in what their scores are: those of {rows_sum} are probabilities (rows sum to 1), those of "
        f"{others} are not, and differences may be due to the scale alone; turn logits into probabilities (softmax) "
        "before comparing"
    )


def _comparison(metric: str, held: dict[Any, HeldInputs], found: _rust.Compared) -> Comparison:
    inputs = next(iter(held.values()))
    sample, smallest = inputs.sample, smallest_of(inputs.units() if inputs.folds is not None else found.units)
    if sample.is_undefined:
        nan = math.nan
        estimates = {name: estimate_without_error(nan, name, smallest, metric, data) for name, data in held.items()}
        differences = [Difference(a, b, nan, nan, nan) for a, b in combinations(held, 2)]
    else:
        estimates = {
            name: estimate_of(one, name, smallest, metric, data)
            for (name, data), one in zip(held.items(), found.estimates, strict=True)
        }
        differences = [
            Difference(a, b, one.value, one.variance, one.degrees_of_freedom, _largest=1.0 - METRICS[metric].smallest)
            for (a, b), one in zip(combinations(held, 2), found.differences, strict=True)
        ]
    corrected = Family(differences, found.covariance).corrected()
    return Comparison(
        metric=metric,
        estimates=estimates,
        covariance=np.full_like(found.covariance, np.nan) if sample.is_undefined else found.covariance,
        differences=tuple(replace(d, corrected_p_value=p) for d, p in zip(differences, corrected, strict=True)),
        labels=tuple(sample.labels),
        counts=sample.rows,
        method=inputs.method(),
        _inputs=held,
    )


def _without_errors(metric: str, held: dict[Any, HeldInputs], values: list[float]) -> Comparison:
    """Of a metric that has no closed form."""
    inputs = next(iter(held.values()))
    sample, smallest = inputs.sample, smallest_of(inputs.units())
    return Comparison(
        metric=metric,
        estimates={
            name: estimate_without_error(value, name, smallest, metric, data)
            for (name, data), value in zip(held.items(), values, strict=True)
        },
        covariance=np.full((len(held), len(held)), np.nan),
        differences=(),
        labels=tuple(sample.labels),
        counts=sample.rows,
        method="no standard errors in closed form; use .bootstrap() or .ranking_probabilities()",
        _inputs=held,
    )
