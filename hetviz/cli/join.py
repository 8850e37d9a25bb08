"""Say how datasets seem to belong together, and join them."""

from __future__ import annotations

import argparse

import hetviz
from hetviz.cli.arguments import Add, add_data
from hetviz.cli.terminal import show
from hetviz.errors import ParameterError


def register(add: Add) -> None:
    """Add the command."""
    join = add(
        "join",
        _join,
        "Say how datasets seem to belong together, with score and evidence, and join them.",
        "join tables/ --accept 1 --out joined.zip",
    )
    add_data(join)
    join.add_argument(
        "--accept",
        type=int,
        action="append",
        default=[],
        metavar="N",
        help="carry out proposal N of the list; may be repeated",
    )
    join.add_argument("--out", metavar="PATH", help="bundle to write the joined data to (--accept)")


def _join(given: argparse.Namespace) -> int:
    data = hetviz.load(given.data)
    found = hetviz.propose_joins(data)
    if given.accept and given.out is None:
        raise ParameterError("--accept needs --out PATH: where to save the joined data.")
    if given.out is not None and not given.accept:
        raise ParameterError("--out needs --accept N: which proposal to carry out.")
    for number in given.accept:
        if not 1 <= number <= len(found):
            raise ParameterError(f"--accept {number}: there are {len(found)} proposals.")
    lines = []
    for number, proposal in enumerate(found, start=1):
        lines.append(f"{number:>2}. {proposal.score:.2f}  {proposal.title}")
        lines += [f"      {words}" for words in proposal.evidence]
        pairs = "; ".join(f"{a} - {b}" for a, b in proposal.examples(data))
        lines.append(f"      {len(proposal.match.i):,} pairs, for example {pairs}")
        lines += [f"      Note: {words}" for words in proposal.reach.warnings]
    record = {"proposals": [proposal.to_dict(data) for proposal in found]}
    if given.accept:
        chosen = list(dict.fromkeys(given.accept))
        joined = data
        for number in chosen:
            joined = found[number - 1].join.carried_out(joined)
        hetviz.save(joined, given.out)
        record |= {"accepted": chosen, "out": given.out}
        lines = [
            *(f"Joined: {found[number - 1].title}" for number in chosen),
            f"Saved to {given.out}.",
        ]
    show(given, record, lines or ["Nothing seems to join them: no ids, columns or places agree."])
    return 0
