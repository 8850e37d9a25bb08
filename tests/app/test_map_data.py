"""Tests of the map description, caches and selection codec."""

from __future__ import annotations

import base64
import gc
import json
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hetviz.data import Dataset, Embedding, Filter, HeteroData, Links
from hetviz.errors import DataError
from hetviz.jobs import Job
from hetviz.ui.map import description
from hetviz.ui.map_data import parts, priority, selection_codec
from hetviz.ui.map_data.array_cache import ARRAYS, RESULTS, PackedArray, send_array
from hetviz.workspace import MapResult, State
from hetviz.workspace.commands.state import DisplaySettings

SESSION = "a-session-for-the-tests"


def example(n: int = 60, seed: int = 0) -> State:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"name": [f"Oak {k}" for k in range(n)], "kind": ["p", "q", "r"] * (n // 3)}
    )
    table["size"] = rng.normal(size=n)
    trees = Dataset("trees", [f"t{k}" for k in range(n)], table=table)
    words = Dataset("words", list("wxyz"))
    links = Links("trees", "words", [0, 1, 2, 2], [0, 0, 1, 2], [1.0, 0.5, 1.0, -1.0])
    data = HeteroData([trees, words], [links])
    places = {"trees": rng.normal(size=(n, 2)), "words": rng.normal(size=(4, 2))}
    # Each kind has its own place.
    centres = np.tile([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], (n // 3, 1))
    places["trees"] = 0.3 * places["trees"] + centres
    places["words"][3] = np.nan
    ids = {name: part.ids for name, part in data.datasets.items()}
    run = MapResult(
        data.fingerprint(),
        "pca",
        {},
        0,
        title="First map",
        embedding=Embedding(places, ids),
        id="1",
    )
    return State(
        data=data, runs=(run,), chosen="1", view=DisplaySettings(json.dumps(["trees", "kind"]))
    )


def map_spec_of(state: State, **more: Any) -> dict[str, Any]:
    return description.map_spec(state, state.run, session=SESSION, **more)


def array(key: str, kind: str) -> NDArray[Any]:
    found = ARRAYS.get(SESSION, key)
    assert found is not None
    return np.frombuffer(found.content, dtype=kind)


def places(spec: dict[str, Any]) -> NDArray[np.float32]:
    """Read places as the browser does."""
    geometry = spec["geometry"]
    found = np.full((spec["n"], 2), np.nan)
    low, high = np.array(geometry["extent"]).reshape(2, 2)
    for k, key in enumerate(geometry["pieces"]):
        planes = array(key, "|u1")
        m = len(planes) // 5
        high_bits = np.frombuffer(planes[: 4 * m].tobytes(), "<u2").reshape(2, m).T.astype(np.int64)
        low_bits = np.column_stack([planes[4 * m :] & 15, planes[4 * m :] >> 4])
        steps = high_bits * 16 + low_bits
        there = low + steps * (high - low) / (2**20 - 2)
        found[k :: len(geometry["pieces"])] = np.where(steps < 2**20 - 1, there, np.nan)
    return found.astype(np.float32)


def test_spec_has_positions_colours_and_order() -> None:
    state = example()
    assert state.run is not None and state.data is not None
    spec = map_spec_of(state)
    points = places(spec)
    given_places = state.run.embedding.stacked()
    width = np.nanmax(given_places, axis=0) - np.nanmin(given_places, axis=0)
    np.testing.assert_array_less(np.nanmax(np.abs(points - given_places), axis=0), 1e-6 * width)
    np.testing.assert_array_equal(np.isnan(points), np.isnan(given_places))
    np.testing.assert_array_equal(points, parts.get_geometry(state, state.run).points)
    code = array(spec["colour"]["key"], "|i1")
    assert [spec["colour"]["categories"][k] for k in code[:4]] == ["P", "Q", "R", "P"]
    assert [len(spec["colour"]["palette"][name]) for name in ("light", "dark")] == [3, 3]
    borrowed = [spec["colour"]["categories"][k] if k >= 0 else None for k in code[60:]]
    assert borrowed == ["P", "R", None, None]
    assert array(spec["colour"]["pale"], "|u1").tolist() == [0] * 60 + [1, 1, 0, 0]
    counts = {"categories": [20, 20, 20], "borrowed": [1, 0, 1], "other": 0, "none": 2}
    assert spec["colour"]["counts"] == counts
    order = array(spec["order"], "<i4")
    assert sorted(order.tolist()) == list(range(63))
    assert spec["unplaced"] == 1
    assert [(part["start"], part["stop"]) for part in spec["datasets"]] == [(0, 60), (60, 64)]
    json.dumps(spec, allow_nan=False)


def test_spec_has_numbers_and_scale_limits() -> None:
    state = replace(example(), view=DisplaySettings(json.dumps(["trees", "size"])))
    assert state.data is not None and state.data["trees"].table is not None
    colour = map_spec_of(state)["colour"]
    values = array(colour["key"], "<f4")
    sizes = state.data["trees"].table["size"].to_numpy(np.float32)
    np.testing.assert_array_equal(values[:60], sizes)
    assert colour["kind"] == "numbers"
    assert sizes.min() < colour["low"] < colour["high"] < sizes.max()
    assert colour["endSigns"] == ["≤ ", "≥ "]
    assert colour["scale"]["light"][0] == "#440154"
    assert colour["scale"]["dark"][-1] == "#fde725"


def test_equal_content_has_equal_key() -> None:
    first, second = map_spec_of(example()), map_spec_of(example())
    assert first == second
    assert map_spec_of(example(seed=1))["geometry"] != first["geometry"]


def test_rerun_computes_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    state = example()
    first = map_spec_of(state, selection=[1])

    def fail(*args: object, **kwargs: object) -> None:
        raise AssertionError("made again")

    for module, names in (
        (parts, ("points_to_draw", "colouring", "passing")),
        (description, ("name_anchors", "_dataset_specs", "_category_counts")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, fail)
    assert map_spec_of(state, selection=[1]) == first
    # The spec has the colours of both themes.
    assert first["colour"]["palette"]["dark"] != first["colour"]["palette"]["light"]
    assert first["tokens"]["dark"] != first["tokens"]["light"]


def test_names_are_within_group_and_frame() -> None:
    state = example(n=600)
    spec = map_spec_of(state)
    points = places(spec)
    code = array(spec["colour"]["key"], "|i1")
    assert {name["text"] for name in spec["names"]} == {"P", "Q", "R"}
    for name in spec["names"]:
        members = points[code == name["code"]]
        assert 1 <= len(name["at"]) <= 25
        for at in name["at"]:
            assert np.abs(members - at).max(axis=1).min() < 1e-5
            assert spec["frame"]["x"][0] <= at[0] <= spec["frame"]["x"][1]


def test_names_on_small_map_are_next_to_dots() -> None:
    state = example(n=30)
    spec = map_spec_of(state)
    points = places(spec)
    for name in spec["names"]:
        assert np.abs(points - name["at"][0]).max(axis=1)[: len(points) - 1].min() > 1e-3


def test_filters_give_mask_and_move_names_only() -> None:
    state = example()
    filtered = replace(state, filters=(Filter("trees", "kind", values=("p",)),))
    spec = map_spec_of(filtered)
    mask = array(spec["mask"], "|u1")
    assert mask[:6].tolist() == [1, 0, 0, 1, 0, 0]
    assert mask[60:].all()
    assert spec["frame"] == map_spec_of(state)["frame"]
    assert map_spec_of(state)["mask"] is None
    # Categories without rows of their own lose their names: a word has R from its link.
    assert {name["text"] for name in spec["names"]} == {"P"}


def test_hidden_datasets_are_listed_and_not_counted() -> None:
    state = example()
    spec = map_spec_of(replace(state, view=replace(state.view, hidden=("words", "gone"))))
    assert spec["hidden"] == ["words"]
    assert spec["unplaced"] == 0
    assert "words" not in spec["alt"]


def test_spec_without_map_supports_running_job() -> None:
    state = replace(example(), chosen=None)
    spec = description.map_spec(state, None, session=SESSION, live=Job("j1", "me", "First map"))
    assert spec["live"] == {"job": "j1", "title": "First map"}
    assert np.isnan(places(spec)).all()
    assert spec["names"] == []
    # Unknown positions are not counted as missing ones.
    assert spec["unplaced"] == 0
    fresh = replace(state, runs=(), chosen=None, view=DisplaySettings())
    spec = description.map_spec(fresh, None, session=SESSION, live=Job("j1", "me", "First map"))
    assert spec["colour"]["option"] == "dataset"


@pytest.mark.parametrize(
    "camera",
    [
        {"x": [0, 1]},
        {"x": [1, 0], "y": [0, 1]},
        {"x": [0, "a"], "y": [0, 1]},
        {"x": 3, "y": None},
        {"x": [0, float("nan")], "y": [0, 1]},
        {"x": [0, 1, 2], "y": [0, 1]},
        None,
    ],
)
def test_invalid_camera_is_left_out(camera: Any) -> None:
    assert map_spec_of(example(), camera=camera)["camera"] is None


def test_camera_is_passed_on() -> None:
    camera = {"x": [0, 1], "y": [2.5, 3]}
    assert map_spec_of(example(), camera=camera)["camera"] == {"x": [0.0, 1.0], "y": [2.5, 3.0]}


def test_distant_and_tiny_maps_keep_single_precision() -> None:
    state = example()
    assert state.run is not None
    for scale, shift in ((1e-30, 0.0), (1.0, 1e9), (1e30, 0.0)):
        moved = {name: Y * scale + shift for name, Y in state.run.embedding.coordinates.items()}
        ids = state.run.embedding.ids
        run = replace(state.run, embedding=Embedding(moved, ids))
        form = parts.get_geometry(replace(state, runs=(run,)), run)
        placed = form.points[form.placed]
        assert np.isfinite(placed).all()
        assert len(np.unique(placed, axis=0)) == len(placed)


def test_large_layout_is_split_into_sampled_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = places(map_spec_of(example()))
    monkeypatch.setattr(parts, "PIECE_ROWS", 20)
    spec = map_spec_of(example())
    assert len(spec["geometry"]["pieces"]) == 4
    np.testing.assert_array_equal(places(spec), whole)


def test_many_items_are_sampled_for_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MAX_ROWS_ALL_NAMED", 50)
    state = replace(example(), filters=(Filter("trees", "kind", values=("p",)),))
    order = array(map_spec_of(state)["order"], "<i4")
    assert set(order.tolist()) == set(range(0, 60, 3)) | {60, 61, 62}


def test_sample_covers_all_parts_of_map() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20_000, 2))
    points[:3] = [[2.5, 2.5], [-2.5, 2.5], [2.5, -2.5]]
    among = np.ones(len(points), dtype=bool)
    among[10_000:] = False
    chosen = priority.sample_rows(points, among, max_rows=9000)
    assert {0, 1, 2} <= set(chosen.tolist())
    assert len(chosen) == 9000
    assert chosen.max() < 10_000
    np.testing.assert_array_equal(chosen, priority.sample_rows(points, among, max_rows=9000))


def test_importance_covers_map_first() -> None:
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(500, 2)) * 0.01, [[5.0, 5.0], [-5.0, 5.0]] * 10])
    weight = np.concatenate([rng.random(500) + 1, np.zeros(20)])
    order = priority.sort_by_importance(np.arange(520), points, weight)
    assert order[0] == weight.argmax()
    # The crowd covers at most four cells, the two single points one cell each.
    assert (order[:6] >= 500).sum() == 2
    assert len(set(map(tuple, points[order[order >= 500][:2]]))) == 2


