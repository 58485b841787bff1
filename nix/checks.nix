# What `nix flake check` builds: every package, and what can be tried without a network.
{
  lib,
  runCommand,
  actionlint,
  deadnix,
  nixfmt,
  ruff,
  shellcheck,
  zizmor,
  attributeName,
  jdks,
  packages,
  pythonPackages,
  quick,
}:
let
  source = builtins.path {
    path = ../.;
    name = "jdk-matrix-checked";
    filter =
      path: _:
      !(lib.elem (baseNameOf path) [
        "results"
        "site"
        "target"
        "__pycache__"
      ]);
  };
  program = lib.getExe quick;
  inSource =
    name: tools: script:
    runCommand "jdk-matrix-${name}" { nativeBuildInputs = tools; } ''
      cp -R ${source} source
      chmod -R u+w source
      cd source
      export HOME=$PWD/.home PYTHONPATH=$PWD/runner
      mkdir $HOME
      ${script}
      touch $out
    '';
in
packages
// lib.mapAttrs' (id: jdk: lib.nameValuePair "jdk-${attributeName id}-runs" jdk.tests.version) jdks
// {
  unit = inSource "unit" [ pythonPackages.forTests ] ''
    cd runner
    python -m pytest -m "not real" -n auto -p no:cacheprovider
  '';
  report = inSource "report" [ pythonPackages.forTests ] ''
    cd runner
    python -m pytest tests/test_report_view.py -p no:cacheprovider
  '';
  python = inSource "python" [ pythonPackages.forTests ruff ] ''
    cd runner
    ruff check .
    ruff format --check .
    mypy
  '';
  nix = inSource "nix" [ deadnix nixfmt ] ''
    nixfmt --check flake.nix nix/*.nix
    deadnix --fail flake.nix nix
  '';
  shell = inSource "shell" [ actionlint shellcheck zizmor ] ''
    shellcheck .ci/run
    actionlint -config-file .github/actionlint.yaml .github/workflows/*.yml
    zizmor --offline .github/workflows
  '';
  schema = inSource "schema" [ ] ''
    ${program} schema | diff - matrix.schema.json
    ${program} plan --profile full > plan.txt
    ${program} scenarios > scenarios.txt
    ${program} jdks --json > jdks.txt
  '';
  # One fork from start to end, in the sandbox. What it measures there means nothing, so that an invalid window (exit
  # code 3) is no failure; that the server answered from a virtual thread is what counts.
  smoke = inSource "smoke" [ ] ''
    ${program} run --profile quick --jdk temurin-25 --executor virtual --blocks 1 --windows 1 --window-s 1 \
      --run $PWD/run --site $PWD/site || [ $? = 3 ]
    grep -q '"virtual": *true' run/cells/*.json
    test -s site/index.html
  '';
}
