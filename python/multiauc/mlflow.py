"""For MLflow: with ``mlflow.models.evaluate(..., evaluators=["multiauc"])`` it logs values with intervals.

The entry point ``mlflow.model_evaluator`` registers it where multiauc and MLflow are installed: you import nothing.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from mlflow import MlflowClient, log_metrics
from mlflow.models.evaluation import EvaluationResult, ModelEvaluator
from mlflow.models.evaluation.artifacts import ImageEvaluationArtifact, TextEvaluationArtifact

from multiauc._common.hints import signature_names, warn
from multiauc._evaluation.evaluation import evaluate
from multiauc._input.arrays import frame_columns

__all__ = ["Evaluator"]

#: Where the artifacts of a run are.
FOLDER = "multiauc"
#: What MLflow's own evaluator calls options of `multiauc.evaluate`.
SYNONYMS = {"label_list": "labels", "sample_weights": "sample_weight"}


class Evaluator(ModelEvaluator):  # type: ignore[misc]
    """An MLflow evaluator: metrics with intervals, each class against the rest, a report and the pair matrix.

    scikit-learn models are evaluated by their probabilities; others must return a column per class, or a list of scores
    per row. Without a model, ``predictions=`` names a column of such lists, or ``scores`` in ``evaluator_config`` the
    columns of the data that hold the scores.

    The options of `multiauc.evaluate` go into ``evaluator_config``: ``metrics``, ``labels``, ``absent``, ``outputs``,
    and columns of the data by name as ``sample_weight``, ``groups`` and ``folds``; ``metric_prefix`` is a prefix for
    all names. Other keys are ignored, because MLflow may pass one dict to all evaluators.

    Examples
    --------
    >>> import mlflow
    >>> mlflow.models.evaluate(model_uri, data, targets="y", model_type="classifier", evaluators=["multiauc"])
    ... # doctest: +SKIP
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: dict[str, Any] | None, **_: Any) -> bool:  # noqa: ARG003
        """Classifiers only."""
        return model_type == "classifier"

    def evaluate(
        self,
        *,
        dataset: Any,
        run_id: str,
        evaluator_config: dict[str, Any] | None,
        model: Any = None,
        model_id: str | None = None,
        **_: Any,
    ) -> EvaluationResult | None:
        """Log the metrics and artifacts of a model, or of stored predictions."""
        config = {SYNONYMS.get(name, name): value for name, value in (evaluator_config or {}).items()}
        prefix, columns = config.get("metric_prefix", ""), config.get("scores")
        # One dict may be for all evaluators: other names are theirs.
        options = {name: config[name] for name in signature_names(evaluate)[2:] if name in config}
        features = dataset.features_data
        for name in ("sample_weight", "groups", "folds"):
            if isinstance(options.get(name), str):
                options[name] = features[options[name]]
        scores, labels = _read_scores(dataset, model) if columns is None else (features[list(columns)], None)
        if scores is None:
            warn(
                "multiauc leaves this model out: it returns classes, not scores. Log it with "
                "pyfunc_predict_fn='predict_proba', or let it return a column of scores per class",
                UserWarning,
            )
            return None
        if labels is not None:
            options.setdefault("labels", labels)
        found = evaluate(dataset.labels_data, scores, **options)
        metrics = found.to_flat_dict(prefix)
        log_metrics(metrics, run_id=run_id, model_id=model_id)
        return EvaluationResult(metrics, _log_artifacts(found, run_id, prefix))


def _read_scores(dataset: Any, model: Any) -> tuple[Any, Any]:
    """The scores of all rows and the classes of their columns, each None where it is not known."""
    if model is None:
        return _as_columns(dataset.predictions_data), None
    try:
        raw = model.get_raw_model()
    except (AttributeError, NotImplementedError):
        raw = None
    if hasattr(raw, "predict_proba"):
        return raw.predict_proba(dataset.features_data), getattr(raw, "classes_", None)
    return _as_columns(model.predict(dataset.features_data)), None


def _as_columns(predictions: Any) -> Any:
    """Scores with a column per class; None for what has a single number, or class, per row."""
    if frame_columns(predictions) is not None and len(predictions.columns) > 1:
        return predictions
    values: Any = np.asarray(predictions)
    if values.dtype == np.object_ and len(values) and np.ndim(values.flat[0]) == 1:
        values = np.stack(values.ravel())
    return values if values.ndim == 2 and values.shape[1] > 1 else None


def _log_artifacts(found: Any, run_id: str, prefix: str) -> dict[str, Any]:
    """Write the report and the matrix of pairs into the run."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    client, folder, artifacts = MlflowClient(), f"{FOLDER}/{prefix}".rstrip("/"), {}
    with tempfile.TemporaryDirectory() as written:
        if found.inputs().folds is None:
            client.log_artifact(run_id, str(found.report(Path(written) / "report.html")), folder)
            artifacts[f"{prefix}report"] = TextEvaluationArtifact(uri=f"runs:/{run_id}/{folder}/report.html")
        if "auc_mu" in found.metrics and found.inputs().folds is None:
            figure = Figure(figsize=(7, 6), layout="constrained")
            found.auc_mu_matrix.plot(figure.subplots())
            figure.savefig(Path(written) / "pair_matrix.png")
            client.log_artifact(run_id, str(Path(written) / "pair_matrix.png"), folder)
            artifacts[f"{prefix}pair_matrix"] = ImageEvaluationArtifact(uri=f"runs:/{run_id}/{folder}/pair_matrix.png")
    return artifacts
