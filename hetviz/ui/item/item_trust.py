"""Sentences about the reliability of the map around an item."""

from __future__ import annotations

from hetviz.runs.evidence.guidance import item_guidance_evidence
from hetviz.ui.item import blocks, item_results
from hetviz.ui.item.blocks import Block
from hetviz.ui.jobs.jobs import JOBS, Kind
from hetviz.ui.map_data import spread
from hetviz.ui.shell import theme
from hetviz.workspace import MapResult, Workspace

MEASURE = "measure-spread"


def trust_blocks(workspace: Workspace, run: MapResult, row: int, session: str) -> list[Block]:
    """Return how reliable the map is around an item."""
    state = workspace.state
    data, embedding = state.guided, state.embedding(run)
    if data is None or embedding is None:
        return []
    guidance = item_results.get_or_compute(
        workspace,
        ("item guidance", id(data), id(run), row),
        (data, run),
        lambda: item_guidance_evidence(data, embedding, row),
    )
    lines: list[Block] = []
    if len(guidance.table):
        text = f"Your guidance about it: {guidance.statement}"
        lines.append(blocks.note(text, theme.evidence_key("item-guidance", row)))
    measured = spread.find(state, run)
    if measured is not None:
        text = measured.sentence_of(row)
        lines += [blocks.note(text, theme.evidence_key("spread"))] if text else []
    elif JOBS.active(session, Kind.SPREAD):
        lines.append(blocks.note("How stable positions are is being measured, by refits."))
    elif spread.can_measure(run):
        lines.append(blocks.button(MEASURE, "Measure how stable positions are", is_quiet=True))
    return [blocks.section("How reliable is this spot?"), *lines] if lines else []
