"""The report as a file: what it says in words, what it holds, and the samples that are hard to report on.

The page itself is tested in a browser, in tests/browser.
"""

import html
import json
import pickle
import re
from html import unescape

import numpy as np
import pytest
from scipy import stats

import multiauc
from command_line import ANIMALS, sample


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
        assert " are not significantly different." in text
        assert "choose by cost, speed or simplicity" in text

    def test_identical_models(self, rng, tmp_path):
        labels, models = two_models(rng)
        text = verdict_of(multiauc.compare(labels, models).report(tmp_path / "a.html", n_resamples=0))
        assert "good and other are not significantly different: they differ by 0.0000 in AUC_mu" in text

    @pytest.mark.parametrize("turned", [False, True])
    def test_three_models_of_which_two_are_level(self, rng, tmp_path, turned):
        labels, scores = sample(rng, 300)
        models = {"a": scores + 0.01 * rng.random(scores.shape), "b": scores, "c": scores + rng.random(scores.shape)}
        models = dict(reversed(models.items())) if turned else models
        comparison = multiauc.compare(labels, models, metric="hand_till")
        best, second, last = sorted(models, key=lambda name: -comparison.estimates[name].value)
        assert last == "c"
        path = comparison.report(tmp_path / "a.html", n_resamples=0)
        text = verdict_of(path)
        assert f"{best} and {second} are not significantly different; {best} is better than c." in text
        value = comparison.difference(best, second).value
        assert f"they differ by {value:.4f} in Hand & Till's M" in text.replace("&amp;", "&").replace("&#x27;", "'")
        # The limits are those of the better one minus the other, whichever of them is listed first.
        low, high = next(
            sorted((one["corrected_low"], one["corrected_high"]), key=abs, reverse=True)
            for one in numbers_of(path)["comparison"]["differences"]
            if {one["first"], one["second"]} == {best, second}
        )
        shown = re.search(r"are not significantly different: .*? interval (\S+) to (\S+), ", text)
        limits = [float(limit.replace("\N{MINUS SIGN}", "-")) for limit in shown.groups()]
        assert limits[0] < value < limits[1]
        assert sorted(map(abs, limits)) == pytest.approx(sorted((abs(low), abs(high))), abs=5.1e-5)

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
            r"good is ahead of other by 0\.\d{4} in .*, because the rows do not show how much the difference varies",
            text,
        )
        assert "are not significantly different" not in text

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
        estimates = numbers_of(path)["comparison"]["estimates"]
        assert {name: one["value"] for name, one in estimates.items()} == {"good": None, "other": None}

    def test_models_that_differ_without_any_variance(self, tmp_path):
        y_true = np.arange(30) % 3
        perfect = np.eye(3)[y_true]
        for models in ({"a": perfect, "b": -perfect}, {"b": -perfect, "a": perfect}):
            with pytest.warns(RuntimeWarning, match="its p-value is nan"):
                comparison = multiauc.compare(y_true, models)
            text = verdict_of(comparison.report(tmp_path / "a.html", n_resamples=0))
            assert "a is ahead of b by 1.0000 in AUC_mu; whether that is significant is unknown" in text

    def test_p_values_in_words(self, rng, tmp_path):
        for blur, form in ((0.6, "p < 0.001"), (0.02, r"p = 0\.\d{2,3}")):
            labels, models = two_models(rng, blur=blur)
            text = verdict_of(multiauc.compare(labels, models).report(tmp_path / "a.html", n_resamples=0))
            assert re.search(form, html.unescape(text).replace("\u00a0", " "))


