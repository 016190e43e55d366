"""Tests with the real libraries that multiauc works with; `make test-integrations` installs them."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parent.parent / "core"))  # the cases that several kinds of tests share
os.environ |= {"KERAS_BACKEND": "jax", "DO_NOT_TRACK": "true", "HF_HUB_OFFLINE": "1"}

NAMES = np.array(["ant", "bee", "cow", "dog"])


@pytest.fixture(scope="session")
def codes() -> np.ndarray:
    """The classes of 400 rows as numbers."""
    rng = np.random.default_rng(11)
    return np.concatenate([np.arange(4), rng.choice(4, size=396, p=[0.4, 0.3, 0.2, 0.1])])


@pytest.fixture(scope="session")
def names(codes) -> np.ndarray:
    """The same as strings."""
    return NAMES[codes]


@pytest.fixture(scope="session")
def scores(codes) -> np.ndarray:
    """Probabilities for them."""
    powers = np.exp(np.random.default_rng(12).normal(size=(400, 4)) + np.eye(4)[codes])
    return powers / powers.sum(axis=1, keepdims=True)
