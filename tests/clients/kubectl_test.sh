#!/bin/sh
# kubectl, the versions that kubectls.sh chooses, in a namespace of its own each: what people type,
# and the texts they get.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"

# shellcheck source=tests/clients/kubectls.sh
. "$here/kubectls.sh"

# k ARGUMENT...: this version's kubectl in its namespace, with an end.
k() { timeout 60 "$kubectl" -n "$space" "$@"; }

# manifest VALUE: a ConfigMap.
manifest() {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {x: "%s"}\n' "$1" >cm.yaml
}

# field NAME JSONPATH VALUE: the object has it.
field() {
    field_got=$(k get configmap "$1" -o "jsonpath=$2") && [ "$field_got" = "$3" ] && return 0
    echo "got: $field_got, wanted: $3"
    return 1
}

# ---- objects ----

creates() {
    tap "$v: create namespace" gives "namespace/$space created" k create namespace "$space"
    tap "$v: create configmap" gives "configmap/a created" k create configmap a \
        --from-literal=k=v
    tap "$v: create -f" gives "lease.coordination.k8s.io/l created" k create -f lease.yaml
    tap "$v: create secret" gives "secret/s created" k create secret generic s --from-literal=p=q
    manifest 1
    tap "$v: apply creates" gives "configmap/b created" k apply -f cm.yaml
    tap "$v: apply again" gives "configmap/b unchanged" k apply -f cm.yaml
    manifest 2
    tap "$v: diff finds it" refuses '+  x: "2"' k diff -f cm.yaml
    tap "$v: apply changes" gives "configmap/b configured" k apply -f cm.yaml
    tap "$v: diff finds nothing more" silent k diff -f cm.yaml
    tap "$v: and it was" field b '{.data.x}' 2
}

gets() {
    tap "$v: get, as a table" shows '^a +1 +[0-9]+s$' k get configmaps
    tap "$v: its head" shows '^NAME +DATA +AGE$' k get configmaps
    tap "$v: get -o wide" shows '^a +1 +[0-9]+s$' k get configmaps -o wide
    tap "$v: get -A" shows "^$space +a +1 +[0-9]+s\$" k get configmaps -A
    tap "$v: get --show-labels" shows '^a +1 +[0-9]+s +<none>$' k get configmaps --show-labels
    tap "$v: get of a Lease" shows '^l +me +[0-9]+s$' k get leases
    tap "$v: get of two kinds" shows '^secret/s +Opaque +1 +[0-9]+s$' k get configmaps,secrets
    tap "$v: get -o name" gives configmap/a k get configmaps -o name
    tap "$v: get -o yaml" gives '  k: v' k get configmap a -o yaml
    tap "$v: get -o json" gives '        "k": "v"' k get configmap a -o json
    tap "$v: get -o jsonpath of a list" gives 'v' k get configmaps \
        --field-selector metadata.name=a -o 'jsonpath={.items[*].data.k}'
    tap "$v: get --chunk-size" shows '^b +1 ' k get configmaps --chunk-size=1
    tap "$v: which asks page by page" shows 'continue=.*&limit=1' k get configmaps \
        --chunk-size=1 -v=6
    tap "$v: get --raw" shows '"data":\{"k":"v"\}' k get --raw \
        "/api/v1/namespaces/$space/configmaps/a"
    tap "$v: describe" shows '^Name: +a$' k describe configmap a
    tap "$v: describe, its data" gives v k describe configmap a
}

# an editor for `kubectl edit`
cat >editor.sh <<'EDITOR'
#!/bin/sh
sed -i 's/^  x: .*/  x: edited/' "$1"
EDITOR
chmod +x editor.sh

edits() { KUBE_EDITOR=$scratch/editor.sh k edit configmap b; }
replaces() { k get configmap b -o yaml | sed 's/x: edited/x: replaced/' | k replace -f -; }
replaces_old() {
    k get configmap b -o yaml | sed 's/resourceVersion: .*/resourceVersion: "1"/' >old.yaml
    k replace -f old.yaml
}

