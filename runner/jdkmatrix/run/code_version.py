"""The version of the code that measures: two forks measured by different code do not stand for each other.

Everything counts except what only gets the parts, keeps the records or shows them, and except the words of gates, which
only the method page reads. So a new module counts without being named, and one that is counted wrongly costs a run that
is continued with other code more time, but not its truth. What the excluded packages contribute to a fork is in its
identity by itself: artefacts, JDKs and servers by their hashes and versions, kernel settings by their values.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from jdkmatrix.provision.seal import digest_of_files

NOT_MEASURING = ("claims", "cli", "doctor", "jdks", "provision", "report", "store")
PACKAGE = Path(__file__).parents[1]


@cache
def measuring_code() -> str:
    """Return the sha256 of this process's own sources."""
    return digest_of(PACKAGE)


def digest_of(package: Path) -> str:
    """Return one hash over the names and contents of the modules below `package` that measure."""
    return digest_of_files(package, modules(package), lambda path: without_words(path.read_bytes()))


def without_words(source: bytes) -> bytes:
    """Return a module without the string arguments of its `Gate` calls: a gate's name, what it catches and cannot
    catch. One that is no Python, as while somebody edits it, is returned as it is."""
    if b"Gate(" not in source:
        return source
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    gates = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Gate")
    given = (one for gate in gates for one in (*gate.args, *(keyword.value for keyword in gate.keywords)))
    words = [one for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    lines = source.splitlines(keepends=True)
    for one in sorted(words, key=lambda word: (word.lineno, word.col_offset), reverse=True):
        last = one.end_lineno or one.lineno
        rest = lines[last - 1][one.end_col_offset :]
        lines[one.lineno - 1 : last] = [lines[one.lineno - 1][: one.col_offset] + rest]
    return b"".join(lines)


def modules(package: Path) -> tuple[Path, ...]:
    """Return the sources that measure, in the order of their names."""
    found = (path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in NOT_MEASURING)
    return tuple(sorted(found))
