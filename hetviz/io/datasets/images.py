"""Pictures as thumbnails: rows of a dataset, or attached to the table that names them."""

from __future__ import annotations

import io
import struct
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
import pandas as pd
from PIL import Image, ImageOps

from hetviz._pandas import TEXT
from hetviz._types import Ints
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.io import gate, limits
from hetviz.io.files import Files
from hetviz.io.formats.registry import format_of, kind_of, open_archive
from hetviz.io.formats.texts import FILE, FOLDER, ids_of_files
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.parsed import Table

THUMBNAIL_PIXELS = 96
_MIN_NAMED_SHARE = 0.5
_MAX_NAMES_SHOWN = 5
_DAMAGE_ERRORS = (OSError, ValueError, SyntaxError, EOFError, TypeError, KeyError, IndexError,
           ZeroDivisionError, OverflowError, MemoryError, RuntimeError, struct.error,
           Image.DecompressionBombError)  # fmt: skip


def read_thumbnails(
    files: Files,
    media: str | None,
    names: pd.Series | None,
    table: Table,
    rows: Ints,
    problems: list[Problem],
) -> tuple[bytes | None, ...]:
    """Return the picture of each row, None if missing or invalid."""
    read_one, names_present = _pictures(files, media)
    if names is not None:
        picture_names = [None if pd.isna(name) else str(name) for name in names]
    else:
        numbered = {name.rsplit(".", 1)[0]: name for name in names_present}
        picture_names = [numbered.get(str(row)) for row in rows]
    pictures: list[bytes | None] = []
    for row, name in zip(rows.tolist(), picture_names, strict=True):
        try:
            pictures.append(None if not name else checked_picture(name, read_one(name)))
        except DataError as error:
            place = table.place(row, "" if names is None else str(names.name))
            message, remedy = error.problems[0].what, "The row has no picture."
            problems.append(Problem("bad-picture", place, message, name or "", remedy))
            pictures.append(None)
    return tuple(pictures)


def _pictures(files: Files, media: str | None) -> tuple[Callable[[str], bytes], list[str]]:
    names = files.names()
    if media is None:
        return files.read, names
    if media in names:
        archive = open_archive(media, files.read(media))
        return archive.read, archive.names()
    prefix = media.rstrip("/") + "/"
    inside = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
    return (lambda name: files.read(prefix + name)), inside


def checked_picture(name: str, content: bytes) -> bytes:
    """Return the bytes of a PNG, JPEG or WEBP picture after checking its size."""
    picture_format = format_of(name, content)
    if picture_format.kind != "picture":
        raise gate.refusal(
            "not-a-picture", name, "this is not a PNG, JPEG or WEBP picture", remedy="Convert it."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=[picture_format.key.upper()]) as opened:
                width, height = opened.size
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, EOFError) as error:
        raise gate.refusal("bad-picture", name, "the picture is damaged") from error
    if width * height > limits.MAX_PICTURE_PIXELS:
        raise gate.refusal(
            "too-large",
            name,
            f"{width} x {height} pixels, at most {limits.MAX_PICTURE_PIXELS:,} pixels are "
            "allowed in all",
            remedy="Make it smaller.",
        )
    return content


def thumbnail(where: str, content: bytes) -> bytes:
    """Return an upright WEBP thumbnail of at most 96 pixels, without metadata."""
    content = checked_picture(where, content)
    kind = kind_of(where, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=[kind.upper()]) as opened:
                # A JPEG of a phone may contain a depth picture, which is no animation.
                if kind != "jpeg" and (frames := getattr(opened, "n_frames", 1)) > 1:
                    raise gate.refusal(
                        "animated",
                        where,
                        f"the picture is animated: it has {frames} frames",
                        remedy="Save one frame as PNG.",
                    )
                opened.draft("RGB", (2 * THUMBNAIL_PIXELS, 2 * THUMBNAIL_PIXELS))
                upright = _to_rgb(ImageOps.exif_transpose(opened))
            upright.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS), Image.Resampling.LANCZOS)
            # Copy only the pixels: no location, camera, comment or colour profile.
            out = Image.new(upright.mode, upright.size)
            out.paste(upright)
            buffer = io.BytesIO()
            out.save(buffer, "WEBP", quality=85, method=4)
    except DataError:
        raise
    except _DAMAGE_ERRORS:
        raise gate.refusal(
            "bad-picture", where, "the picture is damaged", remedy="Save it again."
        ) from None
    return buffer.getvalue()


def _to_rgb(picture: Image.Image) -> Image.Image:
    """Return a picture as RGB, or RGBA if it has transparency."""
    if picture.mode in ("I", "F") or picture.mode.startswith("I;"):
        values = np.asarray(picture, dtype=np.float64)
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        grey = np.nan_to_num((values - low) / ((high - low) or 1.0) * 255)
        return Image.fromarray(grey.astype(np.uint8)).convert("RGB")
    return picture.convert("RGBA" if picture.has_transparency_data else "RGB")


