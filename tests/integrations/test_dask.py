"""`multiauc.dask` with the distributed scheduler: processes that exchange states."""

import doctest

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import Delayed
from distributed import Client, LocalCluster
from page_blocks import run_section

import multiauc
import multiauc.dask

CLASSES = ["ant", "bee", "cow", "dog"]
METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")

pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture(scope="module")
def client():
    """Dask's distributed scheduler with two processes."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def frame(names, scores):
    columns = {f"p_{name}": scores[:, k] for k, name in enumerate(CLASSES)}
    weights = np.random.default_rng(3).random(len(names))
    return pd.DataFrame({"y": names, **columns, "w": weights, "other": "text"})


@pytest.mark.parametrize("n_partitions", [1, 5, 80])
def test_the_bits_of_all_rows(frame, names, scores, n_partitions):
    lazy = multiauc.dask.evaluate(dd.from_pandas(frame, npartitions=n_partitions), label="y")
    assert isinstance(lazy, Delayed)
    found, whole = lazy.compute(), multiauc.evaluate(names, scores)
    for metric in METRICS:
        assert getattr(found, metric).exact
        assert getattr(found, metric).value == getattr(whole, metric).value
        assert getattr(found, metric).standard_error == pytest.approx(getattr(whole, metric).standard_error, rel=1e-9)
    assert found.counts.tolist() == [np.count_nonzero(names == name) for name in CLASSES]


def test_logits(frame, names, scores):
    lazy = multiauc.dask.evaluate(dd.from_pandas(frame, npartitions=3), label="y", outputs="logits")
    assert lazy.compute().auc_mu.value == multiauc.auc_mu_score(names, scores, outputs="logits")


def test_partitions_that_are_empty_or_lack_classes(frame, names, scores):
    ddf = dd.from_pandas(frame.sort_values("y", ignore_index=True), npartitions=9)
    late = multiauc.dask.evaluate(ddf[ddf["y"] != "ant"], label="y", absent="ignore").compute()
    kept = names != "ant"
    expected = multiauc.auc_mu_score(names[kept], scores[kept], labels=CLASSES, absent="ignore")
    assert late.auc_mu.value == expected
    with pytest.raises(ValueError, match="no rows of 1 class: 'ant'"):
        multiauc.dask.evaluate(ddf[ddf["y"] != "ant"], label="y").compute()
    with pytest.raises(ValueError, match="the data frame: there are no rows"):
        multiauc.dask.evaluate(ddf[ddf["y"] == "elk"], label="y").compute()


def test_weights_and_categories(frame, names, scores):
    ddf = dd.from_pandas(frame.astype({"y": "category"}), npartitions=6)
    found = multiauc.dask.evaluate(ddf, label="y", sample_weight="w").compute()
    whole = multiauc.evaluate(names, scores, sample_weight=frame["w"])
    for metric in METRICS:
        assert getattr(found, metric).value == pytest.approx(getattr(whole, metric).value, abs=1e-12)


def test_lists_of_single_precision_and_labels_that_are_numbers(codes, scores):
    single = scores.astype(np.float32)
    frame = pd.DataFrame({"y": codes, "p": list(single)})
    with dask.config.set({"dataframe.convert-string": False}):
        ddf = dd.from_pandas(frame, npartitions=6)
        found = multiauc.dask.evaluate(ddf, label="y", scores="p", labels=range(4)).compute()
    assert found.auc_mu.value == multiauc.auc_mu_score(codes, single)
    assert found.labels == (0, 1, 2, 3)
    with pytest.raises(ValueError, match="column 'p' holds large_string, not lists of 4 scores"):
        multiauc.dask.evaluate(dd.from_pandas(frame, npartitions=1), label="y", scores="p", labels=range(4)).compute()


def test_columns_that_are_not_needed_are_not_made(frame):
    def refuse(_value):
        raise RuntimeError("this column was made")

    ddf = dd.from_pandas(frame, npartitions=2)
    ddf = ddf.assign(broken=ddf["other"].map(refuse, meta=("broken", "int64")))
    assert multiauc.dask.evaluate(ddf, label="y").compute().auc_mu.exact


@pytest.mark.parametrize("column", ["y", "p_bee", "w"])
def test_missing_values_are_refused_by_name(frame, column):
    broken = frame.copy()
    broken.loc[130, column] = None
    ddf = dd.from_pandas(broken, npartitions=4)
    message = f"partition 1 of the data frame: column '{column}', row 31: the value is missing"
    lazy = multiauc.dask.evaluate(ddf, label="y", sample_weight="w")
    with pytest.raises(ValueError, match=message):
        lazy.compute()


def test_what_is_refused_before_anything_is_computed(frame):
    ddf = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(ValueError, match="the data frame: no column 'z'"):
        multiauc.dask.evaluate(ddf, label="z")
    with pytest.raises(TypeError, match="ddf must be a data frame of Dask"):
        multiauc.dask.evaluate(frame, label="y")
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        multiauc.dask.evaluate(ddf, label="y", weights="w")
    with pytest.raises(TypeError, match="exact= is an option of evaluate_dataset"):
        multiauc.dask.evaluate(ddf, label="y", exact=True)
    with pytest.raises(ValueError, match="absent"):
        multiauc.dask.evaluate(ddf, label="y", absent="drop")


def test_bounds_in_little_memory_whatever_the_partitions():
    rng = np.random.default_rng(5)
    y, p = rng.integers(0, 4, size=20_000), rng.random((20_000, 4))
    frame = pd.DataFrame(p, columns=["p_0", "p_1", "p_2", "p_3"]).assign(y=y)
    found, again = (
        multiauc.dask.evaluate(dd.from_pandas(frame, npartitions=n), label="y", memory_limit=200_000).compute()
        for n in (5, 11)
    )
    assert not found.auc_mu.exact
    assert (found.auc_mu.low, found.auc_mu.high) == (again.auc_mu.low, again.auc_mu.high)
    assert found.auc_mu.low <= multiauc.auc_mu_score(y, p) <= found.auc_mu.high


def test_the_example_of_the_docstring():
    found = doctest.testmod(multiauc.dask, globs={})
    assert found.failed == 0 < found.attempted


def test_the_page_shows_what_its_code_prints():
    run_section("clusters", "Dask")
