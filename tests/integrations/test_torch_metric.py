"""`multiauc.training.MulticlassAuc` as a metric of torchmetrics, beside its own, in a torch loop and in Lightning."""

import copy
import doctest
import pickle
import warnings

import numpy as np
import pytest
import torch
import torchmetrics
from torchmetrics.classification import MulticlassAUROC

import multiauc
from multiauc.training import MulticlassAuc, torch_metric


def work_as_rank(rank, folder, codes, scores):
    """One process of a distributed job: an uneven share of the batches, or none; then the values of all rows."""
    torch.distributed.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=2)
    everything = list(batches(scores, codes, 50))
    found = {}
    for name, share in (("uneven", everything[:6] if rank == 0 else everything[6:]), ("empty", everything * rank)):
        metrics = {
            "exact": MulticlassAuc(4),
            "bounded": MulticlassAuc(4, memory_limit=2**15),
            "weighted": MulticlassAuc(4, "hand_till"),
        }
        together = torchmetrics.MetricCollection({"mu": MulticlassAuc(4), "rest": MulticlassAuc(4, "one_vs_rest")})
        for preds, target in share:
            for kind, metric in metrics.items():
                metric.update(preds, target, *([target + 1.0] if kind == "weighted" else []))
            together.update(preds, target)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The ``compute`` method of metric", UserWarning)  # a rank without rows
            found |= {f"{name} {kind}": float(metric.compute()) for kind, metric in metrics.items()}
            found |= {f"{name} {kind}": float(value) for kind, value in together.compute().items()}
        found[f"{name} error"] = metrics["exact"].evaluate().auc_mu.standard_error
        bounds = metrics["bounded"].evaluate().auc_mu
        found |= {f"{name} low": bounds.low, f"{name} high": bounds.high}
    (folder / f"{rank}.pickle").write_bytes(pickle.dumps(found))
    torch.distributed.destroy_process_group()


def test_two_processes_have_the_values_of_all_rows(tmp_path, codes, scores):
    torch.multiprocessing.spawn(work_as_rank, (tmp_path, codes, scores), nprocs=2)
    first, second = (pickle.loads((tmp_path / f"{rank}.pickle").read_bytes()) for rank in (0, 1))
    assert first == second
    whole = multiauc.evaluate(codes, scores)
    for name in ("uneven", "empty"):
        assert first[f"{name} exact"] == first[f"{name} mu"] == whole.auc_mu.value
        assert first[f"{name} rest"] == whole.one_vs_rest.value
        assert first[f"{name} weighted"] == multiauc.hand_till_score(codes, scores, sample_weight=codes + 1.0)
        assert first[f"{name} error"] == whole.auc_mu.standard_error
        assert first[f"{name} low"] <= whole.auc_mu.value <= first[f"{name} high"]


def batches(scores, codes, size=64):
    yield from zip(torch.tensor(scores).split(size), torch.tensor(codes).split(size), strict=True)


def fed(metric, scores, codes, size=64):
    for preds, target in batches(scores, codes, size):
        metric.update(preds, target)
    return metric


