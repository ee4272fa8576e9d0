"""Training: runs go on after a kill as if nothing had happened, learn, and refuse bad settings with a sentence."""

import dataclasses
import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from nardy_rl.agents.net import hidden_of, new_net, output_names, outputs_of
from nardy_rl.agents.policy import KindsPolicy, Policy, read_tensors
from nardy_rl.batch import starts
from nardy_rl.encoding import encoding_of
from nardy_rl.errors import BadRun
from nardy_rl.experiments.cli import run as main
from nardy_rl.experiments.learned import copied
from nardy_rl.experiments.runs import load_checkpoint, new_folder
from nardy_rl.experiments.trainer import Trainer
from nardy_rl.experiments.training import TrainConfig, config_from, train
from nardy_rl.variants import parse_variant

SMALL = [
    "--threads",
    "1",
    "--set",
    "hidden=16",
    "--set",
    "hidden2=8",
    "--set",
    "final_games=0",
    "--set",
    "round=64",
    "--set",
    "generation=0",
]
CHECKED = [*SMALL, "--set", "checkpoint_seconds=0"]


def nardy(*words):
    return [sys.executable, "-m", "nardy_rl.experiments.cli", *words]


def tensors(folder):
    return read_tensors(folder / "checkpoint.safetensors")[0]


