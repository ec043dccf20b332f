#!/usr/bin/env bash
# Whether image and compose.yaml do what they are for, on a Docker engine: a collective job is trained to its end while its trainers
# are scaled from 2 to 4 and one of them is killed; a job with parameter servers is trained to its end, and once more through an
# aggregator, with TLS and a token; and whether containers run an image that is named by its digest.
#   deploy/compose-test.sh            KEEP=1 leaves containers and engine, PARTS="collective parameter_servers heter aggregated pinned" says what
#                                     is tried, in any order
# Needs root, Docker (docker.io) with compose and buildx, debootstrap, a JDK. Takes an engine that runs (DOCKER_HOST), or
# else starts one of its own in a network namespace. No image registry is asked: the base image is made by debootstrap from
# the Debian mirror of this machine (or MIRROR), the JDK is this machine's.
set -euo pipefail
. "$(dirname "$0")/testing.sh"
cd "$root"

needs_root
needs docker "Debian's docker.io"
docker buildx version >/dev/null 2>&1 ||
  skip "needs the plugin docker buildx (docker-buildx of Debian 13, or Docker's docker-buildx-plugin)"
needs jlink "a JDK 17 or newer"
work=${WORK:-/var/tmp/regatta-compose-test}
mkdir -p "$work"
daemon=
registry=

cleanup() {
  status=$?
  trap - EXIT
  [ -z "$registry" ] || kill "$registry" 2>/dev/null || true
  if [ "${KEEP:-}" != 1 ]; then
    end || true
    if [ -n "$daemon" ]; then
      kill "$daemon" 2>/dev/null && wait "$daemon" 2>/dev/null || true
      ip netns delete regatta-docker || true
    fi
  fi
  exit $status
}

# An engine of our own, whose bridges and rules stay in a namespace of their own.
start_engine() {
  needs dockerd "Debian's docker.io"
  needs ip "Debian's iproute2"
  needs iptables "Debian's iptables"
  ip netns list | grep -q '^regatta-docker' || ip netns add regatta-docker
  ip -n regatta-docker link set lo up
  export DOCKER_HOST=unix://$work/docker.sock
  nsenter --net=/run/netns/regatta-docker dockerd --host "$DOCKER_HOST" --data-root "$work/data" --exec-root "$work/exec" \
    --pidfile "$work/docker.pid" --storage-driver overlay2 >"$work/dockerd.log" 2>&1 &
  daemon=$!
  until_true 60 docker info || { tail -5 "$work/dockerd.log" >&2; skip "dockerd does not start here, see $work/dockerd.log"; }
}

# What a part chooses for itself ends with it: begin is what each part starts from.
begin() {
  layers=(-f "$root/deploy/compose.yaml")
  unset COMPOSE_PROFILES ARGS KEYS SERVICE_RESTART
}
end() { # whatever profiles the part had
  begin
  COMPOSE_PROFILES=collective,ps,heter,aggregated compose down --volumes --timeout 5 >"$work/down.log" 2>&1
}
begin
compose() {
  if docker compose version >/dev/null 2>&1; then
    docker compose "${layers[@]}" "$@"
  else
    docker-compose "${layers[@]}" "$@"
  fi
}

trap cleanup EXIT
docker info >/dev/null 2>&1 || start_engine
docker compose version >/dev/null 2>&1 || needs docker-compose "or the plugin docker compose"
say "Docker $(docker version --format '{{.Server.Version}}'), compose $(compose version --short), $(nproc) cores"