class TestPairs:
    def test_perfect_reversed_constant_and_single(self):
        y_true = ["a"] * 4 + ["b"] * 5 + ["c"]
        scores = np.zeros((10, 3))
        scores[:4, 0] = scores[9, 2] = 1.0
        matrix = multiauc.auc_mu_matrix(y_true, scores)
        low, high = matrix.confidence_intervals(0.95)
        assert matrix.between("a", "b") == 1.0
        reach = stats.norm.isf(0.025) ** 2 * (4 / 5 + 5 / 4) / 9  # Wilson's, in the worst case for 4 and 5 rows
        assert (low[0, 1], high[0, 1]) == (pytest.approx(1 / (1 + reach)), 1.0)
        turned = multiauc.auc_mu_matrix(y_true, -scores)
        low, high = turned.confidence_intervals(0.95)
        assert (low[0, 1], high[0, 1]) == (0.0, pytest.approx(reach / (1 + reach)))
        flat = multiauc.auc_mu_matrix(["a"] * 4 + ["b"] * 5, np.full((9, 2), 0.5))
        assert flat.between("a", "b") == 0.5
        assert np.isnan(flat.confidence_intervals(0.95)).all()


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
            low, high = expected.confidence_interval(0.9)
            assert (model["metrics"]["auc_mu"]["low"], model["metrics"]["auc_mu"]["high"]) == (low, high)
        method = " ".join(numbers["method"].values())
        for words in (
            "a cost matrix",
            "product of their sizes",
            "weighted rows",
            "45 groups",
            "90%",
            "Wilson",
        ):
            assert words in method

    def test_perfect_models_confuse_nothing(self, tmp_path):
        y_true = np.arange(30) % 3
        evaluation = multiauc.evaluate(y_true, np.eye(3)[y_true])
        path = evaluation.report(tmp_path / "a.html", n_resamples=5)
        assert "The model orders no two rows of different classes wrongly on this data." in verdict_of(path)
        assert "a row of each is never ordered wrongly on this data" in path.read_text("utf-8")

    def test_nearly_perfect_models(self, rng, tmp_path):
        y_true = np.arange(300) % 3
        scores = np.eye(3)[y_true] + 0.5 * rng.random((300, 3))
        scores[0], scores[1] = [0.3, 0.8, 0.1], [0.7, 0.6, 0.1]
        evaluation = multiauc.evaluate(y_true, scores)
        first, second, value = evaluation.auc_mu_matrix.worst(1)[0]
        assert 0.9995 < value < 1
        path = evaluation.report(tmp_path / "a.html", n_resamples=5)
        assert f"The model separates these classes worst: {first} and {second} ({value:.4f})" in verdict_of(path)
        often = round(1 / (1 - value), -2)
        assert f"is ordered wrongly in about 1 in {often:,.0f} draws" in path.read_text("utf-8")

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


def rows_of(path, caption):
    """The rows of the table whose caption begins so, each a list of texts."""
    tables = re.findall(r"<table.*?</table>", path.read_text("utf-8"), re.DOTALL)
    (table,) = [one for one in tables if re.search(rf"<caption><span>{caption}", one)]
    rows = re.findall(r"<tr>(.*?)</tr>", table.split("<tbody>")[1], re.DOTALL)
    cells = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [
        [unescape(re.sub(r"<[^>]+>", " ", cell)).replace("\N{MINUS SIGN}", "-").strip() for cell in row]
        for row in cells
    ]


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class TestDigits:
    """A number that is not 0 or 1 never reads as if it were."""

    def test_nothing_on_a_page_or_in_a_repr_is_rounded_to_one(self, rng, tmp_path):
        codes = np.arange(900) % 3
        scores = np.eye(3)[codes] + 0.4 * rng.random((900, 3))
        scores[0], scores[1] = [0.5, 0.52, 0.1], [0.55, 0.5, 0.1]
        evaluation = multiauc.evaluate(np.array(["a", "b", "c"])[codes], scores)
        assert 0.9999 < evaluation.auc_mu.value < 1
        assert "AUC_mu                       1.0000" not in repr(evaluation)
        path = evaluation.report(tmp_path / "a.html", n_resamples=20)
        numbers = numbers_of(path)["models"][0]
        assert 0.99 < numbers["roc"]["auc"] < 1
        for cell, estimate in zip(rows_of(path, "All classes")[0][1:], numbers["metrics"].values(), strict=True):
            shown = [float(text) for text in re.findall(r"\d\.\d+", cell)]
            for text, value in zip(shown, (estimate["value"], estimate["low"], estimate["high"]), strict=True):
                assert (text == 1.0) == (value == 1.0)
        assert float(re.search(r"area D = ([\d.]+)", path.read_text("utf-8"))[1]) < 1
        high = np.array(numbers["pairs"]["auc_mu"]["high"], dtype=float)
        exact = evaluation.auc_mu_matrix.confidence_intervals(0.95)[1]
        np.testing.assert_array_equal(high == 1.0, exact == 1.0)

    def test_shares_of_a_hundred(self, rng, tmp_path):
        codes = np.arange(900) % 3
        scores = np.eye(3)[codes] + 0.4 * rng.random((900, 3))
        scores[0], scores[1] = [0.5, 0.52, 0.1], [0.55, 0.5, 0.1]
        text = verdict_of(multiauc.evaluate(codes, scores).report(tmp_path / "a.html", n_resamples=0))
        assert "100.0 of 100" not in text
        assert re.search(r"orders 99\.99\d* of 100 pairs", text)