def picture_rows(called: str, where: str, pictures: Sequence[tuple[str, bytes]]) -> Table:
    """Return a dataset with one row per picture."""
    names = [name for name, _ in pictures]
    frame = pd.DataFrame({"id": ids_of_files(names), FILE: names}, dtype=TEXT)
    folders = [PurePosixPath(name).parent.as_posix() for name in names]
    if len(set(folders)) > 1:
        frame[FOLDER] = ["" if folder == "." else folder for folder in folders]
    return Table(
        called,
        where,
        "dataset",
        frame,
        tuple(range(len(names))),
        media=tuple(content for _, content in pictures),
        id_column="id",
        media_column=FILE,
        facts={"pictures": f"{len(names):,}, one row each"},
    )


@dataclass(frozen=True)
class PictureNames:
    """A column that names pictures, with the index of each row's picture (-1 for none)."""

    column: str
    picture: tuple[int, ...]

    @property
    def n_pictures(self) -> int:
        return len(set(self.picture) - {-1})


def find_naming(table: Table, names: Sequence[str]) -> PictureNames | None:
    """Return the column of a table that names most of the files, if it names enough of them."""
    frame = table.frame
    if not len(frame) or table.role not in (None, "dataset"):
        return None
    at = _by_name(names)
    best: PictureNames | None = None
    for column in frame.columns:
        cells = frame[column].tolist()
        option = PictureNames(str(column), tuple(_find(at, cell) for cell in cells))
        rows = sum(row >= 0 for row in option.picture)
        # Ages and counts match the same few files repeatedly.
        if not rows or option.n_pictures < 0.5 * rows:
            continue
        if best is None or option.n_pictures > best.n_pictures:
            best = option
    if best is None or best.n_pictures < _MIN_NAMED_SHARE * min(len(names), len(frame)):
        return None
    return best


def _by_name(names: Sequence[str]) -> dict[str, int]:
    """Return the file of each unambiguous name."""
    keys: list[tuple[str, int]] = []
    for at, name in enumerate(names):
        path = PurePosixPath(name.casefold())
        ways = {path.as_posix(), path.with_suffix("").as_posix(), path.name, path.stem}
        keys += [(way, at) for way in ways]
    uses = Counter(key for key, _ in keys)
    whole = {name.casefold(): at for at, name in enumerate(names)}
    return {key: at for key, at in keys if uses[key] == 1} | whole


def _find(at: Mapping[str, int], cell: str) -> int:
    text = cell.strip().replace("\\", "/").removeprefix("./").casefold()
    if not text:
        return -1
    return at.get(text, at.get(text.rpartition("/")[2], -1))


def join_pictures(tables: Sequence[Table], pictures: Table) -> list[Table]:
    """Attach pictures to the table that names their files, else add them as a dataset."""
    assert pictures.media is not None  # noqa: S101
    names = pictures.frame[FILE].tolist()
    options = [
        (option, place) for place, t in enumerate(tables) if (option := find_naming(t, names))
    ]
    if not options:
        return [*tables, pictures]
    option, place = max(options, key=lambda pair: pair[0].n_pictures)
    table = tables[place]
    media = tuple(None if row < 0 else pictures.media[row] for row in option.picture)
    n = option.n_pictures
    with_media = replace(
        table,
        role="dataset",
        media=media,
        media_column=None if option.column == _id_column(table) else option.column,
        facts={**table.facts, "pictures": f"{n:,}, named in column {option.column}"},
        problems=(*table.problems, *pictures.problems, *_unmatched(table, option, names)),
    )
    return [*tables[:place], with_media, *tables[place + 1 :]]


def _id_column(table: Table) -> str | None:
    return table.id_column or guess_id_column(table.frame)


def _unmatched(table: Table, option: PictureNames, names: Sequence[str]) -> list[Problem]:
    cells = table.frame[option.column].tolist()
    lacking = [row for row, picture in enumerate(option.picture) if picture < 0]
    problems = [
        Problem(
            "no-picture",
            f"{table.where}, row {table.row[row] + 1}, column {option.column}",
            "no picture has this name, so the row has no picture",
            cells[row][:80],
            severity="note",
            row=table.row[row],
        )
        for row in lacking
    ]
    used = set(option.picture)
    spare = [name for at, name in enumerate(names) if at not in used]
    if spare:
        names_shown = ", ".join(spare[:_MAX_NAMES_SHOWN]) + (
            " ..." if len(spare) > _MAX_NAMES_SHOWN else ""
        )
        subject = "1 picture is" if len(spare) == 1 else f"{len(spare):,} pictures are"
        message = f"{subject} not named in any row and not used"
        spare_note = Problem("spare-pictures", table.where, message, names_shown, severity="note")
        return [*limit_problems(problems), spare_note]
    return list(limit_problems(problems))
