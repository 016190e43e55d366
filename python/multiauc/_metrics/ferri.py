"""The volume under the ROC surface of Ferri, Hernandez-Orallo and Salido: sets of crisp classifiers."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.hints import with_hints
from multiauc._common.progress import Stage
from multiauc._inference.bootstrap import draw_seed
from multiauc._input.arrays import as_float64
from multiauc._input.options import positive_integer, read_number, read_rng
from multiauc._input.sample import read_sample
from multiauc._metrics.volumes import Volume

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Absent, Labels, Outputs

TITLE = "Ferri's VUS"
# Three classes are computed without sampling up to this many classifiers; two classes always.
MOST_EXACT = 100


@with_hints
def ferri_vus_of_confusions(
    matrices: ArrayLike,
    *,
    precision: float = 1e-3,
    rng: np.random.Generator | int | None = None,
) -> Volume:
    r"""Ferri's volume under the ROC surface of a set of crisp classifiers, from their confusion matrices.

    A crisp classifier is a point in the space of its K(K-1) error rates. Together with the K constant classifiers, the
    given ones span a convex set; the volume counts all possible error rates that some mixture of them does not exceed:

    .. math::
        \operatorname{vol}\bigl((\operatorname{conv}(\text{classifiers}) + \mathbb{R}_+^{K(K-1)}) \cap \Omega\bigr),

    :math:`\Omega` being the rates whose sum is at most 1 for every class [1]_. A perfect classifier has
    :math:`((K-1)!)^{-K}`: 1 for two classes, 1/8 for three, 1/1296 for four. The constant classifiers alone have 1/2,
    1/180 and 1/17740800. With two classes it is the area under the convex hull of the ROC points.

    Parameters
    ----------
    matrices : array-like of shape (m, K, K) or (K, K)
        Confusion matrices, a row for each true class, in counts or in rates.
    precision : float, default 1e-3
        If points are sampled, the Monte Carlo error at which to stop, as a fraction of the perfect value.
    rng : numpy.random.Generator or int, optional
        Seed or generator for sampling.

    Returns
    -------
    Volume
        Without a standard error over rows, because it is not a mean over rows. It is exact with two classes, and with
        three classes and up to 100 classifiers, which needs scipy (``pip install scipy``). Otherwise points are
        sampled, each checked by a linear programme, and ``.monte_carlo_error`` is the standard error of sampling.

    References
    ----------
    .. [1] C. Ferri, J. Hernandez-Orallo and M. A. Salido, "Volume under the ROC surface for multi-class problems",
       ECML 2003, 108-120.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> matrix = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    >>> volume = multiauc.ferri_vus_of_confusions(matrix)
    >>> volume
    Volume(Ferri's VUS 0.0609; chance 0.0056, perfect 0.1250)
    >>> round(volume.normalised, 4)
    0.4636
    """
    limit, seed = read_number("precision", precision, 0.0), draw_seed(read_rng(rng))
    return _compute_volume(_read_confusions(matrices), limit, seed)


@with_hints
def ferri_vus_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    classifiers: int = 24,
    precision: float = 1e-3,
    rng: np.random.Generator | int | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""Ferri's volume of a soft classifier, treated as a set of crisp ones: argmax of the scores plus offsets.

    This is a lower estimate, because offsets do not produce every crisp classifier that scores allow. On a problem
    whose value is known (`docs/volumes.md`), argmax alone reaches 57% of it, 24 offsets 77% and a thousand 87%.

    Parameters
    ----------
    y_true, y_score, labels, absent, outputs
        As in `hum_score`.
    classifiers : int, default 24
        How many offsets to use: zero, and the others at random quantiles of score differences. More offsets give a
        larger value and take longer.
    precision : float, default 1e-3
        As in `ferri_vus_of_confusions`, which has the formula.
    rng : numpy.random.Generator or int, optional
        Seed or generator for the offsets and the sampled points.

    Returns
    -------
    float
        The value.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> y_score = rng.random((300, 3)) + 0.5 * np.eye(3)[y_true]
    >>> few = multiauc.ferri_vus_score(y_true, y_score, classifiers=1)
    >>> few < multiauc.ferri_vus_score(y_true, y_score, classifiers=20, rng=0) < 1 / 8
    True
    """
    count = positive_integer("classifiers", classifiers)
    limit, generator = read_number("precision", precision, 0.0), read_rng(rng)
    sample = read_sample(y_true, y_score, None, labels, absent, outputs)
    columns = [-sample.scores, sample.scores] if sample.has_one_score else [sample.scores]
    scores = np.hstack(columns).astype(np.float64)
    present = np.flatnonzero(sample.rows)
    codes = np.searchsorted(present, sample.codes)
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0].tolist()
        raise ValueError(
            f"y_score contains {scores[row, column]} at row {row}, column {column}; every score must be a finite number"
        )
    scores = scores[:, present]
    offsets = _offsets(codes, scores, count, generator)
    with Stage(TITLE):
        rates = np.stack([_confusion(codes, scores + offset) for offset in offsets])
    return sample.nan_if_absent(_compute_volume(rates, limit, draw_seed(generator)).value)


