"""Run the benchmarks: ``python -m benchmarks [name ...] [--quick] [--out DIR]``."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

NAMES = (
    "guided_projection",
    "spectral",
    "coca",
    "guidance_measures",
    "map_server",
    "sample_maps",
    "neighbour_maps",
    "links",
    "comparisons",
    "browser",
)

NEED_DATA = ("coca", "links")
MAY_USE_DATA = ("comparisons",)


def main() -> None:
    """Run those named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"any of {', '.join(NAMES)}; all when none is named"
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"), help="where JSON goes")
    parser.add_argument(
        "--data", type=Path, help=f"data folder, for {', '.join(NEED_DATA + MAY_USE_DATA)}"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    for name in arguments.names or NAMES:
        given = [arguments.out, arguments.quick]
        if name in NEED_DATA and arguments.data is None:
            print(f"{name} left out: it needs --data, see benchmarks/{name}.py")
            continue
        if name in NEED_DATA + MAY_USE_DATA:
            given.append(arguments.data)
        importlib.import_module(f"benchmarks.{name}").run(*given)


if __name__ == "__main__":
    main()
