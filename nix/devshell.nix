# Everything that `make test` looks for.
{
  lib,
  mkShell,
  stdenv,
  cargo,
  chromium,
  git,
  maven,
  unzip,
  zlib,
  jdk,
  pythonPackages,
}:
mkShell {
  packages = [
    cargo
    chromium
    git
    maven
    pythonPackages.forTests
    unzip
  ];
  JAVA_HOME = jdk;
  # `make` sets a virtual environment up, whose wheels expect these from the system.
  LD_LIBRARY_PATH = lib.makeLibraryPath [
    stdenv.cc.cc
    zlib
  ];
}
