"""How much memory there is, and sizes as people write them."""

import pytest

from multiauc._display.tables import format_size
from multiauc.cli import _evaluate, _requests


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MB", 512 * 10**6), ("512 MB", 512 * 10**6), ("512M", 512 * 2**20), ("512MiB", 512 * 2**20),
        ("1.5g", 3 * 2**29), ("2GiB", 2**31), ("1tb", 10**12), ("1000", 1000), ("1000B", 1000), ("4k", 4096),
    ],
)  # fmt: skip
def test_sizes(text, size):
    assert _requests.read_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1G", "1X", "1 000", "1iB", "0x10", "1e9", "1,5G", "nan"])
def test_what_is_no_size(text):
    assert _requests.read_size(text) is None


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (1_340_000_000, "1.34 GB"),
        (999_600, "1 MB"),
        (5 * 10**15, "5e+03 TB"),
    ],
)
def test_words(size, words):
    assert format_size(size) == words


class TestAvailable:
    @pytest.fixture(autouse=True)
    def places(self, monkeypatch, tmp_path):
        """A system whose files are in a folder."""
        monkeypatch.setattr(_evaluate, "MEMINFO", tmp_path / "meminfo")
        monkeypatch.setattr(_evaluate, "LIMITS", ((tmp_path / "max", tmp_path / "current"),))
        return tmp_path

    def test_of_the_machine(self, places):
        (places / "meminfo").write_text("MemTotal: 2000 kB\nMemAvailable:    1000 kB\n", "utf-8")
        assert _evaluate.available_memory() == 1_024_000

    def test_of_a_container(self, places):
        (places / "meminfo").write_text("MemAvailable:    1000 kB\n", "utf-8")
        (places / "max").write_text("5000\n", "utf-8")
        (places / "current").write_text("2000\n", "utf-8")
        assert _evaluate.available_memory() == 3000

    def test_of_a_container_without_a_limit(self, places):
        (places / "meminfo").write_text("MemAvailable:    1000 kB\n", "utf-8")
        (places / "max").write_text("max\n", "utf-8")
        (places / "current").write_text("2000\n", "utf-8")
        assert _evaluate.available_memory() == 1_024_000

    def test_of_another_system(self, monkeypatch):
        monkeypatch.setattr(_evaluate.os, "sysconf", {"SC_PHYS_PAGES": 100, "SC_PAGE_SIZE": 4096}.__getitem__)
        assert _evaluate.available_memory() == 204_800
        monkeypatch.delattr(_evaluate.os, "sysconf")
        assert _evaluate.available_memory() is None

    def test_here(self, monkeypatch):
        monkeypatch.undo()
        assert _evaluate.available_memory() > 2**20
