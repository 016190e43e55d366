"""Gates for pipelines: a model must be good enough, or hardly worse than another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

from multiauc._common.registry import ANALYTIC_METRICS, METRICS
from multiauc._input.columns import parse_number
from multiauc.cli._problems import NotPassed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from multiauc._display import model as views
    from multiauc._inference.intervals import ConfidenceInterval

    # The interval of a number at a level.
    Limited: TypeAlias = Callable[[float], ConfidenceInterval]


class Floor(NamedTuple):
    """What a metric must reach."""

    metric: str
    bound: float


def read_floors(words: tuple[str, ...]) -> tuple[Floor, ...]:
    """``auc_mu=0.9``, one by one or with commas between."""
    return tuple(_floor(part.strip()) for word in words for part in word.split(","))


def _floor(text: str) -> Floor:
    metric, equals, number = (part.strip() for part in text.partition("="))
    if not equals:
        raise click.BadParameter(f"{text!r} is not of the form auc_mu=0.9.")
    if metric not in ANALYTIC_METRICS:
        raise click.BadParameter(f"{metric!r} is not one of {', '.join(map(repr, ANALYTIC_METRICS))}.")
    if not METRICS[metric].higher_is_better:
        raise click.BadParameter(
            f"{metric!r} is better the smaller it is, so a lower bound is no gate; --fail-if-worse compares models."
        )
    return Floor(metric, _share(number))


def read_margin(text: str | None) -> float | None:
    """How much worse a model may be."""
    return None if text is None else _share(text)


def _share(text: str) -> float:
    """A number from 0 to 1; with any other a gate would always be open or always be closed."""
    try:
        number = parse_number(text)
    except ValueError:
        number = math.nan
    if not 0.0 <= number <= 1.0:
        raise click.BadParameter(f"{text!r} is not a number from 0 to 1.")
    return number


def check_floors(
    floors: Iterable[Floor], found: Mapping[str, views.Estimate], limited: Mapping[str, Limited], level: float | None
) -> tuple[views.Gate, ...]:
    """What came of ``--fail-under``, for each floor; a value that is not available for certain does not pass.

    With a level (``--fail-on-interval``), of what each metric is not below with that confidence.
    """
    gates = []
    for metric, bound in floors:
        of, bounds = "value", found[metric].bounds
        reached = found[metric].value if bounds is None else bounds.guaranteed_low
        if level is not None:
            of, reached = "lower_limit", _find_limits(limited[metric], level)[0]
        gates.append(_hold_against(bound, reached, metric, of, level=level))
    return tuple(gates)


def _hold_against(bound: float, found: float | None, metric: str, of: str, **others: Any) -> views.Gate:
    """Whether what was found reaches the bound; what is not known does not."""
    from multiauc._display import model as views  # noqa: PLC0415 - help and completion do not wait for it

    shown = None if found is None else views.as_number(found)
    passed = found is not None and found >= bound
    return views.Gate(metric=metric, of=of, found=shown, bound=bound, passed=passed, **others)


def refuse_level(option: str, level: float, n_resamples: int) -> None:
    """Raise if there would be no one-sided limit at this level."""
    if not level > 0.5:
        raise click.UsageError(f"{option} needs a --level above 0.5; got {level}")
    needed = count_needed(1.0 - level)
    if 0 < n_resamples < needed:
        raise click.UsageError(f"{option} at --level {level} needs a --bootstrap of at least {needed}")


def count_needed(tail: float) -> int:
    """How many replicates it takes to know a quantile with this much on its one side: more than 1 / tail - 1."""
    return math.floor(round(1.0 / tail, 6))


def check_differences(
    candidate: str, differences: Mapping[str, Any], metric: str, margin: float, level: float
) -> tuple[views.Gate, ...]:
    """What came of ``--fail-if-worse``: of `differences`, the candidate minus each of the other models by name.

    The candidate passes if it is not worse than any of them by more than the margin, with confidence `level`. All of
    these tests have to pass, so none of them needs a correction for their number.
    """
    is_gain = METRICS[metric].higher_is_better
    limits = {other: lower_limit(difference, level, is_gain=is_gain) for other, difference in differences.items()}
    return tuple(
        _hold_against(0.0 - margin, limit, metric, "lower_limit", first=candidate, second=other, level=level)
        for other, limit in limits.items()
    )


def lower_limit(difference: Any, level: float, *, is_gain: bool = True) -> float:
    """How much better the first model is at least, with confidence `level` from this side alone; nan if not known."""
    if difference.value == 0.0 and difference.standard_error == 0.0:
        return 0.0  # the models rank all rows alike
    low, high = _find_limits(difference.confidence_interval, level)
    return low if is_gain else -high


def _find_limits(interval: Limited, level: float) -> tuple[float, float]:
    """What a number is not below, and not above, each with confidence `level`: the interval at 2 `level` - 1."""
    from multiauc._display.model import find_limits  # noqa: PLC0415 - as above

    return find_limits(interval, round(2.0 * level - 1.0, 12))


def close_gates(gates: Iterable[views.Gate] | None) -> None:
    """Raise, once the result is shown, if a gate was not passed."""
    failures = [_describe_failure(gate) for gate in gates or () if not gate.passed]
    if failures:
        raise NotPassed("; ".join(failures))


def _describe_failure(gate: views.Gate) -> str:
    name, found, bound = METRICS[gate.metric].title, gate.found, gate.bound
    side = "" if gate.level is None else f" (one-sided, {100 * gate.level:g}%)"
    if gate.first is not None:
        limit = "not known" if found is None else _show_below(found, bound)
        return (
            f"the data do not rule out that {gate.first} is more than {-bound!r} worse than {gate.second} in {name}: "
            f"the lower limit of the difference{side} is {limit}"
        )
    what = name if gate.of == "value" else f"the lower limit of {name}{side}"
    if found is None:
        return f"{what} is not known, and must be {bound!r}"
    return f"{what} is {_show_below(found, bound)}, under {bound!r}"


def _show_below(found: float, bound: float) -> str:
    """Four decimals, or as many as it takes: 0.89999 is under 0.9, and must look like it."""
    texts = (f"{found:.{digits}f}" for digits in range(4, 17))
    return next((text for text in texts if float(text) < bound), repr(found))
