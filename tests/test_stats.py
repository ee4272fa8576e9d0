"""`nardy stats` counts what happens: a slow count with `Position` agrees, and known figures come out."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nardy_rl.agents import load_bot
from nardy_rl.batch import rolls, streams
from nardy_rl.errors import BadOption
from nardy_rl.experiments.cli import run
from nardy_rl.experiments.stats import QUANTILES, result_names, stats
from nardy_rl.position import Position
from nardy_rl.results import score_table
from nardy_rl.variants import VARIANTS, parse_variant

ROOT = Path(__file__).resolve().parent.parent
COUNTED = ["hyper", "crazy-v1", "plakoto-express", "snake", "sudden-death", "khachapuri", "classic:last_throw=true"]


class Second:
    """Takes the second play, as everybody can."""

    def __init__(self, variant: Any) -> None:
        pass

    def choose(self, position: Position) -> int:
        return min(1, len(position.plays()) - 1)


def second(name: str) -> Any:
    from nardy_rl.agents.bot import UserBot

    return UserBot(parse_variant(name), "second", Second(None))


def slow_count(name: str, games: int, seed: int) -> dict[str, Any]:
    """The figures once more, game by game and play by play."""
    variant, bot, dice = parse_variant(name), Second(None), streams(games, seed)
    branching: list[int] = []
    passes, plies, throws, points, standard, results = 0, [], [], [], [], Counter()
    names, table = result_names(variant), score_table(variant)
    for game in range(games):
        position, played = Position.opening(variant, seed, game), 0
        starter = position.starter
        mine = position.counts[starter].tolist() == list(variant.layouts[0])
        while not position.over:
            some = dice[game : game + 1].copy()
            roll = rolls(some)[0]
            dice[game] = some[0]
            if not position.owes:
                position = position.throw(*roll)
            after = position.plays()[bot.choose(position)]
            branching.append(len(position.plays()))
            player = position.player
            passes += after.counts[player].tolist() == position.counts[player].tolist()
            position, played = after, played + 1
        plies.append(played)
        throws.append(sum(position.throws))
        points.append(position.score(starter))
        standard.append(position.score(starter if mine else 1 - starter))
        code = int(position.state[13]) - 1
        results[names[code]] += 1
        assert abs(points[-1]) == table[code]
    return {
        "decisions": len(branching), "mean": np.mean(branching), "max": max(branching),
        "forced": np.mean([n == 1 for n in branching]), "passes": passes / len(branching),
        "median": sorted(branching)[(len(branching) - 1) // 2], "plies": plies, "throws": throws,
        "points": points, "standard": standard, "results": results,
    }  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_a_slow_count_agrees(name: str) -> None:
    games = 8
    told, counted = stats(parse_variant(name), second(name), games, seed=3), slow_count(name, games, seed=3)
    assert told["decisions"] == counted["decisions"] and told["unfinished"] == 0
    assert told["branching"] == {
        "mean": pytest.approx(counted["mean"]), "median": counted["median"], "max": counted["max"],
    }  # fmt: skip
    assert (told["forced"], told["passes"]) == pytest.approx((counted["forced"], counted["passes"]))
    for length in ("plies", "throws"):
        assert told[length]["mean"] == pytest.approx(np.mean(counted[length]))
        assert told[length]["se"] == pytest.approx(np.std(counted[length], ddof=1) / games**0.5)
        assert told[length]["longest"] == max(counted[length])
        assert told[length]["quantiles"]["50"] == sorted(counted[length])[(games - 1) // 2]
    assert told["starter"]["ppg"] == pytest.approx(np.mean(counted["points"]))
    assert told["starter"]["se"] == pytest.approx(np.std(counted["points"], ddof=1) / games**0.5)
    assert told["starter"]["wins"] == np.mean([p > 0 for p in counted["points"]])
    if parse_variant(name).start_other:
        assert told["standard_side"]["ppg"] == pytest.approx(np.mean(counted["standard"]))
    else:
        assert told["standard_side"] is None
    assert {kind["result"]: kind["games"] for kind in told["results"] if kind["games"]} == dict(counted["results"])


@pytest.mark.parametrize("bot", ["random", "pips"])
def test_the_figures_depend_on_the_seed_and_not_on_the_threads(bot: str) -> None:
    def figures(seed: int, threads: int) -> dict[str, Any]:
        told = stats(VARIANTS["hyper"], load_bot("hyper", bot), 700, seed, threads)
        return {key: value for key, value in told.items() if key != "games_per_s"}

    assert figures(5, 1) == figures(5, 3)
    assert figures(5, 1) != figures(6, 1)


def test_random_backgammon_is_as_others_measured_it() -> None:
    """18.7 distinct afterstates a decision and 97 plays a game; two thousand games show no edge of the starter."""
    told = stats(VARIANTS["backgammon"], load_bot("backgammon", "random"), 2000, seed=2)
    assert abs(told["branching"]["mean"] - 18.7) < 0.4
    assert abs(told["plies"]["mean"] - 97) < 4 * told["plies"]["se"] < 5
    assert abs(told["starter"]["ppg"]) < 4 * told["starter"]["se"]
    assert told["plies"] == told["throws"]
    assert sum(kind["games"] for kind in told["results"]) == 2000
    assert sum(kind["share"] for kind in told["results"]) == pytest.approx(1)


def test_good_backgammon_is_shorter_and_more_forced() -> None:
    told = stats(VARIANTS["backgammon"], load_bot("backgammon", "pretrained"), 400, seed=2)
    assert 53 < told["plies"]["mean"] < 60 and 0.18 < told["forced"] < 0.24
    assert 14.5 < told["branching"]["mean"] < 17.5


def test_a_game_that_reaches_the_cap_is_counted_as_unfinished_and_not_scored() -> None:
    variant, bot = VARIANTS["backgammon"], load_bot("backgammon", "random")
    whole = stats(variant, bot, 50, seed=1)
    cut = stats(variant, bot, 50, seed=1, cap=90)
    finished = sum(kind["games"] for kind in cut["results"])
    assert 0 < cut["unfinished"] < 50 and finished + cut["unfinished"] == 50
    assert cut["plies"]["longest"] <= 90 < whole["plies"]["longest"]
    none = stats(variant, bot, 5, seed=1, cap=3)
    assert none["unfinished"] == 5 and none["decisions"] == 15
    assert none["plies"]["mean"] is None and none["starter"] == {"ppg": None, "se": None, "wins": None}
    assert all(kind["share"] is None for kind in none["results"])


@pytest.mark.parametrize("name", [*VARIANTS, "classic:koks=true,last_throw=true"])
def test_every_kind_of_result_has_one_name_and_one_worth(name: str) -> None:
    variant = parse_variant(name)
    names, table = result_names(variant), score_table(variant)
    worth = {kind: {int(table[code]) for code, called in names.items() if called == kind} for kind in names.values()}
    assert all(len(points) == 1 for points in worth.values())
    drawn = [kind for kind, points in worth.items() if points == {0}]
    assert drawn == (["draw"] if variant.mother or variant.last_throw else [])


def test_numbers_below_one_are_refused() -> None:
    with pytest.raises(BadOption, match="games=0"):
        stats(VARIANTS["hyper"], load_bot("hyper", "random"), 0)


# ------------------------------------------------------------------------------------------------- the command


def test_the_command_tells_random_and_trained_play_and_its_keys_are_documented(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["stats", "snake", "--games", "20", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["variant"], told["seed"]) == ("snake", 1)
    assert [bot["bot"] for bot in told["bots"]] == ["random", "pretrained"]
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    section = page[page.index("## nardy stats") :].partition("\n## ")[0]
    words = set(re.findall(r"[a-z_]+", section))
    for keys in (told, told["bots"][0], *(told["bots"][0][k] for k in ("branching", "plies", "starter"))):
        assert set(keys) <= words, set(keys) - words
    assert set(told["bots"][0]["results"][0]) <= words
    assert list(told["bots"][0]["plies"]["quantiles"]) == [str(q) for q in QUANTILES]


def test_the_command_takes_bots_and_shows_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["stats", "khachapuri", "--games", "20", "--bot", "pips", "--bot", "random", "--seed", "4"]
    assert run(words) == 0
    out = capsys.readouterr().out
    for line in ("by play of", "distinct plays, mean", "starter's points a game", "13 left to 15 left (13 to 15)"):
        assert line in out
    assert re.search(r"pips +random", out)
    assert run(["stats", "khachapuri", "--bot", "pipz"]) == 2
    assert "did you mean 'pips'" in capsys.readouterr().err


def test_where_an_option_changes_what_a_game_is_worth_the_hand_written_player_stands_in_for_the_policy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["stats", "classic:koks=true", "--games", "4", "--json"]) == 0
    assert [bot["bot"] for bot in json.loads(capsys.readouterr().out)["bots"]] == ["random", "heuristic"]
