"""What all results can do: frames, JSON, equality, copies; cells, arrays and numbers."""

import copy
import json
import math
import pickle
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt

import multiauc
from multiauc.plotting import EvaluationDisplay

pd = pytest.importorskip("pandas")

CLASSES = ["ant", "bee", "cat"]


def data(seed=0, n=120):
    rng = np.random.default_rng(seed)
    y_true = rng.choice(CLASSES, size=n)
    return y_true, rng.random((n, 3)) + 0.5 * (y_true[:, None] == CLASSES)


def all_results(seed=0):
    """A result of every kind, by the name of its class."""
    y_true, y_score = data(seed)
    evaluation = multiauc.evaluate(y_true, y_score)
    comparison = multiauc.compare(y_true, {"a": y_score, "b": y_score**2 + 0.1 * data(seed + 1)[1]})
    roc = multiauc.multiclass_roc(y_true, y_score)
    curves = roc.bootstrap(10, rng=0)
    resampled = comparison.bootstrap(10, rng=0)
    tilted = y_score + np.array([0.0, 0.3, 0.6])  # so that the classes are decided for at different rates
    summary = multiauc.summary_roc_of_pairs(y_true, tilted, model="moses_littenberg", threshold=0.9)
    hull = multiauc.roc_hulls(y_true, y_score)["ant"]
    costs = [[0, 1, 9], [1, 0, 9], [1, 1, 0]]
    decisions = multiauc.fit_decisions(y_true, y_score / y_score.sum(axis=1, keepdims=True), costs)
    slices = multiauc.evaluate_slices(y_true, y_score, np.repeat(["a", "b", "c"], 40))
    confusion = multiauc.confusion_matrix(y_true, y_score)
    runs = multiauc.evaluate_runs(y_true, [y_score, y_score**2])
    compared_runs = multiauc.compare_runs(y_true, {"a": [y_score, y_score**2], "b": [tilted, tilted**2]})
    found = [
        evaluation, evaluation.auc_mu, evaluation.auc_mu_matrix, evaluation.bootstrap(10, rng=0),
        comparison, comparison.difference("a", "b"), comparison.per_class, resampled, resampled.difference("a", "b"),
        roc, curves, curves.band(), multiauc.roc_curves(y_true, y_score)["ant"],
        multiauc.partial_auc(y_true, y_score, max_fpr=0.5), multiauc.pdi(y_true, y_score),
        multiauc.hum(y_true, y_score).surface(points=5),
        evaluation.auc_mu.test(0.5), comparison.omnibus(), multiauc.sample_size(evaluation, half_width=0.05),
        multiauc.summary_roc(*summary.tables.T, model="moses_littenberg"), summary, summary.bootstrap(10, rng=0),
        multiauc.roc_curves(y_true, y_score)["ant"].sensitivity(0.8), hull, hull.optimum(1, 2), hull.cost_curve(),
        decisions, decisions.cross_validated, decisions.cross_validated.difference("fitted", "argmax"),
        slices, slices["a"], confusion, confusion.recall["ant"], runs, runs.metrics["auc_mu"],
        compared_runs, compared_runs.difference("a", "b"), multiauc.precision_recall_curves(y_true, y_score)["ant"],
        multiauc.reliability_curves(y_true, y_score, outputs="logits", n_bins=4)["ant"],
    ]  # fmt: skip
    return {type(result).__name__: result for result in found}


RESULTS = all_results()
SAME, OTHER = all_results(), all_results(seed=7)
each = pytest.mark.parametrize("name", RESULTS)


def test_every_public_result_is_among_them():
    public = {name for name in multiauc.__all__ if isinstance(getattr(multiauc, name), type)}
    assert public - set(RESULTS) == {"ColumnOrderWarning", "ConfidenceInterval", "NormalScores", "ScoreDensities"}
    shared = set.intersection(*(set(type(result).__mro__) for result in RESULTS.values())) - {object}
    assert [base.__name__ for base in shared] == ["Result"]