class TestManyModels:
    @pytest.fixture
    def twelve(self, rng):
        codes = rng.integers(3, size=600)
        noise = rng.normal(size=(600, 3))
        sights = np.linspace(2.0, 1.0, 12)
        extra = rng.normal(size=(12, 600, 3))
        models = {f"m{k}": softmax(sights[k] * np.eye(3)[codes] + noise + 0.3 * extra[k]) for k in range(12)}
        return multiauc.compare(codes, models)

    def test_a_paragraph_and_a_table(self, twelve, tmp_path):
        path = twelve.report(tmp_path / "a.html", n_resamples=0)
        section = re.search(r'<section class="verdict".*?</section>', path.read_text("utf-8"), re.DOTALL)[0]
        assert section.count("<p>") <= 3
        assert section.count("<table") == 1
        headline = re.search(r'class="headline">(.*?)</p>', section)[1]
        assert len(headline) < 200
        order = numbers_of(path)["comparison"]["order"]
        rows = rows_of(path, "How far")
        assert [row[0] for row in rows] == order[1:]
        for row in rows:
            assert row[2] == f"{twelve.difference(order[0], row[0]).value:.4f}"

    def test_words_intervals_and_p_values_agree(self, twelve, tmp_path):
        for level in (0.5, 0.9, 0.95, 0.999):
            path = twelve.report(tmp_path / "a.html", n_resamples=0, level=level)
            found = numbers_of(path)["comparison"]["differences"]
            assert len(found) == 66
            answers = {row[0]: row[1:] for row in rows_of(path, "Differences")}
            for one in found:
                _, interval, t, freedom, p, answer = answers[f"{one['first']} - {one['second']}"]
                low, high = (float(limit) for limit in interval.split(" to "))
                assert (answer == "yes") == (low > 0 or high < 0) == (float(p.removeprefix("< ")) < 1 - level)
                difference = twelve.difference(one["first"], one["second"])
                assert float(t) == pytest.approx(difference.value / difference.standard_error, abs=0.006)
                assert float(freedom) == pytest.approx(difference.degrees_of_freedom, abs=0.06)
                # All together: wider than by itself.
                assert one["corrected_low"] < one["low"]
                assert one["corrected_high"] > one["high"]

    def test_no_claim_about_two_others(self, tmp_path):
        """Models that the best cannot be told from may differ from each other."""
        rng = np.random.default_rng(0)
        codes = np.arange(300) % 3
        signal = np.eye(3)[codes]
        b = signal + rng.normal(size=(300, 3))
        models = {"a": 1.25 * signal + rng.normal(size=(300, 3)), "b": b, "c": b - 0.15 * signal}
        comparison = multiauc.compare(codes, models)
        p_values = {(one.first, one.second): one.corrected_p_value for one in comparison.differences}
        assert p_values["b", "c"] < 0.05 < min(p_values["a", "b"], p_values["a", "c"])
        text = verdict_of(comparison.report(tmp_path / "a.html", n_resamples=0))
        assert "a is ahead, but not significantly better than b or c." in text
        assert "b and c" not in text

    def test_two_models_are_not_corrected(self, rng, tmp_path):
        labels, models = two_models(rng, blur=0.6)
        comparison = multiauc.compare(labels, models)
        (one,) = numbers_of(comparison.report(tmp_path / "a.html", n_resamples=0))["comparison"]["differences"]
        assert one["corrected_p_value"] == comparison.differences[0].p_value
        np.testing.assert_allclose([one["corrected_low"], one["corrected_high"]], [one["low"], one["high"]], rtol=1e-12)


