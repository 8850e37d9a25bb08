"""The command line: the same engine as the app, without a browser.

Exit codes: 0 done, 1 the data or the parameters are wrong (the message says what), 2 the command
itself is wrong.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import hetviz
from hetviz import params as parameters
from hetviz.errors import DataError, HetvizError, ParameterError, Problem
from hetviz.progress import Progress, silent

_DATA_HELP = "a sample (see `samples`), a bundle (folder or zip), or a CSV file or folder of them"
_PACKAGE = Path(__file__).resolve().parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Ids may hold letters that the terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")
    given = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _tell
            return int(given.command(given))
    except HetvizError as error:
        _print_error(error, given.json)
        return 1
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hetviz",
        description="One joint map of several unlike datasets, moved by what is known of them.",
        epilog="example: python -m hetviz embed digits --method guided-projection --out result",
    )
    parser.add_argument("--version", action="version", version=f"hetviz {hetviz.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(
        name: str, run: Callable[[argparse.Namespace], int], words: str, example: str
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name, help=words, description=words, epilog=f"example: python -m hetviz {example}"
        )
        command.set_defaults(command=run)
        command.add_argument("--json", action="store_true", help="print JSON")
        return command

    app = add("app", _app, "Start the app in a browser.", "app --port 8501")
    app.add_argument("--port", type=int, help="port to serve on")
    app.add_argument("--headless", action="store_true", help="open no browser window")

    add("samples", _samples, "List the samples.", "samples")

    methods = add("methods", _methods, "List the methods.", "methods --suggest emoji")
    methods.add_argument("--suggest", metavar="DATA", help=f"say which suit {_DATA_HELP}")

    embed = add(
        "embed",
        _embed,
        "Place all items; write coordinates.csv, scores.json and recipe.toml.",
        "embed emoji --method guided-projection --set kernel=rbf --out result",
    )
    _add_data(embed)
    embed.add_argument("--method", metavar="KEY", required=True, help="see `methods`")
    _add_parameters(embed)
    embed.add_argument(
        "--weigh",
        action="append",
        default=[],
        metavar="KEY=F",
        type=_weight,
        help="weigh a kind of links by F, 0 to 1; KEY is 'source|target|kind'; may be repeated",
    )
    embed.add_argument("--only", metavar="FILE", help="CSV of the rows to place: dataset, id")
    embed.add_argument(
        "--hold-out",
        type=float,
        default=0.0,
        metavar="F",
        help="share of the links to keep from the method and judge the map by (0)",
    )
    embed.add_argument("--out", required=True, metavar="DIR", help="folder to write into")

    evaluate = add(
        "evaluate",
        _evaluate,
        "Measure a map.",
        "evaluate digits --coordinates result/coordinates.csv",
    )
    _add_data(evaluate)
    which = evaluate.add_mutually_exclusive_group(required=True)
    which.add_argument("--coordinates", metavar="FILE", help="CSV with dataset, id and axes")
    which.add_argument("--method", metavar="KEY", help="see `methods`")
    _add_parameters(evaluate)

    run = add("run", _run, "Run a recipe again.", "run result/recipe.toml --out again")
    run.add_argument("recipe", help="a recipe.toml, or the folder that holds one")
    run.add_argument("--out", metavar="DIR", help="folder to write into (run/ beside the recipe)")
    return parser


def _add_data(command: argparse.ArgumentParser) -> None:
    command.add_argument("data", metavar="DATA", help=_DATA_HELP)


def _add_parameters(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="P=V",
        type=_assignment,
        help="a parameter of the method; may be repeated",
    )
    command.add_argument("--seed", type=int, default=0, help="seed of random numbers (0)")


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    return name.strip(), value


def _weight(text: str) -> tuple[str, float]:
    # The name of a dataset may hold the sign as well, so the last one counts.
    key, _, factor = text.rpartition("=")
    try:
        return key, float(factor)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=number") from None


def _app(given: argparse.Namespace) -> int:
    script = next(
        (path for path in (_PACKAGE / "app.py", _PACKAGE.parent / "app.py") if path.is_file()), None
    )
    if script is None:
        raise HetvizError("The app was not installed with this copy of hetviz; install it again.")
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    if given.port is not None:
        command += ["--server.port", str(given.port)]
    if given.headless:
        command += ["--server.headless", "true"]
    with subprocess.Popen(command) as server:  # noqa: S603 - our own interpreter and script
        # Whoever stops this process means the server.
        signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        return server.wait()


def _samples(given: argparse.Namespace) -> int:
    from hetviz.io import read_bundle

    found = {name: read_bundle(name).title for name in hetviz.samples()}
    _print(given, found, [f"{name:<14}{title}" for name, title in found.items()])
    return 0


def _methods(given: argparse.Namespace) -> int:
    if given.suggest is None:
        cards = [
            {"key": card.key, "title": card.title, "family": card.family, "summary": card.summary}
            for card in hetviz.methods()
        ]
        lines = [f"{card['key']:<20}{card['summary']}" for card in cards]
        _print(given, cards, lines)
        return 0
    verdicts = [
        {"key": v.card.key, "suits": v.suits, "reasons": list(v.reasons)}
        for v in hetviz.suggest(hetviz.load(given.suggest))
    ]
    lines = [
        f"{v['key']!s:<20}{'suits' if v['suits'] else 'does not suit'}: "
        + " ".join(map(str, v["reasons"]))  # type: ignore[call-overload]
        for v in verdicts
    ]
    _print(given, verdicts, lines)
    return 0


def _embed(given: argparse.Namespace) -> int:
    from hetviz.io import read_bundle
    from hetviz.runs import fit_run, write_run
    from hetviz.runs.rows import read_rows_file

    params = _params(given)
    loaded = read_bundle(given.data).strict()
    weights = dict(given.weigh)
    if len(weights) < len(given.weigh):
        raise ParameterError("--weigh names one kind of links twice.")
    fitted = fit_run(
        loaded.data,
        given.method,
        params,
        given.seed,
        _progress(),
        weights=weights,
        only=None if given.only is None else read_rows_file(Path(given.only), loaded.data),
        hold_out=given.hold_out,
    )
    source = given.data if given.data in hetviz.samples() else str(Path(given.data).resolve())
    record = write_run(given.out, source, loaded.data, fitted, loaded.held_out)
    placed = fitted.embedding.n_rows - fitted.embedding.n_unplaced
    lines = [
        f"{given.method}: {placed:,} rows placed in {fitted.run.seconds:.2f} s",
        *_score_lines(record["scores"]),
        f"Written to {given.out}",
    ]
    _print(given, record, lines)
    return 0


def _evaluate(given: argparse.Namespace) -> int:
    from hetviz.io import gate, read_bundle, read_coordinates

    loaded = read_bundle(given.data).strict()
    if given.coordinates is not None:
        file = Path(given.coordinates)
        embedding = read_coordinates(file.name, gate.read_file(file), loaded.data)
    else:
        embedding = hetviz.embed(
            loaded.data,
            given.method,
            random_state=given.seed,
            progress=_progress(),
            **_params(given),
        )
    scores = hetviz.evaluate(loaded.data, embedding, loaded.held_out).to_dict()
    _print(given, scores, _score_lines(scores))
    return 0


def _run(given: argparse.Namespace) -> int:
    folder = hetviz.run_recipe(given.recipe, given.out, progress=_progress())
    record = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    lines = [*_score_lines(record["scores"]), f"Written to {folder}"]
    _print(given, record, lines)
    return 0


def _params(given: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of --set, with their type."""
    declared = hetviz.get_method(given.method).params
    found: dict[str, Any] = {}
    for name, text in given.set:
        if name in found:
            raise ParameterError(f"--set {name} is given twice.")
        found[name] = parameters.parse(declared[name], text) if name in declared else text
    parameters.check(given.method, declared, found)
    return found


