"""What the commands of `nardy` share: the group, kinds of options, how they print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from nardy_rl.errors import did_you_mean

F = TypeVar("F", bound=Callable[..., Any])


DONE, NO, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class OneExample(click.Command):
    """A command whose help ends with an example that can be pasted."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Example"):
            formatter.write(f"{'':>{formatter.current_indent}}{self.example}\n")


class Suggesting(click.Group):
    """A group that names the nearest command when one does not exist, and lists commands as they are registered."""

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
        names = param.opts if param is not None else ["the number"]
        option = next((name for name in names if name.startswith("--")), names[-1])  # not another name for it
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


def variant_of(text: str) -> Any:
    """The game that a word of the command line names."""
    from nardy_rl.variants import parse_variant

    return parse_variant(text)


def emit(data: dict[str, Any]) -> None:
    """Print one JSON object."""
    from nardy_rl.experiments.screen import emit_json

    emit_json(data)


def show(*things: Any, sep: str = " ") -> None:
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
    gnubg, opensage, exact, or module:Class, with a depth where it has one: pretrained@1ply.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
