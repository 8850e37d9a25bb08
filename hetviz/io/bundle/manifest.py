"""The manifest hetviz.toml, checked completely before any file is read."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from hetviz._samples import MANIFEST
from hetviz.errors import DataError, Problem
from hetviz.features.columns.options import TEXT_MODELS, option_problems
from hetviz.io import gate, limits, toml

FORMAT = 1


@dataclass(frozen=True)
class DatasetEntry:
    """One [[dataset]]; see `hetviz.io.intake.reading` for what the keys mean."""

    name: str
    table: str
    entity: str | None = None
    id: str | Sequence[str] | None = None
    title: str | None = None
    text: tuple[str, ...] = ()
    media: str | None = None
    media_column: str | None = None
    features: str | tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    sparse: tuple[str, ...] | None = None
    n_features: int | None = None
    exclude: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    kernel: str | None = None
    distance: str | None = None
    recipe: str | None = None
    columns: tuple[Mapping[str, Any], ...] | None = None
    keys: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    text_model: str = "words"
    missing: str = ""
    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    # Cells by column that name items, although they look like marks of missing cells, such as NA.
    id_cells: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class LinksEntry:
    """One [[links]]: a table, or arrays of rows (`ends`), weights and scores."""

    file: str = ""
    ends: str | None = None
    weights: str | None = None
    scores: str | None = None
    complete: bool = False
    held_out: bool = False
    source: str | None = None
    target: str | None = None
    kind: str = "link"
    role: str = "guidance"
    repeated: bool = False
    columns: tuple[Mapping[str, Any], ...] | None = None
    missing: str = ""


@dataclass(frozen=True)
class ComparisonsEntry:
    """One [[comparisons]]."""

    file: str
    columns: tuple[Mapping[str, Any], ...] | None = None
    missing: str = ""


@dataclass(frozen=True)
class LabelsEntry:
    """One [[labels]]: a column of the table, or a file with one JSON value a row."""

    dataset: str
    column: str | None = None
    name: str | None = None
    file: str | None = None
    annotations: str | None = None  # A file with the labels of each person, one a row.


@dataclass(frozen=True)
class MapEntry:
    """The [map] that is shown first."""

    coordinates: str
    method: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    note: str = ""
    still: str | None = None
    items: int | None = None


@dataclass(frozen=True)
class Manifest:
    """A whole hetviz.toml."""

    name: str
    title: str
    description: str
    datasets: tuple[DatasetEntry, ...]
    links: tuple[LinksEntry, ...]
    comparisons: tuple[ComparisonsEntry, ...]
    labels: tuple[LabelsEntry, ...]
    map: MapEntry | None


_Entry = DatasetEntry | LinksEntry | ComparisonsEntry | LabelsEntry | MapEntry
_SECTIONS: dict[str, tuple[type[_Entry], tuple[str, ...]]] = {
    "dataset": (DatasetEntry, ("name", "table")),
    "links": (LinksEntry, ()),
    "comparisons": (ComparisonsEntry, ("file",)),
    "labels": (LabelsEntry, ("dataset",)),
    "map": (MapEntry, ("coordinates",)),
}
"""The class and the required keys of each section."""
# The types of keys that are not text.
_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("exclude", "log", "feature_names", "sparse", "columns"), list),
    **dict.fromkeys(("features", "text"), (str, list)),
    **dict.fromkeys(("complete", "held_out", "repeated"), bool),
    **dict.fromkeys(("n_features", "seed", "items"), int),
    "params": dict,
}


def parse(content: bytes) -> Manifest:
    """Read and check a hetviz.toml."""
    document = toml.loads(MANIFEST, content)
    problems: list[Problem] = []
    sections: dict[str, list[Any]] = {}

    def refuse(where: str, message: str, value: object = "", remedy: str = "") -> None:
        problems.append(Problem("bad-manifest", where, message, str(value), remedy))

    gate.check_format(MANIFEST, document.get("format"), FORMAT)
    if document.get("format") != FORMAT:
        refuse(
            MANIFEST, f"format = {FORMAT} is needed at the top", document.get("format", "nothing")
        )
    for key, value in document.items():
        if key in ("name", "title", "description"):
            if not isinstance(value, str):
                refuse(f"{MANIFEST}, {key}", "text is needed", value)
        elif key in _SECTIONS:
            entries = [value] if key == "map" else value
            if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
                brackets = f"[{key}]" if key == "map" else f"[[{key}]]"
                refuse(f"{MANIFEST}, {key}", "a section is needed", remedy=f"Write {brackets}.")
                continue
            sections[key] = [
                entry
                for at, raw in enumerate(entries)
                if (entry := _entry(key, at, raw, refuse)) is not None
            ]
        elif key != "format":
            near = difflib.get_close_matches(key, [*_SECTIONS, "name", "title"], n=1)
            hint = f"Did you mean {near[0]!r}?" if near else ""
            refuse(MANIFEST, "unknown key", key, hint)
    if not document.get("dataset"):
        refuse(MANIFEST, "there is no [[dataset]] section", remedy="Add at least one.")
    elif isinstance(document["dataset"], list) and len(document["dataset"]) > limits.MAX_DATASETS:
        n, limit = len(document["dataset"]), limits.MAX_DATASETS
        refuse(MANIFEST, f"{n:,} datasets, at most {limit:,} are allowed", remedy="Give fewer.")
    if problems:
        raise DataError(problems)
    name = str(document.get("name", "data"))
    return Manifest(
        name,
        str(document.get("title", name)),
        str(document.get("description", "")),
        tuple(sections.get("dataset", ())),
        tuple(sections.get("links", ())),
        tuple(sections.get("comparisons", ())),
        tuple(sections.get("labels", ())),
        next(iter(sections.get("map", ())), None),
    )


def _entry(section: str, at: int, raw: dict[str, object], refuse: Callable[..., None]) -> object:
    kind, required = _SECTIONS[section]
    names = (field.name for field in fields(kind))
    types = {key: _TYPES.get(key, str) for key in names if key != "options"}
    where = f"{MANIFEST}, {section} {at + 1}" + (f" ({raw['name']})" if "name" in raw else "")
    is_good = True
    values: dict[str, Any] = {}
    for key in required:
        if key not in raw:
            refuse(where, f"{key} is needed")
            is_good = False
    if section == "links" and "file" not in raw and not {"ends", "source", "target"} <= set(raw):
        refuse(where, "file is needed", remedy="Or ends, source and target, for arrays.")
        is_good = False
    for key, value in raw.items():
        type_needed = types.get(key)
        if type_needed is None:
            near = difflib.get_close_matches(key, types, n=1)
            refuse(where, "unknown key", key, f"Did you mean {near[0]!r}?" if near else "")
            is_good = False
            continue
        if section == "dataset" and key == "columns" and isinstance(value, dict):
            # [dataset.columns.NAME] has feature options; a list describes a saved table.
            problems = option_problems(where, value)
            for problem in problems:
                refuse(problem.where, problem.what, problem.value, problem.remedy)
            is_good = is_good and not problems
            values["options"] = value
            continue
        if section == "dataset" and key == "text_model" and value not in TEXT_MODELS:
            refuse(
                where,
                "unknown value of text_model",
                value,
                f"Use one of: {', '.join(TEXT_MODELS)}.",
            )
            is_good = False
            continue
        inner = dict if key == "columns" else str
        if (
            not isinstance(value, type_needed)
            or (type_needed is int and isinstance(value, bool))
            or (isinstance(value, list) and not all(isinstance(item, inner) for item in value))
        ):
            refuse(where, f"{key} has the wrong kind of value", value)
            is_good = False
            continue
        if key == "text" and isinstance(value, str):
            value = [value]
        values[key] = tuple(value) if isinstance(value, list) else value
    return kind(**values) if is_good else None