class TestNames:
    @pytest.mark.parametrize(("name", "shown"), [("", "(empty)"), ("  ", "(blank)"), ("\u200b", "(blank)")])
    def test_names_that_cannot_be_seen(self, rng, tmp_path, name, shown):
        labels = [name, "dog", "$x$"]
        codes = np.arange(90) % 3
        y_true = np.array(labels, dtype=object)[codes]
        models = {name: softmax(rng.normal(size=(90, 3)) + np.eye(3)[codes]), "b": rng.random((90, 3))}
        comparison = multiauc.compare(y_true, models, labels=labels)
        path = comparison.report(tmp_path / "a.html", n_resamples=0)
        text = path.read_text("utf-8").split('<script type="application/json"')[0]
        assert not re.search(r"<(th|strong|td|h3|span class=\"(forest-)?name\")[^>]*>\s*</", text)
        assert [row[0] for row in rows_of(path, "Each class")] == [shown, "dog", "$x$"]
        assert f"{shown} - b" in [row[0] for row in rows_of(path, "Differences")]
        assert f"  {shown}" in repr(multiauc.evaluate(y_true, models[name], labels=labels))
        # Programs read the name itself.
        assert numbers_of(path)["labels"] == labels


class TestGroups:
    @pytest.fixture
    def grouped(self, rng):
        groups = np.repeat(np.arange(15), 20)
        codes = groups % 3
        shift = rng.normal(size=(15, 3))[groups]
        return codes, softmax(1.5 * np.eye(3)[codes] + shift + 0.3 * rng.normal(size=(300, 3))), groups

    @pytest.mark.parametrize("weighted", [False, True])
    def test_pairs_are_at_least_as_wide_as_evaluate_on_the_two_classes(self, rng, grouped, tmp_path, weighted):
        codes, scores, groups = grouped
        scores[codes == 0, 0] += 5.0  # class 0 is perfect against both
        weights = {"sample_weight": rng.random(300) + 0.5} if weighted else {}
        evaluation = multiauc.evaluate(codes, scores, groups=groups, **weights)
        model = numbers_of(evaluation.report(tmp_path / "a.html", n_resamples=5))["models"][0]
        for c, d in ((0, 1), (0, 2), (1, 2)):
            rows = (codes == c) | (codes == d)
            kept = {name: weight[rows] for name, weight in weights.items()}
            both = {"metrics": ["auc_mu"], "groups": groups[rows], **kept}
            alone = multiauc.evaluate(codes[rows], scores[rows][:, [c, d]], **both).auc_mu
            low, high = alone.confidence_interval()
            found = model["pairs"]["auc_mu"]
            assert found["value"][c][d] == pytest.approx(alone.value, rel=1e-12)
            assert found["low"][c][d] <= low + 1e-6
            assert found["high"][c][d] >= high - 1e-6
            (listed,) = [pair for pair in model["worst_pairs"] if (pair["first"], pair["second"]) == (str(c), str(d))]
            assert listed["low"] == pytest.approx(found["low"][c][d], abs=1e-6)
        assert found["value"][0][1] == 1.0
        assert found["low"][0][1] < 0.6  # a handful of groups, whatever the number of rows

    def test_the_curve_is_resampled_by_groups(self, grouped, tmp_path):
        codes, scores, groups = grouped
        path = multiauc.evaluate(codes, scores, groups=groups).report(tmp_path / "a.html", n_resamples=120)
        found = numbers_of(path)
        area, band = found["models"][0]["metrics"]["multiclass_roc"], found["models"][0]["roc"]["band"]
        bootstrap = multiauc.multiclass_roc(codes, scores).bootstrap(120, rng=0, groups=groups)
        assert area["standard_error"] == bootstrap.standard_error
        assert (area["low"], area["high"]) == bootstrap.confidence_interval()
        np.testing.assert_allclose(band["low"], bootstrap.band().low, atol=1e-5)
        assert "from 120 resamples of groups" in path.read_text("utf-8")
        assert "120 bootstrap samples of groups" in found["method"]["Curve"]


