#!/bin/sh
# Writes the pom.xml beside it, in which every folder here with a pom.xml is a module: Maven has no other way to find them.
# It is in Git for Dependabot, which runs nothing and reads no pom where one of a module is missing.
set -eu
export LC_ALL=C
cd "$(dirname "$0")"
{
  cat <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>jdkmatrix</groupId>
    <artifactId>workloads</artifactId>
    <version>1</version>
  </parent>
  <artifactId>servers</artifactId>
  <packaging>pom</packaging>
  <modules>
POM
  for pom in */pom.xml; do
    echo "    <module>${pom%/pom.xml}</module>"
  done
  printf '  </modules>\n</project>\n'
} > pom.xml.$$
mv pom.xml.$$ pom.xml
