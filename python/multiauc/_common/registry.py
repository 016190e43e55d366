"""The metrics: their names and titles are listed here and nowhere else.

Properties of a metric that the core defines (whether it supports weights, its options, ...) come from the core. A new
metric is a variant of the core's `Metric` and a file in the core, a row of `METRICS` with the words, its name in
`MetricName` and a public function. Everything that offers metrics by name (`evaluate`, `compare`, the bootstrap, the
command line, reports, training metrics, scorers) reads this table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from multiauc import _rust

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MetricName: TypeAlias = Literal[
    "auc_mu",
    "hand_till",
    "one_vs_rest",
    "one_vs_rest_prevalence",
    "average_precision",
    "average_precision_prevalence",
    "pdi",
    "hum",
    "landgrebe_duin",
    "ordered_vus",
    "matthews",
    "kappa",
    "accuracy",
    "balanced_accuracy",
    "macro_f1",
    "top_k_accuracy",
    "log_loss",
    "brier",
    "multiclass_roc",
]
CurveKind: TypeAlias = Literal["one_vs_rest", "pairwise"]

#: Those of the predicted classes, which the scale of the scores does not change.
PREDICTION_METRICS: Final = ("matthews", "kappa", "accuracy", "balanced_accuracy", "macro_f1", "top_k_accuracy")

#: The default k of top-k accuracy.
DEFAULT_K: Final = 2

#: Whether rows have one class each, or any number of labels.
TASKS: Final = ("multiclass", "multilabel")

#: The default metrics.
DEFAULT_METRIC: Final = "auc_mu"

#: What a curve separates each class from: all others pooled, or one other class.
AGAINST_REST: Final = "one_vs_rest"
PAIRWISE: Final = "pairwise"
CURVE_KINDS: Final = (AGAINST_REST, PAIRWISE)
DEFAULT_CURVE_KIND: Final = "one_vs_rest"


@dataclass(frozen=True, slots=True)
class PairValues:
    """The matrix of pairs of classes that a metric averages.

    Attributes
    ----------
    title
        What an entry of the matrix is, as people write it.
    choice
        How a reader chooses between the matrices of several metrics.
    is_symmetric
        Whether a pair has one value whichever of its classes comes first.
    """

    title: str
    choice: str
    is_symmetric: bool


class Scale(NamedTuple):
    """The scale of a metric.

    Attributes
    ----------
    smallest, largest
        What values lie between.
    is_log
        Whether intervals are those of positive numbers without a largest one.
    """

    smallest: float = 0.0
    largest: float = 1.0
    is_log: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """The properties of a metric.

    Attributes
    ----------
    name
        How it is asked for.
    title
        How people write it.
    meaning
        What it looks at: the end of a sentence that begins with its title.
    options
        The options of `evaluate` and `compare` that it depends on.
    pairs
        The matrix of pairs of classes that it averages, if it does.
    has_weights
        Whether rows may have weights.
    is_analytic
        Whether it is a mean of influence values, and so has an analytic standard error.
    has_bootstrap
        Whether it is resampled from presorted orders.
    has_interactions
        Whether its unbiased and its bootstrap-limit variances are known.
    has_class_scores
        Whether it reads a score for every class; otherwise one score per row that rises with the classes.
    is_default
        Whether `evaluate` computes it by default.
    chance
        Its chance level: "half", "zero", "one_of_classes" for one divided by the number of classes, "one_of_orders" for
        one divided by the number of their orders, "k_of_classes" for k of them, "prevalence" for the sum of the squared
        class prevalences, or that of equal probabilities: "log_loss", "brier".
    smallest, largest
        Its smallest and its largest possible value.
    higher_is_better
        Whether a larger value is the better one.
    depends_on_sizes
        Whether its population value depends on the class prevalences.
    interval
        The kind of interval that it has by default.
    sampling
        Whether class sizes are fixed or random by default.
    """

    name: MetricName
    title: str
    meaning: str
    options: tuple[str, ...] = ()
    pairs: PairValues | None = None
    has_weights: bool = True
    is_analytic: bool = True
    has_bootstrap: bool = True
    has_interactions: bool = True
    has_class_scores: bool = True
    is_default: bool = False
    chance: Literal[
        "half", "zero", "one_of_classes", "one_of_orders", "k_of_classes", "prevalence", "log_loss", "brier"
    ] = "half"
    smallest: float = 0.0
    largest: float = 1.0
    higher_is_better: bool = True
    depends_on_sizes: bool = False
    interval: Literal["wilson", "logit", "log"] = "wilson"
    sampling: Literal["stratified", "iid"] = "stratified"

    @property
    def scale(self) -> Scale:
        """What its values lie between, and whether their intervals are those of losses."""
        return Scale(self.smallest, self.largest, is_log=self.interval == "log")

    @property
    def sign(self) -> float:
        """1 if a larger value is the better one, otherwise -1."""
        return 1.0 if self.higher_is_better else -1.0

    def chance_of(self, n_classes: int, *, shares: Sequence[float] | None = None, k: int = DEFAULT_K) -> float:
        """The chance level; nan if it depends on class prevalences that are not given."""
        if self.chance == "prevalence":
            return math.nan if shares is None else math.fsum(share * share for share in shares)
        if self.chance == "one_of_orders":
            # Of more classes it is zero as a float.
            return 1 / math.factorial(min(n_classes, 200))
        even = 1.0 / n_classes
        return {
            "half": 0.5,
            "zero": 0.0,
            "one_of_classes": even,
            "k_of_classes": min(1.0, k * even),
            "log_loss": math.log(n_classes),
            "brier": 0.25 if n_classes == 2 else 1.0 - even,
        }[self.chance]


# What some metrics have in common: classes or probabilities in the shares of the sample, and what is lost by them.
_OF_SHARES: Final = {"depends_on_sizes": True, "interval": "logit", "sampling": "iid"}
_LOSS: Final = _OF_SHARES | {"interval": "log", "higher_is_better": False}
_AGAINST_REST = "compares each class with all others pooled"
_PRECISION = "is the mean precision of each class against all others pooled, at the scores of its own rows"
_TUPLES = "looks at one row of every class: how often"

#: Title, meaning, and what the core does not know, by name.
_WORDS: Final[dict[MetricName, tuple[str, str, dict[str, Any]]]] = {
    "auc_mu": (
        "AUC_mu",
        "compares every pair of classes by both of their scores",
        {"pairs": PairValues("AUC_mu", "both scores (AUC_mu)", is_symmetric=True), "is_default": True},
    ),
    "hand_till": (
        "Hand & Till's M",
        "compares every pair of classes by one score at a time",
        {"pairs": PairValues("A(row | column)", "one score (M)", is_symmetric=False), "is_default": True},
    ),
    "one_vs_rest": (
        "one-vs-rest (macro)",
        f"{_AGAINST_REST}, every class with the same weight",
        {"is_default": True},
    ),
    "one_vs_rest_prevalence": (
        "one-vs-rest (prevalence)",
        f"{_AGAINST_REST}, weighted by its share of the rows",
        {"is_default": True},
    ),
    "average_precision": (
        "average precision (macro)",
        f"{_PRECISION}, every class with the same weight",
        {"chance": "one_of_classes", "depends_on_sizes": True},
    ),
    "average_precision_prevalence": (
        "average precision (prevalence)",
        f"{_PRECISION}, weighted by its share of the rows",
        {"chance": "prevalence", "depends_on_sizes": True},
    ),
    "pdi": ("PDI", f"{_TUPLES} a class's own row has its highest score", {"chance": "one_of_classes"}),
    "hum": (
        "HUM",
        f"{_TUPLES} giving each row its own class has the largest sum of scores",
        {"chance": "one_of_orders"},
    ),
    "landgrebe_duin": (
        "Landgrebe & Duin's volume",
        f"{_TUPLES} giving each row its own class has the largest product of scores",
        {"chance": "one_of_orders"},
    ),
    "ordered_vus": (
        "ordered VUS",
        f"{_TUPLES} their scores rise in class order",
        {"chance": "one_of_orders"},
    ),
    "matthews": (
        "Matthews (R_K)",
        "is the correlation between predicted and true classes",
        {"chance": "zero", "smallest": -1.0, **_OF_SHARES},
    ),
    "kappa": (
        "Cohen's kappa",
        "is the accuracy beyond chance agreement",
        {"chance": "zero", "smallest": -1.0, **_OF_SHARES},
    ),
    "accuracy": ("accuracy", "is the share of correct predictions", {"chance": "one_of_classes", **_OF_SHARES}),
    "balanced_accuracy": (
        "balanced accuracy",
        "is the mean recall of the classes",
        {"chance": "one_of_classes"},
    ),
    "macro_f1": (
        "F1 (macro)",
        "is the mean F1 of the classes",
        {"chance": "one_of_classes", **_OF_SHARES},
    ),
    "top_k_accuracy": (
        "top-k accuracy",
        "is the share of rows whose class is among the k highest scores",
        {"options": ("k",), "chance": "k_of_classes", **_OF_SHARES, "interval": "wilson"},
    ),
    "log_loss": (
        "log loss",
        "is minus the mean logarithm of the probability of the true class; smaller is better",
        {"options": ("clip",), "chance": "log_loss", "largest": math.inf, **_LOSS},
    ),
    "brier": (
        "Brier score",
        "is the mean squared distance of the probabilities from the true class; smaller is better",
        {"chance": "brier", "largest": 2.0, **_LOSS},
    ),
    "multiclass_roc": (
        "multi-class ROC (D)",
        "is the area under one curve for all pairs of classes",
        {"options": ("pair_weights",), "is_analytic": False, "has_bootstrap": False, "has_interactions": False}
        | {"interval": "logit"},
    ),
}


def _build(name: MetricName, title: str, meaning: str, words: dict[str, Any]) -> Metric:
    """A metric with its properties from the core, if the core has it."""
    facts = dict(_rust.METRICS.get(name, {}))
    shared = [option for option in ("partition", "pair_weights") if facts.pop(f"has_{option}", False)]
    return Metric(name, title, meaning, **facts | words | {"options": (*shared, *words.get("options", ()))})


METRICS: Final[dict[str, Metric]] = {name: _build(name, *words) for name, words in _WORDS.items()}

#: The metrics that `evaluate` computes by default, and all it supports.
DEFAULT_METRICS: Final = tuple(name for name, metric in METRICS.items() if metric.is_default)
ANALYTIC_METRICS: Final = tuple(
    name for name, metric in METRICS.items() if metric.is_analytic and metric.has_class_scores
)
#: Metrics of one score per row: `evaluate` and `compare` support them one at a time.
ONE_SCORE_METRICS: Final = tuple(name for name, metric in METRICS.items() if not metric.has_class_scores)


def metrics_with_option(option: str) -> tuple[str, ...]:
    """The metrics that an option has a meaning for."""
    return tuple(name for name, metric in METRICS.items() if option in metric.options)


def natural_sampling(metrics: Iterable[str]) -> Literal["stratified", "iid"]:
    """The default sampling: random class sizes if that is the default of one of the metrics."""
    return "iid" if any(METRICS[metric].sampling == "iid" for metric in metrics) else "stratified"
