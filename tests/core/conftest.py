"""Settings and fixtures shared by all tests."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

from strategies import PAPER_CODES, PAPER_SCORES

# Pictures need no screen.
os.environ["MPLBACKEND"] = "agg"

# "quick" and "ci" draw the same examples every time; "thorough" (HYPOTHESIS_PROFILE=thorough) looks for new ones.
settings.register_profile(
    "ci", derandomize=True, max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=20)
settings.register_profile("thorough", settings.get_profile("ci"), derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the name of the test alone."""
    return np.random.default_rng(list(request.node.nodeid.rpartition("::")[2].encode()))


@pytest.fixture
def paper() -> tuple[np.ndarray, np.ndarray]:
    """Thirteen rows whose values are known as exact fractions: (codes, scores)."""
    return PAPER_CODES.copy(), PAPER_SCORES.copy()


@pytest.fixture
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> object:
    """The command line: call it with arguments, get what it printed."""
    from command_line import CommandLine

    return CommandLine(capsys)


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Leave no pictures open: matplotlib warns of more than twenty."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


@pytest.fixture
def restore_threads() -> Iterator[None]:
    """Give later tests the default number of threads again."""
    import multiauc

    yield
    multiauc.set_num_threads(0)
