"""Differences between models class by class (`Comparison.per_class`) and slice by slice (`evaluate_slices`)."""

import math
import pickle

import numpy as np
import pytest

import multiauc
from oracle_intervals import effective_numbers, freedom_alike, ordered_weights

LABELS = ["ant", "bee", "cow"]


def make_models(rng, n=240, names=("a", "b"), signal=1.0):
    codes = np.concatenate([np.arange(3).repeat(2), rng.choice(3, size=n - 6, p=[0.5, 0.3, 0.2])])
    shared = rng.gumbel(size=(n, 3))
    models = {}
    for name in names:
        logits = signal * np.eye(3)[codes] + shared + rng.gumbel(size=(n, 3))
        models[name] = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return np.array(LABELS)[codes], models


def class_components(y, scores, column):
    """T(i) of the one-vs-rest AUC of a class: what each row adds to it, times the size of its class. Slow and plain."""
    positive = y == LABELS[column]
    wins = (scores[positive][:, None, column] > scores[~positive][None, :, column]) * 1.0
    wins += 0.5 * (scores[positive][:, None, column] == scores[~positive][None, :, column])
    components = np.zeros(len(y))
    components[positive] = wins.mean(axis=1)
    components[~positive] = wins.mean(axis=0)
    for label in LABELS:
        if label != LABELS[column]:
            components[y == label] *= (y == label).sum() / (~positive).sum()
    return wins.mean(), components


def contrast(y, models, column):
    """(difference, variance, what each row adds) by the definition."""
    (first, t_first), (second, t_second) = (class_components(y, scores, column) for scores in models.values())
    variance, added = 0.0, np.zeros(len(y))
    for label in LABELS:
        rows = np.flatnonzero(y == label)
        centred = (t_first - t_second)[rows] - (t_first - t_second)[rows].mean()
        variance += (centred**2).sum() / (len(rows) * (len(rows) - 1))
        added[rows] = centred / len(rows)
    return first - second, variance, added


