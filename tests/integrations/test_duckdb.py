"""A relation of DuckDB is read through its Arrow stream, batch by batch."""

import pytest

import multiauc
from conftest import NAMES

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")


@pytest.fixture
def rows(names, scores):
    """Labels and the scores of each class, in columns called after the classes."""
    return pd.DataFrame(scores, columns=NAMES).assign(y=names, row=range(len(names)))


def relation_of(database, rows):
    database.register("rows", rows)
    chosen = ", ".join(f'"{name}" as "p_{name}"' for name in NAMES)
    return database.sql(f"select y, {chosen} from rows where row % 3 > 0")


def test_a_relation_gives_what_its_rows_give(rows):
    relation = relation_of(duckdb.connect(), rows)
    assert hasattr(relation, "__arrow_c_stream__")
    found = multiauc.evaluate_dataset(relation, label="y")
    kept = rows[rows["row"] % 3 > 0]
    expected = multiauc.evaluate(kept["y"], kept[NAMES])
    assert found.exact
    assert found.labels == tuple(NAMES)
    assert found.counts.tolist() == expected.counts.tolist()
    for metric in ("auc_mu", "hand_till", "one_vs_rest"):
        assert getattr(found, metric).value == getattr(expected, metric).value


def test_it_is_not_made_a_frame(rows, monkeypatch):
    import pyarrow as pa

    asked = []
    from_stream = pa.RecordBatchReader.from_stream

    class Reader(pa.RecordBatchReader):
        @staticmethod
        def from_stream(source):
            asked.append(type(source))
            return from_stream(source)

    monkeypatch.setattr(pa, "RecordBatchReader", Reader)
    multiauc.evaluate_dataset(relation_of(duckdb.connect(), rows), label="y")
    assert asked == [duckdb.DuckDBPyRelation]


def test_columns_called_after_the_classes(rows):
    database = duckdb.connect()
    database.register("rows", rows)
    found = multiauc.evaluate_dataset(database.sql("select * exclude (row) from rows"), label="y")
    assert found.auc_mu.value == multiauc.evaluate(rows["y"], rows[NAMES]).auc_mu.value
