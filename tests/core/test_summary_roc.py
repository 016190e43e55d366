"""Summary ROC curves against R's metafor and lme4, the formulas' own numbers, and simulations."""

import math
import pickle
import sys
import warnings

import numpy as np
import pytest

import multiauc
import oracle_summary_roc as oracle
from internals import draw_rows
from multiauc import _rust
from multiauc._rust import summary_area as area
from multiauc.plotting import SummaryRocDisplay

TABLES = (
    [47, 126, 19, 36, 130, 84, 68, 85, 9, 152, 31, 97],
    [9, 51, 10, 3, 19, 2, 40, 10, 1, 51, 12, 6],
    [101, 272, 12, 78, 211, 68, 112, 20, 38, 88, 25, 45],
    [738, 1543, 192, 276, 959, 89, 423, 183, 101, 1000, 310, 180],
)

# Means, their standard errors, standard deviations and correlation of logit TPR and logit FPR, and the log-likelihood.
# R 4.2.2: metafor 3.8-1, rma.mv(y, v, mods = ~ side - 1, random = ~ side | study, struct = "UN") with bobyqa to 1e-10;
# lme4 1.1-31, glmer(cbind(k, n - k) ~ side - 1 + (side - 1 | study), binomial, nAGQ = 1) with tolPwrss = 1e-13.
METAFOR_ML = (
    [1.674150669672, -1.678460540144],
    [0.271448889517, 0.194695855853],
    [0.852753691875, 0.654591853532, 0.697457309182],
    -25.423391892413,
)
METAFOR_REML = (
    [1.681314500174, -1.680019061735],
    [0.284550630679, 0.203778769475],
    [0.900705227055, 0.686874083398, 0.697512964648],
    -24.236912715389 - math.log(12),  # metafor adds half the logarithm of |X'X|, 12 for each mean
)
LME4 = (
    [1.721623617197, -1.686966948671],
    [0.284461662113, 0.196056026893],
    [0.890602340158, 0.659550912952, 0.708298376859],
    -97.969733687320,
)
# lm(D ~ S) of R 4.2.2.
LM = ([3.443761776974, 0.172758666037], [0.187701982949, 0.124295131214])


def simulated_tables(rng, n, means, between, size=150):
    """Tables of the binomial model."""
    logits = rng.multivariate_normal(means, between, size=n)
    rates = 1 / (1 + np.exp(-logits))
    tp, fp = rng.binomial(size, rates).T
    return tp, size - tp, fp, size - fp


def pair_sample(seed, n, n_classes, height=1.0):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    scores = height * np.eye(n_classes)[codes] + rng.normal(size=(n, n_classes))
    scores += np.linspace(0.0, 1.5, n_classes)  # classes that are decided for at different rates
    return codes, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("model", "estimation", "expected", "tolerance"),
    [
        ("bivariate", "ml", METAFOR_ML, 1e-6),
        ("bivariate", "reml", METAFOR_REML, 1e-6),
        ("binomial", "ml", LME4, 2e-5),
    ],
)
def test_random_effects_are_those_of_r(model, estimation, expected, tolerance):
    roc = multiauc.summary_roc(*TABLES, model=model, estimation=estimation)
    means, errors, spread, log_likelihood = expected
    np.testing.assert_allclose(list(roc.parameters.values()), means + spread, rtol=0, atol=tolerance)
    found = [roc.standard_errors[name] for name in ("logit_tpr", "logit_fpr")]
    np.testing.assert_allclose(found, errors, rtol=0, atol=tolerance)
    assert roc.log_likelihood == pytest.approx(log_likelihood, abs=1e-7)


