#!/usr/bin/env bash
# Tests the overlays on a real cluster, the one that KUBECONFIG names. Each job is shortened and trained to its end.
#   collective       is scaled from 2 to 4 trainers while it runs; one trainer's JVM crashes, another one's pod is deleted; a pod that
#                    starts after the job has ended changes nothing
#   ps               loses a parameter server, ends, and resumes from its snapshot as a new Job
#   collective-tls, ps-tls    with keys that are made as docs/security.md says
# Run it as
#   deploy/kubernetes-test.sh
# Variables:
#   IMAGE         (regatta:VERSION of pom.xml) is an image that the nodes have or can pull, by its tag or its digest
#   COMPONENTS    (small host-path) are added to each overlay; without them the nodes need 4.25 free cores and a storage class
#   API, API_CA   address (HOST:PORT) and certificate of the API server, for a node on which addresses of services lead nowhere
#   VOLUME        (/var/lib/regatta) is the directory of component host-path, on the node, writable for user 10001
#   PARTS         (collective ps heter collective-tls ps-tls) are the parts to test, in this order
#   EPOCHS (20), PS_EPOCHS (3) of the jobs, and DELAY (100), PS_DELAY (200) milliseconds added to each step, make them longer or shorter
#   KEEP=1        leaves the objects in the cluster
#   WORK          (a new directory of /tmp) gets, for each part, what was applied (manifests.yaml), the pods' logs and the events
# Needs kubectl and permission to create the namespace regatta and a PersistentVolume. It makes both and removes both.
set -euo pipefail
. "$(dirname "$0")/testing.sh"
cd "$root"

needs kubectl "https://kubernetes.io/docs/tasks/tools"
[ -n "${KUBECONFIG:-}" ] || skip "KUBECONFIG names no cluster"
answer=$(kubectl get nodes -o name --request-timeout=10s 2>&1) || skip "the cluster of KUBECONFIG does not answer: $(tail -n 1 <<<"$answer")"
! kubectl get namespace regatta >/dev/null 2>&1 || skip "the cluster has a namespace regatta already, which this test would delete"
! kubectl get persistentvolume regatta-output >/dev/null 2>&1 ||
  skip "the cluster has a PersistentVolume regatta-output already, which this test would delete"

version=$(sed -n 's#^  <version>\(.*\)</version>#\1#p' pom.xml | sed -n 1p)
image=${IMAGE:-regatta:$version}
components=${COMPONENTS-small host-path}
volume=${VOLUME:-/var/lib/regatta}
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"
work=$(cd "$work" && pwd -P)
part=
logs=$work

k() { kubectl -n regatta "$@"; }

# The logs of all pods, of their former lives too, and the events, into the directory of the manifests that made them.
keep_logs() {
  [ -n "$part" ] || return 0
  for pod in $(k get pods -o name 2>/dev/null); do
    k logs "$pod" >"$logs/${pod#pod/}.log" 2>&1 || true
    k logs --previous "$pod" >"$logs/${pod#pod/}.previous.log" 2>/dev/null || rm -f "$logs/${pod#pod/}.previous.log"
  done
  k get pods,jobs,persistentvolumeclaims -o wide >"$logs/objects.log" 2>&1 || true
  k get events --sort-by=.lastTimestamp >"$logs/events.log" 2>&1 || true
}

cleanup() {
  status=$?
  trap - EXIT
  keep_logs
  [ $status -eq 0 ] || [ ! -f "$logs/events.log" ] || tail -n 8 "$logs/events.log"
  [ "${KEEP:-}" = 1 ] || remove
  echo "manifests, logs and events: $work"
  exit $status
}
trap cleanup EXIT

remove() {
  kubectl delete namespace regatta --ignore-not-found --timeout=120s >>"$work/remove.log" 2>&1 || true
  kubectl delete persistentvolume regatta-output --ignore-not-found --timeout=60s >>"$work/remove.log" 2>&1 || true
}

