"""Watch the server and the host while they are loaded."""
