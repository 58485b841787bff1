"""What the threads of a server are doing that gives no answer, written down before it is ended."""

from __future__ import annotations

import subprocess
from pathlib import Path

from jdkmatrix.provision.jdks.launch_java import clean_environment

_TIMEOUT_S = 10.0
_DUMPS = (
    ("threads.txt", ("Thread.print", "-l")),
    # Virtual threads are in this one only, and from JDK 21 on.
    ("virtual-threads.txt", ("Thread.dump_to_file",)),
)


def dump_threads(pid: int, java: Path, into: Path) -> str:
    """Ask the JVM by jcmd of the same JDK for its threads; returns what came of it, in words. `into` is the folder of
    the server's logs, in which it runs.

    Every question is bounded: a process that is stopped, or a JVM that never reaches a safepoint, gives no answer.
    """
    jcmd = java.with_name("jcmd")
    if not jcmd.exists():
        return "no thread dump: this JDK has no jcmd"
    written = []
    for name, question in _DUMPS:
        path = into / name
        told = (str(path),) if question[0] == "Thread.dump_to_file" else ()
        try:
            done = subprocess.run(
                [jcmd, str(pid), *question, *told],
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            # How jcmd knocks: in the folder that the server runs in, which is that of its logs.
            (into / f".attach_pid{pid}").unlink(missing_ok=True)
            return f"no thread dump: jcmd had no answer within {_TIMEOUT_S:g} s either"
        except OSError as error:
            return f"no thread dump: {jcmd}: {error.strerror}"
        if done.returncode == 0:
            if not told:
                path.write_bytes(done.stdout)
            written.append(name)
    if not written:
        return f"no thread dump: jcmd: {(done.stderr or done.stdout).decode(errors='replace').strip()}"
    return f"what its threads were doing is in {' and '.join(written)}"
