"""Only the code that measures is part of what decides a cell; and which commit a run says that it was made from."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jdkmatrix.run.code_version import NOT_MEASURING, PACKAGE, digest_of, modules, without_words
from jdkmatrix.run.origins import source_revision

# What a fork's modules take from packages that do not count, and why its figures do not depend on it.
ALLOWED = {
    "doctor.base": "reads and writes the kernel's files that an arm asks for; their values are in the identity",
    "doctor.tuned": "where such a value is kept to be put back",
    "doctor.tuning": "writes it, and puts it back",
    "jdks.identify": "the names of the two families of JVMs",
    "provision.postgres": "where PostgreSQL is; the hash of its files is in the identity",
    "provision.seal": "takes the sha256 of the driver's files, which is in the identity",
    "provision.workloads": "where our artefacts are; their hashes are in the identity",
    "store.removal": "removes what a fork has left, once it is over",
}


def imported(path: Path) -> Iterator[str]:
    """Yield the modules of ours that this one imports anywhere, by their names below the package."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("jdkmatrix"):
            yield node.module.removeprefix("jdkmatrix").lstrip(".")
            yield from (f"{node.module}.{alias.name}".removeprefix("jdkmatrix.") for alias in node.names)


def test_all_that_is_imported_while_a_fork_is_measured_counts_or_is_known_not_to() -> None:
    """The search starts at the three modules that measure a fork and follows imports, those of functions too."""
    counted = {str(path.relative_to(PACKAGE)) for path in modules(PACKAGE)}
    outside: set[str] = set()
    seen: set[str] = set()
    ahead = ["fork.measure_fork", "subjects.served.measurement", "subjects.experiments.measurement"]
    while ahead:
        name = ahead.pop()
        as_path = name.replace(".", "/")
        path = next((p for p in (f"{as_path}.py", f"{as_path}/__init__.py") if (PACKAGE / p).is_file()), None)
        if path is None or path in seen:
            continue
        seen.add(path)
        if name.partition(".")[0] in NOT_MEASURING:
            if not path.endswith("__init__.py"):
                outside.add(name)
            continue
        assert path in counted
        ahead += imported(PACKAGE / path)
    assert {"method/gates.py", "probes/host.py", "drivers/loadgen.py", "servers/process.py", "stats/steady.py"} <= seen
    assert outside == set(ALLOWED)


def test_the_code_counts_where_it_measures_and_only_there(tmp_path: Path) -> None:
    for name in ("fork/faults.py", "report/page.py", "launch.py", "new/thing.py", "fork/note.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("one")
    first = digest_of(tmp_path)
    for name, counts in {"fork/faults.py": True, "launch.py": True, "new/thing.py": True, "report/page.py": False,
                         "fork/note.txt": False}.items():  # fmt: skip
        (tmp_path / name).write_text("two")
        assert (digest_of(tmp_path) != first) == counts, name
        (tmp_path / name).write_text("one")
    (tmp_path / "launch.py").rename(tmp_path / "launched.py")
    assert digest_of(tmp_path) != first


GATE = """
GATES = (
    Gate(("slow",), "{name}", ("p99_max",), _slow, "{catches}", cannot="{cannot}"),
)
"""


def test_the_words_of_a_gate_do_not_count_and_the_rest_of_it_does() -> None:
    first = without_words(GATE.encode())
    longer = GATE.replace('"{catches}"', '"Ü{catches} "\n        "and more"')
    assert without_words(longer.encode()) == first != without_words(GATE.replace("_slow", "_fast").encode())
    for word in ("{name}", "{catches}", "{cannot}"):
        assert word.encode() not in first
    assert b'("slow",)' in first and b'("p99_max",)' in first


def test_nothing_that_measures_reads_the_words_of_gates() -> None:
    texts = {path: path.read_text("utf-8") for path in modules(PACKAGE)}
    assert not [path for path, text in texts.items() if re.search(r"\bgate\.(name|catches|cannot)\b|\.catches\b", text)]
    gates = [path for path in modules(PACKAGE) if without_words(path.read_bytes()) != path.read_bytes()]
    assert {path.name for path in gates} == {"host_gates.py", "load_gates.py", "server_gates.py"}


def git(folder: Path, *arguments: str) -> str:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *author, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is what this is about")
def test_only_a_repository_that_has_the_source_tells_its_commit(tmp_path: Path) -> None:
    """An archive without .git may be unpacked below a folder that is in Git for something else."""
    inside = tmp_path / "tools" / "unpacked"
    inside.mkdir(parents=True)
    (inside / "matrix.toml").write_text("")
    (tmp_path / "notes").write_text("")
    assert source_revision(inside, None) == (None, None)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "notes")
    git(tmp_path, "commit", "--quiet", "--message", "notes")
    assert source_revision(inside, None) == (None, None)
    git(tmp_path, "add", "tools")
    git(tmp_path, "commit", "--quiet", "--message", "tools")
    (tmp_path / "notes").write_text("changed")
    assert source_revision(inside, None) == (git(tmp_path, "rev-parse", "HEAD"), False)
    (inside / "notes").write_text("")
    assert source_revision(inside, None) == (git(tmp_path, "rev-parse", "HEAD"), False)
    (inside / "profiles").mkdir()
    (inside / "profiles" / "mine.toml").write_text("what that commit does not have")
    assert source_revision(inside, None) == (git(tmp_path, "rev-parse", "HEAD"), True)
    (inside / "profiles" / "mine.toml").unlink()
    (inside / "matrix.toml").write_text("changed")
    assert source_revision(inside, None) == (git(tmp_path, "rev-parse", "HEAD"), True)


def test_a_file_that_is_half_saved_is_other_code() -> None:
    half = GATE[: GATE.index("_slow")].encode()
    assert without_words(half) == half
