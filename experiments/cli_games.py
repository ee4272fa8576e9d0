"""Commands about the games themselves: their rules, positions and figures."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from nardy_rl.errors import NardyError
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


@command("nardy variants")
def variants(as_json: bool) -> int:
    """The table of games."""
    from nardy_rl.variants import SOURCES, VARIANTS

    if as_json:
        keys = ("id", "name", "native", "family", "source", "checkers", "cube", "status")
        emit({"variants": [{k: getattr(v, k) for k in keys} for v in VARIANTS.values()]})
        return DONE
    from nardy_rl.experiments.screen import table

    rows = [(v.id, v.name, v.native, v.family, SOURCES[v.source], v.status) for v in VARIANTS.values()]
    show(table(["id", "name", "in the source", "family", "source", "status"], rows))
    return DONE


@command("nardy rules classic:block=sport")
@click.argument("variant")
def rules(variant: str, as_json: bool) -> int:
    """The whole rules of one game.

    Each with its source, the readings of what is unclear, and the options.
    """
    from nardy_rl.experiments.rules_text import as_data, rules_text
    from nardy_rl.experiments.screen import getting_ready, messages

    game = variant_of(variant)
    with getting_ready(messages()):
        text = rules_text(game)
    if as_json:
        emit(as_data(game) | {"text": text})
    else:
        click.echo(text, nl=False)
    return DONE


@command("nardy stats classic --games 1000")
@click.argument("variant")
@click.option("--games", type=COUNT, default=1000, show_default=True, help="Games of each bot against itself.")
@click.option("--seed", type=WHOLE, default=1, show_default=True, help="The same seed gives the same figures.")
@click.option(
    "--bot", "names", multiple=True, metavar="BOT",
    help="Who plays; may be repeated. By default random, and the best player shipped.",
)  # fmt: skip
@click.option("--threads", type=COUNT, help="Threads that play; all cores by default. The figures are the same.")
def stats(variant: str, games: int, seed: int, names: tuple[str, ...], threads: int | None, as_json: bool) -> int:
    """What a game is like.

    Branching, length, the starter's edge, forced plays, how games end: by random and by trained play.
    """
    from nardy_rl.agents import load_bot
    from nardy_rl.experiments import stats as figures
    from nardy_rl.experiments.play import best_bot
    from nardy_rl.experiments.screen import getting_ready, messages, progress, table

    game = variant_of(variant)
    sys.path.append(os.getcwd())  # where a user's own module:Class is
    console = messages()
    with getting_ready(console):
        bots = [load_bot(game, name) for name in names] or [load_bot(game, "random"), best_bot(game)]
    told = []
    for bot in bots:
        if bot.parallel:
            with getting_ready(console):
                figures.stats(game, bot, 2, seed, 1)
        with progress(console, f"games of {bot.name}") as report:
            told.append(figures.stats(game, bot, games, seed, threads, progress=report))
    answer = figures.summary(game, told, seed)
    if as_json:
        emit(answer)
        return DONE
    show(table(["by play of", *(f">{bot['bot']}" for bot in told)], figures.stats_rows(told)))
    show(f"\n{answer['variant']}, {games:,} games of each bot against itself, seed {seed}; ± is one standard error")
    return DONE


@command("nardy perft backgammon --depth 2 --divide")
@click.argument("variant")
@click.option("--depth", type=COUNT, required=True, help="How many plays deep to count.")
@click.option("--divide", is_flag=True, help="Show the count of every first play.")
@click.option("--seed", type=WHOLE, default=1, show_default=True, help="For starts that are drawn at random.")
def perft(variant: str, depth: int, divide: bool, seed: int, as_json: bool) -> int:
    """Count plays by depth.

    From the start, over all 21 rolls; depth counts plays. `unique` counts distinct states.
    """
    from nardy_rl.experiments.screen import getting_ready, messages, table
    from nardy_rl.perft import perft as count

    game = variant_of(variant)
    with getting_ready(messages()):
        count(game, 1, seed=seed)
    with messages().status("counting..."):
        counted = count(game, depth, divide=divide, seed=seed)
    if as_json:
        emit(counted)
        return DONE
    if divide:
        rows = [("-".join(roll), f"{number:,}") for roll, number in counted["divide"].items()]
        show(table(["roll", ">plays"], rows))
    show(f"{counted['variant']}, depth {depth}: {counted['total']:,} plays, {counted['unique']:,} distinct")
    return DONE


@command("nardy check cases/backgammon.jsonl")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...], as_json: bool) -> int:
    """Compare the rules with case files.

    Reads the files (their format: docs/cases.md), recomputes every play, reports every difference.
    """
    from nardy_rl.cases import check_files
    from nardy_rl.experiments.screen import getting_ready, messages

    with getting_ready(messages()):
        found = check_files(files)
    differences = found["differences"]
    if as_json:
        emit(found)
    else:
        for case in differences:
            show(f"{case['id']}: {len(case['missing'])} plays missing, {len(case['extra'])} too many")
            for kind in ("missing", "extra"):
                for one in case[kind]:
                    show(f"  {kind}  {json.dumps(one)}")
        show(f"{found['files']} files, {found['cases']:,} cases, {len(differences)} differ")
    return NO if differences else DONE


# An XGID may begin like an option, and have an h that is no call for help.
@command(
    "nardy convert backgammon 4HPwATDgc/ABMA:cIkKAAAAAAAE --to xgid",
    ignore_unknown_options=True,
    help_option_names=["--help"],
)
@click.argument("variant")
@click.argument("text")
@click.option("--to", "form", metavar="FORM", help="One form only; without it, all that can say the position.")
def convert(variant: str, text: str, form: str | None, as_json: bool) -> int:
    """Write a position in other forms.

    TEXT is a position as text, a Position ID, POSITION_ID:MATCH_ID, an XGID or a FIBS board, in quotes. FORM is
    text, position-id, match-id, gnubg-id, xgid, fibs or picture.
    """
    from nardy_rl.forms import FORMS, read_state, write_state
    from nardy_rl.variants import variant_text

    given, game = read_state(variant_of(variant), text)
    if form is not None:
        written: dict[str, str | None] = {form: write_state(game, form)}
    else:
        written = {name: _or_none(write_state, game, name) for name in FORMS}
    if as_json:
        emit({"variant": variant_text(game.variant), "from": given, "forms": written})
    elif form is not None:
        click.echo(written[form])
    else:
        for name, line in written.items():
            click.echo(f"\n{line}" if name == "picture" else f"{name:<12} {line or '(cannot say it)'}")
    return DONE


def _or_none(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or None where it refuses."""
    try:
        return function(*arguments)
    except NardyError:
        return None
