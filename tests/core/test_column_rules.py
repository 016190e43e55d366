"""One rule book for columns and labels: data frames in memory and files (Dask, Ray and Spark: tests/integrations)."""

import pytest

import multiauc
from column_cases import REFUSED, UNDERSTOOD, check, make_frame, score_names


def evaluate_frame(case):
    frame = make_frame(case)
    return multiauc.evaluate(frame["y"], frame[[case.columns[k] for k in case.order]], labels=case.labels)


def evaluate_arrow(case):
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(make_frame(case))
    return multiauc.evaluate(table["y"], table.select([case.columns[k] for k in case.order]), labels=case.labels)


def evaluate_file(case, name):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    table = pa.Table.from_pandas(make_frame(case), preserve_index=False)
    (csv.write_csv if name.endswith(".csv") else parquet.write_table)(table, name)
    return multiauc.evaluate_dataset(name, label="y", scores=score_names(case), labels=case.labels)


@pytest.fixture(params=["frame", "arrow", "a.parquet", "a.csv"])
def evaluate(request, tmp_path):
    """Evaluates a case."""
    if "." in request.param:
        return lambda case: evaluate_file(case, str(tmp_path / request.param))
    return {"frame": evaluate_frame, "arrow": evaluate_arrow}[request.param]


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_understood(evaluate, name):
    check(evaluate(UNDERSTOOD[name]), UNDERSTOOD[name])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(evaluate, name):
    case, named = REFUSED[name]
    with pytest.raises(ValueError, match=named):
        evaluate(case)


def test_a_class_without_rows_has_the_type_of_the_others():
    case = UNDERSTOOD["integers"]
    frame = make_frame(case)
    frame = frame[frame["y"] != 2]
    found = multiauc.evaluate(frame["y"], frame[case.columns], absent="ignore")
    assert found.labels == (0, 1, 2)


def test_a_state_takes_columns_in_another_order_by_their_names():
    case = UNDERSTOOD["another order"]
    frame = make_frame(case)
    state = multiauc.streaming.Accumulator(case.classes)
    state.update(frame["y"], frame[[case.columns[k] for k in case.order]])
    same = multiauc.streaming.Accumulator(case.classes)
    same.update(frame["y"], frame[list(case.columns)])
    assert state.to_bytes() == same.to_bytes()
