"""`multiauc.boosting` in the training loops of LightGBM, XGBoost and CatBoost."""

import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone

import multiauc
from multiauc.boosting import catboost_metric, lightgbm_metric, xgboost_metric

FUNCTIONS = {
    "auc_mu": multiauc.auc_mu_score,
    "hand_till": multiauc.hand_till_score,
    "one_vs_rest": multiauc.one_vs_rest_score,
}
SHOWN = {"auc_mu": "auc_mu", "hand_till": "auc_hand_till", "one_vs_rest": "auc_one_vs_rest"}
SIZES = {"train": 300, "valid": 200}


@pytest.fixture(scope="module")
def data():
    """(features, classes, weights) to train on and to watch: three classes."""
    rng = np.random.default_rng(3)
    parts = {}
    for part, n in SIZES.items():
        classes = np.concatenate([np.arange(3), rng.choice(3, size=n - 3, p=[0.5, 0.3, 0.2])])
        features = rng.normal(size=(n, 4)) + 0.8 * np.eye(3, 4)[classes]
        parts[part] = features, classes, rng.random(n) + 0.2
    return parts


def softmax_objective(scores, data_set):
    """Cross-entropy by hand: gradient and (a bound of) the Hessian."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    return shares - np.eye(3)[data_set.get_label().astype(int)], 2 * shares * (1 - shares)


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


# LightGBM

LIGHTGBM = {"num_class": 3, "verbosity": -1, "metric": "None", "seed": 1, "num_threads": 1}


def train_lightgbm(data, metric, rounds=4, **parameters):
    train = lightgbm.Dataset(data["train"][0], data["train"][1], weight=data["train"][2])
    valid = lightgbm.Dataset(data["valid"][0], data["valid"][1], weight=data["valid"][2], reference=train)
    history = {}
    model = lightgbm.train(
        LIGHTGBM | {"objective": "multiclass"} | parameters,
        train,
        rounds,
        valid_sets=[valid],
        feval=metric,
        callbacks=[lightgbm.record_evaluation(history)],
    )
    return model, history["valid_0"]


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_lightgbm_history_is_the_metric_of_the_probabilities(data, metric):
    model, history = train_lightgbm(data, lightgbm_metric(metric))
    features, classes, weights = data["valid"]
    expected = [
        FUNCTIONS[metric](
            classes, model.predict(features, num_iteration=k + 1), sample_weight=weights.astype(np.float32)
        )
        for k in range(4)
    ]
    np.testing.assert_allclose(history[SHOWN[metric]], expected, rtol=0, atol=1e-12)


def test_lightgbm_with_an_objective_of_ones_own(data):
    model, history = train_lightgbm(data, lightgbm_metric(outputs="logits"), objective=softmax_objective)
    features, classes, weights = data["valid"]
    expected = multiauc.auc_mu_score(
        classes, softmax(model.predict(features, raw_score=True)), sample_weight=weights.astype(np.float32)
    )
    assert history["auc_mu"][-1] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="outputs='logits'"):
        train_lightgbm(data, lightgbm_metric(), objective=softmax_objective)


def test_lightgbm_one_vs_all(data):
    model, history = train_lightgbm(data, lightgbm_metric("hand_till"), objective="multiclassova")
    features, classes, weights = data["valid"]
    raw = 1 / (1 + np.exp(-model.predict(features, raw_score=True)))
    expected = multiauc.hand_till_score(classes, raw, sample_weight=weights.astype(np.float32))
    assert history["auc_hand_till"][-1] == pytest.approx(expected, abs=1e-12)


def test_lightgbm_of_two_classes(data):
    two = {part: (features, classes > 0, weights) for part, (features, classes, weights) in data.items()}
    model, history = train_lightgbm(two, lightgbm_metric(), objective="binary", num_class=1)
    features, classes, weights = two["valid"]
    expected = multiauc.auc_mu_score(classes, model.predict(features), sample_weight=weights.astype(np.float32))
    assert history["auc_mu"][-1] == pytest.approx(expected, abs=1e-12)


def test_lightgbm_stops_early_at_the_best_round(data):
    features, classes, _ = data["train"]
    model = lightgbm.LGBMClassifier(n_estimators=60, verbosity=-1, metric="None", num_threads=1, random_state=1)
    model.fit(
        features,
        classes,
        eval_X=(data["valid"][0],),
        eval_y=(data["valid"][1],),
        eval_sample_weight=[data["valid"][2]],
        eval_metric=lightgbm_metric(),
        callbacks=[lightgbm.early_stopping(5, verbose=False)],
    )
    history = model.evals_result_["valid_0"]["auc_mu"]
    assert len(history) < 60
    assert model.best_iteration_ == 1 + int(np.argmax(history))
    expected = multiauc.auc_mu_score(
        data["valid"][1], model.predict_proba(data["valid"][0]), sample_weight=data["valid"][2].astype(np.float32)
    )
    assert max(history) == pytest.approx(expected, abs=1e-12)


# XGBoost

# (XGBoost keeps six decimals of a metric that is not its own.)

XGBOOST = {"num_class": 3, "disable_default_eval_metric": True, "seed": 1, "nthread": 1, "max_depth": 3}


def train_xgboost(data, metric, rounds=4, objective="multi:softprob", early_stopping_rounds=None):
    train = xgboost.DMatrix(data["train"][0], data["train"][1], weight=data["train"][2])
    valid = xgboost.DMatrix(data["valid"][0], data["valid"][1], weight=data["valid"][2])
    history = {}
    model = xgboost.train(
        XGBOOST if callable(objective) else XGBOOST | {"objective": objective},
        train,
        rounds,
        evals=[(valid, "valid")],
        obj=objective if callable(objective) else None,
        custom_metric=metric,
        evals_result=history,
        early_stopping_rounds=early_stopping_rounds,
        verbose_eval=False,
    )
    return model, valid, history["valid"]


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_xgboost_history_is_the_metric_of_the_probabilities(data, metric):
    model, valid, history = train_xgboost(data, xgboost_metric(metric))
    expected = [
        FUNCTIONS[metric](
            data["valid"][1],
            model.predict(valid, iteration_range=(0, k + 1)),
            sample_weight=data["valid"][2].astype(np.float32),
        )
        for k in range(4)
    ]
    np.testing.assert_allclose(history[SHOWN[metric]], expected, rtol=0, atol=1e-6)


def test_xgboost_with_an_objective_of_ones_own(data):
    model, valid, history = train_xgboost(data, xgboost_metric(outputs="logits"), objective=softmax_objective)
    expected = multiauc.auc_mu_score(
        data["valid"][1],
        softmax(model.predict(valid, output_margin=True)),
        sample_weight=data["valid"][2].astype(np.float32),
    )
    assert history["auc_mu"][-1] == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ValueError, match="outputs='logits'"):
        train_xgboost(data, xgboost_metric(), objective=softmax_objective)


def test_xgboost_classes_instead_of_probabilities_are_refused(data):
    with pytest.raises(ValueError, match="multi:softprob"):
        train_xgboost(data, xgboost_metric(), objective="multi:softmax")


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_xgboost_stops_early_at_the_best_round(data, metric):
    model, _, history = train_xgboost(data, xgboost_metric(metric), rounds=60, early_stopping_rounds=5)
    history = history[SHOWN[metric]]
    assert len(history) < 60
    assert model.best_iteration == int(np.argmax(history))
    assert model.best_score == max(history)


def test_xgboost_classifier(data):
    model = xgboost.XGBClassifier(
        n_estimators=60,
        max_depth=3,
        n_jobs=1,
        random_state=1,
        eval_metric=xgboost_metric("hand_till"),
        early_stopping_rounds=5,
        disable_default_eval_metric=True,
    )
    features, classes, weights = data["valid"]
    model.fit(*data["train"][:2], eval_set=[(features, classes)], sample_weight_eval_set=[weights], verbose=False)
    history = model.evals_result()["validation_0"]["auc_hand_till"]
    assert model.best_iteration == int(np.argmax(history))
    expected = multiauc.hand_till_score(
        classes, model.predict_proba(features), sample_weight=weights.astype(np.float32)
    )
    assert max(history) == pytest.approx(expected, abs=1e-6)


# CatBoost

CATBOOST = {"verbose": False, "allow_writing_files": False, "random_seed": 1, "thread_count": 1, "depth": 3}


def train_catboost(data, metric, iterations=4, **parameters):
    names = np.array(["low", "mid", "top"])
    pools = {
        part: catboost.Pool(features, names[classes], weight=weights)
        for part, (features, classes, weights) in data.items()
    }
    model = catboost.CatBoostClassifier(
        iterations=iterations, eval_metric=metric, **(CATBOOST | {"loss_function": "MultiClass"} | parameters)
    )
    model.fit(pools["train"], eval_set=pools["valid"])
    return model, model.get_evals_result()["validation"]


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_catboost_history_is_the_metric_of_the_probabilities(data, metric):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, history = train_catboost(data, catboost_metric(metric), use_best_model=False)
    features, classes, weights = data["valid"]
    expected = [
        FUNCTIONS[metric](classes, probabilities, sample_weight=weights.astype(np.float32))
        for probabilities in model.staged_predict_proba(features)
    ]
    np.testing.assert_allclose(history[SHOWN[metric]], expected, rtol=0, atol=1e-6)


def test_catboost_ranks_probabilities_where_its_own_auc_mu_ranks_raw_scores(data):
    alike = {part: (features, classes, np.ones(len(classes))) for part, (features, classes, _) in data.items()}
    model, history = train_catboost(alike, catboost_metric(), custom_metric="AUC:type=Mu", use_best_model=False)
    raw = model.predict(data["valid"][0], prediction_type="RawFormulaVal")
    of_raw = multiauc.auc_mu_score(data["valid"][1], raw)
    assert history["AUC:type=Mu"][-1] == pytest.approx(of_raw, abs=1e-6)
    assert abs(history["auc_mu"][-1] - of_raw) > 1e-4


def test_catboost_one_vs_all(data):
    metric = catboost_metric("hand_till", outputs="one_vs_all_logits")
    model, history = train_catboost(data, metric, loss_function="MultiClassOneVsAll", use_best_model=False)
    features, classes, weights = data["valid"]
    raw = model.predict(features, prediction_type="RawFormulaVal")
    expected = multiauc.hand_till_score(classes, 1 / (1 + np.exp(-raw)), sample_weight=weights.astype(np.float32))
    assert history["auc_hand_till"][-1] == pytest.approx(expected, abs=1e-6)


def test_catboost_of_two_classes(data):
    features, classes, _ = data["train"]
    model = catboost.CatBoostClassifier(iterations=4, eval_metric=catboost_metric(), **CATBOOST)
    model.fit(features, classes > 0, eval_set=(data["valid"][0], data["valid"][1] > 0), use_best_model=False)
    expected = multiauc.auc_mu_score(data["valid"][1] > 0, model.predict_proba(data["valid"][0]))
    assert model.get_evals_result()["validation"]["auc_mu"][-1] == pytest.approx(expected, abs=1e-6)


def test_catboost_keeps_the_best_round(data):
    model, history = train_catboost(data, catboost_metric(), iterations=60, early_stopping_rounds=5)
    assert len(history["auc_mu"]) < 60
    assert model.get_best_iteration() == int(np.argmax(history["auc_mu"]))
    assert repr(clone(model).get_params()["eval_metric"]) == "auc_mu('auc_mu', outputs='logits')"


# The recipes of the page "Replace what you use today"

PAGE = (Path(__file__).parents[2] / "docs" / "replace-what-you-use-today.md").read_text("utf-8")


def recipes(library):
    """What the page prints in place of the lines that it takes away, for one library."""
    (section,) = re.findall(rf"^## {library}\n(.*?)^## ", PAGE, re.DOTALL | re.MULTILINE)
    blocks = re.findall(r"```diff\n(.*?)```", section, re.DOTALL)
    return ["\n".join(line[1:] for line in block.splitlines() if line.startswith("+")) for block in blocks]


@pytest.fixture(scope="module")
def few_rows():
    """Names for the recipes: data on which the loss is at its best some rounds before the AUC is, or after."""
    rng = np.random.default_rng(3)
    classes = rng.integers(3, size=500)
    features = rng.normal(size=(500, 6)) + 0.9 * np.eye(3, 6)[classes]
    return {
        "X_train": features[:250],
        "y_train": classes[:250],
        "X_valid": features[250:],
        "y_valid": classes[250:],
    }


def run_recipe(code, names):
    """The value of the printed expression, run as it is printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return eval(code, names)


