"""Result folders of runs and their figures."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.diagnostics import from_json
from hetviz.exports.figures import FigureSettings, curve_bytes, map_bytes
from hetviz.exports.large_result import read_large
from hetviz.exports.writing import write_file
from hetviz.io import gate, read_coordinates
from hetviz.metrics.fit.curves import curves
from hetviz.metrics.trust.spread import SPREAD, Spread
from hetviz.runs.embed.run import EmbeddingOrigin
from hetviz.runs.embed.scope import Scope, scope_of
from hetviz.runs.recipe import COORDINATES, SCORES, Recipe, large_recipe_at, read_recipe


@dataclass(frozen=True, eq=False)
class RunResult:
    """Result folder of a run."""

    recipe: Recipe
    data: HeteroData
    embedding: Embedding
    scores: dict[str, Any]  # Content of scores.json.
    spread: Spread | None  # From `hetviz spread`.
    judged: HeteroData | None  # Data that the map is judged by and that the method did not see.

    @property
    def title(self) -> str:
        return get_method(self.recipe.run.method).card.title

    @property
    def scope(self) -> Scope:
        """Data that the run used."""
        run = self.recipe.run
        rows = self.recipe.rows(self.data)
        return scope_of(self.data, run.weights, rows, run.hold_out, run.seed, run.period)


def read_result(folder: str | Path) -> RunResult:
    """Read the result folder of `embed`, `run` or `run_recipe`."""
    recipe = read_recipe(folder)
    loaded = recipe.load()
    file = recipe.folder / COORDINATES
    embedding = read_coordinates(file.name, gate.read_file(file), loaded.data)
    try:
        scores = json.loads(gate.read_file(recipe.folder / SCORES))
    except ValueError:
        raise gate.refusal("bad-json", SCORES, "this is not JSON") from None
    diagnostics = from_json(scores.get("diagnostics") if isinstance(scores, dict) else None, SCORES)
    embedding = replace(embedding, diagnostics=diagnostics).with_made(
        EmbeddingOrigin(loaded.data, recipe.run_of(loaded.data))
    )
    spread = _read_spread(scores, loaded.data)
    return RunResult(recipe, loaded.data, embedding, scores, spread, loaded.held_out)


def _read_spread(scores: object, data: HeteroData) -> Spread | None:
    content = scores.get(SPREAD) if isinstance(scores, dict) else None
    if content is None:
        return None
    try:
        spread = Spread.from_dict(
            content, {name: dataset.ids for name, dataset in data.datasets.items()}
        )
    except (KeyError, TypeError, ValueError):
        spread = None
    sizes = () if spread is None else (spread.share, spread.error, spread.n_placed)
    if spread is None or any(values.shape != (data.n_rows,) for values in sizes):
        remedy = "Run `hetviz spread` again."
        raise gate.refusal("bad-spread", SCORES, "the spread is damaged", remedy=remedy)
    return spread


def save_spread(result: RunResult, spread: Spread) -> Path:
    """Add the spread of the positions to the scores of a result folder."""
    text = json.dumps({**result.scores, SPREAD: spread.rows_to_dict()}, allow_nan=False)
    return write_file(result.recipe.folder / SCORES, f"{text}\n".encode())


def load_run(folder: str | Path, rows: int | None = None) -> tuple[HeteroData, Embedding]:
    """Return the data and the map from a result folder of `embed`, `run` or `run_recipe`.

    Parameters
    ----------
    folder : str or path
    rows : int, optional
        Maximum number of rows of a recipe over files, drawn at random.

    Raises
    ------
    hetviz.errors.DataError
        If a file is missing or damaged, or the data cannot be found.
    """
    if large_recipe_at(folder) is not None:
        large = read_large(folder, rows)
        return large.data, large.embedding
    result = read_result(folder)
    return result.data, result.embedding


def write_figures(result: RunResult, folder: Path, forms: Collection[str]) -> list[Path]:
    """Write the map and the curves of a run with the settings of its recipe."""
    settings = FigureSettings.from_dict(result.recipe.figures)
    scope = result.scope
    judged = scope.held_out if scope.held_out is not None else result.judged
    kinds = curves(scope.measured, result.embedding, judged)
    files = []
    for form in forms:
        content = map_bytes(result.data, result.embedding, settings, form, title=result.title)
        files.append(write_file(folder / f"map.{form}", content))
        for kind in ("links", "apart", "comparisons"):
            if kind in kinds:
                curve_content = curve_bytes(kinds[kind], kind, settings, form)
                files.append(write_file(folder / f"curve_{kind}.{form}", curve_content))
    return files
