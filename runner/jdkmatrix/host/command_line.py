"""The kernel's command line as it may be published: nothing is left out, and values that may be secret are masked."""

from __future__ import annotations

import re

MASK = "***"
# A word, with blanks where it is quoted (Documentation/admin-guide/kernel-parameters.rst).
_WORD = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
_NAMES = r"(?:password|passwd|passphrase|token|secret|credential|(?:api|private)[-_.]?key)"
_SECRET = re.compile(_NAMES, re.IGNORECASE)
# Inside the value of another key.
_INSIDE = re.compile(rf"({_NAMES}[^\s\"=]*)=[^\"]+", re.IGNORECASE)
# As in netroot=iscsi:USER:PASSWORD@HOST, or with two pairs of them (dracut.cmdline(7)); a password may hold anything.
_USER = re.compile(r"((?:iscsi:|\w+://)?)[^\s:@=]+:\S*@")


def masked(text: str) -> str:
    """Mask the values of keys in `text` that sound secret, and users and passwords before a host. Pure.

    A value is what follows "=", or the next word where a key that begins with "-" has none.
    """
    words: list[str] = []
    is_value = False
    for word in _WORD.findall(text):
        key, equals, _ = word.lstrip('"').partition("=")
        if is_value and not word.startswith("-"):
            words.append(MASK)
            is_value = False
            continue
        secret = _SECRET.search(key) is not None
        is_value = secret and not equals and key.startswith("-")
        shown = _INSIDE.sub(rf"\1={MASK}", _USER.sub(rf"\1{MASK}@", word))
        words.append(f"{key}={MASK}" if secret and equals else shown)
    return " ".join(words)
