# `nix run .#NAME -- ARGUMENTS`.
{
  lib,
  writeShellApplication,
  matrix,
  quick,
}:
let
  app = description: program: {
    type = "app";
    program = lib.getExe program;
    meta = { inherit description; };
  };
  command =
    name: text:
    writeShellApplication {
      inherit name;
      text = ''
        ${text} "$@"
      '';
    };
  program = lib.getExe matrix;
  run = app "Measure the matrix, and everything else that the command line does" matrix;
in
{
  default = run;
  matrix = run;
  quick = app "Measure the profile `quick`, with the few parts that it needs" (
    command "quick" "exec ${lib.getExe quick} run --profile quick"
  );
  report = app "Write the site of the newest run" (command "report" "exec ${program} report");
  doctor = app "Is this host fit to measure?" (command "doctor" "exec ${program} doctor");
  update-jdks = app "Look for newer JDKs, and show what would change in the jdks.json of the working directory" (
    command "update-jdks" "MATRIX_HOME=$PWD exec ${program} jdks update"
  );
}
