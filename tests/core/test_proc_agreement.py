"""The numbers of R's pROC, made once by studies/proc_fixtures.R and kept in fixtures/proc.json."""

import json
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

import multiauc
from proc_samples import BINARY, MANY

FIXTURES = json.loads((Path(__file__).parent / "fixtures" / "proc.json").read_text())
MODELS = ("first", "second")
CUT = 0.2  # of the partial areas: specificity or sensitivity from 1 down to 0.8
NAMES = [sample.name for sample in BINARY]
pytestmark = pytest.mark.filterwarnings("ignore:.*scores are higher for 0")  # of the sample worse than chance
binary = pytest.mark.parametrize("sample", BINARY, ids=NAMES)


def close(expected: float) -> object:
    return pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_fixtures_say_what_made_them_and_have_all_samples():
    assert FIXTURES["made_by"] == {"R": "4.2.2", "pROC": "1.18.0"}
    assert list(FIXTURES["binary"]) == NAMES
    assert list(FIXTURES["many"]) == [sample.name for sample in MANY]
    assert len(BINARY) >= 6


@binary
@pytest.mark.parametrize(("column", "model"), list(enumerate(MODELS)))
def test_areas_and_variances(sample, column, model):
    expected = FIXTURES["binary"][sample.name][model]
    score = sample.scores[:, column]
    found = multiauc.evaluate(sample.codes, score, labels=[0, 1])
    for estimate in (found.auc_mu, found.hand_till, found.one_vs_rest):
        assert estimate.value == close(expected["auc"])
        assert estimate.variance() == close(expected["variance"])


@binary
@pytest.mark.parametrize(("column", "model"), list(enumerate(MODELS)))
@pytest.mark.parametrize(
    ("option", "focus"), [({"max_fpr": CUT}, "specificity"), ({"min_tpr": 1 - CUT}, "sensitivity")]
)
def test_partial_areas(sample, column, model, option, focus):
    expected = FIXTURES["binary"][sample.name][model]
    found = multiauc.partial_auc_score(sample.codes, sample.scores[:, column], labels=[0, 1], **option)
    least, most = CUT**2 / 2, CUT
    corrected, area = expected[f"partial_{focus}_corrected"], expected[f"partial_{focus}"]
    assert found == close(0.5 * (1 + (area - least) / (most - least)))
    assert (corrected is None) == (area < least)  # where pROC corrects none
    if corrected is not None:
        assert found == close(corrected)


@pytest.mark.parametrize("sample", [one for one in BINARY if len(one.codes) <= 120], ids=lambda sample: sample.name)
@pytest.mark.parametrize(("column", "model"), list(enumerate(MODELS)))
def test_coordinates(sample, column, model):
    expected = FIXTURES["binary"][sample.name][model]
    curve = multiauc.roc_curves(sample.codes, sample.scores[:, column], drop_intermediate=False)[1]
    np.testing.assert_allclose(curve.tpr, expected["sensitivities"][::-1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(1 - curve.fpr, expected["specificities"][::-1], rtol=0, atol=1e-15)


@binary
def test_paired_test(sample):
    """The same statistic; pROC refers it to the normal distribution, this library to Student's."""
    expected = FIXTURES["binary"][sample.name]
    found = multiauc.compare(sample.codes, dict(zip(MODELS, sample.scores.T, strict=True)), labels=[0, 1])
    difference = found.difference("first", "second")
    assert found.covariance[0, 1] == close(expected["covariance"])
    assert difference.t == pytest.approx(expected["paired"]["statistic"], rel=1e-11)
    assert 2 * NormalDist().cdf(-abs(difference.t)) == pytest.approx(expected["paired"]["p_value"], rel=1e-10)
    assert difference.p_value == pytest.approx(2 * stats.t.sf(abs(difference.t), difference.degrees_of_freedom))
    assert difference.p_value >= expected["paired"]["p_value"]


@binary
def test_unpaired_test(sample):
    """The same value and standard error; pROC counts rows of both classes as one kind in its degrees of freedom."""
    expected = FIXTURES["binary"][sample.name]["unpaired"]
    other = BINARY[(NAMES.index(sample.name) + 1) % len(BINARY)]
    difference = multiauc.compare_samples(
        *(multiauc.evaluate(one.codes, one.scores[:, 0], labels=[0, 1]) for one in (sample, other)), metric="auc_mu"
    )
    statistic = difference.value / difference.standard_error
    assert statistic == pytest.approx(expected["statistic"], rel=1e-11)
    by_rows = 2 * stats.t.sf(abs(statistic), expected["degrees_of_freedom"])
    assert by_rows == pytest.approx(expected["p_value"], rel=1e-9)
    assert difference.degrees_of_freedom <= expected["degrees_of_freedom"]


@pytest.mark.parametrize("sample", MANY, ids=lambda sample: sample.name)
def test_hand_till(sample):
    expected = FIXTURES["many"][sample.name]
    assert multiauc.hand_till_score(sample.codes, sample.scores) == close(expected["hand_till"])
