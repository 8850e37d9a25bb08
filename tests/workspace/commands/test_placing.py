"""Tests of commands for placed items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hetviz.data import Embedding
from hetviz.errors import DataError
from hetviz.workspace import AddTables, KeepItems, LeaveItems, Workspace
from hetviz.workspace.commands.command import Context
from hetviz.workspace.store.blobs import BlobStore
from tests.workspace.helpers import record_map

KINDS = ["oak", "elm", "yew"]
PLANTS = "id,kind,size,weight\n" + "".join(
    f"p{k},{KINDS[k % 3]},{k * 7 % 11},{k * 5 % 13}\n" for k in range(12)
)
BIRDS = "id,span,mass\n" + "".join(f"b{k},{k * 3 % 7},{k * 4 % 9}\n" for k in range(9))
NEW = "id,kind,size,weight,birds\nn1,oak,3,4,b0; b2\nn2,,,1,\np0,oak,1,1,\n"


def opened(tmp_path: Path) -> tuple[Workspace, str]:
    """Open plants and birds with a map of all but the first row, and store the file."""
    workspace = Workspace(BlobStore(tmp_path))
    blobs = workspace.blobs
    files = {"plants.csv": blobs.put(PLANTS.encode()), "birds.csv": blobs.put(BIRDS.encode())}
    data = workspace.do(AddTables(files, fresh=True)).opened()
    rng = np.random.default_rng(0)
    Y = {name: rng.normal(size=(len(part), 2)) for name, part in data.datasets.items()}
    Y[next(iter(Y))][0] = np.nan
    only = np.arange(1, data.n_rows)
    workspace.do(
        record_map(
            workspace,
            Embedding(Y, {name: part.ids for name, part in data.datasets.items()}),
            only=only,
        )
    )
    return workspace, blobs.put(NEW.encode())


def test_keep_items_adds_labels_links_positions(tmp_path: Path) -> None:
    workspace, file = opened(tmp_path)
    before = workspace.state
    old = before.run
    assert old is not None and old.only is not None
    run = old.id
    places = {"n1": [0.5, 0.25], "n2": None}
    state = workspace.do(KeepItems("plants", {"new.csv": file}, run, places))
    data = state.opened()
    assert list(data["plants"].ids[-2:]) == ["n1", "n2"]
    labels = next(column for column in data.labels if column.dataset == "plants")
    assert list(labels.values[-2:]) == ["oak", None]
    group = data.links[-1]
    assert (group.source, group.target, group.kind) == ("plants", "birds", "listed")
    assert [data["birds"].ids[j] for j in group.j] == ["b0", "b2"]
    now = state.run
    assert now is not None and now.only is not None
    np.testing.assert_array_equal(now.embedding.coordinates["plants"][-2], [0.5, 0.25])
    assert not now.embedding.placed["plants"][-1]
    # The rows that the method saw are the same items as before.
    ids = np.concatenate(list(now.embedding.ids.values()))
    had = np.concatenate(list(old.embedding.ids.values()))
    assert ids[now.only].tolist() == had[old.only].tolist()
    assert not state.is_current(now)
    assert next(entry for entry in state.understood if entry.dataset == "plants").n_rows == 14
    assert workspace.undo().opened().fingerprint() == before.opened().fingerprint()


def test_keep_items_rejects_changed_data(tmp_path: Path) -> None:
    workspace, file = opened(tmp_path)
    run = workspace.state.chosen
    assert run is not None
    with pytest.raises(DataError, match="Place them again"):
        workspace.do(KeepItems("plants", {"new.csv": file}, run, {"n1": [0.0, 0.0]}))
    assert len(workspace.state.opened()["plants"]) == 12


def test_leave_items_removes_findings(tmp_path: Path) -> None:
    workspace, _ = opened(tmp_path)
    retained = replace(workspace.state, findings={"placed": object(), "links": object()})
    assert set(LeaveItems().apply(retained, Context(workspace.blobs)).findings) == {"links"}
