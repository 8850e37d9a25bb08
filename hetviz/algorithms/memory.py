"""Memory estimates of fits, available memory, and refusals of fits that need more.

The check runs before a fit, because the system kills a process that runs out of memory.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hetviz._types import is_sparse
from hetviz.data import HeteroData

_MB, _GB = 1e6, 1e9
# Leaves a margin for other processes and for errors of the estimate.
_MAX_SHARE_OF_FREE = 0.9
_CGROUP_ROOT, _CGROUP_FILE = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_NO_LIMIT = 1 << 60
# Copies of the features, such as centred ones and those of a basis.
_FEATURE_COPIES, _BYTES_PER_NUMBER, _BYTES_PER_NONZERO = 4, 8, 12
_N_LANDMARKS = 1_000


@dataclass(frozen=True)
class MemoryEstimate:
    """Upper estimate of the memory of a method in addition to its data, in bytes.

    Measured by ``python -m benchmarks memory``. Four copies of the features are added.

    `per_pair`: Bytes for each pair of rows. An n x n matrix has 8.
    `per_pair_within`: Bytes for each pair of rows of the same dataset.
    `per_compared_pair`: Bytes for each pair of compared objects.
    `max_paired_rows`: Larger datasets use 1,000 landmarks for pairs.
    """

    base: float = 5e6
    per_row: float = 2e3
    per_pair: float = 0.0
    per_pair_within: float = 0.0
    per_compared_pair: float = 0.0
    max_paired_rows: float = math.inf

    def total_bytes(self, data: HeteroData) -> float:
        total = self.base + self.per_row * data.n_rows
        row_counts = []
        for dataset in data.datasets.values():
            row_counts.append(
                len(dataset) if len(dataset) <= self.max_paired_rows else _N_LANDMARKS
            )
            if (X := dataset.X) is not None:
                n_bytes = (
                    _BYTES_PER_NONZERO * X.nnz
                    if is_sparse(X)
                    else _BYTES_PER_NUMBER * X.shape[0] * X.shape[1]
                )
                total += _FEATURE_COPIES * n_bytes
        total += self.per_pair * float(sum(row_counts)) ** 2
        total += self.per_pair_within * sum(float(n) ** 2 for n in row_counts)
        if self.per_compared_pair and data.comparisons is not None:
            total += self.per_compared_pair * float(len(np.unique(data.comparisons.objects))) ** 2
        return float(total)


def available_bytes() -> float:
    """Return how many more bytes this process can use. Infinite if unknown."""
    limits = [_process_limit_bytes(), _cgroup_bytes(), _machine_bytes()]
    return min((limit for limit in limits if limit is not None), default=math.inf)


def memory_refusal(need: float, n_rows: int, free: float | None = None) -> str | None:
    """Return why a fit needs too much memory, with advice. None if there is enough."""
    free = available_bytes() if free is None else free
    if need <= _MAX_SHARE_OF_FREE * free:
        return None
    # Memory grows at most with the square of the rows.
    max_rows = math.floor(n_rows * math.sqrt(_MAX_SHARE_OF_FREE * free / need)) if free > 0 else 0
    advice = f"Map at most about {max_rows:,} items, or choose" if max_rows >= 10 else "Choose"
    return (
        f"It needs about {format_bytes(need)} of memory for {n_rows:,} items, but only "
        f"{format_bytes(free)} are free. {advice} a method that needs less memory."
    )


def format_bytes(n_bytes: float) -> str:
    """Return bytes in MB or GB with two digits."""
    unit, name = (_GB, "GB") if n_bytes >= 0.95 * _GB else (_MB, "MB")
    return f"{float(f'{max(0.0, n_bytes) / unit:.2g}'):,g} {name}"


def _process_limit_bytes() -> float | None:
    if sys.platform == "win32":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return float(max(0, limit - pages * os.sysconf("SC_PAGE_SIZE")))
    return None


def _cgroup_bytes() -> float | None:
    # A container sees its own group as the root. A systemd service has its own group.
    for group in (_process_cgroup(), _CGROUP_ROOT):
        with contextlib.suppress(OSError, ValueError):
            limit = int((group / "memory.max").read_text())
            used = int((group / "memory.current").read_text())
            cached = _read_value(group / "memory.stat", "inactive_file")
            return None if limit > _NO_LIMIT else float(max(0, limit - used + cached))
    return None


def _process_cgroup() -> Path:
    with contextlib.suppress(OSError):
        for line in _CGROUP_FILE.read_text().splitlines():
            if line.startswith("0::/"):
                return _CGROUP_ROOT / line[4:]
    return _CGROUP_ROOT


def _machine_bytes() -> float | None:
    with contextlib.suppress(OSError, ValueError):
        return 1024.0 * _read_value(Path("/proc/meminfo"), "MemAvailable:")
    return None


def _read_value(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise ValueError(name)
