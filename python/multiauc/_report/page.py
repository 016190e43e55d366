"""The page of a report: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib import resources
from typing import Any

from multiauc._common.wording import counted, shown_name
from multiauc._render.decisions import decision_sentence
from multiauc._render.words import (
    SENTENCES_UP_TO,
    bound_note,
    confusions,
    meanings,
    metric_name,
    number,
    pair_sentence,
    percent,
    verdict,
)
from multiauc._report import svg, tables
from multiauc._report.surface import surface

# So many models have their surfaces drawn.
SURFACES = 4
HEAT_HELP = "Point at a cell to read it. With the keyboard: arrow keys move, Home goes to the worst pair."


def page(report: dict[str, Any]) -> str:
    """The HTML of the numbers."""
    headline, sentences = verdict(report)
    if report["heat_map"] is not None:
        sentences = [*sentences, confusions(_best(report))]
    sentences += [f"Note: {note}." for note in report["notes"]]
    style, script = _part("page.css"), _part("page.js")
    numbers = json.dumps(report, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # Inside a script element only "<" could end it; JSON may write it as an escape.
    numbers = numbers.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src '{_hash(script)}'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="multiauc {escape(report["versions"]["multiauc"])}">
<title>{escape(report["title"])}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the results</a>
<header>
<div class="top"><div><h1>{escape(report["title"])}</h1><p class="facts">{escape(_facts(report))}</p></div>
<button type="button" id="theme" class="theme script-only">Light / dark</button></div>
<section class="verdict" aria-label="Verdict"><p class="headline">{escape(headline)}</p>
{"".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)}{_standings(report)}</section>
</header>
<main id="content">
{_summary(report)}
{_comparison(report)}
{_pairs(report)}
{_classes(report)}
{_slices(report)}
{_roc(report)}
{_surfaces(report)}
{_decisions(report)}
{_method(report)}
</main>
<footer>Made by multiauc {escape(report["versions"]["multiauc"])}, {escape(report["created"])}. <span
class="screen-only">This page is one file, works offline and sends nothing anywhere. Its numbers are also in the page
itself as JSON, in the element <code>multiauc-numbers</code>.</span></footer>
<script type="application/json" id="multiauc-numbers">{numbers}</script>
<script>{script}</script>
</body>
</html>
"""


def _part(name: str) -> str:
    return resources.files("multiauc._report").joinpath(name).read_text("utf-8")


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _facts(report: dict[str, Any]) -> str:
    models = report["models"]
    parts = [f"{report['rows']:,} rows", f"{len(report['labels'])} classes"]
    if len(models) > 1:
        parts.append(f"{len(models)} models")
    return " · ".join(parts)


def _best(report: dict[str, Any]) -> dict[str, Any]:
    return next(model for model in report["models"] if model["name"] == report["best"])


def _standings(report: dict[str, Any]) -> str:
    """The table of a verdict on many models."""
    found = report["comparison"]
    if found is None or len(found["order"]) - 1 <= SENTENCES_UP_TO or not found["differences"]:
        return ""
    return "" if found["values"][found["order"][0]] is None else tables.against_best(report)


def _note(text: str) -> str:
    """A remark below a table; nothing for no text."""
    return f'<p class="facts note">{escape(text)}</p>' if text else ""


def _summary(report: dict[str, Any]) -> str:
    chart = ""
    metrics = list(report["models"][0]["metrics"])
    shown = [estimate for model in report["models"] for estimate in model["metrics"].values()]
    if len(report["models"]) > 1:
        metric = report["comparison"]["metric"]
        metric = metric if metric in metrics else metrics[0]
        chart = svg.estimates(report["models"], metric, metric_name(metric))
    return f"""<section aria-labelledby="h-summary"><h2 id="h-summary">How well the classes are separated</h2>
{tables.summary(report)}{chart}
{_note(meanings(metrics))}{_note(bound_note(shown, report))}</section>"""


def _comparison(report: dict[str, Any]) -> str:
    if report["comparison"] is None or not report["comparison"]["differences"]:
        return ""
    count, correction = len(report["comparison"]["differences"]), report["comparison"]["correction"]
    joint = f" Intervals and p-values allow for all {count} comparisons ({correction})." if count > 1 else ""
    note = (
        f"All models were scored on the same rows, and the tests use that.{joint} Models differ where the interval "
        f"excludes 0, which is where p is below {1 - report['level']:.3g}."
    )
    return f"""<section aria-labelledby="h-models"><h2 id="h-models">Which models differ</h2>
{tables.comparison(report)}
{_note(note)}</section>"""


