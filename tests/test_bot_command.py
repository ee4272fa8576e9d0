"""`nardy bot`: the line protocol, driven as a process; gnubg's socket, with and without the real gnubg."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from gnubg_program import external, played_by_gnubg, program

from nardy_rl.agents import load_bot
from nardy_rl.cube import GameState
from nardy_rl.errors import BadBot, BadOption
from nardy_rl.experiments.cli import run
from nardy_rl.experiments.duel import duel
from nardy_rl.experiments.gnubg_socket import address_of, answer, serve
from nardy_rl.experiments.line_protocol import LONGEST, Session, serve_lines
from nardy_rl.fibs import fibs_board
from nardy_rl.match import Match
from nardy_rl.match_file import read_match
from nardy_rl.position import Position
from nardy_rl.variants import VARIANTS

NARDY = [sys.executable, "-c", "from nardy_rl.experiments.cli import main; main()"]


# ------------------------------------------------------------------------------------------ the line protocol


def test_a_process_plays_a_game_against_itself():
    """One line for each line, from the start of a game of each family to its end, in one process."""
    with subprocess.Popen(
        [*NARDY, "bot", "pips"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:  # fmt: skip
        play_games(process)
        assert process.wait(timeout=60) == 0


def play_games(process):
    def say(line: str) -> str:
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().rstrip("\n")

    assert say("nardy").startswith("nardy protocol 1 program nardy-rl ")
    dice = [(larger, smaller) for larger in range(1, 7) for smaller in range(1, 7)]
    for game in ("hyper", "crazy-gulbar", "plakoto-express"):
        assert say(f"newgame {game} 1") == f"position {Position.start(game, 1).text}"
        for number in range(4000):
            position = Position.from_text(say("board").removeprefix("position "))
            if position.over:
                break
            if not position.owes:
                die1, die2 = dice[(number * 7) % 36]
                assert say(f"dice {die1}{die2}") == f"position {position.throw(die1, die2).text}"
                continue
            word, value, *moves = say("go").split(" ")
            assert word == "best" and float(value) == pytest.approx(float(value))
            after = position.after(" ".join(moves))
            assert say(f"play {' '.join(moves)}") == f"position {after.text}"
        assert position.over
    assert say("quit") == "bye"


def test_every_game_can_be_played():
    for game in VARIANTS:
        session = Session("pips")
        assert session.answer(f"newgame {game}") == f"position {Position.start(game).text}"
        assert session.answer("dice 42").endswith("dice=42")
        best = session.answer("go").split(" ", 2)[2]
        assert best in session.answer("plays").removeprefix("plays ").split("; ")
        assert session.answer(f"play {best}").startswith("position ")
        assert session.answer("value").startswith("value ")


def test_errors_are_one_line_and_change_nothing():
    session = Session("pips")
    for line in ("go", "dice 31", "board", "value", "plays", "play 8/5", "cube"):
        assert session.answer(line) == "error there is no position yet: send newgame backgammon or position TEXT"
    session.answer("newgame backgammon")
    before = session.answer("board")
    for line, said in {
        "foo": "unknown command 'foo'",
        "dice 7": "dice '7' must be two numbers",
        "newgame chess": "unknown variant 'chess'",
        "newgame backgammon 2": "is no game, starter",
        "newgame": "is no game, starter",
        "newgame game.toml": "a game is named by its id",
        "position game.toml 6:1 | 6:1 | turn=0": "a game is named by its id",
        "position nothing": "is no position",
        "position | | |": "position",
        "go": "there is nothing to play",
        "play 24/20": "has to throw",
    }.items():
        answer_line = session.answer(line)
        assert answer_line.startswith("error ") and said in answer_line and "\n" not in answer_line
        assert session.answer("board") == before
    session.answer("dice 31")
    assert session.answer("cube").startswith("error there is no decision on the cube")
    assert session.answer("play 8/5 9/8").startswith("error ")


def test_a_game_of_one_s_own_is_played_too():
    session = Session("pips")
    said = session.answer("newgame short@classic:start=24:7 1")
    assert said.startswith("position short 24:7 | 24:7 | turn=1")
    assert session.answer(said) == said
    assert session.answer("dice 65").endswith("dice=65")
    assert session.answer("go").startswith("best ")
    assert Session("pips").answer(said).startswith("error unknown variant 'short'")


def test_the_cube_is_decided():
    session = Session("pips")
    session.answer("newgame backgammon")
    assert session.answer("cube") == "cube throw"
    session.answer("position backgammon 6:1 off:14 | 6:9 off:6 | turn=0 throws=9,9")
    assert session.answer("cube") == "cube double"
    session.answer("position backgammon 6:1 off:14 | 6:9 off:6 | turn=0 throws=9,9 | double")
    assert session.answer("cube") == "cube drop"


def test_other_forms_of_a_position_are_read_for_the_present_game():
    session = Session("pips")
    assert session.answer("position 4HPwATDgc/ABMA").startswith("error there is no position yet")
    session.answer("newgame backgammon")
    board = fibs_board(Position.start("backgammon").throw(3, 1))
    assert session.answer(f"position {board}").endswith("dice=31")


def test_the_session_of_the_page_on_bots_is_what_is_said():
    page = (Path(__file__).parent.parent / "docs" / "bots.md").read_text(encoding="utf-8")
    said = page.partition("A session of `nardy bot pips`")[2].split("```")[1].strip().splitlines()
    sent = [line.removeprefix("< ") for line in said if line.startswith("< ")]
    out = io.BytesIO()
    serve_lines("pips", io.BytesIO("\n".join(sent).encode()), out)
    assert len(sent) == 5 and out.getvalue().decode().splitlines() == [line for line in said if line[0] != "<"]


def test_lines_that_are_too_long_or_no_text_are_refused_and_the_rest_goes_on():
    lines = b"x" * (3 * LONGEST) + b"\n\n  \nnewgame hyper\r\n\xff\xfe\0\n" + b"y" * LONGEST + b"\nhelp"
    out = io.BytesIO()
    serve_lines("pips", io.BytesIO(lines), out)
    said = out.getvalue().decode().splitlines()
    assert [line.split()[0] for line in said] == ["error", "position", "error", "error", "help"]
    assert said[0] == f"error a line may have {LONGEST} bytes"


def test_json_is_for_the_socket_only(capsys):
    assert run(["bot", "pips", "--json"]) == 2
    assert "line protocol" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------ the socket


def served(bot, connections=1):
    """A server in a thread: its port, the thread, and what it said and counted."""
    said, counted, ready, port = [], {}, threading.Event(), []

    def say(line):
        said.append(line)
        if line.startswith("listening"):
            port.append(int(line.rsplit(":", 1)[1]))
            ready.set()

    thread = threading.Thread(target=lambda: counted.update(serve(bot, "0", say, connections)), daemon=True)
    thread.start()
    assert ready.wait(600)  # with an empty cache its kernels are compiled first
    return port[0], thread, said, counted


def test_boards_are_answered_and_lines_that_are_none_get_a_sentence():
    bot = load_bot("backgammon", "pips")
    port, thread, said, counted = served(bot, 2)
    opening = Position.from_text("backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 throws=1,0 dice=31")
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line, line.makefile("rb") as stream:
        line.sendall(fibs_board(opening).encode() + b"\n\0")
        assert opening.after(stream.readline().decode().strip()) in opening.plays()
        line.sendall(b"\0board:a:b\nhello\n" + b"z" * (2 * LONGEST) + b"\n")
        for _ in range(3):
            assert stream.readline().startswith(b"error ")
        line.sendall(fibs_board(opening).encode() + b"\n")
        assert not stream.readline().startswith(b"error")
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(b"board")  # and gone in the middle of a line
    thread.join(30)
    assert counted["boards"] == 2 and counted["connections"] == 2 and counted["errors"] == 4
    assert said[0] == f"listening at 127.0.0.1:{port}"


def test_gnubg_is_answered_in_its_words():
    bot = load_bot("backgammon", "pips")
    start = Position.from_text("backgammon 24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5 | turn=0 throws=1,1")
    assert answer(bot, fibs_board(start)) == "roll"
    ahead = Position.from_text("backgammon 6:1 off:14 | 6:9 off:6 | turn=0 throws=9,9")
    assert answer(bot, fibs_board(ahead)) == "double"
    doubled = GameState(Match(VARIANTS["backgammon"], 5), ahead).double()
    assert answer(bot, fibs_board(doubled)) == "drop"
    shut_out = "backgammon bar:1 13:1 6:13 | 6:2 5:2 4:2 3:2 2:2 1:2 24:3 | turn=0 throws=9,9 dice=65"
    assert answer(bot, fibs_board(Position.from_text(shut_out))) == ""


def test_another_program_s_player_is_a_bot():
    """Our own server answers as gnubg's `external` would: the two play the same games as the bot itself."""
    bot = load_bot("backgammon", "pips")
    port, thread, _, counted = served(bot)
    other = load_bot("backgammon", f"external:127.0.0.1:{port}")
    judge = load_bot("backgammon", "heuristic")
    games = [duel("backgammon", player, judge, 4, 5, 1, "none") for player in (other, bot)]
    other.close()
    thread.join(30)
    assert games[0].ppg == games[1].ppg and counted["errors"] == 0 and counted["boards"] > 20


