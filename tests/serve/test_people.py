"""Owners, links and what was said: who may do what, and what stays when something is taken back."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hetviz.errors import HetvizError
from hetviz.serve.people import Denied, People, Person, person_of, roles_of
from hetviz.workspace.store.files import new_session_id


@pytest.fixture
def people(tmp_path: Path) -> Iterator[People]:
    made = People(tmp_path)
    yield made
    made.close()


def test_a_project_is_its_owners_alone_until_shared(people: People) -> None:
    project = new_session_id()
    people.own("ada", project)
    assert people.can("ada", project) == "own"
    assert people.can("bob", project) is None
    assert people.can("bob", new_session_id()) is None
    for act in (
        lambda: people.share("bob", project, "edit"),
        lambda: people.links("bob", project),
        lambda: people.take_back("bob", project, "x"),
        lambda: people.say("bob", project, "Hello"),
        lambda: people.own("bob", project),
    ):
        with pytest.raises(Denied):
            act()
    assert people.comments("bob", project) == []


def test_a_link_grants_what_it_says_and_no_more_once_taken_back(people: People) -> None:
    project = new_session_id()
    people.own("ada", project)
    look, edit = people.share("ada", project, "look"), people.share("ada", project, "edit")
    assert people.accept("bob", look) == project
    assert people.can("bob", project) == "look"
    people.accept("bob", edit)
    assert people.can("bob", project) == "edit"
    # The weaker link takes nothing away.
    people.accept("bob", look)
    assert people.can("bob", project) == "edit"
    of_edit = next(link for link in people.links("ada", project) if link.can == "edit")
    assert of_edit.used_by == 1
    people.take_back("ada", project, of_edit.hash)
    assert people.can("bob", project) is None
    with pytest.raises(Denied, match="leads nowhere"):
        people.accept("bob", edit)
    people.accept("bob", look)
    assert people.revoke(project) == 1
    assert people.can("bob", project) is None and people.can("ada", project) == "own"


def test_the_owner_stays_owner_by_any_link(people: People) -> None:
    project = new_session_id()
    people.own("ada", project)
    people.accept("ada", people.share("ada", project, "look"))
    assert people.can("ada", project) == "own"


def test_keys_of_links_are_kept_nowhere(people: People, tmp_path: Path) -> None:
    project = new_session_id()
    people.own("ada", project)
    key = people.share("ada", project, "look")
    people.close()
    assert all(key.encode() not in path.read_bytes() for path in tmp_path.iterdir())
    assert stat.S_IMODE(os.stat(people.path).st_mode) == 0o600


def test_a_person_has_no_more_projects_than_allowed(people: People) -> None:
    people.own("ada", new_session_id(), most=1)
    with pytest.raises(Denied, match="1 are allowed"):
        people.own("ada", new_session_id(), most=1)


def test_comments_are_seen_by_all_and_removed_by_author_or_owner(people: People) -> None:
    project = new_session_id()
    people.own("ada", project)
    people.accept("bob", people.share("ada", project, "look"))
    people.came(Person("bob", "Bob"))
    people.say("bob", project, "  Here? ", "oak")
    people.say("ada", project, "There.")
    hers, his = people.comments("bob", project)
    assert (his.name, his.item, his.text) == ("Bob", "oak", "Here?")
    people.unsay("bob", project, hers.id)
    assert len(people.comments("ada", project)) == 2
    people.unsay("ada", project, his.id)
    assert [one.text for one in people.comments("ada", project)] == ["There."]
    for bad in ("", "x" * 2_001):
        with pytest.raises(HetvizError):
            people.say("ada", project, bad)


def test_all_of_a_person_is_told_and_goes(people: People) -> None:
    mine, other = new_session_id(), new_session_id()
    people.came(Person("ada", "Ada"))
    people.own("ada", mine)
    people.own("bob", other)
    people.accept("ada", people.share("bob", other, "edit"))
    people.say("ada", other, "Mine")
    told = people.all_of("ada")
    assert (told["name"], told["owns"], told["shared"]) == ("Ada", [mine], {other: "edit"})
    assert [one["text"] for one in told["comments"]] == ["Mine"]
    assert people.forget("ada") == [mine]
    gone = people.all_of("ada")
    assert (gone["name"], gone["owns"], gone["shared"], gone["comments"]) == ("", [], {}, [])
    assert people.comments("bob", other) == []


def test_what_a_later_version_wrote_is_left_alone(tmp_path: Path) -> None:
    people = People(tmp_path)
    people.own("ada", new_session_id())
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
def test_roles_come_from_a_claim(claims: dict[str, object], claim: str, roles: list[str]) -> None:
    assert roles_of(claims, claim) == roles


def test_a_person_is_issuer_and_subject_and_never_an_email() -> None:
    claims = {"iss": "https://a", "sub": "7", "email": "x@y", "roles": ["boss"]}
    assert person_of(claims, "roles", "boss") == Person("https://a|7", "x@y", True)
    assert person_of(claims | {"iss": "https://b"}, "roles", "").id == "https://b|7"  # type: ignore[union-attr]
    assert person_of({"email": "x@y"}, "roles", "boss") is None
