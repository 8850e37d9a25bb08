"""Reading of tables with default settings: ids, types, and columns that are no features.

    python benchmarks/table_reading.py FOLDER [FOLDER ...] [--markdown FILE] [--no-map]

Each file of the folders is read alone, by the library's defaults, and the first map of it is made
as the app makes it. A file passes when it reaches a map, no row was lost, and no measurement became
the id: an id column must be of whole numbers or texts that all differ.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hetviz.errors import HetvizError
from hetviz.features.recipe import recipe_of
from hetviz.io import read_tables
from hetviz.io.bundle.loaded import DatasetInfo, Loaded
from hetviz.runs.first_map import first_map

HEAD = ("file", "rows", "ids", "columns", "left out", "problems", "map")


@dataclass(frozen=True)
class Row:
    """What became of one dataset."""

    file: str
    rows: str
    ids: str
    columns: str
    left_out: str
    problems: str
    map: str

    @property
    def cells(self) -> tuple[str, ...]:
        """In the order of the head."""
        return (
            self.file,
            self.rows,
            self.ids,
            self.columns,
            self.left_out,
            self.problems,
            self.map,
        )


def rows_of(path: Path, with_map: bool) -> list[Row]:
    """Return a row for each dataset of a file, one alone where it is refused."""
    try:
        loaded = read_tables([(path.name, path.read_bytes())])
    except HetvizError as error:
        return [Row(path.name, "", "", "", "", str(error)[:80], "refused")]
    created = _map(loaded) if with_map else "not tried"
    return [_row(path, loaded, info, created) for info in loaded.understood]


def _map(loaded: Loaded) -> str:
    try:
        return first_map(loaded.data).method
    except HetvizError as error:
        return f"none: {str(error)[:60]}"


def _row(path: Path, loaded: Loaded, info: DatasetInfo, created: str) -> Row:
    dataset = loaded.data[info.dataset]
    kinds = Counter(column.kind for column in info.columns if column.role != "id")
    left = [
        f"{entry['column']} ({entry['why']})"
        for entry in recipe_of(dataset)["left_out"]
        if entry["why"] not in ("label", "title")
    ]
    several = len(loaded.understood) > 1
    return Row(
        f"{path.name}, {info.dataset}" if several else path.name,
        f"{info.n_rows:,}",
        " + ".join(info.id_from) or "row numbers",
        ", ".join(f"{n} {kind}" for kind, n in kinds.items()),
        "; ".join(left),
        f"{len(loaded.errors)} errors" if loaded.errors else "",
        created,
    )


def main() -> int:
    """Read what the command line names and print a table of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--markdown", type=Path, help="also write the table here")
    parser.add_argument("--no-map", action="store_true", help="only read")
    inputs = parser.parse_args()
    files = [
        path
        for folder in inputs.folders
        for path in (sorted(folder.iterdir()) if folder.is_dir() else [folder])
        if path.is_file()
    ]
    result = [row for path in files for row in rows_of(path, not inputs.no_map)]
    lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}"]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row.cells)} |" for row in result]
    reached = sum(
        row.map not in ("refused", "") and not row.map.startswith("none") for row in result
    )
    by_number = sum(row.ids == "row numbers" for row in result)
    lines += [
        "",
        f"{len(files)} files, {len(result)} datasets: {reached} reach a map; {by_number} by row "
        f"numbers; {sum(bool(row.problems) for row in result)} with rows or files left out.",
    ]
    text = "\n".join(lines)
    sys.stdout.write(text + "\n")
    if inputs.markdown is not None:
        inputs.markdown.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
