"""What a fit takes is known before it begins, and refused with numbers where it is not there."""

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
# Those that hold matrices of all pairs: an estimate of them must be near, since it refuses.
OF_PAIRS = ["code", "kbmf2k", "kernel-cdmca", "mkpe", "mkpoe", "partial-order"]
DATA = made(600)


def peak_of(key: str, data: HeteroData) -> float:
    """Return the most bytes that a fit holds; what it compiles or loads first does not count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        get_method(key)().fit(made(100))
        tracemalloc.start()
        try:
            get_method(key)().fit(data)
            return float(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("key", [key for key in KEYS if get_method(key).card.key != "coca"])
def test_no_fit_takes_more_than_was_estimated(key: str) -> None:
    if get_method(key).card.reasons_against(DATA):
        pytest.skip("does not suit these data")
    estimate, peak = get_method(key)().bytes_for(DATA), peak_of(key, DATA)
    assert peak <= estimate
    if key in OF_PAIRS:
        pairs = estimate - MemoryEstimate().total_bytes(DATA)
        assert pairs <= 4 * peak


def test_a_fit_that_would_take_more_than_there_is_does_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10e6)
    told: list[Any] = []
    with pytest.raises(NotApplicableError) as refused:
        fit_run(DATA, "mkpe", progress=lambda *said, **_: told.append(said))
    (reason,) = refused.value.reasons
    need = format_bytes(get_method("mkpe")().bytes_for(DATA))
    assert reason.startswith(f"It would take about {need} of memory for 600 items")
    assert "10 MB are free: map at most about 385 items, or choose" in reason
    assert told == []
    # Another method takes less, and is made.
    assert fit_run(DATA, "pca").embedding is not None


def test_the_way_out_that_is_told_is_one() -> None:
    found = memory_refusal(8e9, 10_000, left=2e9)
    assert found is not None and "8 GB of memory for 10,000 items, and 2 GB are free" in found
    fits = int(found.partition("at most about ")[2].partition(" ")[0].replace(",", ""))
    quadratic = MemoryEstimate(base=0.0, per_row=0.0, per_pair=80.0)
    data = HeteroData([Dataset("a", [str(k) for k in range(fits)])])
    assert memory_refusal(quadratic.total_bytes(data), fits, left=2e9) is None
    assert memory_refusal(1.7e9, 10_000, left=2e9) is None
    nothing = memory_refusal(8e9, 10, left=0.0)
    assert nothing is not None and "at most" not in nothing


def test_landmarks_stand_for_a_large_dataset() -> None:
    takes = MemoryEstimate(base=0.0, per_row=0.0, per_pair=1.0, max_paired_rows=50)
    data = HeteroData([Dataset(name, [str(k) for k in range(51)]) for name in ("a", "b")])
    assert takes.total_bytes(data) == (2 * memory._N_LANDMARKS) ** 2


def test_a_limit_of_the_process_is_what_is_left() -> None:
    code = (
        "from hetviz.algorithms.memory import available_bytes; from hetviz.io.sandbox import confine; "
        "assert confine.limit_memory(3_000); print(available_bytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < float(done.stdout) < 3e9


def test_a_container_sets_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_CGROUP_ROOT", tmp_path)
    monkeypatch.setattr(memory, "_CGROUP_FILE", tmp_path / "cgroup")

    def limited(folder: Path, most: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text("400000\n")
        (folder / "memory.stat").write_text("anon 1\ninactive_file 100000\n")

    limited(tmp_path, "1000000")
    assert memory.available_bytes() == 700_000
    # A service has a group of its own.
    (tmp_path / "cgroup").write_text("0::/system.slice/hetviz.service\n")
    limited(tmp_path / "system.slice" / "hetviz.service", "500000")
    assert memory.available_bytes() == 200_000
    limited(tmp_path / "system.slice" / "hetviz.service", "max")
    limited(tmp_path, "max")
    assert memory.available_bytes() > 1e6


def test_what_suits_is_told_with_its_price() -> None:
    found = {verdict.card.key: verdict for verdict in suggest(DATA)}
    assert found["mkpe"].n_bytes == get_method("mkpe")().bytes_for(DATA) > 10e6
    bare = HeteroData([Dataset("a", ["x", "y"], np.eye(2))])
    assert all(one.n_bytes is None for one in suggest(bare) if not one.suits)


def test_methods_of_others_have_an_estimate_too() -> None:
    assert base.BaseEmbedder.memory_estimate == MemoryEstimate()
