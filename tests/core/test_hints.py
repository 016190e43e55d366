"""Words from other libraries, models and predictions in the place of scores: the error says what to write instead."""

import inspect

import numpy as np
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.svm import LinearSVC

import multiauc
from small_sample import FUNCTIONS, Y_SCORE, Y_TRUE

pd = pytest.importorskip("pandas")

MODELS = {"a": Y_SCORE, "b": Y_SCORE[:, [0, 2, 1]] / 2 + Y_SCORE / 2}


@pytest.fixture(scope="module")
def results():
    return {
        "evaluate": multiauc.evaluate(Y_TRUE, Y_SCORE),
        "compare": multiauc.compare(Y_TRUE, MODELS),
        "multiclass_roc": multiauc.multiclass_roc(Y_TRUE, Y_SCORE),
        "partial_auc": multiauc.partial_auc(Y_TRUE, Y_SCORE, max_fpr=0.5),
    }


class TestOptions:
    @pytest.mark.parametrize("result", ["evaluate", "compare", "multiclass_roc", "partial_auc"])
    @pytest.mark.parametrize("word", ["random_state", "seed"])
    def test_random_state_is_called_rng(self, results, result, word):
        expected = rf"bootstrap\(\) got an unexpected keyword argument '{word}'; its name here is rng="
        with pytest.raises(TypeError, match=expected):
            results[result].bootstrap(10, **{word: 0})

    def test_of_ranking_probabilities(self, results):
        with pytest.raises(
            TypeError, match=r"ranking_probabilities\(\) got .* 'n_bootstrap'; .* name here is n_resamples="
        ):
            results["compare"].ranking_probabilities(n_bootstrap=10)

    def test_nothing_is_random_in_evaluate(self):
        with pytest.raises(TypeError, match=r"evaluate\(\) got .*'random_state'; .* rng= is an option of \.bootstrap"):
            multiauc.evaluate(Y_TRUE, Y_SCORE, random_state=0)

    @pytest.mark.parametrize("name", ["auc_mu_score", "hand_till_score", "one_vs_rest_score", "evaluate"])
    def test_multi_class(self, name):
        expected = rf"{name}\(\) got .*'multi_class'; 'ovr' is one_vs_rest_score .*, 'ovo' is hand_till_score .*"
        with pytest.raises(TypeError, match=expected):
            getattr(multiauc, name)(Y_TRUE, Y_SCORE, multi_class="ovo")

    def test_average_of_pairs(self):
        with pytest.raises(TypeError, match=r"pair_weights='size_sum' .scikit-learn's 'weighted' of 'ovo'"):
            multiauc.hand_till_score(Y_TRUE, Y_SCORE, average="weighted")

    @pytest.mark.parametrize(
        ("function", "word", "name"),
        [
            (multiauc.auc_mu_score, "weights", "sample_weight"),
            (multiauc.auc_mu_score, "sample_weigth", "sample_weight"),
            (multiauc.evaluate, "metric", "metrics"),
            (multiauc.evaluate, "classes", "labels"),
            (multiauc.evaluate, "cluster", "groups"),
            (multiauc.roc_curves, "label", "labels"),
        ],
    )
    def test_other_names(self, function, word, name):
        with pytest.raises(TypeError, match=f"'{word}'; its name here is {name}=$"):
            function(Y_TRUE, Y_SCORE, **{word: None})

    def test_metrics_of_compare(self):
        with pytest.raises(TypeError, match=r"'metrics'; its name here is metric=$"):
            multiauc.compare(Y_TRUE, MODELS, metrics=["auc_mu"])

    def test_a_word_that_nobody_knows(self):
        with pytest.raises(TypeError, match=r"'xyz'; it has 'y_true', 'y_score', .*'labels', 'absent', 'outputs'$"):
            multiauc.hand_till_matrix(Y_TRUE, Y_SCORE, xyz=1)

    @pytest.mark.parametrize("name", [name for name in multiauc.__all__ if inspect.isfunction(getattr(multiauc, name))])
    def test_every_function_with_options_refuses_unknown_ones_alike(self, name):
        function = getattr(multiauc, name)
        if len(inspect.signature(function).parameters) < 2:
            assert name in ("get_num_threads", "set_num_threads")
            return
        scores = MODELS if name == "compare" else Y_SCORE
        others = {
            "evaluate_dataset": ("predictions.parquet",),
            "sample_size": (multiauc.evaluate(Y_TRUE, Y_SCORE),),
            "ferri_vus_of_confusions": ([[1, 0], [0, 1]],),
            "summary_roc": ([9, 8, 7], [1, 2, 3], [2, 3, 4], [8, 7, 6]),
            # Of three arguments: slices, costs, or the scores of a second model.
            "evaluate_slices": (Y_TRUE, scores, Y_TRUE),
            "fit_decisions": (Y_TRUE, scores, Y_SCORE),
            "lc_index": (Y_TRUE, scores, Y_SCORE),
        }
        data = others.get(name, (Y_TRUE, scores))
        arguments = {"lc_index": {"cost_range": (0.1, 0.5), "most_likely": 0.3}, "evaluate_dataset": {"label": "y"}}
        needed = arguments.get(name, {})
        with pytest.raises(
            TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'n_jobs'; threads are set by"
        ):
            function(*data, n_jobs=2, **needed)


