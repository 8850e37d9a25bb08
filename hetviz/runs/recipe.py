"""Recipes (a run as a TOML file) and result folders of runs."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hetviz import params as parameters
from hetviz._samples import samples
from hetviz._text import join_words
from hetviz._types import Ints
from hetviz.algorithms.registry import get_method
from hetviz.core.threads import N_THREADS
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.diagnostics import to_json
from hetviz.data.queries.periods import PeriodRecord
from hetviz.data.queries.rows import select_rows
from hetviz.errors import DataWarning, ParameterError
from hetviz.io import Loaded, coordinates_csv, gate, read_bundle, read_coordinates, toml
from hetviz.metrics.fit.summary import evaluate
from hetviz.progress import Progress
from hetviz.runs.embed.run import FittedRun, Run, fit_again
from hetviz.runs.embed.scope import read_rows_file, rows_table
from hetviz.runs.large.plan import LargeRecipe, is_large, large_recipe
from hetviz.runs.large.run import run_large
from hetviz.runs.large.schedulers import TLS, Scheduler

FORMAT = 1
RECIPE, COORDINATES, SCORES = "recipe.toml", "coordinates.csv", "scores.json"
ONLY, START = "only.csv", "start.csv"
_KEYS: dict[str, type | tuple[type, ...]] = {
    "format": int,
    "data": str,
    "fingerprint": str,
    "method": str,
    "seed": int,
    "hold_out": (int, float),
    "only": str,
    "start": str,
    "start_note": str,
    "params": dict,
    "period": dict,
    "weights": dict,
    "unset": list,
    "versions": dict,
    "threads": int,
    "coordinates_sha256": str,
    "figures": dict,
}


@dataclass(frozen=True)
class Recipe:
    """Content of a recipe.toml."""

    data: str  # A sample name, or a path (relative to the recipe).
    run: Run  # Without `only` and `start`, which need the data; see `run_of`.
    folder: Path = field(default_factory=Path)  # Folder of the recipe.
    only: str | None = None  # A table of the rows that the method sees (relative to the recipe).
    start: str | None = None  # Coordinates that the fit starts from (relative to the recipe).
    start_note: str = ""  # ``note`` of that map, by which a method recognises its own.
    sha256: str = ""  # Hash of the coordinates.csv of the recipe; empty if unknown.
    # Settings of figures, see `hetviz.exports.figures.FigureSettings`.
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The data source as `hetviz.load` takes it, from any working folder."""
        return self.data if self.data in samples() else str((self.folder / self.data).resolve())

    def load(self) -> Loaded:
        return read_bundle(self.source).strict()

    def rows(self, data: HeteroData) -> Ints | None:
        """Return the global rows that the method sees, or None for all."""
        return None if self.only is None else read_rows_file(self.folder / self.only, data)

    def run_of(self, data: HeteroData) -> Run:
        """Return the run with all that the fit needs."""
        start = None
        if self.start is not None:
            content = gate.read_file(self.folder / self.start)
            start = replace(read_coordinates(self.start, content, data), note=self.start_note)
        return replace(self.run, only=self.rows(data), start=start)


def recipe_text(
    data: str, run: Run, sha256: str = "", figures: Mapping[str, object] | None = None
) -> str:
    """Return a recipe as text, with parameters that are None under ``unset``."""
    document = {
        "format": FORMAT,
        "data": data,
        "fingerprint": run.fingerprint,
        "method": run.method,
        "seed": run.seed,
        "hold_out": run.hold_out or None,
        "only": None if run.only is None else ONLY,
        **({} if run.start is None else {"start": START, "start_note": run.start.note}),
        "unset": [name for name, value in run.params.items() if value is None],
        "params": {name: value for name, value in run.params.items() if value is not None},
        **({"weights": dict(run.weights)} if run.weights else {}),
        **({"period": dict(run.period)} if run.period else {}),
        "versions": dict(run.versions),
        "threads": N_THREADS,
        "coordinates_sha256": sha256 or None,
        **({"figures": dict(figures)} if figures else {}),
    }
    return toml.dumps(document)


