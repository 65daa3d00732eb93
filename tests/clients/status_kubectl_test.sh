#!/bin/sh
# Status and ownership with the kubectls of kubectls.sh: what people type, and what they are told.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/kubectls.sh
. "$here/kubectls.sh"

# k ARGUMENT...: this version's kubectl in its namespace, with an end.
k() { timeout 60 "$kubectl" -n "$space" "$@"; }

# git ARGUMENT...: as the Git pipeline.
git() {
    sed '/client-certificate-data/d; /client-key-data/d' "$KUBECONFIG" >git.kubeconfig
    KUBECONFIG=git.kubeconfig k --token="$(cat pipeline)" "$@"
}

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

# object KIND NAME COLOR [ANNOTATIONS]
object() {
    printf 'apiVersion: example.com/v1\nkind: %s\nmetadata: {name: %s, annotations: {%s}}\n' \
        "$1" "$2" "${4:-}"
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
    k create namespace "$space" >/dev/null
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
    mark='vedette.dev/git-repository: shop/catalog, vedette.dev/git-path: w/g'
    mark="$mark, vedette.dev/git-commit: 4f1c2e9"
    told='its spec belongs to Git: repository shop/catalog, path w/g, commit 4f1c2e9'
    object Gadget g red "$mark" >g.yaml
    object Gadget g blue "$mark" >g2.yaml
    tap "$v: nobody creates what Git owns" refuses "$told" k create -f g.yaml
    tap "$v: the pipeline does" gives gadget.example.com/g\ created git create -f g.yaml
    tap "$v: replace" refuses "$told" k replace -f g2.yaml
    tap "$v: apply" refuses "$told" k apply -f g2.yaml
    tap "$v: label" refuses "$told" k label gadget g a=b
    tap "$v: annotate" refuses "$told" k annotate gadget g a=b
    tap "$v: scale" refuses "$told" k scale gadget/g --replicas=4
    tap "$v: delete" refuses "$told" k delete gadget g
    tap "$v: delete --all" refuses "$told" k delete gadgets --all
    tap "$v: a dry run" refuses "$told" k delete gadget g --dry-run=server
    tap "$v: status is free" patch gadget/g '{"status":{"note":"one"}}'
    tap "$v: the pipeline applies" gives gadget.example.com/g\ replaced git replace -f g2.yaml
    tap "$v: and it was" field gadget/g '{.spec.color}{.status.note}' blueone
    tap "$v: the pipeline deletes" gives 'gadget.example.com "g" deleted' git delete gadget g
}

command -v jq >/dev/null || skip_all "no jq here"
find_kubectls
tap "a server starts" start_server
"$vedette" token create --data data --user git --groups system:masters,system:vedette:git |
    grep -o 'vd_[^ ]*' >pipeline
defined=
for kubectl in $kubectls; do
    number=$(minor "$kubectl")
    if [ -z "$number" ]; then continue; fi
    v=1.$number
    space=v1-$number
    if [ -z "$defined" ]; then
        definition Gadget gadgets '' >gadgets.yaml
        exact='vedette.dev/status-boundary: strict, vedette.dev/status-precondition: required'
        definition Exact exacts "$exact" >exacts.yaml
        tap "$v: two kinds" k create -f gadgets.yaml -f exacts.yaml
        defined=1
    fi
    statuses
    strict
    owned
done
tap_end