class TestFlatDicts:
    @each
    def test_finite_numbers_by_names_that_trackers_take(self, name):
        flat = RESULTS[name].to_flat_dict()
        assert all(type(value) is float and not math.isnan(value) for value in flat.values())
        assert all(re.fullmatch(r"[\w\-. :/]+", key) for key in flat)
        assert {f"test/{key}": value for key, value in flat.items()} == RESULTS[name].to_flat_dict(prefix="test/")

    def test_of_an_evaluation(self):
        evaluation = RESULTS["Evaluation"]
        flat = evaluation.to_flat_dict()
        low, high = evaluation.hand_till.confidence_interval()
        assert flat["hand_till"] == evaluation.hand_till.value
        assert flat["hand_till_standard_error"] == evaluation.hand_till.standard_error
        assert (flat["hand_till_low"], flat["hand_till_high"]) == (low, high)
        assert flat["per_class_bee"] == evaluation.per_class["bee"].value
        assert len(flat) == 4 * (len(evaluation.metrics) + len(CLASSES))
        assert evaluation.hand_till.to_flat_dict().items() <= flat.items()

    def test_of_a_comparison(self):
        comparison = RESULTS["Comparison"]
        flat = comparison.to_flat_dict()
        assert flat["a_auc_mu"] == comparison.estimates["a"].value
        assert flat["a_minus_b_auc_mu"] == comparison.difference("a", "b").value
        assert flat["a_minus_b_auc_mu_p_value"] == comparison.difference("a", "b").p_value

    def test_missing_numbers_are_left_out(self):
        y_true, y_score = data()
        kept = y_true != "cat"
        result = multiauc.evaluate(y_true[kept], y_score[kept], labels=CLASSES, absent="nan", metrics=["auc_mu"])
        assert result.to_flat_dict() == {}

    def test_names_that_would_collide_stay_apart(self):
        y_true, y_score = data()
        models = {"a": y_score, "a&": y_score, "a|": y_score**2}
        flat = multiauc.compare(y_true, models).to_flat_dict()
        assert flat["a__auc_mu"] == multiauc.auc_mu_score(y_true, y_score)
        assert flat["a__auc_mu_"] == multiauc.auc_mu_score(y_true, y_score**2)


class TestStreamedEstimates:
    def test_a_test_takes_the_least_favourable_bound(self):
        y_true, y_score = data(n=600)
        exact = multiauc.evaluate(y_true, y_score).auc_mu
        stream = multiauc.streaming.Accumulator(CLASSES)
        stream.update(y_true, y_score)
        found = stream.evaluate().auc_mu
        assert found.exact
        assert found.bounds == (exact.value, exact.value) == exact.bounds
        assert exact.low is exact.high is None
        for alternative in ("two-sided", "greater", "less"):
            p_value = exact.test(0.85, alternative).p_value
            assert found.test(0.85, alternative).p_value == pytest.approx(p_value, rel=1e-6)
        wide = replace(found, low=found.value - 0.02, high=found.value + 0.02)
        assert wide.test(found.value + 0.01).p_value == 1.0
        for value, alternative in ((0.8, "greater"), (0.93, "greater"), (0.93, "two-sided"), (0.99, "less")):
            ends = [replace(found, value=one, low=one, high=one) for one in wide.bounds]
            expected = max(one.test(value, alternative).p_value for one in ends)
            assert wide.test(value, alternative).p_value == expected >= found.test(value, alternative).p_value
        assert wide.confidence_interval().low < found.confidence_interval().low


