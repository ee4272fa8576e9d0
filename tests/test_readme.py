"""The README and the documentation say what is: tables, commands, code and links are tried."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import click
import pytest

from nardy_rl.envs import env_id
from nardy_rl.experiments.cli import cli
from nardy_rl.variants import VARIANTS, read_variant

ROOT = Path(__file__).resolve().parent.parent
NEEDS = {
    "environments-openspiel.md": ("pyspiel",),
    "environments-pettingzoo.md": ("pettingzoo",),
    "rendering.md": ("PIL",),
}
"""Packages of the extras without which a page's code does not run."""

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def nardy_lines() -> list[str]:
    """Every command line in the pages that begins with `nardy`, also after &&."""
    lines = [line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return sorted({part for part in parts if part.startswith("nardy ")})


def parse(line: str) -> None:
    """Let the command line's own parser read a line; raises what it raises for bad input."""
    name, *words = shlex.split(line, comments=True)[1:]
    command = cli.commands[name]
    command.make_context(name, words, parent=click.Context(cli, info_name="nardy"))


def tables() -> ModuleType:
    """The script that writes the tables of the documentation."""
    spec = importlib.util.spec_from_file_location("tables", ROOT / "tools" / "tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_made_from_code_are_up_to_date() -> None:
    script = tables()
    for file in script.TABLES:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert script.with_tables(file, text) == text, f"{file}: run  python tools/tables.py"
    readme, environments = ((ROOT / file).read_text(encoding="utf-8") for file in ("README.md", "docs/environments.md"))
    for name in VARIANTS:
        assert f"| [`{name}`](docs/games/{name}.md) |" in readme and f"| `{env_id(name)}` |" in environments


def test_the_readme_begins_with_two_command_lines() -> None:
    first, second = blocks(ROOT / "README.md", "sh")[:2]
    assert len(first.splitlines()) == len(second.splitlines()) == 1
    assert first.endswith(" && nardy train backgammon --minutes 5\n")
    assert second.endswith(" && pytest -n 2 --dist loadfile\n")
    assert "-c constraints.txt" in first and "-c constraints.txt" in second


@pytest.mark.parametrize("line", nardy_lines())
def test_a_command_line_in_the_documentation_is_understood(line: str) -> None:
    parse(line)


@pytest.mark.parametrize(
    ("page", "code"),
    [
        pytest.param(page, code, id=f"{page.name}-{i}")
        for page in PAGES
        for i, code in enumerate(blocks(page, "python"))
    ],
)
def test_the_python_code_in_the_documentation_runs(page: Path, code: str) -> None:
    for package in NEEDS.get(page.name, ()):
        pytest.importorskip(package, reason=f"the code of {page.name} needs an extra")
    exec(compile(code, page.name, "exec"), {})


def test_the_variant_file_in_the_documentation_defines_a_game(tmp_path: Path) -> None:
    (code,) = blocks(ROOT / "docs" / "variants.md", "toml")
    file = tmp_path / "short-nardy.toml"
    file.write_text(code, encoding="utf-8")
    game = read_variant(file)
    assert (game.id, game.checkers, game.pairs, game.koks) == ("short-nardy", 7, (), True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).is_file(), f"{page.name} links to {target}"
