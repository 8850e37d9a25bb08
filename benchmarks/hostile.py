"""Hostile files and requests, and the response to each.

Files are those of `tests/soak`, made by hand or found by changing good ones, and those of a folder
that ``--data`` names; each is read by a process of its own as the app reads it. Requests go to a
server of its own. "Refused" is told with a reason, "accepted" is answered or read right.
"""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from benchmarks.harness import report
from benchmarks.visitors import processor_s
from hetviz.workspace.store.files import new_session_id
from tests.browser.harness import Server
from tests.lasting.faults import running
from tests.lasting.visitor import Visitor
from tests.soak.test_fuzzed_files import MOST_MB, Reader
from tests.soak.test_hostile_files import FILES
from tests.soak.test_load import memory

# A folder of more files may be given.
DATA = "may"
FOUND = Path(__file__).parents[1] / "tests" / "soak" / "hostile" / "found"
# Health checks work for any host name.
PAGES = ("/", "/map", "/_stcore/health", "/_stcore/host-config", "/hv/items/x")
CLOSED = ("/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/agent/mcp")
HEADERS = {
    # Answers that are no pages allow nothing at all.
    "content-security-policy": (
        r"script-src [^;]*'sha256-.*frame-ancestors 'none'|^default-src 'none'$"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
Row = dict[str, Any]


def run(out: Path, quick: bool, data: Path | None) -> None:
    """Try all of it; one row for each source of files and each kind of request."""
    with tempfile.TemporaryDirectory() as created:
        # Apart: what this process takes counts as taken by those that it starts.
        code = "import sys; from benchmarks.hostile import make; make(sys.argv[1], sys.argv[2])"
        subprocess.run([sys.executable, "-c", code, created, "5" if quick else "1000"], check=True)
        rows = [of_files("made by hand", Path(created), ("app",))]
    if not quick:
        rows.append(of_files("found by changing good files", FOUND, ("app", "library", "command")))
    if data is not None:
        rows.append(of_files(f"of the folder {data.name}", data, ("app",)))
    with tempfile.TemporaryDirectory() as home, running(Path(home)) as server:
        for name, attack in ATTACKS.items():
            answers = list(attack(server))
            rows.append(
                {
                    "tried": name,
                    "times": len(answers),
                    "refused": answers.count("refused"),
                    "accepted": answers.count("accepted"),
                    "crashed": len(answers) - sum(map(answers.count, ("refused", "accepted"))),
                    "hung": 0,
                    f"over {MOST_MB:,} MB": int(memory(server.pid) > MOST_MB),
                    "most MB": round(memory(server.pid)),
                }
            )
    whole: Row = {"tried": "in all"}
    for key in list(rows[0])[1:-1]:
        whole[key] = sum(row[key] for row in rows)
    rows.append(whole | {"most MB": max(row["most MB"] for row in rows)})
    report("hostile", rows, out, "what was tried, how often, and what became of it")


def make(folder: str, maximum: str) -> None:
    """Make files by hand, so many at most."""
    for name, content in list(FILES.items())[: int(maximum)]:
        (Path(folder) / name).write_bytes(content())


def of_files(source: str, folder: Path, ways: tuple[str, ...]) -> Row:
    """Read all files of a folder; MB are those of the process that stands for the server.

    One reads them all, as a server does; another takes its place after each that was too much.
    """
    result, maximum, reader = [], [0.0], Reader()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        # What was found has the name of the seed behind a number.
        named = re.sub(r"^.*-\d+-", "", path.name).replace("model2", "model")
        for way in ways if named != "model.zip" else ("library", "command"):
            with tempfile.TemporaryDirectory() as work:
                copy = Path(work) / named
                copy.write_bytes(path.read_bytes())
                content = reader.read(way, copy)
            result.append(str(content["what"]))
            if way == "app":
                maximum.append(float(str(content["mb"])))
            if content["what"] in ("crashed", "hung") or maximum[-1] > MOST_MB:
                print(f"{way} {path.name}: {content}", flush=True)
                reader.end()
    reader.end()
    return {
        "tried": f"files {source}",
        "times": len(result),
        **{
            message: result.count(message) for message in ("refused", "accepted", "crashed", "hung")
        },
        f"over {MOST_MB:,} MB": sum(entry > MOST_MB for entry in maximum),
        "most MB": round(max(maximum)),
    }


def asked(server: Server, path: str, **headers: str) -> tuple[int, dict[str, str]]:
    """Return status and headers of an answer."""
    link = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=20)
    with closing(link):
        link.request("GET", path, headers=headers)
        answer = link.getresponse()
        answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}


