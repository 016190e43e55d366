"""Bytes that say what they are: a magic line, a header as JSON, content, and a checksum of all of it."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

CHECKSUM_BYTES = 16
LENGTH_BYTES = 4


def seal(magic: bytes, header: dict[str, Any], content: bytes) -> bytes:
    """One sequence of bytes, the same on every machine; a TypeError or ValueError if JSON cannot hold the header."""
    text = json.dumps(header, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    body = magic + len(text).to_bytes(LENGTH_BYTES, "little") + text + content
    return body + _checksum(body)


def unseal(magic: bytes, data: bytes) -> tuple[dict[str, Any], bytes]:
    """What `seal` was given, from bytes that begin with the magic line; a ValueError says what is wrong with others."""
    body, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    start = len(magic) + LENGTH_BYTES
    if len(body) < start or _checksum(body) != checksum:
        raise ValueError("they are cut short, or their checksum is not that of the content")
    end = start + int.from_bytes(body[len(magic) : start], "little")
    try:
        header = json.loads(body[start:end]) if end <= len(body) else None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"their header is not JSON ({error})") from None
    if not isinstance(header, dict):
        raise ValueError("their header is not an object, or longer than all of them")  # noqa: TRY004 - of bytes
    return header, body[end:]


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=CHECKSUM_BYTES).digest()
