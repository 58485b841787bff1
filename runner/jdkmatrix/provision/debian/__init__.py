"""Programs from packages of any Debian suite, made to run on a Debian of another age; nothing is installed."""
