"""Runs of recipes over large tables: join, fit, placement and scores by blocks."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from hetviz._types import Array, Floats, Ints, JsonObject, Rng
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method
from hetviz.core.layout.out_of_sample import placement_error
from hetviz.core.spectral import moments
from hetviz.core.spectral.blocks import LinearMap
from hetviz.core.spectral.coca import SummedSource, coca_by_sums
from hetviz.core.spectral.guided import axis_scale
from hetviz.core.spectral.moments import POSITIVE, Key
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import DataError, HetvizError, NotApplicableError, ParameterError, Problem
from hetviz.features.spaces.projection import default_spread
from hetviz.io import gate, toml
from hetviz.progress import Progress, ProgressPart, ignore_progress
from hetviz.runs.embed.run import fit_run, versions
from hetviz.runs.large import steps
from hetviz.runs.large.judging import score_map
from hetviz.runs.large.placers import LandmarkPlacer, LinearPlacer, ModelPlacer
from hetviz.runs.large.plan import LargeRecipe, Plan, check_memory, forecast
from hetviz.runs.large.refining import refine_places, refines
from hetviz.runs.large.schedulers import TLS, Scheduler, StepResult, open_scheduler

RECIPE, COORDINATES, SCORES, MODEL = "recipe.toml", "coordinates", "scores.json", "model.npz"
_BLOCKWISE_DATA = "data that are read by blocks"


@one_thread()
def run_large(
    recipe: LargeRecipe,
    out: str | Path,
    *,
    scheduler: str | Scheduler | None = None,
    tls: TLS | None = None,
    scratch: str | Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """Run a recipe over tables in files without loading a whole table.

    Returns the folder, with ``coordinates/TABLE/part-*.parquet``, ``scores.json``, ``recipe.toml``
    and, for methods fitted by blocks, ``model.npz`` with centres and coefficients.

    O(n d^2 + links d + d^3) for methods fitted by blocks, whose results are sums over blocks of
    rows and buckets of links; no step holds more than two blocks of features.
    """
    check_memory(recipe)
    _check_method(recipe)
    target = Path(out)
    report = _time_limited_progress(progress or ignore_progress, recipe)
    started = time.perf_counter()
    with gate.refusing_write(out):
        target.mkdir(parents=True, exist_ok=True)
    with (
        _temporary_folder(target if scratch is None else Path(scratch)) as folder,
        open_scheduler(scheduler, tls, recipe.max_memory, folder) as engine,
    ):
        work = _BlockSteps(replace(recipe.plan, scratch=str(folder)), engine, report)
        pairs, counts = work.joined(_link_rule(recipe))
        placer: LinearPlacer | LandmarkPlacer | ModelPlacer
        if recipe.exact:
            placer, details = _fit_exactly(recipe, work, pairs)
        else:
            placer, details = _fit_landmarks(recipe, work, pairs)
        if recipe.method == "coca":
            ties, pairs, counts = _pairs_by_kind(work.plan, pairs, counts)
            if ties:
                work.each(steps.place_views, "Placing all rows", placer, ties)
        scores, errors = score_map(work, placer, pairs, counts, recipe.seed)
        coordinates_folder = target / COORDINATES
        if coordinates_folder.exists():
            shutil.rmtree(coordinates_folder)
        written = work.each(steps.write_places, "Placing all rows", placer, str(coordinates_folder))
        record = {
            "method": recipe.method,
            "seed": recipe.seed,
            "scheduler": engine.name,
            "seconds": round(time.perf_counter() - started, 3),
            "seconds_of": {name: round(seconds, 3) for name, seconds in work.seconds.items()},
            "rows": {table.name: table.n for table in recipe.plan.tables},
            "links": sum(together + apart for _, _, together, apart in counts),
            "blocks": len(recipe.plan.blocks),
            "n_unplaced": sum(n_lost for _, _, n_lost in written),
            "peak_mb": {
                name: round(size, 1)
                for name, size in engine.peaks().items()
                if not math.isnan(size)
            },
            "forecast_mb": round(forecast(recipe)["process"] / 1e6, 1),
            "coordinates_sha256": _hash_of_hashes(digest for digest, _, _ in written),
            "scores": scores,
            "standard_errors": errors,
            "left_out": work.left_out,
            **details,
        }
        document = {**recipe.document, "format": 1}
    if isinstance(placer, LinearPlacer):
        _write_model(target / MODEL, placer)
    (target / SCORES).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    text = _recipe_text(document)
    (target / RECIPE).write_text(text, encoding="utf-8")
    report(1.0, "Done")
    return target


class _BlockSteps:
    """Steps over all blocks, with progress and times."""

    def __init__(self, plan: Plan, engine: Scheduler, report: Progress) -> None:
        self.plan, self.engine, self._report = plan, engine, report
        self.seconds: dict[str, float] = {}
        self.left_out: dict[str, int] = {}
        self._share_done = 0.0

    @contextmanager
    def step(self, name: str, share: float) -> Iterator[Callable[[float], None]]:
        """Report the progress of a step with a share of the remaining work, and record its time."""
        low, high = self._share_done, self._share_done + share * (1.0 - self._share_done)
        report, started = ProgressPart(self._report, low, high), time.perf_counter()
        report(0.0, name)
        yield lambda done: report(done, name)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
        self._share_done = high

    def each(
        self,
        function: Callable[..., StepResult],
        name: str,
        *args: object,
        count: int | None = None,
        share: float = 0.25,
    ) -> list[StepResult]:
        """Run a step for every block (or `count` other items), and return the results."""
        n = len(self.plan.blocks) if count is None else count
        with self.step(name, share) as beat:
            return self.engine.map(partial(function, self.plan, *args), range(n), beat)

    def summed(
        self, function: Callable[..., dict[Key, Floats]], name: str, *args: object
    ) -> dict[Key, Floats]:
        """Run a step for every block, and return the sum."""
        call = partial(function, self.plan, *args)
        with self.step(name, 0.25) as beat:
            return self.engine.sum(call, range(len(self.plan.blocks)), moments.add_sums, beat)

    def joined(self, rule: steps.LinkRule) -> tuple[steps.Pairs, list[tuple[int, int, int, int]]]:
        """Read all rows and links once; return the blocks that share links, with counts."""
        plan = self.plan
        self.each(steps.read_block, "Reading rows")
        if not (plan.links or plan.views):
            return (), []
        name = "Joining links with rows"
        self.each(steps.split_links, name, count=len(plan.chunks), share=0.1)
        first = self.each(steps.look_up_first, name, count=plan.parts, share=0.1)
        second = self.each(steps.look_up_second, name, count=plan.parts, share=0.1)
        self._check_unknown_ids([*first, *second])
        steps.remove_files(plan, ("ids", "first", "second"))
        links_of_blocks = self.each(steps.join_links, name, rule, share=0.1)
        counts = [
            (owner, other, together, apart)
            for owner, links_of_block in enumerate(links_of_blocks)
            for other, together, apart in links_of_block
        ]
        return tuple((owner, other) for owner, other, _, _ in counts), counts

    def _check_unknown_ids(
        self, unknown: Sequence[Sequence[tuple[int, int, list[tuple[int, str]]]]]
    ) -> None:
        """Raise an error for links of unknown ids, or count them if they may be left out."""
        problems = []
        for position, links in enumerate(self.plan.links):
            entries = [entry for part in unknown for entry in part if entry[0] == position]
            count = sum(n_lost for _, n_lost, _ in entries)
            if not count:
                continue
            examples = sorted(example for _, _, ids_of_part in entries for example in ids_of_part)[
                : steps.MAX_SHOWN
            ]
            if links.leave_out:
                self.left_out[links.name] = count
                continue
            ids = list(dict.fromkeys(text for _, text in examples))
            names = {self.plan.tables[t].name for t in (links.source, links.target)}
            problems.append(
                Problem(
                    "unknown-id",
                    f"links {links.name}",
                    f"{count:,} of {links.files.n_rows:,} links have ids that are not in "
                    f"{', '.join(names)}. The first are",
                    ", ".join(ids),
                    "Correct the files, or set unknown = 'leave-out' to skip such links.",
                )
            )
        if problems:
            raise DataError(problems)


def _link_rule(recipe: LargeRecipe) -> steps.LinkRule:
    # For coca, weights belong to whole sources, not to links.
    weights_param = recipe.params.get("weights", 1.0) if recipe.method != "coca" else 1.0
    names = [table.name for table in recipe.plan.tables]
    by_name = weights_param if isinstance(weights_param, Mapping) else {}
    if unknown := sorted(set(by_name) - set(names)):
        raise ParameterError(f"weights: there is no table {unknown[0]!r}.")
    weights = [float(by_name.get(name, 1.0)) for name in names]
    positive = recipe.method in ("cca", "cdmca", "coca")
    return steps.LinkRule(weights, positive, recipe.method != "cca")


def _check_method(recipe: LargeRecipe) -> None:
    """Raise an error for settings that need all rows in memory."""
    params, key = recipe.params, recipe.method
    if not recipe.exact:
        if recipe.landmarks < 50:
            raise ParameterError(f"[blocks] landmarks = {recipe.landmarks} must be 50 or more.")
        return
    for name in ("n_components", "gamma"):
        if params.get(name) == "cv":
            raise ParameterError(
                f"{key}: {name} = 'cv' cannot be used for {_BLOCKWISE_DATA}. Give a number."
            )
    if params.get("drawn_by", "axes") != "axes":
        raise ParameterError(
            f"{key}: drawn_by = {params['drawn_by']!r} cannot be used for {_BLOCKWISE_DATA}."
        )
    if params.get("kernel") not in (None, "linear"):
        raise ParameterError(f"{key}: a kernel of all rows cannot be used for {_BLOCKWISE_DATA}.")
    kinds = params.get("features", "auto")
    for kind in kinds.values() if isinstance(kinds, Mapping) else [kinds]:
        if kind not in ("auto", "linear"):
            raise ParameterError(
                f"{key}: features = {kind!r} cannot be used for {_BLOCKWISE_DATA}."
            )
    entities = [table.entity for table in recipe.plan.tables]
    if key == "coca":
        _check_coca(recipe)
    if key == "pca" and len(set(entities)) < len(entities):
        raise ParameterError(
            "pca: views of the same items are joined in memory only. Give one table for each "
            "entity, or use guided-projection or cca."
        )


def _check_coca(recipe: LargeRecipe) -> None:
    """Raise an error for settings and links that need all rows in memory."""
    params, plan = recipe.params, recipe.plan
    if params["weights"] == "learned":
        raise ParameterError(
            f"coca: weights = 'learned' cannot be used for {_BLOCKWISE_DATA}. Give a number for "
            "each table."
        )
    if params["output"] != "mean":
        raise ParameterError(
            f"coca: output = {params['output']!r} cannot be used for {_BLOCKWISE_DATA}."
        )
    for position, table in enumerate(plan.tables):
        views = [k for k, other in enumerate(plan.tables) if other.entity == table.entity]
        link_tables = [
            link_table
            for link_table in plan.links
            if {link_table.source, link_table.target} <= set(views)
        ]
        if link_tables and len(views) > 1:
            names = ", ".join(plan.tables[k].name for k in views)
            raise ParameterError(
                f"coca: links {link_tables[0].name} are between items of several tables ({names}), "
                f"which cannot be used for {_BLOCKWISE_DATA}. Leave the links out, or use one "
                "table."
            )
        if len(link_tables) > 1 and views[0] == position:
            raise ParameterError(
                f"coca: {len(link_tables)} tables of links are within {table.name}. Only one is "
                f"possible for {_BLOCKWISE_DATA}."
            )


def _pairs_by_kind(
    plan: Plan, pairs: steps.Pairs, counts: Sequence[tuple[int, int, int, int]]
) -> tuple[steps.Pairs, steps.Pairs, list[tuple[int, int, int, int]]]:
    """Return block pairs of views of the same items, and those of links within a table."""
    table = [plan.blocks[number].table for number in range(len(plan.blocks))]
    entity = [plan.tables[t].entity for t in table]
    ties = tuple((a, b) for a, b in pairs if table[a] != table[b] and entity[a] == entity[b])
    within = [entry for entry in counts if table[entry[0]] == table[entry[1]]]
    return ties, tuple((a, b) for a, b, _, _ in within), within


def _fit_collective(
    recipe: LargeRecipe, work: _BlockSteps, pairs: steps.Pairs
) -> tuple[LinearPlacer, JsonObject]:
    """Fit collective components of each entity to all rows."""
    params, tables = recipe.params, work.plan.tables
    ties, within, _ = _pairs_by_kind(work.plan, pairs, [(a, b, 0, 0) for a, b in pairs])
    if within:
        work.summed(steps.degrees, "Counting links of each row", within)
    sums = work.summed(steps.means, "Averaging rows")
    centres = [sums["sum", v] / tables[v].n for v in range(len(tables))]
    even = params["graph_scale"] == "sym"
    products = work.summed(
        steps.agreements, "Multiplying features", (*ties, *within), centres, even
    )
    weights_by_name = params["weights"] if isinstance(params["weights"], Mapping) else {}
    names = ("alpha", "agreement", "weights_in", "constraint", "scale", "random_state")
    k = params["n_components"]
    maps, scale = {}, {}
    values: dict[str, list[float]] = {}
    for entity in dict.fromkeys(table.entity for table in tables):
        views = [v for v, table in enumerate(tables) if table.entity == entity]
        weights = np.array([float(weights_by_name.get(tables[v].name, 1.0)) for v in views])
        if not weights.any():
            names_of_views = ", ".join(tables[v].name for v in views)
            raise ParameterError(
                f"coca: weights are 0 for all of {names_of_views}. Give one above 0."
            )
        eigenvalues, fitted = coca_by_sums(
            [
                SummedSource(
                    tables[v].n,
                    centres[v],
                    products["gram", POSITIVE, v],
                    products.get(("cross", POSITIVE, v, v)),
                )
                for v in views
            ],
            {
                (a, b): products["cross", POSITIVE, views[a], views[b]]
                for b in range(len(views))
                for a in range(b)
                if ("cross", POSITIVE, views[a], views[b]) in products
            },
            k,
            source_weights=weights / weights.sum(),
            **{name: params.get(name, recipe.seed) for name in names},
        )
        values[entity] = eigenvalues.tolist()
        for v, linear_map in zip(views, fitted, strict=True):
            zero_map = LinearMap(np.zeros((tables[v].d, k)), centres[v], 0.0)
            maps[tables[v].name] = zero_map if linear_map is None else linear_map
            scale[tables[v].name] = np.full(k, np.nan if linear_map is None else 1.0)
    return LinearPlacer(maps, scale), {"eigenvalues": values}


def _fit_exactly(
    recipe: LargeRecipe, work: _BlockSteps, pairs: steps.Pairs
) -> tuple[LinearPlacer, JsonObject]:
    """Fit a closed-form method to all rows."""
    params, tables = recipe.params, work.plan.tables
    if recipe.method == "coca":
        return _fit_collective(recipe, work, pairs)
    if recipe.method == "pca":
        sums = work.summed(steps.means, "Averaging rows")
        centres = [sums["sum", v] / tables[v].n for v in range(len(tables))]
        spread = work.summed(steps.spreads, "Multiplying features", centres)
        maps, shares = {}, {}
        for v, table in enumerate(tables):
            components = moments.components_by_sums(
                spread["gram", POSITIVE, v],
                centres[v],
                table.n,
                params["n_components"],
                params["standardize"],
            )
            maps[table.name], shares[table.name] = components.map, components.explained.tolist()
        ones = {name: np.ones(params["n_components"]) for name in maps}
        return LinearPlacer(maps, ones), {"explained": shares}
    title = get_method(recipe.method).card.title
    if not pairs:
        raise NotApplicableError(title, ["It needs links between rows, but there are none."])
    sums = work.summed(steps.degrees, "Averaging rows by their links", pairs)
    centres = []
    for v, table in enumerate(tables):
        mass = float(sums["mass", v][0])
        centres.append(sums["sum", v] / mass if mass > 0 else np.zeros(table.d))
    products = work.summed(steps.products, "Multiplying features over links", pairs, centres)
    options = {name: params[name] for name in ("signed", "nu", "variant") if name in params}
    guided = moments.guided_by_sums(
        products,
        centres,
        n_components=params["n_components"],
        gamma=params["gamma"],
        names=[table.name for table in tables],
        title=title,
        random_state=params.get("random_state", recipe.seed),
        **options,
    )
    exponent = params["axis_scale"]
    if isinstance(exponent, str):
        exponent = default_spread(params["n_components"])
    scale = axis_scale(guided.mu, exponent)
    scale[~guided.placed] = np.nan
    names = [table.name for table in tables]
    details: JsonObject = {
        "agreement": dict(zip(names, guided.mu.tolist(), strict=True)),
        "ridge": {
            name: linear_map.ridge for name, linear_map in zip(names, guided.maps, strict=True)
        },
        "unguided": [
            name for name, is_placed in zip(names, guided.placed, strict=True) if not is_placed
        ],
    }
    placer = LinearPlacer(
        dict(zip(names, guided.maps, strict=True)), dict(zip(names, scale, strict=True))
    )
    return placer, details


def _fit_landmarks(
    recipe: LargeRecipe, work: _BlockSteps, pairs: steps.Pairs
) -> tuple[LandmarkPlacer | ModelPlacer, JsonObject]:
    """Fit a method to landmarks, which place all other rows."""
    plan = work.plan
    rows = _sample_landmarks(recipe, work, pairs)
    data = _landmark_data(work, rows, pairs)
    started = time.perf_counter()
    params = {name: value for name, value in recipe.given.items() if name != "random_state"}
    fitted = fit_run(data, recipe.method, params, recipe.seed)
    work.seconds["Fitting landmarks"] = time.perf_counter() - started
    places = {
        name: np.asarray(Y, dtype=np.float64)
        for name, Y in fitted.model.embedding_.coordinates.items()
    }
    placer = LandmarkPlacer(
        {name: np.asarray(part.X, dtype=np.float64) for name, part in data.datasets.items()}, places
    )
    error = placement_error(
        list(placer.features.values()),
        list(places.values()),
        random_state=recipe.seed,
        between=True,
    )
    details: JsonObject = {
        "landmarks": {table.name: len(data[table.name]) for table in plan.tables},
        "placement_error": error.to_dict(),
    }
    linear = fitted.model.card.family == "Projection"
    if linear and Capability.OUT_OF_SAMPLE in fitted.model.card.capabilities:
        # A linear map of features has no placement error.
        details.pop("placement_error")
        return ModelPlacer(fitted.model), details
    work.each(steps.place_rows, "Placing all rows", placer, share=0.5)
    if refines(recipe):
        details["refinement"] = refine_places(recipe, work, pairs, rows)
    return placer, details


def _sample_landmarks(recipe: LargeRecipe, work: _BlockSteps, pairs: steps.Pairs) -> list[Ints]:
    """Sample landmarks by block, half of them from ends of links so that they are linked."""
    plan, rng = work.plan, np.random.default_rng(recipe.seed)
    chosen: list[set[int]] = [set() for _ in plan.blocks]
    max_landmarks = {
        t: min(table.n, recipe.landmarks // len(plan.tables)) for t, table in enumerate(plan.tables)
    }
    count = dict.fromkeys(max_landmarks, 0)

    def take(block: int, row: int, share: float) -> None:
        t = plan.blocks[block].table
        if count[t] < share * max_landmarks[t] and row not in chosen[block]:
            chosen[block].add(row)
            count[t] += 1

    ends = [
        (owner, a, other, b)
        for (owner, other), (p, q, _) in zip(
            pairs, _sample_links(work, pairs, recipe.landmarks, rng), strict=True
        )
        for a, b in zip(p.tolist(), q.tolist(), strict=True)
    ]
    # A random order avoids most landmarks being in the first blocks.
    for number in rng.permutation(len(ends)).tolist():
        owner, a, other, b = ends[number]
        take(owner, a, 0.5)
        take(other, b, 0.5)
    for t, table in enumerate(plan.tables):
        block_numbers = plan.of_table(t)
        starts = [plan.blocks[number].start for number in block_numbers]
        is_small = table.n <= 8 * max_landmarks[t]
        for row in (
            rng.permutation(table.n) if is_small else rng.integers(0, table.n, 8 * max_landmarks[t])
        ):
            if count[t] >= max_landmarks[t]:
                break
            at = int(np.searchsorted(starts, row, side="right")) - 1
            take(block_numbers[at], int(row) - starts[at], 1.0)
    return [np.array(sorted(rows), dtype=np.int64) for rows in chosen]


def _sample_links(
    work: _BlockSteps, pairs: steps.Pairs, max_links: int, rng: Rng
) -> list[tuple[Ints, Ints, Floats]]:
    """Return about `max_links` links, from every two blocks in proportion to their links."""
    if not pairs:
        return []
    plan = work.plan
    sizes = np.array([steps.n_links(plan, owner, other) for owner, other in pairs])
    positions = []
    for size in sizes:
        share = min(size, int(np.ceil(max_links * size / sizes.sum())))
        positions.append(np.sort(rng.choice(size, share, replace=False)))
    return work.each(
        steps.read_links_of_pair, "Drawing links", positions, pairs, count=len(pairs), share=0.05
    )


def _landmark_data(work: _BlockSteps, rows: Sequence[Ints], pairs: steps.Pairs) -> HeteroData:
    plan = work.plan
    X = work.each(steps.read_rows_of_block, "Reading landmarks", rows, share=0.05)
    ids = work.each(steps.read_ids_of_block, "Reading landmarks", rows, share=0.05)
    datasets, first = [], np.zeros(len(plan.blocks), dtype=np.int64)
    for t, table in enumerate(plan.tables):
        block_numbers = plan.of_table(t)
        first[block_numbers] = np.cumsum([0, *(len(rows[number]) for number in block_numbers)])[:-1]
        features = np.vstack([X[number] for number in block_numbers]).astype(np.float64)
        names = [text for number in block_numbers for text in ids[number]]
        datasets.append(Dataset(table.name, names, features, entity=table.entity))
    links_of_pairs = work.each(
        steps.links_among, "Reading landmarks", rows, pairs, count=len(pairs), share=0.05
    )
    groups: dict[tuple[int, int], list[tuple[Ints, Ints, Floats]]] = {}
    for (owner, other), (p, q, w) in zip(pairs, links_of_pairs, strict=True):
        u, v = plan.blocks[owner].table, plan.blocks[other].table
        p, q = p + first[owner], q + first[other]
        groups.setdefault((min(u, v), max(u, v)), []).append((p, q, w) if u <= v else (q, p, w))
    links = []
    for (u, v), parts in groups.items():
        p, q, w = map(np.concatenate, zip(*parts, strict=True))
        if len(p):
            links.append(Links(plan.tables[u].name, plan.tables[v].name, p, q, w))
    return HeteroData(datasets, links)


# Output files


def _hash_of_hashes(digests: Iterator[str]) -> str:
    """Return one hash of several hashes, in order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _write_model(path: Path, placer: LinearPlacer) -> None:
    arrays: dict[str, Array] = {}
    for name, fitted in placer.maps.items():
        arrays[f"{name}/coefficients"] = fitted.coefficients
        arrays[f"{name}/centre"] = fitted.centre
        arrays[f"{name}/scale"] = placer.scale[name]
    np.savez(path, allow_pickle=False, **arrays)