def _offsets(
    codes: NDArray[np.intp], scores: NDArray[np.float64], count: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Zero, and offsets that move random quantiles of the score differences to the boundary."""
    n_classes = scores.shape[1]
    offsets = np.zeros((count, n_classes))
    levels = generator.random((count - 1, n_classes - 1))
    shares = 1.0 / np.bincount(codes, minlength=n_classes)[codes]
    for column in range(n_classes - 1):
        differences = scores[:, column] - scores[:, -1]
        order = np.argsort(differences)
        sums = np.cumsum(shares[order])
        places = np.searchsorted(sums, levels[:, column] * sums[-1])
        offsets[1:, column] = -differences[order[np.minimum(places, len(order) - 1)]]
    return offsets


def _confusion(codes: NDArray[np.intp], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    n_classes = scores.shape[1]
    counts = np.bincount(codes * n_classes + scores.argmax(axis=1), minlength=n_classes**2).reshape(n_classes, -1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _read_confusions(matrices: Any) -> NDArray[np.float64]:
    """(m, K, K) rates, each row summing to 1."""
    values = as_float64("matrices", matrices)
    values = values[np.newaxis] if values.ndim == 2 else values
    if values.ndim != 3 or values.shape[1] != values.shape[2] or values.shape[1] < 2 or not len(values):
        raise ValueError(
            "matrices must be confusion matrices of at least two classes, of shape (m, K, K) or (K, K); "
            f"got shape {values.shape}"
        )
    wrong = ~((values >= 0.0) & np.isfinite(values))
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise ValueError(f"matrices must be finite and not negative; got {values[place]} at {list(place)}")
    sums = values.sum(axis=2, keepdims=True)
    if not sums.all():
        m, row, _ = np.argwhere(sums == 0.0)[0].tolist()
        raise ValueError(f"matrices must have rows of every true class; row {row} of matrix {m} is all zeros")
    return np.asarray(values / sums)


def _compute_volume(rates: NDArray[np.float64], precision: float, seed: int) -> Volume:
    n_classes = rates.shape[1]
    always = np.stack([np.tile(answer, (n_classes, 1)) for answer in np.eye(n_classes)])
    off_diagonal = ~np.eye(n_classes, dtype=bool)
    points = np.unique(np.concatenate([always, rates])[:, off_diagonal], axis=0)
    perfect = float(math.factorial(n_classes - 1)) ** -n_classes
    chance = _CHANCES.get(n_classes, math.nan)
    exact = n_classes == 2 or (n_classes == 3 and len(points) <= MOST_EXACT)
    with Stage(TITLE):
        if exact:
            value, error = _cover(points, n_classes), 0.0
        else:
            found = _rust.covered_share(np.ascontiguousarray(points), n_classes, precision, seed)
            value, error = (perfect * share for share in found)
    return Volume(TITLE, min(value, perfect), None, error, chance, exact=exact, perfect=perfect)


#: The volume of the constant classifiers.
_CHANCES = {2: 1 / 2, 3: 1 / 180, 4: 1 / 17_740_800}


def _cover(points: NDArray[np.float64], n_classes: int) -> float:
    """The volume of the possible rates that are nowhere below a mixture of the points."""
    try:
        from scipy.spatial import ConvexHull, QhullError  # noqa: PLC0415
    except ImportError:
        raise ImportError(
            "Ferri's volume of up to three classes needs scipy; install it with: pip install scipy"
        ) from None
    # What lies above one point is a product of simplices: in each class, all that is left of 1 is put on one rate, or
    # on none. What lies above mixtures is a mixture of what lies above the points: the hull of these corners.
    by_class = points.reshape(len(points), n_classes, n_classes - 1)
    left = 1.0 - by_class.sum(axis=2)
    added = np.vstack([np.zeros(n_classes - 1), np.eye(n_classes - 1)])
    corners = np.concatenate(
        [
            by_class + left[:, :, np.newaxis] * added[list(where)]
            for where in product(range(n_classes), repeat=n_classes)
        ]
    ).reshape(-1, points.shape[1])
    corners = np.unique(corners.round(14), axis=0)
    try:
        return float(ConvexHull(corners).volume)
    except QhullError:
        # Many corners in one plane, within rounding: moved by about 1e-13, no two are.
        return float(ConvexHull(corners, qhull_options="QJ").volume)
