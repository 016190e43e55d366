"""The evaluations of slices of a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from multiauc._common.result import build_frame, by_column, text_table

if TYPE_CHECKING:
    from multiauc._common.result import Library
    from multiauc.streaming import CertifiedEvaluation


class SliceEvaluations(Mapping[Any, "CertifiedEvaluation"]):
    """The evaluation of each slice, by its value: text, or a tuple of texts for several columns; None for nulls.

    Slices in which fewer than two classes have rows have no value, and are left out.

    Parameters
    ----------
    columns : tuple of str
        The columns whose values are slices.
    evaluations : mapping
        By the values of the columns, as tuples.
    """

    def __init__(
        self, columns: tuple[str, ...], evaluations: Mapping[tuple[str | None, ...], CertifiedEvaluation]
    ) -> None:
        self.columns = columns
        self._evaluations = {
            values[0] if len(columns) == 1 else values: result for values, result in evaluations.items()
        }

    def __getitem__(self, values: Any) -> CertifiedEvaluation:
        return self._evaluations[values]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._evaluations)

    def __len__(self) -> int:
        return len(self._evaluations)

    def to_frame(self, level: float = 0.95, *, library: Library | None = None) -> Any:
        """A row for each slice and metric, with the limits of intervals of this level."""
        rows = [
            {**dict(zip(self.columns, self._as_tuple(values), strict=True)), "metric": name, **one.to_dict(level)}
            for values, result in self.items()
            for name, one in result.metrics.items()
        ]
        return build_frame(by_column(rows), library)

    def _as_tuple(self, values: Any) -> tuple[str | None, ...]:
        return (values,) if len(self.columns) == 1 else values

    def __repr__(self) -> str:
        header = ["", "rows", "value", "certain bounds", "std. error", "95% interval"]
        table = [header]
        for values, result in self.items():
            name, one = next(iter(result.metrics.items()))
            table.append([", ".join(map(str, self._as_tuple(values))), str(int(result.counts.sum())), *one.cells()])
        title = f"Slices by {', '.join(self.columns)}"
        return "\n".join([f"{title}: {name if self else 'none'}", *text_table(table)])
