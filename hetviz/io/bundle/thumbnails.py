"""Thumbnails of the rows of a table: named in a column, or by row number, each one checked."""

from __future__ import annotations

import io
from collections.abc import Callable

import pandas as pd

from hetviz._types import Ints
from hetviz.errors import DataError, Problem
from hetviz.io import gate, limits
from hetviz.io.files import Archive, Files
from hetviz.io.formats.delimited import TableRead


def read_thumbnails(
    files: Files,
    media: str | None,
    names: pd.Series | None,
    read: TableRead,
    rows: Ints,
    problems: list[Problem],
) -> tuple[bytes | None, ...]:
    """Return the picture of each row, None where it has none or a bad one.

    Parameters
    ----------
    files : Files
    media : str, optional
        The folder or zip that holds them; when absent they are files of the bundle.
    names : Series of n file names, optional
        When absent, pictures are named by the number of the row, from 0, in the table.
    read : TableRead
    rows : array of int, shape (n,)
        Rows of the table.
    problems : list of Problem
        Is added to.
    """
    read_one, there = _pictures(files, media)
    if names is not None:
        wanted = [None if pd.isna(name) else str(name) for name in names]
    else:
        numbered = {name.rsplit(".", 1)[0]: name for name in there}
        wanted = [numbered.get(str(row)) for row in rows]
    found: list[bytes | None] = []
    for row, name in zip(rows.tolist(), wanted, strict=True):
        try:
            found.append(None if not name else checked_picture(name, read_one(name)))
        except DataError as error:
            place = read.place(row, "" if names is None else str(names.name))
            what, remedy = error.problems[0].what, "The row has no picture."
            problems.append(Problem("bad-picture", place, what, name or "", remedy))
            found.append(None)
    return tuple(found)


def _pictures(files: Files, media: str | None) -> tuple[Callable[[str], bytes], list[str]]:
    there = files.names()
    if media is None:
        return files.read, there
    if media in there:
        archive = Archive(media, files.read(media))
        return archive.read, archive.names()
    prefix = media.rstrip("/") + "/"
    inside = [name.removeprefix(prefix) for name in there if name.startswith(prefix)]
    return (lambda name: files.read(prefix + name)), inside


def checked_picture(name: str, content: bytes) -> bytes:
    """Return the bytes of a PNG, JPEG or WEBP picture whose header gives a sane size.

    Raises
    ------
    hetviz.errors.DataError
        If they are no picture, or one of too many pixels.
    """
    kind = gate.kind_of(name, content)
    if kind not in gate.PICTURES:
        raise gate.refusal(
            "not-a-picture", name, "this is not a PNG, JPEG or WEBP picture", remedy="Convert it."
        )
    import warnings

    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=[kind.upper()]) as opened:
                width, height = opened.size
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, EOFError) as error:
        raise gate.refusal("bad-picture", name, "the picture is damaged") from error
    if width * height > limits.MAX_PICTURE_PIXELS:
        raise gate.refusal(
            "too-large",
            name,
            f"{width} x {height} pixels; {limits.MAX_PICTURE_PIXELS:,} are allowed in all",
            remedy="Make it smaller.",
        )
    return content
