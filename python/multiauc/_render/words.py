"""The sentences of a report: the verdict, and pairs of classes in words. What is not known is None."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._common.registry import AUC_MU, METRICS
from multiauc._common.wording import decimals, p_text, shown_name

if TYPE_CHECKING:
    from collections.abc import Iterable

# A dash and a real minus sign.
NOT_KNOWN, MINUS = "\u2013", "\u2212"
UNDEFINED = "A class has no rows, so the overall numbers cannot be computed."
# Of more models than this, the verdict has a sentence for all and a table; a list of more names is cut short.
SENTENCES_UP_TO = 3
NAMES_AT_MOST = 4
AT_BOUND = (
    "Where a value is exactly 1 (or 0), no failure was seen, and the {units} do not show how much the value varies. "
    "The limit is what so few of them could still hide at worst."
)


# What a perfect model reaches, by whether more is better.
PERFECT = {True: "1", False: "0"}


def metric_name(metric: str) -> str:
    """The name of a metric as people write it."""
    return METRICS[metric].title


def number(value: float | None, digits: int = 3) -> str:
    """A number for people: "0.912", a real minus sign, a dash for nan; never "1.000" for what is below 1."""
    return NOT_KNOWN if value is None else decimals(value, digits).replace("-", MINUS)


def interval(estimate: dict[str, Any], digits: int = 3) -> str:
    """The limits, as in "0.901 to 0.923", or a dash where there are none."""
    if estimate["low"] is None:
        return NOT_KNOWN
    return f"{number(estimate['low'], digits)} to {number(estimate['high'], digits)}"


def corrected(found: dict[str, Any]) -> dict[str, Any]:
    """The limits of a difference among all differences of a page."""
    return {"low": found["corrected_low"], "high": found["corrected_high"]}


def p_value(value: float | None, threshold: float | None = None) -> str:
    """As in "p = 0.031" and "p < 0.001", on its own side of the threshold."""
    if value is None:
        return "p unknown"
    text = p_text(value, threshold, 3 if value < 0.1 else 2)
    return f"p\u00a0{text}".replace("< ", "<\u00a0") if text.startswith("<") else f"p\u00a0=\u00a0{text}"


def percent(level: float) -> str:
    """As in "95%"."""
    return f"{100 * level:.6g}%"


def meanings(metrics: Iterable[str]) -> str:
    """What each metric looks at, in one sentence."""
    sentence = "; ".join(f"{METRICS[metric].title} {METRICS[metric].meaning}" for metric in metrics) + "."
    return sentence[0].upper() + sentence[1:]


def chances(metrics: Iterable[str], n_classes: int) -> str:
    """What uninformative scores reach: "0.5", or a number for each metric where they differ."""
    reached = {metric: f"{METRICS[metric].chance_of(n_classes):.3g}" for metric in metrics}
    distinct = list(dict.fromkeys(reached.values()))
    if len(distinct) == 1:
        return distinct[0]
    named = {chance: [metric_name(m) for m, found in reached.items() if found == chance] for chance in distinct}
    return joined([f"{chance} for {joined(names)}" for chance, names in named.items()])


def perfect(metrics: Iterable[str]) -> str:
    """What a perfect model reaches, as in "1 is perfect"."""
    reached = {metric: PERFECT[_is_gain(metric)] for metric in metrics}
    if len(set(reached.values())) == 1:
        return f"{next(iter(reached.values()))} is perfect"
    losses = joined([metric_name(metric) for metric in reached if not _is_gain(metric)])
    return f"1 is perfect, 0 for {losses}"


def best_of(metric: str, values: Iterable[float | None]) -> float | None:
    """The best of the values of a metric that are known."""
    known = [value for value in values if value is not None]
    return None if not known else max(known) if _is_gain(metric) else min(known)


def _is_gain(metric: str) -> bool:
    return METRICS[metric].higher_is_better


def joined(parts: list[str], last: str = "and") -> str:
    """As in "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def named(names: list[str], last: str = "and") -> str:
    """The names of models; of many some, and how many others there are."""
    shown = [shown_name(name) for name in names]
    if len(shown) > NAMES_AT_MOST:
        shown[NAMES_AT_MOST - 1 :] = [f"{len(shown) - NAMES_AT_MOST + 1} others"]
    return joined(shown, last)


