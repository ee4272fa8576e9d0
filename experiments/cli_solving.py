"""The command that solves small games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from nardy_rl.errors import BadOption
from nardy_rl.experiments.cli_base import COUNT, DONE, NO, WHOLE, Number, command, emit, show, variant_of

BOUND = 1e-6  # points by which a checked solution may miss the Bellman equation


@command("nardy solve hyper")
@click.argument("variant")
@click.option("--check", "checks", is_flag=True, help="Test every position by the rules; exit 1 if one is off.")
@click.option("--labels", type=click.Path(path_type=Path), metavar="FOLDER", help="Write labelled positions here.")
@click.option("--positions", type=COUNT, default=1_000_000, show_default=True, help="With --labels: how many.")
@click.option("--explore", type=Number(float), default=0.25, show_default=True, help="With --labels: random plays.")
@click.option("--seed", type=WHOLE, default=1, show_default=True, help="With --labels: of the games.")
@click.option("--threads", type=COUNT, help="With --check: threads; all cores by default.")
def solve(
    variant: str, checks: bool, labels: Path | None, positions: int, explore: float, seed: int, threads: int | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Solve a small game completely.

    The value of every position with best play on both sides, as a table in the user's cache folder, which the bot
    `exact` plays by. Made when it is missing; a run that was stopped goes on. Games of up to three checkers.
    """
    from nardy_rl.agents.exact_bot import ExactBot
    from nardy_rl.agents.solution import check, read_solution
    from nardy_rl.experiments.screen import getting_ready, messages, progress
    from nardy_rl.experiments.solving import check_labels, solution_facts, write_labels

    game = variant_of(variant)
    if explore > 1:
        raise BadOption(f"--explore {explore:g} must be from 0 to 1")
    if labels is not None:
        check_labels(game, labels)
    solution = read_solution(game)
    made = solution is None
    if solution is None:
        solution = _solve(game)
    with getting_ready(messages()):
        data = solution_facts(game, solution) | {"made": made}
    if checks:
        with progress(messages(), "numbers checked") as report:
            found = check(game, solution, threads, report)
        data |= {"largest": found.largest, "mean": found.mean, "passed": found.largest <= BOUND}
    if labels is not None:
        with progress(messages(), "positions labelled") as report:
            data |= write_labels(ExactBot(game, solution), labels, positions, seed, explore, report)
    passed = not checks or bool(data["passed"])
    if as_json:
        emit(data)
    else:
        for line in _lines(data):
            show(line)
    return DONE if passed else NO


def _solve(game: Any) -> Any:
    """Solve a game, and show how far it is: the sweep under way, and a line for each that is done."""
    from nardy_rl.agents.solution import solve
    from nardy_rl.experiments.screen import messages

    console = messages()
    with console.status("getting ready: listing all plays...") as status:

        def report(sweep: Any) -> None:
            said = f"sweep {sweep.number}: {sweep.done:.0%}, largest change {sweep.change:.1e} points"
            status.update(said)
            if sweep.done == 1:
                console.print(said)

        return solve(game, report)


def _lines(data: dict[str, Any]) -> list[str]:
    """What is printed of the keys of --json."""
    lines = [
        f"{data['variant']}: {data['positions']:,} positions that await a throw, of {data['pairs']:,} pairs",
        f"solved in {data['sweeps']} sweeps and {data['seconds']:,.0f} s; the last changed no value by more than "
        f"{data['change']:.0e} points",
    ]
    if data["start"] is not None:
        lines.append(f"the player who begins: {data['start']:+.6f} points a game with best play on both sides")
    if "largest" in data:
        verdict = "satisfied" if data["passed"] else "NOT satisfied"
        lines.append(
            f"Bellman equation {verdict} to {BOUND:.0e} points: largest residual {data['largest']:.1e}, mean "
            f"{data['mean']:.1e}"
        )
    if "labels" in data:
        lines.append(f"{data['labelled']:,} labelled positions in {data['labels']}")
    return [*lines, f"table: {data['file']}"]
