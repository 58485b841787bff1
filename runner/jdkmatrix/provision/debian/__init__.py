"""Programs from packages of any Debian suite, made to run on another release of Debian; nothing is installed."""
