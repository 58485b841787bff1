"""One checkout of the flake for all tests, so that what one builds, the others find in the store; and one evaluation of
all its outputs, which takes longer than the questions asked of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.nix.flake_checkout import FlakeCheckout, Seeds, gather_seeds, make, put_in_store
from tests.nix.install import newest_nix


@pytest.fixture(scope="session")
def seeds() -> Seeds:
    return gather_seeds()


@pytest.fixture(scope="session")
def flake(tmp_path_factory: pytest.TempPathFactory, seeds: Seeds) -> FlakeCheckout:
    """The flake's checkout with the newest Nix."""
    nix = newest_nix()
    put_in_store(nix, seeds)
    return make(tmp_path_factory.mktemp("flake"), nix, seeds)


@pytest.fixture(scope="session")
def whole(flake: FlakeCheckout, tmp_path_factory: pytest.TempPathFactory) -> FlakeCheckout:
    """The flake with the whole catalogue, of which nothing is built."""
    return flake.on_another_host(tmp_path_factory.mktemp("whole"), everything=True)


# For each output: the derivations behind it, its name and description, and the script that makes it.
OUTPUTS = """
outputs: let
  each = f: builtins.mapAttrs (_: builtins.mapAttrs (_: f));
  behind = text: builtins.attrNames (builtins.getContext text);
  of = one: {
    behind = behind one.outPath;
    told = one.name + (one.meta.description or "");
    script = builtins.unsafeDiscardStringContext (toString (one.drvAttrs.args or [ ]));
  };
in {
  apps = each (app: { behind = behind app.program; told = app.meta.description; }) outputs.apps;
  parts = builtins.mapAttrs (_: all: builtins.mapAttrs (_: of) all.parts) outputs.legacyPackages;
} // builtins.mapAttrs (_: each of) { inherit (outputs) checks devShells packages; }
"""


@pytest.fixture(scope="session")
def outputs(whole: FlakeCheckout) -> dict[str, Any]:
    """The flake's outputs by kind, system and name."""
    found: dict[str, Any] = json.loads(whole.run("eval", "--json", ".#.", "--apply", OUTPUTS).stdout)
    return found
