"""Synthetic data of the map component tests, in the format of the real server."""

from __future__ import annotations

import functools
import hashlib
import io
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from hetviz.plots.palette import Theme, number_scale, shape_of, tokens

SESSION = "demo-session-0123456789"
GROUPS = ["Harbours", "Mountains", "Music", "Kitchen", "Weather", "Letters & signs", "Night"]
VERBS = ["salt", "rope", "tide", "crest", "ridge", "tune", "drum", "spice", "oven", "frost", "ink"]
ARRAYS: dict[str, bytes] = {}
JOBS: dict[str, float] = {}
FRAME_TIME = 0.15


def keep(array: NDArray[Any]) -> str:
    content = np.ascontiguousarray(array).tobytes()
    key = hashlib.sha256(content).hexdigest()[:24]
    ARRAYS[key] = content
    return key


@dataclass(frozen=True, eq=False)
class World:
    """Points in seven groups; the first two thirds have pictures, the rest are words."""

    n: int

    @functools.cached_property
    def group(self) -> NDArray[np.int8]:
        return np.random.default_rng(5).integers(0, len(GROUPS), self.n).astype(np.int8)

    @functools.cached_property
    def number(self) -> NDArray[np.float32]:
        value = np.hypot(*self.layout().T).astype(np.float32)
        value[::50] = np.nan
        return value

    @functools.lru_cache(maxsize=4)  # noqa: B019 - a world lives as long as the process
    def layout(self, turn: float = 0.0) -> NDArray[np.float32]:
        rng = np.random.default_rng(7)
        angle = np.arange(len(GROUPS)) * 2 * np.pi / len(GROUPS) + turn
        centre = np.c_[np.cos(angle), 0.75 * np.sin(angle)] * 5
        Y = centre[self.group] + rng.normal(size=(self.n, 2)) * rng.choice([0.5, 1.5], (self.n, 1))
        if turn:
            # Twenty items move much farther than the rest.
            Y[7:27] += [8.0, 0.0]
        return np.asarray(Y, dtype=np.float32)

    @property
    def edge(self) -> int:
        return 2 * self.n // 3

    def title(self, row: int) -> str:
        if row < self.edge:
            return f"Picture {row + 1} of {GROUPS[self.group[row]]}"
        return f"{VERBS[row % len(VERBS)]} {row - self.edge + 1}"


@functools.cache
def packed(content: bytes, pieces: int) -> dict[str, Any]:
    Y = np.frombuffer(content, np.float32).reshape(-1, 2).astype(float)
    low, high = Y.min(axis=0), Y.max(axis=0)
    steps = np.rint((Y - low) / (high - low) * (2**20 - 2)).astype(np.int64)
    keys = []
    for k in range(pieces):
        mine = steps[k::pieces]
        planes = [(mine.T >> 4).astype("<u2").tobytes()]
        planes.append(((mine[:, 0] & 15) | ((mine[:, 1] & 15) << 4)).astype(np.uint8).tobytes())
        keys.append(keep(np.frombuffer(b"".join(planes), np.uint8)))
    return {"id": keys[0], "pieces": keys, "extent": [*low.tolist(), *high.tolist()]}


def geometry(Y: NDArray[np.float32]) -> dict[str, Any]:
    return packed(Y.tobytes(), 1 if len(Y) < 100_000 else 4)


@functools.cache
def world(n: int) -> World:
    return World(n)


