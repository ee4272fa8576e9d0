"""Chains of commands, and the cards of policies: what is kept, what is told, and that the shipped ones are whole."""

import importlib.util
import json
import shlex
import shutil
import time
from pathlib import Path

import click
import numpy as np
import pytest

from nardy_rl.agents.policy import TEST_TOLERANCE, Policy, pretrained_path, read_tensors, write_tensors
from nardy_rl.errors import BadPolicy, BadRun
from nardy_rl.experiments.card import card_of, load
from nardy_rl.experiments.cli import cli, run
from nardy_rl.experiments.config import NOT_LEARNED, config_from
from nardy_rl.experiments.lineage import ABSENT, SOLVE, Step, joined, known_before, lineage_of
from nardy_rl.experiments.runs import CONFIG, new_folder, save_labels
from nardy_rl.experiments.trainer import Trainer
from nardy_rl.variants import VARIANTS

ROOT = Path(__file__).resolve().parent.parent
PATHS = {name: pretrained_path(variant) for name, variant in VARIANTS.items()}
SHIPPED = [name for name, path in PATHS.items() if path is not None and path.stem == name]
SMALL = {"hidden": 8, "hidden2": 0, "inputs": "plain", "threads": 1}
MOST_MB = 40  # of all policies together in the wheel


def tool(name):
    """A script of the tools folder as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(out, game="hyper", **settings):
    """The folder of a run that has played no game, with labelled positions, as a run leaves it."""
    config = config_from(None, [], variant=game, games=16, out=str(out), **SMALL | settings)
    trainer = Trainer(config, Path())
    past = known_before(config)
    trainer.before = past.as_dict() if past else None
    trainer.folder = new_folder(config, trainer.before)
    trainer.save()
    labels = np.zeros((4, 16), np.uint32), np.zeros((4, len(trainer.outputs.points)), np.float32)
    save_labels(trainer.folder, 1, labels, trainer.digest)
    return trainer.folder


def config_of(command):
    """The settings that the command line's own parser reads in a command of a chain."""
    nardy, train, *words = shlex.split(command)
    assert (nardy, train) == ("nardy", "train")
    given = cli.commands["train"].make_context("train", words, parent=click.Context(cli, info_name="nardy")).params
    assert not given["settings"] and not given["resume"] and not given["config"] and not given["as_json"]
    named = {key: given[key] for key in ("variant", "minutes", "games", "seed", "threads", "out", "init")}
    return config_from(
        None, given["sets"], **{k: str(v) if k == "out" else v for k, v in named.items() if v is not None}
    )


def solve_words(command):
    """What the command line's own parser reads in a command that writes exact labels."""
    nardy, solve, *words = shlex.split(command)
    assert (nardy, solve) == ("nardy", "solve")
    given = cli.commands["solve"].make_context("solve", words, parent=click.Context(cli, info_name="nardy")).params
    return {key: given[key] for key in ("variant", "labels", "positions", "explore", "seed")}


def first_games(command):
    """The words of a command of a chain with a few games in place of its own budget, and labels after some of them."""
    words = shlex.split(command)[1:]
    if words[0] == SOLVE:
        words[words.index("--positions") + 1] = "2000"
        return words
    for budget in ("--minutes", "--games"):
        if budget in words:
            del words[words.index(budget) : words.index(budget) + 2]
    few = ("round=8", "label_round=8", "td_games=0", "gate_games=0", "strength_minutes=0", "final_games=0")
    return [*words, "--games", "48", *(word for setting in few for word in ("--set", setting))]


def learned(settings):
    return {key: value for key, value in settings.items() if key not in NOT_LEARNED}


# ---------------------------------------------------------------------------------------------- chains


def test_a_command_gives_the_settings_back():
    sets = ["hidden=80", "td_share=0.05", "average=400", "clock=cpu", "step_size=0.00071", "nets=kinds"]
    for given in (
        dict(variant="backgammon", games=12_345_678),
        dict(variant="plakoto:bearoff=exact", minutes=127.25, games=3, seed=0),
        dict(variant="short@classic:start=24:7,pairs=none", minutes=0.5),
    ):
        config = config_from(None, sets if given["variant"] == "backgammon" else sets[:-1], **given)
        command = Step(vars(config), "runs/x").command
        assert command.endswith(" --out runs/x")
        assert learned(vars(config_of(command))) == learned(vars(config))


