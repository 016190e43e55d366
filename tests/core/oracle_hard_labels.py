"""Numbers about decisions in plain NumPy, from the confusion matrix; influences by numerical derivatives of it."""

import numpy as np

METRICS = ("matthews", "kappa", "accuracy", "balanced_accuracy", "macro_f1")


def decisions(scores, costs=None):
    """The class of the highest score, or of the least expected cost; the first of equals."""
    return scores.argmax(axis=1) if costs is None else (scores @ np.asarray(costs, float).T).argmin(axis=1)


def confusion(codes, decided, n_classes, weights=None):
    """Shares of the rows (or weights): row = true class, column = decision."""
    weights = np.ones(len(codes)) if weights is None else weights
    cells = np.zeros((n_classes, n_classes))
    np.add.at(cells, (codes, decided), weights)
    return cells / cells.sum()


def value(metric, shares):
    """A metric of a confusion matrix; rows and columns of absent classes may be zero."""
    shares = shares / shares.sum()
    truth, decided, right = shares.sum(axis=1), shares.sum(axis=0), np.diag(shares)
    present = truth > 0
    observed, agreed = right.sum(), truth @ decided
    if metric == "matthews":
        spread = np.sqrt((1 - truth @ truth) * (1 - decided @ decided))
        return (observed - agreed) / spread if spread > 0 else 0.0
    if metric == "kappa":
        return (observed - agreed) / (1 - agreed)
    if metric == "accuracy":
        return observed
    if metric == "balanced_accuracy":
        return (right[present] / truth[present]).mean()
    return (2 * right[present] / (truth + decided)[present]).mean()


def influence(metric, shares, step=1e-6):
    """IF(i, j) by a numerical derivative: how the value changes with a little more mass in a cell."""
    found = np.zeros_like(shares)
    for cell in np.ndindex(shares.shape):
        more, less = shares.copy(), shares.copy()
        more[cell] += step
        less[cell] -= step
        found[cell] = (value(metric, more) - value(metric, less)) / (2 * step)
    return found - (found * shares).sum()


def iid_variance(metric, shares, n):
    """Sum of P IF^2 over n."""
    return (shares * influence(metric, shares) ** 2).sum() / n


def stratified_variance(metric, codes, decided, n_classes, weights=None, groups=None):
    """IF centred within true classes, summed over groups, with c_k of the effective number of units."""
    weights = np.ones(len(codes)) if weights is None else weights
    groups = np.arange(len(codes)) if groups is None else groups
    shares = confusion(codes, decided, n_classes, weights)
    of_rows = influence(metric, shares)[codes, decided]
    total = 0.0
    for k in range(n_classes):
        rows = codes == k
        mean = np.average(of_rows[rows], weights=weights[rows])
        parts = weights[rows] / weights.sum() * (of_rows[rows] - mean)
        sums = np.array([parts[groups[rows] == g].sum() for g in np.unique(groups[rows])])
        of_groups = np.array([weights[rows][groups[rows] == g].sum() for g in np.unique(groups[rows])])
        effective = of_groups.sum() ** 2 / (of_groups**2).sum()
        total += (sums**2).sum() / (1 - 1 / effective)
    return total
