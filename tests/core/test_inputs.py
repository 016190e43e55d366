"""Every accepted form of labels and scores gives the number of the plainest form."""

import math

import numpy as np
import pytest

import multiauc
import plain_sample
from plain_sample import NAMES, all_scalars

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def codes():
    return plain_sample.codes


@pytest.fixture(scope="module")
def names():
    return plain_sample.names


@pytest.fixture(scope="module")
def scores():
    return plain_sample.scores


@pytest.fixture(scope="module")
def expected(codes, scores):
    return all_scalars(codes, scores)


def test_worked_example_in_exact_fractions():
    sixteenths = [
        (8, 4, 4), (5, 6, 5), (10, 4, 2), (6, 4, 6),
        (4, 8, 4), (7, 6, 3), (2, 10, 4), (4, 8, 4),
        (4, 4, 8), (8, 2, 6), (7, 3, 6), (2, 7, 7), (1, 2, 13),
    ]  # fmt: skip
    y_true, y_score = [0] * 4 + [1] * 4 + [2] * 5, np.array(sixteenths) / 16
    assert multiauc.auc_mu_score(y_true, y_score) == pytest.approx(73 / 80, abs=1e-15)
    assert multiauc.hand_till_score(y_true, y_score) == pytest.approx(883 / 960, abs=1e-15)
    assert multiauc.one_vs_rest_score(y_true, y_score) == pytest.approx(991 / 1080, abs=1e-15)
    prevalence = multiauc.one_vs_rest_score(y_true, y_score, average="prevalence")
    assert prevalence == pytest.approx(863 / 936, abs=1e-15)
    pairs = multiauc.auc_mu_matrix(y_true, y_score)
    assert [pairs.between(0, 1), pairs.between(0, 2), pairs.between(1, 2)] == [15 / 16, 4 / 5, 1.0]


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u8", "f2", "f4", "f8", ">f8", "g"]
)
def test_numeric_labels_of_any_dtype(codes, scores, expected, dtype):
    assert all_scalars(codes.astype(dtype), scores) == expected


@pytest.mark.parametrize("values", [[-5, -1, 0, 9], [10**6, 10**9, 10**12, 10**15], [-0.5, 0.0, 0.25, 1e300]])
def test_numbers_are_ordered_by_value(codes, scores, expected, values):
    assert all_scalars(np.array(values)[codes], scores) == expected


