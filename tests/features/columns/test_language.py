"""Tests of recognising the language of a column."""

from __future__ import annotations

import pandas as pd
import pytest

import hetviz
from hetviz.features.columns.language import foreign_language
from hetviz.features.recipe import recipe_of

TEXTS = {
    None: "The house stands on the hill, and it is not far from the river with its old bridge.",
    "German": "Das Haus steht auf dem Hügel und es ist nicht weit von dem Fluss mit der Brücke.",
    "French": "La maison est sur la colline et elle n'est pas loin de la rivière avec le pont.",
    "Spanish": "La casa está en la colina y no queda lejos del río con el puente de los reyes.",
    "Portuguese": "A casa fica na colina e não está longe do rio com a ponte que os reis fizeram.",
    "Cyrillic letters": "Дом стоит на холме недалеко от реки.",
    "Chinese": "房子在山上离河不远",
    "Japanese": "家は丘の上にあり川から遠くない",
    "Arabic letters": "البيت على التل ليس بعيدا عن النهر",
}


@pytest.mark.parametrize("language", TEXTS)
def test_language_is_recognised(language: str | None) -> None:
    assert foreign_language([TEXTS[language], None, TEXTS[language]]) == language


def test_names_and_few_words_count_as_english() -> None:
    assert foreign_language(["Café Müller", "Zoë", None]) is None
    assert foreign_language(["red apple", "green pear"] * 20) is None
    assert foreign_language([]) is foreign_language([None, "", "12"]) is None


def test_sentence_model_is_left_to_english_unless_chosen() -> None:
    pytest.importorskip("onnxruntime")
    numbers = {
        "de": ["eins", "zwei", "drei"],
        "en": ["one", "two", "three"],
        "zh": ["一", "二", "三"],
    }
    full = {"de": TEXTS["German"], "en": TEXTS[None], "zh": TEXTS["Chinese"]}
    table = pd.DataFrame({k: [f"{full[k]} {one}" for one in ends] for k, ends in numbers.items()})
    things = hetviz.Dataset("things", list("abc"), table=table)
    kinds = {name: {"kind": "text"} for name in table}
    steps = recipe_of(hetviz.make_features(things, kinds, text_model="sentences"))["columns"]
    models = {step["column"]: (step.get("model"), step.get("language")) for step in steps}
    assert models == {
        "de": (None, "German"), "en": ("sentences", None), "zh": ("sentences", "Chinese")
    }  # fmt: skip
    kinds["de"] |= {"model": "sentences"}
    first = recipe_of(hetviz.make_features(things, kinds, text_model="sentences"))["columns"][0]
    assert first["model"] == "sentences" and first["language"] == "German"
