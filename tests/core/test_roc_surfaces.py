"""Pictures of ROC surfaces: matplotlib's and the report's."""

import json
import re

import numpy as np
import pytest

import multiauc
from strategies import make_sample, smooth

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

from multiauc.plotting import RocSurfaceDisplay  # noqa: E402

LABELS = ["a $", "b", "<c>"]


def named_sample():
    y_true, scores = make_sample(smooth, [30, 40, 20], 4).data
    return np.array(LABELS)[y_true], scores


@pytest.fixture
def data():
    return named_sample()


def test_a_volume_draws_its_surface(data):
    volume = multiauc.hum(*data, labels=LABELS)
    display = volume.plot(points=20)
    assert isinstance(display, RocSurfaceDisplay)
    assert display.ax_.get_xlabel() == r"share of a \$ right"
    assert display.ax_.get_title().startswith("HUM by sums = 0.")
    display.figure_.canvas.draw()
    axes = plt.figure().add_subplot(projection="3d")
    assert volume.plot(axes, points=8).ax_ is axes
    with pytest.raises(TypeError, match="ax must be three-dimensional"):
        volume.plot(plt.figure().add_subplot())


def test_rates_run_from_nothing_to_everything(data):
    rates = multiauc.hum(*data, labels=LABELS, rule="prod").surface(points=12).rates
    # No offset large enough for either: all is the third class; then the first, then the second.
    np.testing.assert_array_equal(rates[:, 0, 0], [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(rates[:, -1, 0], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(rates[:, 0, -1], [0.0, 1.0, 0.0])
    assert (np.diff(rates[0], axis=0) >= 0).all()
    assert (np.diff(rates[1], axis=1) >= 0).all()


def test_reports_of_three_classes_have_the_surface(data, tmp_path):
    y_true, scores = data
    page = multiauc.evaluate(y_true, scores, labels=LABELS).report(tmp_path / "a.html", n_resamples=0)
    text = page.read_text("utf-8")
    assert "The ROC surface of the three classes" in text
    assert "&lt;c&gt; right" in text
    assert text.count('class="chart surface"') == 1
    numbers = json.loads(re.search(r'id="multiauc-numbers">(.*?)</script>', text, re.DOTALL).group(1))
    assert np.array(numbers["models"][0]["surface"]["rates"]).shape == (3, 22, 22)
    both = multiauc.compare(y_true, {"x": scores, "y": scores**2}, labels=LABELS, metric="hum")
    text = both.report(tmp_path / "b.html", n_resamples=0).read_text("utf-8")
    assert text.count('class="chart surface"') == 2
    assert "Differences in HUM" in text
    four, of_four = make_sample(smooth, [10, 10, 10, 10], 4).data
    text = multiauc.evaluate(four, of_four).report(tmp_path / "c.html", n_resamples=0).read_text("utf-8")
    assert "ROC surface" not in text


def assert_rates(surface, data, weights, rule):
    """The rates of a surface are the shares of the rows that decisions at its offsets get right."""
    y_true, scores = data
    judged = {
        "sum": scores,
        "prod": np.log(scores),
        "distance": -np.linalg.norm(scores[:, None] - np.eye(3), axis=2),
    }[rule]
    for i, a in enumerate(surface.offsets[0]):
        for j, b in enumerate(surface.offsets[1]):
            answers = np.array(LABELS)[np.argmax(judged + np.array([a, b, 0.0]), axis=1)]
            for k, label in enumerate(LABELS):
                rows = y_true == label
                share = np.average(answers[rows] == label, weights=weights[rows])
                # Offsets are such that a row is on a boundary, where rounding decides.
                assert abs(surface.rates[k, i, j] - share) <= 2.001 * weights[rows].max() / weights[rows].sum()


@pytest.mark.parametrize("rule", ["sum", "prod", "distance"])
def test_the_rates_are_those_of_decisions(data, rule):
    surface = multiauc.hum(*data, labels=LABELS, rule=rule).surface(9)
    assert_rates(surface, data, np.ones(90), rule)
    assert surface.labels == tuple(LABELS)
    frame = surface.to_frame()
    assert list(frame) == ["offset_a $", "offset_b", "rate_a $", "rate_b", "rate_<c>"]
    assert frame.iloc[9 * 2 + 5].tolist() == [surface.offsets[0, 2], surface.offsets[1, 5], *surface.rates[:, 2, 5]]
