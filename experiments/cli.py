"""The command `nardy`: each command checks what it was given, calls the module that does the work, prints.

Exit status: 0 done, 1 the answer is no (a case differs, a gate is missed, the doctor found something), 2 bad
input, with one sentence on standard error. With `--json` standard output holds exactly one JSON object.
Whatever is heavy is imported inside the commands, so that `nardy --help` is instant.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from nardy_rl.errors import NardyError, did_you_mean
from nardy_rl.experiments import (  # noqa: F401 (their commands)
    cli_games,
    cli_learning,
    cli_measuring,
    cli_players,
    cli_solving,
)
from nardy_rl.experiments.cli_base import (
    BAD_INPUT,
    DONE,
    INTERRUPTED,
    NO,
    cli,
    command,
    emit,
    show,
)

__all__ = ["cli", "main", "run"]


@command("nardy doctor")
def doctor(as_json: bool) -> int:
    """Look over the installation.

    Versions, optional parts, kernels, policies, a game of every variant.
    """
    from nardy_rl.experiments.doctor import examine
    from nardy_rl.experiments.screen import getting_ready, messages, table

    with getting_ready(messages()):
        checks = examine()
    ok = all(check["ok"] or not check["needed"] for check in checks)
    if as_json:
        emit({"ok": ok, "checks": checks})
    else:
        marks = {(True, True): "ok", (True, False): "ok", (False, True): "FAILED", (False, False): "missing"}
        show(table(["", "what", ""], [(marks[c["ok"], c["needed"]], c["name"], c["detail"]) for c in checks]))
        show("\nEverything needed works." if ok else "\nSomething needed does not work: see FAILED above.")
    return DONE if ok else NO


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status; nothing a user gets wrong ends in a traceback."""
    try:
        status = cli.main(args=None if arguments is None else list(arguments), prog_name="nardy", standalone_mode=False)
    except click.exceptions.Abort:
        return _say("interrupted", INTERRUPTED)
    except click.ClickException as error:
        return _say(_sentence(error), BAD_INPUT)
    except NardyError as error:
        return _say(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output, `head` say, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except RuntimeError as error:  # the compiler, interrupted, complains of what it could not finish
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise
        return _say("interrupted", INTERRUPTED)
    except OSError as error:
        if error.filename is None:
            raise
        return _say(f"cannot use {str(error.filename)!r}: {error.strerror}", BAD_INPUT)
    return status if isinstance(status, int) else DONE


def _sentence(error: click.ClickException) -> str:
    """Click's complaint as one sentence with a remedy."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    command = ctx.command_path if ctx else "nardy"
    hint = ""
    if isinstance(error, click.NoSuchOption):
        hint = did_you_mean(error.option_name, [o for p in ctx.command.params for o in p.opts] if ctx else [])
        text = f"unknown option {error.option_name} of {command}"
    else:
        text = " ".join(error.format_message().split()).rstrip(".")
        text = text[:1].lower() + text[1:]
    return text + (hint or ("" if ";" in text else f"; see  {command} --help"))


def _say(sentence: str, status: int) -> int:
    click.echo(f"nardy: {sentence}", err=True)
    return status


def main() -> None:
    """The console script."""
    sys.exit(run())


if __name__ == "__main__":
    main()
