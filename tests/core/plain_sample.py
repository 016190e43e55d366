"""Fifty rows of four classes, in the plainest form: the reference for every other form of input."""

import numpy as np

import multiauc

SCALARS = [multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score]
NAMES = ["ant", "bee", "cow", "dog"]
SIZES = [10, 20, 15, 5]

codes = np.random.default_rng(7).permutation(np.repeat([0, 1, 2, 3], SIZES))
names = np.array(NAMES)[codes]

_logits = np.random.default_rng(8).normal(size=(len(codes), 4)) + np.eye(4)[codes]
scores = np.exp(_logits) / np.exp(_logits).sum(axis=1, keepdims=True)


def all_scalars(y_true, y_score, **options):
    return [score(y_true, y_score, **options) for score in SCALARS]
