"""Numbers about one row of every class at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Never, TypeAlias

from multiauc import _rust
from multiauc._hints import refuse_unknown
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import read_flag, read_positive, read_rng
from multiauc._input.sample import read_sample
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._progress import Stage
from multiauc._registry import HUM, LANDGREBE_DUIN, METRICS, PDI
from multiauc._replicates import draw_seed
from multiauc._scoring import score_of
from multiauc._wording import one_of
from multiauc.estimates import warn_of_single_units
from multiauc.evaluation import computed, evaluation_from
from multiauc.volume_results import RULES, Volume

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from multiauc._input.sample import Sample
    from multiauc._types import Absent, Labels, Outputs

Rule: TypeAlias = Literal["sum", "prod", "distance"]


@shares_parameter_texts
def pdi_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> float:
    r"""The polytomous discrimination index: of one row of each class, how often a class has the highest of its scores.

    .. math::
        \mathrm{PDI} = \frac{1}{K} \sum_k
            P\Bigl(p_k(x_k) > \max_{j \ne k} p_k(x_j)\Bigr),

    :math:`x_1, \ldots, x_K` being one row of each class; where t other rows tie with :math:`x_k` for the highest score,
    the tuple counts 1/(1 + t). Scores without information have the value 1/K, perfect ones 1. With two classes it is
    Hand & Till's M.

    Parameters
    ----------
    {y_true}
    {y_score}
    {sample_weight}
    {labels}
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out of the tuples, or return nan.
    {outputs}

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    pdi : The same with a standard error, and class by class.

    Notes
    -----
    All tuples are counted, from how much of each other class lies below each row, in time that grows like
    n K log n + n K^2.

    References
    ----------
    .. [1] B. Van Calster, V. Van Belle, Y. Vergouwe, D. Timmerman, S. Van Huffel and E. W. Steyerberg, "Extending the
       c-statistic to nominal polytomous outcomes: the Polytomous Discrimination Index", Statistics in Medicine 31
       (2012), 2610-2626.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.pdi_score(y_true, y_score), 4)
    0.875
    """
    refuse_unknown(pdi_score, unknown)
    return score_of(read_sample(y_true, y_score, sample_weight, labels, absent, outputs), PDI, {})


def pdi(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> Volume:
    r"""The polytomous discrimination index with its standard error, and class by class.

    With :math:`T(i)` the mean credit of the tuples through row i, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`.

    Parameters
    ----------
    y_true, y_score, sample_weight, labels, absent, outputs
        As in `pdi_score`, which has the formula.

    Returns
    -------
    Volume
        Exact, with ``.per_class``. `evaluate` and `compare` have it too, as the metric ``"pdi"``: with groups of rows,
        covariances and paired tests.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=300)
    >>> y_score = rng.random((300, 3)) + 0.5 * (y_true[:, None] == ["cat", "dog", "eel"])
    >>> result = multiauc.pdi(y_true, y_score)
    >>> result
    Volume(PDI 0.8049, standard error 0.0175, 95% interval 0.7669 to 0.8380; chance 0.3333)
    >>> {label: round(value, 4) for label, value in result.per_class.items()}
    {'cat': 0.8246, 'dog': 0.8194, 'eel': 0.7706}
    """
    refuse_unknown(pdi, unknown)
    inputs = HeldInputs(read_sample(y_true, y_score, sample_weight, labels, absent, outputs), (PDI,), {})
    found = computed(inputs)
    warn_of_single_units(inputs, found.units, found.effective_units, stacklevel=2)
    per_class = _rust.pdi_per_class(inputs.arguments()).tolist()
    sample = inputs.sample
    return replace(
        volume_of(inputs, found, PDI), per_class={sample.labels[c]: per_class[c] for c in sample.reported_classes()}
    )


@shares_parameter_texts
def hum_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    rule: Rule = "sum",
    precision: float = 1e-3,
    rng: np.random.Generator | int | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> float:
    r"""The hypervolume under the ROC manifold: how often the rows of a tuple, one of each class, get their own classes.

    A tuple :math:`x_1, \ldots, x_K` is right if no assignment of its rows to the classes is better than the true one,

    .. math::
        \mathrm{HUM} = P\Bigl(\sum_k s_k(x_k) \ge \sum_k s_{\sigma(k)}(x_k)
            \text{ for all permutations } \sigma\Bigr),

    and counts 1/m where m assignments are equally good. With three classes this is Mossman's volume under the three-way
    ROC surface [1]_; the form for more classes is that of Li and Fine [2]_. Scores without information have the value
    1/K!, perfect ones 1. By sums of scores, two classes have AUC_mu.

    Parameters
    ----------
    {y_true}
    {y_score}
    rule : {"sum", "prod", "distance"}, default "sum"
        What makes an assignment good: the sum of the scores (:math:`s = p`), their product (:math:`s = \log p`, for
        scores that are not negative, a zero counting as the smallest normal number), or the distance from the corners
        of the simplex (:math:`s_j = -\lVert p - e_j \rVert`). They give different values.
    precision : float, default 1e-3
        The standard error of drawing at which to stop, where there are too many tuples to count them all.
    rng : numpy.random.Generator or int, optional
        What the tuples are drawn from, if they are.
    {labels}
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows: raise an error, leave it out of the tuples, or return nan.
    {outputs}

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    hum : The same with its standard errors, over rows and of drawing.
    landgrebe_duin_score : The rule "prod" under its own name.

    Notes
    -----
    Three classes are counted exactly, in time that grows like n^2 log n and memory that grows like n (seconds for
    n = 20,000), unless the smallest class times the rows of the others exceeds 10^10. Four and more are gone through
    while there are at most 10^7 tuples of different rows, and while counting the best assignments of tied tuples takes
    about a second at most; beyond that tuples are sampled, each row equally often, which brings the error down faster
    than sampling them independently.

    Sums of scores are compared without rounding, however small some of the scores are. Scores on a lattice (shares of
    votes, rounded decimals) count as the fractions that they stand for; others as the floating-point numbers that they
    are. Products tie if they agree to about 22 significant digits, and sums of distances if they differ by less than
    about 4e-22 times the largest score (or 1, if that is larger): rows that are proportional tie by products, and equal
    columns by distances, in any order of rows and columns.

    References
    ----------
    .. [1] D. Mossman, "Three-way ROCs", Medical Decision Making 19 (1999), 78-89.
    .. [2] J. Li and J. P. Fine, "ROC analysis with multiple classes and multiple tests: methodology and its application
       in microarray studies", Biostatistics 9 (2008), 566-576.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> multiauc.hum_score(y_true, y_score)
    0.75
    """
    refuse_unknown(hum_score, unknown)
    found = _read_rule(rule)
    limit, seed = read_positive("precision", precision), draw_seed(read_rng(rng))
    sample = read_sample(y_true, y_score, None, labels, absent, outputs)
    with Stage(METRICS[HUM].title):
        value, _, _ = _rust.hum_score(sample.arguments(), found, limit, seed, is_latin=True)
    return sample.nan_if_absent(value)


def hum(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    rule: Rule = "sum",
    precision: float = 1e-3,
    rng: np.random.Generator | int | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> Volume:
    r"""The hypervolume under the ROC manifold with its standard error over rows, and that of drawing tuples.

    With :math:`T(i)` the mean credit of the tuples through row i, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`. Where tuples are drawn, what drawing adds
    to the spread of T is taken out, and its own standard error is ``.monte_carlo_error``; intervals account for both.

    Parameters
    ----------
    y_true, y_score, rule, precision, rng, labels, absent, outputs
        As in `hum_score`, which has the formula.

    Returns
    -------
    Volume
        With ``.plot()`` for three classes. `evaluate` and `compare` have the rule "sum" too, as the metric ``"hum"``,
        and "prod" as ``"landgrebe_duin"``: with groups of rows, covariances and paired tests.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=300)
    >>> y_score = rng.random((300, 3)) + 0.5 * (y_true[:, None] == ["cat", "dog", "eel"])
    >>> multiauc.hum(y_true, y_score)
    Volume(HUM by sums 0.8793, standard error 0.0209, 95% interval 0.8310 to 0.9152; chance 0.1667)
    >>> y_true = rng.integers(6, size=3000)
    >>> y_score = rng.random((3000, 6)) + 0.7 * np.eye(6)[y_true]
    >>> volume = multiauc.hum(y_true, y_score, rng=0)
    >>> volume.exact, volume.monte_carlo_error < 0.001
    (False, True)
    """
    refuse_unknown(hum, unknown)
    kind = _read_rule(rule)
    limit, seed = read_positive("precision", precision), draw_seed(read_rng(rng))
    inputs = HeldInputs(read_sample(y_true, y_score, None, labels, absent, outputs), (HUM,), {})
    with Stage(METRICS[HUM].title):
        found, error, exact = _rust.hum(inputs.arguments(), kind, limit, seed)
    warn_of_single_units(inputs, found.units, found.effective_units, stacklevel=2)
    volume = volume_of(inputs, found, HUM)
    estimate = replace(volume.estimate, name=f"{METRICS[HUM].title} by {RULES[kind]}")
    return replace(volume, estimate=estimate, monte_carlo_error=error, exact=exact, rule=kind, _inputs=inputs)


def landgrebe_duin_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    normalised: bool = False,
    precision: float = 1e-3,
    rng: np.random.Generator | int | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> float:
    r"""The simplified volume under the ROC surface of Landgrebe and Duin.

    The surface has the rates of right decisions of the classifiers
    :math:`\operatorname{argmax}_k \varphi_k p_k(x)`, for all :math:`\varphi \ge 0` [1]_. The volume under it equals
    `hum_score` with the rule "prod".

    Parameters
    ----------
    y_true, y_score, precision, rng, labels, absent, outputs
        As in `hum_score`; scores must not be negative.
    normalised : bool, default False
        Whether to put it on a scale where chance is 0 and perfect 1: :math:`(V - 1/K!)/(1 - 1/K!)`.

    Returns
    -------
    float
        The value.

    References
    ----------
    .. [1] T. C. W. Landgrebe and R. P. W. Duin, "A simplified extension of the area under the ROC to the multiclass
       domain", Proceedings of PRASA 2006, 241-245.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> multiauc.landgrebe_duin_score(y_true, y_score)
    0.75
    >>> round(multiauc.landgrebe_duin_score(y_true, y_score, normalised=True), 4)
    0.7
    """
    refuse_unknown(landgrebe_duin_score, unknown)
    is_normalised = read_flag("normalised", normalised)
    limit, seed = read_positive("precision", precision), draw_seed(read_rng(rng))
    sample = read_sample(y_true, y_score, None, labels, absent, outputs)
    with Stage(METRICS[LANDGREBE_DUIN].title):
        value, _, _ = _rust.hum_score(sample.arguments(), "prod", limit, seed, is_latin=True)
    chance = METRICS[LANDGREBE_DUIN].chance_of(len(sample.reported_classes()))
    return sample.nan_if_absent((value - chance) / (1.0 - chance) if is_normalised else value)


def _read_rule(rule: Rule) -> str:
    return one_of("rule", rule, tuple(RULES))


def volume_of(inputs: HeldInputs, found: _rust.Evaluated, metric: str) -> Volume:
    """The exact volume that the core found."""
    sample: Sample = inputs.sample
    return Volume(
        evaluation_from(inputs, found).metrics[metric],
        monte_carlo_error=0.0,
        chance=METRICS[metric].chance_of(len(sample.reported_classes())),
    )
