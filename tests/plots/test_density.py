"""Pictures of density: where points lie, in the mean of their colours."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from hetviz.plots.density import Window, category_tints, density_image, number_tints


def pixels_of(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)))


def test_a_density_picture_puts_points_where_they_lie_and_mixes_by_share():
    points = np.array([[0.5, 0.5]] * 3 + [[9.5, 9.5], [-1, 5], [np.nan, 5]], dtype=np.float32)
    tints = category_tints(np.array([0, 0, 1, -1, 0, 0]), ["#ff0000", "#0000ff"], "#00ff00")
    image = pixels_of(density_image(points, tints, Window((0, 10), (0, 10), 10, 10)))
    assert image[9, 0, :3].tolist() == [170, 0, 85]
    assert image[0, 9, :3].tolist() == [0, 255, 0]
    assert image[9, 0, 3] > image[0, 9, 3] > image[0, 8, 3] > 0
    assert image[5, 5, 3] == 0
    assert (image[:, :, 3] > 0).sum() == 8
    none = density_image(points, tints, Window((0, 10), (0, 10), 10, 10), np.zeros(6, dtype=bool))
    assert not pixels_of(none).any()


def test_density_of_numbers_shows_their_mean():
    points = np.full((2, 2), 0.5, dtype=np.float32)
    window = Window((0, 1), (0, 1), 1, 1)

    def colour(*values: float) -> list[int]:
        tints = number_tints(np.array(values), 0.0, 1.0, "#112233", ("#000000", "#ffffff"))
        found: list[int] = pixels_of(density_image(points, tints, window))[0, 0, :3].tolist()
        return found

    assert colour(0.0, 0.0) == [0, 0, 0]
    assert colour(5.0, np.inf) == [255, 255, 255]
    assert colour(0.0, 1.0) == [128, 128, 128]
    assert colour(np.nan, np.nan) == [0x11, 0x22, 0x33]
