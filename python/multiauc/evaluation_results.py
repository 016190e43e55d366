"""What `evaluate` returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from multiauc import _rust
from multiauc._folds import compared_in_folds
from multiauc._hints import refuse_unknown
from multiauc._input.options import positive_integer, read_metrics
from multiauc._json import document, provenance, to_json
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._registry import AUC_MU, HAND_TILL, KAPPA, MATTHEWS, METRICS, ONE_VS_REST, ONE_VS_REST_PREVALENCE
from multiauc._replicates import accelerations, warn_of_lost_classes
from multiauc._resampling import resampled_metrics
from multiauc._result import Tabular
from multiauc._tables import (
    ESTIMATE_HEADER,
    TABLE_AT_MOST,
    TABLE_EDGE,
    html_table,
    notes_in_words,
    shortened,
    sizes_in_words,
    text_table,
)
from multiauc._wording import listing
from multiauc.bootstrap import Bootstrap
from multiauc.estimates import estimate_of, estimate_without_error, smallest_of
from multiauc.results import read_only

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._input.held_inputs import HeldInputs
    from multiauc.estimates import Estimate
    from multiauc.plotting import EvaluationDisplay
    from multiauc.results import PairMatrix


# Without slots: with them, assigning to a property of a frozen dataclass fails with an obscure TypeError.
@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Tabular):
    """The metrics of one model with their uncertainty; see `multiauc.evaluate`.

    Attributes
    ----------
    metrics : dict of Estimate
        The metrics that were asked for, by name; `auc_mu`, `hand_till`, `one_vs_rest` and `one_vs_rest_prevalence` are
        also attributes.
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
        How the uncertainty was found, in words.
    notes : tuple of str
        What looks wrong with the data, in words: that the columns seem to be in another order, or that the scores are
        not probabilities.

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

    metrics: dict[str, Estimate]
    covariance: NDArray[np.float64]
    matrices: dict[str, PairMatrix]
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    method: str
    _per_class: dict[Any, Estimate]
    _inputs: HeldInputs | None = None
    # What is known of the inputs once they are left behind.
    _options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", read_only(self.covariance))
        object.__setattr__(self, "counts", read_only(self.counts))

    def __reduce__(self) -> tuple[Any, ...]:
        # The data are left behind: an unpickled evaluation can be read, but nothing more can be computed from it.
        known = (self.metrics, self.covariance, self.matrices, self.labels, self.counts, self.method)
        return Evaluation, (*known, self._per_class, None, self._given(), self.notes)

    @property
    def auc_mu(self) -> Estimate:
        """AUC_mu."""
        return self._metric(AUC_MU)

    @property
    def hand_till(self) -> Estimate:
        """Hand & Till's M."""
        return self._metric(HAND_TILL)

    @property
    def one_vs_rest(self) -> Estimate:
        """The mean of the classes against the rest."""
        return self._metric(ONE_VS_REST)

    @property
    def one_vs_rest_prevalence(self) -> Estimate:
        """The mean of the classes against the rest, weighted by their sizes."""
        return self._metric(ONE_VS_REST_PREVALENCE)

    @property
    def matthews(self) -> Estimate:
        """Gorodkin's R_K of the decisions; computed when asked for, if `metrics` did not name it."""
        return self._on_request(MATTHEWS)

    @property
    def kappa(self) -> Estimate:
        """Cohen's kappa of the decisions; computed when asked for, if `metrics` did not name it."""
        return self._on_request(KAPPA)

    @property
    def per_class(self) -> dict[Any, Estimate]:
        """Each class against all the others by its own score, by label."""
        if not self._per_class:
            raise AttributeError(
                f"per_class was not computed; it comes with {ONE_VS_REST!r} in metrics= of evaluate, without folds"
            )
        return self._per_class

    @property
    def auc_mu_matrix(self) -> PairMatrix:
        """The pairs of classes behind AUC_mu."""
        return self._matrix(AUC_MU)

    @property
    def hand_till_matrix(self) -> PairMatrix:
        """The pairs of classes behind Hand & Till's M."""
        return self._matrix(HAND_TILL)

    @shares_parameter_texts
    def bootstrap(
        self,
        n_resamples: int = 2000,
        rng: np.random.Generator | int | None = None,
        *,
        metrics: Sequence[str] | None = None,
        **unknown: Never,
    ) -> Bootstrap:
        """Resample the rows (or groups), as `sampling` and `groups` of `evaluate` say.

        Parameters
        ----------
        {n_resamples}
        rng : numpy Generator or int, optional
            The random numbers or their seed. The same seed draws the same rows for every metric and every model scored
            on the same `y_true`, on any number of threads.
        metrics : sequence of str, optional
            The metrics wanted, of those evaluated; fewer take less time. By default all that can be resampled.

        Returns
        -------
        Bootstrap
            With `replicates`, `standard_error` and `confidence_interval(metric)`.
        """
        refuse_unknown(type(self).bootstrap, unknown)
        size = positive_integer("n_resamples", n_resamples)
        resampled = tuple(metric for metric in self.metrics if METRICS[metric].has_bootstrap)
        if not resampled:
            raise ValueError(f"there is no bootstrap of {listing(self.metrics)}")
        wanted = resampled if metrics is None else read_metrics(metrics, resampled)
        inputs = self.inputs()
        inputs.refuse_folds("a bootstrap")
        replicates = resampled_metrics([inputs.asking_for(wanted)], size, rng)
        estimates = np.array([self.metrics[metric].value for metric in wanted])
        warn_of_lost_classes(replicates, estimates, stacklevel=2)
        influences = inputs.asking_for(resampled).influences()
        columns = [resampled.index(metric) for metric in wanted]
        return Bootstrap(
            replicates,
            wanted,
            estimates,
            accelerations(influences, inputs.groups)[columns],
            inputs.drawn(),
            self.counts,
            self.metrics[wanted[0]].smallest_class,
        )

    def influences(self) -> NDArray[np.float64]:
        r"""What each row adds to the error of the metrics, (n, m).

        :math:`u_i = (T(i) - \bar T_k) / n_k`: to first order, the estimate moves by :math:`-u_i` when row i is left
        out. Where class sizes are random, what the row adds through them is included. Rows with large entries are those
        that the estimate rests on.
        """
        return self.inputs().influences()

    def inputs(self) -> HeldInputs:
        """The data behind the result, for what is computed when asked for."""
        if self._inputs is None:
            raise ValueError("this evaluation was unpickled, without its data; call evaluate on them again")
        return self._inputs

    def plot(self, ax: Axes | None = None, *, level: float = 0.95, **points: Any) -> EvaluationDisplay:
        """Draw the metrics, and each class against the rest, with intervals. Needs matplotlib (``multiauc[plot]``).

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
        """Write a page about the model: one HTML file that works offline, for readers who do not write Python.

        It shows the metrics with intervals, the pairs of classes as a heat map and in words, every class, the
        multi-class ROC curve with its band, the method and the versions.

        Parameters
        ----------
        path : path-like
            Where to write it.
        name : str
            What the page calls the model.
        title : str, optional
            The title of the page.
        level : float, default 0.95
            The level of the intervals.
        n_resamples : int, optional
            Bootstrap samples for the band of the multi-class ROC curve; 0 for a curve without a band. By default 200,
            or fewer where that would take more than some seconds, as with 200 classes; the page says how many.
        rng : numpy Generator or int, default 0
            Their random numbers, or the seed.
        costs : array-like of shape (K, K), optional
            As in `fit_decisions`: the page then says what decisions cost. Scores must be probabilities for it.
        by : array-like of shape (n,), or several, optional
            As in `evaluate_slices`: the page then has a section on slices of the rows, by the first metric.

        Returns
        -------
        pathlib.Path
            Where it is.
        """
        from multiauc._report.writing import write_report  # noqa: PLC0415

        self.inputs().refuse_folds("a report")
        self.inputs().refuse_one_score("a report")
        models = {str(name): self}
        options = {"title": title, "level": level, "n_resamples": n_resamples, "rng": rng, "costs": costs, "by": by}
        return write_report(path, models, None, **options, stacklevel=2)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything in plain Python objects, with intervals of this level; nan where a number is missing.

        The layout is that of the command line and of reports, and `version` is the layout's: docs/json.md has it.
        """
        rows = dict(zip(self.labels, self.counts.tolist(), strict=True))
        per_class = [
            {"label": label, "rows": rows[label], **estimate.to_dict(level)}
            for label, estimate in self._per_class.items()
        ]
        content = {
            "rows": int(self.counts.sum()),
            "labels": list(self.labels),
            "counts": self.counts.tolist(),
            "method": self.method,
            "metrics": {name: estimate.to_dict(level) for name, estimate in self.metrics.items()},
            **({"per_class": per_class} if per_class else {}),
            "covariance": self.covariance.tolist(),
            "notes": list(self.notes),
        }
        return document("evaluation", level, content, provenance(self._given()))

    def to_json(self, level: float = 0.95) -> str:
        """The same as JSON; null where a number is missing, labels that JSON does not have as text."""
        return to_json(self.to_dict(level))

    def _given(self) -> dict[str, Any]:
        return self._options if self._inputs is None else self._inputs.given()

    def _rows(self, level: float) -> list[dict[str, Any]]:
        rows = [{"kind": "metric", "name": name, **one.to_dict(level)} for name, one in self.metrics.items()]
        return rows + [{"kind": "class", "name": name, **one.to_dict(level)} for name, one in self._per_class.items()]

    def __repr__(self) -> str:
        return "\n".join([self._title(), *text_table(self._table()), self.method, *notes_in_words(self.notes)])

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._table(), [self.method, *notes_in_words(self.notes)])

    def _title(self) -> str:
        return f"Evaluation of {sizes_in_words(self.labels, self.counts)}"

    def _table(self) -> list[list[str]]:
        rows = [[estimate.name, *estimate.cells()] for estimate in self.metrics.values()]
        classes = [[f"  {shortened(label)}", *estimate.cells()] for label, estimate in self._per_class.items()]
        if len(classes) > TABLE_AT_MOST:
            classes[TABLE_EDGE:-TABLE_EDGE] = [["  ...", "", "", ""]]
        against_rest = [["each class against the rest", "", "", ""], *classes] if classes else []
        return [ESTIMATE_HEADER, *rows, *against_rest]

    def _metric(self, metric: str) -> Estimate:
        if metric not in self.metrics:
            raise AttributeError(f"{metric} was not computed; name it in metrics= of evaluate")
        return self.metrics[metric]

    def _on_request(self, metric: str) -> Estimate:
        if metric in self.metrics:
            return self.metrics[metric]
        inputs = self.inputs().asking_for((metric,))
        title = METRICS[metric].title
        if inputs.sample.is_undefined:
            return estimate_without_error(math.nan, title, smallest_of(inputs.units()), metric, inputs)
        if inputs.folds is not None:
            (found,) = compared_in_folds([inputs], inputs.metrics).estimates
        else:
            is_iid = inputs.sampling == "iid"
            found = _rust.evaluate(inputs.arguments(), [metric], inputs.options, is_iid).estimates[metric]
        return estimate_of(found, title, smallest_of(inputs.units()), metric, inputs)

    def _matrix(self, metric: str) -> PairMatrix:
        if metric not in self.matrices:
            raise AttributeError(
                f"the matrix of {metric} was not computed; name {metric!r} in metrics= of evaluate, without folds"
            )
        return self.matrices[metric]
