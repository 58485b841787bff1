# Every server of matrix.toml that is an artefact of toolchain.lock.json, cut down to the features that workloads use.
# Others are among the workloads.
{
  lib,
  callPackage,
}:
let
  lock = (lib.importJSON ../toolchain.lock.json).artefacts;
  servers = lib.filter (server: server ? artefact) (
    lib.attrValues (lib.importTOML ../matrix.toml).servers
  );
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
