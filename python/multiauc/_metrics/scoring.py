"""The value of a metric, for the public functions and for adapters that take a metric by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc import _rust
from multiauc._common.registry import METRICS, ONE_VS_REST
from multiauc._common.wording import listing, one_of
from multiauc._input.options import read_metric_options, refuse_weights
from multiauc._input.sample import read_sample
from multiauc._metrics.one_vs_rest import AVERAGES, one_vs_rest_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multiauc._input.sample import Sample

# Those of `read_sample`, which all metrics have.
SAMPLE_OPTIONS = ("sample_weight", "labels", "absent", "outputs")


def score_of(sample: Sample, metric: str, options: dict[str, Any]) -> float:
    """The value of a metric of a sample; `options` as the core takes them."""
    return sample.nan_if_absent(_rust.score(sample.arguments(), metric, options))


def check_option_names(metric: str, given: Iterable[str]) -> None:
    """Raise if one of these options is not one of the metric's."""
    accepted = (*METRICS[metric].options, *(("average",) if metric == ONE_VS_REST else ()), *SAMPLE_OPTIONS)
    for option in given:
        if option not in accepted:
            raise TypeError(f"metric={metric!r} has no option {option!r}; it has {listing(accepted)}")


def score_by_name(
    metric: str,
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    labels: Any = None,
    absent: Any = "raise",
    outputs: Any = None,
    average: Any = None,
    **options: Any,
) -> float:
    """The value of a metric for arguments as users give them; its name and those of the options have been checked."""
    refuse_weights((metric,), sample_weight)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    if average is not None:
        return one_vs_rest_of(sample, one_of("average", average, AVERAGES))
    return score_of(sample, metric, read_metric_options(sample, **options))
