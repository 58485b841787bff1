"""Tests of everything written in Nix, with real Nix and with linters, all installed into the tool's own cache."""