def _by(status: int, *refusals: int) -> str:
    return "refused" if status in refusals else "accepted" if status < 500 else "crashed"


def other_names(server: Server) -> Iterator[str]:
    """Names that are led to this machine (DNS rebinding)."""
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "evil:80"):
        for path in PAGES:
            yield _by(asked(server, path, Host=host)[0], 421)


def other_sites(server: Server) -> Iterator[str]:
    """Pages of another site, of another port, and of none."""
    own_values = urlsplit(server.url).netloc
    for origin in ("https://evil.example", "http://127.0.0.1:1", "null"):
        for path in PAGES:
            yield _by(asked(server, path, Origin=origin)[0], 403)
        try:
            connect(
                f"ws://{own_values}/_stcore/stream",
                origin=origin,  # type: ignore[arg-type]
                subprotocols=["streamlit"],  # type: ignore[list-item]
            ).close()
        except InvalidStatus as refused:
            yield _by(refused.response.status_code, 400, 403)
        else:
            yield "accepted"


def guessed_ids(server: Server) -> Iterator[str]:
    """Ids of a stranger's choosing, in the address of a page and of what it fetches."""
    for _ in range(5):
        guessed = new_session_id()
        visitor = Visitor(server.url, sid=guessed)
        visitor.come()
        yield "accepted" if visitor.sid == guessed else "refused"
        visitor.leave()
        for path in (f"/hv/items/{guessed}", f"/hv/search/{guessed}?q=a"):
            yield _by(asked(server, path)[0], 403, 404)


def closed_doors(server: Server) -> Iterator[str]:
    """Figures, and doors for programs, that nobody opened."""
    for path in CLOSED:
        yield _by(asked(server, path)[0], 404)


def keys_in_cookies(server: Server) -> Iterator[str]:
    """What an answer would have every port of the machine know: refused is no key in it."""
    visitor = Visitor(server.url)
    visitor.come()
    for path in (*PAGES, f"/map?s={visitor.sid}"):
        inputs = asked(server, path)[1].get("set-cookie", "")
        yield "accepted" if visitor.sid in inputs else "refused"
    visitor.leave()


def missing_headers(server: Server) -> Iterator[str]:
    """Answers that another page could frame, sniff, or run scripts in: refused is with headers."""
    for path in PAGES:
        result = asked(server, path)[1]
        content = all(re.search(want, result.get(name, "")) for name, want in HEADERS.items())
        yield "refused" if content else "accepted"


def costly_features(server: Server) -> Iterator[str]:
    """4 MB of numbers in 19,990 columns; accepted is that the server itself worked for under 5 s.

    What it takes is done by processes that have limits.
    """
    X = np.random.default_rng(0).integers(0, 10, (100, 19_990))
    head = ",".join(["id", *(f"c{k}" for k in range(X.shape[1]))])
    lines = [head, *(f"r{j}," + ",".join(map(str, row)) for j, row in enumerate(X))]
    visitor, before = Visitor(server.url), processor_s(server.pid)
    visitor.come()
    visitor.go("home")
    visitor.upload({"wide.csv": "\n".join(lines).encode()})
    visitor.press("Create map")
    visitor.leave()
    took = processor_s(server.pid) - before
    print(f"4 MB of features: {took:.1f} processor seconds in the server", flush=True)
    yield "accepted" if took < 5.0 else f"{took:.0f} s"


ATTACKS: dict[str, Callable[[Server], Iterator[str]]] = {
    "names in the Host header": other_names,
    "pages of another site or port": other_sites,
    "ids of a stranger's choosing": guessed_ids,
    "doors that nobody opened": closed_doors,
    "keys in cookies": keys_in_cookies,
    "answers without headers": missing_headers,
    "features of a wide table": costly_features,
}