class TestEquality:
    @each
    def test_values_decide(self, name):
        result, same, other = RESULTS[name], SAME[name], OTHER[name]
        assert result is not same
        assert result == same
        assert hash(result) == hash(same)
        assert result != other
        assert result != "something else"
        assert {result: 1}[same] == 1

    @each
    def test_unpickled_results_are_equal(self, name):
        again = pickle.loads(pickle.dumps(RESULTS[name]))
        assert again == RESULTS[name]
        assert hash(again) == hash(RESULTS[name])

    def test_missing_numbers_are_equal(self):
        y_true, y_score = data()
        kept = y_true != "cat"
        sample = (y_true[kept], y_score[kept])
        first, second = (multiauc.evaluate(*sample, labels=CLASSES, absent="nan") for _ in range(2))
        assert math.isnan(first.auc_mu.value)
        assert first == second
        assert hash(first.auc_mu) == hash(second.auc_mu)
        assert first != multiauc.evaluate(*sample, labels=CLASSES, absent="ignore")

    def test_one_bit_makes_a_difference(self):
        values = RESULTS["PairMatrix"].values.copy()
        values[0, 1] = np.nextafter(values[0, 1], 1)
        found = RESULTS["PairMatrix"]
        assert multiauc.PairMatrix(values, found.labels, found.counts, found.kind) != found
        assert multiauc.PairMatrix(found.values, found.labels, found.counts, found.kind) == found
        assert multiauc.PairMatrix(found.values, found.labels, found.counts, "hand_till") != found


class TestCopies:
    @each
    @pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
    def test_a_copy_is_equal_and_read_only(self, name, way):
        result = RESULTS[name]
        again = way(result)
        assert again is not result
        assert again == result
        assert repr(again) == repr(result)
        for field in ("values", "covariance", "replicates", "fpr"):
            array = getattr(again, field, None)
            if isinstance(array, np.ndarray) and name != "RocBand":
                assert not array.flags.writeable

    @pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
    def test_a_copy_keeps_the_data(self, way):
        for name in ("Evaluation", "Comparison", "MulticlassRoc", "PartialAuc"):
            result = RESULTS[name]
            assert way(result).bootstrap(20, rng=3) == result.bootstrap(20, rng=3)
        estimate = RESULTS["Estimate"]
        assert way(estimate).variance("unbiased") == estimate.variance("unbiased")
        matrix = multiauc.auc_mu_matrix(*data())
        assert np.array_equal(way(matrix).standard_error, matrix.standard_error, equal_nan=True)

    def test_the_data_are_not_copied(self):
        y_true, y_score = data()
        again = copy.deepcopy(multiauc.evaluate(y_true, y_score))
        assert np.shares_memory(again.inputs().sample.scores, y_score)
        y_score[0] += 1
        with pytest.raises(ValueError, match="y_score or sample_weight was changed"):
            again.bootstrap(10)

    def test_a_deep_copy_has_dicts_of_its_own(self):
        result = RESULTS["Evaluation"]
        again = copy.deepcopy(result)
        again.metrics.clear()
        assert result.metrics


class TestJson:
    @each
    def test_every_result_has_json(self, name):
        result = RESULTS[name]
        text = result.to_json()
        found = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
        assert isinstance(found, dict)
        assert set(found) == set(result.to_dict())

    def test_the_numbers_are_there(self):
        matrix = json.loads(RESULTS["PairMatrix"].to_json())
        assert matrix["values"][0][1] == RESULTS["PairMatrix"].values[0, 1]
        assert matrix["values"][0][0] is None
        assert matrix["standard_error"][0][1] == RESULTS["PairMatrix"].standard_error[0, 1]
        assert (matrix["labels"], matrix["kind"]) == (CLASSES, "auc_mu")
        curve = json.loads(RESULTS["RocCurve"].to_json())
        assert curve["tpr"] == RESULTS["RocCurve"].tpr.tolist()
        assert curve["thresholds"][0] is None
        assert json.loads(RESULTS["Volume"].to_json())["estimate"]["value"] == RESULTS["Volume"].value
        assert json.loads(RESULTS["Bootstrap"].to_json())["replicates"] == RESULTS["Bootstrap"].replicates.tolist()


