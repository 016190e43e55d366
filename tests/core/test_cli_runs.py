"""`multiauc evaluate --runs`: its numbers are those of `evaluate_runs` on the same rows."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

import multiauc
from command_line import columns, sample
from result_schema import problems

SEEDS = ("s2", "s1", "s3")
N = 60


@pytest.fixture
def runs(rng, in_empty_folder):
    """Labels, the scores of three runs, and what else the rows have."""
    labels, _ = sample(rng, N)
    extra = {"w": rng.integers(1, 4, size=N).astype(float), "user": np.arange(N) // 3, "row": np.arange(N)}
    return labels, [sample(rng, N)[1] for _ in SEEDS], extra


def write(path, runs, change=None, shuffled=None):
    """Write the runs one below the other; `change` edits the columns, `shuffled` sets the order of rows."""
    labels, scores, extra = runs
    stacked = {"y": np.tile(labels, len(scores)), "seed": np.repeat(SEEDS[: len(scores)], N)}
    stacked |= columns(np.concatenate(scores)) | {name: np.tile(one, len(scores)) for name, one in extra.items()}
    if change is not None:
        change(stacked)
    table = pa.table(stacked)
    table = table if shuffled is None else table.take(shuffled)
    (arrow_csv.write_csv if path.endswith(".csv") else parquet.write_table)(table, path)


def check(found, expected, level=0.95, rel=0.0):
    """The JSON has what `to_dict` has, and fits the schema."""
    assert problems(found, "runs") == []
    assert problems(found) == []
    wanted = expected.to_dict(level)
    assert found["n_runs"] == wanted["n_runs"]
    assert list(found["metrics"]) == list(wanted["metrics"])
    for metric, numbers in wanted["metrics"].items():
        assert found["metrics"][metric] == pytest.approx(numbers, rel=rel, abs=0.0)
    assert found["notes"] == list(expected.notes)
    assert (found["rows"], found["labels"]) == (N, list(expected.labels))
    assert found["counts"] == expected.counts.tolist()


@pytest.mark.parametrize("path", ["runs.csv", "runs.parquet"])
@pytest.mark.parametrize("by_id", [False, True])
def test_the_numbers_of_evaluate_runs(cli, runs, path, by_id):
    labels, scores, _ = runs
    write(path, runs)
    found = json.loads(cli(f"evaluate {path} -l y --runs seed --level 0.9 -f json {'--id row' if by_id else ''}"))
    check(found, multiauc.evaluate_runs(labels, scores), 0.9)
    assert found["level"] == 0.9
    (note,) = found["notes"]
    assert note.startswith("fewer than ten runs: where runs vary more than rows do")
    assert multiauc.evaluate_runs(labels, scores).notes == (note,)
    assert found["provenance"]["options"]["runs"] == "seed"
    assert found["provenance"]["options"]["id"] == ("row" if by_id else None)
    assert found["provenance"]["files"][0]["rows"] == 3 * N


@pytest.mark.parametrize("path", ["runs.csv", "runs.parquet"])
def test_ids_match_rows_in_any_order(cli, runs, rng, path):
    labels, scores, extra = runs
    order = rng.permutation(3 * N)
    write(path, runs, shuffled=order)
    found = json.loads(cli(f"evaluate {path} -l y --runs seed --id row --sample-weight w --groups user -f json"))
    first = order[order // N == order[0] // N] % N  # the rows of the run that comes first
    in_order = [scores[run][first] for run in dict.fromkeys((order // N).tolist())]
    weights, users = extra["w"][first], extra["user"][first]
    # Groups are numbered as they come, which leaves sums over them equal but for rounding.
    check(found, multiauc.evaluate_runs(labels[first], in_order, sample_weight=weights, groups=users), rel=1e-10)
    assert "--id matches them" in cli.fails(f"evaluate {path} -l y --runs seed")


def test_interleaved_runs_keep_their_order(cli, runs):
    labels, scores, _ = runs
    write("runs.parquet", runs, shuffled=np.arange(3 * N).reshape(3, N).T.ravel())
    found = json.loads(cli("evaluate runs.parquet -l y --runs seed --metrics hand_till,log_loss --clip 1e-9 -f json"))
    check(found, multiauc.evaluate_runs(labels, scores, metrics=["hand_till", "log_loss"], clip=1e-9))


def test_two_classes_one_column_and_numbered_runs(cli, rng, in_empty_folder):
    y = np.arange(80) % 2
    scores = [np.clip(0.3 * y + rng.random(80) * 0.7, 0, 1) for _ in range(2)]
    stacked = {"y": np.tile(y, 2), "seed": np.repeat([0, 1], 80), "p": np.concatenate(scores)}
    parquet.write_table(pa.table(stacked), "two.parquet")
    found = json.loads(cli("evaluate two.parquet -l y --runs seed -f json"))
    expected = multiauc.evaluate_runs(y, scores)
    assert {name: found[name] for name in ("n_runs", "metrics")} == expected.to_dict()


def test_predicted_labels(cli, runs):
    labels, scores, _ = runs
    predicted = [np.array(["ant", "bee", "cat"])[one.argmax(axis=1)] for one in scores]
    stacked = {"y": np.tile(labels, 3), "seed": np.repeat([1, 2, 3], N), "y_pred": np.concatenate(predicted)}
    parquet.write_table(pa.table(stacked), "hard.parquet")
    found = json.loads(cli("evaluate hard.parquet -l y --scores y_pred --runs seed -f json"))
    values = [np.mean(one == labels) for one in predicted]
    assert found["metrics"]["accuracy"]["value"] == pytest.approx(np.mean(values), rel=1e-12)
    assert any("y_pred" in note for note in found["notes"])


def test_one_run_says_so(cli, runs):
    labels, scores, extra = runs
    write("runs.parquet", (labels, scores[:1], extra))
    found = json.loads(cli("evaluate runs.parquet -l y --runs seed -f json"))
    check(found, multiauc.evaluate_runs(labels, scores[:1]))
    assert "one run only: the variance between trainings is unknown" in found["notes"]
    assert "would bring" not in cli("evaluate runs.parquet -l y --runs seed")


def test_tables(cli, runs):
    labels, scores, _ = runs
    write("runs.csv", runs)
    expected = multiauc.evaluate_runs(labels, scores)
    cells = expected.metrics["auc_mu"].cells()
    for style in ("table", "markdown"):
        text = cli(f"evaluate runs.csv -l y --runs seed -f {style}")
        assert "runs: 3 runs on 60 rows, 3 classes" in text
        for word in ("mean", "from rows", "from runs", "df", "twice the rows would bring", "fewer than ten runs"):
            assert word in " ".join(text.split())
        line = next(line for line in text.splitlines() if "AUC" in line and cells[0] in line)
        assert all(cell.split(" ")[0] in line for cell in cells)
    rows = list(csv.DictReader(cli("evaluate runs.csv -l y --runs seed -f csv").splitlines()))
    assert {row.pop("metric"): {name: float(cell) for name, cell in row.items()} for row in rows} == (
        expected.to_dict()["metrics"]
    )


def test_gates_hold_the_mean(cli, runs):
    labels, scores, _ = runs
    write("runs.parquet", runs)
    one = multiauc.evaluate_runs(labels, scores).metrics["auc_mu"]
    low = one.confidence_interval(0.9)[0]
    line = "evaluate runs.parquet -l y --runs seed -f json --fail-under auc_mu="
    found = json.loads(cli(f"{line}{one.value - 1e-6}"))
    assert problems(found) == []
    assert found["gates"][0]["found"] == one.value
    assert "AUC" in cli(f"{line}{one.value + 1e-6}", code=3)
    assert json.loads(cli(f"{line}{low - 1e-6} --fail-on-interval"))["gates"][0]["found"] == low
    cli(f"{line}{low + 1e-6} --fail-on-interval", code=3)


def swap(name, row, value):
    """A change of one cell."""

    def change(stacked):
        stacked[name] = stacked[name].astype(object) if name == "y" else stacked[name]
        stacked[name][row] = value

    return change


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            swap("y", N + 4, "cat"),
            "",
            f"column 'y': row {N + 5} of run 's1' differs from row 5 of run 's2' (cat and bee)",
        ),
        (swap("y", N + 4, "cat"), "--id row", f"row {N + 5} of run 's1' differs from row 5 of run 's2' (cat and bee)"),
        (swap("w", N + 4, 9.0), "--sample-weight w", f"column 'w': row {N + 5} of run 's1' differs from row 5"),
        (swap("user", N + 4, 19), "--groups user", f"column 'user': row {N + 5} of run 's1' differs from row 5"),
        (swap("seed", N, "s2"), "", "rows of run 's1': 59, of run 's2': 61"),
        (swap("seed", N, "s2"), "--id row", "column 'row', row 61: run 's2' has '0' twice"),
        (swap("row", N + 4, 99), "--id row", "run 's1' has no row with --id '4', which run 's2' has"),
    ],
)
def test_what_differs_between_runs(cli, runs, change, options, message):
    write("runs.csv", runs, change)
    said = cli.fails(f"evaluate runs.csv -l y --runs seed {options}")
    assert said.startswith("runs.csv: ")
    assert message in said


def test_a_run_with_more_rows(cli, runs):
    write("runs.parquet", runs)
    table = parquet.read_table("runs.parquet")
    parquet.write_table(table.slice(1), "more.parquet")
    said = cli.fails("evaluate more.parquet -l y --runs seed --id row")
    assert said == "more.parquet: run 's2' has no row with --id '0', which run 's1' has"
    said = cli.fails("evaluate more.parquet -l y --runs seed")
    assert "rows of run 's1': 60, of run 's2': 59; runs are scored on the same rows (--id matches them)" in said


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("--runs seed --by user", 2, "--runs and --by cannot be combined"),
        ("--runs seed --bootstrap 20", 2, "--runs and --bootstrap cannot be combined"),
        ("--runs seed --folds user", 2, "--runs and --folds cannot be combined"),
        ("--runs seed --worst 3", 2, "--runs and --worst cannot be combined"),
        ("--runs seed --seed 3", 2, "--runs and --seed cannot be combined"),
        ("--runs seed --exact", 1, "because of --exact, and --runs needs all rows at once"),
        ("--runs seed --checkpoint c", 1, "because of --checkpoint, and --runs needs all rows at once"),
        ("--runs seed --memory-limit 1GB", 1, "because of --memory-limit, and --runs needs all rows at once"),
        ("--id row", 2, "--id needs --runs"),
        ("--runs z", 1, "no column 'z' (--runs)"),
        ("--runs seed --id z", 1, "no column 'z' (--id)"),
    ],
)
def test_refused_options(cli, runs, options, code, message):
    write("runs.parquet", runs)
    assert message in cli.fails(f"evaluate runs.parquet -l y {options}", code=code)
    assert not Path("c").exists()


def test_models_compared(cli, runs, rng):
    labels, scores, _ = runs
    others = [sample(rng, N)[1] for _ in SEEDS]
    more = {f"other_{name[2:]}": one for name, one in columns(np.concatenate(others)).items()}
    write("runs.parquet", runs, change=lambda stacked: stacked.update(more))
    asked = "compare runs.parquet -l y --scores p_* --scores other_* --runs seed"
    found = json.loads(cli(f"{asked} --metric hand_till --format json"))
    expected = multiauc.compare_runs(labels, {"p": scores, "other": others}, metric="hand_till")
    difference = expected.difference("p", "other")
    assert problems(found) == []
    assert (found["rows"], found["correction"], found["notes"]) == (N, "Holm", [*expected.notes])
    assert found["estimates"]["p"]["value"] == expected.estimates["p"].value
    limits = difference.confidence_interval()
    shown = found["differences"][0]
    assert (shown["value"], shown["p_value"]) == (difference.value, difference.p_value)
    assert (shown["low"], shown["high"]) == (shown["corrected_low"], shown["corrected_high"]) == tuple(limits)
    assert "--runs and --bootstrap cannot be combined" in cli.fails(f"{asked} --bootstrap 9", code=2)
    assert "all models in one file" in cli.fails("compare runs.parquet b=runs.parquet -l y -s p_* --runs seed", code=2)


def test_a_row_without_a_run(cli, runs):
    write("runs.parquet", runs)
    table = parquet.read_table("runs.parquet")
    names = table["seed"].to_pylist()
    names[7] = None
    parquet.write_table(table.set_column(table.schema.get_field_index("seed"), "seed", pa.array(names)), "gap.parquet")
    said = cli.fails("evaluate gap.parquet -l y --runs seed")
    assert said.startswith("gap.parquet: column 'seed', row 8")
