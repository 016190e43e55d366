"""What the columns of scores are: `outputs="logits"`, and what results say of scores that are not probabilities."""

import inspect
import json
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse, special

import multiauc
from command_line import run_command
from multiauc._input.probabilities import _make_monotone, as_outputs, softmax
from multiauc.streaming import Accumulator
from multiauc.training import ArrayMulticlassAuc as MulticlassAuc


@pytest.fixture
def logits(rng):
    """(y_true, logits whose rows have offsets, so that logits and probabilities rank rows differently)"""
    y = rng.integers(3, size=150)
    return y, 2.0 * np.eye(3)[y] + rng.normal(size=(150, 3)) + 3.0 * rng.normal(size=(150, 1))


class TestSoftmax:
    def test_it_is_that_of_scipy(self, rng):
        for dtype, relative in ((np.float64, 1e-14), (np.float32, 1e-7)):
            z = (20 * rng.normal(size=(500, 7))).astype(dtype)
            found = softmax(z)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, special.softmax(z.astype(np.float64), axis=1), rtol=relative, atol=1e-38)

    def test_order_within_a_row_is_kept(self, rng):
        """Neighbouring doubles, where exp may err in its last bit, equal ones, and logits that underflow."""
        base = rng.normal(size=(4000, 1)) * 10.0 ** rng.integers(-3, 3, size=(4000, 1))
        steps = np.sort(rng.integers(-4, 5, size=(4000, 12)), axis=1)
        z = base + steps * np.spacing(base)
        z[:, -1] -= 800.0 * (rng.random(4000) < 0.5)
        for values in (z, z.astype(np.float32)):
            shuffled = rng.permuted(values, axis=1)
            p = softmax(shuffled)
            order = np.argsort(shuffled, axis=1)
            risen = np.diff(np.take_along_axis(p, order, axis=1), axis=1)
            same = np.diff(np.take_along_axis(shuffled, order, axis=1), axis=1) == 0
            assert (risen >= 0).all()
            assert (risen[same] == 0).all()

    def test_a_power_that_falls_is_repaired(self):
        z = np.array([[0.3, 0.1, 0.2, 0.2, -1.0]])
        found = _make_monotone(z[0], np.array([0.9, 0.81, 0.8, 0.7, 0.1]))
        assert found.tolist() == [0.9, 0.81, 0.81, 0.81, 0.1]

    def test_extremes_neither_overflow_nor_warn(self):
        largest = np.finfo(np.float64).max
        assert softmax(np.array([[largest, -largest, 0.0]])).tolist() == [[1.0, 0.0, 0.0]]
        assert softmax(np.array([[1e5, 1e5]], dtype=np.float32)).tolist() == [[0.5, 0.5]]

    def test_blocks_make_no_difference(self, rng, monkeypatch):
        z = rng.normal(size=(1000, 3))
        whole = softmax(z)
        monkeypatch.setattr("multiauc._input.probabilities.SCORES_AT_ONCE", 10)
        assert np.array_equal(softmax(z), whole)

    def test_one_score_of_two_classes(self, rng):
        s = 5 * rng.normal(size=200)
        found = as_outputs("y_score", s[:, None], "logits")
        np.testing.assert_allclose(found[:, 0], softmax(np.c_[np.zeros(200), s])[:, 1], rtol=1e-15)


SCORES = ["auc_mu_score", "hand_till_score", "one_vs_rest_score", "pdi_score", "hum_score", "landgrebe_duin_score"]
SCORES += ["matthews_score", "kappa_score", "h_measure_score", "one_vs_rest_per_class"]


