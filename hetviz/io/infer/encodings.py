"""Text encoding detection: byte order marks, then UTF-8, then letter statistics."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import charset_normalizer
from charset_normalizer.constant import IANA_SUPPORTED

from hetviz._text import count
from hetviz.errors import Problem
from hetviz.io import gate

_COMMON_NAMES = {
    "utf_8": "UTF-8",
    "utf_16": "UTF-16",
    "utf_32": "UTF-32",
    "cp1252": "Windows-1252, Western",
    "latin_1": "Latin-1, Western",
    "iso8859_15": "Latin-9, Western",
    "mac_roman": "Mac, Western",
    "cp437": "DOS, Western",
    "cp850": "DOS, Western",
    "cp1250": "Windows-1250, Central European",
    "iso8859_2": "Latin-2, Central European",
    "cp852": "DOS, Central European",
    "mac_latin2": "Mac, Central European",
    "cp1251": "Windows-1251, Cyrillic",
    "koi8_r": "KOI8-R, Russian",
    "koi8_u": "KOI8-U, Ukrainian",
    "iso8859_5": "ISO 8859-5, Cyrillic",
    "cp866": "DOS, Cyrillic",
    "mac_cyrillic": "Mac, Cyrillic",
    "cp1253": "Windows-1253, Greek",
    "iso8859_7": "ISO 8859-7, Greek",
    "cp1254": "Windows-1254, Turkish",
    "iso8859_9": "Latin-5, Turkish",
    "cp1255": "Windows-1255, Hebrew",
    "iso8859_8": "ISO 8859-8, Hebrew",
    "cp1256": "Windows-1256, Arabic",
    "iso8859_6": "ISO 8859-6, Arabic",
    "cp1257": "Windows-1257, Baltic",
    "iso8859_13": "Latin-7, Baltic",
    "cp1258": "Windows-1258, Vietnamese",
    "cp932": "Windows-932 (Shift-JIS), Japanese",
    "shift_jis": "Shift-JIS, Japanese",
    "euc_jp": "EUC-JP, Japanese",
    "gb18030": "GB18030, Chinese",
    "gbk": "GBK, Chinese",
    "big5": "Big5, Chinese",
    "cp949": "Windows-949, Korean",
    "euc_kr": "EUC-KR, Korean",
    "tis_620": "TIS-620, Thai",
}
# These encodings can hide markup in their bytes.
_NOT_OFFERED = {"utf_7", "hz"}
ENCODING_NAMES: dict[str, str] = _COMMON_NAMES | {
    codec: codec.replace("_", "-").upper()
    for codec in IANA_SUPPORTED
    if codec not in _COMMON_NAMES and codec not in _NOT_OFFERED
}
"""Display names of codecs, common ones first."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8 with a byte order mark"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
# Accented letters are single bytes among ASCII; other scripts form runs.
_LATIN_CODECS = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257")
_OLD_LATIN = ("mac_roman", "cp437", "cp850", "cp852")
_OTHER_CODECS = ("gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1251", "koi8_r", "koi8_u",
           "cp866", "iso8859_5", "cp1253", "iso8859_7", "cp1255", "cp1256", "tis_620")  # fmt: skip
