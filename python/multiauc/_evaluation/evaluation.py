"""Everything about one model: `evaluate` and the `Evaluation` it returns; arguments that `compare` and others share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from multiauc import _rust
from multiauc._common import hints, registry, result, wording
from multiauc._evaluation import multilabel
from multiauc._inference import bootstrap, column_order, estimates
from multiauc._inference.bootstrap import Bootstrap
from multiauc._inference.pair_matrix import PairMatrix, collect_pair_errors
from multiauc._input import options, probabilities
from multiauc._input.sample import HeldInputs, read_ordered_sample, read_predictions, read_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Absent, Labels, Outputs, PairWeights, Sampling, Task
    from multiauc._inference.estimates import Estimate
    from multiauc._input.sample import Sample
    from multiauc.plotting import EvaluationDisplay


Found = TypeVar("Found")


# Without slots: with them, assigning to a property of a frozen dataclass fails with an obscure TypeError.
@dataclass(frozen=True, eq=False, repr=False)
class MetricEstimates(result.Printed, result.Tabular):
    """The base of evaluations of rows in memory and of streams: metrics, and each class against the rest."""

    metrics: dict[str, Estimate]
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    _per_class: dict[Any, Estimate]

    @property
    def auc_mu(self) -> Estimate:
        """AUC_mu."""
        return self._metric("auc_mu")

    @property
    def hand_till(self) -> Estimate:
        """Hand & Till's M."""
        return self._metric("hand_till")

    @property
    def one_vs_rest(self) -> Estimate:
        """The mean of the classes against the rest."""
        return self._metric("one_vs_rest")

    @property
    def one_vs_rest_prevalence(self) -> Estimate:
        """The mean of the classes against the rest, weighted by their sizes."""
        return self._metric("one_vs_rest_prevalence")

    def _metric(self, metric: str) -> Estimate:
        if metric not in self.metrics:
            raise AttributeError(f"{metric} was not computed; add it to metrics=")
        return self.metrics[metric]

    def _counts_by_label(self) -> result.Record:
        return {"rows": int(self.counts.sum()), "labels": list(self.labels), "counts": self.counts.tolist()}

    def _estimates(self, level: float) -> result.Record:
        """Metrics and classes in plain Python objects."""
        rows = dict(zip(self.labels, self.counts.tolist(), strict=True))
        found: result.Record = {"metrics": {name: estimate.to_dict(level) for name, estimate in self.metrics.items()}}
        for name, _, of_classes in self._by_class():
            if of_classes:
                entries = ((label, one.to_dict(level)) for label, one in of_classes.items())
                found[name] = [{"label": label, "rows": rows[label], **entry} for label, entry in entries]
        return found

    def _by_class(self) -> list[tuple[str, str, dict[Any, Estimate]]]:
        """Estimates of each class, with their name and their title."""
        return [("per_class", "each class against the rest", self._per_class)]

    def _rows(self, level: float) -> list[result.Record]:
        rows = [{"kind": "metric", "name": name, **one.to_dict(level)} for name, one in self.metrics.items()]
        return rows + [{"kind": "class", "name": name, **one.to_dict(level)} for name, one in self._per_class.items()]

    def _numbers(self) -> dict[str, result.Numbers]:
        named = dict(self.metrics)
        for name, _, of_classes in self._by_class():
            labels = wording.names_as_text(of_classes)
            named |= {f"{name}_{label}": one for label, one in zip(labels, of_classes.values(), strict=True)}
        return {name: result.pick_numbers(estimate.to_dict()) for name, estimate in named.items()}

    def _title(self) -> str:
        return f"Evaluation of {result.sizes_in_words(self.labels, self.counts)}"

    def _header(self) -> list[str]:
        return result.ESTIMATE_HEADER

    def _table(self) -> result.Cells:
        header = self._header()
        empty = [""] * (len(header) - 1)
        rows = [[str(estimate.name), *estimate.cells()] for estimate in self.metrics.values()]
        for _, title, of_classes in self._by_class():
            classes = [[f"  {result.shorten(label)}", *estimate.cells()] for label, estimate in of_classes.items()]
            rows += [[title, *empty], *result.without_middle(classes, ["  ...", *empty])] if classes else []
        return [header, *rows]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(MetricEstimates):
    """The metrics of one model with their uncertainty; see `multiauc.evaluate`.

    Attributes
    ----------
    metrics : dict of Estimate
        The metrics by name; `auc_mu`, `hand_till`, `one_vs_rest` and `one_vs_rest_prevalence` are also attributes.
    covariance : ndarray of shape (m, m)
        Of the metrics, in the order of `metrics`. Read-only.
    matrices : dict of PairMatrix
        The values of all pairs of classes with their standard errors, by metric, for those that average over pairs;
        also as `auc_mu_matrix` and `hand_till_matrix`.
    labels : tuple
        The classes.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    method : str
        The method behind standard errors and intervals, in words.
    notes : tuple of str
        Possible problems with the data: columns that seem to be in another order, or scores that are not probabilities.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> result = multiauc.evaluate(y_true, y_score)
    >>> result.hand_till
    Estimate(Hand & Till's M 0.8958, standard error 0.1350, 95% interval 0.3678 to 0.9922)
    >>> result.per_class["a"]
    Estimate(a against the rest 0.8750, standard error 0.1768, 95% interval 0.2773 to 0.9922)
    >>> result.auc_mu_matrix.worst(1)
    [('a', 'b', 0.75)]
    """

    covariance: NDArray[np.float64]
    matrices: dict[str, PairMatrix]
    method: str
    notes: tuple[str, ...] = ()
    _average_precisions: dict[Any, Estimate] = field(default_factory=dict)
    _options: result.Record = field(default_factory=dict, compare=False)
    # An unpickled evaluation can be read, but nothing more can be computed from it.
    _inputs: HeldInputs | None = field(default=None, metadata=result.HELD)
    _WITHOUT_INPUTS: ClassVar = "this evaluation was unpickled, without its data; call evaluate on them again"

    @property
    def matthews(self) -> Estimate:
        """Gorodkin's R_K of the predictions; computed on access if it is not among `metrics`."""
        return self._on_request("matthews")

    @property
    def kappa(self) -> Estimate:
        """Cohen's kappa of the predictions; computed on access if it is not among `metrics`."""
        return self._on_request("kappa")

    @property
    def per_class(self) -> dict[Any, Estimate]:
        """The AUC of each class against all others by its own score, by label."""
        return _require("per_class", self._per_class, "one_vs_rest")

    @property
    def per_label(self) -> dict[Any, Estimate]:
        """The AUC of each label, for multilabel data."""
        raise AttributeError("per_label comes with task='multilabel'; per_class has each class against the rest")

    @property
    def average_precision_per_class(self) -> dict[Any, Estimate]:
        """The average precision of each class against the rest, by label."""
        return _require("average_precision_per_class", self._average_precisions, "average_precision")

    def _by_class(self) -> list[tuple[str, str, dict[Any, Estimate]]]:
        title = "average precision of each class"
        return [*super()._by_class(), ("average_precision_per_class", title, self._average_precisions)]

    @property
    def auc_mu_matrix(self) -> PairMatrix:
        """The pairs of classes behind AUC_mu."""
        return _require("auc_mu_matrix", self.matrices.get("auc_mu"), "auc_mu")

    @property
    def hand_till_matrix(self) -> PairMatrix:
        """The pairs of classes behind Hand & Till's M."""
        return _require("hand_till_matrix", self.matrices.get("hand_till"), "hand_till")

    @hints.with_hints
    def bootstrap(
        self,
        n_resamples: int = 2000,
        rng: np.random.Generator | int | None = None,
        *,
        metrics: Sequence[str] | None = None,
    ) -> Bootstrap:
        """Resample the rows (or groups), following `sampling` and `groups` of `evaluate`.

        Parameters
        ----------
        n_resamples : int, default 2000
            How many resamples.
        rng : numpy Generator or int, optional
            The generator or its seed. The same seed resamples the same rows for every metric and every model scored on
            the same `y_true`, on any number of threads.
        metrics : sequence of str, optional
            Some of the metrics evaluated; fewer take less time. Default: all that can be resampled.

        Returns
        -------
        Bootstrap
            With `replicates`, `standard_error` and `confidence_interval(metric)`.
        """
        size = options.positive_integer("n_resamples", n_resamples)
        resampled = tuple(metric for metric in self.metrics if registry.METRICS[metric].has_bootstrap)
        if not resampled:
            raise ValueError(f"no bootstrap is available for {wording.listing(self.metrics)}")
        wanted = resampled if metrics is None else options.read_metrics(metrics, resampled)
        inputs = self.inputs()
        inputs.refuse_folds("a bootstrap")
        drawn_inputs = inputs.asking_for(wanted)
        replicates = bootstrap.resample_metrics([drawn_inputs], size, rng)
        values = np.array([self.metrics[metric].value for metric in wanted])
        bootstrap.warn_of_lost_classes(replicates, values)
        influences = inputs.asking_for(resampled).influences()
        columns = [resampled.index(metric) for metric in wanted]
        accelerations = bootstrap.compute_accelerations(influences, inputs.groups)[columns]
        drawn = (drawn_inputs.resampled_unit, self.counts, self.metrics[wanted[0]].smallest_class)
        return Bootstrap(replicates, wanted, values, accelerations, *drawn)

    def influences(self) -> NDArray[np.float64]:
        r"""The influence of each row on each metric, (n, m).

        :math:`u_i = (T(i) - \bar T_k) / n_k`: to first order, the estimate changes by :math:`-u_i` if row i is left
        out. With random class sizes, the row's effect on them is included. Rows with large values dominate the
        estimate.
        """
        return self.inputs().influences()

    def inputs(self) -> HeldInputs:
        """The data behind the result, for values computed on access."""
        if self._inputs is None:
            raise ValueError(self._WITHOUT_INPUTS)
        return self._inputs

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, **points: Any) -> EvaluationDisplay:
        """Draw the metrics, and each class against the rest, with intervals. Needs matplotlib.

        `ax` is a matplotlib Axes, a new one by default; `points` are passed on to ``ax.plot`` for the dots. The result
        is a `multiauc.plotting.EvaluationDisplay` with `ax_` and `figure_`. The pairs of classes are drawn by
        ``auc_mu_matrix.plot()``, ROC curves by `multiauc.plotting.RocCurvesDisplay`.
        """
        from multiauc.plotting import EvaluationDisplay  # noqa: PLC0415

        return EvaluationDisplay(self).plot(ax, level=level, **points)

    def report(
        self,
        path: str | PathLike[str],
        *,
        name: str = "The model",
        title: str | None = None,
        level: float = 0.95,
        n_resamples: int | None = None,
        rng: np.random.Generator | int | None = 0,
        costs: ArrayLike | None = None,
        by: Any = None,
    ) -> Path:
        """Write a report about the model: one HTML file that works offline, for readers who do not write Python.

        It shows the metrics with intervals, the pairs of classes as a heat map and in words, the confusion matrix and
        reliability diagrams, every class, the multi-class ROC curve with its band, the method and the versions.

        Parameters
        ----------
        path : path-like
            Where to write it.
        name : str
            The name of the model on the page.
        title : str, optional
            The title of the page.
        level : float, default 0.95
            The level of the intervals.
        n_resamples : int, optional
            Bootstrap samples for the band of the multi-class ROC curve; 0 for a curve without a band. Default: 200, or
            fewer if that would take more than some seconds; the page says how many.
        rng : numpy Generator or int, default 0
            The generator for the bootstrap, or its seed.
        costs : array-like of shape (K, K), optional
            A cost matrix as in `fit_decisions`: adds a section on the cost of predictions. Scores must be
            probabilities.
        by : array-like of shape (n,), or several, optional
            As in `evaluate_slices`: adds a section on slices of the rows, by the first metric.

        Returns
        -------
        pathlib.Path
            Where it is.
        """
        from multiauc._report.writing import write_report  # noqa: PLC0415

        self.inputs().refuse_folds_and_one_score("a report")
        given = {"title": title, "level": level, "n_resamples": n_resamples, "rng": rng, "costs": costs, "by": by}
        return write_report(path, {str(name): self}, None, **given)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """All numbers as plain Python objects, with intervals at this level; nan if a number is missing.

        The command line and reports use the same layout, whose number is `version`; see docs/json.md.
        """
        content = self._counts_by_label() | self._pick("method") | self._estimates(level)
        content |= self._pick("covariance", "notes")
        return result.document("evaluation", level, content, result.provenance(self._options))

    def _below(self) -> list[str]:
        return [self.method, *result.notes_in_words(self.notes)]

    def _on_request(self, metric: str) -> Estimate:
        if metric in self.metrics:
            return self.metrics[metric]
        return evaluate_inputs(self.inputs().asking_for((metric,))).metrics[metric]


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelEvaluation(Evaluation):
    """The labels of a model, each a binary problem, and their mean; see `multiauc.evaluate`.

    Attributes
    ----------
    metrics : dict of Estimate
        ``"one_vs_rest"``, the mean AUC over labels, and ``"average_precision"``; rows are the independent units.
    per_label : dict of Estimate
        The AUC of each label.
    labels : tuple
        The labels.
    counts : ndarray of shape (L,)
        The rows that have each label. Read-only.
    n_rows : int
        All rows.
    """

    n_rows: int = 0
    _WITHOUT_INPUTS: ClassVar = multilabel.NO_INPUTS

    @property
    def per_label(self) -> dict[Any, Estimate]:
        """The AUC of each label, its positive rows against all others."""
        return self.per_class

    @property
    def average_precision_per_label(self) -> dict[Any, Estimate]:
        """The average precision of each label."""
        return self.average_precision_per_class

    def _by_class(self) -> list[tuple[str, str, dict[Any, Estimate]]]:
        return [
            ("per_label", "AUC of each label", self._per_class),
            ("average_precision_per_label", "average precision of each label", self._average_precisions),
        ]

    def _counts_by_label(self) -> result.Record:
        return super()._counts_by_label() | {"task": "multilabel", "rows": self.n_rows}

    def _title(self) -> str:
        return f"Evaluation of {result.sizes_in_words(self.labels, self.counts, self.n_rows)}"

    def _table(self) -> result.Cells:
        header, *rows = super()._table()
        titled = [[multilabel.TITLES[name], *row[1:]] for name, row in zip(self.metrics, rows, strict=False)]
        return [header, *titled, *rows[len(titled) :]]


