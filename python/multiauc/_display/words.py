"""Results in words: numbers, names, the verdict of a report. What is not known is None."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from multiauc._common.registry import METRICS
from multiauc._common.wording import decimals, p_in_line, p_text, shown_name
from multiauc._costs.decisions import RULES_IN_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multiauc._display import model as views
    from multiauc._display.model import Number

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


def name_metric(metric: str) -> str:
    """The name of a metric as people write it."""
    return METRICS[metric].title


def format_number(value: Number, digits: int = 3) -> str:
    """A number for people: "0.912", a real minus sign, a dash for nan; never "1.000" for what is below 1."""
    return NOT_KNOWN if value is None else decimals(value, digits).replace("-", MINUS)


def format_limits(low: Number, high: Number, digits: int = 3) -> str:
    """As in "0.901 to 0.923", or a dash where there are none."""
    return NOT_KNOWN if low is None else f"{format_number(low, digits)} to {format_number(high, digits)}"


def format_interval(found: views.Estimate | views.PairEstimate, digits: int = 3) -> str:
    """The limits of an estimate."""
    return format_limits(found.low, found.high, digits)


def format_p_value(value: Number, threshold: float | None = None) -> str:
    """As in "p = 0.031" and "p < 0.001", on its own side of the threshold."""
    if value is None:
        return "p unknown"
    text = p_text(value, threshold, 3 if value < 0.1 else 2)
    return f"p\u00a0{text}".replace("< ", "<\u00a0") if text.startswith("<") else f"p\u00a0=\u00a0{text}"


def format_percent(level: float) -> str:
    """As in "95%"."""
    return f"{100 * level:.6g}%"


def explain_metrics(metrics: Iterable[str]) -> str:
    """What each metric looks at, in one sentence."""
    sentence = "; ".join(f"{METRICS[metric].title} {METRICS[metric].meaning}" for metric in metrics) + "."
    return sentence[0].upper() + sentence[1:]


def describe_chance(metrics: Iterable[str], n_classes: int) -> str:
    """What uninformative scores reach: "0.5", or a number for each metric where they differ."""
    reached = {metric: _chance_value(metric, n_classes) for metric in metrics}
    distinct = list(dict.fromkeys(reached.values()))
    if len(distinct) == 1:
        return distinct[0]
    named = {chance: [name_metric(m) for m, found in reached.items() if found == chance] for chance in distinct}
    return join_words([f"{chance} for {join_words(names)}" for chance, names in named.items()])


def _chance_value(metric: str, n_classes: int) -> str:
    value = METRICS[metric].chance_of(n_classes)
    return "the mean prevalence" if math.isnan(value) else f"{value:.3g}"


def describe_perfect(metrics: Iterable[str]) -> str:
    """What a perfect model reaches, as in "1 is perfect"."""
    reached = {metric: _perfect_value(metric) for metric in metrics}
    if len(set(reached.values())) == 1:
        return f"{next(iter(reached.values()))} is perfect"
    losses = join_words([name_metric(metric) for metric, value in reached.items() if value == "0"])
    return f"1 is perfect, 0 for {losses}"


def find_best(metric: str, values: Iterable[Number]) -> Number:
    """The best of the values of a metric that are known."""
    known = [value for value in values if value is not None]
    return max(known, key=lambda value: METRICS[metric].sign * value, default=None)


def _perfect_value(metric: str) -> str:
    return "1" if METRICS[metric].higher_is_better else "0"


def join_words(parts: Sequence[str], last: str = "and") -> str:
    """As in "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def join_names(names: Sequence[str], last: str = "and") -> str:
    """The names of models; of many some, and how many others there are."""
    shown = [shown_name(name) for name in names]
    if len(shown) > NAMES_AT_MOST:
        shown[NAMES_AT_MOST - 1 :] = [f"{len(shown) - NAMES_AT_MOST + 1} others"]
    return join_words(shown, last)


def explain_bound(estimates: Iterable[views.Estimate | views.PairEstimate], units: str) -> str:
    """What the interval of a perfect (or perfectly wrong) value is; empty if there is none among the estimates."""
    if not any(one.value in (0.0, 1.0) and one.low is not None for one in estimates):
        return ""
    return AT_BOUND.format(units=units)


def judge(report: views.Report) -> tuple[str, list[str]]:
    """(headline, sentences): which model is best, by how much, and whether that is more than chance."""
    if report.comparison is not None:
        return judge_models(report.comparison, report.level)
    (model,) = report.models
    return _judge_one(model, report.level, len(report.labels))


