"""A small version of studies/coverage.py, and that a stopped simulation goes on as though it had not been."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import multiauc

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))
import coverage
import coverage_multiclass_roc
import rounds
import score_populations

SAMPLES = 250
# Beyond 3.3 Monte-Carlo standard errors of a share lies one right study in a thousand.
ERRORS = 3.3
SMALLEST_TEN = coverage.SIZES["smallest 10"]
BALANCED = coverage.SIZES["balanced"]


def low(share: float) -> float:
    return share - ERRORS * float(np.sqrt(share * (1 - share) / SAMPLES))


def high(share: float) -> float:
    return share + ERRORS * float(np.sqrt(share * (1 - share) / SAMPLES))


def simulated(cell: coverage.Cell) -> rounds.Tally:
    study = rounds.Study({cell.name: cell}, coverage.sample, coverage.truth, {})
    return rounds.run(study, samples=SAMPLES, size=SAMPLES)[cell.name]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "extra"),
    [
        *((shape, "") for shape in score_populations.SHAPES),
        ("skewed", "weights"),
        ("ten levels", "groups"),
        ("normal", "groups across classes"),
        ("skewed", "folds"),
        ("normal", "class sizes drawn"),
    ],
)
def test_intervals_cover_and_tests_err_as_often_as_they_say(shape, extra):
    """Three classes of fifty rows, where the default interval is the logit one."""
    tally = simulated(coverage.Cell(BALANCED[3], shape, 0.8, extra))
    for metric in coverage.METRICS:
        assert low(0.935) <= tally.mean(f"{metric} logit") <= high(0.965)
        if extra != "folds":
            assert tally.mean(f"{metric} cautious") >= low(0.945)
    assert tally.mean("test same") <= high(0.06)
    assert tally.mean("test different") <= high(0.07)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "shape"), [(2, "skewed"), (4, "normal"), (4, "ten levels")])
def test_cautious_intervals_cover_with_ten_rows_in_a_class(k, shape):
    tally = simulated(coverage.Cell(SMALLEST_TEN[k], shape, 0.97))
    for metric in coverage.METRICS:
        assert tally.mean(f"{metric} cautious") >= low(0.93)


@pytest.mark.parametrize("shape", score_populations.SHAPES)
@pytest.mark.parametrize("extra", ["", "weights", "class sizes drawn"])
def test_populations_have_the_metrics_that_they_say(shape, extra):
    """Within four standard errors of a large sample."""
    cell = coverage.Cell((9000, 6000, 3000), shape, 0.9, extra)
    drawn = score_populations.draw(np.random.default_rng(5), cell.sizes, cell.models, extra)
    true = coverage.truth(cell)
    for scores, own in zip(drawn.scores, cell.models, strict=True):
        found = multiauc.evaluate(drawn.codes, scores, metrics=coverage.METRICS, **drawn.options)
        assert own.auc_mu == pytest.approx(0.9, abs=1e-9)
        assert found.auc_mu.value == pytest.approx(0.9, abs=4 * found.auc_mu.standard_error)
        if own == cell.models[0]:
            for metric, estimate in found.metrics.items():
                assert estimate.value == pytest.approx(true[metric], abs=4 * estimate.standard_error)


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


def test_tables(tmp_path, monkeypatch, capsys):
    cells = [coverage.Cell(BALANCED[2], "normal", 0.8), coverage.Cell(BALANCED[2], "ten levels", 0.8, "folds")]
    study = rounds.Study({cell.name: cell for cell in cells}, coverage.sample, coverage.truth, {})
    monkeypatch.setattr(coverage, "STUDY", study)
    monkeypatch.setattr(sys, "argv", ["coverage.py", "--samples", "4", "--output", str(tmp_path / "table.md")])
    coverage.main()
    text = (tmp_path / "table.md").read_text()
    assert "| 50, 50 | normal | 0.8 |" in text
    assert "| folds | balanced | ten levels |" in text
    population = coverage_multiclass_roc.NormalPopulation((12,) * 3, 2.0, is_alike=True)
    monkeypatch.setattr(coverage_multiclass_roc, "SETTINGS", [population])
    monkeypatch.setattr(coverage_multiclass_roc, "POPULATION", 3000)
    options = ["--samples", "3", "--resamples", "20", "--parametric"]
    monkeypatch.setattr(sys, "argv", ["coverage_multiclass_roc.py", *options])
    coverage_multiclass_roc.main()
    assert "| alike, K = 3 | 12, 12, 12 | 3 |" in capsys.readouterr().out


def test_the_whole_table_is_what_the_docs_say():
    cells = list(coverage.cells())
    assert len(cells) == len({cell.name for cell in cells}) == 304
    assert {len(cell.sizes) for cell in cells} == {2, 3, 4, 8}
    assert {cell.theta for cell in cells} == {0.6, 0.8, 0.9, 0.97, 0.99}