def test_integers_beyond_int64(codes, scores, expected):
    values = np.array([0, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)
    assert all_scalars(values[codes], scores) == expected
    assert all_scalars([2**70 + int(code) for code in codes], scores) == expected


STRING_FORMS = {
    "fixed width": lambda names: names,
    "other byte order": lambda names: names.astype(names.dtype.newbyteorder()),
    "every second": lambda names: np.repeat(names, 2)[::2],
    "backwards": lambda names: names[::-1].copy()[::-1],
    "object": lambda names: names.astype(object),
    "list": lambda names: names.tolist(),
    "tuple": lambda names: tuple(names.tolist()),
    "list of NumPy strings": list,
    "series": pd.Series,
    "series of objects": lambda names: pd.Series(names.astype(object), dtype=object),
    "series of strings": lambda names: pd.Series(names, dtype="string"),
    "series with another index": lambda names: pd.Series(names, index=range(len(names), 0, -1)),
    "categorical series": lambda names: pd.Series(names, dtype="category"),
    "categorical": pd.Categorical,
    "categorical index": pd.CategoricalIndex,
    "categorical in another order": lambda names: pd.Categorical(names, categories=["dog", "ant", "gnu", "cow", "bee"]),
}


@pytest.mark.parametrize("form", STRING_FORMS)
def test_strings_in_any_container(names, scores, expected, form):
    assert all_scalars(STRING_FORMS[form](names), scores) == expected


@pytest.mark.parametrize("form", STRING_FORMS)
def test_strings_in_any_container_with_labels_in_another_order(names, scores, expected, form):
    order = [2, 0, 3, 1]
    labels = [NAMES[k] for k in order]
    assert all_scalars(STRING_FORMS[form](names), scores[:, order], labels=labels) == expected


def test_byte_strings(names, scores, expected):
    assert all_scalars(names.astype("S"), scores) == expected
    assert list(multiauc.one_vs_rest_per_class(names.astype("S"), scores)) == [b"ant", b"bee", b"cow", b"dog"]


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_variable_width_strings(names, scores, expected):
    assert all_scalars(names.astype(np.dtypes.StringDType()), scores) == expected


@pytest.mark.parametrize("form", [pd.Series, list, pd.Index, lambda codes: pd.Series(codes, dtype="Int64")])
def test_integers_in_any_container(codes, scores, expected, form):
    assert all_scalars(form(codes), scores) == expected


def test_dates_as_labels(codes, scores, expected):
    days = np.array(["2024-01-01", "2024-01-02", "2024-03-01", "2025-01-01"], dtype="M8[ns]")
    assert all_scalars(days[codes], scores) == expected
    assert list(multiauc.one_vs_rest_per_class(days[codes], scores, labels=days)) == list(days)


def test_bools_are_the_classes_false_and_true(codes, scores):
    y_true = codes == 2
    assert list(multiauc.one_vs_rest_per_class(y_true, scores[:, :2])) == [False, True]
    assert all_scalars(y_true, scores[:, :2]) == all_scalars(y_true.astype(int), scores[:, :2])
    assert all_scalars(y_true, scores[:, :2], labels=[0, 1]) == all_scalars(y_true.astype(int), scores[:, :2])


def test_integers_match_equal_floats(codes, scores, expected):
    assert all_scalars(codes, scores, labels=[0.0, 1.0, 2.0, 3.0]) == expected
    assert all_scalars(codes.astype(float), scores, labels=np.arange(4)) == expected


def test_both_zeros_are_one_label(codes, scores, expected):
    y_true = codes.astype(float)
    y_true[np.flatnonzero(codes == 0)[::2]] = -0.0
    assert all_scalars(y_true, scores) == expected
    assert multiauc.auc_mu_matrix(y_true, scores).counts.tolist() == [10, 20, 15, 5]


def test_mixed_labels_keep_their_types(codes, scores, expected):
    mixed = [1, "1", 2.5, "bee"]
    y_true = [mixed[code] for code in codes]
    assert all_scalars(y_true, scores, labels=mixed) == expected


@pytest.mark.parametrize("n_classes", [255, 256, 257, 700])
@pytest.mark.parametrize("as_strings", [False, True])
def test_many_classes(n_classes, as_strings):
    rng = np.random.default_rng(n_classes)
    y_true = rng.permutation(np.repeat(np.arange(n_classes), 2))
    y_score = rng.random((len(y_true), n_classes))
    backwards = np.arange(n_classes)[::-1]
    per_class = multiauc.one_vs_rest_per_class(y_true, y_score)
    labels = np.array([f"{k:04}" for k in range(n_classes)]) if as_strings else np.arange(n_classes)
    turned = multiauc.one_vs_rest_per_class(labels[y_true], y_score[:, ::-1], labels=labels[backwards])
    assert list(turned) == labels[backwards].tolist()
    assert list(turned.values()) == list(per_class.values())[::-1]
    assert multiauc.one_vs_rest_per_class(labels[y_true].tolist(), y_score) == dict(
        zip(labels.tolist(), per_class.values(), strict=True)
    )


def test_few_rows_of_many_classes(codes, scores):
    wide = np.full((len(codes), 300), 0.5)
    wide[:, [0, 100, 200, 299]] = scores
    y_true = np.array([0, 100, 200, 299])[codes]
    pairs = multiauc.auc_mu_matrix(y_true, wide, labels=range(300), absent="ignore")
    few = multiauc.auc_mu_matrix(codes, scores)
    assert pairs.values[np.ix_([0, 100, 200, 299], [0, 100, 200, 299])] == pytest.approx(few.values, nan_ok=True, abs=0)
    assert pairs.counts[[0, 1, 299]].tolist() == [10, 0, 5]


# Which class each column is


def test_column_names_that_are_strings_are_the_labels(names, scores, expected):
    order = [3, 1, 0, 2]
    frame = pd.DataFrame(scores[:, order], columns=[NAMES[k] for k in order])
    assert all_scalars(names, frame) == expected
    assert list(multiauc.one_vs_rest_per_class(names, frame)) == ["dog", "bee", "ant", "cow"]


def test_names_that_contain_all_labels_are_the_labels(codes, scores, expected):
    frame = pd.DataFrame(scores[:, ::-1], columns=[3, 2, 1, 0])
    assert all_scalars(codes, frame) == expected


def test_other_names_are_not_the_labels(codes, scores, expected):
    frame = pd.DataFrame(scores, columns=[10, 11, 12, 13])
    assert all_scalars(codes, frame) == expected


def test_default_column_numbers_are_not_names(codes, scores, expected):
    assert all_scalars(codes + 1, pd.DataFrame(scores)) == expected
    with pytest.raises(ValueError, match="labels="):
        multiauc.auc_mu_score(codes[codes < 3], pd.DataFrame(scores[codes < 3]), absent="ignore")


def test_column_names_say_which_class_is_absent(names, scores):
    frame = pd.DataFrame(scores, columns=NAMES)
    kept = names != "dog"
    values = multiauc.one_vs_rest_per_class(names[kept], frame[kept], absent="nan")
    assert math.isnan(values["dog"])
    assert not math.isnan(values["cow"])


def test_labels_override_column_names(names, scores, expected):
    frame = pd.DataFrame(scores, columns=["p1", "p2", "p3", "p4"])
    assert all_scalars(names, frame, labels=NAMES) == expected


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.Index, pd.Series, dict.fromkeys, iter])
def test_labels_in_any_container(names, scores, expected, form):
    assert multiauc.auc_mu_score(names, scores, labels=form(NAMES)) == expected[0]


