"""What goes wrong, in one line, and the exit code that says so.

0: done. 1: the data or an option's value cannot be used. 2: the command line itself is wrong. 3: done, but a model did
not pass what --fail-under or --fail-if-worse asks. 130: stopped by Ctrl-C.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shlex
import sys
import warnings
from typing import Any

import click

from multiauc._common.hints import SYNONYMS
from multiauc._common.wording import printable

DATA_PROBLEM = 1
NOT_PASSED = 3
INTERRUPTED = 130
# Options that Python code calls something else, because it has their name already.
SPELLED = {"row_id": "id", "style": "format"}
# What options are called elsewhere, or were called, by what they are called here; beside those of Python.
OTHER_NAMES = {"level": ("ci", "confidence_level"), "memory_limit": ("memory",), "label": ("target", "y_true")}


class NotPassed(click.ClickException):
    """A model is not as good as it was asked to be."""

    exit_code = NOT_PASSED


def run(command: click.Command, arguments: list[str] | None = None) -> int:
    """Run a command and say in one line on stderr what went wrong; returns the exit code."""
    with warnings.catch_warnings():
        warnings.showwarning = _one_line_warning
        return _run(command, arguments)


def _run(command: click.Command, arguments: list[str] | None) -> int:  # noqa: PLR0911 - a way out for each kind of trouble
    stdout = sys.stdout
    try:
        outcome = command.main(arguments, prog_name="multiauc", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        emit(error.format_message() + "\n")
        return error.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "multiauc"
        _say("error", f"{_explain_option(error) or error.format_message()} (see {path} --help)")
        return error.exit_code
    except click.ClickException as error:
        _say("failed" if isinstance(error, NotPassed) else "error", error.format_message())
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as stop:
        # click puts its own exception in the place of the one that may say what is kept.
        cause = stop.__cause__ if isinstance(stop, click.Abort) else stop
        _say("error", str(cause or "") or "interrupted")
        return INTERRUPTED
    except SystemExit as stop:
        if sys.stdout is not stdout:
            # This is how click ends when the reader of a help text has seen enough.
            return 0
        return stop.code if isinstance(stop.code, int) else DATA_PROBLEM
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        message = str(error) or type(error).__name__
        if isinstance(error, OSError) and error.filename is not None:  # what cannot be read is a ValueError
            message = f"{error.filename}: cannot be written: {error.strerror}"
        _say("error", message)
        return DATA_PROBLEM
    return outcome if isinstance(outcome, int) else 0


def _explain_option(error: click.UsageError) -> str | None:
    """What an unknown option is called here, if the command has it."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return None
    word = error.option_name.lstrip("-").replace("-", "_")
    has = {option for parameter in error.ctx.command.params for option in parameter.opts}
    for name, others in (*OTHER_NAMES.items(), *SYNONYMS.items()):
        option = "--" + name.replace("_", "-")
        if word in others and option in has:
            return f"there is no option {error.option_name}; its name here is {option}"
    return None


def emit(text: str) -> None:
    """Print to standard output; that its reader has seen enough (``| head``) is no error."""
    if sys.stdout is None:
        raise ValueError("standard output is closed")
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        _let_go_of_stdout()
    except OSError as error:
        _let_go_of_stdout()
        raise ValueError(f"standard output: cannot be written: {error.strerror}") from None


def note(message: str) -> None:
    """Say something on standard error that is no problem."""
    _say("note", message)


def _let_go_of_stdout() -> None:
    """Keep the interpreter from complaining at its end about what it could not print."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _one_line_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say("warning", spell_options(str(message)))


def _say(kind: str, message: str) -> None:
    with contextlib.suppress(OSError):  # nobody listens
        click.echo(f"multiauc: {kind}: {printable(' '.join(message.split()))}", err=True)


def as_typed(option: str, value: str | None = None) -> str:
    """How an option, perhaps with a value, is written on the command line."""
    flag = "--" + SPELLED.get(option, option).replace("_", "-")
    return flag if value is None else f"{flag} {shlex.quote(value)}"


def spell_options(text: str) -> str:
    """A sentence of the library, with the options that it names as the command line spells them."""
    text = re.sub(r"labels=\[([^\]]*)\]", _spell_labels, text)
    return text.replace("labels=", as_typed("labels")).replace("outputs='logits'", as_typed("outputs", "logits"))


def _spell_labels(given: re.Match[str]) -> str:
    try:
        labels = ast.literal_eval(f"[{given[1]}]")
    except (ValueError, SyntaxError):  # a list that was cut short
        return as_typed("labels")
    return as_typed("labels", ",".join(map(str, labels)))