def test_the_regression_is_that_of_r():
    roc = multiauc.summary_roc(*TABLES, model="moses_littenberg")
    np.testing.assert_allclose(list(roc.parameters.values()), LM[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose([roc.standard_errors[name] for name in roc.parameters], LM[1], rtol=0, atol=1e-11)
    a, b = LM[0]
    for fpr in (0.05, 0.3, 0.9):
        logit = math.log(fpr / (1 - fpr))
        expected = 1 / (1 + math.exp(-(a / (1 - b) + (1 + b) / (1 - b) * logit)))
        assert roc.sensitivity(fpr) == pytest.approx(expected, abs=1e-10)


def test_hsroc_is_the_bivariate_model_in_other_parameters():
    bivariate = multiauc.summary_roc(*TABLES)
    hsroc = multiauc.summary_roc(*TABLES, model="hsroc")
    mu1, mu2, s1, s2, rho = bivariate.parameters.values()
    shape, accuracy = math.log(s2 / s1), math.sqrt(s2 / s1) * mu1 - math.sqrt(s1 / s2) * mu2
    assert hsroc.parameters["beta"] == pytest.approx(shape, abs=1e-7)
    assert hsroc.parameters["Lambda"] == pytest.approx(accuracy, abs=1e-7)
    assert hsroc.parameters["sigma2_alpha"] == pytest.approx(2 * s1 * s2 * (1 - rho), abs=1e-7)
    assert hsroc.parameters["sigma2_theta"] == pytest.approx(0.5 * s1 * s2 * (1 + rho), abs=1e-7)
    assert (hsroc.intercept, hsroc.slope) == pytest.approx(
        (accuracy * math.exp(-shape / 2), math.exp(-shape)), abs=1e-6
    )
    assert hsroc.auc == pytest.approx(bivariate.auc, abs=1e-8)
    assert hsroc.standard_errors["auc"] == pytest.approx(bivariate.standard_errors["auc"], rel=1e-4)
    # The curve passes through the operating point.
    fpr, tpr = hsroc.operating_point
    assert hsroc.sensitivity(fpr) == pytest.approx(tpr, abs=1e-7)


@pytest.mark.parametrize(("ratio", "expected"), [(5, 0.7470506524), (20, 0.8866630319), (100, 0.9631142722), (1, 0.5)])
def test_areas_of_constant_odds_ratios(ratio, expected):
    assert area(math.log(ratio), 1.0) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("slope", [0.01, 0.3, 0.99, 1.7, 40.0])
def test_areas_of_other_curves(slope):
    x = (np.arange(2_000_000) + 0.5) / 2_000_000
    heights = 1 / (1 + np.exp(-np.clip(0.8 + slope * np.log(x / (1 - x)), -700, 700)))
    assert area(0.8, slope) == pytest.approx(heights.mean(), abs=1e-6)
    assert math.isnan(area(0.8, -slope))


@pytest.mark.parametrize("model", ["moses_littenberg", "bivariate", "hsroc", "binomial"])
@pytest.mark.parametrize("shape", ["tables", "zero", "alike", "simulated"])
def test_what_follows_from_estimates(model, shape):
    """Areas, parameters, standard errors and heights of the core are those of the formulas in NumPy."""
    tables = np.array(TABLES, dtype=float).T
    if shape == "zero":
        tables[5, 1] = 0.0
    elif shape == "alike":
        tables[:, :2] = 3.0, 2.0  # logit TPR does not vary
    elif shape == "simulated":
        tables = np.array(
            simulated_tables(np.random.default_rng(8), 9, [1.0, -1.0], 0.3 * np.eye(2), 40), dtype=float
        ).T
    tables = np.ascontiguousarray(tables)
    fit = _rust.fit_summary_roc(tables, model, False)
    if model == "moses_littenberg":
        expected, covariance = oracle.fit_line(tables)
        np.testing.assert_allclose(fit.estimates, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(fit.curve, oracle.curve(model, fit.estimates), rtol=1e-14)
    np.testing.assert_allclose(fit.values, oracle.values(model, fit.estimates, area), rtol=1e-14, atol=1e-15)
    errors = oracle.standard_errors(model, fit.estimates, fit.covariance, area)
    np.testing.assert_allclose(fit.standard_errors, errors, rtol=1e-9)
    assert fit.is_symmetric == (model != "moses_littenberg" and min(fit.estimates[2:4]) < oracle.NO_SPREAD)


def test_zero_cells_get_a_half():
    tp, fn, fp, tn = (np.array(cells) for cells in TABLES)
    fn[5] = 0
    halves = [np.log((a + 0.5) / (b + 0.5)) for a, b in ((tp, fn), (fp, tn))]
    slope, intercept = np.polyfit(halves[0] + halves[1], halves[0] - halves[1], 1)
    roc = multiauc.summary_roc(tp, fn, fp, tn, model="moses_littenberg")
    assert list(roc.parameters.values()) == pytest.approx([intercept, slope], abs=1e-10)
    assert not np.array_equal(multiauc.summary_roc(tp, fn, fp, tn, model="binomial").tables, roc.tables + 0.5)


@pytest.mark.slow
def test_areas_of_simulated_tables_are_covered():
    """Of 30 sets of 20 tables, nearly all areas lie within 2.6 standard errors; these are of the right size."""
    rng = np.random.default_rng(3)
    means, between = [1.2, -1.0], np.array([[0.4, 0.2], [0.2, 0.3]])
    slope = math.sqrt(0.4 / 0.3)
    truth = area(means[0] - slope * means[1], slope)
    rocs = [multiauc.summary_roc(*simulated_tables(rng, 20, means, between)) for _ in range(30)]
    areas = np.array([roc.auc for roc in rocs])
    errors = np.array([roc.standard_errors["auc"] for roc in rocs])
    z = (areas - truth)[~np.isnan(errors)] / errors[~np.isnan(errors)]
    assert np.mean(np.abs(z) < 2.6) > 0.93
    assert np.nanmedian(errors) == pytest.approx(areas.std(), rel=0.4)


FEW = np.array(TABLES, dtype=float).T[:6]


def test_large_counts_are_normal():
    """The binomial model then is the bivariate one with full maximum likelihood."""
    factor = 1e10
    found = multiauc.summary_roc(*(FEW * factor).T, model="binomial")
    expected = multiauc.summary_roc(*(FEW * factor).T, model="bivariate", estimation="ml")
    assert found.auc == pytest.approx(expected.auc, abs=1e-6)
    for name, value in expected.parameters.items():
        assert found.parameters[name] == pytest.approx(value, abs=1e-5)
        assert found.standard_errors[name] == pytest.approx(expected.standard_errors[name], rel=1e-3)


def test_a_huge_table_among_small_ones_takes_no_longer():
    tables = FEW.copy()
    tables[0], tables[1] = (1e15, 2e14, 3e14, 1e15), (3, 2, 1, 7)
    found = multiauc.summary_roc(*tables.T, model="binomial")
    # Of a table with a hundred millionth of the counts, whose rates are all but known, too.
    expected = {"logit_tpr": 1.7474, "logit_fpr": -1.4617, "sd_tpr": 0.88477, "sd_fpr": 0.74812, "correlation": 0.93323}
    errors = {"auc": 0.01494, "logit_tpr": 0.4108, "logit_fpr": 0.3276, "sd_tpr": 0.349, "sd_fpr": 0.2507}
    assert found.parameters == pytest.approx(expected, abs=1e-4)
    assert found.standard_errors == pytest.approx(errors | {"correlation": 0.07491}, rel=2e-3)


@pytest.mark.parametrize(("cell", "other"), [(0, 1), (1, 0), (2, 3), (3, 2)])
def test_rates_of_0_or_1_in_all_tables(cell, other):
    tables = FEW.copy()
    tables[:, other] += tables[:, cell]
    tables[:, cell] = 0.0
    with pytest.raises(ValueError, match=f"^{('tp', 'fn', 'fp', 'tn')[cell]} must be positive in some table"):
        multiauc.summary_roc(*tables.T, model="binomial")
    roc = multiauc.summary_roc(*tables.T, model="bivariate")
    assert np.isfinite(roc.confidence_region()).all()


def test_the_standard_error_of_an_area_at_1_is_not_0():
    tables = np.array([[1e17, 1.0, 1.0, 1e17], [3e17, 1.0, 2.0, 1e17], [1e17, 3.0, 1.0, 4e17], [1e17, 1.0, 9.0, 2e17]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        roc = multiauc.summary_roc(*tables.T)
    assert roc.standard_errors["auc"] != 0.0
    assert np.isfinite(roc.confidence_region()).all()


def test_regions():
    roc = multiauc.summary_roc(*TABLES)
    inner, outer = roc.confidence_region(), roc.prediction_region()
    assert inner.shape == outer.shape
    assert ((outer > 0) & (outer < 1)).all()
    for region in (inner, outer):
        low, high = region.min(axis=0), region.max(axis=0)
        assert (low < roc.operating_point).all()
        assert (roc.operating_point < high).all()
    assert np.ptp(inner, axis=0).max() < np.ptp(outer, axis=0).max()
    # Twice the quantile of F(2, 10): 2 * 4.1028. The outline is as many standard errors away, at most.
    logit = np.log(inner / (1 - inner))
    reach = (logit[:, 1].max() - roc.parameters["logit_tpr"]) / roc.standard_errors["logit_tpr"]
    assert reach == pytest.approx(math.sqrt(2 * 4.102821), rel=1e-3)
    with pytest.raises(ValueError, match="is a regression and has no regions"):
        multiauc.summary_roc(*TABLES, model="moses_littenberg").confidence_region()


def test_tables_that_are_all_alike():
    alike = [[40] * 6, [10] * 6, [20] * 6, [80] * 6]
    with pytest.raises(ValueError, match="got the same for all tables"):
        multiauc.summary_roc(*alike, model="moses_littenberg")
    for model in ("bivariate", "hsroc", "binomial"):
        with pytest.warns(RuntimeWarning, match="taken to be symmetric, with one odds ratio"):
            roc = multiauc.summary_roc(*alike, model=model)
        assert roc.auc == pytest.approx(area(math.log(16), 1.0), abs=1e-5)
        assert roc.standard_errors["auc"] > 0.0
        assert "taken to be symmetric" in repr(roc)
    with pytest.warns(RuntimeWarning, match="does not rise"):
        roc = multiauc.summary_roc([40, 20, 10], [10, 20, 40], [10, 11, 12], [90, 89, 88], model="moses_littenberg")
    assert math.isnan(roc.auc)
    assert "it has no area" in repr(roc)


# --- pairs of classes -------------------------------------------------------------------------------------------------


def test_tables_of_pairs():
    codes, scores = pair_sample(1, 300, 4)
    roc = multiauc.summary_roc_of_pairs(codes, scores, model="moses_littenberg")
    assert roc.pairs == ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    for (c, d), table in zip(roc.pairs, roc.tables.tolist(), strict=True):
        first = scores[:, c] > scores[:, d]
        of_c, of_d = codes == c, codes == d
        assert table == [(of_c & first).sum(), (of_c & ~first).sum(), (of_d & first).sum(), (of_d & ~first).sum()]
    by_threshold = multiauc.summary_roc_of_pairs(codes, scores, model="moses_littenberg", threshold=0.3)
    assert len(by_threshold.pairs) == 12
    c, d = by_threshold.pairs[4]
    assert by_threshold.tables[4, 0] == ((codes == c) & (scores[:, c] > 0.3)).sum()
    assert by_threshold.tables[4, 2] == ((codes == d) & (scores[:, c] > 0.3)).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threshold", [None, 0.3])
def test_tables_of_resampled_pairs(dtype, threshold):
    """The core's tables of the sample are counts; a replicate is the fit of the tables of its rows."""
    codes, scores = pair_sample(3, 250, 4)
    scores = np.round(scores, 1).astype(dtype)  # with ties, also with the threshold
    pairs = [(c, d) for c in range(4) for d in range(4) if (c != d if threshold else c < d)]
    sample = _rust.Sample(scores, codes.astype(np.uint8))
    outcomes = _rust.PairOutcomes(sample, pairs, threshold)
    everyone = np.ones(len(codes), dtype=int)
    expected = oracle.pair_tables(codes, scores, pairs, threshold, everyone)
    np.testing.assert_array_equal(outcomes.of_sample(), expected)
    fit = _rust.fit_summary_roc(expected, "moses_littenberg", False)
    at = np.linspace(0.0, 1.0, 11)
    found, heights, n_symmetric = fit.bootstrap(outcomes, (7, 2, 5), at)
    assert n_symmetric == 0
    times = _rust.Resampler([sample], ["pdi"], 0).multiplicities(7, 2, 5).astype(int)
    for one, height, drawn in zip(found, heights, times, strict=True):
        estimates, _ = oracle.fit_line(oracle.pair_tables(codes, scores, pairs, threshold, drawn))
        np.testing.assert_allclose(one, oracle.values("moses_littenberg", estimates, area), rtol=1e-11)
        np.testing.assert_allclose(height, oracle.heights("moses_littenberg", estimates, at), rtol=1e-11)


def test_own_standard_errors_of_pairs_are_refused():
    codes, scores = pair_sample(2, 300, 4)
    roc = multiauc.summary_roc_of_pairs(codes, scores)
    assert all(math.isnan(error) for error in roc.standard_errors.values())
    assert "share rows" in repr(roc)
    for method in (roc.confidence_interval, roc.confidence_region, roc.prediction_region):
        with pytest.raises(ValueError, match=r"share rows.*use those of \.bootstrap\(\)"):
            method()


@pytest.mark.parametrize(
    "model",
    [
        "moses_littenberg",
        "bivariate",
        pytest.param("hsroc", marks=pytest.mark.slow),
        pytest.param("binomial", marks=pytest.mark.slow),
    ],
)
def test_bootstrap_of_rows(model):
    codes, scores = pair_sample(4, 400, 4)
    roc = multiauc.summary_roc_of_pairs(codes, scores, model=model)
    found = roc.bootstrap(12, rng=5)
    assert found.replicates.shape == (12,)
    assert set(found.standard_errors) == {"auc", *roc.parameters}
    np.testing.assert_array_equal(found.replicates, roc.bootstrap(12, rng=5).replicates)
    # A replicate is the curve of its rows.
    (times,) = draw_rows(codes, scores, 5, 1, first=3)
    again = multiauc.summary_roc_of_pairs(np.repeat(codes, times), np.repeat(scores, times, axis=0), model=model)
    if not math.isnan(again.auc):
        assert found.replicates[3] == pytest.approx(again.auc, abs=2e-4)


def test_bootstrap_covers_what_samples_vary_by():
    """The spread over samples, not the much smaller one that the regression claims."""
    samples = [pair_sample(seed, 600, 5) for seed in range(40)]
    rocs = [multiauc.summary_roc_of_pairs(*sample, model="moses_littenberg", threshold=0.2) for sample in samples]
    spread = np.std([roc.auc for roc in rocs], ddof=1)
    errors = [roc.bootstrap(100, rng=0).standard_errors["auc"] for roc in rocs[:5]]
    assert np.mean(errors) == pytest.approx(spread, rel=0.35)
    found = rocs[0].bootstrap(100, rng=0)
    low, high = found.confidence_interval()
    assert low < rocs[0].auc < high
    band = found.band()
    assert (band.low <= rocs[0].sensitivity(band.fpr) + 1e-9)[5:-5].mean() > 0.9


def test_pairs_are_left_out_or_refused():
    codes, scores = pair_sample(6, 200, 4)
    keep = codes != 2
    ignored = multiauc.summary_roc_of_pairs(
        codes[keep], scores[keep], labels=range(4), absent="ignore", model="moses_littenberg"
    )
    assert ignored.pairs == ((0, 1), (0, 3), (1, 3))
    with pytest.raises(ValueError, match="3 classes or more"):
        multiauc.summary_roc_of_pairs(codes % 2, scores[:, :2])
    with pytest.raises(ValueError, match="absent"):
        multiauc.summary_roc_of_pairs(codes, scores, absent="nan")
    with pytest.raises(ValueError, match="threshold must be a finite number; got inf"):
        multiauc.summary_roc_of_pairs(codes, scores, threshold=math.inf)


def test_changed_scores_and_pickles():
    codes, scores = pair_sample(7, 200, 4)
    roc = multiauc.summary_roc_of_pairs(codes, scores, model="moses_littenberg")
    again = pickle.loads(pickle.dumps(roc))
    assert repr(again) == repr(roc)
    with pytest.raises(ValueError, match="unpickled"):
        again.bootstrap(2)
    plain = multiauc.summary_roc(*TABLES)
    assert pickle.loads(pickle.dumps(plain)) == plain
    scores[0] = scores[0, ::-1].copy()
    with pytest.raises(ValueError, match="was changed"):
        roc.bootstrap(2)


# --- bad input, pictures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tables", "options", "match"),
    [
        (([1, 2], [1, 2], [1, 2], [1, 2]), {}, "3 tables or more; got 2 tables"),
        (([], [], [], []), {}, "3 tables or more; got 0 tables"),
        (([1, -2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]), {}, "tp must hold counts, whole and not negative; got -2"),
        (([1, 2, 3], [1, 2.5, 3], [1, 2, 3], [1, 2, 3]), {}, "fn must hold counts, whole and not negative; got 2.5"),
        (([1, 2, 3], [1, 2, 3], [1, 2], [1, 2, 3]), {}, "the same length.*fp 2"),
        (
            ([1, 0, 3], [1, 0, 3], [1, 2, 3], [1, 2, 3]),
            {},
            r"tp \+ fn must be positive in every table; got 0 in table 1",
        ),
        (
            ([1, 2, 3], [1, 2, 3], [1, 2, 0], [1, 2, 0]),
            {},
            r"fp \+ tn must be positive in every table; got 0 in table 2",
        ),
        (TABLES, {"model": "loglinear"}, "model"),
        (TABLES, {"estimation": "bayes"}, "estimation"),
        (TABLES, {"model": "binomial", "estimation": "reml"}, "estimation must be 'ml' for model='binomial'"),
        (TABLES, {"model": "moses_littenberg", "estimation": "ml"}, "estimation has no meaning"),
    ],
)
def test_bad_input(tables, options, match):
    with pytest.raises(ValueError, match=match):
        multiauc.summary_roc(*tables, **options)


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    install = "needs scipy; install it with: pip install scipy"
    assert multiauc.summary_roc(*TABLES).auc > 0.9
    with pytest.raises(ModuleNotFoundError, match=install):
        multiauc.ScoreDensities([[None, None], [None, None]])
    assert multiauc.summary_roc(*TABLES, model="moses_littenberg").auc > 0.9
    assert multiauc.NormalScores(np.eye(2), 1.0).auc_mu > 0.8


def test_bad_rates():
    with pytest.raises(ValueError, match=r"fpr must be between 0 and 1; got 1\.5"):
        multiauc.summary_roc(*TABLES, model="moses_littenberg").sensitivity([0.1, 1.5])
    roc = multiauc.summary_roc(*TABLES, model="moses_littenberg")
    np.testing.assert_array_equal(roc.sensitivity([0.0, 1.0]), [0.0, 1.0])


def test_pictures():
    roc = multiauc.summary_roc(*TABLES)
    display = roc.plot(label="studies")
    assert display.line_.get_label() == "studies (AUC = 0.909)"
    codes, scores = pair_sample(8, 300, 4)
    of_pairs = multiauc.summary_roc_of_pairs(codes, scores, model="moses_littenberg")
    band = of_pairs.bootstrap(20, rng=0).band()
    assert SummaryRocDisplay(of_pairs, band=band).plot(ax=display.ax_).ax_ is display.ax_
