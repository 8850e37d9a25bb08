"""A sample from start to figure: load, hide some links, embed, evaluate, export.

``python -m examples.emoji_map OUT`` writes OUT/map.png and OUT/coordinates.csv.
"""

import sys
from pathlib import Path

import hetviz

out = Path(sys.argv[1] if len(sys.argv) > 1 else "emoji_map")
out.mkdir(parents=True, exist_ok=True)

data = hetviz.load("emoji")
print(data)

# A fifth of the links is kept from the method, to judge the map by what it was not told.
train, held_out = data.holdout(links=0.2, random_state=0)
embedding = hetviz.embed(train, "guided-projection", random_state=0)

scores = hetviz.evaluate(train, embedding, held_out).to_dict()
for name in ("guidance_area", "guidance_area_held_out"):
    if name in scores:
        print(f"{name}: {scores[name]:.3f}")

# Where would the words "black cat" belong?
answer = hetviz.nearest_to(data, embedding, dataset="emoji", text="black cat", top=3)
print("nearest to 'black cat':", ", ".join(answer.nearest["id"].head(3)))

for file in ("map.png", "coordinates.csv"):
    print("written:", hetviz.export(data, embedding, out / file))
