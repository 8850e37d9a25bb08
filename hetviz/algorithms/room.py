"""How much memory a fit takes, how much is left, and what is said where that is not enough.

It is estimated before a fit begins: beyond what there is, the system would end the process, and
what else it held, without a word.
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
# What is left is for others too, and estimates are estimates.
_SHARE = 0.9
_GROUPS, _OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_NO_LIMIT = 1 << 60
# Of features: copies, such as the centred ones and those of a basis; bytes of a number, and of a
# number that is not zero with its place.
_COPIES, _NUMBER, _PLACED = 4, 8, 12
_LANDMARKS = 1_000


@dataclass(frozen=True)
class Takes:
    """What memory a method takes beside its data, in bytes, from above.

    Measured by ``python -m benchmarks memory``. Four copies of the features come on top.

    Attributes
    ----------
    least : float
    row : float
        For each row.
    pair : float
        For each pair of rows: of an n x n matrix 8.
    pair_within : float
        For each pair of rows of one dataset.
    compared : float
        For each pair of objects that are compared.
    most_paired : float
        A dataset of more rows has 1,000 landmarks in their place where pairs are counted.
    """

    least: float = 5e6
    row: float = 2e3
    pair: float = 0.0
    pair_within: float = 0.0
    compared: float = 0.0
    most_paired: float = math.inf

    def of(self, data: HeteroData) -> float:
        """Return about how many bytes a fit takes."""
        total = self.least + self.row * data.n_rows
        paired = []
        for part in data.datasets.values():
            paired.append(len(part) if len(part) <= self.most_paired else _LANDMARKS)
            X = part.X
            if X is not None:
                held = _PLACED * X.nnz if is_sparse(X) else _NUMBER * X.shape[0] * X.shape[1]
                total += _COPIES * held
        total += self.pair * float(sum(paired)) ** 2
        total += self.pair_within * sum(float(n) ** 2 for n in paired)
        if self.compared and data.comparisons is not None:
            total += self.compared * float(len(np.unique(data.comparisons.objects))) ** 2
        return float(total)


def bytes_left() -> float:
    """Return how many bytes this process can still take; infinite where the system does not say.

    The least of: its limit on address space, that of its container, and what the machine has free.
    """
    found = [_of_limit(), _of_group(), _of_machine()]
    return min((left for left in found if left is not None), default=math.inf)


def refusal(need: float, n_rows: int, left: float | None = None) -> str | None:
    """Return why a fit that needs so many bytes is not begun, with a way out; None where it is.

    Parameters
    ----------
    need : float
        Bytes.
    n_rows : int
        Of the data.
    left : float, optional
        Bytes; by default `bytes_left`.
    """
    left = bytes_left() if left is None else left
    if need <= _SHARE * left:
        return None
    # At worst it grows with the square.
    fits = math.floor(n_rows * math.sqrt(_SHARE * left / need)) if left > 0 else 0
    way = f"map at most about {fits:,} items, or choose" if fits >= 10 else "choose"
    return (
        f"It would take about {in_words(need)} of memory for {n_rows:,} items, and "
        f"{in_words(left)} are free: {way} a method that takes less."
    )


def in_words(n_bytes: float) -> str:
    """Return bytes as MB or GB, two digits."""
    unit, name = (_GB, "GB") if n_bytes >= 0.95 * _GB else (_MB, "MB")
    return f"{float(f'{max(0.0, n_bytes) / unit:.2g}'):,g} {name}"


def _of_limit() -> float | None:
    if sys.platform == "win32":
        return None
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return None
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return float(max(0, most - pages * os.sysconf("SC_PAGE_SIZE")))
    return None


def _of_group() -> float | None:
    # In a container the group is the root of what it sees; a service of systemd has its own.
    for group in (_own_group(), _GROUPS):
        with contextlib.suppress(OSError, ValueError):
            most = int((group / "memory.max").read_text())
            used = int((group / "memory.current").read_text())
            cached = _named(group / "memory.stat", "inactive_file")
            return None if most > _NO_LIMIT else float(max(0, most - used + cached))
    return None


def _own_group() -> Path:
    with contextlib.suppress(OSError):
        for line in _OWN.read_text().splitlines():
            if line.startswith("0::/"):
                return _GROUPS / line[4:]
    return _GROUPS


def _of_machine() -> float | None:
    with contextlib.suppress(OSError, ValueError):
        return 1024.0 * _named(Path("/proc/meminfo"), "MemAvailable:")
    return None


def _named(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise ValueError(name)
