"""Average precision, proper scores and top-k accuracy in plain NumPy, one row at a time."""

import math

import numpy as np


def average_precision(codes, scores, c, weights=None):
    """The mean over the rows of class c of the share of class c among the rows that score at least as much."""
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, float)
    is_own, column = codes == c, scores[:, c]
    rows = np.flatnonzero(is_own & (weights > 0))
    at_least = column[None, :] >= column[rows, None]
    precision = (at_least * (weights * is_own)).sum(axis=1) / (at_least * weights).sum(axis=1)
    return (weights[rows] * precision).sum() / weights[rows].sum()


def influences(codes, scores, c, weights=None):
    """What each row adds to the error of the average precision of class c, class sizes random too.

    Of METHODS 10.1 with all other classes pooled: (w/W_+)(P - AP + mean dP/dS_1 (1 - S_1)) for own rows, and so on, and
    the term of the prevalence.
    """
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, float)
    is_own, column = codes == c, scores[:, c]
    own, others = weights * is_own, weights * ~is_own
    prevalence = own.sum() / weights.sum()
    found = np.zeros(len(codes))
    value, mean_slope = average_precision(codes, scores, c, weights), 0.0
    for i in np.flatnonzero(is_own & (weights > 0)):
        share = weights[i] / own.sum()
        at_least = column >= column[i]
        of_own, of_others = own[at_least].sum() / own.sum(), others[at_least].sum() / others.sum()
        below = prevalence * of_own + (1 - prevalence) * of_others
        in_own = prevalence * (1 - prevalence) * of_others / below**2
        in_others = -prevalence * (1 - prevalence) * of_own / below**2
        found += share * np.where(
            is_own, in_own * (at_least - of_own) / own.sum(), in_others * (at_least - of_others) / others.sum()
        )
        found[i] += (prevalence * of_own / below - value) / own.sum()
        mean_slope += share * of_own * of_others / below**2
    return weights * (found + mean_slope * (is_own - prevalence) / weights.sum())


def class_jackknife(codes, statistic):
    """Sum over classes of (n_k - 1)/n_k times the squared deviations of the values without each row."""
    total = 0.0
    for k in np.unique(codes):
        rows = np.flatnonzero(codes == k)
        without = np.array([statistic(np.delete(np.arange(len(codes)), row)) for row in rows])
        total += (len(rows) - 1) / len(rows) * ((without - without.mean()) ** 2).sum()
    return total


def log_losses(codes, probabilities):
    """Minus the logarithm of the probability of the true class."""
    return np.array([-math.log(row[code]) for code, row in zip(codes, probabilities, strict=True)])


def brier_scores(codes, probabilities):
    """The squared distance from the true class; half of it for two classes, as scikit-learn has it."""
    distances = ((probabilities - np.eye(probabilities.shape[1])[codes]) ** 2).sum(axis=1)
    return distances / 2 if probabilities.shape[1] == 2 else distances


def top_k_credits(codes, scores, k):
    """The share of all orders of tied scores in which the true class is among the first k."""
    found = []
    for code, row in zip(codes, scores, strict=True):
        above, tied = (row > row[code]).sum(), (row == row[code]).sum()
        places = [above + place < k for place in range(tied)]
        found.append(np.mean(places))
    return np.array(found)


def kurtosis_freedom(losses):
    """(n - 1)/(1 + max(kappa, 0)(n - 1)/(2n)), kappa the excess kurtosis of the losses."""
    n, centred = len(losses), losses - losses.mean()
    kurtosis = (centred**4).mean() / (centred**2).mean() ** 2 - 3
    return (n - 1) / (1 + max(kurtosis, 0.0) * (n - 1) / (2 * n))
