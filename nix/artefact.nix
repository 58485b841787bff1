# One artefact of toolchain.lock.json, group:artefact:version:packaging[:classifier], from a Maven repository.
{
  lib,
  fetchurl,
  artefact,
}:
let
  parts = lib.splitString ":" artefact.coordinates;
  part = lib.elemAt parts;
  group = lib.replaceStrings [ "." ] [ "/" ] (part 0);
  classifier = lib.optionalString (lib.length parts > 4) "-${part 4}";
  fileName = "${part 1}-${part 2}${classifier}.${part 3}";
in
fetchurl {
  url = "mirror://maven/${group}/${part 1}/${part 2}/${fileName}";
  inherit (artefact) sha256;
  passthru.version = part 2;
}
