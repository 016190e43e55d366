"""The page of a report: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html import escape
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

from multiauc._common.wording import p_text, pluralize, shown_name
from multiauc._display import words
from multiauc._report import svg

if TYPE_CHECKING:
    from multiauc._display import model as views
    from multiauc._display.model import Number

# So many models have their surfaces drawn.
SURFACES = 4
# More panels than this are drawn smaller.
SMALL_PANELS_FROM = 6
TWO = 2
# Longer tables scroll inside their own frame on a screen; on paper they are whole.
TALL_FROM = 12
INTERVALS_ON_PAPER_UP_TO = 4
WORD_LONG_FROM, LIMITS_LONG_FROM = 16, 22
DIFFERENCE_HEADER = ["difference", "interval", "t", "df", "p", "differ?"]


def render_page(report: views.Report, origin: dict[str, Any]) -> str:
    """The HTML of a report; `origin` is its provenance."""
    headline, sentences = words.judge(report)
    if report.heat_map is not None and not _says_nothing_new(report):
        sentences = [*sentences, words.describe_confusions(report.best_model())]
    sentences += [f"Note: {note}." for note in report.notes]
    script = _read("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    facts = f"{report.rows:,} rows · {len(report.labels)} classes"
    facts += f" · {len(report.models)} models" if len(report.models) > 1 else ""
    numbers = json.dumps(report.document(origin), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # Inside a script element only "<" could end it; JSON may write it as an escape.
    numbers = numbers.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    sections = [
        *(_render_summary(report), _render_comparison(report), _render_pairs(report)),
        *(_render_confusions(report), _render_classes(report), _render_reliability(report)),
        *(_render_slices(report), _render_roc(report), _render_surfaces(report)),
        *(_render_decisions(report), _render_method(report)),
    ]
    page = _fill(
        "page",
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        style=_read("page.css"),
        script=script,
        numbers=numbers,
        title=escape(report.title),
        version=escape(report.versions["multiauc"]),
        created=escape(report.created),
        facts=facts,
        headline=escape(headline),
        sentences="".join(f"<p>{escape(sentence)}</p>" for sentence in sentences) + _render_standings(report),
        sections="\n".join(sections),
    )
    return page + "\n"


def _read(name: str) -> str:
    return resources.files("multiauc._report").joinpath(name).read_text("utf-8")


@cache
def _read_parts() -> dict[str, str]:
    """The parts of page.html by name: the page, and what it is made of."""
    found = re.split(r"<!-- part: (.*) -->\n", _read("page.html"))[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def _fill(part: str, **content: str) -> str:
    return Template(_read_parts()[part].rstrip("\n")).substitute(content)


def _render_standings(report: views.Report) -> str:
    """The table of a verdict on many models."""
    found = report.comparison
    if found is None or len(found.order) - 1 <= words.SENTENCES_UP_TO or not found.differences:
        return ""
    return "" if found.estimates[found.order[0]].value is None else _tabulate_against_best(found, report.level)


def _render_note(text: str) -> str:
    """A remark below a table; nothing for no text."""
    return f'<p class="facts note">{escape(text)}</p>' if text else ""


def _distinct_metrics(report: views.Report) -> list[str]:
    """The metrics of a summary; with two classes most of them are one number, which is shown once."""
    first, *others = report.models[0].metrics
    if len(report.labels) > TWO:
        return [first, *others]
    shown = {name: [_shown(model.metrics[name]) for model in report.models] for name in (first, *others)}
    return [first, *(name for name in others if shown[name] != shown[first])]


def _says_nothing_new(report: views.Report) -> bool:
    """Whether the pair and the classes have the value of the summary, as two classes have with probabilities."""
    first = next(iter(report.models[0].metrics))
    return len(report.labels) == TWO and all(
        _shown(one.estimate) == _shown(model.metrics[first]) for model in report.models for one in model.per_class
    )


def _shown(estimate: views.Estimate) -> tuple[str, str]:
    return words.format_number(estimate.value, 4), words.format_interval(estimate, 4)


def _render_summary(report: views.Report) -> str:
    chart = ""
    metrics = _distinct_metrics(report)
    shown = [model.metrics[metric] for model in report.models for metric in metrics]
    if report.comparison is not None:
        metric = report.comparison.metric if report.comparison.metric in metrics else metrics[0]
        chart = svg.draw_estimates(report.models, metric, words.name_metric(metric))
    notes = words.explain_metrics(metrics), words.explain_bound(shown, report.units)
    return _fill("summary", table=_tabulate_summary(report), chart=chart, notes="".join(map(_render_note, notes)))


def _render_comparison(report: views.Report) -> str:
    found = report.comparison
    if found is None or not found.differences:
        return ""
    count = len(found.differences)
    joint = f" Intervals and p-values allow for all {count} comparisons ({found.correction})." if count > 1 else ""
    table = _tabulate_comparison(found, report.level)
    return _fill("comparison", table=table, joint=joint, threshold=f"{1 - report.level:.3g}")


def _render_pairs(report: views.Report) -> str:
    heat_map = report.heat_map
    if heat_map is None or _says_nothing_new(report):
        return ""
    # The values that the lists and the table of pairs are about.
    title = heat_map.kinds[0].values.title
    shown, total = len(heat_map.classes), len(report.labels)
    some = "" if shown == total else f" Shown are the {shown} of {total} classes with the worst pairs."
    listed = [one for pair in report.worst_pairs for one in pair.models]
    return _fill(
        "pairs",
        controls=_render_heat_controls(heat_map, report),
        lists="".join(_list_pairs(number, title, report) for number in range(len(report.models))),
        some=some,
        floor=f"{heat_map.floor:.2f}",
        bars="".join(f'<rect class="h{k}" x="{k}" y="0" width="1" height="1"/>' for k in range(9)),
        table=_tabulate_pairs(report, title),
        note=_render_note(words.explain_bound(listed, report.units)),
    )


def _list_pairs(number: int, title: str, report: views.Report) -> str:
    model = report.models[number]
    items = "".join(
        f"<li><strong>{escape(shown_name(pair.names.first))}</strong> and "
        f"<strong>{escape(shown_name(pair.names.second))}</strong>: "
        f"{escape(words.describe_pair(pair, title, report.level))}; "
        f"{pair.names.first_rows:,} and {pair.names.second_rows:,} rows</li>"
        for pair in model.worst_pairs
    )
    return _fill("pair list", number=str(number), name=escape(shown_name(model.name)), items=items)


def _tabulate_pairs(report: views.Report, title: str) -> str:
    rows = []
    for pair in report.worst_pairs:
        first, second = pair.names.first_rows, pair.names.second_rows
        size = _number_cell(first + second, f"{first:,} + {second:,}")
        cells = [size, *(_estimate_cell(found) for found in pair.models)]
        rows.append(_render_row(f"{shown_name(pair.names.first)} – {shown_name(pair.names.second)}", cells))
    names = [model.name for model in report.models]
    which = f"the {pluralize(len(rows), 'pair')} that {shown_name(report.best)} separates worst"
    caption = f"{title} of {which}, {words.format_percent(report.level)} intervals"
    return _render_table(caption, ["pair", "rows", *names], rows, sortable=True, models=len(names))


def _render_heat_controls(heat_map: views.HeatMap, report: views.Report) -> str:
    groups = []
    if len(report.models) > 1:
        names = [model.name for model in report.models]
        choices = [(str(k), shown_name(name)) for k, name in enumerate(names)]
        groups.append(_render_radios("model", "Model", choices, str(names.index(report.best))))
    kinds = [(kind.metric, kind.values.choice) for kind in heat_map.kinds]
    if len(kinds) > 1:
        groups.append(_render_radios("kind", "Judge by", kinds, kinds[0][0]))
    orders = [("labels", "as given"), ("worst", "worst first"), ("rows", "largest first")]
    groups.append(_render_radios("order", "Order of classes", orders, "worst" if len(report.labels) > 12 else "labels"))
    return "".join(groups)


def _render_radios(name: str, legend: str, options: list[tuple[str, str]], chosen: str) -> str:
    inputs = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if value == chosen else ""}> '
        f"{escape(text)}</label>"
        for value, text in options
    )
    return f"<fieldset><legend>{legend}</legend>{inputs}</fieldset>"


def _render_classes(report: views.Report) -> str:
    best = report.best_model()
    if not best.per_class or _says_nothing_new(report):
        return ""
    shown = (one.estimate for model in report.models for one in model.per_class)
    note = _render_note(words.explain_bound(shown, report.units))
    return _fill("classes", table=_tabulate_classes(report, best), note=note)


def _render_confusions(report: views.Report) -> str:
    found = [(model.name, model.confusion) for model in report.models if model.confusion is not None]
    tables = [(name, _tabulate_confusion(one, report) + _tabulate_rates(one, report)) for name, one in found]
    return _fill("confusions", tables=_render_models(tables, report)) if found else ""


def _render_reliability(report: views.Report) -> str:
    """A panel per class; with two classes that of the second, as the other one is its mirror image."""
    panels = []
    for model in report.models:
        if model.reliability:
            drawn = list(map(svg.draw_reliability, model.reliability[-1 if len(report.labels) == TWO else 0 :]))
            many = " many" if len(drawn) > SMALL_PANELS_FROM else ""
            panels.append((model.name, f'<div class="panels small{many}">{"".join(drawn)}</div>'))
    if not panels:
        return ""
    shown, total = max(len(model.reliability) for model in report.models), len(report.labels)
    some = "" if total in (TWO, shown) else f" Shown are {shown} of {total} classes, those of the matrix above."
    grouped = "" if report.units == "rows" else " Rows count as independent here, although they come in groups."
    level = words.format_percent(report.level)
    return _fill("reliability", panels=_render_models(panels, report), level=level, more=some + grouped)


def _render_models(parts: list[tuple[str, str]], report: views.Report) -> str:
    """Parts of the page by model: the best one is open, the others open on demand and are not printed."""
    if len(report.models) == 1:
        return parts[0][1]
    opened = report.best if report.best in dict(parts) else parts[0][0]
    return "".join(
        f'<details{" open" if name == opened else ""}><summary class="model">{escape(shown_name(name))}</summary>'
        f"{part}</details>"
        for name, part in sorted(parts, key=lambda part: part[0] != opened)
    )


def _render_slices(report: views.Report) -> str:
    found = [(model.name, model.slices) for model in report.models if model.slices is not None]
    parts = []
    for name, slices in found:
        heading = f"<h3>{escape(shown_name(name))}</h3>" if len(found) > 1 else ""
        parts.append(f"{heading}<p>{escape(slices.summary)}</p>{_tabulate_slices(slices, report.level)}")
    return _fill("slices", tables="".join(parts)) if parts else ""


def _render_roc(report: views.Report) -> str:
    models = report.models
    curves = [model.roc for model in models if model.roc is not None]
    if not curves:
        return ""
    keys = "".join(
        f'<label class="key {svg.choose_colour(k)}"><input type="checkbox" class="show-curve" value="{k}" checked> '
        f'<svg viewBox="0 0 36 10" aria-hidden="true"><path class="line" d="M0,5H36"/></svg>'
        f'<span class="name">{escape(shown_name(model.name))} (area D = {words.format_number(model.roc.auc)})</span>'
        "</label>"
        for k, model in enumerate(models)
        if model.roc is not None
    )
    panels = svg.draw_curves(models)
    legend = f'<fieldset class="keys"><legend class="visually-hidden">Curves shown</legend>{keys}</fieldset>'
    beside = f'<div class="panels one">{panels[0]}{legend}</div>'
    above = f'{legend}<div class="panels">{"".join(panels)}</div>'
    return _fill("roc", band=_explain_band(curves[0], report), panels=beside if len(panels) == 1 else above)


def _explain_band(curve: views.Curve, report: views.Report) -> str:
    """What is shaded, from how many resamples, and how sure that is."""
    if curve.band is None:
        return ""
    size, error = curve.n_resamples, curve.monte_carlo_error
    known = "" if error is None else f" (which give the standard error of D to about {100 * error:.0f}%)"
    resamples = f"{size} resamples of {report.units}"
    return f"Shaded: {words.format_percent(report.level)} limits, point by point, from {resamples}{known}."


def _render_surfaces(report: views.Report) -> str:
    shown = [(model.name, model.surface) for model in report.models if model.surface is not None][:SURFACES]
    return _fill("surfaces", panels="".join(svg.draw_surface(*one) for one in shown)) if shown else ""


def _render_decisions(report: views.Report) -> str:
    models = [model for model in report.models if model.decisions is not None]
    if not models:
        return ""
    rules = "".join(f"<li>{escape(words.describe_decisions(model))}</li>" for model in models)
    return _fill("decisions", rules=rules, table=_tabulate_decisions(models, report.level))


def _render_method(report: views.Report) -> str:
    entries = (*report.method.items(), *report.versions.items())
    return _fill("method", lines="".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in entries))


def _number_cell(value: Number, shown: str, *, extra: str = "") -> str:
    """A cell that sorts by its number."""
    return f'<td class="number" data-value="{_key(value)}">{shown}{extra}</td>'


def _estimate_cell(estimate: views.Estimate | views.PairEstimate, *, best: bool = False) -> str:
    """A value above its interval."""
    shown = words.format_number(estimate.value, 4)
    if best:
        shown = f'<strong>{shown}</strong><span class="visually-hidden"> (highest)</span>'
    limits = words.format_interval(estimate, 4)
    extra = f'<span class="interval{_long(limits, LIMITS_LONG_FROM)}">{limits}</span>'
    return _number_cell(estimate.value, shown, extra=extra)


def _long(text: str, most: int) -> str:
    """The class of a text that may be broken where it would otherwise not fit."""
    return " long" if len(text) > most else ""


def _render_table(
    caption: str, header: list[str], rows: list[str], *, sortable: bool = False, models: int = 0, kind: str = "plain"
) -> str:
    """A table; the first cell of each row names it. Header cells and caption are text, rows are ready HTML.

    `models` is the number of columns with estimates of models: with many of them, the intervals do not fit on paper.
    """
    heads = "".join(_head(shown_name(name), sortable=sortable) for name in header)
    kind = "sortable" if sortable else kind
    tall = " tall" if len(rows) > TALL_FROM else ""
    wide = models > INTERVALS_ON_PAPER_UP_TO
    kind += " wide" if wide else ""
    paper = '<p class="facts paper-only">The intervals of so many models do not fit on paper.</p>' if wide else ""
    return (
        f'<div class="scroll{tall}" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="{kind}"><caption><span>{escape(caption)}</span></caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{paper}"
    )


def _head(name: str, *, sortable: bool) -> str:
    # Only a long word is broken inside.
    long = ' class="long"' if max(map(len, name.split()), default=0) > WORD_LONG_FROM else ""
    text = f'<button type="button" class="sort">{escape(name)}</button>' if sortable else escape(name)
    return f'<th scope="col"{long}>{text}</th>'


def _render_row(name: str, cells: list[str]) -> str:
    """A row whose header is `name`, escaped."""
    return f'<tr><th scope="row">{escape(shown_name(name))}</th>{"".join(cells)}</tr>'


def _tabulate_summary(report: views.Report) -> str:
    """Models by metrics."""
    models = report.models
    metrics = _distinct_metrics(report)
    best = {metric: words.find_best(metric, [m.metrics[metric].value for m in models]) for metric in metrics}
    rows = [
        _render_row(
            model.name,
            [
                _estimate_cell(
                    model.metrics[metric], best=len(models) > 1 and model.metrics[metric].value == best[metric]
                )
                for metric in metrics
            ],
        )
        for model in models
    ]
    chance, perfect = words.describe_chance(metrics, len(report.labels)), words.describe_perfect(metrics)
    caption = (
        f"All classes together, with {words.format_percent(report.level)} intervals (chance is {chance}, {perfect})"
    )
    return _render_table(caption, ["model", *map(words.name_metric, metrics)], rows)


def _tabulate_comparison(found: views.Comparison, level: float) -> str:
    """Every pair of models: difference, interval, test."""
    rows = [
        _render_row(f"{shown_name(one.first)} {words.MINUS} {shown_name(one.second)}", _difference_cells(one, level))
        for one in found.differences
    ]
    caption = f"Differences in {words.name_metric(found.metric)} on the same rows, {_describe_intervals(found, level)}"
    return _render_table(caption, ["models", *DIFFERENCE_HEADER], rows, sortable=True)


def _tabulate_against_best(found: views.Comparison, level: float) -> str:
    """How far each model is behind the best."""
    best = found.order[0]
    rows = [
        _render_row(one.second, [_value_cell(found.estimates[one.second].value), *_difference_cells(one, level)])
        for one in words.compare_with_best(found)
    ]
    name = words.name_metric(found.metric)
    value = words.format_number(found.estimates[best].value, 4)
    caption = f"How far {shown_name(best)} ({name} {value}) is ahead, {_describe_intervals(found, level)}"
    return _render_table(caption, ["model", name, *DIFFERENCE_HEADER], rows)


def _value_cell(value: Number) -> str:
    return _number_cell(value, words.format_number(value, 4))


def _describe_intervals(found: views.Comparison, level: float) -> str:
    """What the intervals of differences are."""
    count = len(found.differences)
    joint = f" that hold for all {count} comparisons together" if count > 1 else ""
    return f"{words.format_percent(level)} intervals{joint}"


def _difference_cells(found: views.Difference, level: float) -> list[str]:
    p, freedom = found.corrected_p_value, found.degrees_of_freedom
    limits = words.format_corrected(found, 4)
    t = words.NOT_KNOWN if found.t is None else f"{found.t:.2f}".replace("-", words.MINUS)
    return [
        _value_cell(found.estimate.value),
        _limits_cell(limits, found.corrected_low),
        _number_cell(found.t, t),
        _number_cell(freedom, words.NOT_KNOWN if freedom is None else f"{freedom:.1f}"),
        _number_cell(p, words.NOT_KNOWN if p is None else escape(p_text(p, 1.0 - level))),
        f"<td>{escape(words.NOT_KNOWN if p is None else 'yes' if found.decided else 'no')}</td>",
    ]


def _limits_cell(limits: str, low: Number) -> str:
    return f'<td class="nowrap{_long(limits, LIMITS_LONG_FROM)}" data-value="{_key(low)}">{limits}</td>'


def _key(value: Number) -> str:
    """What a cell sorts by."""
    return "" if value is None else repr(value)


def _tabulate_classes(report: views.Report, best: views.Model) -> str:
    """Each class against the rest, and the class that it is hardest to separate from."""
    models = report.models
    rows = []
    for k, label in enumerate(report.labels):
        estimates = [_estimate_cell(model.per_class[k].estimate) for model in models]
        count = _number_cell(report.counts[k], f"{report.counts[k]:,}")
        rows.append(_render_row(label, [count, *estimates, _hardest_cell(best.per_class[k])]))
    several = len(models) > 1
    names = [model.name for model in models] if several else ["against the rest"]
    header = ["class", "rows", *names, "hardest to separate from" + (f" ({shown_name(best.name)})" if several else "")]
    caption = f"Each class against all others: one-vs-rest AUC with {words.format_percent(report.level)} intervals"
    return _render_table(caption, header, rows, sortable=True, models=len(models))


def _tabulate_confusion(found: views.Confusion, report: views.Report) -> str:
    """True classes by predicted classes: the share of the true class, the count below it, its limits on pointing."""
    names = [shown_name(report.labels[c]) for c in found.classes]
    many = len(names) > TALL_FROM
    rows = []
    for i, name in enumerate(names):
        cells = []
        for j, (share, count) in enumerate(zip(found.shares[i], found.counts[i], strict=True)):
            if not share or not count:
                cells.append("<td></td>")
                continue
            right = ' class="right"' if i == j else ""
            limits = words.format_limits(found.low[i][j], found.high[i][j])
            cells.append(
                f'<td{right} style="--share:{100 * share:.0f}" title="{limits}">'
                f"{_format_share(share, many=many)}<span>{_format_count(count)}</span></td>"
            )
        rows.append(_render_row(name, cells))
    total = len(report.labels)
    some = f"; the {len(names)} of {total} classes with the most errors" if len(names) < total else ""
    caption = f"Rows: true class; columns: predicted class. Percent of the true class, with counts below{some}"
    return _render_table(caption, ["true class", *names], rows, kind="matrix many" if many else "matrix")


def _format_share(share: float, *, many: bool) -> str:
    """Percent; never 0 or 100 for what is not."""
    digits = 0 if many else 1
    step = 10.0**-digits
    percent = min(max(100.0 * share, step), 100.0 if share == 1.0 else 100.0 - step)
    return f"{percent:.{digits}f}" + ("" if many else "%")


def _format_count(count: float | None) -> str:
    """Whole rows, or a sum of weights."""
    return words.NOT_KNOWN if count is None else f"{count:,.{0 if count == int(count) else 1}f}"


def _tabulate_rates(found: views.Confusion, report: views.Report) -> str:
    """Precision, recall and F1 of every class."""
    rows = [
        _render_row(
            one.label,
            [
                _number_cell(report.counts[k], f"{report.counts[k]:,}"),
                _number_cell(one.predicted, _format_count(one.predicted)),
                *map(_estimate_cell, (one.precision, one.recall, one.f1)),
            ],
        )
        for k, one in enumerate(found.per_class)
    ]
    caption = f"Precision, recall and F1, with {words.format_percent(report.level)} intervals"
    return _render_table(caption, ["class", "rows", "predicted", "precision", "recall", "F1"], rows, sortable=True)


def _tabulate_slices(found: views.Slices, level: float) -> str:
    """Slices of the rows, each against the others."""
    rows = []
    for one in found.slices:
        p = one.corrected_p_value
        limits = words.format_limits(one.simultaneous_low, one.simultaneous_high, 4)
        decided = "" if p is None or p >= 1.0 - level else "worse" if (one.difference or 0.0) < 0 else "better"
        cells = [
            _number_cell(one.rows, f"{one.rows:,}"),
            _estimate_cell(one.estimate),
            _value_cell(one.difference),
            _limits_cell(limits, one.simultaneous_low),
            _number_cell(p, words.NOT_KNOWN if p is None else escape(_format_corrected_p(p, 1.0 - level))),
            f"<td>{escape(one.reason or decided or 'no')}</td>",
        ]
        rows.append(_render_row(one.name, cells))
    left_out = found.count - len(rows)
    some = f"; the first {len(rows)} of {found.count:,} slices" if left_out else ""
    by = " and ".join(map(shown_name, found.by))
    caption = f"{words.name_metric(found.metric)} by {by}, with {words.format_percent(level)} intervals{some}"
    header = ["slice", "rows", words.name_metric(found.metric), "difference", "interval", "p", "differs?"]
    return _render_table(caption, header, rows, sortable=True)


def _format_corrected_p(p: float, threshold: float) -> str:
    """A p-value corrected for many slices, most of which are next to 1."""
    return p_text(p, threshold) if p < 0.9995 or p == 1.0 else "> 0.999"


def _tabulate_decisions(models: list[views.Model], level: float) -> str:
    """Models by rules: the mean cost of a row, and what the fitted rule saves."""
    found = {model.name: model.decisions for model in models if model.decisions is not None}
    first = next(iter(found.values()))
    rules = list(first.costs)
    rows = []
    for name, one in found.items():
        estimates = [*(one.costs[rule] for rule in rules), *(difference.estimate for difference in one.differences)]
        rows.append(_render_row(name, list(map(_estimate_cell, estimates))))
    differences = [f"{one.first} {words.MINUS} {one.second}" for one in first.differences]
    caption = f"Mean cost of a row by decision rule, with {words.format_percent(level)} intervals; smaller is better"
    return _render_table(caption, ["model", *rules, *differences], rows)


def _hardest_cell(found: views.Class) -> str:
    if found.hardest is None:
        return _number_cell(None, "–")
    value = f'<span class="interval">{words.format_number(found.hardest_value, 4)}</span>'
    return f'<td data-value="{found.hardest_value!r}">{escape(shown_name(found.hardest))} {value}</td>'
