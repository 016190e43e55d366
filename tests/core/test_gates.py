"""Gates for pipelines: exit code 3 where a model is not good enough, and compare by the bootstrap."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import multiauc
from command_line import columns, sample, write_files
from multiauc._rust import percentile_p_value
from multiauc.cli._gates import check_differences, lower_limit, read_floors

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture
def files(rng, in_empty_folder):
    """What the files hold, as arrays."""
    return write_files(rng)


def failed(cli, *arguments):
    """The one line that says which gate was not passed."""
    line = cli(*arguments, code=3)
    assert line.startswith("multiauc: failed: ")
    assert line.count("\n") == 1
    return line.removeprefix("multiauc: failed: ").rstrip("\n")


def assert_close_and_below(said, value, bound):
    """The number that a failure names is the value to four decimals at least, and looks like one below the bound."""
    shown = float(re.search(r" is (-?[\d.]+\d)(?:,|$)", said)[1])
    assert shown == pytest.approx(value, abs=0.5001e-4)
    assert shown < bound


class TestFailUnder:
    LINE = ("evaluate", "one.parquet", "-l", "y")

    def test_on_the_value(self, cli, files):
        labels, scores, *_ = files
        value = multiauc.auc_mu_score(labels, scores)
        assert "AUC_mu" in cli(*self.LINE, "--fail-under", f"auc_mu={value!r}")
        above = math.nextafter(value, 1.0)
        said = failed(cli, *self.LINE, "--fail-under", f"auc_mu={above!r}")
        assert said.startswith("AUC_mu is ")
        assert said.endswith(f", under {above!r}")
        assert_close_and_below(said, value, above)

    def test_on_the_lower_limit(self, cli, files):
        labels, scores, *_ = files
        low = multiauc.evaluate(labels, scores).hand_till.confidence_interval(0.8).low  # one-sided at 0.9
        line = (*self.LINE, "--level", 0.9, "--fail-on-interval", "--fail-under")
        assert cli(*line, f"hand_till={low!r}")
        above = math.nextafter(low, 1.0)
        said = failed(cli, *line, f"hand_till={above!r}")
        assert said.startswith("the lower limit of Hand & Till's M (one-sided, 90%) is ")
        assert_close_and_below(said, low, above)
        boot = multiauc.evaluate(labels, scores).bootstrap(50, rng=3).confidence_interval("hand_till", 0.8).low
        assert cli(*line, f"hand_till={boot!r}", "--bootstrap", 50, "--seed", 3)
        assert failed(cli, *line, f"hand_till={math.nextafter(boot, 1.0)!r}", "--bootstrap", 50, "--seed", 3)

    def test_several(self, cli):
        assert cli(*self.LINE, "--fail-under", "auc_mu=0.5,hand_till=0.5", "--fail-under", "one_vs_rest = 0.5")
        said = failed(cli, *self.LINE, "--fail-under", "auc_mu=1,hand_till=0.5", "--fail-under", "one_vs_rest=1")
        assert said.startswith("AUC_mu is 0.")
        assert "; one-vs-rest (macro) is 0." in said
        assert "Hand" not in said

    def test_a_metric_that_is_not_listed_is_computed(self, cli):
        found = json.loads(cli(*self.LINE, "-f", "json", "--metrics", "hand_till", "--fail-under", "pdi=0.1"))
        assert list(found["metrics"]) == ["hand_till", "pdi"]

    def test_the_result_is_shown_and_says_so(self, cli):
        for passed in (True, False):
            bound = 0.5 if passed else 1.0
            line = (*self.LINE, "-o", f"{passed}.json", "--fail-under", f"auc_mu={bound}", "--fail-on-interval")
            cli(*line, code=0 if passed else 3)
            found = json.loads(Path(f"{passed}.json").read_text("utf-8"))
            (gate,) = found["gates"]
            assert gate.pop("found") > found["metrics"]["auc_mu"]["low"]
            known = {"metric": "auc_mu", "of": "lower_limit", "level": 0.95}
            assert gate == known | {"bound": bound, "passed": passed}

    def test_what_is_not_known_does_not_pass(self, cli):
        table = parquet.read_table("one.parquet")
        parquet.write_table(table.filter(pa.compute.field("y") != "bee"), "gap.parquet")
        line = ("evaluate", "gap.parquet", "-l", "y", "--absent", "nan", "--fail-under", "auc_mu=0")
        assert failed(cli, *line) == "AUC_mu is not known, and must be 0.0"
        constant = pa.table({"y": ["a", "a", "b", "b"], "p_a": [0.5] * 4, "p_b": [0.5] * 4})
        parquet.write_table(constant, "constant.parquet")
        line = ("evaluate", "constant.parquet", "-l", "y", "--fail-under", "auc_mu=0.1")
        assert cli(*line)
        assert failed(cli, *line, "--fail-on-interval") == (
            "the lower limit of AUC_mu (one-sided, 95%) is not known, and must be 0.1"
        )

    @pytest.mark.parametrize("number", ["nan", "inf", "-0.1", "1.01", "90", "0,9", "1_0", "", "90%", "-nan"])
    def test_bounds_that_say_nothing(self, cli, number):
        problem = cli.fails(*self.LINE, f"--fail-under=auc_mu={number}", code=2)
        assert "is not a number from 0 to 1" in problem or "is not of the form" in problem

    @pytest.mark.parametrize("word", ["auc_mu", "gini=0.5", "=0.5", "multiclass_roc=0.5", "", "auc_mu=0.5,"])
    def test_words_that_are_no_bounds(self, cli, word):
        assert "Invalid value for '--fail-under'" in cli.fails(*self.LINE, "--fail-under", word, code=2)

    def test_an_interval_needs_a_bound(self, cli):
        assert "--fail-on-interval needs --fail-under" in cli.fails(*self.LINE, "--fail-on-interval", code=2)

    @pytest.mark.slow
    def test_through_a_closed_pipe_it_fails_as_well(self):
        line = f"{sys.executable} -m multiauc evaluate one.parquet -l y --fail-under auc_mu=1 | true"
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=False)
        assert done.returncode == 3


class TestFailIfWorse:
    LINE = ("compare", "one.parquet", "two.parquet", "-l", "y")

    def limit(self, files, level=0.95, **options):
        labels, first, second, _ = files
        difference = multiauc.compare(labels, {"one": first, "two": second}, **options).difference("one", "two")
        return difference.confidence_interval(round(2 * level - 1, 12)).low

    def test_the_one_sided_limit_decides(self, cli, files):
        for level in (0.95, 0.9, 0.6):
            limit = self.limit(files, level)
            assert limit < 0
            line = (*self.LINE, "--level", level, "--fail-if-worse")
            assert cli(*line, repr(-limit))
            below = math.nextafter(-limit, 0.0)
            said = failed(cli, *line, repr(below))
            assert f"one is more than {below!r} worse than two in AUC_mu" in said
            assert f"(one-sided, {100 * level:g}%)" in said
            assert_close_and_below(said, limit, -below)

    def test_other_metrics_and_groups(self, cli, files):
        limit = self.limit(files, metric="hand_till", groups=files[3]["user"])
        line = (*self.LINE, "--metric", "hand_till", "--groups", "user", "--fail-if-worse")
        assert cli(*line, repr(-limit))
        assert failed(cli, *line, repr(math.nextafter(-limit, 0.0)))

    def test_by_the_bootstrap(self, cli, files):
        labels, first, second, _ = files
        for metric in ("auc_mu", "multiclass_roc"):
            comparison = multiauc.compare(labels, {"one": first, "two": second}, metric=metric)
            difference = comparison.bootstrap(60, rng=4).difference("one", "two")
            limit = difference.confidence_interval(0.9).low
            line = (*self.LINE, "--metric", metric, "--bootstrap", 60, "--seed", 4, "--fail-if-worse")
            assert cli(*line, repr(max(-limit, 0.0)))
            if limit < 0:
                assert failed(cli, *line, repr(math.nextafter(-limit, 0.0)))

    def test_a_model_is_as_good_as_itself(self, cli):
        for more in ((), ("--bootstrap", 20), ("--metric", "multiclass_roc", "--bootstrap", 20)):
            found = json.loads(
                cli("compare", "one.parquet", "x=one.parquet", "-l", "y", "--fail-if-worse", 0, "-f", "json", *more)
            )
            assert found["gates"][0]["found"] == 0.0

    def test_the_first_against_all_the_others(self, cli, files):
        found = json.loads(cli(*self.LINE, "third=one.parquet", "--fail-if-worse", 1, "-f", "json"))
        assert [(gate["first"], gate["second"]) for gate in found["gates"]] == [("one", "two"), ("one", "third")]
        assert [gate["found"] for gate in found["gates"]] == [self.limit(files), 0.0]
        assert {gate["level"] for gate in found["gates"]} == {0.95}
        assert "worse than two in" in failed(cli, *self.LINE, "third=one.parquet", "--fail-if-worse", 0)

    def test_what_is_not_known_does_not_pass(self, cli):
        table = parquet.read_table("one.parquet")
        parquet.write_table(table.filter(pa.compute.field("y") != "bee"), "gap.parquet")
        line = ("compare", "gap.parquet", "x=gap.parquet", "-l", "y", "--absent", "nan", "--fail-if-worse", 1)
        assert "is not known" in failed(cli, *line)

    @pytest.mark.parametrize("margin", ["nan", "-0.1", "1.5", "inf", "much", ""])
    def test_margins_that_say_nothing(self, cli, margin):
        problem = cli.fails(*self.LINE, f"--fail-if-worse={margin}", code=2)
        assert "is not a number from 0 to 1" in problem

    def test_options_that_it_needs(self, cli):
        problem = cli.fails(*self.LINE, "--fail-if-worse", 0.1, "--level", 0.5, code=2)
        assert problem.startswith("--fail-if-worse needs a --level above 0.5; got 0.5")
        problem = cli.fails(*self.LINE, "--fail-if-worse", 0.1, "--metric", "multiclass_roc", code=2)
        assert problem.startswith("--fail-if-worse needs --bootstrap for multiclass_roc")
        problem = cli.fails(*self.LINE, "--fail-if-worse", 0.1, "--bootstrap", 19, code=2)
        assert problem.startswith("--fail-if-worse at --level 0.95 needs a --bootstrap of at least 20")
        assert cli(*self.LINE, "--fail-if-worse", 1, "--bootstrap", 20)

    def test_a_difference_without_any_spread(self):
        class Difference:
            value, standard_error = 0.25, 0.0

            def confidence_interval(self, _):
                return multiauc.ConfidenceInterval(math.nan, math.nan)

        assert math.isnan(lower_limit(Difference(), 0.95))

    @pytest.mark.slow
    def test_how_often_it_is_wrong(self):
        """A model that is worse by the margin passes in 5 of 100 samples; one that is no worse nearly always."""
        rng = np.random.default_rng(1)

        def difference(rows_per_class, strength):
            codes = np.repeat([0, 1, 2], rows_per_class)
            base, signal = rng.normal(size=(len(codes), 3)), np.eye(3)[codes]
            models = {name: gain * signal + base + 0.3 * rng.normal(size=base.shape)
                      for name, gain in (("new", strength), ("old", 1.4))}  # fmt: skip
            return multiauc.compare(codes, models).difference("new", "old")

        margin = -difference(100_000, 1.2).value
        assert margin > 0.02
        passed = {
            gain: sum(lower_limit(difference(60, gain), 0.95) >= -margin for _ in range(600)) for gain in (1.2, 1.4)
        }
        assert 12 <= passed[1.2] <= 51  # 30, and four standard deviations of 600 coins
        assert passed[1.4] > 400


class TestBootstrap:
    def test_the_numbers_of_the_library(self, cli, files):
        labels, first, second, _ = files
        for metric in ("auc_mu", "pdi", "multiclass_roc"):
            comparison = multiauc.compare(labels, {"one": first, "two": second}, metric=metric)
            bootstrap = comparison.bootstrap(50, rng=7)
            line = f"compare one.parquet two.parquet -l y --metric {metric} --bootstrap 50 --seed 7 --level 0.9 -f json"
            found = json.loads(cli(line))
            for k, name in enumerate(("one", "two")):
                low, high = bootstrap.confidence_interval(name, 0.9)
                assert found["estimates"][name] == {
                    "value": comparison.estimates[name].value,
                    "standard_error": bootstrap.standard_error[k],
                    "low": low,
                    "high": high,
                }
            difference = bootstrap.difference("one", "two")
            (shown,) = found["differences"]
            assert (shown["low"], shown["high"]) == tuple(difference.confidence_interval(0.9))
            assert shown["standard_error"] == difference.standard_error
            assert shown["share_better"] == difference.share_better
            assert shown["t"] is None
            assert found["method"].startswith("50 bootstrap samples, the same rows for all models")
            assert "covariance" not in found

    def test_words_interval_and_p_value_agree(self, cli, rng):
        labels, scores = sample(rng)
        for noise in (0.0, 0.02, 0.05, 0.1, 0.3, 1.0):
            other = scores + noise * rng.random(scores.shape)
            other /= other.sum(axis=1, keepdims=True)
            parquet.write_table(pa.table({"y": labels} | columns(scores)), "a.parquet")
            parquet.write_table(pa.table({"y": labels} | columns(other)), "b.parquet")
            found = json.loads(cli("compare a.parquet b.parquet -l y --bootstrap 200 -f json"))
            (shown,) = found["differences"]
            excludes = not shown["low"] <= 0.0 <= shown["high"]
            assert excludes == (shown["corrected_p_value"] < 0.05) == shown["decided"]
            assert ("are not significantly different" in found["verdict"]) == (not excludes)
        found = json.loads(cli("compare a.parquet b.parquet one.parquet two.parquet -l y --bootstrap 500 -f json"))
        for shown in found["differences"]:
            excludes = not shown["corrected_low"] <= 0.0 <= shown["corrected_high"]
            assert excludes == (shown["corrected_p_value"] < 0.05) == shown["decided"]

    @given(
        st.lists(st.floats(-1, 1).map(lambda value: round(value, 2)), min_size=40, max_size=200),
        st.floats(0.06, 0.9),
    )
    def test_the_p_value_inverts_the_percentile_interval(self, replicates, tail):
        values = np.array(replicates)
        p = percentile_p_value(values)
        low, high = np.quantile(values, [tail / 2, 1 - tail / 2])
        if p < tail - 1e-9:
            assert low > 0.0 or high < 0.0
        if p > tail + 1e-9:
            assert low <= 1e-12
            assert high >= -1e-12

    def test_p_values_of_few_replicates(self):
        assert math.isnan(percentile_p_value(np.array([0.5])))
        assert math.isnan(percentile_p_value(np.array([math.nan, 0.5, math.nan])))
        assert percentile_p_value(np.zeros(100)) == 1.0
        assert percentile_p_value(np.linspace(0.1, 0.2, 99)) == pytest.approx(0.02)

    def test_the_correction_is_for_all_differences(self, cli):
        found = json.loads(
            cli("compare one.parquet two.parquet x=one.parquet -l y --bootstrap 120 -f json --metric hand_till")
        )
        assert found["correction"] == "Bonferroni"
        for difference in found["differences"]:
            excludes = not difference["corrected_low"] <= 0.0 <= difference["corrected_high"]
            assert excludes == difference["decided"]
            assert difference["corrected_p_value"] == min(1.0, 3 * difference["p_value"])

    def test_too_few_resamples_to_decide(self, cli):
        line = "compare one.parquet two.parquet x=one.parquet -l y --bootstrap 119 -f json"
        found = json.loads(cli(line))
        assert found["method"].endswith("; too few to test 3 differences at the level 0.95, which takes 120 or more")
        for shown in found["differences"]:
            tested = [shown[name] for name in ("p_value", "corrected_low", "corrected_high", "corrected_p_value")]
            assert tested == [None] * 4
            assert not shown["decided"]
        assert found["verdict"].endswith("is not known.")
        assert "120 or more" in cli(line.replace("json", "table"))

    def test_the_area_of_the_curve_without_a_bootstrap(self, cli, files):
        labels, first, *_ = files
        text = cli("compare one.parquet two.parquet -l y --metric multiclass_roc")
        assert "--bootstrap gives intervals and differences" in text
        assert "Differences" not in text
        found = json.loads(cli("compare one.parquet two.parquet -l y --metric multiclass_roc -f json"))
        assert found["estimates"]["one"]["value"] == multiauc.multiclass_roc(labels, first).auc
        assert found["estimates"]["one"]["low"] is None
        assert found["differences"] == []
        rows = cli("compare one.parquet two.parquet -l y --metric multiclass_roc -f csv").splitlines()
        assert len(rows) == 3


def test_gates_know_that_less_is_better():
    rng = np.random.default_rng(14)
    codes = np.repeat([0, 1, 2], 60)
    good = np.exp(3.0 * np.eye(3)[codes] + rng.normal(size=(180, 3)))
    good /= good.sum(axis=1, keepdims=True)
    difference = multiauc.compare(codes, {"good": good, "poor": 0.5 * good + 0.5 / 3}, metric="log_loss").differences[0]
    gates = {name: check_differences("a", {"b": one}, "log_loss", 0.01, 0.95) for name, one in (
        ("better", difference), ("worse", difference.reversed()),
    )}  # fmt: skip
    assert gates["better"][0].passed
    assert not gates["worse"][0].passed
    with pytest.raises(click.BadParameter, match="log_loss"):
        read_floors(("log_loss=0.5",))
