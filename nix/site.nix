# The site of the results that the source carries: they are in no commit, so `nix build path:.#site`.
{
  lib,
  runCommand,
  matrix,
}:
runCommand "jdk-matrix-site" { } ''
  ${lib.getExe matrix} report ${../results}/* --site $out
''
