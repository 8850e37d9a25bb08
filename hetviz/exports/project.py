"""Map and data as a project file for the app."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.io.bundle.saving import bundle_bytes
from hetviz.jobs.tasks.maps import figures_of
from hetviz.runs.embed.run import EmbeddingOrigin
from hetviz.workspace import OpenBundle, RecordRun, SetTitle, Workspace, save_project
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.packing import pack_coordinates, pack_json


def project_bytes(data: HeteroData, embedding: Embedding, title: str = "") -> bytes:
    """Return data and map as a project file."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(BlobStore(Path(folder)))
        fill_workspace(workspace, data, embedding, title)
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
    run = embedding.made.run if isinstance(embedding.made, EmbeddingOrigin) else None
    run_fields: Mapping[str, Any] = (
        {"method": "", "title": "Map", "params": {}, "seed": 0, "hold_out": 0.0}
        if run is None
        else {
            "method": run.method,
            "title": get_method(run.method).card.title,
            "params": dict(run.params),
            "seed": run.seed,
            "hold_out": run.hold_out,
            "weights": dict(run.weights),
        }
    )
    opened = workspace.state.opened()
    workspace.do(
        RecordRun(
            **run_fields,
            fingerprint=opened.fingerprint(),
            coordinates=blobs.put(pack_coordinates(embedding)),
            figures=blobs.put(pack_json(figures_of(opened, embedding))),
            note=embedding.note,
        )
    )
