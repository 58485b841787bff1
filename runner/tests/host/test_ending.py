"""Who ended a process, judged by how it ended."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from jdkmatrix.host import ending
from jdkmatrix.host.ending import (
    KilledError,
    check_not_killed,
    oom_kills,
    out_of_memory,
    ran_out_of_memory,
    signal_of_another,
)

HEAP = "java.lang.OutOfMemoryError: Java heap space"
KILLS_ITSELF = f'#\n# {HEAP}\n# -XX:OnOutOfMemoryError="kill -9 %p"\n#   Executing /bin/sh -c "kill -9 1264"...\n'
DUMPS = 'JVMDUMP039I Processing dump event "systhrow", detail "java/lang/OutOfMemoryError" at 2026/11/29 - please wait.'


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
    with pytest.raises(KilledError, match=r"signal 9, .*; meanwhile the kernel killed 2 for lack of memory$"):
        check_not_killed("the server", -9, log="", oom_kills_before=5)
    with pytest.raises(KilledError, match=r"signal 9, which did not come from this tool$"):
        check_not_killed("the server", -9, log="", oom_kills_before=7)
    check_not_killed("the server", -11, log="", oom_kills_before=5)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (KILLS_ITSELF, HEAP),
        (f"Terminating due to {HEAP}\n", f"Terminating due to {HEAP}"),
        (f"12:00 {HEAP}\n\tat X.main(X.java)\nAborting due to {HEAP}\n# A fatal error\n", f"Aborting due to {HEAP}"),
        (f"[12:00] E thread-7 failed: {HEAP}\n[12:01] I goes on\n", HEAP),
        ("Caused by: java.lang.OutOfMemoryError\n", "java.lang.OutOfMemoryError"),
        (f"{DUMPS}\nJVMDUMP007I JVM Requesting Tool dump using 'kill -9 1264'\n", DUMPS),
        (DUMPS.replace("OutOfMemory", "StackOverflow"), None),
        ("java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or a limit reached", None),
        ("java.lang.OutOfMemoryError: Failed to create a thread: retVal -1073741830, errno 11", None),
        (DUMPS.replace(" at ", ', exception "Failed to create a thread: retVal -1073741830, errno 11" at '), None),
        (DUMPS.replace("39I Processing", "13I Processed").partition(" at ")[0], None),
        ("Picked up JAVA_TOOL_OPTIONS: -XX:+ExitOnOutOfMemoryError -XX:OnOutOfMemoryError=true", None),
        ("-Xdump:tool:events=systhrow,filter=java/lang/OutOfMemoryError,exec=kill", None),
        ("", None),
    ],
)
def test_a_jvm_that_ran_out_of_memory_says_so(log: str, said: str | None) -> None:
    assert out_of_memory(log) == said


@pytest.mark.parametrize("status", [-signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM])
@pytest.mark.parametrize(("log", "said"), [(KILLS_ITSELF, HEAP), (DUMPS, DUMPS)])
def test_who_ran_out_of_memory_may_have_killed_itself_unless_the_kernel_killed(
    log: str, said: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "oom_kills", lambda: 7)
    check_not_killed("the server", status, log=log, oom_kills_before=7)
    assert ran_out_of_memory(log, status, oom_kills_before=7) == said
    with pytest.raises(KilledError, match="; meanwhile the kernel killed 1 for lack of memory"):
        check_not_killed("the server", status, log=log, oom_kills_before=6)
    assert ran_out_of_memory(log, status, oom_kills_before=6) is None
    with pytest.raises(KilledError):
        check_not_killed("the server", status, log="ready", oom_kills_before=7)


@pytest.mark.parametrize("status", [3, 1, -signal.SIGABRT])
def test_an_end_of_its_own_is_that_of_the_jvm_whomever_the_kernel_killed(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "oom_kills", lambda: 7)
    assert ran_out_of_memory(f"Terminating due to {HEAP}", status, oom_kills_before=6) == f"Terminating due to {HEAP}"
