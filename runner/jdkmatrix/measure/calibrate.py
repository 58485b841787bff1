"""How many rounds of burn make a microsecond, on an idle CPU of this host with a given JDK.

A task is a fixed amount of work, not a spin until a deadline: a task that is preempted in mid-spin would do less
work, and hide just the effect that is looked for.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from jdkmatrix import launch
from jdkmatrix.errors import MatrixError
from jdkmatrix.records import Calibration

_SECONDS = 2.0
_TIMEOUT_S = 60.0


def calibrate(jdk_id: str, java: Path, burn_jar: Path, *, cpu: int) -> Calibration:
    """Run the calibration program of the `burn` module on `cpu`.

    Raises:
        MatrixError: it failed or printed something else.
    """
    process = launch.spawn(
        [str(java), "-cp", str(burn_jar), "jdkmatrix.burn.Calibrate", "--seconds", str(_SECONDS)],
        cpus=[cpu],
        env=launch.clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        output, errors = process.communicate(timeout=_TIMEOUT_S)
        answer = json.loads(output)
        return Calibration(
            jdk=jdk_id,
            rounds_per_us=answer["rounds_per_us"],
            repeats=answer["repeats"],
            spread=answer["spread"],
            cpu=cpu,
        )
    except subprocess.TimeoutExpired:
        raise MatrixError(f"calibrating burn on {jdk_id}: no result within {_TIMEOUT_S:g} s") from None
    except (ValueError, KeyError):
        text = errors.decode("utf-8", "replace").strip() or output.decode("utf-8", "replace").strip()
        raise MatrixError(f"calibrating burn on {jdk_id}: {text or 'no output'}") from None
    finally:
        launch.terminate(process, grace_s=1)
