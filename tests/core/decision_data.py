"""Samples whose probabilities are calibrated, and the same with what goes wrong in practice."""

import numpy as np

PREVALENCE = np.array([0.6, 0.3, 0.1])
# To miss the rare class is expensive.
COSTS = np.array([[0.0, 1.0, 10.0], [1.0, 0.0, 10.0], [1.0, 1.0, 0.0]])


def calibrated_sample(rng, n, separation=1.2, prevalence=PREVALENCE):
    """(codes, probabilities): normal scores with the classes' true probabilities."""
    n_classes = len(prevalence)
    codes = rng.choice(n_classes, size=n, p=prevalence)
    x = rng.normal(size=(n, n_classes)) + separation * np.eye(n_classes)[codes]
    return codes, normalised(np.log(prevalence) + separation * x)


def normalised(logs):
    """Probabilities in proportion to the exponentials."""
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def distorted(kind, probabilities):
    """Probabilities that are wrong in one way."""
    logs = np.log(probabilities)
    n_classes = probabilities.shape[1]
    weights = np.zeros(n_classes)
    weights[0] = np.log(8.0)
    hard = np.eye(n_classes)[probabilities.argmax(axis=1)]
    return {
        "calibrated": lambda: probabilities,
        "slightly too sure": lambda: normalised(1.2 * logs),
        "too sure": lambda: normalised(3.0 * logs),
        "too unsure": lambda: normalised(0.3 * logs),
        "wrong prevalences": lambda: normalised(logs + weights),
        "unlike scales": lambda: normalised(logs * np.linspace(0.5, 3.0, n_classes)),
        "nearly hard": lambda: 0.98 * hard + 0.02 / n_classes,
    }[kind]()


def halves(kind, costs, fit, seeds, n):
    """(fitted, bayes, argmax) mean costs on the second half of each sample, fitted to the first: seeds x 3."""
    found = []
    for seed in seeds:
        codes, probabilities = calibrated_sample(np.random.default_rng([seed, n]), n, prevalence=PREVALENCE)
        scores = distorted(kind, probabilities)
        first, second = slice(0, n // 2), slice(n // 2, n)
        values = fit(codes[first], scores[first], costs).compare(codes[second], scores[second]).values
        found.append([values[rule] for rule in ("fitted", "bayes", "argmax")])
    return np.array(found)


def paired_t(first, second):
    """The mean difference in standard errors; 0 where there is none."""
    difference = first - second
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return 0.0 if error == 0.0 else float(difference.mean() / error)
