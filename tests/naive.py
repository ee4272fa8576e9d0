"""The slow oracle: the rules of all 25 games, read from the rules page (docs/rules.md) and from nothing else.

Boards are plain tuples of 26 counts in their owner's own D numbering (0 = off, 1..24, 25 = bar). All
sequences of single checker moves are listed one by one, and the rules of the text are then applied as
filters, in its order. States, plays and continuations are the JSON objects of the case files. Nothing here
is fast, nothing is shared with the package: two programs that read the same page have to agree.

    python tests/naive.py FILE...      compares every case of the files, exit status 1 if any differs
"""

import itertools
import json
import sys
from functools import lru_cache
from typing import NamedTuple

HOME = range(1, 7)
HEAD = 24
BAR = 25


# --------------------------------------------------------------------------- §8 the variants, §10 the options

BASE = {
    "geometry": "contrary", "contact": "hit", "start": "backgammon", "stack": 24, "sides": "coin",
    "opening": "dice", "head": "free", "pairs": [], "pairs_who": "both", "block": "none",
    "doubles": "plain", "calm": 0, "stop": "no", "full_move": "stage",
    "completion": "none", "completion_scope": "doubles", "void": False, "calm_pass": False,
    "home_completer_plays": True, "extra": "none", "extra_if_cancelled": False,
    "bearoff": "standard", "freeze": "never", "score": "bg", "last_throw": False, "koks": False,
    "hit_wins": False, "binds": False, "bound_off": "die", "bound_hide": "landing",
    "cube": True, "jacoby": False, "beavers": False, "crawford": True, "cube_cap": 64,
}  # fmt: skip

LONG = BASE | {
    "geometry": "parallel", "contact": "none", "start": "classic", "opening": "reroll", "head": "turn",
    "pairs": [3, 4, 6], "block": "classic", "score": "oin/mars", "cube": False,
}  # fmt: skip
ONCE = {"completion": "once"}
CRAZY_KIN = {"head": "stage", "doubles": "progression"}
CALM = {"doubles": "progression", "calm": 5, "stop": "stop", "completion": "once", "void": True}
PING_PONG = CRAZY_KIN | {"stop": "grace", "completion": "ping-pong", "completion_scope": "all"}
FOUR_AND_ELEVEN = {"start": "khachapuri", "head": "free", "pairs": []}
FEVGA = {"head": "runner", "pairs": [], "block": "fevga"}
EXACT = {"bearoff": "exact", "freeze": "bearoff"}
PLAKOTO = BASE | {
    "contact": "pin", "start": "longgammon", "opening": "reroll", "score": "oin/mars", "cube": False,
}  # fmt: skip

VARIANTS = {
    "classic": LONG,
    "long-nardy": LONG | {"opening": "dice"},
    "sport": LONG | {"opening": "dice", "pairs_who": "second", "block": "sport"},
    "gulbar": LONG | ONCE | {"extra": "once"},
    "crazy-gulbar": LONG | ONCE | EXACT | {"pairs": [1, 3, 4, 6], "doubles": "progression", "stop": "grace"},
    "crazy": LONG | CRAZY_KIN | CALM | {"bearoff": "exact", "freeze": "always"},
    "crazy-v1": LONG | PING_PONG | {"extra": "unlimited"},
    "crazy-v2": LONG | PING_PONG | EXACT,
    "crazy-v3": LONG | PING_PONG | EXACT,
    "khachapuri": LONG | FOUR_AND_ELEVEN | ONCE | {"extra": "once", "score": "left"},
    "tbilisi": LONG | FOUR_AND_ELEVEN,
    "fevga": LONG | FEVGA,
    "giul": LONG | FEVGA | CALM,
    "backgammon": BASE,
    "caucasian": BASE | {"binds": True},
    "nackgammon": BASE | {"start": "nackgammon"},
    "hyper": BASE | {"start": "hyper", "score": "one"},
    "longgammon": BASE | {"start": "longgammon"},
    "randgammon-1": BASE | {"start": "randgammon-1"},
    "randgammon-2": BASE | {"start": "randgammon-2"},
    "shootout": BASE | {"start": "shootout"},
    "sudden-death": BASE | {"hit_wins": True, "score": "one", "cube": False},
    "snake": BASE | {"start": "snake"},
    "plakoto": PLAKOTO,
    "plakoto-express": PLAKOTO | CALM,
}


