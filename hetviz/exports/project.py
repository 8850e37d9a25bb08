"""Map and data as a project file for the app."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData, SavedView
from hetviz.io.bundle.saving import bundle_bytes
from hetviz.jobs.tasks.maps import figures_of
from hetviz.runs.embed.run import EmbeddingOrigin, MapResult, Run
from hetviz.workspace import OpenBundle, RecordMap, SaveView, SetTitle, Workspace, save_project
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.maps import pack_map


def project_bytes(
    data: HeteroData, embedding: Embedding, title: str = "", views: Sequence[SavedView] = ()
) -> bytes:
    """Return data and map as a project file."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(BlobStore(Path(folder)))
        fill_workspace(workspace, data, embedding, title)
        for view in views:
            workspace.do(SaveView(replace(view, id="")))
        return save_project(workspace)


def fill_workspace(
    workspace: Workspace, data: HeteroData, embedding: Embedding, title: str = ""
) -> None:
    """Add data and a map to a new workspace."""
    name = title or "data"
    blobs = workspace.blobs
    content = bundle_bytes(data, name)
    workspace.do(OpenBundle(blobs.put(content), f"{name}.zip"))
    del content
    if title:
        workspace.do(SetTitle(title))
    opened = workspace.state.opened()
    made = embedding.made.run if isinstance(embedding.made, EmbeddingOrigin) else None
    run = made or Run("", "", {}, 0)
    record = {field.name: getattr(run, field.name) for field in fields(Run)}
    result = MapResult(
        **record | {"fingerprint": opened.fingerprint()},
        title=get_method(run.method).card.title if made else "Map",
        embedding=embedding,
        figures=figures_of(opened, embedding),
    )
    workspace.do(RecordMap(blobs.put(pack_map(result))))