class TestPerfectPairs:
    def test_a_note_says_what_their_limits_are(self, rng, tmp_path):
        y_true = np.arange(60) % 3
        scores = np.eye(3)[y_true] + 0.3 * rng.random((60, 3))
        path = multiauc.evaluate(y_true, scores).report(tmp_path / "a.html", n_resamples=0, level=0.9)
        text = path.read_text("utf-8")
        assert "what so few of them could still hide" in text
        found = numbers_of(path)["models"][0]
        # Wilson's limit in the worst case of twenty rows on both sides.
        assert found["pairs"]["auc_mu"]["low"][0][1] == pytest.approx(
            1 / (1 + stats.norm.isf(0.05) ** 2 / 20), abs=1e-6
        )
        labels, scores = sample(rng, 90)
        other = multiauc.evaluate(labels, scores).report(tmp_path / "b.html", n_resamples=0).read_text("utf-8")
        assert "what so few of them could still hide" not in other


class TestResamples:
    def test_the_page_says_how_many_and_how_sure(self, rng, tmp_path):
        labels, scores = sample(rng, 120)
        evaluation = multiauc.evaluate(labels, scores)
        for size, error in ((20, "16%"), (150, "6%")):
            path = evaluation.report(tmp_path / "a.html", n_resamples=size)
            assert (
                f"from {size} resamples of rows (the standard error of D is accurate to about {error})"
                in path.read_text()
            )
            assert f"{size} bootstrap samples" in numbers_of(path)["method"]["Curve"]

    def test_few_are_allowed_for(self, rng, tmp_path):
        labels, scores = sample(rng, 120)
        evaluation = multiauc.evaluate(labels, scores)
        roc = multiauc.multiclass_roc(labels, scores)
        for size in (2, 20, 99, 100, 150):
            found = numbers_of(evaluation.report(tmp_path / "a.html", n_resamples=size))["models"][0]
            bootstrap = roc.bootstrap(size, rng=0)
            area, band = found["metrics"]["multiclass_roc"], found["roc"]["band"]
            assert area["standard_error"] == bootstrap.standard_error
            if size >= 100:
                assert (area["low"], area["high"]) == bootstrap.confidence_interval()
                np.testing.assert_allclose(band["low"], bootstrap.band().low, atol=1e-5)
                continue
            t = stats.t.ppf(0.975, size - 1)
            ends = np.log(roc.auc / (1 - roc.auc)) + t * area["standard_error"] / (roc.auc * (1 - roc.auc)) * np.array(
                [-1, 1]
            )
            # The wider of the usual limits and those that allow for the number of resamples.
            usual = bootstrap.confidence_interval()
            low, high = 1 / (1 + np.exp(-ends))
            expected = [min(low, usual.low), max(high, usual.high)]
            np.testing.assert_allclose([area["low"], area["high"]], expected, rtol=1e-10)
            middle = np.interp(band["fpr"], roc.fpr, roc.tpr)
            assert np.all((np.array(band["low"]) <= middle + 1e-5) & (middle <= np.array(band["high"]) + 1e-5))

    def test_the_curve_has_the_weights_of_pairs(self, rng, tmp_path):
        labels, models = two_models(rng, 90, blur=0.3)
        comparison = multiauc.compare(labels, models, metric="multiclass_roc", pair_weights="size_product")
        for model in numbers_of(comparison.report(tmp_path / "a.html", n_resamples=0))["models"]:
            assert model["roc"]["auc"] == comparison.estimates[model["name"]].value


