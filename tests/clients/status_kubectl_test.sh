#!/bin/sh
# Status and ownership with the kubectls of kubectls.sh: what people type, and what they are told.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/kubectls.sh
. "$here/kubectls.sh"
# shellcheck source=tests/support/push.sh
. "$top/tests/support/push.sh"

# k ARGUMENT...: this version's kubectl in its namespace, with an end.
k() { timeout 60 "$kubectl" -n "$space" "$@"; }

# definition KIND PLURAL ANNOTATIONS
definition() {
    cat <<CRD
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: $2.example.com
  annotations: {$3}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: $1, plural: $2, singular: $(echo "$1" | tr '[:upper:]' '[:lower:]')}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string}
              replicas: {type: integer}
          status:
            type: object
            properties:
              replicas: {type: integer}
              note: {type: string}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status, lastTransitionTime]
                  properties:
                    type: {type: string}
                    status: {type: string}
                    observedGeneration: {type: integer}
                    lastTransitionTime: {type: string, format: date-time}
                    reason: {type: string}
                    message: {type: string}
CRD
}

# object KIND NAME COLOR [METADATA]
object() {
    printf 'apiVersion: example.com/v1\nkind: %s\nmetadata: {name: %s%s}\n' \
        "$1" "$2" "${4:+, $4}"
    printf 'spec: {color: %s, replicas: 1}\n' "$3"
}

# field OBJECT JSONPATH VALUE: the object has it.
field() {
    field_got=$(k get "$1" -o "jsonpath=$2") && [ "$field_got" = "$3" ] && return 0
    echo "got: $field_got, wanted: $3"
    return 1
}

# patch OBJECT JSON: a merge patch to the status, by the newest way that this version knows.
patch() {
    if [ "$number" -ge 24 ]; then
        k patch "$1" --subresource=status --type=merge -p "$2"
        return
    fi
    k get "$1" -o json >patch.json && jq -c ". * $2" patch.json |
        k replace --raw "/apis/example.com/v1/namespaces/$space/${1%/*}s/${1#*/}/status" -f -
}

# replace_old: a status that was made from an old version.
replace_old() {
    k get gadget/a -o json | jq -c '.metadata.resourceVersion = "1" | .status.note = "old"' |
        k replace --raw "/apis/example.com/v1/namespaces/$space/gadgets/a/status" -f -
}

statuses() {
    object Gadget a red >a.yaml
    tap "$v: create" gives gadget.example.com/a\ created k create -f a.yaml
    tap "$v: patch of a status" patch gadget/a '{"spec":{"color":"blue"},"status":{"note":"one"}}'
    tap "$v: it is there, and spec is as it was" field gadget/a \
        '{.status.note}{.spec.color}{.metadata.generation}' onered1
    tap "$v: the main door ignores status" gives 'gadget.example.com/a patched (no change)' \
        k patch gadget/a --type=merge -p '{"status":{"note":"two"}}'
    tap "$v: an old version" refuses 'the object has been modified' replace_old
    tap "$v: a condition" patch gadget/a '{"status":{"conditions":[{"type":"Ready","status":"True",
        "lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]}}'
    tap "$v: wait for it" gives 'gadget.example.com/a condition met' k wait gadget/a \
        --for=condition=Ready --timeout=20s
    tap "$v: the same condition, later" patch gadget/a '{"status":{"conditions":[{"type":"Ready",
        "status":"True","lastTransitionTime":"2026-02-02T00:00:00Z","observedGeneration":1}]}}'
    tap "$v: has the old time" field gadget/a '{.status.conditions[0].lastTransitionTime}' \
        2026-01-01T00:00:00Z
    tap "$v: a condition of the future" refuses \
        'status.conditions[0].observedGeneration: Invalid value: 7: must not be above' \
        patch gadget/a '{"status":{"conditions":[{"type":"Ready","status":"True",
        "lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":7}]}}'
    if [ "$number" -ge 24 ]; then
        tap "$v: get --subresource" gives one k get gadget/a --subresource=status \
            -o 'jsonpath={.status.note}'
        tap "$v: replace --subresource" replaces_status
        tap "$v: and it was" field gadget/a '{.status.note}{.spec.color}' replacedred
    fi
    tap "$v: scale" gives 'gadget.example.com/a scaled' k scale gadget/a --replicas=4
    tap "$v: is a new generation" field gadget/a '{.spec.replicas}{.metadata.generation}' 42
}

