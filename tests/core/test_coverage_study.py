"""A small version of studies/coverage.py, and that a stopped simulation goes on as though it had not been."""

import csv
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))
import coverage
import coverage_multiclass_roc
import rounds

DOCS = Path(__file__).resolve().parents[2] / "docs"


def lines() -> list[dict[str, str]]:
    with (DOCS / "coverage.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_table_has_every_scenario():
    def name(scenario: coverage.Scenario) -> tuple[str, ...]:
        sizes = " ".join(map(str, scenario.sizes))
        return scenario.study, scenario.population, sizes, str(scenario.signal), scenario.rows

    assert {tuple(line[name] for name in coverage.COLUMNS[:5]) for line in lines()} == set(
        map(name, coverage.scenarios())
    )


#: Where intervals cover less than .93, and how the page says so; no test errs more than .06.
WEAK = {"average_precision": ("40 40 40 40 40",)}


def test_the_page_says_what_the_table_has():
    """How many scenarios there are, and where intervals and tests are worse than they should be."""
    text = (DOCS / "coverage.md").read_text()
    assert len(text.split()) <= 600
    assert f"{len(coverage.scenarios())} scenarios" in text
    for line in lines():
        if float(line["coverage_95"]) < (0.94 if line["study"] == "tests" else 0.93):
            assert line["sizes"] in WEAK[line["quantity"]]
    for quantity in (*WEAK, "two models", "three models", "five models", "mean of repeats", "difference of repeats"):
        least = min(float(line["coverage_95"]) for line in lines() if line["quantity"] == quantity)
        number = f"{1 - least:.3f}" if "models" in quantity else f"{least:.3f}"
        assert number[1:] in text


@pytest.mark.slow
@pytest.mark.parametrize("study", coverage.STUDIES)
def test_a_scenario_again(study, monkeypatch):
    """With a hundred samples, within four Monte Carlo errors of the table."""
    monkeypatch.setattr(coverage, "SAMPLES", 200)
    scenario = next(one for one in coverage.scenarios() if one.study == study)
    known = {line["quantity"]: line for line in lines() if line["study"] == study}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in coverage.STUDIES[study](scenario):
            assert line["quantity"] in known
            assert float(line["coverage_95"]) >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / int(line["samples"]))


def counting(calls: list[tuple[str, int]]) -> rounds.Study:
    """Samples that are random numbers, and a list of those that were drawn."""

    def sample(cell: str, true: rounds.Found, rng: np.random.Generator) -> rounds.Found:
        calls.append((cell, len(calls)))
        return {"number": true["number"] + rng.normal(), "is positive": float(rng.random() < 0.5)}

    cells = {name: name for name in ("first", "second", "third")}
    return rounds.Study(cells, sample, lambda cell: {"number": float(len(cell))}, {"study": "counting"})


def test_a_stopped_run_goes_on(tmp_path):
    state = tmp_path / "kept" / "sums.json"
    at_once = rounds.run(counting([]), samples=23, size=5)
    calls: list[tuple[str, int]] = []
    study = counting(calls)
    rounds.run(study, samples=23, size=5, seconds=0.0, state=state)  # no time: nothing is drawn
    assert not calls
    rounds.run(study, samples=7, size=3, state=state)  # in the middle of a round of five
    assert [name for name, _ in calls[:9]] == ["first"] * 3 + ["second"] * 3 + ["third"] * 3
    found = rounds.run(study, samples=23, size=5, state=state)
    assert len(calls) == 3 * 23
    assert found == at_once
    assert rounds.run(study, samples=23, size=5, state=state) == at_once
    assert len(calls) == 3 * 23
    assert rounds.run(counting([]), samples=23, size=4, processes=2) == at_once


def test_sums_of_other_samples_are_refused(tmp_path):
    state = tmp_path / "sums.json"
    state.write_text(json.dumps({"about": {"study": "another"}, "cells": {}}))
    with pytest.raises(SystemExit, match="give another --state"):
        rounds.run(counting([]), samples=1, size=1, state=state)


def test_means_and_errors():
    tally = rounds.Tally({})
    tally.add([{"x": 1.0, "held": 1.0}, {"x": 2.0, "held": 0.0}, {"x": 6.0, "held": 1.0}, {"x": 3.0, "held": 1.0}])
    assert tally.mean("x") == 3.0
    assert tally.deviation("x") == pytest.approx(np.std([1, 2, 6, 3], ddof=1))
    assert tally.share("held") == "0.750 ± 0.217"
    tally.add([{"x": 3.0, "held": 1.0}])
    always = rounds.Tally({}, 9, {"held": 9.0})
    assert 0.0 < always.error("held") < 0.1


def test_tables(monkeypatch, capsys):
    population = coverage_multiclass_roc.NormalPopulation((12,) * 3, 2.0, is_alike=True)
    monkeypatch.setattr(coverage_multiclass_roc, "SETTINGS", [population])
    monkeypatch.setattr(coverage_multiclass_roc, "POPULATION", 3000)
    options = ["--samples", "3", "--resamples", "20", "--parametric"]
    monkeypatch.setattr(sys, "argv", ["coverage_multiclass_roc.py", *options])
    coverage_multiclass_roc.main()
    assert "| alike, K = 3 | 12, 12, 12 | 3 |" in capsys.readouterr().out