def files_of_run(data: HeteroData, run: Run) -> dict[str, str]:
    """Return the files that the recipe of a run refers to: rows and start, if it has them."""
    only = {} if run.only is None else {ONLY: rows_table(data, run.only)}
    start = {} if run.start is None else {START: coordinates_csv(run.start)}
    return only | start


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe."""
    file = Path(path)
    if file.is_dir():
        file = file / RECIPE
    document = toml.loads(file.name, gate.read_file(file))
    gate.check_format(file.name, document.get("format"), FORMAT)
    if is_large(document):
        raise gate.refusal(
            "large-recipe",
            file.name,
            "this recipe reads large files in blocks, so it cannot be opened here",
            remedy="Read the coordinates from coordinates/*/*.parquet and the scores from "
            "scores.json.",
        )
    for key, value in document.items():
        if key not in _KEYS or not isinstance(value, _KEYS[key]):
            is_known = key in _KEYS
            message = f"{key} has the wrong kind of value" if is_known else "unknown key"
            raise gate.refusal("bad-recipe", file.name, message, value if is_known else key)
    if document.get("format") != FORMAT or "data" not in document or "method" not in document:
        raise gate.refusal(
            "bad-recipe", file.name, f"a recipe has format = {FORMAT}, data and method"
        )
    method = get_method(document["method"])
    params = dict(document.get("params", {})) | dict.fromkeys(document.get("unset", ()))
    checked = parameters.check(method.card.key, method.params, params)
    run = Run(
        document.get("fingerprint", ""),
        method.card.key,
        {name: checked[name] for name in params},
        document.get("seed", 0),
        document.get("versions", {}),
        weights=document.get("weights", {}),
        hold_out=float(document.get("hold_out", 0.0)),
        period=_period_of(file.name, document.get("period")),
    )
    return Recipe(
        document["data"],
        run,
        file.parent,
        document.get("only"),
        document.get("start"),
        document.get("start_note", ""),
        document.get("coordinates_sha256", ""),
        document.get("figures", {}),
    )


def _period_of(name: str, period: PeriodRecord | None) -> PeriodRecord | None:
    if period is not None and not {"by", "name", "start", "stop"} <= set(period):
        message = "a period has by, name, start and stop"
        raise gate.refusal("bad-recipe", name, message, ", ".join(period))
    return period


def run_recipe(
    path: str | Path,
    out: str | Path | None = None,
    *,
    progress: Progress | None = None,
    scheduler: str | Scheduler | None = None,
    tls: TLS | tuple[str | Path, str | Path, str | Path] | None = None,
    scratch: str | Path | None = None,
) -> Path:
    """Run a recipe again, also one over Parquet or Arrow files larger than memory.

    Parameters
    ----------
    path : str or path
        A recipe.toml, or the folder that holds one.
    out : str or path, optional
        Folder for the results; when absent the folder ``run`` next to the recipe.
    progress : callable, optional
    scheduler : str, optional
        Where blocks of rows are processed, for a recipe over files (``[data.NAME]``): "sync",
        "threads:N", "local:N" for N processes, or the address of a Dask scheduler,
        "tls://host:port". The coordinates are bit-equal in all cases.
    tls : three paths, optional
        For "tls://": certificate of the authority, certificate of this machine, and its key.
    scratch : path, optional
        Folder for temporary files of a recipe over files; all machines must see it.

    Returns
    -------
    path
        The folder, with coordinates.csv, scores.json (measures and diagnostics) and recipe.toml.
        If the recipe has a hash of its coordinates, ``same_coordinates`` in scores.json tells
        whether the new ones are bit-equal. A recipe over files writes
        ``coordinates/TABLE/part-*.parquet``.

    Raises
    ------
    hetviz.errors.HetvizError
        As `load` and `embed`. A `DataWarning` reports changed data and changed coordinates.
    """
    if (large := large_recipe_at(path)) is not None:
        tls_files = tls if tls is None or isinstance(tls, TLS) else TLS(*tls)
        target = Path(path) if Path(path).is_dir() else Path(path).parent
        target = target / "run" if out is None else Path(out)
        return run_large(
            large, target, scheduler=scheduler, tls=tls_files, scratch=scratch, progress=progress
        )
    if scheduler not in (None, "sync"):
        raise ParameterError(
            f"--scheduler {scheduler}: this recipe loads its data into memory. Only recipes over "
            "files, with [data.NAME] and path, run in blocks."
        )
    recipe = read_recipe(path)
    loaded = recipe.load()
    data = loaded.data
    if recipe.run.fingerprint and recipe.run.fingerprint != data.fingerprint():
        warnings.warn(
            f"{recipe.data} has changed since the recipe was made, so the result may differ.",
            DataWarning,
            stacklevel=2,
        )
    fitted = fit_again(data, recipe.run_of(data), progress)
    target = recipe.folder / "run" if out is None else Path(out)
    record = write_run(target, recipe.source, data, fitted, loaded.held_out, recipe)
    if record.get("same_coordinates") is False:
        warnings.warn(
            _coordinates_differ_message(recipe.run, fitted.result), DataWarning, stacklevel=2
        )
    return target


def large_recipe_at(path: str | Path) -> LargeRecipe | None:
    """Read a recipe over files; None for a recipe that loads its data into memory."""
    file = Path(path)
    if file.is_dir():
        file = file / RECIPE
    document = toml.loads(file.name, gate.read_file(file))
    if not is_large(document):
        return None
    gate.check_format(file.name, document.get("format"), FORMAT)
    return large_recipe(file.name, document, file.resolve().parent)


def coordinates_hash(embedding: Embedding) -> str:
    """Return the SHA-256 of coordinates.csv, as hex."""
    return hashlib.sha256(coordinates_csv(embedding).encode()).hexdigest()


def _coordinates_differ_message(earlier: Run, current: Run) -> str:
    differing = [
        f"{name} {version} (here {current.versions.get(name, 'none')})"
        for name, version in earlier.versions.items()
        if current.versions.get(name) != version
    ]
    reason = f" It was made with {join_words(differing)}." if differing else ""
    return f"The coordinates are not bit-equal to those of the recipe.{reason}"


def write_run(
    folder: str | Path,
    source: str,
    data: HeteroData,
    fitted: FittedRun,
    held_out: HeteroData | None = None,
    recipe: Recipe | None = None,
) -> Mapping[str, Any]:
    """Write coordinates.csv, scores.json and recipe.toml; return the content of scores.json.

    A run of some rows is measured on those. Files of `files_of_run` are written too. Data that
    the run held out itself take precedence over `held_out`. With a `recipe` the record tells
    whether the coordinates equal those of the recipe.
    """
    scope = fitted.scope
    judged = scope.held_out
    if judged is None and held_out is not None:
        judged = held_out if scope.rows is None else select_rows(held_out, scope.rows)
    scores = evaluate(scope.measured, fitted.model.embedding_, judged).to_dict()
    sha256 = coordinates_hash(fitted.result.embedding)
    record: dict[str, Any] = {
        "method": fitted.result.method,
        "seed": fitted.result.seed,
        "seconds": round(fitted.result.seconds, 3),
        "fingerprint": fitted.result.fingerprint,
        "n_unplaced": fitted.result.embedding.n_unplaced,
        "coordinates_sha256": sha256,
        "scores": scores,
    }
    if diagnostics := fitted.result.embedding.diagnostics:
        record["diagnostics"] = to_json(diagnostics)
    if recipe is not None and recipe.sha256:
        record["same_coordinates"] = recipe.sha256 == sha256
    figures = None if recipe is None else recipe.figures
    target = Path(folder)
    with gate.refusing_write(folder):
        target.mkdir(parents=True, exist_ok=True)
        _write(target / COORDINATES, coordinates_csv(fitted.result.embedding))
        _write(target / SCORES, json.dumps(record, indent=2) + "\n")
        _write(target / RECIPE, recipe_text(source, fitted.result, sha256, figures))
        for name, text in files_of_run(data, fitted.result).items():
            _write(target / name, text)
    return record


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
