# What a Maven repository holds, each file by its hash, so that a change of one library is one line of a diff.
# `artefacts`: those of toolchain.lock.json, by their names there. `mavenRepository`: what a build of the workloads uses,
# plugins included, in the layout that Maven reads; its lock is the list of checksums that Maven itself compares on every
# other host, so that the hashes stay whatever version of Maven runs.
{
  lib,
  fetchurl,
  linkFarm,
}:
let
  fetch =
    path: sha256:
    fetchurl {
      url = "mirror://maven/${path}";
      inherit sha256;
    };

  # group:artefact:version:packaging[:classifier]
  ofLock =
    { coordinates, sha256 }:
    let
      parts = lib.splitString ":" coordinates;
      part = lib.elemAt parts;
      version = part 2;
      group = lib.replaceStrings [ "." ] [ "/" ] (part 0);
      classifier = lib.optionalString (lib.length parts > 4) "-${part 4}";
    in
    {
      inherit sha256 version;
      file = fetch "${group}/${part 1}/${version}/${part 1}-${version}${classifier}.${part 3}" sha256;
    };

  # As sha256sum writes it.
  lines = lib.splitString "\n" (
    lib.removeSuffix "\n" (builtins.readFile ../workloads/.mvn/checksums/checksums.sha256)
  );
  ofLine =
    line:
    let
      fields = builtins.match "([0-9a-f]{64})  (.+)" line;
      name = lib.elemAt fields 1;
    in
    {
      inherit name;
      path = fetch name (lib.head fields);
    };
in
{
  artefacts = lib.mapAttrs (_: ofLock) (lib.importJSON ../toolchain.lock.json).artefacts;
  mavenRepository = linkFarm "maven-repository" (map ofLine lines);
}
