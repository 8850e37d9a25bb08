"""Make the map that each sample ships with.

    python tools/make_sample_maps.py [--samples sample_data] [NAME ...]

The map is the best by guidance area of a few closed-form ones (`hetviz.runs.first_map`), written to
six digits, with its method and parameters in the sample's hetviz.toml.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hetviz
from hetviz.io import coordinates_csv
from hetviz.io.toml import dumps
from hetviz.runs.first_map import first_map

DIGITS = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--samples", type=Path, default=Path("sample_data"))
    given = parser.parse_args()
    for name in given.names or hetviz.samples():
        section, coordinates = make(given.samples / name)
        (given.samples / name / "map.csv").write_text(coordinates, encoding="utf-8", newline="")
        manifest = given.samples / name / "hetviz.toml"
        text = manifest.read_text(encoding="utf-8").partition("\n[map]\n")[0]
        manifest.write_text(text.rstrip("\n") + "\n" + section, encoding="utf-8", newline="")
        print(f"{name}: {section}")


def make(folder: Path) -> tuple[str, str]:
    """Return the [map] section of the manifest and the coordinates of the map."""
    chosen = first_map(hetviz.load(folder))
    section = {"coordinates": "map.csv", "method": chosen.method, "params": chosen.params}
    return dumps({"map": section}), coordinates_csv(chosen.embedding, digits=DIGITS)


if __name__ == "__main__":
    main()
