"""The rule book for columns and labels (see tests/core/test_column_rules.py) where other libraries hold the rows."""

import pytest

from column_cases import REFUSED, UNDERSTOOD, check, make_frame, score_names


def evaluate_dask(case):
    dd = pytest.importorskip("dask.dataframe")
    import multiauc.dask

    frame = dd.from_pandas(make_frame(case), npartitions=3)
    return multiauc.dask.evaluate(frame, label="y", scores=score_names(case), labels=case.labels).compute()


def evaluate_ray(case):
    ray = pytest.importorskip("ray")
    import multiauc.ray

    if not ray.is_initialized():
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    frames = [make_frame(case)[:30], make_frame(case)[30:]]
    return multiauc.ray.evaluate(ray.data.from_pandas(frames), label="y", scores=score_names(case), labels=case.labels)


def evaluate_spark(case):
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    import multiauc.spark

    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    df = session.createDataFrame(make_frame(case))
    return multiauc.spark.evaluate(df, label="y", scores=score_names(case), labels=case.labels)


@pytest.fixture(params=[evaluate_dask, evaluate_ray, evaluate_spark], ids=["dask", "ray", "spark"])
def evaluate(request):
    """Evaluates a case."""
    return request.param


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data")
@pytest.mark.parametrize("name", UNDERSTOOD)
def test_understood(evaluate, name):
    check(evaluate(UNDERSTOOD[name]), UNDERSTOOD[name])


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data")
@pytest.mark.parametrize("name", REFUSED)
def test_refused(evaluate, name):
    case, named = REFUSED[name]
    with pytest.raises(ValueError, match=named):
        evaluate(case)
