#!/bin/sh
# Custom kinds over the real server: alive with the answer to their definition, in several versions,
# with scale, over a restart, and gone with their definition.
set -u
build=${1:?usage: crd_test.sh BUILD_DIR}
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
gadgets=/apis/x.io/v1/namespaces/default/gadgets
json='Content-Type: application/json'
merge='Content-Type: application/merge-patch+json'

# has FIELD VALUE PATH: a field of what is there, as jq finds it.
has() {
    has_is=$(admin "$3" | jq -r "$1")
    [ "$has_is" = "$2" ] && return 0
    echo "$1 is $has_is, not $2"
    return 1
}

# definition PLURAL KIND EXTRA-NAMES VERSIONS
definition() {
    cat <<END
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"$1.x.io"},"spec":{"group":"x.io","scope":"Namespaced",
"names":{"plural":"$1","kind":"$2"$3},"versions":[$4]}}
END
}
schema='"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"size":{"type":"integer","minimum":1,"default":3},
"inner":{"type":"object","properties":{"replicas":{"type":"integer"}}}}},
"status":{"type":"object","properties":{"replicas":{"type":"integer"},
"selector":{"type":"string"}}}}}}'
subresources='"subresources":{"status":{},"scale":{"specReplicasPath":".spec.inner.replicas",
"statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}}'
v1="{\"name\":\"v1\",\"served\":true,\"storage\":true,$subresources,$schema}"
v1_moved="{\"name\":\"v1\",\"served\":true,\"storage\":false,$subresources,$schema}"
v2="{\"name\":\"v2\",\"served\":true,\"storage\":true,\"deprecated\":true,$subresources,$schema}"
v1_hidden="{\"name\":\"v1\",\"served\":false,\"storage\":false,$subresources,$schema}"
definition gadgets Gadget ',"shortNames":["gd"]' "$v1" >gadgets.json
definition gadgets Gadget ',"shortNames":["gd"]' "$v1_moved,$v2" >moved.json
definition gadgets Gadget ',"shortNames":["gd"]' "$v1_hidden,$v2" >hidden.json
definition others Other ',"shortNames":["gd"]' "$v1" >others.json

# replace FILE: the stored definition gets the spec of the file.
replace() {
    admin "$crds/gadgets.x.io" | jq -c --slurpfile new "$1" '.spec = $new[0].spec' >replace.json
    said 200 '"storedVersions"' "$crds/gadgets.x.io" -X PUT -H "$json" -d @replace.json
}
# gadget NAME [SPEC]
gadget() {
    printf '{"apiVersion":"x.io/v1","kind":"Gadget","metadata":{"name":"%s"},"spec":%s}' "$1" \
        "${2:-{\}}"
}

tap "a server starts" start
tap "a path of a kind that is not there is no path" said 404 '404 page not found' "$gadgets"
tap "a definition is created" said 201 '"generation":1' "$crds" -H "$json" -d @gadgets.json
tap "and with the answer its kind is there" said 200 '"kind":"GadgetList"' "$gadgets"
tap "an object of it gets its defaults" said 201 '"size":3' "$gadgets" -H "$json" -d "$(gadget one)"
tap "an invalid one is refused" said 422 'spec.size in body should be greater than or equal to 1' \
    "$gadgets" -H "$json" -d "$(gadget bad '{"size":0}')"
tap "an unknown field is warned of" said 201 'unknown field \"spec.zzz\"' \
    "$gadgets" -H "$json" -d "$(gadget two '{"zzz":1}')"
tap "strategic merge patches are not for custom kinds" said 415 \
    'application/json-patch+json, application/merge-patch+json' "$gadgets/one" -X PATCH \
    -H 'Content-Type: application/strategic-merge-patch+json' -d '{}'
tap "protobuf is not taken" said 415 'application/json, application/yaml' \
    "$gadgets" -H 'Content-Type: application/vnd.kubernetes.protobuf' -d k8s
