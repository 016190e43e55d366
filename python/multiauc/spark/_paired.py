"""A random sample of rows with the scores of all models: it tells how these vary together, which states do not."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The unit under which a sample travels among the states.
UNIT = "sample"
#: Rows at most, and bytes of their scores.
ROWS, BYTES = 20_000, 8 * 2**20


@dataclass(slots=True, eq=False)
class PairedSample:
    """The rows with the smallest of independent random numbers.

    Attributes
    ----------
    keys
        The random numbers.
    codes
        The classes, as places among the labels.
    scores
        (n, K) by model.
    weights
        Or None.
    """

    keys: NDArray[np.float64]
    codes: NDArray[Any]
    scores: dict[str, NDArray[Any]]
    weights: NDArray[np.float64] | None

    def smallest(self) -> PairedSample:
        """As many of them as a sample may have."""
        row_bytes = sum(scores.shape[1] * scores.itemsize for scores in self.scores.values())
        size = max(2, min(ROWS, BYTES // row_bytes))
        if len(self.keys) <= size:
            return self
        kept = np.argpartition(self.keys, size - 1)[:size]
        scores = {model: scores[kept] for model, scores in self.scores.items()}
        return PairedSample(self.keys[kept], self.codes[kept], scores, _taken(self.weights, kept))

    def with_rows_of(self, other: PairedSample) -> PairedSample:
        """A sample of the rows of both."""
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        return PairedSample(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.codes, other.codes]),
            {model: np.concatenate([scores, other.scores[model]]) for model, scores in self.scores.items()},
            weights,
        ).smallest()

    def to_bytes(self) -> bytes:
        """All of it."""
        arrays: dict[str, Any] = {f"scores_{place}": scores for place, scores in enumerate(self.scores.values())}
        if self.weights is not None:
            arrays["weights"] = self.weights
        file = io.BytesIO()
        np.savez(file, keys=self.keys, codes=self.codes, names=np.array(list(self.scores)), **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PairedSample:
        """The sample that was written.

        Raises
        ------
        ValueError
            If the bytes are damaged, cut short, or something else.
        """
        try:
            with np.load(io.BytesIO(data)) as found:
                scores = {str(name): found[f"scores_{place}"] for place, name in enumerate(found["names"])}
                sample = cls(found["keys"], found["codes"], scores, found.get("weights"))
        # Whatever the readers of archives and of arrays say.
        except Exception as error:  # noqa: BLE001
            raise ValueError(f"the bytes of a sample of rows are damaged: {error}") from None
        columns = [sample.keys, sample.codes, *([] if sample.weights is None else [sample.weights])]
        fit = all(one.shape == (len(sample.keys),) for one in columns if one.ndim == 1)
        tables = all(one.ndim == 2 and len(one) == len(sample.keys) for one in scores.values())
        if not fit or not tables or any(one.ndim != 1 for one in columns):
            raise ValueError("the bytes of a sample of rows are damaged: its arrays have other numbers of rows")
        return sample


def _taken(weights: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
    return None if weights is None else weights[rows]