class TestEveryFunction:
    def test_whatever_takes_scores_takes_outputs(self):
        wanted = {"y_score", "scores_a"}
        found = [
            name
            for name in multiauc.__all__
            if inspect.isfunction(getattr(multiauc, name)) and wanted & set(_parameters(getattr(multiauc, name)))
        ]
        assert len(found) > 15
        lacking = [name for name in [*found, "compare"] if "outputs" not in _parameters(getattr(multiauc, name))]
        assert lacking == []

    @pytest.mark.parametrize("name", SCORES)
    def test_values_are_those_of_the_softmax(self, logits, name):
        y, z = logits
        score = getattr(multiauc, name)
        assert score(y, z, outputs="logits") == score(y, softmax(z))

    @pytest.mark.parametrize("name", ["auc_mu_matrix", "hand_till_matrix"])
    def test_matrices(self, logits, name):
        y, z = logits
        matrix = getattr(multiauc, name)
        found, expected = matrix(y, z, outputs="logits"), matrix(y, softmax(z))
        assert np.array_equal(found.values, expected.values, equal_nan=True)
        assert np.array_equal(found.standard_error, expected.standard_error, equal_nan=True)

    def test_logits_and_probabilities_differ(self, logits):
        y, z = logits
        assert multiauc.hand_till_score(y, z) < multiauc.hand_till_score(y, z, outputs="logits") - 0.05

    def test_results(self, logits):
        y, z = logits
        p = softmax(z)
        found = multiauc.evaluate(y, z, outputs="logits")
        assert found.to_dict()["metrics"] == multiauc.evaluate(y, p).to_dict()["metrics"]
        assert found.to_dict()["provenance"]["options"]["outputs"] == "logits"
        models, probabilities = {"a": z, "b": z[:, ::-1] * 2}, {"a": p, "b": softmax(z[:, ::-1] * 2)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", multiauc.ColumnOrderWarning)
            compared = multiauc.compare(y, models, outputs="logits").to_dict()
            assert compared["differences"] == multiauc.compare(y, probabilities).to_dict()["differences"]
        by = np.arange(150) % 2
        slices = multiauc.evaluate_slices(y, z, by, outputs="logits")
        assert slices.to_dict()["slices"] == multiauc.evaluate_slices(y, p, by).to_dict()["slices"]
        assert multiauc.multiclass_roc(y, z, outputs="logits").auc == multiauc.multiclass_roc(y, p).auc
        curves, expected = multiauc.roc_curves(y, z, outputs="logits"), multiauc.roc_curves(y, p)
        assert all(np.array_equal(curves[k].thresholds, expected[k].thresholds) for k in range(3))
        ferri = [multiauc.ferri_vus_score(y, s, rng=0, **o) for s, o in ((z, {"outputs": "logits"}), (p, {}))]
        assert ferri[0] == ferri[1]
        assert multiauc.pdi(y, z, outputs="logits").value == multiauc.pdi(y, p).value

    def test_decisions(self, logits):
        y, z = logits
        p, costs = softmax(z), 1.0 - np.eye(3)
        rule, expected = multiauc.fit_decisions(y, z, costs, outputs="logits"), multiauc.fit_decisions(y, p, costs)
        assert np.array_equal(rule.offsets, expected.offsets)
        assert np.array_equal(rule.decide(z, outputs="logits"), rule.decide(p))
        assert rule.expected_cost(y, z, outputs="logits") == rule.expected_cost(y, p)
        with pytest.raises(ValueError, match="outputs='logits'"):
            rule.decide(z)

    def test_streams(self, logits):
        y, z = logits
        state = Accumulator(range(3), outputs="logits")
        for rows in (slice(0, 70), slice(70, None)):
            state.update(y[rows], z[rows])
        again = Accumulator.from_bytes(state.to_bytes())
        assert again.outputs == "logits"
        assert again.evaluate().auc_mu.value == multiauc.auc_mu_score(y, softmax(z))
        with pytest.raises(ValueError, match="outputs"):
            state.merge(Accumulator(range(3)))

    def test_files(self, logits, tmp_path):
        y, z = logits
        table = pa.table({"y": y.astype(str)} | {f"p_{k}": z[:, k] for k in range(3)})
        parquet.write_table(table, tmp_path / "z.parquet")
        found = multiauc.evaluate_dataset(tmp_path / "z.parquet", label="y", outputs="logits")
        assert found.hand_till.value == multiauc.hand_till_score(y, softmax(z))

    def test_training_metrics(self, logits):
        y, z = logits
        for outputs, expected in (
            (None, multiauc.auc_mu_score(y, z)),
            ("logits", multiauc.auc_mu_score(y, softmax(z))),
        ):
            metric = MulticlassAuc(3, outputs=outputs)
            metric.update(z, y)
            assert metric.compute() == expected

    def test_what_is_refused(self, logits):
        y, z = logits
        with pytest.raises(ValueError, match=r"outputs must be None .* 'logits'; got 'probabilities'"):
            multiauc.auc_mu_score(y, z, outputs="probabilities")
        with pytest.raises(TypeError, match="outputs must be None or 'logits'"):
            multiauc.evaluate(y, z, outputs=True)
        with pytest.raises(ValueError, match=r"outputs='logits' .* sparse y_score.*toarray"):
            multiauc.hand_till_score(y, sparse.csr_array(z), outputs="logits")
        z[7, 1] = np.inf
        with pytest.raises(ValueError, match=r"y_score .* inf at row 7, column 1"):
            multiauc.hum_score(y, z, outputs="logits")


class TestNotes:
    def test_scores_that_are_not_probabilities(self, logits):
        y, z = logits
        result = multiauc.evaluate(y, z)
        (note,) = result.notes
        assert "outputs='logits'" in note
        assert note in repr(result)
        assert "not probabilities" in result._repr_html_()
        assert json.loads(result.to_json())["notes"] == [note]
        assert multiauc.evaluate(y, softmax(z)).notes == ()
        assert multiauc.evaluate(y, softmax(z).astype(np.float32)).notes == ()
        assert multiauc.evaluate(y, z, outputs="logits").notes == ()

    def test_rows_all_over_the_data_are_looked_at(self, rng):
        y = np.arange(50_000) % 3
        p = softmax(rng.normal(size=(50_000, 3)))
        p[40_000:] *= 2
        assert multiauc.evaluate(y, p, metrics=["one_vs_rest"]).notes

    def test_one_score_may_be_anything(self, rng):
        y = rng.integers(2, size=100)
        s = y + rng.normal(size=100)
        assert multiauc.evaluate(y, s).notes == ()
        assert multiauc.compare(y, {"logit": s, "probability": special.expit(s)}).notes == ()

    def test_models_of_different_kinds(self, logits):
        y, z = logits
        models = {"softmax": softmax(z), "logits": z, "other": z + 0.1}
        with pytest.warns(UserWarning, match="'softmax' are probabilities.* 'logits', 'other' are not"):
            comparison = multiauc.compare(y, models)
        assert len(comparison.notes) == 1
        assert comparison.notes[0] in repr(comparison)

    def test_models_of_one_kind(self, logits):
        y, z = logits
        (note,) = multiauc.compare(y, {"a": z, "b": 2 * z}).notes
        assert "outputs='logits'" in note
        assert multiauc.compare(y, {"a": softmax(z), "b": softmax(2 * z)}).notes == ()

    def test_reports(self, logits, tmp_path):
        y, z = logits
        page = multiauc.evaluate(y, z).report(tmp_path / "page.html", n_resamples=0).read_text()
        assert "scores are not probabilities" in page


class TestCommandLine:
    @pytest.fixture
    def files(self, logits, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        y, z = logits
        for name, scores in (("logits", z), ("softmax", softmax(z))):
            columns = {f"p_{k}": scores[:, k] for k in range(3)}
            parquet.write_table(pa.table({"y": y.astype(str)} | columns), f"{name}.parquet")
        return y, z

    @pytest.mark.parametrize("more", [[], ["--memory-limit", "512MB"]])
    def test_outputs(self, files, run_cli, more):
        y, z = files
        found = json.loads(run_cli("evaluate", "logits.parquet", "-l", "y", "--outputs", "logits", "-f", "json", *more))
        assert found["metrics"]["hand_till"]["value"] == multiauc.hand_till_score(y, softmax(z))
        assert found["provenance"]["options"]["outputs"] == "logits"

    @pytest.mark.usefixtures("files")
    def test_the_note(self, run_cli):
        for style in ("table", "markdown", "json"):
            text = " ".join(run_cli("evaluate", "logits.parquet", "-l", "y", "-f", style).split())
            assert "not probabilities" in text
            assert "--outputs logits" in text
            assert "outputs='logits'" not in text

    @pytest.mark.usefixtures("files")
    def test_a_comparison_with_itself(self, run_cli):
        text = run_cli("compare", "logits.parquet", "softmax.parquet", "-l", "y")
        assert "models differ in the scale of their scores" in " ".join(text.split())

    @pytest.mark.usefixtures("files")
    def test_other_commands(self, run_cli, tmp_path):
        (tmp_path / "costs.csv").write_text("p,0,1,2\n0,0,1,1\n1,1,0,1\n2,1,1,0\n")
        for command in (["roc"], ["decide", "--costs", "costs.csv"]):
            name, *options = command
            found = [
                json.loads(run_cli(name, f"{file}.parquet", "-l", "y", "-f", "json", *options, *more))
                for file, more in (("logits", ["--outputs", "logits"]), ("softmax", []))
            ]
            for one in found:
                del one["provenance"], one["model"]
            assert found[0] == found[1]

    @pytest.fixture
    def run_cli(self, capsys):
        def call(*words):
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                assert run_command(words) == 0, capsys.readouterr().err
            return capsys.readouterr().out

        return call


def test_integers_beyond_what_a_double_holds():
    y, large = [0, 1, 0, 1], 2**53
    assert multiauc.auc_mu_score(y, [0, large, 1, large - 1]) == 1.0
    columns = [[1, large + 1], [large + 1, 1], [2, large + 3], [5, 4]]
    for scores in (columns, np.array(columns), np.array(columns, dtype=np.uint64), -np.array(columns)):
        with pytest.raises(ValueError, match=r"y_score .* 2\^53"):
            multiauc.hand_till_score(y, scores)
    with pytest.raises(ValueError, match=r"y_score .* 2\^53"):
        multiauc.auc_mu_score(y, [0.5, large + 1, 0.25, large + 2])
    with pytest.raises(ValueError, match=r"y_score .* 2\^53"):
        multiauc.auc_mu_score(y, pd.DataFrame({"a": [0.5, 1, 2, 3], "b": pd.array([1, -(2**60), 3, 4], dtype="Int64")}))
    assert multiauc.auc_mu_score(y, [0.5, 1e300, 0.25, 1e299]) == 1.0
    with pytest.raises(ValueError, match=r"y_score .* 2\^53"):
        multiauc.auc_mu_score(y, pa.array([1, large + 1, None, 2]))


def _parameters(function):
    return inspect.signature(function).parameters
