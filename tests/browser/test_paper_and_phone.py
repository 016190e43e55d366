"""The report on paper and on a phone: pages that are filled, headings where they belong, names in full."""

import re
from itertools import pairwise

import numpy as np
import pymupdf
import pytest

PAGES = ("three", "twenty", "hundred", "many", "long", "perfect")
MARGIN = "15mm"


@pytest.fixture(params=PAGES)
def written(request):
    return request.getfixturevalue(request.param)


def printed(page):
    """The page as it is printed on A4."""
    return pymupdf.open("pdf", page.pdf(format="A4", margin=dict.fromkeys(("top", "bottom", "left", "right"), MARGIN)))


def lines_of(sheet):
    """(text, top, bottom) of the lines of a printed page, from the top."""
    blocks = sheet.get_text("dict")["blocks"]
    lines = [line for block in blocks for line in block.get("lines", [])]
    found = [("".join(span["text"] for span in line["spans"]), line["bbox"][1], line["bbox"][3]) for line in lines]
    return sorted((line for line in found if line[0].strip()), key=lambda line: line[1])


def lowest(sheet):
    """Where the last text or drawing of a printed page ends, as a share of its height."""
    drawn = [drawing["rect"].y1 for drawing in sheet.get_drawings() if drawing["rect"].height < 0.9 * sheet.rect.height]
    return max([bottom for _, _, bottom in lines_of(sheet)] + drawn) / sheet.rect.height


class TestPaper:
    def test_no_page_is_half_empty(self, written, visit):
        sheets = list(printed(visit(written)))
        assert min((lowest(sheet) for sheet in sheets[:-1]), default=1.0) > 0.5

    @pytest.mark.parametrize(("which", "head"), [("hundred", "hardest to separate from"), ("many", "differ?")])
    def test_headings_of_tables_are_repeated(self, which, head, visit, request):
        page = visit(request.getfixturevalue(which))
        table = page.locator("table", has=page.locator("thead th", has_text=head)).last
        names = {" ".join(name.split()) for name in table.locator("tbody th").all_inner_texts()}
        # The names also stand in the tables and figures of other sections.
        table.evaluate(
            "(one) => document.querySelectorAll('main section').forEach((s) => s.contains(one) || s.remove())"
        )
        continued = 0
        for sheet in printed(page):
            texts = [" ".join(text.split()) for text, _, _ in lines_of(sheet)]
            if "Every pair" in texts:  # the names of classes also stand beside the map
                continue
            rows = [k for k, text in enumerate(texts) if text in names]
            if len(rows) > 3:
                heads = [k for k, text in enumerate(texts) if text in head or head in text]
                assert heads
                assert min(heads) < rows[0]
                continued += 1
        assert continued > 1

    def test_a_heading_is_never_the_last_line(self, written, visit):
        page = visit(written)
        headings = set(page.locator("h2:visible, h3:visible").all_inner_texts())
        assert headings
        for sheet in printed(page):
            texts = [text.strip() for text, _, _ in lines_of(sheet)]
            assert texts[-1] not in headings
            captions = [
                k
                for k, text in enumerate(texts)
                if re.match(r"(Each class against|Differences in|AUC_mu of the)", text)
            ]
            assert all(k + 3 < len(texts) for k in captions)

    def test_the_map_stands_below_its_heading(self, written, visit):
        sheets = list(printed(visit(written)))
        headings = [(sheet, bottom) for sheet in sheets for text, _, bottom in lines_of(sheet) if text == "Every pair"]
        ((sheet, bottom),) = headings
        below = [drawing["rect"] for drawing in sheet.get_drawings() if drawing["rect"].y0 > bottom]
        assert max(rect.height for rect in below) > 60

    def test_nothing_is_cut_off_at_the_right(self, written, visit):
        """Chromium shrinks pages that are too wide; A4 with its margins is 680 pixels."""
        page = visit(written, width=680)
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") <= 680


