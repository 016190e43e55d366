"""Pictures: what they show is what the results hold, and they can be drawn on shared axes."""

import pickle

import numpy as np
import pytest
from matplotlib import pyplot as plt

import multiauc
from multiauc.plotting import (
    ComparisonDisplay,
    MulticlassRocDisplay,
    PairMatrixDisplay,
    RocCurvesDisplay,
    SimplexDisplay,
)
from multiclass_roc_data import shifted_normals


@pytest.fixture(autouse=True)
def _figures():
    plt.switch_backend("agg")
    yield
    plt.close("all")


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
        assert legend(display) == [f"{label} ({areas[label]:.3f})" for label in labels]
        assert list(display.lines_) == labels
        assert drawn_pixels(display).std() > 0

    def test_pairs_name_the_worst_and_count_the_others(self, rng):
        y_true, y_score, labels = sample(rng, 5, 21)
        display = RocCurvesDisplay.from_predictions(y_true, y_score, labels=labels, kind="pairwise")
        worst = multiauc.hand_till_matrix(y_true, y_score, labels=labels).worst(8)
        shown = legend(display)
        assert shown[0] == "12 others"
        assert shown[1:] == [f"{c} from {d} ({value:.3f})" for c, d, value in worst]
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
        with pytest.raises(ValueError, match=r"rows that sum to 1, to be drawn in a triangle; got \[1.0, 1.0, 1.0\]"):
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
        models = {f"model {k}": y_score + 0.2 * k * rng.random(y_score.shape) for k in range(3)}
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
        assert tuple(right.lines[3].get_xdata()) == tuple(difference.confidence_interval(0.9))
        assert right.lines[4].get_xdata()[0] == difference.value
        assert drawn_pixels(display).std() > 0

    def test_on_axes_of_ones_own(self, comparison):
        figure, axes = plt.subplots(1, 2)
        assert comparison.plot(axes).figure_ is figure
        with pytest.raises(ValueError, match="ax must be two axes, for the estimates and for their differences; got 1"):
            comparison.plot([axes[0]])

    def test_from_predictions(self, rng):
        y_true, y_score, labels = sample(rng, 3, 40)
        display = ComparisonDisplay.from_predictions(y_true, {"a": y_score, "b": y_score**2}, labels=labels)
        assert list(display.comparison.estimates) == ["a", "b"]
