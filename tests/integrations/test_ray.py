"""`multiauc.ray` with Ray on this machine: tasks that exchange states."""

import doctest
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import ray
from page_blocks import run_section

import multiauc
import multiauc.ray

CLASSES = ["ant", "bee", "cow", "dog"]
METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")

# Ray warns of its own defaults.
pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data")]


@pytest.fixture(scope="module")
def runtime():
    """Ray on this machine, without a dashboard."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def frame(names, scores):
    columns = {f"p_{name}": scores[:, k] for k, name in enumerate(CLASSES)}
    weights = np.random.default_rng(3).random(len(names))
    return pd.DataFrame({"y": names, **columns, "w": weights, "other": "text"})


def parts(frame, n_blocks):
    """A data set of so many blocks."""
    edges = np.linspace(0, len(frame), n_blocks + 1).astype(int)
    return ray.data.from_pandas([frame[start:end] for start, end in pairwise(edges)])


@pytest.mark.parametrize("n_blocks", [1, 20])
def test_the_bits_of_all_rows(frame, names, scores, n_blocks):
    found, whole = multiauc.ray.evaluate(parts(frame, n_blocks), label="y"), multiauc.evaluate(names, scores)
    for metric in METRICS:
        assert getattr(found, metric).exact
        assert getattr(found, metric).value == getattr(whole, metric).value
        assert getattr(found, metric).standard_error == pytest.approx(getattr(whole, metric).standard_error, rel=1e-9)
    assert found.counts.tolist() == [np.count_nonzero(names == name) for name in CLASSES]


def test_tensors_of_single_precision_and_labels_that_are_numbers(codes, scores):
    single = scores.astype(np.float32)
    numbers = parts(pd.DataFrame({"row": np.arange(400)}), 3)
    dataset = numbers.map_batches(lambda batch: {"y": codes[batch["row"]], "p": single[batch["row"]]})
    found = multiauc.ray.evaluate(dataset, label="y", scores="p", labels=range(4))
    assert found.auc_mu.value == multiauc.auc_mu_score(codes, single)
    assert found.labels == (0, 1, 2, 3)


def test_lists_and_weights(frame, names, scores):
    dataset = parts(frame.assign(p=scores.tolist()), 3)
    found = multiauc.ray.evaluate(dataset, label="y", scores="p", sample_weight="w", labels=CLASSES)
    whole = multiauc.evaluate(names, scores, sample_weight=frame["w"])
    for metric in METRICS:
        assert getattr(found, metric).value == pytest.approx(getattr(whole, metric).value, abs=1e-12)


def test_blocks_that_are_empty_or_lack_classes(frame, names, scores):
    dataset = parts(frame.sort_values("y", ignore_index=True), 6)
    without = dataset.map_batches(lambda rows: rows[rows["y"] != "ant"], batch_format="pandas")
    kept = names != "ant"
    expected = multiauc.auc_mu_score(names[kept], scores[kept], labels=CLASSES, absent="ignore")
    assert multiauc.ray.evaluate(without, label="y", absent="ignore").auc_mu.value == expected
    with pytest.raises(ValueError, match="no rows of 1 class: 'ant'"):
        multiauc.ray.evaluate(without, label="y")
    with pytest.raises(ValueError, match="the data set: there are no rows"):
        multiauc.ray.evaluate(dataset.map_batches(lambda rows: rows[:0], batch_format="pandas"), label="y")
    with pytest.raises(ValueError, match="the data set: there are no rows"):
        multiauc.ray.evaluate(ray.data.from_items([]), label="y")


@pytest.mark.parametrize(("column", "n_blocks", "row"), [("y", 20, 11), ("p_bee", 4, 31)])
def test_missing_values_are_refused_by_name_and_never_left_out(frame, column, n_blocks, row, monkeypatch):
    broken = frame.copy()
    broken.loc[130, column] = None
    monkeypatch.setattr(ray.data.DataContext.get_current(), "max_errored_blocks", -1)
    message = f"a block of the data set: column '{column}', row {row}: the value is missing"
    with pytest.raises(ValueError, match=message):
        multiauc.ray.evaluate(parts(broken, n_blocks), label="y")


def test_what_is_refused_before_anything_is_computed(frame):
    dataset = parts(frame, 2)
    with pytest.raises(ValueError, match="the data set: no column 'z'"):
        multiauc.ray.evaluate(dataset, label="z")
    with pytest.raises(TypeError, match="dataset must be a data set of Ray"):
        multiauc.ray.evaluate(frame, label="y")
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        multiauc.ray.evaluate(dataset, label="y", weights="w")


def test_the_example_of_the_docstring():
    found = doctest.testmod(multiauc.ray, globs={})
    assert found.failed == 0 < found.attempted


def test_the_page_shows_what_its_code_prints():
    run_section("clusters", "Ray")
