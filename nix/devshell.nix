# Everything that `make test` looks for, and the tools of nix/checks.nix.
{
  mkShell,
  actionlint,
  chromium,
  deadnix,
  git,
  maven,
  nixfmt,
  ruff,
  shellcheck,
  temurin-bin-25,
  zizmor,
  pythonPackages,
}:
mkShell {
  packages = [
    actionlint
    chromium
    deadnix
    git
    maven
    nixfmt
    pythonPackages.forTests
    ruff
    shellcheck
    zizmor
  ];
  JAVA_HOME = temurin-bin-25;
}
