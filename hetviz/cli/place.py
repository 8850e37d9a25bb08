"""Place new items of a file on a fitted map."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import hetviz
from hetviz._json import records
from hetviz._types import Scalar
from hetviz.cli.arguments import Add, add_data
from hetviz.cli.terminal import progress, show, tell
from hetviz.errors import ParameterError


def register(add: Add) -> None:
    """Add the command."""
    place = add(
        "place",
        _place,
        "Place new items of a file on a fitted map; what is on it stays where it is.",
        "place world result/recipe.toml new.csv --dataset countries --out placed.csv",
    )
    add_data(place)
    place.add_argument(
        "fitted", help="the folder or recipe.toml of `embed`, or the file that its --model wrote"
    )
    place.add_argument("items", help="a table with a row for each new item, of any kind of file")
    place.add_argument("--dataset", required=True, metavar="NAME", help="which the items belong to")
    place.add_argument("--id", metavar="COLUMN", help="column of ids (found out)")
    place.add_argument("--k", type=int, default=5, help="nearest items of each dataset (5)")
    place.add_argument("--out", metavar="FILE", help="CSV to write: places, doubt, nearest items")


def _place(given: argparse.Namespace) -> int:
    from hetviz.exports.writing import write
    from hetviz.io import escaped, gate
    from hetviz.io.intake.new_items import read_new_items

    data = hetviz.load(given.data)
    if given.dataset not in data.datasets:
        raise ParameterError(
            f"--dataset {given.dataset}: there is none. There are: {', '.join(data.datasets)}."
        )
    file = Path(given.items)
    items = read_new_items([(file.name, gate.read_file(file))], data[given.dataset], None, given.id)
    placed = hetviz.place_rows(
        data,
        _fitted(Path(given.fitted), data),
        items.table,
        given.dataset,
        media=items.media,
        k=given.k,
    )
    problems = [*items.problems, *placed.problems]
    for problem in () if given.json else problems:
        tell(str(problem))
    table = placed.frame()
    if given.out is not None:
        texts = table.select_dtypes(exclude="number")
        safe = {str(name): [_safe(cell, escaped) for cell in texts[name]] for name in texts}
        write(given.out, table.assign(**safe).to_csv(index=False).encode())
    record = {
        "dataset": given.dataset,
        "items": [{str(k): _plain(v) for k, v in row.items()} for row in table.to_dict("records")],
        "neighbours": records(placed.neighbours),
        "problems": [problem.to_dict() for problem in problems],
        "out": given.out,
    }
    lines = [_line(row) for row in record["items"]]
    show(given, record, lines + ([f"Written to {given.out}"] if given.out else []))
    return 0


def _fitted(path: Path, data: hetviz.HeteroData) -> Any:
    """Return a fitted method: a saved one, or what a recipe says, fitted once more."""
    if path.is_dir() or path.suffix == ".toml":
        from hetviz.runs.embed.recipe import read_recipe
        from hetviz.runs.embed.run import fit_run

        recipe = read_recipe(path)
        run = recipe.run
        if run.fingerprint and run.fingerprint != data.fingerprint():
            tell("The recipe was made with other data; its method is fitted to those given.")
        return fit_run(
            data,
            run.method,
            run.params,
            run.seed,
            progress(),
            weights=run.weights,
            only=recipe.rows(data),
            hold_out=run.hold_out,
        )
    model = hetviz.load_model(path)
    unlike = [name for name in model.embedding_.ids if name not in data.datasets]
    if unlike:
        raise ParameterError(f"{path}: the model was fitted to other data: {', '.join(unlike)}.")
    return model


def _safe(cell: object, escaped: Callable[[str], str]) -> Any:
    return escaped(cell) if isinstance(cell, str) else cell


def _plain(value: Scalar) -> Scalar:
    """Return a value that JSON has."""
    if isinstance(value, bool | str):
        return value
    return None if value is None or value != value else float(value)


def _line(row: Mapping[str, object]) -> str:
    doubt = "" if row["doubt"] is None else f"doubt {row['doubt']:.2f}"
    near = [f"{k.removeprefix('nearest_')} {v}" for k, v in row.items() if "nearest_" in k and v]
    return f"{row['id']:<20}{doubt:<12}nearest: {', '.join(near)}"
