"""Conversion of the raw sample projects into bundles under sample_data/."""

from __future__ import annotations

import argparse
import csv
import shutil
import zipfile
from pathlib import Path

from hetviz.io.infer.cells import csv_text
from hetviz.io.toml import dumps

LINKS = ["source_dataset", "source_id", "target_dataset", "target_id", "weight", "kind", "role"]
COMPARED = ["anchor_dataset", "anchor_id", "near_dataset", "near_id", "far_dataset", "far_id"]
# What a person would say is guidance; what was observed of the items is a relation.
RELATIONS = {"border", "depends", "suggests", "recommends", "enhances", "conflicts", "breaks"}

SAMPLES = {
    "emoji": {
        "title": "Emoji and the words people look them up by",
        "description": "1,273 pictures, 621 keywords, and which keyword belongs to which picture.",
        "dataset": [
            {
                "name": "emoji",
                "table": "emoji.csv",
                "id": "id",
                "title": "name",
                "media": "thumbs.zip",
                "media_column": "image",
                "features": "emoji_vectors.csv",
            },
            {
                "name": "keywords",
                "table": "keywords.csv",
                "id": "id",
                "title": "keyword",
                "features": "keywords_vectors.csv",
            },
        ],
        "links": ["links.csv", "within_links.csv"],
        "comparisons": ["comparisons.csv"],
        "labels": [("emoji", "group"), ("keywords", "main_group")],
        "pictures": ("emoji", "image", "images"),
    },
    "world": {
        "title": "Countries, their languages, and films shown at Cannes",
        "description": "194 countries, 305 languages and 1,761 films, with who speaks what and "
        "where each film was made.",
        "dataset": [
            {
                "name": "countries",
                "table": "countries.csv",
                "id": "id",
                "title": "name",
                "media": "thumbs.zip",
                "media_column": "flag",
                "features": [
                    "population",
                    "gdp_per_head",
                    "literacy_pct",
                    "life_expectancy",
                    "area_km2",
                    "density",
                    "n_borders",
                    "n_languages",
                    "week_starts",
                    "measures",
                    "clock",
                ],
                "log": ["population", "gdp_per_head", "area_km2", "density"],
            },
            {
                "name": "languages",
                "table": "languages.csv",
                "id": "id",
                "title": "name",
                "features": "languages_vectors.csv",
            },
            {
                "name": "films",
                "table": "films.csv",
                "id": "id",
                "title": "title",
                "features": ["year", "minutes"],
            },
        ],
        "links": ["links.csv", "within_links.csv"],
        "comparisons": ["comparisons.csv"],
        "labels": [
            ("countries", "region"),
            ("languages", "family_label"),
            ("films", "decade"),
        ],
        "pictures": ("countries", "flag", "flags"),
    },
    "digits": {
        "title": "Handwritten digits, measured three ways",
        "description": "Three sets of measurements of 1,000 digits; some pairs are known to show "
        "the same digit image, and the rest are kept aside to judge a map by.",
        "dataset": [
            {
                "name": "pixels",
                "table": "pixels.csv",
                "id": "id",
                "media": "thumbs.zip",
                "media_column": "image",
                "features": ["kl*"],
            },
            {"name": "fourier", "table": "fourier.csv", "id": "id", "features": ["fou*"]},
            {"name": "shape", "table": "shape.csv", "id": "id", "features": ["sh*"]},
        ],
        "links": ["links.csv"],
        "held_out": ["links_heldout.csv"],
        "comparisons": ["comparisons.csv"],
        "labels": [("pixels", "digit"), ("fourier", "digit"), ("shape", "digit")],
        "pictures": ("pixels", "image", "images"),
    },
    "debian": {
        "title": "Programs of a Linux distribution, their tags and libraries",
        "description": "703 programs, 220 tags and 227 libraries, with what each program needs and "
        "what conflicts with it.",
        "dataset": [
            {
                "name": "programs",
                "table": "programs.csv",
                "id": "id",
                "text": ["synopsis", "description"],
                "features": "programs_vectors.csv",
            },
            {
                "name": "tags",
                "table": "tags.csv",
                "id": "id",
                "title": "name",
                "text": ["description"],
                "features": "tags_vectors.csv",
            },
            {
                "name": "libraries",
                "table": "libraries.csv",
                "id": "id",
                "text": ["synopsis"],
                "features": ["synopsis", "installed_kb"],
                "log": ["installed_kb"],
            },
        ],
        "links": ["links.csv", "within_links.csv"],
        "labels": [("programs", "section"), ("tags", "facet"), ("libraries", "section")],
    },
}
VIEWS = {
    "title": "Three views of the same digits",
    "description": "Pixels, Fourier coefficients and shape of handwritten digits. The three are "
    "views: the same id is the same digit, and each view has seen a different 700 of them.",
    "dataset": [{"entity": "digit", **dataset} for dataset in SAMPLES["digits"]["dataset"]],
    "labels": SAMPLES["digits"]["labels"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--out", type=Path, default=Path("sample_data"))
    inputs = parser.parse_args()
    for name, sample in SAMPLES.items():
        convert(inputs.source / name, inputs.out / name, name, sample)
    make_views(inputs.out / "digits", inputs.out / "digit-views")


def convert(source: Path, out: Path, name: str, sample: dict) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for dataset in sample["dataset"]:
        for key in ("table", "features"):
            file = dataset[key]
            if isinstance(file, str):
                header, rows = read(source / file)
                prefix = sample.get("pictures", ("", "", ""))[2] + "/"
                write(out / file, header, [[c.removeprefix(prefix) for c in row] for row in rows])
    for file in [*sample["links"], *sample.get("held_out", [])]:
        header, rows = read(source / file)
        at = [header.index(column) for column in LINKS[:6]]
        links = [[row[place] for place in at] for row in rows]
        write(out / file, LINKS, [[*link, role(link[5])] for link in links])
    for file in sample.get("comparisons", []):
        _, rows = read(source / file)
        write(out / file, COMPARED, [[d, a, d, b, d, c] for d, a, b, c in rows])
    if "pictures" in sample:
        pack(source / sample["pictures"][2], out / "thumbs.zip")
    manifest(out, name, sample)


def role(kind: str) -> str:
    observed = kind in RELATIONS or kind.startswith("both provide")
    return "relation" if observed else "guidance"


def manifest(out: Path, name: str, sample: dict) -> None:
    document = {
        "format": 1,
        "name": name,
        "title": sample["title"],
        "description": sample["description"],
        "dataset": sample["dataset"],
        "links": [{"file": file} for file in sample.get("links", [])]
        + [{"file": file, "held_out": True} for file in sample.get("held_out", [])],
        "comparisons": [{"file": file} for file in sample.get("comparisons", [])],
        "labels": [{"dataset": d, "column": c} for d, c in sample["labels"]],
    }
    (out / "hetviz.toml").write_text(dumps(document), encoding="utf-8")


def make_views(source: Path, out: Path) -> None:
    """Give the rows of the three digit datasets one id a digit, so that they are views."""
    out.mkdir(parents=True, exist_ok=True)
    for dataset in VIEWS["dataset"]:
        header, rows = read(source / dataset["table"])
        write(out / dataset["table"], header, [["d" + row[0][1:], *row[1:]] for row in rows])
    shutil.copyfile(source / "thumbs.zip", out / "thumbs.zip")
    manifest(out, "digit-views", VIEWS)


def pack(folder: Path, out: Path) -> None:
    """Store pictures in a zip, in order of name and without dates: the same bytes every time."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.iterdir()):
            archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes())


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    path.write_text(csv_text(header, rows), encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
