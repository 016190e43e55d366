"""Reliability curves: bins by their definition, scikit-learn's points, Wilson's limits, and the plot."""

import math

import numpy as np
import pytest
from scipy import stats

import multiauc
from multiauc.plotting import ReliabilityDisplay


@pytest.fixture
def data(rng):
    """Calibrated probabilities of three classes."""
    p = rng.dirichlet([1.0, 1.0, 1.0], size=900)
    return (rng.random(900)[:, None] > p.cumsum(axis=1)).sum(axis=1), p


class TestPoints:
    @pytest.mark.parametrize("strategy", ["quantile", "uniform"])
    @pytest.mark.parametrize("n_bins", [1, 5, 10])
    @pytest.mark.parametrize("digits", [None, 1])
    def test_they_are_those_of_scikit_learn(self, data, strategy, n_bins, digits):
        calibration_curve = pytest.importorskip("sklearn.calibration").calibration_curve
        y_true, p = data
        if digits is not None:
            p = np.round(p[:, :2], digits)
            p = np.column_stack([p, 1.0 - p.sum(axis=1)])
        curves = multiauc.reliability_curves(y_true, np.abs(p), n_bins=n_bins, strategy=strategy)
        for k, curve in curves.items():
            observed, predicted = calibration_curve(y_true == k, np.abs(p[:, k]), n_bins=n_bins, strategy=strategy)
            np.testing.assert_allclose(curve.observed, observed, rtol=1e-13)
            np.testing.assert_allclose(curve.predicted, predicted, rtol=1e-13)
            assert curve.rows.sum() == 900

    def test_bins_by_the_definition(self, data):
        y_true, p = data
        curve = multiauc.reliability_curves(y_true, p, n_bins=9)[1]
        order = np.argsort(p[:, 1])
        for k, rows in enumerate(np.split(order, 9)):
            assert curve.rows[k] == 100
            assert curve.predicted[k] == pytest.approx(p[rows, 1].mean(), rel=1e-12)
            assert curve.observed[k] == pytest.approx((y_true[rows] == 1).mean(), rel=1e-12)

    def test_equal_probabilities_stay_together(self):
        p = np.repeat([0.2, 0.7], [30, 10])
        curve = multiauc.reliability_curves(np.arange(40) % 2, p, n_bins=4)[1]
        assert curve.rows.tolist() == [30, 10]

    def test_whole_weights_are_repeated_rows(self, data, rng):
        y_true, p = data
        weights = rng.integers(0, 3, size=900)
        found = multiauc.reliability_curves(y_true, p, n_bins=6, strategy="uniform", sample_weight=weights)
        again = np.repeat(np.arange(900), weights)
        expected = multiauc.reliability_curves(y_true[again], p[again], n_bins=6, strategy="uniform")
        for k, curve in found.items():
            np.testing.assert_allclose(curve.observed, expected[k].observed, rtol=1e-12)
            np.testing.assert_allclose(curve.predicted, expected[k].predicted, rtol=1e-12)
            assert (curve.rows <= expected[k].rows).all()
            assert (curve.sizes <= curve.rows + 1e-9).all()

    def test_one_score_is_that_of_the_second_class(self, data):
        y_true, p = data[0] > 0, 1.0 - data[1][:, 0]
        one = multiauc.reliability_curves(y_true, p)
        two = multiauc.reliability_curves(y_true, np.column_stack([1.0 - p, p]))
        for label in (False, True):
            np.testing.assert_allclose(one[label].predicted, two[label].predicted, rtol=1e-12)
            np.testing.assert_array_equal(one[label].observed, two[label].observed)

    def test_logits_and_frames(self, data):
        pd = pytest.importorskip("pandas")
        y_true, p = data
        expected = multiauc.reliability_curves(y_true, p)
        logits = multiauc.reliability_curves(y_true, np.log(p) + 3.0, outputs="logits")
        np.testing.assert_allclose(logits[2].predicted, expected[2].predicted, rtol=1e-12)
        frame = pd.DataFrame(p[:, [2, 0, 1]], columns=[2, 0, 1])
        assert multiauc.reliability_curves(y_true, frame, labels=[0, 1, 2])[2] == expected[2]

    def test_a_class_without_rows(self, data):
        y_true, p = np.where(data[0] == 2, 1, data[0]), data[1]
        options = {"labels": [0, 1, 2]}
        with pytest.raises(ValueError, match="no rows"):
            multiauc.reliability_curves(y_true, p, **options)
        assert list(multiauc.reliability_curves(y_true, p, absent="ignore", **options)) == [0, 1]
        missing = multiauc.reliability_curves(y_true, p, absent="nan", **options)[2]
        assert math.isnan(missing.observed[0])

    def test_errors(self, data):
        y_true, p = data
        with pytest.raises(ValueError, match=r"probabilities.* to be compared with shares of rows; got"):
            multiauc.reliability_curves(y_true, 2.0 * p)
        with pytest.raises(ValueError, match="n_bins"):
            multiauc.reliability_curves(y_true, p, n_bins=0)
        with pytest.raises(ValueError, match=r"strategy must be .*'quantile'"):
            multiauc.reliability_curves(y_true, p, strategy="kmeans")


