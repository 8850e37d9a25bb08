"""Server settings from a TOML file and environment variables.

HETVIZ_CONFIG or ``hetviz serve --config`` names the file. The variable ``HETVIZ_NAME`` overrides
the key ``name``, and ``HETVIZ_SECTION_NAME`` overrides a key of ``[section]``.
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
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_HOST_PATTERN = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\Z")
_BASE_PATH_PATTERN = re.compile(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*\Z")
_MIN_SECRET_LENGTH = 32
_MAX_FILE_BYTES = 1_000_000
# Settings of earlier versions that have no effect, and are in files made for these.
_OBSOLETE = {("oidc", "admin_role")}
# Other variables with the prefix.
_OTHER_VARIABLES = {
    "HETVIZ_CONFIG",
    "HETVIZ_REST_AFTER_S",
    "HETVIZ_CHROMIUM",
    "HETVIZ_PARENT",
    "HETVIZ_NO_SKIP",
    "HETVIZ_DEPTH",
}


# Defaults of the server process that return memory to the system sooner: Python's pools free whole
# megabytes only, the C library frees pages, and numpy would request pages of two megabytes.
LOW_MEMORY_ENV = {"PYTHONMALLOC": "malloc", "MALLOC_ARENA_MAX": "1", "NUMPY_MADVISE_HUGEPAGE": "0"}


@dataclass(frozen=True)
class WorkSettings:
    """Limits of the worker processes."""

    # Number of workers that make maps; 0 for half of the processors, at least 2 and at most 8.
    workers: int = 0
    memory_mb: int = 0  # Address space of one worker, in MB; 0 sets no limit.
    # Processor seconds for reading files in an isolated process; at least 60.
    processor_s: int = 300
    uploads_mb: int = 1_000  # Total size of uploads in memory, in MB, before they are read.
    # Number of processes that read files at once; 0 for half of the processors, at least 2 and at
    # most 4.
    readers: int = 0
    # Largest number of items of a map whose spread of positions is measured automatically; 0: none.
    spread_items: int = 50_000


@dataclass(frozen=True)
class OidcSettings:
    """OpenID Connect provider."""

    metadata_url: str = ""  # Ends in ``/.well-known/openid-configuration``.
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    redirect_uri: str = ""  # Public address of this server, ending in ``/oauth2callback``.
    # At least 32 random characters that sign the login cookie.
    cookie_secret: str = field(default="", repr=False)
    roles_claim: str = "roles"  # The claim with a person's roles, as a text or a list.
    required_role: str = ""  # Role needed to log in; empty for everyone at the provider.


@dataclass(frozen=True)
class QuotaSettings:
    """Limits per person when login is required; 0 for no limit."""

    projects: int = 100
    megabytes: int = 2_000  # Total size of all projects of a person.


@dataclass(frozen=True)
class ServerSettings:
    """Settings of the server."""

    auth: str = "none"  # One of {"none", "oidc"}.
    # Folder of projects; empty for the default of `hetviz.workspace.store.files.home`.
    home: str = ""
    address: str = "127.0.0.1"  # Address to listen on.
    port: int = 8501
    base_path: str = ""  # Path of the app behind a proxy, such as ``tools/hetviz``.
    # Allowed names in the Host header; ``*.name`` for all subdomains.
    hosts: tuple[str, ...] = LOCAL_HOSTS
    visitors: int = 0  # Most visitors at once; 0 for any number.
    # Number of server processes. Each has its own part of the projects, see `hetviz.serve.front`.
    processes: int = 1
    process: int = 0  # Which of the processes this is, from 1; 0 to start all of them.
    # One of {"quiet", "text", "json"}. Format of the request log; "quiet" logs errors only.
    log: str = "quiet"
    metrics: bool = False  # Whether ``/metrics`` serves Prometheus metrics.
    trust_proxy: bool = False  # Whether to use the request id of a proxy (X-Request-ID).
    work: WorkSettings = WorkSettings()
    oidc: OidcSettings = OidcSettings()
    quota: QuotaSettings = QuotaSettings()

    @property
    def base(self) -> str:
        """The base path with a leading slash, or empty."""
        return f"/{self.base_path}" if self.base_path else ""


_SECTIONS: dict[str, type] = {"work": WorkSettings, "oidc": OidcSettings, "quota": QuotaSettings}
_CHOICES = {"auth": ("none", "oidc"), "log": ("quiet", "text", "json")}
_MAX_VALUES = {"port": 65_535, "workers": 64, "readers": 64, "processes": 64}
_POSITIVE = ("port", "processes")
_REQUIRED_OIDC = ("metadata_url", "client_id", "client_secret", "redirect_uri", "cookie_secret")


@cache
def settings() -> ServerSettings:
    """Return the settings of this process, from HETVIZ_CONFIG and the environment."""
    file = os.environ.get("HETVIZ_CONFIG")
    return read_settings(Path(file) if file else None, os.environ)


def read_settings(path: Path | None, environment: Mapping[str, str]) -> ServerSettings:
    """Read the settings from a file and environment variables."""
    problems: list[Problem] = []
    document = {} if path is None else _read_file(path)
    where = "the environment" if path is None else path.name
    raw = _flatten(document, where, problems)
    raw |= _from_environment(environment, problems)
    values: dict[str, dict[str, Any]] = {}
    for (section, name), (place, value) in raw.items():
        if (section, name) in _OBSOLETE:
            continue
        kind = _SECTIONS.get(section, ServerSettings)
        declared = {f.name: f for f in fields(kind) if f.name not in _SECTIONS}
        if name not in declared:
            similar = difflib.get_close_matches(name, declared, n=1)
            hint = f"Did you mean {similar[0]!r}?" if similar else ""
            problems.append(Problem("bad-setting", place, "unknown setting", name, hint))
            continue
        default = declared[name].default
        try:
            values.setdefault(section, {})[name] = _convert(name, default, value)
        except ValueError as error:
            # Never show a secret, not even a wrong one.
            shown_value = "" if "secret" in name else str(value)[:80]
            problems.append(Problem("bad-setting", place, f"{name} {error}", shown_value))
    parts = {name: kind(**values.get(name, {})) for name, kind in _SECTIONS.items()}
    result = ServerSettings(**values.get("", {}), **parts)
    problems += _setting_problems(result)
    if problems:
        raise DataError(problems)
    return result


def as_environment(settings: ServerSettings) -> dict[str, str]:
    """Return settings as environment variables."""
    variables = {}
    for section in ("", *_SECTIONS):
        part = getattr(settings, section) if section else settings
        for setting in fields(part):
            if setting.name not in _SECTIONS:
                value = getattr(part, setting.name)
                text = ",".join(value) if isinstance(value, tuple) else str(value)
                text = text.lower() if isinstance(value, bool) else text
                variables[_variable(section, setting.name)] = text
    return {name: text for name, text in variables.items() if text}


def _variable(section: str, name: str) -> str:
    return PREFIX + "_".join(filter(None, (section, name))).upper()


def _read_file(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise DataError.of("bad-config", path.name, "the file is larger than 1 MB")
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise DataError.of("bad-config", str(path), message) from None
    except (ValueError, RecursionError) as error:
        message = f"this is not valid TOML: {error}"
        raise DataError.of("bad-config", path.name, message) from None


RawSettings = dict[tuple[str, str], tuple[str, object]]


def _flatten(document: Mapping[str, object], where: str, problems: list[Problem]) -> RawSettings:
    raw: RawSettings = {}
    for name, value in document.items():
        if name in _SECTIONS:
            if isinstance(value, dict):
                place = f"{where}, [{name}]"
                raw |= {(name, key): (place, inner) for key, inner in value.items()}
            else:
                message = "this must be a section"
                problems.append(Problem("bad-setting", where, message, name, f"Write [{name}]."))
        else:
            raw["", name] = (where, value)
    return raw


def _from_environment(environment: Mapping[str, str], problems: list[Problem]) -> RawSettings:
    setting_of = {
        _variable(section, setting.name): (section, setting.name)
        for section, kind in (("", ServerSettings), *_SECTIONS.items())
        for setting in fields(kind)
        if setting.name not in _SECTIONS
    }
    raw: RawSettings = {}
    for variable, text in environment.items():
        if variable in setting_of and not text:
            # Compose files set unused variables to nothing.
            continue
        if variable in setting_of:
            raw[setting_of[variable]] = (variable, text)
        elif variable.startswith(PREFIX) and variable not in _OTHER_VARIABLES:
            similar = difflib.get_close_matches(variable, setting_of, n=1, cutoff=0.8)
            # Other variables may share the prefix. Only likely typos are errors.
            if similar:
                hint = f"Did you mean {similar[0]}?"
                message = "unknown setting"
                problems.append(Problem("bad-setting", "the environment", message, variable, hint))
    return raw


def _convert(name: str, default: object, value: object) -> object:
    if default is MISSING:  # pragma: no cover - every setting has a default
        raise ValueError("has no default")
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        raise ValueError("must be true or false")
    if isinstance(default, int):
        return _convert_integer(name, value)
    if isinstance(default, tuple):
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise ValueError("must be a list of strings")
        return tuple(part.strip() for part in cast("Iterable[str]", parts) if part.strip())
    if not isinstance(value, str):
        raise ValueError("must be a string")
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ValueError(f"must be one of {', '.join(_CHOICES[name])}")
    if "\n" in value or "\0" in value:
        raise ValueError("must be one line")
    return value


def _convert_integer(name: str, value: object) -> int:
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 10:
        text = int(text)
    if isinstance(text, bool) or not isinstance(text, int):
        raise ValueError("must be a whole number")
    low, high = int(name in _POSITIVE), _MAX_VALUES.get(name, 10**9)
    if not low <= text <= high:
        raise ValueError(f"must be between {low} and {high:,}")
    return text


def _setting_problems(settings: ServerSettings) -> list[Problem]:
    problems: list[Problem] = []

    def add_problem(message: str, value: object = "", remedy: str = "") -> None:
        problems.append(Problem("bad-setting", "configuration", message, str(value), remedy))

    for host in settings.hosts:
        if not _is_host(host):
            add_problem("hosts has an invalid host name", host, "Write names without a port.")
    if not settings.hosts:
        add_problem("hosts is empty, so no request would be answered")
    if settings.base_path and not (
        _BASE_PATH_PATTERN.match(settings.base_path)
        and not {".", ".."} & set(settings.base_path.split("/"))
    ):
        remedy = "Write it without slashes at the ends, such as tools/hetviz."
        add_problem("base_path is not a valid path", settings.base_path, remedy)
    try:
        is_public = not ipaddress.ip_address(settings.address).is_loopback
    except ValueError:
        is_public = settings.address != "localhost"
    if is_public and set(settings.hosts) <= set(LOCAL_HOSTS):
        message = "address is public, but hosts only has names of this machine"
        add_problem(
            message, settings.address, 'Add the public host names: hosts = ["maps.lab.org"].'
        )
    if settings.process > settings.processes:
        add_problem("process is larger than the number of processes", settings.process)
    if settings.process == 0 and settings.port + settings.processes > _MAX_VALUES["port"]:
        add_problem("the processes use the ports after this one, which are too few", settings.port)
    if settings.auth == "oidc":
        problems += _oidc_problems(settings)
    return problems


def _oidc_problems(settings: ServerSettings) -> list[Problem]:
    problems = [
        Problem("bad-setting", "configuration, [oidc]", f"{name} is missing", "")
        for name in _REQUIRED_OIDC
        if not getattr(settings.oidc, name)
    ]
    if 0 < len(settings.oidc.cookie_secret) < _MIN_SECRET_LENGTH:
        message = f"cookie_secret has fewer than {_MIN_SECRET_LENGTH} characters"
        remedy = "Create one: python -c 'import secrets; print(secrets.token_hex(32))'."
        problems.append(Problem("bad-setting", "configuration, [oidc]", message, "", remedy))
    for name, ending in (("metadata_url", ""), ("redirect_uri", f"{settings.base}/oauth2callback")):
        url = getattr(settings.oidc, name)
        if not url:
            continue
        parts = urlsplit(url)
        is_local = parts.hostname in LOCAL_HOSTS
        if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
            message = f"{name} must begin with https://"
            problems.append(Problem("bad-setting", "configuration, [oidc]", message, url))
        elif ending and parts.path != ending:
            message = f"{name} must end in {ending}"
            problems.append(Problem("bad-setting", "configuration, [oidc]", message, url))
    return problems


def _is_host(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return len(text) <= 253 and _HOST_PATTERN.match(text) is not None
    return True
