"""Schedulers of blocks: a loop, threads, processes, or other machines.

A scheduler runs a function for each block and returns the results or their sum. Sums are added in
a tree whose shape depends only on their number, so all schedulers give the same bytes.
"""

from __future__ import annotations

import ipaddress
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import urlsplit

from hetviz.core.spectral.moments import FAN_IN
from hetviz.core.threads import one_thread
from hetviz.errors import HetvizError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from distributed import Client, Future

Task = TypeVar("Task")
StepResult = TypeVar("StepResult")
AddResults = Callable[[Sequence[StepResult]], StepResult]
OnShareDone = Callable[[float], object]
SCHEDULER_CHOICES = "sync, threads:N, local:N or tls://host:port"
MAX_WORKERS = 256


@dataclass(frozen=True)
class TLS:
    """Certificate files (PEM) for connections between machines: authority, own certificate, key."""

    ca: str | Path
    cert: str | Path
    key: str | Path


class Scheduler(Protocol):
    """Interface of schedulers; `workers` is the number of blocks processed at a time."""

    name: str
    workers: int

    def map(
        self, function: Callable[[Task], StepResult], items: Sequence[Task], beat: OnShareDone
    ) -> list[StepResult]:
        """Call the function with each item; `beat` gets the share done."""
        ...

    def sum(
        self,
        function: Callable[[Task], StepResult],
        items: Sequence[Task],
        add: AddResults[StepResult],
        beat: OnShareDone,
    ) -> StepResult:
        """Call the function with each item, and add the results four at a time in their order."""
        ...

    def peaks(self) -> dict[str, float]:
        """Return the largest size of each process so far, in MB."""
        ...


def call_single_threaded(function: Callable[[Task], StepResult], item: Task) -> StepResult:
    """Call a function with single-threaded linear algebra."""
    with one_thread():
        return function(item)


def add_in_tree(parts: Sequence[StepResult], add: AddResults[StepResult]) -> StepResult:
    """Add parts in a tree of fan-in four."""
    level = list(parts)
    while len(level) > 1:
        level = [add(level[at : at + FAN_IN]) for at in range(0, len(level), FAN_IN)]
    return level[0]


def peak_mb(_: object = None) -> float:
    """Return the largest resident size of this process so far, in MB; NaN on Windows."""
    if sys.platform == "win32":
        return math.nan
    import resource

    try:
        # The resource usage of a child includes the size of its parent at the start.
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        if (match := re.search(r"VmHWM:\s+(\d+) kB", text)) is not None:
            return int(match[1]) * 1024 / 1e6
    except OSError:
        pass
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


class SerialScheduler:
    """Reference scheduler: one block after another in this thread."""

    name, workers = "sync", 1

    def map(
        self, function: Callable[[Task], StepResult], items: Sequence[Task], beat: OnShareDone
    ) -> list[StepResult]:
        results: list[StepResult] = []
        for item in items:
            beat(len(results) / len(items))
            results.append(call_single_threaded(function, item))
        return results

    def sum(
        self,
        function: Callable[[Task], StepResult],
        items: Sequence[Task],
        add: AddResults[StepResult],
        beat: OnShareDone,
    ) -> StepResult:
        return add_in_tree(self.map(function, items, beat), add)

    def peaks(self) -> dict[str, float]:
        return {"this process": peak_mb()}


class ThreadScheduler(SerialScheduler):
    """Scheduler with threads of this process."""

    def __init__(self, workers: int) -> None:
        self.name, self.workers = f"threads:{workers}", workers

    def map(
        self, function: Callable[[Task], StepResult], items: Sequence[Task], beat: OnShareDone
    ) -> list[StepResult]:
        with ThreadPoolExecutor(self.workers) as pool:
            futures = [pool.submit(call_single_threaded, function, item) for item in items]
            try:
                for n_done, future in enumerate(as_completed(futures)):
                    # An error in one block is raised before the others are done.
                    future.result()
                    beat(n_done / len(futures))
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


