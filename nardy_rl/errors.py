"""Every error this package raises for a user's mistake, as one tree.

Each message is one sentence that names the value, the place and the remedy; the command line prints it and
exits with status 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# NardyError
# ├── UnknownVariant   (ValueError)   no game of that name
# ├── BadOption        (ValueError)   an option, its value, or a contradiction between switches
# ├── BadPosition      (ValueError)   a text, case or array that is no position
# ├── IllegalPlay      (ValueError)   a play that the rules do not allow
# ├── BadMatch         (ValueError)   a score, cube, offer or match file that cannot be
# ├── BadBot           (ValueError)   no bot of that name, or one that cannot play this game
# ├── BadPolicy        (ValueError)   a policy file that cannot be used
# ├── BadRun           (ValueError)   a run folder or run setting that cannot be used
# └── MissingExtra     (ImportError)  an optional package that is not installed


class NardyError(Exception):
    """Base of all errors that nardy-rl raises on purpose."""


class UnknownVariant(NardyError, ValueError):
    """No variant has this id."""


class BadOption(NardyError, ValueError):
    """A rule option that does not exist, does not apply, or contradicts another."""


class BadPosition(NardyError, ValueError):
    """A position that cannot be read or that breaks the rules of the board."""


class IllegalPlay(NardyError, ValueError):
    """A play that is not among the legal plays of a position."""


class BadMatch(NardyError, ValueError):
    """A match, score, cube, offer or match file that cannot be."""


class BadBot(NardyError, ValueError):
    """A bot that does not exist or cannot play the game asked for."""


class BadPolicy(NardyError, ValueError):
    """A policy file that is unreadable, foreign, or made for something else."""


class BadRun(NardyError, ValueError):
    """A run folder, configuration or setting that cannot be used."""


class MissingExtra(NardyError, ImportError):
    """An optional package is needed; the message says what to install."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs the package {package}: install it with  pip install 'nardy-rl[{extra}]'")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`"; did you mean 'x'?"` for the nearest known name, or an empty string."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""
