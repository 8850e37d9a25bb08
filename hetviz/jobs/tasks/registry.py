"""Registry of the tasks that a project may start.

A journal may come from anybody, so only tasks listed here are started from one. It names a task by
its id, or as ``module:function`` where an earlier version wrote it.
"""

from __future__ import annotations

from hetviz._moved import current_task

TASKS: dict[str, str] = {
    "make-map": "hetviz.jobs.tasks.maps:make_map",
    "make-first-map": "hetviz.jobs.tasks.maps:make_first_map",
    "find-clusters": "hetviz.jobs.tasks.cluster:find_clusters",
    "compare-methods": "hetviz.jobs.tasks.compare:compare_methods",
    "measure-costs": "hetviz.jobs.tasks.compare:measure_costs",
    "search-settings": "hetviz.jobs.tasks.compare:search",
    "place-items": "hetviz.jobs.tasks.place:place_items",
    "find-labels": "hetviz.jobs.tasks.predict:find_labels",
    "find-links": "hetviz.jobs.tasks.predict:find_links",
    "find-similar": "hetviz.jobs.tasks.ask:more_like",
    "fit-model": "hetviz.exports.model:fit_model",
}
"""Id of each task, as journals hold it, to ``module:function``."""


def find_task_id(name: object) -> str | None:
    """Return the id of a task named in a journal, or None if it may not be started."""
    if not isinstance(name, str):
        return None
    if name in TASKS:
        return name
    path = current_task(name)
    return next((id for id, function in TASKS.items() if function == path), None)
