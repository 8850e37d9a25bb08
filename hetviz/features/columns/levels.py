"""Ordered categories: detection of the order, and ranks of cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from hetviz._types import Floats

# Number columns with at most this many different values may be groups.
_MAX_GRADES = 12
_NUMBER = re.compile(r"(?:(?<![\w.])-)?\d+(?:\.\d+)?")
_MARKS = re.compile(r"[\s_.\-]+")
# Scales from low to high; one line has the words of one rank in several languages.
_SCALES = (
    """
    none keine keiner aucun ninguno nessuno absent nil
    trace spuren traces
    verylow sehrniedrig sehrgering trèsfaible tresfaible muybajo moltobasso
    low niedrig gering tief faible bas bajo baja basso bassa light leicht mild
    medium mittel mittelmäßig moderate mäßig moyen moyenne medio media middle moderato average
    high hoch stark élevé eleve haut fort alto alta severe schwer heavy strong grave sévère
    veryhigh sehrhoch trèsélevé treseleve muyalto moltoalto extreme extrem verystrong verysevere
    """,
    """
    verysmall tiny winzig sehrklein
    small klein petit petite pequeño piccolo
    medium mittel mittelgroß moyen mediano medio
    large big groß gross grand grande
    verylarge huge sehrgroß riesig giant
    """,
    """
    3xs xxxs
    2xs xxs
    xs
    s small
    m medium
    l large
    xl
    xxl 2xl
    xxxl 3xl
    4xl xxxxl
    """,
    """
    verypoor terrible sehrschlecht ungenügend awful verybad
    poor bad schlecht mangelhaft mauvais malo cattivo
    fair ok okay ausreichend passable regular mediocre acceptable average sufficient
    satisfactory befriedigend satisfaisant
    good gut bon bueno buono
    verygood sehrgut trèsbon muybueno ideal premium
    excellent ausgezeichnet hervorragend excelente eccellente outstanding
    """,
    """
    never nie niemals jamais nunca mai
    rarely seldom selten rarement raramente raravez
    sometimes occasionally manchmal gelegentlich parfois aveces talvolta
    often frequently oft häufig souvent spesso amenudo
    veryoften sehroft usually meistens mostly
    always immer toujours siempre sempre
    """,
    """
    verydissatisfied sehrunzufrieden extremelydissatisfied
    dissatisfied unzufrieden somewhatdissatisfied eherunzufrieden
    neithersatisfiednordissatisfied neutral teilsteils
    satisfied zufrieden somewhatsatisfied eherzufrieden
    verysatisfied sehrzufrieden extremelysatisfied
    """,
    """
    veryunlikely sehrunwahrscheinlich extremelyunlikely
    unlikely unwahrscheinlich somewhatunlikely
    neitherlikelynorunlikely neutral
    likely wahrscheinlich somewhatlikely
    verylikely sehrwahrscheinlich extremelylikely
    """,
    """
    stronglydisagree lehnestarkab stimmegarnichtzu stimmeüberhauptnichtzu trifftgarnichtzu
    disagree lehneab stimmenichtzu stimmeehernichtzu trifftnichtzu trifftehernichtzu
    neutral neitheragreenordisagree teilsteils unentschieden undecided weißnicht
    agree stimmezu stimmeeherzu trifftzu triffteherzu
    stronglyagree stimmestarkzu stimmevollzu stimmevollundganzzu trifftvollzu trifftvollundganzzu
    """,
    """
    january jan januar jänner janvier enero gennaio
    february feb februar février fevrier febrero febbraio
    march mar märz mär mrz mars marzo
    april apr avril abril aprile
    may mai mayo maggio
    june jun juni juin junio giugno
    july jul juli juillet julio luglio
    august aug août aout agosto
    september sep sept septembre septiembre settembre
    october oct oktober okt octobre octubre ottobre
    november nov novembre noviembre
    december dec dezember dez décembre decembre diciembre dicembre
    """,
    """
    monday mon montag mo lundi lunes lunedì
    tuesday tue tues dienstag di mardi martes martedì
    wednesday wed mittwoch mi mercredi miércoles mercoledì
    thursday thu thur thurs donnerstag do jeudi jueves giovedì
    friday fri freitag fr vendredi viernes venerdì
    saturday sat samstag sonnabend sa samedi sábado sabato
    sunday sun sonntag so dimanche domingo domenica
    """,
    """
    spring frühling frühjahr printemps primavera
    summer sommer été verano estate
    autumn fall herbst automne otoño autunno
    winter hiver invierno inverno
    """,
    """
    preschool kindergarten vorschule
    primaryschool primary grundschule elementary
    secondaryschool secondary highschool hauptschule
    bachelor bachelors undergraduate
    master masters graduate diplom
    doctorate phd promotion
    """,
    """
    first erste erster erstes premier première primero primera 1st
    second zweite zweiter zweites deuxième segundo segunda 2nd
    third dritte dritter drittes troisième tercero tercera 3rd
    fourth vierte vierter viertes quatrième cuarto cuarta 4th
    fifth fünfte fünfter cinquième quinto quinta 5th
    """,
    """
    child kind kid baby infant juvenile juvenil larva
    teen teenager jugendlich jugendlicher adolescent subadult young
    adult erwachsen erwachsener adulte adulto
    senior elderly old alt
    """,
    """
    cold kalt froid
    cool kühl frais
    mild
    warm chaud tiède
    hot heiß
    """,
    """
    before pre vorher avant antes prima
    during während pendant durante
    after post nachher après después dopo
    """,
    """
    bronze
    silver silber argent
    gold or oro
    platinum platin
    """,
)
_RANKS = [
    {word: rank for rank, line in enumerate(scale.strip().splitlines()) for word in line.split()}
    for scale in _SCALES
]
# Months, days and seasons are cyclic.
_CYCLIC_WORDS = frozenset(
    word for ranks in _RANKS if {"may", "monday", "spring"} & ranks.keys() for word in ranks
)
_BELOW = re.compile(
    r"[<≤]|\b(?:under|below|less|fewer|younger|up to|unter|bis|weniger|jünger|moins|menos|meno)\b",
    re.I,
)
_ABOVE = re.compile(
    r"[>≥+]|\b(?:over|above|more|older|at least|plus|über|ab|mehr|älter|más|mas|oltre)\b", re.I
)
_DATE = re.compile(r"\s*\d{4}-\d\d?-\d\d?\b")
_RANGE = re.compile(r"\d\s*(?:-|\u2013|to|bis|à)\s*\d")


def natural_order(values: Iterable[str]) -> tuple[str, ...] | None:
    """Return the distinct values in the order of their words or numbers, or None.

    Recognised are values that differ only in their numbers (``grade 2``, ``18-25 years``), and
    scales of words in several languages: low to high, small to large, poor to excellent, never to
    always, very dissatisfied to very satisfied, sizes from XS to XL, months, days and seasons. Two
    values of equal rank have no order.
    """
    names = list(dict.fromkeys(values))
    if len(names) < 2:
        return None
    plain = [_MARKS.sub("", name.casefold()) for name in names]
    for ranks in _RANKS:
        word_ranks = [ranks.get(word) for word in plain]
        places = [rank for rank in word_ranks if rank is not None]
        if len(places) == len(names) and len(set(places)) == len(names):
            return tuple(name for _, name in sorted(zip(places, names, strict=True)))
    numbers = [tuple(map(float, _NUMBER.findall(name))) for name in names]
    surroundings = [_NUMBER.sub("", name) for name in names]
    if not all(numbers):
        return None
    if len(set(surroundings)) == 1:
        order = tuple(name for _, name in sorted(zip(numbers, names, strict=True)))
        return order if len(set(numbers)) == len(names) else None
    return _order_open_ranges(names, numbers, surroundings)


def _order_open_ranges(
    names: Sequence[str], numbers: Sequence[tuple[float, ...]], surroundings: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the order of ranges with open ends, such as under 18, 18-24, 65+; None without one."""
    usual, n_usual = Counter(surroundings).most_common(1)[0]
    below = [bool(_BELOW.search(words)) for words in surroundings]
    above = [bool(_ABOVE.search(words)) for words in surroundings]
    odd = [k for k, words in enumerate(surroundings) if words != usual]
    if n_usual < 2 or sum(below) > 1 or sum(above) > 1:
        return None
    if not all(below[k] != above[k] for k in odd):
        return None
    # "Under 18" comes before "18-24", and "65 or older" after "65".
    places = [(range_numbers[0], above[k] - below[k]) for k, range_numbers in enumerate(numbers)]
    order = [names[k] for k in sorted(range(len(names)), key=places.__getitem__)]
    at_ends = all(
        order[0 if below[k] else -1] == names[k] for k in range(len(names)) if below[k] or above[k]
    )
    return tuple(order) if at_ends and len(set(places)) == len(names) else None


