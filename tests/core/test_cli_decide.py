"""``multiauc decide``, and reports with costs."""

import csv
import io
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import multiauc
from command_line import ANIMALS, COSTS, columns, write_files
from decision_data import calibrated_sample, distorted

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture
def files(rng, in_empty_folder):
    """What the files hold, as arrays."""
    return write_files(rng)


def records(text):
    return list(csv.DictReader(io.StringIO(text)))


class TestDecide:
    def test_the_numbers_are_those_of_python(self, cli, files):
        labels, scores, *_ = files
        found = json.loads(cli("decide one.parquet -l y --costs costs.csv -f json"))
        decisions = multiauc.fit_decisions(labels, scores, COSTS, labels=ANIMALS)
        assert found["kind"] == "decisions"
        assert (found["rule"], found["scale"]) == (decisions.rule, decisions.scale)
        assert found["offsets"] == decisions.offsets.tolist()
        assert found["cost_matrix"] == COSTS.tolist()
        assert found["judged_by"] == "cross-validation"
        expected = json.loads(decisions.cross_validated.to_json())
        assert found["costs"] == expected["costs"]
        assert found["differences"] == expected["differences"]
        assert [file["holds"] for file in found["provenance"]["files"]] == ["predictions", "costs"]
        assert found["provenance"]["options"]["costs"] == "costs.csv"

    def test_other_rows_are_the_judge(self, cli, files):
        labels, first, second, _ = files
        found = json.loads(cli("decide one.parquet -l y --costs costs.csv --judge two.parquet -f json --level 0.9"))
        comparison = multiauc.fit_decisions(labels, first, COSTS).compare(labels, second)
        assert found["costs"] == json.loads(multiauc._common.result.to_json(comparison.to_dict(0.9)))["costs"]
        assert found["judged_by"] == "other rows"
        assert [file["name"] for file in found["provenance"]["files"]] == ["one.parquet", "costs.csv", "two.parquet"]

    def test_weights_and_groups(self, cli, files):
        labels, scores, _, extra = files
        found = json.loads(cli("decide one.parquet -l y --costs costs.csv --sample-weight w --groups user -f json"))
        decisions = multiauc.fit_decisions(labels, scores, COSTS, sample_weight=extra["w"], groups=extra["user"])
        assert found["costs"]["fitted"]["value"] == pytest.approx(decisions.cross_validated.values["fitted"])
        error = decisions.cross_validated.standard_errors["fitted"]
        assert found["costs"]["fitted"]["standard_error"] == pytest.approx(error)

    def test_tables(self, cli):
        text = cli("decide one.parquet -l y --costs costs.csv")
        for word in (
            "Costs of the decision rules for one cost (cross-validation, 90 rows)",
            "fitted - argmax",
            "The fitted rule:",
        ):
            assert word in text
        assert "**Differences on the same rows**" in cli("decide one.parquet -l y --costs costs.csv -f markdown")

    def test_csv(self, cli):
        found = records(cli("decide one.parquet -l y --costs costs.csv -f csv"))
        assert [row["kind"] for row in found] == ["cost"] * 3 + ["difference"] * 2 + ["offset"] * 3 + ["scale"]
        assert {row["name"] for row in found if row["kind"] == "offset"} == set(ANIMALS)

    def test_bad_calibration_is_corrected(self, cli, rng):
        codes, scores = calibrated_sample(rng, 1000)
        table = {"y": np.array(ANIMALS)[codes]} | columns(distorted("too sure", scores))
        parquet.write_table(pa.table(table), "sharp.parquet")
        text = cli("decide sharp.parquet -l y --costs costs.csv")
        assert "Offsets of the logarithms of probabilities, after multiplying them by 0." in text
        assert "by probabilities that were calibrated." in text

    def test_decisions_are_written(self, cli, files):
        labels, scores, second, _ = files
        cli("decide one.parquet -l y --costs costs.csv --decisions out.csv")
        decisions = multiauc.fit_decisions(labels, scores, COSTS)
        found = records(Path("out.csv").read_text("utf-8"))
        assert [row["decision"] for row in found] == decisions.decide(scores).tolist()
        assert [row["y_true"] for row in found] == labels.tolist()
        cli("decide one.parquet -l y --costs costs.csv --judge two.parquet --decisions other.csv")
        found = records(Path("other.csv").read_text("utf-8"))
        assert [row["decision"] for row in found] == decisions.decide(second).tolist()


