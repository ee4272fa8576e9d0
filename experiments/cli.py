"""The command `nardy`: each command checks what it was given, calls the module that does the work, prints.

Exit status: 0 done, 1 the answer is no (a case differs, a gate is missed, the doctor found something), 2 bad
input, with one sentence on standard error. With `--json` standard output holds exactly one JSON object.
Whatever is heavy is imported inside the commands, so that `nardy --help` is instant.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from nardy_rl.errors import BadOption, BadRun, NardyError, did_you_mean

F = TypeVar("F", bound=Callable[..., Any])

DONE, NO, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
BENCHES = {"engine": "bench", "train": "bench_train", "env": "bench_env", "search": "bench_search"}


class OneExample(click.Command):
    """A command whose help ends with an example that can be pasted."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Example"):
            formatter.write(f"{'':>{formatter.current_indent}}{self.example}\n")


class Suggesting(click.Group):
    """A group that names the nearest command when one does not exist, and lists commands as written below."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            hint = did_you_mean(args[0], known) or f"; the commands are {', '.join(known)}"
            raise click.UsageError(f"unknown command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class Number(click.ParamType):  # type: ignore[type-arg]
    """A number within bounds; the message names the option, the value and what it may be."""

    def __init__(self, kind: type, least: float = 0, strictly: bool = False) -> None:
        self.kind, self.least, self.strictly = kind, least, strictly
        self.name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        bound = f"{'more than' if self.strictly else 'at least'} {self.least:g}"
        what = f"a whole number of {bound}" if self.kind is int else f"a number of {bound}"
        option = param.opts[-1] if param is not None else "the number"
        try:
            number = self.kind(value)
        except ValueError:
            raise click.UsageError(f"{option} {value} must be {what}") from None
        if not (number > self.least if self.strictly else number >= self.least) or number == float("inf"):
            raise click.UsageError(f"{option} {value} must be {what}")
        return number


COUNT = Number(int, 1)
WHOLE = Number(int, 0)
TIME = Number(float, 0, strictly=True)


def command(example: str, **settings: Any) -> Callable[[F], click.Command]:
    """Register a function of this module as a command, with `--json`; settings: click's, for its context."""

    def register(function: F) -> click.Command:
        name = function.__name__.removesuffix("_command").replace("_", "-")
        with_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")
        made = cli.command(name, cls=OneExample, example=example, context_settings=settings)
        return made(with_json(function))

    return register


def _variant(text: str) -> Any:
    from nardy_rl.variants import parse_variant

    return parse_variant(text)


def _emit(data: dict[str, Any]) -> None:
    from nardy_rl.experiments.screen import emit_json

    emit_json(data)


def _print(*things: Any, sep: str = " ") -> None:
    from nardy_rl.experiments.screen import result

    result().print(*things, sep=sep)


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"nardy {version('nardy-rl')}")
        ctx.exit()


