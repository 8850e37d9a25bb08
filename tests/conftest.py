"""Shared configuration of tests: threads, hypothesis, markers, time limits.

With HETVIZ_NO_SKIP=1 (continuous integration) a skipped test fails the run. HETVIZ_DEPTH=20 lets
property tests try twenty times as many examples, other ones each time (`make soak`).
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

from tests import everywhere
from tests.depth import DEPTH, examples

# Before anything imports numpy: a thread pool per test process would fight over the cores.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

HERE = Path(__file__).parent
RERUNS = HERE.parent / "test-artifacts" / "reruns.txt"
FOLDER_MARKERS = ("app", "browser")
NO_SKIP = os.environ.get("HETVIZ_NO_SKIP") == "1"

# The same examples every time, unless many are tried; and no deadline: a duration on a shared
# machine shows nothing.
hypothesis.settings.register_profile(
    "tests",
    derandomize=DEPTH == 1,
    max_examples=examples(50),
    deadline=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("tests")


@pytest.fixture(scope="session")
def cases(request: pytest.FixtureRequest) -> Path:
    """Give the folder of real tables; a test that needs it is skipped where none was named."""
    folder = request.config.getoption("--cases")
    if folder is None:
        pytest.skip("real tables: name their folder by --cases")
    return Path(folder)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--within",
        type=float,
        default=None,
        metavar="SECONDS",
        help="begin no further test after so many seconds; those left are told as skipped",
    )
    parser.addoption(
        "--cases",
        type=Path,
        default=None,
        metavar="FOLDER",
        help="holds real tables that are not part of the project, for the tests that need them",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what tests import out of garbage collection, which takes half the time of this."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            folder = item.path.relative_to(HERE).parts[0]
            if folder in FOLDER_MARKERS:
                item.add_marker(getattr(pytest.mark, folder))


class TimeLimit:
    """Skips what has not begun when the time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.end = seconds, time.monotonic() + seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if time.monotonic() > self.end:
            pytest.skip(f"left out: the {self.seconds:g} s for tests were over")


class SkipGuard:
    """Collects what was skipped, to tell it loudly or to fail the run."""

    def __init__(self) -> None:
        self.skipped: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # An expected failure is reported as skipped too, and is none.
        if report.skipped and not hasattr(report, "wasxfail"):
            self._add(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._add(report)

    def _add(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        self.skipped[report.nodeid] = reason

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.skipped and NO_SKIP and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        in_browser = {
            reason for name, reason in self.skipped.items() if name.startswith("tests/browser/")
        }
        if in_browser:
            terminalreporter.section("BROWSER TESTS NOT RUN", sep="!", red=True, bold=True)
            terminalreporter.line(
                "\n".join(sorted(in_browser)) + "\n"
                "On Debian: apt install chromium libatomic1; or set HETVIZ_CHROMIUM to its path."
            )
        if self.skipped and NO_SKIP:
            terminalreporter.section("FAILED: HETVIZ_NO_SKIP is set", sep="!", red=True, bold=True)
            terminalreporter.line("Skipped:\n  " + "\n  ".join(self.skipped))


class RerunCount:
    """Counts the browser tests that were run again; `make test` ends with what it writes."""

    def __init__(self) -> None:
        self.again: list[str] = []
        self.n_browser = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.nodeid.startswith("tests/browser/"):
            self.n_browser += 1
            if report.outcome == "rerun":
                self.again.append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.n_browser:
            return
        words = f"Browser tests run again: {len(self.again)}"
        if self.again:
            words += " (" + ", ".join(sorted(set(self.again))) + ")"
        terminalreporter.line(words)
        RERUNS.parent.mkdir(exist_ok=True)
        RERUNS.write_text(words + "\n", encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(everywhere, "everywhere")
    seconds = config.getoption("--within")
    if seconds is not None:
        config.pluginmanager.register(TimeLimit(seconds), "time-limit")
    # A worker of pytest-xdist reports to the main process, which counts.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipGuard(), "skip-guard")
        config.pluginmanager.register(RerunCount(), "rerun-count")
