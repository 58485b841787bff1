"""`matrix serve`: serve the site at a port of 127.0.0.1, and rewrite it whenever results change."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from jdkmatrix.cli.loopback_server import LOOPBACK, LoopbackServer
from jdkmatrix.cli.measuring_lock import is_measuring
from jdkmatrix.cli.reporting import folders_of, why_not_written, write_site
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import find_project
from jdkmatrix.store.runs import RunStore

_LOOKS_EVERY_S = 2.0


def serve(runs: Sequence[Path], port: int) -> None:
    """Serve until Ctrl-C.

    Raises:
        MatrixError: no run is there, or the port is taken.
    """
    project = find_project()
    folders = partial(folders_of, runs or [project.results])
    known = stamps(folders())
    if is_measuring() and (project.site / "index.html").is_file():
        known = {}  # the site waits for the run to end, as after a change
    else:
        write_site(project, tuple(known), None)
    try:
        server = LoopbackServer(port, project.site)
    except OSError as error:
        raise MatrixError(f"--port {port}: {error.strerror}; --port 0 takes any free one") from None
    ended = threading.Event()
    write = partial(write_site, project, site=None)
    watcher = threading.Thread(target=watch, args=(folders, write, ended, known), daemon=True)
    watcher.start()
    print(f"http://{LOOPBACK}:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        ended.set()
        server.server_close()


def watch(
    folders: Callable[[], Sequence[Path]],
    write: Callable[[Sequence[Path]], object],
    ended: threading.Event,
    known: dict[Path, str],
) -> None:
    """Call `write` with the runs whenever one of them changes, or another one appears, until `ended` is set; not while
    a run is measuring, which it would disturb. Whatever keeps the site from being written is reported once, and it is
    tried again after the next change. `known`: the stamps of what is already written."""
    told = ""
    while not ended.wait(_LOOKS_EVERY_S):
        try:
            if is_measuring():
                continue
            found = stamps(folders())
            if found != known:
                known = found
                write(tuple(found))
            told = ""
        except Exception as error:
            why = why_not_written(error)
            if why != told:
                print(f"matrix: the site was not rewritten: {why}", file=sys.stderr)
            told = why


def stamps(folders: Sequence[Path]) -> dict[Path, str]:
    return {folder: RunStore(folder).stamp() for folder in folders}
