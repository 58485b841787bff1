"""The script that draws charts: what is shipped is what the lock file names."""

from __future__ import annotations

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
