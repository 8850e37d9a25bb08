"""Guidance as a CSV file that people can read and edit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from hetviz._types import Bools
from hetviz.data import Comparisons, HeteroData, Links
from hetviz.data.edits.by_id import pairs_by_id
from hetviz.data.edits.labelling import LabelValue, with_annotations
from hetviz.data.model.meta import META_COLUMNS, make_meta, meta_text
from hetviz.data.model.statements import COLUMNS, COMPARISON_SET, ENDS, ITEMS, statements
from hetviz.data.queries.groups import named_groups
from hetviz.errors import DataError, ParameterError, Problem, ProblemReport
from hetviz.io import gate
from hetviz.io.bundle.coordinates import escape_formula
from hetviz.io.bundle.lookup import find_rows
from hetviz.io.bundle.manifest import LinksEntry
from hetviz.io.bundle.statements import comparison_form, is_links, read_comparisons, read_links
from hetviz.io.infer import cells
from hetviz.io.infer.parsed import Choices, FileParser, Table
from hetviz.io.intake.make_data import is_reference_column
from hetviz.io.intake.parse import parse_files, read_one_table

FORMS = ("links", "comparisons")
_NUMBERS = ("weight", "score")
_GUIDANCE_COLUMNS = (*_NUMBERS, "kind", "role", *META_COLUMNS)
_MAX_CELLS_CHECKED = 2_000
_MIN_MATCHING_SHARE = 0.5
_HEADER = tuple(column for column in COLUMNS if column != "key")
_TEXT_MARK = "'"
_LINK_COLUMNS = (*ENDS, "weight", "score", "kind", "role", *META_COLUMNS)
_LABEL, _VALUE, _GROUP = "label", "value", "group"
_AUTHOR = "author"
"""Heading of the column of authors in a file, which is `who` in `hetviz.statements`."""
_EXAMPLE = "an example: replace or remove this row"


@dataclass(frozen=True, eq=False)
class GuidanceRead(ProblemReport):
    """Links, comparisons and labels read from a guidance file."""

    parts: tuple[Links | Comparisons, ...]  # From the valid rows.
    # `n_rows`, `n_good`: numbers of rows and of valid rows.
    n_rows: int
    n_good: int
    problems: tuple[Problem, ...]  # Every row that is left out, and notes.
    has_sets: bool  # Whether the file has a column of sets.
    has_authors: bool = False  # Whether the file has a column of authors.
    # Value and time by id and author, by dataset and label column.
    labels: Mapping[tuple[str, str], Mapping[tuple[str, str], tuple[LabelValue, str]]] = field(
        default_factory=dict
    )

    def noted(self, *, who: str, **texts: str) -> list[Links | Comparisons]:
        """Return the parts with these texts, such as time and set, where they have none."""
        texts["who"] = "" if self.has_authors else who
        parts = []
        for part in self.parts:
            meta = part.meta if part.meta is not None else pd.DataFrame(index=range(len(part)))
            for column, text in texts.items():
                if text:
                    cells_of = meta_text(meta, column, len(part))
                    meta = meta.assign(**{column: cells_of.where(cells_of != "", text)})
            parts.append(part.noting(meta if meta.shape[1] else None))
        return parts

    def labelled(self, data: HeteroData, who: str = "", when: str = "") -> HeteroData:
        """Return the data with these labels. Those without author and time are of `who`."""
        for (dataset, column), values in self.labels.items():
            entries = [
                (id_, value, author or ("" if self.has_authors else who), written or when)
                for (id_, author), (value, written) in values.items()
            ]
            data = with_annotations(data, dataset, column, entries)
        return data


def guidance_csv(
    data: HeteroData,
    keys: Collection[str] | None = None,
    *,
    labels: bool = True,
    author: str | None = None,
) -> str:
    """Return statements and labels as CSV for `read_guidance`, of all people or of one."""
    table = statements(data)
    if keys is not None:
        table = table[table["key"].isin(list(keys))]
    if author is not None:
        table = table[table["who"] == author]
    groups = _group_rows(data, table)
    in_groups = [key for _, members in groups for key in members]
    table = table[~table["key"].isin(in_groups)]
    columns = []
    for name in _HEADER:
        values = table[name].tolist()
        if name in _NUMBERS:
            columns.append(["" if np.isnan(value) else repr(float(value)) for value in values])
        else:
            columns.append([_escape(str(value)) for value in values])
    rows = list(zip(*columns, strict=True))
    rows += [row for members, _ in groups for row in members]
    label_rows = list(_label_rows(data, author)) if labels and keys is None else []
    header = tuple(_AUTHOR if name == "who" else name for name in _HEADER)
    if not label_rows:
        return cells.csv_text(header, rows)
    return cells.csv_text((*header, _VALUE), [*((*row, "") for row in rows), *label_rows])


def _group_rows(
    data: HeteroData, table: pd.DataFrame
) -> list[tuple[list[tuple[str, ...]], tuple[str, ...]]]:
    """Return the rows of each complete group in a table of statements, and its keys."""
    names = np.repeat(
        np.array([*data.datasets], dtype=object), [len(part) for part in data.datasets.values()]
    )
    ids = np.concatenate([part.ids for part in data.datasets.values()])
    keys = set(table["key"])
    groups = []
    for group in named_groups(data):
        if not group.whole or not keys.issuperset(group.keys):
            continue
        same = {
            "form": _GROUP,
            "weight": repr(group.weight),
            "kind": group.kind,
            "role": "guidance",
            "set": group.name,
            "note": group.note,
            "who": group.who,
            "when": group.when,
        }
        rows = []
        for row in group.rows.tolist():
            cell = same | {"source": str(names[row]), "source_id": str(ids[row])}
            rows.append(
                tuple(
                    cell.get(name, "") if name in _NUMBERS else _escape(cell.get(name, ""))
                    for name in _HEADER
                )
            )
        groups.append((rows, group.keys))
    return groups


def _label_rows(data: HeteroData, author: str | None) -> Iterator[tuple[str, ...]]:
    place = {name: at for at, name in enumerate(_HEADER)}
    for label in data.labels:
        ids = data[label.dataset].ids
        for row, value, who, when in label.entries():
            if author not in (None, who):
                continue
            cells_of = [""] * (len(_HEADER) + 1)
            cells_of[place["form"]] = _LABEL
            cells_of[place["source"]] = _escape(label.dataset)
            cells_of[place["source_id"]] = _escape(str(ids[row]))
            cells_of[place["kind"]] = _escape(label.name)
            cells_of[place["who"]], cells_of[place["when"]] = _escape(who), when
            cells_of[-1] = _escape(str(value))
            yield tuple(cells_of)


def guidance_template(data: HeteroData, form: str) -> str:
    """Write a CSV template: the columns, with example rows from these data."""
    if form not in FORMS:
        raise ParameterError(f"form = {form!r} must be one of {', '.join(map(repr, FORMS))}.")
    items = [(name, str(id)) for name, part in data.datasets.items() for id in part.ids[:3]]
    names = list(data.datasets)
    if (len(items) < 3 and form == "comparisons") or len(items) < 2:
        raise DataError.of(
            "too-few-items", "template", "an example needs at least 2 items, and 3 for comparisons"
        )
    if form == "links":
        first = items[0]
        second = next((item for item in items if item[0] == names[-1] and item != first), items[1])
        header = ["source_dataset", "source_id", "target_dataset", "target_id", "weight", "note"]
        rows = [[*first, *second, weight, _EXAMPLE] for weight in ("1", "-1")]
    else:
        header = [f"{item}_{part}" for item in "abc" for part in ("dataset", "id")]
        header += ["weight", "note"]
        rows = [[text for item in items[:3] for text in item] + ["1", _EXAMPLE]]
    at = header.index("weight")
    marked_rows = [[c if k == at else _escape(c) for k, c in enumerate(row)] for row in rows]
    return cells.csv_text(header, marked_rows)


def read_guidance(
    name: str, content: bytes, data: HeteroData, parse: FileParser = parse_files
) -> GuidanceRead:
    """Read links, comparisons and labels of the items of `data` from a table."""
    table = read_one_table(name, content, parse)
    table = _with_weight_words(table, partial(read_one_table, name, content, parse))
    problems: list[Problem] = list(table.problems)
    n_rows = len(table.frame) + len(table.errors)
    table, notes = _recognise_columns(replace(_unescape(table), problems=()), data)
    table = _with_author_column(table)
    problems += notes
    has_authors = "who" in table.frame.columns
    parts: list[Links | Comparisons] = []
    labels: dict[tuple[str, str], dict[tuple[str, str], tuple[LabelValue, str]]] = {}
    grouped: list[Links] = []
    n_members = 0
    if "form" in table.frame.columns and {"source_id", "a_id"} <= set(table.frame.columns):
        is_known = table.frame["form"].isin(("link", "comparison", _LABEL, _GROUP)).to_numpy()
        problems += [
            Problem(
                "bad-form",
                table.place(row, "form"),
                "this form is unknown",
                str(table.frame["form"].iloc[row]),
                "Write link, group, comparison or label.",
                row=table.row[row],
            )
            for row in np.flatnonzero(~is_known).tolist()
        ]
        is_link = (table.frame["form"] == "link").to_numpy()
        parts += _links(_rows(table, is_link, _LINK_COLUMNS), data, problems)
        is_label = (table.frame["form"] == _LABEL).to_numpy()
        labels = _labels(_rows(table, is_label), data, problems)
        is_group = (table.frame["form"] == _GROUP).to_numpy()
        grouped, n_members = _groups(_rows(table, is_group), data, problems)
        compared = _rows(
            table, is_known & ~is_link & ~is_label & ~is_group, (*ITEMS, "weight", *META_COLUMNS)
        )
        parts += _comparisons(compared, data, problems)
    elif is_links(table):
        parts += _links(table, data, problems)
    elif comparison_form(table) is not None:
        parts += _comparisons(table, data, problems)
    else:
        raise gate.refusal(
            "columns",
            name,
            "no column contains items of these data",
            ", ".join(table.frame.columns[:10]),
            "Write items by id or by name: two columns for links, "
            "three for comparisons, one next to a column of labels. Or download a template.",
        )
    order = sorted(dict.fromkeys(problems), key=lambda problem: problem.row or 0)
    has_sets = "set" in table.frame.columns
    n_good = sum(map(len, parts)) + n_members + sum(map(len, labels.values()))
    return GuidanceRead(
        (*parts, *grouped), n_rows, n_good, tuple(order), has_sets, has_authors, labels
    )


def _with_weight_words(table: Table, read_again: Callable[..., Table]) -> Table:
    """Return a table that keeps words in weight columns, so that their rows are rejected."""
    word_problems = [
        (problem, column)
        for problem in table.problems
        if problem.code == "words-for-missing"
        for column in table.frame.columns
        if column.strip().lower() in _NUMBERS and problem.where.endswith(f"column {column}")
    ]
    if not word_problems:
        return table
    exact_table = read_again(
        choices=Choices(exact=True, encoding=table.encoding, separator=table.separator)
    )
    place = {row: at for at, row in enumerate(exact_table.row)}
    frame = table.frame.copy()
    for _, column in word_problems:
        if column not in exact_table.frame.columns:
            return table
        cells_of = exact_table.frame[column].tolist()
        frame[column] = [
            cell or (cells_of[place[row]] if row in place else "")
            for cell, row in zip(frame[column], table.row, strict=True)
        ]
    problems = [
        problem
        for problem in table.problems
        if problem not in [word_problem for word_problem, _ in word_problems]
    ]
    return replace(table, frame=frame, problems=tuple(problems))


def _with_author_column(table: Table) -> Table:
    """Return a table of statements whose column of authors has its name in `statements`."""
    columns = table.frame.columns
    authors = [name for name in columns if str(name).strip().lower() == _AUTHOR]
    is_known = "form" in columns or is_links(table) or comparison_form(table) is not None
    if len(authors) != 1 or "who" in columns or not is_known:
        return table
    called = {**table.called, "who": authors[0]}
    return replace(table, frame=table.frame.rename(columns={authors[0]: "who"}), called=called)


def _recognise_columns(table: Table, data: HeteroData) -> tuple[Table, list[Problem]]:
    """Return a table with guidance headings, recognised by its cells if it has other headings."""
    frame = table.frame
    if "form" in frame.columns or is_links(table) or comparison_form(table) is not None:
        return table, []
    guidance_columns = {name: name.strip().lower() for name in frame.columns}
    guidance_columns = {
        name: folded for name, folded in guidance_columns.items() if folded in _GUIDANCE_COLUMNS
    }
    owner: dict[str, str] = {}
    for column in frame.columns:
        cells_of = np.array([cell for cell in dict.fromkeys(frame[column]) if cell], dtype=object)
        cells_of = cells_of[:_MAX_CELLS_CHECKED]
        if (
            column in guidance_columns
            or not len(cells_of)
            or not is_reference_column(frame[column], data.datasets)
        ):
            continue
        n_matching = {
            name: (int((find_rows(part, cells_of) >= 0).sum()), name == column)
            for name, part in data.datasets.items()
        }
        best = max(n_matching, key=lambda name: n_matching[name])
        if n_matching[best][0] >= _MIN_MATCHING_SHARE * len(cells_of):
            owner[column] = best
    others = [name for name in frame.columns if name not in owner and name not in guidance_columns]
    columns = list(owner)
    if len(owner) in (2, 3):
        ends = ("source", "target") if len(owner) == 2 else ("a", "b", "c")
        original_names = {f"{end}_id": column for end, column in zip(ends, columns, strict=True)}
        new_columns = {
            f"{end}_dataset": owner[column] for end, column in zip(ends, columns, strict=True)
        }
        renamed = frame.rename(
            columns=guidance_columns | {column: end for end, column in original_names.items()}
        )
        columns_left = [name for name in renamed.columns if name not in new_columns]
        renamed = renamed[columns_left].assign(**new_columns)
        template = (
            "is a link between {0} and {1}"
            if len(owner) == 2
            else "means: {0} is closer to {1} than to {2}"
        )
        message = "each row " + template.format(
            *(
                f"{column} (of {name})" if column != name else column
                for column, name in owner.items()
            )
        )
        guidance_table = replace(table, frame=renamed, called={**table.called, **original_names})
    elif len(owner) == 1 and others and not set(guidance_columns.values()) & set(_NUMBERS):
        (column,) = columns
        filled_cells = [
            (row, name) for name in others for row in np.flatnonzero(frame[name] != "").tolist()
        ]
        at = [row for row, _ in filled_cells]
        guidance_table = replace(
            table,
            frame=pd.DataFrame(
                {
                    "form": _LABEL,
                    "source": owner[column],
                    "source_id": frame[column].iloc[at].tolist(),
                    "a_id": "",
                    "kind": [name for _, name in filled_cells],
                    _VALUE: [frame[name].iloc[row] for row, name in filled_cells],
                }
            ),
            row=tuple(table.row[row] for row in at),
            called={**table.called, "source_id": column},
        )
        message = f"labels of {owner[column]} (column {column}): {', '.join(others)}"
    else:
        return table, []
    return guidance_table, [Problem("recognised", table.where, message, severity="note")]


def _labels(
    table: Table, data: HeteroData, problems: list[Problem]
) -> dict[tuple[str, str], dict[tuple[str, str], tuple[LabelValue, str]]]:
    """Return the labels of a table; a later row about an item by the same author counts."""
    labels: dict[tuple[str, str], dict[tuple[str, str], tuple[LabelValue, str]]] = {}
    columns = [
        table.frame[name].tolist() if name in table.frame.columns else [""] * len(table.frame)
        for name in ("source", "source_id", "kind", _VALUE, "who", "when")
    ]
    classes = {
        (label.dataset, label.name): {str(value): value for value in label.classes}
        for label in data.labels
    }
    for row, (dataset, id_, column, value, who, when) in enumerate(zip(*columns, strict=True)):
        wrong = None
        if dataset not in data.datasets:
            wrong = ("unknown-dataset", "source", "this dataset does not exist", dataset)
        elif (item := int(find_rows(data[dataset], [id_])[0])) < 0:
            wrong = ("unknown-id", "source_id", f"{dataset} has no item with this id", id_)
        elif not column:
            wrong = ("no-column", "kind", "the name of the label column is missing", "")
        elif not value:
            wrong = ("no-label", _VALUE, "the label is missing", "")
        if wrong is not None:
            problems.append(_row_problem(table, row, *wrong))
            continue
        # Numeric labels stay numeric.
        class_of = classes.get((dataset, column), {})
        item_id = str(data[dataset].ids[item])
        labels_of = labels.setdefault((dataset, column), {})
        labels_of.pop((item_id, who), None)
        labels_of[item_id, who] = class_of.get(value, value), when
    return labels


def _groups(table: Table, data: HeteroData, problems: list[Problem]) -> tuple[list[Links], int]:
    """Return all pairs of items of each group in a table, and the number of valid rows."""
    frame = table.frame
    at = {
        name: frame[name].tolist() if name in frame.columns else [""] * len(frame)
        for name in ("source", "source_id", "weight", "kind", *META_COLUMNS)
    }
    place_of = {name: place for place, name in enumerate(data.datasets)}
    members: dict[str, dict[tuple[int, int], int]] = {}
    weights: dict[str, tuple[str, float]] = {}
    for row, (dataset, id_, written, name) in enumerate(
        zip(at["source"], at["source_id"], at["weight"], at["set"], strict=True)
    ):
        weight = _weight(written)
        first = weights.get(name)
        wrong = None
        if not name:
            wrong = ("no-group", "set", "the name of the group is missing", "")
        elif dataset not in place_of:
            wrong = ("unknown-dataset", "source", "this dataset does not exist", dataset)
        elif (item := int(find_rows(data[dataset], [id_])[0])) < 0:
            wrong = ("unknown-id", "source_id", f"{dataset} has no item with this id", id_)
        elif np.isnan(weight):
            wrong = (
                "bad-weight",
                "weight",
                "the weight must be between -1 and 1, and not 0",
                written,
            )
        elif first is not None and weight != first[1]:
            message = f"an earlier row of group {name!r} has the weight {first[0]}"
            wrong = ("two-weights", "weight", message, written)
        if wrong is not None:
            problems.append(_row_problem(table, row, *wrong))
            continue
        weights[name] = (written, weight)
        members.setdefault(name, {})[place_of[dataset], item] = row
    out: list[Links] = []
    n_good = 0
    names = list(data.datasets)
    for name, items in members.items():
        ordered = [
            (names[place], str(data[names[place]].ids[item])) for place, item in sorted(items)
        ]
        row = next(iter(items.values()))
        if len(ordered) < 2:
            message, remedy = "a group needs two items or more", "Add its other items."
            problems.append(
                Problem(
                    "small-group",
                    table.place(row, "set"),
                    message,
                    name,
                    remedy,
                    row=table.row[row],
                )
            )
            continue
        pairs = list(combinations(ordered, 2))
        texts = {column: at[column][row] for column in META_COLUMNS}
        kind = at["kind"][row] or "said"
        meta = make_meta(len(pairs), **texts)
        out += pairs_by_id(data, pairs, weights[name][1], kind=kind, meta=meta)
        n_good += len(items)
    return out, n_good


def _row_problem(table: Table, row: int, code: str, cell: str, message: str, value: str) -> Problem:
    remedy = "Correct the row or remove it."
    return Problem(code, table.place(row, cell), message, value, remedy, row=table.row[row])


def _weight(written: str) -> float:
    """Return a weight: 1 if empty, NaN if invalid."""
    if not written.strip():
        return 1.0
    try:
        weight = float(written)
    except ValueError:
        return np.nan
    return weight if 0 < abs(weight) <= 1 else np.nan


def _links(table: Table, data: HeteroData, problems: list[Problem]) -> list[Links]:
    names = {"source": "source_dataset", "target": "target_dataset"}
    frame = table.frame.rename(columns=names)
    only = next(iter(data.datasets)) if len(data.datasets) == 1 else None
    entry = LinksEntry(table.where, source=only, target=only, repeated=True)
    scored = np.zeros(len(frame), dtype=bool)
    if "score" in frame.columns:
        scored = (frame["score"].str.strip() != "").to_numpy()
    out = []
    for mask in (~scored, scored):
        if mask.any():
            part = _rows(replace(table, frame=frame), mask)
            if not scored[mask].any():
                part = replace(part, frame=part.frame.drop(columns="score", errors="ignore"))
            out += read_links(part, entry, data.datasets, problems)
    return [links.noting(_without_empty(links.meta, links.kind, len(links))) for links in out]


def _comparisons(table: Table, data: HeteroData, problems: list[Problem]) -> list[Comparisons]:
    fours = np.zeros(len(table.frame), dtype=bool)
    if "d_id" in table.frame.columns:
        fours = (table.frame["d_id"].str.strip() != "").to_numpy()
    out = []
    for mask in (~fours, fours):
        if mask.any():
            part = _rows(table, mask)
            if not fours[mask].any():
                left_out = part.frame.drop(columns=["d_id", "d_dataset"], errors="ignore")
                part = replace(part, frame=left_out)
            comparisons = read_comparisons(part, data.datasets, problems)
            out += [] if comparisons is None else [comparisons]
    return [
        comparisons_read.noting(
            _without_empty(comparisons_read.meta, COMPARISON_SET, len(comparisons_read))
        )
        for comparisons_read in out
    ]


def _without_empty(meta: pd.DataFrame | None, default_set: str, n: int) -> pd.DataFrame | None:
    """Leave out empty columns and the default set named after the kind."""
    if meta is None:
        return None
    texts_of = {}
    for name in meta.columns:
        texts = meta_text(meta, str(name), n)
        if name == "set":
            texts = texts.where(texts != default_set, "")
        if (texts != "").any():
            texts_of[str(name)] = texts
    return pd.DataFrame(texts_of, index=range(n)) if texts_of else None


def _rows(table: Table, chosen: Bools, columns: Collection[str] | None = None) -> Table:
    """Return some rows of a table with their row numbers in the file."""
    frame = table.frame[chosen].reset_index(drop=True)
    if columns is not None:
        others = [name for name in frame.columns if name not in _HEADER]
        frame = frame[[name for name in (*columns, *others) if name in frame.columns]]
    places = tuple(row for row, is_in in zip(table.row, chosen, strict=True) if is_in)
    return replace(table, frame=frame, row=places)


def _escape(text: str) -> str:
    return _TEXT_MARK + text if text.startswith(_TEXT_MARK) else escape_formula(text)


def _unescape(table: Table) -> Table:
    def plain(text: str) -> str:
        return text[1:] if text.startswith(_TEXT_MARK) and _escape(text[1:]) == text else text

    return replace(table, frame=table.frame.map(plain) if len(table.frame) else table.frame)
