"""Run the papers' experiments: ``python -m benchmarks.papers [name ...] [--quick] [--data DIR]``.

Tables, figures and a summary page go to a folder; the page is made of all experiments kept there.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from threadpoolctl import threadpool_limits

from benchmarks.papers.data import missing
from benchmarks.papers.out import Out
from benchmarks.papers.summary import write_page, write_summary

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("p[0-9]*.py"))


def main(given: list[str] | None = None) -> int:
    """Run those named, or all, and write the summary page; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        help=f"any of {', '.join(NAMES)}, or their beginnings such as p000; all when none is "
        "named; 'summary' runs none and writes the page again",
    )
    parser.add_argument("--quick", action="store_true", help="fewer splits, smaller sizes")
    parser.add_argument("--data", type=Path, help="folder with data sets that do not come along")
    parser.add_argument("--out", type=Path, help="out/papers, with --quick out/papers-quick")
    parser.add_argument("--resume", action="store_true", help="take up what was finished before")
    parser.add_argument("--page", type=Path, help="write a short page with the front figures here")
    arguments = parser.parse_args(given)
    folder = arguments.out or Path("out/papers-quick" if arguments.quick else "out/papers")
    named = [] if arguments.names == ["summary"] else chosen(arguments.names, parser)
    failed = []
    for name in named:
        module = importlib.import_module(f"benchmarks.papers.{name}")
        if not run(module, folder / name, arguments):
            failed.append(name)
        write_summary(folder)
    pages = write_summary(folder) if folder.is_dir() else []
    if arguments.page is not None:
        pages.append(write_page(folder, arguments.page))
    for page in pages:
        print(page)
    return 1 if failed else 0


def chosen(names: list[str], parser: argparse.ArgumentParser) -> list[str]:
    """Return the experiments whose names begin so, all when none is given."""
    found = []
    for given in names:
        begin = given if given.startswith("p") else f"p{given}"
        matching = [name for name in NAMES if name.startswith(begin)]
        if not matching:
            parser.error(f"unknown: {given}; there are {', '.join(NAMES)}")
        found += matching
    return list(dict.fromkeys(found)) or NAMES


def run(module: ModuleType, folder: Path, arguments: argparse.Namespace) -> bool:
    """Run one experiment on one thread; a failure is recorded, and the others go on."""
    needs_folder = any(source.folder is not None for source in module.NEEDS)
    out = Out(
        folder,
        module.TITLE,
        quick=arguments.quick,
        resume=arguments.resume,
        settings={"data": arguments.data is not None and needs_folder},
    )
    gaps = [
        {"name": source.name, "where": source.where}
        for source in missing(module.NEEDS, arguments.data)
    ]
    failure = ""
    try:
        with threadpool_limits(1):
            module.run(out, arguments.quick, arguments.data)
    except Exception as problem:
        failure = f"{type(problem).__name__}: {problem}"
        traceback.print_exc(file=sys.stderr)
    out.close(gaps, failure)
    return not failure


if __name__ == "__main__":
    sys.exit(main())