def lightgbm_rounds(data, k):
    """(best round by LightGBM, our metric of all rounds, the loss of all rounds), of the k-th recipe; all from 1."""
    params = {"objective": "multiclass", "verbosity": -1, "learning_rate": 0.3, "seed": 1, "num_threads": 1}
    names = data | {"lightgbm": lightgbm, "lightgbm_metric": lightgbm_metric, "params": params}
    if k == 0:
        params["num_class"] = 3
        names["train"] = lightgbm.Dataset(data["X_train"], data["y_train"])
        names["valid"] = lightgbm.Dataset(data["X_valid"], data["y_valid"], reference=names["train"])
        best = run_recipe(recipes("LightGBM")[0], names).best_iteration
    else:
        names |= {"LGBMClassifier": lightgbm.LGBMClassifier, "early_stopping": lightgbm.early_stopping}
        best = run_recipe(recipes("LightGBM")[1], names).best_iteration_
    full = lightgbm.train(params | {"num_class": 3}, lightgbm.Dataset(data["X_train"], data["y_train"]), 40)
    return best, *_curves(data, [full.predict(data["X_valid"], num_iteration=m + 1) for m in range(40)])


def xgboost_rounds(data, k):
    params = {"objective": "multi:softprob", "num_class": 3, "seed": 1, "nthread": 1}
    train, valid = (xgboost.DMatrix(data[f"X_{part}"], data[f"y_{part}"]) for part in ("train", "valid"))
    if k == 0:
        names = {"xgboost": xgboost, "xgboost_metric": xgboost_metric, "params": params, "train": train, "valid": valid}
        # By default XGBoost trains ten rounds.
        names["xgboost"] = SimpleNamespace(train=lambda *a, **o: xgboost.train(*a, **o, num_boost_round=60))
        best = run_recipe(recipes("XGBoost")[0], names).best_iteration
    else:
        names = {"XGBClassifier": xgboost.XGBClassifier, "xgboost_metric": xgboost_metric}
        model = run_recipe(recipes("XGBoost")[1], names).set_params(n_estimators=60, random_state=1, n_jobs=1)
        model.fit(data["X_train"], data["y_train"], eval_set=[(data["X_valid"], data["y_valid"])], verbose=False)
        best = model.best_iteration
    full = xgboost.train(params, train, 40)
    return best + 1, *_curves(data, [full.predict(valid, iteration_range=(0, m + 1)) for m in range(40)])


