"""Six rows of three classes, and every public function that takes labels and scores."""

import numpy as np

import multiauc

LABELS = ["a", "b", "c"]
Y_TRUE = ["a", "b", "c", "a", "b", "c"]
Y_SCORE = np.array(
    [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.4, 0.4, 0.2], [0.3, 0.3, 0.4], [0.2, 0.2, 0.6]]
)
FUNCTIONS = [
    multiauc.auc_mu_score,
    multiauc.hand_till_score,
    multiauc.one_vs_rest_score,
    multiauc.auc_mu_matrix,
    multiauc.hand_till_matrix,
    multiauc.one_vs_rest_per_class,
    multiauc.roc_curves,
]
