"""Columns that were used for other classes than theirs are noticed; columns in the right order give no alarm."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import multiauc
from command_line import run_command
from multiauc import ColumnOrderWarning

ANIMALS = np.array(["ant", "bee", "cat", "dog"])


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def skilled(rng, codes, n_classes, skill=1.5):
    return softmax(skill * np.eye(n_classes)[codes] + rng.normal(size=(len(codes), n_classes)))


def note(codes, scores, *, metric="accuracy", weights=None, **options):
    """The warning of `evaluate`, if any: from all pairs for Hand & Till's M, from some of the rows for the accuracy."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        multiauc.evaluate(codes, scores, metrics=[metric], sample_weight=weights, **options)
    found = [str(one.message) for one in caught if one.category is ColumnOrderWarning]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.fixture
def animals(rng):
    """(names, scores of ant, bee, cat and dog in this order)"""
    codes = rng.integers(4, size=400)
    return ANIMALS[codes], skilled(rng, codes, 4)


class TestWords:
    def test_sorted_labels(self, animals):
        names, scores = animals
        order = ["cat", "ant", "bee", "dog"]
        given = scores[:, [2, 0, 1, 3]]
        with pytest.warns(ColumnOrderWarning) as caught:
            result = multiauc.evaluate(names, given)
        (warning,) = caught
        assert warning.filename == __file__
        assert str(warning.message) == (
            "the column used for 'ant' fits 'cat' better, that for 'bee' fits 'ant', that for 'cat' fits 'bee'; "
            "the columns were assumed to be in the sorted order of the labels: pass labels= with the classes in the "
            "order of the columns, perhaps labels=['cat', 'ant', 'bee', 'dog']"
        )
        assert result.notes == (str(warning.message),)
        assert f"Note: {warning.message}." in repr(result)
        assert "Note: the column used for" in result._repr_html_()
        assert result.to_dict()["notes"] == list(result.notes)
        right = multiauc.evaluate(names, given, labels=order)
        assert right.notes == ()
        assert right.auc_mu.value > result.auc_mu.value + 0.2

    def test_labels_that_were_given(self, animals):
        names, scores = animals
        with pytest.warns(ColumnOrderWarning, match=r"for 'bee' fits 'ant' better, .* check that labels= has"):
            multiauc.evaluate(names, scores, labels=["bee", "ant", "cat", "dog"])

    def test_names_of_columns(self, animals):
        names, scores = animals
        table = pa.table(dict(zip(["bee", "ant", "cat", "dog"], scores.T, strict=True)))
        with pytest.warns(ColumnOrderWarning, match="names were used as classes: if they are wrong, rename"):
            multiauc.evaluate(names, table)

    def test_many_classes_are_counted(self, rng):
        codes = np.repeat(np.arange(30), 40)
        text = note(codes, skilled(rng, codes, 30, skill=3)[:, ::-1])
        assert text.startswith(
            "the column used for 0 fits 29 better, that for 1 fits 28, that for 2 fits 27, and 27 ot"
        )
        assert text.endswith("pass labels= with the classes in the order of the columns")

    def test_one_score_of_two_classes(self, rng):
        codes = rng.integers(2, size=300)
        scores = rng.random(300) + 0.5 * (codes == 0)
        with pytest.warns(ColumnOrderWarning) as caught:
            multiauc.evaluate(ANIMALS[codes], scores)
        assert str(caught[0].message) == (
            "the scores are higher for 'ant' than for 'bee', but were used as scores of 'bee', the second of the "
            "sorted labels: if they are not, pass labels=['bee', 'ant']"
        )
        assert multiauc.evaluate(ANIMALS[codes], scores, labels=["bee", "ant"]).auc_mu.value > 0.8

    @pytest.mark.parametrize("metric", ["auc_mu", "hand_till", "one_vs_rest", "multiclass_roc"])
    def test_compare_names_the_model(self, animals, metric):
        names, scores = animals
        with pytest.warns(ColumnOrderWarning) as caught:
            comparison = multiauc.compare(names, {"right": scores, "wrong": scores[:, [0, 3, 2, 1]]}, metric=metric)
        (warning,) = caught
        assert warning.filename == __file__
        assert str(warning.message).startswith("models['wrong']: the column used for 'bee' fits 'dog' better, ")
        assert comparison.notes == (str(warning.message),)
        assert "Note: models['wrong']: " in repr(comparison)
        assert "Note: models[&#x27;wrong&#x27;]: " in comparison._repr_html_()

    def test_compare_reads_each_model_in_its_own_order(self, animals):
        names, scores = animals
        named = pa.table(dict(zip(ANIMALS[::-1], scores.T[::-1], strict=True)))
        with pytest.warns(ColumnOrderWarning, match=r"perhaps labels=\['bee', 'ant', 'cat', 'dog'\]"):
            multiauc.compare(names, {"named": named, "wrong": scores[:, [1, 0, 2, 3]]})

    def test_the_report_has_a_note(self, animals, tmp_path):
        names, scores = animals
        wrong = scores[:, [1, 0, 2, 3]]
        with pytest.warns(ColumnOrderWarning):
            one = multiauc.evaluate(names, wrong)
        with pytest.warns(ColumnOrderWarning):
            several = multiauc.compare(names, {"right": scores, "wrong": wrong})
        page = one.report(tmp_path / "one.html", n_resamples=0).read_text("utf-8")
        assert "<p>Note: the column used for &#x27;ant&#x27; fits &#x27;bee&#x27; better" in page
        page = several.report(tmp_path / "several.html", n_resamples=0).read_text("utf-8")
        assert "<p>Note: models[&#x27;wrong&#x27;]: the column used for" in page
        page = multiauc.evaluate(names, scores).report(tmp_path / "right.html", n_resamples=0).read_text("utf-8")
        assert "Note:" not in page

    @pytest.mark.usefixtures("in_empty_folder")
    @pytest.mark.filterwarnings("default::multiauc.ColumnOrderWarning")
    @pytest.mark.parametrize("command", ["evaluate", "roc", "report"])
    def test_the_command_line_says_it_on_stderr(self, animals, capsys, command):
        names, scores = animals
        columns = {f"p_{name}": column for name, column in zip(["bee", "ant", "cat", "dog"], scores.T, strict=True)}
        parquet.write_table(pa.table({"y": names} | columns), "wrong.parquet")
        options = ["--bootstrap", "0"] if command == "report" else []
        assert run_command([command, "wrong.parquet", "--label", "y", *options]) == 0
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("multiauc: warning: the column used for 'bee' fits 'ant' better")
        assert "--labels" in line
        assert "labels=" not in line