def test_a_killed_run_goes_on_and_gives_the_same_policy_bit_for_bit(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    begin = ["train", "classic", "--games", "1500", "--seed", "5", *CHECKED]
    assert main([*begin, "--out", str(whole), "--json"]) == 0
    run = subprocess.Popen(
        nardy(*begin, "--out", str(broken), "--json"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not (broken / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    games = read_tensors(broken / "checkpoint.safetensors")[1]["progress"]["games"]
    assert 0 < games < 1500
    assert main(["train", "--resume", str(broken), "--json"]) == 0
    ours, theirs = tensors(broken), tensors(whole)
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    history = [json.loads(line) for line in (broken / "history.jsonl").read_text().splitlines()]
    assert [line["games"] for line in history] == sorted(line["games"] for line in history)


GENERATIONS = [
    "--threads", "1", "--set", "hidden=16", "--set", "hidden2=8", "--set", "final_games=0", "--set", "round=64",
    "--set", "td_share=0.5", "--set", "td_games=0", "--set", "generation=3000", "--set", "window=5000",
    "--set", "label_round=8", "--set", "checkpoint_seconds=0", "--set", "strength_minutes=0", "--set", "gate_games=0",
    "--set", "refine_minibatch=8", "--set", "average=50",
]  # fmt: skip


def test_labels_begin_when_td_has_had_its_games_or_never(tmp_path):
    def trainer(games, minutes=0.0, **given):
        run = Trainer(TrainConfig(games=games, minutes=minutes, td_share=0.2, **given), tmp_path)
        run.progress.games, run.progress.seconds = 100, 3.0
        return run

    assert trainer(2000, td_games=300)._td_share == 0.2  # the share is more games than these
    assert trainer(1000, td_games=300)._td_share == pytest.approx(0.3)
    assert trainer(500, td_games=300)._td_share == 1
    assert trainer(500, td_games=0)._td_share == 0.2
    assert trainer(500, td_games=300, generation=0)._td_share == 1
    assert trainer(0, 0.5, td_games=300)._td_share == pytest.approx(0.3)  # 100 games in a tenth of the time
    assert trainer(0, 0.25, td_games=300)._td_share == 1


def test_inputs_are_those_of_the_first_policy_or_what_suits_the_game(tmp_path):
    plain, patterns = (config_from(None, (), variant="nackgammon", games=10, inputs=kind) for kind in ("plain", ""))
    trainer = Trainer(plain, tmp_path)
    trainer.policy().save(tmp_path / "policy.safetensors")
    assert (trainer.kind, Trainer(patterns, tmp_path).kind) == ("plain", "patterns")
    assert Trainer(config_from(None, (), variant="nackgammon", games=10, init=str(tmp_path)), tmp_path).kind == "plain"
    assert Trainer(config_from(None, (), variant="sport", games=10), tmp_path).kind == "plain"
    with pytest.raises(BadRun, match="has plain inputs, the run patterns: set inputs=plain"):
        Trainer(config_from(None, ["inputs=patterns"], variant="nackgammon", games=10, init=str(tmp_path)), tmp_path)


@pytest.mark.parametrize(("game", "relative"), [("nackgammon", "backgammon"), ("khachapuri", "classic")])
def test_a_run_starts_from_what_a_relative_knows(game, relative, tmp_path):
    first = Trainer(config_from(None, (), variant=relative, games=10, hidden=8), tmp_path)
    first.policy().save(tmp_path / "policy.safetensors")
    second = Trainer(config_from(None, (), variant=game, games=10, init=str(tmp_path)), tmp_path)
    states = starts(game, 40, seed=1)  # thrown: what is owed of it says nothing yet
    theirs, ours = (trainer.policy().outputs(states) for trainer in (first, second))
    names, known = output_names(second.variant), output_names(first.variant)
    np.testing.assert_allclose(ours[:, [names.index(name) for name in known]], theirs, atol=1e-6)
    assert (game == "nackgammon") == (names == known)


@pytest.mark.parametrize(("phase", "keep"), [("label", 3), ("fit", 0)])
def test_a_run_killed_among_its_generations_goes_on_bit_for_bit(phase, keep, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    begin = ["train", "backgammon", "--games", "500", "--seed", "5", *GENERATIONS, "--set", f"label_keep={keep}"]
    assert main([*begin, "--out", str(whole), "--json"]) == 0
    run = subprocess.Popen(
        nardy(*begin, "--out", str(broken), "--json"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    checkpoint, deadline = broken / "checkpoint.safetensors", time.monotonic() + 300
    while time.monotonic() < deadline and run.poll() is None:
        if checkpoint.exists() and read_tensors(checkpoint)[1]["progress"]["phase"] == phase:
            break
        time.sleep(0.002)
    run.send_signal(signal.SIGKILL)
    run.wait()
    progress = read_tensors(checkpoint)[1]["progress"]
    assert progress["phase"] in ("label", "fit") and progress["generation"] >= 1
    assert main(["train", "--resume", str(broken), "--json"]) == 0
    ours, theirs = tensors(broken), tensors(whole)
    for name in theirs:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    assert {p.name for p in (broken / "labels").iterdir()} == {p.name for p in (whole / "labels").iterdir()}


def test_a_run_starts_from_the_labels_of_another(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(["train", "backgammon", "--games", "200", *GENERATIONS, "--out", str(first), "--json"]) == 0
    words = ["--games", "50", *GENERATIONS, "--set", f"labels={first}", "--set", "hidden=20", "--out", str(second)]
    assert main(["train", "nackgammon", *words, "--json"]) == 0
    assert Policy.load(second).header["hidden"] == [20, 8]
    both = config_from(None, [*GENERATIONS[3::2], f"labels={first},{second}"], variant="backgammon", games=64)
    sizes = [
        sum(Trainer(dataclasses.replace(both, labels=str(f)), tmp_path).window.sizes.values()) for f in (first, second)
    ]
    assert len(Trainer(dataclasses.replace(both, window=10**6), tmp_path).window) == sum(sizes)
    with pytest.raises(BadRun, match=f"there are no labelled positions in the folder '{tmp_path}'"):
        train(
            config_from(None, [f"labels={first},{tmp_path}"], variant="backgammon", games=64, out=str(tmp_path / "x"))
        )
    with pytest.raises(BadRun, match="are of another game or release"):
        train(config_from(None, [f"labels={first}"], variant="classic", games=64, out=str(tmp_path / "y")))


def test_a_run_that_does_not_beat_random_is_stopped_and_says_so(tmp_path, capsys):
    folder = tmp_path / "run"
    words = ["--games", "128", *SMALL, "--set", "gate_games=64", "--set", "step_size=1000", "--out", str(folder)]
    assert main(["train", "backgammon", *words, "--json"]) == 1
    captured = capsys.readouterr()
    assert "a game against random" in json.loads(captured.out)["stopped"]
    assert "stopped: after 64 games the policy scores" in " ".join(captured.err.split())
    assert json.loads((folder / "results.json").read_text())["stopped"]


def test_an_interrupted_run_saves_and_says_how_to_go_on(tmp_path):
    folder = tmp_path / "run"
    words = ["train", "backgammon", "--minutes", "5", *SMALL, "--out", str(folder)]
    run = subprocess.Popen(nardy(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not list(folder.glob("events*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert f"nardy train --resume {folder}" in " ".join((out + err).split())
    assert Policy.load(folder).header["games"] > 0


def test_a_short_run_learns_and_leaves_everything_in_its_folder(tmp_path, capsys):
    folder = tmp_path / "run"
    words = [
        "train",
        "plakoto",
        "--games",
        "3000",
        "--seed",
        "2",
        "--set",
        "final_games=200",
        "--set",
        "td_share=0.95",
        "--out",
        str(folder),
    ]
    assert main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["games"] == 3000 and report["run"] == str(folder)
    against = {r["b"]: r for r in report["results"]}
    assert set(against) == {"random", "pips", "heuristic"}
    assert against["random"]["ppg"] > 0.5
    names = {p.name.partition(".tfevents")[0] for p in folder.iterdir()}
    wanted = {"config.json", "policy.safetensors", "checkpoint.safetensors", "history.jsonl", "results.json"}
    assert names >= wanted | {"events.out"}
    config = json.loads((folder / "config.json").read_text())
    assert config["config"]["seed"] == 2 and config["packages"]["numba"]


def test_minutes_of_cpu_time_do_not_pass_while_the_threads_wait(monkeypatch, tmp_path):
    trainer = Trainer(config_from(None, ["clock=cpu", "minutes=1", "threads=2"]), tmp_path)
    monkeypatch.setattr(trainer, "_td_round", lambda pool: time.sleep(0.3))
    trainer.round(None)
    assert trainer.progress.seconds < 0.1


def test_tensorboard_gets_every_group_of_curves(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    folder = tmp_path / "run"
    words = ["train", "backgammon", "--games", "512", *SMALL, "--set", "final_games=2", "--out", str(folder)]
    assert main([*words, "--json"]) == 0
    events = reader.EventAccumulator(str(folder))
    events.Reload()
    tags = events.Tags()
    groups = {tag.partition("/")[0] for tag in tags["scalars"] + tags["tensors"]}
    assert groups >= {"selfplay", "loss", "strength", "speed"}


def test_a_run_of_three_layers_goes_on_from_its_checkpoint(tmp_path):
    config = config_from(
        None, [*GENERATIONS[3::2], "hidden3=6"], variant="hyper", games=64, threads=1, out=str(tmp_path / "run")
    )
    train(config)
    nets, _, progress = load_checkpoint(tmp_path / "run")
    assert progress.games == 64 and hidden_of(nets["net"]) == (16, 8, 6)
    assert all(np.abs(w).max() > 0 for w in nets["m"])
    for ours, theirs in zip(nets["net"], Policy.load(tmp_path / "run").net, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    trainer = Trainer(config, tmp_path / "run")
    trainer.resume()
    for ours, theirs in zip(nets["mean"], trainer.first.mean, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def end_whole_and_broken(trainer, pool, whole, broken):
    """Save the run as it is in the folder `broken`, and then bring it to its end in `whole`."""
    trainer.folder = new_folder(dataclasses.replace(trainer.config, out=str(broken)))
    trainer.save()
    trainer.folder = whole
    while trainer.done < 1:
        trainer.round(pool)
    trainer.save()


def test_labels_enough_end_the_run_with_a_new_net_that_goes_on_bit_for_bit(tmp_path):
    def begun(out, *settings):
        base = config_from(None, [*GENERATIONS[3::2], *settings], variant="hyper", games=300, seed=5, threads=1)
        trainer = Trainer(config := dataclasses.replace(base, out=str(out)), new_folder(config))
        trainer.make_buffers()
        return trainer

    whole, broken = tmp_path / "whole", tmp_path / "broken"
    trainer = begun(whole, "final_hidden=24", "final_labels=1000", "passes=2", "first_passes=4")
    with ThreadPoolExecutor(1) as pool:
        while trainer.final is None:
            trainer.round(pool)
        assert trainer.progress.last and len(trainer.window) >= 1000 and trainer.fit_size == 4 * len(trainer.window)
        before = copied(trainer.final.net)
        while trainer.progress.fitted < trainer.fit_size / 2:
            trainer.round(pool)
        assert trainer.final is not None and trainer.step_size() == pytest.approx(0.0015, rel=0.2)
        assert hidden_of(trainer.policy().net)[0] == 16  # who made the labels plays until the new net has learned
        end_whole_and_broken(trainer, pool, whole, broken)
    assert trainer.final is None and hidden_of(trainer.first.net) == (24, 8)
    assert mean_error(trainer.first.net, trainer) < 0.5 * mean_error(before, trainer)
    assert main(["train", "--resume", str(broken), "--json"]) == 0
    ours, theirs = tensors(broken), tensors(whole)
    assert ours.keys() == theirs.keys() and "final net.w1" not in ours
    for name in theirs:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    assert Policy.load(broken).header["hidden"] == [24, 8]
    narrow = begun(tmp_path / "narrow", "final_hidden=24", "final_labels=1000000")
    with ThreadPoolExecutor(1) as pool:
        while narrow.done < 1:
            narrow.round(pool)
    assert hidden_of(narrow.first.net)[0] == 16  # there were not labels enough


def mean_error(net, trainer):
    """Root mean square error of a net's values of the window."""
    states, labels = trainer.window.all()
    policy = Policy(trainer.variant, net, trainer.kind, {}, "net")
    return np.sqrt(np.mean(((policy.outputs(states) - labels) @ policy.meaning.points) ** 2))


def kinds_trainer(out, **settings):
    base = config_from(None, [*GENERATIONS[3::2], "nets=kinds"], variant="hyper", games=300, seed=5, threads=1)
    config = dataclasses.replace(base, out=str(out), **settings)
    trainer = Trainer(config, new_folder(config))
    trainer.make_buffers()
    return trainer


def race_error(net, trainer):
    """Root mean square error of a net's values of the races that are learned from."""
    states, labels = trainer.material
    policy = Policy(trainer.variant, net, trainer.kind, {}, "net")
    error = (policy.outputs(states[trainer.races]) - labels[trainer.races]) @ policy.meaning.points
    return np.sqrt(np.mean(error**2))


def test_a_net_for_races_learns_them_and_goes_on_bit_for_bit(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    trainer = kinds_trainer(whole)
    with ThreadPoolExecutor(1) as pool:
        while trainer.progress.phase != "fit":
            assert (trainer.race is not None) == (trainer.progress.phase == "label")
            assert isinstance(trainer.policy(), KindsPolicy) == (trainer.race is not None)
            trainer.round(pool)
        before = copied(trainer.race.net)
        for ours, theirs in zip(before, trainer.first.net, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        size = trainer.fit_size
        while trainer.progress.fitted < size / 2:
            trainer.round(pool)
        assert trainer.progress.phase == "fit" and trainer.progress.fitted < size
        assert 0 < trainer.races.sum() < len(trainer.races) and trainer.race_loss > 0
        assert 0.5 < trainer.race.steps[0] / trainer.first.steps[0] < 1.5
        assert race_error(trainer.race.net, trainer) < race_error(before, trainer)
        end_whole_and_broken(trainer, pool, whole, broken)
    assert main(["train", "--resume", str(broken), "--json"]) == 0
    ours, theirs = tensors(broken), tensors(whole)
    assert ours.keys() == theirs.keys() and "race net.w1" in ours and "race steps" in ours
    for name in theirs:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    ours, theirs = Policy.load(broken).nets, Policy.load(whole).nets
    assert ours.keys() == theirs.keys() == {"", "race."}
    for kind in ours:
        for mine, other in zip(ours[kind], theirs[kind], strict=True):
            np.testing.assert_array_equal(mine, other)
    assert (ours[""].w4 != ours["race."].w4).any()


def test_a_run_starts_from_both_nets_of_a_policy_or_from_the_first(tmp_path):
    variant = parse_variant("hyper")
    nets = [new_net(encoding_of(variant, "patterns"), outputs_of(variant), (16, 8), seed) for seed in (1, 2)]
    path = tmp_path / "both.safetensors"
    KindsPolicy(variant, *nets, "patterns", {}, "both").save(path)
    both = kinds_trainer(tmp_path / "run", init=str(path), td_share=0.0)
    one = Trainer(config_from(None, [], variant="hyper", games=64, init=str(path)), tmp_path)
    for learned, net in ((both.first, nets[0]), (both.race, nets[1]), (one.first, nets[0])):
        for ours, theirs in zip(learned.net, net, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert one.race is None


@pytest.mark.parametrize("game", ["classic", "gulbar", "fevga"])
def test_a_net_for_races_needs_a_game_with_contact(game):
    with pytest.raises(BadRun, match=f"setting nets='kinds' needs a game of hits or pins, and {game} has none"):
        config_from(None, ["nets=kinds"], variant=game, games=64)
    config_from(None, ["nets=kinds"], variant="plakoto", games=64)


def test_training_starts_from_a_policy(tmp_path):
    first = tmp_path / "first"
    base = ["--games", "64", *SMALL, "--json"]
    assert main(["train", "backgammon", *base, "--out", str(first)]) == 0
    assert main(["train", "nackgammon", *base, "--init", str(first), "--out", str(tmp_path / "second")]) == 0
    assert Policy.load(tmp_path / "second").header["variant"] == "nackgammon"


@pytest.mark.parametrize("game", ["gulbar", "crazy-v1", "plakoto-express", "snake", "khachapuri"])
def test_games_whose_throws_go_on_can_be_trained(game, tmp_path):
    report = train(
        config_from(
            None, [], variant=game, games=64, threads=1, hidden=16, hidden2=8, final_games=0, round=64,
            out=str(tmp_path / "run"),
        )
    )  # fmt: skip
    assert report["games"] == 64


@pytest.mark.parametrize(
    ("words", "pattern"),
    [
        (["--minutes", "-1"], "--minutes -1 must be a number of more than 0"),
        (["--games", "0"], "--games 0 must be a whole number of at least 1"),
        (["--set", "hiden=80"], "unknown setting 'hiden'; did you mean 'hidden'?"),
        (["--set", "hidden=many"], "setting hidden='many' must be a whole number"),
        (["--set", "trace=2"], "setting trace=2.0 must be from 0 to 1"),
        (["--set", "hidden"], "--set hidden must be written KEY=VALUE"),
        (["--set", "inputs=deep"], "setting inputs='deep' must be plain or patterns or rich"),
        (["--set", "clock=sun"], "setting clock='sun' must be wall or cpu"),
        (["--set", "nets=two"], "setting nets='two' must be one or kinds"),
        (["--set", "nets=kinds", "--set", "generation=0"], "setting nets='kinds' learns its second net in generations"),
        (["--set", "nets=kinds", "--set", "td_share=1"], "generation more than 0 and td_share less than 1"),
        (["--set", "nets=kinds", "--set", "net=mine:Mine"], "setting nets='kinds' is for the built-in net"),
        (["--set", "rollouts=1024"], "setting rollouts=1024 must be less than 1024"),
        (["--set", "net=mine:Mine", "--set", "rollouts=2"], "setting net='mine:Mine' learns by TD alone"),
        (["--set", "hidden2=0", "--set", "hidden3=8"], "setting hidden3=8 needs a second hidden layer"),
        (["--init", "nowhere"], "there is no policy file 'nowhere"),
        (["--config", "nowhere.toml"], "cannot read the settings in 'nowhere.toml'"),
    ],
)
def test_bad_settings_get_one_sentence_and_write_nothing(words, pattern, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "backgammon", "--out", "run", *words]) == 2
    captured = capsys.readouterr()
    assert pattern in " ".join(captured.err.split()) and "Traceback" not in captured.err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_there_is_never_overwritten(tmp_path, capsys):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "precious.txt").write_text("mine")
    assert main(["train", "backgammon", "--games", "64", "--out", str(folder)]) == 2
    assert "is there already" in " ".join(capsys.readouterr().err.split())
    assert [p.name for p in folder.iterdir()] == ["precious.txt"]


def test_resuming_what_is_no_run_is_refused(tmp_path, capsys):
    assert main(["train", "--resume", str(tmp_path)]) == 2
    assert "is no run folder" in " ".join(capsys.readouterr().err.split())
    folder = tmp_path / "run"
    assert main(["train", "backgammon", "--games", "64", *SMALL, "--out", str(folder), "--json"]) == 0
    capsys.readouterr()
    checkpoint = folder / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:5000])
    assert main(["train", "--resume", str(folder)]) == 2
    assert "has no whole checkpoint" in " ".join(capsys.readouterr().err.split())


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadRun, match="cannot write the run folder .*choose another --out"):
        train(config_from(None, [], variant="backgammon", games=64, out=str(tmp_path / "file" / "run")))


def test_settings_come_from_a_file_and_words_win(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text('variant = "classic"\nhidden = 40\nseed = 3\n')
    config = config_from(file, ["hidden=50"], seed=4)
    assert (config.variant, config.hidden, config.seed, config.minutes) == ("classic", 50, 4, 5.0)


def test_the_command_lists_every_setting_with_its_default_and_meaning(capsys):
    assert main(["train", "--settings", "--json"]) == 0
    listed = {s["name"]: s for s in json.loads(capsys.readouterr().out)["settings"]}
    assert list(listed) == [f.name for f in dataclasses.fields(TrainConfig)]
    assert listed["hidden"]["default"] == TrainConfig(games=1).hidden
    assert all(s["help"] for s in listed.values())
    assert main(["train", "--settings"]) == 0
    assert "label_trace" in capsys.readouterr().out


def test_a_settings_file_can_name_the_game(tmp_path, capsys):
    file = tmp_path / "run.toml"
    file.write_text('variant = "hyper"\ngames = 32\ngeneration = 0\nfinal_games = 0\nthreads = 1\nhidden = 8\n')
    assert main(["train", "--config", str(file), "--out", str(tmp_path / "run"), "--json"]) == 0
    assert Policy.load(tmp_path / "run").variant.id == "hyper"
    assert main(["train", "nackgammon", "--config", str(file), "--out", str(tmp_path / "other"), "--json"]) == 0
    assert Policy.load(tmp_path / "other").variant.id == "nackgammon"
    capsys.readouterr()
    assert main(["train"]) == 2
    assert "train needs a VARIANT" in capsys.readouterr().err
