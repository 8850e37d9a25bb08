"""Tests of all commands: help, examples, exit codes, JSON output."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import hetviz
from hetviz import cli
from hetviz.core import compiled
from hetviz.core.layout import sne
from hetviz.workspace import SetTitle, Workspace, save_project
from hetviz.workspace.store.blobs import BlobStore

Run = Callable[..., tuple[int, str, str]]

PLANTS = "id,name,size,weight\n" + "".join(
    f"p{k},Oak {k},{k * 7 % 11},{k * 5 % 13}\n" for k in range(12)
)
BIRDS = "id,span,mass,size\n" + "".join(f"b{k},{k * 3 % 7},{k * 4 % 9},{k}\n" for k in range(10))
LINKS = "source_dataset,source_id,target_dataset,target_id,weight\n" + "".join(
    f"plants,p{k},birds,b{k % 10},1\n" for k in range(12)
)
NEW = "id,name,size,weight\nn1,=Elm,3,4\np0,Oak,1,1\nn2,Yew,,2\n"
_ENDS = "--source", "plants", "--target", "birds"
# What each is called with: DATA, RUN (a folder of `embed`), NEW, PROJECT and OUT are put in.
SMALL = {
    "samples": [],
    "methods": ["--suggest", "DATA"],
    "embed": ["DATA", "--method", "pca", "--out", "OUT"],
    "periods": ["DATA", "--by", "weight", "--unit", "2", "--method", "mr-sne", "--out", "OUT.csv"],
    "evaluate": ["DATA", "--coordinates", "RUN/coordinates.csv"],
    "guidance": ["DATA", "--report"],
    "join": ["DATA"],
    "propose": ["DATA", *_ENDS, "--column", "birds:span"],
    "compare": ["DATA", "--methods", "pca,cdmca"],
    "search": ["DATA", "--method", "guided-projection", "--try", "gamma=0.1,1", "--fixed-grid"],
    "clusters": ["DATA", "--coordinates", "RUN/coordinates.csv", "--number", "2"],
    "ask": ["DATA", "--coordinates", "RUN/coordinates.csv", "-n", "2"],
    "predict": ["links", "DATA", *_ENDS, "--method", "profiles"],
    "place": ["DATA", "RUN", "NEW", "--dataset", "plants", "--out", "OUT.csv"],
    "run": ["RUN/recipe.toml", "--out", "OUT"],
    "export": ["RUN", "OUT.csv"],
    "diagnostics": ["RUN"],
    "why": ["RUN", "plants", "p3"],
    "find": ["DATA", "p3"],
    "alike": ["DATA", "plants", "p3", "--coordinates", "RUN/coordinates.csv"],
    "linked": ["DATA", "plants", "p3", "p4"],
    "evidence": ["RUN", "links", "--out", "OUT.csv"],
    "spread": ["RUN", "--out", "OUT.csv"],
    "report": ["RUN", "--out", "OUT.html"],
    "project": ["PROJECT"],
    "serve": ["--check"],
    "admin": ["list", "--home", "RUN"],
}
# They serve until they are stopped: tests/cli/test_cli.py and tests/serve/test_agent.py start them.
SERVES = {"app", "mcp"}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = cli.main(arguments)
        seen = capsys.readouterr()
        assert "Traceback" not in seen.err
        return code, seen.out, seen.err

    return call


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make data, new items, the folder of a run, and a project."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "data").mkdir()
    for name, text in {"plants": PLANTS, "birds": BIRDS, "links": LINKS}.items():
        (folder / "data" / f"{name}.csv").write_text(text, encoding="utf-8")
    (folder / "new.csv").write_text(NEW, encoding="utf-8")
    workspace = Workspace(BlobStore(folder / "blobs"))
    workspace.do(SetTitle("Mine"))
    (folder / "mine.hetviz").write_bytes(save_project(workspace))
    data, out = str(folder / "data"), str(folder / "run")
    assert cli.main(["embed", data, "--method", "pca", "--out", out, "--model", f"{out}.zip"]) == 0
    return folder


def filled(words: list[str], created: Path, out: Path) -> list[str]:
    places = {
        "DATA": created / "data",
        "RUN": created / "run",
        "NEW": created / "new.csv",
        "OUT": out,
    }
    places["PROJECT"] = created / "mine.hetviz"
    result = []
    for word in words:
        head = next(
            (key for key in places if word == key or word.startswith((f"{key}/", f"{key}."))), ""
        )
        result.append(str(places[head]) + word.removeprefix(head) if head else word)
    return result


def test_all_commands_are_covered() -> None:
    assert set(SMALL) | SERVES == set(cli.COMMANDS)


def test_help_lists_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert cli.EXIT_CODES in text
    assert all(f" {name} " in text for name in cli.COMMANDS)
    assert sorted(name for names in cli.GROUPS.values() for name in names) == sorted(cli.COMMANDS)


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_command_example_parses(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else the example may be broken at a hyphen.
    monkeypatch.setenv("COLUMNS", "500")
    with pytest.raises(SystemExit) as left:
        cli.main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert left.value.code == 0
    assert "--json" in text
    head, example = text.split("Example: python -m hetviz ")
    assert head
    inputs = cli.make_parser(command).parse_args(example.split())
    assert callable(inputs.command)
    with pytest.raises(SystemExit) as refused:
        cli.main([command, "--no-such-thing"])
    assert refused.value.code == 2


@pytest.mark.parametrize("command", SMALL)
def test_json_is_only_output(command: str, run: Run, made: Path, tmp_path: Path) -> None:
    code, out, _ = run(command, *filled(SMALL[command], made, tmp_path / "out"), "--json")
    assert code == 0
    assert isinstance(json.loads(out), dict | list)


@pytest.mark.parametrize("fitted", ["run", "run/recipe.toml", "run.zip"])
def test_place_writes_new_items(fitted: str, run: Run, made: Path, tmp_path: Path) -> None:
    out = tmp_path / "placed.csv"
    new = str(made / "new.csv")
    code, text, notes = run(
        "place", str(made / "data"), str(made / fitted), new, "--dataset", "plants",
        "--out", str(out),
    )  # fmt: skip
    assert code == 0
    assert "nearest: birds" in text
    assert "already exists" in notes
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["n1", "n2"]
    assert all(row["x"] and row["doubt"] and row["nearest_birds"] for row in rows)


def test_place_rejects_bad_input(run: Run, made: Path, tmp_path: Path) -> None:
    data, new = str(made / "data"), str(made / "new.csv")
    code, _, err = run("place", data, str(made / "run"), new, "--dataset", "fish")
    assert (code, "birds, plants" in err) == (1, True)
    code, _, err = run("place", data, new, new, "--dataset", "plants")
    assert code == 1
    assert err.startswith("Error: ")


@pytest.mark.parametrize("fitted", ["run", "run.zip"])
def test_place_rejects_run_of_other_data(fitted: str, run: Run, made: Path, tmp_path: Path) -> None:
    whole = hetviz.load(str(made / "data"))
    half = {name: range(1, len(dataset)) for name, dataset in whole.datasets.items()}
    hetviz.save(whole.edit().subset({name: [*rows] for name, rows in half.items()}), tmp_path / "d")
    new = str(made / "new.csv")
    words = ["place", str(tmp_path / "d"), str(made / fitted), new, "--dataset", "plants"]
    code, _, err = run(*words)
    assert code == 1
    assert "other data" in err


def test_number_of_threads_changes_no_map(
    run: Run,
    made: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = str(made / "data")
    monkeypatch.setattr(sne, "ONE_THREAD_ROWS", 5)
    used: list[int] = []
    team = compiled.Team.__init__
    monkeypatch.setattr(
        compiled.Team, "__init__", lambda self, n: (used.append(n), team(self, n))[1]
    )
    for jobs in ("1", "3"):
        out = str(tmp_path / jobs)
        code, _, error = run("embed", data, "--method", "mr-sne", "--jobs", jobs, "--out", out)
        assert code == 0, error
    assert set(used) == {1, 3}
    one, three = ((tmp_path / jobs / "coordinates.csv").read_bytes() for jobs in ("1", "3"))
    assert one == three
    for text in ("0", "1.5", "many"):
        with pytest.raises(SystemExit):
            run("embed", data, "--method", "pca", "--jobs", text)
        assert f"{text!r} is no number of threads" in capsys.readouterr().err


def test_interrupt_exits_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr("hetviz.cli.catalogue.samples", stop)
    assert run("samples")[0] == 130
