"""gnubg's external players: our bot answers the boards that GNU Backgammon sends over a socket (docs/bots.md).

gnubg connects to us, sends a FIBS board a line whenever the player has to decide, and takes one line in answer: a play
such as `8/5 6/5`, an empty line where nothing can be moved, `roll` or `double`, `take` or `drop`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from nardy_rl.agents import Bot
from nardy_rl.errors import BadOption, NardyError
from nardy_rl.experiments.choices import chosen, cube_action
from nardy_rl.experiments.line_protocol import LONGEST, lines_of
from nardy_rl.fibs import from_fibs_board
from nardy_rl.position import Position

LOOPBACK = "127.0.0.1"
Say = Callable[[str], None]


def address_of(text: str) -> tuple[str, int]:
    """Host and port of a text PORT or HOST:PORT; the host is this machine's own, 127.0.0.1, if it is not stated.

    Raises BadOption for what is none. Port 0 takes one that is free.
    """
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise BadOption(f"{text!r} is no port from 0 to 65535 and no HOST:PORT, as in 1234 or 127.0.0.1:1234")
    return host.strip("[]") or LOOPBACK, int(port)


def answer(bot: Bot, line: str) -> str:
    """What to answer gnubg's board; raises BadPosition or BadMatch for a line that is none."""
    game = from_fibs_board(bot.variant, line, gnubg=True)
    if "after" in game.actions:
        moves = game.position.move_text(chosen(bot, game.position))
        return "" if moves == "pass" else moves  # gnubg plays any word that it cannot read as a move of chance
    return cube_action(bot, game).replace("throw", "roll")


def serve(bot: Bot, address: str, say: Say, connections: int = 0) -> dict[str, int]:
    """Answer boards at an address, one connection after another: so many, 0 without end.

    say: is told in a sentence each where we listen, who comes, and what could not be read. A line that is no board is
    answered by `error SENTENCE`. Returns how many `connections`, `boards` and `errors` there were. Raises BadOption for
    an address that cannot be used.
    """
    host, port = address_of(address)
    chosen(bot, Position.opening(bot.variant, seed=1))  # compiles what is not yet, so that gnubg need not wait
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise BadOption(f"cannot listen at {address!r}: {error.strerror or error}; give another port") from None
    counted = {"connections": 0, "boards": 0, "errors": 0}
    with listening:
        where = listening.getsockname()
        say(f"listening at {where[0]}:{where[1]}")
        while not connections or counted["connections"] < connections:
            connection, peer = listening.accept()
            counted["connections"] += 1
            say(f"connected: {peer[0]}:{peer[1]}")
            with connection:
                try:
                    _serve_one(bot, connection, say, counted)
                except OSError as error:
                    say(f"lost: {error}")
            say(f"closed; {counted['boards']} boards answered so far, {counted['errors']} errors")
    return counted


def _serve_one(bot: Bot, connection: socket.socket, say: Say, counted: dict[str, int]) -> None:
    """Answer the boards of one connection until it is closed, and count them."""
    with connection.makefile("rb") as stream:
        for line in lines_of(stream):
            board = None if line is None else line.strip("\0 ")  # gnubg ends its lines with a zero byte besides
            if board == "":
                continue
            try:
                if board is None:
                    raise BadOption(f"a line may have {LONGEST} bytes")
                said = answer(bot, board)
                counted["boards"] += 1
            except NardyError as error:
                said = "error " + " ".join(str(error).split())
                counted["errors"] += 1
                say(said)
            connection.sendall(said.encode() + b"\n")
