"""File names and links of the site. Pure."""

from __future__ import annotations

import hashlib
import re

from jdkmatrix.domain.cell_key import CellKey

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,180}")
METHOD_PAGE = "method.html"  # of every run, beside its index
_UNSAFE_RUN = re.compile(r"[^A-Za-z0-9._+-]+")


def file_stem(name: str) -> str:
    """`name` if it is safe as a file name and in a link, else its safe letters and a hash that keeps it unique.

    Result files may come from elsewhere, so that an id may hold anything.
    """
    if _SAFE.fullmatch(name) and ".." not in name:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:10]
    letters = re.sub(r"\.\.+", ".", _UNSAFE_RUN.sub("-", name)).strip("._+-")[:100]
    return f"{letters or 'x'}-{digest}"


def cell_page(key: CellKey) -> str:
    """The cell's page, seen from the index."""
    return f"cells/{file_stem(key.cell_id)}.html"
