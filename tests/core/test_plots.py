"""Plots: what they show is what the results hold, and they can be drawn on shared axes."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy import stats

import multiauc
from multiauc.plotting import (
    ComparisonDisplay,
    MulticlassRocDisplay,
    PairMatrixDisplay,
    RocCurvesDisplay,
    SimplexDisplay,
)
from multiclass_roc_data import shifted_normals


def sample(rng, k, n_per_class=20):
    """Softmax scores of k classes with names."""
    codes = np.repeat(np.arange(k), n_per_class)
    logits = rng.normal(size=(len(codes), k)) + 1.5 * np.eye(k)[codes]
    scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return np.array([f"class {c}" for c in range(k)])[codes], scores, [f"class {c}" for c in range(k)]


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def drawn_pixels(display):
    """Draw for real, so that a faulty artist shows."""
    display.figure_.canvas.draw()
    return np.asarray(display.figure_.canvas.buffer_rgba())


class TestMulticlassRoc:
    @pytest.fixture
    def roc(self, rng):
        return multiauc.multiclass_roc(*shifted_normals(rng, 120, 3))

    def test_curve_chance_and_area(self, roc):
        display = roc.plot()
        assert legend(display) == [f"D = {roc.auc:.3f}"]
        assert len(display.ax_.lines) == 2
        np.testing.assert_array_equal(display.line_.get_ydata(), roc.tpr)

    def test_several_models_share_axes(self, roc, rng):
        other = multiauc.multiclass_roc(*shifted_normals(rng, 100, 4))
        display = roc.plot(label="one", band=roc.bootstrap(20, rng=0).band(), pairs=True, color="black")
        assert other.plot(display.ax_, label="other").ax_ is display.ax_
        assert [text[:5] for text in legend(display)] == ["one (", "other"]
        assert len(display.ax_.lines) == 1 + 1 + 6 + 1
        assert len(display.ax_.collections) == 1
        assert drawn_pixels(display).std() > 0

    def test_models_differ_in_colour_and_in_dashes(self, roc):
        first = roc.plot()
        second = roc.plot(first.ax_)
        assert first.line_.get_color() != second.line_.get_color()
        assert first.line_.get_linestyle() != second.line_.get_linestyle()

    def test_a_pickled_curve_can_be_drawn(self, roc):
        assert pickle.loads(pickle.dumps(roc)).plot().ax_.lines

    def test_from_predictions_is_the_same_curve(self, rng):
        codes, scores = shifted_normals(rng, 120, 3)
        display = MulticlassRocDisplay.from_predictions(codes, scores, thresholds=30)
        assert display.roc.auc == multiauc.multiclass_roc(codes, scores, thresholds=30).auc


class TestPairMatrix:
    def test_cells_numbers_and_names(self, rng):
        y_true, y_score, labels = sample(rng, 4)
        matrix = multiauc.auc_mu_matrix(y_true, y_score, labels=labels)
        display = matrix.plot()
        np.testing.assert_array_equal(display.im_.get_array().filled(np.nan), matrix.values)
        assert [text.get_text() for text in display.ax_.get_xticklabels()] == labels
        written = {text.get_position(): text.get_text() for text in display.text_}
        assert len(written) == 12
        assert written[1, 0] == f"{matrix.values[0, 1]:.3f}".removeprefix("0")
        assert drawn_pixels(display).std() > 0

    def test_worst_first_gathers_the_worst_pair_in_the_corner(self, rng):
        y_true, y_score, labels = sample(rng, 6)
        matrix = multiauc.auc_mu_matrix(y_true, y_score, labels=labels)
        display = matrix.plot(order="worst")
        assert display.im_.get_array()[0, 1] == np.nanmin(matrix.values)
        names = [text.get_text() for text in display.ax_.get_yticklabels()]
        assert set(names[:2]) == set(matrix.worst(1)[0][:2])

    def test_a_hundred_classes_are_all_named_and_the_names_do_not_touch(self, rng):
        y_true, y_score, labels = sample(rng, 100, 5)
        display = multiauc.auc_mu_matrix(y_true, y_score, labels=labels).plot(order="worst")
        assert display.text_ == []
        drawn_pixels(display)
        renderer = display.figure_.canvas.get_renderer()
        names = display.ax_.get_yticklabels()
        assert len(names) == 100
        heights = sorted(name.get_window_extent(renderer).y0 for name in names)
        tallest = max(name.get_window_extent(renderer).height for name in names)
        assert np.diff(heights).min() >= 0.8 * tallest

    def test_absent_classes_are_blank_and_last(self, rng):
        y_true, y_score, labels = sample(rng, 4)
        matrix = multiauc.auc_mu_matrix(
            y_true[y_true != "class 1"], y_score[y_true != "class 1"], labels=labels, absent="nan"
        )
        display = matrix.plot(order="worst")
        assert display.ax_.get_xticklabels()[-1].get_text() == "class 1"
        assert len(display.text_) == 6

    def test_lightness_falls_with_separation(self):
        """Readable in grey: the colours of better pairs are lighter, all along the scale."""
        values = np.array([[np.nan, 0.6], [0.6, np.nan]])
        display = PairMatrixDisplay(multiauc.PairMatrix(values, ("a", "b"), np.array([1, 1]), "auc_mu")).plot()
        colours = display.im_.cmap(np.linspace(0, 1, 64))[:, :3]
        assert np.all(np.diff(colours @ [0.2126, 0.7152, 0.0722]) > 0)

    def test_options_are_checked_by_name(self, rng):
        y_true, y_score, labels = sample(rng, 3)
        with pytest.raises(ValueError, match="order must be one of 'labels', 'worst'; got 'size'"):
            multiauc.auc_mu_matrix(y_true, y_score, labels=labels).plot(order="size")


class TestRocCurves:
    def test_every_class_with_its_area(self, rng):
        y_true, y_score, labels = sample(rng, 4)
        display = RocCurvesDisplay.from_predictions(y_true, y_score, labels=labels)
        areas = multiauc.one_vs_rest_per_class(y_true, y_score, labels=labels)
        assert legend(display) == [f"{label} (AUC {areas[label]:.3f})" for label in labels]
        assert list(display.lines_) == labels
        assert drawn_pixels(display).std() > 0

    def test_pairs_name_the_worst_and_count_the_others(self, rng):
        y_true, y_score, labels = sample(rng, 5, 21)
        display = RocCurvesDisplay.from_predictions(y_true, y_score, labels=labels, kind="pairwise")
        worst = multiauc.hand_till_matrix(y_true, y_score, labels=labels).worst(8)
        shown = legend(display)
        assert shown[0] == "12 others"
        assert shown[1:] == [f"{c} from {d} (AUC {value:.3f})" for c, d, value in worst]
        assert len(display.lines_) == 20

    def test_chosen_names_and_unknown_ones(self, rng):
        y_true, y_score, labels = sample(rng, 4)
        display = RocCurvesDisplay.from_predictions(y_true, y_score, labels=labels, names=["class 2"])
        assert legend(display)[0] == "3 others"
        assert legend(display)[1].startswith("class 2 (")
        with pytest.raises(ValueError, match="names has no curve for 'class 9'; there are curves for 'class 0'"):
            display.plot(names=["class 9"])

    def test_one_curve_alone(self, rng):
        y_true, y_score, labels = sample(rng, 3)
        curve = multiauc.roc_curves(y_true, y_score, labels=labels)["class 1"]
        display = curve.plot()
        np.testing.assert_array_equal(display.lines_["class 1"].get_xdata(), curve.fpr)


class TestSimplex:
    def test_points_and_regions_of_the_argmax(self, rng):
        y_true, y_score, labels = sample(rng, 3)
        display = SimplexDisplay.from_predictions(y_true, y_score, labels=labels)
        assert [len(points.get_offsets()) for points in display.points_] == [20, 20, 20]
        assert len(display.regions_) == 3
        for point, scores in zip(display.points_[0].get_offsets(), y_score[:20], strict=True):
            inside = [region.get_path().contains_point(point) for region in display.regions_]
            assert np.flatnonzero(inside).tolist() == [scores.argmax()]
        assert drawn_pixels(display).std() > 0

    @pytest.mark.parametrize("seed", range(20))
    def test_regions_are_where_the_expected_cost_is_smallest(self, seed):
        rng = np.random.default_rng(seed)
        costs = rng.integers(0, 6, size=(3, 3)).astype(float)
        np.fill_diagonal(costs, 0.0)
        points = rng.dirichlet(np.ones(3), size=60)
        display = SimplexDisplay(points, rng.integers(3, size=60), "abc", partition=costs)
        regions = [plt.Polygon(display._region(k)) if len(display._region(k)) > 2 else None for k in range(3)]
        corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
        for point in points:
            expected = costs @ point
            if np.diff(np.sort(expected))[0] < 1e-6:
                continue
            found = [k for k in range(3) if regions[k] and regions[k].get_path().contains_point(point @ corners)]
            assert found == [expected.argmin()]

    def test_a_class_that_is_never_predicted_has_no_region(self, rng):
        y_true, y_score, labels = sample(rng, 3)
        costs = [[0, 1, 1], [1, 0, 1], [9, 9, 0]]
        assert len(SimplexDisplay.from_predictions(y_true, y_score, labels=labels).regions_) == 3
        never = [[0, 1, 1], [1, 0, 1], [9, 9, 1]]
        display = SimplexDisplay.from_predictions(y_true, y_score, labels=labels, partition=never)
        assert len(display.regions_) == 2
        assert len(SimplexDisplay.from_predictions(y_true, y_score, labels=labels, partition=costs).regions_) == 3

    def test_many_points_are_thinned_and_the_title_says_so(self, rng):
        scores = rng.dirichlet(np.ones(3), size=6000)
        display = SimplexDisplay.from_predictions(rng.integers(3, size=6000), scores)
        assert sum(len(points.get_offsets()) for points in display.points_) == 5000
        assert display.ax_.get_title() == "5000 of 6000 predictions"

    def test_what_has_no_place_in_a_triangle(self, rng):
        with pytest.raises(ValueError, match="y_score must have three columns to be drawn in a triangle; got 4"):
            SimplexDisplay.from_predictions(np.arange(8) % 4, rng.dirichlet(np.ones(4), size=8))
        with pytest.raises(ValueError, match="the sum of a row 1, to be drawn in a triangle; got 1, 1, 1 in row 0"):
            SimplexDisplay.from_predictions(np.arange(9) % 3, np.ones((9, 3)))


class TestEstimators:
    def test_from_estimator_takes_probabilities_and_class_names(self, rng):
        linear_model = pytest.importorskip("sklearn.linear_model")
        features = rng.normal(size=(120, 2)) + 2 * np.repeat(np.eye(3)[:, :2], 40, axis=0)
        y = np.repeat(["cat", "ant", "bee"], 40)
        model = linear_model.LogisticRegression().fit(features, y)
        expected = multiauc.auc_mu_matrix(y, model.predict_proba(features), labels=model.classes_)
        display = PairMatrixDisplay.from_estimator(model, features, y)
        assert display.matrix.labels == expected.labels == ("ant", "bee", "cat")
        np.testing.assert_array_equal(display.matrix.values, expected.values)
        for other in (MulticlassRocDisplay, RocCurvesDisplay, SimplexDisplay):
            assert other.from_estimator(model, features, y).ax_.figure

    def test_an_estimator_without_scores(self):
        class Silent:
            classes_ = (0, 1)

        with pytest.raises(TypeError, match="estimator must have predict_proba or decision_function; got Silent"):
            PairMatrixDisplay.from_estimator(Silent(), None, [0, 1])


class TestComparison:
    @pytest.fixture
    def comparison(self, rng):
        y_true, y_score, labels = sample(rng, 3, 40)
        models = {f"model {k}": y_score + 0.2 * k * (rng.random(y_score.shape) - y_score) for k in range(3)}
        models = {name: scores / scores.sum(axis=1, keepdims=True) for name, scores in models.items()}
        return multiauc.compare(y_true, models, labels=labels)

    def test_estimates_and_differences_with_their_intervals(self, comparison):
        display = comparison.plot(level=0.9)
        left, right = display.axes_
        assert [text.get_text() for text in left.get_yticklabels()] == ["model 0", "model 1", "model 2"]
        assert right.get_yticklabels()[0].get_text() == "model 0 - model 1"
        limits = comparison.estimates["model 1"].confidence_interval(0.9)
        assert tuple(left.lines[2].get_xdata()) == tuple(limits)
        assert left.lines[3].get_xdata()[0] == comparison.estimates["model 1"].value
        difference = comparison.difference("model 0", "model 2")
        together = comparison.simultaneous_intervals(0.9)["model 0", "model 2"]
        np.testing.assert_allclose(right.lines[3].get_xdata(), together, rtol=1e-12)
        assert right.lines[4].get_xdata()[0] == difference.value
        assert drawn_pixels(display).std() > 0

    def test_on_axes_of_ones_own(self, comparison):
        figure, axes = plt.subplots(1, 2)
        assert comparison.plot(axes).figure_ is figure
        with pytest.raises(ValueError, match="ax must be two axes, for the estimates and for their differences; got 1"):
            comparison.plot([axes[0]])

    def test_from_predictions(self, rng):
        y_true, y_score, labels = sample(rng, 3, 40)
        models = {"a": y_score, "b": y_score[:, ::-1] / 4 + 3 * y_score / 4}
        display = ComparisonDisplay.from_predictions(y_true, models, labels=labels)
        assert list(display.comparison.estimates) == ["a", "b"]

    @pytest.mark.slow
    def test_many_models_fit_a_screen(self, rng):
        y_true, y_score, labels = sample(rng, 3, 40)
        for count in (8, 30):
            models = {f"model {k}": y_score + 0.1 * (count - k) * rng.random(y_score.shape) for k in range(count)}
            comparison = multiauc.compare(y_true, models, labels=labels)
            display = comparison.plot()
            assert display.figure_.get_figheight() <= 8
            best = max(models, key=lambda name: comparison.estimates[name].value)
            names = [text.get_text() for text in display.axes_[1].get_yticklabels()]
            assert names == [f"{best} - {name}" for name in models if name != best]
            values = [line.get_xdata()[0] for line in display.axes_[1].lines[2::2]]
            for name, value in zip([name for name in models if name != best], values, strict=True):
                assert value == pytest.approx(comparison.difference(best, name).value, abs=1e-15)
            for limits, value in zip(display.axes_[1].lines[1::2], values, strict=True):
                low, high = limits.get_xdata()
                assert low < value < high
            heights = [text.get_window_extent().height for text in display.axes_[0].get_yticklabels()]
            rows = display.axes_[0].get_window_extent().height / count
            assert max(heights) <= 1.1 * rows


def near_perfect(rng, k=3, n=900, sight=6.0):
    codes = np.arange(n) % k
    logits = rng.normal(size=(n, k)) + sight * np.eye(k)[codes]
    return codes, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def insets(axes):
    return [child for child in axes.child_axes if child.get_gid() == "multiauc zoom"]


class TestZoom:
    def test_squeezed_curves_are_enlarged(self, rng):
        codes, scores = near_perfect(rng, sight=3.5)
        display = RocCurvesDisplay.from_predictions(codes, scores)
        (inset,) = insets(display.ax_)
        side = inset.get_xlim()[1]
        assert 0 < side < 0.5
        assert inset.get_ylim()[0] == pytest.approx(1 - side)
        for line, curve in zip(inset.lines, display.curves.values(), strict=True):
            np.testing.assert_array_equal(line.get_ydata(), curve.tpr)
        assert len(inset.collections) == 3
        assert drawn_pixels(display).std() > 0

    def test_others_are_not(self, rng):
        for sight in (0.5, 40.0):  # poor, and perfect: there is no bend to look at
            codes, scores = near_perfect(rng, sight=sight)
            assert insets(RocCurvesDisplay.from_predictions(codes, scores).ax_) == []

    def test_models_that_share_axes_share_the_zoom(self, rng):
        codes, scores = near_perfect(rng, sight=3.0)
        roc = multiauc.multiclass_roc(codes, scores)
        other = multiauc.multiclass_roc(codes, near_perfect(rng, sight=4.0)[1])
        display = roc.plot(label="one", band=roc.bootstrap(20, rng=0).band())
        other.plot(display.ax_, label="other")
        (inset,) = insets(display.ax_)
        assert len(inset.lines) == 2
        assert [line.get_color() for line in inset.lines] == [line.get_color() for line in display.ax_.lines[1:]]

    @pytest.mark.parametrize("area", [0.97, 0.997, 0.9997, 0.99997])
    def test_the_bend_is_in_the_picture(self, area):
        # A curve of two straight lines through (e, 1 - e) has the area 1 - e.
        weights = [area, 1 - area, 1 - area, area]
        display = RocCurvesDisplay.from_predictions(
            [1, 1, 0, 0], [1.0, 0.0, 1.0, 0.0], sample_weight=weights, level=None
        )
        (inset,) = insets(display.ax_)
        assert 0.05 < (1 - area) / inset.get_xlim()[1] < 0.5

    def test_no_zoom_without_a_bend(self):
        for scores in ([1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]):
            assert insets(RocCurvesDisplay.from_predictions([1, 1, 0, 0], scores).ax_) == []


class TestLegends:
    def covered(self, display):
        """Whether any curve passes under the legend, point by point, and whether the legend is in the figure."""
        display.figure_.canvas.draw()
        box = display.ax_.get_legend().get_window_extent()
        figure = display.figure_.bbox
        assert figure.x0 <= box.x0
        assert box.x1 <= figure.x1
        assert figure.y0 <= box.y0
        for line in display.ax_.lines:
            if line.get_gid() == "multiauc chance line":
                continue
            corners = np.column_stack(line.get_data())
            at = np.linspace(0, len(corners) - 1, 2000)
            points = np.column_stack([np.interp(at, np.arange(len(corners)), column) for column in corners.T])
            x, y = display.ax_.transData.transform(points).T
            if ((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)).any():
                return True
        return False

    @pytest.mark.parametrize("sight", [-1.0, 0.0, 0.3, 1.0, 3.0, 6.0])
    @pytest.mark.parametrize("k", [2, 4, 9])
    def test_no_curve_is_covered(self, rng, k, sight):
        codes, scores = near_perfect(rng, k, 180, sight)
        names = np.array([f"a class with a name {c}" for c in range(k)])
        display = RocCurvesDisplay.from_predictions(names[codes], scores)
        assert not self.covered(display)

    def test_a_layout_makes_room(self, rng):
        codes, scores = near_perfect(rng, 8, 240, 0.0)
        _, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
        display = RocCurvesDisplay.from_predictions(codes, scores, ax=axes[1])
        assert not self.covered(display)


class TestBands:
    def test_they_cover_the_curve_and_have_a_width_at_one(self, rng):
        codes, scores = near_perfect(rng, sight=40.0)
        display = RocCurvesDisplay.from_predictions(codes, scores)
        assert list(display.bands_) == [0, 1, 2]
        band = display.curves[0].band(simultaneous=False)
        assert np.all(band.high == 1.0)
        assert 0.97 < band.low[band.fpr == 0.5][0] < 0.995  # Wilson's limit of 300 of 300

    def test_coverage(self):
        """Point by point, of the curve of two normals: nominally 95%."""
        rng = np.random.default_rng(0)
        covered = 0.0
        for _ in range(300):
            scores = np.concatenate([rng.normal(1.5, 1, 50), rng.normal(size=150)])
            curve = multiauc.roc_curves(np.repeat([1, 0], [50, 150]), scores)[1]
            band = curve.band(simultaneous=False)
            truth = stats.norm.sf(stats.norm.isf(band.fpr) - 1.5)
            covered += (band.low <= truth + 1e-12) & (truth <= band.high + 1e-12)
        middle = (band.fpr > 0.02) & (band.fpr < 0.6)
        assert 0.93 < covered[middle].mean() / 300 < 0.985
        assert covered.min() / 300 > 0.88

    def test_wider_at_a_higher_level_and_for_fewer_rows(self, rng):
        few, scores = near_perfect(rng, sight=1.0, n=90)
        few, many = ((np.repeat(few, times), np.repeat(scores, times, axis=0)) for times in (1, 10))
        of_few, of_many = (multiauc.roc_curves(*data)[0] for data in (few, many))
        np.testing.assert_array_equal(of_few.tpr, of_many.tpr)
        band = of_many.band(simultaneous=False)
        for wide in (of_many.band(0.99, simultaneous=False), of_few.band(simultaneous=False)):
            assert np.all(wide.low <= band.low + 1e-12)
            assert np.all(wide.high >= band.high - 1e-12)

    def test_weights_and_levels(self, rng):
        codes, scores = near_perfect(rng, sight=1.0, n=120)
        weights = rng.exponential(size=120)
        weighted = RocCurvesDisplay.from_predictions(codes, scores, sample_weight=weights)
        for label, (own, others) in weighted.sizes.items():
            for size, rows in ((own, codes == label), (others, codes != label)):
                assert size == pytest.approx(weights[rows].sum() ** 2 / (weights[rows] ** 2).sum())
        plain = RocCurvesDisplay.from_predictions(codes, scores, sample_weight=np.full(120, 3.0))
        assert plain.sizes[0] == pytest.approx((40, 80))
        assert RocCurvesDisplay.from_predictions(codes, scores, level=None).bands_ == {}
        with pytest.raises(ValueError, match="level"):
            RocCurvesDisplay.from_predictions(codes, scores, level=95)

    def test_pairs_and_absent_classes(self, rng):
        codes, scores = near_perfect(rng, sight=1.0, n=120)
        display = RocCurvesDisplay.from_predictions(codes, scores, kind="pairwise")
        assert display.sizes[0, 1] == (40, 40)
        rows = codes != 2
        display = RocCurvesDisplay.from_predictions(codes[rows], scores[rows], labels=[0, 1, 2], absent="nan")
        assert list(display.bands_) == [0, 1]


class TestNamesOfColumns:
    def turned(self, names, rng, **options):
        k = len(names)
        codes = np.arange(20 * k) % k
        matrix = multiauc.auc_mu_matrix(np.array(names, dtype=object)[codes], rng.random((20 * k, k)), labels=names)
        display = matrix.plot(**options)
        display.figure_.canvas.draw()
        boxes = [text.get_window_extent() for text in display.ax_.get_xticklabels()]
        assert all(left.x1 <= right.x0 + 1 for left, right in pairwise(boxes))
        assert min(box.y0 for box in boxes) >= 0
        return {text.get_rotation() for text in display.ax_.get_xticklabels()}

    def test_turned_only_if_they_must_be(self, rng):
        assert self.turned(["setosa", "versicolor", "virginica"], rng) == {0.0}
        assert self.turned(list(map(str, range(10))), rng) == {0.0}
        assert self.turned([f"a long name of a class, {k}" for k in range(5)], rng) == {90.0}
        assert self.turned([f"class {k}" for k in range(40)], rng) == {90.0}

    def test_names_that_cannot_be_seen_or_look_like_formulas(self, rng):
        assert self.turned(["", "$x$", "_z"], rng) == {0.0}
        names = [text.get_text() for text in plt.gca().figure.axes[0].get_xticklabels()]
        assert names == ["(empty)", r"\$x\$", "_z"]

    def test_cells_below_one(self):
        values = np.array([[np.nan, 0.99997], [1.0, np.nan]])
        display = PairMatrixDisplay(multiauc.PairMatrix(values, ("a", "b"), np.array([9, 9]), "hand_till")).plot()
        assert [text.get_text() for text in display.text_] == [".99997", "1.000"]
