"""States as bytes: what they are for, what they hold, and a checksum of both."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

MAGIC = b"multiauc state 1\n"
CHECKSUM_BYTES = 16
LENGTH_BYTES = 4


def sealed(header: dict[str, Any], content: bytes) -> bytes:
    """One sequence of bytes, the same on every machine."""
    try:
        text = json.dumps(header, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError):
        raise TypeError(
            "labels must be strings, numbers or bools to be written as bytes; use such labels for states that are "
            "saved or sent"
        ) from None
    body = MAGIC + len(text).to_bytes(LENGTH_BYTES, "little") + text + content
    return body + _checksum(body)


def opened(data: bytes) -> tuple[dict[str, Any], bytes]:
    """What `sealed` was given; a ValueError for anything else that bytes can hold."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a state is read from bytes; got {type(data).__name__}")
    data = bytes(data)
    if not data.startswith(MAGIC):
        raise ValueError(
            "these bytes are not a state of multiauc, or one of a version that this one does not read: "
            f"they begin with {data[: len(MAGIC)]!r}"
        )
    body, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    start = len(MAGIC) + LENGTH_BYTES
    if len(body) < start or _checksum(body) != checksum:
        raise ValueError("the bytes of this state are damaged or cut short: their checksum is not that of the content")
    end = start + int.from_bytes(body[len(MAGIC) : start], "little")
    if end > len(body):
        raise damaged("its header is longer than all of it")
    try:
        header = json.loads(body[start:end])
    except (ValueError, RecursionError) as error:
        raise damaged(f"its header is not JSON ({error})") from None
    if not isinstance(header, dict):
        raise damaged(f"its header is {type(header).__name__}, not an object")
    return header, body[end:]


def damaged(what: str) -> ValueError:
    """For bytes whose checksum is right, and that no state was written to all the same."""
    return ValueError(f"the bytes of this state are damaged, or something else wrote them: {what}")


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=CHECKSUM_BYTES).digest()
