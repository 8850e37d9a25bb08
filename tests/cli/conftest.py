"""Shared cache of samples for tests of commands."""

from __future__ import annotations

import pytest

from tests.samples import read_once


@pytest.fixture(autouse=True)
def cache_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    read_once(monkeypatch)
