"""Original maps of the samples."""

from __future__ import annotations

import argparse
from pathlib import Path

import hetviz
from hetviz.io import coordinates_csv
from hetviz.io.toml import dumps
from hetviz.plots import colouring, still_map

METHOD = "joint-map"
DIGITS = 6
STILL = "still.svg"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--samples", type=Path, default=Path("sample_data"))
    inputs = parser.parse_args()
    for name in inputs.names or hetviz.samples():
        section, coordinates, still = make(inputs.samples / name)
        (inputs.samples / name / "map.csv").write_text(coordinates, encoding="utf-8", newline="")
        (inputs.samples / name / STILL).write_text(still + "\n", encoding="utf-8", newline="")
        manifest = inputs.samples / name / "hetviz.toml"
        text = manifest.read_text(encoding="utf-8").partition("\n[map]\n")[0]
        manifest.write_text(text.rstrip("\n") + "\n" + section, encoding="utf-8", newline="")
        print(f"{name}: {section}")


def make(folder: Path) -> tuple[str, str, str]:
    """Return the [map] section of the manifest, the coordinates of the map, and its picture."""
    data = hetviz.load(folder)
    embedding = hetviz.embed(data, METHOD)
    section = {
        "coordinates": "map.csv",
        "method": METHOD,
        "still": STILL,
        "items": data.n_objects,
    }
    still = still_map(data, embedding, colouring(data))
    return dumps({"map": section}), coordinates_csv(embedding, digits=DIGITS), still


if __name__ == "__main__":
    main()