class TestAlarms:
    def test_two_of_ten_classes_exchanged(self, rng):
        codes = rng.integers(10, size=20_000)
        scores = skilled(rng, codes, 10, skill=0.7)
        assert note(codes, scores) is None
        scores[:, [3, 7]] = scores[:, [7, 3]]
        assert note(codes, scores).startswith("the column used for 3 fits 7 better, that for 7 fits 3; ")

    def test_every_way_to_see_it_is_the_same(self, rng):
        """All pairs known or some rows looked at."""
        codes = rng.integers(10, size=30_000)
        scores = skilled(rng, codes, 10)[:, ::-1]
        assert note(codes, scores) == note(codes, scores, metric="hand_till")
        assert isinstance(note(codes, scores), str)

    @pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
    def test_scales_and_biases_of_columns_do_not_matter(self, rng, scale):
        codes = rng.integers(4, size=400)
        logits = 1.5 * np.eye(4)[codes] + rng.normal(size=(400, 4))
        changed = scale * (logits * [1, 1e-6, 1e6, 3] + [1e6, 0, 0, -50])
        assert note(codes, changed) is None
        assert note(codes, changed[:, [1, 0, 2, 3]]) == note(codes, logits[:, [1, 0, 2, 3]]) is not None

    def test_skewed_classes(self, rng):
        codes = np.repeat(np.arange(4), [5000, 400, 60, 60])
        scores = skilled(rng, codes, 4, skill=2)
        assert note(codes, scores) is None
        assert note(codes, scores[:, [0, 1, 3, 2]]) is not None

    def test_classes_without_rows_are_left_out(self, rng):
        codes = rng.choice([0, 2, 3, 5], size=400)
        scores = skilled(rng, codes, 6, skill=2)
        known = {"labels": range(6), "absent": "ignore"}
        assert note(codes, scores, **known) is None
        swapped = scores[:, [0, 1, 5, 3, 4, 2]]
        assert note(codes, swapped, **known).startswith("the column used for 2 fits 5 better, that for 5 fits 2; ")
        with pytest.warns(ColumnOrderWarning):
            assert np.isnan(multiauc.evaluate(codes, swapped, labels=range(6), absent="nan").auc_mu.value)

    def test_weights(self, rng):
        """Rows without weight do not count, and a few heavy rows prove no more than a few rows."""
        codes = np.tile(np.arange(3), 400)
        scores = skilled(rng, codes, 3)
        scores[:600] = scores[:600, [1, 0, 2]]
        half = (np.arange(1200) < 600) * 1.0
        assert note(codes, scores, weights=half) is not None
        assert note(codes, scores, weights=1 - half) is None
        heavy = np.where(np.arange(1200) < 15, 1.0, 1e-9)
        assert note(codes, scores, weights=heavy) is None

    def test_groups(self, rng):
        """Rows that say the same are one."""
        codes = np.repeat([0, 1, 2], 400)
        scores = np.repeat(np.eye(3)[[1, 0, 2]], 400, axis=0) + rng.random((1200, 3))
        assert note(codes, scores) is not None
        assert note(codes, scores, groups=np.arange(1200) // 80) is None
        wrong = skilled(rng, codes, 3)[:, [1, 0, 2]]
        assert note(codes, wrong, groups=np.arange(1200) // 4) is not None

    def test_groups_with_rows_of_all_classes(self, rng):
        """Ten patients, on whom the model is right or wrong as a whole, prove less than ten rows of each class."""
        alarms = 0
        for _ in range(200):
            codes, groups = np.tile(np.arange(3), 100), np.repeat(np.arange(10), 30)
            scores = rng.choice([-1, 1], size=10)[groups, None] * np.eye(3)[codes] + 0.1 * rng.normal(size=(300, 3))
            alarms += note(codes, scores, groups=groups) is not None
        assert alarms == 0

    def test_folds(self, rng):
        """Rows are compared within folds: those of different folds have different scales, and shares of classes."""
        folds = np.repeat(np.arange(3), 400)
        codes = np.concatenate(
            [rng.choice(3, size=400, p=p) for p in ([0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8])]
        )
        shift = 100.0 * rng.permutation(3)[folds, None] * [1, -1, 0.5]
        for skill, order in ((1.5, None), (0.0, None), (1.5, [1, 0, 2])):
            scores = skill * np.eye(3)[codes] + rng.normal(size=(1200, 3))
            given = (scores if order is None else scores[:, order]) + shift
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = multiauc.evaluate(codes, given, folds=folds)
                comparison = multiauc.compare(codes, {"a": given, "b": given**3}, folds=folds)
            assert any("order of the columns" in note for note in result.notes) == (order is not None)
            assert sum("order of the columns" in note for note in comparison.notes) == (0 if order is None else 2)
            assert {one.category for one in caught} == ({ColumnOrderWarning} if order else set())

    def test_most_classes_below_one_half(self, rng):
        """Rows of one class score high everywhere: no other order would help, but the AUCs are below 1/2."""
        codes = np.repeat(np.arange(4), [3000, 700, 700, 700])
        scores = rng.normal(size=(5100, 4)) + 3.0 * (codes == 0)[:, None]
        text = note(codes, scores)
        assert text.startswith("most classes have a one-vs-rest AUC below 1/2; ")
        assert "labels=" in text

    def test_scores_with_the_wrong_sign(self, rng):
        codes = rng.integers(5, size=2000)
        text = note(codes, -skilled(rng, codes, 5))
        assert text.startswith("most classes have a one-vs-rest AUC below 1/2 and the column used for 0 fits ")

    def test_a_hair_below_one_half_is_no_sign(self, rng):
        codes = np.tile(np.arange(3), 60_000)
        scores = rng.normal(size=(180_000, 3)) - 0.04 * np.eye(3)[codes]
        aucs = multiauc.one_vs_rest_per_class(codes, scores)
        assert all(0.48 < auc < 0.495 for auc in aucs.values())
        assert multiauc.evaluate(codes, scores, outputs="logits").notes == ()

    @pytest.mark.parametrize("n_classes", [100, pytest.param(1000, marks=pytest.mark.slow)])
    def test_many_classes_in_any_order(self, rng, n_classes):
        codes = np.tile(np.arange(n_classes), 30)
        scores = skilled(rng, codes, n_classes, skill=3).astype(np.float32)
        assert note(codes, scores) is None
        assert note(codes, scores[:, rng.permutation(n_classes)]) is not None

    def test_constant_scores(self):
        codes = np.tile(np.arange(5), 1000)
        assert note(codes, np.full((5000, 5), 0.2)) is None
        assert note(codes, np.tile([1.0, 0.0, 0.0, 0.0, 0.0], (5000, 1))) is None


def models_in_order(rng, codes, n_classes):
    """Scores whose columns are in the right order, of models with and without skill."""
    n = len(codes)
    favourite = rng.dirichlet(np.full(n_classes, 0.3))
    factor = rng.normal(size=(n, 1))
    families = rng.integers(max(2, n_classes // 3), size=n_classes)
    return {
        "noise": rng.random((n, n_classes)),
        "probabilities": softmax(3 * rng.normal(size=(n, n_classes))),
        "classes": np.eye(n_classes)[rng.choice(n_classes, size=n, p=favourite)],
        "heavy tails": rng.standard_cauchy((n, n_classes)) * 10.0 ** rng.integers(-5, 5, size=n_classes),
        "columns that all say the same": factor * rng.choice([-1, 1], size=n_classes),
        "families": softmax(3.0 * (families[codes][:, None] == families) + rng.normal(size=(n, n_classes))),
        "a favourite": softmax(np.eye(n_classes)[codes] + rng.normal(size=(n, n_classes)) + 20 * favourite),
    }


class TestFalseAlarms:
    """At most one sample in a thousand. The bound is a bound, so that there are far fewer: none is expected here."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("n_classes", "n_samples"), [(2, 150), (3, 150), (4, 100), (10, 60), (40, 15), (200, 3), (1000, 1)]
    )
    @pytest.mark.parametrize("skewed", [False, True])
    def test_columns_in_order(self, rng, n_classes, n_samples, skewed):
        samples = alarms = 0
        for _ in range(n_samples):
            per_class = rng.choice([1, 3, 10, 40 if n_classes < 200 else 10])
            shares = rng.dirichlet(np.full(n_classes, 0.5)) if skewed else None
            codes = np.concatenate(
                [np.arange(n_classes), rng.choice(n_classes, size=n_classes * per_class + 4, p=shares)]
            )
            weights = np.exp(rng.normal(size=len(codes))) if rng.random() < 0.3 else None
            for scores in models_in_order(rng, codes, n_classes).values():
                samples += 1
                alarms += note(codes, scores, weights=weights) is not None
        assert samples == 7 * n_samples
        assert alarms == 0

    def test_groups_in_order(self, rng):
        alarms = 0
        for _ in range(150):
            n_groups = int(rng.integers(4, 40))
            groups = rng.integers(n_groups, size=300)
            codes = np.tile(np.arange(3), n_groups)[:n_groups][groups]
            rows = rng.normal(size=(n_groups, 3))[groups] + rng.choice([0.0, 0.3]) * rng.normal(size=(300, 3))
            alarms += note(codes, rows, groups=groups) is not None
        assert alarms == 0

    @pytest.mark.parametrize("sizes", [(8, 8, 8), (2, 3, 50), (1, 1, 1)])
    @pytest.mark.parametrize("moved", [[0, 1], [0, 1, 2]])
    def test_the_bound_on_the_gain_of_one_permutation(self, rng, sizes, moved):
        """P(G > t) is at most exp(-t^2 / 2 Var(G)), also where all columns say the same (or the opposite)."""
        codes = np.repeat(np.arange(3), sizes)
        h = 1 / np.array(sizes)[moved]
        deviation = np.sqrt(h.sum() * (1 + h.max() / 2) / 3)
        for signs in ([1, 1, 1], [1, -1, 1], None):
            gains = []
            for _ in range(1500):
                noise = rng.random(len(codes))
                scores = rng.random((len(codes), 3)) if signs is None else noise[:, None] * signs
                shares = multiauc.hand_till_matrix(codes, scores).values
                gains.append(sum(0.5 - shares[j, k] for j, k in zip(moved, moved[1:] + moved[:1], strict=True)))
            for t in (0.5, 1.0, 1.5, 2.0, 2.5):
                assert np.mean(np.array(gains) > t * deviation) <= np.exp(-(t**2) / 2) + 3 / np.sqrt(1500) * 0.5


def test_the_warning_can_be_silenced(animals):
    names, scores = animals
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnOrderWarning)
        assert multiauc.evaluate(names, scores[:, ::-1]).notes
