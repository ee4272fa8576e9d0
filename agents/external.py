"""Players of other programs over a socket: `external:HOST:PORT`, as GNU Backgammon's command `external` serves one.

Where there is something to choose, the other side is sent a FIBS board a line and answers by the play, such as
`8/5 6/5`, in one line.
"""

from __future__ import annotations

import socket
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import Bot, States
from nardy_rl.agents.outside import check_playable
from nardy_rl.errors import BadBot, IllegalPlay
from nardy_rl.fibs import fibs_board
from nardy_rl.position import Position
from nardy_rl.variant import Variant

PREFIX = "external:"
WAIT = 60.0  # seconds for an answer
LONGEST = 1024  # bytes of an answer that are read


class ExternalBot(Bot):
    """A player at the other end of a socket, asked a position at a time; connected when it is first asked."""

    parallel = False

    def __init__(self, variant: Variant, name: str) -> None:
        """Raises BadBot for a name that is no external:HOST:PORT, or a game that is not gnubg's."""
        host, _, port = name.removeprefix(PREFIX).rpartition(":")
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise BadBot(f"bot {name!r}: an external player is named external:HOST:PORT, as in external:localhost:1234")
        check_playable(variant, name, own_plays=True)
        super().__init__(variant, name)
        self.address = host.strip("[]") or "127.0.0.1", int(port)
        self._stream: BinaryIO | None = None

    def _connected(self) -> tuple[socket.socket, BinaryIO]:
        if self._stream is None:
            self._socket = socket.create_connection(self.address, timeout=WAIT)
            self._stream = self._socket.makefile("rb")
        return self._socket, self._stream

    def ask(self, position: Position) -> Position:
        """The position after the other program's play; raises BadBot, saying what it did, if it gives none."""
        board = fibs_board(position)
        try:
            connection, stream = self._connected()
            connection.sendall(board.encode() + b"\n")
            said = stream.readline(LONGEST).decode("utf-8", "replace").strip("\0 \r\n")
        except OSError as error:
            self.close()
            host, port = self.address
            raise BadBot(
                f"bot {self.name!r}: no answer from {host}:{port} ({error}): start it there, as with gnubg's "
                f"command  external {host}:{port}"
            ) from None
        try:
            if not said:
                raise IllegalPlay("it closed the connection")
            return position.after(said)
        except IllegalPlay as error:
            self.close()
            raise BadBot(f"bot {self.name!r}: asked {board}, it answered {said!r}: {error}") from None

    def close(self) -> None:
        """Close the connection; the next question opens another."""
        if self._stream is not None:
            self._stream.close()
            self._socket.close()
            self._stream = None

    def choose(self, position: Position) -> Position:
        """See `Bot.choose`."""
        plays = position.plays()
        return plays[0] if len(plays) == 1 else self.ask(position)

    def pick(
        self, states: States, plays: States, first: NDArray[np.int64], draws: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Bot.pick`; asks state by state."""
        chosen = first[:-1].copy()
        for i, state in enumerate(states):
            if first[i + 1] - first[i] > 1:
                after = self.choose(Position(self.variant, state)).state
                chosen[i] += int((plays[first[i] : first[i + 1]] == after).all(axis=1).argmax())
        return chosen
