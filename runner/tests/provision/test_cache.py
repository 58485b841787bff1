"""Things in the cache are whole or absent."""

from __future__ import annotations

import fcntl
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from types import ModuleType
from unittest import mock

import pytest

from jdkmatrix.domain.servers import feature_sets
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision import artefacts, liberty, maven, postgres
from jdkmatrix.provision.cache import atomic_dir, cache_dir, kept, locked
from jdkmatrix.provision.seal import SEAL, changed, files_sha256, seal, sealed_sha256
from tests.support.project import ROOT
from tests.support.waiting import wait_until

LIBERTY = ROOT / "workloads" / "servers" / "open-liberty"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"MATRIX_CACHE": "/a/b", "XDG_CACHE_HOME": "/x"}, Path("/a/b")),
        ({"XDG_CACHE_HOME": "/x"}, Path("/x/jdk-matrix")),
        ({"MATRIX_CACHE": "", "XDG_CACHE_HOME": ""}, Path.home() / ".cache" / "jdk-matrix"),
    ],
)
def test_the_folder_follows_the_environment(env: dict[str, str], expected: Path) -> None:
    assert cache_dir(env) == expected


@pytest.mark.parametrize("variable", ["MATRIX_CACHE", "XDG_CACHE_HOME"])
def test_a_relative_folder_is_refused(variable: str) -> None:
    with pytest.raises(MatrixError, match=rf"{variable}=here: expected an absolute path"):
        cache_dir({variable: "here"})


