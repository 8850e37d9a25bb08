"""Language of a column of text, recognised by letters and function words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

_MAX_TEXTS, _MAX_CHARS = 500, 300
_WORD = re.compile(r"[^\W\d_]+")
# Smallest share of function words of another language among words, and that of letters that
# English lacks. English columns have names such as Café.
_MIN_FUNCTION_WORDS, _MIN_LETTERS = 0.04, 0.008
_MIN_WORDS = 20
_WRITINGS = {
    "CYRILLIC": "Cyrillic letters", "CJK": "Chinese", "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese", "HANGUL": "Korean", "ARABIC": "Arabic letters",
    "HEBREW": "Hebrew letters", "GREEK": "Greek", "DEVANAGARI": "Devanagari letters",
    "THAI": "Thai",
}  # fmt: skip
# Writings without spaces between words, which TF-IDF cannot split.
WITHOUT_SPACES = frozenset({"Chinese", "Japanese", "Thai"})
_ENGLISH = "the of and to in is for that with on as are was by this be it from or an at not you "
_ENGLISH += "your have which can will has its if all but"
_FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "German": "der die und das ist nicht ein eine einen mit den von zu auf für im dem sich des "
        "auch wird werden als oder zum zur bei",
        "French": "le la les des et est une un du de que dans pour pas sur qui avec au aux par "
        "plus ce sont ne en à",
        "Spanish": "el la los las una un que de del por con para se es en no su como más al lo y o",
        "Portuguese": "o os as uma um que de do da não em para com se por mais dos das no na ao é "
        "e",
        "Italian": "il di che la un una per non del con sono della dei le gli è e da si nel al",
        "Dutch": "de het een van en is niet dat op te voor met zijn er aan door ook in wordt",
        "Swedish": "och att det som en är på inte för av med till den kan ett i om från",
        "Danish or Norwegian": "og at det er ikke på til af av en den med for kan som et i fra",
        "Polish": "i w nie na z do się jest że o po od dla przez lub",
        "Czech": "a v na se je že z do ne pro k s o nebo není",
        "Turkish": "ve bir bu için ile de da ne olarak değil veya",
        "Finnish": "ja on ei se että oli ovat tai ole",
        "Hungarian": "a az és nem hogy egy is van vagy",
        "Romanian": "și de la în nu pe cu este un o pentru sau",
        "Indonesian": "yang dan di untuk dengan ini tidak dari atau",
    }.items()
}


def foreign_language(texts: Sequence[str | None]) -> str | None:
    """Return the language or letters of texts if they are not English, else None."""
    present = [text for text in texts if text and text.strip()]
    step = max(1, len(present) // _MAX_TEXTS)
    sample = [text[:_MAX_CHARS] for text in present[::step]]
    letters = [letter for text in sample for letter in text if letter.isalpha()]
    if not letters:
        return None
    other = [letter for letter in letters if not letter.isascii()]
    writings = Counter(
        _WRITINGS[kind]
        for letter in other
        if (kind := unicodedata.name(letter, "").split(" ")[0].split("-")[0]) in _WRITINGS
    )
    if 2 * sum(writings.values()) > len(letters):
        # Japanese has Chinese letters, too.
        is_japanese = writings["Japanese"] > 0.1 * sum(writings.values())
        return "Japanese" if is_japanese else writings.most_common(1)[0][0]
    words = [word.lower() for text in sample for word in _WORD.findall(text)]
    share_english = _share(words, frozenset(_ENGLISH.split()))
    shares = {name: _share(words, known) for name, known in _FUNCTION_WORDS.items()}
    best = max(shares, key=lambda name: shares[name])
    if len(words) < _MIN_WORDS:
        return None
    if shares[best] >= _MIN_FUNCTION_WORDS and shares[best] > 1.2 * share_english:
        return best
    if len(other) >= _MIN_LETTERS * len(letters) and share_english < _MIN_FUNCTION_WORDS:
        return "accented letters"
    return None


def _share(words: Sequence[str], known: frozenset[str]) -> float:
    return float(np.mean([word in known for word in words])) if words else 0.0
