"""Tests of the command that changes features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hetviz.errors import DataError
from hetviz.workspace import OpenSample, SetFeatures, Workspace, from_dict
from hetviz.workspace.commands.features import make_dataset_features
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.packing import pack_features
from tests.workspace.helpers import opened, record

RANKED = SetFeatures("plants", {"size": {"scale": "rank"}, "weight": {"use": False}})


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


def test_set_features_undo_and_replay(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    workspace.do(record(workspace))
    before = workspace.state
    after = workspace.do(from_dict(RANKED.to_dict()))
    assert after.opened()["plants"].feature_names == ("size",)
    assert after.opened()["birds"] is before.opened()["birds"]
    assert after.run is not None and not after.is_current(after.run)
    info = next(info for info in after.understood if info.dataset == "plants")
    assert (info.n_features, info.features) == (1, "made from 1 column")
    assert {c.name: c.role for c in info.columns}["weight"] == "shown"
    again = Workspace.replay(workspace.log, blobs)
    assert again.state.opened().fingerprint() == after.opened().fingerprint()
    workspace.undo()
    assert workspace.state.opened().fingerprint() == before.opened().fingerprint()
    assert workspace.redo().opened().fingerprint() == after.opened().fingerprint()


def test_set_features_uses_made_blob(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    created, _ = make_dataset_features(workspace.state.opened(), RANKED)
    key = blobs.put(pack_features(created))
    retained = workspace.do(SetFeatures("plants", made=key)).opened()["plants"]
    assert created.X is not None and retained.X is not None
    assert np.array_equal(np.asarray(retained.X), np.asarray(created.X))
    assert (retained.recipe, retained.feature_names) == (created.recipe, created.feature_names)
    with pytest.raises(DataError, match="other rows"):
        workspace.do(SetFeatures("birds", made=key))


def test_set_features_skips_labels(blobs: BlobStore) -> None:
    workspace = Workspace(blobs)
    workspace.do(OpenSample("digits"))
    after = workspace.do(SetFeatures("pixels", {"(pictures)": {"use": True}}))
    names = after.opened()["pixels"].feature_names
    assert names is not None and names[-1].startswith("picture~")
    assert "digit" not in names
    assert after.held_out is not None
    assert after.held_out["pixels"].feature_names == names


@pytest.mark.parametrize(
    "command",
    [
        SetFeatures("nothing"),
        SetFeatures("plants", {"no column": {"use": True}}),
        SetFeatures("plants", {"size": {"scale": "wide"}}),
        SetFeatures("plants", made="0" * 64),
    ],
)
def test_set_features_error_changes_nothing(blobs: BlobStore, command: SetFeatures) -> None:
    workspace = opened(blobs)
    before = workspace.state
    with pytest.raises(DataError):
        workspace.do(command)
    assert workspace.state is before
