"""Zips of files, opened by `hetviz.io.intake.parse` and `hetviz.io.intake.reading`."""

from __future__ import annotations

from hetviz.io.formats.base import FileFormat

ZIP = FileFormat("zip", "a zip archive", "archive", (".zip", ".hetviz"))
FORMATS = (ZIP,)
