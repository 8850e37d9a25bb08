"""Hypothesis strategies for the data model."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hetviz.data import Comparisons, Dataset, HeteroData, Links

ids = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip())
)
names = st.sampled_from(["drugs", "targets", "side effects", "März", "007"])
numbers = st.floats(-1e6, 1e6, allow_nan=False, width=64)
weights = st.one_of(st.floats(-1, -1e-3), st.floats(1e-3, 1))


@st.composite
def datasets(draw: st.DrawFn, name: str | None = None) -> Dataset:
    rows = draw(st.lists(ids, min_size=1, max_size=8, unique=True))
    title = name if name is not None else draw(names)
    if draw(st.booleans()):
        return Dataset(title, rows)
    p = draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.float64, (len(rows), p), elements=numbers))
    return Dataset(title, rows, X)


@st.composite
def links(draw: st.DrawFn, source: Dataset, target: Dataset) -> Links | None:
    """Valid links between two datasets; None where a lone item could only link to itself."""
    if source.name == target.name and len(source) == 1:
        return None
    m = draw(st.integers(1, 6))
    i = draw(st.lists(st.integers(0, len(source) - 1), min_size=m, max_size=m))
    if source.name == target.name:
        steps = draw(st.lists(st.integers(1, len(source) - 1), min_size=m, max_size=m))
        j = [(a + step) % len(source) for a, step in zip(i, steps, strict=True)]
    else:
        j = draw(st.lists(st.integers(0, len(target) - 1), min_size=m, max_size=m))
    weight = draw(st.lists(weights, min_size=m, max_size=m))
    kind = draw(st.sampled_from(["link", "cites"]))
    return Links(source.name, target.name, i, j, weight, kind=kind)


@st.composite
def heterodata(draw: st.DrawFn) -> HeteroData:
    chosen = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    parts = [draw(datasets(name)) for name in chosen]
    pairs = draw(st.lists(st.tuples(st.sampled_from(parts), st.sampled_from(parts)), max_size=3))
    groups = [group for a, b in pairs if (group := draw(links(a, b))) is not None]
    total = sum(map(len, parts))
    rows = draw(st.lists(st.tuples(*[st.integers(0, total - 1)] * 3), max_size=5))
    return HeteroData(parts, groups, Comparisons(rows) if rows else None)
