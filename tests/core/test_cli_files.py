"""Files of every kind give the same numbers, and what is wrong in them is named: file, column, row."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import multiauc
from command_line import ANIMALS, sample

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def table_of(labels, scores, prefix="p_", classes=ANIMALS, **more):
    columns = {"y": labels, **{f"{prefix}{name}": column for name, column in zip(classes, scores.T, strict=True)}}
    return pa.table(columns | more)


def area(cli, *arguments):
    """D of the file, by the command that needs nothing else."""
    return json.loads(cli("roc", *arguments, "--format", "json"))["area"]


class TestKindsOfFiles:
    def test_all_kinds_have_the_same_numbers(self, cli, rng):
        labels, scores = sample(rng)
        table = table_of(labels, scores)
        parquet.write_table(table, "a.parquet")
        parquet.write_table(table, "a.pq")
        feather.write_feather(table, "a.feather")
        feather.write_feather(table, "a.arrow", compression="uncompressed")
        csv.write_csv(table, "a.csv")
        csv.write_csv(table, "a.tsv", csv.WriteOptions(delimiter="\t"))
        with pa.CompressedOutputStream("a.csv.gz", "gzip") as packed:
            csv.write_csv(table, packed)
        np.savez("a.npz", y=labels, y_score=scores)
        np.savez("b.npz", y=labels, **{f"p_{name}": column for name, column in zip(ANIMALS, scores.T, strict=True)})
        expected = multiauc.multiclass_roc(labels, scores).auc
        kinds = ("a.parquet", "a.pq", "a.feather", "a.arrow", "a.csv", "a.tsv", "a.csv.gz", "a.npz", "b.npz")
        assert {name: area(cli, name, "--label", "y") for name in kinds} == dict.fromkeys(kinds, expected)

    def test_float32_stays_float32(self, cli, rng):
        labels, scores = sample(rng)
        single = scores.astype(np.float32)
        parquet.write_table(table_of(labels, single), "a.parquet")
        assert area(cli, "a.parquet", "--label", "y") == multiauc.multiclass_roc(labels, single).auc

    def test_categorical_integer_float_and_decimal_columns(self, cli, rng):
        labels, scores = sample(rng, classes=("0", "1", "2"))
        expected = multiauc.multiclass_roc(labels, scores).auc
        codes = labels.astype(int)
        kinds = {"dictionary": pa.array(labels).dictionary_encode(), "integer": codes, "float": codes.astype(float)}
        for name, column in kinds.items():
            parquet.write_table(table_of(column, scores, classes=("0", "1", "2")), f"{name}.parquet")
            assert area(cli, f"{name}.parquet", "--label", "y") == expected
        rounded = scores.round(3)
        decimals = [pa.array([Decimal(f"{value:.3f}") for value in column]) for column in rounded.T]
        table = pa.table({"y": labels} | {f"p_{k}": column for k, column in enumerate(decimals)})
        parquet.write_table(table, "decimal.parquet")
        assert area(cli, "decimal.parquet", "--label", "y") == multiauc.multiclass_roc(labels, rounded).auc

    def test_leading_zeros_of_a_csv_are_part_of_the_name(self, cli, rng):
        labels, scores = sample(rng, classes=("01", "1", "2"))
        csv.write_csv(table_of(labels, scores, classes=("01", "1", "2")), "a.csv")
        classes = json.loads(cli("roc", "a.csv", "-l", "y", "--kind", "one_vs_rest", "-f", "json"))["curves"]
        assert [curve["class"] for curve in classes] == ["01", "1", "2"]

    @pytest.mark.filterwarnings("default::multiauc.ColumnOrderWarning")  # the command line shows it
    def test_a_single_score_belongs_to_the_second_class(self, cli, rng):
        labels = np.array(["no", "yes"])[np.arange(40) % 2]
        score = rng.random(40) + (labels == "yes")
        parquet.write_table(pa.table({"y": labels, "score": score}), "a.parquet")
        found = area(cli, "a.parquet", "-l", "y", "-s", "score", "--thresholds", 500)
        assert found == multiauc.multiclass_roc(labels, score, thresholds=500).auc
        turned = area(cli, "a.parquet", "-l", "y", "-s", "score", "--labels", "yes,no", "--thresholds", 500)
        assert turned == pytest.approx(1 - found, abs=1e-3)


class TestNamesOfColumns:
    def test_what_the_star_stands_for_is_the_class(self, cli, rng):
        labels, scores = sample(rng)
        expected = multiauc.multiclass_roc(labels, scores).auc
        table = table_of(labels, scores, prefix="net (v2): ")
        parquet.write_table(table.append_column("p_value", pa.array(scores[:, 0])), "a.parquet")
        assert area(cli, "a.parquet", "-l", "y", "-s", "net (v2): *") == expected
        names = ",".join(f"net (v2): {name}" for name in ANIMALS)
        assert area(cli, "a.parquet", "-l", "y", "-s", names) == expected

    def test_columns_in_another_order_than_the_sorted_labels(self, cli, rng):
        labels, scores = sample(rng)
        turned = scores[:, ::-1]
        parquet.write_table(table_of(labels, turned, classes=ANIMALS[::-1]), "a.parquet")
        expected = multiauc.multiclass_roc(labels, turned, labels=ANIMALS[::-1]).auc
        assert area(cli, "a.parquet", "-l", "y") == expected

    def test_classes_in_words_for_numbered_columns(self, cli, rng):
        labels, scores = sample(rng)
        parquet.write_table(table_of(labels, scores, classes=("0", "1", "2")), "a.parquet")
        problem = cli.fails("roc", "a.parquet", "-l", "y")
        assert "a.parquet: column 'y', row 1: the class 'ant' has no score column" in problem
        assert "there are scores for '0', '1', '2' (see --scores and --labels)" in problem
        expected = multiauc.multiclass_roc(labels, scores).auc
        assert area(cli, "a.parquet", "-l", "y", "--labels", "ant, bee,cat") == expected
        assert cli.fails("roc", "a.parquet", "-l", "y", "--labels", "ant,bee") == (
            "--labels names 2 classes, but a.parquet has scores for 3"
        )


class TestProblems:
    @pytest.fixture
    def lines(self, rng):
        labels, scores = sample(rng, 12)
        return [["y", "w", *(f"p_{name}" for name in ANIMALS)]] + [
            [label, "1", *map(str, row)] for label, row in zip(labels.tolist(), scores.round(3).tolist(), strict=True)
        ]

    def write(self, lines, name="a.csv"):
        Path(name).write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8")

    @pytest.mark.parametrize(
        ("row", "column", "cell", "problem"),
        [
            (5, 3, "much", "a.csv: column 'p_bee', row 5: 'much' is not a number"),
            (1, 2, "", "a.csv: column 'p_ant', row 1: the value is missing"),
            (12, 4, "nan", "a.csv: column 'p_cat', row 12: nan is not a finite number"),
            (3, 4, "inf", "a.csv: column 'p_cat', row 3: inf is not a finite number"),
            (7, 0, "", "a.csv: column 'y', row 7: the value is missing"),
            (7, 0, "dog", "a.csv: column 'y', row 7: the class 'dog' has no score column; there are scores for "),
            (4, 1, "-2", "a.csv: column 'w', row 4: the weight -2.0 is negative"),
            (4, 1, "x", "a.csv: column 'w', row 4: 'x' is not a number"),
        ],
    )
    def test_a_bad_cell_of_a_csv(self, cli, lines, row, column, cell, problem):
        lines[row][column] = cell
        self.write(lines)
        assert cli.fails("roc", "a.csv", "-l", "y", "--sample-weight", "w").startswith(problem)

    def test_a_bad_cell_of_a_parquet(self, cli, rng):
        labels, scores = sample(rng, 12)
        scores[8, 1] = np.nan
        parquet.write_table(table_of(labels, scores), "nan.parquet")
        problem = "nan.parquet: column 'p_bee', row 9: nan is not a finite number"
        assert cli.fails("roc", "nan.parquet", "-l", "y") == problem
        nulls = pa.array([None if k == 3 else 0.5 for k in range(12)])
        parquet.write_table(table_of(labels, scores).set_column(3, "p_cat", nulls), "null.parquet")
        assert "null.parquet: column 'p_cat', row 4: the value is missing" in cli.fails(
            "roc", "null.parquet", "-l", "y"
        )
        texts = pa.array(["0.5"] * 11 + ["much"])
        parquet.write_table(table_of(labels, scores).set_column(1, "p_ant", texts), "text.parquet")
        problem = "text.parquet: column 'p_ant', row 12: 'much' is not a number"
        assert cli.fails("roc", "text.parquet", "-l", "y") == problem

    def test_rows_of_unequal_length(self, cli, lines):
        lines[6] = lines[6][:3]
        self.write(lines)
        assert cli.fails("roc", "a.csv", "-l", "y") == "a.csv: row 6: 3 cells where the header has 5"

    def test_missing_columns_are_named_and_the_others_listed(self, cli, lines):
        self.write(lines)
        listed = "it has 'y', 'w', 'p_ant', 'p_bee', 'p_cat'"
        assert cli.fails("roc", "a.csv", "-l", "truth") == f"a.csv: no column 'truth' (--label); {listed}"
        assert (
            cli.fails("roc", "a.csv", "-l", "y", "--sample-weight", "v")
            == f"a.csv: no column 'v' (--sample-weight); {listed}"
        )
        assert cli.fails("roc", "a.csv", "-l", "y", "-s", "q_*") == (
            f"a.csv: --scores 'q_*' fits 0 columns, and two classes or more are needed; {listed}"
        )
        self.write([["y", "q_a", "q_b"], ["a", "1", "0"], ["b", "0", "1"]], "q.csv")
        assert cli.fails("roc", "q.csv", "-l", "y") == (
            "q.csv: no columns 'p_*' or 'y_score'; name the scores with --scores, out of 'q_a', 'q_b'"
        )

    def test_files_that_are_not_there_or_not_what_they_say(self, cli):
        assert cli.fails("roc", "b.csv") == "b.csv: there is no such file"
        for name in ("a.parquet", "a.feather", "a.npz"):
            Path(name).write_text("nothing of the kind")
            assert cli.fails("roc", name).startswith(f"{name}: cannot be read as ")
        Path("a.xlsx").write_text("")
        assert cli.fails("roc", "a.xlsx").startswith("a.xlsx: not a known kind of file; names may end in .csv, ")
        Path("empty.csv").write_text("")
        assert cli.fails("roc", "empty.csv").startswith("empty.csv: cannot be read as csv: ")
        Path("header.csv").write_text("y_true,p_a,p_b\n")
        assert cli.fails("roc", "header.csv") == "header.csv: there are no rows"

    def test_archives_of_objects_and_of_unequal_arrays(self, cli, rng):
        labels, scores = sample(rng, 12)
        np.savez("o.npz", y=labels.astype(object), y_score=scores)
        assert cli.fails("roc", "o.npz", "-l", "y") == (
            "o.npz: array 'y' holds Python objects; save it as numbers or text"
        )
        np.savez("u.npz", y=labels[:9], y_score=scores)
        assert cli.fails("roc", "u.npz", "-l", "y") == "u.npz: 12 rows of scores for 9 labels"
        scores[4, 2] = np.inf
        np.savez("i.npz", y=labels, y_score=scores)
        assert cli.fails("roc", "i.npz", "-l", "y") == (
            "i.npz: array 'y_score', column 3, row 5: inf is not a finite number"
        )
        np.savez("n.npz", y=labels, y_score=scores[:, :2])
        assert "n.npz: 3 labels ('ant', 'bee', 'cat') for scores of 2 classes" in cli.fails("roc", "n.npz", "-l", "y")

    def test_absent_classes(self, cli, rng):
        labels, scores = sample(rng, 30)
        kept = labels != "bee"
        parquet.write_table(table_of(labels[kept], scores[kept]), "a.parquet")
        assert "'bee'" in cli.fails("roc", "a.parquet", "-l", "y")
        curves = json.loads(
            cli("roc", "a.parquet", "-l", "y", "--absent", "ignore", "--kind", "pairwise", "-f", "json")
        )
        assert [(curve["class"], curve["against"]) for curve in curves["curves"]] == [("ant", "cat"), ("cat", "ant")]
        assert json.loads(cli("roc", "a.parquet", "-l", "y", "--absent", "nan", "-f", "json"))["area"] is None