def test_a_chain_has_what_a_run_began_with_in_order_and_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = made("some/a"), made(tmp_path / "b", seed=2)
    third = made("c", init=str(first), labels=f"{first},{second}", seed=3)
    fourth = made("d", init=str(third / "policy.safetensors"), labels=str(second))
    chain = [step.command for step in lineage_of(fourth).steps]
    assert [step.out for step in lineage_of(fourth).steps] == ["runs/a", "runs/b", "runs/c", "runs/d"]
    assert chain[0].startswith("nardy train hyper --seed 1 --games 16 ") and "--init" not in chain[0]
    assert "--init runs/a" in chain[2] and "labels=runs/a,runs/b" in chain[2]
    assert "--init runs/c" in chain[3] and "labels=runs/b" in chain[3]
    assert str(tmp_path) not in " ".join(chain)
    kept, read = Policy.load(third).header["settings"], learned(vars(config_of(chain[2])))
    assert read == learned(kept) | {"init": "runs/a", "labels": "runs/a,runs/b"}
    for folder in (first, second, third):
        shutil.rmtree(folder)
    assert [step.command for step in lineage_of(fourth).steps] == chain, "it is kept in the run's folder"
    shutil.copy(fourth / "policy.safetensors", tmp_path / "d.safetensors")
    assert [step.command for step in lineage_of(tmp_path / "d.safetensors").steps] == chain, "and in its policy"


def test_the_chain_of_a_run_that_did_not_keep_it_is_found_by_its_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made("a")
    folder = made("more/b", init="a", labels="a")
    chain = lineage_of(folder).steps
    data = json.loads((folder / CONFIG).read_text())
    assert data.pop("before")["init"] == "runs/a"
    (folder / CONFIG).write_text(json.dumps(data))
    monkeypatch.chdir("/")
    assert lineage_of(tmp_path / folder).steps == chain, "wherever one stands"
    assert len(chain) == 2
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(BadPolicy, match="there is no policy file"):
        lineage_of(tmp_path / folder)


def test_a_run_from_before_a_setting_does_without_it(tmp_path):
    folder = made(tmp_path / "a")
    data = json.loads((folder / CONFIG).read_text())
    for name in ("generation", "final_hidden", "td_games"):
        del data["config"][name]
    (folder / CONFIG).write_text(json.dumps(data))
    (step,) = lineage_of(folder).steps
    kept = step.as_dict() | {"settings": {k: v for k, v in step.settings.items() if k not in ABSENT}}
    assert Step.read(kept) == step, "in the header of a policy, too"
    read = config_of(step.command)
    assert read.generation == read.final_hidden == read.td_games == 0 < config_from(None, [], games=1).td_games


def test_folders_of_one_name_get_two_in_a_chain(tmp_path):
    one, other = made(tmp_path / "x" / "run"), made(tmp_path / "y" / "run", seed=2)
    third = made(tmp_path / "run", labels=f"{one},{other}", init=str(other))
    steps = lineage_of(third).steps
    assert [step.out for step in steps] == ["runs/run", "runs/run-2", "runs/run-3"]
    assert "--seed 2" in steps[0].command and "--init runs/run " in steps[2].command
    assert "labels=runs/run-2,runs/run" in steps[2].command


def test_renamed_folders_are_renamed_wherever_they_stand():
    def step(seed, out, *labels, init=""):
        return Step({"variant": "hyper", "seed": seed, "minutes": 1, "games": 0}, out, init, labels)

    base = [step(1, "runs/a"), step(1, "runs/b", init="runs/a")]
    other = [step(2, "runs/a"), step(2, "runs/ab", "runs/a", init="runs/a")]
    steps, last = joined([base, other])
    assert [one.command for one in steps[2:]] == [
        "nardy train hyper --seed 2 --minutes 1 --out runs/a-2",
        "nardy train hyper --seed 2 --minutes 1 --init runs/a-2 --set labels=runs/a-2 --out runs/ab",
    ]
    assert last == ("runs/b", "runs/ab")
    assert joined([base, base]) == (tuple(base), ("runs/b", "runs/b"))
    assert joined([steps, other]) == (steps, ("runs/ab", "runs/ab"))
    whole = steps[3]._replace(settings=ABSENT | steps[3].settings)
    assert Step.read(json.loads(json.dumps(steps[3].as_dict()))) == whole