# Scores


def unaligned(scores):
    raw = np.zeros(scores.nbytes + 1, dtype=np.uint8)
    copy = raw[1:].view(scores.dtype).reshape(scores.shape)
    copy[...] = scores
    return copy


def between_other_fields(scores):
    records = np.zeros(scores.shape, dtype=[("flag", "u1"), ("score", "f8")])
    records["score"] = scores
    return records["score"]


LAYOUTS = {
    "columns first": np.asfortranarray,
    "every second row and column": lambda scores: np.repeat(np.repeat(scores, 2, axis=0), 2, axis=1)[::2, ::2],
    "both axes backwards": lambda scores: scores[::-1, ::-1].copy()[::-1, ::-1],
    "other byte order": lambda scores: scores.astype(scores.dtype.newbyteorder()),
    "unaligned": unaligned,
    "strides of nine bytes": between_other_fields,
    "list of lists": lambda scores: scores.tolist(),
    "list of arrays": list,
    "read-only": lambda scores: np.frombuffer(scores.tobytes()).reshape(scores.shape),
    "masked array without mask": np.ma.array,
    "frame": pd.DataFrame,
    "frame of nullable floats": lambda scores: pd.DataFrame(scores).astype("Float64"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_in_any_layout(codes, scores, expected, layout):
    y_score = LAYOUTS[layout](scores)
    assert all_scalars(codes, y_score) == expected
    assert multiauc.hand_till_matrix(codes, y_score).values == pytest.approx(
        multiauc.hand_till_matrix(codes, scores).values, nan_ok=True, abs=0
    )


@pytest.mark.parametrize("layout", ["columns first", "every second row and column", "unaligned", "other byte order"])
def test_float32_scores_in_any_layout(codes, scores, layout):
    single = scores.astype(np.float32)
    assert all_scalars(codes, LAYOUTS[layout](single)) == all_scalars(codes, single)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16])