def make(variant_id, options):
    """§10: the rules of a variant under the given options."""
    rules = dict(VARIANTS[variant_id])
    for name, value in options.items():
        if name not in rules:
            raise ValueError(f"unknown option {name!r}")
        rules[name] = value
    rules["start"] = VARIANTS.get(rules["start"], rules)["start"]
    return rules


# -------------------------------------------------------------------------------------- §8 starts, §3 opening

LAYOUTS = {
    "classic": {24: 15},
    "khachapuri": {24: 4, 6: 11},
    "backgammon": {24: 2, 13: 5, 8: 3, 6: 5},
    "nackgammon": {24: 2, 23: 2, 13: 4, 8: 3, 6: 4},
    "hyper": {24: 1, 23: 1, 22: 1},
    "longgammon": {24: 15},
    "shootout": {24: 4} | dict.fromkeys(range(2, 23, 2), 1),
    "shootout, stack on 1": {1: 4} | dict.fromkeys(range(3, 24, 2), 1),
    "snake": {BAR: 9, 24: 2, 23: 2, 22: 2},
}


def layout(name):
    """A board string from a named layout."""
    return write_board(tuple(LAYOUTS[name].get(point, 0) for point in range(26)))


def start(rules, starter, layouts=None, sides=None):
    """§8: the state before the first throw.

    `layouts` are two board strings, player 0 first (random starts need them); `sides` says for a snake start
    who has the standard side, `first` (the starter) or `second`, where the option leaves it to a coin.
    """
    name = rules["start"]
    if layouts is None and name == "snake":
        sides = sides or rules["sides"]
        if sides not in ("first", "second"):
            raise ValueError("the sides of a snake start must be drawn first")
        standard = starter if sides == "first" else 1 - starter
        layouts = [layout("backgammon" if player == standard else "snake") for player in (0, 1)]
    elif layouts is None:
        if name.startswith("randgammon"):
            raise ValueError("a random start must be drawn first")
        if name == "shootout" and rules["stack"] == 1:
            name = "shootout, stack on 1"
        layouts = [layout(name)] * 2
    opening = {"board": list(layouts), "pinned": [[], []], "starter": starter, "throws": [0, 0]}
    return opening | awaiting_throw(opening, starter, extra=False)


def random_layout(rng, rules):
    """§8 Randgammon: one board string, the same for both sides; `rng` is a random.Random."""
    least, sizes = {"randgammon-1": (1, (4, 10)), "randgammon-2": (2, (3, 7))}[rules["start"]]
    while True:
        parts = rng.randint(*sizes)
        points = [rng.choice((low, 25 - low)) for low in rng.sample(range(1, 13), parts)]
        spare = 15 - parts * least
        bars = sorted(rng.sample(range(spare + parts - 1), parts - 1))
        edges = [-1, *bars, spare + parts - 1]
        stacks = [least + right - left - 1 for left, right in itertools.pairwise(edges)]
        if max(points) > 12:  # otherwise all ≤ 12 (or even ≤ 6): no contact
            counts = dict(zip(points, stacks, strict=True))
            return write_board(tuple(counts.get(point, 0) for point in range(26)))


def open_game(rules, rng):
    """§3: (starter, his first two dice)."""
    while True:
        draw = [rng.randint(1, 6), rng.randint(1, 6)]
        if draw[0] != draw[1]:
            break
    starter = 0 if draw[0] > draw[1] else 1
    if rules["opening"] == "reroll":
        return starter, [rng.randint(1, 6), rng.randint(1, 6)]
    return starter, draw


