"""Variances, covariances and components against all pairs of rows, the jackknife, and DeLong."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc
from oracle_uncertainty import METRICS, Problem, delong
from strategies import Sample, make_sample, mixed_denominators, samples, smooth, softmax, votes, with_weights

KINDS = (None, "size_product", "size_sum", "matrix")


@st.composite
def sizes(draw: st.DrawFn) -> list[int]:
    """Two to six classes of at least two rows."""
    return draw(st.lists(st.integers(2, 14), min_size=2, max_size=6))


def pair_weights_of(kind: str | None, sample: Sample) -> np.ndarray | str | None:
    if kind != "matrix":
        return kind
    w = np.random.default_rng(sample.n_classes).random((sample.n_classes, sample.n_classes))
    return w + w.T


def close(found: float, expected: float, tolerance: float = 1e-12) -> bool:
    return abs(found - expected) <= tolerance * max(1.0, abs(expected))


def evaluated(sample: Sample, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return multiauc.evaluate(*sample.data, labels=sample.labels, sample_weight=sample.weights, **options)


@given(samples(sizes=sizes()), st.sampled_from(KINDS))
def test_variances_are_those_of_all_pairs_of_rows(sample, kind):
    pair_weights = pair_weights_of(kind, sample)
    result = evaluated(sample, pair_weights=pair_weights)
    problem = Problem(*sample.data, pair_weights=pair_weights)
    for metric, estimate in result.metrics.items():
        assert close(estimate.value, problem.value(metric))
        assert close(estimate.variance(), problem.covariance(metric))
        assert close(estimate.standard_error**2, problem.covariance(metric))
        assert close(estimate.variance(), problem.jackknife(metric), 1e-10)
    for c, estimate in result.per_class.items():
        assert close(estimate.value, problem.value(str(c)))
        assert close(estimate.variance(), problem.covariance(str(c)))


@given(samples(sizes=sizes()), st.sampled_from(KINDS))
def test_covariances_of_the_metrics(sample, kind):
    pair_weights = pair_weights_of(kind, sample)
    result = evaluated(sample, pair_weights=pair_weights)
    problem = Problem(*sample.data, pair_weights=pair_weights)
    expected = [[problem.covariance(a, b) for b in METRICS] for a in METRICS]
    np.testing.assert_allclose(result.covariance, expected, rtol=0, atol=1e-12)


@given(samples(sizes=sizes()), st.sampled_from(KINDS))
def test_the_other_kinds_of_variance(sample, kind):
    pair_weights = pair_weights_of(kind, sample)
    result = evaluated(sample, pair_weights=pair_weights)
    problem = Problem(*sample.data, pair_weights=pair_weights)
    named = {**result.metrics, **{str(c): estimate for c, estimate in result.per_class.items()}}
    for metric, estimate in named.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found = estimate.variance("unbiased")
        assert close(found, max(0.0, problem.unbiased(metric)))
        assert close(estimate.variance("bootstrap_limit"), problem.bootstrap_limit(metric))


@given(
    samples(sizes=sizes(), weights=(None, "integer", "real")),
    st.sampled_from(KINDS),
    st.sampled_from(["stratified", "iid"]),
    st.booleans(),
    st.integers(0, 1000),
)
def test_weights_groups_and_random_class_sizes(sample, kind, sampling, grouped, seed):
    pair_weights = pair_weights_of(kind, sample)
    groups = np.random.default_rng(seed).integers(0, 12, size=len(sample.codes)) if grouped else None
    if grouped and len(np.unique(groups)) < 2:
        return
    problem = Problem(*sample.data, weights=sample.weights, pair_weights=pair_weights)
    if grouped:
        units = [len(np.unique(groups[problem.rows[c]])) for c in problem.present]
    else:
        units = [len(problem.rows[c]) for c in problem.present]
    result = evaluated(sample, pair_weights=pair_weights, groups=groups, sampling=sampling)
    if min(units) < 2:
        assert all(np.isnan(estimate.standard_error) for estimate in result.metrics.values())
        return
    options = {"groups": groups, "iid": sampling == "iid"}
    named = {**result.metrics, **{str(c): estimate for c, estimate in result.per_class.items()}}
    for metric, estimate in named.items():
        assert close(estimate.value, problem.value(metric))
        assert close(estimate.variance(), problem.covariance(metric, **options))
    expected = [[problem.covariance(a, b, **options) for b in METRICS] for a in METRICS]
    np.testing.assert_allclose(result.covariance, expected, rtol=0, atol=1e-12)
    for matrix, metric in ((result.auc_mu_matrix, "auc_mu"), (result.hand_till_matrix, "hand_till")):
        for c, d in problem.kernels(metric):
            found = matrix.standard_error[c, d] ** 2
            assert close(found, problem.pair_variance(metric, (c, d), groups))


@given(samples(sizes=sizes()), st.booleans())
def test_partition_matrices(sample, zero_diagonal):
    rng = np.random.default_rng(len(sample.codes))
    k = sample.n_classes
    costs = rng.integers(0, 4, size=(k, k)).astype(float)
    costs -= costs.mean(axis=1, keepdims=True) if not zero_diagonal else 0.0
    scores = softmax(rng.normal(size=(len(sample.codes), k)))
    if zero_diagonal:
        np.fill_diagonal(costs, 0.0)
    sample = Sample(sample.codes, scores)
    result = evaluated(sample, partition=costs)
    problem = Problem(*sample.data, partition=costs)
    assert result.auc_mu.value == multiauc.auc_mu_score(*sample.data, partition=costs, labels=sample.labels)
    assert close(result.auc_mu.variance(), problem.covariance("auc_mu"))


@given(samples(sizes=sizes()), st.sampled_from(KINDS))
def test_values_have_the_bits_of_the_bare_scores(sample, kind):
    weighting = pair_weights_of(kind, sample)
    result = evaluated(sample, pair_weights=weighting)
    options = {"labels": sample.labels}
    assert result.auc_mu.value == multiauc.auc_mu_score(*sample.data, pair_weights=weighting, **options)
    assert result.hand_till.value == multiauc.hand_till_score(*sample.data, pair_weights=weighting, **options)
    assert result.one_vs_rest.value == multiauc.one_vs_rest_score(*sample.data, **options)
    prevalence = multiauc.one_vs_rest_score(*sample.data, average="prevalence", **options)
    assert result.one_vs_rest_prevalence.value == prevalence
    per_class = multiauc.one_vs_rest_per_class(*sample.data, **options)
    assert {c: estimate.value for c, estimate in result.per_class.items()} == per_class
    for name in ("auc_mu_matrix", "hand_till_matrix"):
        bare = getattr(multiauc, name)(*sample.data, **options)
        np.testing.assert_array_equal(getattr(result, name).values, bare.values)
        np.testing.assert_allclose(getattr(result, name).standard_error, bare.standard_error, rtol=1e-12)


@given(samples(sizes=sizes(), weights=(None, "real")))
def test_influences_are_the_centred_components(sample):
    result = evaluated(sample)
    problem = Problem(*sample.data, weights=sample.weights)
    expected = np.column_stack([problem.centred(problem.components(metric)) for metric in METRICS])
    np.testing.assert_allclose(result.influences(), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("metric", METRICS)
@given(samples(sizes=sizes(), weights=(None, "integer")), st.booleans(), st.sampled_from(["stratified", "iid"]))
def test_models_on_the_same_rows(metric, sample, grouped, sampling):
    rng = np.random.default_rng(len(sample.codes))
    second = votes(rng, len(sample.codes), sample.n_classes, 7)
    groups = np.arange(len(sample.codes)) // 2 if grouped else None
    models = {"a": sample.scores, "b": second, "c": second.copy()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = multiauc.compare(
            sample.codes,
            models,
            metric=metric,
            sample_weight=sample.weights,
            groups=groups,
            sampling=sampling,
            labels=sample.labels,
        )
    problems = {name: Problem(sample.codes, scores, weights=sample.weights) for name, scores in models.items()}
    first = problems["a"]
    units = [len(np.unique(groups[first.rows[c]])) if grouped else len(first.rows[c]) for c in first.present]
    if min(units) < 2:
        return
    options = {"groups": groups, "iid": sampling == "iid"}
    expected = [[p.covariance(metric, model=q, **options) for q in problems.values()] for p in problems.values()]
    np.testing.assert_allclose(found.covariance, expected, rtol=0, atol=1e-12)
    difference = found.difference("b", "a")
    assert close(difference.value, problems["b"].value(metric) - problems["a"].value(metric))
    assert close(difference.variance, expected[0][0] + expected[1][1] - 2 * expected[0][1])
    same = found.difference("b", "c")
    assert (same.value, same.variance, same.t, same.p_value) == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("make", [smooth, mixed_denominators])
def test_two_classes_are_delong(make, rng):
    y, a = make_sample(make, [40, 25], 1).data
    b = np.round(a + rng.normal(scale=0.2, size=a.shape), 2)
    models = {"a": a[:, 1], "b": b[:, 1]}
    expected = delong([m[y == 1] for m in models.values()], [m[y == 0] for m in models.values()])
    for metric in METRICS:
        comparison = multiauc.compare(y, models, metric=metric)
        np.testing.assert_allclose(comparison.covariance, expected, rtol=1e-12)
        variance = expected[0, 0] + expected[1, 1] - 2 * expected[0, 1]
        assert comparison.difference("a", "b").standard_error == pytest.approx(np.sqrt(variance), rel=1e-11)
    assert multiauc.evaluate(y, a[:, 1]).auc_mu.value == multiauc.auc_mu_score(y, a[:, 1])


def test_one_score_of_two_classes_ranks_as_two_columns(rng):
    y, scores = make_sample(mixed_denominators, [30, 20], 3).data
    single, double = multiauc.evaluate(y, scores[:, 1]), multiauc.evaluate(y, np.c_[1 - scores[:, 1], scores[:, 1]])
    for metric in METRICS:
        assert single.metrics[metric].value == multiauc.auc_mu_score(y, scores[:, 1])
        assert single.metrics[metric].standard_error == pytest.approx(double.auc_mu.standard_error, rel=1e-12)
    tied = multiauc.evaluate(y, scores[:, 1], partition=np.ones((2, 2)))
    assert (tied.auc_mu.value, tied.auc_mu.standard_error) == (0.5, 0.0)


def test_random_class_sizes_give_delong_on_the_pooled_rest():
    y, scores = make_sample(smooth, [80, 60, 100], 5).data
    result = multiauc.evaluate(y, scores, sampling="iid")
    for c, estimate in result.per_class.items():
        pooled = delong([scores[y == c, c]], [scores[y != c, c]])[0, 0]
        assert estimate.variance() == pytest.approx(pooled, rel=0.02)


def test_whole_weights_give_the_values_of_repeated_rows(rng):
    y, scores = make_sample(smooth, [10, 12, 9], 6).data
    weights = rng.integers(1, 4, size=len(y))
    weighted = multiauc.evaluate(y, scores, sample_weight=weights)
    repeated = multiauc.evaluate(np.repeat(y, weights), np.repeat(scores, weights, axis=0))
    for metric in METRICS:
        assert weighted.metrics[metric].value == pytest.approx(repeated.metrics[metric].value, rel=1e-14)


def test_groups_of_repeated_rows_give_the_variance_of_single_ones():
    y, scores = make_sample(smooth, [40, 35, 30], 7).data
    single = multiauc.evaluate(y, scores, groups=np.arange(len(y)))
    copies = multiauc.evaluate(np.tile(y, 3), np.tile(scores, (3, 1)), groups=np.tile(np.arange(len(y)), 3))
    for metric in METRICS:
        found, expected = copies.metrics[metric], single.metrics[metric]
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.usefixtures("restore_threads")
def test_the_same_bits_for_any_number_of_threads(weighted):
    sample = make_sample(smooth, [9000, 7000, 12000, 400, 300, 200], 8)
    sample = with_weights(sample, "real", 9) if weighted else sample
    seen = set()
    for threads in (1, 2, 3, 7):
        multiauc.set_num_threads(threads)
        result = multiauc.evaluate(*sample.data, sample_weight=sample.weights)
        per_class = [estimate.variance() for estimate in result.per_class.values()]
        parts = (result.covariance, result.auc_mu_matrix.standard_error, result.hand_till_matrix.standard_error)
        influences = result.influences()
        seen.add((*per_class, *(part.tobytes() for part in parts), influences.tobytes()))
    assert len(seen) == 1


def by_ranks(own: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Placements of two classes by sorting both."""
    a, b = np.sort(own), np.sort(other)
    below = np.searchsorted(b, own, "left") + np.searchsorted(b, own, "right")
    above = 2 * len(a) - np.searchsorted(a, other, "left") - np.searchsorted(a, other, "right")
    return below / (2 * len(b)), above / (2 * len(a))


