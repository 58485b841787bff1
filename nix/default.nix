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

  settings = lib.importTOML ../matrix.toml;
  # What `nix run .#matrix` measures when it is asked for nothing else.
  mission = "mission";

  inherit (load ./jdks.nix { }) jdks notPinned;
  jdk = jdks.${settings.driver.jdk}; # compiles, too
  inherit (load ./maven-repository.nix { }) artefacts mavenRepository;
  # The folder of the kind of a server: the longest name that its own begins with.
  serverFolders = lib.filter (
    name: builtins.pathExists (../workloads/servers + "/${name}/server.toml")
  ) (builtins.attrNames (builtins.readDir ../workloads/servers));
  folderOf =
    server:
    ../workloads/servers
    + "/${
      builtins.foldl' (_: name: name) null (
        lib.filter (name: lib.hasPrefix "${name}-" "${server}-") serverFolders
      )
    }";
  # Every server that is a release of its own, cut down to the features that workloads use; others are among the workloads.
  servers = lib.mapAttrs' (
    name: server:
    let
      own = folderOf name;
      told = lib.importTOML (own + "/server.toml");
      folder = if told ? extends then ../workloads/servers + "/${told.extends}" else own;
      inherit (lib.importTOML (folder + "/server.toml")) release;
    in
    lib.nameValuePair server.artefact (
      callPackage (./. + "/${release}.nix") {
        inherit folder jdk;
        artefact = artefacts.${server.artefact};
        featureSets = server.feature_sets;
      }
    )
  ) (lib.filterAttrs (_: server: server ? artefact) settings.servers);
  workloads = callPackage ./workloads.nix { inherit artefacts jdk mavenRepository; };
  database = pkgs.postgresql;
  rateDriver = pkgs.wrk2;
  pythonPackages = load ./python-packages.nix { };
  runner = callPackage ./runner.nix { inherit pythonPackages; };

  # The command line with everything handed over by absolute path.
  command =
    name: description: given:
    pkgs.writeShellApplication {
      inherit name;
      meta = { inherit description; };
      text = ''
        export MATRIX_PROGRAM=$0
        export MATRIX_PARTS=${callPackage ./parts.nix ({ inherit nixpkgs self; } // given)}
        exec ${lib.getExe runner} "$@"
      '';
    };
  measuring =
    name: what: parts:
    command name "Measures and reports, with ${what}" ({ inherit workloads; } // parts);

  # What can be selected, without what is not pinned. Vendors take early access away when it is over, and then nothing
  # that needs it can be built any more: only whoever asks for it needs it, and nobody what is about to go.
  onAxis = lib.filterAttrs (id: _: lib.elem id settings.axes.jdk) jdks;
  lasting = lib.filterAttrs (_: one: !one.earlyAccess);
  everything = measuring "matrix-everything" "every lasting JDK on the axis and every server" {
    inherit database rateDriver servers;
    jdks = lasting onAxis;
  };
  matrix-with-early-access = measuring "matrix-with-early-access" "early access that is kept, too" {
    inherit database rateDriver servers;
    jdks = lib.filterAttrs (_: one: !one.fleeting) onAxis;
  };

  # What these profiles need: a JDK or two instead of all of them.
  partsOf =
    profiles:
    let
      select =
        axis: profile:
        profile.select.${axis} or settings.axes.${axis}
        ++ lib.concatMap (more: more.${axis} or [ ]) (profile.include or [ ]);
      selected = axis: lib.concatMap (name: select axis settings.profiles.${name}) profiles;
      artefactsOf = map (name: settings.servers.${name}.artefact or null) (selected "server");
    in
    {
      jdks = lib.filterAttrs (id: _: lib.elem id ([ settings.driver.jdk ] ++ selected "jdk")) jdks;
      servers = lib.filterAttrs (name: _: lib.elem name artefactsOf) servers;
    };
  ofQuick = partsOf [ "quick" ];
  matrix = measuring "matrix" "what the profiles `${mission}` and `quick` need" (
    partsOf [
      mission
      "quick"
    ]
    // {
      inherit rateDriver;
    }
  );
  quick = measuring "matrix-quick" "what the profile `quick` needs" ofQuick;
  short-warm-up = measuring "matrix-short-warm-up" "servers that hardly warm up" (
    ofQuick // { root = callPackage ./short-warm-up.nix { }; }
  );

  # Whatever measures nothing: no JDK, no server, nothing that was compiled.
  without-parts =
    command "matrix-without-parts" "Reports, and looks at hosts; has nothing to measure with"
      {
        jdks = { };
        servers = { };
        workloads = null;
      };

  serverPackages = named "";
  runsOf = jdks: named "jdk-" (lib.mapAttrs (_: one: one.tests.version) jdks);
in
{
  packages = {
    default = matrix;
    inherit
      everything
      matrix
      matrix-with-early-access
      quick
      runner
      without-parts
      workloads
      ;
  }
  // named "jdk-" jdks
  // serverPackages servers
  // lib.optionalAttrs (builtins.pathExists ../results) {
    # Of a commit the reference runs, `nix build path:.#site` has all.
    site =
      pkgs.runCommand "jdk-matrix-site"
        { meta.description = "The site of the results that the source carries"; }
        ''
          ${lib.getExe without-parts} report ${../results} --site $out || [ $? = 3 ] # written, though result files are damaged or missing
        '';
  };
  # `parts`: each JDK, started once, and each server, for a schedule that builds one after the other; early access may be
  # gone any day. The rest says why a JDK of the catalogue is no package.
  legacyPackages = {
    parts = runsOf (lasting jdks) // serverPackages servers;
  }
  // named "jdk-" (lib.mapAttrs (_: why: throw why) notPinned);
  apps = load ./apps.nix {
    inherit
      everything
      matrix
      mission
      quick
      without-parts
      ;
  };
  checks = load ./checks.nix {
    inherit
      pythonPackages
      self
      short-warm-up
      without-parts
      ;
    parts = {
      inherit runner workloads;
    }
    // runsOf ofQuick.jdks
    // serverPackages ofQuick.servers;
  };
  devShells.default = callPackage ./devshell.nix { inherit jdk pythonPackages; };
  formatter = pkgs.nixfmt-tree;
}
