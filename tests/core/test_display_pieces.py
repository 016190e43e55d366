"""What is shown: digits, sizes, progress; how much memory there is, and how many resamples a report has."""

import math
import sys
import time

import pytest

from internals import show_progress_early
from multiauc._common.progress import Progress, RowProgress, Stage
from multiauc._common.wording import decimals, p_text
from multiauc._display.numbers import choose_resamples
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


class TestDigits:
    """A number that is not 0 or 1 never reads as if it were."""

    @pytest.mark.parametrize("digits", [2, 3, 4])
    @pytest.mark.parametrize("value", [0.5, 0.9994, 0.99951, 0.99996, 1 - 1e-9, 1 - 2**-53, 3e-5, 1e-12, 1e-300])
    def test_below_one_and_above_zero(self, value, digits):
        for signed in (value, -value):
            text = decimals(signed, digits)
            assert abs(float(text)) not in (0.0, 1.0)
            assert float(text) == pytest.approx(signed, rel=0.5, abs=0.6 * 10.0**-digits)
            assert float(decimals(signed, digits, sign=True)) == float(text)

    def test_whole_numbers_and_nan(self):
        assert [decimals(v) for v in (0.0, -0.0, 1.0, -1.0, math.nan)] == [
            "0.0000",
            "0.0000",
            "1.0000",
            "-1.0000",
            "nan",
        ]
        assert decimals(0.25, sign=True) == "+0.2500"

    @pytest.mark.parametrize("threshold", [0.05, 1.0 - 0.95, 0.01, 0.001, 1e-5])
    def test_p_values_read_on_their_side_of_the_threshold(self, threshold):
        for share in (1e-6, 0.5, 0.9, 0.9999, 0.999999, 1.000001, 1.0001, 1.1, 3.0):
            text = p_text(share * threshold, threshold)
            if text.startswith("<"):
                assert share < 1
                assert float(text.removeprefix("< ")) <= threshold
            else:
                assert (float(text) < threshold) == (share < 1)


def test_the_number_of_resamples_depends_on_the_size():
    assert choose_resamples(2_000, 20, 3) == 200
    assert choose_resamples(1_000_000, 10, 1) == 200
    few = choose_resamples(20_000, 200, 1)
    assert 10 <= few <= 20
    assert choose_resamples(20_000, 200, 5) == few
    assert few < choose_resamples(3_000, 100, 1) < 200


class TestProgress:
    class Terminal:
        def __init__(self):
            self.text = ""

        def write(self, text):
            self.text += text

        def flush(self):
            pass

        def isatty(self):
            return True

    def test_steps_cover_the_work(self):
        steps = list(Progress(1000, "work").steps())
        assert steps[0] == 0
        assert steps[-1] == 1000
        assert steps == sorted(set(steps))

    def test_nothing_is_drawn_for_short_work(self, monkeypatch):
        terminal = self.Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        with Progress(10, "work") as progress:
            assert list(progress.steps(2))[-1] == 10
        assert terminal.text == ""

    @pytest.mark.parametrize(
        ("work", "line"), [(Stage("fitting"), "fitting: 0 s"), (Progress(10, "work"), "work [---")]
    )
    def test_a_terminal_is_told_before_the_first_step_is_done(self, monkeypatch, work, line):
        terminal = self.Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        show_progress_early(monkeypatch)
        with work:
            for _ in range(200):
                if line in terminal.text:
                    break
                time.sleep(0.05)
        assert line in terminal.text
        assert terminal.text.endswith("\r")

    def test_long_lines_do_not_wrap(self, monkeypatch):
        terminal = self.Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        show_progress_early(monkeypatch)
        monkeypatch.setenv("COLUMNS", "20")
        with Stage("long " * 40):
            for _ in range(200):
                if terminal.text:
                    break
                time.sleep(0.05)
        assert max(map(len, terminal.text.split("\r"))) == 19


@pytest.mark.parametrize(
    ("calls", "seconds", "line"),
    [
        ([(0, 0.0)], 1, "t [------------] 0 rows, 1 s"),
        ([(0, 0.0), (1000, 0.25)], 2, "t [###---------] 1.0k rows, 500 rows/s, 6 s left"),
        ([(900, 0.5), (1000, 0.75)], 2, "t [#########---] 1.0k rows, 50 rows/s, 2 s left"),
        ([(0, 0.0), (44_100_000, 0.01)], 100, "t [------------] 44.1M rows, 441.0k rows/s, 2 h 45 min left"),
        ([(0, 0.0), (3_000_000_000, 0.5)], 600, "t [######------] 3.0G rows, 5.0M rows/s, 10 min left"),
        ([(0, 0.0), (1000, None)], 2, "t: 1.0k rows, 500 rows/s"),
    ],
)
def test_words_of_rows(calls, seconds, line):
    progress = RowProgress("t", is_wanted=False)
    for call in calls:
        progress.reached(*call)
    assert progress._line(seconds) == line
