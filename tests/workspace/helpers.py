"""A small project, comparison of states, and random steps."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hetviz.data import Embedding, Filter
from hetviz.errors import HetvizError
from hetviz.workspace import (
    AddTables,
    ChooseRun,
    DropDataset,
    DropRun,
    EndJob,
    MapResult,
    RecordMap,
    RenameDataset,
    RenameRun,
    SetFilters,
    SetTitle,
    SetView,
    StarRun,
    StartJob,
    State,
    Workspace,
)
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.maps import pack_map

PLANTS = b"id,name,size,weight\n007,Oak,3,1\nNA,Ash,2,4\n9,Elm,5,2\n10,Fir,1,1\n"
BIRDS = b"id,name,span,mass\nb1,Kite,4,3\nb2,Wren,1,2\nb3,Rook,2,2\n"
LINKS = (
    b"source_dataset,source_id,target_dataset,target_id,weight\n"
    b"plants,007,birds,b1,1\nplants,NA,birds,b2,-0.5\n"
)
BAD_LINKS = LINKS + b"plants,nobody,birds,b1,1\n"


def add_all(blobs: BlobStore, links: bytes = LINKS, **more: Any) -> AddTables:
    files = {"plants.csv": PLANTS, "birds.csv": BIRDS, "links.csv": links}
    return AddTables({name: blobs.put(text) for name, text in files.items()}, **more)


def opened(blobs: BlobStore) -> Workspace:
    workspace = Workspace(blobs)
    workspace.do(add_all(blobs, fresh=True))
    return workspace


def state_essence(workspace: Workspace) -> tuple[Any, ...]:
    return (
        *workspace_essence(workspace.state),
        workspace.undo_name,
        workspace.redo_name,
        workspace.steps,
    )


def record_map(
    workspace: Workspace,
    embedding: Embedding,
    job: str | None = None,
    replaces: str | None = None,
    **fields: Any,
) -> RecordMap:
    """Store a map, and return the command that records it."""
    data = workspace.state.guided
    assert data is not None
    defaults = {"fingerprint": data.fingerprint(), "method": "pca", "params": {}, "seed": 0}
    result = MapResult(**{**defaults, "title": "Map", **fields}, embedding=embedding)
    return RecordMap(workspace.blobs.put(pack_map(result)), job, replaces)


def record(workspace: Workspace, seed: int = 0, **more: Any) -> RecordMap:
    data = workspace.state.data
    assert data is not None
    rng = np.random.default_rng(seed)
    places = {name: rng.normal(size=(len(part), 2)) for name, part in data.datasets.items()}
    next(iter(places.values()))[0] = np.nan
    return record_map(
        workspace,
        Embedding(places),
        seed=seed,
        title="PCA",
        figures={"scores": {}, "curves": {}},
        **{"fingerprint": data.fingerprint(), "params": {"n_components": 2}, **more},
    )


def workspace_essence(state: State) -> tuple[Any, ...]:
    """What must be equal for two states to be the same."""
    return (
        state.title,
        state.source,
        None if state.data is None else state.data.fingerprint(),
        [str(problem) for problem in state.problems],
        [
            (
                run.id,
                run.fingerprint,
                list(run.embedding.coordinates),
                run.embedding.stacked().tobytes(),
                run.title,
                run.starred,
                run.when,
                dict(run.weights),
                None if run.only is None else run.only.tolist(),
            )
            for run in state.runs
        ],
        state.chosen,
        state.view,
        state.filters,
        state.pending,
    )


STEPS = st.lists(
    st.one_of(
        st.builds(SetTitle, st.text("abc", min_size=1, max_size=3)),
        st.sampled_from(
            [
                RenameDataset("plants", "trees"),
                RenameDataset("trees", "plants"),
                RenameDataset("birds", "plants"),
                DropDataset("birds"),
                SetView(colour="dataset"),
                SetView(hidden=("plants",)),
                SetFilters([Filter("plants", "size", "range", low=2)]),
                SetFilters([]),
                ChooseRun("1"),
                RenameRun("1", "first"),
                StarRun("2", True),
                DropRun("1"),
                DropRun("2"),
                StartJob("j1", "PCA", {"method": "pca"}),
                EndJob("j1", "failed", "no"),
                EndJob("j1"),
                "record",
                "record a part",
                "undo",
                "redo",
            ]
        ),
    ),
    max_size=12,
)


def run_random_steps(workspace: Workspace, step: Any, seed: int = 0) -> None:
    """Do a step of `STEPS`."""
    if step in ("undo", "redo"):
        getattr(workspace, step)()
    elif step == "record":
        workspace.do(record(workspace, seed, job="j1"))
    elif step == "record a part":
        only = np.array([0, 2])
        workspace.do(record(workspace, seed, only=only, weights={"plants|birds|link": 0.5}))
    else:
        workspace.do(step)


def try_command(workspace: Workspace, step: Any, seed: int = 0) -> None:
    """Do a step, or find that it cannot be done."""
    with contextlib.suppress(HetvizError):
        run_random_steps(workspace, step, seed)
