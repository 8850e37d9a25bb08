"""Tasks for tests of the worker.

Tasks import numerical libraries themselves, because most workers of the tests need none.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hetviz.errors import (
    Cancelled,
    DataError,
    HetvizError,
    NotApplicableError,
    ParameterError,
    Problem,
)
from hetviz.jobs.registry import TASKS, TaskSpec
from hetviz.jobs.runner import Task
from hetviz.progress import Progress
from tests.waits import PATIENCE_S

if TYPE_CHECKING:
    import numpy as np

    from hetviz.data import HeteroData


def chore(name: str, module: str = __name__, **arguments: Any) -> Task:
    """Register a function as a task for tests, and return the task with arguments."""
    TASKS[name] = TaskSpec(f"{module}:{name}", name)
    return Task(name, arguments)


def load_nothing() -> tuple[()]:
    """Have a worker run tasks without the libraries whose threads it limits: they take a second."""
    main = sys.modules["__main__"]
    main.run_function = main.run_function.__wrapped__  # type: ignore[attr-defined]
    return ()


def double(value: Any, progress: Progress) -> Any:
    progress(0.5, "half way")
    return 2 * value


def pid(progress: Progress) -> int:
    return os.getpid()


def process_environment(progress: Progress) -> dict[str, Any]:
    return {
        "threads": os.environ["OPENBLAS_NUM_THREADS"],
        "nice": os.nice(0),
        "interrupt": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
        "streamlit": "streamlit" in sys.modules,
    }


def nap(seconds: float, progress: Progress) -> None:
    time.sleep(seconds)


def call_path(port: int, progress: Progress) -> tuple[bool, bool]:
    """Try to reach a port of this machine; say too whether the network is another than ours."""
    own_values, other = (os.readlink(f"/proc/{entry}/ns/net") for entry in ("self", os.getppid()))
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False, own_values != other
    return True, own_values != other


def run_until_cancelled(progress: Progress, started: str = "") -> None:
    """Turn until it is stopped; makes the file `started` first."""
    if started:
        Path(started).touch()
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        progress(0.3, "turning")
        time.sleep(0.01)


def run_until_cancelled_with_partial(progress: Progress) -> None:
    try:
        run_until_cancelled(progress)
    except Cancelled as stopped:
        stopped.partial = {"so far": 3}
        raise


def wait_for_file(path: str, progress: Progress) -> str:
    end = time.monotonic() + PATIENCE_S
    while not Path(path).exists() and time.monotonic() < end:
        progress(0.1, "waiting")
        time.sleep(0.01)
    return "there"


def ignore_cancel(started: str, progress: Progress) -> None:
    """Make one long native call that keeps the interpreter: no other thread runs meanwhile."""
    Path(started).touch()
    ctypes.PyDLL(None).sleep(int(PATIENCE_S) * 3)


def factor(started: str, progress: Progress) -> None:
    """Report nothing between calls of a library."""
    import numpy as np
    import scipy.linalg

    A = np.random.default_rng(0).normal(size=(2000, 2000))
    A += A.T
    end = time.monotonic() + PATIENCE_S
    Path(started).touch()
    while time.monotonic() < end:
        scipy.linalg.eigh(A)


def stubborn(started: str, progress: Progress) -> None:
    """Swallow the cancel."""
    Path(started).touch()
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            progress(0.5, "on")
        except HetvizError:
            time.sleep(0.05)


def refuse(kind: str, progress: Progress) -> None:
    raise {
        "parameter": ParameterError("gamma must be positive"),
        "data": DataError([Problem("duplicate-id", "a.csv, row 7", "twice", "x", row=6)] * 2),
        "method": NotApplicableError("PCA", ["Too few items.", "No features."]),
    }[kind]


def exists(path: str, progress: Progress) -> bool:
    return Path(path).exists()


def crash(progress: Progress) -> None:
    raise ZeroDivisionError("secret detail")


def exit_process(progress: Progress) -> None:
    raise SystemExit(3)


def use_memory(progress: Progress) -> None:
    import numpy as np

    np.ones(2**50)


class UnpicklableError(HetvizError):
    """An error with a field that cannot travel."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lock = lambda: None


def raise_unpicklable(progress: Progress) -> None:
    raise UnpicklableError("No.")


def unpicklable(progress: Progress) -> Any:
    return lambda: None


def fault(progress: Progress) -> None:
    """Read address 0: a segmentation fault."""
    ctypes.string_at(0)


def exit_at_once(progress: Progress) -> None:
    os._exit(7)


def layouts(number: int, n: int, progress: Progress) -> int:
    """Report `number` layouts of n rows, the first column counting them, with waits between."""
    import numpy as np

    for k in range(1, number + 1):
        Y = np.full((n, 3), float(k))
        Y[0] = np.nan
        progress(k / number, f"step {k}", layout=Y if k % 2 else lambda Y=Y: Y)
        time.sleep(0.15)
    return number


def in_parts(gate: str, progress: Progress) -> str:
    """Tell of two parts, then of a step without telling of them again, and wait for a file."""
    progress(0.1, "both", parts=[("First", 0.25, "running"), ["Second", 7, "waiting"]])
    progress(0.2, "one step of the first")
    return wait_for_file(gate, progress)


def report_rapidly(progress: Progress) -> None:
    """Report far more often than anybody can look."""
    import numpy as np

    for k in range(20_000):
        progress(k / 20_000, f"step {k}", layout=lambda: np.zeros((10, 2)))


def large(n: int, progress: Progress) -> np.ndarray:
    import numpy as np

    return np.arange(n, dtype=np.float64)


def total(X: np.ndarray, progress: Progress) -> float:
    return float(X.sum())


def describe(data: HeteroData, progress: Progress) -> dict[str, Any]:
    dataset = next(iter(data.datasets.values()))
    return {
        "object": id(data),
        "fingerprint": data.fingerprint(),
        "writeable": dataset.X.flags.writeable or dataset.ids.flags.writeable,
        "media": dataset.media,
    }


def forbidden(progress: Progress) -> dict[str, int]:
    """Try what no worker needs; return the error number of each, 0 for what was done."""
    tried: dict[str, Callable[[], object]] = {
        "a socket": socket.socket,
        "a program": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        "a signal": lambda: os.kill(os.getppid(), 0),
        # Files may be read all the same.
        "a file": lambda: Path(sys.executable).open("rb").close(),
    }
    result = {}
    for message, act in tried.items():
        try:
            act()
            result[message] = 0
        except OSError as error:
            result[message] = error.errno or -1
    return result


def fit_all(progress: Progress) -> dict[str, str]:
    """Fit each method there is to tiny data; return what became of it, "a map" or an error."""
    # Here, for no other task needs them.
    from hetviz.algorithms.registry import get_method, methods
    from tests.algorithms.test_contract import rich_data

    data, result = rich_data(), {}
    for card in methods():
        progress(0.5, card.key)
        try:
            get_method(card.key)().fit(data)
        except Exception as error:
            result[card.key] = repr(error)
        else:
            result[card.key] = "a map"
    return result