def _score_lines(scores: dict[str, float]) -> list[str]:
    return [f"{name:<32}{value:.4f}" for name, value in scores.items()]


def _say(text: str, stream: TextIO | None = None) -> None:
    # Looked up late: tests and callers may have replaced it.
    (stream or sys.stdout).write(text + "\n")


def _print(given: argparse.Namespace, value: Any, lines: Sequence[str]) -> None:
    _say(json.dumps(value, indent=2, ensure_ascii=False) if given.json else "\n".join(lines))


def _print_error(error: HetvizError, as_json: bool) -> None:
    if not as_json:
        _say(f"Error: {error}", sys.stderr)
        return
    problems: tuple[Problem, ...] = error.problems if isinstance(error, DataError) else ()
    record = {
        "error": type(error).__name__,
        "message": str(error),
        "problems": [problem.to_dict() for problem in problems],
    }
    _say(json.dumps(record, indent=2, ensure_ascii=False), sys.stderr)


def _tell(message: Warning | str, *details: Any, **more: Any) -> None:
    _say(f"Note: {message}", sys.stderr)


def _progress() -> Progress:
    """Return a line that follows the work, where somebody is looking at it."""
    if not sys.stderr.isatty():
        return silent

    def show(fraction: float, message: str = "", **figures: Any) -> None:
        sys.stderr.write(f"\r\x1b[2K{fraction:4.0%} {message}" + "\n" * (fraction >= 1))
        sys.stderr.flush()

    return show
