"""`multiauc.training.hugging_face` as compute_metrics of a real Trainer, with a model made from a configuration."""

import numpy as np
import pytest
import torch
import transformers

import multiauc
from multiauc.training import hugging_face

pytestmark = pytest.mark.filterwarnings("ignore")  # of the Trainer about pinned memory and deprecations


class Rows(torch.utils.data.Dataset):
    """Sentences of six tokens, of which the first depends on the class."""

    def __init__(self, codes):
        rng = np.random.default_rng(0)
        self.codes = codes
        self.tokens = rng.integers(4, 20, size=(len(codes), 6))
        self.tokens[:, 1] = np.where(rng.random(len(codes)) < 0.6, codes, rng.integers(4, size=len(codes)))

    def __len__(self):
        return len(self.codes)

    def __getitem__(self, row):
        tokens = torch.tensor(self.tokens[row])
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": int(self.codes[row])}


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "hidden_size": 16, "intermediate_size": 16, "max_position_embeddings": 8}
    config = transformers.BertConfig(**sizes, num_hidden_layers=1, num_attention_heads=2, num_labels=4)
    return transformers.BertForSequenceClassification(config)


def make_trainer(model, folder, data, compute_metrics, **options):
    arguments = transformers.TrainingArguments(
        output_dir=str(folder), use_cpu=True, report_to=[], per_device_eval_batch_size=64, disable_tqdm=True, **options
    )
    return transformers.Trainer(
        model=model, args=arguments, train_dataset=data, eval_dataset=data, compute_metrics=compute_metrics
    )


def test_training_goes_by_it(model, tmp_path, codes):
    data = Rows(codes)
    trainer = make_trainer(
        model,
        tmp_path,
        data,
        hugging_face("auc_mu", "log_loss"),
        num_train_epochs=3,
        learning_rate=1e-2,
        per_device_train_batch_size=100,
        eval_strategy="epoch",
        save_strategy="best",
        metric_for_best_model="auc_mu",
        logging_strategy="no",
    )
    trainer.train()
    logits, target, found = trainer.predict(data)
    assert found["test_auc_mu"] == multiauc.auc_mu_score(target, logits, outputs="logits")
    assert found["test_log_loss"] == multiauc.log_loss_score(target, logits, outputs="logits")
    low, high = multiauc.evaluate(target, logits, outputs="logits").auc_mu.confidence_interval()
    assert (found["test_auc_mu_low"], found["test_auc_mu_high"]) == (low, high)
    history = [entry["eval_auc_mu"] for entry in trainer.state.log_history if "eval_auc_mu" in entry]
    assert trainer.state.best_metric == max(history)


def test_batches_in_bounded_memory(model, tmp_path, codes):
    data = Rows(codes)
    whole = make_trainer(model, tmp_path, data, hugging_face()).evaluate()
    by_batch = make_trainer(model, tmp_path, data, hugging_face(), batch_eval_metrics=True)
    for _ in range(2):
        found = by_batch.evaluate()
        assert found["eval_auc_mu"] == whole["eval_auc_mu"]
    kept = hugging_face("auc_mu", memory_limit=None, pair_weights="size_sum")
    found = make_trainer(model, tmp_path, data, kept, batch_eval_metrics=True).evaluate()
    logits, target, _ = by_batch.predict(data)
    assert found["eval_auc_mu"] == multiauc.auc_mu_score(target, logits, outputs="logits", pair_weights="size_sum")


def test_tuples_and_tokens(codes, scores):
    hidden = np.zeros((400, 7))
    prediction = transformers.EvalPrediction(predictions=(np.log(scores), hidden), label_ids=codes)
    expected = multiauc.auc_mu_score(codes, scores)
    assert hugging_face()(prediction)["auc_mu"] == pytest.approx(expected, abs=1e-12)
    tokens = np.log(scores).reshape(100, 4, 4)
    target = codes.reshape(100, 4).copy()
    target[:, 3] = -100
    found = hugging_face("hand_till")(transformers.EvalPrediction(predictions=tokens, label_ids=target))
    kept = target.ravel() >= 0
    expected = multiauc.hand_till_score(codes[kept], scores[kept])
    assert found["hand_till"] == pytest.approx(expected, abs=1e-12)


def test_errors_come_when_it_is_made():
    with pytest.raises(ValueError, match="metric must be one of"):
        hugging_face("auc")
    with pytest.raises(TypeError, match="'hand_till' has no option 'partition'"):
        hugging_face("hand_till", partition=np.ones((4, 4)))


def test_options_that_need_all_rows_are_refused_in_bounded_memory(codes, scores):
    prediction = transformers.EvalPrediction(predictions=np.log(scores), label_ids=codes)
    weighted = hugging_face(pair_weights="size_sum")
    assert weighted(prediction)["auc_mu"] > 0.5
    with pytest.raises(ValueError, match="got 'pair_weights' too, which needs all scores: memory_limit=None keeps"):
        weighted(prediction, compute_result=False)
