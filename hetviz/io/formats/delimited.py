"""Text tables: bytes to cells of text, with detected settings.

Cells are not interpreted, so ids stay as written: ``007``, ``NA``, ``1e5``.
"""

from __future__ import annotations

from hetviz._text import count
from hetviz.errors import Problem
from hetviz.io import gate
from hetviz.io.formats.base import FileFormat
from hetviz.io.infer import dialect, encodings, text_tables
from hetviz.io.infer.column_rows import column_rows
from hetviz.io.infer.parsed import DECIMALS, Cells, Choices, Table, stem


def read_text(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read the cells of a table of text."""
    if choices.separator is not None and choices.separator not in dialect.SEPARATORS:
        raise gate.refusal(
            "bad-choice",
            name,
            "this separator is not supported",
            choices.separator,
            "Use a comma, semicolon, tab, | or space.",
        )
    if choices.decimal not in (None, ".", ","):
        raise gate.refusal("bad-choice", name, "the decimal sign must be . or ,", choices.decimal)
    notes: list[Problem] = []
    text, encoding = encodings.decode(name, content, choices.encoding, notes)
    if not text or text.isspace():
        # Before anything looks at millions of empty lines.
        raise gate.refusal("empty-file", name, "the file has no rows")
    dialect.check_line_count(name, text)
    text, separator = text_tables.to_delimited(name, text, choices.separator)
    text, n_comments = text_tables.without_comments(text, separator)
    if n_comments:
        message = f"{count(n_comments, 'line')} beginning with # skipped"
        notes.append(Problem("comments", name, message, severity="note"))
    sign = "\t" if separator == dialect.SPACES else separator
    columns = column_rows(name, text, sign)
    # A sample of rows is enough for detection.
    sample = dialect.rows_of(name, text, sign) if columns is None else columns.sample()
    if not sample:
        raise gate.refusal("empty-file", name, "the file has no rows")
    decimal = choices.decimal or dialect.decimal_of(sample, separator)
    facts = {
        "text": encoding,
        "between columns": dialect.SEPARATORS[separator],
        "decimal sign": DECIMALS[decimal],
    }
    table = Table(
        stem(name),
        name,
        decimal=decimal,
        encoding=encoding,
        separator=separator,
        facts=facts,
        problems=tuple(notes),
        cells=Cells(sample if columns is None else columns),
    )
    return [table]


TEXT_FORMAT = FileFormat(
    "text", "a text table", "table", (".csv", ".tsv", ".tab", ".arff"), read_text,
    is_plain_text=True, is_typed=False,
)  # fmt: skip
FORMATS = (TEXT_FORMAT,)
