"""Command line of the benchmarks: ``python -m benchmarks [name ...] [--quick] [--out DIR]``.

``python -m benchmarks compare BASE`` measures two checkouts, see `benchmarks.compare`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(
    path.stem
    for path in HERE.glob("*.py")
    if path.stem not in ("__init__", "__main__", "harness", "same_maps", "joint_data", "compare")
)


def main() -> None:
    """Run those named, or all."""
    if sys.argv[1:2] == ["compare"]:
        importlib.import_module("benchmarks.compare").main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"any of {', '.join(NAMES)}; all when none is named"
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"), help="where JSON goes")
    parser.add_argument("--data", type=Path, help="data folder, for benchmarks that use one")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    for name in arguments.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        # What a benchmark does with a folder of data: nothing, "may" use it, or "needs" it.
        uses = getattr(module, "DATA", None)
        if uses == "needs" and arguments.data is None:
            print(f"{name} left out: it needs --data, see benchmarks/{name}.py")
            continue
        inputs = (arguments.out, arguments.quick) + ((arguments.data,) if uses else ())
        module.run(*inputs)


if __name__ == "__main__":
    main()
