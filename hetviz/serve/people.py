"""People, their projects, share links and comments, in one SQLite file.

A share link is a random key, of which only the hash is stored. A person who opens it while logged
in gets its permission, until the link is revoked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hetviz._text import count
from hetviz.errors import HetvizError
from hetviz.workspace.store.files import make_folder

Permission = Literal["own", "edit", "look"]
FILE = "people.sqlite"
VERSION = 1
MAX_COMMENT_LENGTH = 2_000
_MAX_COMMENTS = 5_000
_RANK = {"look": 1, "edit": 2, "own": 3}
_SCHEMA = """
CREATE TABLE people (person TEXT PRIMARY KEY, name TEXT NOT NULL, seen REAL NOT NULL);
CREATE TABLE projects (project TEXT PRIMARY KEY, owner TEXT NOT NULL, made REAL NOT NULL);
CREATE INDEX owned ON projects (owner);
CREATE TABLE links (hash TEXT PRIMARY KEY, project TEXT NOT NULL, can TEXT NOT NULL,
                    made REAL NOT NULL);
CREATE TABLE grants (project TEXT NOT NULL, person TEXT NOT NULL, can TEXT NOT NULL,
                     link TEXT NOT NULL, PRIMARY KEY (project, person));
CREATE TABLE comments (id INTEGER PRIMARY KEY, project TEXT NOT NULL, person TEXT NOT NULL,
                       item TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX said ON comments (project);
"""
# Added later. Versions without it ignore it.
_LOGINS = """
CREATE TABLE IF NOT EXISTS logins (login TEXT PRIMARY KEY, person TEXT NOT NULL,
                                   made REAL NOT NULL, ended INTEGER NOT NULL);
"""
# A cookie is refused by its age long before its login is forgotten.
_LOGIN_KEPT_S = 400 * 86_400.0


class PermissionDeniedError(HetvizError):
    """A person lacks a permission."""


@dataclass(frozen=True)
class Person:
    """A person who is logged in."""

    id: str  # Issuer and subject, which are unique and cannot be chosen.
    name: str  # Display name.


@dataclass(frozen=True)
class ShareLink:
    """A share link."""

    hash: str
    permission: Permission
    made: float
    used_by: int


@dataclass(frozen=True)
class Comment:
    """A comment on an item, or on the map (an empty item)."""

    id: int
    person: str
    name: str
    item: str
    text: str
    at: float


class People:
    """The people of a server."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._lock = threading.Lock()
        self._file: sqlite3.Connection | None = None

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def record_visit(self, person: Person, login: str = "") -> None:
        """Record a visit, the current name of a person, and the login that it uses."""
        words = "INSERT INTO people VALUES (?, ?, ?) ON CONFLICT (person) DO UPDATE SET"
        with self._change() as change:
            change.execute(
                f"{words} name = excluded.name, seen = excluded.seen",
                (person.id, person.name[:200], time.time()),
            )
            if login:
                values = (login, person.id, time.time())
                change.execute("INSERT OR IGNORE INTO logins VALUES (?, ?, ?, 0)", values)
            oldest = time.time() - _LOGIN_KEPT_S
            change.execute("DELETE FROM logins WHERE made < ?", (oldest,))

    def end_login(self, login: str, person: str) -> None:
        """Refuse a login from now on."""
        with self._change() as change:
            change.execute(
                "INSERT INTO logins VALUES (?, ?, ?, 1) "
                "ON CONFLICT (login) DO UPDATE SET ended = 1",
                (login, person, time.time()),
            )

    def end_logins(self, person: str) -> int:
        """Refuse all logins of a person that were used so far; return their number."""
        with self._change() as change:
            return change.execute(
                "UPDATE logins SET ended = 1 WHERE person = ? AND ended = 0", (person,)
            ).rowcount

    def has_ended(self, login: str) -> bool:
        """Whether a login was ended by signing out."""
        return bool(self._one("SELECT ended FROM logins WHERE login = ?", login))

    def set_owner(self, person: str, project: str, max_projects: int = 0) -> None:
        with self._change() as change:
            (n,) = change.execute(
                "SELECT count(*) FROM projects WHERE owner = ?", (person,)
            ).fetchone()
            if max_projects and n >= max_projects:
                raise PermissionDeniedError(
                    f"You already have {count(n, 'project')}. The limit is {max_projects:,}. "
                    "Delete one first."
                )
            try:
                change.execute(
                    "INSERT INTO projects VALUES (?, ?, ?)", (project, person, time.time())
                )
            except sqlite3.IntegrityError:
                raise PermissionDeniedError("This project already has an owner.") from None

    def permission(self, person: str, project: str) -> Permission | None:
        """Return the permission of a person on a project: "own", "edit", "look" or None."""
        owner = self._one("SELECT owner FROM projects WHERE project = ?", project)
        if owner is None:
            return None
        if owner == person:
            return "own"
        granted = self._one(
            "SELECT can FROM grants WHERE project = ? AND person = ?", project, person
        )
        return granted if granted in ("edit", "look") else None

    def owned(self, person: str) -> list[str]:
        """Return the projects of a person, newest first."""
        rows = self._all("SELECT project FROM projects WHERE owner = ? ORDER BY made DESC", person)
        return [str(row[0]) for row in rows]

    def owners(self) -> dict[str, str]:
        return dict(self._all("SELECT project, owner FROM projects"))

    def shared_with(self, person: str) -> dict[str, Permission]:
        rows = self._all("SELECT project, can FROM grants WHERE person = ?", person)
        return dict(rows)

    def create_link(self, person: str, project: str, can: Permission) -> str:
        """Create a share link and return its key."""
        self._check_owner(person, project)
        if can not in ("edit", "look"):
            raise ValueError("a link lets people look or edit")
        key = secrets.token_urlsafe(16)
        with self._change() as change:
            change.execute(
                "INSERT INTO links VALUES (?, ?, ?, ?)", (_hash(key), project, can, time.time())
            )
        return key

    def links(self, person: str, project: str) -> list[ShareLink]:
        self._check_owner(person, project)
        rows = self._all(
            "SELECT hash, links.can, made, count(person) FROM links LEFT JOIN grants ON "
            "link = hash WHERE links.project = ? GROUP BY hash ORDER BY made",
            project,
        )
        return [ShareLink(*row) for row in rows]

    def accept_link(self, person: str, key: str) -> str:
        """Grant the permission of a link to a person; return its project."""
        rows = self._all("SELECT hash, project, can FROM links WHERE hash = ?", _hash(key))
        if not rows:
            raise PermissionDeniedError("This link does not work: it was revoked or is incomplete.")
        link, project, can = rows[0]
        current = self.permission(person, project)
        if current is None or _RANK[current] < _RANK[can]:
            with self._change() as change:
                change.execute(
                    "INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?)",
                    (project, person, can, link),
                )
        return str(project)

    def revoke_link(self, person: str, project: str, link: str) -> None:
        self._check_owner(person, project)
        self.revoke(project, link)

    def revoke(self, project: str, link: str | None = None) -> int:
        """Revoke one link of a project or all; return their number."""
        values = {"project": project, "link": link}
        condition = "project = :project AND (:link IS NULL OR"
        with self._change() as change:
            change.execute(f"DELETE FROM grants WHERE {condition} link = :link)", values)  # noqa: S608 - our own words
            deleted = change.execute(f"DELETE FROM links WHERE {condition} hash = :link)", values)  # noqa: S608 - our own words
            return deleted.rowcount

    def add_comment(self, person: str, project: str, text: str, item: str = "") -> None:
        if self.permission(person, project) is None:
            raise PermissionDeniedError("You may not comment on this project.")
        text = text.strip()
        if not 0 < len(text) <= MAX_COMMENT_LENGTH:
            raise HetvizError(f"A comment must have 1 to {MAX_COMMENT_LENGTH:,} characters.")
        n = self._one("SELECT count(*) FROM comments WHERE project = ?", project)
        if n is not None and int(n) >= _MAX_COMMENTS:
            raise HetvizError(
                f"A project can have at most {_MAX_COMMENTS:,} comments. Remove old ones."
            )
        with self._change() as change:
            change.execute(
                "INSERT INTO comments (project, person, item, text, at) VALUES (?, ?, ?, ?, ?)",
                (project, person, item[:400], text, time.time()),
            )

    def comments(self, person: str, project: str) -> list[Comment]:
        """Return the comments on a project, newest first."""
        if self.permission(person, project) is None:
            return []
        rows = self._all(
            "SELECT id, comments.person, coalesce(name, ''), item, text, at FROM comments "
            "LEFT JOIN people ON people.person = comments.person WHERE project = ? "
            "ORDER BY id DESC",
            project,
        )
        return [Comment(*row) for row in rows]

    def delete_comment(self, person: str, project: str, comment: int) -> None:
        """Delete an own comment, or any comment on an own project."""
        values = (comment, project, person, self.permission(person, project) == "own")
        with self._change() as change:
            change.execute(
                "DELETE FROM comments WHERE id = ? AND project = ? AND (person = ? OR ?)", values
            )

    def delete_project(self, project: str) -> None:
        with self._change() as change:
            for table in ("comments", "grants", "links", "projects"):
                change.execute(f"DELETE FROM {table} WHERE project = ?", (project,))  # noqa: S608 - our own names

    def export_person(self, person: str) -> dict[str, object]:
        """Return all records of a person, except the projects."""
        found_rows = self._all("SELECT name, seen FROM people WHERE person = ?", person)
        comments = "SELECT project, item, text, at FROM comments WHERE person = ?"
        return {
            "person": person,
            "name": found_rows[0][0] if found_rows else "",
            "seen": found_rows[0][1] if found_rows else None,
            "owns": self.owned(person),
            "shared": self.shared_with(person),
            "comments": [
                dict(zip(("project", "item", "text", "at"), row, strict=True))
                for row in self._all(comments, person)
            ],
        }

    def delete_person(self, person: str) -> list[str]:
        """Delete a person; return their projects, which must be deleted too."""
        projects = self.owned(person)
        for project in projects:
            self.delete_project(project)
        with self._change() as change:
            # Hashes of the logins stay, so that they are refused.
            change.execute("UPDATE logins SET ended = 1, person = '' WHERE person = ?", (person,))
            for table in ("comments", "grants", "people"):
                change.execute(f"DELETE FROM {table} WHERE person = ?", (person,))  # noqa: S608 - our own names
        return projects

    def copy_to(self, path: Path) -> None:
        """Copy a consistent snapshot of the file."""
        with self._lock, contextlib.closing(sqlite3.connect(path)) as target:
            self._opened().backup(target)

    def _check_owner(self, person: str, project: str) -> None:
        if self.permission(person, project) != "own":
            raise PermissionDeniedError("Only the owner can share a project.")

    def _one(self, words: str, *values: str) -> Any:
        rows = self._all(words, *values)
        return rows[0][0] if rows else None

    def _all(self, words: str, *values: str) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._opened().execute(words, values).fetchall()

    @contextlib.contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._opened() as change:
            yield change

    def _opened(self) -> sqlite3.Connection:
        if self._file is None:
            make_folder(self.path.parent)
            file = sqlite3.connect(self.path, check_same_thread=False, timeout=20)
            self.path.chmod(0o600)
            # Processes on other machines may use the file, which a write-ahead log does not allow.
            file.execute("PRAGMA journal_mode = DELETE")
            file.execute("PRAGMA synchronous = FULL")
            (version,) = file.execute("PRAGMA user_version").fetchone()
            if version == 0:
                file.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
            elif version != VERSION:
                file.close()
                raise HetvizError(
                    f"{FILE} was written by another version of hetviz. Nothing was changed. Use "
                    "that version, or restore a backup."
                )
            file.executescript(_LOGINS)
            self._file = file
        return self._file


def person_of(claims: Mapping[str, object]) -> Person | None:
    """Return the person in a provider's claims, or None."""
    issuer, subject = claims.get("iss"), claims.get("sub")
    if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject):
        return None
    name = next(
        (str(claims[key]) for key in ("name", "preferred_username", "email") if claims.get(key)),
        "somebody",
    )
    return Person(f"{issuer}|{subject}", name)


def login_of(claims: Mapping[str, object]) -> str:
    """Return a hash of one login of a person; the next login has another one."""
    parts = [str(claims.get(name, "")) for name in ("iss", "sub", "iat", "nonce", "sid", "jti")]
    return _hash(json.dumps(parts))


def roles_of(claims: Mapping[str, object], claim: str) -> list[str]:
    """Return the roles in a claim, which may be nested: ``realm_access.roles``."""
    value: Any = claims
    for part in claim.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        return value.split()
    return [role for role in value if isinstance(role, str)] if isinstance(value, list) else []


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
