"""Exit status and error message of a command."""

from __future__ import annotations

import codecs
import os
import sys
from typing import TYPE_CHECKING, cast

import click

from optcp.errors import InputError, Interrupted, RunFailed

if TYPE_CHECKING:
    from io import TextIOWrapper


PIPE_CLOSED = 141
"""Exit status if the reader of the output closed the pipe: 128 plus the number of SIGPIPE."""


def status_of(command: click.Group) -> int:  # noqa: PLR0911 - one return an exit status
    """Run a command and return its exit status; expected errors print a message, not a traceback."""
    if sys.stdout is None:
        return _fail("Error: standard output is closed; use `> /dev/null` to discard the output", 1)
    # Write paths that are not valid text unchanged; replace characters that the terminal cannot show by their numbers.
    escape = "surrogateescape" if codecs.lookup(sys.stdout.encoding).name == "utf-8" else "backslashreplace"
    cast("TextIOWrapper", sys.stdout).reconfigure(errors=escape)
    try:
        status = command.main(prog_name="optcp", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Interrupted as error:
        return _fail(str(error), 130)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", 130)
    except InputError as error:
        return _fail(f"Error: {error}", 2)
    except RunFailed as error:
        return _fail(f"Error: {error}", 1)
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and error.code == 0:
            # Shell completion ends with SystemExit(0).
            return 0
        # The reader of the output is gone (`optcp schema | head`); click turns this into the only other SystemExit.
        # The redirection keeps Python from reporting the error again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return PIPE_CLOSED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"Error: {place}{error.strerror or error}", 1)
    except ValueError as error:
        if type(error).__name__ == "ScenarioError":
            # A message that starts with a space shows the source and is marked already.
            text = str(error)
            return _fail(text if text.startswith(" ") else f"Error: {text}", 2)
        raise


def _fail(message: str, status: int) -> int:
    click.echo(message, err=True)
    return status
