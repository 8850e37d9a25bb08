"""Report of private words and stiff phrases that are left in code, comments and docs.

``python tools/words.py`` prints the count and the ten findings in the files that changed last.
``--all`` lists every finding by file, ``--counts`` the identifiers by word, ``--root`` reads
another checkout. It never fails. The words to use are in ``docs/reference/glossary.md``.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CODE = ("hetviz", "pages", "app.py")

# Words in identifiers: speech, metaphors, and participles or pronouns where a noun belongs.
SPEECH = {"said", "saying", "spoken", "heard", "hear", "told", "speak", "tell", "telling"}
METAPHORS = {
    *("away", "beside", "bell", "book", "deaf", "door", "doors", "doubts", "dress", "dye", "fog"),
    *("glance", "heed", "hush", "journey", "lane", "legible", "rope", "shelf", "shoot", "taught"),
}
PARTICIPLES = {"found", "kept", "known", "given"}
# Only where they are the whole name.
BARE = {
    *("few", "held", "how", "least", "made", "most", "one", "own", "rest", "shown", "so", "some"),
    *("there", "what", "who", "wish"),
}
CONSTANTS = re.compile(r"_*(MOST|LEAST|FEW|SURE|TWICE|BESIDE|AROUND)(_|\Z)")
MODULE_STARTS = re.compile(r"(What|Which|How|Who|Where|Why|When|Of|By)\b")
PHRASES = re.compile(
    r"\b(anew|in the mean|hangs? on|come to its end|takes? up|gives? up|lets? go|so many|nobody"
    r"|somebody|that there (are|is) not|it is told|is said to|lies? near|of what is known"
    r"|where chance|in a word|by and by|with what it|who is told)\b",
    re.IGNORECASE,
)


class Finding(NamedTuple):
    """One place that a reader may stumble over."""

    file: str
    line: int
    text: str


def identifiers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every identifier of a module with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
        elif isinstance(node, (ast.arg, ast.keyword)) and node.arg:
            yield node.arg, node.lineno
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node.lineno


def words_of(name: str) -> list[str]:
    """Return the lower-case words of a snake_case or CamelCase name."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return [word.lower() for word in spaced.split("_") if word]


def is_private(name: str) -> bool:
    """Return whether an identifier holds a private word."""
    words = set(words_of(name))
    if words & (SPEECH | METAPHORS | PARTICIPLES):
        return True
    return name.lower() in BARE or CONSTANTS.match(name) is not None


def check_code(path: Path, name: str) -> Iterator[Finding]:
    """Yield the findings of a Python file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for identifier, line in identifiers(tree):
        if is_private(identifier):
            yield Finding(name, line, identifier)
    start = MODULE_STARTS.match(ast.get_docstring(tree) or "")
    if start is not None:
        yield Finding(name, 1, f"docstring starts with {start.group()!r}")
    yield from check_prose(text, name)


def check_prose(text: str, name: str) -> Iterator[Finding]:
    """Yield the stiff phrases of a text."""
    for number, line in enumerate(text.splitlines(), start=1):
        for match in PHRASES.finditer(line):
            yield Finding(name, number, match.group())


def code_files(root: Path) -> list[Path]:
    """Return the Python files of the package and the app."""
    parts = [root / part for part in CODE]
    return sorted(
        file for part in parts for file in ([part] if part.is_file() else part.rglob("*.py"))
    )


def findings(root: Path) -> list[Finding]:
    """Return all findings, by file and line."""
    out: list[Finding] = []
    for path in code_files(root):
        out += check_code(path, path.relative_to(root).as_posix())
    for path in [*sorted((root / "docs").rglob("*.md")), root / "README.md"]:
        if path.is_file():
            out += check_prose(path.read_text("utf-8"), path.relative_to(root).as_posix())
    return out


def counts(root: Path) -> dict[str, str]:
    """Return word -> number of identifiers that hold it and of files, and other totals."""
    seen: Counter[str] = Counter()
    files: defaultdict[str, set[Path]] = defaultdict(set)
    classes: defaultdict[str, set[Path]] = defaultdict(set)
    starts = 0
    for path in code_files(root):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        starts += MODULE_STARTS.match(ast.get_docstring(tree) or "") is not None
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(path)
        for name, _ in identifiers(tree):
            words = set(words_of(name)) & (SPEECH | METAPHORS | PARTICIPLES)
            if name.lower() in BARE:
                words.add(name.lower())
            if (constant := CONSTANTS.match(name)) is not None:
                words.add(f"{constant.group(1)}_")
            for word in words:
                seen[word] += 1
                files[word].add(path)
    out = {word: f"{n} in {len(files[word])} files" for word, n in seen.most_common()}
    groups = {"speech": SPEECH, "metaphors": METAPHORS, "participles": PARTICIPLES}
    out |= {title: str(sum(seen[word] for word in group)) for title, group in groups.items()}
    out["module docstrings that start with a question word"] = str(starts)
    out["class names in several modules"] = str(sum(len(paths) > 1 for paths in classes.values()))
    return out


def last_change(root: Path) -> dict[str, int]:
    """Return file -> rank of its last commit, 0 for the newest or for changes not committed."""

    def git(*arguments: str) -> list[str]:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()

    order = git("diff", "--name-only", "HEAD") + git("log", "-200", "--format=", "--name-only")
    ranks: dict[str, int] = {}
    for rank, file in enumerate(order):
        ranks.setdefault(file, rank)
    return ranks


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="list every finding")
    parser.add_argument("--counts", action="store_true", help="count identifiers by word")
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to read")
    arguments = parser.parse_args()
    if arguments.counts:
        print("\n".join(f"{word}: {count}" for word, count in counts(arguments.root).items()))
        return
    listed = findings(arguments.root)
    n_files = len({finding.file for finding in listed})
    print(f"words: {len(listed)} private words or stiff phrases in {n_files} files")
    if not arguments.all:
        ranks = last_change(arguments.root)
        listed = sorted(listed, key=lambda finding: ranks.get(finding.file, len(ranks)))[:10]
    for finding in listed:
        print(f"  {finding.file}:{finding.line}: {finding.text}")


if __name__ == "__main__":
    main()
