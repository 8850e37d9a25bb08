import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from hetviz.errors import DataError, HetvizError
from hetviz.io import limits
from hetviz.io.datasets import images
from hetviz.io.datasets.images import checked_picture
from hetviz.io.infer.parsed import Table
from tests.depth import examples
from tests.io.file_builders import picture


def encoded(image, kind="PNG", **how):
    buffer = io.BytesIO()
    image.save(buffer, kind, **how)
    return buffer.getvalue()


def opened(content):
    return Image.open(io.BytesIO(content))


def half_and_half(width, height):
    """Red on the left, blue on the right."""
    image = Image.new("RGB", (width, height), (220, 0, 0))
    image.paste((0, 0, 220), (width // 2, 0, width, height))
    return image


def table(**columns):
    frame = pd.DataFrame(columns, dtype=str)
    return Table("things", "things.csv", None, frame, tuple(range(len(frame))))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_thumbnail_size(kind):
    small = opened(images.thumbnail("p", encoded(half_and_half(300, 200), kind)))
    assert (small.format, small.size, small.mode) == ("WEBP", (96, 64), "RGB")
    left, right = small.getpixel((10, 30)), small.getpixel((85, 30))
    assert left[0] > 180 > 60 > left[2]
    assert right[2] > 180 > 60 > right[0]


def test_thumbnail_does_not_enlarge():
    assert opened(images.thumbnail("p", encoded(Image.new("RGB", (3, 5))))).size == (3, 5)


def test_thumbnail_applies_orientation_and_drops_metadata():
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "Maker of the camera"
    content = encoded(half_and_half(60, 40), "JPEG", exif=exif, comment=b"a secret", quality=95)
    small = opened(images.thumbnail("p", content))
    assert small.size == (40, 60)
    assert not small.getexif()
    for word in (b"Maker", b"secret", b"EXIF"):
        assert word not in images.thumbnail("p", content)
    top, bottom = small.getpixel((20, 10)), small.getpixel((20, 50))
    assert top[0] > 150 > top[2]
    assert bottom[2] > 150 > bottom[0]


def test_thumbnail_converts_all_modes():
    grey = np.linspace(0, 60_000, 64).reshape(8, 8)
    for image in (
        Image.fromarray(grey.astype(np.uint16)),
        Image.new("1", (8, 8)),
        Image.new("LA", (8, 8)),
        Image.new("P", (8, 8)),
    ):
        assert opened(images.thumbnail("p", encoded(image))).mode in ("RGB", "RGBA")
    bright = opened(images.thumbnail("p", encoded(Image.fromarray(grey.astype(np.uint16)))))
    assert bright.getpixel((7, 7))[0] > 200 > 50 > bright.getpixel((0, 0))[0]
    assert opened(images.thumbnail("p", encoded(Image.new("CMYK", (8, 8)), "JPEG"))).mode == "RGB"
    see_through = opened(images.thumbnail("p", encoded(Image.new("RGBA", (8, 8), (9, 9, 9, 0)))))
    assert see_through.mode == "RGBA"


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_animated_pictures_are_refused(kind):
    frames = [half_and_half(10, 10), Image.new("RGB", (10, 10))]
    content = encoded(frames[0], kind, save_all=True, append_images=frames[1:])
    with pytest.raises(DataError, match="2 frames"):
        images.thumbnail("p", content)


def test_too_large_and_damaged_pictures_are_refused(monkeypatch):
    good = encoded(half_and_half(50, 50))
    for content in (good[:60], good[:-30], b"\x89PNG\r\n\x1a\n", b"RIFF1234WEBPxxxx"):
        with pytest.raises(DataError) as caught:
            images.thumbnail("p", content)
        assert caught.value.problems[0].code == "bad-picture"
    monkeypatch.setattr(limits, "MAX_PICTURE_PIXELS", 2000)
    with pytest.raises(DataError, match="50 x 50"):
        images.thumbnail("p", good)


def test_picture_rows_have_shortest_unique_ids():
    rows = images.picture_rows("pets", "pets.zip", [("cats/1.png", b"a"), ("dogs/2.png", b"b")])
    assert rows.frame.to_dict("list") == {
        "id": ["1", "2"],
        "file": ["cats/1.png", "dogs/2.png"],
        "folder": ["cats", "dogs"],
    }
    assert rows.media == (b"a", b"b")
    assert images.ids_of_files(["a/1.png", "b/1.png"]) == ["a/1.png", "b/1.png"]
    assert images.ids_of_files(["1.png", "1.jpg"]) == ["1.png", "1.jpg"]


FILES = [("img/a.png", b"A"), ("img/b.png", b"B"), ("img/c.png", b"C")]


@pytest.mark.parametrize(
    "cells",
    [
        ["b.png", "a.png", "x.png"],
        ["b", "a", "x"],
        ["img/b.png", "img/a.png", ""],
        [".\\img\\B.PNG", "IMG/a.png", "z"],
        ["https://example.org/b.png", "https://example.org/a.png", "https://example.org/x.png"],
    ],
)
def test_pictures_join_table_by_file_names(cells):
    given = table(id=["1", "2", "3"], picture=cells)
    (piece,) = images.join_pictures([given], images.picture_rows("img", "z.zip", FILES))
    assert piece.media == (b"B", b"A", None)
    assert piece.media_column == "picture"
    notes = {problem.code: problem for problem in piece.problems}
    assert notes["no-picture"].row == 2
    assert notes["spare-pictures"].value == "img/c.png"


def test_pictures_join_table_by_ids():
    others = table(id=["x", "y"], picture=["a", "nothing"])
    (first, piece) = images.join_pictures(
        [others, table(id=["c", "b", "a"])], images.picture_rows("img", "z.zip", FILES)
    )
    assert first is others
    assert piece.media == (b"C", b"B", b"A")
    assert piece.media_column is None


def test_unnamed_pictures_are_dataset():
    rows = images.picture_rows("img", "z.zip", FILES)
    for other in (
        table(id=["x", "y"], colour=["red", "blue"]),
        table(id=list("pqrstu"), age=["a", "a", "a", "b", "a", "a"]),
    ):
        assert images.join_pictures([other], rows) == [other, rows]


def test_ambiguous_picture_name_matches_nothing():
    twice = [("x/a.png", b"1"), ("y/a.png", b"2"), ("b.png", b"3")]
    (piece,) = images.join_pictures(
        [table(id=["a", "b", "y/a"])], images.picture_rows("img", "z.zip", twice)
    )
    assert piece.media == (None, b"3", b"2")


@settings(max_examples=examples(80), deadline=None)
@given(st.sampled_from(["PNG", "JPEG", "WEBP"]), st.integers(8, 300), st.binary(max_size=40))
def test_damaged_pictures_are_read_or_refused(kind, at, noise):
    good = encoded(half_and_half(20, 16), kind)
    for content in (good[:at] + noise, good[:at] + noise + good[at + len(noise) :]):
        try:
            small = opened(images.thumbnail("p", content))
        except HetvizError:
            continue
        assert max(small.size) <= images.THUMBNAIL_PIXELS


def test_picture_size_is_checked_before_opening(monkeypatch):
    content = picture((30, 20))
    assert checked_picture("p.png", content) == content
    monkeypatch.setattr(limits, "MAX_PICTURE_PIXELS", 500)
    with pytest.raises(DataError, match="30 x 20 pixels"):
        checked_picture("p.png", content)
    with pytest.raises(DataError, match="damaged"):
        checked_picture("p.png", content[:12])
