"""What `compare` returns."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, Never

import numpy as np

from multiauc._families import Family, fewest_degrees_of_freedom, wald_f
from multiauc._hints import refuse_unknown
from multiauc._input.options import positive_integer, read_level
from multiauc._json import document, provenance, to_json
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._registry import METRICS, MULTICLASS_ROC
from multiauc._replicates import warn_of_lost_classes
from multiauc._resampling import model_accelerations, resampled_curves, resampled_metrics
from multiauc._result import Tabular
from multiauc._tables import ESTIMATE_HEADER, html_table, notes_in_words, sizes_in_words, text_table
from multiauc._wording import listing, names_as_text, one_of
from multiauc.bootstrap import ComparisonBootstrap
from multiauc.differences import holm
from multiauc.hypotheses import OmnibusTest
from multiauc.results import read_only

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from os import PathLike
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._input.held_inputs import HeldInputs
    from multiauc.differences import Difference
    from multiauc.estimates import Estimate
    from multiauc.plotting import ComparisonDisplay
    from multiauc.results import ConfidenceInterval

CORRECTIONS = ("min_p", "holm")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Tabular):
    """Models on the same rows, and all their differences; see `multiauc.compare`.

    Attributes
    ----------
    metric : str
        What is compared.
    estimates : dict of Estimate
        The value of each model by its name.
    covariance : ndarray of shape (m, m)
        Of the models, in the order of `estimates`. Read-only.
    differences : tuple of Difference
        The first model minus the second, for all pairs of models, with p-values corrected for their number.
    labels : tuple
        The classes.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    method : str
        How the uncertainty was found, in words.
    notes : tuple of str
        What looks wrong with the data, in words: that columns of a model seem to be in another order, or that scores
        are not probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=200)
    >>> models = {name: np.eye(3)[y_true] + noise * rng.random((200, 3)) for name, noise in [("good", 2), ("fair", 3)]}
    >>> comparison = multiauc.compare(y_true, models)
    >>> comparison.estimates["good"]
    Estimate(good 0.9669, standard error 0.0086, 95% interval 0.9406 to 0.9817)
    >>> comparison.difference("good", "fair")
    Difference(good - fair: +0.0901, standard error 0.0221, 95% interval +0.0463 to +0.1338, t(116.6) 4.08, p <0.0001)
    """

    metric: str
    estimates: dict[Any, Estimate]
    covariance: NDArray[np.float64]
    differences: tuple[Difference, ...]
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    method: str
    _inputs: dict[Any, HeldInputs] | None = None
    # What is known of the inputs once they are left behind.
    _options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", read_only(self.covariance))
        object.__setattr__(self, "counts", read_only(self.counts))

    def __reduce__(self) -> tuple[Any, ...]:
        # The data are left behind: an unpickled comparison can be read, but nothing more can be computed from it.
        known = (self.metric, self.estimates, self.covariance, self.differences)
        return Comparison, (*known, self.labels, self.counts, self.method, None, self._given(), self.notes)

    def difference(self, a: Hashable, b: Hashable) -> Difference:
        """Model `a` minus model `b`."""
        for name in (a, b):
            if name not in self.estimates:
                raise ValueError(f"no model {name!r} in this comparison; its models are {listing(self.estimates)}")
        if a == b:
            raise ValueError(f"a difference needs two models; got {a!r} twice")
        found = next(d for d in self._closed_form_differences() if {d.first, d.second} == {a, b})
        return found if found.first == a else found.reversed()

    def corrected_p_values(self, method: Literal["min_p", "holm"] = "min_p") -> dict[tuple[Any, Any], float]:
        """The p-values of all differences, corrected for their number, by pair of models.

        Parameters
        ----------
        method : {"min_p", "holm"}, default "min_p"
            ``"min_p"``: by the distribution of the smallest of all p-values, with the correlations of the differences
            and the degrees of freedom of each; agrees with `simultaneous_intervals`. ``"holm"``: Holm's step-down
            correction, which uses no correlations and has no intervals.
        """
        kind = one_of("method", method, CORRECTIONS)
        known = self._closed_form_differences()
        values = [one.corrected_p_value for one in known] if kind == "min_p" else holm([one.p_value for one in known])
        return {(one.first, one.second): value for one, value in zip(known, values, strict=True)}

    def simultaneous_intervals(self, level: float = 0.95) -> dict[tuple[Any, Any], ConfidenceInterval]:
        """Intervals of all differences that cover at once with probability `level`, by pair of models.

        An interval leaves 0 out exactly where the corrected p-value is below 1 - `level`. (nan, nan) where a difference
        has no standard error, or one of 0.
        """
        tail = read_level(level)
        known = self._closed_form_differences()
        found = Family(known, self.covariance).intervals(tail)
        return {(one.first, one.second): interval for one, interval in zip(known, found, strict=True)}

    def omnibus(self) -> OmnibusTest:
        """Test whether all models are equally good, against the alternative that some differ.

        Wald's F: the differences from the first model in units of their covariance, with the fewest degrees of freedom
        that any difference has.

        Returns
        -------
        OmnibusTest
            nan, with a warning, where models differ and nothing shows how much that varies.
        """
        known = self._closed_form_differences()
        values = np.array([estimate.value for estimate in self.estimates.values()])
        freedom = fewest_degrees_of_freedom(known)
        found = None if np.isnan(self.covariance).any() else wald_f(values, self.covariance, freedom)
        if found is None:
            warnings.warn(
                "there is no test of all models: the rows do not show how much some of them vary",
                RuntimeWarning,
                stacklevel=2,
            )
            return OmnibusTest(math.nan, (math.nan, math.nan), math.nan)
        f, rank, p_value = found
        return OmnibusTest(f, (float(rank), freedom), p_value)

    def _closed_form_differences(self) -> tuple[Difference, ...]:
        if not self.differences:
            raise ValueError(
                f"differences of metric={self.metric!r} have no closed form; "
                "use .bootstrap(), whose replicates are paired"
            )
        return self.differences

    @shares_parameter_texts
    def bootstrap(
        self, n_resamples: int = 2000, rng: np.random.Generator | int | None = None, **unknown: Never
    ) -> ComparisonBootstrap:
        """Resample the rows (or groups), the same ones for all models.

        Parameters
        ----------
        {n_resamples}
        rng : numpy Generator or int, optional
            The random numbers or their seed. The number of threads makes no difference.

        Returns
        -------
        ComparisonBootstrap
            Its columns are the models, in the order of `estimates`; ``.difference(a, b)`` is paired.
        """
        refuse_unknown(type(self).bootstrap, unknown)
        return self._bootstrap(n_resamples, rng, stacklevel=3)

    def _bootstrap(self, n_resamples: Any, rng: Any, stacklevel: int) -> ComparisonBootstrap:
        size = positive_integer("n_resamples", n_resamples)
        held = self.inputs()
        models = list(held.values())
        models[0].refuse_folds("a bootstrap")
        of_models = of_differences = bounds = None
        if self.metric == MULTICLASS_ROC:
            replicates, bounds = resampled_curves(models, size, rng, stacklevel)
        elif METRICS[self.metric].has_bootstrap:
            replicates = resampled_metrics(models, size, rng)
            of_models, of_differences = model_accelerations(models)
        else:
            raise ValueError(f"there is no bootstrap of {self.metric!r}")
        estimates = np.array([estimate.value for estimate in self.estimates.values()])
        warn_of_lost_classes(replicates, estimates, stacklevel)
        return ComparisonBootstrap(
            replicates,
            tuple(held),
            estimates,
            of_models,
            models[0].drawn(),
            self.counts,
            next(iter(self.estimates.values())).smallest_class,
            bounds,
            of_differences,
        )

    def ranking_probabilities(
        self, n_resamples: int = 2000, rng: np.random.Generator | int | None = None, **unknown: Never
    ) -> dict[tuple[Any, ...], float]:
        """The share of resamples in which the models come in each order, the best first.

        Models that tie in a resample share it equally among the orders that agree with it. Orders that never occur are
        left out; the most frequent one comes first.

        Parameters
        ----------
        n_resamples, rng
            As in `bootstrap`.

        Examples
        --------
        >>> import numpy as np
        >>> import multiauc
        >>> rng = np.random.default_rng(0)
        >>> y_true = rng.integers(3, size=200)
        >>> models = {name: np.eye(3)[y_true] + noise * rng.random((200, 3)) for name, noise in [("a", 2), ("b", 3)]}
        >>> multiauc.compare(y_true, models).ranking_probabilities(n_resamples=500, rng=0)
        {('a', 'b'): 1.0}
        """
        refuse_unknown(type(self).ranking_probabilities, unknown)
        return self._bootstrap(n_resamples, rng, stacklevel=3).ranking_probabilities()

    def inputs(self) -> dict[Any, HeldInputs]:
        """The data behind the result, for what is computed when asked for."""
        if self._inputs is None:
            raise ValueError("this comparison was unpickled, without its data; call compare on them again")
        return self._inputs

    def plot(self, ax: Sequence[Axes] | None = None, *, level: float = 0.95, **points: Any) -> ComparisonDisplay:
        """Draw the estimates and their differences with intervals. Needs matplotlib (``pip install multiauc[plot]``).

        `ax` is two matplotlib axes, new ones by default; `points` are passed on to ``ax.plot`` for the dots. The
        result is a `multiauc.plotting.ComparisonDisplay` with `axes_` and `figure_`.
        """
        from multiauc.plotting import ComparisonDisplay  # noqa: PLC0415

        return ComparisonDisplay(self).plot(ax, level=level, **points)

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        level: float = 0.95,
        n_resamples: int | None = None,
        rng: np.random.Generator | int | None = 0,
        costs: ArrayLike | None = None,
        by: Any = None,
    ) -> Path:
        """Write a page that compares the models: one HTML file that works offline.

        It says which model is best and whether that is more than chance, and shows for each of them what
        `Evaluation.report` does. Parameters and result are those of `Evaluation.report`.
        """
        from multiauc._report.writing import evaluations_of, write_report  # noqa: PLC0415

        next(iter(self.inputs().values())).refuse_folds("a report")
        next(iter(self.inputs().values())).refuse_one_score("a report")
        models = evaluations_of(self)
        options = {"title": title, "level": level, "n_resamples": n_resamples, "rng": rng, "costs": costs, "by": by}
        return write_report(path, models, self, **options, stacklevel=2)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything in plain Python objects, with intervals of this level; nan where a number is missing.

        The layout is that of the command line and of reports, and `version` is the layout's: docs/json.md has it.
        """
        content = {
            "rows": int(self.counts.sum()),
            "labels": list(self.labels),
            "counts": self.counts.tolist(),
            "method": self.method,
            "metric": self.metric,
            "estimates": {name: estimate.to_dict(level) for name, estimate in self.estimates.items()},
            "differences": [difference.to_dict(level) for difference in self.differences],
            "covariance": self.covariance.tolist(),
            "notes": list(self.notes),
        }
        return document("comparison", level, content, provenance(self._given()))

    def to_json(self, level: float = 0.95) -> str:
        """The same as JSON; null where a number is missing, names and labels that JSON does not have as text."""
        result = self.to_dict(level)
        pairs = combinations(names_as_text(self.estimates), 2)
        # A metric without a closed form has no differences.
        for difference, (first, second) in zip(result["differences"], pairs, strict=False):
            difference |= {"first": first, "second": second}
        return to_json(result)

    def _given(self) -> dict[str, Any]:
        return self._options if self._inputs is None else next(iter(self._inputs.values())).given()

    def _rows(self, level: float) -> list[dict[str, Any]]:
        """The models, then the differences between every two of them."""
        models = [{"first": name, "second": None, **one.to_dict(level)} for name, one in self.estimates.items()]
        differences = [one.to_dict(level) for one in self.differences]
        columns = dict.fromkeys(name for row in [*models, *differences] for name in row)
        return [{name: row.get(name, math.nan) for name in columns} for row in [*models, *differences]]

    def __repr__(self) -> str:
        blocks = [text_table(self._models())]
        if self.differences:
            blocks.append(text_table(self._contrasts()))
        lines = [line for block in blocks for line in [*block, ""]]
        return "\n".join([self._title(), *lines, self.method, *notes_in_words(self.notes)])

    def _repr_html_(self) -> str:
        models = html_table(self._title(), self._models())
        below = [self.method, *notes_in_words(self.notes)]
        if not self.differences:
            return models + html_table("", [[line] for line in below])
        return models + html_table("Differences", self._contrasts(), below)

    def _title(self) -> str:
        return f"Comparison by {METRICS[self.metric].title} on {sizes_in_words(self.labels, self.counts)}"

    def _models(self) -> list[list[str]]:
        named = zip(names_as_text(self.estimates), self.estimates.values(), strict=True)
        return [ESTIMATE_HEADER, *([name, *estimate.cells()] for name, estimate in named)]

    def _contrasts(self) -> list[list[str]]:
        # Interval and p-value are corrected alike, so that they never disagree; with two models there is nothing to
        # correct.
        are_many = len(self.differences) > 1
        interval, p_value = ("95%, simultaneous", "p (min-p)") if are_many else ("95% interval", "p")
        head = ["", "difference", "std. error", interval, "t", "df", p_value]
        pairs = [" - ".join(pair) for pair in combinations(names_as_text(self.estimates), 2)]
        intervals = self.simultaneous_intervals().values()
        contrasts = zip(pairs, self.differences, intervals, strict=True)
        return [head, *([pair, *difference.cells(limits)] for pair, difference, limits in contrasts)]