# ---------------------------------------------------------------------------------------- §1 boards and terms


def read_board(text):
    """26 hexadecimal digits -> 26 counts."""
    return tuple(int(digit, 16) for digit in text)


@lru_cache(maxsize=1 << 16)
def write_board(counts):
    """26 counts -> 26 hexadecimal digits."""
    return "".join(["0123456789abcdef"[count] for count in counts])


def facing(rules, point):
    """§1: a point's number as the other player counts it (the same either way)."""
    if rules["geometry"] == "contrary":
        return 25 - point
    return point - 12 if point > 12 else point + 12


def all_home(side):
    """All of a side's checkers are in D1..D6 or off; a pinned one counts where it stands (§2.4, §6)."""
    return sum(side[7:]) == 0


def all_off(side):
    """All of a side's checkers are off."""
    return sum(side[1:]) == 0


def with_changes(side, changes):
    """A copy of a side with (point, change of count) applied."""
    counts = list(side)
    for point, change in changes:
        counts[point] += change
    return tuple(counts)


class Node(NamedTuple):
    """Everything that a sequence of checker moves within one stage has brought about."""

    board: tuple  # two sides of 26 counts
    pinned: tuple  # for each player the own D of his pinned checkers, ascending
    dice: tuple  # dice left of the stage, ascending
    used: tuple  # dice used, ascending
    head: int  # checkers the mover has taken off his head in this allowance period
    bound: tuple = ()  # caucasian: (D, hidden) of every bound checker
    bound_off: bool = False  # caucasian: a bound checker has been borne off
    homecoming: bool = False  # the last checker came home with the latest move
    score: int | None = None  # the game is over: what player 0 wins


def stage_dice(state):
    """§4: the dice of the stage that is to be played now."""
    if state["double"]:
        value, left = state["queue"][0]
        return (value,) * left
    return tuple(sorted(die for die, _ in state["queue"]))


def root(state):
    """The node before the first move of the stage."""
    return Node(
        board=tuple(read_board(text) for text in state["board"]),
        pinned=tuple(tuple(sorted(points)) for points in state["pinned"]),
        dice=stage_dice(state),
        used=(),
        head=state["head_used"][state["player"]],
    )


# ------------------------------------------------------------------------------------ §2 single checker moves


class Move(NamedTuple):
    """One checker, one die."""

    die: int
    source: int
    target: int  # 0 = off
    contact: str  # "open", "hit" or "pin"
    bound: tuple | None  # the bound checker's (D, hidden) if it is one that moves


def landing(rules, node, mover, point):
    """§2.1, §6: "closed", "open", "hit" or "pin" for a checker of the mover landing on his D=point."""
    enemy = 1 - mover
    there = facing(rules, point)
    men = node.board[enemy][there]
    if men == 0:
        return "open"
    if rules["contact"] == "hit" and men == 1:
        return "hit"
    if rules["contact"] == "pin":
        if there in node.pinned[enemy]:
            return "open"  # the mover's own pin
        if men == 1 and point not in node.pinned[mover]:
            return "pin"
    return "closed"


def may_bear_off(rules, side, source, die):
    """§2.4: bear-off from D=source with the die."""
    if not all_home(side):
        return False
    if source == die:
        return True
    return rules["bearoff"] == "standard" and source < die and sum(side[source + 1 :]) == 0


def frozen(rules, side, source):
    """§4 Home freeze: may the checker on D=source not move to another point?"""
    if rules["freeze"] == "always":
        return source in HOME
    return rules["freeze"] == "bearoff" and all_home(side)


def head_allowance(rules, state):
    """§4 Head allowance: how many checkers may leave the head in this period (head `turn` and `stage`)."""
    thrower = state["thrower"]
    pair = (
        state["player"] == thrower
        and state["throws"][thrower] == 1
        and state["double"]
        and state["dice"][0] in rules["pairs"]
        and (rules["pairs_who"] == "both" or thrower != state["starter"])
        and (rules["head"] == "turn" or state["queue"][0][0] == state["dice"][0])
    )
    return 2 if pair else 1


