"""The report in a browser: it shows the numbers of the results, and works by mouse, touch and keyboard."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest

METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")


def numbers_of(page):
    return json.loads(page.locator("#multiauc-numbers").text_content())


def cell_place(page, row, column):
    """The middle of a cell of the heat map, on the screen, rows and columns as drawn."""
    return page.evaluate(
        """([row, column]) => {
            const heat = document.getElementById("heat");
            const cursor = document.getElementById("cursor");
            const [across, down] = ["width", "height"].map((side) => Number(cursor.getAttribute(side)));
            const [left, top] = heat.querySelector("path.nothing").getAttribute("d").match(/[\\d.]+/g).map(Number);
            const box = heat.getBoundingClientRect();
            const scale = box.width / heat.viewBox.baseVal.width;
            const [x, y] = [(left + (column + 0.5) * across) * scale, (top + (row + 0.5) * down) * scale];
            heat.parentElement.scrollBy(x - heat.parentElement.clientWidth / 2, 0);
            window.scrollBy(0, box.top + y - window.innerHeight / 2);
            const seen = heat.getBoundingClientRect();
            return [seen.left + x, seen.top + y];
        }""",
        [row, column],
    )


def drawn_labels(page):
    return page.locator("#heat [data-row] title").all_text_contents()


def point_at(page, row, column):
    page.mouse.move(*cell_place(page, row, column))
    return page.locator("#readout").text_content()


class TestNumbers:
    @pytest.mark.parametrize("which", ["three", "twenty", "hundred"])
    def test_the_json_in_the_page_is_what_the_results_hold(self, which, visit, request):
        written = request.getfixturevalue(which)
        numbers = numbers_of(visit(written))
        assert [model["name"] for model in numbers["models"]] == list(written.evaluations)
        for model, evaluation in zip(numbers["models"], written.evaluations.values(), strict=True):
            for metric in METRICS:
                estimate = getattr(evaluation, metric)
                low, high = estimate.confidence_interval()
                expected = {
                    "value": estimate.value,
                    "standard_error": estimate.standard_error,
                    "low": low,
                    "high": high,
                }
                assert model["metrics"][metric] == expected
            for entry, (label, estimate) in zip(model["per_class"], evaluation.per_class.items(), strict=True):
                assert (entry["label"], entry["value"]) == (label, estimate.value)
            for kind in ("auc_mu", "hand_till"):
                values = np.array(model["pairs"][kind]["value"], dtype=float)
                np.testing.assert_array_equal(values, getattr(evaluation, f"{kind}_matrix").values)

    def test_the_summary_shows_them(self, twenty, visit):
        page = visit(twenty)
        rows = page.get_by_role("table").first.locator("tbody tr")
        for k, (name, evaluation) in enumerate(twenty.evaluations.items()):
            assert rows.nth(k).locator("th").text_content() == name
            for j, metric in enumerate(METRICS):
                estimate = getattr(evaluation, metric)
                low, high = estimate.confidence_interval()
                text = rows.nth(k).locator("td").nth(j).inner_text()
                assert re.findall(r"\d\.\d{4}", text) == [f"{estimate.value:.4f}", f"{low:.4f}", f"{high:.4f}"]

    def test_the_comparison_shows_differences_and_tests(self, twenty, visit):
        page = visit(twenty)
        rows = page.get_by_role("table", name=re.compile("^Differences")).locator("tbody tr")
        for k, difference in enumerate(twenty.comparison.differences):
            cells = [text.replace("\N{MINUS SIGN}", "-") for text in rows.nth(k).locator("th, td").all_inner_texts()]
            # Limits and p-values simultaneous over all three differences together.
            low, high = twenty.comparison.simultaneous_intervals()[difference.first, difference.second]
            p = difference.corrected_p_value
            t = difference.value / difference.standard_error
            assert cells[0] == f"{difference.first} - {difference.second}"
            assert cells[1:3] == [f"{difference.value:.4f}", f"{low:.4f} to {high:.4f}"]
            assert cells[3:5] == [f"{t:.2f}", f"{difference.degrees_of_freedom:.1f}"]
            assert cells[5] == ("< 0.0001" if p < 1e-4 else f"{p:.4f}")
            assert cells[6] == ("yes" if p < 0.05 else "no") == ("yes" if low > 0 or high < 0 else "no")

    def test_the_verdict_names_the_best_model_and_what_it_confuses(self, twenty, visit):
        text = visit(twenty).get_by_role("region", name="Verdict").inner_text()
        best = max(twenty.comparison.estimates, key=lambda name: twenty.comparison.estimates[name].value)
        for other in set(twenty.evaluations) - {best}:
            difference = twenty.comparison.difference(best, other)
            told_apart = difference.corrected_p_value < 0.05
            wording = (
                f"{best} is better than {other} by"
                if told_apart
                else f"{best} and {other} are not significantly different"
            )
            assert f"{wording}" in text
            assert f"{difference.value:.4f}" in text
        first, second, value = twenty.evaluations[best].auc_mu_matrix.worst(1)[0]
        assert f"{best} separates these classes worst: {first} and {second} ({value:.3f})" in text

    def test_every_class_has_its_row(self, hundred, visit):
        page = visit(hundred)
        (evaluation,) = hundred.evaluations.values()
        rows = page.get_by_role("table", name=re.compile("^Each class")).locator("tbody tr")
        assert rows.count() == 100
        for k in (0, 57, 99):
            label = evaluation.labels[k]
            cells = rows.nth(k).locator("th, td").all_inner_texts()
            assert cells[:2] == [label, str(evaluation.counts[k])]
            assert cells[2].startswith(f"{evaluation.per_class[label].value:.4f}")
            hardest = evaluation.labels[np.nanargmin(evaluation.auc_mu_matrix.values[k])]
            assert cells[3].startswith(hardest)


class TestHeatMap:
    def test_pointing_at_a_cell_reads_it(self, twenty, visit):
        page = visit(twenty)
        page.get_by_label("linear", exact=True).first.check()
        page.get_by_label("as given").check()
        matrix = twenty.evaluations["linear"].auc_mu_matrix
        text = point_at(page, 2, 3)
        assert text.startswith(f"eel and fox: {matrix.between('eel', 'fox'):.4f}, 95% interval ")
        assert text.endswith(f"({matrix.counts[2]} and {matrix.counts[3]} rows)")
        assert point_at(page, 4, 4) == f"giraffe: {matrix.counts[4]} rows"

    def test_the_interval_read_is_that_of_the_matrix(self, twenty, visit):
        page = visit(twenty)
        page.get_by_label("as given").check()
        matrix = twenty.evaluations[numbers_of(page)["comparison"]["order"][0]].auc_mu_matrix
        low, high = (limits[2, 3] for limits in matrix.confidence_intervals())
        assert f"95% interval {low:.4f} to {high:.4f}" in point_at(page, 2, 3)

    def test_one_score_is_read_by_row(self, twenty, visit):
        page = visit(twenty)
        page.get_by_label("net", exact=True).first.check()
        page.get_by_label("as given").check()
        page.get_by_label("one score (M)").check()
        matrix = twenty.evaluations["net"].hand_till_matrix
        for c, d in ((5, 1), (1, 5)):
            first, second = matrix.labels[c], matrix.labels[d]
            expected = f"{first} against {second} by the score for {first}: {matrix.values[c, d]:.4f}"
            assert point_at(page, c, d).startswith(expected)

    def test_worst_first_puts_the_worst_pair_into_the_corner(self, hundred, visit):
        page = visit(hundred)
        (evaluation,) = hundred.evaluations.values()
        page.get_by_label("as given").check()
        assert drawn_labels(page) == list(evaluation.labels)
        page.get_by_label("worst first").check()
        first, second, value = evaluation.auc_mu_matrix.worst(1)[0]
        assert set(drawn_labels(page)[:2]) == {first, second}
        assert f": {value:.4f}" in point_at(page, 0, 1)
        page.get_by_label("largest first").check()
        assert drawn_labels(page)[0] == evaluation.labels[int(np.argmax(evaluation.counts))]

    def test_every_cell_has_the_colour_of_its_value(self, twenty, visit):
        page = visit(twenty)
        page.get_by_label("as given").check()
        numbers = numbers_of(page)
        best = numbers["comparison"]["order"][0]
        values = twenty.evaluations[best].auc_mu_matrix.values
        floor = numbers["heat_map"]["floor"]
        bins = np.clip(np.floor((values - floor) / (1 - floor) * 9), 0, 8)
        for k in range(9):
            path = page.locator(f"#heat path.h{k}").get_attribute("d")
            assert path.count("M") == np.count_nonzero(bins == k)
        assert page.locator("#heat path.nothing").get_attribute("d").count("M") == 20

    def test_the_model_chosen_is_the_one_described(self, twenty, visit):
        page = visit(twenty)
        for name, evaluation in twenty.evaluations.items():
            page.get_by_label(name, exact=True).first.check()
            assert page.get_by_role("heading", name=re.compile("The worst pairs of")).all_inner_texts() == [
                f"The worst pairs of {name}"
            ]
            first, second, value = evaluation.auc_mu_matrix.worst(1)[0]
            item = page.locator("ol.pairs:visible li").first.inner_text()
            assert item.startswith(f"{first} and {second}: a row of each is ordered wrongly in ")
            assert f"AUC_mu {value:.3f}" in item

    def test_keys_move_and_home_finds_the_worst(self, twenty, visit):
        page = visit(twenty)
        page.get_by_label("as given").check()
        heat, readout = page.get_by_role("application"), page.get_by_role("status")
        best = numbers_of(page)["comparison"]["order"][0]
        matrix = twenty.evaluations[best].auc_mu_matrix
        first, second, value = matrix.worst(1)[0]
        heat.focus()
        assert readout.text_content().startswith(f"{first} and {second}: {value:.4f}")
        c, d = matrix.labels.index(first), matrix.labels.index(second)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        expected = f"{matrix.labels[c + 1]} and {matrix.labels[d + 2]}: {matrix.values[c + 1, d + 2]:.4f}"
        assert readout.text_content().startswith(expected)
        for _ in range(40):
            page.keyboard.press("ArrowUp")
        assert readout.text_content().startswith(matrix.labels[0])
        page.keyboard.press("Home")
        assert readout.text_content().startswith(f"{first} and {second}: {value:.4f}")

    def test_touch_reads_a_cell(self, three, visit):
        page = visit(three, width=390, has_touch=True, is_mobile=True)
        page.touchscreen.tap(*cell_place(page, 0, 1))
        (evaluation,) = three.evaluations.values()
        assert f": {evaluation.auc_mu_matrix.values[0, 1]:.4f}" in page.locator("#readout").text_content()


class TestTablesAndCurves:
    def test_headings_sort_both_ways(self, hundred, visit):
        page = visit(hundred)
        (evaluation,) = hundred.evaluations.values()
        table = page.get_by_role("table", name=re.compile("^Each class"))
        heading = table.get_by_role("columnheader", name=re.compile("against the rest"))
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == "ascending"
        by_value = sorted(evaluation.per_class, key=lambda label: evaluation.per_class[label].value)
        assert table.locator("tbody th").all_inner_texts() == by_value
        heading.get_by_role("button").press("Enter")
        assert heading.get_attribute("aria-sort") == "descending"
        assert table.locator("tbody th").all_inner_texts()[0] == by_value[-1]
        other = table.get_by_role("columnheader", name=re.compile("^class"))
        other.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") is None
        assert table.locator("tbody th").all_inner_texts() == sorted(evaluation.labels)

    def test_curves_can_be_hidden(self, twenty, visit):
        page = visit(twenty)
        curves = page.locator('.roc g[data-model="1"]').all()
        assert len(curves) == page.locator("svg.roc").count()
        assert all(curve.is_visible() for curve in curves)
        page.get_by_role("checkbox", name=re.compile("forest")).uncheck()
        assert not any(curve.is_visible() for curve in curves)
        assert page.locator('.roc g[data-model="0"]').first.is_visible()
        page.get_by_role("checkbox", name=re.compile("forest")).check()
        assert all(curve.is_visible() for curve in curves)

    def test_the_curve_is_the_curve(self, three, visit):
        page = visit(three)
        roc = numbers_of(page)["models"][0]["roc"]
        path = page.locator(".roc .line").first.get_attribute("d")
        points = np.array([pair.split(",") for pair in path[1:].split("L")], dtype=float)
        np.testing.assert_allclose(points[:, 0] / 420, roc["fpr"], atol=2e-4)
        np.testing.assert_allclose(1 - points[:, 1] / 420, roc["tpr"], atol=2e-4)


class TestSafety:
    def test_names_are_text_wherever_they_stand(self, three, visit):
        page = visit(three)
        (evaluation,) = three.evaluations.values()
        body = page.locator("body").inner_text()
        for label in evaluation.labels:
            assert " ".join(label.split()) in " ".join(body.split())
        assert "<b>forest</b> orders " in body
        assert page.locator("main script, header script, header b").count() == 0
        assert evaluation.labels[0] in point_at(page, 0, 1)

    def test_even_a_script_that_got_in_would_not_run(self, three, browser, tmp_path):
        hacked = tmp_path / "hacked.html"
        injected = "<script>window.hacked = true</script><main"
        hacked.write_text(three.path.read_text("utf-8").replace("<main", injected, 1), "utf-8")
        page = browser.new_page()
        page.goto(hacked.as_uri())
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.documentElement.className") == "scripted"
        page.close()

    def test_the_page_is_small(self, twenty):
        assert twenty.path.stat().st_size < 2_000_000


class TestReaders:
    @pytest.mark.parametrize("which", ["three", "twenty", "hundred"])
    @pytest.mark.parametrize("width", [360, 390, 768, 1100, 1600])
    def test_nothing_sticks_out(self, which, width, visit, request):
        page = visit(request.getfixturevalue(which), width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    def test_without_scripts_everything_but_the_heat_map_is_there(self, twenty, visit):
        page = visit(twenty, java_script_enabled=False)
        assert page.get_by_role("table").count() == 6
        assert page.locator("ol.pairs").count() == 3
        for hidden in ("#heat-controls", "#readout", "#heat", "#theme"):
            assert not page.locator(hidden).is_visible()

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_has_contrast(self, scheme, twenty, visit):
        page = visit(twenty, color_scheme=scheme)
        found = page.evaluate(
            """() => {
                const light = (colour) => {
                    const white = colour.startsWith("color(srgb") ? 1 : 255;
                    const [r, g, b] = colour.match(/[\\d.]+/g).map((v) => {
                        const c = Number(v) / white;
                        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
                    });
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                };
                const behind = (node) => {
                    for (let at = node; at; at = at.parentElement) {
                        const colour = getComputedStyle(at).backgroundColor;
                        if (!/, 0\\)$/.test(colour)) return colour;
                    }
                };
                const ratios = [];
                for (const node of document.querySelectorAll("body *:not(svg *, script)")) {
                    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
                    if (!own || !node.offsetParent) continue;
                    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))];
                    ratios.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.tagName]);
                }
                return ratios;
            }"""
        )
        assert len(found) > 100
        assert min(found)[0] >= 4.5

    def test_light_and_dark_follow_the_reader_and_the_button(self, three, visit):
        def is_dark(page):
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            return sum(map(int, re.findall(r"\d+", colour)[:3])) < 300

        page = visit(three, color_scheme="dark")
        assert is_dark(page)
        page.get_by_role("button", name="Light / dark").click()
        assert not is_dark(page)
        other = visit(three, color_scheme="light")
        assert not is_dark(other)
        other.get_by_role("button", name="Light / dark").press("Enter")
        assert is_dark(other)

    def test_print_is_light_and_whole(self, hundred, visit):
        page = visit(hundred, color_scheme="dark")
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        for hidden in ("#heat-controls", "#theme", "#readout"):
            assert not page.locator(hidden).is_visible()
        assert page.locator(".key").first.is_visible()
        tall = page.locator(".scroll.tall").last
        assert tall.evaluate("node => node.scrollHeight <= node.clientHeight + 1")
        assert len(page.pdf()) > 20_000

    def test_tables_fit_on_paper(self, twenty, visit):
        page = visit(twenty, width=794)  # A4 at 96 dots per inch
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") <= 794

    def test_everything_can_be_reached_and_is_named(self, twenty, visit):
        page = visit(twenty)
        assert page.evaluate("document.documentElement.lang") == "en"
        assert page.title() == "Twenty animals"
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map((node) => Number(node.tagName[1]))")
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        for table in page.get_by_role("table").all():
            assert table.locator("caption").inner_text()
            assert table.locator("thead th:not([scope=col]), tbody th:not([scope=row])").count() == 0
        for image in page.get_by_role("img").all():
            assert image.get_attribute("aria-label") or image.locator("title").text_content()
        stops = []
        for _ in range(100):
            page.keyboard.press("Tab")
            stop = page.evaluate(
                "document.activeElement.id || document.activeElement.className || document.activeElement.name"
            )
            if stop in ("", None):
                break
            stops.append(stop)
        assert stops[0] == "skip"
        for expected in ("theme", "heat", "sort", "model", "show-curve"):
            assert expected in stops
        assert any(stop in ("model", "kind", "order") for stop in stops)