# Images: a base of Debian's packages, and the same with this machine's JDK to build with.
export BASE=regatta-test-base JDK=regatta-test-jdk PROGRAM=prebuilt IMAGE=regatta-test COMPOSE_PROJECT_NAME=regatta-test
export DOCKER_BUILDKIT=1 COMPOSE_DOCKER_CLI_BUILD=1 # compose v1 would build with the engine's older builder
if ! docker image inspect "$BASE" "$JDK" >/dev/null 2>&1; then
  needs debootstrap "Debian's debootstrap"
  mirror=${MIRROR:-$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb  *\(\[[^]]*\] *\)*\([^ ]*\).*/\2/p' \
    /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -n 1 || true)}
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  rm -rf "$work/base"
  debootstrap --variant=minbase "$suite" "$work/base" ${mirror:+"$mirror"} >"$work/debootstrap.log" 2>&1 ||
    { tail -5 "$work/debootstrap.log" >&2; skip "debootstrap cannot make a base image, see $work/debootstrap.log"; }
  rm -rf "$work"/base/var/cache/apt/archives/*.deb "$work"/base/var/lib/apt/lists/* "$work"/base/usr/share/{doc,man,locale}
  tar -C "$work/base" -c . | docker import - "$BASE" >/dev/null
  home=$(dirname "$(dirname "$(readlink -f "$(command -v jlink)")")")
  mkdir -p "$work/base/opt/jdk"
  cp -aL "$home/." "$work/base/opt/jdk" 2>/dev/null || true # Debian's has links to /etc, and some that lead nowhere
  [ -d "$work/base/opt/jdk/jmods" ] || skip "$home has no jmods: put another JDK first in PATH"
  tar -C "$work/base" -c . | docker import --change 'ENV PATH=/opt/jdk/bin:/usr/bin:/bin' - "$JDK" >/dev/null
  rm -rf "$work/base"
  say "base image: $suite by debootstrap, $(docker image inspect --format '{{.Size}}' "$BASE" | awk '{print int($1 / 1e6)}') MB"
fi
jar
compose build rendezvous >"$work/build.log" 2>&1 || { tail -20 "$work/build.log"; fail "the image cannot be built, see $work/build.log"; }
say "image: $(docker image inspect --format '{{.Size}}' "$IMAGE" | awk '{print int($1 / 1e6)}') MB"

containers() { compose ps -a -q "$1" 2>/dev/null || compose ps -q "$1"; }
running() { [ "$(docker inspect --format '{{.State.Running}}' $(containers "$1") | grep -c true)" -eq "$2" ]; }
ended() { ! docker inspect --format '{{.State.Running}}' $(containers "$1") | grep -q true; }
healthy() { [ "$(docker inspect --format '{{.State.Health.Status}}' $(containers "$1"))" = healthy ]; }
logs() { # of all trainers, from a moment on
  for container in $(containers "$service"); do
    docker logs --since "$since" "$container" 2>&1
  done
}
now() { since=$(date -u +%Y-%m-%dT%H:%M:%SZ); }
said() { [ -n "$(logs | grep -E -- "$1" | tail -n 1)" ]; }
awaited() { # seconds, line
  until_true "$1" said "$2" || { compose logs --no-color --tail 40 >"$work/failed.log" 2>&1; fail "no trainer said \"$2\" within $1 s, see $work/failed.log"; }
  say "  $(logs | grep -E -- "$2" | tail -n 1 | sed 's/^[0-9:.]* *//' | cut -c1-180)"
}
result() { docker run --rm --network none --volume regatta-test_output:/output --entrypoint cat "$IMAGE" /output/result.json; }
figures() { result | tr -d '\n ' | grep -E -o '"(trainers_at_end|steps|examples|accuracy|auc|loss)":[-0-9.eE]+' | tr '\n' ' '; }

status_of() { # container of the rendezvous
  status_to "$work/status.log" docker exec "$1" regatta status --seeds rendezvous:5701
}
listed() { # lines of the last status, how many
  [ "$(grep -c -E -- "$1" "$work/status.log")" -eq "$2" ] || { cat "$work/status.log"; fail "regatta status does not list $2 times \"$1\""; }
}

# The service token has made one for this project, for its owner alone, and a further start leaves it as it is.
token_was_made() {
  token_file() { docker run --rm --network none --volume regatta-test_secrets:/secrets --entrypoint sh "$IMAGE" -c "$1"; }
  local made sum
  made=$(token_file 'stat -c "mode %a, owner %u, %s characters" /secrets/token')
  [ "$made" = "mode 400, owner 10001, 64 characters" ] || fail "the token's file has $made"
  sum=$(token_file 'sha256sum /secrets/token')
  compose up -d --no-build --force-recreate --no-deps token >"$work/token.log" 2>&1 || { cat "$work/token.log"; fail "the service token does not start again"; }
  until_true 60 ended token || fail "the service token has not ended"
  [ "$(token_file 'sha256sum /secrets/token')" = "$sum" ] || fail "a further start has changed the token"
  say "  the token was made by the service token: $made; a further start leaves it"
}