def test_a_run_that_begins_with_a_games_policy_has_that_policys_chain(tmp_path):
    shipped = Policy.load(pretrained_path(VARIANTS["backgammon"]))
    folder = made(tmp_path / "nack", "nackgammon", init="backgammon", inputs=shipped.kind)
    policy = Policy.load(folder)
    np.testing.assert_array_equal(policy.net.w1, shipped.net.w1)
    line = lineage_of(folder)
    assert line.began == {"game": "backgammon", "digest": shipped.digest}
    own = lineage_of(pretrained_path(VARIANTS["backgammon"])).steps
    assert line.steps[:-1] == own and f"--init {own[-1].out} " in line.steps[-1].command
    again = made(tmp_path / "more", "nackgammon", init=str(folder), inputs=shipped.kind)
    assert lineage_of(again).began == line.began
    assert lineage_of(made(tmp_path / "bg", "backgammon", init="pretrained", inputs=shipped.kind)).began == line.began


def test_a_game_without_a_policy_cannot_be_begun_with(monkeypatch):
    monkeypatch.setattr("nardy_rl.experiments.lineage.pretrained_path", lambda variant: None)
    for init, game in (("pretrained", "hyper"), ("classic", "classic")):
        with pytest.raises(BadRun, match=f"--init {init}: no policy comes with {game}"):
            Trainer(config_from(None, [], variant="hyper", games=1, init=init), Path())


def test_a_run_whose_past_is_lost_goes_on_all_the_same(tmp_path):
    first = made(tmp_path / "a")
    (first / CONFIG).write_text("{}")
    assert known_before(config_from(None, [], variant="hyper", games=1, labels=str(first))) is None
    unknown = tmp_path / "unknown.safetensors"
    policy = Policy.load(first)
    policy.header = {}
    policy.save(unknown)
    assert known_before(config_from(None, [], variant="hyper", games=1, init=str(unknown))) is None
    with pytest.raises(BadRun, match="does not say how the policy was trained"):
        lineage_of(unknown)


# ---------------------------------------------------------------------------------------------- cards


