"""Bands of the ROC curves of classes, and the sensitivity at a specificity."""

import math
import pickle

import numpy as np
import pytest
from scipy import stats

import multiauc
from internals import draw_curves

CLASSES = np.array(["ant", "bee", "cat"])


@pytest.fixture
def data(rng):
    y_true = rng.choice(CLASSES, size=150, p=[0.5, 0.3, 0.2])
    # Rounded, so that rows tie.
    return y_true, np.round(rng.normal(size=(150, 3)) + 1.2 * (y_true[:, None] == CLASSES), 1)


def normal_curve(rng, n_positive, n_negative, distance):
    """A sample of two normals and the height of their curve."""
    scores = np.concatenate([rng.normal(distance, 1.0, n_positive), rng.normal(size=n_negative)])
    return multiauc.roc_curves(np.repeat([1, 0], [n_positive, n_negative]), scores)[1]


# The false-positive rates of every band.
AT_FPR = multiauc.roc_curves([0, 1], [0.0, 1.0])[1].band(simultaneous=False).fpr


def truth(fpr, distance):
    return stats.norm.sf(stats.norm.isf(fpr) - distance)


def heights(curve):
    """The curve at the rates of its bands; the upper end where it rises straight up."""
    found = np.interp(AT_FPR, curve.fpr, curve.tpr)
    for k, rate in enumerate(AT_FPR):
        there = curve.tpr[np.abs(curve.fpr - rate) <= 1e-15]
        found[k] = there.max() if len(there) else found[k]
    return found


def holds(band, curve):
    return bool(np.all((band.low <= curve + 1e-12) & (curve <= band.high + 1e-12)))


class TestResampling:
    @pytest.mark.parametrize("sampling", ["stratified", "iid"])
    @pytest.mark.parametrize("kind", ["one_vs_rest", "pairwise"])
    @pytest.mark.parametrize("is_weighted", [False, True])
    def test_replicates_are_curves_of_weighted_rows(self, rng, data, sampling, kind, is_weighted):
        y_true, y_score = data
        weights = rng.exponential(size=150) * (rng.random(150) < 0.9) if is_weighted else np.ones(150)
        given = {"sample_weight": weights} if is_weighted else {}
        key, place = ("bee", (1, None)) if kind == "one_vs_rest" else (("bee", "cat"), (1, 2))
        curve = multiauc.roc_curves(y_true, y_score, kind=kind, **given)[key]
        found = curve.sensitivity(0.8).bootstrap(20, rng=3, sampling=sampling)
        codes = np.searchsorted(CLASSES, y_true).astype(np.uint8)
        rows = draw_curves((codes, y_score, weights if is_weighted else None, sampling), place, 3, 20)
        for row, value in zip(rows, found.replicates[:, 0], strict=True):
            again = multiauc.roc_curves(y_true, y_score, kind=kind, sample_weight=row * weights)[key]
            assert value == pytest.approx(again.sensitivity(0.8).value, abs=1e-12)

    def test_a_single_score(self, rng):
        y_true, score = np.repeat([0, 1], [40, 60]), rng.normal(size=100) + np.repeat([0.0, 1.0], [40, 60])
        one = multiauc.roc_curves(y_true, score)
        two = multiauc.roc_curves(y_true, np.stack([-score, score], axis=1))
        for label in (0, 1):
            assert one[label].band(n_resamples=50, rng=0) == two[label].band(n_resamples=50, rng=0)

    def test_the_band_is_found_by_its_definition(self, data):
        """The share of resampled curves whose band holds the sample's own is the level."""
        curve = multiauc.roc_curves(*data)["ant"]
        band = curve.band(0.9, n_resamples=100, rng=1)
        codes = np.searchsorted(CLASSES, data[0]).astype(np.uint8)
        own = heights(curve)
        levels = 1 - 2 * stats.norm.sf(np.linspace(1.6449, 5, 400))
        by_level = [curve.band(level, simultaneous=False) for level in levels]
        chosen = levels[int(np.argmin([np.abs(one.low - band.low).sum() for one in by_level]))]
        held = []
        for row in draw_curves((codes, data[1], None, "stratified"), (0, None), 1, 100):
            # Repeated rows, so that the sizes of the classes are those of the sample.
            again = multiauc.roc_curves(np.repeat(data[0], row), np.repeat(data[1], row, axis=0))["ant"]
            held.append(holds(again.band(chosen, simultaneous=False), own))
        assert 0.86 <= np.mean(held) <= 0.94


