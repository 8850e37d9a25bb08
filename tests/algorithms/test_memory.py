"""Memory estimates of fits, and refusals when memory is too small."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.memory import made
from hetviz.algorithms import base, memory
from hetviz.algorithms.memory import MemoryEstimate, format_bytes, memory_refusal
from hetviz.algorithms.registry import get_method, methods, suggest
from hetviz.data import Dataset, HeteroData
from hetviz.errors import NotApplicableError
from hetviz.runs.embed.run import fit_run

KEYS = [card.key for card in methods()]
# Methods with matrices of all pairs. Their estimates must be tight, because they refuse fits.
OF_PAIRS = ["code", "kbmf2k", "kernel-cdmca", "mkpe", "mkpoe", "partial-order"]
DATA = made(600)
MEASURED = made(400)


def peak_of(key: str, data: HeteroData) -> float:
    """Return the peak bytes of a fit, without imports and compilation."""
    # Each iteration of these needs what the one before it needed.
    few = {"n_iter": 30} if key in ("code", "kbmf2k", "mkpe", "pmvge") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        get_method(key)(**few).fit(made(50))
        tracemalloc.start()
        try:
            get_method(key)(**few).fit(data)
            return float(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("key", [key for key in KEYS if get_method(key).card.key != "coca"])
def test_memory_estimate_is_above_the_measured_peak(key: str) -> None:
    if get_method(key).card.reasons_against(MEASURED):
        pytest.skip("does not suit these data")
    estimate, peak = get_method(key)().bytes_for(MEASURED), peak_of(key, MEASURED)
    assert peak <= estimate
    if key in OF_PAIRS:
        pairs = estimate - MemoryEstimate().total_bytes(MEASURED)
        assert pairs <= 4 * peak


def test_fit_refuses_when_memory_is_too_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10e6)
    calls: list[Any] = []
    with pytest.raises(NotApplicableError) as error:
        fit_run(DATA, "mkpe", progress=lambda *args, **_: calls.append(args))
    (reason,) = error.value.reasons
    need = format_bytes(get_method("mkpe")().bytes_for(DATA))
    assert reason.startswith(f"It needs about {need} of memory for 600 items")
    assert "only 10 MB are free. Map at most about 385 items, or choose" in reason
    assert calls == []
    # Another method needs less memory and runs.
    assert fit_run(DATA, "pca").result.embedding is not None


def test_memory_refusal_suggests_a_size_that_fits() -> None:
    message = memory_refusal(8e9, 10_000, free=2e9)
    assert (
        message is not None and "8 GB of memory for 10,000 items, but only 2 GB are free" in message
    )
    max_rows = int(message.partition("at most about ")[2].partition(" ")[0].replace(",", ""))
    quadratic = MemoryEstimate(base=0.0, per_row=0.0, per_pair=80.0)
    data = HeteroData([Dataset("a", [str(k) for k in range(max_rows)])])
    assert memory_refusal(quadratic.total_bytes(data), max_rows, free=2e9) is None
    assert memory_refusal(1.7e9, 10_000, free=2e9) is None
    nothing = memory_refusal(8e9, 10, free=0.0)
    assert nothing is not None and "at most" not in nothing


def test_memory_estimate_caps_rows_of_large_datasets() -> None:
    estimate = MemoryEstimate(base=0.0, per_row=0.0, per_pair=1.0, max_paired_rows=50)
    data = HeteroData([Dataset(name, [str(k) for k in range(51)]) for name in ("a", "b")])
    assert estimate.total_bytes(data) == (2 * memory._N_LANDMARKS) ** 2


def test_available_bytes_respects_the_process_limit() -> None:
    code = (
        "import resource; from hetviz.algorithms.memory import available_bytes; "
        "from hetviz.workers import confine; "
        "confine.confine([(resource.RLIMIT_AS, 3 * 10**9, 3 * 10**9)]); print(available_bytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < float(done.stdout) < 3e9


def test_available_bytes_respects_the_cgroup_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_CGROUP_ROOT", tmp_path)
    monkeypatch.setattr(memory, "_CGROUP_FILE", tmp_path / "cgroup")

    def write_limits(folder: Path, limit: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory.max").write_text(f"{limit}\n")
        (folder / "memory.current").write_text("400000\n")
        (folder / "memory.stat").write_text("anon 1\ninactive_file 100000\n")

    write_limits(tmp_path, "1000000")
    assert memory.available_bytes() == 700_000
    # A service has its own group.
    (tmp_path / "cgroup").write_text("0::/system.slice/hetviz.service\n")
    write_limits(tmp_path / "system.slice" / "hetviz.service", "500000")
    assert memory.available_bytes() == 200_000
    write_limits(tmp_path / "system.slice" / "hetviz.service", "max")
    write_limits(tmp_path, "max")
    assert memory.available_bytes() > 1e6


def test_suggest_reports_the_memory_estimate() -> None:
    verdicts = {verdict.card.key: verdict for verdict in suggest(DATA)}
    assert verdicts["mkpe"].n_bytes == get_method("mkpe")().bytes_for(DATA) > 10e6
    bare = HeteroData([Dataset("a", ["x", "y"], np.eye(2))])
    assert all(other.n_bytes is None for other in suggest(bare) if not other.suits)


def test_base_embedder_has_a_default_memory_estimate() -> None:
    assert base.BaseEmbedder.memory_estimate == MemoryEstimate()
