"""multiauc.spark on a real local Spark, and the page docs/spark.md."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="Spark has an environment of its own: make test-spark")

import pandas as pd
import pyarrow as pa
from page_blocks import run_section
from pyarrow import parquet
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder
from pyspark.sql import SparkSession

import multiauc
import multiauc.spark
from internals import least_memory
from multiauc.spark import evaluation

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)

CLASSES = ["ant", "bee", "cow", "dog"]
ALL = ["auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"]
#: So little that states are coarse, and rows are counted in a second pass.
TIGHT = 70_000


@pytest.fixture(scope="module")
def spark():
    session = (
        SparkSession.builder.master("local[2,4]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def made(n=6000, seed=0, n_classes=4):
    """Classes and probabilities that rank them well, but not perfectly."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(n_classes, size=n, p=np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2))
    powers = np.exp(rng.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[codes])
    return codes, powers / powers.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def read(spark, tmp_path_factory):
    """A data frame of these columns, read from a file: types are those of the arrays."""

    def read(columns, partitions=3):
        path = tmp_path_factory.mktemp("rows") / "rows.parquet"
        parquet.write_table(pa.table(columns), path)
        return spark.read.parquet(str(path)).repartition(partitions)

    return read


def columns_of(codes, scores):
    return {"y": np.array(CLASSES)[codes], **{f"p_{name}": scores[:, k] for k, name in enumerate(CLASSES)}}


def assert_exact(found, expected, metrics=ALL):
    """The values of a single machine, bit for bit, and its standard errors but for what a sample does to them."""
    for name in metrics:
        one, other = found.metrics[name], expected.metrics[name]
        assert one.exact
        assert one.value == other.value
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.15)


def variants(codes, scores):
    rounded = np.where(np.arange(len(codes))[:, None] % 2, scores, np.round(scores, 1))
    yield "doubles", scores
    yield "singles", scores.astype(np.float32)
    yield "singles on a lattice", np.round(scores, 3).astype(np.float32)
    yield "fractions", np.round(scores * 7) / 7
    yield "many ties among other numbers", rounded
    yield "saturated", np.where(scores > 0.7, 1.0, np.where(scores < 0.05, 0.0, scores))


@pytest.mark.parametrize("kind", [name for name, _ in variants(*made(4))])
def test_values_are_those_of_one_machine_bit_for_bit(read, kind):
    codes, scores = made()
    scores = dict(variants(codes, scores))[kind]
    df = read(columns_of(codes, scores))
    found = multiauc.spark.evaluate(df, label="y", scores="p_*", memory_limit=TIGHT)
    assert_exact(found, multiauc.evaluate(np.array(CLASSES)[codes], scores, labels=CLASSES))
    assert found.labels == tuple(CLASSES)
    assert found.counts.tolist() == np.bincount(codes).tolist()