class TestFrames:
    @each
    def test_every_result_is_a_frame(self, name):
        frame = RESULTS[name].to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) > 0
        pd.testing.assert_frame_equal(frame, RESULTS[name].to_frame(library="pandas"))

    def test_an_evaluation(self):
        result = RESULTS["Evaluation"]
        frame = result.to_frame(level=0.9)
        assert frame.columns.tolist() == ["kind", "name", "value", "standard_error", "low", "high"]
        assert frame["kind"].tolist() == ["metric"] * 4 + ["class"] * 3
        assert frame["name"].tolist() == [*result.metrics, *CLASSES]
        assert frame["value"].tolist()[0] == result.auc_mu.value
        assert tuple(frame.loc[5, ["low", "high"]]) == tuple(result.per_class["bee"].confidence_interval(0.9))

    def test_a_comparison(self):
        result = RESULTS["Comparison"]
        frame = result.to_frame()
        assert frame["first"].tolist() == ["a", "b", "a"]
        assert frame["second"].tolist()[2] == "b"
        assert frame["second"].isna().tolist() == [True, True, False]
        assert frame["value"].tolist()[2] == result.difference("a", "b").value
        assert frame["p_value"].tolist()[2] == result.difference("a", "b").p_value
        assert np.isnan(frame["p_value"][0])

    def test_pairs(self):
        symmetric, directed = RESULTS["PairMatrix"].to_frame(), multiauc.hand_till_matrix(*data()).to_frame()
        assert list(zip(symmetric["first"], symmetric["second"], strict=True)) == [
            ("ant", "bee"), ("ant", "cat"), ("bee", "cat")
        ]  # fmt: skip
        assert symmetric["value"].tolist() == [RESULTS["PairMatrix"][c, d] for c, d in symmetric.iloc[:, :2].to_numpy()]
        assert symmetric["standard_error"].tolist()[0] == RESULTS["PairMatrix"].standard_error[0, 1]
        assert len(directed) == 6
        bare = multiauc.PairMatrix(np.ones((2, 2)), (0, 1), np.array([3, 4]), "auc_mu").to_frame()
        assert np.isnan(bare["standard_error"][0])

    def test_points_and_replicates(self):
        curve, bootstrap = RESULTS["RocCurve"], RESULTS["Bootstrap"]
        np.testing.assert_array_equal(curve.to_frame()["tpr"], curve.tpr)
        frame = bootstrap.to_frame()
        assert frame.columns.tolist() == list(bootstrap.metrics)
        np.testing.assert_array_equal(frame.to_numpy(), bootstrap.replicates)
        areas = RESULTS["PartialAuc"].to_frame()
        assert areas["kind"].tolist() == ["curve"] * 3 + ["macro", "prevalence"]
        pairs = multiauc.partial_auc(*data(), max_fpr=0.5, kind="pairwise").to_frame()
        assert pairs.loc[0, ["positive", "negative"]].tolist() == ["ant", "bee"]

    def test_names_of_models_that_read_alike(self):
        y_true, y_score = data()
        bootstrap = multiauc.compare(y_true, {1: y_score, "1": y_score**2}).bootstrap(5, rng=0)
        assert bootstrap.to_frame().columns.tolist() == ["1", "'1'"]

    def test_where_neither_library_is_installed(self, monkeypatch):
        for library in ("pandas", "polars"):
            monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ImportError, match="to_frame needs pandas or polars; install one of them"):
            RESULTS["Evaluation"].to_frame()

    def test_a_library_that_is_neither(self):
        with pytest.raises(ValueError, match="library must be one of 'pandas', 'polars'; got 'numpy'"):
            RESULTS["Evaluation"].to_frame(library="numpy")


