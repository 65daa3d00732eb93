#!/bin/sh
# kubectl apply --server-side, with the versions of kubectl that kubectls.sh chooses: two managers
# who want the same fields, what they are told, and who owns what in the end.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/kubectls.sh
. "$(dirname "$0")/kubectls.sh"

# k ARGUMENT...: this version's kubectl in its namespace, with an end.
k() { timeout 60 "$kubectl" -n "$space" "$@"; }

# config DATA: a ConfigMap in cm.yaml.
config() {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {app: a}}\ndata: %s\n' \
        "$1" >cm.yaml
}

# ssa MANAGER ARGUMENT...: applies cm.yaml.
ssa() {
    ssa_manager=$1
    shift
    k apply --server-side --field-manager="$ssa_manager" -f cm.yaml "$@"
}

raw() { k get --raw "/api/v1/namespaces/$space/$1"; }

# owns MANAGER OPERATION FIELDS [OBJECT]: has an entry with exactly these fields, at any time.
owns() {
    raw "${4:-configmaps/c}" >raw.out || return 1
    owns_entry="{\"manager\":\"$1\",\"operation\":\"$2\",\"apiVersion\":\"v1\",\"time\":\"T\","
    owns_entry="$owns_entry\"fieldsType\":\"FieldsV1\",\"fieldsV1\":$3}"
    sed 's/"time":"[^"]*"/"time":"T"/g' raw.out | grep -q -F -e "$owns_entry" && return 0
    echo "wanted: $owns_entry"
    cat raw.out
    return 1
}

# owns_nothing MANAGER
owns_nothing() { raw configmaps/c >raw.out && ! grep -F "\"manager\":\"$1\"" raw.out; }

value() {
    value_got=$(k get configmap c -o "jsonpath=$1") && [ "$value_got" = "$2" ] && return 0
    echo "got: $value_got, wanted: $2"
    return 1
}

version() { k get configmap c -o 'jsonpath={.metadata.resourceVersion}'; }

# leaves_alone COMMAND...: it works, and the object is what it was.
leaves_alone() {
    leaves_before=$(version)
    "$@" >leaves.out 2>&1 && [ "$(version)" = "$leaves_before" ] && return 0
    cat leaves.out
    return 1
}

labels='"f:metadata":{"f:labels":{"f:app":{}}}'

two_managers() {
    config '{color: red, size: big}'
    tap "$v: apply creates" gives "configmap/c serverside-applied" ssa one
    tap "$v: it owns what it applied" owns one Apply \
        "{\"f:data\":{\"f:color\":{},\"f:size\":{}},$labels}"
    tap "$v: again changes nothing" leaves_alone ssa one
    config '{color: blue}'
    tap "$v: a conflict" refuses \
        'Apply failed with 1 conflict: conflict with "one": .data.color' ssa two
    config '{color: blue, size: small}'
    tap "$v: several" refuses 'Apply failed with 2 conflicts: conflicts with "one":' ssa two
    tap "$v: the first of them" grep -q -x -e '- .data.color' refuses.out
    tap "$v: and the second" grep -q -x -e '- .data.size' refuses.out
    tap "$v: nothing was changed" value '{.data.color}{.data.size}' redbig
    config '{color: blue, shape: round}'
    tap "$v: --force-conflicts" gives "configmap/c serverside-applied" ssa two --force-conflicts
    tap "$v: takes over" owns two Apply "{\"f:data\":{\"f:color\":{},\"f:shape\":{}},$labels}"
    tap "$v: the other keeps the rest" owns one Apply "{\"f:data\":{\"f:size\":{}},$labels}"
    config '{size: big}'
    tap "$v: the other agrees" gives "configmap/c serverside-applied" ssa one
    config '{shape: round}'
    tap "$v: what is no longer applied" gives "configmap/c serverside-applied" ssa two
    tap "$v: goes" value '{.data}' '{"shape":"round","size":"big"}'
}

# One that prints managedFields as people read them.
shown() {
    if [ "$number" -lt 21 ]; then
        tap "$v: get -o yaml shows managers" shows '^    manager: two$' k get configmap c -o yaml
        return
    fi
    tap "$v: --show-managed-fields" shows '^    manager: two$' \
        k get configmap c -o yaml --show-managed-fields
    tap "$v: with their fields" grep -q -x -e '        f:shape: {}' shows.out
}

updates() {
    tap "$v: a label" gives "configmap/c labeled" k label configmap c app=b --overwrite
    tap "$v: is the labeller's" owns kubectl-label Update '{"f:metadata":{"f:labels":{"f:app":{}}}}'
    config '{shape: round}'
    tap "$v: and a conflict" refuses \
        '1 conflict: conflict with "kubectl-label" using v1: .metadata.labels.app' ssa two
}

