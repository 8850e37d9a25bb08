"""Text in the encodings that programs of many countries write."""

import contextlib

import pytest

from hetviz.errors import DataError, Problem
from hetviz.io import Choices, read_table, read_tables
from hetviz.io.infer import encodings

TABLES = {
    "gb18030": ("id,名称\n", ["苹果公司", "北京市", "这是一个很好的产品"]),
    "big5": ("id,名稱\n", ["台北市", "臺灣大學", "高雄", "產品說明"]),
    "shift_jis": ("id,名前\n", ["田中さん", "東京都", "とても良い所です"]),
    "cp949": ("id,이름\n", ["서울", "김철수", "부산광역시", "이영희"]),
    "cp1251": ("id,имя\n", ["Иван Петров", "Москва", "Санкт-Петербург"]),
    "koi8_r": ("id,имя\n", ["Иван Петров", "Москва", "Пётр"]),
    "iso8859_7": ("id,όνομα\n", ["Γιώργος Παπαδόπουλος", "από την Αθήνα"]),
    "cp1250": ("id,imię\n", ["Łukasz", "Żółć", "Gdańsk", "Kraków", "Wrocław"]),
    "iso8859_2": ("id,jméno\n", ["Přemysl", "Žižka", "Plzeň"]),
    "cp1252": ("id,größe\n", ["Müller", "Élodie", "Muñoz", "Straße", "12 °C", "5 € – 7 €"]),
}


def table(codec):
    head, names = TABLES[codec]
    return head + "".join(f"{at},{names[at % len(names)]}\n" for at in range(30))


@pytest.mark.parametrize("codec", TABLES)
def test_national_encodings_are_detected(codec):
    text = table(codec)
    notes = []
    result, words = encodings.decode("t.csv", text.encode(codec), None, notes)
    assert result == text
    assert words in encodings.ENCODING_NAMES.values()
    assert [note.code for note in notes] == ["encoding"]


@pytest.mark.parametrize("cell", ["12 °C", "µg/l", "5 €", "5 – 7", "“x”", "Müller"])
def test_few_western_letters_are_latin(cell):
    text = "id,v\n" + "".join(f"{at},{cell if at % 3 else 'Anna'}\n" for at in range(20))
    assert encodings.decode("t.csv", text.encode("cp1252"), None, [])[0] == text


SENTENCES = {
    "mac_roman": [
        "Die Größe der Straße überrascht viele Gäste",
        "El niño comió piña en la montaña",
    ],
    "cp850": ["Räksmörgås på en ö i Göteborg", "Die Größe der Straße überrascht viele Gäste"],
    "cp1250": ["Zażółć gęślą jaźń nad rzeką w Łodzi", "Gojazni đačić s biciklom drži hmelj"],
    "iso8859_2": ["Příliš žluťoučký kůň úpěl ďábelské ódy v městě Plzeň"],
    "cp852": ["Árvíztűrő tükörfúrógép és kőműves"],
    "cp1254": ["Pijamalı hasta yağız şoföre çabucak güvendi İstanbul'da"],
    "cp1257": ["Įlinkdama fechtuotojo špaga sublykčiojusi pragręžė apvalų arbūzą"],
    "cp1252": ["A nação não pode esquecer as eleições da região", "a fan of the Universe?Œæ, or"],
}


@pytest.mark.parametrize(
    ("codec", "sentence"), [(codec, text) for codec, texts in SENTENCES.items() for text in texts]
)
def test_encodings_of_sentences_are_detected(codec: str, sentence: str) -> None:
    text = "id,text\n" + "".join(f"{at},{sentence} number {at}\n" for at in range(20))
    notes: list[Problem] = []
    assert encodings.decode("t.csv", text.encode(codec), None, notes)[0] == text
    # The note shows a word, by which a wrong guess is seen.
    assert notes[0].value and notes[0].value in text and not notes[0].value.isascii()


