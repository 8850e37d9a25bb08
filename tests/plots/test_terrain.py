"""Terrain of figures."""

from __future__ import annotations

import numpy as np

from hetviz.plots import terrain

SIZE = np.array([400.0, 300.0])
COLOURS = ("#ff0000", "#0000ff")


def two_crowds() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    left, right = rng.normal([-120, 60], 12, (200, 2)), rng.normal([120, -60], 12, (200, 2))
    return np.vstack([left, right]), np.repeat([0, 1], 200)


def pixel(picture: np.ndarray, x: float, y: float) -> np.ndarray:
    """Return the pixel at a position from the middle; the first line of a picture is the top."""
    lines, columns = picture.shape[:2]
    line = int((0.5 - y / SIZE[1]) * lines)
    return np.asarray(picture[line, int((x / SIZE[0] + 0.5) * columns)])


def test_each_crowd_has_land_in_its_colour_and_the_sea_has_none() -> None:
    positions, codes = two_crowds()
    picture = terrain.shade(positions, codes, COLOURS, SIZE)
    assert pixel(picture, -120, 60)[:3].tolist() == [1, 0, 0]
    assert pixel(picture, 120, -60)[:3].tolist() == [0, 0, 1]
    # The densest place has the strongest of three steps.
    assert pixel(picture, -120, 60)[3] == picture[:, :, 3].max() == 0.135
    assert pixel(picture, 0, 0)[3] == 0
    assert set(np.round(np.unique(picture[:, :, 3]), 3)) >= {0.0, 0.045, 0.085, 0.135}


def test_mixed_places_and_items_without_a_value_have_no_land() -> None:
    positions, codes = two_crowds()
    mixed = terrain.shade(positions, np.arange(400) % 12, [*COLOURS] * 6, SIZE)
    assert pixel(mixed, -120, 60)[3] == 0
    mostly_none = np.where(np.arange(400) % 4, -1, codes)
    assert pixel(terrain.shade(positions, mostly_none, COLOURS, SIZE), -120, 60)[3] == 0
    assert terrain.shade(positions[:0], codes[:0], COLOURS, SIZE)[:, :, 3].max() == 0
    assert terrain.shade(positions[:0], codes[:0], (), SIZE).shape[2] == 4


def test_levels_of_numbers_are_local_means() -> None:
    positions, codes = two_crowds()
    mean, lines = terrain.levels(positions, np.where(codes, 10.0, 2.0), SIZE)
    n_lines, n_columns = mean.shape
    at = (np.array([[-120, 60], [120, -60]]) / SIZE + 0.5) * [n_columns, n_lines]
    assert [mean[int(y), int(x)] for x, y in at] == [2.0, 10.0]
    assert np.isnan(mean[n_lines // 2, n_columns // 2])
    assert len(lines) == 7 and (np.diff(lines) > 0).all() and 2 < lines[0] < lines[-1] < 10
    assert not len(terrain.levels(positions, np.full(400, 3.0), SIZE)[1])
    # Numbers that do not follow the places have no lines.
    assert not len(terrain.levels(positions, np.arange(400) % 7.0, SIZE)[1])
    assert not len(terrain.levels(positions, np.full(400, np.nan), SIZE)[1])


def test_lines_of_numbers_pass_the_outermost_items() -> None:
    positions = np.random.default_rng(0).normal(0, [60, 40], (300, 2))
    mean, lines = terrain.levels(positions, positions[:, 0], SIZE)
    at = np.floor((positions / SIZE + 0.5) * mean.shape[::-1]).astype(int)
    inside = (np.abs(positions) < SIZE / 2).all(axis=1)
    assert len(lines) == 7
    assert np.isfinite(mean[at[inside, 1], at[inside, 0]]).all()


def test_short_pieces_of_lines_are_left_out() -> None:
    x, y = np.meshgrid(np.arange(60.0), np.arange(40.0))
    slope = np.where(np.hypot(x - 10, y - 20) < 1.2, 100.0, x)
    (line,) = terrain.pieces(slope, 30.5)
    assert np.allclose(line[:, 0], 30.5) and np.ptp(line[:, 1]) == 39
    # A gap of the items parts a line, and both its parts are long.
    slope[19:21] = np.nan
    assert [np.ptp(part[:, 1]) for part in terrain.pieces(slope, 30.5)] == [18, 18]
    slope[5:] = np.nan
    assert terrain.pieces(slope, 30.5) == []
