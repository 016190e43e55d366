"""The command line ``multiauc`` (needs the packages of the extra ``cli``)."""

from __future__ import annotations

import io
import sys

__all__ = ["main"]

# What the extra "cli" installs.
PACKAGES = "click pyarrow rich"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; the entry point of ``multiauc`` and of ``python -m multiauc``."""
    try:
        sys.exit(_run(arguments))
    except KeyboardInterrupt:  # before there was anything that could have been interrupted
        sys.exit(130)


def _run(arguments: list[str] | None) -> int:
    try:
        import click  # noqa: F401, PLC0415
        import pyarrow as pa  # noqa: F401, PLC0415
        import rich  # noqa: F401, PLC0415
    except ImportError as error:
        sys.exit(f"multiauc: error: the command line needs {error.name}; install it with: pip install {PACKAGES}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter shows an escape instead
            stream.reconfigure(errors="backslashreplace")
    from multiauc.cli._commands import multiauc  # noqa: PLC0415
    from multiauc.cli._problems import run  # noqa: PLC0415

    return run(multiauc, arguments)