def may_leave_head(rules, state, node):
    """§4 Head allowance: may one more checker leave D24?"""
    if rules["head"] == "free":
        return True
    if rules["head"] == "runner":
        side = node.board[state["player"]]
        away = [point for point in range(HEAD) for _ in range(side[point])]
        return not (len(away) == 1 and away[0] >= 12)
    return node.head < head_allowance(rules, state)


def leavers(node, mover, source):
    """§8 Caucasian: which checkers can leave D=source, free ones (None) before bound ones."""
    bound_here = [man for man in node.bound if man[0] == source]
    if node.board[mover][source] > len(bound_here):
        return [None]
    return sorted(set(bound_here))


def single_moves(rules, state, node, die):
    """All legal single checker moves with the die."""
    mover = state["player"]
    side = node.board[mover]
    moves, bound_bear_offs = [], []
    for source in range(1, 26):
        if side[source] == 0 or source in node.pinned[mover]:
            continue
        if side[BAR] > 0 and source != BAR:  # §2.3
            continue
        if source == HEAD and not may_leave_head(rules, state, node):
            continue
        target = source - die
        for man in leavers(node, mover, source):
            if target > 0:
                contact = landing(rules, node, mover, target)
                hides = man is not None and side[target] > 0 and rules["bound_hide"] == "landing"
                if contact != "closed" and not hides and not frozen(rules, side, source):
                    moves.append(Move(die, source, target, contact, man))
            elif may_bear_off(rules, side, source, die):
                (moves if man is None else bound_bear_offs).append(Move(die, source, 0, "open", man))
    # §8 Caucasian: a bound checker is borne off only for want of another move with the die (bound_off=die);
    # with bound_off=play the whole play decides, see `unbound`
    if rules["bound_off"] == "play" or not moves:
        moves += bound_bear_offs
    return moves


def after_move(rules, state, node, move):
    """The node after one checker move."""
    mover = state["player"]
    before, other = node.board[mover], node.board[1 - mover]
    own = with_changes(before, [(move.source, -1), (move.target, 1)])
    if move.contact == "hit":
        other = with_changes(other, [(facing(rules, move.target), -1), (BAR, 1)])
    left = list(node.dice)
    left.remove(move.die)
    after = Node(
        board=(own, other) if mover == 0 else (other, own),
        pinned=pinned_after(rules, node, mover, move) if rules["contact"] == "pin" else node.pinned,
        dice=tuple(left),
        used=tuple(sorted((*node.used, move.die))),
        head=node.head + (move.source == HEAD and rules["head"] in ("turn", "stage")),
        bound=bound_after(rules, node, mover, move) if rules["binds"] else (),
        bound_off=node.bound_off or (move.bound is not None and move.target == 0),
        homecoming=all_home(own) and not all_home(before),
    )
    score = game_score(rules, state, after, hit=move.contact == "hit")
    return after if score is None else after._replace(score=score)


def pinned_after(rules, node, mover, move):
    """§6: the pinned checkers after a move: a lone enemy is pinned, and free when nobody stands on it."""
    pinned, enemy = [set(points) for points in node.pinned], 1 - mover
    if move.contact == "pin":
        pinned[enemy].add(facing(rules, move.target))
    if move.source != BAR and node.board[mover][move.source] == 1:
        pinned[enemy].discard(facing(rules, move.source))
    return tuple(tuple(sorted(points)) for points in pinned)


