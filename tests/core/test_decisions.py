"""Decisions under costs: rules by their definitions, what is chosen, and what it costs on other rows."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import multiauc
import oracle_costs
from decision_data import COSTS, calibrated_sample, distorted, halves, normalised, paired_t

SEEDS = range(50)


@pytest.fixture
def sample(rng):
    return calibrated_sample(rng, 400)


def bayes_by_definition(costs, scores):
    """Row by row: the first class of the smallest sum of costs times probabilities."""
    found = []
    for row in scores:
        expected = [sum(c * p for c, p in zip(line, row, strict=True)) for line in costs]
        found.append(expected.index(min(expected)))
    return np.array(found)


@pytest.mark.slow
class TestAcceptance:
    """Fitted to one half and judged on the other, over 50 samples; studies/decisions.py has more of it."""

    @pytest.mark.parametrize("kind", ["calibrated", "slightly too sure"])
    @pytest.mark.parametrize("n", [200, 1000])
    def test_it_does_not_cost_more(self, kind, n):
        fitted, bayes, argmax = halves(kind, COSTS, multiauc.fit_decisions, SEEDS, n).T
        assert paired_t(fitted, bayes) <= 2.0
        assert paired_t(fitted, argmax) <= 2.0

    @pytest.mark.parametrize("kind", ["too sure", "too unsure", "wrong prevalences", "unlike scales"])
    @pytest.mark.parametrize("n", [200, 1000])
    def test_it_costs_clearly_less_where_calibration_is_bad(self, kind, n):
        fitted, bayes, argmax = halves(kind, COSTS, multiauc.fit_decisions, SEEDS, n).T
        assert paired_t(fitted, bayes) < -3.0
        assert paired_t(fitted, argmax) < -3.0
        if n == 1000:
            assert fitted.mean() < 0.8 * min(bayes.mean(), argmax.mean())

    def test_errors_that_cost_the_same(self):
        """There the rule of Bayes is the largest probability, and nothing is to be gained by a power."""
        costs = 1.0 - np.eye(3)
        fitted, bayes, argmax = halves("too sure", costs, multiauc.fit_decisions, SEEDS, 400).T
        np.testing.assert_array_equal(bayes, argmax)
        assert paired_t(fitted, bayes) <= 2.0

    @pytest.mark.parametrize(("kind", "bound"), [("calibrated", 2.0), ("too sure", -2.0), ("wrong prevalences", -2.0)])
    def test_splits_of_one_sample(self, kind, bound):
        codes, probabilities = calibrated_sample(np.random.default_rng(1), 600)
        scores = distorted(kind, probabilities)
        found = []
        for seed in SEEDS:
            first, second = np.split(np.random.default_rng(seed).permutation(600), 2)
            decisions = multiauc.fit_decisions(codes[first], scores[first], COSTS)
            found.append(list(decisions.compare(codes[second], scores[second]).values.values()))
        fitted, bayes, argmax = np.array(found).T
        assert paired_t(fitted, bayes) <= bound
        assert paired_t(fitted, argmax) <= bound


class TestRules:
    @given(st.integers(0, 2**32), st.integers(2, 5), st.sampled_from([None, 4]))
    @settings(max_examples=40)
    def test_plain_rules_are_those_of_the_definition(self, seed, n_classes, levels):
        rng = np.random.default_rng(seed)
        codes, scores = calibrated_sample(rng, 60, prevalence=np.full(n_classes, 1 / n_classes))
        codes[:n_classes] = np.arange(n_classes)
        costs = rng.integers(0, 6, size=(n_classes, n_classes)).astype(float)
        costs[0, 1] = costs[1, 1] + 1.0
        if levels is not None:  # sixteenths, whose products are exact
            scores = np.round(scores * levels)
            scores[:, 0] = 1.0
            scores[:, -1] += 16 - scores.sum(axis=1)
            scores /= 16
        comparison = multiauc.fit_decisions(codes, scores, costs, labels=range(n_classes)).compare(codes, scores)
        bayes = bayes_by_definition(costs, scores)
        expected = oracle_costs.mean_cost(costs.tolist(), codes, bayes)
        assert comparison.values["bayes"] == pytest.approx(expected, abs=1e-12)
        largest = oracle_costs.mean_cost(costs.tolist(), codes, scores.argmax(axis=1))
        assert comparison.values["argmax"] == pytest.approx(largest, abs=1e-12)

    def test_corrected_probabilities(self, sample):
        codes, scores = sample
        scores = distorted("too sure", scores)
        decisions = multiauc.fit_decisions(codes, scores, COSTS)
        assert decisions.rule == "calibrated"
        assert 0.2 < decisions.scale < 0.6  # a third undoes it
        q = normalised(decisions.scale * np.log(scores) + decisions.offsets)
        expected = bayes_by_definition(COSTS.tolist(), q)
        np.testing.assert_array_equal(decisions.decide(scores), expected)
        assert decisions.offsets.sum() == pytest.approx(0.0, abs=1e-12)
        found = decisions.expected_cost(codes, scores)
        assert found == pytest.approx(oracle_costs.mean_cost(COSTS.tolist(), codes, expected), abs=1e-12)

    @pytest.mark.parametrize("kind", ["too sure", "too unsure", "wrong prevalences"])
    def test_the_likelihood_is_maximised(self, sample, kind):
        from scipy import optimize

        codes, scores = sample
        scores = distorted(kind, scores)
        logs = np.log(scores)

        def loss(at):
            q = normalised(at[0] * logs + at[1:])
            pull = 0.5 * ((at[0] - 1.0) ** 2 + (at[1:] ** 2).sum())
            return pull - np.log(q[np.arange(len(codes)), codes]).sum()

        expected = optimize.minimize(loss, np.array([1.0, 0.0, 0.0, 0.0]), tol=1e-10).x
        found = multiauc.fit_decisions(codes, scores, COSTS)
        assert found.rule == "calibrated"
        np.testing.assert_allclose([found.scale, *found.offsets], expected, atol=1e-4)
        # Nothing near by is more likely; offsets that are all larger lead to the same probabilities.
        at = np.array([found.scale, *(found.offsets + expected[1:].mean())])
        for step in np.concatenate([np.eye(4), -np.eye(4)]) * 1e-5:
            assert loss(at) <= loss(at + step) + 1e-9
        if kind == "wrong prevalences":
            assert found.offsets[0] < -1.0  # the first class was given eight times its share

    def test_scores_that_say_the_opposite_are_not_turned_round(self, sample):
        codes, scores = sample
        with pytest.warns(multiauc.ColumnOrderWarning):
            found = multiauc.fit_decisions(codes, normalised(-2.0 * np.log(scores)), COSTS)
        assert found.rule == "calibrated"
        assert found.scale == 0.0
        shares = np.bincount(codes) / len(codes)
        np.testing.assert_allclose(found.offsets, np.log(shares) - np.log(shares).mean(), atol=0.05)

    def test_the_test_of_calibration_keeps_its_level(self):
        p_values = []
        for seed in range(300):
            sample = calibrated_sample(np.random.default_rng(seed), 150)
            p_values.append(multiauc.fit_decisions(*sample, COSTS).calibration_p_value)
        below = np.mean(np.array(p_values) < 0.1)
        assert 0.03 < below < 0.15

    def test_the_test_of_calibration_is_a_ratio_of_likelihoods(self, sample):
        from scipy import stats

        codes, scores = sample
        scores = distorted("too sure", scores)
        found = multiauc.fit_decisions(codes, scores, COSTS)
        own = np.arange(len(codes)), codes
        corrected = normalised(found.scale * np.log(scores) + found.offsets)
        gain = np.log(corrected[own]).sum() - np.log(scores[own]).sum()
        assert found.calibration_p_value == pytest.approx(stats.chi2.sf(2.0 * gain, 3), rel=1e-9)

    def test_rows_in_groups_do_not_count_as_more(self, rng):
        """Each row ten times over is no more evidence against the calibration."""
        codes, scores = calibrated_sample(rng, 100)
        scores = distorted("slightly too sure", scores)
        alone = multiauc.fit_decisions(codes, scores, COSTS).calibration_p_value
        groups = np.repeat(np.arange(100), 10)
        copies = np.repeat(codes, 10), np.repeat(scores, 10, axis=0)
        repeated = multiauc.fit_decisions(*copies, COSTS, groups=groups).calibration_p_value
        assert repeated == pytest.approx(alone, abs=0.05)


class TestChoice:
    def test_calibrated_probabilities_are_left_alone(self, sample):
        decisions = multiauc.fit_decisions(*sample, COSTS)
        assert decisions.rule == "bayes"
        assert decisions.scale == 1.0
        np.testing.assert_array_equal(decisions.offsets, np.zeros(3))
        difference = decisions.compare(*sample).difference("fitted", "bayes")
        assert (difference.value, difference.t, difference.p_value) == (0.0, 0.0, 1.0)
        assert difference.confidence_interval() == (0.0, 0.0)

    def test_the_order_of_rows_and_columns_does_not_matter(self, sample, rng):
        codes, scores = sample
        scores = distorted("too sure", scores)
        first = multiauc.fit_decisions(codes, scores, COSTS)
        rows, columns = rng.permutation(len(codes)), np.array([2, 0, 1])
        again = multiauc.fit_decisions(codes[rows], scores[rows], COSTS)
        assert again.rule == first.rule
        np.testing.assert_allclose(again.offsets, first.offsets, atol=1e-9)
        turned = multiauc.fit_decisions(
            codes, scores[:, columns], COSTS[np.ix_(columns, columns)], labels=columns.tolist()
        )
        assert turned.rule == first.rule
        np.testing.assert_allclose(turned.offsets, first.offsets[columns], atol=1e-6)
        assert turned.cross_validated.values == pytest.approx(first.cross_validated.values)

    @pytest.mark.parametrize(("n", "seeds"), [(330, 12), (13_000, 1)])  # of the second, about 10,000 are taken
    @pytest.mark.parametrize("kind", ["plain", "weights", "groups"])
    def test_no_order_matters_to_tied_probabilities(self, kind, n, seeds):
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            codes, scores = calibrated_sample(rng, n)
            votes = np.array([rng.multinomial(5, row) for row in scores]) / 5
            options = {"weights": {"sample_weight": rng.integers(1, 4, n) / 10}}.get(kind, {})
            if kind == "groups":
                options = {"groups": rng.integers(40, size=n).astype(object)}
            first = multiauc.fit_decisions(codes, votes, COSTS, **options)
            rows, columns = rng.permutation(n), rng.permutation(3)
            moved = {name: values[rows] for name, values in options.items()}
            scores, costs = votes[np.ix_(rows, columns)], COSTS[np.ix_(columns, columns)]
            again = multiauc.fit_decisions(codes[rows], scores, costs, labels=columns.tolist(), **moved)
            assert (again.rule, again.scale) == (first.rule, first.scale)
            assert again.offsets.tolist() == first.offsets[columns].tolist()
            assert again.cross_validated.means == first.cross_validated.means
            assert again.decide(scores).tolist() == first.decide(votes[rows]).tolist()

    def test_thinning_leaves_every_class_and_two_groups(self, rng):
        codes, scores = calibrated_sample(rng, 30_000)
        groups = np.zeros(30_000, dtype=int)
        groups[17] = 1
        decisions = multiauc.fit_decisions(codes, scores, COSTS, groups=groups)
        assert 0.0 <= decisions.cross_validated.values["fitted"] <= COSTS.max()
        assert decisions.cross_validated.n_rows <= 10_004
        codes[:] = np.arange(30_000) % 2
        codes[5] = 2
        thinned = multiauc.fit_decisions(codes, scores, COSTS)
        assert thinned.cross_validated.n_rows in (10_000, 10_001)

    def test_one_group_of_positive_weight_is_an_error(self, sample):
        codes, scores = sample
        groups = np.arange(len(codes)) % 2
        with pytest.raises(ValueError, match=r"groups must have at least two groups .* positive sample_weight; got 1"):
            multiauc.fit_decisions(codes, scores, COSTS, groups=groups, sample_weight=groups.astype(float))

    def test_whole_weights_are_repeated_rows(self, rng):
        codes, scores = calibrated_sample(rng, 300)
        scores = distorted("too sure", scores)
        weights = rng.integers(0, 3, size=300).astype(float)
        repeated = np.repeat(np.arange(300), weights.astype(int))
        decisions = multiauc.fit_decisions(codes, scores, COSTS, sample_weight=weights)
        found = decisions.compare(codes, scores, sample_weight=weights)
        expected = decisions.compare(codes[repeated], scores[repeated])
        assert found.values == pytest.approx(expected.values, abs=1e-12)
        assert found.n_rows == np.count_nonzero(weights)
        assert decisions.expected_cost(codes, scores, sample_weight=weights) == pytest.approx(found.values["fitted"])

    def test_rows_of_weight_0_do_not_exist(self, sample, rng):
        codes, scores = sample
        scores = distorted("too sure", scores)
        weights = np.where(rng.random(len(codes)) < 0.3, 0.0, 1.0)
        counted = weights > 0
        found = multiauc.fit_decisions(codes, scores, COSTS, sample_weight=weights)
        expected = multiauc.fit_decisions(codes[counted], scores[counted], COSTS)
        np.testing.assert_allclose(found.offsets, expected.offsets, atol=1e-9)

    def test_many_rows_are_thinned_out(self, rng):
        codes, scores = calibrated_sample(rng, 30_000)
        decisions = multiauc.fit_decisions(codes, distorted("too sure", scores), COSTS)
        assert decisions.cross_validated.n_rows == 10_000
        assert decisions.rule == "calibrated"

    def test_groups(self, rng):
        codes, scores = calibrated_sample(rng, 300)
        scores = distorted("too sure", scores)
        groups = np.arange(300) // 5
        decisions = multiauc.fit_decisions(codes, scores, COSTS, groups=groups)
        found = decisions.compare(codes, scores, groups=groups)
        assert found.values == decisions.compare(codes, scores).values
        assert found.standard_errors != decisions.compare(codes, scores).standard_errors

    @pytest.mark.parametrize("sizes", [(1, 1), (2, 1), (1, 1, 1), (3, 2, 2)])
    def test_very_few_rows(self, sizes):
        codes = np.repeat(np.arange(len(sizes)), sizes)
        scores = normalised(np.arange(codes.size * len(sizes), dtype=float).reshape(codes.size, -1) % 7)
        costs = 1.0 - np.eye(len(sizes))
        decisions = multiauc.fit_decisions(codes, scores, costs)
        assert np.isfinite(decisions.offsets).all()
        assert set(decisions.decide(scores).tolist()) <= set(codes.tolist())

    def test_perfect_and_hard_probabilities(self):
        codes = np.arange(90) % 3
        hard = np.eye(3)[codes]
        decisions = multiauc.fit_decisions(codes, hard, COSTS)
        assert decisions.expected_cost(codes, hard) == 0.0
        wrong = np.eye(3)[(codes + (np.arange(90) % 10 == 0)) % 3]
        decisions = multiauc.fit_decisions(codes, wrong, COSTS)
        assert math.isfinite(decisions.expected_cost(codes, wrong))
        assert np.isfinite(decisions.offsets).all()

    def test_more_classes_than_the_search_takes(self, rng):
        n_classes = 35
        codes, scores = calibrated_sample(rng, 700, 3.0, np.full(n_classes, 1 / n_classes))
        codes[:n_classes] = np.arange(n_classes)
        decisions = multiauc.fit_decisions(codes, scores, 1.0 - np.eye(n_classes))
        assert decisions.rule in ("bayes", "calibrated", "argmax")


class TestTwoClasses:
    def test_one_score_stands_for_both(self, rng):
        codes, scores = calibrated_sample(rng, 300, prevalence=np.array([0.7, 0.3]))
        scores = distorted("too sure", scores)
        costs = [[0, 5], [1, 0]]
        both = multiauc.fit_decisions(codes, scores, costs)
        one = multiauc.fit_decisions(codes, scores[:, 1], costs)
        np.testing.assert_allclose(one.offsets, both.offsets, atol=1e-6)
        np.testing.assert_array_equal(one.decide(scores[:, 1]), both.decide(scores))
        np.testing.assert_array_equal(one.decide(scores[:, [1]]), both.decide(scores))

    def test_the_rule_of_bayes_is_a_threshold(self):
        codes, scores = calibrated_sample(np.random.default_rng(0), 300, prevalence=np.array([0.7, 0.3]))
        decisions = multiauc.fit_decisions(codes, scores[:, 1], [[0, 4], [1, 0]])
        assert decisions.rule == "bayes"
        assert decisions.decide([0.19, 0.2, 0.21]).tolist() == [0, 0, 1]


class TestLabels:
    def test_decisions_are_labels(self, sample):
        codes, scores = sample
        for labels in (["a", "b", "c"], [10, 20, 30], [1.5, 2.5, 3.5], [("a", 1), "x", 3]):
            truth = np.empty(len(codes), dtype=object)
            truth[:] = [labels[code] for code in codes]
            decisions = multiauc.fit_decisions(truth, scores, COSTS, labels=labels)
            assert set(decisions.decide(scores).tolist()) <= set(labels)
            assert decisions.labels == tuple(labels)

    def test_columns_of_frames_are_found_by_name(self, sample):
        pd = pytest.importorskip("pandas")
        codes, scores = sample
        names = np.array(["a", "b", "c"])
        frame = pd.DataFrame(scores, columns=names)
        decisions = multiauc.fit_decisions(names[codes], frame, COSTS)
        turned = frame[["c", "a", "b"]]
        np.testing.assert_array_equal(decisions.decide(turned), decisions.decide(scores))
        assert decisions.expected_cost(names[codes], turned) == decisions.expected_cost(names[codes], scores)

    def test_float32_is_not_refused_for_rounding(self, sample):
        codes, scores = sample
        decisions = multiauc.fit_decisions(codes, scores.astype(np.float32), COSTS)
        agree = decisions.decide(scores.astype(np.float32)) == decisions.decide(scores)
        assert agree.mean() > 0.99

    def test_a_class_without_rows(self, sample):
        codes, scores = sample
        keep = codes != 2
        with pytest.raises(ValueError, match="y_true has no rows of 1 class: 2"):
            multiauc.fit_decisions(codes[keep], scores[keep], COSTS, labels=range(3))
        decisions = multiauc.fit_decisions(codes[keep], scores[keep], COSTS, labels=range(3), absent="ignore")
        assert decisions.decide(scores).shape == codes.shape
        full = multiauc.fit_decisions(codes, scores, COSTS)
        assert math.isfinite(full.expected_cost(codes[keep], scores[keep]))

    def test_the_cost_of_rows_of_one_class(self, sample):
        codes, scores = sample
        decisions = multiauc.fit_decisions(codes, scores, COSTS)
        rows = codes == 1
        predicted = decisions.decide(scores[rows])
        expected = COSTS[predicted, 1].mean()
        assert decisions.expected_cost(codes[rows], scores[rows]) == pytest.approx(expected, rel=1e-14)
        assert decisions.expected_cost([1], scores[rows][:1]) == COSTS[predicted[0], 1]
        weights = rows.astype(float)
        assert decisions.expected_cost(codes, scores, sample_weight=weights) == pytest.approx(expected, rel=1e-14)
        with pytest.raises(ValueError, match="sample_weight"):
            decisions.expected_cost(codes, scores, sample_weight=np.zeros(len(codes)))


class TestBadInput:
    @pytest.mark.parametrize(
        ("costs", "said"),
        [
            (np.zeros((3, 3)), "costs must make some error cost more than the right prediction"),
            (np.eye(3), "costs must make some error cost more than the right prediction.*rows are predictions"),
            (np.full((3, 3), 2.0), "costs must make some error cost more than the right prediction"),
            (np.ones((2, 3)), r"costs must be a 3 x 3 array, .*; got shape \(2, 3\)"),
            (COSTS * np.nan, r"costs must be finite; got nan at \[0, 0\]"),
            (np.where(COSTS == 10, np.inf, COSTS), r"costs must be finite; got inf at \[0, 2\]"),
        ],
    )
    def test_costs(self, sample, costs, said):
        with pytest.raises(ValueError, match=said):
            multiauc.fit_decisions(*sample, costs)

    def test_costs_of_words(self, sample):
        with pytest.raises(TypeError, match="costs must hold real numbers"):
            multiauc.fit_decisions(*sample, [["a"] * 3] * 3)

    def test_scores_that_are_no_probabilities(self, sample):
        codes, scores = sample
        said = r"y_score must be probabilities, none negative and the sum of a row 1.*in row 0: .*outputs='logits'"
        with pytest.raises(ValueError, match=said):
            multiauc.fit_decisions(codes, np.log(scores), COSTS)
        with pytest.raises(ValueError, match=r"got 0.5, 0.5, 0.5 in row 7"):
            multiauc.fit_decisions(codes, np.where(np.arange(len(codes))[:, None] == 7, 0.5, scores), COSTS)
        decisions = multiauc.fit_decisions(codes, scores, COSTS)
        with pytest.raises(ValueError, match="y_score must be probabilities"):
            decisions.decide(np.full((2, 3), np.nan))
        with pytest.raises(ValueError, match=r"a column for each of the 3 classes; got shape \(4, 2\)"):
            decisions.decide(np.full((4, 2), 0.5))
        with pytest.raises(ValueError, match="y_score must be probabilities"):
            multiauc.fit_decisions(codes > 0, 3.0 * scores[:, 0], [[0, 1], [1, 0]])

    def test_options(self, sample):
        with pytest.raises(ValueError, match="absent must be one of 'raise', 'ignore'; got 'nan'"):
            multiauc.fit_decisions(*sample, COSTS, absent="nan")
        with pytest.raises(TypeError, match="its name here is sample_weight="):
            multiauc.fit_decisions(*sample, COSTS, weights=[1])
        decisions = multiauc.fit_decisions(*sample, COSTS)
        with pytest.raises(ValueError, match="rule must be one of 'fitted', 'bayes', 'argmax'; got 'best'"):
            decisions.compare(*sample).confidence_interval("best")
        with pytest.raises(ValueError, match="there is no difference of 'bayes' and 'argmax'"):
            decisions.compare(*sample).difference("bayes", "argmax")


class TestIntervals:
    def test_intervals_of_differences_cover(self):
        """The cost difference of Bayes and argmax on new rows, against its value on very many."""
        codes, scores = calibrated_sample(np.random.default_rng(0), 200_000)
        scores = distorted("too sure", scores)
        decisions = multiauc.fit_decisions(codes[:2000], scores[:2000], COSTS)
        true = decisions.compare(codes[2000:], scores[2000:]).difference("fitted", "argmax").value
        covered = 0
        for k in range(200):
            rows = slice(2000 + 300 * k, 2300 + 300 * k)
            low, high = (
                decisions.compare(codes[rows], scores[rows]).difference("fitted", "argmax").confidence_interval()
            )
            covered += low <= true <= high
        assert covered >= 180

    def test_no_interval_where_no_row_differs(self):
        codes = np.array([0, 1] * 100)
        scores = np.where(codes == 1, 0.9, 0.1)
        decisions = multiauc.fit_decisions(codes, scores, [[0, 2], [1, 0]])
        difference = decisions.compare(codes, scores).difference("fitted", "argmax")
        assert (difference.value, difference.standard_error) == (0.0, 0.0)
        assert not difference.is_same_rule
        with pytest.warns(
            RuntimeWarning, match="no interval is available for fitted - argmax: the standard error is 0"
        ):
            assert all(map(math.isnan, difference.confidence_interval()))
        assert difference.p_value == 1.0


class TestResults:
    @pytest.fixture
    def decisions(self, sample):
        codes, scores = sample
        return multiauc.fit_decisions(np.array(["a", "b", "c"])[codes], distorted("too sure", scores), COSTS)

    def test_copies_and_pickles(self, decisions):
        for result in (decisions, decisions.cross_validated, decisions.cross_validated.differences[0]):
            for again in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
                assert again == result
                assert repr(again) == repr(result)
        with pytest.raises(ValueError, match="read-only"):
            decisions.costs[0, 0] = 1.0

    def test_costs_are_copied(self, sample):
        costs = COSTS.copy()
        decisions = multiauc.fit_decisions(*sample, costs)
        costs[:] = 0.0
        np.testing.assert_array_equal(decisions.costs, COSTS)

    def test_tables(self, decisions):
        text = repr(decisions)
        assert text.startswith("CostDecisions for 3 classes: the smallest expected cost by probabilities that were")
        for word in ("scale", "fitted", "bayes", "argmax", "fitted - bayes", "cross-validated on 400 rows"):
            assert word in text
        assert decisions._repr_html_().count("<table>") == 3
        assert decisions.cross_validated._repr_html_().count("<table>") == 2
        assert repr(decisions.cross_validated.differences[0]).startswith("CostDifference(fitted - bayes: -")

    def test_plain_objects(self, decisions):
        found = json.loads(decisions.to_json())
        assert found["labels"] == ["a", "b", "c"]
        assert found["costs"] == COSTS.tolist()
        assert list(found["cross_validated"]["costs"]) == ["fitted", "bayes", "argmax"]
        assert found["cross_validated"]["costs"]["fitted"]["low"] >= 0.0
        wide, narrow = (decisions.cross_validated.differences[0].to_dict(level) for level in (0.99, 0.5))
        assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]

    def test_frames(self, decisions):
        pytest.importorskip("pandas")
        assert decisions.to_frame()["label"].tolist() == ["a", "b", "c"]
        assert decisions.cross_validated.to_frame()["rule"].tolist() == ["fitted", "bayes", "argmax"]
        assert decisions.cross_validated.differences[1].to_frame()["second"].tolist() == ["argmax"]
