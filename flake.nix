{
  description = "A reproducible multi-JDK comparison of request executors: thread pool or virtual threads";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      of = lib.genAttrs systems (
        system:
        import ./nix {
          inherit self nixpkgs;
          pkgs = nixpkgs.legacyPackages.${system};
        }
      );
      forAll = name: lib.mapAttrs (_: one: one.${name}) of;
    in
    {
      packages = forAll "packages";
      legacyPackages = forAll "legacyPackages";
      apps = forAll "apps";
      checks = forAll "checks";
      devShells = forAll "devShells";
      formatter = forAll "formatter";
    };
}
