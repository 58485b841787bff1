# The file that MATRIX_PARTS names: where everything is, and what pinned it (runner/jdkmatrix/provision/nix_parts.py reads it).
# Without `workloads` nothing can be measured, without `database` no application that has one; without `rateDriver`, which is
# wrk2, loadgen makes constant rates, too.
{
  lib,
  stdenv,
  writeText,
  self,
  nixpkgs,
  root ? import ./source.nix { inherit lib; },
  jdks,
  servers,
  workloads,
  database ? null,
  rateDriver ? null,
}:
let
  lock = (lib.importJSON ../flake.lock).nodes.nixpkgs.locked;
  # nixpkgs calls it broken on a system that it was never built on, which `availableOn` does not look at.
  hasWrk2 =
    rateDriver != null
    && lib.meta.availableOn stdenv.hostPlatform rateDriver
    && !(rateDriver.meta.broken or false);
in
writeText "jdk-matrix-parts.json" (
  builtins.toJSON {
    schema_version = 1;
    source = {
      inherit root;
      rev = self.rev or (if self ? dirtyRev then lib.removeSuffix "-dirty" self.dirtyRev else null);
      dirty = !(self ? rev);
    };
    inputs = [
      {
        name = "self";
        rev = self.rev or null;
        nar_hash = self.narHash or null;
        locked = true;
      }
      {
        name = "nixpkgs";
        rev = nixpkgs.rev or null;
        nar_hash = nixpkgs.narHash or null;
        locked = (nixpkgs.narHash or null) == lock.narHash;
      }
    ];
    jdks = lib.mapAttrs (_: toString) jdks;
    servers = lib.mapAttrs (_: server: {
      home = toString server;
      inherit (server) version sha256;
    }) servers;
    workloads = if workloads == null then null else toString workloads;
    postgres = if database == null then null else toString database;
    wrk2 = if hasWrk2 then lib.getExe rateDriver else null;
  }
)
