"""Large tables in Parquet and Arrow files, read in ranges of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hetviz.io import gate, limits

if TYPE_CHECKING:
    import pyarrow as pa

MAX_FILES = 20_000
_BATCH_ROWS = 65_536
_PARQUET, _ARROW = b"PAR1", b"ARROW1"


@dataclass(frozen=True)
class RowFile:
    """One file of a table."""

    path: str
    n_rows: int


@dataclass(frozen=True)
class RowFiles:
    """A table in one or more files with the same columns."""

    files: tuple[RowFile, ...]
    columns: tuple[tuple[str, str], ...]

    @property
    def n_rows(self) -> int:
        return sum(file.n_rows for file in self.files)

    @classmethod
    def find_files(cls, pattern: str, folder: Path) -> RowFiles:
        if "://" in pattern:
            raise gate.refusal(
                "web-address",
                pattern,
                "this is a web address, but hetviz only reads local files",
                remedy="Give a path that this machine and every worker can read.",
            )
        whole = Path(pattern) if Path(pattern).is_absolute() else folder / pattern
        try:
            paths = sorted(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))
        except (OSError, ValueError, NotImplementedError):
            paths = []
        paths = [path for path in paths if path.is_file()]
        if not paths:
            raise gate.refusal(
                "no-file", pattern, "the file does not exist", str(whole), "Check the path."
            )
        if len(paths) > MAX_FILES:
            message = f"more than {MAX_FILES:,} files"
            raise gate.refusal(
                "too-many", pattern, message, f"{len(paths):,}", "Combine some of them."
            )
        files: list[RowFile] = []
        columns: tuple[tuple[str, str], ...] = ()
        for path in paths:
            n_rows, schema = _file_info(path)
            these = tuple((field.name, str(field.type)) for field in schema)
            if not files:
                columns = these
            elif these != columns:
                other = next((a for a, b in zip(these, columns, strict=False) if a != b), "")
                message = f"its columns differ from those of {paths[0].name}"
                raise gate.refusal(
                    "other-columns",
                    path.name,
                    message,
                    str(other),
                    "Save all files with the same columns.",
                )
            files.append(RowFile(str(path.resolve()), n_rows))
        if len(columns) > limits.MAX_COLUMNS:
            message = f"more than {limits.MAX_COLUMNS:,} columns"
            raise gate.refusal("too-many", pattern, message, f"{len(columns):,}")
        return cls(tuple(files), columns)

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pa.Table:
        import pyarrow as pa

        first, batches = 0, []
        for file in self.files:
            low, high = max(start - first, 0), min(stop - first, file.n_rows)
            first += file.n_rows
            if low < high:
                try:
                    batches += list(_batches(file, low, high, list(columns)))
                except (pa.ArrowException, OSError, ValueError, KeyError) as error:
                    raise _damaged(Path(file.path).name) from error
        table = pa.Table.from_batches(batches) if batches else None
        if table is None or table.num_rows != stop - start:
            n_rows = 0 if table is None else table.num_rows
            raise gate.refusal(
                "changed",
                Path(self.files[0].path).name,
                f"{stop - start:,} rows were expected here",
                f"{n_rows:,}",
                "Do not change the files while they are read.",
            )
        return table


def _damaged(name: str) -> Exception:
    return gate.refusal(
        "bad-rows",
        name,
        "the file is damaged, encrypted, or neither Parquet nor Arrow",
        remedy="Save it again as Parquet.",
    )


def _file_info(path: Path) -> tuple[int, pa.Schema]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as opened:
            start = opened.read(8)
        if start.startswith(_PARQUET):
            about = pq.ParquetFile(path)
            return about.metadata.num_rows, about.schema_arrow
        if start.startswith(_ARROW):
            with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
                counts = (file.get_batch(k).num_rows for k in range(file.num_record_batches))
                return sum(counts), file.schema
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(path.name) from error
    raise _damaged(path.name)


def _batches(file: RowFile, low: int, high: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if file.path.endswith((".arrow", ".feather")) or not _is_parquet(file.path):
        with pa.memory_map(file.path) as source, pa.ipc.open_file(source) as opened:
            first = 0
            for k in range(opened.num_record_batches):
                batch = opened.get_batch(k)
                if first + batch.num_rows > low and first < high:
                    batch = batch.select(columns)
                    batch.validate(full=True)
                    yield _cut(batch, first, low, high)
                first += batch.num_rows
        return
    with pq.ParquetFile(file.path) as opened:
        about, first, groups, skipped = opened.metadata, 0, [], 0
        for k in range(about.num_row_groups):
            rows = about.row_group(k).num_rows
            if first + rows <= low:
                skipped += rows
            elif first < high:
                groups.append(k)
            first += rows
        first = skipped
        for batch in opened.iter_batches(
            _BATCH_ROWS, row_groups=groups, columns=columns, use_threads=False
        ):
            if first >= high:
                break
            if first + batch.num_rows > low:
                yield _cut(batch, first, low, high)
            first += batch.num_rows


def _is_parquet(path: str) -> bool:
    with Path(path).open("rb") as opened:
        return opened.read(4) == _PARQUET


def _cut(batch: pa.RecordBatch, first: int, low: int, high: int) -> pa.RecordBatch:
    start = max(low - first, 0)
    return batch.slice(start, min(high - first, batch.num_rows) - start)
