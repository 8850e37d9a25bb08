"""Fixture that caches samples for the export tests."""

from __future__ import annotations

import pytest

from tests.samples import read_once


@pytest.fixture(autouse=True)
def samples_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read_once(monkeypatch)