@click.group(
    cls=Suggesting,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Games of the backgammon and nardy families: exact rules, training by self-play, duels, play.

    VARIANT is a game's id (`nardy variants`), with options as classic:block=sport,koks=true, or a TOML
    file that defines one. BOT is random, pips, heuristic, pretrained, a policy file, a run folder, pubeval,
    gnubg, or module:Class, with a depth where it has one: pretrained@1ply.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


# -------------------------------------------------------------------------------------------- games and rules


@command("nardy variants")
def variants(as_json: bool) -> int:
    """The table of games."""
    from nardy_rl.variants import SOURCES, VARIANTS

    if as_json:
        keys = ("id", "name", "native", "family", "source", "checkers", "cube", "status")
        _emit({"variants": [{k: getattr(v, k) for k in keys} for v in VARIANTS.values()]})
        return DONE
    from nardy_rl.experiments.screen import table

    rows = [(v.id, v.name, v.native, v.family, SOURCES[v.source], v.status) for v in VARIANTS.values()]
    _print(table(["id", "name", "in the source", "family", "source", "status"], rows))
    return DONE


@command("nardy rules classic:block=sport")
@click.argument("variant")
def rules(variant: str, as_json: bool) -> int:
    """The whole rules of one game.

    Each with its source, the readings of what is unclear, and the options.
    """
    from nardy_rl.experiments.rules_text import as_data, rules_text
    from nardy_rl.experiments.screen import getting_ready, messages

    game = _variant(variant)
    with getting_ready(messages()):
        text = rules_text(game)
    if as_json:
        _emit(as_data(game) | {"text": text})
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

    game = _variant(variant)
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
        _emit(answer)
        return DONE
    _print(table(["by play of", *(f">{bot['bot']}" for bot in told)], figures.stats_rows(told)))
    _print(f"\n{answer['variant']}, {games:,} games of each bot against itself, seed {seed}; ± is one standard error")
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

    game = _variant(variant)
    with getting_ready(messages()):
        count(game, 1, seed=seed)
    with messages().status("counting..."):
        counted = count(game, depth, divide=divide, seed=seed)
    if as_json:
        _emit(counted)
        return DONE
    if divide:
        rows = [("-".join(roll), f"{number:,}") for roll, number in counted["divide"].items()]
        _print(table(["roll", ">plays"], rows))
    _print(f"{counted['variant']}, depth {depth}: {counted['total']:,} plays, {counted['unique']:,} distinct")
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
        _emit(found)
    else:
        for case in differences:
            _print(f"{case['id']}: {len(case['missing'])} plays missing, {len(case['extra'])} too many")
            for kind in ("missing", "extra"):
                for one in case[kind]:
                    _print(f"  {kind}  {json.dumps(one)}")
        _print(f"{found['files']} files, {found['cases']:,} cases, {len(differences)} differ")
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

    given, game = read_state(_variant(variant), text)
    if form is not None:
        written: dict[str, str | None] = {form: write_state(game, form)}
    else:
        written = {name: _or_none(write_state, game, name) for name in FORMS}
    if as_json:
        _emit({"variant": variant_text(game.variant), "from": given, "forms": written})
    elif form is not None:
        click.echo(written[form])
    else:
        for name, line in written.items():
            click.echo(f"\n{line}" if name == "picture" else f"{name:<12} {line or '(cannot say it)'}")
    return DONE


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
    from nardy_rl.experiments.screen import getting_ready, messages, table

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
        _emit(data)
        return DONE
    tables = [analysis.analysis_rows(game.variant, data, most)]
    lines = []
    if data["cube"] is not None:
        tables.append(cube_rows(data["cube"]))
        lines = cube_lines(data["cube"])
    if markdown:
        parts = [analysis.heading(game, data), *(analysis.markdown(*one) for one in tables), *lines]
        click.echo("\n\n".join(parts))
    else:
        click.echo(f"{game.picture()}\n")
        _print(analysis.heading(game, data), *(table(*one) for one in tables), *lines, sep="\n")
    return DONE


def _analyse_match(
    file: Path, words: tuple[str, ...], bot: str | None, dice: str | None, most: int, markdown: bool, as_json: bool
) -> int:
    """`nardy analyse` of a match file."""
    from nardy_rl.experiments import analyse as analysis
    from nardy_rl.experiments.analyse_match import analyse_match, mistake_rows, player_rows, read_record
    from nardy_rl.experiments.screen import getting_ready, messages, progress, table

    if len(words) > 2 or dice is not None:
        raise BadOption(f"{file}: of a match file give nothing but the game before it, and no dice")
    with getting_ready(messages()):
        record = read_record(file, _variant(words[0]) if len(words) == 2 else None, _variant(analysis.ID_GAME))
        variant = record.games[0][0].variant
        player = analysis.value_bot(variant, bot)
    with progress(messages(), "steps") as report:
        data = analyse_match(player, record, report)
    if as_json:
        _emit(data)
        return DONE
    kind = f"match to {data['match']}" if data["match"] else "for money"
    heading = f"{data['variant']}, {kind}, {len(data['games'])} games, by {data['bot']}"
    tables = [player_rows(data), mistake_rows(data, most)]
    if markdown:
        click.echo("\n\n".join([heading, *(analysis.markdown(*one) for one in tables if one[1])]))
    else:
        _print(heading, *(table(*one) for one in tables if one[1]), sep="\n\n")
    return DONE


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
    from nardy_rl.experiments.screen import getting_ready, messages, progress, table

    sys.path.append(os.getcwd())  # where a user's own module:Class is
    asked = RolloutSettings(**settings)
    game = analysis.read_game(words, dice)
    with getting_ready(messages()):
        player = analysis.value_bot(game.variant, bot or analysis.best_values(game.variant))
    with progress(messages(), "trials") as report:
        data = roll_out(player, game, asked, threads, report)
    if as_json:
        _emit(data)
        return DONE
    columns, rows = rollout_rows(game.variant, data)
    if markdown:
        click.echo(f"{analysis.heading(game, data)}\n\n{analysis.markdown(columns, rows)}")
        return DONE
    click.echo(f"{game.picture()}\n")
    _print(analysis.heading(game, data), table(columns, rows))
    if data["decided"] is not None:
        _print("\ndecided" if data["decided"] else "\nnot decided: give more --trials")
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
    from nardy_rl.experiments.analyse import markdown as as_markdown
    from nardy_rl.experiments.screen import match_table_rows, table
    from nardy_rl.match_table import LEVELS
    from nardy_rl.match_table import match_table as computed

    shares = (1 - gammons, gammons - backgammons, backgammons)
    found = computed(points, LEVELS, shares, efficiency=efficiency)
    if as_json:
        before, after = found.before[1:, 1:], found.after[1:]
        _emit({"points": points, "shares": shares, "efficiency": efficiency, "before": before, "after": after})
        return DONE
    columns, rows = match_table_rows(found)
    if markdown:
        click.echo(as_markdown(columns, rows))
        return DONE
    _print(table(columns, rows))
    _print("\nRows: points that you need; columns: that your opponent needs. 1 away is before the Crawford game.")
    return DONE


def _or_none(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or None where it refuses."""
    try:
        return function(*arguments)
    except NardyError:
        return None


# ----------------------------------------------------------------------------------------- training and duels


@command("nardy train backgammon --minutes 5")
@click.argument("variant", required=False)
@click.option("--minutes", type=TIME, help="Stop after this long; compilation is not counted.")
@click.option("--games", type=COUNT, help="Stop after this many games of self-play.")
@click.option("--seed", type=WHOLE, help="The same seed and one thread give the same policy, bit for bit.")
@click.option("--threads", type=COUNT, help="Threads that play; all cores by default.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="The run's folder; must not exist.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="A TOML file with settings.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="One setting; may be repeated.")
@click.option("--init", metavar="POLICY", help="Start from a policy: a file, a run folder, or pretrained.")
@click.option("--resume", type=click.Path(path_type=Path), metavar="DIR", help="Go on with an interrupted run.")
@click.option("--settings", is_flag=True, help="List the settings of --set and --config, and what each means.")
def train(variant: str | None, sets: tuple[str, ...], settings: bool, as_json: bool, **given: Any) -> int:
    """Train a player by self-play.

    Shows its progress and ends with a table against the baselines.

    With both --minutes and --games, whichever comes first ends the run. Ctrl-C saves and says how to go on.
    """
    from nardy_rl.experiments import training
    from nardy_rl.experiments.config import settings_table
    from nardy_rl.experiments.screen import duel_table, messages, result, table

    if settings:
        rows = settings_table()
        if as_json:
            _emit({"settings": [{"name": n, "default": d, "help": h} for n, d, h in rows]})
        else:
            _print(table(("setting", "default", "meaning"), [(n, str(d), h) for n, d, h in rows]))
        return DONE
    resume, config_file = given.pop("resume"), given.pop("config")
    chosen = {name: value for name, value in given.items() if value is not None}
    if resume is not None:
        if variant is not None or chosen or sets or config_file:
            raise BadRun(f"--resume {resume} goes on with that run as it was configured: give nothing else with it")
        config = None
    else:
        if variant is not None:
            _variant(variant)
            chosen["variant"] = variant
        elif config_file is None:
            raise click.UsageError("train needs a VARIANT, as in  nardy train backgammon --minutes 5")
        config = training.config_from(config_file, sets, **chosen)
    report = training.train(config, resume=resume, console=messages() if as_json else result())
    if report["stopped"]:
        messages().print(f"stopped: {report['stopped']}; see the settings in {report['run']}/config.json")
    if as_json:
        _emit(report)
        return NO if report["stopped"] else DONE
    if report["results"]:
        _print(duel_table(report["results"]))
    speed = f"{report['games_per_s']:,.0f} games/s"
    _print(f"\n{report['games']:,} games in {report['minutes']:.1f} minutes ({speed})")
    _print(f"run     {report['run']}\npolicy  {report['policy']}")
    return DONE


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

    game = _variant(variant)
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
        _emit(data)
        return DONE if passed else NO
    _print(duel_table([data]))
    for line in duel_notes(data):
        _print(line)
    if at_least is not None:
        _print(f"{'passed' if passed else 'MISSED'}: at least {at_least:+g} points a game")
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
        _emit(data)
        return DONE
    _print(ratings_table(data))
    _print(f"\n{data['variant']}, {games:,} games a duel, seed {seed}; ± is one standard error")
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

    game = _variant(variant)
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
        _emit(data)
    else:
        _print(errors_table([data]))
        _print(f"\n{data['variant']}, rolled out by {data['player']}; ± is one standard error, over positions")
    return DONE


@command("nardy report runs/a runs/b --out report")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default="report", show_default=True, metavar="DIR", help="Where."
)
@click.option("--format", "form", type=click.Choice(["svg", "png", "both"]), default="svg", show_default=True)
def report(runs: tuple[Path, ...], out: Path, form: str, as_json: bool) -> int:
    """Draw training runs.

    Learning curves, strength against games and minutes, final tables, as pictures and Markdown. Runs that differ in
    the seed only are drawn as one line with an interval.
    """
    from nardy_rl.experiments.report import write_report

    written = write_report(runs, out, ("svg", "png") if form == "both" else (form,))
    if as_json:
        _emit(written)
    else:
        _print(f"report    {written['report']}")
        for file in written["pictures"]:
            _print(f"picture   {file}")
    return DONE


def _bench_variants(names: tuple[str, ...], budget: tuple[float, str, int, int], out: Path, as_json: bool) -> int:
    """Train and measure games, all where none is named."""
    from nardy_rl.experiments.bench_variants import Budget, bench_variants, markdown
    from nardy_rl.experiments.screen import messages
    from nardy_rl.variants import VARIANTS

    chosen = [_variant(name) for name in names if name != "all"] or list(VARIANTS.values())
    console = messages()
    data = bench_variants(chosen, Budget(*budget), out, console.print, console)
    if as_json:
        _emit(data)
    else:
        _print(markdown(data["results"]))
        for file in data["files"]:
            _print(f"written   {file}")
    return DONE


@command("nardy bench engine --variant backgammon --seconds 2")
@click.argument("what", metavar="engine|train|env|search|variants")
@click.option("--variant", "names", multiple=True, metavar="VARIANT", help="A game, or all; may be repeated.")
@click.option("--peers", is_flag=True, help="Measure the installed rivals in the same run.")
@click.option("--seconds", type=TIME, default=2.0, show_default=True, help="CPU seconds of a round.")
@click.option("--minutes", type=TIME, default=5.0, show_default=True, help="variants: of training, each game.")
@click.option(
    "--clock", type=click.Choice(["wall", "cpu"]), default="wall", show_default=True, help="variants: of them."
)
@click.option("--games", type=COUNT, default=2000, show_default=True, help="variants: of each duel.")
@click.option("--seed", type=WHOLE, default=1, show_default=True, help="variants: of training and duels.")
@click.option(
    "--out", type=click.Path(path_type=Path), default="runs/variants", show_default=True, help="variants: the folder."
)
def bench(
    what: str, names: tuple[str, ...], peers: bool, seconds: float, minutes: float, clock: str, games: int, seed: int,
    out: Path, as_json: bool,
) -> int:  # fmt: skip
    """Measure speed, or train and measure every game.

    Speed: results are asserted equal first, then timed in alternating rounds. `variants` trains all games (or those
    named) from scratch at one budget and writes their table; stopped, the same command goes on.
    """
    if what == "variants":
        return _bench_variants(names, (minutes, clock, seed, games), out, as_json)
    from nardy_rl.experiments.screen import bench_table, messages
    from nardy_rl.variants import VARIANTS

    if what not in BENCHES:
        known = [*BENCHES, "variants"]
        raise BadOption(f"there is no benchmark {what!r}{did_you_mean(what, known)}; there are {', '.join(known)}")
    measure = getattr(importlib.import_module(f"nardy_rl.experiments.{BENCHES[what]}"), f"bench_{what}")
    chosen = list(VARIANTS.values()) if "all" in names else [_variant(name) for name in names] or None
    console = messages()
    with console.status("measuring; the kernels are compiled first...") as status:
        lines = measure(chosen, peers=peers, seconds=seconds, say=status.update)
    if as_json:
        _emit({"results": lines})
    else:
        _print(bench_table(lines))
    return DONE


# -------------------------------------------------------------------------------------------- play and doctor


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

    game = _variant(variant)
    if money and length is not None:
        raise BadOption(f"--money and --match {length}: give one of them")
    if save is not None:
        held(game)
    table = play_game(game, bot, seed, int(seat), as_json, Stakes(0 if money else length))
    if save is not None:
        write_file(save, match_text(table.record()).encode())
    if as_json:
        _emit(table.report())
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

    variant = _variant(game)
    check_playable(variant, "gnubg", own_plays=True)
    player = load_bot(variant, bot)
    counted = serve(player, address, lambda said: click.echo(said, err=True), connections)
    if as_json:
        _emit({"bot": bot, "variant": game, **counted})
    return DONE


@command("nardy export pretrained --game backgammon --out backgammon.onnx")
@click.argument("policy", metavar="POLICY")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The ONNX file to write.")
@click.option("--game", metavar="VARIANT", help="The game, by default the policy's own; needed for pretrained.")
def export(policy: str, out: Path, game: str | None, as_json: bool) -> int:
    """Write a policy as an ONNX file.

    POLICY is a policy file, a run folder, or pretrained. The file has a test vector, checked with onnxruntime.
    """
    from nardy_rl.agents import load_bot
    from nardy_rl.agents.onnx_file import export_onnx
    from nardy_rl.agents.policy import load_policy

    if game is None and policy == "pretrained":
        raise BadOption("pretrained names a policy for every game: say which, as in  --game backgammon")
    written = export_onnx(load_policy(policy) if game is None else load_bot(_variant(game), policy), out)
    if as_json:
        _emit(written)
    else:
        _print(f"{written['file']}: {written['bytes']:,} bytes, {written['variant']}")
        _print(f"onnxruntime's outputs differ from ours by {written['largest_difference']:.1e} at most")
    return DONE


@command("nardy doctor")
def doctor(as_json: bool) -> int:
    """Look over the installation.

    Versions, optional parts, kernels, policies, a game of every variant.
    """
    from nardy_rl.experiments.doctor import examine
    from nardy_rl.experiments.screen import getting_ready, messages, table

    with getting_ready(messages()):
        checks = examine()
    ok = all(check["ok"] or not check["needed"] for check in checks)
    if as_json:
        _emit({"ok": ok, "checks": checks})
    else:
        marks = {(True, True): "ok", (True, False): "ok", (False, True): "FAILED", (False, False): "missing"}
        _print(table(["", "what", ""], [(marks[c["ok"], c["needed"]], c["name"], c["detail"]) for c in checks]))
        _print("\nEverything needed works." if ok else "\nSomething needed does not work: see FAILED above.")
    return DONE if ok else NO


# ------------------------------------------------------------------------------------------------------- main


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status; nothing a user gets wrong ends in a traceback."""
    try:
        status = cli.main(args=None if arguments is None else list(arguments), prog_name="nardy", standalone_mode=False)
    except click.exceptions.Abort:
        return _say("interrupted", INTERRUPTED)
    except click.ClickException as error:
        return _say(_sentence(error), BAD_INPUT)
    except NardyError as error:
        return _say(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output, `head` say, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except RuntimeError as error:  # the compiler, interrupted, complains of what it could not finish
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise
        return _say("interrupted", INTERRUPTED)
    except OSError as error:
        if error.filename is None:
            raise
        return _say(f"cannot use {str(error.filename)!r}: {error.strerror}", BAD_INPUT)
    return status if isinstance(status, int) else DONE


def _sentence(error: click.ClickException) -> str:
    """Click's complaint as one sentence with a remedy."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    command = ctx.command_path if ctx else "nardy"
    hint = ""
    if isinstance(error, click.NoSuchOption):
        hint = did_you_mean(error.option_name, [o for p in ctx.command.params for o in p.opts] if ctx else [])
        text = f"unknown option {error.option_name} of {command}"
    else:
        text = " ".join(error.format_message().split()).rstrip(".")
        text = text[:1].lower() + text[1:]
    return text + (hint or ("" if ";" in text else f"; see  {command} --help"))


def _say(sentence: str, status: int) -> int:
    click.echo(f"nardy: {sentence}", err=True)
    return status


def main() -> None:
    """The console script."""
    sys.exit(run())


if __name__ == "__main__":
    main()
