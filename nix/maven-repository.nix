# What a build of the workloads uses, plugins included, in the layout of a Maven repository. The lock is the list of
# checksums that Maven itself compares on every other host: one hash for each artefact, so that a change of one library
# is one line of a diff, and whatever version of Maven runs, the hashes stay.
{
  lib,
  fetchurl,
  linkFarm,
}:
let
  list = builtins.readFile ../workloads/.mvn/checksums/checksums.sha256;
  lines = lib.filter (line: line != "") (lib.splitString "\n" list);
  fetch =
    line:
    let
      # As sha256sum writes it.
      fields = builtins.match "([0-9a-f]{64})  (.+)" line;
      path = lib.elemAt fields 1;
    in
    {
      name = path;
      path = fetchurl {
        url = "mirror://maven/${path}";
        sha256 = lib.head fields;
      };
    };
in
linkFarm "maven-repository" (map fetch lines)