class TestProblems:
    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("decide one.parquet -l y --costs no.csv", "no.csv: there is no such file"),
            ("decide both.parquet -l y -s a_* -s b_* --costs costs.csv", "decide takes one model: give --scores once"),
            ("decide one.parquet -l y --costs costs.csv --absent nan",
             "--absent nan has no meaning for decide; it has raise and ignore"),
            ("decide one.parquet -l y --costs costs.csv --decisions -",
             "--decisions must be a file; the result goes to standard output"),
        ],
    )  # fmt: skip
    def test_one_line_says_what(self, cli, line, problem):
        assert cli.fails(line) == problem

    def test_costs_that_cost_nothing(self, cli):
        Path("none.csv").write_text("1,0,0\n0,1,0\n0,0,1\n", encoding="utf-8")
        problem = cli.fails("decide one.parquet -l y --costs none.csv")
        assert problem.startswith("costs must make some error cost more than the right prediction")

    def test_scores_that_are_no_probabilities(self, cli, files):
        labels, scores, *_ = files
        parquet.write_table(pa.table({"y": labels} | columns(np.log(scores))), "logits.parquet")
        assert "y_score must be probabilities" in cli.fails("decide logits.parquet -l y --costs costs.csv")

    def test_costs_are_needed(self, cli):
        assert "Missing option '--costs'" in cli.fails("decide one.parquet -l y", code=2)

    def test_inputs_are_not_overwritten(self, cli):
        before = Path("costs.csv").read_bytes(), Path("two.parquet").read_bytes()
        cli.fails("decide one.parquet -l y --costs costs.csv -o costs.csv --force")
        cli.fails("decide one.parquet -l y --costs costs.csv --judge two.parquet --decisions two.parquet --force")
        assert (Path("costs.csv").read_bytes(), Path("two.parquet").read_bytes()) == before

    def test_other_classes(self, cli, files):
        labels, scores, *_ = files
        table = {"y": labels} | columns(scores)
        turned = {name: table[name] for name in ("y", "p_cat", "p_ant", "p_bee")}
        parquet.write_table(pa.table(turned), "turned.parquet")
        problem = cli.fails("decide one.parquet -l y --costs costs.csv --judge turned.parquet")
        assert problem == "turned.parquet: the classes must be those of the first file, in the same order of columns"


class TestReport:
    def text_of(self, page):
        text = Path(page).read_text("utf-8")
        section = re.search(r'<section aria-labelledby="h-costs">.*?</section>', text, re.DOTALL)
        return None if section is None else unescape(re.sub(r"<[^>]+>", " ", section[0]))

    @pytest.mark.parametrize("models", ["one.parquet", "one.parquet two.parquet"])
    def test_the_section(self, cli, files, models):
        labels, first, second, _ = files
        cli(f"report {models} -l y --bootstrap 0 --costs costs.csv -o page.html")
        text = self.text_of("page.html")
        assert "What predictions cost" in text
        for name, scores in zip(models.replace(".parquet", "").split(), (first, second), strict=False):
            decisions = multiauc.fit_decisions(labels, scores, COSTS)
            assert f"{name}: predict the class of" in text
            for cost in decisions.cross_validated.values.values():
                assert f"{cost:.4f}" in text
        numbers = json.loads(
            re.search(r'id="multiauc-numbers">(.*?)</script>', Path("page.html").read_text("utf-8"), re.DOTALL)[1]
        )
        assert [file["holds"] for file in numbers["provenance"]["files"]].count("costs") == 1

    def test_only_where_costs_are_given(self, cli):
        cli("report one.parquet -l y --bootstrap 0 -o page.html")
        assert self.text_of("page.html") is None

    def test_python(self, files):
        labels, first, second, _ = files
        multiauc.evaluate(labels, first).report("page.html", n_resamples=0, costs=COSTS)
        assert "The model: predict the class of" in self.text_of("page.html")
        multiauc.compare(labels, {"a": first, "b": second}).report("two.html", n_resamples=0, costs=COSTS)
        assert "b: predict the class of" in self.text_of("two.html")
        with pytest.raises(ValueError, match="costs must be a 3 x 3 array"):
            multiauc.evaluate(labels, first).report("bad.html", n_resamples=0, costs=np.eye(2))
        with pytest.raises(ValueError, match="y_score must be probabilities"):
            multiauc.evaluate(labels, 2 * first).report("bad.html", n_resamples=0, costs=COSTS)
        assert not Path("bad.html").exists()
