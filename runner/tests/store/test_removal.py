"""Folders that somebody else has filled."""

from __future__ import annotations

import inspect
import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

from jdkmatrix.store import removal

LEAVE = """
import sys
if len(sys.argv) > 2:
    os.setuid(int(sys.argv[2]))  # after all imports: that user may not read the interpreter's folder
folder = Path(sys.argv[1])
for name in ("closed/further", "empty"):
    (folder / name).mkdir(parents=True)
(folder / "closed" / "further" / "file").touch()
(folder / "closed" / "link").symlink_to(folder.parent / "elsewhere")
for name, mode in (("closed/further", 0o555), ("closed", 0o000), ("empty", 0o555)):
    (folder / name).chmod(mode)
remove_tree(folder)
"""


def test_folders_that_their_owner_may_not_write_are_removed_and_no_link_is_followed() -> None:
    """Root may write anywhere, so that another user has to try."""
    user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as name:
        elsewhere, folder = Path(name, "elsewhere"), Path(name, "folder")
        for one in (elsewhere, folder):
            one.mkdir()
            if user:
                os.chown(one, user.pw_uid, user.pw_gid)
        (elsewhere / "kept").touch()
        elsewhere.chmod(0o555)
        Path(name).chmod(0o777)
        code = inspect.getsource(removal) + LEAVE
        subprocess.run([sys.executable, "-c", code, folder, *([str(user.pw_uid)] if user else [])], check=True)
        assert not folder.exists() and (elsewhere / "kept").exists()
        assert elsewhere.stat().st_mode & 0o777 == 0o555
