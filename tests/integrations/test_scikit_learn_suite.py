"""scikit-learn's own tests pass with multiauc's `roc_auc_score`, except for what is deliberately different."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

#: The tests of scikit-learn that fail on purpose, and what each of them finds; docs/replace-what-you-use-today.md lists
#: the same differences.
DELIBERATE = {
    # average=None with ovo gives all pairs
    "test_multiclass_ovo_roc_auc_toydata[y_true0-labels0]": "DID NOT RAISE NotImplementedError",
    "test_multiclass_ovo_roc_auc_toydata[y_true1-None]": "DID NOT RAISE NotImplementedError",
    "test_multiclass_ovo_roc_auc_toydata[y_true2-labels2]": "DID NOT RAISE NotImplementedError",
    "test_multiclass_ovo_roc_auc_toydata[y_true3-None]": "DID NOT RAISE NotImplementedError",
    # labels in any order
    "test_roc_auc_score_multiclass_labels_error[ovo-Parameter 'labels' must be ordered-y_true3-labels3]":
        "DID NOT RAISE ValueError",
    "test_roc_auc_score_multiclass_labels_error[ovr-Parameter 'labels' must be ordered-y_true3-labels3]":
        "DID NOT RAISE ValueError",
    # weights with ovo: the test passes an empty list of them, which is refused for its length
    "test_roc_auc_score_multiclass_error[msg2-kwargs2]": "sample_weight must have one weight per row",
    # max_fpr with more than two classes
    "test_roc_auc_score_multiclass_error[msg3-kwargs3]": "DID NOT RAISE ValueError",
    # the function itself passed as scoring=, which scikit-learn recognises by the module of its own functions
    "test_scoring_is_not_metric": "DID NOT RAISE ValueError",
}  # fmt: skip


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    away = tmp_path_factory.mktemp("away")  # from the tests of this project, whose settings pytest would load
    script = Path(__file__).parent / "scikit_learn_suite.py"
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, cwd=away)
    return json.loads(run.stdout.splitlines()[-1])


def test_the_suite_ran(outcome):
    assert outcome["passed"] > 500


def test_only_deliberate_differences_fail(outcome):
    assert set(outcome["failed"]) == set(DELIBERATE)


@pytest.mark.parametrize("name", DELIBERATE)
def test_they_fail_for_the_reason_given(outcome, name):
    assert DELIBERATE[name] in outcome["failed"][name]


def test_most_calls_are_computed_by_multiauc(outcome):
    """Those handed over test errors, warnings and arrays of other libraries."""
    assert outcome["calls"] > 500
    assert outcome["handed_over"] < outcome["calls"] / 4