def test_long_ranges_are_split_and_ranges_of_one_number_not_gathered(read, monkeypatch):
    monkeypatch.setattr("multiauc.spark._passes.LONGEST_RANGE", 64)
    monkeypatch.setattr("multiauc.spark._passes.KEYS_PER_PART", 5000)
    codes, scores = made()
    scores[: len(scores) // 2] = np.round(scores[: len(scores) // 2], 1)
    found = multiauc.spark.evaluate(read(columns_of(codes, scores), 7), label="y", scores="p_*", memory_limit=TIGHT)
    assert_exact(found, multiauc.evaluate(np.array(CLASSES)[codes], scores, labels=CLASSES))


def test_more_classes_take_no_more_jobs_and_stages(spark, read):
    context, taken = spark.sparkContext, set()
    for n_classes in (3, 9):
        codes, scores = made(4000, n_classes=n_classes)
        df = read({"y": codes, **{f"p_{k}": scores[:, k] for k in range(n_classes)}})
        memory = least_memory(n_classes, ["auc_mu", "hand_till"])
        context.setJobGroup(f"{n_classes} classes", "counted")
        found = multiauc.spark.evaluate(
            df, label="y", scores="p_*", metrics=["auc_mu", "hand_till"], memory_limit=memory
        )
        assert found.auc_mu.value == multiauc.auc_mu_score(codes, scores)
        jobs = context.statusTracker().getJobIdsForGroup(f"{n_classes} classes")
        stages = [stage for job in jobs for stage in context.statusTracker().getJobInfo(job).stageIds]
        taken.add((len(jobs), len(stages)))
    context.setLocalProperty("spark.jobGroup.id", None)
    assert len(taken) == 1
    assert taken.pop()[0] > 1


def test_many_partitions_empty_ones_and_absent_classes(spark, read):
    codes, scores = made(500)
    codes[codes == 1] = 2
    df = read(columns_of(codes, scores)).repartition(40).union(read(columns_of(codes, scores)).filter("p_ant > 2"))
    y = np.array(CLASSES)[codes]
    with pytest.raises(ValueError, match="no rows of 1 class: 'bee'"):
        multiauc.spark.evaluate(df, label="y", scores="p_*", memory_limit=TIGHT)
    found = multiauc.spark.evaluate(df, label="y", scores="p_*", memory_limit=TIGHT, absent="ignore")
    assert_exact(found, multiauc.evaluate(y, scores, labels=CLASSES, absent="ignore"))
    with pytest.raises(ValueError, match="df has no rows"):
        multiauc.spark.evaluate(df.filter("p_ant > 2"), label="y", scores="p_*")


def test_bounds_without_a_second_pass(read):
    codes, scores = made()
    df = read(columns_of(codes, scores))
    expected = multiauc.evaluate(np.array(CLASSES)[codes], scores, labels=CLASSES)
    coarse = multiauc.spark.evaluate(df, label="y", scores="p_*", exact=False, memory_limit=TIGHT)
    fine = multiauc.spark.evaluate(df, label="y", scores="p_*", exact=False)
    for name in ALL:
        value = expected.metrics[name].value
        assert coarse.metrics[name].low < value < coarse.metrics[name].high
        assert fine.metrics[name].value == value
    state = multiauc.streaming.Accumulator(CLASSES, memory_limit=TIGHT)
    state.update(np.array(CLASSES)[codes], scores)
    assert state.evaluate() == coarse


def test_weights(read):
    codes, scores = made(2000)
    weights = np.random.default_rng(5).integers(0, 4, size=2000) / 2
    df = read({**columns_of(codes, scores), "w": weights})
    expected = multiauc.evaluate(np.array(CLASSES)[codes], scores, labels=CLASSES, sample_weight=weights)
    found = multiauc.spark.evaluate(df, label="y", scores="p_*", sample_weight="w")
    assert found.exact
    coarse = multiauc.spark.evaluate(df, label="y", scores="p_*", sample_weight="w", exact=False, memory_limit=TIGHT)
    for name in ALL:
        value = expected.metrics[name].value
        assert found.metrics[name].value == pytest.approx(value, abs=1e-12)
        assert coarse.metrics[name].low < value < coarse.metrics[name].high
    with pytest.raises(
        ValueError, match=f"exact=True with sample_weight='w' needs .* memory_limit={TIGHT} is too little"
    ):
        multiauc.spark.evaluate(df, label="y", scores="p_*", sample_weight="w", memory_limit=TIGHT)


def test_arrays_vectors_indices_and_two_classes(spark, read):
    codes, scores = made(1500)
    expected = multiauc.evaluate(codes, scores)
    arrays = pa.FixedSizeListArray.from_arrays(scores.ravel(), 4).cast(pa.list_(pa.float64()))
    df = read({"y": codes.astype(float), "a": arrays, **{f"s{k}": scores[:, k] for k in range(4)}})
    df = VectorAssembler(inputCols=[f"s{k}" for k in range(4)], outputCol="v").transform(df)
    for form in ("a", "v", ["s0", "s1", "s2", "s3"], "s*"):
        found = multiauc.spark.evaluate(df, label="y", scores=form, memory_limit=TIGHT)
        assert_exact(found, expected)
        assert found.labels == (0, 1, 2, 3)
    singles = scores.astype(np.float32)
    lists = pa.FixedSizeListArray.from_arrays(singles.ravel(), 4).cast(pa.list_(pa.float32()))
    found = multiauc.spark.evaluate(read({"y": codes, "a": lists}), label="y", scores="a", memory_limit=TIGHT)
    assert_exact(found, multiauc.evaluate(codes, singles))
    two = read({"y": codes > 1, "p": scores[:, 2]})
    found = multiauc.spark.evaluate(two, label="y", scores="p", memory_limit=30_000)
    assert_exact(found, multiauc.evaluate(codes > 1, scores[:, 2]))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ("if(p_cow > 0.9, null, y) as y", r"partition \d of df: column 'y', row \d+: the value is missing"),
        ("if(p_cow > 0.9, 'elk', y) as y", r"column 'y', row \d+: the class 'elk' has no score column"),
        ("if(p_cow > 0.9, null, p_dog) as p_dog", r"column 'p_dog', row \d+: the value is missing"),
        ("if(p_cow > 0.9, double('nan'), p_dog) as p_dog", r"column 'p_dog', row \d+: nan is not a finite number"),
        ("if(p_cow > 0.9, null, w) as w", r"column 'w', row \d+: the value is missing"),
        ("if(p_cow > 0.9, -1.0, w) as w", r"column 'w', row \d+: the weight -1.0 is negative"),
        ("if(p_cow > 0.9, 1e200, w) as w", "sample_weight contains 1000"),
    ],
)
def test_rows_that_cannot_be_are_refused_by_the_name_of_their_column(read, changed, sentence):
    codes, scores = made(1500)
    df = read({**columns_of(codes, scores), "w": np.ones(1500)})
    name = changed.rpartition(" ")[2]
    others = [f"`{column}`" for column in df.columns if column != name]
    with pytest.raises(ValueError, match=sentence):
        multiauc.spark.evaluate(
            df.selectExpr(*others, changed),
            label="y",
            scores="p_*",
            sample_weight="w",
            exact=False,
            labels=CLASSES if name != "p_dog" else ["ant", "bee", "cow", "dog"],
        )


