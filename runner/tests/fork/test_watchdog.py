"""Ending a server for the host's sake, and what is left of its logs."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jdkmatrix.config.model import Server
from jdkmatrix.fork.watchdog import DiskFullError, FloodError, Watchdog, breach, file_sizes, shorten_logs
from tests.support.waiting import HANGS_S

RULES = Server(
    first_response_timeout_s=1, ready_without_port_s=1, stop_timeout_s=1, smt=False, answer_timeout_s=1,
    log_bytes_max=1000, free_disk_bytes_min=0,
)  # fmt: skip


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(1, 10**12), st.integers(0, 10**12))
def test_a_breach_is_more_log_or_less_disk_than_allowed(log: int, free: int, most: int, least: int) -> None:
    rules = RULES.model_copy(update={"log_bytes_max": most, "free_disk_bytes_min": least})
    found = breach(log_bytes=log, free_bytes=free, rules=rules)
    assert (found is not None) == (log > most or free < least)
    if found is not None:
        full = isinstance(found, DiskFullError)
        assert full == (log <= most), "a fault of the host only where the server did not flood"
        assert ("free_disk_bytes_min" if full else "log_bytes_max") in str(found)


def test_a_flood_ends_the_server_while_it_is_loaded(tmp_path: Path) -> None:
    ended = threading.Event()
    with Watchdog(tmp_path, RULES, ended.set) as watchdog:
        watchdog.check()
        for name in ("window-1.hlog", "java_pid7.hprof", "flight.jfr"):  # the driver's; what a JVM was told to record
            (tmp_path / name).write_bytes(b"x" * 1001)
        watchdog._check_disk()
        watchdog.check()
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "messages.log").write_bytes(b"x" * 1001)
        assert ended.wait(HANGS_S)
        with pytest.raises(FloodError, match="log_bytes_max"):
            watchdog.check()


def test_files_that_go_while_they_are_counted_are_no_fault(tmp_path: Path) -> None:
    """A server that is up renames and removes some of its own files."""
    over = threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            (tmp_path / "new").write_bytes(b"x")
            (tmp_path / "new").rename(tmp_path / "kept")
            (tmp_path / "kept").unlink()

    changing = threading.Thread(target=come_and_go)
    changing.start()
    try:
        assert all(sum(size for _, size in file_sizes(tmp_path)) <= 2 for _ in range(4_000))
        assert changing.is_alive()
    finally:
        over.set()
        changing.join()


def test_a_watch_that_fails_fails_the_fork(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(FileNotFoundError), Watchdog(gone, RULES, lambda: None) as watchdog:
        watchdog._thread.join(HANGS_S)


@settings(max_examples=20)
@given(st.integers(0, 3 * 2**20))
def test_long_logs_keep_both_ends_and_short_ones_everything(size: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "messages.log"
        content = bytes(range(256)) * (size // 256) + b"z" * (size % 256)
        log.write_bytes(content)
        dump = folder / "java_pid7.hprof"
        dump.write_bytes(content)
        shorten_logs(folder)
        left = log.read_bytes()
        assert dump.read_bytes() == content
        if size <= 2**20:
            assert left == content
        else:
            assert len(left) < 2**20
            assert left.startswith(content[:1000])
            assert left.endswith(content[-1000:])
            missing = int(left.split(b"[... ")[1].split(b" bytes")[0])
            assert missing == size - 2 * 256 * 1024
