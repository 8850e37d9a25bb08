"""Ten visitors at once: how long they wait, what the server holds, and that nothing is mixed up."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from tests.lasting.faults import running, table
from tests.lasting.visitor import Visitor

VISITORS, SECONDS, REST_S = 10, 180.0, 10


@dataclass
class Stay:
    """What one visitor met."""

    word: str
    waits: list[float] = field(default_factory=list)
    mixed: int = 0
    error: BaseException | None = None


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_ten_visitors_at_once(tmp_path: Path) -> None:
    with running(
        tmp_path, HETVIZ_REST_AFTER_S=str(REST_S), STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="5"
    ) as server:
        # One comes and goes first: libraries that stay loaded are no leak.
        stay(server.url, Stay("warm"), ["warm"], 40.0, 0)
        time.sleep(4 * REST_S)
        before = memory(server.pid)
        words = [f"canary{n}x7Qz" for n in range(VISITORS)]
        stays = [Stay(word) for word in words]
        threads = [
            threading.Thread(target=stay, args=(server.url, one, words, SECONDS, n))
            for n, one in enumerate(stays)
        ]
        for thread in threads:
            thread.start()
        most = before
        while any(thread.is_alive() for thread in threads):
            most = max(most, memory(server.pid))
            time.sleep(1.0)
        time.sleep(4 * REST_S)
        after = memory(server.pid)
    waits = np.concatenate([one.waits for one in stays])
    p50, p95, p99 = np.quantile(waits, [0.5, 0.95, 0.99])
    print(
        f"\n{VISITORS} visitors, {len(waits):,} interactions: p50 {p50:.2f} s, p95 {p95:.2f} s, "
        f"p99 {p99:.2f} s; memory {before:.0f} MB before, {most:.0f} at most, {after:.0f} after"
    )
    assert [one.error for one in stays if one.error] == []
    assert sum(one.mixed for one in stays) == 0
    assert after < 1.1 * before


def stay(url: str, one: Stay, words: list[str], seconds: float, n: int) -> None:
    """Upload, map, look about, fit, edit and undo for a while, thinking in between."""
    rng = np.random.default_rng(n)
    try:
        visitor = Visitor(url).come()
        end = time.monotonic() + seconds
        visitor.go("home")
        one.waits.append(visitor.upload({"things.csv": table(1_000, n, one.word)}))
        one.waits.append(visitor.press("Map them"))
        visitor.wait("Undo new map")
        number = 0
        while time.monotonic() < end:
            time.sleep(float(rng.uniform(1.0, 3.0)))
            step = rng.integers(0, 5)
            if step == 0:
                one.waits.append(visitor.say("Project name", f"{one.word} {number}"))
                number += 1
            elif step == 1:
                page = ("data", "guidance", "compare", "predict")[rng.integers(0, 4)]
                one.waits.append(visitor.go(page))
                one.waits.append(visitor.go("map"))
            elif step == 2:
                one.waits.append(visitor.choose("Colour", int(rng.integers(0, 2))))
            elif step == 3 and visitor.has("Make map"):
                one.waits.append(visitor.press("Make map"))
            elif visitor.has("Undo project name"):
                one.waits.append(visitor.press("Undo"))
            if len(visitor.heard) > 5_000:
                one.mixed += mixed(visitor, one.word, words)
        one.mixed += mixed(visitor, one.word, words)
        visitor.leave()
    except BaseException as error:
        one.error = error


def mixed(visitor: Visitor, own: str, words: list[str]) -> int:
    """Count the words of others that a visitor heard; forget what was heard."""
    heard = b"".join(visitor.heard)
    visitor.heard.clear()
    return sum(word.encode() in heard for word in words if word != own)


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1000
