"""Vega, Vega-Lite and Vega-Embed as the one script that pages with charts load."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.cache import cache_dir, kept

NAME = f"vega-{version('vl-convert-python')}.js"


def as_script(source: str) -> str:
    """JavaScript that cannot end the <script> element it stands in: both sequences mean the same in its strings."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def vega_library() -> str:
    """It gives the page `vegaEmbed` and no other name. Bundling takes a second and more, so that it is kept in the
    cache, as far as that can be written to."""
    try:
        folder = cache_dir() / "vega" / version("vl-convert-python")
        kept(folder, _write, say=lambda _: None)
        return (folder / NAME).read_text("utf-8")
    except (MatrixError, OSError):
        return _bundle()


def _write(folder: Path) -> None:
    (folder / NAME).write_text(_bundle(), encoding="utf-8")


@cache
def _bundle() -> str:
    """In a function: the bundle's top level has thousands of short names, which would else be global."""
    library: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return as_script(f"(() => {{\n{library}\n}})();")
