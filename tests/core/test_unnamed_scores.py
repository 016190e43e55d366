"""Scores that nobody named are found: columns called after the classes, a column of lists, a column of numbers."""

import json

import numpy as np
import pyarrow as pa
import pytest

import multiauc
from command_line import ANIMALS, columns, sample
from dataset_files import KINDS, in_memory, numbers, write

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def printed(cli, *arguments):
    """The values of the metrics that the command prints."""
    found = json.loads(cli("evaluate", *arguments, "--label", "y", "--format", "json"))
    return {name: metric["value"] for name, metric in found["metrics"].items()}


def whole(labels, scores, classes=ANIMALS):
    found = multiauc.evaluate(labels, scores, labels=classes)
    return {name: metric.value for name, metric in found.metrics.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [[], ["text"], ["text", "row"]])
def test_columns_called_after_the_classes(cli, rng, kind, more):
    labels, scores = sample(rng)
    extra = {"text": ["x"] * 90, "row": np.arange(90)}
    table = pa.table({name: extra[name] for name in more} | {"y": labels} | columns(scores, ""))
    write(table, kind)
    assert numbers(multiauc.evaluate_dataset(kind, label="y")) == in_memory(labels, scores)
    assert printed(cli, kind) == whole(labels, scores)


def test_numbers_as_classes_and_an_iterator(rng):
    codes, scores = np.arange(90) % 3, sample(rng)[1]
    table = pa.table({"2": scores[:, 2], "0": scores[:, 0], "1": scores[:, 1], "y": codes.astype(float)})
    found = multiauc.evaluate_dataset(iter(table.to_batches(30)), label="y")
    assert found.labels == ("2", "0", "1")
    assert found.auc_mu.value == multiauc.auc_mu_score(codes, scores)


def test_labels_name_the_columns_whatever_else_there_is(rng):
    labels, scores = sample(rng)
    table = pa.table({"y": labels, "row": np.arange(90)} | columns(3 * scores, ""))
    found = multiauc.evaluate_dataset(table, label="y", labels=ANIMALS[::-1])
    assert found.labels == ANIMALS[::-1]
    assert numbers(found) == in_memory(labels, 3 * scores[:, ::-1], classes=ANIMALS[::-1])


def test_choices_are_named(cli, rng):
    labels, scores = sample(rng)
    table = pa.table({"y": labels, "row": np.arange(90)} | columns(3 * scores, ""))
    write(table, "a.csv")
    unclear = "it is not clear which columns hold the scores; choose"
    both = f"a.csv: {unclear} --scores ant,bee,cat or --scores row,ant,bee,cat"
    assert cli.fails("evaluate a.csv --label y") == both
    assert printed(cli, "a.csv", "--scores", "ant,bee,cat") == whole(labels, 3 * scores)
    more = pa.table({"y": labels, "a": scores.tolist(), "b": scores.tolist()})
    with pytest.raises(ValueError, match=f"{unclear} scores='a' or scores='b'"):
        multiauc.evaluate_dataset(more, label="y")


def test_a_class_without_rows_is_not_left_out(rng):
    labels, scores = sample(rng)
    keep = labels != "cat"
    table = pa.table({"y": labels[keep]} | columns(scores[keep], ""))
    with pytest.raises(ValueError, match="choose scores='ant,bee' or scores='ant,bee,cat'"):
        multiauc.evaluate_dataset(table, label="y")


def test_not_all_classes_have_a_column(cli, rng):
    labels, scores = sample(rng)
    write(pa.table({"y": labels, "ant": scores[:, 0], "bee": scores[:, 1]}), "a.csv")
    advice = "name the scores with --scores, out of 'ant', 'bee'"
    assert cli.fails("evaluate a.csv --label y") == f"a.csv: no columns 'p_*' or 'y_score'; {advice}"


@pytest.mark.parametrize("kind", ["a.parquet", "a.arrow", "a.stream.arrow"])
@pytest.mark.parametrize("size", [None, 3])
def test_a_column_of_lists(cli, rng, kind, size):
    labels, scores = sample(rng)
    lists = pa.array(scores.tolist(), pa.list_(pa.float64(), -1 if size is None else size))
    write(pa.table({"y": labels, "row": np.arange(90), "probability": lists}), kind)
    assert numbers(multiauc.evaluate_dataset(kind, label="y")) == in_memory(labels, scores)
    assert printed(cli, kind) == whole(labels, scores)


@pytest.mark.parametrize("kind", ["a.parquet", "a.csv"])
def test_a_column_of_numbers_beside_two_classes(cli, rng, kind):
    labels, scores = sample(rng, classes=("no", "yes"))
    write(pa.table({"text": ["x"] * 90, "y": labels, "risk": scores[:, 1]}), kind)
    expected = whole(labels, scores[:, 1], ("no", "yes"))
    assert printed(cli, kind) == expected
    assert multiauc.evaluate_dataset(kind, label="y").auc_mu.value == expected["auc_mu"]


def test_usual_names_come_first(rng):
    labels, scores = sample(rng)
    table = pa.table({"y": labels} | columns(scores[::-1], "") | columns(scores))
    assert numbers(multiauc.evaluate_dataset(table, label="y")) == in_memory(labels, scores)


def test_a_column_of_other_numbers_is_not_taken_for_scores(cli, rng):
    labels = np.array(["ant", "bee"] * 20)
    write(pa.table({"y": labels, "row": rng.permutation(40)}), "rows.csv")
    assert "--scores" in cli.fails("evaluate rows.csv --label y")
    with pytest.raises(ValueError, match="name the scores with scores"):
        multiauc.evaluate_dataset("rows.csv", label="y")
