"""Tests of the types that a user's editor and type checker see."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import hetviz
from hetviz.algorithms.registry import method_classes
from hetviz.errors import ParameterError

ROOT = Path(__file__).resolve().parents[1]


def test_stub_is_current() -> None:
    tool = runpy.run_path(str(ROOT / "tools/make_stub.py"))
    message = "Run python tools/make_stub.py"
    assert tool["STUB"].read_text(encoding="utf-8") == tool["stub"](), message


def test_methods_are_public_classes() -> None:
    assert hetviz.JointMap is hetviz.get_method("joint-map")
    assert hetviz.GBC is hetviz.get_method("gbc")
    assert set(method_classes()) <= set(dir(hetviz))
    for key in (card.key for card in hetviz.methods()):
        assert getattr(hetviz, hetviz.get_method(key).__name__) is hetviz.get_method(key)
    with pytest.raises(AttributeError, match="no attribute 'JointMpa'"):
        _ = hetviz.JointMpa
    with pytest.raises(TypeError, match=r"UMAP has no parameter 'n_neighbours'. Did you mean"):
        hetviz.UMAP(n_neighbours=5)


def test_embedding_as_array_and_mapping() -> None:
    data = hetviz.load("digit-views")
    m = hetviz.embed(data, "pca")
    assert list(m) == list(data.datasets)
    np.testing.assert_array_equal(np.asarray(m), m.stacked())
    assert np.asarray(m, dtype=np.float32).dtype == np.float32
    assert m["pixels"] is m.coordinates["pixels"]
    with pytest.raises(KeyError, match="Did you mean 'pixels'"):
        m["pixel"]


def test_random_state_of_none_and_generators() -> None:
    rng = np.random.default_rng(0)
    data = hetviz.HeteroData.from_frames({"items": rng.normal(size=(40, 3))})

    def fitted(seed: object) -> np.ndarray:
        return np.asarray(hetviz.MRSNE(random_state=seed, n_iter=20).fit(data).embedding_)

    first, second = fitted(np.random.default_rng(5)), fitted(np.random.default_rng(5))
    np.testing.assert_array_equal(first, second)
    legacy = [fitted(np.random.RandomState(5)) for _ in range(2)]
    np.testing.assert_array_equal(*legacy)
    drawn = np.random.default_rng(5)
    maps = [np.asarray(hetviz.embed(data, "mr-sne", random_state=drawn, n_iter=20)) for _ in "ab"]
    np.testing.assert_array_equal(maps[0], first)
    assert not np.array_equal(*maps)
    assert not np.array_equal(fitted(None), fitted(None))
    with pytest.raises(ParameterError, match="random_state"):
        fitted("five")


def test_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    data = hetviz.load("digit-views")
    hetviz.embed(data, "pca", progress=True)
    assert "100%" in capsys.readouterr().err
    hetviz.get_method("pca")().fit(data, True)
    assert "100%" in capsys.readouterr().err
