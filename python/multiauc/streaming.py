"""Metrics of rows that come in parts: batches, shards, files larger than memory.

`Accumulator` takes rows batch by batch, in memory of a given size, and merges with others of its kind in any order.
Its answers are exact while every distinct number fits, and lie between guaranteed bounds afterwards.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc import _rust
from multiauc._common.hints import warn
from multiauc._common.registry import DEFAULT_K, METRICS
from multiauc._common.wording import listing, one_of, pluralize
from multiauc._evaluation.evaluation import MetricEstimates
from multiauc._inference.estimates import Estimate, build_worst_case
from multiauc._input import labels as classes_of
from multiauc._input import options, probabilities, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.result import Record
    from multiauc._common.types import Outputs

__all__ = ["Accumulator", "BoundedEvaluation"]

#: What a state can be asked for: ranks of rows within bounds, and sums over rows, which are always exact.
RANKED_METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")
SUMMED_METRICS = ("accuracy", "top_k_accuracy", "log_loss", "brier")
STREAMED_METRICS = (*RANKED_METRICS, *SUMMED_METRICS)
DEFAULT_METRICS = ("auc_mu", "hand_till", "one_vs_rest")
DEFAULT_MEMORY = 64 * 2**20
#: More than any machine has, and the most that bytes of a state can say.
MOST_MEMORY = 2**48 - 1
#: What the bytes of a state begin with, and what they hold besides.
MAGIC = b"multiauc state 1\n"
CHECKSUM_BYTES, LENGTH_BYTES = 16, 4
#: What two states that are merged must have in common.
SETTINGS = ("labels", "metrics", "memory_limit", "outputs", "clip", "k")


@dataclass(frozen=True, eq=False, repr=False)
class BoundedEvaluation(MetricEstimates):
    """The metrics of a stream of rows; see `Accumulator.evaluate`.

    Attributes
    ----------
    metrics : dict of Estimate
        By name; `auc_mu`, `hand_till`, `one_vs_rest` and `one_vs_rest_prevalence` are also attributes.
    per_class : dict of Estimate
        Each class against all the others by its own score, by label; empty without one-vs-rest.
    pair_bounds : dict of (ndarray, ndarray)
        Lower and upper bounds of the values of all pairs of classes, as `auc_mu_matrix` and `hand_till_matrix` have
        them, by metric. Read-only.
    confusion_matrix : ndarray of shape (K, K) or None
        Rows (or weight) of each true class (rows) predicted as each class (columns), by the highest score; with
        ``"accuracy"``, ``"top_k_accuracy"``, ``"log_loss"`` or ``"brier"`` among the metrics, otherwise None.
    labels : tuple
        The classes.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    """

    pair_bounds: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    confusion_matrix: NDArray[np.float64] | None = None

    @property
    def per_class(self) -> dict[Any, Estimate]:
        """Each class against all the others by its own score, by label; empty without one-vs-rest."""
        return self._per_class

    @property
    def exact(self) -> bool:
        """Whether every value is exact."""
        values = [*self.metrics.values(), *self.per_class.values()]
        return all(value.exact or math.isnan(value.value) for value in values)

    def to_dict(self, level: float = 0.95) -> Record:
        """All numbers as plain Python objects, with intervals at this level; nan if a number is missing."""
        return {**self._counts_by_label(), "exact": self.exact, "per_class": [], **self._estimates(level)}

    def _header(self) -> list[str]:
        return ["", "value", "guaranteed bounds", "std. error", "95% interval"]


class Accumulator:
    r"""AUC_mu, Hand & Till's M and one-vs-rest AUC of a stream of rows, in limited memory.

    For every pair of classes (and every score column) it counts rows in bins, at first one per distinct number. When
    they exceed the memory limit, the bins of the histogram are doubled in width until they fit. The order of two rows
    in different bins is known, so the exact value of all rows lies between

    .. math:: \theta - \tfrac12 u \le \theta_\text{exact} \le \theta + \tfrac12 u,

    where u is the fraction of pairs of rows that share a bin and are not known to be equal. The bins depend on the rows
    only: the order of updates and merges does not change the result by a bit (with weights, by no more than a rounding
    of 1e-12).

    Parameters
    ----------
    labels : sequence
        The classes in the order of the columns of scores.
    metrics : sequence of str, default ("auc_mu", "hand_till", "one_vs_rest")
        Any of these; ``"one_vs_rest"`` includes ``"one_vs_rest_prevalence"``. Fewer metrics get finer bins in the same
        memory: AUC_mu and M keep histograms for all pairs of classes, one-vs-rest two for every class. ``"accuracy"``,
        ``"top_k_accuracy"``, ``"log_loss"`` and ``"brier"`` are sums over rows: their values are exact, and the
        evaluation includes `confusion_matrix`. The last two need probabilities.
    memory_limit : int, default 64 MiB
        About how many bytes to use. With more than about a thousand classes the default is too small for the sample of
        rows that standard errors need: they are then nan, and `evaluate` warns how much memory they need.
    outputs : {"logits"} or None, default None
        "logits" if you pass logits to `update`; the softmax is applied to each row, as in `multiauc.evaluate`.
    clip, k
        Of ``"log_loss"`` and ``"top_k_accuracy"``, as in `multiauc.evaluate`.

    Attributes
    ----------
    labels : tuple
        The classes.
    metrics : tuple of str
        What can be asked for.
    n_rows : int
        The rows of positive weight so far.
    counts : ndarray of shape (K,)
        Those of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from multiauc.streaming import Accumulator
    >>> rng = np.random.default_rng(0)
    >>> state = Accumulator(["cat", "dog", "owl"])
    >>> for _ in range(10):
    ...     y = rng.integers(0, 3, size=1000)
    ...     p = rng.dirichlet([1.0, 1.0, 1.0], size=1000)
    ...     p[np.arange(1000), y] += 0.5
    ...     state.update(np.array(["cat", "dog", "owl"])[y], p)
    >>> result = state.evaluate()
    >>> result.auc_mu
    Estimate(AUC_mu 0.9587, exact, standard error 0.0011, 95% interval 0.9566 to 0.9608)
    >>> other = Accumulator.from_bytes(state.to_bytes())
    >>> (state + other).n_rows
    20000
    """

    def __init__(
        self,
        labels: Iterable[Any],
        *,
        metrics: Iterable[str] = DEFAULT_METRICS,
        memory_limit: int = DEFAULT_MEMORY,
        outputs: Outputs = None,
        clip: float | None = None,
        k: int | None = None,
    ) -> None:
        classes = classes_of.read_labels(labels)
        if not 2 <= len(classes) <= classes_of.MAX_CLASSES:
            raise ValueError(
                f"labels must name between 2 and {classes_of.MAX_CLASSES} classes; "
                f"got {pluralize(len(classes), 'label')}"
            )
        self.labels = tuple(classes)
        self.metrics = options.read_metrics(metrics, STREAMED_METRICS)
        options.refuse_idle_options(self.metrics, clip=clip, k=k)
        self.clip, self.k = clip, k
        # Sums alone need the counts of the smallest state.
        self._ranked = tuple(name for name in self.metrics if name in RANKED_METRICS) or ("one_vs_rest",)
        self._sums: _rust.RowSums | None = None
        if summed := [name for name in self.metrics if name in SUMMED_METRICS]:
            places = options.positive_integer("k", DEFAULT_K if k is None else k)
            self._sums = _rust.RowSums(len(classes), summed, clip, places)
        self.memory_limit = options.positive_integer("memory_limit", memory_limit)
        if self.memory_limit > MOST_MEMORY:
            raise ValueError(f"memory_limit must be at most {MOST_MEMORY:,} bytes; got {self.memory_limit:,}")
        self.outputs = probabilities.read_outputs(outputs)
        least = _rust.StreamState.least_memory(len(classes), list(self._ranked))
        if self.memory_limit < least:
            raise ValueError(
                f"memory_limit must be at least {least:,} bytes for {pluralize(len(classes), 'class', 'classes')} and "
                f"{listing(self.metrics)}; got {self.memory_limit:,}. One-vs-rest alone needs the least"
            )
        # Made with the first rows, which say whether scores are float32 or float64.
        self._state: _rust.StreamState | None = None

    @property
    def n_rows(self) -> int:
        """The rows of positive weight so far."""
        return int(self.counts.sum())

    @property
    def counts(self) -> NDArray[np.int64]:
        """The rows of positive weight of each class so far."""
        if self._state is None:
            return np.zeros(len(self.labels), dtype=np.int64)
        return self._state.rows

    def update(self, y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        """Add rows.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The class of each row, one of `labels`.
        y_score : array-like of shape (n, K), or (n,) for two classes
            The scores: a column per class in the order of `labels` (in any order if the columns of a data frame are
            named after them), or those of the second of two classes. All float32 or all float64, throughout the stream.
        sample_weight : array-like of shape (n,), optional
            Weights between 1e-100 and 1e100, or 0 for rows that do not count.

        Raises
        ------
        ValueError, TypeError
            If an array is invalid. The whole batch is then rejected.
        """
        if not np.size(y_score) and not np.size(y_true):
            return
        self.add(self.read(y_true, y_score, sample_weight))

    def read(self, y_true: Any, y_score: Any, sample_weight: Any = None) -> _rust.Sample:
        """A batch, for the core."""
        given = (y_true, y_score, sample_weight, self.labels, "ignore", self.outputs)
        rows = sample.read_sample(*given, fewest_classes=0)
        return _rust.Sample(_as_pairs(rows.scores), rows.codes, rows.weights)

    def read_coded(
        self, scores: NDArray[Any], codes: NDArray[Any], weights: NDArray[np.float64] | None = None
    ) -> _rust.Sample:
        """The same of rows whose scores are checked, and whose classes are places among the labels already."""
        return _rust.Sample(self.prepare_scores(scores), codes, weights)

    def prepare_scores(self, scores: NDArray[Any]) -> NDArray[Any]:
        """A score for each class, from what `outputs` says that they are."""
        return _as_pairs(probabilities.as_outputs("y_score", scores, self.outputs))

    def add(self, rows: _rust.Sample) -> None:
        """Add rows that were read."""
        # Nothing is kept of a batch that either refuses.
        sums = None if self._sums is None else self._sums.of(rows)
        self._state_for(is_single=rows.is_single).update(rows)
        if self._sums is not None and sums is not None:
            self._sums.merge(sums)

    def settle(self) -> None:
        """Count the rows that wait to be counted together.

        It makes no difference but to sums of weights, in the last bits: these then do not depend on when the state was
        written as bytes, which does the same.
        """
        if self._state is not None:
            self._state.settle()

    def _state_for(self, *, is_single: bool) -> _rust.StreamState:
        if self._state is None:
            self._state = self._new_state(is_single=is_single)
        if self._state.is_single != is_single:
            found, held = ("float32", "float64") if is_single else ("float64", "float32")
            raise ValueError(
                f"y_score is {found}, and the rows so far were {held}: scores of different precision tie by "
                "different rules; convert one of them"
            )
        return self._state

    def _new_state(self, *, is_single: bool, lattice: int | None = None) -> _rust.StreamState:
        return _rust.StreamState(len(self.labels), list(self._ranked), self.memory_limit, is_single, lattice)

    def on_lattice(self, lattice: int) -> Accumulator:
        """An empty one, for ranks alone, of float32 scores that are known to be multiples of 1/m."""
        again = Accumulator(self.labels, metrics=self._ranked, memory_limit=self.memory_limit, outputs=self.outputs)
        again._state = self._new_state(is_single=True, lattice=lattice)
        return again

    def with_ranks_of(self, other: Accumulator) -> Accumulator:
        """The sums of this one and the ranks of another that has seen the same rows."""
        again = self.copy()
        again._state = other._state  # noqa: SLF001
        return again

    def merge(self, other: Accumulator) -> Self:
        """Add all rows of another accumulator, which is not changed.

        Parameters
        ----------
        other : Accumulator
            Made with the same labels, metrics, memory_limit and outputs.

        Returns
        -------
        Accumulator
            Itself.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(f"only an Accumulator can be merged; got {type(other).__name__}")
        for name in SETTINGS:
            if getattr(self, name) != getattr(other, name):
                raise ValueError(
                    f"states that are merged must have the same {name}; "
                    f"got {getattr(self, name)!r} and {getattr(other, name)!r}"
                )
        if other._state is not None:
            if self._state is None:
                self._state = other._state.copy()
            else:
                self._state.merge(other._state)
        if self._sums is not None and other._sums is not None:
            self._sums.merge(other._sums)
        return self

    def __add__(self, other: object) -> Accumulator:
        """A new state with the rows of both."""
        return self.copy().merge(other) if isinstance(other, Accumulator) else NotImplemented

    def __iadd__(self, other: object) -> Self:
        return self.merge(other) if isinstance(other, Accumulator) else NotImplemented

    def copy(self) -> Accumulator:
        """An independent copy."""
        again = Accumulator(**self._settings())
        again._state = None if self._state is None else self._state.copy()
        again._sums = None if self._sums is None else self._sums.copy()
        return again

    def evaluate(self, *, absent: str = "raise") -> BoundedEvaluation:
        """The metrics of all rows so far.

        Parameters
        ----------
        absent : {"raise", "ignore", "nan"}, default "raise"
            What to do about classes without rows, as in `multiauc.evaluate`.

        Returns
        -------
        BoundedEvaluation
            Values with guaranteed bounds, and standard errors with fixed class sizes.
        """
        return self.results(self.state().answers(), absent)

    def state(self) -> _rust.StreamState:
        """The state in the core, once it has rows."""
        if self._state is None or not self.n_rows:
            raise ValueError("there is no value before the first update")
        return self._state

    def results(self, found: _rust.Answers, absent: str) -> BoundedEvaluation:
        """What the core found, in the form that users see."""
        policy = one_of("absent", absent, sample.ABSENT_POLICIES)
        self._warn_without_sample()
        counts = self.counts
        lacks_class = bool((counts == 0).any())
        if lacks_class:
            sample.check_absent(list(self.labels), counts, policy, weighted=False)
        undefined = policy == "nan" and lacks_class
        smallest, rows = int(counts[counts > 0].min()), int(counts.sum())
        values = found.metrics | ({} if self._sums is None else self._sums.estimates())
        with_prevalence = ["one_vs_rest_prevalence"] if "one_vs_rest" in self.metrics else []
        metrics = {
            name: _build_estimate(METRICS[name].title, name, None if undefined else values[name], smallest, chance)
            for name in (*self.metrics, *with_prevalence)
            for chance in [METRICS[name].chance_of(len(counts), k=self.k or DEFAULT_K)]
        }
        per_class = {}
        if self._ranked != ("auc_mu",) and not set(self.metrics) <= set(SUMMED_METRICS):
            of_classes = zip(self.labels, counts.tolist(), found.per_class, strict=True)
            per_class = {
                label: _build_estimate(
                    f"{label} against the rest", column, None if undefined else one, min(count, rows - count)
                )
                for column, (label, count, one) in enumerate(of_classes)
                if one is not None or policy == "nan"
            }
        confusion = None if self._sums is None else self._sums.confusion()
        return BoundedEvaluation(metrics, self.labels, counts, per_class, found.pairs, confusion)

    def _warn_without_sample(self) -> None:
        least = _rust.StreamState.least_memory_for_variances(
            len(self.labels), list(self._ranked), self.state().is_single
        )
        if self.memory_limit < least:
            warn(
                f"standard errors are nan: memory_limit={self.memory_limit:,} is too small for a sample of the rows of "
                f"each of {len(self.labels):,} classes; they need memory_limit={least:,} (values and bounds do not)",
                RuntimeWarning,
            )

    def to_bytes(self) -> bytes:
        """The summary as bytes, to store or send; identical on every machine, with a version and a checksum."""
        return seal(MAGIC, *self.to_parts())

    def _settings(self) -> Record:
        return {name: getattr(self, name) for name in SETTINGS}

    def to_parts(self) -> tuple[Record, bytes]:
        """What a state is made with and how many of its last bytes are sums, and its bytes."""
        sums = b"" if self._sums is None else self._sums.to_bytes()
        header = self._settings() | {"sums": len(sums) or None}
        state = b"" if self._state is None else self._state.to_bytes()
        return {name: value for name, value in header.items() if value is not None}, state + sums

    @classmethod
    def from_bytes(cls, data: bytes) -> Accumulator:
        """The accumulator that `to_bytes` was called on.

        Raises
        ------
        ValueError
            If the bytes are damaged, truncated or something else.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"a state is read from bytes; got {type(data).__name__}")
        data = bytes(data)
        if not data.startswith(MAGIC):
            raise ValueError(
                "these bytes are not a state of multiauc, or one of a version that this one does not read: "
                f"they begin with {data[: len(MAGIC)]!r}"
            )
        try:
            return cls.from_parts(*unseal(MAGIC, data))
        except (TypeError, ValueError) as error:
            raise ValueError(f"the bytes of this state are damaged, or something else wrote them: {error}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        # Labels of any kind can be pickled, and need not be written as text.
        return Accumulator.from_parts, self.to_parts()

    @classmethod
    def from_parts(cls, header: Record, content: bytes) -> Accumulator:
        """The accumulator that `to_parts` was called on."""
        for name, kind in (("labels", (list, tuple)), ("metrics", (list, tuple)), ("memory_limit", int)):
            if not isinstance(header.get(name), kind):
                problem = f"{name} is {header[name]!r:.80}" if name in header else f"their header has no {name}"
                raise ValueError(problem)  # noqa: TRY004 - of bytes
        sums = header.get("sums")
        again = cls(**{name: value for name, value in header.items() if name != "sums"})
        if (sums is None) != (again._sums is None):
            raise ValueError("it has sums of other metrics than it says")
        if again._sums is not None and sums is not None:
            again._sums = again._sums.read_bytes(content[-sums:])
            content = content[:-sums]
        if content:
            state = _rust.StreamState.from_bytes(content)
            if not state.is_made_with(len(again.labels), list(again._ranked), again.memory_limit):
                raise ValueError("its rows were kept for other labels, metrics or memory than it says")
            again._state = state
        return again

    def __repr__(self) -> str:
        classes = pluralize(len(self.labels), "class", "classes")
        return f"Accumulator of {pluralize(self.n_rows, 'row')}, {classes}: {listing(self.metrics)}"


def _as_pairs(scores: NDArray[Any]) -> NDArray[Any]:
    """A score for each class: one score stands for two that rank the rows in opposite orders."""
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def _build_estimate(
    name: Any, of: str | int, found: _rust.Bounded | None, smallest_class: int, chance: float = 0.5
) -> Estimate:
    """The core's value with its bounds; nan where it is not defined."""
    found = found or _rust.Bounded()
    bounds = zip(found.worst, (found.low, found.high), strict=True)
    worst_of_low, worst_of_high = (build_worst_case(worst, bound, found.variance, chance) for worst, bound in bounds)
    return Estimate(
        name,
        found.value,
        math.sqrt(found.variance),
        found.degrees_of_freedom,
        smallest_class,
        _first_order=found.variance,
        _plug_in=math.nan,
        _of=of,
        low=found.low,
        high=found.high,
        _worst_of_bounds=(worst_of_low, worst_of_high),
    )


