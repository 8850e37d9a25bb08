"""Tests of the command `guidance`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import hetviz
from hetviz import Links, cli

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = cli.main(["guidance", *map(str, arguments)])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return call


def test_report_lists_contradictions_and_coverage(run: Run, tmp_path: Path) -> None:
    code, text, _ = run("emoji")
    assert code == 0
    assert "There are no contradictions." in text
    assert "emoji - keywords: 3,938 links reach 1,155 of 1,273" in text
    emoji = hetviz.load("emoji")
    given = emoji.links[0]
    opposite = Links(given.source, given.target, given.i[:3], given.j[:3], -1.0, kind="said")
    hetviz.save(emoji.edit().add(opposite), tmp_path / "opposed")
    code, text, _ = run(tmp_path / "opposed", "--report", "--json")
    assert code == 0
    assert len(json.loads(text)["conflicts"]) == 3


def test_learned_lists_groups(run: Run, tmp_path: Path) -> None:
    digits = hetviz.load("digits")
    named = [row for row, name in enumerate(digits.labels[0].values) if str(name) == "0"][:9]
    ring = hetviz.links_between(digits, named, None, 1.0)
    hetviz.save(digits.edit().add(*ring), tmp_path / "said.zip")
    code, text, _ = run(tmp_path / "said.zip", "--learned")
    assert code == 0
    assert "may be similar" in text
    _, text, _ = run(tmp_path / "said.zip", "--learned", "--json")
    (group,) = (g for g in json.loads(text) if g["n_named"] == 9)
    assert group["learned"]
    _, text, _ = run("emoji", "--learned")
    assert "linked together" in text
    _, text, _ = run("digits", "--more-like", digits.labels[0].name, "--json")
    assert {group["label"][0] for group in json.loads(text)} == {digits.labels[0].name}


def test_did_reports_consequences(run: Run, tmp_path: Path) -> None:
    digits = hetviz.load("digits")
    Y = np.random.default_rng(0).normal(size=(digits.n_rows, 2))
    lines = [
        f"{entry},{id_},{Y[row][0]},{Y[row][1]}"
        for entry, span in digits.offsets.items()
        for row, id_ in zip(range(span.start, span.stop), digits[entry].ids, strict=True)
    ]
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    for file in (before, after):
        file.write_text("\n".join(["dataset,id,x,y", *lines]))
    statements = digits.edit().add(*hetviz.links_between(digits, [0, 5], None, 1.0))
    hetviz.save(statements, tmp_path / "said.zip")
    code, text, _ = run(tmp_path / "said.zip", "--did", before, after, "--json", "--set", "said")
    assert code == 0
    record = json.loads(text)
    assert record["n_said"] == 1
    assert record["kept_before"] == record["kept_after"]
    assert record["n_moved"] == 0
    code, _, messages = run(tmp_path / "said.zip", "--did", before, after, "--set", "yours")
    assert code != 0
    assert "unknown set" in messages


def test_export_import_round_trip(run: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "said.csv", tmp_path / "with.zip"
    code, text, _ = run("digits", "--export", file)
    assert (code, "753 statements" in text) == (0, True)
    more = file.read_text(encoding="utf-8") + "link,pixels,p0005,pixels,nobody" + "," * 17 + "\n"
    file.write_text(more, encoding="utf-8")
    code, _, messages = run("digits", "--import", file, "--out", out)
    assert code == 1
    assert "nobody" in messages
    assert not out.exists()
    code, text, messages = run("digits", "--import", file, "--out", out, "--leave-out")
    assert code == 0
    assert "0 added, 0 changed, 753 unchanged, 1 left out" in text
    assert "nobody" in messages
    assert hetviz.load(out).fingerprint() == hetviz.load("digits").fingerprint()


def test_merge_reports_differences(run: Run, tmp_path: Path) -> None:
    header = "source_dataset,source_id,target_dataset,target_id,weight\n"
    ours, theirs, out = (tmp_path / name for name in ("a.csv", "b.csv", "out.csv"))
    ours.write_text(header + "pixels,p0005,pixels,p0018,1\n", encoding="utf-8")
    theirs.write_text(
        header + "pixels,p0018,pixels,p0005,0.5\npixels,p0005,pixels,p0018,-1\n", encoding="utf-8"
    )
    code, text, _ = run("digits", "--merge", ours, theirs, "--out", out)
    assert code == 0
    assert "1 statements in both, 0 only in the first, 1 only in the second" in text
    assert "weight 1.0 and 0.5" in text
    assert "are linked both as apart and as together" in text
    assert len(out.read_text(encoding="utf-8").splitlines()) == 3


def test_missing_options_are_errors(run: Run, tmp_path: Path) -> None:
    code, _, messages = run("digits", "--import", tmp_path / "x.csv")
    assert (code, "--out BUNDLE" in messages) == (1, True)
    code, _, messages = run("digits", "--export", tmp_path / "no" / "x.csv")
    assert (code, "cannot be written" in messages) == (1, True)
    code, text, _ = run("digits", "--template", "comparisons")
    assert (code, text.startswith("a_dataset,a_id")) == (0, True)


def test_people_of_two_files(run: Run, tmp_path: Path) -> None:
    source = hetviz.load("emoji")
    first, second = map(str, source["emoji"].ids[:2])
    header = "source_dataset,source_id,target_dataset,target_id,weight\n"
    bundle: object = "emoji"
    for name, weight in (("Ada", 1), ("Bob", -1)):
        file = tmp_path / f"{name}.csv"
        file.write_text(f"{header}emoji,{first},emoji,{second},{weight}\n", encoding="utf-8")
        out = tmp_path / name
        assert run(bundle, "--import", file, "--author", name, "--out", out)[0] == 0
        bundle = out
    code, text, _ = run(bundle, "--people")
    assert code == 0
    assert text.splitlines()[:3] == [
        "Ada: 1 link.",
        "Bob: 1 link.",
        "Pairs: no alpha for 1 pair judged by both people: fewer than 5. They differ on 1.",
    ]
    assert run(bundle, "--export", tmp_path / "bob.csv", "--author", "Bob")[0] == 0
    lines = (tmp_path / "bob.csv").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("link,") for line in lines) == 1
    code, _, error = run(bundle, "--export", tmp_path / "c.csv", "--author", "Cem")
    assert code != 0
    assert "Available: Ada, Bob." in error