def _require(attribute: str, found: Found | None, metric: str) -> Found:
    """Return what was computed, or raise an error that says how to compute it."""
    if not found:
        raise AttributeError(f"{attribute} was not computed; pass {metric!r} in metrics= of evaluate, without folds")
    return found


@hints.with_hints
def evaluate(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metrics: Sequence[str] | None = None,
    task: Task = "multiclass",
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    clip: float | None = None,
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    sampling: Sampling | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> Evaluation:
    r"""Evaluate a model: AUC_mu, Hand & Till's M and one-vs-rest AUC, each with a standard error and an interval.

    Standard errors are analytic: DeLong's method [1]_, generalised to any number of classes. Nothing is resampled.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`. Predicted classes suffice if all metrics are about these:
        accuracy, balanced accuracy, macro F1, kappa and Matthews.
    metrics : sequence of str, optional
        The metrics to compute, in this order; fewer take less time. Default: ``"auc_mu"``, ``"hand_till"``,
        ``"one_vs_rest"`` and ``"one_vs_rest_prevalence"``. Also: ``"average_precision"``,
        ``"average_precision_prevalence"``, ``"pdi"``, ``"hum"``, ``"landgrebe_duin"``; classification metrics
        ``"matthews"``, ``"kappa"``, ``"accuracy"``, ``"balanced_accuracy"``, ``"macro_f1"`` and ``"top_k_accuracy"``;
        losses ``"log_loss"`` and ``"brier"``, where less is better; and ``"ordered_vus"``, on its own, with one score
        per row in `y_score`.
    task : {"multiclass", "multilabel"}, default "multiclass"
        With ``"multilabel"``, rows may have any number of labels: `y_true` has a column of zeros and ones per label,
        and `y_score` is of the same shape. Each label is a binary problem; `metrics` are ``"one_vs_rest"``, the mean
        AUC over labels, and ``"average_precision"``; ``.per_label`` has the AUC of each label. Rows (or `groups`) are
        the independent units, so `sampling` and `folds` do not apply, nor do `partition`, `pair_weights`, `clip` and
        `k`. `absent` concerns labels that all rows have, or none.
    partition : array-like of shape (K, K), optional
        A cost matrix that ranks the pairs of AUC_mu, as in `auc_mu_score`, and determines the predictions behind
        classification metrics, as in `matthews_score`.
    pair_weights : {"size_product", "size_sum"} or array-like of shape (K, K), optional
        How much each pair of classes counts in AUC_mu and in M, as in `auc_mu_score`.
    clip : float, optional
        Count smaller probabilities of the true class as this one in ``"log_loss"``, as in `log_loss_score`.
    k : int, default 2
        How many of the highest scores count in ``"top_k_accuracy"``.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights: how much of the population each row stands for.
    groups : array-like of shape (n,), optional
        The group of each row (patient, user, document), if rows of one group are similar: standard errors then treat
        groups, not rows, as independent.
    folds : array-like of shape (n,), optional
        The fold of each row, if scores come from cross-validation. Scores of models fitted on different rows are not
        comparable, so metrics are computed within folds and averaged, weighted by fold size. Standard errors are
        conditional on the fitted models: they do not include the variance of retraining.
    sampling : {"stratified", "iid"}, optional
        Whether class sizes are fixed or random. It matters for metrics that depend on them: one-vs-rest, average
        precision, predictions, losses, and `pair_weights` by size. Default: fixed, and random if one of the metrics is
        a mean over all rows: accuracy, kappa, Matthews, macro F1, top-k accuracy, log loss or the Brier score.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out, or return nan for every number
        that needs it.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

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
    Each AUC is a weighted sum :math:`\theta = \sum \omega_{cd} U_{cd}` of fractions of correctly ordered pairs of rows.
    With :math:`T(i)` the influence value of row i (DeLong's structural component), the weighted fraction of its pairs
    that are ordered correctly,

    .. math::
        \operatorname{Var}(\theta) = \sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} \bigl(T(i) - \bar T_k\bigr)^2,

    which is DeLong's variance for two classes, and the jackknife within classes for any number of them.

    A standard error needs two rows of every class (two groups, if you pass `groups`): otherwise it is nan, and a
    warning names the class. The result refers to `y_score`; it does not copy it. If the columns seem to belong to other
    classes than assumed, a `ColumnOrderWarning` says so, with a false-alarm rate below 0.1%, and so do the result's
    `notes`. Another note tells you if the scores are not probabilities, that is, if rows do not sum to 1 (within 1e-3,
    in up to 10,000 rows spread over the data).

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
    AUC_mu                       0.9559      0.0080  0.9355 to 0.9700
    Hand & Till's M              0.9285      0.0096  0.9057 to 0.9461
    one-vs-rest (macro)          0.9280      0.0097  0.9055 to 0.9455
    one-vs-rest (prevalence)     0.9277      0.0098  0.9050 to 0.9453
    each class against the rest
      cat                        0.9433      0.0127  0.9099 to 0.9648
      dog                        0.9147      0.0160  0.8762 to 0.9420
      eel                        0.9261      0.0144  0.8911 to 0.9505
    analytic standard errors, class sizes fixed; Wilson intervals with Student's t
    >>> low, high = result.auc_mu.confidence_interval(level=0.9)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.939 to 0.968
    >>> multiauc.evaluate(y_true, y_score, metrics=["auc_mu"])
    Evaluation of 300 rows, 3 classes (cat 90, dog 95, eel 115)
             value  std. error      95% interval
    AUC_mu  0.9559      0.0080  0.9355 to 0.9700
    analytic standard errors, class sizes fixed; Wilson intervals with Student's t
    """
    rows = {"groups": groups, "folds": folds, "sampling": sampling}
    given = {"partition": partition, "pair_weights": pair_weights, "clip": clip, "k": k}
    shared = (sample_weight, labels, absent, outputs)
    if wording.one_of("task", task, registry.TASKS) == "multilabel":
        return _evaluate_labels(y_true, y_score, metrics, shared, rows | given)
    offered = (*registry.ANALYTIC_METRICS, *registry.ONE_SCORE_METRICS)
    names = registry.DEFAULT_METRICS if metrics is None else options.read_metrics(metrics, offered)
    _, (inputs,) = read_inputs(y_true, {"y_score": y_score}, names, shared, **rows, **given)
    return evaluate_inputs(inputs, warns=True)


def _evaluate_labels(
    y_true: Any, y_score: Any, metrics: Any, shared: tuple[Any, Any, Any, Any], given: result.Record
) -> MultilabelEvaluation:
    """Evaluate a model whose rows have several labels."""
    offered = multilabel.METRICS_OF_LABELS
    names = offered if metrics is None else options.read_metrics(metrics, offered)
    sample = multilabel.read_labelled(y_true, {"y_score": y_score}, shared, **given)
    found = sample.compute(names)
    means = {name: sample.mean(found, 0, k, name, registry.METRICS[name].title) for k, name in enumerate(names)}
    per_label = dict(zip(names, sample.estimates(found, names, 0), strict=True))
    aucs, precisions = (per_label.get(name, {}) for name in offered)
    covariance = np.full_like(found.covariance, np.nan) if sample.is_undefined() else found.covariance
    described = sample.describe_options(names)
    known: result.Record = {"n_rows": sample.n_rows, "_average_precisions": precisions, "_options": described}
    sizes = (tuple(sample.labels), sample.counts)
    return MultilabelEvaluation(means, *sizes, aucs, covariance, {}, sample.describe(), **known)


def read_inputs(
    y_true: Any,
    scores: dict[str, Any],
    metrics: tuple[str, ...],
    shared: tuple[Any, Any, Any, Any],
    *,
    groups: Any = None,
    folds: Any = None,
    sampling: Any = None,
    **of_metrics: Any,
) -> tuple[list[Sample], list[HeldInputs]]:
    """The samples as passed, and inputs with all columns in the order of the first.

    `scores` are those of one or several models or runs, by what messages call them; `shared` are the weights, the
    labels, the policy for missing classes and what scores are.
    """
    options.refuse_idle_options(metrics, **of_metrics)
    options.refuse_weights(metrics, shared[0])
    read: Callable[..., Sample] = read_ordered_sample if options.take_one_score(metrics) else read_sample
    if set(metrics).issubset(registry.PREDICTION_METRICS):
        read = read_predictions
    given: list[Sample] = []
    for argument, y_score in scores.items():
        try:
            given.append(read(y_true, y_score, *shared))
        except (TypeError, ValueError) as error:
            if len(scores) == 1 and argument == "y_score":
                raise
            raise type(error)(f"{argument}: {error}") from None
    first = given[0]
    samples = [_reorder(first, sample, argument) for argument, sample in zip(scores, given, strict=True)]
    if of_metrics.get("partition") is not None and len({sample.has_one_score for sample in samples}) > 1:
        raise ValueError(
            "models with one score per row cannot be compared by a partition with models that have two: "
            "give all of them two columns"
        )
    of_core = options.read_metric_options(first, **of_metrics)
    rows: dict[str, Any] = {
        "groups": options.read_groups(groups, len(first.codes)),
        "folds": options.read_groups(folds, len(first.codes), argument="folds"),
        "sampling": options.read_sampling(sampling, metrics),
        "is_natural": sampling is None,
    }
    return given, [HeldInputs(sample, metrics, of_core, **rows) for sample in samples]


def _reorder(first: Sample, sample: Sample, argument: str) -> Sample:
    """The sample with its columns in the order of the first one's."""
    if sample.labels == first.labels:
        return replace(sample, codes=first.codes, weights=first.weights)
    if set(sample.labels) != set(first.labels):
        raise ValueError(
            f"{argument} must have the same classes as the first model, {wording.listing(first.labels)}; "
            f"got {wording.listing(sample.labels)}"
        )
    if sample.has_one_score:
        raise ValueError(
            f"{argument} must be the score of {first.labels[1]!r}, as in the first model; "
            f"got that of {sample.labels[1]!r}"
        )
    order = [sample.labels.index(label) for label in first.labels]
    return replace(first, scores=sample.scores[:, order])


def evaluate_inputs(inputs: HeldInputs, *, warns: bool = False) -> Evaluation:
    """The metrics of the inputs; `warns` adds notes about possible problems with the data.

    Within folds there are no classes and no pairs.
    """
    sample, labels = inputs.sample, tuple(inputs.sample.labels)
    classes, precisions, pairs = [], [], {}
    found: _rust.Evaluated | _rust.Compared
    if inputs.folds is None:
        found = estimates.compute(inputs)
        of_metrics, classes, precisions, pairs = found.estimates, found.per_class, found.average_precisions, found.pairs
    else:
        found = compare_in_folds([inputs], inputs.metrics)
        of_metrics = dict(zip(inputs.metrics, found.estimates, strict=True))
    smallest = estimates.count_smallest(found.units)
    # The chance of each average precision.
    chances = sample.shares().tolist() if precisions else []
    shares = pairs["hand_till"].values if "hand_till" in pairs else None
    if warns:
        estimates.warn_of_single_units(inputs, found)

    def build(one: _rust.Estimate, name: str, of: str | int, chance: float | None = None) -> Estimate:
        return estimates.build_estimate(one, name, smallest, of, inputs, chance=chance)

    matrices = {
        name: PairMatrix(table.values, labels, sample.rows, name, collect_pair_errors(table, found.effective_units))
        for name, table in pairs.items()
    }
    means = {name: build(of_metrics[name], registry.METRICS[name].title, name) for name in inputs.metrics}
    per_class, of_precision = {}, {}
    for c in sample.reported_classes():
        label, shown = labels[c], wording.shown_name(labels[c])
        if classes:
            per_class[label] = build(classes[c], f"{shown} against the rest", c)
        if precisions:
            title = f"average precision of {shown}"
            of_precision[label] = build(precisions[c], title, "average_precision", chances[c])
    covariance = np.full_like(found.covariance, np.nan) if sample.is_undefined else found.covariance
    notes = find_notes({"": sample}, inputs, shares) if warns else ()
    told = (inputs.describe_method(), notes, of_precision, inputs.describe_options(), inputs)
    return Evaluation(means, labels, sample.rows, per_class, covariance, matrices, *told)


def find_notes(
    given: dict[Any, Sample], inputs: HeldInputs, shares: NDArray[np.float64] | None = None
) -> tuple[str, ...]:
    """A note, and a warning, for each model whose columns seem to be in another order.

    Another note says that scores are not probabilities; a warning too, if that is so of some models only. `shares` are
    those of Hand & Till's M, if they are known.
    """
    if inputs.metrics[0] in registry.ONE_SCORE_METRICS:
        return ()
    notes: tuple[str, ...] = ()
    for name, sample in given.items():
        note = column_order.column_order_note(sample, inputs.groups, shares, inputs.folds)
        if note is not None:
            notes += (note if len(given) == 1 else f"models[{name!r}]: {note}",)
            column_order.warn_of_order(notes[-1])
    needs_scale = probabilities.depend_on_scale(inputs.metrics, inputs.options.partition)
    scales = _describe_scales(given) if needs_scale else None
    if scales is not None and scales != probabilities.NOT_PROBABILITIES:
        hints.warn(scales, UserWarning)
    return notes if scales is None else (*notes, scales)


def _describe_scales(given: dict[Any, Sample]) -> str | None:
    """A sentence if the models, or some of them, do not have probabilities."""
    are = {name: probabilities.sum_to_one(one.scores) for name, one in given.items() if not one.has_one_score}
    if all(are.values()):
        return None
    if not any(are.values()):
        return probabilities.NOT_PROBABILITIES
    rows_sum = wording.listing([name for name, found in are.items() if found])
    others = wording.listing([name for name, found in are.items() if not found])
    return (
        f"models differ in the scale of their scores: those of {rows_sum} are probabilities (rows sum to 1), those of "
        f"{others} are not, and differences may be due to the scale alone; turn logits into probabilities (softmax) "
        "before comparing"
    )


def compare_in_folds(models: list[HeldInputs], metrics: tuple[str, ...]) -> _rust.Compared:
    """Some metrics of models on the same rows, averaged over their folds: by model, then by metric.

    Scores of models fitted on different rows are not comparable, so metrics are computed within folds.
    """
    whole = models[0]
    folds = np.zeros(len(whole.sample.codes), np.uint32) if whole.folds is None else whole.folds
    rows = split_rows(folds, int(folds.max()) + 1)
    _check_folds(whole.sample, rows)
    arguments = [[model.arguments(of_fold) for of_fold in rows] for model in models]
    return _rust.compare_folds(arguments, rows, whole.arguments(), list(metrics), whole.options)


def split_rows(numbers: NDArray[np.uint32], count: int) -> list[NDArray[np.uint32]]:
    """The rows of each of so many folds or slices, whose numbers are given by row."""
    order = np.argsort(numbers, kind="stable").astype(np.uint32)
    return np.split(order, np.cumsum(np.bincount(numbers, minlength=count))[:-1])


def count_classes(sample: Sample, rows: NDArray[np.uint32]) -> NDArray[np.int64]:
    """How many of some rows each class has; rows of weight zero do not count."""
    counted = rows if sample.weights is None else rows[sample.weights[rows] > 0.0]
    return np.bincount(sample.codes[counted], minlength=sample.n_classes)


def _check_folds(sample: Sample, folds: list[NDArray[np.uint32]]) -> None:
    """Every fold needs rows of every class that there is."""
    for fold, rows in enumerate(folds):
        missing = [sample.labels[k] for k in np.flatnonzero((count_classes(sample, rows) == 0) & (sample.rows > 0))]
        if missing:
            raise ValueError(
                f"folds must each have rows of every class; fold number {fold + 1} of {len(folds)} "
                f"(in sorted order) has {wording.pluralize(len(rows), 'row')} and none of {wording.listing(missing)}; "
                "stratified folds have them"
            )
