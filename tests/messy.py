"""Untidy files made from the samples: title rows, notes, decimal commas, old encodings.

`python -m tests.messy FOLDER` writes them, to try the app with.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import zipfile
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook

h5py = pytest.importorskip("h5py")

SAMPLES = Path(__file__).resolve().parents[1] / "sample_data"


def rows(path: str) -> list[dict[str, str]]:
    """The rows of a table of a sample."""
    with (SAMPLES / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def country_facts() -> bytes:
    """A workbook: a merged title, rows left blank, a date, a total below, and a sheet of notes."""
    book = Workbook()
    notes = book.active
    notes.title = "Notes"
    notes["A1"] = "Collected for the spring report. Ask Ann before you change anything."
    notes["A3"] = "GDP in US dollars, 2022."
    sheet = book.create_sheet("Countries")
    sheet["A1"] = "Country facts, spring report"
    sheet.merge_cells("A1:H1")
    head = ["Code", "Country", "Region", "Population", "GDP per head", "Life expectancy"]
    sheet.append([])
    sheet.append([*head, "Last checked", "Remark"])
    for at, row in enumerate(rows("world/countries.csv")):
        if at in (40, 95):
            sheet.append([])
        sheet.append(
            [
                row["id"],
                row["name"],
                row["region"],
                int(row["population"]),
                _number(row["gdp_per_head"]) if at % 17 else "n/a",
                _number(row["life_expectancy"]),
                date(2024, 1, 8) + timedelta(days=at % 90),
                "to be checked again" if at % 50 == 7 else None,
            ]
        )
    return _saved(book)


def films() -> bytes:
    """A table as a German spreadsheet saves it: semicolons, decimal commas, Windows letters."""
    out = io.StringIO()
    write = csv.writer(out, delimiter=";", lineterminator="\r\n")
    write.writerow(["Filmliste der Bücherei, Stand März 2024", "", "", "", "", ""])
    write.writerow([])
    write.writerow(["Nummer", "Originaltitel", "Regie", "Jahr", "Stunden", "Land"])
    for row in rows("world/films.csv")[:600]:
        hours = f"{int(row['minutes'] or 90) / 60:.2f}".replace(".", ",")
        cells = [row["id"], row["original_title"] or row["title"], row["director"]]
        write.writerow([*cells, row["year"], hours, row["main_country"]])
    return out.getvalue().encode("cp1252", "replace")


def programs() -> bytes:
    """JSON lines: objects in objects, lists, keys that are sometimes missing, an empty line."""
    lines = []
    for at, row in enumerate(rows("debian/programs.csv")):
        statements: dict[str, object] = {
            "package": row["id"],
            "about": {"synopsis": row["synopsis"], "description": row["description"]},
            "section": row["section"],
            "size": {
                "installed_kb": _number(row["installed_kb"]),
                "depends": int(row["n_depends"]),
            },
        }
        if row["interface"]:
            statements["interfaces"] = [row["interface"], *(["any"] if at % 3 else [])]
        lines.append(json.dumps(statements) + ("\n" if at == 9 else ""))
    return "\n".join(lines).encode()


def emoji_pictures() -> bytes:
    """A zip of pictures in a folder, a table that names them, and what a computer adds itself."""
    table = io.StringIO()
    write = csv.writer(table)
    write.writerow(["file", "name", "group", "since"])
    with zipfile.ZipFile(SAMPLES / "emoji" / "thumbs.zip") as thumbs:
        pictures = rows("emoji/emoji.csv")[:260]
        for row in pictures:
            write.writerow([row["image"], row["name"], row["group"], row["version"]])
        members = [(f"my emoji/img/{row['image']}", thumbs.read(row["image"])) for row in pictures]
    members += [
        ("my emoji/list.csv", table.getvalue().encode()),
        ("my emoji/Thumbs.db", b"\0"),
        ("__MACOSX/my emoji/._list.csv", b"\0"),
    ]
    return _zipped(members)


def dependencies() -> bytes:
    """A graph: what program depends on what, as GraphML."""
    edges = rows("debian/within_links.csv")
    expected = {row["id"]: row for row in rows("debian/programs.csv")}
    used = dict.fromkeys(name for e in edges for name in (e["source_id"], e["target_id"]))
    nodes = [
        f"<node id={quoteattr(name)}><data key='s'>{expected[name]['section']}</data>"
        f"<data key='k'>{expected[name]['installed_kb']}</data></node>"
        for name in used
        if name in expected
    ]
    lines = [
        f"<edge source={quoteattr(e['source_id'])} target={quoteattr(e['target_id'])}/>"
        for e in edges
        if e["source_id"] in expected and e["target_id"] in expected
    ]
    return (
        '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="s" for="node" attr.name="section" attr.type="string"/>'
        '<key id="k" for="node" attr.name="installed_kb" attr.type="double"/>'
        f'<graph edgedefault="directed">{"".join(nodes + lines)}</graph></graphml>'
    ).encode()


def digits() -> bytes:
    """Numbers of handwritten digits as cells with genes would be: AnnData."""
    table = pd.read_csv(SAMPLES / "digits" / "fourier.csv", dtype={"id": str, "digit": str})
    X = table.filter(like="fou").to_numpy(np.float32)
    kinds, codes = np.unique(table["digit"], return_inverse=True)
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        file["X"] = X
        file["X"].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        obs = _group(file, "obs", "dataframe", table["id"])
        obs.attrs["column-order"] = ["digit"]
        digit = obs.create_group("digit")
        digit.attrs.update({"encoding-type": "categorical", "encoding-version": "0.2.0"})
        digit.attrs["ordered"] = False
        digit["codes"] = codes.astype(np.int8)
        digit["categories"] = kinds.astype("S")
        var = _group(file, "var", "dataframe", [f"f{at}" for at in range(X.shape[1])])
        var.attrs["column-order"] = np.array([], dtype="S")
        shape = file.create_group("obsm")
        shape.attrs.update({"encoding-type": "dict", "encoding-version": "0.1.0"})
        centred = X - X.mean(axis=0)
        shape["X_pca"] = centred @ np.linalg.svd(centred, full_matrices=False)[2][:10].T
    return buffer.getvalue()


def languages() -> bytes:
    """A Parquet file with an index, categories, lists and days."""
    table = pd.DataFrame(rows("world/languages.csv")).set_index("id")
    frame = pd.DataFrame(
        {
            "name": table["name"],
            "family": table["family"].astype("category"),
            "speakers": pd.to_numeric(table["speakers"], errors="coerce"),
            "countries": pd.to_numeric(table["n_countries"], errors="coerce").astype("Int64"),
            "scripts": [[script] if script else [] for script in table["script"]],
            "checked": pd.date_range("2023-01-01", periods=len(table), freq="D"),
        }
    )
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def letters() -> bytes:
    """A zip of texts in two folders, one in Windows letters, and a word about them."""
    programs = [row for row in rows("debian/programs.csv") if len(row["description"]) > 150][:120]
    members = [
        (
            f"texts/{row['section']}/{row['id']}.txt",
            f"{row['synopsis']}\n\n{row['description']}\n".encode(),
        )
        for row in programs
    ]
    note = "Ein Café für jeden Nutzer. Das Programm zeigt Bücher an. Es kostet nichts."
    members += [
        ("texts/misc/café.txt", (note + "\n").encode("cp1252")),
        ("texts/README.txt", b"Descriptions of programs, one a file.\n"),
    ]
    return _zipped(members)


FILES: Mapping[str, Callable[[], bytes]] = {
    "country facts.xlsx": country_facts,
    "Filmliste.csv": films,
    "programs.jsonl": programs,
    "my emoji.zip": emoji_pictures,
    "dependencies.graphml": dependencies,
    "digits.h5ad": digits,
    "languages.parquet": languages,
    "texts.zip": letters,
}


def _number(text: str) -> float | None:
    return float(text) if text else None


def _group(file: h5py.File, name: str, kind: str, ids: object) -> h5py.Group:
    group = file.create_group(name)
    group.attrs.update({"encoding-type": kind, "encoding-version": "0.2.0", "_index": "_index"})
    group["_index"] = np.asarray(ids).astype("S")
    return group


def _saved(book: Workbook) -> bytes:
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _zipped(members: list[tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


if __name__ == "__main__":
    for filename, make in FILES.items():
        (Path(sys.argv[1]) / filename).write_bytes(make())
