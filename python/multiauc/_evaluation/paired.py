"""Where models differ: `PairedDifferences` by class or by slice of the rows, and what compares them class by class."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from multiauc import _rust
from multiauc._common import registry, result, wording
from multiauc._inference import differences
from multiauc._inference.differences import Difference
from multiauc._input.options import read_level

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from multiauc._inference.intervals import ConfidenceInterval
    from multiauc._input.sample import HeldInputs

#: Of more differences the correlations are left aside, which makes corrected p-values a little larger.
CORRELATED_AT_MOST = 64


@dataclass(frozen=True, eq=False, repr=False)
class PairedDifferences(result.Printed, result.Tabular):
    """Differences between models on the same rows, class by class or slice by slice.

    See `Comparison.per_class` and `evaluate_slices`. It is read like a dict: ``found["eel"]`` is the `Difference` of
    two models for a class or slice, and ``found["eel", "a", "b"]`` that of two of several models.

    Attributes
    ----------
    metric : str
        What is compared.
    by : str
        What the differences are listed by: ``"class"``, or the columns of the slices.
    models : tuple
        The names of the models.
    differences : dict of Difference
        The first model minus the second, with p-values corrected for the number of all differences in the table.
    reasons : dict of str
        Why a difference is not known, by its key.
    method : str
        The method behind standard errors and intervals, in words.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=600)
    >>> signal = 1.0 * (y_true[:, None] == ["cat", "dog", "eel"])
    >>> noise = 2 * rng.random((2, 600, 3))
    >>> models = {"new": signal + noise[0], "old": signal * [1.0, 1.0, 0.5] + noise[1]}
    >>> found = multiauc.compare(y_true, models, outputs="logits").per_class
    >>> found["eel"].corrected_p_value < 0.01 < found["cat"].corrected_p_value
    True
    """

    metric: str
    by: str
    models: tuple[Any, ...]
    differences: dict[Any, Difference]
    reasons: dict[Any, str]
    method: str
    _correlations: NDArray[np.float64] | None = field(default=None, compare=False)

    def __getitem__(self, key: Hashable) -> Difference:
        if key not in self.differences:
            raise KeyError(f"no difference {key!r}; there are {wording.listing(self.differences)}")
        return self.differences[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    def items(self) -> list[tuple[Any, Difference]]:
        """Keys and differences."""
        return list(self.differences.items())

    def simultaneous_intervals(self, level: float = 0.95) -> dict[Any, ConfidenceInterval]:
        """Intervals of all differences that cover at once with probability `level`, by key.

        An interval excludes 0 exactly if the corrected p-value is below 1 - `level`. (nan, nan) if the standard error
        of a difference is missing or 0.
        """
        family = differences.Family(list(self.differences.values()), correlations=self._correlations)
        return dict(zip(self.differences, family.intervals(read_level(level)), strict=True))

    def to_dict(self, level: float = 0.95) -> result.Record:
        """All numbers as plain Python objects, with intervals at this level; nan if a number is missing."""
        return {"metric": self.metric, "by": self.by, "method": self.method, "differences": self._rows(level)}

    def _rows(self, level: float) -> list[result.Record]:
        limits = self.simultaneous_intervals(level)
        return [
            {self.by: self._name(key), **one.to_dict(level)}
            | dict(zip(("simultaneous_low", "simultaneous_high"), limits[key], strict=True))
            | {"reason": self.reasons.get(key, "")}
            for key, one in self.differences.items()
        ]

    def _name(self, key: Any) -> Any:
        return key if len(self.models) == 2 else key[0]

    def _numbers(self) -> dict[str, result.Numbers]:
        return {
            f"{row['first']}_minus_{row['second']}_{self.metric}_{row[self.by]}": result.pick_numbers(row)
            for row in self._rows(0.95)
        }

    def _title(self) -> str:
        pair = f": {self.models[0]} - {self.models[1]}" if len(self.models) == 2 else ""
        title = "one-vs-rest AUC" if self.by == "class" else registry.METRICS[self.metric].title
        return wording.printable(f"Differences in {title} by {self.by}{pair}")

    def _table(self) -> result.Cells:
        limits = self.simultaneous_intervals()
        many = len(self.models) > 2
        head = ["", "difference", "std. error", "95%, simultaneous", "t", "df", "p (min-p)"]
        rows = []
        for key, one in self.differences.items():
            name = wording.shown_name(self._name(key)) + (f": {one.first} - {one.second}" if many else "")
            cells = ["-" if "nan" in cell else cell for cell in one.cells(limits[key])]
            rows.append([name, *cells, self.reasons.get(key, "")])
        table = [[*head, "why not"], *rows]
        return table if self.reasons else [row[:-1] for row in table]

    def _below(self) -> list[str]:
        return [self.method]


def build_paired(
    models: dict[Any, HeldInputs],
    by: str,
    found: dict[Any, list[_rust.Estimate]],
    correlations: NDArray[np.float64] | None = None,
    factor: float = 1.0,
) -> PairedDifferences:
    """The table of what the core found of all pairs of models, by class or slice, if anything."""
    inputs, pairs = next(iter(models.values())), list(combinations(models, 2))
    (metric,), method = inputs.metrics, inputs.describe_method().partition(";")[0]
    scale, listed = differences.read_scale(metric), {}
    for name, of_pairs in found.items():
        for k, (a, b) in enumerate(pairs):
            numbers = (math.nan,) * 3
            if of_pairs:
                one = of_pairs[k]
                numbers = (factor * one.value, factor**2 * one.variance, one.degrees_of_freedom)
            listed[name if len(pairs) == 1 else (name, a, b)] = Difference(a, b, *numbers, **scale)
    corrected = differences.Family(list(listed.values()), correlations=correlations).correct()
    by_key = dict(zip(listed, corrected, strict=True))
    return PairedDifferences(metric, by, tuple(models), by_key, {}, method, correlations)


def compare_classes(models: dict[Any, HeldInputs]) -> PairedDifferences:
    """The differences of one-vs-rest AUCs, class by class."""
    first = next(iter(models.values()))
    first.refuse_folds_and_one_score("per_class")
    held = {name: model.asking_for(("one_vs_rest",)) for name, model in models.items()}
    sample, n_pairs = first.sample, math.comb(len(models), 2)
    columns, correlations = sample.reported_classes(), None
    found: dict[Any, list[_rust.Estimate]] = {sample.labels[column]: [] for column in columns}
    if not sample.is_undefined:
        are_few = len(columns) * n_pairs <= CORRELATED_AT_MOST
        arguments = [model.arguments() for model in held.values()]
        by_class, correlations = _rust.compare_classes(arguments, columns, are_few)
        found = dict(zip(found, by_class, strict=True))
    return build_paired(held, "class", found, correlations, float((sample.rows > 0).sum()))