def _pairs(report: dict[str, Any]) -> str:
    if report["heat_map"] is None:
        return ""
    lists = "".join(
        f'<div data-pairs-of="{k}">{_pair_list(model, report)}</div>' for k, model in enumerate(report["models"])
    )
    listed = [one for pair in report["worst_pairs"] for one in pair["models"]]
    return f"""<section aria-labelledby="h-pairs"><h2 id="h-pairs">Which classes are hard to tell apart</h2>
{_heat_controls(report)}
{lists}
<div class="map"><h3>Every pair</h3>
{_heat_note(report)}
<div class="scale script-only" aria-hidden="true">{_scale(report)}</div>
<p class="facts script-only" id="heat-help">{HEAT_HELP}</p>
<div class="readout script-only" id="readout" role="status">Point at a cell.</div>
<div class="scroll script-only"><svg class="heat" id="heat" role="application" tabindex="0"
 aria-roledescription="heat map" aria-label="How well every pair of classes is separated"
 aria-describedby="heat-help"></svg></div></div>
<h3>The worst pairs in numbers</h3>
{_pair_table(report)}
{_note(bound_note(listed, report))}</section>"""


def _pair_list(model: dict[str, Any], report: dict[str, Any]) -> str:
    title = _main_kind(report)["title"]
    heading = f"<h3>The worst pairs of {escape(shown_name(model['name']))}</h3>"
    items = "".join(
        f"<li><strong>{escape(shown_name(pair['first']))}</strong> and "
        f"<strong>{escape(shown_name(pair['second']))}</strong>: "
        f"{escape(pair_sentence(pair, title, report['level']))}; "
        f"{pair['first_rows']:,} and {pair['second_rows']:,} rows</li>"
        for pair in model["worst_pairs"]
    )
    drawn = "Draw a row of each of two classes: the scores rank the two the right way round or not; a tie counts half."
    return f'{heading}{_note(drawn)}<ol class="pairs">{items}</ol>'


def _main_kind(report: dict[str, Any]) -> dict[str, Any]:
    """The values that the lists and the table of pairs are about."""
    kind: dict[str, Any] = report["heat_map"]["kinds"][0]
    return kind


def _pair_table(report: dict[str, Any]) -> str:
    rows = []
    for pair in report["worst_pairs"]:
        first, second = pair["first_rows"], pair["second_rows"]
        size = tables.number_cell(first + second, f"{first:,} + {second:,}")
        cells = [size, *(tables.estimate_cell(found) for found in pair["models"])]
        rows.append(tables.row(f"{shown_name(pair['first'])} – {shown_name(pair['second'])}", cells))
    names = [model["name"] for model in report["models"]]
    which = f"the {counted(len(rows), 'pair')} that {shown_name(report['best'])} separates worst"
    pairs = f"{_main_kind(report)['title']} of {which}"
    caption = f"{pairs}, {percent(report['level'])} intervals"
    return tables.table(caption, ["pair", "rows", *names], rows, sortable=True, models=len(names))


def _heat_controls(report: dict[str, Any]) -> str:
    groups = []
    if len(report["models"]) > 1:
        chosen = report["models"].index(_best(report))
        names = [(str(k), shown_name(model["name"])) for k, model in enumerate(report["models"])]
        groups.append(_radios("model", "Model", names, str(chosen)))
    kinds = [(kind["metric"], kind["choice"]) for kind in report["heat_map"]["kinds"]]
    if len(kinds) > 1:
        groups.append(_radios("kind", "Judge by", kinds, kinds[0][0]))
    orders = [("labels", "as given"), ("worst", "worst first"), ("rows", "largest first")]
    groups.append(_radios("order", "Order of classes", orders, "worst" if len(report["labels"]) > 12 else "labels"))
    return f'<div class="controls script-only" id="heat-controls">{"".join(groups)}</div>'


def _radios(name: str, legend: str, options: list[tuple[str, str]], chosen: str) -> str:
    inputs = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if value == chosen else ""}> '
        f"{escape(text)}</label>"
        for value, text in options
    )
    return f"<fieldset><legend>{legend}</legend>{inputs}</fieldset>"


def _heat_note(report: dict[str, Any]) -> str:
    shown, total = len(report["heat_map"]["classes"]), len(report["labels"])
    some = "" if shown == total else f" Shown are the {shown} of {total} classes with the worst pairs."
    return (
        "<p>The stronger the colour, the more often a row of one class and a row of the other are ranked the wrong way "
        f"round.{some}</p>"
    )


def _scale(report: dict[str, Any]) -> str:
    bars = "".join(f'<rect class="h{k}" x="{k}" y="0" width="1" height="1"/>' for k in range(9))
    return (
        f'{report["heat_map"]["floor"]:.2f}<svg viewBox="0 0 9 1" preserveAspectRatio="none">{bars}</svg>1.00'
        "<span>(grey: no value)</span>"
    )


