"""Put `multiauc.sklearn.roc_auc_score` in the place of scikit-learn's function, and back."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import sklearn.metrics

from multiauc.sklearn._original import theirs
from multiauc.sklearn.roc_auc import roc_auc_score

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self


class Patch:
    """What `patch` did: `undo` takes it back, and so does leaving a ``with`` block.

    Of several, in any order, the last one to be undone puts scikit-learn's function back.

    Examples
    --------
    >>> import sklearn.metrics
    >>> import multiauc.sklearn
    >>> patched = multiauc.sklearn.patch()
    >>> sklearn.metrics.roc_auc_score is multiauc.sklearn.roc_auc_score
    True
    >>> patched.undo()
    >>> sklearn.metrics.roc_auc_score is multiauc.sklearn.roc_auc_score
    False
    """

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: list[tuple[Any, str]] = list(_places_of(theirs))
        for owner, name in self._places:
            setattr(owner, name, roc_auc_score)
        _in_force.append(self)

    def undo(self) -> None:
        """Put scikit-learn's function back wherever it was replaced, unless somebody else has replaced it since.

        Modules outside scikit-learn that were loaded meanwhile keep the new function, as they may have asked for it.
        """
        if self not in _in_force:
            return
        _in_force.remove(self)
        places, self._places = self._places, []
        if _in_force:
            _in_force[-1]._places += places  # noqa: SLF001 - of the same class
            return
        of_scikit_learn = [place for place in _places_of(roc_auc_score) if _is_of_scikit_learn(place[0])]
        for owner, name in [*places, *of_scikit_learn]:
            if getattr(owner, name, None) is roc_auc_score:
                setattr(owner, name, theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.undo()

    def __repr__(self) -> str:
        return f"Patch(roc_auc_score in {len(self._places)} places)"


#: The patches that have not been undone.
_in_force: list[Patch] = []


def patch() -> Patch:
    """Replace ``sklearn.metrics.roc_auc_score`` by `multiauc.sklearn.roc_auc_score`, everywhere it is in use.

    That is: in scikit-learn's own modules and scorers (``scoring="roc_auc"``, ``"roc_auc_ovr"``, ``"roc_auc_ovo"`` and
    their weighted versions), and in every module loaded so far that has imported the function, under any name. Copies
    kept elsewhere, such as in a list or as a default argument, stay as they are. Modules loaded later import the new
    function, and keep it when the patch is undone. Worker processes of joblib get it with the scorers they are sent.

    Returns
    -------
    Patch
        Call its ``undo()`` to go back, or use ``with patch():`` to replace the function within a block.

    Examples
    --------
    >>> import multiauc.sklearn
    >>> with multiauc.sklearn.patch():
    ...     from sklearn.metrics import roc_auc_score
    ...     roc_auc_score is multiauc.sklearn.roc_auc_score
    True
    """
    return Patch()


def _places_of(function: Any) -> Iterator[tuple[Any, str]]:
    """Every (module or scorer, attribute) that is `function`, outside this package."""
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and not module.__name__.startswith("multiauc."):
            for name in [name for name, value in vars(module).items() if value is function]:
                yield module, name
    for scorer in sklearn.metrics._scorer._SCORERS.values():  # noqa: SLF001 - scikit-learn has no public list of them
        if scorer._score_func is function:  # noqa: SLF001
            yield scorer, "_score_func"


def _is_of_scikit_learn(owner: Any) -> bool:
    """Whether a module or scorer is one of scikit-learn's own."""
    return not isinstance(owner, ModuleType) or owner.__name__.partition(".")[0] == "sklearn"
