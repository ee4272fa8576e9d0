"""The pages of the games and of the readings are made from the data, are up to date, and lead where they say."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from nardy_rl.experiments.sources import all_readings
from nardy_rl.options import options_of
from nardy_rl.variants import VARIANTS, parse_variant

ROOT = Path(__file__).resolve().parent.parent
GAMES = ROOT / "docs" / "games"
READINGS = (ROOT / "docs" / "readings.md").read_text(encoding="utf-8")


def tool(name: str) -> ModuleType:
    """A script of the tools folder as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_up_to_date(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["game_pages.py", "--check"])
    assert tool("game_pages").main() == 0, capsys.readouterr().out
    assert {path.name for path in GAMES.glob("*.md")} == {"README.md", *(f"{game}.md" for game in VARIANTS)}


@pytest.mark.parametrize("game", VARIANTS)
def test_a_page_has_names_rules_options_and_sources(game: str) -> None:
    page, variant = (GAMES / f"{game}.md").read_text(encoding="utf-8"), VARIANTS[game]
    assert f"\n# {variant.name}\n" in page and variant.native in page and "```text\n O    13 14" in page
    for option in options_of(variant):
        assert f"\n| `{option}`" in page
    for title in ("The board and the goal", "The start", "Bearing off", "The end and the score", "Options", "Sources"):
        assert f"\n## {title}\n" in page


@pytest.mark.parametrize("path", [*sorted(GAMES.glob("*.md")), ROOT / "docs" / "readings.md"], ids=lambda p: p.name)
def test_a_link_of_a_page_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).is_file(), f"{path.name} links to {target}"


def test_every_mark_of_the_rules_page_has_its_reading_on_the_page_of_readings() -> None:
    """tests/test_rules_text.py holds that each ⚑ of docs/rules.md is explained by exactly one reading."""
    rules = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    marks, about_the_mark = rules.count("⚑"), 2
    assert f"{marks - about_the_mark} marks, {len(all_readings())} readings" in READINGS
    assert READINGS.count("\n### ") == len(all_readings())
    for reading in all_readings():
        entry = next(e for e in READINGS.split("\n### ") if reading.silent in e)
        assert reading.chosen in entry and reading.otherwise in entry
        played = re.findall(r"`([a-z0-9-]+:[a-z_]+=[\w-]+)`", entry)
        assert len(played) == len(reading.other)
        for text in played:
            assert parse_variant(text) != VARIANTS[text.partition(":")[0]]


def test_the_figures_say_how_they_were_made_and_are_whole() -> None:
    data = json.loads((GAMES / "figures.json").read_text(encoding="utf-8"))
    assert data["date"] and data["version"] and data["machine"]
    assert list(data["games"]) == list(VARIANTS)
    for game, told in data["games"].items():
        assert told["variant"] == game and [bot["bot"] for bot in told["bots"]][0] == "random"
        for bot in told["bots"]:
            assert sum(kind["games"] for kind in bot["results"]) + bot["unfinished"] == bot["games"]
