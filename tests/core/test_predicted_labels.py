"""Files with predicted labels instead of scores: metrics of decisions, and the result says so."""

import json

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics as reference

import multiauc
from command_line import ANIMALS, columns, sample
from dataset_files import write

pytestmark = pytest.mark.usefixtures("in_empty_folder")
DECISIONS = ("accuracy", "balanced_accuracy", "macro_f1", "kappa", "matthews")
SAID = "column 'y_pred' holds predicted labels: these are metrics of decisions; AUCs need a score for each class"


def make(rng, classes=ANIMALS, n=90):
    """True and predicted classes."""
    labels, scores = sample(rng, n, classes=tuple(map(str, classes)))
    order = {str(name): k for k, name in enumerate(classes)}
    names = np.array(classes)
    return names[[order[label] for label in labels]], names[scores.argmax(axis=1)]


def printed(cli, *arguments):
    return json.loads(cli("evaluate", *arguments, "--label", "y", "--format", "json"))


@pytest.mark.parametrize("kind", ["a.parquet", "a.csv", "a.arrow"])
@pytest.mark.parametrize("classes", [ANIMALS, (0, 1, 2), (0, 1), ("no", "yes"), (10, 9, 8)])
@pytest.mark.parametrize("asked", [(), ("--scores", "y_pred")])
def test_metrics_of_decisions(cli, rng, kind, classes, asked):
    y_true, y_pred = make(rng, classes)
    write(pa.table({"text": ["x"] * 90, "y": y_true, "y_pred": y_pred}), kind)
    found = printed(cli, kind, *asked)
    labels = np.sort(classes)
    expected = multiauc.evaluate(y_true, (y_pred[:, None] == labels).astype(float), metrics=DECISIONS, labels=labels)
    assert tuple(found["metrics"]) == DECISIONS
    for name, metric in found["metrics"].items():
        limits = expected.metrics[name].confidence_interval()
        assert (metric["value"], metric["low"], metric["high"]) == (expected.metrics[name].value, *limits)
    assert found["metrics"]["macro_f1"]["value"] == pytest.approx(
        reference.f1_score(y_true, y_pred, average="macro"), abs=1e-14
    )
    assert found["confusion"] == reference.confusion_matrix(y_true, y_pred).tolist()
    assert found["labels"] == [str(label) for label in labels]
    assert SAID in found["notes"]