class TestBand:
    def test_limits_are_those_of_the_definition(self, data):
        """Wilson's limits of both rates, combined as parts of one distance."""
        curve = multiauc.roc_curves(*data)["bee"]
        n, m = (data[0] == "bee").sum(), (data[0] != "bee").sum()
        z = stats.norm.isf(0.05)

        def wilson(share, size):
            middle, reach = (
                share + z * z / (2 * size),
                z * math.sqrt(share * (1 - share) / size + z * z / (4 * size**2)),
            )
            return [min(1.0, max(0.0, (middle + sign * reach) / (1 + z * z / size))) for sign in (-1, 1)]

        def height(rate):
            there = curve.tpr[np.abs(curve.fpr - rate) <= 1e-15]
            return there.max() if len(there) else np.interp(rate, curve.fpr, curve.tpr)

        band = curve.band(0.9, simultaneous=False)
        for rate, low, high in zip(AT_FPR, band.low, band.high, strict=True):
            h, (below, above), (f_l, f_u) = height(rate), wilson(height(rate), n), wilson(rate, m)
            least = height(f_l) * min(1.0, f_l * m)
            most = 1.0 - (1.0 - height(f_u)) * min(1.0, (1.0 - f_u) * m)
            assert low == pytest.approx(max(0.0, h - math.hypot(h - below, h - least)), abs=1e-12)
            assert high == pytest.approx(min(1.0, h + math.hypot(above - h, most - h)), abs=1e-12)

    def test_it_holds_the_curve_and_the_pointwise_band(self, data):
        for curve in multiauc.roc_curves(*data).values():
            point, whole, wide = (
                curve.band(simultaneous=False),
                curve.band(n_resamples=100, rng=0),
                curve.band(0.99, n_resamples=100, rng=0),
            )
            assert holds(whole, heights(curve))
            for inner, outer in ((point, whole), (whole, wide)):
                assert holds(outer, inner.low)
                assert holds(outer, inner.high)
            assert whole.simultaneous
            assert not point.simultaneous
            assert repr(whole) == "RocBand(95% at 260 false-positive rates at once)"
            assert whole == curve.band(n_resamples=100, rng=0)
            assert np.all((whole.low >= 0) & (whole.high <= 1))

    @pytest.mark.slow
    def test_coverage(self):
        rng = np.random.default_rng(0)
        whole, point = [], []
        for _ in range(80):
            curve = normal_curve(rng, 50, 150, 1.5)
            height = truth(AT_FPR, 1.5)
            whole.append(holds(curve.band(n_resamples=100, rng=rng), height))
            point.append(holds(curve.band(simultaneous=False), height))
        # 95% but for a Monte-Carlo error of 2.4%; pointwise limits hold the whole curve much less often.
        assert np.mean(whole) >= 0.88
        assert np.mean(point) <= 0.85

    def test_perfect_separation_has_a_width(self):
        curve = multiauc.roc_curves(np.repeat([0, 1], 30), np.arange(60.0))[1]
        band = curve.band(n_resamples=50, rng=0)
        assert np.all(band.high == 1.0)
        assert 0.8 < band.low[AT_FPR == 0.5][0] < 0.92

    def test_groups_widen_it(self):
        rng = np.random.default_rng(1)
        groups = np.repeat(np.arange(30), 6)
        y_true = groups % 2
        score = y_true + np.repeat(rng.normal(size=30), 6) + 0.1 * rng.normal(size=180)
        curve = multiauc.roc_curves(y_true, score)[1]
        width = [np.mean(band.high - band.low) for band in (
            curve.band(n_resamples=200, rng=0), curve.band(n_resamples=200, rng=0, groups=groups))]  # fmt: skip
        assert width[1] > 1.3 * width[0]

    def test_a_class_without_rows(self, data):
        kept = data[0] != "bee"
        curves = multiauc.roc_curves(data[0][kept], data[1][kept], labels=CLASSES, absent="nan")
        assert np.isnan(curves["bee"].band(n_resamples=5, rng=0).low).all()
        found = curves["bee"].sensitivity(0.9)
        assert math.isnan(found.value)
        with pytest.warns(RuntimeWarning, match="no interval"):
            assert math.isnan(found.confidence_interval().low)
        assert np.isnan(found.bootstrap(5, rng=0).replicates).all()

    def test_errors(self, data):
        y_score = data[1].copy()
        curve = multiauc.roc_curves(data[0], y_score)["ant"]
        for asked, error, message in [
            ({"level": 2}, ValueError, "level must be a number above 0 and below 1"),
            ({"n_resamples": 0}, ValueError, "n_resamples must be a positive integer"),
            ({"simultaneous": 1}, TypeError, "simultaneous must be True or False"),
            ({"sampling": "rows"}, ValueError, "sampling must be one of"),
            ({"groups": [1, 2]}, ValueError, "groups"),
            ({"groups": np.ones(150), "simultaneous": False}, ValueError, "groups has no meaning"),
            ({"seed": 1}, TypeError, "its name here is rng="),
        ]:
            with pytest.raises(error, match=message):
                curve.band(**asked)
        for wrong in (0, 1, -0.1, math.nan):
            with pytest.raises(ValueError, match="specificity must be a number above 0 and below 1"):
                curve.sensitivity(wrong)
        found = curve.sensitivity(0.9)
        for again in (pickle.loads(pickle.dumps(curve)), multiauc.RocCurve(curve.fpr, curve.tpr, curve.thresholds, 0)):
            with pytest.raises(ValueError, match="call roc_curves on the data again"):
                again.band()
        unpickled = pickle.loads(pickle.dumps(found))
        assert unpickled.confidence_interval() == found.confidence_interval()
        with pytest.raises(ValueError, match="call roc_curves on the data again"):
            unpickled.bootstrap()
        y_score[:] = 0.0
        with pytest.raises(ValueError, match="was changed"):
            curve.band(n_resamples=5)


