"""A number about one row of every class at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from multiauc._digits import decimals
from multiauc._input.options import positive_integer
from multiauc._result import Tabular
from multiauc._surface import surface_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from multiauc._input.held_inputs import HeldInputs
    from multiauc._surface import RocSurface
    from multiauc.estimates import Estimate, IntervalMethod
    from multiauc.plotting import RocSurfaceDisplay
    from multiauc.results import ConfidenceInterval

#: What makes an assignment of rows to classes good, and the word for it.
RULES = {"sum": "sums", "prod": "products", "distance": "distances"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Volume(Tabular):
    """A number about one row of every class at a time, with its uncertainty; see `multiauc.pdi` and `multiauc.hum`.

    Attributes
    ----------
    estimate : Estimate
        The value with its standard error over rows.
    monte_carlo_error : float
        The standard error of drawing instead of counting everything; 0 where everything was counted.
    chance : float
        The value for uninformative scores.
    exact : bool
        Whether everything was counted.
    perfect : float
        The value for scores that are always right.
    rule : str or None
        What makes an assignment of rows to classes good, where that was chosen.
    per_class : dict of float
        The value for each class by its label; empty for what is not a mean over classes.

    Examples
    --------
    >>> import multiauc
    >>> volume = multiauc.pdi([0, 0, 1, 1, 2, 2], [[3, 1, 1], [2, 2, 1], [1, 3, 1], [2, 3, 1], [1, 2, 3], [1, 1, 3]])
    >>> volume.value, volume.exact, volume.perfect
    (0.9583333333333334, True, 1.0)
    >>> round(volume.normalised, 4)
    0.9375
    """

    estimate: Estimate
    monte_carlo_error: float
    chance: float
    exact: bool = True
    perfect: float = 1.0
    rule: str | None = None
    per_class: dict[Any, float] = field(default_factory=dict)
    _inputs: HeldInputs | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # The data are left behind: an unpickled volume cannot be drawn.
        known = (self.estimate, self.monte_carlo_error, self.chance, self.exact, self.perfect, self.rule)
        return Volume, (*known, self.per_class)

    @property
    def value(self) -> float:
        """The number."""
        return self.estimate.value

    @property
    def standard_error(self) -> float:
        """Its standard error over rows."""
        return self.estimate.standard_error

    @property
    def normalised(self) -> float:
        """The value on a scale where chance is 0 and perfect is 1."""
        return (self.value - self.chance) / (self.perfect - self.chance)

    def confidence_interval(self, level: float = 0.95, method: IntervalMethod | None = None) -> ConfidenceInterval:
        """An interval with Student's t, as `Estimate.confidence_interval`; it accounts for drawing, too."""
        if self._is_of_no_rows:
            raise ValueError(
                f"{self.estimate.name} has no interval: it is not a mean over rows. .monte_carlo_error has the error "
                "of drawing"
            )
        return self._with_drawing().confidence_interval(level, method)

    def surface(self, points: int = 48) -> RocSurface:
        """The ROC surface of three classes: rates of right decisions as offsets are added to their scores.

        Parameters
        ----------
        points : int, default 48
            How many offsets of each of two classes.

        Returns
        -------
        RocSurface
            The volume under the surface is the value.
        """
        if self.rule is None:
            raise ValueError(f"there is no ROC surface of {self.estimate.name}; multiauc.hum has one")
        if self._inputs is None:
            raise ValueError("the surface needs the data, which an unpickled result does not have; compute it again")
        return surface_of(self._inputs.unchanged_sample(), self.rule, positive_integer("points", points))

    def plot(self, ax: Axes | None = None, *, points: int = 48) -> RocSurfaceDisplay:
        """Draw the ROC surface of three classes. Needs matplotlib (``pip install multiauc[plot]``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Three-dimensional axes to draw on; by default those of a new figure.
        points : int, default 48
            How many offsets of each of two classes.

        Returns
        -------
        multiauc.plotting.RocSurfaceDisplay
            With ``.ax_`` and ``.figure_``.
        """
        from multiauc.plotting import RocSurfaceDisplay  # noqa: PLC0415

        return RocSurfaceDisplay(self, points=points).plot(ax)

    @property
    def _is_of_no_rows(self) -> bool:
        return self.estimate.smallest_class == 0

    def _with_drawing(self) -> Estimate:
        """The estimate with the standard error of both, rows and drawing."""
        if self.exact:
            return self.estimate
        added = self.monte_carlo_error**2
        variance = self.standard_error**2 + added
        cautious = self.estimate._cautious  # noqa: SLF001
        if cautious is not None:
            cautious = (cautious[0], cautious[1] + added, cautious[2])
        return replace(self.estimate, standard_error=math.sqrt(variance), _first_order=variance, _cautious=cautious)

    def _rows(self, level: float) -> list[dict[str, Any]]:
        unknown = dict.fromkeys(("standard_error", "low", "high"), float("nan"))
        rows = [{"kind": "class", "name": label, "value": value, **unknown} for label, value in self.per_class.items()]
        known = unknown | {"value": self.value} if self._is_of_no_rows else self._with_drawing().to_dict(level)
        return [{"kind": "all classes", "name": None, **known}, *rows]

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        """The value, if a number's format is asked for."""
        return format(self.value, spec) if spec else str(self)

    def __repr__(self) -> str:
        known = ""
        if not self._is_of_no_rows:
            _, _, interval = self._with_drawing().cells()
            known = f", standard error {decimals(self.standard_error)}, 95% interval {interval}"
        drawn = "" if self.exact else f"; drawn, Monte-Carlo error {decimals(self.monte_carlo_error)}"
        best = "" if self.perfect == 1.0 else f", perfect {decimals(self.perfect)}"
        return (
            f"Volume({self.estimate.name} {decimals(self.value)}{known}; chance {decimals(self.chance)}{best}{drawn})"
        )