def test_no_break_space_of_mac_is_no_letter() -> None:
    text = "id,q\n" + "".join(f"{at},knowledge\u00a0of cuisines {at}\n" for at in range(9))
    assert encodings.decode("t.csv", text.encode("mac_roman"), None, [])[0] == text


@pytest.mark.parametrize(
    "odd", [b"a\xe4\xf3_ b\xe4\xf3\xeea", b"16:50,\x89\xdb\xcfTrump\x89\xdb\x9d or\x89\xdb_"]
)
def test_damaged_signs_in_latin_text_are_no_other_script(odd: bytes) -> None:
    content = b"id,q\n" + b"".join(b"%d,join us %s now\n" % (at, odd) for at in range(30))
    assert encodings.decode("t.csv", content, None, [])[1].endswith("Western")


CAST = "Penélope Cruz; Beyoncé; Salvador DalI; François Pienaar; Édith; it’s – Stellan Skarsgård"


@pytest.mark.parametrize("text", [CAST, "Привет, мир", "Édith Zoé"])
@pytest.mark.parametrize("times", [1, 2])
def test_letters_that_were_encoded_twice_are_mended(text: str, times: int) -> None:
    odd = text
    for _ in range(times):
        odd = odd.encode().decode("latin_1")
    notes: list[Problem] = []
    assert encodings.decode("t.csv", odd.encode(), None, notes) == (text, "UTF-8")
    assert "encoded twice" in notes[0].what
    # A chosen encoding is taken as it is.
    assert encodings.decode("t.csv", odd.encode(), "utf-8", [])[0] == odd


def test_letters_that_excel_for_mac_encoded_twice_are_mended() -> None:
    odd = CAST.replace("I", "í").encode().decode("cp1252", "replace")
    content = (
        odd.encode("mac_roman", "replace").replace(b"?", b"_") + b" \x89\xdb\xcfno\x89\xdb\x9d"
    )
    notes: list[Problem] = []
    text, _ = encodings.decode("t.csv", content, None, notes)
    assert text == CAST.replace("I", "Ã_") + " “no”"
    assert notes[0].what.endswith("Ã© is read as é. 1 other sign may be wrong")


@pytest.mark.parametrize(
    "text", ["SÃO PAULO – É", "«É» «Ã»", "PÅ–TALET, Å–Ä, »Ä«", "CAFÉ–BAR, É–A", "12 °C, Â", "Ł Ã© "]
)
def test_letters_that_only_look_odd_stay(text: str) -> None:
    notes: list[Problem] = []
    assert encodings.decode("t.csv", text.encode(), None, notes)[0] == text
    assert notes == []


def test_every_codec_can_be_chosen():
    content = table("cp1251").encode("cp1251")
    for codec in encodings.ENCODING_NAMES:
        with contextlib.suppress(DataError):
            read_table("t.csv", content, Choices(encoding=codec))
    frame = read_table("t.csv", content, Choices(encoding="cp1251"))
    assert "Иван Петров" in str(frame)
    assert len(encodings.ENCODING_NAMES) > 80


def test_wrong_encoding_is_refused():
    with pytest.raises(DataError, match="Choose another"):
        read_table("t.csv", table("cp1252").encode("cp1252"), Choices(encoding="utf-8"))
    with pytest.raises(DataError, match="encoding is unknown"):
        read_table("t.csv", b"id\n1\n", Choices(encoding="nonsense"))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("rival", [",", ";", "\t", "|", "||", ", "])
def test_quoted_separator_is_ignored(separator, rival):
    rows = [f'{at}{separator}"red{rival}round{rival}new"{separator}{at * 2}' for at in range(12)]
    content = separator.join(["id", "tags", "size"]) + "\n" + "\n".join(rows)
    read = read_table("t.csv", content.encode())
    assert list(read.frame.columns) == ["id", "tags", "size"]
    assert read.frame["tags"][0] == f"red{rival}round{rival}new"
    assert not read.errors


def test_national_encoding_keeps_letters():
    loaded = read_tables([("t.csv", table("shift_jis").encode("shift_jis"))])
    assert "田中さん" in set(loaded.data["t"].table["名前"])
