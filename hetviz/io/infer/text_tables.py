"""Conversion of ARFF, Markdown-like and space-separated tables to delimited text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from hetviz.io import gate
from hetviz.io.infer import dialect

_SAMPLE_LINES = 200
_LINE_END = re.compile(r"\r\n?|\n")
_ATTRIBUTE = re.compile(
    r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"]\S*)\s", re.I
)
# A cell in either quotes may contain commas.
_ARFF_CELL = re.compile(
    r"(?:^|(?<=,))((?:\s*(?:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")\s*(?=,|$))|[^,]*+)(?:,|$)"
)
_EDGE = re.compile(r"(\S+)\s+(\S+)\s+(\{.*\})")
_EDGE_VALUE = re.compile(r"'(\w+)': ('[^']*'|\"[^\"]*\"|[^,{}\[\]]+)(?=[,}])")
_RULE_SIGNS = frozenset("-:=+| \t")
_ROW_COUNT = re.compile(r"\(\d+ rows?\)")
_BAR = re.compile(r"(?<!\\)\|")
_INDEX_VALUE_PAIRS = re.compile(
    r"(?:[-+]?\d[\d.,eE+-]*(?=\s|$))?(?:\s*(?:qid|\d+):[-+\d.eE]+)*\s*(?:#.*)?"
)


def to_delimited(name: str, text: str, separator: str | None) -> tuple[str, str]:
    """Return a text as a delimited table, and its original separator."""
    if separator is None and _is_arff(text):
        return _arff_to_delimited(name, text), ","
    if separator in (None, "|") and is_drawn(text):
        return _drawn_to_delimited(text), "|"
    if separator is None and is_pairs(text):
        raise gate.refusal(
            "unknown-format",
            name,
            "the svmlight and LIBSVM format is not supported",
            remedy="Save it as CSV, or the matrix with scipy.sparse.save_npz.",
        )
    if separator is None and (edges := _edges_to_delimited(text)) is not None:
        return edges, "\t"
    used_separator = separator or dialect.separator_of(text, name)
    return (
        dialect.tabs_for_spaces(text) if used_separator == dialect.SPACES else text
    ), used_separator


def without_comments(text: str, separator: str) -> tuple[str, int]:
    """Return a text without lines that begin with #, and their number.

    Unchanged unless such lines stand among the rows, or hold the names of the columns in another
    form than the rows. The names then become the first row.
    """
    if not text.startswith("#") and "\n#" not in text:
        return text, 0
    sign = "\t" if separator == dialect.SPACES else separator
    lines = _LINE_END.split(text)
    is_quoted = _begin_quoted(lines)
    is_comment = [
        line.startswith("#") and not quoted for line, quoted in zip(lines, is_quoted, strict=True)
    ]
    kinds = list(zip(lines, is_comment, is_quoted, strict=True))
    data = [line for line, skip, quoted in kinds if quoted or (not skip and line.strip())]
    begun = [line for line, skip, quoted in kinds if not (quoted or skip) and line.strip()]
    widths = [line.count(sign) + 1 for line in begun[:_SAMPLE_LINES]]
    if not widths or max(widths) < 2:
        return text, 0
    first = next(at for at, line in enumerate(lines) if line.strip() and not is_comment[at])
    usual = {max(set(widths), key=widths.count), max(widths)}
    if any(line.count(sign) + 1 in usual for line in lines[:first]):
        # The last comment is the row of names.
        names = None
    else:
        names = next(
            filter(None, (_names_in(line, sign, usual) for line in lines[:first][::-1])), None
        )
    among = [line for line, skip in zip(lines[first:], is_comment[first:], strict=True) if skip]
    if any(line.count(sign) + 1 in usual for line in among) or (names is None and not among):
        return text, 0
    kept = lines[:first] if names is None else [sign.join(names)]
    return "\n".join([*kept, *data]), sum(is_comment) if names else len(among)


def _begin_quoted(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it begins within quotation marks; none if one stays open."""
    is_open, result = False, []
    for line in lines:
        result.append(is_open)
        if is_open or not line.startswith("#"):
            is_open ^= line.count('"') % 2 == 1
    return [False] * len(lines) if is_open else result


