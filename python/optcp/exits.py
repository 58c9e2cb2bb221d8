"""How a command ends: its exit status, and a message for every expected error."""

from __future__ import annotations

import os
import sys

import click

from optcp.errors import InputError, Interrupted, RunFailed


def status_of(command: click.Group) -> int:  # noqa: PLR0911 - one return an exit status
    """Run a command; every expected error ends with a message and its exit status, never a traceback."""
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
    except BrokenPipeError:
        # The reader of our output went away (`optcp schema | head`); Python must not complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"Error: {place}{error.strerror or error}", 1)
    except ValueError as error:
        if type(error).__name__ == "ScenarioError":
            return _fail(str(error), 2)
        raise


def _fail(message: str, status: int) -> int:
    click.echo(message, err=True)
    return status
