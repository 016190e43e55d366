"""What tells one file from another, and from itself before it was changed, without reading all of it."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from multiauc._io.problems import reason

if TYPE_CHECKING:
    from multiauc._io.content import Content

# Of files on this machine, so much of the beginning and of the end is looked at.
LOOKED_AT = 2**16


def fingerprint(content: Content) -> list[Any]:
    """Name, size, time of the last change, and a digest of both ends; of a stored file without the last."""
    try:
        if content.store is not None:
            found = content.store.get_file_info(content.path)
            return [content.name, found.size, found.mtime_ns, None]
        with content.open() as file:
            status = os.fstat(file.fileno())
            digest = hashlib.sha256(file.read(LOOKED_AT))
            file.seek(max(0, status.st_size - LOOKED_AT))
            digest.update(file.read(LOOKED_AT))
    except OSError as error:
        raise ValueError(f"{content.name}: cannot be read: {reason(error)}") from None
    return [os.path.abspath(content.path), status.st_size, status.st_mtime_ns, digest.hexdigest()]  # noqa: PTH100


def file_size(content: Content) -> int:
    """In bytes; 0 where that is not known."""
    if content.store is not None:
        return int(content.store.get_file_info(content.path).size or 0)
    return os.stat(content.path).st_size  # noqa: PTH116
