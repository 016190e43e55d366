"""A real browser, pages to open in it, and what it must not do: write errors, ask the network for anything."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

import multiauc

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
HOSTILE = ("<script>alert(1)</script>", 'dog & "co" </td>', "eel'\u2028[x]")
ANIMALS = ("cat", "dog", "eel", "fox", "giraffe", "hen", "ibis", "jackal", "kite", "lynx")
ANIMALS += ("mole", "newt", "owl", "pig", "quail", "rat", "seal", "toad", "urial", "vole")


def predictions(seed, classes, n_rows, sights):
    """Labels and the scores of models that see more or less; neighbouring classes look alike."""
    rng = np.random.default_rng(seed)
    k = len(classes)
    codes = np.concatenate([np.arange(k), np.arange(k), rng.integers(k, size=n_rows - 2 * k)])
    alike = np.exp(-np.abs(np.subtract.outer(np.arange(k), np.arange(k))))
    noise = rng.normal(size=(n_rows, k))
    models = []
    for sight in sights:
        powers = np.exp(sight * alike[codes] + noise + 0.5 * rng.normal(size=noise.shape))
        models.append(powers / powers.sum(axis=1, keepdims=True))
    return np.array(classes, dtype=object)[codes], models


class Written:
    """A report in a file, and the results that it was written from."""

    def __init__(self, path, evaluations, comparison=None):
        self.path = path
        self.evaluations = evaluations
        self.comparison = comparison


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="session")
def three(folder):
    """One model, three classes with names that would do harm if they were not escaped."""
    y_true, (scores,) = predictions(3, HOSTILE, 400, [2.0])
    evaluation = multiauc.evaluate(y_true, scores, labels=HOSTILE)
    path = evaluation.report(folder / "three.html", name="<b>forest</b>", n_resamples=30)
    return Written(path, {"<b>forest</b>": evaluation})


@pytest.fixture(scope="session")
def twenty(folder):
    """Three models, twenty classes."""
    names = ("net", "forest", "linear")
    y_true, scores = predictions(20, ANIMALS, 2000, [2.6, 2.5, 1.6])
    models = dict(zip(names, scores, strict=True))
    comparison = multiauc.compare(y_true, models, labels=ANIMALS)
    path = comparison.report(folder / "twenty.html", title="Twenty animals", n_resamples=30)
    evaluations = {name: multiauc.evaluate(y_true, found, labels=ANIMALS) for name, found in models.items()}
    return Written(path, evaluations, comparison)


@pytest.fixture(scope="session")
def hundred(folder):
    """One model, a hundred classes."""
    classes = [f"species {k:03d}" for k in range(100)]
    y_true, (scores,) = predictions(100, classes, 3000, [2.6])
    evaluation = multiauc.evaluate(y_true, scores, labels=classes)
    return Written(evaluation.report(folder / "hundred.html", n_resamples=10), {"The model": evaluation})


@pytest.fixture(scope="session")
def many(folder):
    """Twelve models, one of them with a very long name, and five classes, one of them without a name."""
    names = [f"model {k:02d}" for k in range(12)]
    names[4] = "a model with a name that goes_on_and_on_without_a_blank/2026-11-17/checkpoint-000123.parquet"
    classes = ("", "b", "c", "d", "$e$")
    y_true, scores = predictions(12, classes, 800, np.linspace(5.0, 3.0, 12))
    models = dict(zip(names, scores, strict=True))
    comparison = multiauc.compare(y_true, models, labels=classes)
    path = comparison.report(folder / "many.html", n_resamples=30)
    evaluations = {name: multiauc.evaluate(y_true, found, labels=classes) for name, found in models.items()}
    return Written(path, evaluations, comparison)


@pytest.fixture(scope="session")
def long(folder):
    """Two models and twenty classes with long names, one of which has two rows."""
    classes = [f"species with a long name number {k:02d}" for k in range(18)]
    classes += ["Supercalifragilisticexpialidocious-without-any-blank-in-it", "Ambystoma mexicanum (axolotl), larval"]
    y_true, scores = predictions(21, classes, 2000, [2.6, 1.8])
    kept = np.flatnonzero(y_true != classes[-1])
    rows = np.sort(np.concatenate([kept, np.flatnonzero(y_true == classes[-1])[:2]]))
    models = {"net": scores[0][rows], "forest": scores[1][rows]}
    comparison = multiauc.compare(y_true[rows], models, labels=classes)
    path = comparison.report(folder / "long.html", n_resamples=30)
    evaluations = {name: multiauc.evaluate(y_true[rows], found, labels=classes) for name, found in models.items()}
    return Written(path, evaluations, comparison)


@pytest.fixture(scope="session")
def perfect(folder):
    """One model that is nearly perfect."""
    y_true, (scores,) = predictions(5, ("a", "b", "c"), 1500, [6.5])
    evaluation = multiauc.evaluate(y_true, scores)
    return Written(evaluation.report(folder / "perfect.html", n_resamples=30), {"The model": evaluation})


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.fail("no chromium: install it (make test-browser does), or name one with CHROMIUM=/path/to/chromium")
    with sync_playwright() as playwright:
        # As root, as in a container, chromium runs without its sandbox only.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        started.close()


@pytest.fixture
def visit(browser):
    """Opens a report. At the end of the test: no errors, no warnings, no dialogs, no requests but for the file."""
    trouble, contexts = [], []

    def opened(written, width=1100, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        address = Path(written.path).resolve().as_uri()
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url == address or trouble.append(f"request: {request.url}"))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []
