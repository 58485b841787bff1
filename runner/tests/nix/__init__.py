"""What is written in Nix, looked at with real Nix and with linters, all of them got into the tool's own cache."""
