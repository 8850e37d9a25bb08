"""Tests of the server for agents, through the client of the reference implementation."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import numpy as np
import pandas as pd
import pytest
from mcp import Client, StdioServerParameters

from hetviz.progress import Progress
from hetviz.serve import agent
from hetviz.serve.agent import MAX_ROWS, make_server
from tests.waits import PATIENCE_S

Agent = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two tables and their pairs, and a file outside the folder."""
    rng = np.random.default_rng(0)
    heat, body = rng.random(30), rng.random(20)
    inside = tmp_path / "tables"
    inside.mkdir()
    dishes = pd.DataFrame({"dish": [f"d{k}" for k in range(30)], "heat": heat})
    wines = pd.DataFrame({"wine": [f"w{k}" for k in range(20)], "body": body})
    dish, wine = np.nonzero(np.abs(heat[:, None] - body) < 0.15)
    pairs = pd.DataFrame({"dish": dishes["dish"][dish], "wine": wines["wine"][wine].to_numpy()})
    for name, table in (("dishes", dishes), ("wines", wines), ("pairs", pairs)):
        table.to_csv(inside / f"{name}.csv", index=False)
    (tmp_path / "secret.csv").write_text("id,a\n1,2\n", encoding="utf-8")
    return inside


def talk(server: Any, conversation: Callable[[Agent], Awaitable[None]]) -> None:
    """Hold a conversation with a server; `conversation` gets a function that calls a tool."""

    async def run() -> None:
        async with Client(server) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, arguments)
                if result.is_error:
                    return {"error": result.content[0].text}
                content: dict[str, Any] = result.structured_content
                return content

            await conversation(call)

    anyio.run(run)


def test_agent_maps_tables_and_takes_a_statement_back(folder: Path) -> None:
    async def conversation(call: Agent) -> None:
        files = [file["name"] for file in (await call("list_files"))["files"]]
        assert files == ["dishes.csv", "pairs.csv", "wines.csv"]
        loaded = await call("load", files=files)
        sizes = {dataset["name"]: dataset["n_items"] for dataset in loaded["datasets"]}
        assert sizes == {"dishes": 30, "wines": 20}
        assert any("links" in text for text in loaded["account"])
        made = await call("make_map", method="joint-map")
        assert made["method"] == "joint-map"
        assert "of links are close (chance: " in made["links"]
        found = await call("find", text="d3")
        assert found["items"][0]["id"] == "d3"
        near = await call("list_nearest", dataset="dishes", id="d3", n=5)
        assert len(near["nearest"]["wines"]) == 5
        assert any(item["linked"] for item in near["nearest"]["wines"])
        reasons = await call("explain", dataset="dishes", id="d3")
        assert reasons["item"]["id"] == "d3"
        assert reasons["sentences"]
        assert len((await call("list_regions"))["regions"]) <= MAX_ROWS
        moved = await call("add_statement", items=["dishes:d0"], others=["dishes:d1"])
        assert moved["added_links"] == 1
        assert moved["effects"]
        assert await call("undo_statement") == made
        pairs = await call("suggest_links", source="dishes", target="wines", n=3)
        assert len(pairs["pairs"]) == 3
        exported = await call("export", file="map.html")
        assert (folder / "map.html").stat().st_size == exported["bytes"]

    talk(make_server(folder), conversation)


def test_cancelled_call_stops_and_the_next_one_works(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def embed_for_ever(*_: object, progress: Progress, **__: object) -> None:
        try:
            while True:
                begun.set()
                progress(0.5, "Placing")
        finally:
            ended.set()

    async def run() -> None:
        async with Client(make_server(folder)) as client:
            await client.call_tool("load", {"files": ["dishes.csv"]})
            with monkeypatch.context() as patch:
                patch.setattr(agent, "embed", embed_for_ever)
                async with anyio.create_task_group() as calls:
                    calls.start_soon(client.call_tool, "make_map", {})
                    await anyio.to_thread.run_sync(begun.wait, PATIENCE_S)
                    calls.cancel_scope.cancel()
                assert await anyio.to_thread.run_sync(ended.wait, PATIENCE_S)
            made = await client.call_tool("make_map", {"method": "pca"})
            assert not made.is_error

    anyio.run(run)


def test_agent_tables_are_joined_by_certain_keys(folder: Path) -> None:
    rng = np.random.default_rng(1)
    dish = [f"d{k}" for k in rng.integers(30, size=80)]
    orders = pd.DataFrame(
        {"id": [f"o{k}" for k in range(80)], "dish": dish, "price": rng.random(80)}
    )
    orders.to_csv(folder / "orders.csv", index=False)

    async def conversation(call: Agent) -> None:
        files = ["dishes.csv", "orders.csv"]
        loaded = await call("load", files=files)
        assert len(loaded["joined"]) == 1
        assert not loaded["possible_joins"]
        apart = await call("load", files=files, join=False)
        assert apart["possible_joins"] == loaded["joined"]

    talk(make_server(folder), conversation)


def test_agent_errors_say_what_to_do(folder: Path) -> None:
    async def conversation(call: Agent) -> None:
        assert "Call load first" in (await call("make_map"))["error"]
        assert "See list_files" in (await call("load", files=["dish.csv"]))["error"]
        for name in ("../secret.csv", str(folder.parent / "secret.csv")):
            assert "outside the folder" in (await call("load", files=[name]))["error"]
        (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
        assert "outside the folder" in (await call("load", files=["link.csv"]))["error"]
        await call("load", files=["dishes.csv"])
        assert "Call make_map first" in (await call("export", file="a.png"))["error"]
        assert "Did you mean pca?" in (await call("make_map", method="pcaa"))["error"]
        await call("make_map", method="pca")
        assert "dishes.csv exists" in (await call("export", file="dishes.csv"))["error"]
        assert "outside the folder" in (await call("export", file="../a.csv"))["error"]
        assert "no statement" in (await call("undo_statement"))["error"]
        assert (
            "at least two" in (await call("add_statement", items=["dishes:d1"], others=[]))["error"]
        )

    talk(make_server(folder), conversation)


def test_command_serves_over_standard_streams(folder: Path) -> None:
    async def conversation(call: Agent) -> None:
        assert (await call("list_files"))["n_files"] == 3

    command = StdioServerParameters(
        command=sys.executable, args=["-m", "hetviz", "mcp", str(folder)]
    )
    talk(command, conversation)
