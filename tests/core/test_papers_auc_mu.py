"""What docs/papers says of the AUC_mu paper, of Dataiku's M and of the paper on extensions, computed again."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import multiauc

pytest.importorskip("matplotlib")
pytest.importorskip("scipy.integrate")
pytest.importorskip("sklearn.metrics")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "papers"))
import auc_mu
import auc_mu_growth
import auc_mu_properties
import auc_mu_ties
import extensions
import hand_till
import pages

pytestmark = pytest.mark.slow

PAGES = ("auc-mu.md", "hand-till.md", "extensions.md")


# --- the AUC_mu paper: figures and theorem A3 -------------------------------------------------------------------------


def test_figure_one():
    assert auc_mu.figure_one() == {"M": 2 / 3, "P&D": 2 / 3, "AUC_mu": 1.0}


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7, 30])
def test_the_least_m_with_all_labels_right_is_reached(n_classes):
    rows = auc_mu.worst_for_m(n_classes)
    codes = np.arange(n_classes)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    assert rows.min() > 0.0
    np.testing.assert_array_equal(rows.argmax(axis=1), codes)
    assert multiauc.hand_till_score(codes, rows) == pytest.approx(auc_mu.least_m(n_classes), abs=1e-14)
    assert multiauc.auc_mu_score(codes, rows) == 1.0


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_m_is_never_below_that(n_classes):
    """Rows close to the middle of the simplex, where M is smallest, with the largest probability moved to the class."""
    rng = np.random.default_rng(n_classes)
    codes = np.repeat(np.arange(n_classes), 2)
    found = []
    for _ in range(300):
        rows = rng.dirichlet(np.full(n_classes, 10.0 ** rng.uniform(0, 4)), size=len(codes))
        best = rows.argmax(axis=1)
        places = np.arange(len(codes))
        rows[places, best], rows[places, codes] = rows[places, codes], rows[places, best].copy()
        found.append(multiauc.hand_till_score(codes, rows))
    assert auc_mu.least_m(n_classes) <= min(found) < 1.0


def test_theorem_a3():
    right, wrong = auc_mu.oriented(auc_mu.ARGMAX), auc_mu.oriented(auc_mu.THEOREM_A3)
    assert (right.orientation, wrong.orientation) == (pytest.approx(0.2, abs=1e-15), pytest.approx(-0.25, abs=1e-15))
    assert (right.separability, wrong.separability) == (1.0, 0.0)
    assert right.decisions == (1, 2)
    for n_classes in (4, 5, 9):
        more = auc_mu.padded(n_classes)
        assert (more.orientation, more.separability) == (pytest.approx(-0.25, abs=1e-15), 0.0)


def test_the_matrix_chosen_for_figure_three_exchanges_both_labels():
    found = auc_mu.oriented(auc_mu.FIGURE_THREE)
    assert found.decisions == (2, 1)
    assert found.orientation < 0.0
    assert found.separability == 0.0


# --- the AUC_mu paper: properties -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", auc_mu_properties.PAPER)
def test_table_one(name):
    perfect, random, insensitive = auc_mu_properties.PAPER[name]
    measure = auc_mu_properties.MEASURES[name]
    if "Ferri" not in name:  # whose value here is a share of the largest one
        assert (perfect == "yes") == (auc_mu_properties.on_separable_rows(measure) == pytest.approx(1.0, abs=1e-9))
    assert (random == "yes") == (auc_mu_properties.on_constant_scores(measure) == pytest.approx(0.5, abs=1e-9))
    # "?" turns out to be "yes".
    assert (insensitive != "no") == (auc_mu_properties.change_with_skew(measure) < 1e-12)


def test_provost_and_domingos_feel_skew_and_auc_mu_does_not():
    populations = [auc_mu_properties.population(share) for share in auc_mu_properties.SHARES]
    for insensitive in ("auc_mu", "hand_till"):
        assert np.ptp([getattr(each, insensitive) for each in populations]) < 1e-14
    for sensitive in ("one_vs_rest_prevalence", "one_vs_rest", "auc_mu_size_product"):
        assert np.ptp([getattr(each, sensitive) for each in populations]) > 0.05
    for share, population in zip(auc_mu_properties.SHARES, populations, strict=True):
        found = auc_mu_properties.estimates(share, 20_000)
        for name, attribute in auc_mu_properties.SKEWED.items():
            assert found[name] == pytest.approx(getattr(population, attribute), abs=0.02)


def test_the_skew_sensitive_variant_is_a_share_of_all_pairs():
    fast, slow = auc_mu_properties.size_product()
    assert fast == pytest.approx(slow, abs=1e-12)


def test_theorem_5_3():
    found = auc_mu_properties.random_partitions(20_000)
    assert found.off_diagonal == (pytest.approx(0.5, abs=0.01), pytest.approx(0.5, abs=0.01))
    assert found.half == found.argmax
    assert found.mean < found.argmax - 0.01
    assert found.spread[0] < found.mean < found.spread[1]


def test_standard_errors_in_closed_form():
    found = auc_mu_properties.repeated(400)
    # The standard deviation of 400 values has a relative error of 3.5%.
    assert found.standard_error == pytest.approx(found.spread, rel=0.14)
    assert found.bootstrap == pytest.approx(found.standard_error, rel=0.14)
    assert 0.91 < found.covered < 0.985


# --- the AUC_mu paper: ties and growth --------------------------------------------------------------------------------


def test_probabilities_do_not_tie_and_coarse_scores_do():
    few, many = (auc_mu_ties.tied_shares(n_classes, 500, 20_000) for n_classes in (10, 100))
    for name in ("probabilities, float64", "probabilities, float32"):
        assert few[name] == many[name] == 0.0
    for name in ("votes of 15 neighbours", "the best 5, the rest 0", "decisions (0 and 1)"):
        assert many[name] > few[name] + 0.2


def test_ties_are_counted():
    """Against all pairs of rows, and by the library, where a tie counts half."""
    y_true, logits = auc_mu_ties.sample(4, 60)
    counts = auc_mu_ties.votes(auc_mu_ties.softmax(logits), 7, np.random.default_rng(0))
    tied, won, pairs = 0, 0.0, 0
    for a in range(len(y_true)):
        for b in range(len(y_true)):
            c, d = y_true[a], y_true[b]
            if c != d:
                gap = (counts[a, c] - counts[a, d]) - (counts[b, c] - counts[b, d])
                pairs, tied, won = pairs + 1, tied + (gap == 0), won + (gap > 0)
    share = auc_mu_ties.tied_share(y_true, counts, 100_000)
    assert share == pytest.approx(tied / pairs, abs=0.01)
    assert multiauc.auc_mu_score(y_true, counts / 7) == pytest.approx((won + tied / 2) / pairs, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 30, 300])
def test_auc_mu_of_logits_does_not_depend_on_the_number_of_classes(n_classes):
    value, error = auc_mu_ties.value_of_logits(n_classes, 1_500)
    assert abs(value - multiauc.NormalScores(auc_mu_ties.SIGNAL * np.eye(2), 1.0).auc_mu) < 4 * error


def test_random_costs_are_nearly_but_never_orthogonal():
    (near, zeros), (nearer, no_more) = (auc_mu_ties.cosine(n_classes, 500) for n_classes in (5, 200))
    assert nearer < near / 4
    assert zeros == no_more == 0


def test_exponents():
    sizes = [10, 20, 40, 80]
    assert auc_mu_growth.exponent(sizes, [3e-6 * n**1.7 for n in sizes]) == pytest.approx(1.7, abs=1e-12)
    assert auc_mu_growth.exponents(sizes, [1.0, 1.0, 2.0, 4.0]) == "0.70; 1.00"


def test_the_table_of_growth():
    times = {
        name: auc_mu_growth.Measured([1e-6 * n for n in growth.rows], [1e-3 * k**2 for k in growth.classes])
        for name, growth in auc_mu_growth.GROWTHS.items()
    }
    header, _, *rows = auc_mu_growth.rows_of_exponents(times).splitlines()
    shown = pages.places("auc-mu.md")["growth"].splitlines()
    assert header == shown[0]
    for row, on_page in zip(rows, shown[2:], strict=True):
        cells = row.split(" | ")
        assert cells[:2] == on_page.split(" | ")[:2]
        assert (cells[2], cells[4]) == ("1.00; 1.00", "2.00; 2.00")


def test_what_is_timed_is_what_is_named():
    y_true, y_score = auc_mu_growth.sample(300, 5)
    value = multiauc.auc_mu_score(y_true, y_score)
    assert auc_mu_growth.by_definition(y_true, y_score) == pytest.approx(value, abs=1e-12)
    assert auc_mu_growth.with_costs(y_true, y_score) != pytest.approx(value, abs=1e-3)
    assert auc_mu_growth.scikit_learn(y_true, y_score) == pytest.approx(
        multiauc.hand_till_score(y_true, y_score), abs=1e-12
    )


# --- Dataiku's document -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", hand_till.samples(quick=True), ids=lambda sample: sample.name)
def test_dataiku_hand_and_till_and_the_library_agree(sample):
    exact = hand_till.dataiku(sample.y_true, sample.y_score)
    assert hand_till.hand_and_till(sample.y_true, sample.y_score) == exact
    assert multiauc.hand_till_score(sample.y_true, sample.y_score) == float(exact)
    assert hand_till.scikit_learn(sample.y_true, sample.y_score, "macro") == pytest.approx(float(exact), abs=1e-12)


# --- the paper on extensions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cases", "says"), extensions.SCENARIOS.items())
def test_figure_four_to_all_digits(cases, says):
    scores = extensions.scenario(cases)
    for value in (scores.one_vs_rest_prevalence, scores.one_vs_rest_prevalence_equal_rest, scores.hand_till):
        assert f"{value:.4f}" == f"{says:.4f}"


def test_pairwise_and_one_vs_rest_are_equal_in_figure_four():
    assert len(extensions.SCENARIOS) == 20
    assert extensions.largest_gap() < 1e-15


def test_equation_eight_is_printed_the_wrong_way_round():
    for i, j in ((0, 1), (2, 1), (1, 0)):
        value = extensions.situation("B", 1 / 3).pair_auc(i, j)
        assert extensions.equation_eight(extensions.SITUATIONS["B"], i, j) == pytest.approx(1.0 - value, abs=1e-9)


def test_figures_five_and_six():
    assert extensions.entropy(1 / 3) == pytest.approx(1.0, abs=1e-12)
    for share in extensions.SHARES:
        alike, unlike = extensions.situation("A", share), extensions.situation("B", share)
        balanced = abs(share - 1 / 3) < 1e-12
        assert alike.one_vs_rest_prevalence_equal_rest == pytest.approx(alike.hand_till, abs=1e-14)
        gap = unlike.one_vs_rest_prevalence_equal_rest - unlike.hand_till
        pooled_gap = unlike.one_vs_rest_prevalence - unlike.hand_till
        if balanced:
            assert (gap, pooled_gap) == (pytest.approx(0.0, abs=1e-14), pytest.approx(0.0, abs=1e-14))
        else:
            assert (gap > 0) == (share > 1 / 3)  # class 3 is the harder one
            assert pooled_gap > 0.001
            assert abs(alike.one_vs_rest_prevalence - alike.hand_till) > 0.001


@pytest.mark.parametrize("name", extensions.SITUATIONS)
def test_samples_agree_with_the_closed_forms(name):
    for share in (0.1, 0.5):
        scores = extensions.situation(name, share)
        y_true, y_score = scores.sample(20_000, rng=5)
        found = multiauc.evaluate(y_true, y_score, metrics=["hand_till", "one_vs_rest_prevalence"], sampling="iid")
        for metric, estimate in found.metrics.items():
            assert abs(estimate.value - getattr(scores, metric)) < 4 * estimate.standard_error
        equal_rest = multiauc.one_vs_rest_score(y_true, y_score, average="prevalence_equal_rest")
        assert equal_rest == pytest.approx(scores.one_vs_rest_prevalence_equal_rest, abs=0.02)


# --- the pages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_every_place_is_filled_and_every_picture_is_there(page):
    assert all(pages.places(page).values())
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (pages.HERE / page).read_text("utf-8"))
    assert pictures
    assert all((pages.HERE / picture).is_file() for picture in pictures)


def test_the_pages_show_what_is_computed():
    shown = {page: pages.places(page) for page in PAGES}
    for name, text in auc_mu.texts().items():
        assert shown["auc-mu.md"][name] == text
    assert shown["auc-mu.md"]["table-one"] == auc_mu_properties.rows_of_table_one()
    small = hand_till.rows_of_agreement(hand_till.samples(quick=True)).splitlines()
    assert shown["hand-till.md"]["agreement"].splitlines()[: len(small)] == small
    rows = shown["extensions.md"]["scenarios"].splitlines()[2:]
    for row, (cases, says) in zip(rows, extensions.SCENARIOS.items(), strict=True):
        scores = extensions.scenario(cases)
        cells = [f"{says:.4f}", f"{scores.one_vs_rest_prevalence:.4f}", f"{scores.hand_till:.4f}"]
        assert [cell.strip() for cell in row.split("|")][2:5] == cells


@pytest.mark.parametrize("script", [auc_mu_properties, auc_mu_ties, extensions], ids=lambda script: script.__name__)
def test_every_place_has_its_text(script):
    """What the other scripts compute in their quick form has the names and the headers that stand on the page."""
    shown = pages.places("extensions.md" if script is extensions else "auc-mu.md")
    found = script.texts(quick=True)
    assert found.keys() <= shown.keys()
    for name, text in found.items():
        if text.startswith("|") and script is not auc_mu_ties:  # whose columns are fewer
            assert text.splitlines()[0] == shown[name].splitlines()[0]
            assert len(text.splitlines()) == len(shown[name].splitlines())


def test_filling_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "HERE", tmp_path)
    (tmp_path / "page.md").write_text("A <!--[word]-->b<!--[/word]--> c.\n\n<!--[rows]--><!--[/rows]-->\n", "utf-8")
    rows = pages.table(["x", "y"], [["1", "2"]])
    for _ in range(2):
        pages.fill("page.md", {"word": "new", "rows": rows})
        assert pages.places("page.md") == {"word": "new", "rows": "| x | y |\n| --- | --- |\n| 1 | 2 |"}
    with pytest.raises(ValueError, match=r"page\.md has no place for other"):
        pages.fill("page.md", {"other": ""})
