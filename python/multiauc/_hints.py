"""What to write in the place of words that people bring along from other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._wording import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Options of other libraries by what they are called here.
SYNONYMS = {
    "rng": ("random_state", "random_seed", "seed"),
    "n_resamples": ("n_bootstrap", "n_bootstraps", "n_boot", "n_samples", "bootstrap", "replicates"),
    "sample_weight": ("sample_weights", "weight", "weights"),
    "labels": ("classes", "class_names", "target_names", "label_names", "pos_label"),
    "groups": ("group", "cluster", "clusters"),
    "metrics": ("metric", "scoring"),
    "metric": ("metrics", "scoring"),
}

#: What to do where there is no such option.
ADVICE = {
    "random_state": "nothing is random here; rng= is an option of .bootstrap()",
    "multi_class": (
        "'ovr' is one_vs_rest_score (the metric 'one_vs_rest'), 'ovo' is hand_till_score (the metric 'hand_till'), and "
        "multiauc.sklearn.roc_auc_score takes multi_class="
    ),
    "average": (
        "averages by the sizes of classes are pair_weights='size_sum' (scikit-learn's 'weighted' of 'ovo') or "
        "'size_product', and average='prevalence' of one_vs_rest_score (its 'weighted' of 'ovr')"
    ),
    "max_fpr": "areas under part of the curve are partial_auc_score and partial_auc",
    "level": "level= is an option of .confidence_interval()",
    "alpha": "level= is an option of .confidence_interval()",
    "n_resamples": "resamples are drawn by .bootstrap() of a result",
    "exact": "exact= is an option of evaluate_dataset and multiauc.spark.evaluate, with several passes",
    "n_jobs": "threads are set by multiauc.set_num_threads or MULTIAUC_NUM_THREADS",
    "num_threads": "threads are set by multiauc.set_num_threads or MULTIAUC_NUM_THREADS",
}
ADVICE |= dict.fromkeys(SYNONYMS["rng"], ADVICE["random_state"])
ADVICE |= dict.fromkeys(SYNONYMS["n_resamples"], ADVICE["n_resamples"])


def refuse_unknown(function: Callable[..., Any], unknown: Mapping[str, object]) -> None:
    """Raise the error of Python for options that a function does not have, with what to write instead."""
    for word in unknown:
        raise TypeError(
            f"{function.__name__}() got an unexpected keyword argument {word!r}; {_instead(function, word)}"
        )


def _instead(function: Callable[..., Any], word: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only errors pay for it
    from inspect import Parameter, signature  # noqa: PLC0415

    parameters = signature(function).parameters.values()
    names = [one.name for one in parameters if one.kind is not Parameter.VAR_KEYWORD and one.name != "self"]
    called = [name for name in names if word in SYNONYMS.get(name, ())] or get_close_matches(word, names, n=1)
    if called:
        return f"here it is called {called[0]}="
    return ADVICE.get(word) or f"it has {listing(names)}"