# Letters beside ASCII that the languages of each codec use, in lower case.
_ALPHABETS: Mapping[str, Sequence[str]] = {
    "cp1252": ("àâæçéèêëîïôœùûüÿ", "áéíñóúü", "ãáàâçéêíóôõúü", "àèéìíòóùú", "äöüß", "åäöæøé",
               "áðéíóúýþæö", "äöåé", "ëéïóèüö"),
    "cp1250": ("áčďéěíňóřšťúůýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîșțşţ", "čćđšž",
               "áäčďéíĺľňóôŕšťúýž"),
    # The dot: İ in lower case is i with U+0307.
    "cp1254": ("çğıöşüâîû\u0307",),
    "cp1257": ("āčēģīķļņšūž", "ąčęėįšųūž", "äöüõšž"),
}  # fmt: skip
_SAME_LETTERS = {
    "iso8859_2": "cp1250", "mac_roman": "cp1252", "cp437": "cp1252", "cp850": "cp1252",
    "cp852": "cp1250",
}  # fmt: skip
_SIGNS = frozenset("µ°ªº€£¥§©®±²³µ¼½¾×÷«»„“”‘’‚–—…•·¡¿\u00a0™†‰")
# A sign within a word stands for a letter of another codec.
_SIGN_INSIDE = re.compile(
    "(?<=[a-z])[" + re.escape("".join(_SIGNS - {"’", "­", "\u00a0"})) + "](?=[a-z])"
)
_MIN_ALPHABET_SHARE = 0.97
_RUN = re.compile(rb"[\x80-\xff]+")
_OTHER_LETTERS = re.compile(r"[^\x00-\x7f]+")
_BESIDE_LATIN = re.compile(r"[A-Za-z][^\x00-\x7f]+|[^\x00-\x7f]+[A-Za-z]")
_MAX_BESIDE_LATIN = 0.3
_LINE = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*")
_SAMPLE_BYTES = 20_000
_MAX_CHAOS = 0.2
_MIN_UTF8_LINES = 2
_MAX_EXAMPLE_LENGTH = 40
_SINGLE_BYTE_SHARE = 0.7
_MAX_LATIN_RUN = 2
# UTF-8 that was taken for Windows-1252: the bytes of a letter or sign, as the letters shown then.
_TAKEN_FOR = {chr(byte): byte for byte in range(128, 256)} | {
    sign: byte for byte in range(128, 160) if (sign := bytes([byte]).decode("cp1252", "ignore"))
}
# A byte that Windows-1252 lacks, as Mac shows it: the last one of a closing quotation mark.
_TAKEN_FOR["ù"] = 0x9D
_CONTINUED = re.escape("".join(sign for sign, byte in _TAKEN_FOR.items() if byte < 0xC0))
_TWICE = re.compile(f"[ÂÃÄÅÐÑ][{_CONTINUED}]|â[{_CONTINUED}]{{2}}")
# These also follow a capital letter, as in »Ä«.
_FOLLOWING = frozenset("–—‘’“”«»…")
_MIN_TWICE, _MIN_TWICE_SHARE, _MAX_TIMES = 2, 0.8, 3
# Excel for Mac writes other signs for what it cannot write.
_MIN_TWICE_SHARE_OF_MAC = 0.5


def decode(name: str, content: bytes, chosen: str | None, notes: list[Problem]) -> tuple[str, str]:
    """Return the decoded text and the name of its encoding; a guess adds a note."""
    if chosen is not None:
        return _decode_as(name, content, chosen), ENCODING_NAMES.get(_codec_name(chosen), chosen)
    for bom, codec, label in _BOMS:
        if content.startswith(bom):
            try:
                return _check_no_nul(name, content.decode(codec)), label
            except UnicodeError:
                raise gate.refusal(
                    "bad-encoding", name, f"the text is damaged and cannot be read as {label}"
                ) from None
    try:
        text = content.decode("utf-8")
    except UnicodeError:
        text = None
    if text is not None and "\0" not in text:
        return _mended(name, text, notes) or text, "UTF-8"
    if b"\0" in content:
        return _decode_unmarked_utf16(name, content), "UTF-16"
    if (
        text := _mended(name, content.decode("mac_roman"), notes, _MIN_TWICE_SHARE_OF_MAC)
    ) is not None:
        return text, ENCODING_NAMES["mac_roman"]
    if (mixed := _decode_mixed(content)) is not None:
        text, n_lines, codec = mixed
        message = (
            f"the text mixes two encodings: {count(n_lines, 'line')} in {ENCODING_NAMES[codec]}, "
            "the others in UTF-8"
        )
        notes.append(Problem("encoding", name, message, severity="note"))
        return text, "UTF-8"
    codec, text = _guess(content)
    label = ENCODING_NAMES[codec]
    notes.append(
        Problem(
            "encoding",
            name,
            f"the text is not UTF-8, so it is read as {label}",
            _example(text),
            remedy="If letters look wrong, choose another encoding or save the file as UTF-8.",
            severity="note",
        )
    )
    return text, label


