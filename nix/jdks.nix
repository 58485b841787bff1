# Every entry of the catalogue that is pinned for this system, by its id.
{
  lib,
  stdenv,
  callPackage,
}:
let
  inherit (stdenv.hostPlatform) system;
  isPinned = entry: entry ? archives.${system} || entry ? registry.wheels.${system};
  entries = lib.filter isPinned (lib.importJSON ../jdks.json).entries;
in
lib.listToAttrs (
  map (entry: lib.nameValuePair entry.id (callPackage ./jdk.nix { inherit entry; })) entries
)
