"""Page of the demo app: the map and buttons that change what Python sends."""

from __future__ import annotations

import base64
import time
from typing import Any

import demo_data as demo
import numpy as np
import streamlit as st

from hetviz.ui.map.component.component import draw_map

st.set_page_config(layout="wide")
q = st.query_params
n = int(q.get("n", "1894"))
S: Any = st.session_state
S.setdefault("state", {"colour": "group", "turn": 0.0, "here": True, "live": None, "mask": False})
state: dict[str, Any] = S.state


def chosen() -> tuple[np.ndarray, int]:
    """Return the flags that the browser, or a button here, set last."""
    return S.get("flags", np.zeros(n, bool)), S.get("version", 0)


def on_selection() -> None:
    value = S["map"]["selection"]
    S.arrived = time.time()
    raw = np.frombuffer(base64.b64decode(value["packed"]), np.uint8)
    S.flags = np.unpackbits(raw, bitorder="little")[:n].astype(bool)
    S.version = value["version"]
    assert int(S.flags.sum()) == value["count"]


def on_camera() -> None:
    S.camera = S["map"]["camera"]


def on_hidden() -> None:
    S.hidden = S["map"]["hidden"]


def on_terrain() -> None:
    S.terrain = S["map"]["terrain"]


def change(**what: Any) -> None:
    state.update(what)


def pick_few() -> None:
    S.flags = np.arange(n) < 5
    S.version = chosen()[1] + 1


def drop() -> None:
    S.flags = np.zeros(n, bool)
    S.version = chosen()[1] + 1


if q.get("bare") != "1":
    with st.container(horizontal=True):
        other = "number" if state["colour"] == "group" else "group"
        st.button("recolour", on_click=change, kwargs={"colour": other})
        st.button("filter", on_click=change, kwargs={"mask": not state["mask"]})
        st.button("layout", on_click=change, kwargs={"turn": 0.6 - state["turn"]})
        st.button("leave", on_click=change, kwargs={"here": not state["here"]})
        job = f"{n}-{q.get('seconds', '6')}-{time.time_ns()}"
        st.button("job", on_click=change, kwargs={"live": job})
        st.button("job over", on_click=change, kwargs={"live": None})
        st.button("five", on_click=pick_few)
        st.button("drop", on_click=drop)
if state["here"]:
    flags, version = chosen()
    spec = demo.spec(
        n, colour=state["colour"], turn=state["turn"], mask=state["mask"],
        mode=q.get("mode", "work"), hidden=S.get("hidden"), terrain=S.get("terrain", True),
        camera=S.get("camera"),
        live=state["live"], media=q.get("media") != "0",
        selection={
            "key": demo.keep(np.packbits(flags, bitorder="little")) if flags.any() else None,
            "count": int(flags.sum()), "version": version,
        },
    )  # fmt: skip
    for dataset in spec["datasets"]:
        dataset["people"] = q.get("people") == "1"
    spec["session"] = f"{demo.SESSION}-{n}"
    draw_map(
        spec, "map", height=q.get("height", "calc(100vh - 190px)"), on_selection=on_selection,
        on_camera=on_camera, on_hidden=on_hidden, on_terrain=on_terrain,
    )  # fmt: skip
flags, version = chosen()
st.text(
    f"picked {int(flags.sum())} version {version} "
    f"hidden {S.get('hidden')} terrain {'on' if S.get('terrain', True) else 'off'} "
    f"camera {S.get('camera') is not None} "
    f"colour {state['colour']} arrived {S.get('arrived')}"
)
