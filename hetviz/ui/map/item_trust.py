"""What the map gets right and wrong around one item, in sentences."""

from __future__ import annotations

import math

from hetviz.metrics.trust.trust import Trust
from hetviz.plots.curve import LOOK_AT
from hetviz.ui.map import worker_results
from hetviz.ui.shell import background, theme
from hetviz.ui.widgets import charts, failure
from hetviz.workspace import Run, State


def show_item_trust(state: State, run: Run, row: int) -> None:
    """Say what can be believed of an item's surroundings."""
    data, embedding = state.guided, charts.embedding_of(state, run)
    if data is None or embedding is None:
        return
    result = None
    with failure.show_failure("item-trust"):
        result = worker_results.fetch_from_worker(
            background.job_owner(),
            data,
            ("item trust", id(run), row),
            "hetviz.jobs.tasks.look:trust_of_row",
            {"embedding": embedding, "row": row, "near": LOOK_AT},
            run,
        )
    texts = None if result is None else trust_sentences(result[0], row, result[1], result[2])
    if texts:
        theme.show_section("What the map gets wrong here" if texts[0] else "The map is right here")
        theme.show_note(" ".join([*texts[0], *texts[1]]))


def trust_sentences(
    trust: Trust, row: int, broken: int, n_statements: int
) -> tuple[list[str], list[str]] | None:
    """Return what is wrong around a row and what is right; None where nothing can be said."""
    wrong: list[str] = []
    right: list[str] = []

    def count(name: str) -> float:
        return float(getattr(trust, name)[row])

    if math.isfinite(count("of_within")):
        k, false, missing = (
            round(count(name)) for name in ("of_within", "false_within", "missing_within")
        )
        if false:
            wrong.append(
                f"{false} of its {k} nearest here {_is_or_are(false)} not near in the data."
            )
        if missing:
            wrong.append(
                f"{missing} of its {k} nearest in the data {_is_or_are(missing)} far here."
            )
        if not false and not missing:
            right.append(f"Its {k} nearest here are near in the data, and the other way round.")
    if math.isfinite(count("of_across")):
        k, false = round(count("of_across")), round(count("false_across"))
        missing = round(count("missing_across"))
        if false:
            wrong.append(
                f"Of the {k} nearest in another dataset, no link speaks for {_about_text(false, k)}."
            )
        if missing:
            wrong.append(
                "Of the items that its links, or links of items like it, lead to, "
                f"{_about_text(missing, k)} {_is_or_are(missing)} far here."
            )
    if n_statements:
        if broken:
            wrong.append(
                f"The map breaks {broken:,} of {theme.count(n_statements, 'thing')} said about it."
            )
        else:
            kept = "the one thing" if n_statements == 1 else f"all {n_statements:,} things"
            right.append(f"The map keeps {kept} said about it.")
    return (wrong, right) if wrong or right else None


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def _about_text(count: int, k: int) -> str:
    return "nearly all" if count >= k else f"about {count} in {k}"