def _judge_one(model: views.Model, level: float, n_classes: int) -> tuple[str, list[str]]:
    metric, estimate = next(iter(model.metrics.items()))
    name = shown_name(model.name)
    if estimate.value is None:
        return UNDEFINED, []
    limits = f"{format_percent(level)} interval {format_interval(estimate)}"
    if metric != "auc_mu":
        chance, best = describe_chance([metric], n_classes), _perfect_value(metric)
        return f"{name} reaches {name_metric(metric)} {format_number(estimate.value)} ({limits}).", [
            f"{explain_metrics([metric])} The chance level is {chance}, a perfect model has {best}."
        ]
    often = _of_hundred(estimate.value)
    headline = f"{name} orders {often} pairs of rows from different classes correctly."
    meaning = (
        f"That is AUC_mu {format_number(estimate.value)} ({limits}): draw a row of each of two classes; this is how "
        "often the scores order them correctly, on average over all pairs of classes (a tie counts half). The chance "
        "level is 0.5, a perfect model has 1."
    )
    return headline, [meaning]


def judge_models(comparison: views.Comparison, level: float) -> tuple[str, list[str]]:
    """(headline, sentences) about several models."""
    name, best = name_metric(comparison.metric), comparison.order[0]
    value = comparison.estimates[best].value
    if value is None:
        return UNDEFINED, []
    if not comparison.differences:
        return f"{shown_name(best)} has the largest {name}, {format_number(value)}.", [
            "Significance was not tested: this metric has no analytic test."
        ]
    against = compare_with_best(comparison)
    sentences = _describe_draws(comparison)
    sentences += (
        [_describe_difference(found, comparison, level) for found in against]
        if len(against) <= SENTENCES_UP_TO
        else [_describe_many(comparison, level)]
    )
    if any(_is_level(found) for found in against):
        sentences.append(
            "A difference that the data do not separate from zero is not a reason to choose: choose by cost, speed or "
            "simplicity, or collect more rows."
        )
    return _write_headline(best, against), sentences


def _describe_draws(comparison: views.Comparison) -> list[str]:
    """What the values of a few models mean, in words that can be repeated; none unless the metric is AUC_mu."""
    values = [(shown_name(name), comparison.estimates[name].value) for name in comparison.order]
    if comparison.metric != "auc_mu" or len(values) > SENTENCES_UP_TO + 1:
        return []
    (best, often), *others = [(name, _of_hundred(value)) for name, value in values if value is not None]
    rest = [f"{name} {value.removesuffix(' of 100')}" for name, value in others]
    return [f"Draw a row of each of two classes: {join_words([f'{best} orders {often} such pairs correctly', *rest])}."]


def _write_headline(best: str, against: list[views.Difference]) -> str:
    """Who wins. Each part is about the best model and one other, never about two others."""
    level = [found.second for found in against if _is_level(found)]
    beaten = [found.second for found in against if found.decided]
    untested = [found.second for found in against if found.corrected_p_value is None]
    findings, winner = [], shown_name(best)
    if len(level) == 1:
        findings.append(f"{join_names([best, *level])} are not significantly different")
    elif level:
        findings.append(f"{winner} is ahead, but not significantly better than {join_names(level, 'or')}")
    if beaten and len(beaten) == len(against) > SENTENCES_UP_TO:
        findings.append(f"{winner} is better than each of the {len(beaten)} other models")
    elif beaten:
        findings.append(f"{winner} is better than {join_names(beaten)}")
    if untested:
        start = "whether" if findings else "Whether"
        findings.append(f"{start} {winner} is better than {join_names(untested, 'or')} is not known")
    return "; ".join(findings) + "."


def _describe_many(comparison: views.Comparison, level: float) -> str:
    """Where the models stand, in one sentence, and what the table beside it has."""
    values = {name: one.value for name, one in comparison.estimates.items() if one.value is not None}
    best, second, last = (comparison.order[k] for k in (0, 1, len(values) - 1))
    ends = " to ".join(f"{format_number(values[name])} ({shown_name(name)})" for name in (second, last))
    return (
        f"By {name_metric(comparison.metric)}, {shown_name(best)} has {format_number(values[best])}; the others range "
        f"from {ends}. The table shows how far each is behind {shown_name(best)}, with {format_percent(level)} "
        f"intervals and p-values corrected for all {len(comparison.differences)} comparisons of two models."
    )


