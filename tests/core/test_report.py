"""The report as a file: what it says in words, what it holds, and the samples that are hard to report on.

The page itself is tested in a browser, in tests/browser.
"""

import json
import pickle
import re

import numpy as np
import pytest
from scipy import stats

import multiauc
from command_line import ANIMALS, sample
from multiauc._render.numbers import pair_limits
from multiauc._render.words import number, p_value, verdict


def numbers_of(path):
    return json.loads(re.search(r'id="multiauc-numbers">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)[1])


def verdict_of(path):
    text = re.search(r'<section class="verdict".*?</section>', path.read_text("utf-8"), re.DOTALL)[0]
    return re.sub(r"<[^>]+>", " ", text)


def two_models(rng, n=300, blur=0.0):
    labels, scores = sample(rng, n)
    return labels, {"good": scores, "other": (1 - blur) * scores + blur * rng.dirichlet(np.ones(3), size=n)}


class TestVerdict:
    def test_a_clear_winner(self, rng, tmp_path):
        labels, models = two_models(rng, blur=0.6)
        comparison = multiauc.compare(labels, models)
        difference = comparison.difference("good", "other")
        low, high = difference.confidence_interval()
        text = verdict_of(comparison.report(tmp_path / "a.html", n_resamples=0))
        assert "good is better than other." in text
        assert (
            f"good is better than other by {difference.value:.4f} in AUC_mu (95% interval {low:.4f} to {high:.4f}, p"
            in text
        )

    def test_the_winner_may_come_second(self, rng, tmp_path):
        labels, models = two_models(rng, blur=0.6)
        turned = dict(reversed(models.items()))
        comparison = multiauc.compare(labels, turned)
        low, high = comparison.difference("good", "other").confidence_interval()
        text = verdict_of(comparison.report(tmp_path / "a.html", n_resamples=0))
        assert f"in AUC_mu (95% interval {low:.4f} to {high:.4f}, p" in text

    def test_names_that_are_no_text(self, rng, tmp_path):
        labels, models = two_models(rng, blur=0.6)
        comparison = multiauc.compare(labels, {1: models["good"], 2: models["other"]})
        assert "1 is better than 2." in verdict_of(comparison.report(tmp_path / "a.html", n_resamples=0))

    def test_models_that_cannot_be_told_apart(self, rng, tmp_path):
        labels, models = two_models(rng, blur=0.02)
        comparison = multiauc.compare(labels, models)
        assert comparison.differences[0].corrected_p_value > 0.05
        text = verdict_of(comparison.report(tmp_path / "a.html", n_resamples=0))
        assert " cannot be told apart." in text
        assert "decide between these models by cost, speed or simplicity" in text

    def test_identical_models(self, rng, tmp_path):
        labels, models = two_models(rng)
        text = verdict_of(multiauc.compare(labels, models).report(tmp_path / "a.html", n_resamples=0))
        assert "good and other cannot be told apart: they differ by 0.0000 in AUC_mu" in text

    def test_three_models_of_which_two_are_level(self):
        def difference(first, second, value, p):
            found = {
                "value": value,
                "low": value - 0.01,
                "high": value + 0.01,
                "t": 2.0,
                "degrees_of_freedom": 9.5,
                "p_value": p,
                "corrected_p_value": p,
            }
            return {"first": first, "second": second, "decided": p < 0.05} | found

        differences = [
            difference("a", "b", -0.001, 0.8),
            difference("a", "c", 0.2, 1e-9),
            difference("b", "c", 0.2, 1e-9),
        ]
        values = {"a": 0.8, "b": 0.8, "c": 0.6}
        comparison = {"metric": "hand_till", "values": values, "order": ["b", "a", "c"], "differences": differences}
        headline, sentences = verdict({"models": [], "comparison": comparison, "level": 0.95})
        assert headline == "b and a cannot be told apart; b is better than c."
        level = "b and a cannot be told apart: they differ by 0.0010 in Hand & Till's M"
        assert sentences[0].startswith(f"{level} (95% interval \N{MINUS SIGN}0.0090 to 0.0110, ")
        assert sentences[1].startswith("b is better than c by 0.2000 in Hand & Till's M")

    def test_a_metric_without_a_test(self, rng, tmp_path):
        labels, models = two_models(rng, blur=0.6)
        comparison = multiauc.compare(labels, models, metric="multiclass_roc")
        text = verdict_of(comparison.report(tmp_path / "a.html", n_resamples=0))
        assert f"good has the largest multi-class ROC (D), {comparison.estimates['good'].value:.3f}." in text
        assert "was not tested" in text

    @pytest.mark.filterwarnings("ignore:class 'cat' has a single row:RuntimeWarning")
    @pytest.mark.parametrize("turned", [False, True])
    @pytest.mark.parametrize("metric", ["auc_mu", "hand_till", "one_vs_rest", "pdi", "multiclass_roc"])
    def test_differences_without_a_standard_error(self, rng, tmp_path, metric, turned):
        labels, models = two_models(rng, blur=0.6)
        rows = np.r_[np.flatnonzero(labels != "cat"), np.flatnonzero(labels == "cat")[0]]
        compared = {name: scores[rows] for name, scores in models.items()}
        comparison = multiauc.compare(
            labels[rows], dict(reversed(compared.items())) if turned else compared, metric=metric
        )
        text = verdict_of(comparison.report(tmp_path / "a.html", n_resamples=0))
        if metric == "multiclass_roc":
            assert "was not tested" in text
            return
        assert "Whether good is better than other is not known." in text
        assert re.search(
            r"good is ahead of other by 0\.\d{4} in .*, because the rows do not show how much it varies", text
        )
        assert "cannot be told apart" not in text

    @pytest.mark.parametrize("turned", [False, True])
    @pytest.mark.parametrize("metric", ["auc_mu", "hand_till", "one_vs_rest_prevalence", "pdi", "multiclass_roc"])
    def test_models_without_a_value(self, rng, tmp_path, metric, turned):
        labels, models = two_models(rng, blur=0.6)
        compared = dict(reversed(models.items())) if turned else models
        options = {"labels": ["ant", "bee", "cat"], "absent": "nan"}
        y_true = np.where(labels == "cat", "bee", labels)
        comparison = multiauc.compare(y_true, compared, metric=metric, **options)
        path = comparison.report(tmp_path / "a.html")
        assert "A class has no rows, so the overall numbers cannot be computed." in verdict_of(path)
        assert "nan" not in verdict_of(path)
        assert numbers_of(path)["comparison"]["values"] == {"good": None, "other": None}

    def test_models_that_differ_without_any_variance(self, tmp_path):
        y_true = np.arange(30) % 3
        perfect = np.eye(3)[y_true]
        for models in ({"a": perfect, "b": -perfect}, {"b": -perfect, "a": perfect}):
            with pytest.warns(RuntimeWarning, match="its p-value is nan"):
                comparison = multiauc.compare(y_true, models)
            text = verdict_of(comparison.report(tmp_path / "a.html", n_resamples=0))
            assert "a is ahead of b by 1.0000 in AUC_mu; whether that is more than chance is not known" in text

    def test_numbers_in_words(self):
        assert [number(None), number(-0.0312), number(0.5, 2)] == ["\N{EN DASH}", "\N{MINUS SIGN}0.031", "0.50"]
        assert [p_value(p).replace("\u00a0", " ") for p in (1e-9, 0.0312, 0.312, None)] == [
            "p < 0.001",
            "p = 0.031",
            "p = 0.31",
            "p unknown",
        ]


class TestPairs:
    def test_limits_are_logit_limits_with_student_s_t(self, rng):
        labels, scores = sample(rng, 120)
        rows = np.flatnonzero((labels != "bee") | (rng.random(120) < 0.4))
        for matrix in (
            multiauc.auc_mu_matrix(labels[rows], scores[rows]),
            multiauc.hand_till_matrix(labels[rows], scores[rows]),
        ):
            low, high = pair_limits(matrix, 0.9)
            for c in range(3):
                for d in range(3):
                    if c == d:
                        assert np.isnan(low[c, d])
                        continue
                    value, error = matrix.values[c, d], matrix.standard_error[c, d]
                    t = stats.t.ppf(0.95, matrix.degrees_of_freedom[c, d])
                    ends = np.log(value / (1 - value)) + np.array([-1, 1]) * t * error / (value * (1 - value))
                    np.testing.assert_allclose([low[c, d], high[c, d]], 1 / (1 + np.exp(-ends)), rtol=1e-12)

    def test_perfect_reversed_constant_and_single(self):
        y_true = ["a"] * 4 + ["b"] * 5 + ["c"]
        scores = np.zeros((10, 3))
        scores[:4, 0] = scores[9, 2] = 1.0
        matrix = multiauc.auc_mu_matrix(y_true, scores)
        low, high = pair_limits(matrix, 0.95)
        assert matrix.between("a", "b") == 1.0
        assert (low[0, 1], high[0, 1]) == (pytest.approx(0.025**0.25), 1.0)
        turned = multiauc.auc_mu_matrix(y_true, -scores)
        low, high = pair_limits(turned, 0.95)
        assert (low[0, 1], high[0, 1]) == (0.0, pytest.approx(1 - 0.025**0.25))
        flat = multiauc.auc_mu_matrix(["a"] * 4 + ["b"] * 5, np.full((9, 2), 0.5))
        assert flat.between("a", "b") == 0.5
        assert np.isnan(pair_limits(flat, 0.95)).all()


class TestHardSamples:
    """Each of these has to give a page; what is not known is null in it and a dash to readers."""

    def test_two_classes_with_one_score(self, rng, tmp_path):
        y_true = np.arange(80) % 2 == 1
        evaluation = multiauc.evaluate(y_true, rng.random(80) + y_true)
        numbers = numbers_of(evaluation.report(tmp_path / "a.html", n_resamples=5))
        assert numbers["labels"] == ["False", "True"]
        assert numbers["models"][0]["metrics"]["auc_mu"]["value"] == evaluation.auc_mu.value

    @pytest.mark.parametrize("absent", ["nan", "ignore"])
    def test_absent_classes(self, rng, tmp_path, absent):
        labels, scores = sample(rng, 90)
        kept = labels != "bee"
        evaluation = multiauc.evaluate(labels[kept], scores[kept], labels=ANIMALS, absent=absent)
        path = evaluation.report(tmp_path / "a.html", n_resamples=5)
        model = numbers_of(path)["models"][0]
        assert model["pairs"]["auc_mu"]["value"][0][1] is None
        assert model["pairs"]["auc_mu"]["value"][0][2] == evaluation.auc_mu_matrix.between("ant", "cat")
        assert model["per_class"][1]["value"] is None
        if absent == "nan":
            assert model["roc"] is None
            assert "A class has no rows" in verdict_of(path)
        else:
            assert model["metrics"]["auc_mu"]["value"] == evaluation.auc_mu.value

    def test_weights_groups_costs(self, rng, tmp_path):
        labels, models = two_models(rng, 90, blur=0.3)
        options = {"partition": [[0, 1, 5], [1, 0, 5], [1, 1, 0]], "sample_weight": rng.random(90) + 0.1}
        options |= {"groups": np.arange(90) // 2, "sampling": "iid", "pair_weights": "size_product"}
        comparison = multiauc.compare(labels, models, **options)
        numbers = numbers_of(comparison.report(tmp_path / "a.html", n_resamples=5, level=0.9))
        for model in numbers["models"]:
            expected = multiauc.evaluate(labels, models[model["name"]], **options).auc_mu
            assert model["metrics"]["auc_mu"]["value"] == expected.value
            low, high = expected.confidence_interval(0.9, "cautious")  # the classes have fewer than 50 rows
            assert (model["metrics"]["auc_mu"]["low"], model["metrics"]["auc_mu"]["high"]) == (low, high)
        method = " ".join(numbers["method"].values())
        for words in (
            "a given matrix of costs",
            "product of their sizes",
            "weighted rows",
            "45 groups",
            "90%",
            "cautious",
        ):
            assert words in method

    def test_perfect_models_confuse_nothing(self, tmp_path):
        y_true = np.arange(30) % 3
        evaluation = multiauc.evaluate(y_true, np.eye(3)[y_true])
        path = evaluation.report(tmp_path / "a.html", n_resamples=5)
        assert "The model confuses no two classes on this data." in verdict_of(path)
        assert "never mistaken for each other on this data" in path.read_text("utf-8")

    def test_nearly_perfect_models(self, rng, tmp_path):
        y_true = np.arange(300) % 3
        scores = np.eye(3)[y_true] + 0.5 * rng.random((300, 3))
        scores[0], scores[1] = [0.3, 0.8, 0.1], [0.7, 0.6, 0.1]
        evaluation = multiauc.evaluate(y_true, scores)
        first, second, value = evaluation.auc_mu_matrix.worst(1)[0]
        assert 0.9995 < value < 1
        path = evaluation.report(tmp_path / "a.html", n_resamples=5)
        assert f"hardly confuses any classes; the worst pair is {first} and {second} ({value:.5f})." in verdict_of(path)
        assert "in fewer than 1 in 1000 cases" in path.read_text("utf-8")

    @pytest.mark.filterwarnings("ignore:class 'cat' has a single row:RuntimeWarning")
    def test_a_class_with_a_single_row(self, rng, tmp_path):
        labels, scores = sample(rng, 90)
        rows = np.r_[np.flatnonzero(labels != "cat"), 2]
        evaluation = multiauc.evaluate(labels[rows], scores[rows])
        numbers = numbers_of(evaluation.report(tmp_path / "a.html", n_resamples=5))
        assert numbers["models"][0]["metrics"]["auc_mu"]["low"] is None

    def test_labels_that_look_alike_and_hostile_names(self, rng, tmp_path):
        labels = [1, "1", "</script><script>alert(1)</script>"]
        y_true = [labels[k % 3] for k in range(60)]
        evaluation = multiauc.evaluate(y_true, rng.random((60, 3)), labels=labels)
        path = evaluation.report(tmp_path / "a.html", name="<img src=x>", title="</title><i>", n_resamples=0)
        text = path.read_text("utf-8")
        assert text.count("<script") == 2
        assert "<img" not in text
        assert "<i>" not in text
        assert numbers_of(path)["labels"] == ["1", "1", labels[2]]

    def test_more_classes_than_a_heat_map_can_show(self, rng, tmp_path):
        k = 210
        y_true = np.tile(np.arange(k), 2)
        scores = rng.random((2 * k, k)) + np.eye(k)[y_true]
        scores[y_true == 207, 207] -= 2.0
        evaluation = multiauc.evaluate(y_true, scores)
        numbers = numbers_of(evaluation.report(tmp_path / "a.html"))
        assert len(numbers["heat_map"]["classes"]) == 150
        assert 207 in numbers["heat_map"]["classes"]
        values = np.array(numbers["models"][0]["pairs"]["auc_mu"]["value"], dtype=float)
        assert values.shape == (150, 150)
        assert np.nanmin(values) == evaluation.auc_mu_matrix.worst(1)[0][2]
        assert numbers["models"][0]["roc"] is None

    def test_without_its_data(self, rng, tmp_path):
        labels, models = two_models(rng, 60)
        evaluation = pickle.loads(pickle.dumps(multiauc.evaluate(labels, models["good"])))
        with pytest.raises(ValueError, match="was unpickled, without its data; call evaluate on them again"):
            evaluation.report(tmp_path / "a.html")
        comparison = pickle.loads(pickle.dumps(multiauc.compare(labels, models)))
        with pytest.raises(ValueError, match="was unpickled, without its data; call compare on them again"):
            comparison.report(tmp_path / "a.html")
        assert not (tmp_path / "a.html").exists()


class TestFile:
    def test_the_same_data_give_the_same_page(self, rng, tmp_path):
        labels, models = two_models(rng, 90, blur=0.3)
        pages = [
            re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", path.read_text("utf-8"))
            for path in (multiauc.compare(labels, models).report(tmp_path / f"{k}.html") for k in range(2))
        ]
        assert pages[0] == pages[1]

    def test_nothing_is_fetched_and_scripts_are_pinned(self, rng, tmp_path):
        labels, scores = sample(rng, 60)
        text = multiauc.evaluate(labels, scores).report(tmp_path / "a.html", n_resamples=5).read_text("utf-8")
        assert "default-src 'none'" in text
        assert not re.search(r"""(src|href)=["'](?!#)""", text)
        assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)

    def test_it_needs_nothing_but_numpy(self, tmp_path):
        """matplotlib and the command line's packages stay out."""
        import subprocess
        import sys

        code = (
            "import sys, numpy as np, multiauc\n"
            "y = np.arange(30) % 3\n"
            f"multiauc.evaluate(y, np.random.default_rng(0).random((30, 3))).report({str(tmp_path / 'a.html')!r})\n"
            "print([name for name in ('matplotlib', 'pyarrow', 'rich', 'click', 'scipy') if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "[]\n"


class TestSomeMetrics:
    def test_pairs_by_one_score(self, rng, tmp_path):
        labels, scores = sample(rng, 120)
        result = multiauc.evaluate(labels, scores, metrics=["hand_till"])
        path = result.report(tmp_path / "a.html", n_resamples=0)
        numbers = numbers_of(path)
        assert list(numbers["models"][0]["metrics"]) == ["hand_till", "multiclass_roc"]
        assert [kind["metric"] for kind in numbers["heat_map"]["kinds"]] == ["hand_till"]
        assert f"The model reaches Hand &amp; Till&#x27;s M {result.hand_till.value:.3f}" in path.read_text("utf-8")
        assert 'name="kind"' not in path.read_text("utf-8")

    def test_a_page_without_pairs(self, rng, tmp_path):
        labels, scores = sample(rng, 120)
        path = multiauc.evaluate(labels, scores, metrics=["one_vs_rest"]).report(tmp_path / "a.html", n_resamples=0)
        assert numbers_of(path)["heat_map"] is None
        text = path.read_text("utf-8")
        assert "Class by class" in text
        assert "Which classes are confused" not in text

    def test_data_that_were_changed(self, rng, tmp_path):
        labels, scores = sample(rng, 120)
        result = multiauc.evaluate(labels, scores)
        scores[0] = scores[1]
        with pytest.raises(ValueError, match="was changed after this result was computed"):
            result.report(tmp_path / "a.html")
