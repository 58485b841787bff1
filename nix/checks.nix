# What `nix flake check` builds: the packages that the profile `quick` needs, and what can be tried without a network. All
# JDKs and servers together would fill a small disk: they are `parts` in default.nix. `make lint` and `make test` have what
# does not depend on where it runs: types and style of the sources, of Nix and of the workflows.
{
  lib,
  runCommand,
  parts,
  pythonPackages,
  self,
  short-warm-up,
  without-parts,
}:
let
  program = lib.getExe without-parts;
  inSource =
    name: tools: script:
    runCommand "jdk-matrix-${name}" { nativeBuildInputs = tools; } ''
      cp -R ${self} source
      chmod -R u+w source
      cd source
      export HOME=$PWD/.home
      mkdir $HOME
      ${script}
      touch $out
    '';
in
parts
// {
  unit = inSource "unit" [ pythonPackages.forTests ] ''
    cd runner
    export PYTHONPATH=$PWD
    python -m pytest -m "not real" -n auto -p no:cacheprovider --hypothesis-profile few-examples
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
    ${lib.getExe short-warm-up} run --profile quick --jdk temurin-25 --executor virtual --blocks 1 \
      --protocol separate --windows 1 --window-s 1 --run $PWD/run --site $PWD/site || [ $? = 3 ]
    grep -q '"virtual": *true' run/cells/*.json
    test -s site/index.html
  '';
}