def test_link_weights_count_both_ends_of_positive_links() -> None:
    state = example()
    assert state.data is not None
    weight = priority.sum_link_weights(state.data)
    assert weight[[0, 1, 2, 60, 61, 62]].tolist() == [1.0, 0.5, 1.0, 1.5, 1.0, 0.0]


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_packed_rows_round_trip(case: tuple[int, set[int]]) -> None:
    n, rows = case
    packed = selection_codec.pack_rows(sorted(rows), n)
    assert len(packed) == (n + 7) // 8
    text = base64.b64encode(packed.tobytes()).decode()
    assert selection_codec.unpack_rows(text, n).tolist() == sorted(rows)


@pytest.mark.parametrize("packed", [None, 3, "", "AA", "AAAAAAAAAAAA", "////////////", "a" * 10**6])
def test_bits_of_wrong_length_are_refused(packed: object) -> None:
    with pytest.raises(DataError):
        selection_codec.unpack_rows(packed, 64)


def test_bits_beyond_the_last_row_are_refused() -> None:
    text = base64.b64encode(b"\xff").decode()
    with pytest.raises(DataError):
        selection_codec.unpack_rows(text, 7)


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, {"fingerprint": "other", "packed": ""}])
def test_invalid_selection_is_refused(value: object) -> None:
    state = example()
    with pytest.raises(DataError):
        selection_codec.read_selection(value, state.data)