class TestTwoClasses:
    def test_a_number_is_shown_once(self, rng, tmp_path):
        """AUC_mu, M and both one-vs-rest averages are one number, and the pair and both classes have it too."""
        y_true = rng.integers(2, size=200)
        p = 1 / (1 + np.exp(-rng.normal(size=200) - 2 * y_true))
        page = multiauc.evaluate(y_true, np.column_stack([1 - p, p])).report(tmp_path / "a.html").read_text("utf-8")
        assert "Which classes are hard to separate" not in page
        assert "Class by class" not in page
        (header,) = re.findall(r"<thead><tr>(.*?)</tr></thead>", page)[:1]
        assert "AUC_mu" in header
        assert "one-vs-rest" not in header

    def test_scores_that_do_not_mirror_each_other_keep_their_sections(self, rng, tmp_path):
        y_true = rng.integers(2, size=200)
        scores = rng.normal(size=(200, 2)) + np.eye(2)[y_true]
        page = multiauc.evaluate(y_true, scores).report(tmp_path / "a.html").read_text("utf-8")
        assert "Class by class" in page


def test_the_verdict_can_be_repeated(rng, tmp_path):
    labels, scores = sample(rng, 300)
    models = {"net": scores, "forest": scores + rng.normal(scale=0.4, size=scores.shape)}
    comparison = multiauc.compare(labels, models)
    text = verdict_of(comparison.report(tmp_path / "a.html"))
    often = [100 * one.value for one in comparison.estimates.values()]
    found = re.search(
        r"net orders ([\d.]+) of 100 such pairs correctly and forest ([\d.]+)\.",
        text,
    )
    assert [float(number) for number in found.groups()] == pytest.approx(often, abs=0.5)


def section_of(path, name):
    found = re.search(rf'<section aria-labelledby="h-{name}".*?</section>', path.read_text("utf-8"), re.DOTALL)
    return None if found is None else found[0]


def cells_of(table):
    """The matrix of a section, as (share, count) by row."""
    rows = re.findall(r"<tr><th scope=.row.>(.*?)</th>(.*?)</tr>", table)
    texts = [(unescape(name), re.findall(r"<td[^>]*>(.*?)</td>", cells)) for name, cells in rows]
    return {name: [tuple(re.findall(r"[\d.,]+", cell)) for cell in cells] for name, cells in texts}


