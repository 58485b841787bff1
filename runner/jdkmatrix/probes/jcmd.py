"""Query a running JVM through the jcmd of its own JDK."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired

from jdkmatrix.host import launch

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class JcmdAnswer:
    """`fault`: why there is no answer, or no answer to the last questions, in words."""

    text: str
    fault: str | None


def ask(pid: int, java: Path, questions: Sequence[str]) -> JcmdAnswer:
    """Ask the questions one after another, up to the first that this JVM does not know.

    Bounded in time: a process that is stopped, or a JVM that never reaches a safepoint, gives no answer.
    """
    jcmd = java.with_name("jcmd")
    if not jcmd.exists():
        return JcmdAnswer("", "this JDK has no jcmd")
    try:
        environment = launch.clean_environment()
        done = launch.ask([jcmd, str(pid), "\n".join(questions)], timeout_s=TIMEOUT_S, env=environment)
    except TimeoutExpired:
        # The file with which jcmd asks to attach, in the folder that the JVM runs in.
        Path(f"/proc/{pid}/cwd/.attach_pid{pid}").unlink(missing_ok=True)
        return JcmdAnswer("", f"jcmd got no answer within {TIMEOUT_S:g} s")
    except OSError as error:
        return JcmdAnswer("", f"{jcmd}: {error.strerror}")
    if done.returncode == 0:
        return JcmdAnswer(done.stdout, None)
    said = (done.stderr.strip() or done.stdout.strip()).partition("\n")[0]
    return JcmdAnswer(done.stdout, f"jcmd: {said}")


def dump_threads(pid: int, java: Path, into: Path) -> str:
    """Write the JVM's threads, platform and virtual, into the folder `into`; return what came of it, in words."""
    answer = ask(pid, java, ["Thread.print -l"])
    if answer.fault is not None:
        return f"no thread dump: {answer.fault}"
    (into / "threads.txt").write_text(answer.text, encoding="utf-8")
    path = into / "virtual-threads.txt"
    # Only this dump has virtual threads, from JDK 21 on.
    virtual = ask(pid, java, [f'Thread.dump_to_file "{path}"'])
    written = "threads.txt" if virtual.fault else "threads.txt and virtual-threads.txt"
    return f"what its threads were doing is in {written}"