def test_arguments_that_cannot_be(read):
    codes, scores = made(100)
    arrays = pa.FixedSizeListArray.from_arrays(scores.ravel(), 4).cast(pa.list_(pa.float64()))
    df = read({**columns_of(codes, scores), "a": arrays})
    with pytest.raises(ValueError, match=r"df: no column 'z' \(label\)"):
        multiauc.spark.evaluate(df, label="z", scores="p_*")
    with pytest.raises(ValueError, match=r"scores='q_\*' fits 0 columns"):
        multiauc.spark.evaluate(df, label="y", scores="q_*")
    with pytest.raises(ValueError, match="labels is needed"):
        multiauc.spark.evaluate(df, label="y", scores="a")
    with pytest.raises(ValueError, match="labels names 3 classes, but df has scores for 4"):
        multiauc.spark.evaluate(df, label="y", scores="p_*", labels=CLASSES[:3])
    with pytest.raises(ValueError, match=r"column 'a', row 1: 4 scores for 3 classes"):
        multiauc.spark.evaluate(df.filter("y != 'dog'"), label="y", scores="a", labels=CLASSES[:3])
    with pytest.raises(TypeError, match="df must be a data frame of Spark"):
        multiauc.spark.evaluate(pd.DataFrame(), label="y", scores="a")


def test_slices(read):
    codes, scores = made(3000)
    where = np.random.default_rng(3).choice(["north", "south", "west"], size=3000)
    where[:3] = "nowhere"
    codes[:3] = 0
    df = read({**columns_of(codes, scores), "where": where})
    found = multiauc.spark.evaluate(df, label="y", scores="p_*", by="where", memory_limit=TIGHT)
    assert set(found) == {"north", "south", "west"}  # in the other one all rows are of one class
    for name in found:
        rows = where == name
        assert_exact(found[name], multiauc.evaluate(np.array(CLASSES)[codes[rows]], scores[rows], labels=CLASSES))
    frame = found.to_frame(library="pandas")
    assert frame["where"].tolist() == sorted(["north", "south", "west"] * 4)
    assert "north" in repr(found)


def test_models_are_compared_in_the_same_passes(read):
    codes, scores = made(2000)
    noise = np.random.default_rng(4).normal(scale=0.3, size=scores.shape)
    worse = scores + noise - noise.mean(axis=1, keepdims=True)
    df = read({**columns_of(codes, scores), **{f"q_{name}": worse[:, k] for k, name in enumerate(CLASSES)}})
    found = multiauc.spark.compare(df, {"one": "p_*", "other": "q_*"}, label="y", memory_limit=TIGHT)
    y = np.array(CLASSES)[codes]
    assert_exact(found.evaluations["one"], multiauc.evaluate(y, scores, labels=CLASSES))
    assert_exact(found.evaluations["other"], multiauc.evaluate(y, worse, labels=CLASSES))
    difference = found.difference("one", "other", "hand_till")
    expected = multiauc.compare(y, {"one": scores, "other": worse}, labels=CLASSES, metric="hand_till")
    paired = expected.difference("one", "other")
    assert difference.exact
    assert difference.value == pytest.approx(paired.value, abs=1e-15)
    assert difference.standard_error == pytest.approx(paired.standard_error, rel=0.05)
    assert difference.standard_error < difference.standard_error_at_most
    low, high = difference.confidence_interval()
    assert low < difference.value < high
    bounds = multiauc.spark.compare(df, {"one": "p_*", "other": "q_*"}, label="y", memory_limit=TIGHT, exact=False)
    assert bounds.difference("one", "other").low < found.difference("one", "other").value
    assert bounds.difference("one", "other").high > found.difference("one", "other").value


