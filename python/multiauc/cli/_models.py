"""What commands read: the models with their options, and where all of it came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from multiauc._common.result import provenance
from multiauc._io.costs import read_costs
from multiauc._io.predictions import read_predictions
from multiauc._io.sources import open_content
from multiauc.cli._flags import with_flags

if TYPE_CHECKING:
    from multiauc import Comparison, Evaluation
    from multiauc._io.predictions import Predictions, Request
    from multiauc._io.sources import Content

    Noted = TypeVar("Noted", Evaluation, Comparison)

# Options that say how a result is shown, not what it is.
OF_PRINTING = {"files", "output", "force", "style", "threads", "plot", "title", "worst", "checkpoint"}
SPELLED = {"n_resamples": "bootstrap", "row_id": "id", "ci": "level"}


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    """The models of a command.

    Attributes
    ----------
    predictions
        What the files hold.
    arguments
        The options of `multiauc.evaluate` and `multiauc.compare`.
    costs
        The file of the partition, or None.
    """

    predictions: Predictions
    arguments: dict[str, Any]
    costs: Content | None

    def provenance(self, given: dict[str, Any]) -> dict[str, Any]:
        """The files with their sizes and SHA-256, the options of the command, the versions."""
        files = [content.facts() | {"holds": "predictions", "rows": rows} for content, rows in self.predictions.files]
        if self.costs is not None:
            files.append(self.costs.facts() | {"holds": "costs", "rows": None})
        return provenance(given, files)


def read_models(request: Request, *, partition: str | None, pair_weights: str, sampling: str, absent: str) -> Models:
    """Read the files of predictions, and the partition."""
    predictions = read_predictions(request)
    costs = None if partition is None else open_content(partition)
    arguments = {
        "partition": None if costs is None else read_costs(costs, predictions.labels),
        "pair_weights": None if pair_weights == "equal" else pair_weights,
        "sample_weight": predictions.weights,
        "groups": predictions.groups,
        "sampling": sampling,
        "labels": predictions.labels,
        "absent": absent,
        "outputs": request.outputs,
    }
    return Models(predictions, arguments, costs)


def with_typed_notes(result: Noted) -> Noted:
    """A result whose notes name options as the command line spells them."""
    return replace(result, notes=tuple(map(with_flags, result.notes)))


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a command that decide what its result is, by their names on the command line."""
    return {
        SPELLED.get(name, name): list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if name not in OF_PRINTING
    }