replaces_status() {
    k get gadget/a -o yaml | sed 's/note: one/note: replaced/; s/color: red/color: blue/' |
        k replace --subresource=status -f -
}

strict() {
    object Exact e red >e.yaml
    k create -f e.yaml >/dev/null
    if [ "$number" -ge 24 ]; then
        tap "$v: a version is wanted" refuses 'needs metadata.resourceVersion' \
            patch exact/e '{"status":{"note":"one"}}'
    fi
    version=$(k get exact/e -o 'jsonpath={.metadata.resourceVersion}')
    tap "$v: spec is not touched" refuses 'spec.color: Forbidden: a write of status may not' \
        patch exact/e "{\"metadata\":{\"resourceVersion\":\"$version\"},\"spec\":{\"color\":\"x\"}}"
    tap "$v: status is written" patch exact/e \
        "{\"metadata\":{\"resourceVersion\":\"$version\"},\"status\":{\"note\":\"one\"}}"
}

owned() {
    object Gadget g blue >g2.yaml
    tap "$v: replace" refuses "$told" k replace -f g2.yaml
    tap "$v: apply" refuses "$told" k apply -f g2.yaml
    tap "$v: label" refuses "$told" k label gadget g a=b
    tap "$v: annotate" refuses "$told" k annotate gadget g a=b
    tap "$v: scale" refuses "$told" k scale gadget/g --replicas=4
    tap "$v: delete" refuses "$told" k delete gadget g
    tap "$v: delete --all" refuses "$told" k delete gadgets --all
    tap "$v: a dry run" refuses "$told" k delete gadget g --dry-run=server
    tap "$v: status is free" patch gadget/g '{"status":{"note":"one"}}'
    mark='annotations: {vedette.dev/git-repository: shop/catalog}'
    object Gadget forged red "$mark" >forged.yaml
    tap "$v: nobody creates what Git owns" refuses \
        'its spec belongs to Git: repository shop/catalog' k create -f forged.yaml
}

# ---- what is pushed: a Gadget g for each version, in the version's namespace ----

# pushes COLOR: one push brings all of them.
pushes() {
    mkdir -p work && for space in $spaces; do
        object Gadget g "$1" "namespace: $space" || return 1
        echo ---
    done >work/g.yaml
    push_folder work "http://x:$token@$http_door/default/catalog.git"
}

# opens: the kinds, the namespaces, and a repository that may write there.
opens() {
    space=default
    definition Gadget gadgets '' >gadgets.yaml
    exact='vedette.dev/status-boundary: strict, vedette.dev/status-precondition: required'
    definition Exact exacts "$exact" >exacts.yaml
    k create -f gadgets.yaml -f exacts.yaml || return 1
    for name in $spaces; do
        k create namespace "$name" || return 1
    done
    token=$("$vedette" token create --data data --user git --groups system:masters)
    k create -f - <<REPOSITORY
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: catalog}
spec: {scope: {namespaces: [$(echo "$spaces" | tr ' ' ,)]}}
REPOSITORY
}

# version KUBECTL: sets what the tests of it use; false: it cannot be run.
version() {
    kubectl=$1
    number=$(minor "$kubectl")
    v=1.$number
    space=v1-$number
    [ -n "$number" ]
}

command -v jq >/dev/null || skip_all "no jq here"
command -v git >/dev/null || skip_all "no git here"
find_kubectls
tap "a server starts" start_server
spaces=
for kubectl in $kubectls; do
    if version "$kubectl"; then spaces="$spaces${spaces:+ }$space"; fi
done
tap "kinds, namespaces and a repository" opens
tap "a push" until_true pushes red
told='its spec belongs to Git: repository default/catalog, branch main, path g.yaml, commit'
told="$told $(pushed_commit work)"
for kubectl in $kubectls; do
    version "$kubectl" || continue
    statuses
    strict
    owned
done
tap "another push" pushes blue
for kubectl in $kubectls; do
    version "$kubectl" || continue
    tap "$v: the push has changed spec, and not status" field gadget/g \
        '{.spec.color}{.status.note}' blueone
done
tap_end
