"""Parquet, Arrow and Feather tables, with limits checked before unpacking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetviz.io import gate, limits
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.typed_values import check_cells, table_of_arrow, text_bytes
from hetviz.io.infer.parsed import Choices, Table, stem

if TYPE_CHECKING:
    import pyarrow as pa

_AGAIN = "Save it again, or save the table as CSV."
_INDEX = "__index_level_"


def read_parquet(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read a Parquet table; a column of records becomes one column per field."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False)
    about = file.metadata
    # Read texts as dictionaries, which give their total length
    # before they are expanded.
    texts = [leaf.path for leaf in map(about.schema.column, range(about.num_columns))
             if leaf.physical_type == "BYTE_ARRAY"]  # fmt: skip
    file = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False, read_dictionary=texts)
    groups = [about.row_group(k) for k in range(about.num_row_groups)]
    unpacked = sum(max(group.total_byte_size, 0) for group in groups)
    check_cells(name, about.num_rows, about.num_columns)
    gate.check_size(name, unpacked, limits.MAX_UNPACKED_BYTES)
    return [arrow_table(name, file.read(use_threads=False), choices)]


def read_arrow(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read an Arrow file or stream or a Feather file, as `read_parquet` does."""
    import pyarrow as pa
    from pyarrow import feather

    source = pa.BufferReader(content)
    if content.startswith(b"FEA1"):
        return [arrow_table(name, feather.read_table(source, use_threads=False), choices)]
    is_file = content.startswith(b"ARROW1")
    opened = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
    batches = (opened.get_batch(k) for k in range(opened.num_record_batches)) if is_file else opened
    batches_read, n_rows, n_bytes = [], 0, 0
    for batch in batches:
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        check_cells(name, n_rows, batch.num_columns)
        gate.check_size(name, n_bytes, limits.MAX_UNPACKED_BYTES)
        batches_read.append(batch)
    table = pa.Table.from_batches(batches_read, schema=opened.schema)
    # Offsets in batches are unchecked until validated.
    table.validate(full=True)
    return [arrow_table(name, table, choices)]


def arrow_table(
    name: str, table: pa.Table, choices: Choices, where: str = "", dataset_name: str = ""
) -> Table:
    """Return an Arrow table as text; a column of records becomes one column per field."""
    where = where or name
    table = table.flatten()
    check_cells(where, table.num_rows, table.num_columns)
    gate.check_size(where, sum(map(text_bytes, table.columns)), limits.MAX_TEXT_BYTES)
    if not table.num_columns or not table.num_rows:
        raise gate.refusal("empty-file", where, "the table has no rows")
    # The index of pandas has no name.
    names = table.column_names
    for at, column in enumerate(names):
        if column.startswith(_INDEX):
            names[at] = "index" if "index" not in names else column.strip("_")
    table = table.rename_columns(names)
    return table_of_arrow(dataset_name or stem(name), where, table, choices)


FORMATS = (
    FileFormat(
        "parquet", "a Parquet file", "table", (".parquet",), read_parquet,
        magic=(b"PAR1",), may_be_text=True,
        damage=(
            "bad-parquet",
            "the Parquet file is damaged, encrypted or of an unsupported kind",
            _AGAIN
        )
    ),
    FileFormat(
        "arrow", "an Arrow or Feather file", "table", (".arrow", ".feather", ".ipc"), read_arrow,
        magic=(b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"), may_be_text=True,
        damage=("bad-arrow", "the Arrow file is damaged or of an unsupported kind", _AGAIN)
    ),
)  # fmt: skip
