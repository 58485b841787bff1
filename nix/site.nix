# The site of the results that the source carries: of a commit the reference runs, `nix build path:.#site` has all.
{
  lib,
  runCommand,
  without-parts,
}:
runCommand "jdk-matrix-site" { } ''
  ${lib.getExe without-parts} report ${../results} --site $out || [ $? = 3 ] # written, though result files are damaged or missing
''
