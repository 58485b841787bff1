# `nix run .#NAME -- ARGUMENTS`.
{
  lib,
  writeShellApplication,
  matrix,
  quick,
  without-parts,
}:
let
  app = description: program: {
    type = "app";
    program = lib.getExe program;
    meta = { inherit description; };
  };
  command = name: text: writeShellApplication { inherit name text; };
  # As `make matrix`: measures and writes the site when nothing else is asked for.
  run =
    program:
    app "Measure the profile `quick` and write the site, or do what the arguments of `matrix` say" (
      command "matrix" ''
        if [ $# -eq 0 ]; then set -- run --profile quick; fi
        exec ${lib.getExe program} "$@"
      ''
    );
  tool = lib.getExe without-parts;
in
{
  default = run matrix;
  matrix = run matrix;
  quick = app "Measure the profile `quick`, with the few parts that it needs" (
    command "quick" ''exec ${lib.getExe quick} run --profile quick "$@"''
  );
  report = app "Write the site of all runs in results" (
    command "report" ''exec ${tool} report "$@"''
  );
  doctor = app "Is this host fit to measure?" (command "doctor" ''exec ${tool} doctor "$@"'');
  update-jdks = app "Look for newer JDKs, and show what would change in the jdks.json of the working directory" (
    command "update-jdks" ''MATRIX_HOME=$PWD exec ${tool} jdks update "$@"''
  );
}
