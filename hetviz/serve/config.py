"""How a server is set up: one TOML file, the environment over it, all of it checked at the start.

The file is named by HETVIZ_CONFIG or ``hetviz serve --config``. A key ``name`` of the file is the
variable ``HETVIZ_NAME``, and a key of a section ``[section]`` is ``HETVIZ_SECTION_NAME``.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from hetviz.errors import DataError, Problem

PREFIX = "HETVIZ_"
LOCAL = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\Z")
_BASE = re.compile(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*\Z")
_SHORTEST_SECRET = 32
_MOST_BYTES = 1_000_000
# Variables with the prefix that are no settings of the server.
_OTHERS = {
    "HETVIZ_CONFIG",
    "HETVIZ_REST_AFTER_S",
    "HETVIZ_CHROMIUM",
    "HETVIZ_NO_SKIP",
    "HETVIZ_DEPTH",
}


# What the server's process is started with, where the environment says nothing else. Python's own
# pools give memory back by the megabyte, once nothing at all lies in one; the C library does so by
# the page. numpy would ask for pages of two megabytes. It takes a little more time, and the server
# is small again once many have left.
FRUGAL = {"PYTHONMALLOC": "malloc", "MALLOC_ARENA_MAX": "1", "NUMPY_MADVISE_HUGEPAGE": "0"}


@dataclass(frozen=True)
class Work:
    """What the workers may use.

    Attributes
    ----------
    workers : int
        Worker processes that make maps; 0 takes half of the processors, at least 2 and at most 8.
    memory_mb : int
        Address space of one worker, in MB; 0 sets no limit.
    processor_s : int
        Processor seconds that making data of files may take, in a process of its own; at least 60.
    readers : int
        Processes that read files at once, the others wait; 0 takes half of the processors, at least
        2 and at most 4.
    """

    workers: int = 0
    memory_mb: int = 0
    processor_s: int = 300
    readers: int = 0


@dataclass(frozen=True)
class Oidc:
    """The provider that people log in with, by OpenID Connect.

    Attributes
    ----------
    metadata_url : str
        Ends in ``/.well-known/openid-configuration``.
    client_id, client_secret : str
    redirect_uri : str
        Address of this server as a browser sees it, with ``/oauth2callback`` at the end.
    cookie_secret : str
        At least 32 random characters; signs the cookie of who is logged in.
    roles_claim : str
        The claim that holds a person's roles, as a text or a list.
    admin_role : str
        Who has it may see what the server does on the page of the operator.
    required_role : str
        Only who has it may come in; everybody that the provider knows where it is empty.
    """

    metadata_url: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    redirect_uri: str = ""
    cookie_secret: str = field(default="", repr=False)
    roles_claim: str = "roles"
    admin_role: str = "hetviz-admin"
    required_role: str = ""


@dataclass(frozen=True)
class Quota:
    """What one person may hold; 0 sets no limit. Counts only where people log in.

    Attributes
    ----------
    projects : int
    megabytes : int
        Of all projects that a person owns.
    """

    projects: int = 100
    megabytes: int = 2_000


@dataclass(frozen=True)
class Settings:
    """A whole configuration.

    Attributes
    ----------
    auth : {"none", "oidc"}
    home : str
        Folder for what is kept; see `hetviz.workspace.store.files.home` where it is empty.
    address : str
        Where the server listens.
    port : int
    base_path : str
        The path below which a proxy serves the app, such as ``tools/hetviz``.
    hosts : tuple of str
        Names in the Host header that are answered; ``*.name`` stands for all below a name.
    log : {"quiet", "text", "json"}
        Whether each request is logged, and in which form; "quiet" logs faults only.
    metrics : bool
        Whether ``/metrics`` answers, in the form of Prometheus.
    trust_proxy : bool
        Whether the request id of a proxy (X-Request-ID) is taken over into log and answer.
    work, oidc, quota
    """

    auth: str = "none"
    home: str = ""
    address: str = "127.0.0.1"
    port: int = 8501
    base_path: str = ""
    hosts: tuple[str, ...] = LOCAL
    log: str = "quiet"
    metrics: bool = False
    trust_proxy: bool = False
    work: Work = Work()
    oidc: Oidc = Oidc()
    quota: Quota = Quota()

    @property
    def base(self) -> str:
        """The base path as addresses begin with it: empty, or with a slash in front only."""
        return f"/{self.base_path}" if self.base_path else ""


_SECTIONS: dict[str, type] = {"work": Work, "oidc": Oidc, "quota": Quota}
_CHOICES = {"auth": ("none", "oidc"), "log": ("quiet", "text", "json")}
_LARGEST = {"port": 65_535, "workers": 64, "readers": 64}
_NEEDED = ("metadata_url", "client_id", "client_secret", "redirect_uri", "cookie_secret")


@cache
def settings() -> Settings:
    """Return the settings of this process: the file of HETVIZ_CONFIG with the environment over it.

    Raises
    ------
    hetviz.errors.DataError
        Listing everything that is wrong.
    """
    named = os.environ.get("HETVIZ_CONFIG")
    return read(Path(named) if named else None, os.environ)


def read(path: Path | None, environment: Mapping[str, str]) -> Settings:
    """Read a configuration.

    Raises
    ------
    hetviz.errors.DataError
        Listing everything that is wrong.
    """
    problems: list[Problem] = []
    document = {} if path is None else _document(path)
    where = "the environment" if path is None else path.name
    given = _flat(document, where, problems)
    given |= _from_environment(environment, problems)
    values: dict[str, dict[str, Any]] = {}
    for (section, name), (place, value) in given.items():
        kind = _SECTIONS.get(section, Settings)
        known = {f.name: f for f in fields(kind) if f.name not in _SECTIONS}
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else ""
            problems.append(Problem("bad-setting", place, "there is no such setting", name, hint))
            continue
        default = known[name].default
        try:
            values.setdefault(section, {})[name] = _typed(name, default, value)
        except ValueError as error:
            # A secret is never shown, not even a wrong one.
            shown = "" if "secret" in name else str(value)[:80]
            problems.append(Problem("bad-setting", place, f"{name} {error}", shown))
    parts = {name: kind(**values.get(name, {})) for name, kind in _SECTIONS.items()}
    found = Settings(**values.get("", {}), **parts)
    problems += _faults(found)
    if problems:
        raise DataError(problems)
    return found


def as_environment(found: Settings) -> dict[str, str]:
    """Return settings as variables, for a process that reads no file."""
    out = {}
    for section in ("", *_SECTIONS):
        part = getattr(found, section) if section else found
        for one in fields(part):
            if one.name not in _SECTIONS:
                value = getattr(part, one.name)
                text = ",".join(value) if isinstance(value, tuple) else str(value)
                text = text.lower() if isinstance(value, bool) else text
                out[_variable(section, one.name)] = text
    return {name: text for name, text in out.items() if text}


def _variable(section: str, name: str) -> str:
    return PREFIX + "_".join(filter(None, (section, name))).upper()


def _document(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DataError(Problem("bad-config", path.name, "the file is larger than 1 MB"))
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        what = f"the file cannot be read: {error.strerror}"
        raise DataError(Problem("bad-config", str(path), what)) from None
    except (ValueError, RecursionError) as error:
        what = f"this is not valid TOML: {error}"
        raise DataError(Problem("bad-config", path.name, what)) from None


Given = dict[tuple[str, str], tuple[str, object]]


def _flat(document: Mapping[str, object], where: str, problems: list[Problem]) -> Given:
    given: Given = {}
    for name, value in document.items():
        if name in _SECTIONS:
            if isinstance(value, dict):
                place = f"{where}, [{name}]"
                given |= {(name, key): (place, inner) for key, inner in value.items()}
            else:
                what = "this must be a section"
                problems.append(Problem("bad-setting", where, what, name, f"Write [{name}]."))
        else:
            given["", name] = (where, value)
    return given


def _from_environment(environment: Mapping[str, str], problems: list[Problem]) -> Given:
    known = {
        _variable(section, one.name): (section, one.name)
        for section, kind in (("", Settings), *_SECTIONS.items())
        for one in fields(kind)
        if one.name not in _SECTIONS
    }
    given: Given = {}
    for variable, text in environment.items():
        if variable in known and not text:
            # As compose files write what is not set.
            continue
        if variable in known:
            given[known[variable]] = (variable, text)
        elif variable.startswith(PREFIX) and variable not in _OTHERS:
            near = difflib.get_close_matches(variable, known, n=1, cutoff=0.8)
            # Not every variable that begins so is meant for us; one that nearly fits is.
            if near:
                hint = f"Did you mean {near[0]}?"
                what = "there is no such setting"
                problems.append(Problem("bad-setting", "the environment", what, variable, hint))
    return given


def _typed(name: str, default: object, value: object) -> object:
    if default is MISSING:  # pragma: no cover - every setting has a default
        raise ValueError("has no default")
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        raise ValueError("must be true or false")
    if isinstance(default, int):
        return _whole(name, value)
    if isinstance(default, tuple):
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise ValueError("must be a list of texts")
        return tuple(part.strip() for part in cast("Iterable[str]", parts) if part.strip())
    if not isinstance(value, str):
        raise ValueError("must be a text")
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ValueError(f"must be one of {', '.join(_CHOICES[name])}")
    if "\n" in value or "\0" in value:
        raise ValueError("must be one line")
    return value


def _whole(name: str, value: object) -> int:
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 10:
        text = int(text)
    if isinstance(text, bool) or not isinstance(text, int):
        raise ValueError("must be a whole number")
    low, high = int(name == "port"), _LARGEST.get(name, 10**9)
    if not low <= text <= high:
        raise ValueError(f"must lie between {low} and {high:,}")
    return text


def _faults(found: Settings) -> list[Problem]:
    out: list[Problem] = []

    def refuse(what: str, value: object = "", remedy: str = "") -> None:
        out.append(Problem("bad-setting", "configuration", what, str(value), remedy))

    for host in found.hosts:
        if not _is_host(host):
            refuse("hosts has what is no name of a host", host, "Write names without a port.")
    if not found.hosts:
        refuse("hosts is empty, so nothing would be answered")
    if found.base_path and not (
        _BASE.match(found.base_path) and not {".", ".."} & set(found.base_path.split("/"))
    ):
        remedy = "Write it without a slash in front or behind, such as tools/hetviz."
        refuse("base_path is no path", found.base_path, remedy)
    try:
        outside = not ipaddress.ip_address(found.address).is_loopback
    except ValueError:
        outside = found.address != "localhost"
    if outside and set(found.hosts) <= set(LOCAL):
        what = "the server would listen to others, but hosts has only names of this machine"
        refuse(
            what, found.address, 'Name the hosts that it is reached by: hosts = ["maps.lab.org"].'
        )
    if found.auth == "oidc":
        out += _oidc_faults(found)
    return out


def _oidc_faults(found: Settings) -> list[Problem]:
    out = [
        Problem("bad-setting", "configuration, [oidc]", f"{name} is needed", "nothing")
        for name in _NEEDED
        if not getattr(found.oidc, name)
    ]
    if 0 < len(found.oidc.cookie_secret) < _SHORTEST_SECRET:
        what = f"cookie_secret has fewer than {_SHORTEST_SECRET} characters"
        remedy = "Make one: python -c 'import secrets; print(secrets.token_hex(32))'."
        out.append(Problem("bad-setting", "configuration, [oidc]", what, "", remedy))
    for name, ending in (("metadata_url", ""), ("redirect_uri", f"{found.base}/oauth2callback")):
        given = getattr(found.oidc, name)
        if not given:
            continue
        parts = urlsplit(given)
        local = parts.hostname in LOCAL
        if parts.scheme != "https" and not (parts.scheme == "http" and local):
            what = f"{name} must begin with https://"
            out.append(Problem("bad-setting", "configuration, [oidc]", what, given))
        elif ending and parts.path != ending:
            what = f"{name} must end in {ending}"
            out.append(Problem("bad-setting", "configuration, [oidc]", what, given))
    return out


def _is_host(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return len(text) <= 253 and _HOST.match(text) is not None
    return True