def bound_after(rules, node, mover, move):
    """§8 Caucasian: the bound checkers after a move.

    A bound checker is *hidden* (only under bound_hide=end) from its landing beside another until it stands
    alone; a checker that comes to it later only covers it.
    """
    bound = list(node.bound)
    if move.bound is not None:
        bound.remove(move.bound)
    if node.board[mover][move.source] == 2:
        bound = [(point, hidden and point != move.source) for point, hidden in bound]
    binding = move.contact == "hit" and move.target in HOME
    if move.target > 0 and (move.bound is not None or binding):
        bound.append((move.target, node.board[mover][move.target] > 0))
    return tuple(sorted(bound))


# --------------------------------------------------------------------------------- §7 scoring, §6 the mothers


def game_value(rules, board, winner):
    """§7: what the winner wins, before any cube."""
    loser = board[1 - winner]
    if rules["score"] == "one":
        return 1
    if rules["score"] == "left":
        return sum(loser[1:])
    if loser[0] > 0:
        return 1
    if rules["score"] == "oin/mars":
        return 3 if rules["koks"] and sum(loser[19:25]) > 0 else 2
    in_winners_home = any(loser[facing(rules, point)] for point in HOME)
    return 3 if loser[BAR] > 0 or in_winners_home else 2


def signed(points, winner):
    """Points as player 0 counts them."""
    return points if winner == 0 else -points


def mothers_score(node):
    """§6 Mother: the score if a pinned mother ends the game, else None."""
    taken = [HEAD in node.pinned[player] for player in (0, 1)]
    if all(taken):
        return 0
    for loser in (0, 1):
        if taken[loser] and node.board[1 - loser][HEAD] == 0:
            return signed(2, 1 - loser)
    return None


def starter_is_out(rules, starter, board):
    """§7 last_throw: the starter has borne off first, the other is having (or still has) his last throw."""
    return rules["last_throw"] and all_off(board[starter])


def game_score(rules, state, node, hit):
    """The score if the game ends with the move just made, else None."""
    mover = state["player"]
    if hit and rules["hit_wins"]:
        return signed(1, mover)
    if rules["contact"] == "pin" and (score := mothers_score(node)) is not None:
        return score
    if not all_off(node.board[mover]):
        return None
    if rules["last_throw"] and mover == state["starter"]:
        return None
    if starter_is_out(rules, state["starter"], node.board):
        return 0
    return signed(game_value(rules, node.board, mover), mover)


# -------------------------------------------------------------------------------------------------- §5 blocks


def holds_six(rules, side, lowest):
    """Does a side hold all of D=lowest .. lowest+5 as its opponent counts them?"""
    return all(side[facing(rules, point)] for point in range(lowest, lowest + 6))


def has_blind_block(rules, board, mover):
    """§5: six consecutive points in the opponent's D, none of his checkers ahead of them or borne off."""
    enemy = board[1 - mover]
    return any(holds_six(rules, board[mover], low) and sum(enemy[:low]) == 0 for low in range(1, 20))


def fills_the_start(board, mover):
    """§5 fevga (a): the mover holds all six of his own D24..D19."""
    return all(board[mover][19:25])


def walls_in_the_stack(rules, board, mover):
    """§5 fevga (b): all the enemy's checkers are on one point, and the mover holds the six before it."""
    enemy = board[1 - mover]
    return any(enemy[stack] == sum(enemy) and holds_six(rules, board[mover], stack - 6) for stack in range(7, HEAD + 1))


# ---------------------------------------------------------------------------------------- §2 plays of a stage


def sequences(rules, state):
    """Every node that a sequence of legal single moves reaches, the empty sequence first, one after the other."""
    first = root(state)
    seen, waiting = {first}, [first]
    while waiting:
        node = waiting.pop()
        yield node
        if node.score is not None:  # §2.5
            continue
        for die in sorted(set(node.dice)):
            for move in single_moves(rules, state, node, die):
                after = after_move(rules, state, node, move)
                if after in seen:
                    continue
                if rules["block"] == "sport" and has_blind_block(rules, after.board, state["player"]):
                    continue  # §2.6, step
                seen.add(after)
                waiting.append(after)