def is_cyclic(values: Iterable[str]) -> bool:
    """Return whether values are cyclic: months, days or seasons."""
    return all(_MARKS.sub("", value.casefold()) in _CYCLIC_WORDS for value in values)


def is_increasing(values: Iterable[str]) -> bool:
    """Return whether values certainly go from less to more."""
    names = list(values)
    # 2024-03-01 is a date, not a range.
    if natural_order(names) is None or is_cyclic(names) or all(map(_DATE.match, names)):
        return False
    ranges = [
        bool(_RANGE.search(name) or _BELOW.search(name) or _ABOVE.search(name)) for name in names
    ]
    return all(ranges) or not any(map(_NUMBER.search, names))


def is_scale(sizes: pd.Series) -> bool:
    """Return whether numbers, given the rows of each, are a scale and no groups such as grades."""
    return len(sizes) > _MAX_GRADES or 2 * int((sizes > 1).sum()) < len(sizes)


def proposed_order(values: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct values in their known order, else in order of appearance."""
    names = tuple(dict.fromkeys(values))
    return natural_order(names) or names


def complete_order(order: Sequence[str], values: Iterable[str]) -> tuple[str, ...]:
    """Return an order with further values appended."""
    return tuple(dict.fromkeys([*order, *values]))


def ranks(order: Sequence[str], cells: Sequence[str | None]) -> Floats:
    """Return the rank of each cell in an order, from 0, (n,); NaN for unknown values."""
    at = {value: float(place) for place, value in enumerate(order)}
    codes, distinct = pd.factorize(np.array([*cells, None], dtype=object)[:-1])
    places = [at.get(cell, at.get(cell.strip(), np.nan)) for cell in distinct.tolist()]
    result: Floats = np.array([*places, np.nan])[codes]
    return result
