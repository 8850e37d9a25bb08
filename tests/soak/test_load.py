"""Test of ten simultaneous visitors: waiting times, memory, separation."""

from __future__ import annotations

import base64
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.lasting.faults import running, table
from tests.lasting.visitor import Visitor

VISITORS, SECONDS, REST_S = 10, 180.0, 10
MAP = "hetviz_map"
PAGES = ("data", "guidance", "compare", "clusters", "predict", "export")


@dataclass
class Visit:
    """What one visitor met."""

    word: str
    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    mixed: int = 0
    error: BaseException | None = None


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_ten_visitors_at_once(tmp_path: Path) -> None:
    with running(
        tmp_path, HETVIZ_REST_AFTER_S=str(REST_S), STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="5"
    ) as server:
        # One sees all pages first: libraries that stay loaded are no leak.
        warm = Visit("warm")
        run_visit(server.url, warm, ["warm"], 40.0, 0, tour=True)
        assert warm.error is None
        time.sleep(4 * REST_S)
        before = memory(server.pid)
        words = [f"canary{n}x7Qz" for n in range(VISITORS)]
        stays = [Visit(word) for word in words]
        threads = [
            threading.Thread(target=run_visit, args=(server.url, stay, words, SECONDS, n))
            for n, stay in enumerate(stays)
        ]
        for thread in threads:
            thread.start()
        maximum = before
        while any(thread.is_alive() for thread in threads):
            maximum = max(maximum, memory(server.pid))
            time.sleep(1.0)
        time.sleep(4 * REST_S)
        after = memory(server.pid)
    waits: dict[str, list[float]] = defaultdict(list)
    for stay in stays:
        for act, seconds in stay.waits.items():
            waits[act] += seconds
    print(f"\n{VISITORS} visitors, {format_waits([s for acts in waits.values() for s in acts])}")
    for act in sorted(waits):
        print(f"  {act}: {format_waits(waits[act])}")
    print(f"memory {before:.0f} MB before, {maximum:.0f} at most, {after:.0f} after")
    assert [stay.error for stay in stays if stay.error] == []
    assert sum(stay.mixed for stay in stays) == 0
    assert after < 1.1 * before


def run_visit(
    url: str, entry: Visit, words: list[str], seconds: float, n: int, tour: bool = False
) -> None:
    """Upload, map, look about, fit, edit and undo for a while, thinking in between."""
    rng = np.random.default_rng(n)
    visitor = Visitor(url)
    fetched: set[str] = set()
    try:
        visitor.come()
        visitor.go("home")
        entry.waits["drop a file"].append(
            visitor.upload({"things.csv": table(1_000, n, entry.word)})
        )
        entry.waits["Create map"].append(visitor.press("Create map"))
        begun = time.monotonic()
        visitor.rest_until("Undo new map")
        entry.waits["first map"].append(time.monotonic() - begun)
        for page in PAGES if tour else ():
            visitor.go(page)
        visitor.go("map")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            visitor.rest(float(rng.uniform(1.0, 3.0)))
            act, wait = _act(visitor, rng, entry.word)
            if act:
                entry.waits[act].append(wait + seen(visitor, fetched))
            if len(visitor.heard) > 5_000:
                entry.mixed += find_mixed_up(visitor, entry.word, words)
        entry.mixed += find_mixed_up(visitor, entry.word, words)
    except BaseException as error:
        entry.error = error
    finally:
        visitor.leave()


def _act(visitor: Visitor, rng: np.random.Generator, word: str) -> tuple[str, float]:
    """Do one thing; return what and the seconds that it took."""
    step = rng.integers(0, 6)
    if step == 0:
        return "rename", visitor.say("Project name", f"{word} {rng.integers(1_000)}")
    if step == 1:
        if visitor.page != "map":
            return "to map", visitor.go("map")
        page = str(rng.choice(PAGES))
        return f"to {page}", visitor.go(page)
    displayed = visitor.part(MAP)
    if step == 2 and displayed is not None:
        other = [
            entry["key"]
            for entry in displayed["colours"]
            if entry["key"] != displayed["colour"]["option"]
        ]
        return "recolour", visitor.wish(MAP, "colour", str(rng.choice(other)))
    if step == 3 and displayed is not None:
        return "select", visitor.tell(MAP, {"selection": _picked(displayed, rng)})
    if step == 4 and visitor.has("New map"):
        return "Make map", visitor.make_map()
    if visitor.has("Undo project name"):
        return "undo", visitor.press("Undo")
    return "", 0.0


def seen(visitor: Visitor, fetched: set[str]) -> float:
    """Fetch what the map is drawn of, as a browser does, once each; return the seconds it took."""
    begun, displayed = time.monotonic(), visitor.part(MAP)
    if displayed is not None:
        keys = [*displayed["geometry"]["pieces"], displayed["colour"]["key"], displayed["order"]]
        for key in set(filter(None, keys)) - fetched:
            visitor.fetch(f"/hv/array/{visitor.sid}/{key}")
            fetched.add(key)
    return time.monotonic() - begun


def _picked(displayed: dict[str, Any], rng: np.random.Generator) -> dict[str, object]:
    """Return a selection of a few items as the map in the browser tells it."""
    flags = np.zeros(displayed["n"], dtype=bool)
    flags[rng.integers(0, displayed["n"], size=20)] = True
    packed = base64.b64encode(np.packbits(flags, bitorder="little")).decode()
    version = displayed["selection"]["version"] + 1
    return {"packed": packed, "version": version, "fingerprint": displayed["fingerprint"]}


def format_waits(waits: list[float]) -> str:
    """Write how many there are and how long they were."""
    p50, p95, p99 = np.quantile(waits, [0.5, 0.95, 0.99])
    return f"{len(waits):,} interactions: p50 {p50:.2f} s, p95 {p95:.2f} s, p99 {p99:.2f} s"


def find_mixed_up(visitor: Visitor, own_values: str, words: list[str]) -> int:
    """Count the words of others that a visitor heard; forget what was heard."""
    received = b"".join(visitor.heard)
    visitor.heard.clear()
    return sum(word.encode() in received for word in words if word != own_values)


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1000
