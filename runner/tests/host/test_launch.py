"""A launched program runs where it should and cannot outlive its parent."""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from jdkmatrix.host import launch
from jdkmatrix.host.ending import LaunchError, check_launched
from tests.support.waiting import HANGS_S, has_ended, wait_until


def test_the_pid_is_the_program_on_its_cpus() -> None:
    cpu = max(os.sched_getaffinity(0))
    script = "import os; print(os.getpid(), sorted(os.sched_getaffinity(0)), flush=True)"
    process = launch.spawn([sys.executable, "-c", script], cpus=[cpu], stdout=subprocess.PIPE)
    output, _ = process.communicate(timeout=HANGS_S)
    assert output.decode().split(" ", 1) == [str(process.pid), f"[{cpu}]\n"]
    assert process.returncode == 0


def said(command: list[str], **how: Any) -> tuple[int, str, str]:
    """Return the status, output and errors of a program that ends by itself."""
    process = launch.spawn(command, **{"cpus": [], "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how})
    output, errors = process.communicate(timeout=HANGS_S)
    return process.returncode, output.decode(), errors.decode()


def test_it_is_in_its_cgroups_before_it_is_the_program(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "user@1000:b"]
    for folder in folders:
        folder.mkdir()
        (folder / "cgroup.procs").write_text("")
    script = "import os, sys; print([open(f'{name}/cgroup.procs').read() == str(os.getpid()) for name in sys.argv[1:]])"
    assert said([sys.executable, "-c", script, *map(str, folders)], cgroups=folders) == (0, "[True, True]\n", "")


def test_it_may_open_as_many_files_as_said_and_leaves_no_core() -> None:
    script = "from resource import *; print(getrlimit(RLIMIT_NOFILE), getrlimit(RLIMIT_CORE))"
    assert said([sys.executable, "-c", script], open_files_max=99) == (0, "(99, 99) (0, 0)\n", "")
    status, _, errors = said(["true"], open_files_max=2**62)
    with pytest.raises(LaunchError, match=r"^launch: cannot limit open files to 4611686018427387904: "):
        check_launched(status, errors)
    check_launched(1, "a program that was run, and failed")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run a program as another user")
def test_it_runs_as_another_user_with_no_other_group_and_the_signal_of_its_end() -> None:
    script = (
        "import ctypes, os; signal = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(signal), 0, 0, 0); "
        "print(os.getresuid(), os.getresgid(), os.getgroups(), signal.value)"
    )
    _, output, _ = said(
        ["/usr/bin/env", "python3", "-c", script], user=launch.User(65_534, 65_533), dies_by=signal.SIGQUIT,
        env={"PATH": "/usr/bin:/bin"}, cwd=Path("/"),
    )  # fmt: skip
    assert output == f"{(65_534,) * 3} {(65_533,) * 3} [] {int(signal.SIGQUIT)}\n"


def test_it_asks_for_its_time_slice_and_keeps_its_niceness() -> None:
    """Linux reports a slice from 6.12 on, and only if it was built to; an older one starts the program all the same."""
    script = (
        "import os, re, threading; "
        "told = lambda: re.findall(r'se.slice +: +(.+)', open('/proc/thread-self/sched').read()); "
        "found = [told()]; thread = threading.Thread(target=lambda: found.append(told())); "
        "thread.start(); thread.join(); print(found, os.getpriority(os.PRIO_PROCESS, 0))"
    )
    nice = os.getpriority(os.PRIO_PROCESS, 0)

    def seen(slice_us: int | None) -> str:
        return said([sys.executable, "-c", script], slice_us=slice_us)[1].strip()

    release = tuple(map(int, re.findall(r"[0-9]+", platform.release())[:2]))
    if Path("/proc/self/sched").is_file() and release >= (6, 12):
        assert seen(300) == f"[['300000'], ['300000']] {nice}"
        assert seen(None).endswith(f" {nice}") and "'300000'" not in seen(None)
    else:
        assert said(["true"], slice_us=300)[0] == 0


def test_without_its_cgroup_or_its_cpus_the_program_does_not_start(tmp_path: Path) -> None:
    marker = tmp_path / "started"
    nowhere: tuple[tuple[list[int], list[Path], str], ...] = (
        ([], [tmp_path], f"cannot join the cgroup {tmp_path}: No such file or directory"),
        ([4095], [], "cannot run on CPUs 4095: Invalid argument"),
    )
    for cpus, cgroups, why in nowhere:
        assert said(["touch", str(marker)], cpus=cpus, cgroups=cgroups) == (1, "", f"launch: {why}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_program_is_said() -> None:
    missing = "launch: cannot start /no/such/program: No such file or directory\n"
    assert said(["/no/such/program"]) == (1, "", missing)
    with pytest.raises(OSError, match="/no/such/program") as error:
        launch.ask(["/no/such/program"], timeout_s=HANGS_S)
    assert error.value.strerror == "No such file or directory"


def test_a_jvm_gets_neither_options_nor_the_language_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "IBM_JAVA_OPTIONS": "-Xmx1m",
        "JAVA_TOOL_OPTIONS": "-Xmx1m",
        "LANG": "de_DE.UTF-8",
        "LANGUAGE": "de",
        "LC_ALL": "ar_EG.UTF-8",
        "LC_MESSAGES": "de_DE.UTF-8",
        "LD_PRELOAD": "",
        "MALLOC_ARENA_MAX": "2",
        "TZ": "Asia/Kolkata",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    found = launch.clean_environment()
    assert {name: found[name] for name in given if name in found} == {"LANG": "C.UTF-8", "TZ": "Asia/Kolkata"}


def test_kill_9_of_the_parent_ends_the_program() -> None:
    begin = 'from jdkmatrix.host import launch; launch.spawn(["sleep", "600"], cpus=[]).wait()'
    process = subprocess.Popen([sys.executable, "-c", begin])
    asked = psutil.Process(process.pid)
    wait_until(lambda: [child.name() for child in asked.children()] == ["sleep"])
    (child,) = asked.children()
    process.kill()
    process.wait()
    wait_until(lambda: has_ended(child.pid))


def test_terminate_asks_first_and_then_kills() -> None:
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
    process = launch.spawn([sys.executable, "-c", stubborn], cpus=[], stdout=subprocess.PIPE)
    process.stdout.readline()
    assert launch.terminate(process, grace_s=0.2) == -signal.SIGKILL
    assert launch.terminate(process, grace_s=0.2) == -signal.SIGKILL
    polite = launch.spawn(["sleep", "600"], cpus=[])
    wait_until(lambda: psutil.Process(polite.pid).name() == "sleep")
    assert launch.terminate(polite, grace_s=10) == -signal.SIGTERM
