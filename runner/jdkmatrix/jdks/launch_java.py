"""Ask a Java runtime who it is, by running it once."""

from __future__ import annotations

from pathlib import Path
from subprocess import STDOUT, TimeoutExpired

from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch
from jdkmatrix.jdks.identify import VersionOutput, parse_version_output

_TIMEOUT_S = 60


def java_version(home: Path) -> tuple[str, VersionOutput]:
    """Run `home`/bin/java -version; returns its output, as text and parsed.

    Raises:
        MatrixError: it does not start, or prints something else.
    """
    java = home / "bin" / "java"
    try:
        done = launch.ask([java, "-version"], timeout_s=_TIMEOUT_S, env=launch.clean_environment(), stderr=STDOUT)
    except OSError as error:
        raise MatrixError(f"{java} does not start: {error.strerror}") from None
    except TimeoutExpired:
        raise MatrixError(f"{java} -version gave no answer within {_TIMEOUT_S} s") from None
    output = done.stdout.strip()
    if done.returncode != 0:
        last = output.splitlines()[-1] if output else "it prints nothing"
        raise MatrixError(f"{java} -version ends with status {done.returncode}: {last}")
    return output, parse_version_output(output)
