"""Settings of all tests."""

from hypothesis import settings

# How long an example takes depends on what else this host does.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