def _example(text: str) -> str:
    """Return the first word with a letter beside ASCII."""
    return next((word for word in text.split() if not word.isascii()), "")[:_MAX_EXAMPLE_LENGTH]


def _mended(
    name: str, text: str, notes: list[Problem], min_share: float = _MIN_TWICE_SHARE
) -> str | None:
    """Return text whose letters were encoded twice or more often, mended, or None if none were."""
    if text.isascii():
        return None
    # Letters that were encoded three times are found in parts.
    odd = [signs for signs in _TWICE.findall(text) if _decoded_again(signs) != signs]
    n_odd = sum(map(len, odd))
    if sum(signs[1] not in _FOLLOWING for signs in odd) < _MIN_TWICE:
        return None
    n_letters = sum(sign > "\x7f" for sign in text)
    if n_odd < min_share * n_letters:
        return None
    mended = text
    for _ in range(_MAX_TIMES):
        mended = _TWICE.sub(lambda match: _decoded_again(match[0]), mended)
    message = (
        f"{count(n_odd, 'sign')} of letters that were encoded twice are mended: "
        f"{odd[0]} is read as {_decoded_again(odd[0])}"
    )
    if n_odd < n_letters:
        message += f". {count(n_letters - n_odd, 'other sign')} may be wrong"
    remedy = "If letters look wrong, choose the encoding."
    notes.append(Problem("encoding", name, message, remedy=remedy, severity="note"))
    return mended


def _decoded_again(signs: str) -> str:
    """Return the letter whose UTF-8 bytes these signs stand for, or the signs as they are."""
    try:
        return bytes(_TAKEN_FOR[sign] for sign in signs).decode("utf-8")
    except UnicodeError:
        return signs


def _decode_mixed(content: bytes) -> tuple[str, int, str] | None:
    """Return text of which some lines are UTF-8, the number of others and their codec, or None."""
    lines = content.split(b"\n")
    is_utf8 = [_is_utf8(line) for line in lines]
    n_utf8 = sum(good and not line.isascii() for good, line in zip(is_utf8, lines, strict=True))
    others = [line for good, line in zip(is_utf8, lines, strict=True) if not good]
    if n_utf8 < _MIN_UTF8_LINES or n_utf8 < len(others):
        return None
    codec, _ = _guess(b"\n".join(others))
    decoded = [
        line.decode("utf-8" if good else codec) for good, line in zip(is_utf8, lines, strict=True)
    ]
    return "\n".join(decoded), len(others), codec


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeError:
        return False
    return True


def _codec_name(codec: str) -> str:
    try:
        return codecs.lookup(codec).name.replace("-", "_")
    except LookupError:
        return codec


def _decode_as(name: str, content: bytes, chosen: str) -> str:
    try:
        return _check_no_nul(name, content.decode(chosen).lstrip("\ufeff"))
    except LookupError:
        raise gate.refusal("bad-encoding", name, "this encoding is unknown", chosen) from None
    except UnicodeError:
        raise gate.refusal(
            "bad-encoding",
            name,
            "the text is not in this encoding",
            chosen,
            "Choose another encoding, or let hetviz detect it.",
        ) from None


def _guess(content: bytes) -> tuple[str, str]:
    """Return the most plausible codec for bytes that are not UTF-8, and the text."""
    sample = b"\n".join(_non_ascii_lines(content))
    runs = _RUN.findall(sample)
    is_latin = sum(len(run) == 1 for run in runs) > _SINGLE_BYTE_SHARE * len(runs)
    # Accented letters may be neighbours, but not as long as words of other scripts.
    are_short = sum(map(len, runs)) <= _MAX_LATIN_RUN * len(runs)
    codec = _codec_by_alphabet(sample, content) if is_latin or are_short else None
    if codec is not None:
        return codec, content.decode(codec)
    ranked = _rank_codecs(sample, _LATIN_CODECS if is_latin else _OTHER_CODECS)
    if not is_latin and not (ranked := [c for c in ranked if _stands_apart(sample.decode(c))]):
        ranked = ["cp1252", "mac_roman"]
    for codec in (*ranked, *_LATIN_CODECS, *_OLD_LATIN):
        try:
            return codec, content.decode(codec)
        except UnicodeError:
            continue
    return "latin_1", content.decode("latin_1")