class DaskScheduler:
    """Scheduler with Dask processes on this or other machines."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self.name = client, name
        self.workers = max(1, sum(client.nthreads().values()))

    def map(
        self, function: Callable[[Task], StepResult], items: Sequence[Task], beat: OnShareDone
    ) -> list[StepResult]:
        return self._gather(self._submit(function, items, beat))

    def sum(
        self,
        function: Callable[[Task], StepResult],
        items: Sequence[Task],
        add: AddResults[StepResult],
        beat: OnShareDone,
    ) -> StepResult:
        def adding(level: Sequence[Future[StepResult]]) -> Future[StepResult]:
            return self._client.submit(add, list(level), pure=False)

        return self._gather([add_in_tree(self._submit(function, items, beat), adding)])[0]

    def _submit(
        self, function: Callable[[Task], StepResult], items: Sequence[Task], beat: OnShareDone
    ) -> list[Future[StepResult]]:
        from distributed import as_completed as finished

        # Single items limit the loss when a worker dies.
        futures = [
            self._client.submit(call_single_threaded, function, item, pure=False) for item in items
        ]
        try:
            for n_done, future in enumerate(finished(futures, loop=self._client.loop)):
                if future.status == "error":
                    raise self._clear_error(future.exception())
                beat(n_done / len(futures))
        except BaseException:
            self._client.cancel(futures, force=True)
            raise
        return futures

    def _gather(self, futures: list[Future[StepResult]]) -> list[StepResult]:
        try:
            return list(self._client.gather(futures))
        except Exception as error:
            raise self._clear_error(error) from error

    def peaks(self) -> dict[str, float]:
        sizes = self._client.run(peak_mb)
        return {f"worker {k + 1}": float(sizes[at]) for k, at in enumerate(sorted(sizes))}

    def _clear_error(self, error: BaseException) -> BaseException:
        """Return a clear error for lost workers; other errors are returned unchanged."""
        if type(error).__name__ == "KilledWorker":
            return HetvizError(
                "Workers were lost several times on one block, most likely for lack of memory. "
                "Use fewer rows per block ([blocks] rows in the recipe) or fewer workers, or allow "
                "more memory ([limits] max_memory)."
            )
        return error


@contextmanager
def open_scheduler(
    scheduler_or_name: str | Scheduler | None,
    tls: TLS | None = None,
    memory: int | None = None,
    scratch: str | Path | None = None,
) -> Iterator[Scheduler]:
    """Open a scheduler, and close it afterwards.

    The scheduler is "sync" (or None), "threads:N", "local:N" (N processes of this machine), or the
    address of a running Dask scheduler: "tls://host:port", or "tcp://" on this machine. A given
    Scheduler stays open. `tls` is required for "tls://". `memory` in bytes and the `scratch` folder
    are for the processes of "local:N".
    """
    if scheduler_or_name is not None and not isinstance(scheduler_or_name, str):
        yield scheduler_or_name
        return
    text = "sync" if scheduler_or_name is None else scheduler_or_name.strip()
    local = re.fullmatch(r"(threads|local):([0-9]+)", text)
    if text == "sync":
        yield SerialScheduler()
    elif local is not None:
        count = int(local[2])
        if not 1 <= count <= MAX_WORKERS:
            raise ParameterError(f"--scheduler {text}: N must be 1 to {MAX_WORKERS}.")
        if local[1] == "threads":
            yield ThreadScheduler(count)
        else:
            with _local(count, memory, scratch) as scheduler:
                yield scheduler
    elif "://" in text:
        with _remote(text, tls) as scheduler:
            yield scheduler
    else:
        raise ParameterError(f"--scheduler {text!r}: it must be {SCHEDULER_CHOICES}.")


def _need_dask(feature: str) -> None:
    if find_spec("distributed") is None:
        raise MissingExtraError(feature, "cluster")


@contextmanager
def _local(count: int, memory: int | None, scratch: str | Path | None) -> Iterator[Scheduler]:
    """Start processes that listen only on this machine, without a dashboard."""
    _need_dask("--scheduler local:N")
    import dask
    from distributed import Client, LocalCluster

    # Dask always serves pages; keep them local and empty.
    settings = {
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
        "distributed.admin.tick.limit": "1m",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            memory_limit=memory or "auto",
            local_directory=None if scratch is None else str(scratch),
            silence_logs=50,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield DaskScheduler(client, f"local:{count}")


@contextmanager
def _remote(address: str, tls: TLS | None) -> Iterator[Scheduler]:
    _need_dask("--scheduler tls://")
    check_address(address, tls)
    from distributed import Client, Security

    security = None
    if tls is not None:
        security = Security(
            tls_ca_file=str(tls.ca),
            tls_client_cert=str(tls.cert),
            tls_client_key=str(tls.key),
            require_encryption=True,
        )
    try:
        client = Client(address, security=security, timeout=30, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise HetvizError(
            f"No answer from {address}: {error}. Is the scheduler running, and are its "
            "certificates signed by the same authority?"
        ) from error
    with client:
        if not client.nthreads():
            raise HetvizError(f"The scheduler at {address} has no workers. Start some first.")
        yield DaskScheduler(client, address)


def check_address(address: str, tls: TLS | None) -> None:
    """Raise ParameterError unless the address is "tls://" with three files, or a local "tcp://"."""
    parts = urlsplit(address)
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if parts.scheme not in ("tls", "tcp") or not host or port is None or parts.path.strip("/"):
        raise ParameterError(f"--scheduler {address!r}: it must be {SCHEDULER_CHOICES}.")
    if parts.scheme == "tcp":
        if not _is_loopback(host):
            raise ParameterError(
                f"--scheduler {address}: without TLS anybody on the network could run programs "
                "on the workers. Start scheduler and workers with certificates, and give "
                "tls:// with --tls-ca, --tls-cert and --tls-key."
            )
        return
    if tls is None:
        raise ParameterError(
            f"--scheduler {address} needs --tls-ca, --tls-cert and --tls-key: the authority's "
            "certificate, and this machine's certificate and key."
        )
    for name, path in (("ca", tls.ca), ("cert", tls.cert), ("key", tls.key)):
        if not os.path.isfile(path):
            raise ParameterError(f"--tls-{name} {path}: there is no such file.")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
