"""Bit-equality of the maps of all methods, on any number of threads.

``python -m benchmarks.same_maps`` prints a fingerprint of the coordinates of every method on every
sample where it applies, with one thread and with two, and says where the two differ. With
``--against FILE``, an earlier run's file, it also says which maps are no longer the same: run it
before and after a change that should change nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

THREADS = (1, 2)
_POOLS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def fingerprints(samples: list[str], methods: list[str]) -> dict[str, str]:
    """Return sample and method -> SHA-256 of the coordinates, or why there are none."""
    import hetviz

    result = {}
    for sample in samples or hetviz.samples():
        data = hetviz.load(sample)
        for key in methods or [card.key for card in hetviz.methods()]:
            start = time.perf_counter()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    embedding = hetviz.embed(data, key)
            except hetviz.errors.NotApplicableError as refusal:
                result[f"{sample} {key}"] = f"refused: {refusal}"
                continue
            digest = hashlib.sha256()
            for name in data.datasets:
                digest.update(np.ascontiguousarray(embedding.coordinates[name]).tobytes())
            result[f"{sample} {key}"] = digest.hexdigest()
            taken = time.perf_counter() - start
            print(f"{sample} {key}: {taken:.1f} s", file=sys.stderr, flush=True)
    return result


def differences(entry: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the maps that are in both and not the same."""
    return [key for key in entry if key in other and entry[key] != other[key]]


def _in_a_process(threads: int, arguments: argparse.Namespace) -> dict[str, str]:
    command = [sys.executable, "-m", "benchmarks.same_maps", "--child"]
    command += ["--samples", *arguments.samples, "--methods", *arguments.methods]
    pools = dict.fromkeys(_POOLS, str(threads))
    done = subprocess.run(
        command, env={**os.environ, **pools}, stdout=subprocess.PIPE, check=True, text=True
    )
    result: dict[str, str] = json.loads(done.stdout)
    return result


def main() -> int:
    """Make the maps, print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", nargs="*", default=[], help="all where none is named")
    parser.add_argument("--methods", nargs="*", default=[], help="all where none is named")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks/same_maps.json"))
    parser.add_argument("--against", type=Path, help="file of an earlier run")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(fingerprints(arguments.samples, arguments.methods)))
        return 0
    runs = {str(threads): _in_a_process(threads, arguments) for threads in THREADS}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    entry, two = (runs[str(threads)] for threads in THREADS)
    different = differences(entry, two)
    created = sum(not value.startswith("refused") for value in entry.values())
    print(f"{created} maps, {len(entry) - created} refused")
    print(f"another map with 2 threads: {', '.join(different) or 'none'}")
    if arguments.against:
        earlier = json.loads(arguments.against.read_text(encoding="utf-8"))
        for threads, run in runs.items():
            changed = differences(earlier[threads], run)
            different += changed
            print(f"changed, {threads} threads: {', '.join(changed) or 'none'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
