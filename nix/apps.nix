# `nix run .#NAME -- ARGUMENTS`.
{
  lib,
  writeShellApplication,
  everything,
  matrix,
  mission,
  quick,
  without-parts,
}:
let
  app = description: program: {
    type = "app";
    program = lib.getExe program;
    meta = { inherit description; };
  };
  script =
    name: description: text:
    app description (writeShellApplication {
      inherit name text;
    });
  # As `make mission`: measures and writes the site when nothing else is asked for.
  run =
    script "matrix"
      "Measure the profile `${mission}` and write the site, or do what the arguments of `matrix` say"
      ''
        if [ $# -eq 0 ]; then set -- run --profile ${mission}; fi
        exec ${lib.getExe matrix} "$@"
      '';
  tool = lib.getExe without-parts;
in
{
  default = run;
  matrix = run;
  quick =
    script "quick" "Measure the profile `quick`, with the few parts that it needs"
      ''exec ${lib.getExe quick} run "$@"'';
  everything = app "Do what the arguments of `matrix` say, with every lasting JDK and every server" everything;
  report = script "report" "Write the site of all runs in results" ''exec ${tool} report "$@"'';
  doctor = script "doctor" "Is this host fit to measure?" ''exec ${tool} doctor "$@"'';
  update-jdks =
    script "update-jdks"
      "Look for newer JDKs, and show what would change in the jdks.json of the working directory"
      ''MATRIX_HOME=$PWD exec ${tool} jdks update "$@"'';
}
