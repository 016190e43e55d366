"""The tools that are compared: how each is called, which metric it computes, and what it costs roughly."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from comparison.data import Labels, Scores

AUC_MU = "AUC_mu"
HAND_TILL = "M"
ONE_VS_REST = "one-vs-rest"
METRICS = (AUC_MU, HAND_TILL, ONE_VS_REST)


@dataclass(frozen=True)
class Tool:
    """One function of one package.

    Attributes
    ----------
    name : str
        As shown in the report.
    metric : str
        One of `METRICS`.
    package : str
        The distribution whose version is reported.
    needs : tuple of str
        The modules it imports.
    call : callable
        (labels, scores, threads) -> value.
    set_threads : callable or None
        Called, untimed, before a call with another number of threads; None if the call takes the number itself or the
        tool has one thread.
    threaded : bool
        Whether it can use several threads.
    pair_cost, row_cost, cell_cost : float
        Rough seconds per pair of classes, per row and pair, and per cell: only used to leave out hopeless sizes.
    """

    name: str
    metric: str
    package: str
    needs: tuple[str, ...]
    call: Callable[[Labels, Scores, int], float]
    set_threads: Callable[[int], None] | None = None
    threaded: bool = False
    pair_cost: float = 0.0
    row_cost: float = 0.0
    cell_cost: float = 0.0

    def expected_seconds(self, n_rows: int, n_classes: int) -> float:
        """Return what one call takes, roughly, on a machine of 2020 or later."""
        pairs = n_classes * (n_classes - 1) / 2
        return pairs * (self.pair_cost + n_rows * self.row_cost) + n_rows * n_classes * self.cell_cost

    def missing(self) -> str | None:
        """Return why the tool cannot be used here, or None if it can."""
        return next(filter(None, map(_import_problem, self.needs)), None)

    @property
    def version(self) -> str:
        """The installed version of the package."""
        return importlib.metadata.version(self.package)


@cache
def _import_problem(module: str) -> str | None:
    """Import `module` in a process of its own, where even a crash does no harm, and return what went wrong."""
    run = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return None
    lines = run.stderr.strip().splitlines()
    return lines[-1] if lines else f"importing {module} ended with status {run.returncode}"


def all_threads() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _set_threads_multiauc(threads: int) -> None:
    _module("multiauc").set_num_threads(threads)


def _multiauc_auc_mu(labels: Labels, scores: Scores, _threads: int) -> float:
    return float(_module("multiauc").auc_mu_score(labels, scores))


def _multiauc_hand_till(labels: Labels, scores: Scores, _threads: int) -> float:
    return float(_module("multiauc").hand_till_score(labels, scores))


def _multiauc_one_vs_rest(labels: Labels, scores: Scores, _threads: int) -> float:
    return float(_module("multiauc").one_vs_rest_score(labels, scores))


def _catboost_auc_mu(labels: Labels, scores: Scores, threads: int) -> float:
    """CatBoost ranks differences of the values it is given, with no softmax: probabilities in, AUC_mu of them out."""
    [value] = _module("catboost.utils").eval_metric(labels, scores, "AUC:type=Mu", thread_count=threads)
    return float(value)


def _sklearn(labels: Labels, scores: Scores, multi_class: str) -> float:
    if scores.shape[1] == 2:
        scores = scores[:, 1]
    return float(_module("sklearn.metrics").roc_auc_score(labels, scores, multi_class=multi_class))


def _sklearn_ovo(labels: Labels, scores: Scores, _threads: int) -> float:
    return _sklearn(labels, scores, "ovo")


def _sklearn_ovr(labels: Labels, scores: Scores, _threads: int) -> float:
    return _sklearn(labels, scores, "ovr")


def _set_threads_torch(threads: int) -> None:
    _module("torch").set_num_threads(threads)


def _torchmetrics_ovr(labels: Labels, scores: Scores, _threads: int) -> float:
    torch = _module("torch")
    auroc = _module("torchmetrics.functional.classification").multiclass_auroc
    arguments = torch.from_numpy(scores), torch.from_numpy(labels), scores.shape[1]
    return float(auroc(*arguments, average="macro", thresholds=None))


def _rankdata_auc_mu(labels: Labels, scores: Scores, _threads: int) -> float:
    """The definition with one call of scipy's `rankdata` per pair of classes; differences in float64."""
    rankdata = _module("scipy.stats").rankdata
    n_classes = scores.shape[1]
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_classes))
    blocks = [scores[rows].astype(np.float64, copy=False) for rows in np.split(order, ends[:-1])]
    total: float = 0.0
    for c in range(n_classes):
        for d in range(c):
            own, other = (blocks[k][:, c] - blocks[k][:, d] for k in (c, d))
            ranks = rankdata(np.concatenate([own, other]))[: len(own)]
            total += (ranks.sum() - len(own) * (len(own) + 1) / 2) / (len(own) * len(other))
    return float(total * 2 / (n_classes * (n_classes - 1)))


OURS = tuple(
    Tool("multiauc", metric, "multiauc", ("multiauc",), call, _set_threads_multiauc, threaded=True, cell_cost=7e-9)
    for metric, call in (
        (AUC_MU, _multiauc_auc_mu),
        (HAND_TILL, _multiauc_hand_till),
        (ONE_VS_REST, _multiauc_one_vs_rest),
    )
)
CATBOOST = Tool(
    "CatBoost", AUC_MU, "catboost", ("catboost",), _catboost_auc_mu, threaded=True, pair_cost=1e-5, cell_cost=1e-7
)
RANKDATA = Tool("NumPy + rankdata", AUC_MU, "scipy", ("scipy",), _rankdata_auc_mu, pair_cost=1.1e-4, cell_cost=1.3e-7)
SKLEARN_OVO = Tool(
    "scikit-learn ovo",
    HAND_TILL,
    "scikit-learn",
    ("sklearn",),
    _sklearn_ovo,
    pair_cost=1.6e-3,
    row_cost=1.2e-8,
    cell_cost=4e-7,
)
SKLEARN_OVR = Tool(
    "scikit-learn ovr", ONE_VS_REST, "scikit-learn", ("sklearn",), _sklearn_ovr, pair_cost=2e-6, cell_cost=3.7e-7
)
TORCHMETRICS = Tool(
    "torchmetrics exact",
    ONE_VS_REST,
    "torchmetrics",
    ("torch", "torchmetrics"),
    _torchmetrics_ovr,
    _set_threads_torch,
    threaded=True,
    cell_cost=2.2e-7,
)
PEERS = (CATBOOST, RANKDATA, SKLEARN_OVO, SKLEARN_OVR, TORCHMETRICS)


def our_tool(metric: str) -> Tool:
    """Return our function for `metric`."""
    return next(tool for tool in OURS if tool.metric == metric)