def _stands_apart(text: str) -> bool:
    """Whether the words of another script are not parts of words of Latin letters."""
    n_beside = len(_BESIDE_LATIN.findall(text))
    return n_beside <= _MAX_BESIDE_LATIN * len(_OTHER_LETTERS.findall(text))


def _codec_by_alphabet(sample: bytes, content: bytes) -> str | None:
    """Return the codec in which one language explains all letters, the most common first."""
    best, best_share = None, _MIN_ALPHABET_SHARE
    for codec in (*_LATIN_CODECS, *_OLD_LATIN):
        try:
            text = sample.decode(codec)
            content.decode(codec)
        except UnicodeError:
            continue
        if _n_odd_signs(text):
            continue
        n_inside = _n_capitals_inside(text)
        text = text.lower()
        letters = Counter(sign for sign in text if sign > "\x7f" and sign not in _SIGNS)
        n_inside += len(_SIGN_INSIDE.findall(text))
        total = letters.total() + n_inside
        for alphabet in _ALPHABETS[_SAME_LETTERS.get(codec, codec)]:
            n_explained = sum(n for sign, n in letters.items() if sign in alphabet)
            share = n_explained / total if total else 1.0
            if share > best_share:
                best, best_share = codec, share
    return best


def _n_capitals_inside(text: str) -> int:
    """Count capital letters beside ASCII between two small ones, as in "knowledgeÊof"."""
    return sum(
        sign > "\x7f" and sign.isupper() and before.islower() and after.islower()
        for before, sign, after in zip(text, text[1:], text[2:], strict=False)
    )


def _non_ascii_lines(content: bytes) -> list[bytes]:
    """Return distinct lines with non-ASCII letters, limited to a sample size."""
    lines: dict[bytes, None] = {}
    size = 0
    for match in _LINE.finditer(content):
        line = match.group()
        size += 0 if line in lines else len(line)
        if size > _SAMPLE_BYTES and lines:
            break
        lines[line[:_SAMPLE_BYTES]] = None
    return list(lines)


def _rank_codecs(sample: bytes, codecs_to_try: tuple[str, ...]) -> list[str]:
    """Return codecs ranked by plausibility for the sample, best first."""
    for chaos in (_MAX_CHAOS, 3 * _MAX_CHAOS):
        matches = charset_normalizer.from_bytes(
            sample, cp_isolation=list(codecs_to_try), threshold=chaos
        )
        ranked: list[tuple[tuple[float, float, float, int], str]] = []
        for match in matches:
            for codec in match.could_be_from_charset:
                if codec in codecs_to_try:
                    # Prefer the more common codec on ties; it comes first in the list.
                    sense = (round(match.chaos, 1), -round(match.coherence, 1))
                    rank = (_n_odd_signs(str(match)), *sense, codecs_to_try.index(codec))
                    ranked.append((rank, codec))
        if ranked:
            return [codec for _, codec in sorted(ranked)]
    return []


def _n_odd_signs(text: str) -> int:
    """Count symbols where a letter is expected, as in "M³ller"."""
    return sum(
        sign > "\x7f"
        and sign not in "°ªº"
        and unicodedata.category(sign)[0] in "SN"
        and after.islower()
        for sign, after in pairwise(text)
    )


def _decode_unmarked_utf16(name: str, content: bytes) -> str:
    """Decode UTF-16 without a byte order mark, recognised by its zero bytes."""
    head = content[:200]
    for codec, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if len(content) % 2 == 0 and zeros.count(0) > 0.8 * len(zeros):
            try:
                return _check_no_nul(name, content.decode(codec))
            except UnicodeError:
                continue
    return _check_no_nul(name, "\0")


def _check_no_nul(name: str, text: str) -> str:
    if "\0" in text:
        raise gate.refusal("binary", name, "this is not a text file", remedy="Save it as CSV.")
    return text
