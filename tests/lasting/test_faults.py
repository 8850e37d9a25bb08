"""Tests of one fault of each kind at a random moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.harness import Server
from tests.lasting.faults import KILLED, SURVIVED, moments, running, table
from tests.lasting.visitor import Visitor


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Server]]:
    """Serve for all tests whose fault a server outlives; gives the folder that it keeps all in."""
    home = tmp_path_factory.mktemp("standing")
    with running(home) as server:
        yield home, server


@pytest.mark.parametrize("kind", KILLED)
def test_acknowledged_steps_survive_killed_server(kind: str, tmp_path: Path) -> None:
    tally = moments(tmp_path, kind, n=1, seed=1)
    print(f"{kind}: {tally}")
    assert tally.lost == 0
    assert tally.faults == 1


@pytest.mark.parametrize("kind", SURVIVED)
def test_acknowledged_steps_survive_fault(kind: str, server: tuple[Path, Server]) -> None:
    home, server = server
    tally = moments(home, kind, n=1, seed=1, standing=server)
    print(f"{kind}: {tally}")
    assert tally.lost == 0
    assert tally.faults == 1
    assert tally.acts > 0


def test_visitors_are_isolated(server: tuple[Path, Server]) -> None:
    _, server = server
    visitors = [Visitor(server.url).come() for _ in range(2)]
    words = [f"canary{n}x7Qz" for n in range(2)]
    for visitor, word in zip(visitors, words, strict=True):
        # The same file name in each, and as many rows.
        visitor.go("home")
        visitor.upload({"things.csv": table(60, 0, word)})
        visitor.press("Create map")
    for visitor, word in zip(visitors, words, strict=True):
        visitor.wait("Undo new map")
        visitor.say("Project name", f"{word} project")
        for page in ("data", "guidance", "map", "compare", "predict", "home"):
            visitor.go(page)
    for visitor in visitors:
        received = b"".join(visitor.heard)
        own_values = [word for word in words if word.encode() in received]
        assert own_values == [words[visitors.index(visitor)]]
        visitor.leave()
    log = server.log.read_text()
    assert not any(visitor.sid in log for visitor in visitors), "an id gives access"
    assert not any(word in log for word in words)
