"""Registry of the tasks of the worker, the only place that names their functions."""

from __future__ import annotations

from dataclasses import dataclass

from hetviz._moved import current_task


@dataclass(frozen=True)
class TaskSpec:
    """Declaration of a task."""

    # ``"module:function"``. Its signature declares input and output: it gets the arguments of the
    # task and ``progress``.
    function: str
    title: str  # Shown while it runs and when it fails.
    # Whether a journal, which may come from anybody, may start it again.
    restartable: bool = False


TASKS: dict[str, TaskSpec] = {
    "make-map": TaskSpec("hetviz.jobs.tasks.maps:make_map", "Map", True),
    "take-map": TaskSpec("hetviz.jobs.tasks.maps:take_map", "Map of two columns", True),
    "make-first-map": TaskSpec("hetviz.jobs.tasks.maps:make_first_map", "First map", True),
    "find-clusters": TaskSpec("hetviz.jobs.tasks.cluster:find_clusters", "Clusters", True),
    "find-spread": TaskSpec(
        "hetviz.jobs.tasks.spread:find_spread", "Refits with resampled links", True
    ),
    "find-periods": TaskSpec("hetviz.jobs.tasks.periods:find_periods", "Maps of periods", True),
    "compare-methods": TaskSpec("hetviz.jobs.tasks.compare:compare_methods", "Comparison", True),
    "measure-costs": TaskSpec("hetviz.jobs.tasks.compare:measure_costs", "Times", True),
    "search-settings": TaskSpec("hetviz.jobs.tasks.compare:search", "Search of settings", True),
    "place-items": TaskSpec("hetviz.jobs.tasks.place:place_items", "New items", True),
    "find-labels": TaskSpec("hetviz.jobs.tasks.predict:find_labels", "Labels", True),
    "find-links": TaskSpec("hetviz.jobs.tasks.predict:find_links", "Links", True),
    "find-similar": TaskSpec("hetviz.jobs.tasks.ask:more_like", "Similar items", True),
    "fit-model": TaskSpec("hetviz.exports.model:fit_model", "Fitted method", True),
    # Results for pages, which the journal does not record.
    "check-guidance": TaskSpec("hetviz.jobs.tasks.look:report", "Checking the guidance"),
    "choose-questions": TaskSpec("hetviz.jobs.tasks.look:questions", "Choosing the next questions"),
    "column-effects": TaskSpec(
        "hetviz.jobs.tasks.look:effects", "Comparing the map with each column"
    ),
    "draw-preview": TaskSpec("hetviz.plots.paper_map:preview", "Drawing the figure"),
    "compare-rows": TaskSpec("hetviz.jobs.tasks.look:similar_pairs", "Comparing the rows"),
    "explain-map": TaskSpec(
        "hetviz.jobs.tasks.look:reasons_of_map", "Comparing the columns with the map"
    ),
    "find-joins": TaskSpec(
        "hetviz.jobs.tasks.look:proposals", "Looking for columns that match these tables"
    ),
    "find-regions": TaskSpec(
        "hetviz.jobs.tasks.look:regions_of_map", "Finding the regions of the map"
    ),
    "map-trust": TaskSpec(
        "hetviz.jobs.tasks.look:trust_of_rows", "Checking where the map is reliable"
    ),
    "price-statements": TaskSpec(
        "hetviz.jobs.tasks.look:prices", "Computing what it would take to satisfy these"
    ),
    "propose-features": TaskSpec(
        "hetviz.jobs.tasks.look:recipe_of_features", "Reading the columns"
    ),
    "read-texts": TaskSpec("hetviz.jobs.tasks.look:meanings", "Reading the texts"),
    "read-columns": TaskSpec("hetviz.jobs.tasks.look:columns", "Reading the columns"),
}
"""Declaration of each task by its id, which journals hold."""


def restartable_task(name: object) -> str | None:
    """Return the id of a task named in a journal, or None if it may not be started again."""
    # Earlier versions wrote the function instead of the id.
    names = {id: id for id, spec in TASKS.items() if spec.restartable}
    names |= {TASKS[id].function: id for id in names}
    return names.get(current_task(name)) if isinstance(name, str) else None
