"""The script that draws charts: what is shipped is what the lock file names, and nothing else is imported to draw."""

from __future__ import annotations

import subprocess
import sys

import pytest

from jdkmatrix.report.html.page import as_script
from tests.support import charting


@pytest.mark.real
def test_it_is_what_the_locked_package_bundles() -> None:
    _, script = charting.shipped()
    assert script == charting.bundled(), "to write it anew: python -m tests.support.charting"


def test_it_carries_its_licences_and_cannot_end_the_element_it_stands_in() -> None:
    licences, script = charting.shipped()
    assert "University of Washington Interactive Data Lab" in licences and "Mike Bostock" in licences
    assert script.startswith("(() => {\n") and script.endswith("\n})();\n")
    assert as_script(licences + script) == licences + script


def test_to_write_a_site_no_browser_engine_is_imported() -> None:
    """It weighed 84 MB, and everything needed it, even what draws nothing."""
    script = "import sys, jdkmatrix.cli.main, jdkmatrix.report.site.build; print('vl_convert' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
