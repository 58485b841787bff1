# What `nix flake check` builds: the packages that the profile `quick` needs, and what can be tried without a network. All
# JDKs and servers together would fill a small disk: they are `parts` in default.nix. `make lint` has what does not depend
# on where it runs: types and style of the Python sources.
{
  lib,
  runCommand,
  actionlint,
  deadnix,
  nixfmt,
  shellcheck,
  zizmor,
  parts,
  pythonPackages,
  short-warm-up,
  without-parts,
}:
let
  source = builtins.path {
    path = ../.;
    name = "jdk-matrix-checked";
    filter =
      path: _:
      !(lib.elem (baseNameOf path) [
        "target"
        "__pycache__"
      ])
      && path != toString ../site
      && (
        !(lib.hasPrefix "${toString ../results}/" path)
        || lib.hasPrefix (toString ../results/reference) path
      );
  };
  program = lib.getExe without-parts;
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
parts
// {
  unit = inSource "unit" [ pythonPackages.forTests ] ''
    cd runner
    python -m pytest -m "not real" -n auto -p no:cacheprovider --hypothesis-profile few-examples
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
  # One fork from start to end, in the sandbox, hardly warmed up. What it measures there means nothing, so that an invalid
  # window (exit code 3) is no failure; that the server answered from a virtual thread is what counts.
  smoke = inSource "smoke" [ ] ''
    ${lib.getExe short-warm-up} run --profile quick --jdk temurin-25 --executor virtual --blocks 1 --windows 1 --window-s 1 \
      --run $PWD/run --site $PWD/site || [ $? = 3 ]
    grep -q '"virtual": *true' run/cells/*.json
    test -s site/index.html
  '';
}