def evaluate_exactly(
    open_batches: Callable[[], Iterable[_rust.Sample]], accumulator: Accumulator, memory_limit: int, absent: str
) -> BoundedEvaluation:
    """The exact metrics of the rows that an accumulator has seen.

    The accumulator says how many rows of each class lie in which range of scores. Rows of different ranges are in a
    known order; those of the same range are gathered and compared, as many ranges at a time as fit into memory.

    Parameters
    ----------
    open_batches
        Called for every pass: the same rows again, as `Accumulator.read` gives them, in any order and in batches of any
        size.
    accumulator
        What has seen all of them. Without weights.
    memory_limit
        About how many bytes to use for what is gathered.
    absent
        As in `Accumulator.evaluate`.
    """
    lattice = accumulator.state().lattice
    if lattice is not None:
        # Whether float32 scores are multiples of one fraction is known only when all have been seen, and decides which
        # differences tie: they are sorted into ranges again.
        again = accumulator.on_lattice(lattice)
        for batch in open_batches():
            again.add(batch)
        accumulator = accumulator.with_ranks_of(again)
    state = accumulator.state()
    counter = _rust.RangeCounter(state, memory_limit)
    while counter.begin_pass(memory_limit):
        for batch in open_batches():
            counter.update(batch)
        counter.end_pass()
    return accumulator.results(counter.answers(state), absent)


def seal(magic: bytes, header: Record, content: bytes) -> bytes:
    """A magic line, a header as JSON, content and a checksum: the same bytes on every machine.

    Labels are all in a header that JSON may not hold.
    """
    try:
        text = json.dumps(header, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError):
        raise TypeError(
            "labels must be strings, numbers or bools to be written as bytes; use such labels for states that are "
            "saved or sent"
        ) from None
    body = magic + len(text).to_bytes(LENGTH_BYTES, "little") + text + content
    return body + _checksum(body)


def unseal(magic: bytes, data: bytes) -> tuple[Record, bytes]:
    """What `seal` was given, from bytes that begin with the magic line; a ValueError says what is wrong with others."""
    body, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    start = len(magic) + LENGTH_BYTES
    if len(body) < start or _checksum(body) != checksum:
        raise ValueError("they are cut short, or their checksum is not that of the content")
    end = start + int.from_bytes(body[len(magic) : start], "little")
    try:
        header = json.loads(body[start:end]) if end <= len(body) else None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"their header is not JSON ({error})") from None
    if not isinstance(header, dict):
        raise ValueError("their header is not an object, or longer than all of them")  # noqa: TRY004 - of bytes
    return header, body[end:]


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=CHECKSUM_BYTES).digest()
