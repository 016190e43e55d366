"""The site that `make docs` built, opened from the disk: on a phone, in the dark, without a network, searched."""

from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "target" / "docs"
PAGES = sorted(str(page.relative_to(SITE)) for page in SITE.rglob("*.html") if "_static" not in page.parts)

if not PAGES:
    pytest.skip("the site is not built: make docs does that, and make test-browser", allow_module_level=True)

# The worst contrast between text and what is behind it, and that text.
WORST_CONTRAST = """() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const parts = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, below) => top.slice(0, 3).map((v, k) => v * top[3] + below[k] * (1 - top[3]));
    const light = (rgb) => {
        const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (node) => {
        if (!node) return [255, 255, 255];
        const own = parts(getComputedStyle(node).backgroundColor);
        return own[3] === 1 ? own.slice(0, 3) : over(own, behind(node.parentElement));
    };
    let worst = [21, ""];
    for (const node of document.querySelectorAll("article *:not(svg *, script)")) {
        const text = [...node.childNodes].map((child) => (child.nodeType === 3 ? child.data.trim() : "")).join("");
        if (!text || !node.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
        const below = behind(node);
        const [a, b] = [light(over(parts(getComputedStyle(node).color), below)), light(below)];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < worst[0]) worst = [ratio, text.slice(0, 40)];
    }
    return worst;
}"""


@pytest.fixture
def open_page(browser):
    """Opens pages one after another. At the end: no error, no warning, and no request but for files of the site."""
    trouble, contexts = [], []

    def opened(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: trouble.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"{page.url}: {error}"))
        page.on("requestfailed", lambda request: trouble.append(f"{page.url}: {request.url}"))
        page.on("request", lambda request: is_own(request.url) or trouble.append(f"{page.url}: {request.url}"))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


def is_own(address):
    return address.startswith((SITE.as_uri(), "data:"))


def test_every_page_on_a_phone(open_page):
    """No page is wider than the screen: wide tables, formulas and lines of code scroll by themselves.

    Text has contrast in light and dark; pictures are there and described.
    """
    page = open_page(viewport={"width": 390, "height": 800})
    trouble, pictures = [], 0
    for name in PAGES:
        page.goto((SITE / name).as_uri())
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            trouble.append((name, width))
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            ratio, text = page.evaluate(WORST_CONTRAST)
            if ratio < 4.5:
                trouble.append((name, scheme, round(ratio, 2), text))
        described = page.evaluate("[...document.querySelectorAll('article img')].map((x) => [x.naturalWidth, x.alt])")
        pictures += len(described)
        trouble += [(name, alt) for wide, alt in described if wide == 0 or len(alt) < 10]
    assert trouble == []
    assert pictures > 10


#: What people type, and the page (or the part of it) that should come first.
QUERIES = {
    "evaluate": "reference/evaluation.html#multiauc.evaluate",
    "compare": "reference/comparison.html#multiauc.compare",
    "auc_mu_score": "reference/scores.html#multiauc.auc_mu_score",
    "roc_auc_score": "replace-what-you-use-today.html",
    "logits": "limits.html",
    "p-value": "how-to/compare-models.html",
    "multi-label": "faq.html",
    "standard error": "uncertainty.html",
    "confidence interval": "uncertainty.html",
    "bootstrap": "bootstrap.html",
    "install": "install.html",
    "spark": "spark.html",
    "sparse": "sparse.html",
    "cost": "costs.html",
    "weights": "how-to/weights-and-groups.html",
    "cross-validation": "how-to/cross-validation.html",
    "missing class": "how-to/missing-classes.html",
    "sample size": "how-to/how-many-rows.html",
    "report": "report.html",
    "LightGBM": "replace-what-you-use-today.html",
    "pROC": "coming-from-r.html",
    "checkpoint": "larger-than-memory.html",
    "JSON": "json.html",
}


def test_search_puts_the_right_page_first(open_page):
    wrong = {}
    for words, wanted in QUERIES.items():
        page = open_page()
        page.goto((SITE / "index.html").as_uri())
        page.locator("input[name=q]").fill(words)
        page.keyboard.press("Enter")
        page.locator("#search-results p.search-summary", has_text="finished").wait_for()
        first = page.locator("#search-results li > a").first.evaluate("node => node.href.replace(/[?][^#]*/, '')")
        if not first.startswith((SITE / wanted).as_uri().replace("%23", "#")):
            wrong[words] = first
    assert wrong == {}


def test_formulas_are_drawn_without_scripts(open_page):
    """Every formula is an SVG of some size that is described; none is left as text."""
    page = open_page(java_script_enabled=False)
    drawn = 0
    for name in ("reference/scores.html", "reference/evaluation.html", "definitions.html", "uncertainty.html"):
        page.goto((SITE / name).as_uri())
        for formula in page.locator("svg.math").all():
            box = formula.bounding_box()
            assert box["width"] > 3
            assert box["height"] > 5
            assert formula.get_attribute("aria-label")
            drawn += 1
        assert page.locator("math").count() == 0
    assert drawn > 40


def test_figures_are_dark_on_dark_pages(open_page):
    """A figure has a dark twin, or its colours are inverted."""
    page = open_page(color_scheme="dark")
    bright = []
    for name in PAGES:
        page.goto((SITE / name).as_uri())
        bright += page.evaluate(
            """[...document.querySelectorAll("article img")]
                .filter((x) => x.checkVisibility() && !x.classList.contains("only-dark"))
                .filter((x) => !getComputedStyle(x).filter.includes("invert")).map((x) => x.src)"""
        )
    assert bright == []


def test_names_lead_to_the_reference(open_page):
    page = open_page(viewport={"width": 1400, "height": 800})
    page.goto((SITE / "definitions.html").as_uri())
    page.locator("article").get_by_role("link", name="auc_mu_matrix", exact=True).click()
    assert page.url.endswith("reference/scores.html#multiauc.auc_mu_matrix")
