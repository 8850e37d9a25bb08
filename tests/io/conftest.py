"""Counts what the readers were given and what became of it; told at the end of the run."""

from __future__ import annotations

import pytest

_KEY = pytest.StashKey["Trials"]()


class Trials:
    """Inputs tried, codes of the errors that came, and what must not happen."""

    def __init__(self) -> None:
        self.inputs = 0
        self.codes: set[str] = set()
        self.crashes = 0
        self.hangs = 0


@pytest.fixture(scope="session")
def trials(pytestconfig: pytest.Config) -> Trials:
    return pytestconfig.stash.setdefault(_KEY, Trials())


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    result = config.stash.get(_KEY, None)
    if result is not None:
        terminalreporter.line(
            f"Readers: {result.inputs:,} inputs tried, "
            f"{len(result.codes)} distinct error codes hit, "
            f"crashes {result.crashes}, hangs {result.hangs}"
        )
