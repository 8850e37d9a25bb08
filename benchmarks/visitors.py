"""Twenty simultaneous visitors, one of them with heavy maps: waiting times and memory.

They come in waves and leave again; what the server holds is measured when it has come to rest.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.harness import report
from hetviz.serve.config import LOW_MEMORY_ENV
from tests.browser.harness import Server
from tests.lasting.faults import running, table
from tests.lasting.visitor import Visitor
from tests.soak.test_load import Visit, format_waits, memory, run_visit

VISITORS, REST_S = 20, 5
# Waves, and the seconds that each visitor of one stays once the first map is there.
FULL, QUICK = (5, 25.0), (1, 30.0)
HEAVY_ROWS = 20_000
# Waiting times for jobs, not for pages.
WORK = ("drop a file", "Create map", "first map")
# What was waited for each act in all waves.
ACTS: dict[str, list[float]] = defaultdict(list)


def run(out: Path, quick: bool) -> None:
    """Let waves of visitors come; tell of each what they waited and what the server held."""
    n_waves, seconds = QUICK if quick else FULL
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as home:
        rests = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "5"}
        # As `hetviz serve` starts it.
        with running(
            Path(home), HETVIZ_REST_AFTER_S=str(REST_S), **LOW_MEMORY_ENV, **rests
        ) as server:
            # One sees all pages first: libraries that stay loaded are no leak.
            warm = Visit("warm")
            run_visit(server.url, warm, ["warm"], 30.0, 0, tour=True)
            if warm.error is not None:
                raise warm.error
            time.sleep(4 * REST_S)
            before = memory(server.pid)
            for number in range(n_waves):
                rows.append({"wave": number + 1, **wave(server, seconds, number, before)})
                # Should the next never come to its end.
                sys.stdout.write(f"{rows[-1]}\n")
                sys.stdout.flush()
        for act, each in sorted(ACTS.items()):
            sys.stdout.write(f"{act}: {format_waits(each)}\n")
        for title, each in sorted(worked_on(Path(home)).items()):
            took = f"{np.median(each):.1f} worker s (median), {max(each):.1f} at most"
            sys.stdout.write(f"{len(each)} jobs {title!r}: {took}\n")
    note = f"{VISITORS} visitors, one of whom maps {HEAVY_ROWS:,} rows again and again; s and MB"
    report("visitors", rows, out, note)


def wave(server: Server, seconds: float, number: int, before: float) -> dict[str, Any]:
    """Let visitors come, stay and leave; return the figures."""
    words = [f"canary{number}x{n}x7Qz" for n in range(VISITORS)]
    stays = [Visit(word) for word in words]
    threads = [
        threading.Thread(target=run_visit, args=(server.url, stay, words, seconds, n))
        for n, stay in enumerate(stays[1:], 1)
    ]
    threads.append(threading.Thread(target=heavy, args=(server.url, stays[0], seconds)))
    for thread in threads:
        thread.start()
    maximum, worked = before, processor_s(server.pid)
    while any(thread.is_alive() for thread in threads):
        maximum = max(maximum, memory(server.pid))
        time.sleep(1.0)
    worked = processor_s(server.pid) - worked
    time.sleep(4 * REST_S)
    waits: dict[str, list[float]] = defaultdict(list)
    for stay in stays[1:]:
        for act, each in stay.waits.items():
            waits["work" if act in WORK else "page"] += each
            ACTS[act] += each
    for stay in stays:
        if stay.error is not None:
            traceback.print_exception(stay.error)
    page, work = waits["page"] or [np.nan], waits["work"] or [np.nan]
    p50, p95, p99 = np.quantile(page, [0.5, 0.95, 0.99])
    return {
        "interactions": len(waits["page"]),
        "p50": round(float(p50), 2),
        "p95": round(float(p95), 2),
        "p99": round(float(p99), 2),
        "p95 of work": round(float(np.quantile(work, 0.95)), 2),
        "heavy maps": len(stays[0].waits["Make map"]),
        "gave up": sum(stay.error is not None for stay in stays),
        "mixed up": sum(stay.mixed for stay in stays),
        "processor s of the server": round(worked, 1),
        "MB before": round(before),
        "at most": round(maximum),
        "after": round(memory(server.pid)),
    }


def worked_on(home: Path) -> dict[str, list[float]]:
    """Return the processor seconds of each job by its title, as the audit log says."""
    result: dict[str, list[float]] = defaultdict(list)
    for line in (home / "audit.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["event"] == "job":
            result[record["title"]].append(record["processor_s"])
    return result


def processor_s(pid: int) -> float:
    """Return the processor seconds that a process has taken, without its workers (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def heavy(url: str, entry: Visit, seconds: float) -> None:
    """Map many rows, and again as soon as it is done."""
    visitor = Visitor(url)
    try:
        visitor.come()
        end = time.monotonic() + seconds
        visitor.go("home")
        visitor.upload({"many.csv": table(HEAVY_ROWS, 7, entry.word)})
        entry.waits["Make map"].append(visitor.press("Create map"))
        visitor.rest_until("Undo new map")
        visitor.go("map")
        while time.monotonic() < end:
            if visitor.has("Make map"):
                entry.waits["Make map"].append(visitor.press("Make map"))
            else:
                visitor.rest(1.0)
                visitor.run()
    except BaseException as error:
        entry.error = error
    finally:
        visitor.leave()
