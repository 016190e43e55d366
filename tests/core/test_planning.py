"""How many rows are needed: plans against their definition, and against samples of the planned size."""

import math
import pickle

import numpy as np
import pytest

import multiauc

CLASSES = np.array(["ant", "bee", "cat"])


def scores(rng, y_true, heights):
    """Normal scores, a column per class, that are higher for the right class."""
    return rng.normal(size=(len(y_true), len(CLASSES))) + np.asarray(heights) * (y_true[:, None] == CLASSES)


def two_models(rng, sizes):
    """Two correlated models of the same rows, the first one better."""
    y_true = np.repeat(CLASSES, sizes)
    common, right = rng.normal(size=(len(y_true), 3)), y_true[:, None] == CLASSES
    good = common + 1.4 * right + 0.5 * rng.normal(size=common.shape)
    return y_true, {"good": good, "fair": common + 1.2 * right + 0.7 * rng.normal(size=common.shape)}


def half(interval):
    return 0.5 * (interval.high - interval.low)


@pytest.fixture
def data(rng):
    y_true = rng.choice(CLASSES, size=240, p=[0.5, 0.3, 0.2])
    return y_true, scores(rng, y_true, [1.0, 1.5, 2.0])


def options(rng, y_true, kind):
    groups = [f"{label} {number}" for label, number in zip(y_true, rng.integers(25, size=len(y_true)), strict=True)]
    weights = rng.lognormal(size=len(y_true)) * (rng.random(len(y_true)) < 0.9)
    return {
        "plain": {},
        "weights": {"sample_weight": weights},
        "groups": {"groups": groups},
        "both": {"groups": groups, "sample_weight": weights},
        "iid": {"sampling": "iid"},
    }[kind]