class TestBand:
    def test_limits_are_wilsons(self, data):
        curve = multiauc.reliability_curves(*data)[0]
        low, high = curve.band(0.9)
        for k, rows in enumerate(curve.rows.tolist()):
            hits = round(curve.observed[k] * rows)
            expected = stats.binomtest(hits, rows).proportion_ci(0.9, method="wilson")
            assert (low[k], high[k]) == pytest.approx((expected.low, expected.high), abs=1e-12)

    def test_they_cover(self):
        """Of calibrated probabilities, about 95% of the bins hold their mean prediction."""
        held = []
        for seed in range(60):
            rng = np.random.default_rng(seed)
            p = rng.dirichlet([1.0, 1.0, 1.0], size=500)
            y_true = (rng.random(500)[:, None] > p.cumsum(axis=1)).sum(axis=1)
            curve = multiauc.reliability_curves(y_true, p)[0]
            low, high = curve.band()
            held.append((low <= curve.predicted) & (curve.predicted <= high))
        assert 0.93 <= np.mean(held) <= 0.98

    def test_the_table(self, data):
        pytest.importorskip("pandas")
        curve = multiauc.reliability_curves(*data)[0]
        frame = curve.to_frame(0.9, library="pandas")
        assert list(frame) == ["predicted", "observed", "low", "high", "rows"]
        np.testing.assert_array_equal(frame["low"], curve.band(0.9)[0])
        assert curve.to_dict()["rows"] == curve.rows.tolist()


class TestPlot:
    def test_curves_bands_and_names(self, data):
        display = ReliabilityDisplay.from_predictions(*data, n_bins=8, level=0.9)
        curves = multiauc.reliability_curves(*data, n_bins=8)
        assert list(display.lines_) == [0, 1, 2]
        for key, line in display.lines_.items():
            np.testing.assert_array_equal(line.get_xdata(), curves[key].predicted)
            np.testing.assert_array_equal(line.get_ydata(), curves[key].observed)
            corners = display.bands_[key].get_paths()[0].vertices
            low, high = curves[key].band(0.9)
            assert corners[:, 1].min() == pytest.approx(low.min())
            assert corners[:, 1].max() == pytest.approx(high.max())
        assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["0", "1", "2"]
        assert ReliabilityDisplay(curves).plot(level=None).bands_ == {}
        assert curves[1].plot().lines_[1].get_label() == "1"

    def test_many_classes_name_the_farthest(self, rng):
        p = rng.dirichlet(np.ones(12), size=600)
        y_true = (rng.random(600)[:, None] > p.cumsum(axis=1)).sum(axis=1)
        display = ReliabilityDisplay.from_predictions(y_true, p, labels=range(12))
        curves = multiauc.reliability_curves(y_true, p, labels=range(12))
        distance = {key: np.abs(curve.observed - curve.predicted).max() for key, curve in curves.items()}
        assert set(display.bands_) == set(sorted(distance, key=distance.get)[-8:])
        assert display.ax_.get_legend().get_texts()[0].get_text() == "4 others"
