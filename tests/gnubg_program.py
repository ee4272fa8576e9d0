"""What GNU Backgammon's own program says of our states: its IDs, and how it understands our XGIDs and boards.

    python tests/gnubg_program.py --states 90 --seed 8 > tests/ids/gnubg.jsonl
    python tests/gnubg_program.py --match > tests/matches/gnubg-match.mat
    python tests/gnubg_program.py --session > tests/matches/gnubg-money.mat

The first asks the program `gnubg` (Debian's package of that name) about random states and prints one JSON object a
line: `text` (ours), `position_id` and `match_id` (gnubg's), `understood`, the two IDs of the state that gnubg sets
up from our XGID, and `raw`, the board that it shows for our IDs. The others print a match that gnubg played against
itself, and a session for money with a beaver, a resignation and a drop, as gnubg exports them.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from nardy_rl.cube import Cube, GameState
from nardy_rl.experiments.compare import random_boards, random_decisions, states_of_boards
from nardy_rl.experiments.gnubg_program import answers, program, run
from nardy_rl.ids import match_id, position_id
from nardy_rl.match import Match
from nardy_rl.position import Position
from nardy_rl.variant import layout_text
from nardy_rl.variants import VARIANTS, parse_variant, variant_text
from nardy_rl.xgid import xgid

# Runs inside gnubg, with its Python. Boards are (the opponent of the player on roll, that player), points 1 to 24
# and the bar. What gnubg understood from an ID it shows as a board in raw form.
SCRIPT = """
import gnubg, json
for line in ("set automatic game off", "set automatic roll off", "set automatic bearoff off",
             "set automatic move off", "set display off", "set player 0 human", "set player 1 human",
             "set confirm new off", "set output rawboard on"):
    gnubg.command(line)
answers = []
for number, asked in enumerate(json.load(open(ASKED))):
    cube = gnubg.cubeinfo(asked["cube"], asked["owner"], asked["roller"], asked["length"], tuple(asked["score"]),
                          asked["crawford"], 0)
    cube["jacoby"] = asked["jacoby"]
    turn = gnubg.posinfo(asked["player"], asked["level"], asked["doubled"], 1, tuple(asked["dice"]))
    answer = {"position_id": gnubg.positionid(tuple(map(tuple, asked["board"]))), "match_id": gnubg.matchid(cube, turn)}
    if asked["xgid"]:
        gnubg.command("set xgid " + asked["xgid"])
        answer["understood"] = [gnubg.positionid(), gnubg.matchid()]
    if asked["gnubg_id"]:
        gnubg.command("set gnubgid " + asked["gnubg_id"])
        print("RAW", number, flush=True)
        gnubg.command("show board")
    answers.append(answer)
json.dump(answers, open(ANSWERS, "w"))
"""

_HUMANS = """set automatic game off
set automatic roll off
set automatic move off
set automatic bearoff off
set player 0 human
set player 1 human
"""
_SELF_PLAY = "set seed 14\nset automatic game on\n" + "".join(
    f"set player {player} gnubg\nset player {player} {what} evaluation plies 0\n"
    for player in (0, 1)
    for what in ("chequer", "cube")
)
EXPORTED = {  # commands that play what is exported
    "match": f"{_SELF_PLAY}new match 7\n",
    "session": _HUMANS
    + "set seed 4\nnew session\nset dice 3 1\nmove 8/5 6/5\ndouble\nbeaver\ntake\nroll\nset dice 2 1\n"
    "move 13/11 6/5\nresign backgammon\naccept\nnew game\nset dice 6 5\nmove 24/18 18/13\ndouble\ndrop\n",
}


def exported(what: str) -> str:
    """The match file that gnubg exports after it was given the commands of that name."""
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), f"set display off\n{EXPORTED[what]}export match mat played.mat")
        return (Path(folder) / "played.mat").read_text()


def request(game: GameState) -> dict:
    """A state in gnubg's numbers, put together without our IDs."""
    position, match, offer = game.position, game.match, game.offer
    beaver = offer is not None and offer.kind == "beaver"
    counts = position.counts[:, 1:].tolist()
    owner = game.cube.owner if not beaver else offer.player
    plain = offer is None and any(position.counts[:, 0] < position.variant.checkers)
    return {
        "cube": game.cube.value * (2 if beaver else 1),
        "owner": -1 if owner is None else owner,
        "roller": position.player,
        "player": game.player,
        "length": match.length,
        "score": list(match.score),
        "crawford": int(bool(match.crawford)),
        "jacoby": int(match.money and game.variant.jacoby),
        "doubled": int(offer is not None and offer.kind != "resign"),
        "level": offer.level if offer is not None else 0,
        "dice": list(position.dice) or [0, 0],
        "board": [counts[1 - position.player], counts[position.player]],
        "xgid": xgid(game) if offer is None or offer.kind == "double" else None,
        "gnubg_id": f"{position_id(position)}:{match_id(game)}" if plain else None,
    }


