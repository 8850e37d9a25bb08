"""Small tables in files, and the same data in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hetviz.data import Dataset, HeteroData, Links

RECIPE = """format = 1
method = "{method}"
seed = 0

[data.genes]
path = "genes/*.parquet"
id = "gene"
features = "x"

[data.drugs]
path = "drugs/*.{form}"
id = "name"
features = ["f*"]

[guidance.binds]
path = "binds.parquet"
from = "genes"
to = "drugs"
i = "gene"
j = "drug"
weight = "w"

[guidance.alike]
path = "alike.parquet"
from = "genes"
to = "genes"
i = "a"
j = "b"

{more}
[blocks]
rows = {rows}
landmarks = 60

[params]
{params}
"""


class Made:
    """Genes of 5 features with numbers as ids, drugs of 3 with texts, and links between them."""

    def __init__(self, seed: int = 0, n: int = 130, m: int = 90) -> None:
        rng = np.random.default_rng(seed)
        hidden = rng.normal(size=(n, 2))
        self.genes = 1_000 + rng.permutation(n)
        self.X = (hidden @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(n, 5)) + 4).astype("f4")
        self.drugs = np.array([f"d{k}-é" for k in rng.permutation(m)], dtype=object)
        self.Z = hidden[:m] @ rng.normal(size=(2, 3)) + 0.3 * rng.normal(size=(m, 3)) - 2
        i, j = rng.integers(0, n, 300), rng.integers(0, m, 300)
        i[:m] = j[:m] = np.arange(m)
        w = rng.choice([1.0, 0.5, -0.7], 300, p=[0.6, 0.3, 0.1])
        w[:m] = 1.0
        # A pair that is said twice, and one said the other way round.
        self.binds = (np.r_[i, i[:5]], np.r_[j, j[:5]], np.r_[w, w[:5]])
        a = rng.integers(0, n, 60)
        self.alike = (np.r_[a, a[:4]], np.r_[(a * 7 + 3) % n, a[:4]])

    def write(
        self,
        folder: Path,
        method: str = "guided-projection",
        *,
        rows: int = 40,
        params: str = "",
        order: int | None = None,
        form: str = "parquet",
        more: str = "",
    ) -> Path:
        """Write the files; with `order`, rows and links are shuffled and cut otherwise."""
        rng = np.random.default_rng(order)
        genes, drugs = np.arange(len(self.genes)), np.arange(len(self.drugs))
        links, alike = np.arange(len(self.binds[0])), np.arange(len(self.alike[0]))
        if order is not None:
            genes, drugs, links, alike = map(rng.permutation, (genes, drugs, links, alike))
        for name in ("genes", "drugs"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        cut = 70 if order is None else 33
        for k, part in enumerate(np.split(genes, [cut])):
            x = pa.FixedSizeListArray.from_arrays(pa.array(self.X[part].ravel()), 5)
            table = pa.table({"gene": self.genes[part], "x": x})
            pq.write_table(table, folder / "genes" / f"{k}.parquet", row_group_size=17)
        for k, part in enumerate(np.split(drugs, [31])):
            columns = {f"f{c}": self.Z[part, c] for c in range(3)}
            table = pa.table({"name": self.drugs[part], **columns, "year": self.Z[part, 0]})
            path = folder / "drugs" / f"{k}.{form}"
            if form == "parquet":
                pq.write_table(table, path)
            else:
                with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
                    out.write_table(table, max_chunksize=13)
        i, j, w = (column[links] for column in self.binds)
        table = pa.table({"gene": self.genes[i], "drug": self.drugs[j], "w": w})
        pq.write_table(table, folder / "binds.parquet")
        a, b = (column[alike] for column in self.alike)
        pq.write_table(pa.table({"a": self.genes[a], "b": self.genes[b]}), folder / "alike.parquet")
        recipe = folder / "recipe.toml"
        recipe.write_text(
            RECIPE.format(method=method, rows=rows, params=params, form=form, more=more),
            encoding="utf-8",
        )
        return recipe

    def data(self) -> HeteroData:
        """Return the same in memory."""
        genes = Dataset("genes", [str(k) for k in self.genes], self.X.astype("f8"))
        drugs = Dataset("drugs", list(self.drugs), self.Z)
        a, b = self.alike
        there = a != b
        return HeteroData(
            [genes, drugs],
            [
                Links("genes", "drugs", *self.binds),
                Links("genes", "genes", a[there], b[there], kind="alike"),
            ],
        )


def places(folder: Path, table: str) -> tuple[list[str], np.ndarray]:
    """Return ids and coordinates that a run wrote."""
    found = pa.concat_tables(
        pq.read_table(path) for path in sorted((folder / "coordinates" / table).glob("*.parquet"))
    )
    ids = [str(text) for text in found.column("id").to_pylist()]
    return ids, np.column_stack([found.column(c) for c in found.column_names[1:]])


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a result that must be the same under any scheduler."""
    files = [*sorted((folder / "coordinates").rglob("*.parquet")), folder / "model.npz"]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
