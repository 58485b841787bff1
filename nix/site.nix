# The site of the results that the source carries: they are in no commit, so `nix build path:.#site`.
{
  lib,
  runCommand,
  without-parts,
}:
runCommand "jdk-matrix-site" { } ''
  ${lib.getExe without-parts} report ${../results}/* --site $out || [ $? = 3 ] # written, though result files are damaged or missing
''
