# Everything of the flake for one system.
{
  pkgs,
  self,
  nixpkgs,
}:
let
  inherit (pkgs) lib callPackage;

  # A dot separates attributes on Nix's command line.
  attributeName = lib.replaceStrings [ "." ] [ "_" ];

  # For files that make sets of packages, to which callPackage would add an `override`.
  load =
    file: given:
    let
      f = import file;
    in
    f (builtins.intersectAttrs (builtins.functionArgs f) pkgs // given);

  jdks = load ./jdks.nix { };
  servers = load ./servers.nix { };
  mavenRepository = callPackage ./maven-repository.nix { };
  workloads = callPackage ./workloads.nix { inherit mavenRepository; };
  pythonPackages = load ./python-packages.nix { };
  runner = callPackage ./runner.nix { inherit pythonPackages; };

  commandWith =
    { jdks, servers }:
    callPackage ./matrix.nix {
      inherit runner;
      parts = callPackage ./parts.nix {
        inherit
          jdks
          nixpkgs
          self
          servers
          workloads
          ;
        wrk2 = load ./wrk2.nix { };
      };
    };
  matrix = commandWith { inherit jdks servers; };

  # What the profile `quick` needs: two JDKs instead of all of them.
  settings = lib.importTOML ../matrix.toml;
  ofQuick =
    axis:
    lib.concatMap (table: table.${axis} or [ ]) (
      [ settings.profiles.quick.select ] ++ settings.profiles.quick.include
    );
  quick = commandWith {
    jdks = lib.genAttrs ([ settings.driver.jdk ] ++ ofQuick "jdk") (id: jdks.${id});
    servers = lib.genAttrs (map (name: settings.servers.${name}.artefact) (ofQuick "server")) (
      name: servers.${name}
    );
  };

  packages = {
    default = matrix;
    inherit
      matrix
      quick
      runner
      workloads
      ;
    liberty = servers.open-liberty;
  }
  // lib.mapAttrs' (id: one: lib.nameValuePair "jdk-${attributeName id}" one) jdks
  // lib.mapAttrs' (name: one: lib.nameValuePair (attributeName name) one) (
    removeAttrs servers [ "open-liberty" ]
  )
  // lib.optionalAttrs (builtins.pathExists ../results) {
    site = callPackage ./site.nix { inherit matrix; };
  };
in
{
  inherit packages;
  apps = load ./apps.nix { inherit matrix quick; };
  checks = load ./checks.nix {
    inherit
      attributeName
      jdks
      packages
      pythonPackages
      quick
      ;
  };
  devShells.default = callPackage ./devshell.nix { inherit pythonPackages; };
  formatter = pkgs.nixfmt-tree;
}