def test_small_numbers_of_any_dtype(codes, scores, dtype):
    tenths = np.round(scores * 10)
    assert all_scalars(codes, tenths.astype(dtype)) == all_scalars(codes, tenths)


def test_bool_scores(codes, scores):
    votes = scores == scores.max(axis=1, keepdims=True)
    assert all_scalars(codes, votes) == all_scalars(codes, votes.astype(float))


def test_inputs_are_left_alone(codes, names, scores):
    weights = np.arange(len(codes), dtype=float)
    partition, pair_weights = 1 - np.eye(4), np.ones((4, 4))
    arrays = [names, scores, weights, partition, pair_weights]
    before = [array.tobytes() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    try:
        multiauc.auc_mu_score(
            names, scores, partition=partition, pair_weights=pair_weights, sample_weight=weights, labels=NAMES
        )
        multiauc.roc_curves(names, scores, sample_weight=weights)
    finally:
        for array in arrays:
            array.flags.writeable = True
    assert [array.tobytes() for array in arrays] == before


# Two classes with one score per row


@pytest.fixture(scope="module")
def binary(codes, scores):
    sixty_fourths = np.round(64 * (scores[:, 2] + scores[:, 3])) / 64  # so that 1 - score is exact, too
    return np.array(["no", "yes"])[(codes > 1).astype(int)], sixty_fourths


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_one_score_is_that_of_the_second_class(binary, shape):
    y_true, score = binary
    both = np.stack([1 - score, score], axis=1)
    expected = multiauc.auc_mu_score(y_true, both)
    positive, negative = score[y_true == "yes"][:, None], score[y_true == "no"]
    assert expected == pytest.approx(np.mean((positive > negative) + (positive == negative) / 2), abs=1e-15)
    y_score = score.reshape(shape)
    assert all_scalars(y_true, y_score) == [expected] * 3
    assert multiauc.one_vs_rest_per_class(y_true, y_score) == {"no": expected, "yes": expected}
    for matrix in (multiauc.auc_mu_matrix, multiauc.hand_till_matrix):
        assert matrix(y_true, y_score).between("no", "yes") == expected
        assert matrix(y_true, y_score).between("yes", "no") == expected
    for curve in multiauc.roc_curves(y_true, y_score).values():
        assert curve.auc == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("average", ["macro", "prevalence", "prevalence_equal_rest", "micro"])
def test_every_average_of_one_score_is_its_auc(binary, average):
    y_true, score = binary
    assert multiauc.one_vs_rest_score(y_true, score, average=average) == multiauc.auc_mu_score(y_true, score)


def test_one_score_with_the_labels_exchanged(binary):
    y_true, score = binary
    value = multiauc.auc_mu_score(y_true, score)
    assert multiauc.auc_mu_score(y_true, score, labels=["yes", "no"]) == pytest.approx(1 - value, abs=1e-15)


@pytest.mark.parametrize("layout", [lambda s: s[::-1].copy()[::-1], lambda s: np.repeat(s, 3)[::3], list, pd.Series])
def test_one_score_in_any_layout(binary, layout):
    y_true, score = binary
    assert multiauc.auc_mu_score(y_true, layout(score)) == multiauc.auc_mu_score(y_true, score)


@pytest.mark.parametrize("partition", [[[0, 3], [1, 0]], [[0, 1], [5, 0]], [[2, 0], [0, 1]], [[1, 1], [2, 2]]])
def test_one_score_under_a_partition_is_that_of_both_columns(binary, partition):
    y_true, score = binary
    both = np.stack([1 - score, score], axis=1)
    expected = multiauc.auc_mu_score(y_true, both, partition=partition)
    assert multiauc.auc_mu_score(y_true, score, partition=partition) == expected
    assert multiauc.auc_mu_matrix(y_true, score, partition=partition).between("no", "yes") == expected