# Containers of the same network that have no token, or another one, are shown nothing. The first says that it wants no token,
# without which Regatta would refuse to start it, and would not ask anybody.
strangers_are_refused() { # container of the rendezvous
  local network status stranger
  network=$(docker inspect --format '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}' "$1")
  for stranger in NODE_SECURITY_OPEN=true "NODE_TOKEN=$(printf '%064d' 0)"; do
    status=0
    docker run --rm --network "$network" --env "REGATTA_$stranger" "$IMAGE" status --seeds rendezvous:5701 --ready-timeout 15 \
      >"$work/stranger.log" 2>&1 || status=$?
    ! grep -E -q '^(rendezvous|server|group) ' "$work/stranger.log" || { cat "$work/stranger.log"; fail "a stranger is shown the cluster"; }
    [ $status -ne 0 ] || { cat "$work/stranger.log"; fail "regatta status ended with 0 for a stranger"; }
    say "  status with ${stranger%%=*}: $(grep '^regatta: ' "$work/stranger.log" | tail -n 1 | cut -c1-200)"
  done
}

collective() {
  now
  service=trainer
  export ARGS="--set epochs=${EPOCHS:-12}"
  compose up -d --no-build --scale trainer=2 >"$work/up.log" 2>&1 || { cat "$work/up.log"; fail "compose up failed"; }
  say "collective job: up with 2 trainers"
  awaited 400 'Epoch 0, batch [0-9]'
  until_true 30 healthy rendezvous || fail "the rendezvous is not healthy: $(docker inspect --format '{{json .State.Health}}' $(containers rendezvous))"
  first=$(containers rendezvous)
  docker inspect --format '  rendezvous: user {{.Config.User}}, read-only {{.HostConfig.ReadonlyRootfs}}, capabilities dropped {{.HostConfig.CapDrop}}, {{.HostConfig.SecurityOpt}}' "$first" | sed 's/^/            /'
  ! docker exec "$first" touch /opt/regatta/x 2>/dev/null || fail "the root file system can be written"
  status_of "$first"
  listed '^rendezvous at ' 1
  listed '^group lenet, ' 1
  # The job is elastic: it may begin with one trainer, and lets the other in after a step.
  both() { (status_of "$first") && [ "$(grep -c -E '^  rank [01] active, ' "$work/status.log")" -eq 2 ]; }
  until_true 60 both || { cat "$work/status.log"; fail "the group does not have 2 trainers within 60 s"; }
  token_was_made
  strangers_are_refused "$first"

  now
  compose up -d --no-build --no-recreate --scale trainer=4 >"$work/scale.log" 2>&1 || { cat "$work/scale.log"; fail "scaling failed"; }
  say "scaled to 4 trainers while the job runs"
  awaited 300 'has 4 trainers after [123]'

  now
  victim=$(containers trainer | tail -n 1)
  docker kill "$victim" >/dev/null
  say "docker kill of a trainer"
  awaited 120 'has 3 trainers after 4'
  awaited 120 'is done, with 3 trainers'
  now
  compose up -d --no-build --no-recreate --scale trainer=4 >"$work/again.log" 2>&1 || { cat "$work/again.log"; fail "starting another failed"; }
  say "another one in its place"
  awaited 300 'has 4 trainers after 3'
  until_true 900 ended trainer || fail "the job has not ended"
  for trainer in $(containers trainer); do
    code=$(docker inspect --format '{{.State.ExitCode}}' "$trainer")
    [ "$code" -eq 0 ] || { compose logs --no-color >"$work/failed.log" 2>&1; docker logs --tail 5 "$trainer"; fail "trainer $trainer ended with $code"; }
  done
  say "all trainers ended with 0: $(figures)"
}

parameter_servers() { job_with_servers ps trainer-ps; }

# Heter workers end with the job, each having computed batches.
heter() {
  job_with_servers heter trainer-heter
  until_true 60 ended heter-worker || fail "the heter workers have not ended with the job"
  for worker in $(containers heter-worker); do
    code=$(docker inspect --format '{{.State.ExitCode}}' "$worker")
    [ "$code" -eq 0 ] || { docker logs --tail 5 "$worker"; fail "heter worker $worker ended with $code"; }
  done
  say "all heter workers ended with 0"
}