def bound_note(estimates: Iterable[dict[str, Any]], report: dict[str, Any]) -> str:
    """What the interval of a perfect (or perfectly wrong) value is; empty if there is none among the estimates."""
    if not any(one["value"] in (0.0, 1.0) and one["low"] is not None for one in estimates):
        return ""
    return AT_BOUND.format(units=report["units"])


def verdict(report: dict[str, Any]) -> tuple[str, list[str]]:
    """(headline, sentences): which model is best, by how much, and whether that is more than chance."""
    return _one_model(report) if report["comparison"] is None else _several_models(report)


def _one_model(report: dict[str, Any]) -> tuple[str, list[str]]:
    (model,) = report["models"]
    metric, estimate = next(iter(model["metrics"].items()))
    name = shown_name(model["name"])
    if estimate["value"] is None:
        return UNDEFINED, []
    limits = f"{percent(report['level'])} interval {interval(estimate)}"
    if metric != AUC_MU:
        chance = chances([metric], len(report["labels"]))
        return f"{name} reaches {metric_name(metric)} {number(estimate['value'])} ({limits}).", [
            f"{meanings([metric])} Uninformative scores reach {chance}, a perfect model {PERFECT[_is_gain(metric)]}."
        ]
    often = _of_hundred(estimate["value"])
    headline = f"{name} ranks two rows of different classes the right way round in {often} draws."
    meaning = (
        f"That is AUC_mu {number(estimate['value'])} ({limits}): draw a row of one class and a row of another; this is "
        "how often the model's scores say which is which, on average over all pairs of classes (a tie counts half). A "
        "coin reaches 0.5, a perfect model 1."
    )
    return headline, [meaning]


def _several_models(report: dict[str, Any]) -> tuple[str, list[str]]:
    comparison = report["comparison"]
    name = metric_name(comparison["metric"])
    best = comparison["order"][0]
    if comparison["values"][best] is None:
        return UNDEFINED, []
    if not comparison["differences"]:
        value = comparison["values"][best]
        return f"{shown_name(best)} has the largest {name}, {number(value)}.", [
            "Whether that is more than chance was not tested: this metric has no test in closed form."
        ]
    against = differences_from_best(comparison)
    sentences = (
        [_difference_sentence(found, comparison, report["level"]) for found in against]
        if len(against) <= SENTENCES_UP_TO
        else [_many_models(comparison, report["level"])]
    )
    if any(_is_level(found) for found in against):
        sentences.append(
            "A difference that the data cannot tell from zero is no reason to choose: decide between these models by "
            "cost, speed or simplicity, or collect more rows."
        )
    return _headline(best, against), sentences


def _headline(best: str, against: list[dict[str, Any]]) -> str:
    """Who wins. Each part is about the best model and one other, never about two others."""
    level = [found["second"] for found in against if _is_level(found)]
    beaten = [found["second"] for found in against if found["decided"]]
    untested = [found["second"] for found in against if found["corrected_p_value"] is None]
    findings, winner = [], shown_name(best)
    if len(level) == 1:
        findings.append(f"{named([best, *level])} cannot be told apart")
    elif level:
        findings.append(f"{winner} is ahead, but cannot be told from {named(level, 'or')}")
    if beaten and len(beaten) == len(against) > SENTENCES_UP_TO:
        findings.append(f"{winner} is better than each of the {len(beaten)} other models")
    elif beaten:
        findings.append(f"{winner} is better than {named(beaten)}")
    if untested:
        start = "whether" if findings else "Whether"
        findings.append(f"{start} {winner} is better than {named(untested, 'or')} is not known")
    return "; ".join(findings) + "."


def _many_models(comparison: dict[str, Any], level: float) -> str:
    """Where the models stand, in one sentence, and what the table beside it has."""
    values = {name: value for name, value in comparison["values"].items() if value is not None}
    best, second, last = (comparison["order"][k] for k in (0, 1, len(values) - 1))
    ends = " to ".join(f"{number(values[name])} ({shown_name(name)})" for name in (second, last))
    return (
        f"By {metric_name(comparison['metric'])}, {shown_name(best)} has {number(values[best])}; the others range from "
        f"{ends}. The table has how far each is behind {shown_name(best)}, with {percent(level)} intervals and "
        f"p-values that allow for all {len(comparison['differences'])} comparisons of two models."
    )


