# What the tool reads of this repository when it measures or reports.
{ lib }:
builtins.path {
  path = ../.;
  name = "jdk-matrix-source";
  filter =
    path: _:
    let
      below = lib.removePrefix "${toString ../.}/" path;
    in
    lib.any (wanted: below == wanted || lib.hasPrefix "${wanted}/" below) [
      "jdks.json"
      "matrix.toml"
      "profiles"
      "published"
      "report-templates"
      "toolchain.lock.json"
      "workloads/applications"
      "workloads/executors"
      "workloads/libraries"
      "workloads/outputs.json"
      "workloads/servers"
    ]
    || below == "workloads";
}