def catboost_rounds(data, _):
    names = {"CatBoostClassifier": catboost.CatBoostClassifier, "catboost_metric": catboost_metric}
    settings = {"iterations": 60, "learning_rate": 0.3, "random_seed": 1, "thread_count": 1, "verbose": False}
    model = run_recipe(recipes("CatBoost")[0], names).set_params(**settings, allow_writing_files=False)
    model.fit(data["X_train"], data["y_train"], eval_set=(data["X_valid"], data["y_valid"]))
    full = catboost.CatBoostClassifier(**settings, allow_writing_files=False).fit(data["X_train"], data["y_train"])
    return model.get_best_iteration() + 1, *_curves(data, list(full.staged_predict_proba(data["X_valid"]))[:40])


def _curves(data, probabilities):
    """Our metric and the loss after each round."""
    classes = data["y_valid"]
    aucs = [multiauc.auc_mu_score(classes, found) for found in probabilities]
    return aucs, [-np.log(found[np.arange(len(classes)), classes]).mean() for found in probabilities]


@pytest.mark.parametrize(
    ("rounds", "k"),
    [(lightgbm_rounds, 0), (lightgbm_rounds, 1), (xgboost_rounds, 0), (xgboost_rounds, 1), (catboost_rounds, 0)],
)
def test_printed_recipes_stop_at_the_best_round(few_rows, rounds, k):
    best, aucs, losses = rounds(few_rows, k)
    # XGBoost and CatBoost keep six decimals of the metric.
    assert aucs[best - 1] == pytest.approx(max(aucs[: best + 20]), abs=1e-6)
    assert best != 1 + int(np.argmin(losses))


def test_all_printed_recipes_are_run():
    assert [len(recipes(library)) for library in ("LightGBM", "XGBoost", "CatBoost")] == [2, 2, 1]


# A class that the watched data lack


@pytest.mark.parametrize("train", [train_lightgbm, train_xgboost])
def test_absent_classes_are_an_error_unless_ignored(data, train):
    make = {train_lightgbm: lightgbm_metric, train_xgboost: xgboost_metric}[train]
    features, classes, weights = data["valid"]
    kept = classes != 2
    lacking = data | {"valid": (features[kept], classes[kept], weights[kept])}
    with pytest.raises(ValueError, match="no rows of positive weight of 1 class: 2"):
        train(lacking, make())
    history = train(lacking, make(absent="ignore"))[-1]["auc_mu"]
    assert 0.5 < history[-1] < 1