def _names_in(line: str, sign: str, widths: set[int]) -> list[str] | None:
    """Return the column names in a comment, if there are as many as cells in a row."""
    text = line.lstrip("# ")
    fields = re.fullmatch(r"(?:fields|columns|header)\s*:\s*(.+)", text, re.I)
    candidates = [text.split(sign)] if fields is None else [re.split(r"\s*[,;\t]\s*", fields[1])]
    for cells in candidates:
        names = [cell.strip() for cell in cells if cell.strip()]
        if len(names) in widths and len(names) > 1:
            return names
    return None


def is_drawn(text: str) -> bool:
    """Whether a text is a table drawn with bars and a rule below the names."""
    lines = list(islice(_filled_lines(text, dialect.MAX_CELL), _SAMPLE_LINES))
    if not any(map(_is_rule, lines[:3])) or len(lines) < 3:
        return False
    cells = [line for line in lines if not _is_rule(line) and not _ROW_COUNT.fullmatch(line)]
    return bool(cells) and all("|" in line for line in cells)


def _is_rule(line: str) -> bool:
    return _RULE_SIGNS.issuperset(line) and ("--" in line or "==" in line)


def _is_arff(text: str) -> bool:
    lines = (line for line in _filled_lines(text, dialect.MAX_CELL) if not line.startswith("%"))
    return next(lines, "").lower().startswith("@relation")


def _filled_lines(text: str, max_chars: int) -> Iterator[str]:
    return (line for raw_line in dialect.lines_of(text, max_chars) if (line := raw_line.strip()))


def _drawn_to_delimited(text: str) -> str:
    out = io.StringIO()
    write = csv.writer(out, delimiter="|", lineterminator="\n").writerow
    for line in _filled_lines(text, len(text)):
        if not _is_rule(line) and not _ROW_COUNT.fullmatch(line):
            inside = line.removeprefix("|").removesuffix("|")
            write([cell.strip().replace("\\|", "|") for cell in _BAR.split(inside)])
    return out.getvalue()


def _arff_to_delimited(name: str, text: str) -> str:
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    names: list[str] = []
    lines = (line for line in _filled_lines(text, len(text)) if not line.startswith("%"))
    for line in lines:
        if (attribute := _ATTRIBUTE.match(line)) is not None:
            if line[attribute.end() :].strip().lower() == "relational":
                raise gate.refusal(
                    "unknown-format",
                    name,
                    "this is an ARFF with tables inside tables",
                    attribute[1][:60],
                    "Save each table as CSV.",
                )
            names.append(re.sub(r"\\(.)", r"\1", attribute[1].strip("'\"")))
        elif line.lower().startswith("@data"):
            break
    write(names)
    rows = list(lines)
    if any(row.startswith("{") for row in rows[:_SAMPLE_LINES]):
        raise gate.refusal(
            "unknown-format", name, "this is a sparse ARFF", remedy="Save it as CSV from Weka."
        )
    for row in rows:
        cells = _ARFF_CELL.findall(row)
        write([_arff_cell(cell) for cell in cells])
    return out.getvalue()


def _arff_cell(cell: str) -> str:
    text = cell.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return "" if text == "?" else text


def _edges_to_delimited(text: str) -> str | None:
    """Return edges with values in braces, as networkx writes them, as a delimited table."""
    first = next(_filled_lines(text, dialect.MAX_CELL), "")
    if _EDGE.fullmatch(first) is None:
        return None
    edges = [_EDGE.fullmatch(line) for line in _filled_lines(text, len(text)) if line[0] != "#"]
    matches = [edge for edge in edges if edge is not None]
    if len(matches) < len(edges):
        return None
    values = [dict(_EDGE_VALUE.findall(edge[3])) for edge in matches]
    names = list(dict.fromkeys(name for row in values for name in row))
    out = io.StringIO()
    write = csv.writer(out, delimiter="\t", lineterminator="\n").writerow
    write(["source", "target", *names])
    for edge, row in zip(matches, values, strict=True):
        write([edge[1], edge[2], *(row.get(name, "").strip("'\"") for name in names)])
    return out.getvalue()


def is_pairs(text: str) -> bool:
    """Whether each line is a number followed by index:value pairs."""
    sample = islice(_filled_lines(text, dialect.MAX_CELL), _SAMPLE_LINES)
    lines = [line for line in sample if not line.startswith("#")]
    n_pairs = sum(":" in line.partition("#")[0] for line in lines)
    return 2 * n_pairs > max(len(lines), 1) and all(map(_INDEX_VALUE_PAIRS.fullmatch, lines[:-1]))
