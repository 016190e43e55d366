"""The value of a metric, for the public functions and for adapters that take a metric by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc import _rust
from multiauc._common.registry import METRICS
from multiauc._common.wording import listing, one_of
from multiauc._input.options import read_metric_options, refuse_weights
from multiauc._input.sample import read_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multiauc._input.sample import Sample

# Those of `read_sample`, which all metrics have.
SAMPLE_OPTIONS = ("sample_weight", "labels", "absent", "outputs")
#: The averages of one-vs-rest.
AVERAGES = ("macro", "prevalence", "prevalence_equal_rest", "micro")


def check_option_names(metric: str, given: Iterable[str]) -> None:
    """Raise if one of these options is not one of the metric's."""
    accepted = (*METRICS[metric].options, *(("average",) if metric == "one_vs_rest" else ()), *SAMPLE_OPTIONS)
    for option in given:
        if option not in accepted:
            raise TypeError(f"metric={metric!r} has no option {option!r}; it has {listing(accepted)}")


def compute_score(  # noqa: PLR0913
    metric: str,
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    labels: Any = None,
    absent: Any = "raise",
    outputs: Any = None,
    *,
    read: Callable[..., Sample] = read_sample,
    average: Any = None,
    **options: Any,
) -> float:
    """The value of a metric for arguments as users give them; its name and those of the options have been checked."""
    refuse_weights((metric,), sample_weight)
    sample = read(y_true, y_score, sample_weight, labels, absent, outputs)
    if average is None:
        value = _rust.score(sample.arguments(), metric, read_metric_options(sample, **options))
    else:
        value = _rust.one_vs_rest(sample.arguments(), one_of("average", average, AVERAGES))
    return sample.nan_if_absent(value)
