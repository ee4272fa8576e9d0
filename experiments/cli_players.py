"""Commands for players: analysis, rollouts, play against a bot, bots for other programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from nardy_rl.errors import BadOption
from nardy_rl.experiments.cli_base import (
    COUNT,
    DONE,
    NO,
    TIME,
    WHOLE,
    command,
    emit,
    show,
    variant_of,
)


@command(
    "nardy analyse 4HPwATDgc/ABMA --dice 31 --bot pretrained@1ply",
    ignore_unknown_options=True,
    help_option_names=["--help"],
)
@click.argument("words", nargs=-1, required=True, metavar="[VARIANT] POSITION|FILE.mat")
@click.option("--bot", metavar="BOT", help="Who analyses; by default the best one shipped, one ply deep.")
@click.option("--dice", metavar="DICE", help="Dice to throw in the position, as 31.")
@click.option("--most", type=COUNT, default=10, show_default=True, help="Plays to list; with --json all.")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
@click.option("--threads", type=COUNT, help="Threads that search; all cores by default. The figures are the same.")
def analyse(
    words: tuple[str, ...], bot: str | None, dice: str | None, most: int, markdown: bool, threads: int | None,
    as_json: bool,
) -> int:  # fmt: skip
    """What a bot says of a position, or of a match.

    With dice its plays, the best first, with equities and the probabilities of all outcomes; without dice what the
    position is worth, and what to do with the cube. POSITION is any form that convert reads, in quotes; a text names
    its game itself. Of a match file: errors, blunders and luck of both players.
    """
    from nardy_rl.agents.search import use_threads
    from nardy_rl.experiments import analyse as analysis
    from nardy_rl.experiments.analyse_cube import cube_lines, cube_rows
    from nardy_rl.experiments.analyse_match import match_file
    from nardy_rl.experiments.screen import getting_ready, markdown_table, messages, table

    sys.path.append(os.getcwd())  # where a user's own module:Class is
    if (file := match_file(words)) is not None:
        return _analyse_match(file, words, bot, dice, most, markdown, as_json)
    game = analysis.read_game(words, dice)
    with getting_ready(messages()):
        player = analysis.value_bot(game.variant, bot)
    use_threads(player, threads)
    with messages().status("looking ahead..."):
        data = analysis.analyse(player, game)
    if as_json:
        emit(data)
        return DONE
    tables = [analysis.analysis_rows(game.variant, data, most)]
    lines = []
    if data["cube"] is not None:
        tables.append(cube_rows(data["cube"]))
        lines = cube_lines(data["cube"])
    if markdown:
        parts = [analysis.heading(data), *(markdown_table(*one) for one in tables), *lines]
        click.echo("\n\n".join(parts))
    else:
        click.echo(f"{game.picture()}\n")
        show(analysis.heading(data), *(table(*one) for one in tables), *lines, sep="\n")
    return DONE


def _analyse_match(
    file: Path, words: tuple[str, ...], bot: str | None, dice: str | None, most: int, markdown: bool, as_json: bool
) -> int:
    """`nardy analyse` of a match file."""
    from nardy_rl.experiments import analyse as analysis
    from nardy_rl.experiments.analyse_match import analyse_match, mistake_rows, player_rows, read_record
    from nardy_rl.experiments.screen import getting_ready, markdown_table, messages, progress, table

    if len(words) > 2 or dice is not None:
        raise BadOption(f"{file}: of a match file give nothing but the game before it, and no dice")
    with getting_ready(messages()):
        record = read_record(file, variant_of(words[0]) if len(words) == 2 else None, variant_of(analysis.ID_GAME))
        variant = record.games[0][0].variant
        player = analysis.value_bot(variant, bot)
    with progress(messages(), "steps") as report:
        data = analyse_match(player, record, report)
    if as_json:
        emit(data)
        return DONE
    kind = f"match to {data['match']}" if data["match"] else "for money"
    heading = f"{data['variant']}, {kind}, {len(data['games'])} games, by {data['bot']}"
    tables = [player_rows(data), mistake_rows(data, most)]
    if markdown:
        click.echo("\n\n".join([heading, *(markdown_table(*one) for one in tables if one[1])]))
    else:
        show(heading, *(table(*one) for one in tables if one[1]), sep="\n\n")
    return DONE


@command("nardy openings backgammon --bot pretrained@1ply")
@click.argument("variant")
@click.option("--bot", metavar="BOT", help="Who ranks the plays; by default the best one shipped, one ply deep.")
@click.option("--most", type=COUNT, default=3, show_default=True, help="Plays of each throw.")
@click.option("--markdown", "--md", is_flag=True, help="Print the tables as Markdown.")
@click.option("--threads", type=COUNT, help="Threads that search; all cores by default. The figures are the same.")
def openings(
    variant: str, bot: str | None, most: int, markdown: bool, threads: int | None, as_json: bool
) -> int:  # fmt: skip
    """The best opening plays of a game.

    For each of the 15 or 21 throws that it may begin with: the best play, its equity and chance to win, and what the
    next ones lose.
    """
    from nardy_rl.agents.search import use_threads
    from nardy_rl.experiments import openings as opening
    from nardy_rl.experiments.analyse import value_bot
    from nardy_rl.experiments.screen import getting_ready, markdown_table, messages, progress, table

    game = variant_of(variant)
    opening.opening_starts(game)
    sys.path.append(os.getcwd())  # where a user's own module:Class is
    with getting_ready(messages()):
        player = value_bot(game, bot)
    use_threads(player, threads)
    with progress(messages(), "throws") as report:
        data = opening.openings(player, most, report)
    if as_json:
        emit(data)
        return DONE
    for start in data["starts"]:
        heading, rows = opening.opening_heading(data, start), opening.opening_rows(start, most)
        if markdown:
            click.echo(f"{heading}\n\n{markdown_table(*rows)}\n")
        else:
            show(f"{heading}\n", table(*rows), "", sep="\n")
    return DONE


@command("nardy card backgammon")
@click.argument("policy", metavar="GAME|POLICY")
def card(policy: str, as_json: bool) -> int:
    """The card of a trained policy.

    What it is, the commands that train it, its measured strength, and whether its test vector holds. GAME is the
    policy that comes with a game, POLICY a file or run folder. Exit status 1 if the test vector does not hold.
    """
    from nardy_rl.experiments import card as cards
    from nardy_rl.experiments.screen import getting_ready, messages, table

    with getting_ready(messages()):
        data = cards.card_of(cards.load(policy))
    if as_json:
        emit(data)
    else:
        show(f"{data['variant']}: {data['file']}\n", table(["", ""], cards.fact_rows(data)), sep="\n")
        show("\nTrained by\n")
        for step in data["chain"]:
            click.echo(step["command"])
        if data["strength"]:
            show(f"\nMeasured {data['measured']}; ± is one standard error\n")
            columns, rows = cards.strength_rows(data["strength"])
            show(table(columns[:-1], [row[:-1] for row in rows]), "", sep="\n")
            for row in rows:
                click.echo(row[-1])
    return DONE if data["test"]["holds"] else NO


@command(
    "nardy rollout 4HPwATDgc/ABMA --dice 31 --bot pretrained --until 0.95",
    ignore_unknown_options=True,
    help_option_names=["--help"],
)
@click.argument("words", nargs=-1, required=True, metavar="[VARIANT] POSITION")
@click.option("--bot", metavar="BOT", help="Who plays both sides; by default the best one shipped, without search.")
@click.option("--dice", metavar="DICE", help="Dice to throw in the position, as 31.")
@click.option("--trials", type=COUNT, default=1296, show_default=True, help="Games played on from each play, at most.")
@click.option("--throws", "--plies", "throws", type=WHOLE, default=0, help="Throws of a trial; by default to the end.")
@click.option("--most", type=COUNT, default=5, show_default=True, help="Plays to roll out, the best by the bot.")
@click.option("--until", type=TIME, metavar="P", help="Set plays aside that are worse at this confidence, as 0.95.")
@click.option("--confidence", type=TIME, default=0.95, show_default=True, help="Of the interval of an equity.")
@click.option("--seed", type=WHOLE, default=1, show_default=True, help="Of the dice.")
@click.option("--threads", type=COUNT, help="Threads that play; all cores by default. The figures are the same.")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
def rollout(
    words: tuple[str, ...], bot: str | None, dice: str | None, threads: int | None, markdown: bool, as_json: bool,
    **settings: Any,
) -> int:  # fmt: skip
    """Play a position on many times.

    Both sides by the bot, adjusted for luck: equities and outcomes of the best plays with their errors; without dice
    of the position. POSITION is any form that convert reads, in quotes; a text names its game itself.
    """
    from nardy_rl.experiments import analyse as analysis
    from nardy_rl.experiments.rollout_position import RolloutSettings, roll_out, rollout_rows
    from nardy_rl.experiments.screen import getting_ready, markdown_table, messages, progress, table

    sys.path.append(os.getcwd())  # where a user's own module:Class is
    asked = RolloutSettings(**settings)
    game = analysis.read_game(words, dice)
    with getting_ready(messages()):
        player = analysis.value_bot(game.variant, bot or analysis.best_shipped(game.variant))
    with progress(messages(), "trials") as report:
        data = roll_out(player, game, asked, threads, report)
    if as_json:
        emit(data)
        return DONE
    columns, rows = rollout_rows(game.variant, data)
    if markdown:
        click.echo(f"{analysis.heading(data)}\n\n{markdown_table(columns, rows)}")
        return DONE
    click.echo(f"{game.picture()}\n")
    show(analysis.heading(data), table(columns, rows))
    if data["decided"] is not None:
        show("\ndecided" if data["decided"] else "\nnot decided: give more --trials")
    return DONE


@command("nardy match-table 7")
@click.argument("points", type=COUNT)
@click.option("--gammons", type=float, default=0.26, show_default=True, help="Share of wins by 2 points or more.")
@click.option("--backgammons", type=float, default=0.01, show_default=True, help="Share of wins by 3 points.")
@click.option("--efficiency", type=float, default=0.68, show_default=True, help="Of the cube, from 0 to 1.")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
def match_table(
    points: int, gammons: float, backgammons: float, efficiency: float, markdown: bool, as_json: bool
) -> int:  # fmt: skip
    """The chance to win a match from every score.

    A match equity table, computed from a model of a single game (docs/cube.md), up to POINTS points away.
    """
    from nardy_rl.experiments.screen import markdown_table, match_table_rows, table
    from nardy_rl.match_table import LEVELS
    from nardy_rl.match_table import match_table as computed

    shares = (1 - gammons, gammons - backgammons, backgammons)
    found = computed(points, LEVELS, shares, efficiency=efficiency)
    if as_json:
        before, after = found.before[1:, 1:], found.after[1:]
        emit({"points": points, "shares": shares, "efficiency": efficiency, "before": before, "after": after})
        return DONE
    columns, rows = match_table_rows(found)
    if markdown:
        click.echo(markdown_table(columns, rows))
        return DONE
    show(table(columns, rows))
    show("\nRows: points that you need; columns: that your opponent needs. 1 away is before the Crawford game.")
    return DONE


@command("nardy play backgammon --bot heuristic --match 5")
@click.argument("variant")
@click.option("--bot", default=None, metavar="BOT", help="Your opponent; by default the best one shipped.")
@click.option("--match", "length", type=COUNT, metavar="N", help="A match to N points, with the cube if there is one.")
@click.option("--money", is_flag=True, help="A game for money, with the cube.")
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE", help="Write a match file (.mat) at the end.")
@click.option("--seed", type=WHOLE, help="Of the dice; a random one by default.")
@click.option("--seat", type=click.Choice(["0", "1"]), default="0", show_default=True, help="Your player number.")
def play(
    variant: str, bot: str | None, length: int | None, money: bool, save: Path | None, seed: int | None, seat: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Play against a bot in the terminal.

    Type ? for your plays, help for the commands.
    """
    from nardy_rl.agents.policy import write_file
    from nardy_rl.experiments.play import Stakes, play_game
    from nardy_rl.match_file import held, match_text

    game = variant_of(variant)
    if money and length is not None:
        raise BadOption(f"--money and --match {length}: give one of them")
    if save is not None:
        held(game)
    table = play_game(game, bot, seed, int(seat), as_json, Stakes(0 if money else length))
    if save is not None:
        write_file(save, match_text(table.record()).encode())
    if as_json:
        emit(table.report())
    return DONE


