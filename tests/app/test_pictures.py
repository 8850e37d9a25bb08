"""Tests of the picture route."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from starlette.requests import Request

from hetviz.data import Dataset, HeteroData
from hetviz.ui.item import pictures
from hetviz.ui.map import routes
from hetviz.workspace import SESSIONS, OpenSample
from hetviz.workspace.sessions import new_session_id


def ask(session: str, row: int, dataset: str) -> tuple[int, bytes, str]:
    request = Request(
        {
            "type": "http",
            "method": "GET",
            "path_params": {"session": session, "row": row, "dataset": dataset},
        }
    )
    answer = routes._guarded(routes._picture)(request)
    return answer.status_code, bytes(answer.body), answer.headers.get("content-type", "")


@pytest.fixture(scope="module")
def session() -> str:
    sid = new_session_id()
    SESSIONS.get(sid).do(OpenSample("emoji"))
    return sid


def test_picture_is_served_with_type(session: str) -> None:
    status, body, kind = ask(session, 0, "emoji")
    assert status == 200
    assert (kind, body[:4]) == ("image/webp", b"RIFF")


@pytest.mark.parametrize(
    ("row", "dataset"), [(10**6, "emoji"), (0, "keywords"), (0, "nothing"), (0, "../emoji")]
)
def test_missing_picture_is_not_found(session: str, row: int, dataset: str) -> None:
    assert ask(session, row, dataset)[0] == 404


def test_picture_of_other_session_is_not_served(session: str) -> None:
    assert ask(new_session_id(), 0, "emoji")[0] == 404
    assert ask("", 0, "emoji")[0] == 404


def test_only_pictures_are_served(tmp_path: Path) -> None:
    assert pictures.read_picture(b"<svg onload=alert(1)>") is None
    assert pictures.read_picture(None) is None
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\nrest")
    assert pictures.read_picture(path) == (b"\x89PNG\r\n\x1a\nrest", "image/png")


def test_picture_address_is_quoted_and_changes_with_data() -> None:
    def data(name: str, ids: list[str]) -> HeteroData:
        return HeteroData([Dataset(name, ids, media=[b"x", None])])

    name = "a/b ?#ü"
    address = pictures.picture_address("s", data(name, ["1", "2"]), name, 0)
    assert address is not None
    assert unquote(urlsplit(address).path) == f"/hv/picture/s/0/{name}"
    assert address != pictures.picture_address("s", data(name, ["1", "3"]), name, 0)
    assert pictures.picture_address("s", data(name, ["1", "2"]), name, 1) is None
