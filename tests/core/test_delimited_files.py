"""Text files: the sign between cells, decimal commas, labels that are numbers; and files that hold nothing."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

import multiauc
from command_line import ANIMALS, columns, sample
from multiauc._input.columns import drop_zeros, spell_like
from multiauc._io.sources import DELIMITERS, detect_delimiter

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def write(name, header, rows, sign=","):
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=sign).writerows([header, *rows])


def write_sample(name, labels, scores, sign=",", classes=ANIMALS, decimal="."):
    texts = [[str(p).replace(".", decimal) for p in row] for row in scores.tolist()]
    rows = [[label, *row] for label, row in zip(labels, texts, strict=True)]
    write(name, ["y", *(f"p_{label}" for label in classes)], rows, sign)


def value(cli, *arguments):
    return json.loads(cli("evaluate", *arguments, "-f", "json"))["metrics"]["auc_mu"]["value"]


class TestDelimiters:
    @pytest.mark.parametrize("sign", DELIMITERS.values())
    @pytest.mark.parametrize("ending", ["csv", "tsv"])
    def test_they_are_told(self, cli, rng, sign, ending):
        labels, scores = sample(rng)
        write_sample(f"a.{ending}", labels, scores, sign)
        assert value(cli, f"a.{ending}", "-l", "y") == multiauc.auc_mu_score(labels, scores)

    @pytest.mark.parametrize("word", ["colon=:", "space= ", "tab=\t", "tab=\\t", "pipe=pipe", "pipe=|", "semicolon=;"])
    def test_they_are_given(self, cli, rng, word):
        name, _, given_as = word.partition("=")
        sign = {"colon": ":", "space": " ", "tab": "\t", "pipe": "|", "semicolon": ";"}[name]
        labels, scores = sample(rng)
        write_sample("a.csv", labels, scores, sign)
        assert value(cli, "a.csv", "-l", "y", "--delimiter", given_as) == multiauc.auc_mu_score(labels, scores)

    @pytest.mark.parametrize("word", ["", "::", "é", '"', "\n", "commas"])
    def test_what_is_none(self, cli, word):
        problem = cli.fails("evaluate", "a.csv", "--delimiter", word, code=2)
        assert "is neither one sign nor one of comma, tab, semicolon, pipe." in problem

    @given(
        sign=st.sampled_from(list(DELIMITERS.values())),
        cells=st.lists(
            st.tuples(st.text(" ab,;|\t\"'\n", max_size=6), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30
        ),
        names=st.lists(st.text("ab,;|\t ", min_size=1, max_size=5), min_size=2, max_size=2),
    )
    def test_texts_in_quotes_that_hold_other_signs(self, sign, cells, names):
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=sign, quoting=csv.QUOTE_NONNUMERIC).writerows([["y", *names], *cells])
        assert detect_delimiter(text.getvalue()) == sign

    @pytest.mark.parametrize(
        ("text", "sign"),
        [
            ("y;p_a;p_b\ncat;0,5;0,5\n", ";"),
            ("y,p_a;b,p_c;d\ncat,1,2\n", ","),
            ("y|p_a,p_b|p_c\na,b|1|2\n", "|"),
            ("y\np\n", ","),
            ("", ","),
            ("y,p_a,p_b\n", ","),
            ("y\tp_a\tp_b\n", "\t"),
            ("y,p_a,p_b\na,1,2\na,1,2,3\n", ","),  # a row too long, which is named later
            ("y;x,p_a,p_b\n1;2,0,1\n", ","),
            ('y,"p;a;b;c;d",p_b\na,1,2\n', ","),
            ("\n\ny;p\na;1\n", ";"),
        ],
    )
    def test_hard_cases(self, text, sign):
        assert detect_delimiter(text) == sign

    def test_the_usual_one_wins_a_tie(self):
        assert detect_delimiter("a,b;c\n1,2;3\n") == ","
        assert detect_delimiter("a\tb,c\n1\t2,3\n", usual="\t") == "\t"

    def test_costs(self, cli, rng):
        labels, scores = sample(rng)
        write_sample("a.csv", labels, scores)
        costs = [[0, 1, 5], [1, 0, 5], [2, 2, 0]]
        for sign in DELIMITERS.values():
            write("costs.csv", ["", *ANIMALS], [[name, *row] for name, row in zip(ANIMALS, costs, strict=True)], sign)
            found = value(cli, "a.csv", "-l", "y", "--partition", "costs.csv")
            assert found == multiauc.auc_mu_score(labels, scores, partition=costs)
        write("costs.csv", ["0", "0,5", "1"], [["1", "0", "1"], ["1", "1", "0"]], ";")
        assert cli.fails("evaluate a.csv -l y --partition costs.csv") == (
            "costs.csv: row 1, column 2: '0,5' has a decimal comma; numbers are written with a point, as in 0.5"
        )

    def test_files_of_other_names_with_their_format(self, cli, rng):
        labels, scores = sample(rng)
        write_sample("a.txt", labels, scores, ";")
        problem = cli.fails("evaluate a.txt -l y")
        assert problem.endswith("(--format-in names the kind)")
        assert value(cli, "a.txt", "-l", "y", "--format-in", "csv") == multiauc.auc_mu_score(labels, scores)


class TestDecimalCommas:
    REASON = "has a decimal comma; numbers are written with a point, as in 0.5"

    @pytest.mark.parametrize("sign", DELIMITERS.values())
    def test_they_are_refused_with_the_reason(self, cli, rng, sign):
        labels, scores = sample(rng)
        write_sample("a.csv", labels, scores.round(3), sign, decimal=",")
        first = str(scores.round(3)[0, 0]).replace(".", ",")
        assert cli.fails("evaluate a.csv -l y") == f"a.csv: column 'p_ant', row 1: '{first}' {self.REASON}"

    def test_without_quotes_between_commas(self, cli):
        Path("a.csv").write_text("y,p_a,p_b\na,0,5,0,5\nb,0,4,0,6\n", encoding="utf-8")
        assert cli.fails("evaluate a.csv -l y") == (
            "a.csv: row 1: 5 cells where the header has 3; numbers are written with a point, not with a decimal comma, "
            "and texts with commas in quotes"
        )

    @pytest.mark.parametrize("cell", ["0,5", "-0,5", "1.234,5", " 0,5 ", "1,5e-3", ",5"])
    def test_in_columns_of_text(self, cli, cell):
        parquet.write_table(pa.table({"y": ["a", "b"], "p_a": ["0.5", cell], "p_b": [0.5, 0.5]}), "a.parquet")
        assert cli.fails("evaluate a.parquet -l y") == f"a.parquet: column 'p_a', row 2: {cell!r} {self.REASON}"

    @pytest.mark.parametrize("cell", ["0,5,5", "a,5", ",", "much", "0;5"])
    def test_what_is_no_decimal_comma(self, cli, cell):
        parquet.write_table(pa.table({"y": ["a", "b"], "p_a": ["0.5", cell], "p_b": [0.5, 0.5]}), "a.parquet")
        assert cli.fails("evaluate a.parquet -l y") == f"a.parquet: column 'p_a', row 2: {cell!r} is not a number"


class TestLabelsThatAreNumbers:
    CLASSES = ("0", "1", "2")

    @pytest.mark.parametrize(
        ("spelled", "named"),
        [
            ("{}.0", "p_{}"),
            ("{}.", "p_{}"),
            ("{}.000", "p_{}"),
            ("{}", "p_{}.0"),
            ("{}.0", "p_{}.0"),
            ("{}.00", "p_{}.0"),
        ],
    )
    @pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
    def test_whole_numbers_match(self, cli, rng, spelled, named, ending):
        codes, scores = sample(rng, classes=self.CLASSES)
        labels = [spelled.format(label) for label in codes]
        table = {"y": np.array(labels)} | {
            named.format(name): column for name, column in zip(self.CLASSES, scores.T, strict=True)
        }
        if ending == "csv":
            write("a.csv", list(table), zip(*[column.tolist() for column in table.values()], strict=True))
        elif ending == "npz":
            np.savez("a.npz", **table)
        else:
            parquet.write_table(pa.table(table), "a.parquet")
        assert value(cli, f"a.{ending}", "-l", "y") == multiauc.auc_mu_score(codes, scores)

    def test_floats_of_a_parquet(self, cli, rng):
        codes, scores = sample(rng, classes=self.CLASSES)
        for named in ("p_{}", "p_{}.0"):
            table = {"y": codes.astype(float)} | {
                named.format(name): column for name, column in zip(self.CLASSES, scores.T, strict=True)
            }
            parquet.write_table(pa.table(table), "a.parquet")
            assert value(cli, "a.parquet", "-l", "y") == multiauc.auc_mu_score(codes, scores)

    def test_classes_by_name_and_a_partition(self, cli, rng):
        codes, scores = sample(rng, classes=self.CLASSES)
        labels = [f"{label}.0" for label in codes]
        write_sample("a.csv", labels, scores, classes=("a", "b", "c"))
        found = json.loads(cli("evaluate a.csv -l y --labels 0,1,2 -f json"))
        assert [entry["label"] for entry in found["per_class"]] == ["0", "1", "2"]
        write_sample("b.csv", labels, scores, classes=self.CLASSES)
        costs = [[0, 1, 5], [1, 0, 5], [2, 2, 0]]
        write("costs.csv", ["", "2.0", "1.0", "0.0"], [[f"{k}.0", *row[::-1]] for k, row in enumerate(costs)])
        found = value(cli, "b.csv", "-l", "y", "--partition", "costs.csv")
        assert found == multiauc.auc_mu_score(codes, scores, partition=costs)

    def test_names_that_look_like_numbers_stay_apart(self, cli, rng):
        for classes in (("1", "1.0", "2"), ("01", "1", "2"), ("1.5", "1.50", "2")):
            labels, scores = sample(rng, classes=classes)
            write_sample("a.csv", labels, scores, classes=classes)
            found = json.loads(cli("evaluate a.csv -l y -f json"))
            assert [entry["label"] for entry in found["per_class"]] == list(classes)
            assert [entry["rows"] for entry in found["per_class"]] == [30, 30, 30]
        labels, scores = sample(rng, classes=("01", "2", "3"))
        write_sample("a.csv", labels, scores, classes=("1", "2", "3"))
        assert "the class '01' has no score column" in cli.fails("evaluate a.csv -l y")

    def test_files_that_spell_labels_and_ids_in_their_own_ways(self, cli, rng):
        codes, scores = sample(rng, classes=self.CLASSES)
        matrix = {f"p_{k}": column for k, column in enumerate(scores.T)}
        parquet.write_table(pa.table({"y": codes.astype(int), "id": np.arange(90)} | matrix), "a.parquet")
        rows = [[f"{codes[k]}.0", f"{k}.0", *row] for k, row in enumerate(scores.tolist())]
        write("b.csv", ["y", "id", "p_0", "p_1", "p_2"], [rows[k] for k in rng.permutation(90)])
        found = json.loads(cli("compare a.parquet b.csv -l y --id id -f json"))
        assert found["differences"][0]["value"] == 0.0
        write("b.csv", ["y", "id", "p_0", "p_1", "p_2"], rows)
        assert json.loads(cli("compare a.parquet b.csv -l y -f json"))["differences"][0]["value"] == 0.0

    def test_the_row_of_labels_that_differ_is_that_of_the_file(self, cli, rng):
        labels, scores = sample(rng)
        rows = [[label, k, *row] for k, (label, row) in enumerate(zip(labels, scores.tolist(), strict=True))]
        header = ["y", "id", *(f"p_{name}" for name in ANIMALS)]
        write("a.csv", header, rows)
        rows[7][0] = "ant" if rows[7][0] != "ant" else "bee"
        write("b.csv", header, rows[::-1])
        assert cli.fails("compare a.csv b.csv -l y --id id").startswith("b.csv: column 'y', row 83: ")

    def test_ids_that_are_the_same_number(self, cli):
        write("a.csv", ["y", "id", "p_a", "p_b"], [["a", "1", 0.5, 0.5], ["b", "2", 0.5, 0.5], ["b", "1.0", 0.5, 0.5]])
        write("b.csv", ["y", "id", "p_a", "p_b"], [["a", "1", 0.5, 0.5], ["b", "2", 0.5, 0.5], ["b", "3", 0.5, 0.5]])
        assert cli.fails("compare b.csv a.csv -l y --id id") == "a.csv: column 'id', row 3: '1' is there twice"

    @given(st.from_regex(r"-?[0-9]{1,4}(\.[0-9]{0,3})?", fullmatch=True))
    def test_drop_zeros(self, text):
        whole = drop_zeros(text)
        assert float(whole) == float(text)
        if whole != text:
            assert "." not in whole
        assert drop_zeros(whole) == whole

    def test_spell_like(self):
        assert spell_like(["1.0", "2", "x"], ["1", "2.0"]) == ["1", "2.0", "x"]
        assert spell_like(["1.0", "2.0"], ["1", "1.0", "2"]) == ["1.0", "2.0"]
        assert spell_like(["-0.0"], ["0"]) == ["0"]


class TestNothing:
    def test_no_columns(self, cli):
        parquet.write_table(pa.table({}), "a.parquet")
        feather.write_feather(pa.table({}), "a.arrow")
        np.savez("a.npz")
        assert cli.fails("evaluate a.parquet") == "a.parquet: there are no columns in it"
        assert cli.fails("evaluate a.arrow") == "a.arrow: there are no columns in it"
        assert cli.fails("evaluate a.npz") == "a.npz: there are no arrays in it"
        Path("a.csv").write_text("\n\n", encoding="utf-8")
        assert cli.fails("evaluate a.csv") == "a.csv: cannot be read as csv: there is no header"

    def test_nothing_but_labels(self, cli):
        write("a.csv", ["y_true"], [["a"], ["b"]])
        assert cli.fails("evaluate a.csv") == (
            "a.csv: no columns 'p_*' or 'y_score'; beside 'y_true' there are none that could hold scores"
        )
        write("a.csv", ["y", "w"], [["a", 1], ["b", 1]])
        assert cli.fails("evaluate a.csv -l y --sample-weight w") == (
            "a.csv: no columns 'p_*' or 'y_score'; beside 'y', 'w' there are none that could hold scores"
        )

    def test_no_label_column(self, cli):
        write("a.csv", ["p_a", "p_b"], [[0.5, 0.5]])
        assert cli.fails("evaluate a.csv") == "a.csv: no column 'y_true' (--label); it has 'p_a', 'p_b'"

    def test_empty_arrays(self, cli):
        np.savez("a.npz", y_true=np.array([], dtype="U3"), y_score=np.zeros((0, 3)))
        assert cli.fails("evaluate a.npz") == "a.npz: there are no rows"
        np.savez("a.npz", y_true=np.array(["a", "b", "c"]), y_score=np.zeros((0, 3)))
        assert cli.fails("evaluate a.npz") == "a.npz: array 'y_score' has 0 rows, array 'y_true' has 3"
        np.savez("a.npz", y_true=np.array(["a", "b"]), y_score=np.zeros((2, 0)))
        assert cli.fails("evaluate a.npz") == "a.npz: there are no columns in array 'y_score', whose shape is (2, 0)"
        np.savez("a.npz", y_true=np.array("a"), y_score=np.zeros((2, 2)))
        assert cli.fails("evaluate a.npz") == "a.npz: array 'y_true' must have one dimension; it has shape ()"

    def test_no_rows(self, cli):
        for name, write_table in {"a.parquet": parquet.write_table, "a.arrow": feather.write_feather}.items():
            write_table(pa.table({"y_true": pa.array([], pa.string())} | columns(np.zeros((0, 3)))), name)
            assert cli.fails(f"evaluate {name}") == f"{name}: there are no rows"
        write("a.csv", ["y_true", "p_a", "p_b"], [])
        assert cli.fails("evaluate a.csv") == "a.csv: there are no rows"

    def test_text_of_another_encoding(self, cli):
        Path("a.csv").write_bytes("y_true,p_ä,p_b\nä,1,0\n".encode("utf-16"))
        assert cli.fails("evaluate a.csv") == "a.csv: cannot be read as csv: it is not UTF-8 text"