tap "nor given" said 406 'only the following media types are accepted: application/json, ' \
    "$gadgets" -H 'Accept: application/vnd.kubernetes.protobuf'
tap "a subresource cannot be deleted" said 405 MethodNotAllowed "$gadgets/one/status" -X DELETE
tap "nor its object with it" said 200 '"name":"one"' "$gadgets/one"

tap "an object has a scale" said 200 '"kind":"Scale","apiVersion":"autoscaling/v1"' \
    "$gadgets/one/scale"
tap "which can be patched" said 200 '"spec":{"replicas":4}' "$gadgets/one/scale" -X PATCH \
    -H "$merge" -d '{"spec":{"replicas":4}}'
tap "and is a field of the object" has .spec.inner.replicas 4 "$gadgets/one"
tap "and a new generation of it" has .metadata.generation 2 "$gadgets/one"
scale='{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"one"'
tap "it can be replaced" said 200 '"spec":{"replicas":5}' "$gadgets/one/scale" -X PUT \
    -H "$json" -d "$scale},\"spec\":{\"replicas\":5}}"
tap "not with an old version" said 409 'the object has been modified' "$gadgets/one/scale" -X PUT \
    -H "$json" -d "$scale,\"resourceVersion\":\"1\"},\"spec\":{\"replicas\":6}}"
tap "nor with less than nothing" said 422 \
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0' \
    "$gadgets/one/scale" -X PATCH -H "$merge" -d '{"spec":{"replicas":-1}}'

owner=$(admin "$gadgets/one" | jq -r .metadata.uid)
tap "a ConfigMap belongs to an object" said 201 '"name":"mine"' \
    /api/v1/namespaces/default/configmaps -H "$json" -d "{\"metadata\":{\"name\":\"mine\",
\"ownerReferences\":[{\"apiVersion\":\"x.io/v1\",\"kind\":\"Gadget\",\"name\":\"one\",
\"uid\":\"$owner\"}]}}"
tap "and there is another one, elsewhere" said 201 '"name":"room"' /api/v1/namespaces -H "$json" \
    -d '{"metadata":{"name":"room"}}'
tap "with an object in it" said 201 '"namespace":"room"' /apis/x.io/v1/namespaces/room/gadgets \
    -H "$json" -d "$(gadget inside)"
tap "that namespace is deleted" said 200 Terminating /api/v1/namespaces/room -X DELETE
room_gone() { said 404 'not found' /api/v1/namespaces/room; }
tap "and goes, with what is in it" until_true room_gone
tap "there is no gadget left behind" has '[.items[].metadata.name]|join(",")' one,two \
    /apis/x.io/v1/gadgets
definition ruled Ruled '' "$v1" | jq -c '.spec.versions[0].schema.openAPIV3Schema +=
{"x-kubernetes-validations": [{"rule": "self.spec.size > 1"}]}' >ruled.json
tap "rules are taken" said 201 '"name":"ruled.x.io"' "$crds" -H "$json" -d @ruled.json
tap "and asked" said 422 'failed rule: self.spec.size > 1' \
    /apis/x.io/v1/namespaces/default/ruled -H "$json" \
    -d '{"apiVersion":"x.io/v1","kind":"Ruled","metadata":{"name":"r"},"spec":{"size":1}}'
tap "a second definition wants the short name" said 201 '"name":"others.x.io"' \
    "$crds" -H "$json" -d @others.json
is_refused() {
    has '.status.conditions[]|select(.type=="NamesAccepted")|.reason' ShortNamesConflict \
        "$crds/others.x.io"
}
tap "and does not get it" until_true is_refused
tap "so it is not served" said 404 '404 page not found' /apis/x.io/v1/others

tap "a watch of the first version begins" watch v1.watch --cert data/pki/admin.crt \
    --key data/pki/admin.key "$https$gadgets?watch=1&resourceVersion=1"
