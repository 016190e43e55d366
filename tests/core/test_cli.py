"""The commands: their numbers are those of the functions, in every format."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import multiauc
from command_line import ANIMALS, COSTS, sample, write_files
from internals import METRICS

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture
def files(rng, in_empty_folder):
    """What the files hold, as arrays."""
    return write_files(rng)


class TestEvaluate:
    def test_json_has_the_numbers_of_evaluate(self, cli, files):
        labels, scores, _, extra = files
        found = json.loads(
            cli(
                "evaluate one.parquet -l y --sample-weight w --groups user --sampling iid --level 0.9 -f json --worst 2"
            )
        )
        expected = multiauc.evaluate(labels, scores, sample_weight=extra["w"], groups=extra["user"], sampling="iid")
        for metric in ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"):
            estimate = getattr(expected, metric)
            low, high = estimate.confidence_interval(0.9)
            wanted = {"value": estimate.value, "standard_error": estimate.standard_error, "low": low, "high": high}
            assert found["metrics"][metric] == pytest.approx(wanted, rel=1e-12)
        assert [entry["label"] for entry in found["per_class"]] == list(ANIMALS)
        assert [entry["value"] for entry in found["per_class"]] == [one.value for one in expected.per_class.values()]
        pairs = [(pair["first"], pair["second"], pair["value"]) for pair in found["worst_pairs"]]
        assert pairs == expected.auc_mu_matrix.worst(2)

    def test_costs_by_name_and_pair_weights(self, cli, files):
        labels, scores, *_ = files
        arguments = "evaluate one.parquet -l y --partition costs.csv --pair-weights size_sum -f json"
        expected = multiauc.evaluate(labels, scores, partition=COSTS, pair_weights="size_sum")
        assert json.loads(cli(arguments))["metrics"]["auc_mu"]["value"] == expected.auc_mu.value
        Path("plain.csv").write_text("\n".join(",".join(map(str, row)) for row in COSTS), encoding="utf-8")
        arguments = arguments.replace("costs", "plain")
        assert json.loads(cli(arguments))["metrics"]["auc_mu"]["value"] == expected.auc_mu.value

    def test_folds(self, cli, files):
        labels, scores, other, extra = files
        found = json.loads(cli("evaluate one.parquet -l y --folds user -f json"))
        expected = multiauc.evaluate(labels, scores, folds=extra["user"], absent="ignore", labels=ANIMALS)
        assert {name: one["value"] for name, one in found["metrics"].items()} == {
            name: one.value for name, one in expected.metrics.items()
        }
        assert found["provenance"]["options"]["folds"] == "user"
        compared = json.loads(cli("compare one.parquet two.parquet -l y --folds user -f json"))
        pair = multiauc.compare(labels, {"one": scores, "two": other}, folds=extra["user"]).difference("one", "two")
        assert compared["differences"][0]["value"] == pair.value
        assert "--folds and --by" in cli.fails("evaluate one.parquet -l y --folds user --by user", code=2)
        assert "--folds needs all rows" in cli.fails("evaluate one.parquet -l y --folds user --exact")
        assert "'z' (--folds)" in cli.fails("evaluate one.parquet -l y --folds z")

    def test_top_k_and_clipped_probabilities(self, cli, files):
        labels, scores, *_ = files
        found = json.loads(
            cli("evaluate one.parquet -l y --metrics top_k_accuracy,log_loss --k 2 --clip 0.01 --sampling iid -f json")
        )
        assert found["metrics"]["top_k_accuracy"]["value"] == multiauc.top_k_accuracy_score(labels, scores, k=2)
        assert found["metrics"]["log_loss"]["value"] == multiauc.log_loss_score(labels, scores, clip=0.01)
        assert "k has no meaning" in cli.fails("evaluate one.parquet -l y --k 2")

    def test_metrics_by_name(self, cli, files):
        labels, scores, *_ = files
        expected = multiauc.evaluate(labels, scores)
        for words in (["--metrics", "hand_till,auc_mu"], ["--metrics", "hand_till", "--metrics", "auc_mu, hand_till"]):
            found = json.loads(cli("evaluate", "one.parquet", "-l", "y", *words, "-f", "json"))
            values = {name: estimate["value"] for name, estimate in found["metrics"].items()}
            assert list(values) == ["hand_till", "auc_mu"]
            assert values == {name: expected.metrics[name].value for name in values}

    def test_tables_of_what_was_not_computed_are_left_out(self, cli):
        text = cli("evaluate one.parquet -l y --metrics auc_mu")
        assert "Each class against the rest" not in text
        assert "Pairs that are separated worst (AUC_mu of the pair)" in text
        text = cli("evaluate one.parquet -l y --metrics one_vs_rest")
        assert "Each class against the rest" in text
        assert "Pairs that are separated worst" not in text

    def test_worst_pairs_of_another_metric(self, cli, files):
        labels, scores, *_ = files
        expected = multiauc.hand_till_matrix(labels, scores).worst(2)
        arguments = ("evaluate", "one.parquet", "-l", "y", "--metrics", "hand_till", "--worst", 2)
        found = json.loads(cli(*arguments, "-f", "json"))["worst_pairs"]
        assert [(pair["first"], pair["second"], pair["value"]) for pair in found] == expected
        assert "Pairs that are separated worst (by the score of the first class)" in cli(*arguments)

    def test_bootstrap_of_one_metric(self, cli, files):
        labels, scores, *_ = files
        found = json.loads(cli("evaluate one.parquet -l y --metrics hand_till --bootstrap 50 --seed 3 -f json"))
        low, high = multiauc.evaluate(labels, scores).bootstrap(50, rng=3).confidence_interval("hand_till")
        assert (found["metrics"]["hand_till"]["low"], found["metrics"]["hand_till"]["high"]) == (low, high)

    def test_a_metric_without_a_bootstrap_keeps_its_closed_form(self, cli, files, monkeypatch):
        labels, scores, *_ = files
        monkeypatch.setitem(METRICS, "hand_till", replace(METRICS["hand_till"], has_bootstrap=False))
        found = json.loads(cli("evaluate one.parquet -l y --metrics auc_mu,hand_till --bootstrap 50 -f json"))
        assert found["method"].startswith("50 bootstrap samples; logit intervals; Hand & Till's M: analytic")
        estimates = multiauc.evaluate(labels, scores)
        assert found["metrics"]["hand_till"]["standard_error"] == estimates.hand_till.standard_error
        assert found["metrics"]["auc_mu"]["standard_error"] != estimates.auc_mu.standard_error

    def test_unknown_metrics(self, cli):
        problem = cli.fails("evaluate one.parquet -l y --metrics auc_mu,gini", code=2)
        assert problem.startswith("Invalid value for '--metrics': 'gini' is not one of 'auc_mu', 'hand_till', ")

    def test_tables_for_people(self, cli, files):
        labels, scores, *_ = files
        expected = multiauc.evaluate(labels, scores)
        low, high = expected.auc_mu.confidence_interval()
        plain = cli("evaluate", "one.parquet", "--label", "y")
        assert plain.startswith("one: 90 rows, 3 classes\n")
        assert "Wilson intervals" in " ".join(plain.split())
        assert re.search(rf"AUC_mu +{expected.auc_mu.value:.4f} .* {low:.4f} to {high:.4f}\n", plain)
        assert re.search(rf"\nbee +30 +{expected.per_class['bee'].value:.4f} ", plain)
        first, second, value = expected.auc_mu_matrix.worst(1)[0]
        assert re.search(rf"\n{first} - {second} +30 \+ 30 +{value:.4f} ", plain)
        markdown = cli("evaluate", "one.parquet", "--label", "y", "--format", "markdown")
        assert f"| AUC\\_mu | {expected.auc_mu.value:.4f} | {expected.auc_mu.standard_error:.4f} | " in markdown
        assert "|---|---:|---:|---:|\n" in markdown

    def test_csv_for_programs(self, cli, files):
        labels, scores, *_ = files
        rows = list(csv.DictReader(io.StringIO(cli("evaluate", "one.parquet", "-l", "y", "-f", "csv"))))
        assert [row["kind"] for row in rows] == ["metric"] * 4 + ["class"] * 3 + ["pair"] * 3
        assert float(rows[0]["value"]) == multiauc.evaluate(labels, scores).auc_mu.value

    def test_bootstrap_intervals(self, cli, files):
        labels, scores, *_ = files
        found = json.loads(cli("evaluate one.parquet -l y --bootstrap 50 --seed 3 -f json"))
        bootstrap = multiauc.evaluate(labels, scores).bootstrap(50, rng=3)
        low, high = bootstrap.confidence_interval("auc_mu")
        assert (found["metrics"]["auc_mu"]["low"], found["metrics"]["auc_mu"]["high"]) == (low, high)
        assert found["method"].startswith("50 bootstrap samples")

    def test_names_that_mean_something_to_terminals_and_markdown(self, cli, rng):
        classes = ("[red]a|b", "*b*", "c`d<i>")
        labels, scores = sample(rng, classes=classes)
        table = {"y": labels} | {f"p_{name}": column for name, column in zip(classes, scores.T, strict=True)}
        parquet.write_table(pa.table(table), "a.parquet")
        plain = cli("evaluate", "a.parquet", "-l", "y")
        assert "\n[red]a|b " in plain
        assert "| \\[red]a\\|b | " in cli("evaluate", "a.parquet", "-l", "y", "-f", "markdown")

    def test_absent_classes(self, cli):
        table = parquet.read_table("one.parquet")
        parquet.write_table(table.filter(pa.compute.field("y") != "bee"), "gap.parquet")
        problem = "gap.parquet: column 'y' has no rows of 1 class: 'bee'; --absent ignore leaves it out, --absent nan"
        assert cli.fails("evaluate", "gap.parquet", "-l", "y").startswith(problem)
        found = json.loads(cli("evaluate", "gap.parquet", "-l", "y", "--absent", "nan", "-f", "json"))
        assert found["metrics"]["auc_mu"]["value"] is None
        assert (found["per_class"][1]["rows"], found["per_class"][1]["value"]) == (0, None)
        assert " bee " not in cli("evaluate", "gap.parquet", "-l", "y", "--absent", "nan").split("Pairs")[1]
        assert json.loads(cli("evaluate", "gap.parquet", "-l", "y", "--absent", "ignore", "-f", "json"))["metrics"]


class TestCompare:
    def test_files_and_columns_of_one_file_alike(self, cli, files):
        labels, first, second, _ = files
        expected = multiauc.compare(labels, {"one": first, "two": second})
        found = json.loads(cli("compare one.parquet two.parquet -l y -f json"))
        difference = expected.difference("one", "two")
        assert found["estimates"]["one"]["value"] == expected.estimates["one"].value
        one = found["differences"][0]
        assert (one["value"], one["p_value"]) == (difference.value, difference.p_value)
        assert one["t"] == difference.value / difference.standard_error
        assert one["degrees_of_freedom"] == difference.degrees_of_freedom
        assert (one["low"], one["high"]) == tuple(difference.confidence_interval())
        columns = json.loads(cli("compare both.parquet -l y -s a_* -s b_* -f json"))
        assert list(columns["estimates"]) == ["a", "b"]
        assert columns["differences"][0]["value"] == difference.value
        named = json.loads(cli("compare x=one.parquet y=two.parquet -l y -f json --metric hand_till"))
        assert list(named["estimates"]) == ["x", "y"]
        assert named["estimates"]["x"]["value"] == multiauc.hand_till_score(labels, first)

    def test_rows_are_matched_by_id(self, cli, rng):
        expected = json.loads(cli("compare one.parquet two.parquet -l y -f json"))
        table = parquet.read_table("two.parquet")
        parquet.write_table(table.take(rng.permutation(90)), "two.parquet")
        problem = cli.fails("compare one.parquet two.parquet -l y")
        assert re.match(r"two.parquet: column 'y', row \d+: '...', but one.parquet has '...'; ", problem)
        found = json.loads(cli("compare one.parquet two.parquet -l y --id id -f json"))
        assert found.pop("provenance") != expected.pop("provenance")
        assert found == expected

    def test_rows_that_do_not_match(self, cli):
        table = parquet.read_table("two.parquet")
        parquet.write_table(table.slice(0, 80), "two.parquet")
        assert cli.fails("compare one.parquet two.parquet -l y") == (
            "two.parquet: 80 rows, one.parquet has 90; models are compared on the same rows (--id matches them)"
        )
        assert cli.fails("compare one.parquet two.parquet -l y --id id") == (
            "two.parquet: no row with --id '80', which one.parquet has"
        )
        parquet.write_table(pa.concat_tables([table, table.slice(3, 1)]), "two.parquet")
        assert cli.fails("compare one.parquet two.parquet -l y --id id") == (
            "two.parquet: column 'id', row 91: '3' is there twice"
        )

    def test_what_cannot_be_compared(self, cli):
        assert "compare needs two models" in cli.fails("compare", "one.parquet", "-l", "y")
        assert "two models are called 'one'" in cli.fails("compare", "one.parquet", "one.parquet", "-l", "y")
        problem = cli.fails("compare", "one.parquet", "both.parquet", "-l", "y", "-s", "a_*", "-s", "b_*")
        assert problem.startswith("give several files or several --scores, not both")
        assert "roc takes one model" in cli.fails("roc", "both.parquet", "-l", "y", "-s", "a_*", "-s", "b_*")
        assert "evaluate takes one model" in cli.fails("evaluate", "both.parquet", "-l", "y", "-s", "a_*", "-s", "b_*")


class TestCosts:
    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            (
                "0,1\n1,0\n",
                "costs.csv: 2 lines; a partition of 3 classes has a header and 3 rows with names, or 3 rows",
            ),
            ("0,1,x\n1,0,1\n1,1,0\n", "costs.csv: row 1, column 3: 'x' is not a number"),
            (",ant,bee,cat\nant,0,1,1\nbee,1,0\ncat,1,1,0\n", "costs.csv: row 2 has 2 costs; there are 3 classes"),
            (",ant,bee,cow\nant,0,1,1\nbee,1,0,1\ncat,1,1,0\n", "costs.csv: the header names 'ant', 'bee', 'cow'; the"),
            (
                ",ant,bee,cat\nant,0,1,1\nant,1,0,1\ncat,1,1,0\n",
                "costs.csv: the first column names 'ant', 'ant', 'cat'",
            ),
        ],
    )
    def test_a_bad_matrix(self, cli, text, problem):
        Path("costs.csv").write_text(text, encoding="utf-8")
        assert cli.fails("evaluate", "one.parquet", "-l", "y", "--partition", "costs.csv").startswith(problem)

    def test_no_matrix(self, cli):
        assert cli.fails("evaluate", "one.parquet", "-l", "y", "--partition", "no.csv") == (
            "no.csv: there is no such file"
        )


class TestRoc:
    def test_curve_interval_and_band(self, cli, files):
        labels, scores, *_ = files
        curve = multiauc.multiclass_roc(labels, scores)
        bootstrap = curve.bootstrap(40, rng=5)
        found = json.loads(cli("roc one.parquet -l y --bootstrap 40 --seed 5 --level 0.8 -f json"))
        assert found["area"] == curve.auc
        assert (found["low"], found["high"]) == tuple(bootstrap.confidence_interval(0.8))
        assert found["band"]["low"] == bootstrap.band(0.8).low.tolist()
        rows = list(csv.reader(io.StringIO(cli("roc one.parquet -l y -f csv"))))
        assert rows[0] == ["fpr", "tpr"]
        assert [float(row[1]) for row in rows[1:]] == curve.tpr.tolist()

    def test_curves_of_classes_and_pictures(self, cli, files):
        labels, scores, *_ = files
        text = cli("roc one.parquet -l y --kind one_vs_rest --plot curves.png")
        areas = multiauc.one_vs_rest_per_class(labels, scores)
        assert re.search(rf"\ncat +{areas['cat']:.4f} ", text)
        cli("roc one.parquet -l y --plot curve.svg")
        assert Path("curves.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in Path("curve.svg").read_text("utf-8")
        assert cli.fails("roc one.parquet -l y --plot curve.doc").startswith("curve.doc: cannot be written: ")


class TestReport:
    def test_it_says_where_it_is(self, cli):
        text = cli("report one.parquet -l y -o page.html --bootstrap 10 --title Ants")
        assert text.startswith(f"Wrote {Path('page.html').resolve()} (0.")
        page = Path("page.html").read_text("utf-8")
        assert "<title>Ants</title>" in page
        assert " of 100 pairs of rows from different classes correctly." in page

    def test_metrics_of_one_model(self, cli):
        cli("report one.parquet -l y -o pdi.html --bootstrap 0 --metrics pdi,auc_mu")
        page = Path("pdi.html").read_text("utf-8")
        numbers = json.loads(re.search(r'id="multiauc-numbers">(.*?)</script>', page, re.DOTALL)[1])
        assert list(numbers["models"][0]["metrics"])[:2] == ["pdi", "auc_mu"]
        problem = cli.fails("report one.parquet two.parquet -l y -o several.html --metrics pdi")
        assert problem == "--metrics is for a report on one model; several are compared by one --metric"
        assert not Path("several.html").exists()

    def test_several_models(self, cli):
        cli("report one.parquet two.parquet -l y --bootstrap 0 --metric hand_till")
        page = Path("report.html").read_text("utf-8")
        numbers = json.loads(re.search(r'id="multiauc-numbers">(.*?)</script>', page, re.DOTALL)[1])
        assert numbers["comparison"]["metric"] == "hand_till"
        assert [model["name"] for model in numbers["models"]] == ["one", "two"]

    def test_where_it_cannot_be_written(self, cli):
        assert cli.fails("report one.parquet -l y -o no/page.html --bootstrap 0") == (
            "no/page.html: cannot be written: No such file or directory"
        )


class TestVocabulary:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("--weights", "--sample-weight"),
            ("--weight", "--sample-weight"),
            ("--classes", "--labels"),
            ("--ci", "--level"),
            ("--memory", "--memory-limit"),
            ("--cluster", "--groups"),
        ],
    )
    def test_other_names_of_options(self, cli, old, new):
        problem = cli.fails("evaluate", "one.parquet", "-l", "y", old, "x", code=2)
        assert old in problem
        assert f" {new} " in problem

    def test_a_name_of_an_option_that_the_command_does_not_have(self, cli):
        assert "--memory-limit" not in cli.fails("roc one.parquet -l y --memory 1GB", code=2)