@command("nardy bot pretrained --gnubg 1234")
@click.argument("bot", metavar="BOT")
@click.option("--gnubg", "address", metavar="[HOST:]PORT", help="Serve GNU Backgammon's `set player external` here.")
@click.option("--game", default="backgammon", show_default=True, metavar="VARIANT", help="With --gnubg: the game.")
@click.option("--connections", type=WHOLE, default=0, show_default=True, help="With --gnubg: to serve; 0: no end.")
def bot_command(bot: str, address: str | None, game: str, connections: int, as_json: bool) -> int:
    """Serve a bot to other programs.

    Over the line protocol on standard input and output, for all games; or to GNU Backgammon over a socket.
    """
    from nardy_rl.experiments.line_protocol import serve_lines

    sys.path.append(os.getcwd())  # where a user's own module:Class is
    if address is None:
        if as_json:
            raise BadOption("--json goes with --gnubg: the line protocol has answers of its own")
        serve_lines(bot, sys.stdin.buffer, sys.stdout.buffer)
        return DONE
    from nardy_rl.agents import load_bot
    from nardy_rl.agents.outside import check_playable
    from nardy_rl.experiments.gnubg_socket import serve

    variant = variant_of(game)
    check_playable(variant, "gnubg", own_plays=True)
    player = load_bot(variant, bot)
    counted = serve(player, address, lambda said: click.echo(said, err=True), connections)
    if as_json:
        emit({"bot": bot, "variant": game, **counted})
    return DONE
