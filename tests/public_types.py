"""A user's script, read by mypy only: right calls pass, each mistake below is found.

mypy fails at an `ignore` that hides nothing.
"""

import numpy as np
import pandas as pd

import hetviz


def script() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0.0, 1.0, 0.0]})
    data = hetviz.HeteroData.from_frames({"items": table})
    m = hetviz.embed(data, "umap", n_neighbors=5, metric="cosine", random_state=None)
    model = hetviz.JointMap(n_components=2, random_state=np.random.default_rng(0))
    places = model.fit(data).embedding_["items"]
    for card in hetviz.methods():
        hetviz.get_method(card.key)()
    for name in hetviz.embed(data, progress=True):
        print(name.upper(), places.mean(), np.asarray(m).shape)

    hetviz.embed(data, "joint-mpa")  # type: ignore[call-overload]
    hetviz.embed(data, "umap", n_neighbours=5)  # type: ignore[call-overload]
    hetviz.embed(data, "umap", n_neighbors="five")  # type: ignore[call-overload]
    hetviz.embed(data, "guided-projection", kernel="rfb")  # type: ignore[call-overload]
    hetviz.embed(table)  # type: ignore[call-overload]
    hetviz.embed(data, n_neighbors=5)  # type: ignore[call-overload]
    hetviz.get_method("mrsne")  # type: ignore[call-overload]
    hetviz.JointMap(perplexity_=30.0)  # type: ignore[call-arg]
    hetviz.MRSNE(n_iter="many")  # type: ignore[arg-type]
    hetviz.JointMpa()  # type: ignore[attr-defined]
    hetviz.get_method("umap")(neighbors=5)  # type: ignore[call-arg]
    print(m.coords)  # type: ignore[attr-defined]
    print(m[0])  # type: ignore[index]
    hetviz.Links("a", "b", [0], [1], weights=[1.0])  # type: ignore[call-arg]
    hetviz.HeteroData.from_frames({"items": table}, link=[(1, 2)])  # type: ignore[call-arg]