# Old kubectls printed every object in one way or another; the values are what counts.
migration() {
    k delete configmap c >/dev/null
    config '{color: red, size: big}'
    tap "$v: client-side apply" gives "configmap/c created" k apply -f cm.yaml
    config '{color: blue}'
    tap "$v: another's conflict" refuses \
        'conflict with "kubectl-client-side-apply" using v1: .data.color' ssa two
    tap "$v: kubectl itself goes on" gives "configmap/c serverside-applied" \
        k apply --server-side -f cm.yaml
    tap "$v: with the new value" value '{.data.color}' blue
    if [ "$number" -ge 26 ]; then
        tap "$v: the old manager is no more" owns_nothing kubectl-client-side-apply
        tap "$v: and what it does not apply goes" value '{.data}' '{"color":"blue"}'
    fi
    config '{color: green}'
    tap "$v: and back" gives "configmap/c configured" k apply -f cm.yaml
    tap "$v: with its value" value '{.data.color}' green
    config "{color: $(head -c 262144 /dev/zero | tr '\0' x)}"
    tap "$v: one that is too long for its annotation" gives "configmap/c serverside-applied" \
        k apply --server-side -f cm.yaml
    tap "$v: takes that out" value '{.metadata.annotations}' ''
    config '{color: green}'
    tap "$v: and is itself replaced" gives "configmap/c serverside-applied" \
        k apply --server-side -f cm.yaml
}

previews() {
    config '{color: white}'
    tap "$v: diff --server-side" refuses '+  color: white' \
        k diff --server-side --force-conflicts -f cm.yaml
    tap "$v: a dry run" leaves_alone k apply --server-side --force-conflicts --dry-run=server \
        -f cm.yaml
    tap "$v: nothing came of it" value '{.data.color}' green
}

# A list whose items are told apart by keys.
lists() {
    cat >svc.yaml <<'SERVICE'
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {ports: [{port: 80, name: web}]}
SERVICE
    port='"k:{\"port\":80,\"protocol\":\"TCP\"}"'
    tap "$v: a list" gives "service/s serverside-applied" \
        k apply --server-side --field-manager=one -f svc.yaml
    tap "$v: goes by its keys" owns one Apply \
        "{\"f:spec\":{\"f:ports\":{$port:{\".\":{},\"f:name\":{},\"f:port\":{}}}}}" services/s
    sed 's/80, name: web/81, name: other/' svc.yaml >svc2.yaml
    tap "$v: another's item" gives "service/s serverside-applied" \
        k apply --server-side --field-manager=two -f svc2.yaml
    tap "$v: joins it" gives "80 81" k get service s -o 'jsonpath={.spec.ports[*].port}'
}

# A custom kind, whose number has a door of its own.
customs() {
    printf 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: %s\n' \
        '{replicas: 1}' >w.yaml
    sed 's/replicas: 1/replicas: 3/' w.yaml >w3.yaml
    tap "$v: a custom object" gives "widget.example.com/w created" k apply -f w.yaml
    tap "$v: its conflict" refuses \
        'conflict with "kubectl-client-side-apply" using example.com/v1: .spec.replicas' \
        k apply --server-side --field-manager=two -f w3.yaml
    tap "$v: scale" gives "widget.example.com/w scaled" k scale --replicas=5 widget/w
    tap "$v: takes the number" refuses \
        'with subresource "scale" using example.com/v1: .spec.replicas' \
        k apply --server-side --field-manager=two -f w3.yaml
    tap "$v: an unknown field" refuses '.spec.colour: field not declared in schema' \
        k apply --server-side --validate=false --field-manager=two -f unknown.yaml
}

cat >crd.yaml <<'CRD'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {replicas: {type: integer}}}
          status: {type: object, properties: {replicas: {type: integer}}}
CRD
printf 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {colour: red}\n' \
    >unknown.yaml

find_kubectls
tap "a server starts" start_server
for kubectl in $kubectls; do
    number=$(minor "$kubectl")
    if [ -z "$number" ]; then continue; fi
    v=1.$number
    space=v1-$number
    k create namespace "$space" >/dev/null
    tap "$v: a definition" gives \
        "customresourcedefinition.apiextensions.k8s.io/widgets.example.com serverside-applied" \
        k apply --server-side -f crd.yaml
    two_managers
    shown
    updates
    migration
    previews
    lists
    customs
done
tap "the server is still there" kill -0 "$pid"
tap_end
