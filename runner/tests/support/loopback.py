"""HTTP servers inside this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from typing import TypeVar

AServer = TypeVar("AServer", bound=BaseServer)


@contextmanager
def answering(server: AServer) -> Iterator[AServer]:
    """Serve until the block is left."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
