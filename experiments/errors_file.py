"""An error benchmark as a file: positions with what every play is worth, small enough to be kept with the code.

A compressed npz with: `states` uint32[N, 16], each owing a stage; `first` int32[N + 1]; for every play, `key` uint64[M]
(a hash of the state after it, so that the order of plays may change), `loss` float16[M] (points a game less than the
best play's) and `rolled` bool[M] (is that from a rollout, or from the player's values of the 21 rolls); and `about`, a
JSON text: format, game, player, how it was rolled out, machine, date, digest of all the arrays.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.agents.bot import States
from nardy_rl.agents.policy import write_file
from nardy_rl.errors import BadOption
from nardy_rl.variant import Variant
from nardy_rl.variants import VARIANTS, variant_text

FORMAT = "nardy-rl errors 1"
FOLDER = Path(__file__).parent / "data" / "errors"
ARRAYS = ("states", "first", "key", "loss", "rolled")


@dataclass(frozen=True)
class ErrorBenchmark:
    """Positions, and the loss of every play in points a game; see the module's page for the arrays."""

    states: States
    first: NDArray[np.int32]
    key: NDArray[np.uint64]
    loss: NDArray[np.float16]
    rolled: NDArray[np.bool_]
    about: Mapping[str, Any]


def keys_of(plays: States) -> NDArray[np.uint64]:
    """A hash uint64[M] of states uint32[M, 16]."""
    h = np.full(len(plays), 0x9E3779B97F4A7C15, np.uint64)
    with np.errstate(over="ignore"):
        for k in range(plays.shape[1]):
            h = (h ^ plays[:, k].astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
            h ^= h >> np.uint64(31)
    return h


def digest_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Hash of the arrays of a benchmark."""
    digest = hashlib.sha256()
    for name in ARRAYS:
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()[:16]


def write_benchmark(path: str | Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write a benchmark, atomically; raises BadOption if that fails."""
    text = json.dumps({"format": FORMAT, "digest": digest_of(arrays), **about}, ensure_ascii=False)
    data = io.BytesIO()
    parts: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
    np.savez_compressed(data, about=np.frombuffer(text.encode(), np.uint8), **parts)
    try:
        write_file(Path(path), data.getvalue())
    except OSError as error:
        raise BadOption(f"cannot write the benchmark {str(path)!r}: {error.strerror}") from None


def read_benchmark(path: str | Path) -> ErrorBenchmark:
    """The benchmark in a file; raises BadOption for anything else, or one that another release has written."""
    try:
        with np.load(path, allow_pickle=False) as data:
            about = json.loads(bytes(data["about"]).decode())
            arrays = {name: data[name] for name in ARRAYS}
    except OSError as error:
        raise BadOption(f"cannot read the benchmark {str(path)!r}: {error.strerror or error}") from None
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise BadOption(f"{path} is no error benchmark ({type(error).__name__}: {error})") from None
    if about.get("format") != FORMAT or about.get("digest") != digest_of(arrays):
        raise BadOption(f"{path} is damaged, or of another release ({about.get('format')!r}): build it anew")
    return ErrorBenchmark(**arrays, about=about)


def benchmark_for(variant: Variant, file: str | Path | None = None) -> ErrorBenchmark:
    """The benchmark in a file, or the one that comes with the package; raises BadOption if there is none."""
    text = variant_text(variant)
    if file is None:
        file = FOLDER / f"{variant.id}.npz"
        if variant != VARIANTS.get(variant.id) or not file.is_file():
            raise BadOption(f"no error benchmark comes with {text}: build one with  nardy errors {text} --build FILE")
    found = read_benchmark(file)
    if found.about.get("variant") != text:
        raise BadOption(f"{file} is a benchmark of {found.about.get('variant')}, not of {text}")
    return found
