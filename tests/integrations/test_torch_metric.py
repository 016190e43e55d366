"""`multiauc.training.MulticlassAuc` in a torch loop, beside torchmetrics."""

import numpy as np
import pytest
import torch
from torchmetrics.classification import MulticlassAUROC

import multiauc
from multiauc.training import MulticlassAuc


def work_as_rank(rank, folder, memory, codes, scores):
    """One process of a distributed job: half of the batches, then the metric of all of them."""
    torch.distributed.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=2)
    auc = MulticlassAuc(4, memory_limit=memory)
    for preds, target in list(batches(scores, codes, 50))[rank::2]:
        auc.update(preds, target)
    assert auc.compute() != multiauc.auc_mu_score(codes, scores)
    (folder / f"{rank}.txt").write_text(repr(auc.gathered().compute()))
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize("memory", [None, 2**22])
def test_two_processes_have_the_value_of_all_rows(tmp_path, memory, codes, scores):
    torch.multiprocessing.spawn(work_as_rank, (tmp_path, memory, codes, scores), nprocs=2)
    assert [float((tmp_path / f"{rank}.txt").read_text()) for rank in (0, 1)] == [
        multiauc.auc_mu_score(codes, scores)
    ] * 2


def batches(scores, codes, size=64):
    yield from zip(torch.tensor(scores).split(size), torch.tensor(codes).split(size), strict=True)


@pytest.mark.parametrize(
    ("metric", "average"), [("one_vs_rest", "macro"), ("one_vs_rest_prevalence", "weighted")], ids=str
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_values_of_torchmetrics(codes, scores, metric, average, dtype):
    ours, theirs = MulticlassAuc(4, metric), MulticlassAUROC(num_classes=4, average=average, thresholds=None)
    for preds, target in batches(scores.astype(dtype), codes):
        ours.update(preds, target)
        theirs.update(preds, target)
    assert ours.compute() == pytest.approx(float(theirs.compute()), abs=1e-6)


def test_pixels_as_torchmetrics_reads_them(codes, scores):
    preds = torch.tensor(scores.reshape(4, 10, 10, 4)).permute(0, 3, 1, 2)
    target = torch.tensor(codes.reshape(4, 10, 10))
    ours, theirs = MulticlassAuc(4, "one_vs_rest"), MulticlassAUROC(num_classes=4)
    ours.update(preds, target)
    theirs.update(preds, target)
    assert ours.compute() == pytest.approx(float(theirs.compute()), abs=1e-6)


def test_a_training_loop(codes, scores):
    torch.manual_seed(0)
    features = torch.tensor(scores, dtype=torch.float32) + 0.1 * torch.randn(400, 4)
    target = torch.tensor(codes)
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    auc = MulticlassAuc(4, outputs="logits").to("cpu")
    history = []
    for _ in range(3):
        for rows in torch.randperm(400).split(50):
            logits = model(features[rows])
            torch.nn.functional.cross_entropy(logits, target[rows]).backward()
            optimizer.step()
            optimizer.zero_grad()
            auc.update(logits, target[rows])
        history.append(auc.compute())
        auc.reset()
    assert history[0] < history[-1]
    with torch.no_grad():
        probabilities = model(features).softmax(dim=1)
    auc.update(model(features), target)
    assert auc.compute() == pytest.approx(multiauc.auc_mu_score(codes, probabilities), abs=1e-6)


def test_the_value_of_a_batch(codes, scores):
    ours, theirs = MulticlassAuc(4, "one_vs_rest"), MulticlassAUROC(num_classes=4)
    for preds, target in batches(scores, codes, 200):
        assert ours(preds, target) == pytest.approx(float(theirs(preds, target)), abs=1e-6)
    assert ours.compute() == pytest.approx(float(theirs.compute()), abs=1e-6)


def test_bfloat16(codes, scores):
    auc = MulticlassAuc(4)
    auc.update(torch.tensor(scores).bfloat16(), torch.tensor(codes))
    assert auc.compute() == multiauc.auc_mu_score(codes, torch.tensor(scores).bfloat16())


class Elsewhere:
    """A tensor that has to be fetched from another device."""

    def __init__(self, tensor):
        self.tensor = tensor

    def cpu(self):
        return self.tensor


def test_tensors_of_other_devices_are_fetched(codes, scores):
    auc = MulticlassAuc(4)
    everything = (scores, codes, codes + 1.0)
    auc.update(*[Elsewhere(torch.tensor(values)) for values in everything])
    assert auc.compute() == multiauc.auc_mu_score(codes, scores, sample_weight=codes + 1.0)


def test_batches_are_kept_when_their_memory_is_used_again(codes, scores):
    auc = MulticlassAuc(4)
    buffer, target_buffer = torch.empty(100, 4, dtype=torch.float64), torch.empty(100, dtype=torch.int64)
    for preds, target in batches(scores, codes, 100):
        buffer.copy_(preds)
        target_buffer.copy_(target)
        auc.update(buffer, target_buffer)
    assert auc.compute() == multiauc.auc_mu_score(codes, scores)
