"""The objects that the functions return."""

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest

import multiauc

Y_TRUE = ["a", "a", "b", "b", "c", "c"]
Y_SCORE = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]


@pytest.fixture
def pairs():
    return multiauc.auc_mu_matrix(Y_TRUE, Y_SCORE)


@pytest.fixture
def directed():
    return multiauc.hand_till_matrix(Y_TRUE, Y_SCORE)


@pytest.fixture
def curve():
    return multiauc.roc_curves(Y_TRUE, Y_SCORE)["a"]


def wide_matrix(n_classes, labels=None):
    values = np.arange(n_classes**2, dtype=float).reshape(n_classes, n_classes) / n_classes**2
    np.fill_diagonal(values, np.nan)
    labels = tuple(labels or range(n_classes))
    return multiauc.PairMatrix(values, labels, np.full(n_classes, 7), "hand_till")


def test_attributes_of_a_pair_matrix(pairs, directed):
    assert (pairs.kind, directed.kind) == ("auc_mu", "hand_till")
    assert pairs.labels == directed.labels == ("a", "b", "c")
    assert pairs.counts.tolist() == directed.counts.tolist() == [2, 2, 2]
    assert pairs.values[~np.eye(3, dtype=bool)].tolist() == [0.75, 1, 0.75, 1, 1, 1]
    assert np.isnan(pairs.values.diagonal()).all()
    assert directed.between("a", "b") == 0.75
    assert directed.between("b", "a") == 0.75


def test_results_are_frozen(pairs, curve):
    with pytest.raises(dataclasses.FrozenInstanceError):
        pairs.values = np.zeros((3, 3))
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.fpr = np.zeros(2)
    for array in (pairs.values, pairs.counts, curve.fpr, curve.tpr, curve.thresholds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_results_do_not_unpack(pairs, curve):
    for result in (pairs, curve):
        with pytest.raises(TypeError, match="not iterable"):
            iter(result)


@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_results_can_be_copied_and_pickled(pairs, curve, through):
    again = through(pairs)
    assert repr(again) == repr(pairs)
    assert (again.labels, again.counts.tolist(), again.kind) == (pairs.labels, pairs.counts.tolist(), pairs.kind)
    assert not again.values.flags.writeable
    again = through(curve)
    assert (again.positive, again.negative, again.auc) == (curve.positive, curve.negative, curve.auc)
    assert not again.fpr.flags.writeable


def test_worst_pairs_of_a_symmetric_matrix_come_once(pairs):
    assert pairs.worst() == [("a", "b", 0.75), ("a", "c", 1.0), ("b", "c", 1.0)]
    assert pairs.worst(1) == [("a", "b", 0.75)]
    assert pairs.worst(0) == []


def test_worst_pairs_by_hand_till_come_in_both_directions(directed):
    worst = directed.worst(6)
    assert len(worst) == 6
    assert [value for *_, value in worst] == sorted(value for *_, value in worst)
    assert {(c, d) for c, d, _ in worst} == {(c, d) for c in "abc" for d in "abc" if c != d}
    assert all(directed.between(c, d) == value for c, d, value in worst)


def test_worst_pairs_leave_out_absent_classes():
    pairs = multiauc.auc_mu_matrix(Y_TRUE[:4], Y_SCORE[:4], labels=["a", "b", "c"], absent="ignore")
    assert pairs.worst() == [("a", "b", 0.75)]


def test_values_by_label(pairs):
    assert pairs.between("a", "b") == pairs.between("b", "a") == 0.75
    assert math.isnan(pairs.between("a", "a"))
    with pytest.raises(ValueError, match=r"no class 'x' in this matrix; its labels are 'a', 'b', 'c'"):
        pairs.between("a", "x")


def test_a_pair_matrix_prints_as_a_table(pairs):
    assert repr(pairs).splitlines() == [
        "PairMatrix: auc_mu of 3 classes",
        "        a       b       c",
        "a       -  0.7500  1.0000",
        "b  0.7500       -  1.0000",
        "c  1.0000  1.0000       -",
    ]


def test_a_table_of_ten_classes_is_complete():
    lines = repr(wide_matrix(10)).splitlines()
    assert lines[1].split() == [str(k) for k in range(10)]
    assert len(lines) == 12


@pytest.mark.parametrize("n_classes", [11, 300])
def test_a_wide_table_prints_without_its_middle(n_classes):
    lines = repr(wide_matrix(n_classes)).splitlines()
    last = [str(k) for k in range(n_classes - 4, n_classes)]
    assert lines[0] == f"PairMatrix: hand_till of {n_classes} classes"
    assert lines[1].split() == ["0", "1", "2", "3", "...", *last]
    assert [line.split()[0] for line in lines[2:]] == ["0", "1", "2", "3", "...", *last]
    assert wide_matrix(n_classes)._repr_html_().count("<tr>") == 10


def test_long_labels_are_cut_in_print():
    table = repr(wide_matrix(2, ["x" * 50, "y"]))
    assert "xxxxxxxxxxx..." in table
    assert "x" * 12 not in table


def test_labels_are_escaped_in_html():
    html = wide_matrix(2, ["<script>", "a & b"])._repr_html_()
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") == 2
    assert html.count("a &amp; b") == 2


def test_curves_start_and_end_in_the_corners():
    for kind in ("one_vs_rest", "pairwise"):
        for curve in multiauc.roc_curves(Y_TRUE, Y_SCORE, kind=kind).values():
            assert (curve.fpr[0], curve.tpr[0], curve.thresholds[0]) == (0, 0, math.inf)
            assert (curve.fpr[-1], curve.tpr[-1]) == (1, 1)
            assert (np.diff(curve.thresholds) < 0).all()


def test_areas_under_the_curves_are_the_scores():
    per_class = multiauc.one_vs_rest_per_class(Y_TRUE, Y_SCORE)
    by_pair = multiauc.hand_till_matrix(Y_TRUE, Y_SCORE)
    for drop in (True, False):
        curves = multiauc.roc_curves(Y_TRUE, Y_SCORE, drop_intermediate=drop)
        assert {label: curve.auc for label, curve in curves.items()} == pytest.approx(per_class, abs=1e-15)
        pairs = multiauc.roc_curves(Y_TRUE, Y_SCORE, kind="pairwise", drop_intermediate=drop)
        assert len(pairs) == 6
        for (c, d), curve in pairs.items():
            assert curve.auc == pytest.approx(by_pair.between(c, d), abs=1e-15)
            assert (curve.positive, curve.negative) == (c, d)


def test_a_curve_prints_its_classes(curve):
    assert repr(curve).startswith("RocCurve('a' against the rest: ")
    pair = multiauc.roc_curves(Y_TRUE, Y_SCORE, kind="pairwise")["a", "b"]
    assert repr(pair).startswith("RocCurve('a' against 'b': ")
    assert repr(pair).endswith("auc 0.7500)")