def test_a_finished_folder_appears_under_its_name(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "thing-1.0"
    with atomic_dir(target) as partial:
        (partial / "file").write_text("content")
        assert not target.exists()
    assert (target / "file").read_text() == "content"
    assert [entry.name for entry in target.parent.iterdir()] == ["thing-1.0"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with atomic_dir(tmp_path / "thing") as partial:
            (partial / "file").write_text("half")
            raise MatrixError("no")

    with pytest.raises(MatrixError, match="no"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_another_process_finished_first_is_kept(tmp_path: Path) -> None:
    with atomic_dir(tmp_path / "thing") as partial:
        (partial / "file").write_text("ours")
        (tmp_path / "thing").mkdir()
        (tmp_path / "thing" / "file").write_text("theirs")
    assert (tmp_path / "thing" / "file").read_text() == "theirs"
    assert [entry.name for entry in tmp_path.iterdir()] == ["thing"]


def test_only_what_a_dead_process_left_is_removed(tmp_path: Path) -> None:
    script = "import sys, time; from pathlib import Path; from jdkmatrix.provision.cache import partial_dir\n"
    script += "with partial_dir(Path(sys.argv[1])) as part: print(part.name, flush=True); time.sleep(600)"
    command = [sys.executable, "-c", script, str(tmp_path / "thing")]
    other = tmp_path / ".another.0123456789abcdef.part"
    longer = tmp_path / ".thing.0.0123456789abcdef.part"  # a part of a thing.NUMBER that is being made
    with ExitStack() as stack:
        killed, working = (stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE)) for _ in range(2))
        stack.callback(working.kill)
        assert killed.stdout is not None and working.stdout is not None
        abandoned, in_use = (one.readline().decode().strip() for one in (killed.stdout, working.stdout))
        killed.kill()
        killed.wait()
        for folder in (other, longer):
            folder.mkdir()
        assert (tmp_path / abandoned).exists()
        with atomic_dir(tmp_path / "thing"):
            pass
        left = {entry.name for entry in tmp_path.iterdir()}
    assert left == {in_use, other.name, longer.name, "thing"}


def _thing(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_bytes(b"\x7fELF")
    (folder / "bin" / "java").chmod(0o755)
    (folder / "modules").write_bytes(b"\0\1")
    (folder / "link").symlink_to("modules")
    (folder / "folder-link").symlink_to("bin")
    return folder


def _flip(folder: Path) -> None:
    """Change a single byte, which neither the size nor the time of change reveals."""
    path = folder / "modules"
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.write_bytes(b"\0\3")
    os.utime(path, ns=times)


def _relink(link: Path) -> None:
    link.unlink()
    link.symlink_to("/")


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a program": (lambda folder: (folder / "bin" / "java").write_text("#!/bin/sh\n"), "bin/java"),
    "a byte": (_flip, "modules"),
    "a link": (lambda folder: _relink(folder / "link"), "link"),
    "a link to a folder": (lambda folder: _relink(folder / "folder-link"), "folder-link"),
    "one more": (lambda folder: (folder / "bin" / "new").touch(), "bin/new"),
    "one less": (lambda folder: (folder / "modules").unlink(), "modules"),
    "a run bit": (lambda folder: (folder / "modules").chmod(0o755), "modules"),
}


@pytest.mark.parametrize(("change", "name"), CHANGES.values(), ids=CHANGES)
def test_any_change_in_a_sealed_folder_is_named(tmp_path: Path, change: Callable[[Path], object], name: str) -> None:
    folder = _thing(tmp_path / "thing")
    before = files_sha256(folder)
    seal(folder)
    assert changed(folder) is None
    change(folder)
    assert changed(folder) == f"{folder}: changed since it was made: {name}"
    assert files_sha256(folder) != before


@pytest.mark.parametrize("text", ["{", "[]", "null"])
def test_a_seal_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    folder = _thing(tmp_path / "thing")
    seal(folder)
    (folder / SEAL).write_text(text)
    assert changed(folder) == f"{folder}: changed since it was made: {SEAL}"


def test_what_cannot_be_read_just_now_is_not_made_anew(tmp_path: Path) -> None:
    target = tmp_path / "thing"
    kept(target, lambda folder: (folder / "file").touch(), say=print)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Path("/dev/null").open() as next_file:
        none_left = next_file.fileno()
    resource.setrlimit(resource.RLIMIT_NOFILE, (none_left, hard))
    try:
        with pytest.raises(MatrixError, match=r"cannot be read: Too many open files"):
            kept(target, lambda folder: pytest.fail("it was whole"), say=print)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert changed(target) is None


def test_what_was_changed_is_made_anew_and_what_was_not_is_kept(tmp_path: Path) -> None:
    made: list[Path] = []
    told: list[str] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "file").write_text("content")

    target = tmp_path / "cache" / "thing"
    for _ in range(2):
        kept(target, make, say=told.append)
    assert (len(made), told) == (1, [])
    with (target / "file").open("a") as file:
        file.write("more")
    kept(target, make, say=told.append)
    assert told == [f"{target}: changed since it was made: file; making it again"]
    assert ((target / "file").read_text(), len(made)) == ("content", 2)
    (target / SEAL).unlink()  # as an older version left it: nobody knows what was made
    kept(target, make, say=told.append)
    assert (len(told), len(made)) == (1, 3)


@pytest.mark.parametrize(
    ("module", "provide"),
    [
        (liberty, lambda: liberty.provision_liberty(ROOT, LIBERTY, "open-liberty", tuple(feature_sets()), say=print)),
        (postgres, lambda: postgres.provision_postgres(ROOT, say=print)),
        (maven, lambda: maven.provision_maven(ROOT)),
    ],
    ids=["Open Liberty", "PostgreSQL", "Maven"],
)
def test_a_byte_that_changed_in_what_was_unpacked_has_it_got_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    module: ModuleType,
    provide: Callable[[], object],
) -> None:
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path))
    targets: list[Path] = []
    with monkeypatch.context() as meanwhile, suppress(MatrixError):  # there is nothing to look at
        meanwhile.setattr(module, "kept", lambda target, *_, **__: targets.append(target))
        provide()
    (target,) = targets
    target.mkdir(parents=True)
    (target / "file").write_text("content")
    seal(target)
    (target / "file").write_text("Content")
    monkeypatch.setattr(artefacts, "fetch", mock.Mock(side_effect=MatrixError("got again")))
    with pytest.raises(MatrixError, match=r"^got again$"):
        provide()
    assert f"{target}: changed since it was made: file; making it again\n" in capsys.readouterr().out


