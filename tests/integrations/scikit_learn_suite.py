"""Run scikit-learn's own tests of `roc_auc_score` with multiauc's function in its place, and print what came of it.

    python scikit_learn_suite.py

The last line is a JSON object: the number of tests that passed, the name and message of each that failed, how often the
function was called, and how often it handed the call over to scikit-learn.
"""

import json
import sys

import pytest

import multiauc.sklearn
from multiauc.sklearn import roc_auc

#: The tests of the function, of the properties it shares with all metrics, and of the scorers that use it.
SUITE = [
    "sklearn.metrics.tests.test_ranking",
    "sklearn.metrics.tests.test_common",
    "sklearn.metrics.tests.test_score_objects",
]


class Recorder:
    """Keeps the outcomes of the tests and counts calls."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed: dict[str, str] = {}
        self.calls = 0
        self.handed_over = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of one test."""
        if report.when == "call" and report.passed:
            self.passed += 1
        elif report.failed:
            name = report.nodeid.rpartition("::")[2]
            self.failed[name] = report.longrepr.reprcrash.message

    def count(self) -> None:
        """Count calls of ours, and those that it hands over to scikit-learn."""
        ours, theirs = roc_auc._compute, roc_auc._ask_scikit_learn

        def counting_ours(*arguments, **options):
            self.calls += 1
            return ours(*arguments, **options)

        def counting_theirs(*arguments, **options):
            self.handed_over += 1
            return theirs(*arguments, **options)

        roc_auc._compute, roc_auc._ask_scikit_learn = counting_ours, counting_theirs


def main() -> None:
    """Patch, run, report."""
    recorder = Recorder()
    recorder.count()
    multiauc.sklearn.patch()  # before the tests are loaded: they keep the function in tables
    chosen = "test_ranking or test_score_objects or roc_auc"
    quiet = ["-q", "--disable-warnings", "--no-header", "-p", "no:cacheprovider", "-c", "/dev/null", "--tb=short"]
    pytest.main(["--pyargs", *SUITE, "-k", chosen, *quiet], plugins=[recorder])
    sys.stdout.write("\n" + json.dumps(vars(recorder)) + "\n")


if __name__ == "__main__":
    main()
