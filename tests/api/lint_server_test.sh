#!/bin/sh
# `vedette lint --server`: what a real server says of a work tree, with nothing written there.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"

# definition PLURAL KIND ANNOTATIONS: of group example.com, with a spec that has a size.
definition() {
    cat <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $1.example.com, annotations: {$3}}
spec:
  group: example.com
  names: {plural: $1, singular: $1-one, kind: $2, listKind: $2List}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {size: {type: integer, maximum: 9}}
            x-kubernetes-validations:
            - {rule: self.size >= oldSelf.size, message: must not shrink}
YAML
}

# object KIND NAME SIZE
object() {
    printf 'apiVersion: example.com/v1\nkind: %s\nmetadata: {name: %s}\nspec:\n  size: %s\n' "$@"
}

# lints STATUS TEXT OPTION...: the exit status, and a line with the text.
lints() {
    lints_status=$1 lints_text=$2
    shift 2
    timeout 60 "$vedette" lint "$@" >lints.out 2>&1
    lints_got=$?
    [ "$lints_got" -eq "$lints_status" ] && grep -q -F -e "$lints_text" lints.out && return 0
    echo "status $lints_got, no line says: $lints_text"
    cat lints.out
    return 1
}

listen=127.0.0.1:0
start --access-log off || exit 1
"$vedette" token create --data data --user ann --groups system:masters >ann.token
"$vedette" token create --data data --user bob >bob.token
# asks STATUS TEXT OPTION...: the same over TLS, as ann.
asks() {
    asks_status=$1 asks_text=$2
    shift 2
    lints "$asks_status" "$asks_text" --server "$https" --ca-file data/pki/ca.crt \
        --token-file ann.token "$@"
}
apply() {
    admin "$1?fieldManager=test" -X PATCH -H 'Content-Type: application/apply-patch+yaml' \
        --data-binary @- -o apply.out -w '%{http_code}' | grep -q '^20' && return 0
    cat apply.out
    return 1
}
crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
definition cogs Cog '' | apply $crds/cogs.example.com || exit 1
definition owned Owned 'vedette.dev/spec-owner: git' | apply $crds/owned.example.com || exit 1
cogs=/apis/example.com/v1/namespaces/default/cogs
object Cog old 5 | apply $cogs/old || exit 1

mkdir tree && : >tree/.vedette.yaml
object Cog new 3 >tree/new.yaml
object Owned o 3 >tree/owned.yaml
tap "without the server the kind is unknown" lints 1 'there is no kind Cog' tree
tap "the server knows the kind" asks 0 '2 manifests in 2 files: 0 errors, 0 warnings' tree
tap "nothing was written" said 404 '"NotFound"' $cogs/new
tap "over plain HTTP, with the token in the environment" env VEDETTE_TOKEN="$(cat ann.token)" \
    "$vedette" lint --server "$http" tree
object Cog new 30 >tree/new.yaml
tap "its schema is checked here, with the place" asks 1 'tree/new.yaml:5:3: spec.size: Invalid' tree
object Cog new 3 >tree/new.yaml
object Cog old 1 >tree/old.yaml
tap "what is stored there counts" asks 1 'tree/old.yaml:4:1: spec: the server: Invalid value' tree
tap "what concerns other files is not asked" asks 0 '0 errors' tree/new.yaml
rm tree/old.yaml
tap "a namespace must be there" asks 1 'the server: namespaces "nowhere" not found' \
    --namespace nowhere tree
printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: nowhere}\n' >tree/namespace.yaml
tap "or be in the tree" asks 0 '0 errors' --namespace nowhere tree
definition bolts Bolt '' >tree/bolts.yaml
object Bolt b 3 >tree/b.yaml
tap "a definition of the tree is enough" asks 0 '0 errors' tree
tap "a server that does not know the user" lints 1 'does not know who asks: give a token' \
    --server "$http" tree
tap "a user without rights" lints 1 'the server: ' --server "$http" --token-file bob.token tree
tap "a server that is not trusted" lints 1 'the certificate of https://' --server "$https" \
    --token-file ann.token tree
tap "no server" lints 1 'no server answers at http://127.0.0.1:1' --server http://127.0.0.1:1 tree
tap "no URL" lints 2 'is no URL of http or https' --server 127.0.0.1 tree
tap "no such file" lints 2 'nothing.token: No such file' --server "$http" \
    --token-file nothing.token tree
tap "the server ends well" stop
tap_end