def test_what_was_changed_behind_a_link_is_made_anew_at_the_place_of_the_link(tmp_path: Path) -> None:
    """Somebody may have moved it to a larger disk."""
    target, elsewhere = tmp_path / "cache" / "thing", tmp_path / "large" / "thing"
    elsewhere.parent.mkdir()
    kept(target, lambda folder: (folder / "file").touch(), say=print)
    target.rename(elsewhere)
    target.symlink_to(elsewhere)
    kept(target, lambda folder: pytest.fail("it was whole"), say=print)
    (elsewhere / "file").write_text("more")
    kept(target, lambda folder: (folder / "file").touch(), say=print)
    assert (target / "file").read_text() == "" and changed(target) is None


def test_what_cannot_be_removed_is_not_taken_for_what_was_to_be_made(tmp_path: Path) -> None:
    target = tmp_path / "thing"
    target.touch()
    with pytest.raises(MatrixError, match=f"{target} cannot be made: Not a directory"):
        kept(target, lambda folder: (folder / "file").touch(), say=print)


def test_a_cache_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    target = tmp_path / "cache" / "thing"
    with pytest.raises(MatrixError, match=r"/cache/\.thing\.lock cannot be written: "), locked(target):
        pass
    with pytest.raises(MatrixError, match=r"/cache/\.thing\.lock cannot be written: "):
        kept(target, lambda folder: None, say=print)


def test_only_one_process_works_on_a_target_and_a_killed_one_frees_it(tmp_path: Path) -> None:
    script = "import sys, time; from pathlib import Path; from jdkmatrix.provision.cache import locked\n"
    script += "with locked(Path(sys.argv[1])): print('locked', flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "thing")], stdout=subprocess.PIPE)
    assert holder.stdout is not None and holder.stdout.readline() == b"locked\n"
    with (tmp_path / ".thing.lock").open() as lock, pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    holder.kill()
    holder.communicate()
    with locked(tmp_path / "thing"):
        pass


def test_who_waits_for_another_process_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    with locked(tmp_path / "thing"):
        waiting = Thread(target=kept, args=(tmp_path / "thing", lambda _: None), kwargs={"say": told.append})
        waiting.start()
        wait_until(lambda: told)
        assert not (tmp_path / "thing").exists()
    waiting.join()
    assert told == [f"waiting for another process that is at work on {tmp_path / 'thing'}"]


def test_two_servers_of_one_release_are_not_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has made one removes the archive that the other reads."""
    made: list[tuple[Path, Path]] = []
    monkeypatch.setattr(liberty, "kept", lambda target, *_, alone_in, **__: made.append((target, alone_in)))
    for features in (tuple(feature_sets()), tuple(feature_sets())[:1]):
        with suppress(MatrixError):  # there is nothing to look at
            liberty.provision_liberty(ROOT, LIBERTY, "open-liberty", features, say=print)
    (first, alone), (second, as_well) = made
    assert first != second and alone == as_well


@pytest.mark.parametrize("below", [".", "jdk-25/home"])
def test_the_digest_of_a_part_follows_from_the_seal_of_the_whole(tmp_path: Path, below: str) -> None:
    """So a JDK of a few hundred megabytes is read once."""
    home = tmp_path / "jdk-25" / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("java")
    (home / "bin" / "java").chmod(0o755)
    (home / "lib").symlink_to("bin")
    (tmp_path / "jdk-25" / "homework").write_text("beside it")
    whole = files_sha256(tmp_path / below)
    seal(tmp_path)
    assert changed(tmp_path) is None and sealed_sha256(tmp_path, tmp_path / below) == whole