class TestMatrix:
    def test_cells_by_label(self):
        matrix = multiauc.hand_till_matrix(*data())
        assert matrix["ant", "cat"] == matrix.between("ant", "cat") == matrix.values[0, 2]
        assert isinstance(matrix["ant", "cat"], float)
        with pytest.raises(KeyError, match="no class 'dog' in this matrix; its labels are 'ant', 'bee', 'cat'"):
            matrix["ant", "dog"]

    @pytest.mark.parametrize("key", ["ant", 0, ("ant",), ("ant", "bee", "cat"), slice(None)])
    def test_what_is_not_a_pair(self, key):
        with pytest.raises(TypeError, match=r"by two labels, such as matrix\['ant', 'bee'\]; got"):
            RESULTS["PairMatrix"][key]

    def test_numbers_and_tuples_as_labels(self):
        values = np.array([[np.nan, 0.25], [0.75, np.nan]])
        assert multiauc.PairMatrix(values, (5, 3), np.ones(2, dtype=int), "hand_till")[5, 3] == 0.25
        assert multiauc.PairMatrix(values, ((0, 1), "x"), np.ones(2, dtype=int), "hand_till")["x", (0, 1)] == 0.75

    def test_it_is_an_array(self):
        matrix = RESULTS["PairMatrix"]
        np.testing.assert_array_equal(np.asarray(matrix), matrix.values)
        assert np.shares_memory(np.asarray(matrix), matrix.values)
        assert np.array(matrix).flags.writeable
        assert np.asarray(matrix, dtype=np.float32).dtype == np.float32
        assert np.nanmin(matrix) == np.nanmin(matrix.values)
        with pytest.raises(TypeError, match="not iterable"):
            iter(matrix)


class TestNumbers:
    @pytest.mark.parametrize("name", ["Estimate", "Difference", "Volume", "BootstrapDifference"])
    def test_a_float(self, name):
        assert float(RESULTS[name]) == RESULTS[name].value
        assert math.isclose(np.float64(RESULTS[name]), RESULTS[name].value, rel_tol=0)

    @pytest.mark.parametrize("name", ["Estimate", "Difference", "Volume"])
    def test_formats(self, name):
        result = RESULTS[name]
        assert f"{result:.3f}" == f"{result.value:.3f}"
        assert f"{result}" == str(result) == repr(result)


class TestPlot:
    def test_rows_are_metrics_and_classes(self):
        result = RESULTS["Evaluation"]
        display = result.plot(level=0.9, markersize=3)
        assert isinstance(display, EvaluationDisplay)
        names = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert names == [estimate.name for estimate in result.metrics.values()] + CLASSES
        assert display.ax_.get_xlabel() == "90% intervals; below the line each class against the rest"
        lines = display.ax_.lines
        assert tuple(lines[0].get_xdata()) == tuple(result.auc_mu.confidence_interval(0.9))
        assert lines[1].get_xdata()[0] == result.auc_mu.value
        assert lines[1].get_markersize() == 3
        display.figure_.canvas.draw()

    def test_many_classes_are_the_lowest(self):
        y_true = np.repeat(np.arange(40), 10)
        y_score = np.random.default_rng(0).random((400, 40)) + np.eye(40)[y_true] * np.linspace(0.2, 1, 40)
        result = multiauc.evaluate(y_true, y_score)
        display = result.plot()
        names = [label.get_text() for label in display.ax_.get_yticklabels()][4:]
        values = {str(label): estimate.value for label, estimate in result.per_class.items()}
        assert names == sorted(values, key=values.get)[:30]
        assert display.ax_.get_xlabel().endswith("; below the line the 30 lowest of 40 classes")

    def test_one_metric_on_axes_of_ones_own(self):
        _, ax = plt.subplots()
        display = multiauc.evaluate(*data(), metrics=["auc_mu"]).plot(ax)
        assert display.ax_ is ax
        assert [label.get_text() for label in ax.get_yticklabels()] == ["AUC_mu"]
        assert ax.get_xlabel() == "95% intervals"

    def test_from_an_estimator(self):
        from sklearn.naive_bayes import GaussianNB

        y_true, features = data()
        model = GaussianNB().fit(features, y_true)
        display = EvaluationDisplay.from_estimator(model, features, y_true, metrics=["hand_till"])
        expected = multiauc.evaluate(
            y_true, model.predict_proba(features), labels=model.classes_, metrics=["hand_till"]
        )
        assert display.evaluation == expected
