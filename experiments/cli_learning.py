"""Commands that train, draw what was learned, and measure speed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click

from nardy_rl.errors import BadOption, BadRun, did_you_mean
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

BENCHES = {"engine": "bench", "train": "bench_train", "env": "bench_env", "search": "bench_search"}


@command("nardy train backgammon --minutes 5")
@click.argument("variant", required=False)
@click.option("--minutes", type=TIME, help="Stop after this long; compilation is not counted.")
@click.option("--games", type=COUNT, help="Stop after this many games of self-play.")
@click.option("--seed", type=WHOLE, help="The same seed and one thread give the same policy, bit for bit.")
@click.option("--threads", type=COUNT, help="Threads that play; all cores by default.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="The run's folder; must not exist.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="A TOML file with settings.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="One setting; may be repeated.")
@click.option("--init", metavar="POLICY", help="Start from a policy: a file, a run folder, pretrained, a game's id.")
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
            emit({"settings": [{"name": n, "default": d, "help": h} for n, d, h in rows]})
        else:
            show(table(("setting", "default", "meaning"), [(n, str(d), h) for n, d, h in rows]))
        return DONE
    resume, config_file = given.pop("resume"), given.pop("config")
    chosen = {name: value for name, value in given.items() if value is not None}
    if resume is not None:
        if variant is not None or chosen or sets or config_file:
            raise BadRun(f"--resume {resume} goes on with that run as it was configured: give nothing else with it")
        config = None
    else:
        if variant is not None:
            variant_of(variant)
            chosen["variant"] = variant
        elif config_file is None:
            raise click.UsageError("train needs a VARIANT, as in  nardy train backgammon --minutes 5")
        config = training.config_from(config_file, sets, **chosen)
    report = training.train(config, resume=resume, console=messages() if as_json else result())
    if report["stopped"]:
        messages().print(f"stopped: {report['stopped']}; see the settings in {report['run']}/config.json")
    if as_json:
        emit(report)
        return NO if report["stopped"] else DONE
    if report["results"]:
        show(duel_table(report["results"]))
    speed = f"{report['games_per_s']:,.0f} games/s"
    show(f"\n{report['games']:,} games in {report['minutes']:.1f} minutes ({speed})")
    show(f"run     {report['run']}\npolicy  {report['policy']}")
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
        emit(written)
    else:
        show(f"report    {written['report']}")
        for file in written["pictures"]:
            show(f"picture   {file}")
    return DONE


def _bench_variants(names: tuple[str, ...], budget: tuple[float, str, int, int], out: Path, as_json: bool) -> int:
    """Train and measure games, all where none is named."""
    from nardy_rl.experiments.bench_variants import Budget, bench_variants, markdown
    from nardy_rl.experiments.screen import messages
    from nardy_rl.variants import VARIANTS

    chosen = [variant_of(name) for name in names if name != "all"] or list(VARIANTS.values())
    console = messages()
    data = bench_variants(chosen, Budget(*budget), out, console.print, console)
    if as_json:
        emit(data)
    else:
        show(markdown(data["results"]))
        for file in data["files"]:
            show(f"written   {file}")
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
    chosen = list(VARIANTS.values()) if "all" in names else [variant_of(name) for name in names] or None
    console = messages()
    with console.status("measuring; the kernels are compiled first...") as status:
        lines = measure(chosen, peers=peers, seconds=seconds, say=status.update)
    if as_json:
        emit({"results": lines})
    else:
        show(bench_table(lines))
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
    written = export_onnx(load_policy(policy) if game is None else load_bot(variant_of(game), policy), out)
    if as_json:
        emit(written)
    else:
        show(f"{written['file']}: {written['bytes']:,} bytes, {written['variant']}")
        show(f"onnxruntime's outputs differ from ours by {written['largest_difference']:.1e} at most")
    return DONE