class TestValues:
    def test_weighted(self):
        with pytest.raises(ValueError, match=r"got 'weighted' .scikit-learn's 'weighted' is 'prevalence'"):
            multiauc.one_vs_rest_score(Y_TRUE, Y_SCORE, average="weighted")
        with pytest.raises(ValueError, match=r"got 'weighted' .scikit-learn's 'weighted' is 'prevalence'"):
            multiauc.partial_auc_score(Y_TRUE, Y_SCORE, max_fpr=0.5, average="weighted")
        with pytest.raises(ValueError, match=r"scikit-learn's 'weighted' of 'ovo' is 'size_sum'"):
            multiauc.hand_till_score(Y_TRUE, Y_SCORE, pair_weights="weighted")

    def test_that_is_what_they_are(self):
        weighted = multiauc.sklearn.roc_auc_score(Y_TRUE, Y_SCORE, multi_class="ovr", average="weighted")
        assert multiauc.one_vs_rest_score(Y_TRUE, Y_SCORE, average="prevalence") == pytest.approx(weighted, abs=1e-15)
        weighted = multiauc.sklearn.roc_auc_score(Y_TRUE, Y_SCORE, multi_class="ovo", average="weighted")
        assert multiauc.hand_till_score(Y_TRUE, Y_SCORE, pair_weights="size_sum") == pytest.approx(weighted, abs=1e-15)

    @pytest.mark.parametrize(("word", "name"), [("ovr", "one_vs_rest"), ("ovo", "hand_till")])
    def test_metrics(self, word, name):
        with pytest.raises(ValueError, match=f"'{word}' is '{name}'"):
            multiauc.compare(Y_TRUE, MODELS, metric=word)
        with pytest.raises(ValueError, match=f"'{word}' is '{name}'"):
            multiauc.evaluate(Y_TRUE, Y_SCORE, metrics=[word])

    def test_no_hint_for_other_words(self):
        with pytest.raises(ValueError, match=r"got 'middle'$"):
            multiauc.one_vs_rest_score(Y_TRUE, Y_SCORE, average="middle")
        with pytest.raises(ValueError, match=r"got \['weighted'\]$"):
            multiauc.one_vs_rest_score(Y_TRUE, Y_SCORE, average=["weighted"])