class TestSensitivity:
    def test_value(self):
        y_true, score = np.repeat([0, 1], [10, 4]), np.array([*range(10), 3.5, 7.5, 8.5, 20.0])
        curve = multiauc.roc_curves(y_true, score)[1]
        # With one of ten others above the threshold, two of four are. The curve is flat until the second of the others.
        for specificity, value in [(0.95, 0.25), (0.9, 0.5), (0.85, 0.5), (0.8, 0.75), (0.7, 0.75), (0.4, 1.0)]:
            assert curve.sensitivity(specificity).value == value
        # Through a tie it is straight.
        tied = multiauc.roc_curves([0, 0, 1, 1], [0, 1, 1, 2])[1]
        assert [tied.sensitivity(one).value for one in (0.75, 0.5)] == [0.75, 1.0]
        assert float(curve.sensitivity(0.9)) == curve.sensitivity(0.9).value

    def test_the_interval_is_a_point_of_the_pointwise_band(self, data):
        curve = multiauc.roc_curves(*data)["cat"]
        band = curve.band(0.9, simultaneous=False)
        for k in (30, 100, 200):
            low, high = curve.sensitivity(1.0 - AT_FPR[k]).confidence_interval(0.9)
            assert (low, high) == pytest.approx((band.low[k], band.high[k]), abs=1e-9)

    @pytest.mark.parametrize(("sizes", "distance"), [((50, 150), 1.5), ((100, 40), 1.0), ((60, 600), 2.5)])
    def test_coverage(self, sizes, distance):
        rng = np.random.default_rng(1)
        expected = truth(0.1, distance)
        closed = []
        for _ in range(400):
            low, high = normal_curve(rng, *sizes, distance).sensitivity(0.9).confidence_interval()
            closed.append(low <= expected <= high)
        # 95% but for four Monte-Carlo errors.
        assert 0.91 <= np.mean(closed) <= 0.99

    def test_bootstrap_agrees_with_the_closed_form(self, rng):
        found = normal_curve(rng, 300, 500, 1.5).sensitivity(0.9)
        low, high = found.bootstrap(400, rng=0).confidence_interval("sensitivity", method="percentile")
        assert (low, high) == pytest.approx(tuple(found.confidence_interval()), abs=0.025)

    def test_at_one(self):
        found = multiauc.roc_curves(np.repeat([0, 1], 30), np.arange(60.0))[1].sensitivity(0.9)
        assert found.value == 1.0
        low, high = found.confidence_interval()
        assert 0.85 < low < 0.9
        assert high == 1.0
        assert found.bootstrap(50, rng=0).confidence_interval("sensitivity").low == pytest.approx(0.025 ** (1 / 30))