changes() {
    tap "$v: label" gives "configmap/b labeled" k label configmap b tier=one
    tap "$v: get -l" gives configmap/b k get configmaps -l 'tier in (one)' -o name
    tap "$v: label, another value" refuses "already has a value (one)" k label configmap b tier=two
    tap "$v: label --overwrite" gives "configmap/b labeled" k label configmap b tier=two --overwrite
    # 1.27 says "annotate".
    tap "$v: annotate" shows '^configmap/b annotated?$' k annotate configmap b note=hello
    tap "$v: patch --type json" gives "configmap/b patched" k patch configmap b --type json \
        -p '[{"op":"test","path":"/data/x","value":"2"},{"op":"add","path":"/data/j","value":"1"}]'
    tap "$v: patch --type merge" gives "configmap/b patched" k patch configmap b --type merge \
        -p '{"data":{"j":null,"m":"1"}}'
    tap "$v: patch --type strategic" gives "configmap/b patched" k patch configmap b \
        -p '{"metadata":{"finalizers":null},"data":{"s":"1"}}'
    tap "$v: all patches took" field b '{.data.j}{.data.m}{.data.s}{.metadata.labels.tier}' 11two
    tap "$v: a patch that changes nothing" gives "configmap/b patched (no change)" k patch \
        configmap b -p '{"data":{"s":"1"}}'
    tap "$v: edit" gives "configmap/b edited" edits
    tap "$v: and it was" field b '{.data.x}' edited
    tap "$v: replace" gives "configmap/b replaced" replaces
    tap "$v: and it was" field b '{.data.x}' replaced
    tap "$v: replace of an old one" refuses 'Error from server (Conflict): error when replacing' \
        replaces_old
    tap "$v: why" refuses 'Operation cannot be fulfilled on configmaps "b": the object has been' \
        replaces_old
    tap "$v: --dry-run=server" shows '^configmap/d created' k create -f dry.yaml --dry-run=server
    tap "$v: leaves nothing" refuses 'Error from server (NotFound): configmaps "d" not found' \
        k get configmap d
}

# ---- errors ----

errors() {
    tap "$v: NotFound" refuses 'Error from server (NotFound): configmaps "none" not found' \
        k get configmap none
    tap "$v: AlreadyExists" refuses 'configmaps "a" already exists' k create configmap a
    tap "$v: a bad name" refuses \
        'ConfigMap "A_B" is invalid: metadata.name: Invalid value: "A_B": a lowercase RFC 1123' \
        k create configmap A_B
    tap "$v: an unknown field" refuses 'unknown field "foo"' k create -f unknown.yaml
    tap "$v: was not stored" refuses NotFound k get configmap unknown
    tap "$v: a namespace that is not there" refuses \
        'namespaces "nowhere" not found' k create configmap x -n nowhere
    tap "$v: an unknown kind" refuses "the server doesn't have a resource type \"zebras\"" \
        k get zebras
    tap "$v: a bad selector" refuses 'BadRequest' k get --raw \
        "/api/v1/namespaces/$space/configmaps?labelSelector=%21%21"
}

# ---- streams ----

watch_shows() { grep -q -E -e "$1" watch.out; }

# change_and_see: the changes of another client appear in watch.out, in their order.
change_and_see() {
    until_true watch_shows '^ADDED +b ' || return 1
    curl -sS -m 60 --cacert data/pki/ca.crt --cert data/pki/admin.crt --key data/pki/admin.key \
        -H 'Content-Type: application/merge-patch+json' -X PATCH -o /dev/null \
        -d "{\"data\":{\"w\":\"$watches_pid\",\"w2\":\"2\"}}" \
        "$https/api/v1/namespaces/$space/configmaps/a" || return 1
    until_true watch_shows '^MODIFIED +a +3 ' || return 1
    k create configmap c >/dev/null && k delete configmap c >/dev/null || return 1
    until_true watch_shows '^DELETED +c ' && watch_shows '^ADDED +c '
}

# watches: another client's changes are seen; kubectl outlives the deadlines of what it waits for.
watches() {
    : >watch.out # what the watch before has printed must not be taken for this one's
    timeout 200 "$kubectl" -n "$space" get configmaps -w --output-watch-events >watch.out 2>&1 &
    watches_pid=$!
    change_and_see
    watches_status=$?
    kill "$watches_pid" && wait "$watches_pid" 2>/dev/null
    [ "$watches_status" -eq 0 ] && return 0
    echo "kubectl get -w has printed:" && cat watch.out
    return 1
}

# waits FOR OBJECT COMMAND...: `kubectl wait` ends well after the command, and not before.
waits() {
    waits_for=$1
    waits_object=$2
    shift 2
    k wait --for="$waits_for" "$waits_object" --timeout=30s >wait.out 2>&1 &
    waits_pid=$!
    "$@" || return 1
    wait "$waits_pid" && return 0
    # A kubectl of old that starts to look after the deletion says this, and means the same.
    [ "$waits_for" = delete ] && grep -q 'no matching resources found' wait.out && return 0
    cat wait.out
    return 1
}

# watch_lists: what kubectl does where its informers begin with a watch instead of a list.
watch_lists() {
    KUBE_FEATURE_WatchListClient=true
    export KUBE_FEATURE_WatchListClient
    shows 'sendInitialEvents=true.*200 OK' k wait --for='jsonpath={.metadata.name}=a' configmap/a \
        --timeout=30s -v=6 && shows '^a +[0-9]+ ' k get configmaps && watches
    watch_lists_status=$?
    unset KUBE_FEATURE_WatchListClient
    return "$watch_lists_status"
}

