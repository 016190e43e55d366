"""The uncertainty of the pairwise family, written as it reads on paper: every pair of rows, every sum as it stands.

Nothing here imports multiauc. Kernels psi(a, b) are whole matrices, compared exactly; what follows is in doubles.
"""

from typing import Any

import numpy as np

from oracle import Classes, exact_keys, partition_key
from oracle_inference import Rows

METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")
Pair = tuple[int, int]


def psi(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """1, 1/2 or 0 for all pairs of entries: the first above, level with or below the second."""
    _, ranks = np.unique(np.concatenate([first, second]), return_inverse=True)
    return 0.5 * (1 + np.sign(ranks[: len(first), None] - ranks[None, len(first) :]))


class Problem:
    """Kernels, weights and class shares of a sample; rows of weight zero are left out."""

    def __init__(
        self, codes: Any, scores: np.ndarray, weights: Any = None, partition: Any = None, pair_weights: Any = None
    ) -> None:
        codes = np.asarray(codes)
        classes = Classes(codes, scores.shape[1], weights)
        self.present = classes.present
        self.rows = classes.rows
        self.n = len(codes)
        self.weights = np.ones(self.n) if weights is None else np.asarray(weights, dtype=float)
        self.total = {c: self.weights[self.rows[c]].sum() for c in self.present}
        self.share = np.zeros(scores.shape[1])
        for c in self.present:
            self.share[c] = self.total[c] / sum(self.total.values())
        self.pair_weights = pair_weights
        keys = np.zeros(scores.shape, dtype=object)
        keys[classes.exists] = exact_keys(scores[classes.exists])
        costs = 1.0 - np.eye(scores.shape[1]) if partition is None else np.asarray(partition, dtype=float)

        def kernel(c: int, d: int, key: np.ndarray) -> np.ndarray:
            return psi(key[self.rows[c]], key[self.rows[d]])

        ordered = [(c, d) for c in self.present for d in self.present if c != d]
        self.by_difference = {
            (c, d): kernel(c, d, partition_key(scores, keys, costs, c, d)) for c, d in ordered if c < d
        }
        self.by_column = {(c, d): kernel(c, d, scores[:, c]) for c, d in ordered}

    def kernels(self, metric: str) -> dict[Pair, np.ndarray]:
        return self.by_difference if metric == "auc_mu" else self.by_column

    def omega(self, metric: str, share: np.ndarray) -> dict[Pair, Any]:
        """The weight of each pair as a function of the class shares, unchanged when all shares are multiplied."""
        if metric in ("auc_mu", "hand_till"):
            return self._pair_omega(self.kernels(metric), share)
        if metric == "one_vs_rest":
            average = {c: 1 / len(self.present) for c in self.present}
        elif metric == "one_vs_rest_prevalence":
            average = {c: share[c] / share.sum() for c in self.present}
        else:  # the class that a one-vs-rest value belongs to
            average = {int(metric): 1.0}
        rest = {c: sum(share[d] for d in self.present if d != c) for c in self.present}
        return {(c, d): average[c] * share[d] / rest[c] for c, d in self.by_column if c in average}

    def _pair_omega(self, pairs: dict[Pair, np.ndarray], share: np.ndarray) -> dict[Pair, Any]:
        kind = self.pair_weights
        if kind is None:
            raw = dict.fromkeys(pairs, 1.0)
        elif isinstance(kind, str):
            combine: Any = np.multiply if kind == "size_product" else np.add
            raw = {(c, d): combine(share[c], share[d]) for c, d in pairs}
        else:
            raw = {(c, d): float(kind[c][d]) for c, d in pairs}
        total = sum(raw.values())
        return {pair: weight / total for pair, weight in raw.items()}

    def mean(self, metric: str, pair: Pair) -> float:
        c, d = pair
        w, v = self.weights[self.rows[c]], self.weights[self.rows[d]]
        return float(w @ self.kernels(metric)[pair] @ v / (self.total[c] * self.total[d]))

    def value(self, metric: str) -> float:
        return sum(w * self.mean(metric, pair) for pair, w in self.omega(metric, self.share).items())

    def components(self, metric: str) -> np.ndarray:
        """T(i) of every row; nan for rows of weight zero."""
        t = np.full(self.n, np.nan)
        for c in self.present:
            t[self.rows[c]] = 0.0
        for (c, d), w in self.omega(metric, self.share).items():
            kernel = self.kernels(metric)[c, d]
            t[self.rows[c]] += w * (kernel @ self.weights[self.rows[d]]) / self.total[d]
            t[self.rows[d]] += w * (self.weights[self.rows[c]] @ kernel) / self.total[c]
        return t

    def centred(self, t: np.ndarray) -> np.ndarray:
        """(w / W) (T - mean of T) of every row."""
        phi = np.zeros(self.n)
        for c in self.present:
            rows = self.rows[c]
            w = self.weights[rows] / self.total[c]
            phi[rows] = w * (t[rows] - w @ t[rows])
        return phi

    def slopes(self, metric: str) -> np.ndarray:
        """g_k - mean g: by a complex step, exact to the last digits."""
        g = np.zeros(len(self.share))
        means = {pair: self.mean(metric, pair) for pair in self.omega(metric, self.share)}
        for m in self.present:
            share = self.share.astype(complex)
            share[m] += 1e-30j
            g[m] = sum((w * means[pair]).imag for pair, w in self.omega(metric, share).items()) / 1e-30
        return np.where(self.share > 0, g - self.share @ g, 0.0)

    def inference(self, metric: str, groups: Any = None, iid: bool = False, model: Any = None) -> Rows:
        """The rows that count with their components, or those of this model less those of another."""
        exists = np.sort(np.concatenate([self.rows[c] for c in self.present]))
        codes = np.full(self.n, -1)
        for c in self.present:
            codes[self.rows[c]] = c
        codes = codes[exists]
        unit = np.arange(self.n)[exists] if groups is None else np.asarray(groups)[exists]
        t, g = self.components(metric), self.slopes(metric)
        if model is not None:
            t, g = t - model.components(metric), g - model.slopes(metric)
        # Groups with rows of several classes cannot be drawn without drawing the class sizes.
        spans = any(len(np.unique(codes[unit == k])) > 1 for k in np.unique(unit))
        return Rows(codes, self.weights[exists], t[exists], unit, g if iid or spans else None)

    def covariance(
        self, metric: str, other: str | None = None, groups: Any = None, iid: bool = False, model: Any = None
    ) -> float:
        """Cov of two metrics, or of one metric under two models (`model` is the other one's Problem)."""
        second: Problem = self if model is None else model
        first = self.inference(metric, groups, iid)
        rho = second.inference(metric if other is None else other, groups, iid).added()
        return float(first.sums(first.added()) @ first.sums(rho))

    def chances(self, metric: str) -> np.ndarray:
        """Half the weight of the pairs that a class is in."""
        half = np.zeros(len(self.share))
        for (c, d), w in self.omega(metric, self.share).items():
            half[c] += w / 2
            half[d] += w / 2
        return half

    def pair_variance(self, metric: str, pair: Pair, groups: Any = None) -> float:
        """Var of the value of one pair of classes."""
        alone = object.__new__(Problem)
        alone.__dict__.update(self.__dict__)
        alone.omega = lambda _metric, _share: {pair: 1.0}  # type: ignore[method-assign]
        alone.present = list(pair)
        return alone.covariance(metric, groups=groups)

    def squares(self, metric: str) -> dict[Pair, float]:
        """SS of each pair c < d: the kernel h = w_cd psi_cd + w_dc psi'_dc with the means of rows and columns out."""
        omega = self.omega(metric, self.share)
        result = {}
        for i, c in enumerate(self.present):
            for d in self.present[i + 1 :]:
                h = np.zeros((len(self.rows[c]), len(self.rows[d])))
                if (c, d) in omega:
                    h += omega[c, d] * self.kernels(metric)[c, d]
                if (d, c) in omega:
                    h += omega[d, c] * self.kernels(metric)[d, c].T
                rest = h - h.mean(axis=1, keepdims=True) - h.mean(axis=0, keepdims=True) + h.mean()
                result[c, d] = float((rest**2).sum())
        return result

    def unbiased(self, metric: str) -> float:
        n = {c: len(self.rows[c]) for c in self.present}
        excess = sum(s / ((n[c] - 1) * (n[d] - 1) * n[c] * n[d]) for (c, d), s in self.squares(metric).items())
        return self.covariance(metric) - excess

    def bootstrap_limit(self, metric: str) -> float:
        t = self.components(metric)
        main = sum(((t[r] - t[r].mean()) ** 2).sum() / len(r) ** 2 for r in (self.rows[c] for c in self.present))
        n = {c: len(self.rows[c]) for c in self.present}
        return main + sum(s / (n[c] * n[d]) ** 2 for (c, d), s in self.squares(metric).items())

    def jackknife(self, metric: str) -> float:
        """Rows left out one at a time, the weights of the pairs held fixed."""
        omega = self.omega(metric, self.share)
        total = 0.0
        for c in self.present:
            size = len(self.rows[c])
            values = []
            for left_out in range(size):
                value = 0.0
                for (a, b), w in omega.items():
                    kernel = self.kernels(metric)[a, b]
                    if a == c:
                        kernel = np.delete(kernel, left_out, axis=0)
                    if b == c:
                        kernel = np.delete(kernel, left_out, axis=1)
                    value += w * kernel.mean()
                values.append(value)
            total += (size - 1) / size * ((np.array(values) - np.mean(values)) ** 2).sum()
        return total


def delong(positives: list[np.ndarray], negatives: list[np.ndarray]) -> np.ndarray:
    """The covariance matrix of the AUCs of several scores on the same rows (DeLong et al. 1988), by all pairs."""
    v10, v01 = [], []
    for x, y in zip(positives, negatives, strict=True):
        wins = (x[:, None] > y[None, :]) + 0.5 * (x[:, None] == y[None, :])
        v10.append(wins.mean(axis=1))
        v01.append(wins.mean(axis=0))
    return np.atleast_2d(np.cov(v10)) / len(positives[0]) + np.atleast_2d(np.cov(v01)) / len(negatives[0])
