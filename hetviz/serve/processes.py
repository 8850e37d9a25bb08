"""Projects of several server processes.

Each project belongs to one process, by a hash of its id. The path of a page names the process, so
that a proxy can direct each request, and the web socket of a page, without knowing the project:
``/n2/map?s=ID`` is a page of the second process.
"""

from __future__ import annotations

import hashlib
import re

from hetviz.serve.config import ServerSettings

_NUMBERED = re.compile(r"/n([1-9][0-9]?)(/.*|\Z)", re.DOTALL)


def process_of(project: str, n: int) -> int:
    """Return the number, from 1 to `n`, of the process of a project."""
    hashed = hashlib.blake2b(project.encode(), digest_size=8).digest()
    return int.from_bytes(hashed, "big") % n + 1


def split_number(path: str) -> tuple[int, str]:
    """Split a path below the base path into its number, 0 without one, and the rest."""
    numbered = _NUMBERED.match(path)
    return (int(numbered[1]), numbered[2] or "/") if numbered else (0, path)


def is_project_of(settings: ServerSettings, project: str) -> bool:
    """Whether a project belongs to this process."""
    return process_of(project, settings.processes) == settings.process


def own_base(settings: ServerSettings) -> str:
    """Return the base path of the pages of this process."""
    return f"{settings.base}/n{settings.process}" if settings.processes > 1 else settings.base
