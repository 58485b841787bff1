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
  named = prefix: lib.mapAttrs' (name: one: lib.nameValuePair "${prefix}${attributeName name}" one);

  # For files that make sets of packages, to which callPackage would add an `override`.
  load =
    file: given:
    let
      f = import file;
    in
    f (builtins.intersectAttrs (builtins.functionArgs f) pkgs // given);

  inherit (load ./jdks.nix { }) jdks notPinned;
  servers = load ./servers.nix { };
  mavenRepository = callPackage ./maven-repository.nix { };
  workloads = callPackage ./workloads.nix { inherit mavenRepository; };
  pythonPackages = load ./python-packages.nix { };
  runner = callPackage ./runner.nix { inherit pythonPackages; };

  commandWith =
    parts:
    callPackage ./matrix.nix {
      inherit runner;
      parts = callPackage ./parts.nix ({ inherit nixpkgs self; } // parts);
    };
  everythingFor = jdks: servers: {
    inherit jdks servers workloads;
    wrk2 = load ./wrk2.nix { };
  };
  measuring = jdks: servers: commandWith (everythingFor jdks servers);

  # What can be selected, without what is not pinned. Vendors take early access away when it is over, and then nothing
  # that needs it can be built any more: only whoever asks for it needs it.
  settings = lib.importTOML ../matrix.toml;
  onAxis = lib.filterAttrs (id: _: lib.elem id settings.axes.jdk) jdks;
  lasting = lib.filterAttrs (_: jdk: !jdk.earlyAccess);
  matrix = measuring (lasting onAxis) servers;

  # What the profile `quick` needs: a JDK or two instead of all of them.
  ofQuick =
    axis:
    lib.concatMap (table: table.${axis} or [ ]) (
      [ settings.profiles.quick.select ] ++ settings.profiles.quick.include or [ ]
    );
  jdksOfQuick = lib.genAttrs ([ settings.driver.jdk ] ++ ofQuick "jdk") (id: jdks.${id});
  serversOfQuick = lib.genAttrs (map (name: settings.servers.${name}.artefact) (ofQuick "server")) (
    name: servers.${name}
  );
  quick = measuring jdksOfQuick serversOfQuick;
  short-warm-up = commandWith (
    everythingFor jdksOfQuick serversOfQuick // { root = callPackage ./short-warm-up.nix { }; }
  );

  # Whatever measures nothing: no JDK, no server, nothing that was compiled.
  without-parts = commandWith {
    jdks = { };
    servers = { };
    workloads = null;
    wrk2 = null;
  };

  serverPackages = lib.mapAttrs' (
    name: one: lib.nameValuePair (if name == "open-liberty" then "liberty" else attributeName name) one
  );
  runsOf = jdks: named "jdk-" (lib.mapAttrs (_: jdk: jdk.tests.version) jdks);
in
{
  packages = {
    default = matrix;
    inherit
      matrix
      quick
      runner
      without-parts
      workloads
      ;
    matrix-with-early-access = measuring onAxis servers;
  }
  // named "jdk-" jdks
  // serverPackages servers
  // lib.optionalAttrs (builtins.pathExists ../results) {
    site = callPackage ./site.nix { inherit without-parts; };
  };
  # `parts`: each JDK, started once, and each server, for a schedule that builds one after the other; early access may be
  # gone any day. The rest says why a JDK of the catalogue is no package.
  legacyPackages = {
    parts = runsOf (lasting jdks) // serverPackages servers;
  }
  // named "jdk-" (lib.mapAttrs (_: why: throw why) notPinned);
  apps = load ./apps.nix { inherit matrix quick without-parts; };
  checks = load ./checks.nix {
    inherit pythonPackages short-warm-up without-parts;
    parts = {
      inherit runner workloads;
    }
    // runsOf jdksOfQuick
    // serverPackages serversOfQuick;
  };
  devShells.default = callPackage ./devshell.nix { inherit pythonPackages; };
  formatter = pkgs.nixfmt-tree;
}
