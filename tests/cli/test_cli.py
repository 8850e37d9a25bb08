"""Tests of the command line, run in this process."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import hetviz
from hetviz import cli
from tests.waits import PATIENCE_S

DRUGS = "id,mass,size\n007,1.5,3\nNA,2.5,1\n1e5,4.5,2\n008,0.5,7\n"
TARGETS = "id,p,q\nt1,1,4\nt2,3,1\nt3,2,2\nt4,5,3\n"
LINKS = "source_dataset,source_id,target_dataset,target_id,weight\n"
GOOD = "drugs,007,targets,t1,1\ndrugs,NA,targets,t2,1\ndrugs,1e5,targets,t3,0.5\n"


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        seen = capsys.readouterr()
        assert "Traceback" not in seen.err
        return code, seen.out, seen.err

    return call


@pytest.fixture
def folder(tmp_path):
    """Make a folder of CSV files; a name with None leaves the file out."""

    def make(**files):
        texts = {"drugs": DRUGS, "targets": TARGETS, "links": LINKS + GOOD} | files
        for name, text in texts.items():
            content = text if isinstance(text, bytes) else text.encode()
            (tmp_path / f"{name}.csv").write_bytes(content)
        return tmp_path

    return make


def embed(run, source, out, *more):
    return run("embed", source, "--method", "guided-projection", "--out", out, *more)


def ids_written(out):
    lines = (out / "coordinates.csv").read_text(encoding="utf-8").splitlines()[1:]
    return [line.split(",")[1] for line in lines]


def test_embed_evaluate_run(run, folder, tmp_path):
    out = tmp_path / "out"
    code, text, _ = embed(run, folder(), out, "--seed", 3, "--json")
    assert code == 0
    record = json.loads(text)
    assert json.loads((out / "scores.json").read_text()) == record
    assert ids_written(out)[:4] == ["007", "NA", "1e5", "008"]
    code, text, _ = run("evaluate", tmp_path, "--coordinates", out / "coordinates.csv", "--json")
    assert code == 0
    area = "guidance_area"
    assert json.loads(text)[area] == pytest.approx(record["scores"][area])
    code, text, _ = run("evaluate", tmp_path, "--method", "pca", "--set", "n_components=1")
    assert code == 0
    assert "guidance_area" in text
    code, _, _ = run("run", out, "--out", tmp_path / "again")
    assert code == 0
    assert (tmp_path / "again" / "coordinates.csv").read_bytes() == (
        out / "coordinates.csv"
    ).read_bytes()


def test_methods_samples_list(run, folder):
    code, text, _ = run("methods", "--json")
    assert code == 0
    assert [card["key"] for card in json.loads(text)] == [card.key for card in hetviz.methods()]
    code, text, _ = run("methods", "--suggest", folder())
    assert code == 0
    assert "guided-projection   suits" in text
    code, text, _ = run("samples", "--json")
    assert list(json.loads(text)) == hetviz.samples()


@pytest.mark.parametrize("command", ["app", "samples", "methods", "embed", "evaluate", "run"])
def test_help_has_example(command, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main([command, "--help"])
    assert caught.value.code == 0
    assert f"Example: python -m hetviz {command}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["embed", "x", "--method", "pca", "--out", "y", "--set", "z"],
    ],
)
def test_wrong_usage_exits_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_bare_call_prints_help_and_wrong_commands_get_a_suggestion(capsys):
    assert cli.main([]) == 2
    assert capsys.readouterr().out.startswith("usage: hetviz COMMAND")
    assert cli.main(["fly"]) == 2
    assert "no command 'fly'. See: hetviz --help" in capsys.readouterr().err
    assert cli.main(["embd"]) == 2
    assert "Did you mean embed?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"links": LINKS + "drugs,07,targets,t1,1\n" + GOOD}, ["row 1", "'07'", "Did you mean"]),
        ({"drugs": DRUGS + "007,1,1\n"}, ["row 1", "'007'", "no item with this id"]),
        ({"drugs": ""}, ["drugs.csv", "the file is empty"]),
        ({"links": LINKS + "drugs,007,targets,t1,nan\n"}, ["row 1", "not a number"]),
        ({"links": LINKS + "drugs,007,targets,t1,-1\n"}, ["All links keep items apart"]),
        ({"links": b"PK\x03\x04 xl/workbook.xml"}, ["links.csv", "a zip inside another"]),
    ],
)
def test_bad_input_exits_1(run, folder, tmp_path, files, words):
    code, _, messages = embed(run, folder(**files), tmp_path / "out")
    assert code == 1
    for word in words:
        assert word in messages
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "files",
    [
        {"drugs": DRUGS.replace(",", ";"), "links": (LINKS + GOOD).replace(",", ";")},
        {"targets": "id,größe\nt1,1\nt2,3\nt3,2\nt4,5\n".encode("latin-1")},
        {"drugs": "id,mass,same\n007,1,5\nNA,2,5\n1e5,3,5\n"},
        {"drugs": "id,mass,size\n007,1,NaN\nNA,2,1\n1e5,3,2\n"},
    ],
    ids=["semicolons", "latin-1", "constant column", "missing value"],
)
def test_unusual_input_is_read(run, folder, tmp_path, files):
    code, _, _ = embed(run, folder(**files), tmp_path / "out")
    assert code == 0
    assert ids_written(tmp_path / "out")[:3] == ["007", "NA", "1e5"]


def test_single_row_gives_result_or_error(run, folder, tmp_path):
    entry = folder(drugs="id,mass\n007,1.5\n", links=LINKS + "drugs,007,targets,t1,1\n")
    code, _, messages = embed(run, entry, tmp_path / "out")
    assert code == 1
    assert "The linked rows do not differ" in messages
    code, _, _ = run("embed", entry, "--method", "pca", "--out", tmp_path / "out")
    assert code == 0
    assert ids_written(tmp_path / "out") == ["007", "t1", "t2", "t3", "t4"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["embed", "emojis", "--method", "pca", "--out", "x"], "Did you mean 'emoji'"),
        (["embed", "emoji", "--method", "pcaa", "--out", "x"], "Did you mean pca"),
        (["embed", "emoji", "--method", "pca", "--set", "k=1", "--out", "x"], "no parameter 'k'"),
        (["run", "nowhere.toml"], "does not exist"),
        (["evaluate", "digits", "--coordinates", "nowhere.csv"], "does not exist"),
    ],
)
def test_unknown_names_exit_1(run, arguments, word):
    code, _, messages = run(*arguments)
    assert code == 1
    assert word in messages


def test_errors_as_json(run, folder, tmp_path):
    bad = folder(links=LINKS + "drugs,07,targets,t1,1\n")
    code, _, messages = embed(run, bad, tmp_path / "out", "--json")
    assert code == 1
    record = json.loads(messages)
    assert record["error"] == "DataError"
    assert record["problems"][0]["code"] == "unknown-id"


def test_module_runs_as_program():
    done = subprocess.run(
        [sys.executable, "-m", "hetviz", "methods"], capture_output=True, text=True, check=True
    )
    assert "pca" in done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_serving(port):
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/_stcore/health", timeout=PATIENCE_S
        ) as reply:
            return reply.read() == b"ok"
    except OSError:
        return False


def test_app_serves_until_terminated(tmp_path):
    port = free_port()
    app = subprocess.Popen(
        [sys.executable, "-m", "hetviz", "app", "--port", str(port), "--headless"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(hetviz.__file__).parents[1])},
        stdout=subprocess.DEVNULL,
    )
    try:
        while not is_serving(port):
            assert app.poll() is None
            time.sleep(0.1)
    finally:
        app.terminate()
        code = app.wait(PATIENCE_S)
    assert not is_serving(port)
    assert code == 0


def test_embed_default_method_is_explained(run, folder, tmp_path):
    code, text, _ = run("embed", folder(), "--out", tmp_path / "out")
    assert code == 0
    why, placed = text.splitlines()[:2]
    _, _, words = placed.partition(": ")
    assert words.startswith("8 rows placed")
    assert why.startswith("Chosen because")
    code, _, messages = run("embed", folder(), "--set", "k=1", "--out", tmp_path / "other")
    assert code == 1
    assert "--set needs --method" in messages


def test_output_is_never_replaced_silently(run, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = folder()
    names = []
    for _ in range(2):
        code, text, _ = run("embed", source, "--method", "pca")
        assert code == 0
        names.append(text.split("Written to ")[1].split(".")[0])
    assert names[1] == f"{names[0]}-2"
    before = Path(names[0], "scores.json").read_bytes()
    code, _, messages = run("embed", source, "--method", "cdmca", "--out", names[0])
    assert code == 1
    assert "add --force" in messages
    assert Path(names[0], "scores.json").read_bytes() == before
    assert run("embed", source, "--method", "cdmca", "--out", names[0], "--force")[0] == 0
    assert Path(names[0], "scores.json").read_bytes() != before


def test_no_kind_of_output_is_replaced_silently(run, folder, tmp_path):
    source, place = folder(), tmp_path / "out"
    place.mkdir()
    out, kept, new = place / "run", place / "kept.csv", place / "new.csv"
    embed = ["embed", source, "--method", "pca", "--out"]
    assert run(*embed, out)[0] == 0
    calls = [
        [*embed, place / "other", "--model", kept],
        ["export", out, new, kept],
        ["guidance", source, "--export", kept],
    ]
    for call in calls:
        new.unlink(missing_ok=True)
        kept.write_text("mine")
        code, _, messages = run(*call)
        assert code == 1, call
        assert f"{kept} exists. Choose another name, or add --force" in messages
        assert kept.read_text() == "mine"
        assert not new.exists()
        assert run(*call, "--force")[0] == 0, call
        assert kept.read_bytes() != b"mine"


@pytest.mark.parametrize(
    ("line", "offered"),
    [("hetviz emb", {"embed", "export"}), ("hetviz embed --m", {"--method", "--model"})],
)
def test_shell_completion_by_argcomplete(line, offered, monkeypatch):
    seen = []
    stand_in = SimpleNamespace(autocomplete=seen.append)
    monkeypatch.setitem(sys.modules, "argcomplete", stand_in)
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    monkeypatch.setenv("COMP_LINE", line)
    cli.main(["--version"])
    (parser,) = seen
    assert all(word in parser_words(parser) for word in offered)


def parser_words(parser):
    words = set(parser._option_string_actions)
    for action in parser._actions:
        words |= set(action.choices or ())
        if isinstance(action.choices, dict):
            words |= {word for sub in action.choices.values() for word in parser_words(sub)}
    return words


def test_embed_only_rows_weights_hold_out(run, folder, tmp_path):
    source = folder(links=LINKS + GOOD + "drugs,008,targets,t4,1\n")
    choice = tmp_path / "choice" / "rows.csv"
    choice.parent.mkdir()
    present = ["drugs,007", "drugs,NA", "drugs,1e5", "targets,t1", "targets,t2", "targets,t3"]
    choice.write_text("\n".join(["dataset,id", *present, ""]))
    out = tmp_path / "out" / "run"
    special = ["--weigh", "drugs|targets|link=0.5", "--only", choice, "--hold-out", "0.3"]
    code, text, _ = embed(run, source, out, *special)
    assert code == 0
    assert "6 rows placed" in text
    lines = (out / "coordinates.csv").read_text().splitlines()[1:]
    assert [line.split(",")[1] for line in lines if line.endswith(",")] == ["008", "t4"]
    assert (out / "only.csv").read_text() == choice.read_text()
    code, _, _ = run("run", out, "--out", tmp_path / "out" / "again")
    assert code == 0
    again = tmp_path / "out" / "again" / "coordinates.csv"
    assert again.read_bytes() == (out / "coordinates.csv").read_bytes()


def test_embed_pins_rows_of_a_file(run, folder, tmp_path):
    source = folder(links=LINKS + GOOD)
    pinned = tmp_path / "pinned.csv"
    pinned.write_text("dataset,id\ndrugs,007\ntargets,t1\n")
    out = tmp_path / "out"
    options = ["--method", "mr-sne", "--pin", f"top left={pinned}", "--pin", f"0.9,0.1={pinned}"]
    code, _, _ = run("embed", source, *options, "--out", out)
    assert code == 0
    items = '{drugs = ["007"], targets = ["t1"]}'
    places = (out / "recipe.toml").read_text()
    assert f'{{place = "top left", items = {items}}}' in places
    assert f"{{place = [0.9, 0.1], items = {items}}}" in places
    code, _, _ = run("run", out, "--out", tmp_path / "again")
    assert code == 0
    again = (tmp_path / "again" / "coordinates.csv").read_bytes()
    assert again == (out / "coordinates.csv").read_bytes()


def test_pin_without_file_is_refused(run, folder, capsys):
    with pytest.raises(SystemExit):
        run("embed", folder(), "--method", "mr-sne", "--pin", "left")
    assert "not of the form place=file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pin", "method", "word"),
    [
        ("left=nowhere.csv", "mr-sne", "does not exist"),
        ("middle={}", "mr-sne", "must be a list of"),
        ("left={}", "pca", "cannot pin items"),
        ("left={}", None, "--pin needs --method"),
    ],
)
def test_bad_pins_are_refused(run, folder, tmp_path, pin, method, word):
    file = tmp_path / "pinned.csv"
    file.write_text("dataset,id\ndrugs,007\n")
    options = [] if method is None else ["--method", method]
    code, _, messages = run("embed", folder(), *options, "--pin", pin.format(file))
    assert code == 1
    assert word in messages


@pytest.mark.parametrize(
    ("special", "word"),
    [
        (["--weigh", "drugs|target|link=0.5"], "Did you mean 'drugs|targets|link'"),
        (["--weigh", "drugs|targets|link=2"], "between 0 and 1"),
        (["--weigh", "drugs|targets|link=1", "--weigh", "drugs|targets|link=0"], "twice"),
        (["--only", "nowhere.csv"], "does not exist"),
        (["--hold-out", "1"], "a share from 0 to below 1"),
    ],
)
def test_bad_options_exit_1(run, folder, tmp_path, special, word):
    code, _, messages = embed(run, folder(), tmp_path / "out", *special)
    assert code == 1
    assert word in messages
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("word", ["x", "a|b|c=", "a|b|c=much"])
def test_bad_weight_exits_2(word, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["embed", "emoji", "--method", "pca", "--out", "x", "--weigh", word])
    assert caught.value.code == 2
    assert "key=number" in capsys.readouterr().err


COMPARE = ("--methods", "pca,guided-projection", "--seeds", 2, "--hold-out", 0.3)


def test_compare_prints_table_and_recommendation(run, folder, tmp_path):
    code, text, _ = run("compare", folder(), *COMPARE)
    assert code == 0
    lines = text.splitlines()
    assert lines[0].split()[0] == "method"
    assert {lines[1].split()[0], lines[2].split()[0]} == {"pca", "guided-projection"}
    assert "Take " in lines[-1]
    out = tmp_path / "out"
    code, text, _ = run("compare", folder(), *COMPARE, "--json", "--out", out)
    assert code == 0
    record = json.loads(text)
    assert [row["method"] for row in record["table"]] == [line.split()[0] for line in lines[1:3]]
    assert json.loads((out / "compare.json").read_text())["seeds"] == [0, 1]
    table = pd.read_csv(out / "compare.csv")
    assert len(table) == 2
    assert {"Hidden links found again", "Hidden links found again, standard error"} <= set(table)


def test_compare_rejects_bad_options(run, folder):
    assert run("compare", folder(), "--methods", "pac")[0] == 1
    assert run("compare", folder(), "--hold-out", 2)[0] == 1
