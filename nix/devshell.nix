# Everything that `make test` looks for, and the tools of nix/checks.nix.
{
  lib,
  mkShell,
  stdenv,
  actionlint,
  cargo,
  chromium,
  deadnix,
  git,
  maven,
  nixfmt,
  ruff,
  shellcheck,
  temurin-bin-25,
  unzip,
  zizmor,
  zlib,
  pythonPackages,
}:
mkShell {
  packages = [
    actionlint
    cargo
    chromium
    deadnix
    git
    maven
    nixfmt
    pythonPackages.forTests
    ruff
    shellcheck
    unzip
    zizmor
  ];
  JAVA_HOME = temurin-bin-25;
  # `make` sets a virtual environment up, whose wheels expect these from the system.
  LD_LIBRARY_PATH = lib.makeLibraryPath [
    stdenv.cc.cc
    zlib
  ];
}
