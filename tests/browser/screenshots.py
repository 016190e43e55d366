"""Screenshots of reports to look at (`make screenshots`): phone and desktop, light and dark, 3, 20 and 100 classes."""

import os
from pathlib import Path

from playwright.sync_api import sync_playwright

import multiauc
from conftest import ANIMALS, CHROMIUM, HOSTILE, predictions

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "screenshots"
WIDTHS = {"phone": 390, "desktop": 1100}


def write_reports() -> dict[str, Path]:
    """The reports by name."""
    reports = {}
    y_true, (scores,) = predictions(3, HOSTILE, 400, [2.0])
    evaluation = multiauc.evaluate(y_true, scores, labels=HOSTILE)
    reports["three"] = evaluation.report(FOLDER / "three.html", name="forest")
    y_true, models = predictions(20, ANIMALS, 2000, [2.9, 2.5, 1.6])
    named = dict(zip(("deep net", "random forest", "linear"), models, strict=True))
    comparison = multiauc.compare(y_true, named, labels=ANIMALS)
    reports["twenty"] = comparison.report(FOLDER / "twenty.html", title="Twenty animals")
    classes = [f"species {k:03d}" for k in range(100)]
    y_true, (scores,) = predictions(100, classes, 3000, [2.6])
    evaluation = multiauc.evaluate(y_true, scores, labels=classes)
    reports["hundred"] = evaluation.report(FOLDER / "hundred.html", name="deep net", n_resamples=20)
    return reports


def main() -> None:
    """Write the reports, capture them whole, and the top of one for the docs, light and dark."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    reports = write_reports()
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        for device, width in WIDTHS.items():
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
                for name, path in reports.items():
                    page.goto(path.as_uri())
                    page.screenshot(path=FOLDER / f"{name}-{device}-{scheme}.png", full_page=True)
                page.close()
        for scheme, name in (("light", "report.png"), ("dark", "report-dark.png")):
            page = browser.new_page(viewport={"width": 1000, "height": 900}, color_scheme=scheme)
            page.goto(reports["twenty"].as_uri())
            page.screenshot(path=ROOT / "docs" / "figures" / name)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