def test_arrays_are_cleared_for_closed_session() -> None:
    array = PackedArray.pack(np.arange(9), "<i4")
    assert [send_array(session, array) for session in ("x", "y")] == [array.key] * 2
    ARRAYS.clear("x")
    assert ARRAYS.get("x", array.key) is None
    assert ARRAYS.get("y", array.key) is array
    ARRAYS.clear("y")


def test_array_key_depends_on_type() -> None:
    zeros = np.zeros(8)
    assert PackedArray.pack(zeros, "<i4").key != PackedArray.pack(zeros, "<f4").key


def test_cached_results_are_dropped_with_data() -> None:
    state = example()
    map_spec_of(state)
    assert state.data is not None
    alive = weakref.ref(state.data)
    calls = [RESULTS.get_or_compute(state.data, "x", object) for _ in range(2)]
    assert calls[0] is calls[1]
    del state
    gc.collect()
    assert alive() is None


def test_chosen_swatches_are_sent_with_stable_arrays() -> None:
    state = example()
    key = json.dumps(["trees", "kind"])
    usual = map_spec_of(state)["colour"]
    chosen = replace(state, view=DisplaySettings(key, swatches=((key, "q", "#0a0b0c"),)))
    colour = map_spec_of(chosen)["colour"]
    assert not usual["swatches"]
    code = colour["categories"].index("Q")
    assert colour["swatches"] == [code]
    assert {palette[code] for palette in colour["palette"].values()} == {"#0a0b0c"}
    # Another colouring keeps its own colours, and the browser has the codes already.
    assert colour["key"] == usual["key"] == map_spec_of(chosen)["colour"]["key"]
    other = replace(chosen, view=replace(chosen.view, colour="dataset"))
    assert not map_spec_of(other)["colour"]["swatches"]