class TestDefinition:
    @pytest.mark.parametrize("kind", ["plain", "weights", "groups", "both", "iid"])
    @pytest.mark.parametrize("level", [0.95, 0.8])
    def test_a_plan_for_what_the_pilot_has_is_the_pilot(self, rng, data, kind, level):
        y_true, y_score = data
        given = options(rng, y_true, kind)
        metrics = ("auc_mu", "hand_till") if kind == "iid" else tuple(multiauc.evaluate(*data).metrics)
        pilot = multiauc.evaluate(y_true, y_score, metrics=metrics, **given)
        models = {"a": y_score, "b": y_score + rng.normal(size=y_score.shape)}
        comparison = multiauc.compare(y_true, models, **given)
        expected = [(pilot, {"metric": name}, pilot.metrics[name]) for name in metrics]
        expected.append((comparison, {}, comparison.difference("a", "b")))
        for one, asked, known in expected:
            plan = multiauc.sample_size(one, half_width=half(known.confidence_interval(level)), level=level, **asked)
            assert plan.per_class == plan.pilot
            assert plan.unit == ("groups" if "groups" in given else "rows")
            assert plan.standard_error == pytest.approx(known.standard_error, rel=1e-10)
            assert plan.degrees_of_freedom == pytest.approx(known.degrees_of_freedom, rel=1e-9)
            assert plan.relative_error == pytest.approx(math.sqrt(2 / known.degrees_of_freedom))

    def test_the_variance_is_a_sum_over_classes(self, rng):
        """Plain NumPy for two classes: the components are DeLong's placements."""
        y_true, score = np.repeat([0, 1], [80, 40]), rng.normal(size=120) + np.repeat([0.0, 1.2], [80, 40])
        wins = score[80:, None] > score[:80]
        theta = wins.mean()
        variances = np.array([wins.mean(axis=0).var(ddof=1), wins.mean(axis=1).var(ddof=1)])
        plan = multiauc.sample_size(multiauc.evaluate(y_true, score), half_width=0.01)
        sizes = np.array(list(plan.per_class.values()))
        assert plan.standard_error == pytest.approx(math.sqrt((variances / sizes).sum()), rel=1e-3)
        # Thousands of rows: the interval is nearly symmetric and t nearly normal.
        assert 1.96 * plan.standard_error == pytest.approx(0.01, rel=0.01)
        best = np.array(list(plan.best_per_class.values()))
        assert best / best.sum() == pytest.approx(np.sqrt(variances) / np.sqrt(variances).sum(), abs=1e-3)
        assert plan.best_total == pytest.approx(np.sqrt(variances).sum() ** 2 * (1.96 / 0.01) ** 2, rel=0.01)
        assert theta == multiauc.evaluate(y_true, score).auc_mu.value

    def test_fewer_rows_do_not_reach_it(self, data):
        pilot = multiauc.evaluate(*data)
        for width in (0.2, 0.03, 0.004):
            plan = multiauc.sample_size(pilot, half_width=width)
            narrower = multiauc.sample_size(pilot, half_width=0.99 * width)
            assert plan.best_total <= plan.total <= narrower.total
            t = [multiauc.sample_size(pilot, half_width=width, level=level).total for level in (0.8, 0.9, 0.99)]
            assert t == sorted(t)
            assert min(plan.per_class.values()) >= 2

    def test_power_needs_rows(self, rng):
        pilot = multiauc.compare(*two_models(rng, [60, 50, 40]))
        totals = [multiauc.sample_size(pilot, difference=0.02, power=power).total for power in (0.3, 0.8, 0.9, 0.99)]
        assert totals == sorted(set(totals))
        # The difference may be taken either way round.
        swapped = multiauc.sample_size(pilot, difference=0.02, models=("fair", "good"))
        assert swapped.per_class == multiauc.sample_size(pilot, difference=0.02).per_class
        variance = pilot.differences[0].variance * pilot.counts.sum()
        assert totals[1] == pytest.approx(variance * (2.8016 / 0.02) ** 2, rel=0.02)

    def test_best_shares_only_where_the_metric_stays_the_same(self, data):
        pilot = multiauc.evaluate(*data)
        for metric in ("one_vs_rest", "one_vs_rest_prevalence"):
            plan = multiauc.sample_size(pilot, metric=metric, half_width=0.02)
            assert plan.best_per_class is plan.best_total is None
            assert "changes with the class prevalences" in repr(plan)
        by_size = multiauc.evaluate(*data, metrics=["hand_till"], pair_weights="size_product")
        assert multiauc.sample_size(by_size, half_width=0.02).best_total is None
        two = multiauc.evaluate(np.repeat([0, 1], 50), np.arange(100) % 37 + 10.0 * (np.arange(100) >= 50))
        plans = [multiauc.sample_size(two, metric=metric, half_width=0.05) for metric in ("auc_mu", "one_vs_rest")]
        assert plans[0].best_per_class == plans[1].best_per_class

    def test_best_shares_need_every_class_to_vary(self):
        y_true = np.repeat([0, 1], [4, 20])
        score = np.concatenate([np.full(4, 5.0), np.arange(20.0)])
        plan = multiauc.sample_size(multiauc.evaluate(y_true, score), half_width=0.05)
        assert plan.best_per_class is None
        assert "how much rows of 0 vary" in repr(plan)

    def test_absent_classes_are_not_planned(self, data):
        kept = data[0] != "bee"
        pilot = multiauc.evaluate(data[0][kept], data[1][kept], labels=CLASSES, absent="ignore")
        assert list(multiauc.sample_size(pilot, half_width=0.02).per_class) == ["ant", "cat"]

    def test_result(self, data):
        plan = multiauc.sample_size(multiauc.evaluate(*data), half_width=0.02)
        assert pickle.loads(pickle.dumps(plan)) == plan
        assert plan.to_dict()["total"] == plan.total == sum(plan.per_class.values())
        assert repr(plan).startswith("SampleSize: a 95% interval of AUC_mu, 0.")
        assert f"<td>{plan.best_total}</td>" in plan._repr_html_()


class TestPromises:
    """Samples of the planned size, from the population that a large pilot shows."""

    @pytest.mark.parametrize("shares", ["same", "best"])
    def test_width(self, shares):
        rng = np.random.default_rng(1)
        draw = lambda sizes: (y := np.repeat(CLASSES, sizes), scores(rng, y, [0.8, 1.4, 2.0]))  # noqa: E731
        plan = multiauc.sample_size(
            multiauc.evaluate(*draw([20000, 6000, 4000]), metrics=["hand_till"]), half_width=0.03
        )
        sizes = list((plan.per_class if shares == "same" else plan.best_per_class).values())
        found = [multiauc.evaluate(*draw(sizes), metrics=["hand_till"]).hand_till for _ in range(300)]
        widths = [half(one.confidence_interval()) for one in found]
        assert np.mean(widths) == pytest.approx(0.03, rel=0.03)
        assert np.std([one.value for one in found]) == pytest.approx(plan.standard_error, rel=0.15)

    @pytest.mark.parametrize("power", [0.8, 0.5])
    def test_power(self, power):
        rng = np.random.default_rng(2)
        pilot = multiauc.compare(*two_models(rng, [60000, 40000, 20000]))
        truth = pilot.difference("good", "fair").value
        plan = multiauc.sample_size(pilot, difference=truth, power=power)
        sizes = list(plan.per_class.values())
        seen = [multiauc.compare(*two_models(rng, sizes)).differences[0].p_value < 0.05 for _ in range(600)]
        # Three Monte-Carlo errors.
        assert np.mean(seen) == pytest.approx(power, abs=0.06)


