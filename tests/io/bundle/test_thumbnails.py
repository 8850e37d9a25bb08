"""The check that every picture goes through before it is opened."""

import pytest

from hetviz.errors import DataError
from hetviz.io import limits
from hetviz.io.bundle.thumbnails import checked_picture
from tests.io.making import picture


def test_pictures_are_measured_before_they_are_opened(monkeypatch):
    content = picture((30, 20))
    assert checked_picture("p.png", content) == content
    monkeypatch.setattr(limits, "MAX_PICTURE_PIXELS", 500)
    with pytest.raises(DataError, match="30 x 20 pixels"):
        checked_picture("p.png", content)
    with pytest.raises(DataError, match="damaged"):
        checked_picture("p.png", content[:12])
