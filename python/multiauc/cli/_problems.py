"""What goes wrong, in one line, and the exit code that says so.

0: done. 1: the data or an option's value cannot be used. 2: the command line itself is wrong. 130: stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import click

from multiauc._wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable

DATA_PROBLEM = 1
INTERRUPTED = 130


class Problem(click.ClickException):
    """A value of an option, or data, that the command cannot use; files are refused with a ``ValueError``."""

    exit_code = DATA_PROBLEM


def run(command: click.Command, arguments: list[str] | None = None) -> int:
    """Run a command and say in one line on stderr what went wrong; returns the exit code."""
    with warnings.catch_warnings():
        warnings.showwarning = _one_line_warning
        return _run(lambda: command.main(arguments, prog_name="multiauc", standalone_mode=False))


def _run(work: Callable[[], Any]) -> int:  # noqa: PLR0911 - a way out for each kind of trouble
    try:
        outcome = work()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return error.exit_code
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "multiauc"
        _say("error", f"{error.format_message()} (see {command} --help)")
        return error.exit_code
    except click.ClickException as error:
        _say("error", error.format_message())
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("error", "interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has seen enough (`| head`): keep the interpreter from complaining at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        _say("error", str(error) or type(error).__name__)
        return DATA_PROBLEM
    return outcome if isinstance(outcome, int) else 0


def _one_line_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say("warning", str(message))


def _say(kind: str, message: str) -> None:
    click.echo(f"multiauc: {kind}: {printable(' '.join(message.split()))}", err=True)