class TestErrors:
    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({}, "exactly one of half_width and difference must be passed; got neither"),
            ({"half_width": 0.1, "difference": 0.1}, "got both"),
            ({"half_width": 0.5}, "half_width must be a number above 0 and below 0.5; got 0.5"),
            ({"half_width": math.nan}, "half_width must be a number above 0 and below 0.5"),
            ({"half_width": 1e-12}, "half_width or difference is too small"),
            ({"half_width": 0.1, "power": 0.9}, "power has no meaning with half_width"),
            ({"half_width": 0.1, "metric": "pdi"}, "metric must be one of 'auc_mu'"),
            ({"half_width": 0.1, "models": ("a", "b")}, "models has no meaning for an Evaluation"),
            ({"half_width": 0.1, "level": 95}, "level must be a number above 0 and below 1"),
            ({"difference": 0.1}, "difference needs a Comparison"),
        ],
    )
    def test_options(self, data, asked, message):
        with pytest.raises(ValueError, match=message):
            multiauc.sample_size(multiauc.evaluate(*data), **asked)

    def test_options_of_a_comparison(self, rng, data):
        y_true, y_score = data
        models = {name: y_score + rng.normal(size=y_score.shape) for name in "abc"}
        pilot = multiauc.compare(y_true, models)
        for asked, message in [
            ({}, "models must be two of 'a', 'b', 'c'"),
            ({"models": "ab"}, "models must be two of"),
            ({"models": ("a", "x")}, "no model 'x'"),
            ({"models": ("a", "b"), "metric": "hand_till"}, "metric must be one of 'auc_mu'"),
            ({"models": ("a", "b"), "power": 0.04}, "power must be a number above 0.05 and below 1"),
            ({"models": ("a", "b"), "difference": -0.1}, "difference must be a number above 0 and below 1"),
        ]:
            with pytest.raises(ValueError, match=message):
                multiauc.sample_size(pilot, **({"difference": 0.05} | asked))
        with pytest.raises(ValueError, match="no analytic standard errors"):
            multiauc.sample_size(
                multiauc.compare(y_true, models, metric="multiclass_roc"), models=("a", "b"), difference=0.05
            )
        with pytest.raises(TypeError, match="pilot must be an Evaluation or a Comparison"):
            multiauc.sample_size(y_true, half_width=0.05)

    def test_pilots_that_show_too_little(self, data):
        y_true, y_score = data
        plan = multiauc.sample_size
        with pytest.raises(ValueError, match="got 1 with a standard error of 0"):
            plan(multiauc.evaluate([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]), half_width=0.1)
        with pytest.warns(RuntimeWarning, match="single row"):
            single = multiauc.evaluate([0, 0, 0, 1], [0.1, 0.3, 0.4, 0.35])
        with pytest.raises(ValueError, match="effectively one row in 1"):
            plan(single, half_width=0.1)
        same = multiauc.compare(y_true, {"a": y_score, "b": y_score})
        with pytest.raises(ValueError, match="a - b in AUC_mu varies; got 0 with a standard error of 0"):
            plan(same, difference=0.1)
        with pytest.raises(ValueError, match="unpickled"):
            plan(pickle.loads(pickle.dumps(multiauc.evaluate(*data))), half_width=0.1)

    def test_pilots_without_class_sizes_to_choose(self, data):
        y_true, y_score = data
        numbers = np.arange(len(y_true)) % 5
        for given, metric, message in [
            ({"folds": numbers}, None, "a plan with folds is not offered"),
            ({"groups": numbers}, None, "groups that lie within classes"),
            ({"sampling": "iid"}, "one_vs_rest", "sampling='stratified'"),
        ]:
            with pytest.raises(ValueError, match=message):
                multiauc.sample_size(multiauc.evaluate(y_true, y_score, **given), metric=metric, half_width=0.05)
