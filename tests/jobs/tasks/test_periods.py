"""Tests of the task that makes maps of periods."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.data.queries.periods import data_in, find_dates, find_periods
from hetviz.errors import Cancelled
from hetviz.exports.reproduce import map_recipe
from hetviz.jobs.tasks.periods import find_periods as run_task
from hetviz.progress import ignore_progress
from hetviz.runs.embed.run import MapOrigin, fit_again
from hetviz.runs.embed.scope import part_of
from hetviz.runs.findings import Findings
from hetviz.workspace.store.maps import pack_map, unpack_map
from tests.runs.test_periods import clubs

DATA = clubs(2019, 2020)
ARGUMENTS: dict[str, Any] = {
    "by": "day",
    "periods": "year",
    "method": "mr-sne",
    "params": {"n_iter": 60},
    "seed": 0,
}


@cache
def findings() -> Findings:
    return run_task(DATA, measure=False, progress=ignore_progress, **ARGUMENTS)


def test_maps_of_periods_are_stored_and_repeatable() -> None:
    assert [made.title for made in findings().maps] == ["2019", "2020"]
    dates = find_dates(DATA, "day")
    for period, made in zip(find_periods(dates, "year"), findings().maps, strict=True):
        stored = unpack_map(pack_map(made), DATA)
        assert stored.period == made.period
        # The dated links of the other period are not seen.
        part = part_of(DATA, stored.only, stored.period)
        assert part.fingerprint() == data_in(DATA, dates, period).fingerprint()
        again = fit_again(DATA, stored).result
        np.testing.assert_array_equal(again.embedding.stacked(), made.embedding.stacked())
        assert made.figures is not None
        assert "curves" in made.figures


def test_task_and_library_make_the_same_maps() -> None:
    maps = hetviz.embed_periods(DATA, "day", method="mr-sne", n_iter=60)
    for made in findings().maps:
        np.testing.assert_array_equal(maps[made.title].stacked(), made.embedding.stacked())


def test_recipe_of_a_period_makes_the_same_map(tmp_path: Path) -> None:
    content = map_recipe(MapOrigin(DATA, findings().maps[1]))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    folder = hetviz.run_recipe(tmp_path)
    assert json.loads((folder / "scores.json").read_text())["same_coordinates"] is True
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(recipe.read_text().replace('name = "2020"\n', ""))
    with pytest.raises(hetviz.errors.HetvizError, match="a period has by, name, start and stop"):
        hetviz.run_recipe(tmp_path)


@pytest.mark.parametrize(("share", "has_maps"), [(0.1, False), (0.35, True), (0.6, True)])
def test_cancelled_task_has_the_maps_if_all_are_made(share: float, has_maps: bool) -> None:
    def stop(fraction: float, message: str = "", **figures: object) -> None:
        if fraction > share:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as stopped:
        run_task(DATA, measure=True, progress=stop, **ARGUMENTS)
    partial = stopped.value.partial
    assert (partial is not None) == has_maps
    if partial is not None:
        assert len(partial.maps) == 2
        assert set(partial.content["spreads"]) < {"2019", "2020"}
