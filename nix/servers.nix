# Every server of matrix.toml, by its artefact in toolchain.lock.json, cut down to the features that workloads use.
{
  lib,
  callPackage,
}:
let
  lock = (lib.importJSON ../toolchain.lock.json).artefacts;
  servers = lib.attrValues (lib.importTOML ../matrix.toml).servers;
in
lib.listToAttrs (
  map (
    server:
    lib.nameValuePair server.artefact (
      callPackage ./liberty.nix {
        artefact = lock.${server.artefact};
        featureSets = server.feature_sets;
      }
    )
  ) servers
)
