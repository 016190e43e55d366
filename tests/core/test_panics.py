"""A defect of the compiled core is an ordinary exception, which asks to report it."""

import threading

import numpy as np
import pytest

import multiauc


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("levels", [None, 8])
def test_scores_that_change_during_a_call_do_no_harm(weighted, levels):
    """The answer may be wrong or refused, but nothing else happens."""
    rng = np.random.default_rng(0)
    n_classes, rows = 4, 3000
    codes = rng.integers(n_classes, size=rows)
    scores = rng.random((rows, n_classes))
    if levels is not None:
        scores = np.round(scores * levels) / levels / 3
    weights = rng.random(rows) if weighted else None
    kept, stop = scores.copy(), threading.Event()
    places = rng.integers(rows, size=200)

    def disturb():
        while not stop.is_set():
            scores[places] = np.nan
            scores[places] = np.inf
            scores[places] = kept[places]

    writer = threading.Thread(target=disturb)
    writer.start()
    try:
        for _ in range(60):
            for compute in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.pdi_score):
                try:
                    compute(codes, scores, sample_weight=weights)
                except ValueError as error:
                    assert "y_score" in str(error)  # noqa: PT017 -- that it is refused is one of two good ends
    finally:
        stop.set()
        writer.join()
