"""Tests with the real libraries that multiauc works with; `make test-integrations` installs them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

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


@pytest.fixture(scope="session")
def dask_client() -> Iterator[object]:
    """Dask's distributed scheduler with two processes."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def ray_runtime() -> Iterator[None]:
    """Ray on this machine, without a dashboard."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()