class TestPhone:
    def test_nothing_widens_the_page(self, written, visit):
        for width in (320, 390):
            assert visit(written, width=width).evaluate("document.documentElement.scrollWidth") <= width

    def test_every_dot_is_seen(self, many, visit):
        page = visit(many, width=390)
        dots = page.locator(".forest .dot").all()
        assert len(dots) == 12
        boxes = [dot.bounding_box() for dot in dots]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
        values = [float(estimate.value) for estimate in many.comparison.estimates.values()]
        places = [box["x"] + box["width"] / 2 for box in boxes]
        line = np.polyfit(values, places, 1)
        np.testing.assert_allclose(np.polyval(line, values), places, atol=0.6)

    def test_names_keep_their_letters(self, many, long, visit):
        page = visit(many, width=390)
        name = max(many.evaluations, key=len)
        assert name in page.locator(".forest-name").all_inner_texts()
        assert name in page.locator(".key .name").nth(4).inner_text()
        assert name in page.locator("tbody th").all_inner_texts()
        page = visit(long, width=390)
        (evaluation, _) = long.evaluations.values()
        for k, lines in enumerate(page.locator("#heat [data-row]").all()):
            full = lines.locator("title").text_content()
            shown = "".join(lines.locator("tspan").all_text_contents())
            assert shown.replace(" ", "") == full.replace(" ", ""), k
            assert full in evaluation.labels

    def test_names_in_the_map_do_not_touch(self, long, visit):
        page = visit(long, width=390)
        boxes = [name.bounding_box() for name in page.locator("#heat [data-row]").all()]
        for above, below in pairwise(boxes):
            assert above["y"] + above["height"] <= below["y"] + 1.5


class TestPictures:
    def test_the_corner_is_enlarged_where_curves_are_squeezed(self, perfect, three, visit):
        page = visit(perfect)
        assert page.locator("svg.roc").count() == 2
        window = float(re.search(r"rate of (\d\S*\d)", page.locator("#zoom-title").text_content())[1])
        roc = page.evaluate("JSON.parse(document.getElementById('multiauc-numbers').textContent).models[0].roc")
        path = page.locator("svg.roc .line").nth(1).get_attribute("d")
        points = np.array([pair.split(",") for pair in path[1:].split("L")], dtype=float)
        np.testing.assert_allclose(points[:, 0] / 420 * window, roc["fpr"], atol=2e-4 * window)
        np.testing.assert_allclose(1 - points[:, 1] / 420 * window, roc["tpr"], atol=2e-4 * window)
        # The bend is in the middle of the picture, not in its corner.
        bend = np.min(np.maximum(points[:, 0], points[:, 1])) / 420
        assert 0.05 < bend < 0.8
        assert visit(three).locator("svg.roc").count() == 1

    @pytest.mark.parametrize("width", [768, 1100, 1600])
    def test_map_and_curves_use_the_width(self, twenty, visit, width):
        page = visit(twenty, width=width)
        room = page.locator("main section").first.bounding_box()["width"]
        assert page.locator("#heat").bounding_box()["width"] > 0.9 * room
        panels = [panel.bounding_box() for panel in page.locator("svg.roc").all()]
        assert sum(panel["width"] for panel in panels) > 0.65 * room

    def test_columns_are_turned_only_if_they_must_be(self, three, twenty, many, visit):
        turned = "[...document.querySelectorAll('#heat [data-column]')].map((node) => node.hasAttribute('transform'))"
        assert not any(visit(many).evaluate(turned))
        assert not any(visit(many, width=390).evaluate(turned))
        assert all(visit(three, width=390).evaluate(turned))
        assert all(visit(twenty, width=390).evaluate(turned))

    def test_the_map_follows_the_window(self, many, visit):
        page = visit(many, width=1100)
        before = page.locator("#heat").bounding_box()["width"]
        page.set_viewport_size({"width": 390, "height": 800})
        page.wait_for_function("document.getElementById('heat').getBoundingClientRect().width < 380")
        assert page.locator("#heat").bounding_box()["width"] < before

    def test_no_cell_reads_one_unless_it_is(self, perfect, visit):
        page = visit(perfect)
        (evaluation,) = perfect.evaluations.values()
        values = evaluation.auc_mu_matrix.values
        texts = page.locator("#heat .number").all_text_contents()
        exact = [value for value in values.ravel() if not np.isnan(value)]
        assert min(exact) > 0.9995
        for text, value in zip(texts, exact, strict=True):
            assert (float(text) == 1.0) == (value == 1.0)

    def test_an_empty_name_is_shown(self, many, visit):
        page = visit(many)
        assert "(empty)" in page.locator("#heat [data-column] tspan").all_text_contents()
        assert "" not in [text.strip() for text in page.locator("tbody th").all_text_contents()]
        page.locator("#heat").focus()
        for _ in range(5):
            page.keyboard.press("ArrowUp")
            page.keyboard.press("ArrowLeft")
        rows = next(iter(many.evaluations.values())).counts[0]
        assert page.locator("#readout").text_content() == f"(empty): {rows} rows"
