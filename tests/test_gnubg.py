"""Our plays are gnubg's and OpenSpiel's, on positions of random games and on positions put together at random."""

import importlib.util
import json

import pytest

from nardy_rl.experiments import compare
from nardy_rl.variants import VARIANTS

needs_gnubg = pytest.mark.skipif(not compare.has_gnubg(), reason="gnubg-nn is missing: pip install 'nardy-rl[gnubg]'")


needs_openspiel = pytest.mark.skipif(
    importlib.util.find_spec("pyspiel") is None, reason="OpenSpiel is missing: pip install 'nardy-rl[openspiel]'"
)
KNOWN_TO_GNUBG = [name for name, variant in VARIANTS.items() if compare.moves_as_gnubg(variant)]


def test_gnubg_knows_how_to_move_in_eight_games():
    assert KNOWN_TO_GNUBG == [
        "backgammon", "nackgammon", "hyper", "longgammon", "randgammon-1", "randgammon-2", "shootout", "snake"
    ]  # fmt: skip


@needs_gnubg
@pytest.mark.parametrize("name", KNOWN_TO_GNUBG)
def test_two_thousand_positions_have_the_plays_that_gnubg_finds(name):
    result = compare.compare_gnubg(VARIANTS[name], 2000, seed=2)
    assert result["compared"] == 2000
    assert result["different"] == 0, result["examples"]
    assert result["afterstates"] > 6_000


@pytest.mark.long
@needs_gnubg
@pytest.mark.parametrize("name", KNOWN_TO_GNUBG)
def test_many_positions_have_the_plays_that_gnubg_finds(name):
    positions = 200_000 if name == "backgammon" else 20_000
    result = compare.compare_gnubg(VARIANTS[name], positions, seed=3)
    assert (result["compared"], result["different"]) == (positions, 0), result["examples"]
    assert result["game_ending"] > 0 or positions < 200_000


@needs_openspiel
def test_turns_of_openspiel_have_the_plays_that_it_finds():
    result = compare.compare_openspiel(300, seed=2)
    assert (result["compared"], result["different"]) == (300, 0), result["examples"]


@pytest.mark.long
@needs_openspiel
def test_five_thousand_turns_of_openspiel_have_the_plays_that_it_finds():
    result = compare.compare_openspiel(5000, seed=3)
    assert (result["compared"], result["different"]) == (5000, 0), result["examples"]


def test_a_game_whose_moves_gnubg_does_not_know_is_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        compare.main(["--variant", "classic", "--positions", "10"])
    assert caught.value.code == 2
    assert "gnubg does not know the moves of classic; it knows those of backgammon, " in capsys.readouterr().err


@needs_gnubg
def test_the_one_kind_that_gnubg_does_not_know_is_counted_apart(monkeypatch):
    from nardy_rl.position import Position

    end = Position.from_text("backgammon 4:1 off:14 | 24:1 12:14 | turn=0 throws=9,9 dice=43")
    monkeypatch.setattr(compare, "random_decisions", lambda variant, n, seed: end.state[None].copy())
    result = compare.compare_gnubg(VARIANTS["backgammon"], 1, seed=1)
    assert (result["compared"], result["different"], result["game_ending"]) == (1, 0, 1)


@needs_gnubg
def test_the_command_prints_one_object(capsys):
    assert compare.main(["--positions", "200", "--seed", "5"]) == 0
    assert json.loads(capsys.readouterr().out)["compared"] == 200


def test_a_number_of_positions_that_makes_no_sense_is_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        compare.main(["--positions", "0"])
    assert caught.value.code == 2
    assert "--positions must be at least 1" in capsys.readouterr().err


def test_boards_put_together_at_random_are_positions_of_the_game():
    from nardy_rl.position import Position

    boards = compare.random_boards(300, seed=1)
    assert (boards.sum(axis=2) == 15).all()
    for state in compare.states_of_boards(boards):
        Position(VARIANTS["backgammon"], state)
