"""`multiauc.training.KerasAuc` in Keras 3, with the backend jax."""

import keras
import numpy as np
import pytest

import multiauc
from multiauc.training import KerasAuc, MulticlassAuc

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of Keras' variables


@pytest.fixture
def data(codes, scores):
    features = scores + 0.3 * np.random.default_rng(1).normal(size=(400, 4))
    return features.astype(np.float32), codes


def make_model(*, loss="sparse_categorical_crossentropy", units=4, **options):
    keras.utils.set_random_seed(0)
    head = keras.layers.Dense(units, activation="sigmoid" if units == 1 else "softmax")
    model = keras.Sequential([keras.layers.Input((4,)), head])
    model.compile(optimizer=keras.optimizers.Adam(0.1), loss=loss, **options)
    return model


def test_early_stopping_and_checkpoints_go_by_it(tmp_path, data):
    x, y = data
    model = make_model()
    history = model.fit(
        x,
        y,
        epochs=30,
        batch_size=100,
        verbose=0,
        callbacks=[
            KerasAuc(x, y),
            KerasAuc(x, np.eye(4)[y], metric="hand_till", name="val_m"),
            keras.callbacks.EarlyStopping(monitor="val_auc_mu", mode="max", patience=2, restore_best_weights=True),
            keras.callbacks.ModelCheckpoint(tmp_path / "best.keras", "val_m", mode="max", save_best_only=True),
        ],
    ).history
    assert 2 < len(history["val_auc_mu"]) < 30
    assert max(history["val_auc_mu"]) == multiauc.auc_mu_score(y, model.predict(x, verbose=0))
    best = keras.models.load_model(tmp_path / "best.keras")
    assert max(history["val_m"]) == multiauc.hand_till_score(y, best.predict(x, verbose=0))


class Batches(keras.utils.PyDataset):
    """Batches by number."""

    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y

    def __len__(self):
        return 4

    def __getitem__(self, k):
        return self.x[100 * k : 100 * (k + 1)], self.y[100 * k : 100 * (k + 1)]


def test_data_sets_of_batches(data):
    x, y = data
    model = make_model()
    expected = multiauc.auc_mu_score(y, model.predict(x, verbose=0))
    for batches in (Batches(x, y), [Batches(x, y)[k] for k in range(4)]):
        callback = KerasAuc(batches)
        callback.set_model(model)
        assert callback.value() == pytest.approx(expected, abs=1e-6)


def test_two_classes_with_one_output(data):
    x, y = data
    callback = KerasAuc(x, (y > 1)[:, None].astype(int), sample_weight=y + 1.0)
    model = make_model(loss="binary_crossentropy", units=1)
    callback.set_model(model)
    expected = multiauc.auc_mu_score((y > 1).astype(int), model.predict(x, verbose=0)[:, 0], sample_weight=y + 1.0)
    assert callback.value() == expected


def test_rows_that_are_not_one_hot_are_refused(data):
    callback = KerasAuc(data[0], np.full((400, 4), 0.25))
    callback.set_model(make_model())
    with pytest.raises(ValueError, match="y must hold class numbers or one-hot rows"):
        callback.value()


@pytest.mark.parametrize("make", [KerasAuc, lambda *_: MulticlassAuc(4)])
def test_a_metric_in_compile_says_where_it_belongs(data, make):
    x, y = data
    model = make_model(metrics=[make(x, y)])
    with pytest.raises((TypeError, ValueError), match=r"multiauc.training.KerasAuc|fit\(callbacks="):
        model.fit(x, y, epochs=1, verbose=0)
