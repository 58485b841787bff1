"""Measure one fork, whatever it measures: kernel settings, the remote system, a record of whatever happens."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jdkmatrix.doctor.base import Host
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.faults import INTERNAL_ERROR, code_of
from jdkmatrix.fork.fork_record import ForkDraft, ForkSetup, Listener, finished
from jdkmatrix.fork.kernel import kernel_settings
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.fork.turns import TurnTaker, alone
from jdkmatrix.records.forks import Fork


def measure_fork(setup: ForkSetup, listener: Listener) -> Fork:
    """By itself, from its start to its end; as fork_lane."""
    return alone(fork_lane(setup, listener))


def fork_lane(setup: ForkSetup, listener: Listener) -> TurnTaker:
    """Never raises for what can go wrong with what is measured: that is a result, with all that was seen, its reason
    and its logs. Ctrl-C passes through, with all processes ended."""
    draft = ForkDraft()
    measurement = setup.parts.subject.begin(setup, draft, listener)
    try:
        with (
            kernel_settings(Host(root=Path("/"), results=setup.log_dir), setup.parts.kernel),
            _remote(setup, draft) as remote,
        ):
            yield from measurement.run(remote)
    except MatrixError as error:
        draft.fail(code_of(error), str(error), figures=error.figures)
    except Exception as error:
        draft.fail(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        with suppress(OSError):  # which may be what went wrong
            (setup.log_dir / "traceback.txt").write_text(traceback.format_exc())
    finally:
        shutil.rmtree(setup.scratch, ignore_errors=True)
    return finished(setup, draft, measurement)


@contextmanager
def _remote(setup: ForkSetup, draft: ForkDraft) -> Iterator[RemoteProcess | None]:
    """The remote system, ready; None where none is called."""
    parts = setup.parts.remote
    if parts is None:
        yield None
        return
    cpus = setup.parts.cpu_sets.remote
    cgroup = setup.confiner.group("remote", cpus)
    slice_us = setup.matrix.remote.slice_us
    with RemoteProcess(
        parts.jar, parts.java, cpus=cpus, log_dir=setup.log_dir, cgroup=cgroup, slice_us=slice_us
    ) as remote:
        draft.remote_command = tuple(remote.command)
        remote.wait_ready()
        yield remote
