"""Hints for option names and values from other libraries."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from multiauc._common.wording import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

P = ParamSpec("P")
R = TypeVar("R")

#: Options of other libraries, and our names for them.
SYNONYMS = {
    "rng": ("random_state", "random_seed", "seed"),
    "n_resamples": ("n_bootstrap", "n_bootstraps", "n_boot", "n_samples", "bootstrap", "replicates"),
    "sample_weight": ("sample_weights", "weight", "weights"),
    "labels": ("classes", "class_names", "target_names", "label_names", "pos_label"),
    "memory_limit": ("memory", "max_memory"),
    "groups": ("group", "cluster", "clusters"),
    "metrics": ("metric", "scoring"),
    "metric": ("metrics", "scoring"),
}

#: What to do instead of an option that does not exist here.
ADVICE = {
    "random_state": "this function is deterministic; rng= is an option of .bootstrap()",
    "multi_class": (
        "'ovr' is one_vs_rest_score (the metric 'one_vs_rest'), 'ovo' is hand_till_score (the metric 'hand_till'), and "
        "multiauc.sklearn.roc_auc_score takes multi_class="
    ),
    "average": (
        "averages by the sizes of classes are pair_weights='size_sum' (scikit-learn's 'weighted' of 'ovo') or "
        "'size_product', and average='prevalence' of one_vs_rest_score (its 'weighted' of 'ovr')"
    ),
    "max_fpr": "for partial AUCs use partial_auc_score and partial_auc",
    "level": "level= is an option of .confidence_interval()",
    "alpha": "level= is an option of .confidence_interval()",
    "n_resamples": "to resample, call .bootstrap() of the result",
    "pooled": "leave out folds= to rank the rows of all folds against each other",
    "method": "options called method belong to intervals, .confidence_interval(method=)",
    "exact": "exact= is an option of evaluate_dataset and multiauc.spark.evaluate, with several passes",
    "n_jobs": "threads are set by multiauc.set_num_threads or MULTIAUC_NUM_THREADS",
    "num_threads": "threads are set by multiauc.set_num_threads or MULTIAUC_NUM_THREADS",
}
ADVICE |= dict.fromkeys(SYNONYMS["rng"], ADVICE["random_state"])
ADVICE |= dict.fromkeys(SYNONYMS["n_resamples"], ADVICE["n_resamples"])


def with_hints(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function so an unknown keyword raises an error that names ours."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        try:
            return function(*args, **options)
        except TypeError:
            known = signature_names(function)
            unknown = next((word for word in options if word not in known), None)
            if unknown is None:
                raise
            found = f"{function.__name__}() got an unexpected keyword argument {unknown!r}"
            raise TypeError(f"{found}; {_instead(known, unknown)}") from None

    return call


@contextmanager
def needs(what: str, packages: str) -> Iterator[None]:
    """Name a library that cannot be imported, with the command that installs it."""
    try:
        yield
    except ImportError as error:
        raise ModuleNotFoundError(f"{what}; install it with: pip install {packages}", name=error.name) from None


def warn(message: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn at the line outside this package that called into it."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - what `warnings` itself does
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "multiauc":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def signature_names(function: Callable[..., Any]) -> list[str]:
    """The names of a function's parameters."""
    from inspect import signature  # noqa: PLC0415 - only errors pay for it

    return [name for name in signature(function).parameters if name != "self"]


def _instead(names: list[str], word: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only errors pay for it

    called = [name for name in names if word in SYNONYMS.get(name, ())]
    if not called and word in ADVICE:
        return ADVICE[word]
    called = called or get_close_matches(word, names, n=1)
    return f"its name here is {called[0]}=" if called else f"it has {listing(names)}"
