"""Tests of the picture encoder."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import hetviz
from hetviz.features.columns import images, picture_encoder
from hetviz.features.recipe import recipe_of

ENCODER = {"(pictures)": {"model": "encoder"}}


@pytest.fixture(scope="module")
def emoji() -> hetviz.Dataset:
    if not picture_encoder.is_installed():
        pytest.skip("the extra pictures is not installed")
    data = hetviz.load("emoji")["emoji"]
    # 15 pictures of each of six subgroups
    subgroups = data.table["subgroup"].to_numpy()  # type: ignore[index]
    chosen = ["face-smiling", "drink", "animal-bug", "transport-water", "flower", "clothing"]
    rows = np.concatenate([np.flatnonzero(subgroups == name)[:15] for name in chosen])
    return hetviz.Dataset(
        "emoji",
        data.ids[rows],
        media=[data.media[row] for row in rows],  # type: ignore[index]
        table=pd.DataFrame({"subgroup": subgroups[rows]}),
    )


def share_of_same(V: np.ndarray, groups: np.ndarray) -> float:
    squares = (V**2).sum(axis=1)
    D = squares[:, None] + squares - 2 * V @ V.T
    np.fill_diagonal(D, np.inf)
    nearest = np.argsort(D, axis=1)[:, :5]
    return float((groups[nearest] == groups[:, None]).mean())


def test_pictures_of_the_same_things_are_nearer_than_by_edges(emoji: hetviz.Dataset) -> None:
    groups = emoji.table["subgroup"].to_numpy()  # type: ignore[index]
    V = images.describe_all(emoji.media, "encoder")  # type: ignore[arg-type]
    assert V.shape == (len(emoji), picture_encoder.N_VALUES)
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1)
    edges = images.describe_all(emoji.media)  # type: ignore[arg-type]
    assert share_of_same(V, groups) > share_of_same(edges, groups) + 0.05
    # a picture has one vector whatever stands beside it, also without the cache
    images._ENCODED.clear(None)
    np.testing.assert_array_equal(images.describe_all([emoji.media[3]], "encoder")[0], V[3])  # type: ignore[index]


def test_features_of_the_encoder_apply_to_new_rows(emoji: hetviz.Dataset) -> None:
    made = hetviz.make_features(emoji, ENCODER)
    step = next(one for one in recipe_of(made)["columns"] if one["kind"] == "picture")
    assert step["model"] == "encoder"
    again = hetviz.transform_features(made, emoji.table, emoji.media)  # type: ignore[arg-type]
    np.testing.assert_allclose(again, made.X, atol=1e-12)
    plain = hetviz.make_features(made, {"(pictures)": {"model": "edges"}})
    assert "model" not in next(s for s in recipe_of(plain)["columns"] if s["kind"] == "picture")


def test_damaged_and_missing_pictures_have_no_vector(emoji: hetviz.Dataset) -> None:
    buffer = io.BytesIO()
    Image.new("LA", (3, 9), (7, 0)).save(buffer, "PNG")
    V = images.describe_all([None, b"no picture", buffer.getvalue()], "encoder")
    assert np.isnan(V[:2]).all() and np.isfinite(V[2]).all()


def test_missing_extra_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_encoder, "_PACKAGE", "no_such_package")
    picture_encoder._load_model.cache_clear()
    assert not picture_encoder.is_installed()
    with pytest.raises(hetviz.errors.MissingExtraError, match=r"hetviz\[pictures\]"):
        picture_encoder.encode(Image.new("RGB", (4, 4)))
    picture_encoder._load_model.cache_clear()


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x02K\x01", b"cposix\nsystem\n(X\x02\x00\x00\x00lstR."]
)
def test_file_of_weights_runs_nothing(content: bytes) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        picture_encoder.read_weights(content)
