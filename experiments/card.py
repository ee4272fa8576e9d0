"""The card of a policy: what it is, how it was trained, how strong it was measured to be, and whether it is whole."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nardy_rl.agents.policy import TEST_TOLERANCE, Policy, policy_file, pretrained_path
from nardy_rl.errors import BadPolicy
from nardy_rl.experiments.duel import DuelResult
from nardy_rl.experiments.lineage import lineage_of
from nardy_rl.experiments.screen import points
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, parse_variant, variant_text


def measurement(won: DuelResult, games: int, luck: str = "auto") -> dict[str, Any]:
    """What a card keeps of a duel of the shipped policy, with the command that repeats it."""
    words = ["nardy", "evaluate", won.variant, "--a", "pretrained", "--b", won.b, "--games", str(games)]
    words += ["--seed", str(won.seed)] * (won.seed != 1) + ["--luck", luck] * (luck != "auto")
    exact = {key: round(getattr(won, key), 5) for key in ("ppg", "se", "ppg_raw", "se_raw")}
    kept = {key: getattr(won, key) for key in ("games", "wins", "seed", "adjusted_by")}
    return {"variant": won.variant, "against": won.b} | exact | kept | {"command": shlex.join(words)}


def served(path: Path) -> list[Variant]:
    """The games of the table that a policy in the package comes with; empty for any other file."""
    return [variant for variant in VARIANTS.values() if pretrained_path(variant) == path]


def load(name: str) -> Policy:
    """The policy that comes with a game, or that of a file or run folder; raises BadPolicy."""
    if not Path(name).exists() and (name in VARIANTS or ":" in name):
        path = pretrained_path(parse_variant(name))
        if path is None:
            raise BadPolicy(f"no policy comes with {name}: name a policy file or a run folder")
        return Policy.load(path)
    return Policy.load(name)


def card_of(policy: Policy) -> dict[str, Any]:
    """The card: the keys of `nardy card --json` (docs/cli.md). Raises BadRun if the policy's chain cannot be told."""
    path, header = policy_file(policy.name), policy.header
    line = lineage_of(Path(policy.name))
    difference = policy.test_difference()
    return {
        "variant": variant_text(policy.variant),
        "serves": [variant.id for variant in served(path)],
        "file": str(path),
        "bytes": path.stat().st_size,
        "digest": policy.digest,
        "inputs": header["inputs"],
        "outputs": header["outputs"],
        "nets": header.get("nets", "one"),
        "hidden": header["hidden"],
        "weights": sum(w.size for net in policy.nets.values() for w in net),
        "games": sum(step.games or 0 for step in line.steps),
        "minutes": sum(step.minutes or 0.0 for step in line.steps),
        "chain": [{key: step.as_dict()[key] for key in ("command", "games", "minutes")} for step in line.steps],
        "began": line.began,
        "trained": header.get("trained"),
        "strength": header.get("strength", []),
        "measured": header.get("measured"),
        "test": {
            "states": len(header["test"]["states"]),
            "largest_difference": difference,
            "holds": difference <= TEST_TOLERANCE,
        },
    }


# ---------------------------------------------------------------------------------------------- as tables


def strength_rows(strength: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of what was measured, as `screen.table` takes them."""
    rows = []
    for one in strength:
        by = one["adjusted_by"]
        raw = points(one["ppg_raw"], one["se_raw"])
        adjusted = f"{points(one['ppg'], one['se'])} by {by}" if by else ""
        share = f"{one['wins'] / one['games']:.1%}"
        rows.append([one["variant"], one["against"], adjusted, raw, share, f"{one['games']:,}", one["command"]])
    return ["game", "against", "adjusted for luck", ">raw", ">wins", ">games", "command"], rows


def fact_rows(card: Mapping[str, Any]) -> list[list[str]]:
    """What the card says in a line each."""
    inputs, trained = card["inputs"], card["trained"]
    rows = [["comes with", ", ".join(card["serves"])]] if card["serves"] else []
    rows += [
        ["policy", f"{card['digest']}, {card['bytes']:,} bytes"],
        ["inputs", f"{inputs['kind']}, version {inputs['version']}, layout {inputs['digest']}"],
        ["hidden units", "-".join(map(str, card["hidden"])) + (", two nets" if card["nets"] != "one" else "")],
        ["weights", f"{card['weights']:,}"],
        ["outputs", ", ".join(card["outputs"])],
        ["trained", f"{card['games']:,} games, {card['minutes']:.1f} minutes, {len(card['chain'])} runs"],
    ]
    if card["began"]:
        rows.append(["began with", f"the policy of {card['began']['game']}, {card['began']['digest']}"])
    if trained:
        rows.append(["where", f"{trained['machine']}, {trained['cores']} cores, {trained['started']}"])
        rows.append(["commit", str(trained["commit"])])
    test = card["test"]
    verdict = "holds" if test["holds"] else "DOES NOT HOLD"
    rows.append(["test vector", f"{verdict}: {test['states']} states, differs by {test['largest_difference']:.1e}"])
    return rows
