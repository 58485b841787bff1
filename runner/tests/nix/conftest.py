"""One checkout of the flake for all tests: what one of them builds, the others find in the store."""

from __future__ import annotations

import pytest

from tests.nix.flake_checkout import FlakeCheckout, Seeds, gather_seeds, make
from tests.nix.install import newest_nix


@pytest.fixture(scope="session")
def seeds() -> Seeds:
    return gather_seeds()


@pytest.fixture(scope="session")
def flake(tmp_path_factory: pytest.TempPathFactory, seeds: Seeds) -> FlakeCheckout:
    """With the newest Nix."""
    return make(tmp_path_factory.mktemp("flake"), newest_nix(), seeds)
