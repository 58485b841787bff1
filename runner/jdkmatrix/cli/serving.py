"""`matrix serve`: the site at a port of 127.0.0.1, written again whenever results change."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from jdkmatrix.cli.measuring_lock import is_measuring
from jdkmatrix.cli.reporting import folders_of, write_site
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import find_project
from jdkmatrix.store.runs import RunStore

_LOOPBACK = "127.0.0.1"
_LOOKS_EVERY_S = 2.0


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site, never out of a cache: they change under the same name."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a page is some ten lines."""


def serve(runs: Sequence[Path], port: int) -> None:
    """Until Ctrl-C.

    Raises:
        MatrixError: no run is there, or the port is taken.
    """
    project = find_project()
    folders = partial(folders_of, runs or [project.results])
    known = stamps(folders())
    write_site(project, tuple(known), None)
    try:
        server = ThreadingHTTPServer((_LOOPBACK, port), partial(_Handler, directory=str(project.site)))
    except OSError as error:
        raise MatrixError(f"--port {port}: {error.strerror}; --port 0 takes any that is free") from None
    ended = threading.Event()
    write = partial(write_site, project, site=None)
    watcher = threading.Thread(target=watch, args=(folders, write, ended, known), daemon=True)
    watcher.start()
    print(f"http://{_LOOPBACK}:{server.server_address[1]}/", flush=True)
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
    """Call `write` with the runs whenever one of them changes, or there is another, until `ended` is set; not while a
    run is measuring, which it would disturb. A site that cannot be written now is told, and tried again after the next
    change. `known`: the stamps of what is written already."""
    while not ended.wait(_LOOKS_EVERY_S):
        if is_measuring():
            continue
        try:
            found = stamps(folders())
            if found != known:
                known = found
                write(tuple(found))
        except (MatrixError, OSError) as error:
            print(f"matrix: {error}", file=sys.stderr)


def stamps(folders: Sequence[Path]) -> dict[Path, str]:
    return {folder: RunStore(folder).stamp() for folder in folders}
