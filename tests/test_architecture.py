"""The design holds: imports point one way, heavy packages stay where they belong, no code knows a game by name."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nardy_rl.options import OPTIONS
from nardy_rl.variants import VARIANTS

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("nardy_rl", "envs", "agents", "experiments")  # each may import from those before it
MODULES = [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}

STANDARD = set(sys.stdlib_module_names)
CORE = {"numpy", "numba", "llvmlite"}
OUTSIDE = {"gnubg_nn", "pyspiel", "open_spiel", "bgsage", "bgbot_cpp", "pgx", "jax"}
MAY_IMPORT = {
    "nardy_rl": CORE,
    "envs": CORE | {"gymnasium", "pettingzoo", "pyspiel", "open_spiel", "PIL"},
    "agents": CORE | {"safetensors", "torch", "onnx", "onnxruntime"} | OUTSIDE,
    "experiments": CORE | {"click", "rich", "tensorboard", "torch", "safetensors", "matplotlib"} | OUTSIDE,
}
ONLY_WHERE_GRADIENTS_ARE = {"torch_net.py", "own_net.py", "own_trainer.py"}

# Words of the table that are also values of a switch (a kind of block, a family, a score) say nothing of a game.
SWITCH_WORDS = {str(value) for option in OPTIONS.values() for value in option.values} | {
    value for variant in VARIANTS.values() for value in (variant.family, variant.score)
}
GAMES = set(VARIANTS) - SWITCH_WORDS


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def imports(tree: ast.AST) -> Iterator[str]:
    """Full names of everything a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def at_load(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported; those for the type checker do not."""
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    layer = layer_of(path)
    later = LAYERS[LAYERS.index(layer) + 1 :]
    for name in imports(TREES[path]):
        top, _, rest = name.partition(".")
        if top == "nardy_rl":
            assert rest.partition(".")[0] not in later, f"{name_of(path)} imports {name}"
        else:
            assert top not in LAYERS, f"{name_of(path)} imports {name} under its bare name"
            assert top in STANDARD | MAY_IMPORT[layer], f"{name_of(path)} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_torch_is_imported_only_where_gradients_are_computed_and_pickle_nowhere(path: Path) -> None:
    found = {name.partition(".")[0] for name in imports(TREES[path])}
    assert "torch" not in found or path.name in ONLY_WHERE_GRADIENTS_ARE
    assert not found & {"pickle", "cloudpickle", "shelve", "marshal"}
    assert "allow_pickle=True" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("cli*.py")), ids=name_of)
def test_the_command_line_imports_nothing_heavy_when_it_is_loaded(path: Path) -> None:
    names = {name for node in at_load(TREES[path]) for name in imports(node)}
    allowed = ("click", "nardy_rl.errors", "nardy_rl.experiments.cli_")
    others = {name for name in names if name.partition(".")[0] not in STANDARD and not name.startswith(allowed)}
    assert not others - {"nardy_rl.experiments"}


def test_rules_bots_and_duels_do_not_load_torch() -> None:
    code = (
        "import sys; import nardy_rl.position, nardy_rl.batch, nardy_rl.cases, nardy_rl.perft; "
        "import nardy_rl.agents.policy, nardy_rl.agents.heuristic, nardy_rl.agents.td; "
        "import nardy_rl.experiments.duel, nardy_rl.experiments.training, nardy_rl.experiments.bench; "
        "print(sorted({'torch', 'tensorboard', 'gymnasium'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def kernels(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """The compiled functions of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if {ast.unparse(d) for d in node.decorator_list} & {"kernel", "inner", "inlined"}:
                yield node


def test_there_are_kernels_to_look_at() -> None:
    assert sum(1 for tree in TREES.values() for _ in kernels(tree)) > 50


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_kernel_names_a_game(path: Path) -> None:
    words = "|".join(re.escape(game.replace("-", "_")) for game in sorted(GAMES))
    for function in kernels(TREES[path]):
        if ast.get_docstring(function):
            function.body = function.body[1:] or [ast.Pass()]
        named = re.search(rf"(?<![a-z])({words})(?![a-z])", ast.unparse(function).lower())
        assert named is None, f"{name_of(path)}: {function.name} names {named and named[0]!r}"


@pytest.mark.parametrize("path", [p for p in MODULES if p.name != "variants.py"], ids=name_of)
def test_no_branch_asks_which_game_it_is(path: Path) -> None:
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Compare):
            texts = {c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
            assert not texts & GAMES, f"{name_of(path)}:{node.lineno}: {ast.unparse(node)}"
            sides = [node.left, *node.comparators]
            ids = [s for s in sides if isinstance(s, ast.Attribute) and s.attr == "id"]
            in_table = isinstance(node.ops[0], ast.In | ast.NotIn) and "VARIANTS" in ast.unparse(node)
            assert not ids or in_table, f"{name_of(path)}:{node.lineno}: {ast.unparse(node)}"


def test_no_file_names_a_machine_or_holds_a_stray_path() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a checkout")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".txt", ".cff") and path.is_file():
            text = path.read_text(encoding="utf-8")
            found = re.search(r"(?<![\w.])/(?:work|root|home)/\w+", text)
            assert found is None, f"{name} names {found and found[0]}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_kernels_import_from_modules_by_their_full_names(path: Path) -> None:
    """The compiler's cache reads off these lines what a kernel is made of (nardy_rl/jit.py)."""
    packages = {"nardy_rl", "nardy_rl.envs", "nardy_rl.agents", "nardy_rl.experiments"}
    if {"nardy_rl.jit.kernel", "nardy_rl.jit.inner", "nardy_rl.jit.inlined"} & set(imports(TREES[path])):
        for node in ast.walk(TREES[path]):
            assert not (isinstance(node, ast.ImportFrom) and node.module in packages), name_of(path)