class TestPredictions:
    @pytest.mark.parametrize(
        "container", [np.array, list, pd.Series, pa.array, lambda names: pd.Series(names, dtype="category"),
                      lambda names: np.array(names, dtype=object), lambda names: np.array(names)[:, None]]
    )  # fmt: skip
    @pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
    def test_names_of_classes(self, function, container):
        predicted = container(["ant", "bee", "cat", "ant", "bee", "cat"])
        expected = r"y_score .*got classes such as 'ant', as predict\(X\) returns them: pass .* predict_proba\(X\)"
        with pytest.raises(TypeError, match=expected):
            function(["ant", "bee", "cat", "bee", "bee", "cat"], predicted)

    @pytest.mark.parametrize(
        "container", [np.array, list, pd.Series, lambda codes: np.array(codes, dtype=float)[:, None]]
    )
    @pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
    def test_numbers_of_classes(self, function, container):
        expected = r"y_true has 3 distinct labels .*; y_score holds classes, as predict\(X\) returns .*, pass a score"
        with pytest.raises(ValueError, match=expected):
            function([0, 1, 2, 0, 1, 2], container([0, 1, 2, 1, 1, 2]))

    @pytest.mark.parametrize("names", [[0, 1, 2], ["ant", "bee", "cat"]])
    def test_metrics_of_decisions_take_them(self, names):
        labels = np.array(names)
        y_true, y_pred = labels[[0, 1, 2, 0, 1, 2]], labels[[0, 1, 2, 1, 1, 0]]
        with pytest.raises((TypeError, ValueError), match=r"kappa_score.*for metrics of predictions alone"):
            multiauc.evaluate(y_true, y_pred, metrics=["auc_mu"])
        found = multiauc.evaluate(y_true, y_pred, metrics=["kappa"]).kappa.value
        assert found == pytest.approx(cohen_kappa_score(y_true, y_pred), abs=1e-15)
        assert multiauc.evaluate(y_true, y_pred[:, None] == labels, metrics=["kappa"]).kappa.value == found
        assert multiauc.kappa_score(y_true, y_pred) == found

    @pytest.mark.parametrize("labels", [None, ["a", "b", "c"]])
    def test_one_score_for_three_classes(self, labels):
        with pytest.raises(ValueError, match=r"y_score has one number per row: with more than two classes, pass a sc"):
            multiauc.auc_mu_score(["a", "b", "c"], [0.1, 0.5, 0.6], labels=labels)

    def test_two_classes_may_be_scored_by_a_rule(self):
        assert multiauc.auc_mu_score([0, 0, 1, 1], [0, 1, 1, 1]) == 0.75

    @pytest.mark.parametrize("text", ["0.5", b"1"])
    def test_numbers_as_text_are_not_taken_for_classes(self, text):
        with pytest.raises(TypeError, match=r"y_score must hold real numbers; got dtype"):
            multiauc.auc_mu_score(["a", "b"], np.array([text, text]))


class TestModels:
    @pytest.mark.parametrize(
        ("model", "what"),
        [
            (LogisticRegression(), r"LogisticRegression: pass its scores, \.predict_proba\(X\)"),
            (LinearSVC(), r"LinearSVC: pass its scores, \.decision_function\(X\)"),
            (KMeans(), "KMeans: pass its scores, a column per class"),
            (LogisticRegression, "LogisticRegression: pass"),
        ],
    )
    def test_a_model_in_the_place_of_scores(self, model, what):
        with pytest.raises(TypeError, match=rf"^y_score must be an array of scores; got a model, {what}"):
            multiauc.evaluate(Y_TRUE, model)
        with pytest.raises(
            TypeError, match=rf"^models\['b'\]: y_score must be an array of scores; got a model, {what}"
        ):
            multiauc.compare(Y_TRUE, {"a": Y_SCORE, "b": model})

    @pytest.mark.parametrize("models", [LogisticRegression(), [LogisticRegression()], [Y_SCORE, Y_SCORE], Y_SCORE])
    def test_compare_needs_names(self, models):
        with pytest.raises(
            TypeError, match=r"models must be a dict .*; got .*: write such as \{'net': net\.predict_proba\(X\)"
        ):
            multiauc.compare(Y_TRUE, models)

    @pytest.mark.parametrize("thing", [None, "abc", b"12", 3 + 1j, len])
    def test_other_things(self, thing):
        with pytest.raises(TypeError, match=r"y_score must hold real numbers; got"):
            multiauc.evaluate(Y_TRUE, thing)


class TestAxes:
    def test_one_where_two_are_needed(self, results):
        _, ax = plt.subplots()
        expected = (
            r"ax must be two axes, for the estimates and for their differences; got Axes: .* plt.subplots\(1, 2\)"
        )
        with pytest.raises(TypeError, match=expected):
            results["compare"].plot(ax)
        with pytest.raises(TypeError, match=r"ax must be two axes, .*; got 3"):
            results["compare"].plot(3)

    def test_two_in_any_shape(self, results):
        for shape in ((1, 2), (2, 1)):
            figure, axes = plt.subplots(*shape, squeeze=False)
            assert results["compare"].plot(axes).figure_ is figure

    def test_something_else_among_two(self, results):
        _, ax = plt.subplots()
        with pytest.raises(TypeError, match=r"ax must be one matplotlib Axes, or None for new ones; got 'x'"):
            results["compare"].plot([ax, "x"])

    def test_several_where_one_is_needed(self, results):
        _, axes = plt.subplots(1, 2)
        curve = multiauc.roc_curves(Y_TRUE, Y_SCORE)
        pairs = results["evaluate"].auc_mu_matrix
        for draw in (pairs.plot, results["multiclass_roc"].plot, next(iter(curve.values())).plot):
            with pytest.raises(TypeError, match=r"ax must be one matplotlib Axes, .*; got ndarray of shape \(2,\)"):
                draw(axes)
