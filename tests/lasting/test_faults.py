"""A fault at a random moment, of each kind; `make soak` has twenty of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lasting.faults import KINDS, moments, running, table
from tests.lasting.visitor import Visitor


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_acknowledged_is_there_after(kind: str, tmp_path: Path) -> None:
    tally = moments(tmp_path, kind, n=1, seed=1)
    print(f"{kind}: {tally}")
    assert tally.lost == 0
    assert tally.faults == 1


def test_nothing_of_one_visitor_is_heard_by_another(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        visitors = [Visitor(server.url).come() for _ in range(3)]
        words = [f"canary{n}x7Qz" for n in range(3)]
        for visitor, word in zip(visitors, words, strict=True):
            # The same file name in each, and as many rows.
            visitor.go("home")
            visitor.upload({"things.csv": table(60, 0, word)})
            visitor.press("Map them")
        for visitor, word in zip(visitors, words, strict=True):
            visitor.wait("Undo new map")
            visitor.say("Project name", f"{word} project")
            for page in ("data", "guidance", "map", "compare", "predict", "home"):
                visitor.go(page)
        for visitor in visitors:
            heard = b"".join(visitor.heard)
            own = [word for word in words if word.encode() in heard]
            assert own == [words[visitors.index(visitor)]]
            visitor.leave()
        log = server.log.read_text()
        assert not any(visitor.sid in log for visitor in visitors), "an id gives access"
        assert not any(word in log for word in words)
