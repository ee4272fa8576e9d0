"""Commands that measure strength: duels, tournaments, errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from nardy_rl.experiments.cli_base import (
    COUNT,
    DONE,
    NO,
    WHOLE,
    command,
    emit,
    show,
    variant_of,
)


@command("nardy evaluate backgammon --a pretrained --b heuristic --games 2000")
@click.argument("variant")
@click.option("--a", "bot_a", required=True, metavar="BOT", help="The bot whose points are counted.")
@click.option("--b", "bot_b", required=True, metavar="BOT", help="Its opponent.")
@click.option("--games", type=COUNT, default=1000, show_default=True, help="Games to play, two with the same dice.")
@click.option("--seed", type=WHOLE, default=1, show_default=True, help="Of the dice.")
@click.option("--threads", type=COUNT, help="Threads that play; all cores by default. The result is the same.")
@click.option(
    "--luck", default="auto", show_default=True, metavar="BOT|auto|none",
    help="Whose values adjust for luck: auto takes the shipped policy, or what a short trial shows to be best.",
)  # fmt: skip
@click.option("--at-least", type=float, metavar="PPG", help="A gate: exit 1 if a scores fewer points a game.")
@click.option(
    "--sequential", metavar="LOW,HIGH",
    help="Stop as soon as a is found to score at least HIGH, or at most LOW; --games is then the most to play.",
)  # fmt: skip
@click.option("--match", type=COUNT, metavar="N", help="Take the games for matches to N points.")
@click.option("--cube/--no-cube", default=None, help="With the cube, for money or in matches; matches have it anyway.")
@click.option("--save-games", type=click.Path(path_type=Path), metavar="FILE", help="Write all games as text.")
@click.option("--results", type=click.Path(path_type=Path), metavar="FILE", help="Add the result to a file of results.")
def evaluate(
    variant: str, bot_a: str, bot_b: str, games: int, seed: int, threads: int | None, luck: str,
    at_least: float | None, sequential: str | None, match: int | None, cube: bool | None, save_games: Path | None,
    results: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """A duel of two bots.

    Pairs of games with the same dice and swapped seats; adjusted for luck where that takes off enough of the error.
    """
    from nardy_rl.agents import load_bot
    from nardy_rl.experiments.duel import duel
    from nardy_rl.experiments.luck import evaluator_named
    from nardy_rl.experiments.screen import duel_notes, duel_table, getting_ready, messages, progress
    from nardy_rl.experiments.sequential import read_test

    game = variant_of(variant)
    sys.path.append(os.getcwd())  # where a user's own module:Class is
    console = messages()
    test = None if sequential is None else read_test(sequential)
    with getting_ready(console):
        a, b = load_bot(game, bot_a), load_bot(game, bot_b)
    judge = evaluator_named(game, luck)
    if a.parallel and b.parallel:  # a user's bot is asked no more than needed
        with getting_ready(console):
            duel(game, a, b, 2, seed, 1, "none")
    with progress(console, "games") as report:
        played = duel(
            game, a, b, games, seed, threads, judge, progress=report, sequential=test, save_games=save_games,
            match=match or 0, cube=cube,
        )  # fmt: skip
    data = played.as_dict()
    passed = at_least is None or played.ppg >= at_least
    if at_least is not None:
        data |= {"at_least": at_least, "passed": passed}
    if results is not None:
        from nardy_rl.experiments.results_file import add_result

        add_result(results, "evaluate", data)
    if as_json:
        emit(data)
        return DONE if passed else NO
    show(duel_table([data]))
    for line in duel_notes(data):
        show(line)
    if at_least is not None:
        show(f"{'passed' if passed else 'MISSED'}: at least {at_least:+g} points a game")
    return DONE if passed else NO


@command("nardy tournament backgammon --bots pretrained,heuristic,pips --games 1000")
@click.argument("variant")
@click.option("--bots", required=True, metavar="BOT,BOT,...", help="Who plays.")
@click.option("--games", type=COUNT, default=1000, show_default=True, help="Games of each duel.")
@click.option("--seed", type=WHOLE, default=1, show_default=True, help="Of the dice.")
@click.option("--threads", type=COUNT, help="Threads that play; all cores by default.")
@click.option(
    "--luck", default="auto", show_default=True, metavar="BOT|auto|none", help="Whose values adjust for luck."
)
@click.option(
    "--results", type=click.Path(path_type=Path), metavar="FILE", help="Keep the duels here and go on from it."
)
def tournament(
    variant: str, bots: str, games: int, seed: int, threads: int | None, luck: str, results: Path | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Every bot against every other, and ratings.

    Paired duels as of evaluate; ratings in points a game and in Elo, with 95 % intervals.
    """
    from nardy_rl.experiments.screen import messages, progress, ratings_table
    from nardy_rl.experiments.tournament import tournament as play_all

    sys.path.append(os.getcwd())  # where a user's own module:Class is
    names = [name.strip() for name in bots.split(",") if name.strip()]
    with progress(messages(), "games") as report:
        data = play_all(variant, names, games, seed, threads, luck, results, lambda what, n, total: report(n, total))
    if as_json:
        emit(data)
        return DONE
    show(ratings_table(data))
    show(f"\n{data['variant']}, {games:,} games a duel, seed {seed}; ± is one standard error")
    return DONE


@command("nardy errors backgammon --bot pretrained")
@click.argument("variant")
@click.option("--bot", required=True, metavar="BOT", help="Whose choices are scored; with --build, who rolls out.")
@click.option("--file", type=click.Path(path_type=Path), metavar="FILE", help="A benchmark other than the shipped one.")
@click.option("--build", "build_file", type=click.Path(path_type=Path), metavar="FILE", help="Build one instead.")
@click.option("--positions", type=COUNT, default=2000, show_default=True, help="With --build: how many.")
@click.option("--trials", type=COUNT, default=72, show_default=True, help="With --build: of each rollout.")
@click.option("--throws", type=WHOLE, default=0, show_default=True, help="With --build: of a trial; 0: to the end.")
@click.option("--seed", type=WHOLE, default=1, show_default=True, help="Of positions and dice, or of a bot's lots.")
@click.option("--threads", type=COUNT, help="Threads that search, or play with --build.")
def errors(
    variant: str, bot: str, file: Path | None, build_file: Path | None, positions: int, trials: int, throws: int,
    seed: int, threads: int | None, as_json: bool,
) -> int:  # fmt: skip
    """What a bot's choices lose.

    Looks its choices up in positions of which every play was rolled out, in seconds. A build that was stopped goes on.
    """
    from nardy_rl.agents import load_bot
    from nardy_rl.agents.search import use_threads
    from nardy_rl.experiments.error_bench import BuildSettings, build, score
    from nardy_rl.experiments.errors_file import benchmark_for
    from nardy_rl.experiments.screen import errors_table, getting_ready, messages, progress

    game = variant_of(variant)
    sys.path.append(os.getcwd())  # where a user's own module:Class is
    with getting_ready(messages()):
        player = load_bot(game, bot)
    if build_file is not None:
        with progress(messages(), "positions") as report:
            settings = BuildSettings(positions=positions, trials=trials, throws=throws, seed=seed)
            benchmark = build(player, build_file, settings, threads, progress=report)
    else:
        benchmark = benchmark_for(game, file)
    use_threads(player, threads)
    data = score(player, benchmark, seed)
    if as_json:
        emit(data)
    else:
        show(errors_table([data]))
        show(f"\n{data['variant']}, rolled out by {data['player']}; ± is one standard error, over positions")
    return DONE
