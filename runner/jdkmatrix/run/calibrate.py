"""Count how many rounds of burn take a microsecond on an idle CPU of this host.

A task is a fixed amount of work, not a spin until a deadline: a task that is preempted in mid-spin would do less work,
and hide exactly the effect that is looked for.

One count serves all JDKs of a run. The work is a chain of dependent instructions, which every JIT compiler translates
alike: 752 turns of 21.0.8, 25 and a nightly build of 28, one right after another on a busy virtual machine, had medians
of 684.2, 685.7 and 684.0 rounds/µs, while all three followed the host's clock from 637 to 739. Counted per JDK at
different moments, "100 µs" meant different amounts of work.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.host import launch
from jdkmatrix.method.measuring import MeasureRules
from jdkmatrix.probes.clock_speed import clock_reader, fastest_clock_speeds, read_clock_speed
from jdkmatrix.records.run import Calibration

_SECONDS = 6.0  # the first third warms up
_TIMEOUT_S = 60.0


def calibrate(count: Callable[[], Calibration], rules: MeasureRules) -> Calibration:
    """Return the first count whose repeats agree, or else the one whose repeats differ least; `count` makes one.

    Raises:
        MatrixError: the repeats of each differ by more than is allowed, or as `count_rounds`.
    """
    tried: list[Calibration] = []
    for _ in range(rules.calibration_tries):
        tried.append(count())
        if tried[-1].spread <= rules.calibration_spread_wanted:
            break
    steadiest = min(tried, key=lambda one: one.spread)
    if steadiest.spread <= rules.calibration_spread_max:
        return steadiest.model_copy(update={"spread_wanted": rules.calibration_spread_wanted})
    raise MatrixError(
        f"burn cannot be calibrated: the speed of CPU {steadiest.cpu} varied by "
        f"{' and then '.join(f'{one.spread:.2%}' for one in tried)} within {_SECONDS * 2 / 3:.0f} s "
        f"(measure.calibration_spread_max allows {rules.calibration_spread_max:.2%}), so a microsecond of work would "
        "not mean the same as on other hosts; run nothing else on this host and fix its clock rate (matrix doctor says "
        "what disturbs it), or allow more"
    )


def count_rounds(jdk_id: str, java: Path, burn_jar: Path, *, cpu: int) -> Calibration:
    """Run the calibration program of the `burn` module on `cpu`, and read that CPU's speed before and after: a fork's
    work is compared with both, so this speed, too, is the fastest of many readings.

    Raises:
        MatrixError: it failed or printed something else.
    """
    before = read_clock_speed(cpu)
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
        speeds = fastest_clock_speeds({} if before is None else {cpu: before}, math.inf)
        return Calibration(
            jdk=jdk_id,
            rounds_per_us=answer["rounds_per_us"],
            repeats=answer["repeats"],
            spread=answer["spread"],
            cpu=cpu,
            clock_speed=speeds.get(cpu),
            clock_reader=clock_reader(),
        )
    except subprocess.TimeoutExpired:
        raise MatrixError(f"calibrating burn on {jdk_id}: no result within {_TIMEOUT_S:g} s") from None
    except (ValueError, KeyError):
        text = errors.decode("utf-8", "replace").strip() or output.decode("utf-8", "replace").strip()
        raise MatrixError(f"calibrating burn on {jdk_id}: {text or 'no output'}") from None
    finally:
        launch.terminate(process, grace_s=1)