def differences_from_best(comparison: dict[str, Any]) -> list[dict[str, Any]]:
    """The best model minus each of the others, from the second best on."""
    best, *others = comparison["order"]
    return [_seen_from(best, other, comparison["differences"]) for other in others]


def _is_level(found: dict[str, Any]) -> bool:
    return found["corrected_p_value"] is not None and not found["decided"]


def _seen_from(best: str, other: str, differences: list[dict[str, Any]]) -> dict[str, Any]:
    """The difference best minus other, whichever way round it is listed."""
    for found in differences:
        if (found["first"], found["second"]) == (best, other):
            return found
        if (found["first"], found["second"]) == (other, best):
            return _turned(found) | {"first": best, "second": other}
    raise KeyError((best, other))


def _turned(found: dict[str, Any]) -> dict[str, Any]:
    """The difference with the opposite sign."""
    turned = {
        "value": found["value"],
        "low": found["high"],
        "high": found["low"],
        "t": found["t"],
        "corrected_low": found["corrected_high"],
        "corrected_high": found["corrected_low"],
    }
    return found | {name: None if value is None else -value for name, value in turned.items()}


def _difference_sentence(found: dict[str, Any], comparison: dict[str, Any], level: float) -> str:
    best, other = shown_name(found["first"]), shown_name(found["second"])
    if not _is_gain(comparison["metric"]):
        # By how much the better model is better: its loss is the smaller one.
        found = _turned(found)
    by = f"{number(found['value'], 4)} in {metric_name(comparison['metric'])}"
    if found["corrected_p_value"] is None:
        return (
            f"{best} is ahead of {other} by {by}; whether that is more than chance is not known, because the rows do "
            "not show how much it varies."
        )
    limits = "" if found["corrected_low"] is None else f"{percent(level)} interval {interval(corrected(found), 4)}, "
    evidence = limits + p_value(found["corrected_p_value"], 1.0 - level)
    count = len(comparison["differences"])
    if count > 1:
        evidence += f", corrected for {count} comparisons"
    if found["decided"]:
        return f"{best} is better than {other} by {by} ({evidence})."
    return f"{best} and {other} cannot be told apart: they differ by {by} ({evidence})."


def confusions(model: dict[str, Any]) -> str:
    """The worst pairs of a model in one sentence."""
    worst = [pair for pair in model["worst_pairs"][:3] if pair["value"] < 1.0]
    if not worst:
        return f"{shown_name(model['name'])} ranks no two rows of different classes the wrong way round on this data."
    listed = "; ".join(f"{pair_name(pair)} ({number(pair['value'])})" for pair in worst)
    return f"{shown_name(model['name'])} tells these classes apart worst: {listed}."


def pair_name(pair: dict[str, Any]) -> str:
    """As in "cat and dog"."""
    return f"{shown_name(pair['first'])} and {shown_name(pair['second'])}"


def pair_sentence(pair: dict[str, Any], title: str, level: float) -> str:
    """What the value of a pair, called `title`, means: how often a row of each is ranked the wrong way round."""
    value = pair["value"]
    limits = "" if pair["low"] is None else f", {percent(level)} interval {interval(pair)}"
    evidence = f"({title} {number(value)}{limits})"
    if value in (0.0, 1.0):
        how = "never" if value == 1.0 else "always"
        return f"a row of each is {how} ranked the wrong way round on this data {evidence}"
    wrong = 1.0 - value
    often = f"about 1 in {_rounded(1.0 / wrong):,}" if wrong < 0.001 else _of_hundred(wrong)
    return f"a row of each is ranked the wrong way round in {often} draws {evidence}"


def _of_hundred(share: float) -> str:
    """As in "12 of 100" and "0.7 of 100"; never "100 of 100" for less than all."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} of 100"
    digits = 0 if 0.095 <= share < 0.9 else 1
    while digits < 14 and float(f"{100 * share:.{digits}f}") in (0.0, 100.0):
        digits += 1
    return f"{100 * share:.{digits}f} of 100"


def _rounded(count: float) -> int:
    """To two significant digits."""
    return int(float(f"{count:.1e}"))
