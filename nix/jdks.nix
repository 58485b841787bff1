# `jdks`: every entry of the catalogue that is pinned for this system, by its id. `notPinned`: why the others are not.
{
  lib,
  stdenv,
  callPackage,
}:
let
  inherit (stdenv.hostPlatform) system;
  isPinned = entry: entry ? archives.${system};
  inherit (lib.importJSON ../jdks.json) entries;
  from =
    wanted: f:
    lib.listToAttrs (map (entry: lib.nameValuePair entry.id (f entry)) (lib.filter wanted entries));
  why =
    entry:
    if (entry.registry.kind or "") == "debian" then
      "Debian's ${entry.registry.suite} keeps only its newest build, so that no hash can pin it; on Debian, "
      + "`nix run .#without-parts -- jdks fetch ${entry.id}` gets it with the host's patchelf, "
      + "and runs say that it was not pinned"
    else
      "jdks.json has no archive of it for ${system}";
in
{
  jdks = from isPinned (entry: callPackage ./jdk.nix { inherit entry; });
  notPinned = from (entry: !isPinned entry) (entry: "${entry.id} is not in the flake: ${why entry}");
}
