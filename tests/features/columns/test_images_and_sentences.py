"""Pictures and sentences as features, on cases that can be told beforehand."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import hetviz
from hetviz.core import sentence_vectors
from hetviz.features.columns import images
from hetviz.features.columns.images import describe
from hetviz.features.recipe import recipe_of

ANGLES = 9


def picture(pixels) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def stripes(across: bool) -> bytes:
    grey = np.zeros((48, 48))
    grey[:, ::8] = grey[:, 1::8] = grey[:, 2::8] = grey[:, 3::8] = 255
    pixels = np.repeat((grey if across else grey.T)[:, :, None], 3, axis=2)
    return picture(pixels)


def plain(red, green, blue) -> bytes:
    return picture(np.full((48, 48, 3), (red, green, blue)))


def test_picture_edge_histogram():
    edges = describe(stripes(across=True))[:324].reshape(36, ANGLES)
    assert edges.sum(axis=0).argmax() == 0 and not edges[:, 1:].any()
    edges = describe(stripes(across=False))[:324].reshape(36, ANGLES)
    assert edges.sum(axis=0).argmax() == ANGLES // 2
    assert not np.delete(edges, ANGLES // 2, axis=1).any()


def test_picture_colours():
    assert not describe(plain(255, 255, 255)).any()
    red = describe(plain(255, 0, 0))
    assert not red[:324].any()
    # sixteen parts without green and blue
    np.testing.assert_allclose(red[324:].reshape(16, 3), np.tile([0, 1, 1], (16, 1)) / np.sqrt(32))


def test_picture_features_separate_pictures():
    media = [stripes(True), stripes(True), stripes(False), plain(255, 0, 0), None, b"no picture"]
    things = hetviz.Dataset("things", list("abcdef"), media=media)
    result = hetviz.make_features(things)
    X = result.X
    assert X.var(axis=0).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(X[0], X[1])
    assert np.linalg.norm(X[0] - X[2]) > 0.5
    # without a picture, in the middle
    np.testing.assert_allclose(X[4:], 0.0, atol=1e-12)
    again = hetviz.transform_features(result, pd.DataFrame(index=range(6)), media)
    np.testing.assert_allclose(again, X, atol=1e-12)
    flagged = hetviz.make_features(things, {"(pictures)": {"impute": "none"}})
    assert flagged.feature_names[-1] == "(pictures) (missing)"


def test_equal_or_missing_pictures_give_no_features():
    for media in ([plain(0, 0, 0)] * 3, [None] * 3, ["/no/such/file.png"] * 3):
        result = hetviz.make_features(hetviz.Dataset("things", list("abc"), media=media))
        assert result.X is None
        assert [first["why"] for first in recipe_of(result)["left_out"]] == [
            "all pictures are equal"
        ]


def test_pictures_from_files(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(plain(1, 2, 3))
    np.testing.assert_array_equal(
        images.describe_all([path]), images.describe_all([plain(1, 2, 3)])
    )


TEXTS = ["A dog runs in the park.", "The puppy plays outside.", "Stock prices fell.", None]


def test_sentences_of_similar_meaning_are_close():
    pytest.importorskip("onnxruntime")
    V = sentence_vectors.text_vectors(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), [1, 1, 1, 0])
    assert V[0] @ V[1] > 0.4 > 0.2 > V[0] @ V[2]
    # a text has one vector whatever stands beside it
    np.testing.assert_allclose(sentence_vectors.text_vectors([TEXTS[1]])[0], V[1])
    table = pd.DataFrame({"about": TEXTS})
    things = hetviz.Dataset("things", list("abcd"), table=table)
    result = hetviz.make_features(things, {"about": {"kind": "text"}}, text_model="sentences")
    assert recipe_of(result)["text_model"] == "sentences"
    X = result.X
    assert np.linalg.norm(X[0] - X[1]) < np.linalg.norm(X[0] - X[2])
    np.testing.assert_allclose(hetviz.transform_features(result, table), X)


def test_long_texts_are_read_to_their_end():
    pytest.importorskip("onnxruntime")
    filler = "The committee discussed the budget of the next year. " * 40
    dog, tax = (filler + end * 20 for end in (TEXTS[0], "Taxes on income rise."))
    V = sentence_vectors.text_vectors([dog, tax, TEXTS[0], filler])
    assert V[0] @ V[2] > V[1] @ V[2] + 0.1
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1)
    # the part that is read is bounded
    W = sentence_vectors.text_vectors([filler * 8, filler * 8 + TEXTS[0]])
    np.testing.assert_array_equal(W[0], W[1])


def test_missing_extra_is_reported(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    sentence_vectors._load_model.cache_clear()
    try:
        with pytest.raises(hetviz.errors.MissingExtraError, match=r"hetviz\[text\]"):
            sentence_vectors.text_vectors(["a text"])
    finally:
        sentence_vectors._load_model.cache_clear()