v1_stream=$stream
v1_begun() { grep -q '"name":"two"' v1.watch; }
tap "and shows what was" until_true v1_begun
tap "the definition gets a second version, to be stored" replace moved.json
tap "a new object is stored in it" said 201 '"apiVersion":"x.io/v1"' "$gadgets" -H "$json" \
    -d "$(gadget three)"
tap "and shown in both" said 200 '"apiVersion":"x.io/v2"' \
    /apis/x.io/v2/namespaces/default/gadgets/three
tap "so is one that was stored before" said 200 '"apiVersion":"x.io/v2"' \
    /apis/x.io/v2/namespaces/default/gadgets/one
tap "also in lists" has '[.items[].apiVersion]|unique|join(",")' x.io/v1 "$gadgets"
tap "it can be changed through either" said 200 '"apiVersion":"x.io/v1"' "$gadgets/one" \
    -X PATCH -H "$merge" -d '{"spec":{"size":9}}'
tap "the second version is deprecated, and says so" said 200 \
    'warning: 299 - "x.io/v2 Gadget is deprecated"' /apis/x.io/v2/gadgets
tap "both versions are remembered as stored" has '.status.storedVersions|join(",")' v1,v2 \
    "$crds/gadgets.x.io"
three_seen() { grep -q '"ADDED".*"name":"three"' v1.watch; }
tap "the watch goes on, in its version" until_true three_seen
tap "and shows no other" silent grep x.io/v2 v1.watch
tap "the first version is no longer served" replace hidden.json
is_over() { ! kill -0 "$v1_stream" 2>/dev/null; }
tap "and the watch of it ends" until_true is_over
ended_well() { wait "$v1_stream"; }
tap "as a watch should" ended_well
tap "the path is gone" said 404 '404 page not found' "$gadgets"
tap "a version that may be stored cannot be left out" said 422 'was previously a storage version' \
    "$crds/gadgets.x.io" -X PATCH -H "$merge" -d "{\"spec\":{\"versions\":[$v2]}}"
tap "the first version comes back" replace moved.json

tap "the server stops" stop
tap "and starts" start
tap "it has the kind when it is ready" has '.items|length' 3 "$gadgets"

tap "an object waits for somebody" said 200 '"finalizers"' "$gadgets/two" -X PATCH -H "$merge" \
    -d '{"metadata":{"finalizers":["x.io/wait"]}}'
tap "a watch of all begins" watch all.watch --cert data/pki/admin.crt --key data/pki/admin.key \
    "$https$gadgets?watch=1"
all_stream=$stream
all_begun() { [ "$(grep -c '"type":"ADDED"' all.watch)" = 3 ]; }
tap "and shows them" until_true all_begun
tap "the definition is deleted" said 200 InstanceDeletionPending "$crds/gadgets.x.io" -X DELETE
tap "it takes no new objects" said 405 \
    'create not allowed while custom resource definition is terminating' "$gadgets" -H "$json" \
    -d "$(gadget four)"
mine_gone() { said 404 'not found' /api/v1/namespaces/default/configmaps/mine; }
tap "what belongs to them goes, too" until_true mine_gone
only_two() { has '[.items[].metadata.name]|join(",")' two "$gadgets"; }
tap "its objects go, but for the one that waits" until_true only_two
tap "which is let go" said 200 '"name":"two"' "$gadgets/two" -X PATCH -H "$merge" \
    -d '{"metadata":{"finalizers":null}}'
is_gone() { said 404 'not found' "$crds/gadgets.x.io" && said 404 '404 page not found' "$gadgets"; }
tap "then the definition goes, and its kind" until_true is_gone
all_over() { ! kill -0 "$all_stream" 2>/dev/null; }
tap "and the watch" until_true all_over
told() { [ "$(grep -c '"type":"DELETED"' all.watch)" = 3 ] && return 0; cat all.watch; return 1; }
tap "which was told of all" told
is_served() { said 200 '"kind":"OtherList"' /apis/x.io/v1/others; }
tap "whoever waited for the name is served now" until_true is_served
tap "the server stops at last" stop
tap_end