@pytest.mark.parametrize(
    ("metric", "average"), [("one_vs_rest", "macro"), ("one_vs_rest_prevalence", "weighted")], ids=str
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_values_of_torchmetrics(codes, scores, metric, average, dtype):
    theirs = fed(MulticlassAUROC(num_classes=4, average=average, thresholds=None), scores.astype(dtype), codes)
    for ours in (MulticlassAuc(4, metric), MulticlassAuc(num_classes=4, metric="one_vs_rest", average=average)):
        found = fed(ours, scores.astype(dtype), codes).compute()
        assert isinstance(found, torch.Tensor)
        assert float(found) == pytest.approx(float(theirs.compute()), abs=1e-6)


def test_pixels_as_torchmetrics_reads_them(codes, scores):
    preds = torch.tensor(scores.reshape(4, 10, 10, 4)).permute(0, 3, 1, 2)
    target = torch.tensor(codes.reshape(4, 10, 10))
    target[0, :3] = 255
    ours = MulticlassAuc(4, "one_vs_rest", ignore_index=255)
    theirs = MulticlassAUROC(num_classes=4, ignore_index=255)
    ours.update(preds, target)
    theirs.update(preds, target)
    assert float(ours.compute()) == pytest.approx(float(theirs.compute()), abs=1e-6)


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
        history.append(float(auc.compute()))
        auc.reset()
    assert history[0] < history[-1]
    with torch.no_grad():
        probabilities = model(features).softmax(dim=1)
    auc.update(model(features), target)
    assert float(auc.compute()) == pytest.approx(multiauc.auc_mu_score(codes, probabilities), abs=1e-6)


def test_the_value_of_a_batch(codes, scores):
    ours, theirs = MulticlassAuc(4, "one_vs_rest"), MulticlassAUROC(num_classes=4)
    for preds, target in batches(scores, codes, 200):
        assert float(ours(preds, target)) == pytest.approx(float(theirs(preds, target)), abs=1e-6)
    assert float(ours.compute()) == pytest.approx(float(theirs.compute()), abs=1e-6)
    lacking = MulticlassAuc(4)
    assert torch.isnan(lacking(torch.tensor(scores[codes < 2]), torch.tensor(codes[codes < 2])))
    lacking.update(torch.tensor(scores[codes >= 2]), torch.tensor(codes[codes >= 2]))
    assert float(lacking.compute()) == multiauc.auc_mu_score(codes, scores)


def test_bfloat16(codes, scores):
    auc = MulticlassAuc(4)
    auc.update(torch.tensor(scores).bfloat16(), torch.tensor(codes))
    assert float(auc.compute()) == multiauc.auc_mu_score(codes, torch.tensor(scores).bfloat16())


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
    assert float(auc.compute()) == multiauc.auc_mu_score(codes, scores, sample_weight=codes + 1.0)


def test_batches_are_kept_when_their_memory_is_used_again(codes, scores):
    auc = MulticlassAuc(4)
    buffer, target_buffer = torch.empty(100, 4, dtype=torch.float64), torch.empty(100, dtype=torch.int64)
    for preds, target in batches(scores, codes, 100):
        buffer.copy_(preds)
        target_buffer.copy_(target)
        auc.update(buffer, target_buffer)
    assert float(auc.compute()) == multiauc.auc_mu_score(codes, scores)


@pytest.mark.filterwarnings("ignore:No (positive|negative) samples in targets")  # of their metric, about a batch
@pytest.mark.parametrize("forward", [False, True])
def test_in_a_collection(codes, scores, forward):
    collection = torchmetrics.MetricCollection(
        {
            "mu": MulticlassAuc(4),
            "till": MulticlassAuc(4, "hand_till"),
            "ignoring": MulticlassAuc(4, ignore_index=3, absent="ignore"),
            "bounded": MulticlassAuc(4, memory_limit=2**16),
            "bounded till": MulticlassAuc(4, "hand_till", memory_limit=2**16),
            "theirs": MulticlassAUROC(num_classes=4),
            "accuracy": torchmetrics.Accuracy("multiclass", num_classes=4),
        },
        prefix="val_",
    )
    # The classes come one after another, so that metrics agree after the first batch which do not later.
    order = np.argsort(codes, kind="stable")
    for _ in range(2):
        for preds, target in batches(scores[order], codes[order], 50):
            (collection if forward else collection.update)(preds, target)
        found = {name: float(value) for name, value in collection.compute().items()}
        assert found["val_mu"] == found["val_bounded"] == multiauc.auc_mu_score(codes, scores)
        assert found["val_till"] == found["val_bounded till"] == multiauc.hand_till_score(codes, scores)
        kept = codes != 3
        expected = multiauc.auc_mu_score(codes[kept], scores[kept], labels=range(4), absent="ignore")
        assert found["val_ignoring"] == expected
        collection.reset()


def test_in_a_tracker(codes, scores):
    for name, best in (("auc_mu", 1), ("log_loss", 1)):
        tracker = torchmetrics.MetricTracker(MulticlassAuc(4, name), maximize=None)
        for made in (np.full_like(scores, 0.25), scores, 0.1 * scores + 0.225):
            tracker.increment()
            fed(tracker, made, codes)
        _, step = tracker.best_metric(return_step=True)
        assert step in ((1, 2) if name == "auc_mu" else (best,))
    assert not MulticlassAuc(4, "log_loss").higher_is_better


@pytest.mark.parametrize("memory_limit", [None, 2**15])
def test_copies_and_the_state_dict_of_a_module(tmp_path, codes, scores, memory_limit):
    def make():
        return torch.nn.ModuleDict({"auc": MulticlassAuc(4, memory_limit=memory_limit), "net": torch.nn.Linear(2, 2)})

    module = make()
    fed(module["auc"], scores[:200], codes[:200])
    torch.save(module.state_dict(), tmp_path / "model.pt")
    again = make()
    again.load_state_dict(torch.load(tmp_path / "model.pt"))
    for one in (module["auc"], again["auc"], copy.deepcopy(module["auc"]), pickle.loads(pickle.dumps(module["auc"]))):
        fed(one, scores[200:], codes[200:])
        assert float(one.compute()) == one.evaluate().auc_mu.value
        assert one.evaluate().auc_mu.value == pytest.approx(multiauc.auc_mu_score(codes, scores), abs=0.02)
        assert memory_limit or float(one.compute()) == multiauc.auc_mu_score(codes, scores)
        assert "400 rows" in repr(one)


def test_memory_is_bounded(codes, scores):
    auc = MulticlassAuc(4, "one_vs_rest", memory_limit=2**15)
    for _ in range(20):
        fed(auc, scores, codes)
        assert sum(map(len, next(iter(auc.metric_state.values())))) < 2**16
    assert auc.evaluate().counts.sum() == 8000
    found = auc.evaluate().one_vs_rest
    assert found.low <= multiauc.one_vs_rest_score(codes, scores) <= found.high


def test_the_example_of_the_docstring():
    assert doctest.testmod(torch_metric, globs={}) == (0, 5)


def test_types_of_the_module_leave_the_rows_alone(codes, scores):
    auc = fed(MulticlassAuc(4), scores, codes)
    auc = auc.half().double().set_dtype(torch.float16).to(torch.float16)
    assert float(auc.compute()) == multiauc.auc_mu_score(codes, scores)


def test_no_value_before_the_first_update():
    with pytest.warns(UserWarning, match="before the ``update`` method"), pytest.raises(ValueError, match="no value"):
        MulticlassAuc(4).compute()