def may_stand(rules, node, mover):
    """§2.6, §5: is the position that a sequence of at least one move leads to allowed?"""
    if rules["block"] == "classic":
        return not has_blind_block(rules, node.board, mover)
    if rules["block"] == "fevga":
        return not fills_the_start(node.board, mover) and not walls_in_the_stack(rules, node.board, mover)
    return True


def must_open(rules, state):
    """§5 fevga: does the wall (b) stand when the player is to play?"""
    return rules["block"] == "fevga" and walls_in_the_stack(rules, root(state).board, state["player"])


def obeying_blocks(rules, state, nodes):
    """§2.6, §5: the sequences whose final position is allowed; the empty one makes no new shape."""
    mover = state["player"]
    empty, moved = nodes[0], nodes[1:]
    allowed = [node for node in moved if may_stand(rules, node, mover)]
    if must_open(rules, state):
        return allowed or [empty, *(node for node in moved if not fills_the_start(node.board, mover))]
    return [empty, *allowed]


def unbound(rules, nodes):
    """§8 Caucasian, the two other readings: bound_hide=end and bound_off=play look at whole plays."""
    nodes = [node for node in nodes if not any(hidden for _, hidden in node.bound)]
    if rules["bound_off"] == "play":
        clean = max(len(node.used) for node in nodes if not node.bound_off)
        nodes = [node for node in nodes if not node.bound_off or len(node.used) > clean]
    return nodes


def ends(state, node):
    """§2.5: the sequence ends the game (or, with last_throw, the player's part in it)."""
    return node.score is not None or all_off(node.board[state["player"]])


def most_dice(state, nodes):
    """§2.2, §2.5: only the sequences with the most dice, and those that end the game."""
    most = max(len(node.used) for node in nodes)
    return [node for node in nodes if len(node.used) == most or ends(state, node)]


def larger_die(state, nodes):
    """§2.2: if only one die of two can be used, the larger if any play uses it."""
    dice = stage_dice(state)
    only_one = not state["double"] and len(dice) == 2 and max(len(node.used) for node in nodes) == 1
    larger = (dice[-1],)
    if only_one and any(node.used == larger for node in nodes):
        return [node for node in nodes if node.used == larger or ends(state, node)]
    return nodes


def stage_plays(rules, state):
    """The nodes that are legal plays of the stage by its own full-move rule."""
    nodes = obeying_blocks(rules, state, list(sequences(rules, state)))
    if rules["binds"]:
        nodes = unbound(rules, nodes)
    return larger_die(state, most_dice(state, nodes))


def most_moves(rules, state, known):
    """§4 full_move=whole: the most moves that the player himself can still make in this throw.

    Plays that use up the stage come first: if one of them leads through all that is owed, nothing can be better.
    """
    key = json.dumps(state, sort_keys=True)
    if key in known:
        return known[key]
    possible, best, mover = sum(left for _, left in state["queue"]), 0, state["player"]
    if not must_open(rules, state):
        for node in sequences(rules, state):
            if not node.dice and may_stand(rules, node, mover):
                best = max(best, moves_through(rules, state, node, known))
            if best == possible:
                break
    if best < possible:
        best = max(best, *(moves_through(rules, state, node, known) for node in stage_plays(rules, state)))
    known[key] = best
    return best


def moves_through(rules, state, node, known):
    """§4 full_move=whole: moves of this play and the most that its player can make in the later stages."""
    play = play_of(rules, state, node)
    following = play["next"]
    if "over" in following or not following["queue"] or following["player"] != state["player"]:
        return len(node.used)
    return len(node.used) + most_moves(rules, follow(play), known)


def whole_progression(rules, state, nodes):
    """§4 full_move=whole: of the plays of a stage those that let the player make the most moves in all."""
    known = {}
    moves = [moves_through(rules, state, node, known) for node in nodes]
    return [node for node, made in zip(nodes, moves, strict=True) if made == max(moves) or ends(state, node)]


