"""Intervals and bands of the multi-class ROC curve, and its pictures."""

import sys
import time

import numpy as np
import pytest

import multiauc
from multiauc import _progress
from multiauc._progress import Progress, Stage
from multiclass_roc_data import shifted_normals


@pytest.fixture
def roc(rng):
    return multiauc.multiclass_roc(*shifted_normals(rng, 150, 3))


class TestRows:
    def test_depends_on_the_seed_alone(self, roc):
        first, again, other = (roc.bootstrap(40, rng=seed).replicates for seed in (3, 3, 4))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)
        np.testing.assert_array_equal(roc.bootstrap(40, rng=np.random.default_rng(3)).replicates, first)
        np.testing.assert_array_equal(roc.bootstrap(20, rng=3).replicates, first[:20])

    def test_replicates_are_curves_of_resampled_rows(self, rng):
        """The spread is that of drawing rows by hand, within classes, at the thresholds of the sample."""
        codes, scores = shifted_normals(rng, 150, 3)
        roc = multiauc.multiclass_roc(codes, scores, thresholds=30)
        by_hand = []
        for _ in range(150):
            rows = np.concatenate([rng.choice(np.flatnonzero(codes == c), np.sum(codes == c)) for c in range(3)])
            by_hand.append(multiauc.multiclass_roc(codes[rows], scores[rows], thresholds=roc.thresholds).auc)
        bootstrap = roc.bootstrap(600, rng=1)
        assert bootstrap.standard_error == pytest.approx(np.std(by_hand, ddof=1), rel=0.25)
        assert np.mean(bootstrap.replicates) == pytest.approx(np.mean(by_hand), abs=4 * np.std(by_hand) / 150**0.5)

    def test_one_stream_serves_several_models(self, rng):
        codes, scores = shifted_normals(rng, 200, 3)
        close = scores + 1e-9 * rng.random(scores.shape)
        one, other = (multiauc.multiclass_roc(codes, p).bootstrap(50, rng=5).replicates for p in (scores, close))
        assert np.corrcoef(one, other)[0, 1] > 0.999

    def test_weighted_rows_keep_their_weights(self, rng):
        codes, scores = shifted_normals(rng, 120, 3)
        plain = multiauc.multiclass_roc(codes, scores).bootstrap(30, rng=0)
        same = multiauc.multiclass_roc(codes, scores, sample_weight=np.ones(120)).bootstrap(30, rng=0)
        np.testing.assert_allclose(plain.replicates, same.replicates, atol=1e-12)
        skewed = multiauc.multiclass_roc(codes, scores, sample_weight=rng.exponential(size=120)).bootstrap(30, rng=0)
        assert skewed.standard_error > plain.standard_error

    def test_two_classes(self, rng):
        codes, scores = shifted_normals(rng, 100, 2)
        bootstrap = multiauc.multiclass_roc(codes, scores[:, 1]).bootstrap(400, rng=0)
        low, high = bootstrap.confidence_interval()
        assert low < bootstrap.estimate < high


class TestIntervals:
    def test_methods(self, roc):
        bootstrap = roc.bootstrap(300, rng=2)
        low, high = bootstrap.confidence_interval(0.9, "percentile")
        np.testing.assert_allclose([low, high], np.quantile(bootstrap.replicates, [0.05, 0.95]))
        mirrored = bootstrap.confidence_interval(0.9, "basic")
        assert mirrored.low == pytest.approx(2 * roc.auc - high)
        logit = bootstrap.confidence_interval()
        assert 0.0 < logit.low < roc.auc < logit.high < 1.0
        wider = bootstrap.confidence_interval(level=0.99)
        assert wider.low < logit.low < logit.high < wider.high

    def test_logit_by_hand(self, roc):
        bootstrap = roc.bootstrap(300, rng=2)
        d = roc.auc
        ends = np.log(d / (1 - d)) + np.array([-1, 1]) * 1.959963984540054 * bootstrap.standard_error / (d * (1 - d))
        np.testing.assert_allclose(bootstrap.confidence_interval(), 1 / (1 + np.exp(-ends)))

    def test_perfect_and_constant_scores(self):
        codes = np.repeat([0, 1], 10)
        perfect = multiauc.multiclass_roc(codes, codes.astype(float)).bootstrap(10, rng=0)
        assert perfect.confidence_interval() == (0.025 ** (1 / 10), 1.0)
        constant = multiauc.multiclass_roc(codes, np.zeros(20)).bootstrap(10, rng=0)
        with pytest.warns(RuntimeWarning, match="all alike"):
            assert np.isnan(constant.confidence_interval()).all()

    def test_band(self, roc):
        bootstrap = roc.bootstrap(200, rng=2)
        band = bootstrap.band(0.8)
        assert band.fpr[0] == 0.0
        assert band.fpr[-1] == 1.0
        assert np.all(band.low <= band.high)
        assert np.all(np.diff(band.low) >= -1e-12)
        inside = np.interp(band.fpr, roc.fpr, roc.tpr)
        assert np.mean((inside >= band.low - 1e-9) & (inside <= band.high + 1e-9)) > 0.9

    def test_errors(self, roc):
        with pytest.raises(ValueError, match="n_resamples must be a positive integer; got 0"):
            roc.bootstrap(0)
        with pytest.raises(ValueError, match="method must be one of 'rows', 'binomial', 'binomial_class_size'"):
            roc.bootstrap(3, method="parametric")
        with pytest.raises(ValueError, match=r"level must be between 0 and 1, such as 0.95; got 95"):
            roc.bootstrap(3, rng=0).confidence_interval(95)


class TestBinomial:
    def test_is_far_too_sure_of_itself(self, roc):
        rows = roc.bootstrap(100, rng=0).standard_error
        sizes = roc.bootstrap(100, rng=0, method="binomial_class_size").standard_error
        products = roc.bootstrap(100, rng=0, method="binomial").standard_error
        assert 0.0 < products < sizes / 3 < rows / 6

    def test_depends_on_the_seed_alone(self, roc):
        first, again = (roc.bootstrap(10, rng=3, method="binomial").replicates for _ in range(2))
        np.testing.assert_array_equal(first, again)


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
        monkeypatch.setattr(_progress, "PATIENCE", 0.01)
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
        monkeypatch.setattr(_progress, "PATIENCE", 0.01)
        monkeypatch.setenv("COLUMNS", "20")
        with Stage("long " * 40):
            for _ in range(200):
                if terminal.text:
                    break
                time.sleep(0.05)
        assert max(map(len, terminal.text.split("\r"))) == 19