@pytest.mark.parametrize("classes", [ANIMALS, (0, 1, 2), (0, 1), ("no", "yes")])
def test_functions_take_predicted_labels(rng, classes):
    """Those of predictions alone: the same as scores of 0 and 1."""
    (y_true, first), (_, second) = make(rng, classes), make(rng, classes)
    labels, by = np.sort(classes), {"half": np.arange(90) // 45}
    models = {"a": first, "b": second}
    scores = {name: (one[:, None] == labels).astype(float) for name, one in models.items()}
    for metric in DECISIONS:
        found, expected = (multiauc.compare(y_true, one, metric=metric) for one in (models, scores))
        assert found.to_dict() == expected.to_dict()
        found, expected = (
            multiauc.evaluate_runs(y_true, [*one.values()], metrics=[metric]) for one in (models, scores)
        )
        assert found.to_dict() == expected.to_dict()
        found, expected = (multiauc.evaluate_slices(y_true, one["a"], by, metric=metric) for one in (models, scores))
        assert found.to_dict() == expected.to_dict()
    found, expected = (multiauc.evaluate(y_true, one["a"], metrics=DECISIONS) for one in (models, scores))
    assert found.to_dict() == expected.to_dict()


def test_scores_are_needed_beside_other_metrics():
    with pytest.raises(ValueError, match="for metrics of predictions alone"):
        multiauc.evaluate([0, 1, 2, 0, 1, 2], [0, 1, 2, 0, 2, 2], metrics=["accuracy", "auc_mu"])


def test_models_compared(cli, rng):
    y_true, first = make(rng)
    second = make(rng)[1]
    write(pa.table({"y": y_true, "a": first, "b": second}), "a.csv")
    asked = "compare a.csv --label y --scores a --scores b --format json"
    found = json.loads(cli(*asked.split(), "--metric", "kappa"))
    expected = multiauc.compare(y_true, {"a": first, "b": second}, metric="kappa").difference("a", "b")
    assert found["differences"][0]["value"] == expected.value
    assert found["differences"][0]["p_value"] == expected.p_value
    assert "column 'a' holds predicted labels" in found["notes"][0]
    assert "scores of 2 classes" in cli.fails(asked)


def test_weights_slices_and_gates(cli, rng):
    y_true, y_pred = make(rng)
    weights = rng.integers(1, 4, size=90).astype(float)
    write(pa.table({"y": y_true, "y_pred": y_pred, "w": weights, "by": np.repeat(["a", "b"], 45)}), "a.csv")
    found = printed(cli, "a.csv", "--sample-weight", "w", "--by", "by", "--fail-under", "kappa=0.1")
    assert found["confusion"] == reference.confusion_matrix(y_true, y_pred, sample_weight=weights).tolist()
    assert found["gates"][0]["metric"] == "kappa"
    assert list(found["metrics"]) == ["kappa"]
    assert len(found["slices"]["slices"]) == 2


def test_the_table_says_so(cli, rng):
    y_true, y_pred = make(rng)
    write(pa.table({"y": y_true, "y_pred": y_pred}), "a.csv")
    table = cli("evaluate a.csv --label y")
    assert "Rows of each class by predicted class" in table
    assert SAID in " ".join(table.split())


def test_in_pieces(cli, rng):
    y_true, y_pred = make(rng)
    write(pa.table({"y": y_true, "y_pred": y_pred}), "a.parquet")
    with pytest.warns(RuntimeWarning, match="holds predicted labels"):
        found = multiauc.evaluate_dataset("a.parquet", label="y", scores="y_pred")
    assert list(found.metrics) == ["accuracy"]
    assert found.metrics["accuracy"].value == reference.accuracy_score(y_true, y_pred)
    expected = reference.confusion_matrix(y_true, y_pred)
    assert found.confusion_matrix.tolist() == expected.tolist()
    shown = printed(cli, "a.parquet", "--memory-limit", "512MB")
    assert shown["metrics"]["accuracy"]["value"] == found.metrics["accuracy"].value
    assert shown["confusion"] == expected.tolist()
    assert SAID in shown["notes"]


def test_what_needs_scores_is_refused(cli, rng):
    y_true, y_pred = make(rng)
    write(pa.table({"y": y_true, "y_pred": y_pred}), "a.csv")
    suffice = "holds predicted labels, which suffice for"
    for options, option in [("--metrics auc_mu", "--metrics auc_mu"), ("--absent ignore", "--absent ignore")]:
        problem = cli.fails(f"evaluate a.csv --label y {options}")
        assert problem.startswith(f"{option} needs scores, and column 'y_pred' {suffice} 'accuracy'")
    with pytest.raises(ValueError, match=f"metrics='auc_mu' needs scores, and column 'y_pred' {suffice} 'accuracy'"):
        multiauc.evaluate_dataset("a.csv", label="y", metrics=["auc_mu"])
    assert "3 labels ('ant', 'bee', 'cat') for scores of 2 classes" in cli.fails("roc a.csv -l y --scores y_pred")


def test_a_predicted_class_without_rows_is_named(cli, rng):
    y_true, y_pred = make(rng)
    y_pred = y_pred.astype(object)
    y_pred[7] = "eel"
    write(pa.table({"y": y_true, "y_pred": y_pred.tolist()}), "a.csv")
    problem = "the class 'eel' is predicted, and the labels are 'ant', 'bee', 'cat'"
    assert cli.fails("evaluate a.csv --label y") == f"a.csv: column 'y_pred', row 8: {problem}"


def test_scores_stay_scores(cli, rng):
    labels, scores = sample(rng, classes=("0", "1"))
    write(pa.table({"y": labels, "votes": (10 * scores[:, 1]).astype(int)}), "a.csv")
    assert "auc_mu" in printed(cli, "a.csv", "--scores", "votes")["metrics"]
    write(pa.table({"y": labels, "hard": scores[:, 1].round()}), "a.parquet")
    assert "auc_mu" in printed(cli, "a.parquet", "--scores", "hard")["metrics"]
    y_true, y_pred = make(rng)
    write(pa.table({"y": y_true, "y_pred": y_pred} | columns(sample(rng)[1])), "b.csv")
    assert "auc_mu" in printed(cli, "b.csv")["metrics"]