def _recipe_text(document: Mapping[str, object]) -> str:
    """Return a recipe over files as text, with one section for each table."""
    heads = ("data", "guidance")
    flat = {key: value for key, value in document.items() if key not in heads}
    text = [toml.dumps({**flat, "versions": dict(versions())})]
    for head in heads:
        sections = document.get(head)
        for name, section in sections.items() if isinstance(sections, Mapping) else ():
            lines = toml.dumps({name: section})
            text.append(lines.replace("[", f"[{head}.", 1))
    return "\n".join(text)


@contextmanager
def _temporary_folder(parent: Path) -> Iterator[Path]:
    """Provide a temporary folder, deleted afterwards."""
    with gate.refusing_write(parent):
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".blocks-", dir=parent.resolve()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _time_limited_progress(progress: Progress, recipe: LargeRecipe) -> Progress:
    """Return a progress that raises an error when the time limit is reached."""
    if recipe.max_seconds is None:
        return progress
    started, max_seconds = time.monotonic(), recipe.max_seconds

    def report(fraction: float, message: str = "", **figures: object) -> None:
        if time.monotonic() - started > max_seconds and fraction < 1.0:
            raise HetvizError(
                f"{recipe.name}: max_time = {max_seconds:,.0f} s was over at "
                f"{100 * fraction:.0f} % ({message.lower()}). Allow more time, "
                "use more workers, or leave rows out."
            )
        progress(fraction, message, **figures)

    return report