def _classes(report: dict[str, Any]) -> str:
    if not _best(report)["per_class"]:
        return ""
    return f"""<section aria-labelledby="h-classes"><h2 id="h-classes">Class by class</h2>
{tables.classes(report, _best(report))}
{_note(bound_note((one for model in report["models"] for one in model["per_class"]), report))}</section>"""


def _slices(report: dict[str, Any]) -> str:
    models = [model for model in report["models"] if "slices" in model]
    if not models:
        return ""
    parts = []
    for model in models:
        heading = f"<h3>{escape(shown_name(model['name']))}</h3>" if len(models) > 1 else ""
        parts.append(f"{heading}<p>{escape(model['slices']['summary'])}</p>{tables.slices(report, model['slices'])}")
    note = (
        "Each slice is compared with the rows outside it. Intervals of differences and p-values allow for all slices "
        "of a table: a slice differs where the interval excludes 0. The slice that is most surely worse comes first."
    )
    return f"""<section aria-labelledby="h-slices"><h2 id="h-slices">Slice by slice</h2>
{"".join(parts)}
{_note(note)}</section>"""


def _roc(report: dict[str, Any]) -> str:
    models = report["models"]
    curves = [model["roc"] for model in models if model["roc"] is not None]
    if not curves:
        return ""
    keys = "".join(
        f'<label class="key {svg.colour(k)}"><input type="checkbox" class="show-curve" value="{k}" checked> '
        f'<svg viewBox="0 0 36 10" aria-hidden="true"><path class="line" d="M0,5H36"/></svg>'
        f'<span class="name">{escape(shown_name(model["name"]))} (area D = {number(model["roc"]["auc"])})</span>'
        "</label>"
        for k, model in enumerate(models)
        if model["roc"] is not None
    )
    panels = svg.roc_panels(models)
    legend = f'<fieldset class="keys"><legend class="visually-hidden">Curves shown</legend>{keys}</fieldset>'
    beside = f'<div class="panels one">{panels[0]}{legend}</div>'
    above = f'{legend}<div class="panels">{"".join(panels)}</div>'
    return f"""<section aria-labelledby="h-roc"><h2 id="h-roc">The multi-class ROC curve</h2>
<p>One curve for all pairs of classes: as the threshold falls, more rows of the right class are found (upwards) and
more of wrong classes are let in (to the right). Higher is better; the dotted line is chance.
{_band_note(curves[0], report)}</p>
{beside if len(panels) == 1 else above}</section>"""


def _surfaces(report: dict[str, Any]) -> str:
    shown = [model for model in report["models"] if model["surface"] is not None][:SURFACES]
    if not shown:
        return ""
    panels = "".join(surface(model) for model in shown)
    return f"""<section aria-labelledby="h-surface"><h2 id="h-surface">The ROC surface of the three classes</h2>
<p>Each point is a way to decide, by the largest score after something was added to the scores of two classes: what it
gets right of each class. The more room under the surface the better; scores without information leave a sixth.</p>
<div class="panels">{panels}</div></section>"""


def _decisions(report: dict[str, Any]) -> str:
    models = [model for model in report["models"] if "decisions" in model]
    if not models:
        return ""
    rules = "".join(f"<li>{escape(decision_sentence(model))}</li>" for model in models)
    note = (
        "Each rule was fitted to some rows and judged on others (cross-validation); of two models, each is judged by "
        "its own rule. bayes: the smallest expected cost by the probabilities as they are; argmax: the largest "
        "probability, whatever it costs. Class sizes count as they are in these rows."
    )
    return f"""<section aria-labelledby="h-costs"><h2 id="h-costs">What decisions cost</h2>
<ul>{rules}</ul>
{tables.decisions(report, models)}
{_note(note)}</section>"""


def _band_note(curve: dict[str, Any], report: dict[str, Any]) -> str:
    """What is shaded, from how many resamples, and how sure that is."""
    if curve["band"] is None:
        return ""
    size, error = curve["n_resamples"], curve["monte_carlo_error"]
    known = "" if error is None else f" (so many know the standard error of D to about {100 * error:.0f}%)"
    return (
        f"Shaded: {percent(report['level'])} limits, point by point, from {size} resamples of {report['units']}{known}."
    )


def _method(report: dict[str, Any]) -> str:
    entries = [*report["method"].items(), *((name, version) for name, version in report["versions"].items())]
    lines = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in entries)
    return f"""<section aria-labelledby="h-method"><h2 id="h-method">Method and versions</h2>
<dl class="method">{lines}</dl></section>"""