def spec(
    n: int,
    *,
    colour: str = "group",
    turn: float = 0.0,
    mode: str = "work",
    hidden: list[str] | None = None,
    terrain: bool = True,
    mask: bool = False,
    selection: dict[str, Any] | None = None,
    camera: dict[str, Any] | None = None,
    live: str | None = None,
    media: bool = True,
) -> dict[str, Any]:
    w = world(n)
    Y = w.layout(turn)
    themes: tuple[Theme, ...] = ("light", "dark")
    token = {name: tokens(name) for name in themes}
    ghost = {name: one.ghost for name, one in token.items()}
    span = Y.max(axis=0) - Y.min(axis=0)
    low, high = Y.min(axis=0) - 0.03 * span, Y.max(axis=0) + 0.03 * span
    datasets = []
    for place, (name, start, stop) in enumerate([("Pictures", 0, w.edge), ("Words", w.edge, n)]):
        symbol, glyph, factor = shape_of(place)
        datasets.append({
            "name": name, "start": start, "stop": stop, "symbol": symbol, "glyph": glyph,
            "factor": factor, "count": stop - start, "media": media and place == 0,
            "words": place == 1, "people": False,
        })  # fmt: skip
    if colour == "number":
        known = w.number[~np.isnan(w.number)]
        scale = {name: list(number_scale(10, name)) for name in themes}
        shade: dict[str, Any] = {
            "key": keep(w.number), "kind": "numbers", "title": "Distance",
            "low": float(known.min()), "high": float(known.max()), "log": False,
            "scale": scale, "endSigns": ["", ""], "ghost": ghost,
        }  # fmt: skip
    else:
        shade = {
            "key": keep(w.group), "kind": "categories", "title": "Group", "categories": GROUPS,
            "borrowed": [],
            "palette": {k: list(one.categories[: len(GROUPS)]) for k, one in token.items()},
            "ghost": ghost,
        }  # fmt: skip
    names = []
    for code, text in enumerate(GROUPS):
        at = np.median(Y[w.group == code], axis=0)
        names.append({"text": text, "code": code, "at": [[float(at[0]), float(at[1])]]})
    # As in the app: of many only some can get a picture or a word.
    order = np.random.default_rng(3).permutation(n)[:50_000].astype(np.int32)
    kept = (np.arange(n) % 2 == 0).astype(np.uint8)
    return {
        "session": SESSION, "n": n, "mode": mode, "geometry": geometry(Y), "title": "Made-up map",
        "alt": f"Map of {n:,} made-up items.",
        "frame": {"x": [float(low[0]), float(high[0])], "y": [float(low[1]), float(high[1])],
                  "stretch": 1.15},
        "datasets": datasets, "colour": shade, "mask": keep(kept) if mask else None,
        "hidden": hidden or [], "terrain": terrain,
        "names": names if colour == "group" else [], "order": keep(order),
        "selection": selection or {"key": None, "count": 0, "version": 0}, "camera": camera,
        "live": {"job": live, "title": "Moving"} if live else None,
        "tokens": {name: vars(one) for name, one in token.items()}, "fingerprint": f"made-up-{n}",
        "notes": [], "colours": [], "outside": 0, "unplaced": 0, "refitted": False, "pins": [],
    }  # fmt: skip


def cell(w: World, row: int, size: int) -> Image.Image:
    """Draw a face that differs from row to row."""
    rng = np.random.default_rng(row)
    image = Image.new("RGBA", (size * 2, size * 2))
    draw = ImageDraw.Draw(image)
    s = size * 2
    hue = tuple(int(v) for v in rng.integers(90, 250, 3))
    draw.ellipse((s * 0.06, s * 0.06, s * 0.94, s * 0.94), fill=(*hue, 255))
    ink = (30, 30, 40, 255)
    for x in (0.34, 0.66):
        draw.ellipse((s * (x - 0.07), s * 0.32, s * (x + 0.07), s * 0.46), fill=ink)
    start = int(rng.integers(0, 30))
    draw.arc((s * 0.28, s * 0.4, s * 0.72, s * 0.76), start, 180 - start, ink, size // 9)
    return image.resize((size, size), Image.Resampling.LANCZOS)


def strip(w: World, rows: list[int], size: int) -> bytes:
    image = Image.new("RGBA", (size * len(rows), size))
    for k, row in enumerate(rows):
        image.paste(cell(w, row, size), (k * size, 0))
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    return out.getvalue()


def frame(job: str, after: int) -> tuple[int, str, bytes | None]:
    """Return number, state and places of a job named ``<n>-<seconds>-...``."""
    n, seconds, *_ = job.split("-")
    begun = JOBS.setdefault(job, time.monotonic())
    end = time.monotonic() + 2
    while True:
        age = time.monotonic() - begun
        seq = int(min(age, float(seconds)) / FRAME_TIME)
        state = "done" if age >= float(seconds) else "running"
        if seq > after or state == "done" or time.monotonic() > end:
            break
        time.sleep(0.02)
    if seq <= after:
        return seq, state, None
    w = world(int(n))
    turn = seq * 0.02
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]], np.float32)
    return seq, state, (w.layout() @ rotation).astype(np.float32).tobytes()