def test_the_card_tells_what_the_policy_is(tmp_path, capsys):
    folder = made(tmp_path / "a")
    assert run(["card", str(folder), "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    policy = Policy.load(folder)
    assert card["digest"] == policy.digest and card["variant"] == "hyper" and card["hidden"] == [8, 0]
    assert card["test"] == {"states": 8, "largest_difference": card["test"]["largest_difference"], "holds": True}
    assert card["weights"] == sum(w.size for w in read_tensors(folder / "policy.safetensors")[0].values())
    assert [step["command"] for step in card["chain"]] == [step.command for step in lineage_of(folder).steps]
    assert card["strength"] == [] and card["began"] is None
    assert run(["card", "backgammon"]) == 0
    text = capsys.readouterr().out
    assert "holds: 8 states" in text and "\nnardy train backgammon " in text and "heuristic" in text


def test_a_test_vector_that_does_not_hold_is_told(tmp_path, capsys):
    folder = made(tmp_path / "a")
    file = folder / "policy.safetensors"
    tensors, header = read_tensors(file)
    header["test"]["outputs"][3][0] += 2e-5
    write_tensors(file, tensors, header)
    assert run(["card", str(file)]) == 1
    assert "DOES NOT HOLD: 8 states, differs by 2.0e-05" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"), [("nowhere", "there is no policy file"), ("classik:block=sport", "unknown variant 'classik'")]
)
def test_what_has_no_card_is_refused(name, said, capsys):
    assert run(["card", name]) == 2
    assert said in capsys.readouterr().err


def test_shipping_a_run_writes_its_card(tmp_path, monkeypatch, capsys):
    script = tool("ship_policy")
    monkeypatch.setattr(script, "WEIGHTS", tmp_path / "weights")
    first = made(tmp_path / "a")
    folder = made(tmp_path / "b", init=str(first), labels=str(first))
    monkeypatch.setattr("sys.argv", ["ship_policy.py", str(folder), "--against", "random", "pips=6", "--games", "8"])
    assert script.main() == 0
    policy = Policy.load(tmp_path / "weights" / "hyper.safetensors")
    header = policy.header
    assert str(tmp_path) not in json.dumps(header)
    assert [Step.read(step) for step in header["chain"]] == list(lineage_of(folder).steps)
    assert header["settings"]["init"] == header["settings"]["labels"] == "runs/a" and "before" not in header
    assert [(one["against"], one["games"]) for one in header["strength"]] == [("random", 8), ("pips", 6)]
    for one in header["strength"]:
        name, *words = shlex.split(one["command"])[1:]
        given = cli.commands[name].make_context(name, words, parent=click.Context(cli, info_name="nardy")).params
        assert (given["bot_a"], given["bot_b"], given["games"]) == ("pretrained", one["against"], one["games"])
    card = card_of(policy)
    assert card["test"]["holds"] and len(card["chain"]) == 2 and card["trained"]["cores"] >= 1


def test_a_shipped_policy_can_be_measured_anew_and_stays_the_same(tmp_path, monkeypatch, capsys):
    script = tool("ship_policy")
    monkeypatch.setattr(script, "WEIGHTS", tmp_path)
    shutil.copy(pretrained_path(VARIANTS["plakoto"]), tmp_path)
    words = ["ship_policy.py", "plakoto", "--against", "random", "gnubg", "--games", "4"]
    monkeypatch.setattr("sys.argv", words)
    assert script.main() == 0
    assert "left out" in capsys.readouterr().out
    before, after = load("plakoto"), Policy.load(tmp_path / "plakoto.safetensors")
    assert before.digest == after.digest and before.header["chain"] == after.header["chain"]
    games = {one["against"]: one["games"] for one in after.header["strength"]}
    kept = {one["against"]: one["games"] for one in before.header["strength"]}
    assert games == kept | {"random": 4} != kept  # what was measured against others is kept
    monkeypatch.setattr("sys.argv", [*words, "--in", "plakoto:bearoff=exact"])
    assert script.main() == 0
    strength = Policy.load(tmp_path / "plakoto.safetensors").header["strength"]
    assert [one["variant"] for one in strength] == ["plakoto"] * len(games) + ["plakoto:bearoff=exact"]


# ---------------------------------------------------------------------------------------------- what is shipped


def test_a_policy_comes_with_every_game():
    assert all(PATHS.values())


def test_every_policy_is_that_of_its_game_and_is_told_of_all_that_share_it():
    assert {path.name for path in PATHS["backgammon"].parent.glob("*")} == {f"{name}.safetensors" for name in SHIPPED}
    serves = {game: name for name in SHIPPED for game in card_of(load(name))["serves"]}
    assert serves == {game: path.stem for game, path in PATHS.items() if path}


def test_the_page_of_policies_is_up_to_date(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["policy_tables.py", "--check"])
    assert tool("policy_tables").main() == 0, capsys.readouterr().out


def test_the_policies_together_are_small():
    assert sum(pretrained_path(VARIANTS[name]).stat().st_size for name in SHIPPED) < MOST_MB * 1e6


@pytest.mark.parametrize("game", SHIPPED)
def test_a_shipped_policy_has_a_whole_card_and_its_test_vector_holds(game):
    policy = load(game)
    card = card_of(policy)
    assert card["test"]["holds"] and card["test"]["largest_difference"] <= TEST_TOLERANCE
    assert card["variant"] == game and card["games"] > 0 and card["minutes"] > 0
    assert card["strength"] and card["measured"] and card["trained"]["commit"]
    assert not [word for word in json.dumps(policy.header).replace('"', " ").split() if word.startswith("/")]


@pytest.mark.parametrize("game", SHIPPED)
def test_every_command_of_a_shipped_chain_is_one_of_ours(game):
    folders = set()
    for step in lineage_of(pretrained_path(VARIANTS[game])).steps:
        if step.program == SOLVE:
            assert solve_words(step.command) == step.settings | {"labels": Path(step.out)}
            folders.add(step.out)
            continue
        config = config_of(step.command)
        assert {key: value for key, value in vars(config).items() if key in step.settings} == step.settings
        assert {name for name in (config.init, *config.labels.split(",")) if name} <= folders
        folders.add(config.out)
    assert config.variant == game


@pytest.mark.parametrize("game", SHIPPED)
def test_a_shipped_policy_loads_in_less_than_half_a_second(game):
    load(game)
    taken = []
    for _ in range(3):
        begun = time.process_time()
        load(game)
        taken.append(time.process_time() - begun)
    assert min(taken) < 0.5


@pytest.mark.long
@pytest.mark.parametrize("game", SHIPPED)
def test_the_first_games_of_a_shipped_chain_are_played(game, tmp_path, monkeypatch, capsys):
    """Every command in order, with few games in place of its own budget, so that each finds what is before it."""
    monkeypatch.chdir(tmp_path)
    for step in lineage_of(pretrained_path(VARIANTS[game])).steps:
        assert run([*first_games(step.command), "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        if step.program == SOLVE:
            assert report["labelled"] == 2000
            continue
        assert report["stopped"] is None and report["games"] >= 48
        assert Policy.load(step.out).test_difference() <= TEST_TOLERANCE