def play_of(rules, state, node):
    """A node as a play of the case files."""
    return {
        "board": [write_board(side) for side in node.board],
        "pinned": [list(points) for points in node.pinned],
        "used": list(node.used),
        "next": continuation(rules, state, node),
    }


def plays(rules, state):
    """§2: all distinct legal plays of the state, with what follows them."""
    nodes = stage_plays(rules, state)
    if rules["full_move"] == "whole" and rules["doubles"] == "progression":
        nodes = whole_progression(rules, state, nodes)
    distinct = {}
    for play in sorted((play_of(rules, state, node) for node in nodes), key=lambda play: play["used"]):
        distinct.setdefault(canon(play), play)
    return list(distinct.values())


def canon(play):
    """Two plays are the same when board, pins and continuation agree."""
    pinned = tuple(tuple(sorted(points)) for points in play.get("pinned", ([], [])))
    return tuple(play["board"]), pinned, repr(sorted(play["next"].items()))


def follow(play):
    """The full state after a play, None if the game is over."""
    if "over" in play["next"]:
        return None
    return {"board": play["board"], "pinned": play.get("pinned", [[], []])} | play["next"]


# ------------------------------------------------------------------------------------------------ §4 the turn


def throw(rules, state, die1, die2):
    """§4: the player of a state whose turn is over throws two dice."""
    player = state["player"]
    dice = sorted((die1, die2), reverse=True)
    throws = list(state["throws"])
    throws[player] += 1
    side = read_board(state["board"][player])
    progression = rules["doubles"] == "progression" and throws[player] > rules["calm"] and not all_home(side)
    if die1 != die2:
        queue = [[die, 1] for die in dice]
    elif progression:
        queue = [[value, 4] for value in range(die1, 7)]
    else:
        queue = [[die1, 4]]
    return state | {"throws": throws, "dice": dice, "double": die1 == die2, "queue": queue}


def awaiting_throw(state, player, extra):
    """The continuation in which the turn is over and the player throws next."""
    return {
        "player": player, "thrower": player, "starter": state["starter"], "throws": state["throws"],
        "dice": [], "double": False, "queue": [], "head_used": [0, 0], "handed": False, "idle": 0,
        "extra_used": extra, "grace": False,
    }  # fmt: skip


def still_owed(state, **changes):
    """The continuation in which this throw goes on, with the given changes."""
    kept = (
        "player", "thrower", "starter", "throws", "dice", "double", "queue", "head_used", "handed", "idle",
        "extra_used", "grace",
    )  # fmt: skip
    return {name: state[name] for name in kept} | changes


def continuation(rules, state, node):
    """§4: what follows a play."""
    player = state["player"]
    if node.score is not None:
        return {"over": True, "score": node.score}
    if all_off(node.board[player]):  # §7 last_throw: the starter is out, the other has one more throw
        return awaiting_throw(state, 1 - player, extra=False)
    head_used = list(state["head_used"])
    head_used[player] = node.head
    if node.dice:
        return after_stuck(rules, state, node, head_used)
    return after_used_up_stage(rules, state, node, head_used)


def later_stages(state):
    """§4: the stages above the present one."""
    return state["queue"][1:] if state["double"] else []


def thrower_stops(rules, state, node):
    """§4 Stop at home: the thrower is all home, the stages above the present one are cancelled."""
    return rules["stop"] != "no" and all_home(node.board[state["thrower"]])


def after_used_up_stage(rules, state, node, head_used):
    """§4: the stage is used up; the next one, or the turn is over."""
    later, cancelled, grace = later_stages(state), False, False
    if later and thrower_stops(rules, state, node):
        grace = rules["stop"] == "grace" and state["player"] == state["thrower"] and node.homecoming
        cancelled = not grace
        later = later[:1] if grace else []
    if later:
        fresh = [0, 0] if rules["head"] == "stage" else head_used
        # a used-up stage is no hand-over, and it breaks a succession of empty ones (ping-pong)
        return still_owed(state, queue=later, head_used=fresh, idle=0, grace=grace)
    if state["grace"] and state["queue"][0][0] < 6:  # the stages above a grace stage were cancelled
        cancelled = True
    return turn_over(rules, state, node, extra=earns_extra_throw(rules, state, cancelled))


