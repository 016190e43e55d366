"""The differential fuzz itself: its quick definitions against the oracles, its state, what it says, and a short run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import oracle
import oracle_volumes

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))

import fuzz
import fuzz_checks
import fuzz_targets
from fuzz_cases import KINDS, make_case
from fuzz_exact import Exact, whole_keys
from fuzz_targets import registry

from multiauc import _rust

STUDIES = Path(fuzz.__file__).parent


def cases(numbers):
    return [make_case(5, number) for number in numbers]


def test_a_case_is_named_by_seed_and_number():
    first, again, other = make_case(1, 2), make_case(1, 2), make_case(1, 3)
    assert str(first) == str(again)
    assert str(first) != str(other)


def test_cases_are_of_all_kinds():
    drawn = cases(range(3000))
    assert {case.kind for case in drawn} >= set(KINDS)
    assert {case.scores.shape[1] for case in drawn} == {2, 3, 4, 5}
    assert {len(case.codes) for case in drawn} == set(range(2, 13))
    assert {case.scores.dtype.name for case in drawn} == {"float32", "float64"}
    assert all(case.is_defined and np.isfinite(case.scores).all() for case in drawn)
    for feature in (
        lambda case: case.is_single,
        lambda case: case.weights is not None and (case.weights == 0).any(),
        lambda case: case.partition is not None,
        lambda case: isinstance(case.pair_weights, np.ndarray),
        lambda case: len(np.unique(case.codes)) < case.n_classes,
    ):
        assert sum(map(feature, drawn)) > 50


@pytest.mark.parametrize("start", range(0, 400, 40))
def test_quick_definitions_are_the_oracles(start):
    for case in cases(range(start, start + 40)):
        data = case.codes, case.scores, case.weights
        exact = Exact(*data)
        assert exact.auc_mu_pairs() == oracle.auc_mu_pairs(*data)
        assert exact.hand_till_pairs() == oracle.hand_till_pairs(*data)
        assert exact.one_vs_rest_per_class() == oracle.one_vs_rest_per_class(*data)
        assert exact.mean(exact.auc_mu_pairs(), case.pair_weights) == oracle.auc_mu(
            *data, pair_weights=case.pair_weights
        )
        for average in fuzz_checks.AVERAGES:
            assert exact.one_vs_rest(average) == oracle.one_vs_rest(*data, average)


def test_quick_pdi_is_the_oracles():
    for case in cases(range(60)):
        exists = np.ones(len(case.codes), dtype=bool) if case.weights is None else case.weights > 0
        present = np.unique(case.codes[exists])
        codes, scores = np.searchsorted(present, case.codes[exists]), case.scores[exists][:, present]
        weights = None if case.weights is None else case.weights[exists]
        expected = oracle_volumes.pdi_per_class(codes, scores, weights)
        assert list(Exact(case.codes, case.scores, case.weights).pdi_per_class().values()) == expected


def test_quick_keys_are_in_the_proportions_of_the_oracles(rng):
    decimals = [round(float(x), int(d)) for x, d in zip(rng.random(60), rng.integers(1, 9, size=60), strict=True)]
    fractions = [int(a) / int(b) for a, b in zip(rng.integers(-9999, 9999, 60), rng.integers(1, 1003, 60), strict=True)]
    limits = [
        2.0**22 - 1e-6,
        2.0**22 - 1 / 3,
        2.0**22 + 1 / 3,
        -0.0,
        5e-324,
        1.7e308,
        1 / 1001,
        1e-6,
        1e-7,
        0.5,
        2 / 3,
        1,
    ]
    for values in (decimals, fractions, limits):
        scores = np.array(values).reshape(-1, 2)
        expected = oracle.exact_keys(scores)
        found = np.array(whole_keys(scores), dtype=object)
        at = np.flatnonzero(expected.ravel() != 0)[0]
        assert (found * expected.ravel()[at] == expected * found.ravel()[at]).all()


class TestCommand:
    @pytest.fixture(autouse=True)
    def _quiet(self, monkeypatch):
        """Cases 7 and later that have a row of the class 1 in front are wrong, as though the library erred there."""

        def difference(case):
            is_wrong = case.number >= 7 and case.codes[0] == 1
            return fuzz_checks.Compared("auc", 0.25, 0.5, is_right=False) if is_wrong else None

        monkeypatch.setattr(fuzz, "first_difference", difference)
        monkeypatch.setattr(fuzz, "first_finding", lambda *_: None)

    def run(self, monkeypatch, *arguments):
        monkeypatch.setattr(sys, "argv", ["fuzz.py", *map(str, arguments)])
        return fuzz.main()

    def test_runs_go_on_where_the_last_one_stopped(self, monkeypatch, tmp_path, capsys):
        state = tmp_path / "new" / "state.json"
        assert self.run(monkeypatch, "--cases", 3, "--seed", 4, "--state", state) == 0
        assert json.loads(state.read_text())["cases"] == 3
        assert self.run(monkeypatch, "--cases", 5, "--state", state) == 0
        kept = json.loads(state.read_text())
        assert (kept["seed"], kept["cases"]) == (4, 5)
        assert "seed 4: 5 cases without a difference" in capsys.readouterr().out
        assert self.run(monkeypatch, "--cases", 2, "--seed", 6, "--state", state) == 0
        assert json.loads(state.read_text())["cases"] == 2

    def test_no_time(self, monkeypatch, capsys):
        assert self.run(monkeypatch, "--seconds", 0) == 0
        assert "seed 0: 0 cases" in capsys.readouterr().out

    def test_a_difference_stops_the_run_with_the_least_that_shows_it(self, monkeypatch, tmp_path, capsys):
        state = tmp_path / "state.json"
        assert self.run(monkeypatch, "--state", state, "--seed", 4) == 1
        said = capsys.readouterr().out
        number = json.loads(state.read_text())["cases"]
        assert number >= 7
        assert f"python studies/fuzz.py --seed 4 --case {number}" in said
        assert "y_true = [1, " in said
        assert said.split("y_true = ")[1].split("]")[0].count(",") == 1
        assert "auc: found 0.25, expected 0.5" in said
        assert self.run(monkeypatch, "--seed", 4, "--case", number) == 1
        assert self.run(monkeypatch, "--seed", 4, "--case", 1) == 0


def test_every_entry_of_the_core_has_a_target():
    reached = {name for one in fuzz_targets.TARGETS.values() for name in one.reaches}
    entries = {name for name in dir(_rust) if not name.startswith("_")} - {"debug_build"}
    assert reached == entries


@pytest.mark.parametrize(
    "name",
    [
        *("states", "plans", "state_dicts", "checkpoints", "streams", "scores", "sparse", "curves", "families", "runs"),
        *("several_labels", "bands", "costs", "summary_roc", "row_sums"),
    ],
)
def test_targets_find_nothing(name):
    for number in range(30):
        assert fuzz_targets.first_finding(8, number, name) is None


def test_a_panic_is_a_finding(monkeypatch):
    class Panic(BaseException):
        pass

    def check(_rng):
        raise Panic("index out of bounds")
        yield

    monkeypatch.setitem(fuzz_targets.TARGETS, "bad", registry.Target("bad", check, ()))
    found = fuzz_targets.first_finding(3, 5, "bad")
    assert "Panic: index out of bounds" in str(found)
    assert "--seed 3 --case 5 --target bad" in str(found)


def test_errors_of_the_library_are_differences(monkeypatch):
    def fail(*_arguments, **_options):
        raise RuntimeError("no")

    monkeypatch.setattr("multiauc.hand_till_score", fail)
    assert "no" in fuzz_checks.first_difference(make_case(0, 2)).found


@pytest.mark.slow
def test_five_seconds_without_a_difference(tmp_path):
    """The whole command: `make fuzz` for a short time."""
    command = [
        sys.executable,
        STUDIES / "fuzz.py",
        "--seconds",
        "5",
        "--target",
        "none",
        "--state",
        tmp_path / "state.json",
    ]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "state.json").read_text())["cases"] > 50