pods_of() { k get pods -l app.kubernetes.io/component="$1" --field-selector=status.phase=Running --sort-by=.metadata.creationTimestamp -o name; }
running() { [ "$(pods_of "$1" | wc -l)" -eq "$2" ]; }
ready() { k wait --for=condition=Ready pod -l app.kubernetes.io/component="$1" --timeout=1s; }
all_logs() { k logs -l app.kubernetes.io/component=trainer --tail=-1 --prefix --ignore-errors 2>/dev/null || true; }
# What trainers say from now on: all lines but those that are there.
mark() { all_logs >"$logs/mark"; }
lines() { all_logs | awk 'NR == FNR {seen[$0]; next} !($0 in seen)' "$logs/mark" - | grep -E -- "$1"; }
said() { [ -n "$(lines "$1" | tail -n 1)" ]; }
awaited() { # seconds, line of a trainer
  until_true "$1" said "$2" || fail "no trainer said \"$2\" within $1 s"
  say "  $(lines "$2" | sed -n 1p | sed -E 's/^\[[^]]*\] *//; s/^[0-9:.]* *//' | cut -c1-180)"
}
condition() { [ "$(k get job regatta-trainers -o jsonpath="{.status.conditions[?(@.type==\"$1\")].status}")" = True ]; }
ended() { condition Complete || condition Failed; }
completed() { # seconds
  until_true "$1" ended || fail "the job has not ended within $1 s"
  condition Complete || { all_logs | grep -E 'regatta:' | tail -n 3; fail "the job has failed: $(k get job regatta-trainers -o jsonpath='{.status.conditions[*].message}')"; }
}
output() { k exec reader -- bash -c "cd /output && $1"; }
results() {
  output 'cat result.json' | tr -d '\n ' | grep -E -o '"(trainers_at_end|steps|examples|accuracy|auc|loss)":[-0-9.eE]+' | tr '\n' ' '
}

# A pod that sees the volume, for results while no other pod runs.
reader() {
  k apply -f - >/dev/null <<POD
apiVersion: v1
kind: Pod
metadata:
  name: reader
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 0
  securityContext: {runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: reader
      image: $image
      command: [sleep, "86400"]
      resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}
      securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
      volumeMounts: [{name: output, mountPath: /output}]
  volumes:
    - name: output
      persistentVolumeClaim: {claimName: regatta-output}
POD
  k wait --for=condition=Ready pod/reader --timeout=120s >/dev/null || fail "no pod can mount the claim regatta-output"
  output 'touch .writable && rm -rf -- .writable result.json lenet ctr-dnn' ||
    fail "user 10001 cannot write to the volume: make the directory as docs/deploying.md says"
}

# An overlay with the components, a job and step_delay_ms for its trainers, by which a fast machine does not end it too early.
apply() { # overlay, milliseconds, sed expression for its job.yaml
  local at
  at=$(realpath --relative-to="$logs" "$root/deploy/kubernetes")
  sed -E "$3" "deploy/kubernetes/overlays/${1%-tls}/job.yaml" >"$logs/job.yaml"
  { cat deploy/kubernetes/base/services.yaml; printf 'trainer:\n  step_delay_ms: %s\n' "$2"; } >"$logs/services.yaml"
  {
    printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: regatta\nresources:\n  - %s/overlays/%s\n' "$at" "$1"
    [ -z "$components" ] || echo 'components:'
    for component in $components; do echo "  - $at/components/$component"; done
    printf 'configMapGenerator:\n'
    printf '  - {name: %s, behavior: replace, files: [%s]}\n' regatta-job job.yaml regatta-services services.yaml
    case $image in
      *@*) printf 'images:\n  - {name: regatta, newName: "%s", digest: "%s"}\n' "${image%@*}" "${image#*@}" ;;
      *) printf 'images:\n  - {name: regatta, newName: "%s", newTag: "%s"}\n' "${image%:*}" "${image##*:}" ;;
    esac
    printf 'patches:\n'
    [ -z "${API:-}" ] || api_patch
    [[ " $components " != *" host-path "* ]] ||
      printf '  - target: {kind: PersistentVolume}\n    patch: '"'"'[{"op": "replace", "path": "/spec/hostPath/path", "value": "%s"}]'"'"'\n' "$volume"
  } >"$logs/kustomization.yaml"
  kubectl kustomize "$logs" >"$logs/manifests.yaml" || fail "the overlay cannot be built"
  kubectl apply -f "$logs/manifests.yaml" >"$logs/apply.log" 2>&1 || { cat "$logs/apply.log"; fail "kubectl apply"; }
}

begin() { # overlay
  keep_logs
  [ -z "$part" ] || remove
  part=$1
  logs=$work/$part
  mkdir -p "$logs"
  echo >"$logs/mark" # awk tells the files apart by the first one's lines
  kubectl apply -f deploy/kubernetes/base/namespace.yaml >/dev/null
  [ -z "${API:-}" ] || k create configmap api-ca --from-file=ca.crt="$API_CA" >/dev/null
}

# Where the pod that makes the token finds the API server, if not where Kubernetes says.
api_patch() {
  cat <<PATCH
  - target: {kind: Job, name: regatta-token}
    patch: |
      - {op: replace, path: /spec/template/spec/automountServiceAccountToken, value: false}
      - op: add
        path: /spec/template/spec/containers/0/env
        value: [{name: KUBERNETES_SERVICE_HOST, value: "${API%:*}"}, {name: KUBERNETES_SERVICE_PORT, value: "${API##*:}"}]
      - op: add
        path: /spec/template/spec/containers/0/volumeMounts
        value: [{name: account, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]
      - op: add
        path: /spec/template/spec/volumes
        value:
          - name: account
            projected:
              sources:
                - serviceAccountToken: {path: token}
                - configMap: {name: api-ca}
                - downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}
PATCH
}

# The token was made by the manifests' own Job, by whose service account it goes; a further apply leaves it as it is.
token_was_made() {
  token() { k get secret regatta-token -o jsonpath='{.data.token}'; }
  owner=$(k get secret regatta-token -o jsonpath='{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}')
  [ "$owner" = ServiceAccount/regatta-token ] || fail "the Secret regatta-token belongs to \"$owner\", not to the service account"
  [ "$(token | base64 -d | wc -c)" -eq 64 ] || fail "the token is not one of 64 characters"
  before=$(token)
  k delete job regatta-token --wait=true >/dev/null
  kubectl apply -f "$logs/manifests.yaml" >>"$logs/apply.log" 2>&1 || fail "kubectl apply, once more"
  k wait --for=condition=Complete job/regatta-token --timeout=120s >/dev/null || fail "the Job regatta-token does not end when the Secret is there"
  [ "$(token)" = "$before" ] || fail "a further apply has changed the token"
  k auth can-i create secrets --as=system:serviceaccount:regatta:regatta-token >/dev/null || fail "the service account may not create secrets"
  for verb in get list delete update; do
    ! k auth can-i $verb secrets --as=system:serviceaccount:regatta:regatta-token >/dev/null || fail "the service account may $verb secrets"
  done
  say "  the token was made by the manifests, and a further apply leaves it: $(k logs job/regatta-token | tail -n 1)"
}

# Pods read the token from a file that only root, its owner, and the group of the pod can read. Processes that have no token, or another
# one, are shown nothing. The first says that it wants no token, without which Regatta would not start it.
token_protects() {
  local mode status stranger
  mode=$(k exec regatta-rendezvous-0 -- stat -L -c 'mode %a, owner %u, group %g' /secrets/token)
  [ "$mode" = "mode 440, owner 0, group 10001" ] || fail "the token's file has $mode"
  say "  the token's file in a pod: $mode"
  for stranger in NODE_SECURITY_OPEN=true "NODE_TOKEN=$(printf '%064d' 0)"; do
    status=0
    k exec regatta-rendezvous-0 -- env -u REGATTA_NODE_TOKEN_FILE "REGATTA_$stranger" regatta status --seeds regatta-rendezvous:5701 \
      --ready-timeout 15 >"$logs/stranger.log" 2>&1 || status=$?
    ! grep -E -q '^(rendezvous|server|group) ' "$logs/stranger.log" || { cat "$logs/stranger.log"; fail "a stranger is shown the cluster"; }
    [ $status -ne 0 ] || { cat "$logs/stranger.log"; fail "regatta status ended with 0 for a stranger"; }
    say "  status with ${stranger%%=*}: $(grep '^regatta: ' "$logs/stranger.log" | tail -n 1 | cut -c1-200)"
  done
}

# Without the manifests the Secret is gone, too, though nobody names it.
token_goes() {
  k delete serviceaccount regatta-token >/dev/null
  gone() { ! k get secret regatta-token >/dev/null 2>&1; }
  until_true 120 gone || fail "the Secret regatta-token is still there without its service account"
  say "  without its service account the token is gone"
}

# A crash of the JVM, as the kernel or the out-of-memory killer brings about: SIGKILL does not reach the first process from inside.
crash() { k exec "$1" -- bash -c 'kill -SEGV 1' >/dev/null 2>&1 || true; }

collective() {
  begin collective
  apply collective "${DELAY:-100}" "s/^epochs: .*/epochs: ${EPOCHS:-20}/; s/train_images: .*/train_images: 8000/"
  say "collective: applied"
  reader
  until_true 300 running trainer 2 || fail "two trainers do not run"
  token_was_made
  awaited 400 'Epoch 0, batch [0-9]'
  until_true 60 ready rendezvous || fail "the rendezvous is not ready"
  token_protects

  mark
  k patch job regatta-trainers -p '{"spec": {"parallelism": 4}}' >/dev/null
  say "scaled to 4 trainers while the job runs"
  awaited 400 'has 4 trainers after [123]'

  victim=$(pods_of trainer | tail -n 1)
  mark
  crash "$victim"
  say "the JVM of $victim crashes"
  awaited 120 'has 3 trainers after 4'
  awaited 120 'is done, with 3 trainers'
  awaited 400 'has 4 trainers after 3'
  k logs "$victim" >"$logs/crashed.log" || true # no pipe: with pipefail, a reader that has seen enough would count as a failure
  grep -q trainer "$logs/crashed.log" || fail "the log of the crashed trainer is gone"

  deleted=$(pods_of trainer | sed -n 1p)
  mark
  k delete --wait=false "$deleted" >/dev/null
  say "$deleted is deleted"
  awaited 120 'has 3 trainers after 4'
  awaited 400 'has 4 trainers after 3'
  completed 1200
  say "the job is complete: $(results)"
  late_newcomer
  token_goes
}

# The Job starts no pod any more once it is complete, but one that it has started may still wait for its node, image or volume.
late_newcomer() {
  before=$(output 'find lenet result.json -type f -exec sha256sum {} + | sort')
  template=$(k get pods -l app.kubernetes.io/component=trainer --field-selector=status.phase=Succeeded -o name | sed -n 1p)
  k get "$template" -o yaml | kubectl patch --local -f - --type=json -o yaml -p '[
    {"op": "replace", "path": "/metadata/name", "value": "regatta-late"}, {"op": "remove", "path": "/metadata/ownerReferences"},
    {"op": "remove", "path": "/metadata/uid"}, {"op": "remove", "path": "/metadata/resourceVersion"},
    {"op": "remove", "path": "/spec/nodeName"}, {"op": "remove", "path": "/status"}]' | k create -f - >/dev/null
  say "a pod of this run starts after its end"
  late() { k get pod regatta-late -o jsonpath='{.status.phase}' | grep -E -q 'Succeeded|Failed'; }
  until_true 400 late || fail "the late pod has not ended"
  say "  $(k logs regatta-late | tail -n 1 | cut -c1-220)"
  k get pod regatta-late -o jsonpath='{.status.phase}' | grep -q Succeeded || fail "the late pod has failed"
  [ "$(output 'find lenet result.json -type f -exec sha256sum {} + | sort')" = "$before" ] || fail "the late pod changed model or result"
  say "  ended with 0; model and result are unchanged"
}

small_clicks="s/^epochs: .*/epochs: ${PS_EPOCHS:-3}/; s/^batch_size: .*/batch_size: 200/
  s/^(settings:)/\1\n  train_rows: 40000\n  test_rows: 4000\n  hidden: 64,32/"

ps() {
  begin ps
  apply ps "${PS_DELAY:-200}" "$small_clicks"
  say "ps: applied"
  reader
  until_true 600 output 'ls -d ctr-dnn/pass-00000' || fail "there is no snapshot of the first pass"
  say "the snapshot of the first pass is there"
  crash pod/regatta-server-1
  say "the JVM of pod/regatta-server-1 crashes"
  until_true 300 condition Failed || fail "the trainers' Job did not notice"
  say "  $(all_logs | grep -E 'regatta: ' | tail -n 1 | sed -E 's/^\[[^]]*\] *//' | cut -c1-260)"
  until_true 120 ready server || fail "the server was not started again"
  keep_logs
  k delete job regatta-trainers --wait=true >/dev/null
  echo >"$logs/mark"
  kubectl apply -f "$logs/manifests.yaml" >>"$logs/apply.log" 2>&1 || { cat "$logs/apply.log"; fail "kubectl apply"; }
  say "a new Job in its place"
  awaited 300 '(goes on|resumes) at step'
  completed 900
  say "the job is complete: $(results)"
}

# Two heter workers, both of which compute batches.
heter() {
  local others=$components
  components="heter $others" # before those that patch it
  begin heter
  apply ps 0 "$small_clicks"
  components=$others
  say "heter: applied"
  completed 900
  for worker in 0 1; do
    k logs "regatta-heter-worker-$worker" | grep -Eq 'heter worker [01] of job ctr-dnn: .* examples/s' ||
      { k logs "regatta-heter-worker-$worker" | tail -n 5; fail "heter worker $worker has computed nothing"; }
  done
  say "the job is complete, and both heter workers have computed batches"
}

tls() { # overlay, sed expression
  begin "$1"
  mkdir -p "$logs/keys"
  keys "$logs/keys"
  k create secret generic regatta-tls --from-file="$logs/keys/ca.crt" --from-file="$logs/keys/tls.crt" --from-file="$logs/keys/tls.key" >/dev/null
  apply "$1" 0 "$2"
  say "$1: applied"
  reader
  completed 1200
  say "the job is complete: $(results)"
  status_to "$logs/status.log" k exec regatta-rendezvous-0 -- regatta status --seeds regatta-rendezvous:5701
  grep -q '^rendezvous at ' "$logs/status.log" || { cat "$logs/status.log"; fail "regatta status lists no rendezvous"; }
  ! grep -q '^group [^(]' "$logs/status.log" || # that of the servers, whose name is in parentheses, stays
    { cat "$logs/status.log"; fail "the group of the job that is complete is still there"; }
}
collective-tls() { tls collective-tls "s/^epochs: .*/epochs: 1/; s/train_images: .*/train_images: 4000/"; }
ps-tls() { tls ps-tls "$small_clicks"; }

say "Kubernetes $(kubectl version 2>/dev/null | sed -n 's/^Server Version: //p'), $(kubectl get nodes -o name | wc -l) node(s), image $image"
for name in ${PARTS:-collective ps heter collective-tls ps-tls}; do
  $name
done
say "PASSED"
