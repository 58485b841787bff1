# A stand-in for nixpkgs, for machines that cannot get the real one: the names of nix/nixpkgs-attributes.txt and no others, made
# of what the host has. It shows that the flake is wired right and that its hashes are checked; it cannot show that a
# package of nixpkgs exists or builds. `host.json` is written beside this by the test (flake_checkout.py).
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
