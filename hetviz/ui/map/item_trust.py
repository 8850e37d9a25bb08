"""What the map gets right and wrong around one item, in sentences."""

from __future__ import annotations

import math

from hetviz.metrics.trust.trust import Trust
from hetviz.plots.curve import LOOK_AT
from hetviz.ui.map import away
from hetviz.ui.shell import background, theme
from hetviz.ui.widgets import charts, failed
from hetviz.workspace import Run, State


def show(state: State, run: Run, row: int) -> None:
    """Say what can be believed of an item's surroundings."""
    data, embedding = state.guided, charts.embedding_of(state, run)
    if data is None or embedding is None:
        return
    found = None
    with failed.told("item-trust"):
        found = away.found(
            background.owner(),
            data,
            ("item trust", id(run), row),
            "hetviz.jobs.tasks.look:trust_of_row",
            {"embedding": embedding, "row": row, "near": LOOK_AT},
            run,
        )
    said = None if found is None else sentences(found[0], row, found[1], found[2])
    if said:
        theme.section("What the map gets wrong here" if said[0] else "The map is right here")
        theme.quiet(" ".join([*said[0], *said[1]]))


def sentences(found: Trust, row: int, broken: int, said: int) -> tuple[list[str], list[str]] | None:
    """Return what is wrong around a row and what is right; None where nothing can be said."""
    wrong: list[str] = []
    right: list[str] = []

    def count(name: str) -> float:
        return float(getattr(found, name)[row])

    if math.isfinite(count("of_within")):
        k, false, missing = (
            round(count(name)) for name in ("of_within", "false_within", "missing_within")
        )
        if false:
            wrong.append(f"{false} of its {k} nearest here {_are(false)} not near in the data.")
        if missing:
            wrong.append(f"{missing} of its {k} nearest in the data {_are(missing)} far here.")
        if not false and not missing:
            right.append(f"Its {k} nearest here are near in the data, and the other way round.")
    if math.isfinite(count("of_across")):
        k, false = round(count("of_across")), round(count("false_across"))
        missing = round(count("missing_across"))
        if false:
            wrong.append(
                f"Of the {k} nearest in another dataset, no link speaks for {_about(false, k)}."
            )
        if missing:
            wrong.append(
                "Of the items that its links, or links of items like it, lead to, "
                f"{_about(missing, k)} {_are(missing)} far here."
            )
    if said:
        if broken:
            wrong.append(
                f"The map breaks {broken:,} of {theme.count(said, 'thing')} said about it."
            )
        else:
            kept = "the one thing" if said == 1 else f"all {said:,} things"
            right.append(f"The map keeps {kept} said about it.")
    return (wrong, right) if wrong or right else None


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _about(count: int, k: int) -> str:
    return "nearly all" if count >= k else f"about {count} in {k}"
