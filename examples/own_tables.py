"""Own tables: DataFrames to datasets, what is known of them as links, methods compared, new rows.

``python -m examples.own_tables``
"""

import numpy as np
import pandas as pd

import hetviz
from hetviz import Dataset, HeteroData, Links

rng = np.random.default_rng(0)
N = 60

# Two tables of unlike columns: dishes, and the wines that somebody drank with them.
heavy = rng.uniform(0, 1, N)
dishes = pd.DataFrame(
    {
        "calories": 200 + 700 * heavy + rng.normal(0, 40, N),
        "course": np.where(heavy > 0.5, "main", "starter"),
        "spice": rng.integers(0, 4, N),
    }
)
wines = pd.DataFrame(
    {
        "tannin": heavy + rng.normal(0, 0.1, N),
        "colour": np.where(heavy > 0.6, "red", "white"),
        "price": rng.lognormal(2.5, 0.4, N),
    }
)
# Features are made of the columns by what they hold; here prices by their logarithm.
datasets = [
    hetviz.make_features(Dataset("dishes", [f"d{k}" for k in range(N)], table=dishes)),
    hetviz.make_features(
        Dataset("wines", [f"w{k}" for k in range(N)], table=wines), {"price": {"log": True}}
    ),
]
known = Links("dishes", "wines", range(40), range(40), kind="drunk with")
data = HeteroData(datasets, [known])

# What we say ourselves: the first starter does not go with the strongest wine.
light, strong = int(heavy.argmin()), int(heavy.argmax())
apart = Links("dishes", "wines", [light], [strong], [-1.0], kind="said")
data = data.edit().add(apart)
print(hetviz.statements(data).tail(1).to_string())

compared = hetviz.compare(data, ["pca", "cdmca", "guided-projection"], random_state=0)
print(compared.recommendation.sentence)

# A new dish finds its place; the others stay where they are.
model = hetviz.get_method("guided-projection")().fit(data)
new = pd.DataFrame({"id": ["stew"], "calories": [850.0], "course": ["main"], "spice": [1]})
placed = hetviz.place_rows(data, model, new, "dishes", k=3)
print(placed.doubt["why"][0])
near = placed.neighbours.query("dataset == 'wines'")["neighbour"]
print("wines near the stew:", ", ".join(near))