class TestConfusions:
    def test_the_matrix_and_the_rates_are_those_of_confusion_matrix(self, rng, tmp_path):
        labels, scores = sample(rng, 300)
        path = multiauc.evaluate(labels, scores).report(tmp_path / "a.html", n_resamples=0, level=0.9)
        expected = multiauc.confusion_matrix(labels, scores)
        found = numbers_of(path)["models"][0]["confusion"]
        assert found["classes"] == [0, 1, 2]
        assert found["counts"] == expected.counts.tolist()
        assert found["shares"] == expected.normalized().tolist()
        np.testing.assert_allclose([found["low"], found["high"]], expected.confidence_interval(0.9), atol=1e-6)
        for label, one in zip(ANIMALS, found["per_class"], strict=True):
            assert one["label"] == label
            assert one["predicted"] == expected.counts.sum(axis=0)[ANIMALS.index(label)]
            for rate in ("precision", "recall", "f1"):
                assert one[rate] == getattr(expected, rate)[label].to_dict(0.9)
        matrix, rates = re.findall(r"<table.*?</table>", section_of(path, "confusions"), re.DOTALL)
        for i, (name, cells) in enumerate(cells_of(matrix).items()):
            assert name == ANIMALS[i]
            shown = [(f"{100 * expected.normalized()[i, j]:.1f}", f"{expected.counts[i, j]:.0f}") for j in range(3)]
            assert cells == [one if one[1] != "0" else () for one in shown]
        for label, cells in cells_of(rates).items():
            for rate, cell in zip((expected.precision, expected.recall, expected.f1), cells[2:], strict=True):
                assert cell == tuple(f"{one:.4f}" for one in (rate[label].value, *rate[label].confidence_interval(0.9)))

    def test_weights_and_groups(self, rng, tmp_path):
        labels, scores = sample(rng, 90)
        rows = {"sample_weight": rng.random(90) + 0.1, "groups": np.arange(90) // 2}
        path = multiauc.evaluate(labels, scores, **rows).report(tmp_path / "a.html", n_resamples=0)
        expected = multiauc.confusion_matrix(labels, scores, **rows)
        found = numbers_of(path)["models"][0]["confusion"]
        assert found["counts"] == expected.counts.tolist()
        assert [one["f1"] for one in found["per_class"]] == [one.to_dict() for one in expected.f1.values()]
        assert "Rows are treated as independent here" in section_of(path, "reliability")

    def test_many_classes_show_those_with_the_most_errors(self, rng, tmp_path):
        k = 45
        y_true = np.tile(np.arange(k), 6)
        scores = np.eye(k)[y_true] + 1.1 * rng.random((6 * k, k)) * (y_true < 40)[:, None]
        scores[:, 40:] -= 0.2
        path = multiauc.evaluate(y_true, scores).report(tmp_path / "a.html", n_resamples=0)
        expected = multiauc.confusion_matrix(y_true, scores)
        found = numbers_of(path)["models"][0]["confusion"]
        errors = expected.counts.sum(axis=0) + expected.counts.sum(axis=1) - 2 * np.diag(expected.counts)
        shown, hidden = found["classes"], sorted(set(range(k)) - set(found["classes"]))
        assert len(shown) == 40
        assert errors[shown].min() >= errors[hidden].max()
        assert found["shares"] == expected.normalized()[np.ix_(shown, shown)].tolist()
        assert len(found["per_class"]) == k
        assert "the 40 of 45 classes with the most errors" in section_of(path, "confusions")

    def test_shares_next_to_0_and_1_are_not_rounded_to_them(self, tmp_path):
        y_true = np.repeat([0, 1], 3000)
        predicted = np.r_[1, y_true[1:]]
        path = multiauc.evaluate(y_true, np.eye(2)[predicted]).report(tmp_path / "a.html", n_resamples=0)
        matrix = re.search(r"<table.*?</table>", section_of(path, "confusions"), re.DOTALL)[0]
        assert cells_of(matrix) == {"0": [("99.9", "2,999"), ("0.1", "1")], "1": [(), ("100.0", "3,000")]}

    def test_models_are_apart_and_the_best_is_open(self, rng, tmp_path):
        labels, models = two_models(rng, blur=0.6)
        path = multiauc.compare(labels, dict(reversed(models.items()))).report(tmp_path / "a.html", n_resamples=0)
        for name in ("confusions", "reliability"):
            assert re.findall(r"<details.*?</summary>", section_of(path, name)) == [
                '<details open><summary class="model">good</summary>',
                '<details><summary class="model">other</summary>',
            ]


class TestReliability:
    def test_the_curves_are_those_of_reliability_curves(self, rng, tmp_path):
        labels, scores = sample(rng, 300)
        path = multiauc.evaluate(labels, scores).report(tmp_path / "a.html", n_resamples=0, level=0.9)
        expected = multiauc.reliability_curves(labels, scores, strategy="uniform")
        found = numbers_of(path)["models"][0]["reliability"]
        assert [one["label"] for one in found] == list(ANIMALS)
        for one in found:
            curve = expected[one["label"]].to_dict(0.9)
            assert one == {name: curve[name] for name in ("predicted", "observed", "low", "high", "rows")} | {
                "label": one["label"]
            }
        section = section_of(path, "reliability")
        assert re.findall(r"<figcaption>(.*?)</figcaption>", section) == list(ANIMALS)
        # A line has a point per bin, where the grid has its value: 26 from the left, 8 from above, 150 wide and high.
        lines = re.findall(r'<path class="line" d="M(.*?)"/>', section)
        for one, line in zip(found, lines, strict=True):
            points = np.array([point.split(",") for point in line.split("L")], dtype=float)
            np.testing.assert_allclose((points[:, 0] - 26) / 150, one["predicted"], atol=4e-4)
            np.testing.assert_allclose(1 - (points[:, 1] - 8) / 150, one["observed"], atol=4e-4)

    def test_two_classes_have_one_panel(self, rng, tmp_path):
        y_true = rng.integers(2, size=200)
        p = (y_true + rng.random(200)) / 2
        for scores in (p, np.column_stack([1 - p, p])):
            path = multiauc.evaluate(y_true, scores).report(tmp_path / "a.html", n_resamples=0)
            assert re.findall(r"<figcaption>(.*?)</figcaption>", section_of(path, "reliability")) == ["1"]
            predicted = np.column_stack([1 - p, p])
            found = numbers_of(path)["models"][0]
            assert found["confusion"]["counts"] == multiauc.confusion_matrix(y_true, predicted).counts.tolist()
            curve = multiauc.reliability_curves(y_true, predicted, strategy="uniform")[1]
            assert found["reliability"][1]["observed"] == curve.observed.tolist()

    def test_scores_that_are_not_probabilities_have_no_diagram(self, rng, tmp_path):
        labels, scores = sample(rng, 90)
        models = {"net": scores, "logits": np.log(scores + 0.01)}
        path = multiauc.compare(labels, models).report(tmp_path / "a.html", n_resamples=0)
        net, logits = numbers_of(path)["models"]
        assert len(net["reliability"]) == 3
        assert logits["reliability"] == []
        assert logits["confusion"]["counts"] == net["confusion"]["counts"]
        assert "left out for logits: scores are not probabilities" in numbers_of(path)["method"]["Reliability"]
        path = multiauc.evaluate(labels, models["logits"]).report(tmp_path / "b.html", n_resamples=0)
        assert section_of(path, "reliability") is None

    def test_one_score_that_is_not_a_probability_predicts_nothing(self, rng, tmp_path):
        y_true = np.arange(80) % 2
        path = multiauc.evaluate(y_true, 3 * rng.random(80) + y_true).report(tmp_path / "a.html", n_resamples=0)
        model = numbers_of(path)["models"][0]
        assert (model["confusion"], model["reliability"]) == (None, [])
        assert section_of(path, "confusions") is None

    def test_classes_without_rows_have_no_curve(self, rng, tmp_path):
        labels, scores = sample(rng, 90)
        kept = labels != "bee"
        for absent in ("nan", "ignore"):
            evaluation = multiauc.evaluate(labels[kept], scores[kept], labels=ANIMALS, absent=absent)
            model = numbers_of(evaluation.report(tmp_path / "a.html", n_resamples=0))["models"][0]
            assert [one["label"] for one in model["reliability"]] == ["ant", "cat"]
            assert model["confusion"]["per_class"][1]["recall"]["value"] is None