def test_a_player_that_does_not_answer_or_answers_nonsense_is_named():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    position = Position.opening("backgammon", seed=1)
    with pytest.raises(BadBot, match=rf"no answer from 127\.0\.0\.1:{port}"):
        load_bot("backgammon", f"external:127.0.0.1:{port}").choose(position)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        bot = load_bot("backgammon", f"external:{listening.getsockname()[1]}")

        def babble():
            for said in (b"what?\n", b""):
                connection, _ = listening.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(said)

        threading.Thread(target=babble, daemon=True).start()
        with pytest.raises(BadBot, match=r"it answered 'what\?'"):
            bot.choose(position)
        with pytest.raises(BadBot, match="closed the connection"):
            bot.choose(position)


def test_addresses_and_games_that_will_not_do_are_refused(capsys):
    assert address_of("1234") == ("127.0.0.1", 1234) and address_of("[::1]:5") == ("::1", 5)
    for text in ("", "x", "70000", "localhost:", "1:2:x"):
        with pytest.raises(BadOption, match="is no port"):
            address_of(text)
    for name in ("external:", "external:x", "external:host:0", "external:host:99999"):
        with pytest.raises(BadBot, match="is named external:HOST:PORT"):
            load_bot("backgammon", name)
    with pytest.raises(BadBot, match="cannot play classic"):
        load_bot("classic", "external:localhost:1")
    assert run(["bot", "pips", "--gnubg", "0", "--game", "classic"]) == 2
    assert "cannot play classic" in capsys.readouterr().err
    assert run(["bot", "pips", "--gnubg", "nowhere.invalid:1"]) == 2
    assert "cannot listen at" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------ the real gnubg

