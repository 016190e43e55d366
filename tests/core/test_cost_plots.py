"""Pictures of hulls and cost curves: what they show is what the results hold."""

import math
import pickle

import numpy as np
import pytest

import multiauc
from multiauc.plotting import RocHullDisplay


@pytest.fixture
def sample(rng):
    codes = np.repeat(np.arange(3), 30)
    return np.array(["ant", "bee", "cat"])[codes], rng.random((90, 3)) + 0.4 * np.eye(3)[codes]


@pytest.fixture
def hull(sample):
    return multiauc.roc_hulls(*sample)["ant"]


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


class TestHulls:
    def test_hull_and_curve(self, sample, hull):
        display = hull.plot()
        np.testing.assert_array_equal(display.line_.get_xdata(), hull.fpr)
        np.testing.assert_array_equal(display.line_.get_ydata(), hull.tpr)
        curve = multiauc.roc_curves(*sample)["ant"]
        drawn = [line for line in display.ax_.lines if line.get_label() == "the curve below it"]
        np.testing.assert_array_equal(drawn[0].get_ydata(), curve.tpr)
        assert legend(display) == [f"ant (hull, AUC {hull.auc:.3f})", "the curve below it"]
        assert display.cost_line_ is None

    @pytest.mark.parametrize("costs", [(1, 1), (1, 5), (5, 1), (1, 0), (0, 1)])
    def test_the_line_of_equal_costs(self, hull, costs):
        point = hull.optimum(*costs)
        display = hull.plot(optimum=point)
        (left, right), (low, high) = display.cost_line_.get_xdata(), display.cost_line_.get_ydata()
        assert min(left, right, low, high) >= -1e-12
        assert max(left, right, low, high) <= 1 + 1e-12
        if math.isinf(point.slope):
            assert left == right == point.fpr
        else:
            assert high - low == pytest.approx(point.slope * (right - left), abs=1e-12)
            at = low + point.slope * (hull.fpr - left)
            assert (hull.tpr <= at + 1e-12).all()
        assert f"equal cost {point.expected_cost:.3f}" in legend(display)

    def test_extreme_thresholds_in_words(self):
        hull = multiauc.roc_hulls([0, 1, 0, 1], [0.2, 0.1, 0.4, 0.3])[1]
        assert "best: never positive" in legend(hull.plot(optimum=hull.optimum(1, 0)))
        assert "best: always positive" in legend(hull.plot(optimum=hull.optimum(0.01, 1)))

    def test_without_data_there_is_the_hull_alone(self, hull):
        display = pickle.loads(pickle.dumps(hull)).plot()
        assert len(legend(display)) == 1

    def test_changed_data_are_noticed(self, sample):
        hull = multiauc.roc_hulls(*sample)["ant"]
        sample[1][:] = 0.5
        with pytest.raises(ValueError, match="was changed after this result was computed"):
            hull.plot()

    def test_pairs_share_axes(self, sample):
        hulls = multiauc.roc_hulls(*sample, kind="pairwise")
        display = hulls["ant", "bee"].plot(color="black")
        assert hulls["ant", "cat"].plot(display.ax_).ax_ is display.ax_
        assert display.line_.get_color() == "black"
        assert legend(display)[0].startswith("ant from bee (hull, AUC 0.")

    def test_from_predictions_and_estimators(self, sample):
        y_true, y_score = sample
        display = RocHullDisplay.from_predictions(y_true, y_score, positive="bee", cost_fn=3)
        expected = multiauc.roc_hulls(y_true, y_score)["bee"].optimum(1, 3)
        assert display.optimum == expected

        class Model:
            classes_ = ("ant", "bee", "cat")

            def predict_proba(self, scores):
                return scores

        assert RocHullDisplay.from_estimator(Model(), y_score, y_true, positive="bee", cost_fn=3).optimum == expected
        with pytest.raises(ValueError, match="positive must be one of 'ant', 'bee', 'cat'; got 'dog'"):
            RocHullDisplay.from_predictions(y_true, y_score, positive="dog")

    def test_a_class_without_rows(self, sample):
        y_true, y_score = sample
        kept = y_true != "bee"
        hull = multiauc.roc_hulls(y_true[kept], y_score[kept], labels=["ant", "bee", "cat"], absent="nan")["bee"]
        hull.plot(optimum=hull.optimum(1, 1)).figure_.canvas.draw()
        hull.cost_curve().plot().figure_.canvas.draw()


class TestCostCurves:
    def test_lines_and_envelope(self, hull):
        curve = hull.cost_curve()
        display = curve.plot()
        np.testing.assert_array_equal(display.line_.get_ydata(), curve.cost)
        # The envelope, the cost without scores, and a line for each vertex.
        assert len(display.ax_.lines) == 2 + len(hull.fpr)
        assert legend(display) == ["without scores (area 0.25)", f"ant (area {curve.area:.3f})"]

    def test_classes_share_axes(self, sample):
        hulls = multiauc.roc_hulls(*sample)
        display = hulls["ant"].cost_curve().plot()
        other = hulls["bee"].cost_curve().plot(display.ax_, linewidth=3)
        assert other.line_.get_linewidth() == 3
        assert other.line_.get_color() != display.line_.get_color()
        assert len(legend(display)) == 3

    def test_many_vertices_are_thinned(self, rng):
        codes = np.arange(200_000) % 2
        hull = multiauc.roc_hulls(codes, rng.normal(size=200_000) + codes)[1]
        assert len(hull.fpr) > 60
        assert len(hull.cost_curve().plot().ax_.lines) <= 42
