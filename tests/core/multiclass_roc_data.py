"""Simulated classifiers for the tests of the multi-class ROC curve."""

import numpy as np

THIRTEEN_THRESHOLDS = np.array([0.55, 0.45, 0.35, 0.25, 0.15])


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def shifted_normals(rng, n, k, shift=1.0):
    """Softmax of normal logits, raised by `shift` for the row's own class; every class has a row."""
    codes = np.r_[np.arange(k), rng.integers(k, size=n - k)]
    z = rng.normal(size=(n, k)) + rng.normal(scale=0.5, size=k)
    z[np.arange(n), codes] += shift
    return codes, softmax(z)


def unlike_classes(seed, n, k):
    """Softmax of normal logits whose mean differs from class to class: some of these samples have several optima."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(k), np.arange(k), rng.integers(k, size=n - 2 * k)]
    z = 1.5 * rng.normal(size=(n, k)) + (rng.normal(size=(k, k)) + np.eye(k))[codes]
    return codes, softmax(z)


def paper_simulation(rng, n, k=5, p=10, labels="sample"):
    """Covariates, coefficients and labels of section 5.1 of the paper."""
    x = rng.normal(size=(n, p))
    b = np.c_[np.zeros(p), rng.normal(1.0, 1.0, size=(p, k - 1))]
    z = x @ b
    z[:, 0] = 1.0
    prob = softmax(z)
    if labels == "argmax":
        return x, b, prob.argmax(axis=1)
    return x, b, (prob.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)


def model_of_first(x, codes, d):
    """The predictions of a multinomial regression that sees the first d covariates."""
    from sklearn.linear_model import LogisticRegression

    seen = x[:, :d]
    return LogisticRegression(C=1e6, max_iter=2000).fit(seen, codes).predict_proba(seen)


def mixed_rows(rng, codes, alpha, size=30_000):
    """Section 5.2 of the paper: rows drawn class by class in Dirichlet shares, every class at least 100."""
    k = codes.max() + 1
    sizes = np.maximum(100, (size * rng.dirichlet(np.full(k, alpha))).astype(int))
    return np.concatenate([rng.choice(np.flatnonzero(codes == c), sizes[c]) for c in range(k)])


def majority_classifier(rng, n, k, smallest=100, alpha=2.0):
    """Classes in Dirichlet shares, and scores that give the largest 0.6 whatever the row: (codes, scores, majority)."""
    while True:
        codes = rng.choice(k, size=n, p=rng.dirichlet(np.full(k, alpha)))
        sizes = np.bincount(codes, minlength=k)
        if sizes.min() >= smallest:
            break
    majority = int(sizes.argmax())
    scores = 0.4 * rng.dirichlet(np.ones(k), size=n)
    scores[:, majority] += 0.6
    return codes, scores, majority


def majority_rewards(k, majority, c):
    """Section 5.3 of the paper: tp weights c on the majority's row, 1/c on its column; fp weights the inverse."""
    tp = np.ones((k, k))
    tp[majority, :] = c
    tp[:, majority] = 1.0 / c
    return tp, 1.0 / tp
