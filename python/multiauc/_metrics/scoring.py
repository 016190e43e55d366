"""The value of a metric by its name, for the public functions and the adapters."""

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

# The arguments of `read_sample`, common to all metrics.
SAMPLE_OPTIONS = ("sample_weight", "labels", "absent", "outputs")
#: The averages of one-vs-rest.
AVERAGES = ("macro", "prevalence", "prevalence_equal_rest", "micro")


def check_option_names(metric: str, given: Iterable[str]) -> None:
    """Raise if the metric has no option of one of these names."""
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
    """The value of a metric for a user's arguments; its name and option names must have been checked."""
    refuse_weights((metric,), sample_weight)
    sample = read(y_true, y_score, sample_weight, labels, absent, outputs)
    if average is None:
        value = _rust.score(sample.arguments(), metric, read_metric_options(sample, **options))
    else:
        value = _rust.one_vs_rest(sample.arguments(), one_of("average", average, AVERAGES))
    return sample.nan_if_absent(value)
