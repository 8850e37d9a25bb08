"""Plans of recipes over large tables: checked content and blocks of rows."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from math import ceil
from pathlib import Path
from typing import Any, NotRequired, Required, TypedDict, cast

from hetviz import params as parameters
from hetviz.algorithms.registry import get_method
from hetviz.errors import DataError, ParameterError, Problem
from hetviz.io import gate, limits
from hetviz.io.frames.row_files import RowFiles

METHODS = ("guided-projection", "cca", "cdmca", "pca", "coca")
"""Methods with an exact fit by blocks; others are fitted to landmarks."""
BLOCK_NUMBERS = 32_000_000
"""Default size of a block, in numbers."""
_IDS_PER_PART, _LINKS_PER_PART = 1_000_000, 4_000_000
_BASE_BYTES = 350_000_000
MAX_COORDINATES = 8_000
REFINE, REFINED_ROWS = 50, 1_000_000
"""Iterations after placement by landmarks, and maximum number of refined rows."""
UNREFINED = ("umap",)
"""Methods that do not gain from refinement by default."""
_LANDMARK_DISTANCE_BYTES = 256_000_000
_REFINED_ROW_BYTES, _REFINED_LINK_BYTES, _REFINED_NUMBER_BYTES = 1_500, 120, 40
"""Bytes of a refined row without features, of a link among such rows, and of a feature."""

_KEYS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "data": {"path": str, "id": str, "features": (str, list), "entity": str},
    "guidance": {
        "path": str,
        "from": str,
        "to": str,
        "i": str,
        "j": str,
        "weight": (str, int, float),
        "unknown": str,
    },
    "blocks": {"rows": int, "landmarks": int, "refine": int, "refined_rows": int},
    "limits": {"max_memory": str, "max_time": str},
}
_TOP_KEYS: dict[str, type | tuple[type, ...]] = {
    "format": int,
    "method": str,
    "seed": int,
    "params": dict,
    "unset": list,
    "data": dict,
    "guidance": dict,
    "blocks": dict,
    "limits": dict,
    "versions": dict,
}
_BYTE_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_TIME_UNITS = {"s": 1, "m": 60, "h": 3_600}


class _Rows(TypedDict):
    """[data.NAME]."""

    path: str
    id: str
    features: NotRequired[str | list[object]]
    entity: NotRequired[str]


_LinkRows = TypedDict(
    "_LinkRows",
    {
        "path": str,
        "from": str,
        "to": str,
        "i": str,
        "j": str,
        "weight": NotRequired[str | float],
        "unknown": NotRequired[str],
    },
)


class _Blocks(TypedDict, total=False):
    rows: int
    landmarks: int
    refine: int
    refined_rows: int


class _Limits(TypedDict, total=False):
    max_memory: str
    max_time: str


class _Document(TypedDict, total=False):
    """A recipe over files with checked keys."""

    method: str
    seed: int
    params: dict[str, object]
    unset: list[str]
    data: Required[dict[str, _Rows]]
    guidance: dict[str, _LinkRows]
    blocks: _Blocks
    limits: _Limits


_NUMBER_TYPE = re.compile(r"u?int\d+|half_?float|float|double|bool")
_VECTOR_TYPE = re.compile(r"fixed_size_list<.*?: (float|double|halffloat).*>\[(\d+)\]")


@dataclass(frozen=True)
class Table:
    """A dataset in files."""

    name: str
    entity: str
    files: RowFiles
    id: str
    features: tuple[str, ...]
    d: int
    single: bool

    @property
    def n(self) -> int:
        return self.files.n_rows


@dataclass(frozen=True)
class LinkTable:
    """Links in files."""

    name: str
    files: RowFiles
    source: int
    target: int
    i: str
    j: str
    weight: str | float
    leave_out: bool


@dataclass(frozen=True)
class RowBlock:
    """Consecutive rows of one table."""

    table: int
    start: int
    stop: int

    @property
    def n(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Plan:
    """Plan that every worker needs; its paths must be readable on all machines."""

    tables: tuple[Table, ...]
    links: tuple[LinkTable, ...]
    blocks: tuple[RowBlock, ...]
    parts: int
    chunks: tuple[tuple[int, int, int], ...]
    as_text: tuple[bool, ...]
    views: tuple[tuple[int, int], ...]
    scratch: str = ""

    def of_table(self, t: int) -> list[int]:
        return [number for number, block in enumerate(self.blocks) if block.table == t]

    def path(self, name: str) -> str:
        return f"{self.scratch}/{name}"


@dataclass(frozen=True)
class LargeRecipe:
    """A recipe over tables in files."""

    name: str  # Name of the file, for messages.
    method: str
    params: Mapping[str, Any]  # Every parameter of the method, given or default.
    given: Mapping[str, Any]  # Parameters in the recipe.
    seed: int
    plan: Plan
    landmarks: int  # Number of landmarks for methods that are not fitted by blocks.
    refine: int  # Iterations after placement by landmarks; 0 for none.
    refined_rows: int  # Maximum number of refined rows; the others are placed by them.
    max_memory: int | None  # Memory limit of each process in bytes.
    max_seconds: float | None
    document: Mapping[str, Any] = field(default_factory=dict)  # The recipe as read.

    @property
    def exact(self) -> bool:
        """Whether the method sees all rows."""
        return self.method in METHODS


def is_large(document: Mapping[str, object]) -> bool:
    """Return whether a recipe is over tables in files."""
    return isinstance(document.get("data"), Mapping)


def large_recipe(name: str, document: Mapping[str, object], folder: Path) -> LargeRecipe:
    """Check a recipe over tables in files, and split their rows into blocks."""
    _check_keys(name, document)
    content = cast("_Document", document)
    method = get_method(content.get("method", "guided-projection"))
    recipe_params = {**content.get("params", {}), **dict.fromkeys(content.get("unset", ()))}
    checked = parameters.check(method.card.key, method.params, recipe_params)
    if checked.get("pins"):
        raise ParameterError(f"{name}: recipes over files cannot pin items.")
    seed = content.get("seed", 0)
    if "random_state" in method.params:
        checked["random_state"] = recipe_params.get("random_state", seed)
    data, guidance = content["data"], content.get("guidance", {})
    tables = tuple(_make_table(name, key, rows, folder) for key, rows in data.items())
    names = [table.name for table in tables]
    links = tuple(
        _make_link_table(name, key, rows, folder, names) for key, rows in guidance.items()
    )
    key = method.card.key
    tie = bool(checked.get("tie_views", key in ("cca", "coca"))) and key != "pca"
    blocks = content.get("blocks", {})
    plan = _make_plan(tables, links, tie, blocks.get("rows"))
    limits_content = content.get("limits", {})
    recipe = LargeRecipe(
        name,
        method.card.key,
        checked,
        recipe_params,
        seed,
        plan,
        blocks.get("landmarks", 20_000),
        blocks.get("refine", 0 if method.card.key in UNREFINED else REFINE),
        blocks.get("refined_rows", REFINED_ROWS),
        _parse_amount(name, "max_memory", limits_content.get("max_memory"), _BYTE_UNITS),
        _parse_amount(name, "max_time", limits_content.get("max_time"), _TIME_UNITS),
        {
            **document,
            "data": _absolute_paths(data, folder),
            "guidance": _absolute_paths(guidance, folder),
        },
    )
    return recipe if "refined_rows" in blocks else _limit_refined_rows(recipe)


def _limit_refined_rows(recipe: LargeRecipe) -> LargeRecipe:
    """Reduce the number of refined rows to the memory limit of the recipe."""
    n_rows = sum(table.n for table in recipe.plan.tables)
    rows = min(recipe.refined_rows, n_rows)
    while recipe.max_memory is not None and rows > recipe.landmarks:
        if _BASE_BYTES + _refined_bytes(replace(recipe, refined_rows=rows)) <= recipe.max_memory:
            break
        rows = rows * 9 // 10
    return recipe if rows == n_rows else replace(recipe, refined_rows=rows)


def _absolute_paths(
    sections: Mapping[str, Mapping[str, object]], folder: Path
) -> dict[str, dict[str, object]]:
    return {
        name: {**section, "path": str(folder / str(section["path"]))}
        for name, section in sections.items()
    }


def forecast(recipe: LargeRecipe) -> dict[str, int]:
    """Return estimated bytes: ``process`` for each process, ``disk`` for temporary files."""
    plan = recipe.plan
    bytes_of = [4 if table.single else 8 for table in plan.tables]
    links = sum(stop - start for _, start, stop in plan.chunks)
    peaks = [0]
    for block in plan.blocks:
        table = plan.tables[block.table]
        block_bytes = block.n * table.d * bytes_of[block.table]
        widest = max(other.d for other in plan.tables)
        peaks.append(2 * block_bytes + block.n * 64)
        if plan.links or plan.views:
            block_links = links * block.n / max(1, sum(other.n for other in plan.blocks))
            peaks.append(int(2 * block_bytes + 8 * block.n * widest + 40 * block_links))
    peaks.append(int(100 * min(links, _LINKS_PER_PART) + 60 * _IDS_PER_PART) if links else 0)
    if not recipe.exact:
        peaks += [_landmark_bytes(recipe), _refined_bytes(recipe)]
    rows = sum(table.n * (table.d * size + 40) for table, size in zip(plan.tables, bytes_of,
               strict=True))  # fmt: skip
    return {"process": _BASE_BYTES + max(peaks), "disk": int(rows + 80 * links)}


def _landmark_bytes(recipe: LargeRecipe) -> int:
    """Return the estimated bytes of the map of landmarks, or of distances to them."""
    memory = get_method(recipe.method).memory_estimate
    rows = min(recipe.landmarks, sum(table.n for table in recipe.plan.tables))
    return int(max(memory.base + memory.per_row * rows, _LANDMARK_DISTANCE_BYTES))


def _refined_bytes(recipe: LargeRecipe) -> int:
    if not recipe.refine:
        return 0
    tables = recipe.plan.tables
    n = sum(table.n for table in tables)
    links = sum(links_table.files.n_rows for links_table in recipe.plan.links)
    share = min(1.0, recipe.refined_rows / n)
    numbers = sum(table.n * table.d for table in tables)
    row_bytes = n * _REFINED_ROW_BYTES + numbers * _REFINED_NUMBER_BYTES
    return int(share * row_bytes + share**2 * links * _REFINED_LINK_BYTES)


def _check_keys(name: str, document: Mapping[str, object]) -> None:
    problems: list[Problem] = []

    def refuse(where: str, message: str, value: object) -> None:
        problems.append(Problem("bad-recipe", f"{name}, {where}", message, str(value)))

    for key, value in document.items():
        if key not in _TOP_KEYS or not isinstance(value, _TOP_KEYS[key]):
            message = f"unknown key. Use one of: {', '.join(_TOP_KEYS)}"
            refuse(key, message if key not in _TOP_KEYS else "the wrong kind of value", value)
    if not document.get("data"):
        refuse("data", "give at least one table, as [data.NAME]", "")
    for head, allowed in _KEYS.items():
        part = document.get(head, {})
        if not isinstance(part, Mapping):
            continue
        sections = part.items() if head in ("data", "guidance") else [(head, part)]
        for title, section in sections:
            if not isinstance(section, Mapping):
                refuse(f"{head}.{title}", "must be a table of settings", section)
                continue
            place = f"[{head}.{title}]" if head in ("data", "guidance") else f"[{head}]"
            for key, value in section.items():
                if key not in allowed:
                    refuse(place, f"unknown key. Use one of: {', '.join(allowed)}", key)
                elif isinstance(value, bool) or not isinstance(value, allowed[key]):
                    refuse(place, f"{key} has the wrong kind of value", value)
            lacking = {"data": ("path", "id"), "guidance": ("path", "from", "to", "i", "j")}
            for key in lacking.get(head, ()):
                if key not in section:
                    refuse(place, f"{key} is missing", "")
    blocks = document.get("blocks")
    for key, minimum in (("rows", 1), ("refine", 0), ("refined_rows", 1)):
        number = blocks.get(key, minimum) if isinstance(blocks, Mapping) else minimum
        if isinstance(number, int) and number < minimum:
            refuse("[blocks]", f"{key} must be {minimum} or more", number)
    if problems:
        raise DataError(problems)


def _make_table(name: str, key: str, section: _Rows, folder: Path) -> Table:
    files = RowFiles.find_files(section["path"], folder)
    where = f"{name}, [data.{key}]"
    types = dict(files.columns)
    if section["id"] not in types:
        raise _missing_column_error(where, section["id"], files)
    _ids_are_text(where, section["id"], files)
    wanted = section.get("features")
    if wanted is None:
        columns = [
            c for c, kind in files.columns if c != section["id"] and _NUMBER_TYPE.fullmatch(kind)
        ]
    elif isinstance(wanted, str):
        columns = [wanted]
    else:
        columns = []
        for pattern in map(str, wanted):
            matching = [c for c in types if fnmatch.fnmatchcase(c, pattern) and c != section["id"]]
            if not matching:
                raise _missing_column_error(where, pattern, files)
            columns += [c for c in matching if c not in columns]
    if not columns:
        raise DataError.of("no-features", where, "there is no numeric column except the ids")
    missing = [column for column in columns if column not in types]
    if missing:
        raise _missing_column_error(where, missing[0], files)
    vector = _VECTOR_TYPE.fullmatch(types[columns[0]]) if len(columns) == 1 else None
    if vector is not None:
        d, single = int(vector[2]), vector[1] != "double"
    else:
        for column in columns:
            if not _NUMBER_TYPE.fullmatch(types[column]):
                message = "features must be numbers, or one column of lists of equal length"
                raise DataError.of("bad-type", f"{where}, column {column}", message, types[column])
        d, single = len(columns), {types[column] for column in columns} <= {"float", "halffloat"}
    if files.n_rows < 2:
        raise DataError.of("too-few", where, "at least two rows are needed", f"{files.n_rows}")
    return Table(key, section.get("entity", key), files, section["id"], tuple(columns), d, single)


def _make_link_table(
    name: str, key: str, section: _LinkRows, folder: Path, tables: list[str]
) -> LinkTable:
    where = f"{name}, [guidance.{key}]"
    files = RowFiles.find_files(section["path"], folder)
    for end, table in (("from", section["from"]), ("to", section["to"])):
        if table not in tables:
            remedy = f"Available: {', '.join(tables)}."
            raise DataError.of(
                "unknown-dataset", where, f"{end} is not the name of a table", table, remedy
            )
    types = dict(files.columns)
    weight = section.get("weight", 1.0)
    for column in (section["i"], section["j"], *([weight] if isinstance(weight, str) else [])):
        if column not in types:
            raise _missing_column_error(where, column, files)
    for column in (section["i"], section["j"]):
        _ids_are_text(where, column, files)
    if not isinstance(weight, str) and not 0 < abs(weight) <= 1:
        message = "a weight must be between -1 (apart) and 1 (together), and not 0"
        raise DataError.of("weight-range", where, message, str(weight))
    unknown = section.get("unknown", "refuse")
    if unknown not in ("refuse", "leave-out"):
        raise DataError.of("bad-recipe", where, "unknown must be 'refuse' or 'leave-out'", unknown)
    return LinkTable(
        key,
        files,
        tables.index(section["from"]),
        tables.index(section["to"]),
        section["i"],
        section["j"],
        weight,
        unknown == "leave-out",
    )


def _missing_column_error(where: str, column: str, files: RowFiles) -> DataError:
    names = ", ".join(name for name, _ in files.columns[:20])
    return DataError.of(
        "unknown-column", where, "there is no such column", column, f"Available: {names}."
    )


def _ids_are_text(where: str, column: str, files: RowFiles) -> bool:
    """Return whether ids are texts; raise an error unless they are texts or integers."""
    kind = dict(files.columns)[column]
    if re.fullmatch(r"u?int\d+", kind):
        return False
    if "string" in kind:
        return True
    message = "ids must be strings or whole numbers"
    raise DataError.of("bad-type", f"{where}, column {column}", message, kind)


def _make_plan(
    tables: tuple[Table, ...], links: tuple[LinkTable, ...], tie: bool, rows: int | None
) -> Plan:
    blocks: list[RowBlock] = []
    for t, table in enumerate(tables):
        max_rows = rows or max(10_000, BLOCK_NUMBERS // table.d)
        count = ceil(table.n / max_rows)
        ends = [table.n * k // count for k in range(count + 1)]
        blocks += [RowBlock(t, a, b) for a, b in pairwise(ends)]
    n_rows, n_links = (
        sum(table.n for table in tables),
        sum(link_table.files.n_rows for link_table in links),
    )
    parts = max(1, ceil(n_rows / _IDS_PER_PART), ceil(n_links / _LINKS_PER_PART))
    chunks: list[tuple[int, int, int]] = []
    for number, link_table in enumerate(links):
        n = link_table.files.n_rows
        count = ceil(n / _LINKS_PER_PART)
        chunks += [(number, n * k // count, n * (k + 1) // count) for k in range(count)]
    views = tuple(
        (u, v)
        for u, v in combinations(range(len(tables)), 2)
        if tie and tables[u].entity == tables[v].entity
    )
    texts = [_ids_are_text(table.name, table.id, table.files) for table in tables]
    for link_table in links:
        texts[link_table.source] |= _ids_are_text(link_table.name, link_table.i, link_table.files)
        texts[link_table.target] |= _ids_are_text(link_table.name, link_table.j, link_table.files)
    for u, v in views:
        texts[u] = texts[v] = texts[u] or texts[v]
    return Plan(tables, links, tuple(blocks), parts, tuple(chunks), tuple(texts), views)


def _parse_amount(name: str, key: str, text: str | None, units: Mapping[str, int]) -> int | None:
    if text is None:
        return None
    match = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]+)\s*", text.lower())
    try:
        if match is not None and match[2] in units:
            return int(float(match[1]) * units[match[2]])
    except ValueError:
        pass
    examples = " or ".join(f"8{unit.upper() if len(unit) > 1 else unit}" for unit in units)
    raise gate.refusal("bad-recipe", f"{name}, [limits]", f"{key} must be like {examples}", text)


def check_memory(recipe: LargeRecipe) -> None:
    """Raise ParameterError if the recipe needs too much memory or too many coordinates."""
    wide = sum(table.d for table in recipe.plan.tables)
    if recipe.exact and wide > MAX_COORDINATES:
        raise ParameterError(
            f"{recipe.name}: there are {wide:,} features, but a fit by blocks allows "
            f"{MAX_COORDINATES:,}. Leave features out, or reduce them first."
        )
    needed = forecast(recipe)["process"]
    if recipe.max_memory is not None and needed > recipe.max_memory:
        raise ParameterError(
            f"{recipe.name}: each process would take about {needed / limits.MB:,.0f} MB, and "
            f"max_memory is {recipe.max_memory / limits.MB:,.0f} MB. Use fewer rows per block "
            "([blocks] rows), or allow more memory."
        )
