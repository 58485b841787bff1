"""Who ended a process, from how it ended."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from jdkmatrix.host import ending
from jdkmatrix.host.ending import KilledError, check_not_killed, oom_kills, signal_of_another


@pytest.mark.parametrize(
    ("status", "number"),
    [
        (-signal.SIGKILL, 9), (-signal.SIGTERM, 15), (-signal.SIGUSR1, 10), (128 + signal.SIGTERM, 15),
        (128 + signal.SIGHUP, 1), (128 + signal.SIGINT, 2), (-signal.SIGSEGV, None), (-signal.SIGABRT, None),
        (-signal.SIGBUS, None), (0, None), (1, None), (3, None), (128 + signal.SIGKILL, None),
    ],
)  # fmt: skip
def test_signals_that_a_process_does_not_bring_upon_itself_are_of_another(status: int, number: int | None) -> None:
    assert signal_of_another(status) == number


def test_what_the_kernel_killed_for_want_of_memory_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vmstat").write_text("nr_free_pages 1\noom_kill 7\n")
    assert oom_kills(tmp_path) == 7
    assert oom_kills(tmp_path / "none") == 0
    monkeypatch.setattr(ending, "oom_kills", lambda: 7)
    with pytest.raises(KilledError, match=r"signal 9, .*; the kernel killed 2 for want of memory meanwhile$"):
        check_not_killed("the server", -9, oom_kills_before=5)
    with pytest.raises(KilledError, match=r"signal 9, which did not come from this tool$"):
        check_not_killed("the server", -9, oom_kills_before=7)
    check_not_killed("the server", -11, oom_kills_before=5)
