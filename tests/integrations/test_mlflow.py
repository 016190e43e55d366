"""`multiauc.mlflow.Evaluator`, found by MLflow through its entry point; and flat dicts for those who log by hand."""

import mlflow
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import multiauc

pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow, about schemas, pickles and deprecations


@pytest.fixture(scope="module")
def tracking(tmp_path_factory):
    """A tracking server in a file."""
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("digits", artifact_location=(folder / "a").as_uri()))
    return folder


@pytest.fixture
def data(names, scores):
    frame = pd.DataFrame(scores + 0.2 * np.random.default_rng(5).normal(size=scores.shape), columns=list("wxyz"))
    return frame.assign(target=names)


def logged_metrics(run):
    return mlflow.get_run(run.info.run_id).data.metrics


def files(run):
    return sorted(one.path for one in mlflow.MlflowClient().list_artifacts(run.info.run_id, "multiauc"))


def test_a_model_of_scikit_learn(tracking, data):
    model = LogisticRegression().fit(data[list("wxyz")], data["target"])
    with mlflow.start_run() as run:
        uri = mlflow.sklearn.log_model(model, name="model", pip_requirements=[]).model_uri
        found = mlflow.models.evaluate(uri, data, targets="target", model_type="classifier", evaluators=["multiauc"])
    expected = multiauc.evaluate(data["target"], model.predict_proba(data[list("wxyz")]))
    logged = logged_metrics(run)
    assert logged == found.metrics == expected.to_flat_dict()
    low, high = expected.auc_mu.confidence_interval()
    assert (logged["auc_mu"], logged["auc_mu_low"], logged["auc_mu_high"]) == (expected.auc_mu.value, low, high)
    assert logged["per_class_bee"] == expected.per_class["bee"].value
    assert files(run) == ["multiauc/pair_matrix.png", "multiauc/report.html"]
    assert sorted(found.artifacts) == ["pair_matrix", "report"]
    page = mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/multiauc/report.html")
    assert page.startswith("<!DOCTYPE html>")
    assert f"{expected.auc_mu.value:.3f}" in page


def test_predictions_made_before(tracking, names, scores):
    classes = ["ant", "bee", "cow", "dog"]
    config = {"log_explainer": False, "labels": classes, "metric_prefix": "test/", "metrics": ["auc_mu", "log_loss"]}
    static = pd.DataFrame({"target": names, "proba": list(scores)})
    options = {"targets": "target", "model_type": "classifier", "evaluators": "multiauc"}
    with mlflow.start_run() as run:
        mlflow.models.evaluate(data=static, predictions="proba", evaluator_config=config, **options)
    expected = multiauc.evaluate(names, scores, metrics=["auc_mu", "log_loss"]).to_flat_dict("test/")
    assert logged_metrics(run) == expected
    columns = pd.DataFrame(scores, columns=["ant", "bee", "cow", "dog"])
    wide = columns.assign(target=names, site=np.arange(400) % 40, predicted=names)
    config = {"scores": ["ant", "bee", "cow", "dog"], "groups": "site"}
    with mlflow.start_run() as run:
        mlflow.models.evaluate(data=wide, predictions="predicted", evaluator_config=config, **options)
    assert logged_metrics(run) == multiauc.evaluate(names, columns, groups=np.arange(400) % 40).to_flat_dict()


def test_a_function_that_returns_scores(tracking, data):
    model = LogisticRegression().fit(data[list("wxyz")], data["target"])

    def predict(frame):
        return pd.DataFrame(model.predict_proba(frame), columns=model.classes_)

    options = {"targets": "target", "model_type": "classifier", "evaluators": ["multiauc"]}
    with mlflow.start_run() as run:
        mlflow.models.evaluate(predict, data, **options)
    expected = multiauc.evaluate(data["target"], model.predict_proba(data[list("wxyz")]))
    assert logged_metrics(run) == expected.to_flat_dict()
    with (
        mlflow.start_run(),
        pytest.warns(UserWarning, match="returns classes, not scores"),
        pytest.raises(mlflow.MlflowException, match="could not be evaluated"),
    ):
        mlflow.models.evaluate(model.predict, data, **options)


def test_other_models_are_left_to_others(tracking, data):
    from multiauc.mlflow import Evaluator

    assert Evaluator.can_evaluate(model_type="classifier", evaluator_config={})
    assert not Evaluator.can_evaluate(model_type="regressor", evaluator_config={})


def test_names_of_flat_dicts_are_allowed(tracking, codes, scores):
    labels = ["a/b", "..", "é % (x)", "c//"]
    names = np.array(labels)[codes]
    result = multiauc.evaluate(names, scores, labels=labels)
    comparison = multiauc.compare(names, {"a/b": scores, "c d": scores[:, ::-1]}, labels=labels)
    with mlflow.start_run() as run:
        mlflow.log_metrics(result.to_flat_dict("val/"))
        mlflow.log_metrics(comparison.to_flat_dict())
    logged = logged_metrics(run)
    assert logged["val/auc_mu"] == result.auc_mu.value
    assert len(logged) == len(result.to_flat_dict()) + len(comparison.to_flat_dict())
