"""Types of the arguments that many functions share; for type checkers, never imported at run time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal, Protocol, TypeAlias

from numpy.typing import ArrayLike

Labels: TypeAlias = Iterable[Hashable] | None
Absent: TypeAlias = Literal["raise", "ignore", "nan"]
PairWeights: TypeAlias = Literal["size_product", "size_sum"] | ArrayLike | None
Average: TypeAlias = Literal["macro", "prevalence", "prevalence_equal_rest", "micro"]
Scope: TypeAlias = Literal["shared", "class", "pair"]
Center: TypeAlias = Literal["intercept", "projection"]
Sampling: TypeAlias = Literal["stratified", "iid"]
Task: TypeAlias = Literal["multiclass", "multilabel"]
PartialAverage: TypeAlias = Literal["macro", "prevalence"]
Outputs: TypeAlias = Literal["logits"] | None
TrainingOutputs: TypeAlias = Literal["probabilities", "logits", "one_vs_all_logits"] | None


class SparseMatrix(Protocol):
    """A matrix or array of scipy.sparse, in any format."""

    @property
    def shape(self) -> Any: ...
    @property
    def nnz(self) -> Any: ...
    def tocsr(self) -> Any: ...
