"""Twenty or forty simultaneous visitors, one of them with heavy maps: waiting times and memory.

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.harness import report
from tests.browser.harness import Server, free_ports, healthy, serve_with, session_members
from tests.lasting.faults import table
from tests.lasting.visitor import Visitor
from tests.soak.test_load import Visit, format_waits, memory, run_visit
from tests.waits import wait_until

REST_S = 5


@dataclass(frozen=True)
class Case:
    """Waves of visitors of one server."""

    processes: int
    visitors: int
    waves: int
    seconds: float  # How long each visitor stays once the first map is there


FULL = (Case(1, 20, 5, 25.0), *(Case(p, n, 1, 180.0) for n in (20, 40) for p in (1, 2)))
QUICK = (Case(1, 20, 1, 30.0),)
HEAVY_ROWS = 20_000
# Waiting times for jobs, not for pages.
WORK = ("drop a file", "Create map", "first map")
# What was waited for each act in all waves.
ACTS: dict[str, list[float]] = defaultdict(list)


def run(out: Path, quick: bool) -> None:
    """Let waves of visitors come; tell of each what they waited and what the server held."""
    rows: list[dict[str, Any]] = []
    for case in QUICK if quick else FULL:
        with TemporaryDirectory() as home:
            rows += waves(case, Path(home))
            for title, each in sorted(worked_on(Path(home)).items()):
                took = f"{np.median(each):.1f} worker s (median), {max(each):.1f} at most"
                sys.stdout.write(f"{len(each)} jobs {title!r}: {took}\n")
    for act, each in sorted(ACTS.items()):
        sys.stdout.write(f"{act}: {format_waits(each)}\n")
    note = f"one of the visitors maps {HEAVY_ROWS:,} rows again and again; s and MB"
    report("visitors", rows, out, note)


def waves(case: Case, home: Path) -> list[dict[str, Any]]:
    """Start a server and let waves of visitors come; return the figures of each."""
    rows = []
    variables = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "5"}
    if case.waves > 1:
        # Memory is freed soon, so that what stays is seen. It stops the visitors each time.
        variables["HETVIZ_REST_AFTER_S"] = str(REST_S)
    with running_processes(home, case.processes, variables) as (server, starts):
        # One sees all pages first: libraries that stay loaded are no leak.
        for start in starts:
            warm = Visit("warm")
            run_visit(start, warm, ["warm"], 30.0, 0, tour=True)
            if warm.error is not None:
                raise warm.error
        time.sleep(4 * REST_S)
        before = held(server)
        for number in range(case.waves):
            row = {"processes": case.processes, "visitors": case.visitors, "wave": number + 1}
            rows.append(row | wave(server, starts, case, number, before))
            # The next wave may fail.
            sys.stdout.write(f"{rows[-1]}\n")
            sys.stdout.flush()
    return rows


@contextmanager
def running_processes(
    home: Path, n: int, variables: dict[str, str]
) -> Iterator[tuple[Server, list[str]]]:
    """Serve with some processes; give the server and the address of each process."""
    port = free_ports(n + 1)
    env = variables | {"HETVIZ_HOME": str(home), "HETVIZ_PORT": str(port)}
    command = [sys.executable, "-m", "hetviz", "serve", "--processes", str(n)]
    url = f"http://127.0.0.1:{port}"
    with serve_with(command, url, home / "server.log", env) as server:
        starts = [f"{url}/n{number}" for number in range(1, n + 1)] if n > 1 else [url]
        assert wait_until(lambda: all(healthy(start) for start in starts))
        yield server, starts


def servers(server: Server) -> list[int]:
    """Return the processes that answer requests: the server, or the front and those behind it."""
    found = []
    for pid in session_members(server.pid):
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_text()
            if "hetviz\0serve" in command or "streamlit\0run" in command:
                found.append(pid)
    return found


def held(server: Server) -> float:
    """Return the MB of memory of the server without its workers."""
    return sum(memory(pid) for pid in servers(server))


def worked(server: Server) -> float:
    """Return the processor seconds of the server without its workers."""
    return sum(processor_s(pid) for pid in servers(server))


def wave(
    server: Server, starts: list[str], case: Case, number: int, before: float
) -> dict[str, Any]:
    """Let visitors come, stay and leave; return the figures."""
    words = [f"canary{number}x{n}x7Qz" for n in range(case.visitors)]
    stays = [Visit(word) for word in words]
    addresses = list(islice(cycle(starts), case.visitors))
    threads = [
        threading.Thread(target=run_visit, args=(addresses[n], stay, words, case.seconds, n))
        for n, stay in enumerate(stays[1:], 1)
    ]
    threads.append(threading.Thread(target=heavy, args=(addresses[0], stays[0], case.seconds)))
    for thread in threads:
        thread.start()
    maximum, seconds = before, worked(server)
    while any(thread.is_alive() for thread in threads):
        maximum = max(maximum, held(server))
        time.sleep(1.0)
    seconds = worked(server) - seconds
    time.sleep(4 * REST_S)
    waits: dict[str, list[float]] = defaultdict(list)
    of_visitors = []
    for stay in stays[1:]:
        for act, each in stay.waits.items():
            waits["work" if act in WORK else "page"] += each
            ACTS[act] += each
        own = [wait for act, each in stay.waits.items() if act not in WORK for wait in each]
        of_visitors.append(float(np.median(own)) if own else np.nan)
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
        "worst visitor's median": round(float(np.nanmax(of_visitors)), 2),
        "p95 of work": round(float(np.quantile(work, 0.95)), 2),
        "heavy maps": len(stays[0].waits["Make map"]),
        "gave up": sum(stay.error is not None for stay in stays),
        "mixed up": sum(stay.mixed for stay in stays),
        "processor s of the server": round(seconds, 1),
        "MB before": round(before),
        "at most": round(maximum),
        "after": round(held(server)),
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
    """Map many rows, and again with another seed as soon as the map is there."""
    visitor = Visitor(url)
    try:
        visitor.come()
        end = time.monotonic() + seconds
        visitor.go("home")
        visitor.upload({"many.csv": table(HEAVY_ROWS, 7, entry.word)})
        entry.waits["Make map"].append(visitor.press("Create map"))
        visitor.rest_until("Undo new map")
        visitor.go("map")
        seed = 0
        while time.monotonic() < end:
            seed += 1
            visitor.wait("New map")
            visitor.open("New map")
            visitor.open("Settings", "expandable")
            visitor.set_number("Seed", seed)
            entry.waits["Make map"].append(visitor.press("Make map"))
            while visitor.has("Cancel"):
                visitor.rest(1.0)
    except BaseException as error:
        entry.error = error
    finally:
        visitor.leave()
