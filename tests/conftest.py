"""What all tests share: one thread per process, fixed hypothesis runs, markers by folder.

With HETVIZ_NO_SKIP=1 (continuous integration) a skipped test fails the run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

# Before anything imports numpy: a thread pool per test process would fight over the cores.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

HERE = Path(__file__).parent
FOLDER_MARKERS = ("app", "browser")
NO_SKIP = os.environ.get("HETVIZ_NO_SKIP") == "1"

# The same examples every time, and no deadline: a duration on a shared machine shows nothing.
hypothesis.settings.register_profile("tests", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.load_profile("tests")


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep what tests (and the servers that they start) save out of the user's own folder."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HETVIZ_HOME", str(folder))
        yield folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            folder = item.path.relative_to(HERE).parts[0]
            if folder in FOLDER_MARKERS:
                item.add_marker(getattr(pytest.mark, folder))


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


def pytest_configure(config: pytest.Config) -> None:
    # A worker of pytest-xdist reports to the main process, which counts.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipGuard(), "skip-guard")