def earns_extra_throw(rules, state, cancelled):
    """§4 Extra throw: the thrower himself has just used up the last stage of his double."""
    if rules["extra"] == "none" or not state["double"]:
        return False
    if state["player"] != state["thrower"] or state["handed"]:
        return False
    if cancelled and not rules["extra_if_cancelled"]:
        return False
    return rules["extra"] == "unlimited" or not state["extra_used"]


def after_stuck(rules, state, node, head_used):
    """§4 Completion: the player cannot use up the stage; the debt passes on or is lost."""
    if state["double"]:
        debt = [[state["queue"][0][0], len(node.dice)]]
        if not thrower_stops(rules, state, node):
            debt += later_stages(state)
    else:
        debt = [[die, 1] for die in sorted(node.dice, reverse=True)]
    idle = 0
    if rules["completion"] == "ping-pong" and not node.used:
        idle = state["idle"] + 1
    receiver = 1 - state["player"]
    receiver_declines = not rules["home_completer_plays"] and all_home(node.board[receiver])
    if not debt_passes(rules, state, node) or idle == 2 or receiver_declines:
        return turn_over(rules, state, node, extra=False)
    return still_owed(state, player=receiver, queue=debt, head_used=head_used, handed=True, idle=idle)


def debt_passes(rules, state, node):
    """§4 Completion: does what the player cannot play go to the other (whatever the other's position)?"""
    thrower = state["thrower"]
    if rules["completion"] == "none":
        return False
    if rules["completion"] == "once" and state["player"] != thrower:
        return False
    if starter_is_out(rules, state["starter"], node.board):  # §7: in the last throw nothing passes
        return False
    if not state["double"]:
        return rules["completion_scope"] == "all"
    calm_double = rules["doubles"] == "progression" and state["throws"][thrower] <= rules["calm"]
    if calm_double and not rules["calm_pass"]:
        return False
    first_move = not state["handed"] and state["queue"][0] == [state["dice"][0], 4] and not node.used
    return not (rules["void"] and first_move)


def turn_over(rules, state, node, extra):
    """§4: the throw is finished; who throws next. §7 last_throw: after the last throw nobody does."""
    starter, thrower = state["starter"], state["thrower"]
    if starter_is_out(rules, starter, node.board):
        return {"over": True, "score": signed(game_value(rules, node.board, starter), starter)}
    return awaiting_throw(state, thrower if extra else 1 - thrower, extra)


# ------------------------------------------------------------------------------------------------- case files


def differences(case):
    """What this page's reading says of a case and the case does not, or the other way round."""
    expected = {}
    for play in case["plays"]:
        play = play | {"next": case["nexts"][play["next"]]}
        expected[canon(play)] = play
    found = {canon(play): play for play in plays(make(case["variant"], case["options"]), case["state"])}
    lines = [f"{case['id']}: missing {json.dumps(expected[key])}" for key in expected.keys() - found.keys()]
    lines += [f"{case['id']}: not in the case {json.dumps(found[key])}" for key in found.keys() - expected.keys()]
    for key in expected.keys() & found.keys():
        listed, mine = expected[key], found[key]
        if "over" not in listed["next"] and listed["used"] != mine["used"]:
            lines.append(f"{case['id']}: used {mine['used']} for {json.dumps(listed)}")
    return sorted(lines)


def main(paths):
    """Compares the cases of the files; 0 if all agree, else 1."""
    cases = differing = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                cases += 1
                found = differences(json.loads(line))
                differing += bool(found)
                for text in found:
                    print(text)
    print(f"{cases} cases, {differing} with differences")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
