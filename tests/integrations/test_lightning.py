"""`MulticlassAuc` in Lightning: logged as a metric, reset after each epoch, of all processes under DDP."""

import numpy as np
import pytest
import pytorch_lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

import multiauc
from multiauc.training import MulticlassAuc

pytestmark = pytest.mark.filterwarnings("ignore")  # of Lightning about workers, loggers and single devices


class Classifier(pytorch_lightning.LightningModule):
    """A linear model; `seen` has the value after each epoch as Lightning logs it, and the logits it belongs to."""

    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 4)
        self.auc = MulticlassAuc(4, outputs="logits", absent="nan")
        self.seen = []

    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, _):
        self.auc.update(self.net(batch[0]), batch[1])
        self.log("val_auc", self.auc, on_epoch=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1.0)


class Watch(pytorch_lightning.Callback):
    """Writes down the logged value of every epoch beside that of all validation rows."""

    def __init__(self, features, target, path):
        self.features, self.target, self.path = features, target, path

    def on_validation_end(self, trainer, module):
        if trainer.sanity_checking:
            return
        with torch.no_grad():
            expected = multiauc.auc_mu_score(self.target, module.net(self.features), outputs="logits")
        if trainer.is_global_zero:
            with self.path.open("a") as file:
                file.write(f"{float(trainer.callback_metrics['val_auc'])!r} {expected!r}\n")


@pytest.mark.parametrize("processes", [1, 2])
def test_every_epoch_has_its_own_value(tmp_path, codes, scores, processes):
    pytorch_lightning.seed_everything(0, verbose=False)
    features = torch.tensor(scores, dtype=torch.float32) + 0.3 * torch.randn(400, 4)
    target = torch.tensor(codes)
    loader = DataLoader(TensorDataset(features, target), batch_size=40)
    module = Classifier()
    trainer = pytorch_lightning.Trainer(
        max_epochs=3,
        accelerator="cpu",
        devices=processes,
        strategy="auto" if processes == 1 else "ddp_spawn",
        callbacks=[
            Watch(features, target, tmp_path / "seen.txt"),
            pytorch_lightning.callbacks.ModelCheckpoint(tmp_path, monitor="val_auc", mode="max", save_top_k=1),
        ],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, loader, loader)
    seen = np.loadtxt(tmp_path / "seen.txt")
    assert seen.shape == (3, 2)
    assert seen[:, 0] == pytest.approx(seen[:, 1], abs=1e-6)
    assert len(set(seen[:, 0])) == 3
    if processes == 1:  # the other processes keep it to themselves
        assert trainer.checkpoint_callback.best_model_score == pytest.approx(seen[:, 0].max(), abs=1e-6)
