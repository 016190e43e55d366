"""Slices on the command line, in reports and in pictures."""

import csv
import io
import json
import re
from dataclasses import fields
from html import unescape
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text
from pyarrow import parquet
from pyarrow.csv import write_csv

import multiauc
from command_line import columns, sample
from multiauc.plotting import SlicesDisplay

NUMBERS = tuple(one.name for one in fields(multiauc.Slice) if one.name != "name")


@pytest.fixture
def data(rng, in_empty_folder):
    """Rows of four towns, one of which has no bees, and a file of them."""
    labels, scores = sample(rng, 600)
    town = np.array(["Ulm", "Bonn", "Jena", None], dtype=object)[np.arange(600) // 3 % 4]
    town[5:40] = "Hof"
    town[(labels == "bee") & (town == "Hof")] = "Ulm"
    day = np.arange(600) % 2
    table = {"y": labels} | columns(scores) | {"town": pa.array(town.tolist()), "day": day}
    parquet.write_table(pa.table(table), "one.parquet")
    other = sample(rng, 600)[1]
    parquet.write_table(pa.table(table | columns(other)), "two.parquet")
    return labels, scores, town, day


class TestCommandLine:
    def test_table(self, cli, data):
        labels, scores, town, _ = data
        text = cli("evaluate one.parquet -l y --by town")
        slices = multiauc.evaluate_slices(labels, scores, town)
        assert "AUC_mu by town, against the rest of the rows" in text
        assert all(name in text for name in slices.shown_names())
        assert "no rows of 'bee'" in text
        assert "(missing)" in text
        assert slices.summary() in text.replace("\n", " ")

    def test_numbers(self, cli, data):
        labels, scores, town, day = data
        found = json.loads(cli("evaluate one.parquet -l y --by town,day --metrics hand_till --level 0.9 -f json"))[
            "slices"
        ]
        slices = multiauc.evaluate_slices(labels, scores, {"town": town, "day": day}, metric="hand_till")
        assert (found["by"], found["metric"], found["count"]) == (["town", "day"], "hand_till", 10)
        # In files labels are text.
        named = [(one["slice"]["town"], int(one["slice"]["day"])) for one in found["slices"]]
        assert named == list(slices.names)
        for one, expected in zip(found["slices"], slices.to_dict(0.9)["slices"], strict=True):
            for name in NUMBERS:
                assert one[name] == (None if expected[name] != expected[name] else expected[name])

    @pytest.mark.usefixtures("data")
    def test_csv(self, cli):
        rows = list(csv.DictReader(io.StringIO(cli("evaluate one.parquet -l y --by town -f csv"))))
        assert list(rows[0]) == ["town", *NUMBERS]
        assert len(rows) == 5
        hof = next(row for row in rows if row["town"] == "Hof")
        assert (hof["value"], hof["reason"]) == ("", "no rows of 'bee'")
        assert "" in {row["town"] for row in rows}

    @pytest.mark.usefixtures("data")
    def test_text_files_and_parts(self, cli):
        table = parquet.read_table("one.parquet")
        expected = cli("evaluate one.parquet -l y --by town -f csv")
        write_csv(table, "one.csv")
        assert cli("evaluate one.csv -l y --by town -f csv") == expected
        Path("parts").mkdir()
        for k in range(3):
            parquet.write_table(table.slice(200 * k, 200), f"parts/{k}.parquet")
        assert cli("evaluate parts -l y --by town -f csv") == expected

    @pytest.mark.usefixtures("data")
    def test_many_slices(self, cli):
        table = parquet.read_table("one.parquet")
        parquet.write_table(table.append_column("shop", pa.array(np.arange(600) // 6)), "many.parquet")
        text = cli("evaluate many.parquet -l y --by shop")
        assert "60 slices are not printed; --format csv and json have all." in text.replace("\n", " ")
        assert len(cli("evaluate many.parquet -l y --by shop -f csv").splitlines()) == 101

    @pytest.mark.usefixtures("data")
    def test_errors(self, cli):
        assert cli.fails("evaluate one.parquet -l y --by city").startswith(
            "one.parquet: no column 'city' (--by); it has 'y', 'p_ant'"
        )

    @pytest.mark.usefixtures("data")
    def test_columns_of_slices_are_no_scores(self, cli):
        table = parquet.read_table("one.parquet").rename_columns(["y", "p_ant", "p_bee", "p_cat", "p_town", "day"])
        parquet.write_table(table, "odd.parquet")
        assert "AUC_mu by p_town" in cli("evaluate odd.parquet -l y --by p_town")


class TestReport:
    def numbers(self, page):
        text = Path(page).read_text("utf-8")
        return text, json.loads(re.search(r'id="multiauc-numbers">(.*?)</script>', text, re.DOTALL)[1])

    @pytest.mark.usefixtures("data")
    def test_of_files(self, cli):
        cli("report one.parquet two.parquet -l y --by town --bootstrap 0 -o page.html")
        text, numbers = self.numbers("page.html")
        assert text.count("AUC_mu by town, with 95% intervals") == 4  # captions and what they label
        assert "Slice by slice" in text
        assert [model["slices"]["count"] for model in numbers["models"]] == [5, 5]
        assert "no rows of &#x27;bee&#x27;" in text

    def test_of_results(self, data):
        labels, scores, town, _ = data
        multiauc.evaluate(labels, scores).report("page.html", n_resamples=0, by=town)
        text, numbers = self.numbers("page.html")
        slices = multiauc.evaluate_slices(labels, scores, town)
        found = numbers["models"][0]["slices"]
        assert [one["name"] for one in found["slices"]] == slices.shown_names()
        assert found["summary"] == slices.summary()
        assert slices.summary() in unescape(text)
        other = scores**2 / (scores**2).sum(axis=1, keepdims=True)
        multiauc.compare(labels, {"a": scores, "b": other}, metric="hand_till").report(
            "page.html", n_resamples=0, by={"town": town}
        )
        assert self.numbers("page.html")[1]["models"][1]["slices"]["metric"] == "hand_till"
        multiauc.evaluate(labels, scores).report("page.html", n_resamples=0)
        assert "Slice by slice" not in self.numbers("page.html")[0]

    def test_many_slices(self, data):
        labels, scores, *_ = data
        multiauc.evaluate(labels, scores).report("page.html", n_resamples=0, by=np.arange(600) // 4)
        text, numbers = self.numbers("page.html")
        assert len(numbers["models"][0]["slices"]["slices"]) == 100
        assert "the first 100 of 150 slices" in text

    def test_hostile_names(self, data):
        labels, scores, *_ = data
        by = np.array(["<script>alert(1)</script>", "</script>"])[np.arange(600) % 2]
        multiauc.evaluate(labels, scores).report("page.html", n_resamples=0, by={"<b>": by})
        text = Path("page.html").read_text("utf-8")
        assert "<script>alert" not in text
        assert "<b>" not in text


class TestPlot:
    def drawn(self, display):
        display.figure_.canvas.draw()
        return [text.get_text() for text in display.figure_.findobj(Text)]

    def test_forest(self, data):
        labels, scores, town, _ = data
        slices = multiauc.evaluate_slices(labels, scores, town)
        display = slices.plot(level=0.9)
        texts = self.drawn(display)
        assert [label.get_text() for label in display.ax_.get_yticklabels()] == slices.shown_names()
        assert "no rows of 'bee'" in texts
        assert f"AUC_mu, 90% intervals; all rows {slices.overall.value:.4f}" in texts
        assert {f"{rows:,}" for rows in slices.rows} <= set(texts)
        place = slices.names.index("Ulm")
        low, high = slices.confidence_intervals(0.9)["Ulm"]
        bars = [line for line in display.ax_.lines if list(line.get_ydata()) == [place, place]]
        assert (low, high) in [tuple(bar.get_xdata()) for bar in bars]

    def test_only_the_first_of_many(self, data):
        labels, scores, *_ = data
        slices = multiauc.evaluate_slices(labels, scores, np.arange(600) // 6)
        display = slices.plot(at_most=7)
        assert len(display.ax_.get_yticklabels()) == 7
        assert any(text.endswith("; 7 of 100 slices") for text in self.drawn(display))
        with pytest.raises(ValueError, match="at_most must be a positive integer"):
            slices.plot(at_most=0)

    def test_worse_and_better_differ_without_colour(self, rng):
        y_true = rng.integers(3, size=1500)
        by = np.arange(1500) % 3
        y_score = np.eye(3)[y_true] + np.array([1.0, 1.5, 4.0])[by][:, None] * rng.random((1500, 3))
        display = SlicesDisplay.from_predictions(y_true, y_score, by)
        marks = {line.get_marker() for line in display.ax_.lines}
        assert {"v", "^"} <= marks

    def test_own_axes_and_points(self, data):
        labels, scores, town, _ = data
        _, ax = plt.subplots()
        display = multiauc.evaluate_slices(labels, scores, town, reference=None).plot(ax, marker="D", markersize=9)
        assert display.ax_ is ax
        assert "corr. p" not in self.drawn(display)
        assert {line.get_marker() for line in ax.lines} >= {"D"}


@pytest.mark.usefixtures("in_empty_folder")
def test_names_of_the_demo(cli):
    """The demo has a region where animals are hard to tell apart."""
    cli("demo --directory demo")
    found = json.loads(cli("evaluate demo/net.parquet -l y --by region -f json"))["slices"]
    assert found["slices"][0]["name"] == "marsh"
    assert found["slices"][0]["corrected_p_value"] < 0.01
    assert {one["name"] for one in found["slices"]} == {"coast", "hills", "marsh", "plain"}
