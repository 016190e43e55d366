"""One data set in several files: a pattern, or a folder."""

from __future__ import annotations

import glob
import re
from pathlib import Path

from multiauc._common.wording import listing
from multiauc._io.content import ENDINGS, format_by_name
from multiauc._io.output import STANDARD

# A star, a question mark, or one sign out of several in brackets.
PATTERN = re.compile(r"[*?]|\[[^\]]+\]")


def data_files(path: str) -> list[str]:
    """The files that a path stands for, in the order of their names: itself, those of a pattern, those of a folder.

    A file that is there is itself, whatever signs are in its name. Hidden files, and those that begin with an
    underscore, are not part of a folder's data: programs leave their notes there.
    """
    if not path:
        raise ValueError("the name of a file is empty")
    place = Path(path)
    if path == STANDARD or (place.exists() and not place.is_dir()):
        return [path]
    if place.is_dir():
        return _in_folder(place)
    if not PATTERN.search(path):
        return [path]
    found = _fitting(path)
    if not found:
        raise ValueError(f"{path}: there is no such file, nor any that fits it as a pattern")
    return found


def is_there(path: str) -> bool:
    """Whether a path stands for anything."""
    return path == STANDARD or Path(path).exists() or bool(PATTERN.search(path) and _fitting(path))


def model_name(path: str) -> str:
    """What a model is called whose predictions are there, if nobody says."""
    if path == STANDARD:
        return "stdin"
    place = Path(path)
    if place.exists() or not PATTERN.search(path):
        return place.resolve().name.split(".")[0] if place.name in {"", "..", "."} else place.name.split(".")[0]
    # Of a pattern the beginning, or the folder.
    parts = [part for part in reversed(place.parts) if part not in {"/", "."}]
    stems = (part.split("*")[0].split("?")[0].split("[")[0].split(".")[0].strip("_- ") for part in parts)
    return next((stem for stem in stems if stem), path)


def _fitting(pattern: str) -> list[str]:
    found = glob.glob(pattern, recursive=True)  # noqa: PTH207 - which takes absolute patterns too
    return sorted(name for name in found if not Path(name).is_dir())


def is_data(name: str) -> bool:
    """Whether a file of this name in a folder is a part of its data."""
    return format_by_name(name) is not None and not is_note(name)


def is_note(name: str) -> bool:
    """Whether a file or a folder of this name is none of the data: programs leave their notes there."""
    return name.startswith((".", "_"))


def of_one_kind(folder: str, found: list[str]) -> list[str]:
    """The data files of a folder in order, if there are any and all are of one kind."""
    if not found:
        raise ValueError(f"{folder}: there are no data files in this folder; names may end in {', '.join(ENDINGS)}")
    found = sorted(found)
    kinds = sorted({str(format_by_name(file)) for file in found})
    if len(kinds) > 1:
        example = f"{folder.rstrip('/')}/*{Path(found[0]).suffix}"
        raise ValueError(
            f"{folder}: the folder holds files of several kinds, {listing(kinds)}, which are not one data set; "
            f"name those you mean by a pattern, as in {example!r}"
        )
    return found


def _in_folder(place: Path) -> list[str]:
    return of_one_kind(str(place), [str(file) for file in place.iterdir() if is_data(file.name) and not file.is_dir()])
