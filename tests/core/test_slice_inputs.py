"""What slices can be made of, slices that are listed without a value, and what the result can do."""

import json
import math
import pickle

import numpy as np
import pytest

import multiauc
from slice_data import sample

pd = pytest.importorskip("pandas")


class TestReasons:
    y_true = np.array([*"aabbcc" * 10, *"aabb", *"aa", *"abbcc"])
    by = np.array(["full"] * 60 + ["gap"] * 4 + ["one class"] * 2 + ["one row"] * 5)

    @pytest.fixture
    def y_score(self, rng):
        return rng.random((71, 3)) + 0.5 * (self.y_true[:, None] == ["a", "b", "c"])

    def test_without_classes(self, y_score):
        slices = multiauc.evaluate_slices(self.y_true, y_score, self.by)
        assert len(slices) == 4
        assert slices["gap"].reason == "no rows of 'c'"
        assert slices["one class"].reason == "rows of 'a' only"
        assert slices["one row"].reason == "a single row of 'a': no standard error"
        assert slices["full"].reason == ""
        assert math.isnan(slices["gap"].value)
        assert not math.isnan(slices["one row"].value)
        assert all(name in repr(slices) for name in ("gap", "one class", "one row"))
        assert "3 not compared" in slices.summary()
        assert list(slices.to_frame()["reason"]) == list(slices.reasons)

    def test_ignoring_them(self, y_score):
        slices = multiauc.evaluate_slices(self.y_true, y_score, self.by, absent="ignore")
        rows = self.by == "gap"
        expected = multiauc.evaluate(self.y_true[rows], y_score[rows], labels=["a", "b", "c"], absent="ignore").auc_mu
        assert (slices["gap"].value, slices["gap"].standard_error) == (expected.value, expected.standard_error)
        assert "not compared" in slices["gap"].reason
        assert math.isnan(slices["gap"].difference)
        assert slices["one class"].reason == "rows of 'a' only"

    def test_absent_from_all(self, y_score):
        options = {"labels": ["a", "b", "c"]}
        rows = self.y_true != "c"
        with pytest.raises(ValueError, match="no rows of 1 class: 'c'"):
            multiauc.evaluate_slices(self.y_true[rows], y_score[rows], self.by[rows], **options)
        slices = multiauc.evaluate_slices(self.y_true[rows], y_score[rows], self.by[rows], absent="nan", **options)
        assert np.isnan(slices.values).all()
        assert math.isnan(slices.overall.value)
        assert set(slices.reasons) == {"no rows of 'c' in any slice"}
        left = multiauc.evaluate_slices(self.y_true[rows], y_score[rows], self.by[rows], absent="ignore", **options)
        assert left["gap"].reason == ""
        assert not math.isnan(left["gap"].p_value)

    def test_all_rows_of_a_class_in_one_slice(self, rng):
        y_true, y_score = sample(rng, 300)
        by = np.where(y_true == 2, 0, np.arange(300) % 3)
        slices = multiauc.evaluate_slices(y_true, y_score, by)
        assert slices[0].reason == "all rows of 2 are in this slice: there is no rest to compare it with"
        assert not math.isnan(slices[0].value)
        only = multiauc.evaluate_slices(y_true, y_score, np.zeros(300))
        assert only[0].reason == "all rows are in this slice: there is no rest to compare it with"

    def test_many_slices(self, y_score):
        by, weights = np.arange(71) // 3, np.arange(71) % 5
        found = multiauc.evaluate_slices(self.y_true, y_score, by, sample_weight=weights)
        assert len(set(found.reasons)) == 4
        for one in found:
            having = set(np.asarray(self.y_true)[(by == one.name) & (weights > 0)].tolist())
            lacking = [label for label in np.unique(self.y_true).tolist() if label not in having]
            expected = f"rows of {having.pop()!r} only" if len(having) == 1 else f"no rows of {lacking}"[:11]
            assert one.reason.startswith(expected)

    def test_weights_of_zero(self, y_score):
        weights = np.where(self.by == "gap", 0.0, 1.0)
        slices = multiauc.evaluate_slices(self.y_true, y_score, self.by, sample_weight=weights)
        assert (slices["gap"].rows, slices["gap"].reason) == (0, "no rows of positive weight")

    def test_single_groups(self, y_score):
        groups = np.where(self.by == "full", np.arange(71), 100)
        slices = multiauc.evaluate_slices(self.y_true, y_score, self.by, groups=groups)
        assert "no standard error" in slices["one row"].reason