GAMES = 20


@pytest.mark.long
@pytest.mark.skipif(program() is None, reason="gnubg is not installed")
def test_gnubg_plays_twenty_games_against_our_bot_over_its_socket(tmp_path: Path):
    """gnubg connects to us (`set player 0 external`): every play of ours is one that it accepts."""
    port, _, said, _ = served(load_bot("backgammon", "pretrained"), 0)
    record = read_match(played_by_gnubg(tmp_path, port, GAMES), "backgammon")
    results = [game[-1].result for game in record.games]
    assert len(results) == GAMES and None not in results
    points = [result.points if result.winner == 0 else -result.points for result in results]
    print(json.dumps({"games": len(points), "points": sum(points), "results": points, "said": said[-1]}))
    assert not any(line.startswith("error") for line in said)


@pytest.mark.long
@pytest.mark.skipif(program() is None, reason="gnubg is not installed")
def test_our_bot_plays_twenty_games_against_gnubg_s_external_player():
    """We connect to gnubg (its command `external`): a duel in which its every play is legal."""
    with external() as port:
        other = load_bot("backgammon", f"external:127.0.0.1:{port}")
        played = duel("backgammon", load_bot("backgammon", "pretrained"), other, GAMES, 1, 1, "none")
        other.close()
    print(json.dumps(played.as_dict()))
    assert played.games == GAMES and played.unfinished == 0
