"""Names of all measures of a map."""

from __future__ import annotations

import numpy as np
import pandas as pd

import hetviz
from hetviz.data import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.exports.report import report_page
from hetviz.metrics.measure_names import measure_text


def example() -> tuple[HeteroData, Embedding]:
    rng = np.random.default_rng(0)
    n = 60
    table = pd.DataFrame({"size": rng.normal(size=n), "age": rng.normal(size=n)})
    things = hetviz.make_features(Dataset("things", [f"t{k}" for k in range(n)], table=table))
    tags = Dataset("tags", [f"g{k}" for k in range(70)])
    links = Links("things", "tags", range(n), range(n))
    labels = Labels("things", "kind", np.array([["a", "b"][k % 2] for k in range(n)]))
    data = HeteroData([things, tags], [links], labels=[labels])
    places = {"things": rng.normal(size=(n, 2)), "tags": rng.normal(size=(70, 2))}
    ids = {name: part.ids for name, part in data.datasets.items()}
    return data, Embedding(places, ids, {name: name for name in places})


def test_all_measures_have_readable_names_in_the_report() -> None:
    data, embedding = example()
    scores = hetviz.evaluate(data, embedding).to_dict()
    assert "metric_1@50" in scores
    names = {key: measure_text(key) for key in scores}
    assert all(names.values())
    texts = [text.name for text in names.values() if text is not None]
    assert len(set(texts)) == len(texts)
    page = report_page(data, embedding)
    assert not [key for key in scores if key in page]
    assert "A link among 50 nearest" in page


def test_measures_of_hidden_links_are_named_so() -> None:
    text = measure_text("metric_1@5_held_out")
    assert text is not None
    assert text.name == "A link among 5 nearest, hidden"
    assert "their 5 nearest" in text.meaning
    assert measure_text("gone") is None
    assert measure_text("gone@3") is None
