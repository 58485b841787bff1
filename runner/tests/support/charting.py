"""The script that draws charts, as the locked vl-convert-python bundles it: Vega, Vega-Lite and Vega-Embed.

`python -m tests.support.charting` rewrites it after a change to the lock file; the diff is for review.
"""

from __future__ import annotations

from jdkmatrix.report.html.page import DRAWS, as_script
from tests.support.shipped import TEMPLATES

SHIPPED = TEMPLATES / DRAWS
_END_OF_LICENCES = "*/\n"


def shipped() -> tuple[str, str]:
    """Return the comment with the licences, and the script after it."""
    licences, end, script = SHIPPED.read_text("utf-8").partition(_END_OF_LICENCES)
    return licences + end, script


def bundled() -> str:
    """Bundle it in a function: its top level has thousands of short names, which would otherwise be global."""
    import vl_convert  # noqa: PLC0415 - pure tests have no such package where Nix runs them

    library: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return as_script(f"(() => {{\n{library}\n}})();\n")


if __name__ == "__main__":
    SHIPPED.write_text(shipped()[0] + bundled(), "utf-8")