aggregated() {
  export KEYS=$work/keys
  mkdir -p "$KEYS" "$work/ca"
  keys "$work/ca"
  cp "$work/ca"/{ca.crt,tls.crt,tls.key,token} "$KEYS"
  chmod 600 "$KEYS"/*
  chown 10001 "$KEYS"/*
  layers=(-f "$root/deploy/compose.yaml" -f "$root/deploy/compose.tls.yaml")
  job_with_servers aggregated trainer-aggregated
  until_true 30 healthy rendezvous || fail "the rendezvous is not healthy: $(docker inspect --format '{{json .State.Health}}' $(containers rendezvous))"
  status_of "$(containers rendezvous)" # the job has ended, and its services live on
  listed '^rendezvous at ' 1
  listed '^server [01] at ' 2
  listed '^gradient aggregator at ' 1
  listed '^group [^(]' 0 # that of the servers has a name in parentheses, and stays
}

job_with_servers() { # profile, trainers
  now
  service=$2
  export ARGS="--set settings.train_rows=40000 --set settings.test_rows=8000 --set settings.hidden=64,32 --set epochs=2 --set batch_size=200"
  export COMPOSE_PROFILES=$1
  compose up -d --no-build >"$work/$1.log" 2>&1 || { cat "$work/$1.log"; fail "compose up with parameter servers failed"; }
  say "job with parameter servers, profile $1: up with 2 servers and 2 trainers"
  until_true 20 running "$service" 2 || fail "trainers do not run"
  until_true 600 ended "$service" || fail "the job has not ended"
  for trainer in $(containers "$service"); do
    code=$(docker inspect --format '{{.State.ExitCode}}' "$trainer")
    [ "$code" -eq 0 ] || { compose logs --no-color >"$work/failed.log" 2>&1; docker logs --tail 5 "$trainer"; fail "trainer $trainer ended with $code"; }
  done
  running parameter-server 2 || fail "a parameter server has ended"
  say "all trainers ended with 0: $(figures)"
  compose logs --no-color >"$work/$1.logs" 2>&1
}

# An image is named by its digest once it is in a registry: one of the engine's own network, with the program of Debian's package.
pinned() {
  command -v docker-registry >/dev/null || { say "pinned: NOT TRIED, it needs docker-registry (Debian's docker-registry)"; return 0; }
  local port=5005 tag pinned used
  printf 'version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' "$work/registry" $port >"$work/registry.yml"
  tag=localhost:$port/regatta-test:1
  rm -rf "$work/registry"
  in_engine docker-registry serve "$work/registry.yml" >"$work/registry.log" 2>&1 &
  registry=$!
  docker image ls --digests --format '{{.Repository}}@{{.Digest}}' "${tag%:*}" | sed '/<none>/d' | xargs -r docker image rm >/dev/null # an earlier run's
  docker tag "$IMAGE" $tag
  ! "$root/deploy/pin-image" $tag >"$work/pin.log" 2>&1 || fail "an image that was not pushed has a digest: $(cat "$work/pin.log")"
  grep -q 'docker push' "$work/pin.log" || fail "no word of what to do: $(cat "$work/pin.log")"
  until_true 30 docker push $tag || fail "the image cannot be pushed, see $work/registry.log"
  pinned=$("$root/deploy/pin-image" $tag)
  say "pinned: $pinned"
  docker image rm $tag >/dev/null # from now on the engine knows the digest alone
  export COMPOSE_PROFILES=collective
  IMAGE=$pinned compose up -d --no-build rendezvous >"$work/pinned.log" 2>&1 || { cat "$work/pinned.log"; fail "compose up with a digest failed"; }
  until_true 120 healthy rendezvous || fail "the rendezvous of the image by digest is not healthy"
  used=$(docker inspect --format '{{.Config.Image}}' $(containers rendezvous) $(containers token) | sort -u)
  [ "$used" = "$pinned" ] || fail "containers run $used instead of $pinned"
  ! IMAGE=${pinned%????}0000 compose up -d --no-build rendezvous >"$work/pinned-other.log" 2>&1 || fail "a digest that no image has was taken"
  kill $registry && registry=
  say "rendezvous and token run the image by its digest; another digest is refused: $(grep -E -o 'manifest .*' "$work/pinned-other.log" | head -n 1)"
}
# Where the engine's network is: that of compose-test's own engine, or this machine's.
in_engine() {
  if [ -e /run/netns/regatta-docker ]; then exec nsenter --net=/run/netns/regatta-docker "$@"; else exec "$@"; fi
}

before=
for part in ${PARTS:-collective parameter_servers heter aggregated pinned}; do
  [ -z "$before" ] || end
  begin
  $part
  before=$part
done
say "PASSED"
