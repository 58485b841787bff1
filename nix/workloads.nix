# Applications, executor, driver and remote system, built offline by the pinned Maven on the pinned JDK.
{
  lib,
  stdenv,
  artefacts,
  jdk,
  mavenRepository,
}:
let
  servers = lib.filter (name: builtins.pathExists (../workloads/servers + "/${name}/pom.xml")) (
    builtins.attrNames (builtins.readDir ../workloads/servers)
  );
  libraries = builtins.attrNames (builtins.readDir ../workloads/libraries);
  applications = map (lib.removeSuffix ".toml") (
    builtins.attrNames (builtins.readDir ../workloads/applications)
  );
  ofServer = name: lib.nameValuePair "${name}-server.jar" "servers/${name}/target/${name}-server.jar";
  ofLibrary = name: lib.nameValuePair "${name}.jar" "libraries/${name}/target/${name}.jar";
  ofApplication = name: lib.nameValuePair "${name}.war" "${name}/target/${name}.war";
  outputs =
    lib.importJSON ../workloads/outputs.json
    // lib.listToAttrs (
      map ofServer servers ++ map ofLibrary libraries ++ map ofApplication applications
    );
  collect = lib.concatStrings (lib.mapAttrsToList (name: path: "cp ${path} $out/${name}\n") outputs);
in
stdenv.mkDerivation {
  pname = "jdk-matrix-workloads";
  version = (lib.importTOML ../runner/pyproject.toml).project.version;
  src = builtins.path {
    path = ../workloads;
    name = "workloads";
    filter = path: _: baseNameOf path != "target";
  };
  JAVA_HOME = jdk;

  dontConfigure = true;
  dontFixup = true;
  buildPhase = ''
    runHook preBuild
    mkdir ../maven
    tar -xzf ${artefacts.maven.file} -C ../maven --strip-components=1
    # Maven writes into its repository.
    cp -RL ${mavenRepository} ../repository
    chmod -R u+w ../repository
    export HOME=$PWD MAVEN_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    sh servers/modules.sh
    sh ../maven/bin/mvn --batch-mode --offline --quiet --threads "$NIX_BUILD_CORES" -DskipTests \
      -Dmaven.repo.local=$PWD/../repository package
    runHook postBuild
  '';
  installPhase = ''
    runHook preInstall
    mkdir $out
    ${collect}
    runHook postInstall
  '';
  meta = {
    description = "Applications, executor, driver and remote system of the matrix";
    license = lib.licenses.asl20;
  };
}
