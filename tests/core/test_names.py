"""Names of models and labels of classes may be anything hashable, and are shown as they read."""

import json
import math

import numpy as np
import pytest
from matplotlib.text import Text

import multiauc
from multiauc.plotting import SimplexDisplay

NAMES = [
    (1, 2, 3),
    (("a", 1), None, 3.5),
    (np.int64(1), frozenset({2}), b"c"),
    (1, "1", True + 1.5),
]
# What matplotlib would read as a formula, leave out of a legend, or fail to parse.
SIGNS = ["$x_1$", "_rest", r"50% {of} \frac $", r"\$5$"]


@pytest.fixture
def sample(rng):
    codes = np.arange(90) % 3
    return codes, [np.eye(3)[codes] + blur * rng.random((90, 3)) for blur in (2, 3, 4)]


def texts_drawn(figure):
    """What is really drawn, and that none of it is a formula."""
    figure.canvas.draw()
    drawn = [text._preprocess_math(text.get_text()) for text in figure.findobj(Text) if text.get_text()]
    assert not any(is_formula for _, is_formula in drawn)
    return [text.strip() for text, _ in drawn]


@pytest.mark.parametrize("metric", ["auc_mu", "multiclass_roc"])
@pytest.mark.parametrize("names", NAMES, ids=str)
class TestModels:
    @pytest.fixture
    def comparison(self, sample, names, metric):
        return multiauc.compare(sample[0], dict(zip(names, sample[1], strict=True)), metric=metric)

    def shown(self, names):
        return [repr(name) for name in names] if names[1] == "1" else [str(name) for name in names]

    def test_tables(self, comparison, names):
        for text in (repr(comparison), repr(comparison.bootstrap(5, rng=0))):
            rows = {line.split("  ")[0] for line in text.splitlines()}
            assert rows >= set(self.shown(names))
        assert comparison._repr_html_().count("<th>") >= 7
        assert [str(names[0]) in repr(d) for d in comparison.differences[:1]] in ([], [True])

    def test_python_objects_and_json(self, comparison, names):
        assert list(comparison.to_dict()["estimates"]) == list(names)
        assert list(json.loads(comparison.to_json())["estimates"]) == self.shown(names)

    def test_rankings(self, comparison, names):
        (order, share), *_ = comparison.ranking_probabilities(5, rng=0).items()
        assert set(order) == set(names)
        assert share > 0.0
        assert comparison.bootstrap(5, rng=0).difference(*names[:2]).first == names[0]

    def test_report(self, comparison, names, tmp_path):
        text = comparison.report(tmp_path / "a.html", n_resamples=0).read_text("utf-8")
        numbers = json.loads(text.split('id="multiauc-numbers">')[1].split("</script>")[0])
        assert [model["name"] for model in numbers["models"]] == self.shown(names)
        assert set(numbers["comparison"]["order"]) == set(self.shown(names))

    def test_plot(self, comparison, names):
        drawn = texts_drawn(comparison.plot().figure_)
        first, second, third = self.shown(names)
        expected = {first, second, third, f"{first} - {second}", f"{second} - {third}"}
        assert expected <= set(drawn)


class TestSigns:
    def test_models(self, sample):
        models = dict(zip(SIGNS, [*sample[1], sample[1][0] ** 2], strict=True))
        assert set(SIGNS) <= set(texts_drawn(multiauc.compare(sample[0], models).plot().figure_))

    @pytest.mark.parametrize("sign", SIGNS)
    def test_curve(self, sample, sign):
        roc = multiauc.multiclass_roc(sample[0], sample[1][0])
        assert f"{sign} (D = {roc.auc:.3f})" in texts_drawn(roc.plot(label=sign).figure_)

    @pytest.mark.parametrize("kind", ["one_vs_rest", "pairwise"])
    def test_classes(self, sample, kind):
        labels = SIGNS[:3]
        curves = multiauc.roc_curves([labels[c] for c in sample[0]], sample[1][0], labels=labels, kind=kind)
        for curve in curves.values():
            against = "" if curve.negative is None else f" from {curve.negative}"
            name = f"{curve.positive}{against} (AUC {curve.auc:.3f})"
            assert name in texts_drawn(curve.plot().figure_)

    def test_pairs(self, sample):
        y_true = [SIGNS[c] for c in sample[0]]
        matrix = multiauc.auc_mu_matrix(y_true, sample[1][0], labels=SIGNS[:3])
        assert set(SIGNS[:3]) <= set(texts_drawn(matrix.plot().figure_))

    @pytest.mark.parametrize("labels", [SIGNS[:3], SIGNS[1:]])
    def test_triangle(self, sample, labels):
        scores = sample[1][0] / sample[1][0].sum(axis=1, keepdims=True)
        display = SimplexDisplay.from_predictions([labels[c] for c in sample[0]], scores, labels=labels)
        drawn = texts_drawn(display.figure_)
        assert all(drawn.count(label) == 2 for label in labels)  # the corner and the legend


class TestControlCharacters:
    """Labels come from files; what a terminal would obey is written as an escape."""

    LABELS = ("\x1b[2Jred", "bell\x07\x9b", "two\nlines\u202e")

    def test_results(self, sample):
        y_true = [self.LABELS[c] for c in sample[0]]
        models = {f"{label}!": scores for label, scores in zip(self.LABELS, sample[1], strict=True)}
        comparison = multiauc.compare(y_true, models, labels=self.LABELS)
        evaluation = multiauc.evaluate(y_true, sample[1][0], labels=self.LABELS)
        results = [
            comparison,
            *comparison.estimates.values(),
            *comparison.differences,
            comparison.bootstrap(5, rng=0),
            comparison.bootstrap(5, rng=0).difference(*list(models)[:2]),
            evaluation,
            *evaluation.per_class.values(),
            evaluation.auc_mu_matrix,
            multiauc.partial_auc(y_true, sample[1][0], max_fpr=0.5, labels=self.LABELS),
            *multiauc.roc_curves(y_true, sample[1][0], labels=self.LABELS).values(),
            multiauc.multiclass_roc(y_true, sample[1][0], labels=self.LABELS),
        ]
        for result in results:
            assert all(sign == "\n" or sign.isprintable() for sign in repr(result)), result
        assert r"\u001b[2Jred" in repr(evaluation)
        assert r"two\nlines" in repr(comparison)

    def test_a_name_keeps_its_value(self, sample):
        y_true = [self.LABELS[c] for c in sample[0]]
        evaluation = multiauc.evaluate(y_true, sample[1][0], labels=self.LABELS)
        assert tuple(evaluation.labels) == self.LABELS
        assert not math.isnan(evaluation.per_class[self.LABELS[0]].value)
