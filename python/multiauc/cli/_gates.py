"""Gates for pipelines: a model must be good enough, or hardly worse than another."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import click

from multiauc._common.registry import CLOSED_FORM_METRICS
from multiauc._input.columns import parse_number
from multiauc._render.words import metric_name
from multiauc.cli._problems import NotPassed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from multiauc._inference.intervals import ConfidenceInterval

    # The interval of a number at a level.
    Limited: TypeAlias = Callable[[float], ConfidenceInterval]


class Floor(NamedTuple):
    """What a metric must reach."""

    metric: str
    bound: float


class PairedDifference(Protocol):
    """A closed-form or a bootstrapped difference of two models."""

    @property
    def value(self) -> float:
        """The first model minus the second."""

    @property
    def standard_error(self) -> float:
        """Of the difference."""

    def confidence_interval(self, level: float) -> ConfidenceInterval:
        """From both sides."""


def read_floors(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> tuple[Floor, ...]:
    """``auc_mu=0.9``, one by one or with commas between."""
    return tuple(_floor(part.strip()) for word in words for part in word.split(","))


def _floor(text: str) -> Floor:
    metric, equals, number = (part.strip() for part in text.partition("="))
    if not equals:
        raise click.BadParameter(f"{text!r} is not of the form auc_mu=0.9.")
    if metric not in CLOSED_FORM_METRICS:
        raise click.BadParameter(f"{metric!r} is not one of {', '.join(map(repr, CLOSED_FORM_METRICS))}.")
    return Floor(metric, _share(number))


def read_margin(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
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


def under(values: Mapping[str, float | None], floors: tuple[Floor, ...]) -> list[dict[str, Any]]:
    """What came of ``--fail-under``, for each floor; a value that is not known does not pass."""
    return [_held_against({"metric": floor.metric, "of": "value"}, values[floor.metric], floor) for floor in floors]


def under_limits(limited: Mapping[str, Limited], floors: tuple[Floor, ...], level: float) -> list[dict[str, Any]]:
    """The same with ``--fail-on-interval``: of what each metric is not below with confidence `level`."""
    limits = {floor.metric: one_sided_limit(limited[floor.metric], level) for floor in floors}
    common = {"of": "lower_limit", "level": level}
    return [
        _held_against({"metric": floor.metric, **common}, known_limit(limits[floor.metric]), floor) for floor in floors
    ]


def _held_against(gate: dict[str, Any], found: float | None, floor: Floor) -> dict[str, Any]:
    return gate | {"found": found, "bound": floor.bound, "passed": found is not None and found >= floor.bound}


def known_limit(limit: float) -> float | None:
    """None for nan."""
    return None if math.isnan(limit) else limit


def refuse_level(option: str, level: float, n_resamples: int) -> None:
    """Raise if there would be no one-sided limit at this level."""
    if not level > 0.5:
        raise click.UsageError(f"{option} needs a --ci above 0.5; got {level}")
    needed = resamples_needed(1.0 - level)
    if 0 < n_resamples < needed:
        raise click.UsageError(f"{option} at --ci {level} needs a --bootstrap of at least {needed}")


def resamples_needed(tail: float) -> int:
    """How many replicates it takes to know a quantile with this much on its one side: more than 1 / tail - 1."""
    return math.floor(round(1.0 / tail, 6))


def worse(
    candidate: str, differences: Mapping[str, PairedDifference], metric: str, margin: float, level: float
) -> list[dict[str, Any]]:
    """What came of ``--fail-if-worse``: of `differences`, the candidate minus each of the other models by name.

    The candidate passes if it is not worse than any of them by more than the margin, with confidence `level`. All of
    these tests have to pass, so that none of them needs a correction for their number.
    """
    limits = {other: lower_limit(difference, level) for other, difference in differences.items()}
    common = {"metric": metric, "of": "lower_limit", "first": candidate, "level": level, "bound": 0.0 - margin}
    return [
        common | {"second": other, "found": known_limit(limit), "passed": limit >= -margin}
        for other, limit in limits.items()
    ]


def lower_limit(difference: PairedDifference, level: float) -> float:
    """What the difference is not below, with confidence `level` from this side alone; nan if that is not known."""
    if difference.value == 0.0 and difference.standard_error == 0.0:
        return 0.0  # the models rank all rows alike
    return one_sided_limit(difference.confidence_interval, level)


def one_sided_limit(interval: Limited, level: float) -> float:
    """What a number is not below with confidence `level`: the limit of the two-sided interval at 2 `level` - 1."""
    with warnings.catch_warnings():
        # The gate says that there is no limit.
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(interval(round(2.0 * level - 1.0, 12)).low)


def close(gates: list[dict[str, Any]]) -> None:
    """Raise, once the result is shown, if a gate was not passed."""
    failures = [_sentence(gate) for gate in gates if not gate["passed"]]
    if failures:
        raise NotPassed("; ".join(failures))


def _sentence(gate: dict[str, Any]) -> str:
    name, found, bound = metric_name(gate["metric"]), gate["found"], gate["bound"]
    # All digits: 0.89999 is under 0.9, and must look like it.
    if "first" in gate:
        limit = "not known" if found is None else repr(found)
        return (
            f"{gate['first']} is not shown to be at most {-bound!r} worse than {gate['second']} in {name}: "
            f"the lower limit of the difference (one-sided, {100 * gate['level']:g}%) is {limit}"
        )
    what = name if gate["of"] == "value" else f"the lower limit of {name} (one-sided, {100 * gate['level']:g}%)"
    return f"{what} is not known, and must be {bound!r}" if found is None else f"{what} is {found!r}, under {bound!r}"