def test_logits_and_names_in_another_order(read):
    codes, scores = made(500)
    y, logits = np.array(CLASSES)[codes], np.log(scores) + np.arange(500)[:, None] % 3
    columns = columns_of(codes, logits)
    turned = {name: columns[name] for name in ["y", *sorted(columns, reverse=True)[1:]]}
    expected = multiauc.evaluate(y, logits, labels=CLASSES, outputs="logits")
    for labels in (None, CLASSES):
        found = multiauc.spark.evaluate(read(turned), label="y", scores="p_*", labels=labels, outputs="logits")
        assert found.metrics["auc_mu"].value == expected.auc_mu.value
    assert found.labels == tuple(CLASSES)
    both = {**columns, **{name.replace("p_", "q_"): turned[name] for name in list(turned)[1:]}}
    compared = multiauc.spark.compare(read(both), {"p": "p_*", "q": "q_*"}, label="y", outputs="logits")
    assert compared.difference("p", "q").value == 0.0


def test_a_task_that_fails_is_tried_again(read, tmp_path):
    codes, scores = made(2000)
    marker = str(tmp_path / "failed")

    def fails_once(batches):
        if not Path(marker).exists():
            Path(marker).touch()
            raise RuntimeError("once")
        yield from batches

    df = read(columns_of(codes, scores))
    found = multiauc.spark.evaluate(df.mapInArrow(fails_once, df.schema), label="y", scores="p_*", memory_limit=TIGHT)
    assert Path(marker).exists()
    assert_exact(found, multiauc.evaluate(np.array(CLASSES)[codes], scores, labels=CLASSES))


def test_rows_that_change_between_the_passes_are_noticed(read):
    codes, scores = made(3000)

    def half_of_them(batches):
        for batch in batches:
            yield batch.filter(pa.array(np.random.default_rng().random(batch.num_rows) < 0.5))

    df = read(columns_of(codes, scores))
    df = df.mapInArrow(half_of_them, df.schema)
    with pytest.raises(ValueError, match="not the same when they were read again"):
        multiauc.spark.evaluate(df, label="y", scores="p_*", memory_limit=TIGHT)


def test_evaluator_in_a_cross_validation_and_on_disk(spark, tmp_path):
    codes, scores = made(600, n_classes=3)
    df = spark.createDataFrame(
        pd.DataFrame({"label": codes.astype(float), **{f"x{k}": scores[:, k] for k in range(3)}})
    )
    df = VectorAssembler(inputCols=["x0", "x1", "x2"], outputCol="features").transform(df).select("label", "features")
    evaluator = multiauc.spark.MulticlassAucEvaluator(metricName="hand_till")
    assert evaluator.isLargerBetter()
    model = LogisticRegression(maxIter=5)
    grid = ParamGridBuilder().addGrid(model.regParam, [0.0, 10.0]).addGrid(model.elasticNetParam, [1.0]).build()
    validator = CrossValidator(estimator=model, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=1)
    fitted = validator.fit(df)
    assert fitted.avgMetrics[0] > 0.8
    assert fitted.avgMetrics[1] == 0.5  # nothing is left of any coefficient
    assert fitted.bestModel.getRegParam() == 0.0
    predicted = fitted.transform(df).select("label", "probability").toPandas()
    expected = multiauc.hand_till_score(
        predicted["label"], np.array([one.toArray() for one in predicted["probability"]])
    )
    assert evaluator.evaluate(fitted.transform(df)) == expected
    evaluator.write().overwrite().save(str(tmp_path / "evaluator"))
    again = multiauc.spark.MulticlassAucEvaluator.load(str(tmp_path / "evaluator"))
    assert again.getMetricName() == "hand_till"
    fitted.write().overwrite().save(str(tmp_path / "fitted"))
    loaded = CrossValidatorModel.load(str(tmp_path / "fitted"))
    assert isinstance(loaded.getEvaluator(), multiauc.spark.MulticlassAucEvaluator)
    assert loaded.getEvaluator().evaluate(loaded.transform(df)) == expected
    with pytest.raises(ValueError, match=r"metricName must be one of .* got 'auc'"):
        multiauc.spark.MulticlassAucEvaluator(metricName="auc")


def test_workers_run_this_interpreter_unless_told_otherwise():
    code = "import os, multiauc.spark; print(os.environ['PYSPARK_PYTHON'])"
    for given, expected in ((None, sys.executable), ("/other/python", "/other/python")):
        environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
        environment |= {} if given is None else {"PYSPARK_PYTHON": given}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


def test_without_spark_a_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "try:\n    import multiauc.spark\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install pyspark pyarrow" in done.stdout


def test_examples_of_docstrings(spark):
    assert doctest.testmod(evaluation, globs={}) == doctest.TestResults(failed=0, attempted=6)


def test_the_page_shows_what_it_prints(spark):
    run_section("spark", "Tuning")
