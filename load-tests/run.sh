#!/bin/sh
# Measures Regatta and its peers side by side: all drivers of load-tests but those that run
# only if they are named (sweep, modes, allreduce, refit, doors, features, serve), Markdown on standard output.
#   load-tests/run.sh [--quick] [--json FILE] [dense] [small] [sparse] [train] [stall] [sweep] [modes] [allreduce] [refit] [doors] [features] [serve]
#   load-tests/run.sh ctr-quality ...   AUC beside other libraries, see ctr-quality/run.sh
# Builds load-tests/target/load-tests.jar if it is not there or older than the sources.
# Environment: JAVA_HOME (else java from PATH); REGATTA_GLOO_PYTHON, a Python with torch, for allreduce's peer;
# REGATTA_ONNXRUNTIME_JAR, onnxruntime's Java library, for serve's peer (else fetched with Maven; left out where it cannot be).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = ctr-quality ]; then
  shift
  exec "$here/ctr-quality/run.sh" "$@"
fi
jar=$here/target/load-tests.jar
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" >/dev/null || { echo "run.sh: no $java: install a JDK 17 or newer and put it into PATH, or set JAVA_HOME" >&2; exit 2; }
version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)

if [ ! -f "$jar" ] || [ -n "$(find "$here/../pom.xml" "$here" "$here/../services" "$here/../shared-protocol" \
    -name target -prune -o -newer "$jar" \( -name '*.java' -o -name '*.proto' -o -name pom.xml \) -print 2>/dev/null |
    head -n 1)" ]; then
  echo "run.sh: building $jar (./mvnw package, without tests)." >&2
  trap 'rm -f "$jar"; exit 130' INT TERM # never leave half a jar
  (cd "$here/.." && ./mvnw -q -B -ntp -DskipTests -Dregatta.service.jars.skip=true -Pbenchmarks -pl load-tests -am package) </dev/null >&2 ||
    { rm -f "$jar"; echo "run.sh: the build failed, see above" >&2; exit 2; }
  trap - INT TERM
fi

case " $* " in *" serve "*)
  if [ -z "${REGATTA_ONNXRUNTIME_JAR:-}" ]; then
    peer=com.microsoft.onnxruntime:onnxruntime:1.20.0
    REGATTA_ONNXRUNTIME_JAR=$here/target/onnxruntime-1.20.0.jar
    [ -f "$REGATTA_ONNXRUNTIME_JAR" ] || (cd "$here/.." && ./mvnw -q -B -ntp dependency:copy -Dartifact="$peer" \
      -DoutputDirectory="$here/target") </dev/null >&2 ||
      echo "run.sh: $peer could not be fetched; serve is measured without it." >&2
    export REGATTA_ONNXRUNTIME_JAR
  fi ;;
esac

# As ./regatta does: one compute thread, and no report of the engine's start to its makers.
OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
OPT_OUT_TRACKING=true
export OMP_NUM_THREADS OPT_OUT_TRACKING
# The options with which ./regatta starts Java, and no others; the drivers give them to their processes.
flags=
if [ "$version" -ge 24 ]; then
  flags=--sun-misc-unsafe-memory-access=allow
fi
# shellcheck disable=SC2086 # options are words
exec "$java" $flags -jar "$jar" drivers "$@"