@pytest.mark.parametrize("levels", [None, 1000, 16])
@pytest.mark.parametrize("k", [3, 40])
def test_many_classes_and_many_rows(k, levels, rng):
    """Classes in tiles, rows in chunks, ties: against placements by ranks, one pair at a time."""
    y = np.r_[np.arange(k), np.arange(k), rng.integers(k, size=30_000)]
    scores = rng.normal(size=(len(y), k)) + np.eye(k)[y]
    if levels is not None:  # whole numbers, so that differences are exact
        scores = np.round(levels * scores / 4)
    result = multiauc.evaluate(y, scores)
    t = {metric: np.zeros(len(y)) for metric in ("auc_mu", "hand_till")}
    rows = [np.flatnonzero(y == c) for c in range(k)]
    for c in range(k):
        for d in range(k):
            for metric, key in (("auc_mu", scores[:, c] - scores[:, d]), ("hand_till", scores[:, c])):
                if c == d or (metric == "auc_mu" and c > d):
                    continue
                count = k * (k - 1) / (2 if metric == "auc_mu" else 1)
                for own, placements in zip((c, d), by_ranks(key[rows[c]], key[rows[d]]), strict=True):
                    t[metric][rows[own]] += placements / count
    for metric, components in t.items():
        variance = sum(components[r].var(ddof=1) / len(r) for r in rows)
        assert result.metrics[metric].variance() == pytest.approx(variance, rel=1e-10)
    v10, v01 = by_ranks(scores[rows[0], 0], scores[rows[2], 0])
    variance = v10.var(ddof=1) / len(v10) + v01.var(ddof=1) / len(v01)
    assert result.hand_till_matrix.standard_error[0, 2] ** 2 == pytest.approx(variance, rel=1e-10)
