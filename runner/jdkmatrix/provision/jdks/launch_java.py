"""Ask a Java runtime who it is, by running it once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.jdks.identify import VersionOutput, parse_version_output

# They make java print "Picked up …" lines, or load agents, before it says its version.
_MEDDLING = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "OPENJ9_JAVA_OPTIONS", "LD_LIBRARY_PATH")
_TIMEOUT_S = 60


def clean_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in _MEDDLING}


def java_version(home: Path) -> tuple[str, VersionOutput]:
    """What `home`/bin/java prints for -version, as text and parsed.

    Raises:
        MatrixError: it does not start, or prints something else.
    """
    java = home / "bin" / "java"
    try:
        done = subprocess.run(
            [java, "-version"],
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        raise MatrixError(f"{java} does not start: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise MatrixError(f"{java} -version gave no answer within {_TIMEOUT_S} s") from None
    output = done.stdout.strip()
    if done.returncode != 0:
        last = output.splitlines()[-1] if output else "it prints nothing"
        raise MatrixError(f"{java} -version ends with status {done.returncode}: {last}")
    return output, parse_version_output(output)
