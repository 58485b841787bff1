"""Write down the threads of a server that gives no answer, before it is ended."""

from __future__ import annotations

from pathlib import Path

from jdkmatrix.probes.jcmd import ask

_QUESTION = "Thread.print -l"
# Virtual threads are in this one only, and from JDK 21 on.
_VIRTUAL_QUESTION = "Thread.dump_to_file"


def dump_threads(pid: int, java: Path, into: Path) -> str:
    """Ask the JVM for its threads, platform and virtual; returns what came of it, in words. `into` is a folder."""
    answer = ask(pid, java, [_QUESTION])
    if answer.fault is not None:
        return f"no thread dump: {answer.fault}"
    (into / "threads.txt").write_text(answer.text, encoding="utf-8")
    path = into / "virtual-threads.txt"
    virtual = ask(pid, java, [f'{_VIRTUAL_QUESTION} "{path}"'])
    written = "threads.txt" if virtual.fault else "threads.txt and virtual-threads.txt"
    return f"what its threads were doing is in {written}"