def compare_with_best(comparison: views.Comparison) -> list[views.Difference]:
    """The best model minus each of the others, from the second best on."""
    best, *others = comparison.order
    found = {(one.first, one.second): one for one in comparison.differences}
    # A difference may be listed the other way round.
    return [found[best, other] if (best, other) in found else _turn(found[other, best]) for other in others]


def _is_level(found: views.Difference) -> bool:
    return found.corrected_p_value is not None and not found.decided


def _turn(found: views.Difference) -> views.Difference:
    """The second model minus the first."""
    one = found.estimate
    return replace(
        found,
        first=found.second,
        second=found.first,
        estimate=replace(one, value=_negate(one.value), low=_negate(one.high), high=_negate(one.low)),
        t=_negate(found.t),
        corrected_low=_negate(found.corrected_high),
        corrected_high=_negate(found.corrected_low),
    )


def _negate(value: Number) -> Number:
    return None if value is None else -value


def _describe_difference(found: views.Difference, comparison: views.Comparison, level: float) -> str:
    best, other = shown_name(found.first), shown_name(found.second)
    if not METRICS[comparison.metric].higher_is_better:
        # By how much the better model is better: its loss is the smaller one.
        found = _turn(found)
    by = f"{format_number(found.estimate.value, 4)} in {name_metric(comparison.metric)}"
    if found.corrected_p_value is None:
        return (
            f"{best} is ahead of {other} by {by}; whether that is significant is unknown, because the rows do not show "
            "how much the difference varies."
        )
    evidence = ""
    if found.corrected_low is not None:
        limits = format_limits(found.corrected_low, found.corrected_high, 4)
        evidence = f"{format_percent(level)} interval {limits}, "
    evidence += format_p_value(found.corrected_p_value, 1.0 - level)
    count = len(comparison.differences)
    if count > 1:
        evidence += f", corrected for {count} comparisons"
    if found.decided:
        return f"{best} is better than {other} by {by} ({evidence})."
    return f"{best} and {other} are not significantly different: they differ by {by} ({evidence})."


def describe_confusions(model: views.Model) -> str:
    """The worst pairs of a model in one sentence."""
    worst = [pair for pair in model.worst_pairs[:3] if pair.estimate.value is not None and pair.estimate.value < 1.0]
    if not worst:
        return f"{shown_name(model.name)} orders no two rows of different classes wrongly on this data."
    listed = "; ".join(
        f"{shown_name(pair.first)} and {shown_name(pair.second)} ({format_number(pair.estimate.value)})"
        for pair in worst
    )
    return f"{shown_name(model.name)} separates these classes worst: {listed}."


def describe_pair(pair: views.Pair, title: str, level: float) -> str:
    """What the value of a pair, called `title`, means: how often a row of each is ordered wrongly."""
    estimate = pair.estimate
    limits = "" if estimate.low is None else f", {format_percent(level)} interval {format_interval(estimate)}"
    evidence = f"({title} {format_number(estimate.value)}{limits})"
    if estimate.value is None:
        return f"how rows of each are ordered is not known {evidence}"
    if estimate.value in (0.0, 1.0):
        how = "never" if estimate.value == 1.0 else "always"
        return f"a row of each is {how} ordered wrongly on this data {evidence}"
    wrong = 1.0 - estimate.value
    often = f"about 1 in {_round(1.0 / wrong):,}" if wrong < 0.001 else _of_hundred(wrong)
    return f"a row of each is ordered wrongly in {often} draws {evidence}"


def describe_rule(rule: str) -> str:
    """What a rule predicts."""
    return f"the class of {RULES_IN_WORDS[rule]}"


def describe_decisions(name: str, decisions: views.Decisions) -> str:
    """Which rule a model's probabilities are best used with, and why."""
    p = decisions.calibration_p_value
    why = "" if p is None else f" (test of their calibration: p {p_in_line(p)})"
    return f"{shown_name(name)}: predict {describe_rule(decisions.rule)}{why}."


def describe_pair_value(metric: str) -> str:
    """What the value of a listed pair is."""
    pairs = METRICS[metric].pairs
    return f"{pairs.title} of the pair" if pairs and pairs.is_symmetric else "by the score of the first class"


def _of_hundred(share: float) -> str:
    """As in "12 of 100" and "0.7 of 100"; never "100 of 100" for less than all."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} of 100"
    digits = 0 if 0.095 <= share < 0.9 else 1
    while digits < 14 and float(f"{100 * share:.{digits}f}") in (0.0, 100.0):
        digits += 1
    return f"{100 * share:.{digits}f} of 100"


def _round(count: float) -> int:
    """To two significant digits."""
    return int(float(f"{count:.1e}"))
