"""A sample whose slices are all alike."""

import numpy as np

from strategies import softmax


def sample(rng, n=1200, classes=3, skill=1.0):
    """(labels, probabilities) of a model whose skill is the same for all rows."""
    y_true = rng.integers(classes, size=n)
    return y_true, softmax(skill * np.eye(classes)[y_true] + rng.normal(size=(n, classes)))