# finalized: a deletion waits for the finalizer.
finalized() {
    k create configmap f && k patch configmap f --type merge \
        -p '{"metadata":{"finalizers":["example.com/hold"]}}' || return 1
    k delete configmap f --wait=false || return 1
    [ -n "$(k get configmap f -o 'jsonpath={.metadata.deletionTimestamp}')" ] || return 1
    refuses 'timed out' k wait --for=delete configmap/f --timeout=1s || return 1
    : >delete.out
    k delete configmap f --timeout=30s >delete.out 2>&1 &
    finalized_pid=$!
    until_true grep -q '"f" deleted' delete.out || return 1 # asked for, and now it waits
    waits delete configmap/f k patch configmap f --type json \
        -p '[{"op":"remove","path":"/metadata/finalizers"}]' || return 1
    # A kubectl that asks once more when the object is gone already says so, and means the same.
    wait "$finalized_pid" || grep -q NotFound delete.out || return 1
    refuses NotFound k get configmap f
}

streams() {
    tap "$v: get -w shows the changes of others" watches
    if [ "$number" -ge 23 ]; then
        tap "$v: wait --for=jsonpath" waits 'jsonpath={.data.go}=yes' configmap/b \
            k patch configmap b -p '{"data":{"go":"yes"}}'
    fi
    if [ "$number" -ge 32 ]; then
        tap "$v: an informer that lists by watching" watch_lists
    fi
    tap "$v: delete with finalizers, and wait --for=delete" finalized
}

# ---- discovery and access ----

# bot ARGUMENT...: kubectl with the service account's token and nothing else.
bot() {
    sed '/client-certificate-data/d; /client-key-data/d' "$KUBECONFIG" >bot.kubeconfig
    KUBECONFIG=bot.kubeconfig k --token="$(cat bot.token)" "$@"
}

makes_token() {
    if [ "$number" -ge 24 ]; then
        k create token bot --duration 10m >bot.token
    else
        printf '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}' |
            k create --raw "/api/v1/namespaces/$space/serviceaccounts/bot/token" -f - |
            sed 's/.*"token":"\([^"]*\)".*/\1/' >bot.token
    fi
    grep -q -E '^[^.]+\.[^.]+\.[^.]+$' bot.token
}

access() {
    tap "$v: api-resources" shows '^configmaps +cm +v1 +true +ConfigMap$' k api-resources
    tap "$v: api-versions" gives coordination.k8s.io/v1 k api-versions
    tap "$v: explain" shows '^ +leaseDurationSeconds' k explain lease.spec
    tap "$v: explain --recursive" shows '^ +resourceVersion' k explain configmap --recursive
    tap "$v: version" shows 'v1\.32\.4\+vedette\.' k version
    tap "$v: auth can-i" gives yes k auth can-i create configmaps
    tap "$v: auth can-i --list" shows '^\*\.\* ' k auth can-i --list
    if [ "$number" -ge 28 ]; then
        tap "$v: auth whoami" shows '^Username +admin$' k auth whoami
    fi
    k create serviceaccount bot >/dev/null
    tap "$v: create token" makes_token
    tap "$v: no right" refuses 'Error from server (Forbidden): configmaps is forbidden: User' \
        bot get configmaps
    tap "$v: create role" gives "role.rbac.authorization.k8s.io/reader created" \
        k create role reader --verb=get,list,watch --resource=configmaps
    tap "$v: create rolebinding" gives "rolebinding.rbac.authorization.k8s.io/reader created" \
        k create rolebinding reader --role=reader --serviceaccount="$space:bot"
    tap "$v: the token reads" gives configmap/a bot get configmaps -o name
    tap "$v: and does not write" refuses \
        "User \"system:serviceaccount:$space:bot\" cannot delete resource \"configmaps\"" \
        bot delete configmap a
    tap "$v: its can-i" refuses no bot auth can-i delete configmaps
    tap "$v: delete" gives "configmap \"a\" deleted" k delete configmap a
    tap "$v: delete --all" gives "secret \"s\" deleted" k delete secrets --all
    tap "$v: nothing there" gives "No resources found in $space namespace." k get secrets
}

cat >lease.yaml <<'LEASE'
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: l}
spec: {holderIdentity: me, leaseDurationSeconds: 15}
LEASE
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\n' >dry.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unknown}\nfoo: 1\n' >unknown.yaml

find_kubectls
tap "a server starts" start_server
for kubectl in $kubectls; do
    number=$(minor "$kubectl")
    if [ -z "$number" ]; then continue; fi
    v=1.$number
    space=v1-$number
    creates
    gets
    changes
    errors
    streams
    access
done
tap "the server is still there" kill -0 "$pid"
tap_end