class TestBy:
    @pytest.fixture
    def data(self, rng):
        return sample(rng, 400)

    def names(self, data, by):
        return set(multiauc.evaluate_slices(*data, by).names)

    def test_labels_of_any_kind(self, data):
        words = np.array(["x", "y"])[np.arange(400) % 2]
        assert self.names(data, words) == self.names(data, list(words)) == {"x", "y"}
        assert self.names(data, np.arange(400) % 3) == {0, 1, 2}
        assert self.names(data, [(k % 2, "z") for k in range(400)]) == {(0, "z"), (1, "z")}
        assert self.names(data, [k % 2 == 0 for k in range(400)]) == {True, False}
        assert self.names(data, [frozenset({k % 2}) for k in range(400)]) == {frozenset({0}), frozenset({1})}
        days = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")[np.arange(400) % 2]
        assert self.names(data, days) == set(days)
        category = pd.Categorical.from_codes(np.arange(400) % 2, ["low", "high", "never"])
        assert self.names(data, category) == self.names(data, pd.Series(category)) == {"low", "high"}

    def test_missing_values_are_a_slice(self, data):
        numbers = np.where(np.arange(400) % 3 == 0, np.nan, 1.0)
        mixed = [[None, math.nan, "x"][k % 3] for k in range(400)]
        category = pd.Categorical.from_codes(np.arange(400) % 2 - 1, ["low"])
        times = np.array(["NaT", "2024-01-02"], dtype="datetime64[D]")[np.arange(400) % 2]
        nullable = pd.Series([1, None] * 200, dtype="Int64")
        text = pd.Series(["a", None] * 200, dtype="string")
        for by in (numbers, mixed, category, times, nullable, text):
            slices = multiauc.evaluate_slices(*data, by)
            assert len(slices) == 2
            assert None in slices.names
            assert "(missing)" in repr(slices)
            assert slices[None].rows == int(pd.isna(pd.Series(by)).sum())
        assert multiauc.evaluate_slices(*data, mixed)[None].rows == 267

    def test_columns_cross(self, data):
        first, second = np.arange(400) % 2, np.array(["x", None], dtype=object)[np.arange(400) // 2 % 2]
        frame = pd.DataFrame({"site": first, "value": second})
        expected = {(0, "x"), (1, "x"), (0, None), (1, None)}
        found = multiauc.evaluate_slices(*data, frame)
        assert set(found.names) == expected
        assert found.columns == ("site", "value")
        assert list(found.to_frame().columns[:3]) == ["site", "by_value", "rows"]
        assert found[1, None].rows == 100
        for by in ([first, second], {"a": first, "b": list(second)}, np.stack([first, second], axis=1)):
            assert self.names(data, by) == expected
        assert self.names(data, [first]) == {0, 1}
        assert "1, (missing)" in repr(found)

    def test_other_frames(self, data):
        pl = pytest.importorskip("polars")
        pa = pytest.importorskip("pyarrow")
        columns = {"site": ["a", "b"] * 200, "day": [1, 2, 2, 1] * 100}
        for frame in (pl.DataFrame(columns), pa.table(columns)):
            found = multiauc.evaluate_slices(*data, frame)
            assert set(found.names) == {("a", 1), ("b", 2), ("a", 2), ("b", 1)}
        assert self.names(data, pl.Series(["a", None] * 200)) == {"a", None}
        assert multiauc.evaluate_slices(*data, pd.Series(columns["site"], name="town")).columns == ("town",)

    @pytest.mark.parametrize(
        ("by", "message"),
        [
            ("site", "by must have a label of its slice for each of 400 rows"),
            (None, "by must have a label of its slice"),
            (3, "by must have a label of its slice"),
            ([1, 2, 3], "by must have one label per row, 400 rows; got 3 labels"),
            ({"a": [1] * 400, "b": [1] * 399}, r"by\['b'\] must have one label per row, 400 rows; got 399 labels"),
            ({}, "by must name at least one column"),
            ([{}] * 400, "hashable"),
            (np.zeros((400, 2, 2)), "by must have one label per row, 400 rows; got shape"),
        ],
    )
    def test_errors(self, data, by, message):
        with pytest.raises((ValueError, TypeError), match=message):
            multiauc.evaluate_slices(*data, by)

    def test_other_errors(self, data):
        by = np.arange(400) % 2
        with pytest.raises(ValueError, match="reference must be one of 'rest', 'all'; got 'others'"):
            multiauc.evaluate_slices(*data, by, reference="others")
        with pytest.raises(ValueError, match=r"metric must be one of .* got 'multiclass_roc'"):
            multiauc.evaluate_slices(*data, by, metric="multiclass_roc")
        with pytest.raises(ValueError, match="partition has no meaning for metric='pdi'"):
            multiauc.evaluate_slices(*data, by, metric="pdi", partition=1 - np.eye(3))
        with pytest.raises(TypeError, match=r"unexpected keyword argument 'weights'; .*sample_weight"):
            multiauc.evaluate_slices(*data, by, weights=by)
        with pytest.raises(KeyError, match="no slice 7; there are"):
            multiauc.evaluate_slices(*data, by)[7]


class TestResult:
    @pytest.fixture
    def slices(self, rng):
        y_true, y_score = sample(rng, 3000)
        return multiauc.evaluate_slices(y_true, y_score, rng.integers(30, size=3000))

    def test_frame(self, slices):
        frame = slices.to_frame(level=0.9)
        assert len(frame) == len(slices) == 30
        assert tuple(frame["slice"]) == slices.names
        assert frame["low"].iloc[3] == slices.confidence_intervals(0.9)[slices.names[3]].low
        assert frame["simultaneous_high"].iloc[3] == slices.simultaneous_intervals(0.9)[slices.names[3]].high

    def test_json(self, slices):
        found = json.loads(slices.to_json())
        assert (found["kind"], found["by"], len(found["slices"])) == ("slices", ["slice"], 30)
        assert found["slices"][0]["slice"] == {"slice": slices.names[0]}
        assert found["provenance"]["options"]["metric"] == "auc_mu"

    def test_pickle_and_equality(self, slices):
        again = pickle.loads(pickle.dumps(slices))
        assert again == slices
        assert repr(again) == repr(slices)
        with pytest.raises(ValueError, match="read-only"):
            again.p_values[0] = 0.0

    def test_repr(self, slices):
        lines = repr(slices).splitlines()
        assert lines[0].startswith("AUC_mu of 3000 rows by slice: ")
        assert len([line for line in lines if " to " in line]) == 16
        assert "14 slices are not printed; to_frame() lists them all." in lines
        assert slices._repr_html_().count("<tr>") == 18

    def test_threads_and_order_of_rows(self, rng):
        y_true, y_score = sample(rng, 2000)
        by, groups = rng.integers(40, size=2000), rng.integers(300, size=2000)
        first = multiauc.evaluate_slices(y_true, y_score, by, groups=groups)
        try:
            multiauc.set_num_threads(1)
            assert multiauc.evaluate_slices(y_true, y_score, by, groups=groups) == first
        finally:
            multiauc.set_num_threads(0)
        order = rng.permutation(2000)
        other = multiauc.evaluate_slices(y_true[order], y_score[order], by[order], groups=groups[order])
        assert other.names == first.names
        assert other.values.tobytes() == first.values.tobytes()
        assert other.reference_values.tobytes() == first.reference_values.tobytes()
        assert other.p_values == pytest.approx(first.p_values, rel=1e-6)
