# A stand-in for nixpkgs, for machines that cannot get the real one: the names of nix/nixpkgs-attributes.txt and no
# others, made of what the host has. It shows that the flake is wired correctly and that its hashes are checked; it
# cannot show that a package of nixpkgs exists or builds. The test writes `host.json` and `stdenv` beside this file
# (flake_checkout.py); versions.json is what files of nixpkgs 26.05 say, the older version where they say two.
{
  outputs =
    { ... }:
    let
      host = builtins.fromJSON (builtins.readFile ./host.json);
      lib = import ./lib.nix { inherit host; };
    in
    {
      inherit lib;
      legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (
        system: import ./packages.nix { inherit host lib system; }
      );
    };
}
