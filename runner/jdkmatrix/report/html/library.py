"""Vega, Vega-Lite and Vega-Embed as the one script that pages with charts load."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

import vl_convert

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.cache import cache_dir
from jdkmatrix.store.atomic import write_atomic

NAME = f"vega-{version('vl-convert-python')}.js"


def as_script(source: str) -> str:
    """JavaScript that cannot end the <script> element it stands in: both sequences mean the same in its strings."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def vega_library() -> str:
    """It gives the page `vegaEmbed` and no other name. Bundling takes a second and more, so that it is kept in the
    cache, as far as that can be written to."""
    try:
        kept = cache_dir() / "vega" / NAME
        if kept.is_file():
            return kept.read_text("utf-8")
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(kept, _bundle())
        return kept.read_text("utf-8")
    except (MatrixError, OSError):
        return _bundle()


@cache
def _bundle() -> str:
    """In a function: the bundle's top level has thousands of short names, which would else be global."""
    library: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return as_script(f"(() => {{\n{library}\n}})();")
