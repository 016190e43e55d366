"""The metrics: their names and titles are listed here and nowhere else.

Properties of a metric that the core defines (whether it supports weights, its options, its range, its chance level,
...) come from the core. A new metric is a variant of the core's `Metric` and a file in the core, a row of `_WORDS` with
its title and meaning, its name in `MetricName` and a public function. Everything that offers metrics by name
(`evaluate`, `compare`, the bootstrap, the command line, reports, training metrics, scorers) reads this table.
"""

from __future__ import annotations

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

#: The options that only some metrics depend on.
OPTIONS: Final = ("partition", "pair_weights", "clip", "k")

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
    is_of_predictions
        Whether it is about predicted classes, which the scale of the scores does not change.
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
    is_of_predictions: bool = False
    chance: str = "half"
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
        return _rust.chance(self.chance, n_classes, None if shares is None else list(shares), k)


_AGAINST_REST = "compares each class with all others pooled"
_PRECISION = "is the mean precision of each class against all others pooled, at the scores of its own rows"
_TUPLES = "looks at one row of every class: how often"
_EQUAL, _BY_SHARE = "every class with the same weight", "weighted by its share of the rows"

#: Title and meaning, by name.
_WORDS: Final[dict[MetricName, tuple[str, str]]] = {
    "auc_mu": ("AUC_mu", "compares every pair of classes by both of their scores"),
    "hand_till": ("Hand & Till's M", "compares every pair of classes by one score at a time"),
    "one_vs_rest": ("one-vs-rest (macro)", f"{_AGAINST_REST}, {_EQUAL}"),
    "one_vs_rest_prevalence": ("one-vs-rest (prevalence)", f"{_AGAINST_REST}, {_BY_SHARE}"),
    "average_precision": ("average precision (macro)", f"{_PRECISION}, {_EQUAL}"),
    "average_precision_prevalence": ("average precision (prevalence)", f"{_PRECISION}, {_BY_SHARE}"),
    "pdi": ("PDI", f"{_TUPLES} a class's own row has its highest score"),
    "hum": ("HUM", f"{_TUPLES} giving each row its own class has the largest sum of scores"),
    "landgrebe_duin": (
        "Landgrebe & Duin's volume",
        f"{_TUPLES} giving each row its own class has the largest product of scores",
    ),
    "ordered_vus": ("ordered VUS", f"{_TUPLES} their scores rise in class order"),
    "matthews": ("Matthews (R_K)", "is the correlation between predicted and true classes"),
    "kappa": ("Cohen's kappa", "is the accuracy beyond chance agreement"),
    "accuracy": ("accuracy", "is the share of correct predictions"),
    "balanced_accuracy": ("balanced accuracy", "is the mean recall of the classes"),
    "macro_f1": ("F1 (macro)", "is the mean F1 of the classes"),
    "top_k_accuracy": ("top-k accuracy", "is the share of rows whose class is among the k highest scores"),
    "log_loss": ("log loss", "is minus the mean logarithm of the probability of the true class; smaller is better"),
    "brier": (
        "Brier score",
        "is the mean squared distance of the probabilities from the true class; smaller is better",
    ),
    "multiclass_roc": ("multi-class ROC (D)", "is the area under one curve for all pairs of classes"),
}
_PAIRS: Final = {
    "auc_mu": PairValues("AUC_mu", "both scores (AUC_mu)", is_symmetric=True),
    "hand_till": PairValues("A(row | column)", "one score (M)", is_symmetric=False),
}
#: What the core would say of the curve, which is not one of its metrics.
_CURVE: Final = dict.fromkeys(("is_analytic", "has_bootstrap", "has_interactions"), False)
_CURVE_FACTS: Final[dict[str, Any]] = _CURVE | {"has_pair_weights": True, "interval": "logit"}


def _build(name: MetricName, title: str, meaning: str) -> Metric:
    """A metric with its properties from the core."""
    facts = dict(_rust.METRICS.get(name, _CURVE_FACTS))
    given = tuple(option for option in OPTIONS if facts.pop(f"has_{option}", False))
    return Metric(name, title, meaning, given, _PAIRS.get(name), **facts)


METRICS: Final[dict[str, Metric]] = {name: _build(name, *words) for name, words in _WORDS.items()}

#: The metrics that `evaluate` computes by default, and all it supports.
DEFAULT_METRICS: Final[tuple[str, ...]] = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")
ANALYTIC_METRICS: Final = tuple(
    name for name, metric in METRICS.items() if metric.is_analytic and metric.has_class_scores
)
#: Those that predicted classes suffice for.
PREDICTION_METRICS: Final = ("accuracy", "balanced_accuracy", "macro_f1", "kappa", "matthews")
#: Metrics of one score per row: `evaluate` and `compare` support them one at a time.
ONE_SCORE_METRICS: Final = tuple(name for name, metric in METRICS.items() if not metric.has_class_scores)


def metrics_with_option(option: str) -> tuple[str, ...]:
    """The metrics that an option has a meaning for."""
    return tuple(name for name, metric in METRICS.items() if option in metric.options)


def natural_sampling(metrics: Iterable[str]) -> Literal["stratified", "iid"]:
    """The default sampling: random class sizes if that is the default of one of the metrics."""
    return "iid" if any(METRICS[metric].sampling == "iid" for metric in metrics) else "stratified"