class TestPerClass:
    def test_the_definition(self, rng):
        y, models = make_models(rng)
        models["a"] = models["a"].round(1)  # with ties
        found = multiauc.compare(y, models).per_class
        assert list(found) == LABELS
        assert len(found) == 3
        for column, (label, difference) in enumerate(found.items()):
            value, variance, _ = contrast(y, models, column)
            assert difference.value == pytest.approx(value, abs=1e-14)
            assert difference.variance == pytest.approx(variance, rel=1e-10)
            assert (difference.first, difference.second) == ("a", "b")
            assert found[label] is difference

    @pytest.mark.parametrize("kind", ["plain", "weights", "groups", "iid"])
    def test_against_chance_it_is_the_estimate_of_the_class(self, rng, kind):
        y, models = make_models(rng)
        options = {
            "plain": {},
            "weights": {"sample_weight": rng.random(240)},
            "groups": {"groups": np.arange(240) // 4},
            "iid": {"sampling": "iid"},
        }[kind]
        found = multiauc.compare(y, {"a": models["a"], "chance": np.full((240, 3), 1 / 3)}, **options).per_class
        expected = multiauc.evaluate(y, models["a"], **options).per_class
        # Differences have at most the degrees of freedom of the class sizes, here those of the mean over classes.
        codes, weights = np.unique(y, return_inverse=True)[1], options.get("sample_weight")
        omega = ordered_weights("one_vs_rest", np.bincount(codes, weights=weights))
        effective = effective_numbers(codes, weights, options.get("groups"))
        most = freedom_alike(omega.sum(axis=0) + omega.sum(axis=1), effective)
        for label in LABELS:
            assert found[label].value == pytest.approx(expected[label].value - 0.5, abs=1e-12)
            assert found[label].standard_error == pytest.approx(expected[label].standard_error, rel=1e-10)
            assert found[label].degrees_of_freedom == pytest.approx(
                min(most, expected[label].degrees_of_freedom), rel=1e-8
            )

    def test_two_classes_are_the_comparison(self, rng):
        y, models = make_models(rng)
        y = np.where(y == "cow", "bee", y)
        scores = {name: scores[:, 0] for name, scores in models.items()}
        both = multiauc.compare(y, {name: np.stack([p, 1 - p], axis=1) for name, p in scores.items()})
        whole = both.difference("a", "b")
        for found in (both.per_class, multiauc.compare(y, {k: 1 - p for k, p in scores.items()}).per_class):
            for label in ("ant", "bee"):
                assert found[label].value == pytest.approx(whole.value, abs=1e-14)
                assert found[label].p_value == pytest.approx(whole.p_value, rel=1e-8)
                # The two are one difference, so nothing is to be corrected.
                assert found[label].corrected_p_value == pytest.approx(whole.p_value, rel=1e-3)

    def test_corrected_p_values_by_simulation(self, rng):
        y, models = make_models(rng, signal=1.5)
        found = multiauc.compare(y, models, metric="hand_till").per_class
        added = np.array([contrast(y, models, column)[2] for column in range(3)])
        correlations = np.corrcoef(added)
        drawn = rng.multivariate_normal(np.zeros(3), correlations, size=200_000)
        for label in LABELS:
            p = found[label].p_value
            z = abs(np.quantile(np.abs(drawn[:, 0]), 1 - p))
            expected = (np.abs(drawn).max(axis=1) >= z).mean()
            assert found[label].corrected_p_value == pytest.approx(expected, abs=0.015)

    def test_intervals_agree_with_corrected_p_values(self, rng):
        y, models = make_models(rng, names="abc", signal=1.5)
        found = multiauc.compare(y, models).per_class
        assert len(found) == 9
        assert found["bee", "a", "c"].first == "a"
        for level in (0.5, 0.9):
            intervals = found.simultaneous_intervals(level)
            for key, one in found.items():
                assert (intervals[key].low > 0 or intervals[key].high < 0) == (one.corrected_p_value < 1 - level)
                assert one.corrected_p_value >= one.p_value

    def test_false_alarms_are_as_rare_as_promised(self):
        rng = np.random.default_rng(2)
        alarms = 0
        for _ in range(250):
            y, models = make_models(rng, n=120)
            found = multiauc.compare(y, models).per_class
            alarms += any(one.corrected_p_value < 0.1 for _, one in found.items())
        assert 0.03 < alarms / 250 < 0.14

    def test_classes_without_rows(self, rng):
        y, models = make_models(rng)
        kept = y != "bee"
        some = {name: scores[kept] for name, scores in models.items()}
        ignoring = multiauc.compare(y[kept], some, labels=LABELS, absent="ignore").per_class
        assert list(ignoring) == ["ant", "cow"]
        direct = {
            name: multiauc.one_vs_rest_per_class(y[kept], p, labels=LABELS, absent="ignore") for name, p in some.items()
        }
        for label in ("ant", "cow"):
            assert ignoring[label].value == pytest.approx(direct["a"][label] - direct["b"][label], abs=1e-14)
        undefined = multiauc.compare(y[kept], some, labels=LABELS, absent="nan").per_class
        assert list(undefined) == LABELS
        assert all(math.isnan(one.value) for _, one in undefined.items())

    def test_what_it_is_not_offered_for(self, rng):
        y, models = make_models(rng)
        with pytest.raises(ValueError, match="per_class with folds is not offered"):
            multiauc.compare(y, models, folds=np.arange(240) % 2).per_class  # noqa: B018
        ordered = multiauc.compare(y, {name: scores[:, 0] for name, scores in models.items()}, metric="ordered_vus")
        with pytest.raises(ValueError, match="per_class needs a score for every class"):
            ordered.per_class  # noqa: B018

    def test_it_can_be_read(self, rng):
        y, models = make_models(rng)
        found = multiauc.compare(y, models).per_class
        assert repr(found).startswith("Differences in one-vs-rest AUC by class: a - b\n")
        assert "analytic standard errors" in repr(found)
        frame = found.to_frame()
        assert frame["class"].tolist() == LABELS
        assert frame["simultaneous_low"].tolist() == [one.low for one in found.simultaneous_intervals().values()]
        assert pickle.loads(pickle.dumps(found)) == found
        assert found.to_flat_dict()["a_minus_b_one_vs_rest_bee"] == found["bee"].value
        with pytest.raises(KeyError, match="no difference 'dog'; there are 'ant', 'bee', 'cow'"):
            found["dog"]


class TestSlices:
    def test_each_slice_is_a_comparison_of_its_rows(self, rng):
        y, models = make_models(rng, n=400)
        site = rng.choice(["north", "south", "west"], size=400)
        options = {"sample_weight": rng.random(400), "groups": np.arange(400) // 2}
        for metric in ("auc_mu", "log_loss"):
            found = multiauc.evaluate_slices(y, models, {"site": site}, metric=metric, **options)
            assert found.by == "site"
            assert sorted(found) == ["north", "south", "west"]
            for name, one in found.items():
                rows = site == name
                alone = multiauc.compare(
                    y[rows],
                    {model: scores[rows] for model, scores in models.items()},
                    metric=metric,
                    **{key: value[rows] for key, value in options.items()},
                ).difference("a", "b")
                assert one.value == pytest.approx(alone.value, abs=1e-13)
                assert one.variance == pytest.approx(alone.variance, rel=1e-10)
                assert one.p_value == pytest.approx(alone.p_value, rel=1e-8)
                assert one.corrected_p_value == pytest.approx(1 - (1 - alone.p_value) ** 3, rel=1e-6)
            order = [one.t for _, one in found.items()]
            assert order == sorted(order, reverse=metric == "log_loss")

    def test_slices_that_lack_a_class(self, rng):
        y, models = make_models(rng)
        site = np.where(y == "cow", "all", rng.choice(["all", "few"], size=240))
        site[np.flatnonzero(y == "ant")[0]] = "one"
        found = multiauc.evaluate_slices(y, models, site)
        assert found.reasons == {"few": "no rows of 'cow'", "one": "rows of 'ant' only"}
        assert math.isnan(found["few"].value)
        assert found["all"].corrected_p_value == pytest.approx(found["all"].p_value)
        assert "no rows of 'cow'" in repr(found)
        ignoring = multiauc.evaluate_slices(y, models, site, absent="ignore")
        assert not math.isnan(ignoring["few"].value)

    def test_several_models_and_columns(self, rng):
        y, models = make_models(rng, n=600, names="abc")
        by = {"site": np.arange(600) % 2, "year": np.arange(600) // 300}
        found = multiauc.evaluate_slices(y, models, by)
        assert len(found) == 12
        assert found.by == "site and year"
        assert found[(0, 1), "a", "c"].second == "c"
        intervals = found.simultaneous_intervals(0.8)
        for key, one in found.items():
            assert (intervals[key].low > 0 or intervals[key].high < 0) == (one.corrected_p_value < 0.2)

    def test_errors(self, rng):
        y, models = make_models(rng)
        with pytest.raises(ValueError, match="models must have at least two models to compare; got 1"):
            multiauc.evaluate_slices(y, {"a": models["a"]}, y)
        with pytest.raises(ValueError, match="reference='all' goes with the scores of one model"):
            multiauc.evaluate_slices(y, models, y, reference="all")
        with pytest.raises(ValueError, match=r"models\['b'\]: y_true and y_score must have the same number of rows"):
            multiauc.evaluate_slices(y, {"a": models["a"], "b": models["b"][1:]}, y)
