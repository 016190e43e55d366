"""The page of a report: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from typing import TYPE_CHECKING, Any

from multiauc._common.wording import p_text, pluralize, shown_name
from multiauc._display import words
from multiauc._report import fill, read, svg

if TYPE_CHECKING:
    from multiauc._display import model as views
    from multiauc._display.model import Number

    # What a part of page.html is filled with; None leaves it out.
    Content = dict[str, str] | None
    # The name of a row, and its cells as HTML.
    Row = tuple[str, list[str]]

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
    script = read("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    facts = f"{report.rows:,} rows · {len(report.labels)} classes"
    facts += f" · {len(report.models)} models" if len(report.models) > 1 else ""
    numbers = json.dumps(report.document(origin), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # Inside a script element only "<" could end it; JSON may write it as an escape.
    numbers = numbers.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    sections = {
        "summary": _render_summary(report),
        "comparison": _render_comparison(report),
        "pairs": _render_pairs(report),
        "confusions": _render_confusions(report),
        "classes": _render_classes(report),
        "reliability": _render_reliability(report),
        "slices": _render_slices(report),
        "roc": _render_roc(report),
        "surfaces": _render_surfaces(report),
        "decisions": _render_decisions(report),
        "method": _render_method(report),
    }
    page = fill(
        "page",
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        style=read("page.css"),
        script=script,
        numbers=numbers,
        title=escape(report.title),
        version=escape(report.versions["multiauc"]),
        created=escape(report.created),
        facts=facts,
        headline=escape(headline),
        sentences="".join(f"<p>{escape(sentence)}</p>" for sentence in sentences) + _tabulate_standings(report),
        sections="\n".join("" if content is None else fill(part, **content) for part, content in sections.items()),
    )
    return page + "\n"


def _note(text: str) -> str:
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


def _render_summary(report: views.Report) -> Content:
    """Models by metrics."""
    models, metrics = report.models, _distinct_metrics(report)
    best = {metric: words.find_best(metric, [m.metrics[metric].value for m in models]) for metric in metrics}

    def cell(one: views.Estimate, metric: str) -> str:
        return _estimate_cell(one, best=len(models) > 1 and one.value == best[metric])

    rows = [(model.name, [cell(model.metrics[metric], metric) for metric in metrics]) for model in models]
    chance, perfect = words.describe_chance(metrics, len(report.labels)), words.describe_perfect(metrics)
    caption = f"All classes together, with {report.level_text} intervals (chance is {chance}, {perfect})"
    chart = ""
    if report.comparison is not None:
        metric = report.comparison.metric if report.comparison.metric in metrics else metrics[0]
        chart = svg.draw_estimates(models, metric, words.name_metric(metric))
    shown = [model.metrics[metric] for model in models for metric in metrics]
    return {
        "table": _table(caption, ["model", *map(words.name_metric, metrics)], rows),
        "chart": chart,
        "notes": _note(words.explain_metrics(metrics)) + _note(words.explain_bound(shown, report.units)),
    }


def _render_comparison(report: views.Report) -> Content:
    """Every pair of models: difference, interval, test."""
    found = report.comparison
    if found is None or not found.differences:
        return None
    rows = [
        (f"{shown_name(one.first)} {words.MINUS} {shown_name(one.second)}", _difference_cells(one, report.level))
        for one in found.differences
    ]
    caption = f"Differences in {words.name_metric(found.metric)} on the same rows, {_describe_intervals(report)}"
    count = len(found.differences)
    joint = (
        f" Intervals and p-values are corrected for all {count} comparisons ({found.correction})." if count > 1 else ""
    )
    table = _table(caption, ["models", *DIFFERENCE_HEADER], rows, sortable=True)
    return {"table": table, "joint": joint, "threshold": f"{1 - report.level:.3g}"}


def _tabulate_standings(report: views.Report) -> str:
    """The table of a verdict on many models: how far each is behind the best."""
    found = report.comparison
    if found is None or len(found.order) - 1 <= words.SENTENCES_UP_TO or not found.differences:
        return ""
    best, name = found.order[0], words.name_metric(found.metric)
    value = found.estimates[best].value
    if value is None:
        return ""
    rows = [
        (one.second, [_value_cell(found.estimates[one.second].value), *_difference_cells(one, report.level)])
        for one in words.compare_with_best(found)
    ]
    ahead = f"{shown_name(best)} ({name} {words.format_number(value, 4)}) is ahead"
    return _table(f"How far {ahead}, {_describe_intervals(report)}", ["model", name, *DIFFERENCE_HEADER], rows)


def _describe_intervals(report: views.Report) -> str:
    """What the intervals of differences are."""
    count = 0 if report.comparison is None else len(report.comparison.differences)
    joint = f" simultaneous over all {count} comparisons" if count > 1 else ""
    return f"{report.level_text} intervals{joint}"


def _difference_cells(found: views.Difference, level: float) -> list[str]:
    p, freedom = found.corrected_p_value, found.degrees_of_freedom
    return [
        _value_cell(found.estimate.value),
        _limits_cell(found.corrected_low, found.corrected_high),
        _cell(found.t, words.NOT_KNOWN if found.t is None else f"{found.t:.2f}".replace("-", words.MINUS)),
        _cell(freedom, words.NOT_KNOWN if freedom is None else f"{freedom:.1f}"),
        _cell(p, words.NOT_KNOWN if p is None else escape(p_text(p, 1.0 - level))),
        f"<td>{words.NOT_KNOWN if p is None else 'yes' if found.decided else 'no'}</td>",
    ]


def _render_pairs(report: views.Report) -> Content:
    heat_map = report.heat_map
    if heat_map is None or _says_nothing_new(report):
        return None
    # The values that the lists and the table of pairs are about.
    title = heat_map.kinds[0].values.title
    shown, total = len(heat_map.classes), len(report.labels)
    listed = [one for pair in report.worst_pairs for one in pair.models]
    return {
        "controls": _render_heat_controls(heat_map, report),
        "lists": "".join(_list_pairs(number, title, report) for number in range(len(report.models))),
        "some": "" if shown == total else f" Shown are the {shown} of {total} classes with the worst pairs.",
        "floor": f"{heat_map.floor:.2f}",
        "bars": "".join(f'<rect class="h{k}" x="{k}" y="0" width="1" height="1"/>' for k in range(9)),
        "table": _tabulate_pairs(report, title),
        "note": _note(words.explain_bound(listed, report.units)),
    }


def _list_pairs(number: int, title: str, report: views.Report) -> str:
    model = report.models[number]
    items = "".join(
        f"<li><strong>{escape(shown_name(pair.first))}</strong> and "
        f"<strong>{escape(shown_name(pair.second))}</strong>: "
        f"{escape(words.describe_pair(pair, title, report.level))}; "
        f"{pair.first_rows:,} and {pair.second_rows:,} rows</li>"
        for pair in model.worst_pairs
    )
    return fill("pair list", number=str(number), name=escape(shown_name(model.name)), items=items)


def _tabulate_pairs(report: views.Report, title: str) -> str:
    rows = []
    for pair in report.worst_pairs:
        first, second = pair.first_rows, pair.second_rows
        cells = [_cell(first + second, f"{first:,} + {second:,}"), *map(_estimate_cell, pair.models)]
        rows.append((f"{shown_name(pair.first)} – {shown_name(pair.second)}", cells))
    names = [model.name for model in report.models]
    which = f"the {pluralize(len(rows), 'pair')} that {shown_name(report.best)} separates worst"
    caption = f"{title} of {which}, {report.level_text} intervals"
    return _table(caption, ["pair", "rows", *names], rows, sortable=True, models=len(names))


def _render_heat_controls(heat_map: views.HeatMap, report: views.Report) -> str:
    names = [model.name for model in report.models]
    models = [(str(k), shown_name(name)) for k, name in enumerate(names)]
    kinds = [(kind.metric, kind.values.choice) for kind in heat_map.kinds]
    orders = [("labels", "as given"), ("worst", "worst first"), ("rows", "largest first")]
    groups = [
        ("model", "Model", models, str(names.index(report.best))),
        ("kind", "Compare by", kinds, kinds[0][0]),
        ("order", "Order of classes", orders, "worst" if len(report.labels) > TALL_FROM else "labels"),
    ]
    return "".join(_render_radios(*group) for group in groups if len(group[2]) > 1)


def _render_radios(name: str, legend: str, options: list[tuple[str, str]], chosen: str) -> str:
    inputs = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if value == chosen else ""}> '
        f"{escape(text)}</label>"
        for value, text in options
    )
    return f"<fieldset><legend>{legend}</legend>{inputs}</fieldset>"


def _render_classes(report: views.Report) -> Content:
    """Each class against the rest, and the class that it is hardest to separate from."""
    best, models = report.best_model(), report.models
    if not best.per_class or _says_nothing_new(report):
        return None
    rows = []
    for k, (label, count) in enumerate(zip(report.labels, report.counts, strict=True)):
        estimates = [_estimate_cell(model.per_class[k].estimate) for model in models]
        hardest, value = best.per_class[k].hardest, best.per_class[k].hardest_value
        below = f' <span class="interval">{words.format_number(value, 4)}</span>'
        last = _cell(None, "–") if hardest is None else _cell(value, escape(shown_name(hardest)) + below, kind="")
        rows.append((label, [_cell(count, f"{count:,}"), *estimates, last]))
    several = len(models) > 1
    names = [model.name for model in models] if several else ["against the rest"]
    header = ["class", "rows", *names, "hardest to separate from" + (f" ({shown_name(best.name)})" if several else "")]
    caption = f"Each class against all others: one-vs-rest AUC with {report.level_text} intervals"
    shown = (one.estimate for model in models for one in model.per_class)
    return {
        "table": _table(caption, header, rows, sortable=True, models=len(models)),
        "note": _note(words.explain_bound(shown, report.units)),
    }


def _render_confusions(report: views.Report) -> Content:
    found = [(model.name, model.confusion) for model in report.models if model.confusion is not None]
    tables = [(name, _tabulate_confusion(one, report) + _tabulate_rates(one, report)) for name, one in found]
    return {"tables": _render_models(tables, report)} if found else None


def _tabulate_confusion(found: views.Confusion, report: views.Report) -> str:
    """True classes by predicted classes: the share of the true class, the count below it, its limits on pointing."""
    names = [shown_name(report.labels[c]) for c in found.classes]
    many, total = len(names) > TALL_FROM, len(report.labels)

    def cell(i: int, j: int) -> str:
        share, count = found.shares[i][j], found.counts[i][j]
        if not share or not count:
            return "<td></td>"
        right = ' class="right"' if i == j else ""
        limits = words.format_limits(found.low[i][j], found.high[i][j])
        text = f"{_format_share(share, many=many)}<span>{_format_count(count)}</span>"
        return f'<td{right} style="--share:{100 * share:.0f}" title="{limits}">{text}</td>'

    rows = [(name, [cell(i, j) for j in range(len(names))]) for i, name in enumerate(names)]
    some = f"; the {len(names)} of {total} classes with the most errors" if len(names) < total else ""
    caption = f"Rows: true class; columns: predicted class. Percent of the true class, with counts below{some}"
    return _table(caption, ["true class", *names], rows, kind="matrix many" if many else "matrix")


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
    rows = []
    for count, one in zip(report.counts, found.per_class, strict=True):
        sizes = [_cell(count, f"{count:,}"), _cell(one.predicted, _format_count(one.predicted))]
        rows.append((one.label, [*sizes, *map(_estimate_cell, (one.precision, one.recall, one.f1))]))
    caption = f"Precision, recall and F1, with {report.level_text} intervals"
    return _table(caption, ["class", "rows", "predicted", "precision", "recall", "F1"], rows, sortable=True)


def _render_reliability(report: views.Report) -> Content:
    """A panel per class; with two classes that of the second, as the other one is its mirror image."""
    panels = []
    for model in report.models:
        if model.reliability:
            drawn = list(map(svg.draw_reliability, model.reliability[-1 if len(report.labels) == TWO else 0 :]))
            many = " many" if len(drawn) > SMALL_PANELS_FROM else ""
            panels.append((model.name, f'<div class="panels small{many}">{"".join(drawn)}</div>'))
    if not panels:
        return None
    shown, total = max(len(model.reliability) for model in report.models), len(report.labels)
    some = "" if total in (TWO, shown) else f" Shown are {shown} of {total} classes, those of the matrix above."
    grouped = "" if report.units == "rows" else " Rows are treated as independent here, although they are grouped."
    return {"panels": _render_models(panels, report), "level": report.level_text, "more": some + grouped}


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


def _render_slices(report: views.Report) -> Content:
    found = [(model.name, model.slices) for model in report.models if model.slices is not None]
    parts = []
    for name, slices in found:
        heading = f"<h3>{escape(shown_name(name))}</h3>" if len(found) > 1 else ""
        parts.append(f"{heading}<p>{escape(slices.summary)}</p>{_tabulate_slices(slices, report)}")
    return {"tables": "".join(parts)} if parts else None


def _tabulate_slices(found: views.Slices, report: views.Report) -> str:
    """Slices of the rows, each against the others."""
    threshold, name = 1.0 - report.level, words.name_metric(found.metric)
    rows = []
    for one in found.slices:
        p = one.corrected_p_value
        decided = "" if p is None or p >= threshold else "worse" if (one.difference or 0.0) < 0 else "better"
        cells = [
            _cell(one.rows, f"{one.rows:,}"),
            _estimate_cell(one.estimate),
            _value_cell(one.difference),
            _limits_cell(one.simultaneous_low, one.simultaneous_high),
            _cell(p, words.NOT_KNOWN if p is None else escape(_format_corrected_p(p, threshold))),
            f"<td>{escape(one.reason or decided or 'no')}</td>",
        ]
        rows.append((one.name, cells))
    some = f"; the first {len(rows)} of {found.count:,} slices" if found.count > len(rows) else ""
    caption = f"{name} by {' and '.join(map(shown_name, found.by))}, with {report.level_text} intervals{some}"
    return _table(caption, ["slice", "rows", name, "difference", "interval", "p", "differs?"], rows, sortable=True)


def _format_corrected_p(p: float, threshold: float) -> str:
    """A p-value corrected for many slices; most of them are close to 1."""
    return p_text(p, threshold) if p < 0.9995 or p == 1.0 else "> 0.999"


def _render_roc(report: views.Report) -> Content:
    models = report.models
    curves = [model.roc for model in models if model.roc is not None]
    if not curves:
        return None
    keys = ""
    for k, model in enumerate(models):
        if model.roc is not None:
            name = f"{escape(shown_name(model.name))} (area D = {words.format_number(model.roc.auc)})"
            keys += fill("curve key", colour=svg.choose_colour(k), number=str(k), name=name)
    panels = svg.draw_curves(models)
    legend = f'<fieldset class="keys"><legend class="visually-hidden">Curves shown</legend>{keys}</fieldset>'
    beside = f'<div class="panels one">{panels[0]}{legend}</div>'
    above = f'{legend}<div class="panels">{"".join(panels)}</div>'
    return {"band": _explain_band(curves[0], report), "panels": beside if len(panels) == 1 else above}


def _explain_band(curve: views.Curve, report: views.Report) -> str:
    """What is shaded, from how many resamples, and how sure that is."""
    if curve.band is None:
        return ""
    size, error = curve.n_resamples, curve.monte_carlo_error
    known = "" if error is None else f" (the standard error of D is accurate to about {100 * error:.0f}%)"
    return f"Shaded: {report.level_text} limits, point by point, from {size} resamples of {report.units}{known}."


def _render_surfaces(report: views.Report) -> Content:
    shown = [(model.name, model.surface) for model in report.models if model.surface is not None][:SURFACES]
    return {"panels": "".join(svg.draw_surface(*one) for one in shown)} if shown else None


def _render_decisions(report: views.Report) -> Content:
    """Models by rules: the mean cost of a row, and what the fitted rule saves."""
    found = {model.name: model.decisions for model in report.models if model.decisions is not None}
    if not found:
        return None
    first = next(iter(found.values()))
    rows = []
    for name, one in found.items():
        estimates = [*(one.costs[rule] for rule in first.costs), *(other.estimate for other in one.differences)]
        rows.append((name, list(map(_estimate_cell, estimates))))
    differences = [f"{one.first} {words.MINUS} {one.second}" for one in first.differences]
    caption = f"Mean cost of a row by decision rule, with {report.level_text} intervals; smaller is better"
    rules = (f"<li>{escape(words.describe_decisions(name, one))}</li>" for name, one in found.items())
    return {"rules": "".join(rules), "table": _table(caption, ["model", *first.costs, *differences], rows)}


def _render_method(report: views.Report) -> Content:
    entries = (*report.method.items(), *report.versions.items())
    return {"lines": "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in entries)}


def _cell(value: Number, shown: str, *, kind: str = "number") -> str:
    """A cell of ready HTML that sorts by its number."""
    style = f' class="{kind}"' if kind else ""
    return f'<td{style} data-value="{"" if value is None else repr(value)}">{shown}</td>'


def _value_cell(value: Number) -> str:
    return _cell(value, words.format_number(value, 4))


def _estimate_cell(estimate: views.Estimate | views.PairEstimate, *, best: bool = False) -> str:
    """A value above its interval."""
    shown, limits = words.format_number(estimate.value, 4), words.format_interval(estimate, 4)
    if best:
        shown = f'<strong>{shown}</strong><span class="visually-hidden"> (highest)</span>'
    return _cell(estimate.value, f'{shown}<span class="interval{_long(limits)}">{limits}</span>')


def _limits_cell(low: Number, high: Number) -> str:
    limits = words.format_limits(low, high, 4)
    return _cell(low, limits, kind=f"nowrap{_long(limits)}")


def _long(limits: str) -> str:
    """The class of limits that may be broken where they would otherwise not fit."""
    return " long" if len(limits) > LIMITS_LONG_FROM else ""


def _table(
    caption: str, header: list[str], rows: list[Row], *, sortable: bool = False, models: int = 0, kind: str = "plain"
) -> str:
    """A table. Captions, header cells and names of rows are text, other cells are ready HTML.

    `models` is the number of columns with estimates of models: with many of them, the intervals do not fit on paper.
    """
    lines = [f'<tr><th scope="row">{escape(shown_name(name))}</th>{"".join(cells)}</tr>' for name, cells in rows]
    kind = "sortable" if sortable else kind
    return fill(
        "table" if models <= INTERVALS_ON_PAPER_UP_TO else "wide table",
        caption=escape(caption),
        kind=kind,
        tall=" tall" if len(lines) > TALL_FROM else "",
        heads="".join(_head(shown_name(name), sortable=sortable) for name in header),
        rows="".join(lines),
    )


def _head(name: str, *, sortable: bool) -> str:
    # Only a long word is broken inside.
    long = ' class="long"' if max(map(len, name.split()), default=0) > WORD_LONG_FROM else ""
    text = f'<button type="button" class="sort">{escape(name)}</button>' if sortable else escape(name)
    return f'<th scope="col"{long}>{text}</th>'
