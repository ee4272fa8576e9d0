"""Every example runs, in small, and the page about them tells how."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))}
NEEDS = {
    "masked_ppo": "sb3_contrib",
    "open_spiel_mcts": "pyspiel",
    "two_bots_aec": "pettingzoo",
}


def load(name: str) -> ModuleType:
    """An example as a module; skips the test where a package that it needs is missing."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="an extra, see docs/examples.md")
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES[name])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name: str, arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    load(name).main(shlex.split(arguments))
    return capsys.readouterr().out


def test_a_random_agent_plays_and_shows_the_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("PIL")
    from PIL import Image

    picture = tmp_path / "board.png"
    out = run("random_agent", f"--env nardy_rl/Hyper-v0 --games 3 --picture {picture}", capsys)
    assert "3 random games" in out and "actions a game" in out
    with Image.open(picture) as image:
        assert image.size == (800, 600)
    assert run("random_agent", "--env nardy_rl/Hyper-v0 --games 3", capsys) == out[: out.index("the last board")]
    checker = run("random_agent", "--env nardy_rl/Hyper-v0 --games 2 --actions checker", capsys)
    assert "2 random games" in checker


def test_random_games_in_arrays_end_as_the_score_table_says(capsys: pytest.CaptureFixture[str]) -> None:
    out = run("vector_random", "--env nardy_rl/Khachapuri-v0 --num-envs 8 --steps 300", capsys)
    assert re.search(r"2,\d{3} decisions, \d+ games finished in 8 places", out)
    worth = {int(points) for points in re.findall(r"(\d+) in ", out.partition("points of the winner")[2])}
    assert worth and worth <= set(range(1, 16))


def test_td_learns_to_beat_a_random_player(capsys: pytest.CaptureFixture[str]) -> None:
    out = run("td_afterstates", "--games 900 --duel 300", capsys)
    shares = [float(share) for share in re.findall(r"([\d.]+)% won", out)]
    assert len(shares) == 4
    assert shares[-1] > 65  # five standard errors above one half, in a run that is the same each time


def test_two_bots_play_through_the_aec_interface(capsys: pytest.CaptureFixture[str]) -> None:
    out = run("two_bots_aec", "--variant hyper --a pips --b mask --games 6", capsys)
    assert re.search(r"pips won \d games and [+-]\d\.\d\d points a game", out)


def test_the_search_of_open_spiel_plays(capsys: pytest.CaptureFixture[str]) -> None:
    out = run("open_spiel_mcts", "--simulations 3 --games 2 --game nardy_hyper(max_plays=60)", capsys)
    assert "player 0 starts" in out or "player 1 starts" in out or "chance" in out
    assert re.search(r"MCTS won \d games", out)


def test_masked_ppo_learns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    curve = tmp_path / "curve.png"
    out = run("masked_ppo", f"--minutes 0.02 --games 20 --envs 4 --rollout 32 --every 128 --curve {curve}", capsys)
    assert re.search(r"seed 1, [\d,]+ decisions: [\d.]+% of 20 games won against random", out)
    assert out.count("decisions") >= 2 and curve.stat().st_size > 5000


def test_the_page_about_the_examples_names_them_all_and_their_options() -> None:
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(\.\./examples/(\w+)\.py\)", page)) == set(EXAMPLES)
    lines = re.findall(r"^python examples/(\w+)\.py(.*)$", page, re.M)
    assert {name for name, _ in lines} == set(EXAMPLES)
    for name, rest in lines:
        source = EXAMPLES[name].read_text(encoding="utf-8")
        for option in re.findall(r"--[\w-]+", rest):
            assert f'"{option}"' in source, f"{name} has no {option}"
