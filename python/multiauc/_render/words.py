"""The sentences of a report: the verdict, and pairs of classes in words. What is not known is None."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._registry import AUC_MU, METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable

# A dash and a real minus sign.
NOT_KNOWN, MINUS = "\u2013", "\u2212"
# Larger values would round to 1.000.
HARDLY_CONFUSED = 0.9995
UNDEFINED = "A class has no rows, so the overall numbers cannot be computed."


def metric_name(metric: str) -> str:
    """The name of a metric as people write it."""
    return METRICS[metric].title


def number(value: float | None, digits: int = 3) -> str:
    """A number for people: "0.912", a real minus sign, a dash for nan."""
    if value is None:
        return NOT_KNOWN
    return f"{value:.{digits}f}".replace("-", MINUS)


def interval(estimate: dict[str, Any], digits: int = 3) -> str:
    """The limits, as in "0.901 to 0.923", or a dash where there are none."""
    if estimate["low"] is None:
        return NOT_KNOWN
    return f"{number(estimate['low'], digits)} to {number(estimate['high'], digits)}"


def p_value(value: float | None) -> str:
    """As in "p = 0.03" and "p < 0.001"."""
    if value is None:
        return "p unknown"
    if value < 0.001:
        return "p\u00a0<\u00a00.001"
    return f"p\u00a0=\u00a0{value:.3f}" if value < 0.1 else f"p\u00a0=\u00a0{value:.2f}"


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


def joined(parts: list[str], last: str = "and") -> str:
    """As in "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def verdict(report: dict[str, Any]) -> tuple[str, list[str]]:
    """(headline, sentences): which model is best, by how much, and whether that is more than chance."""
    return _one_model(report) if report["comparison"] is None else _several_models(report)


def _one_model(report: dict[str, Any]) -> tuple[str, list[str]]:
    (model,) = report["models"]
    metric, estimate = next(iter(model["metrics"].items()))
    if estimate["value"] is None:
        return UNDEFINED, []
    limits = f"{percent(report['level'])} interval {interval(estimate)}"
    if metric != AUC_MU:
        chance = chances([metric], len(report["labels"]))
        return f"{model['name']} reaches {metric_name(metric)} {number(estimate['value'])} ({limits}).", [
            f"{meanings([metric])} Uninformative scores reach {chance}, a perfect model 1."
        ]
    headline = f"{model['name']} tells two classes apart in {100 * estimate['value']:.1f} of 100 cases."
    meaning = (
        f"That is AUC_mu {number(estimate['value'])} ({limits}): draw a row of one class and a row of another; this is "
        "how often the model's scores say which is which, on average over all pairs of classes. A coin reaches 0.5, a "
        "perfect model 1."
    )
    return headline, [meaning]


def _several_models(report: dict[str, Any]) -> tuple[str, list[str]]:
    comparison = report["comparison"]
    metric = comparison["metric"]
    name = metric_name(metric)
    best = comparison["order"][0]
    if comparison["values"][best] is None:
        return UNDEFINED, []
    if not comparison["differences"]:
        value = comparison["values"][best]
        return f"{best} has the largest {name}, {number(value)}.", [
            "Whether that is more than chance was not tested: this metric has no test in closed form."
        ]
    against = {other: _seen_from(best, other, comparison["differences"]) for other in comparison["order"][1:]}
    untested = [other for other, found in against.items() if found["p_value"] is None]
    beaten = [other for other, found in against.items() if found["decided"]]
    level_with = [other for other in against if other not in beaten and other not in untested]
    findings = []
    if level_with:
        findings.append(f"{joined([best, *level_with])} cannot be told apart")
    if beaten:
        findings.append(f"{best} is better than {joined(beaten)}")
    if untested:
        findings.append(f"{'whether' if findings else 'Whether'} {best} is better than {joined(untested)} is not known")
    sentences = [_difference_sentence(best, other, found, name, report["level"]) for other, found in against.items()]
    if level_with:
        sentences.append(
            "A difference that the data cannot tell from zero is no reason to choose: decide between these models by "
            "cost, speed or simplicity, or collect more rows."
        )
    return "; ".join(findings) + ".", sentences


def _seen_from(best: str, other: str, differences: list[dict[str, Any]]) -> dict[str, Any]:
    """The difference best minus other, whichever way round it is listed."""
    for found in differences:
        if (found["first"], found["second"]) == (best, other):
            return found
        if (found["first"], found["second"]) == (other, best):
            turned = {"value": found["value"], "low": found["high"], "high": found["low"], "t": found["t"]}
            turned = {name: None if value is None else -value for name, value in turned.items()}
            return found | {"first": best, "second": other} | turned
    raise KeyError((best, other))


def _difference_sentence(best: str, other: str, found: dict[str, Any], name: str, level: float) -> str:
    if found["p_value"] is None:
        ahead = f"{best} is ahead of {other} by {number(found['value'], 4)} in {name}"
        return (
            f"{ahead}; whether that is more than chance is not known, because the rows do not show how much it varies."
        )
    evidence = f"{percent(level)} interval {interval(found, 4)}, {p_value(found['p_value'])}"
    corrected = p_value(found["corrected_p_value"])
    if corrected != p_value(found["p_value"]):
        evidence += f", {corrected} corrected for all differences"
    if found["decided"]:
        return f"{best} is better than {other} by {number(found['value'], 4)} in {name} ({evidence})."
    return (
        f"{best} and {other} cannot be told apart: they differ by {number(found['value'], 4)} in {name} ({evidence})."
    )


def confusions(model: dict[str, Any]) -> str:
    """The worst pairs of a model in one sentence."""
    worst = [pair for pair in model["worst_pairs"][:3] if pair["value"] < HARDLY_CONFUSED]
    if worst:
        listed = "; ".join(f"{pair['first']} and {pair['second']} ({number(pair['value'])})" for pair in worst)
        return f"The classes that {model['name']} confuses most: {listed}."
    if not model["worst_pairs"] or model["worst_pairs"][0]["value"] == 1.0:
        return f"{model['name']} confuses no two classes on this data."
    pair = model["worst_pairs"][0]
    last = f"{pair['first']} and {pair['second']} ({number(pair['value'], 5)})"
    return f"{model['name']} hardly confuses any classes; the worst pair is {last}."


def pair_sentence(pair: dict[str, Any], title: str, level: float) -> str:
    """What the value of a pair, called `title`, means: how often its rows are mistaken for each other."""
    value = pair["value"]
    if value == 1.0:
        return "never mistaken for each other on this data"
    mistakes = 100 * (1 - value)
    often = f"{mistakes:.0f} of 100" if mistakes >= 9.5 else f"{mistakes:.1f} of 100"
    if value >= 0.999:
        often = "fewer than 1 in 1000"
    digits = 3 if value < HARDLY_CONFUSED else 5
    limits = "" if pair["low"] is None else f", {percent(level)} interval {interval(pair, digits)}"
    return f"mistaken for each other in {often} cases ({title} {number(value, digits)}{limits})"
