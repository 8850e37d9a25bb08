"""Tests of owners, share links and comments."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hetviz.errors import HetvizError
from hetviz.serve.people import (
    People,
    PermissionDeniedError,
    Person,
    login_of,
    person_of,
    roles_of,
)
from hetviz.workspace.store.files import new_session_id


@pytest.fixture
def people(tmp_path: Path) -> Iterator[People]:
    created = People(tmp_path)
    yield created
    created.close()


def test_new_project_is_private(people: People) -> None:
    project = new_session_id()
    people.set_owner("ada", project)
    assert people.permission("ada", project) == "own"
    assert people.permission("bob", project) is None
    assert people.permission("bob", new_session_id()) is None
    for act in (
        lambda: people.create_link("bob", project, "edit"),
        lambda: people.links("bob", project),
        lambda: people.revoke_link("bob", project, "x"),
        lambda: people.add_comment("bob", project, "Hello"),
        lambda: people.set_owner("bob", project),
    ):
        with pytest.raises(PermissionDeniedError):
            act()
    assert people.comments("bob", project) == []


def test_link_grants_until_revoked(people: People) -> None:
    project = new_session_id()
    people.set_owner("ada", project)
    look, edit = (
        people.create_link("ada", project, "look"),
        people.create_link("ada", project, "edit"),
    )
    assert people.accept_link("bob", look) == project
    assert people.permission("bob", project) == "look"
    people.accept_link("bob", edit)
    assert people.permission("bob", project) == "edit"
    # The weaker link takes nothing away.
    people.accept_link("bob", look)
    assert people.permission("bob", project) == "edit"
    of_edit = next(link for link in people.links("ada", project) if link.permission == "edit")
    assert of_edit.used_by == 1
    people.revoke_link("ada", project, of_edit.hash)
    assert people.permission("bob", project) is None
    with pytest.raises(PermissionDeniedError, match="does not work"):
        people.accept_link("bob", edit)
    people.accept_link("bob", look)
    assert people.revoke(project) == 1
    assert people.permission("bob", project) is None and people.permission("ada", project) == "own"


def test_owner_stays_owner(people: People) -> None:
    project = new_session_id()
    people.set_owner("ada", project)
    people.accept_link("ada", people.create_link("ada", project, "look"))
    assert people.permission("ada", project) == "own"


def test_link_keys_are_not_stored(people: People, tmp_path: Path) -> None:
    project = new_session_id()
    people.set_owner("ada", project)
    key = people.create_link("ada", project, "look")
    people.close()
    assert all(key.encode() not in path.read_bytes() for path in tmp_path.iterdir())
    assert stat.S_IMODE(os.stat(people.path).st_mode) == 0o600


def test_project_quota(people: People) -> None:
    people.set_owner("ada", new_session_id(), max_projects=1)
    with pytest.raises(PermissionDeniedError, match="The limit is 1"):
        people.set_owner("ada", new_session_id(), max_projects=1)


def test_comments(people: People) -> None:
    project = new_session_id()
    people.set_owner("ada", project)
    people.accept_link("bob", people.create_link("ada", project, "look"))
    people.record_visit(Person("bob", "Bob"))
    people.add_comment("bob", project, "  Here? ", "oak")
    people.add_comment("ada", project, "There.")
    hers, his = people.comments("bob", project)
    assert (his.name, his.item, his.text) == ("Bob", "oak", "Here?")
    people.delete_comment("bob", project, hers.id)
    assert len(people.comments("ada", project)) == 2
    people.delete_comment("ada", project, his.id)
    assert [comment.text for comment in people.comments("ada", project)] == ["There."]
    for bad in ("", "x" * 2_001):
        with pytest.raises(HetvizError):
            people.add_comment("ada", project, bad)


def test_person_export_and_deletion(people: People) -> None:
    mine, other = new_session_id(), new_session_id()
    people.record_visit(Person("ada", "Ada"))
    people.set_owner("ada", mine)
    people.set_owner("bob", other)
    people.accept_link("ada", people.create_link("bob", other, "edit"))
    people.add_comment("ada", other, "Mine")
    messages = people.export_person("ada")
    assert (messages["name"], messages["owns"], messages["shared"]) == (
        "Ada",
        [mine],
        {other: "edit"},
    )
    assert [entry["text"] for entry in messages["comments"]] == ["Mine"]
    assert people.delete_person("ada") == [mine]
    gone = people.export_person("ada")
    assert (gone["name"], gone["owns"], gone["shared"], gone["comments"]) == ("", [], {}, [])
    assert people.comments("bob", other) == []


def test_ended_logins_are_refused(people: People) -> None:
    people.record_visit(Person("ada", "Ada"), "laptop")
    people.record_visit(Person("ada", "Ada"), "desk")
    people.record_visit(Person("bob", "Bob"), "phone")
    people.end_login("laptop", "ada")
    # A visit that began before must not begin the login again.
    people.record_visit(Person("ada", "Ada"), "laptop")
    assert [people.has_ended(login) for login in ("laptop", "desk", "phone")] == [1, 0, 0]
    assert people.end_logins("ada") == 1
    assert people.has_ended("desk") and not people.has_ended("phone")
    people.delete_person("bob")
    assert people.has_ended("phone")


def test_login_has_the_same_hash_everywhere_and_the_next_another() -> None:
    claims = {"iss": "https://a", "sub": "1", "iat": 5, "nonce": "x"}
    assert login_of(claims) == login_of({**claims, "is_logged_in": True, "tokens": {}})
    assert login_of(claims) != login_of({**claims, "nonce": "y"})


def test_file_of_a_version_without_logins_is_read(people: People) -> None:
    people.set_owner("ada", "p")
    people.close()
    with sqlite3.connect(people.path) as file:
        file.execute("DROP TABLE logins")
    file.close()
    assert not people.has_ended("desk")
    assert people.owned("ada") == ["p"]


def test_newer_file_is_not_changed(tmp_path: Path) -> None:
    people = People(tmp_path)
    people.set_owner("ada", new_session_id())
    people.close()
    with sqlite3.connect(people.path) as file:
        file.execute("PRAGMA user_version = 99")
    file.close()
    with pytest.raises(HetvizError, match="another version"):
        People(tmp_path).owned("ada")


@pytest.mark.parametrize(
    ("claims", "claim", "roles"),
    [
        ({"roles": ["a", "b", 3]}, "roles", ["a", "b"]),
        ({"roles": "a b"}, "roles", ["a", "b"]),
        ({"realm_access": {"roles": ["a"]}}, "realm_access.roles", ["a"]),
        ({"roles": {"a": 1}}, "roles", []),
        ({}, "x.y", []),
    ],
)
def test_roles_of_claim(claims: dict[str, object], claim: str, roles: list[str]) -> None:
    assert roles_of(claims, claim) == roles


def test_person_id_is_issuer_and_subject() -> None:
    claims = {"iss": "https://a", "sub": "7", "email": "x@y"}
    assert person_of(claims) == Person("https://a|7", "x@y")
    assert person_of(claims | {"iss": "https://b"}).id == "https://b|7"  # type: ignore[union-attr]
    assert person_of({"email": "x@y"}) is None