def ask(games: list[GameState]) -> list[dict]:
    """gnubg's answers about states: `position_id`, `match_id`, `understood` from our XGID, `raw` from our IDs."""
    found, said = answers(SCRIPT, [request(game) for game in games])
    for part in said.split("\nRAW ")[1:]:
        boards = re.findall(r"^board:\S+", part, re.MULTILINE)
        found[int(part.split()[0])]["raw"] = boards[0]
    return found


@contextmanager
def external():
    """gnubg at 0 plies, serving as an external player on a port of this machine, which is yielded."""
    path = program()
    assert path is not None
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        served = subprocess.Popen(
            [path, "-t", "-q"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | {"HOME": folder},
        )  # fmt: skip
        try:
            assert served.stdin is not None
            served.stdin.write("set evaluation chequerplay evaluation plies 0\n")
            served.stdin.write(f"external 127.0.0.1:{port}\n")
            served.stdin.flush()
            deadline = time.monotonic() + 60
            while not _listens(port):  # it takes one connection only, so we may not try ours
                assert time.monotonic() < deadline, "gnubg does not listen"
                time.sleep(0.1)
            yield port
        finally:
            served.kill()
            served.communicate()


def _listens(port: int) -> bool:
    """Does a program of this machine listen at a port (0A in the kernel's table of connections)."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


def played_over_socket(boards: list[str]) -> list[str]:
    """What gnubg, serving as an external player, plays in FIBS boards with dice."""
    with external() as port, socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        with line.makefile("rw") as stream:
            answers = []
            for board in boards:
                stream.write(board + "\n")
                stream.flush()
                answers.append(stream.readline().strip())
            return answers


def played_by_gnubg(folder: Path, port: int, games: int) -> str:
    """A session of so many games for money that gnubg, at 0 plies, plays against the external player at a port.

    The external player is gnubg's player 0. Returns the session as a match file.
    """
    quiet = "".join(f"set automatic {what} off\n" for what in ("game", "move", "bearoff"))
    commands = (
        f"set display off\n{quiet}set automatic roll on\nset seed 5\nset player 0 external 127.0.0.1:{port}\n"
        "set player 1 gnubg\nset player 1 chequer evaluation plies 0\nset player 1 cube evaluation plies 0\n"
        "set jacoby off\nset beavers 0\nnew session\n" + "new game\n" * (games - 1) + "export match mat played.mat"
    )
    said = run(folder, commands)
    if not (folder / "played.mat").exists():
        raise RuntimeError(f"gnubg exported nothing: {said[-2000:]}")
    return (folder / "played.mat").read_text()


# ------------------------------------------------------------------------------------------ random states

GAMES = ("backgammon", "backgammon:jacoby=true", "backgammon:jacoby=true,beavers=true", "backgammon:beavers=true")


def random_states(n: int, seed: int) -> list[GameState]:
    """States of money and match play, half from games of random play, half put together: bar, bear-off, offers."""
    rng = np.random.default_rng(seed)
    rows = [Position(VARIANTS["backgammon"], row) for row in random_decisions("backgammon", n - n // 2, seed)]
    rows += [Position(VARIANTS["backgammon"], row) for row in states_of_boards(random_boards(n // 2, seed))]
    return [random_state(position.counts, rng) for position in rows]


def random_state(counts: np.ndarray, rng: np.random.Generator) -> GameState:
    """A state with this board; who is on roll, dice, score, cube and offer are drawn."""
    variant = parse_variant(GAMES[rng.integers(len(GAMES))])
    player = int(rng.integers(2))
    smaller, larger = np.sort(rng.integers(1, 7, 2))
    dice = f" dice={larger}{smaller}" if rng.random() < 0.4 else ""
    sides = " | ".join(layout_text(tuple(map(int, side))) for side in counts)
    position = Position.from_text(f"{variant_text(variant)} {sides} | turn={player} throws=1,1{dice}")
    length = int(rng.integers(1, 26)) if rng.random() < 0.6 else 0
    score = tuple(int(points) for points in rng.integers(0, length or 40, 2))
    match = Match(variant, length, score, None if rng.random() < 0.5 else False)
    value = 1 if match.crawford or rng.random() < 0.4 else 1 << int(rng.integers(1, 7))
    game = GameState(match, position, Cube(value, int(rng.integers(2)) if value > 1 else None))
    if "double" in game.actions and rng.random() < 0.4:
        game = game.double()
        return game.beaver() if "beaver" in game.actions and rng.random() < 0.5 else game
    if rng.random() < 0.15:
        game = game.resign(int(rng.integers(1, 4)), int(rng.integers(2)))
    return game


def main() -> None:
    """Print what gnubg says of random states."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", action="store_true")
    parser.add_argument("--session", action="store_true")
    parser.add_argument("--states", type=int, default=90)
    parser.add_argument("--seed", type=int, default=8)
    given = parser.parse_args()
    if given.match or given.session:
        sys.stdout.write(exported("match" if given.match else "session"))
        return
    games = random_states(given.states, given.seed)
    for game, answer in zip(games, ask(games), strict=True):
        print(json.dumps({"text": game.text, "xgid": request(game)["xgid"], **answer}))


if __name__ == "__main__":
    sys.exit(main())
