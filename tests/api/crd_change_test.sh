#!/bin/sh
# Definitions that change while there are objects of them: nobody who writes an object is to blame
# for what its schema has ceased to know.
set -u
build=${1:?usage: crd_change_test.sh BUILD_DIR}
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
json='Content-Type: application/json'
crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
things=/apis/x.io/v1/namespaces/default/things

# warned TEXT: the last answer had a warning with it.
warned() { grep -i '^warning:' said.head | grep -qF -e "$1"; }
unwarned() { ! warned "$1"; }

# definition FIELDS: the fields of spec.
definition() {
    cat <<END
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"things.x.io","annotations":{"vedette.dev/status-boundary":"strict"}},
"spec":{"group":"x.io","scope":"Namespaced",
"names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size",
"statusReplicasPath":".status.size"}},
"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{$1}},
"status":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}
END
}

# patch STATUS TEXT PATH TYPE BODY, strictly.
patch() {
    said "$1" "$2" "$3&fieldValidation=Strict" -X PATCH -H "Content-Type: application/$4" -d "$5"
}

tap "a server starts" start
definition '"size":{"type":"integer"},"color":{"type":"string"}' >before.json
definition '"size":{"type":"integer"},"shade":{"type":"string","default":"dark"}' >after.json
thing='"apiVersion":"x.io/v1","kind":"Thing"'
tap "a definition is created" said 201 '"generation":1' "$crds" -H "$json" \
    -d @before.json
for name in merge json apply scale status status-put status-apply; do
    tap "and an object, $name" said 201 '"color":"red"' "$things" \
        -H "$json" \
        -d "{$thing,\"metadata\":{\"name\":\"$name\"},\"spec\":{\"size\":1,\"color\":\"red\"}}"
done
admin "$crds/things.x.io" | jq -c --slurpfile new after.json '.spec = $new[0].spec' >replace.json
tap "the definition loses a field and gets another" said 200 '"generation":2' \
    "$crds/things.x.io" -X PUT -H "$json" -d @replace.json

tap "a merge patch of something else is fine" patch 200 '"a":"b"' "$things/merge?x" \
    merge-patch+json '{"metadata":{"labels":{"a":"b"}}}'
tap "without a warning" unwarned color
tap "a JSON patch too" patch 200 '"a":"b"' "$things/json?x" json-patch+json \
    '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]'
tap "an apply too" patch 200 '"a":"b"' "$things/apply?fieldManager=m" apply-patch+yaml \
    "{$thing,\"metadata\":{\"name\":\"apply\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"size\":1}}"
tap "and a new scale" patch 200 '"replicas":7' "$things/scale/scale?x" merge-patch+json \
    '{"spec":{"replicas":7}}'
tap "and a status" patch 200 '"status":{"size":7}' "$things/status/status?x" merge-patch+json \
    '{"status":{"size":7}}'
put() {
    admin "$things/status-put" | jq -c '.status = {"size": 7}' >put.json
    said 200 '"status":{"size":7}' "$things/status-put/status" -X PUT \
        -H "$json" -d @put.json
}
tap "or all of the object with a status" put
tap "or an apply of one" patch 200 '"status":{"size":7}' \
    "$things/status-apply/status?fieldManager=m" apply-patch+yaml \
    "{$thing,\"metadata\":{\"name\":\"status-apply\"},
    \"spec\":{\"size\":1},\"status\":{\"size\":7}}"
tap "which may not speak of another spec" patch 422 '"field":"spec.size"' \
    "$things/status-apply/status?fieldManager=m" apply-patch+yaml \
    "{$thing,\"metadata\":{\"name\":\"status-apply\"},
    \"spec\":{\"size\":2},\"status\":{\"size\":7}}"
tap "nor of other labels" patch 422 '"field":"metadata.labels' \
    "$things/status-apply/status?fieldManager=m" apply-patch+yaml \
    "{$thing,\"metadata\":{\"name\":\"status-apply\",\"labels\":{\"a\":\"b\"}}}"
tap "what is unknown in the patch is refused" patch 422 'unknown field \"spec.color\"' \
    "$things/merge?x" merge-patch+json '{"spec":{"color":"blue"}}'
tap "an object that was written has lost the field" said 200 '"spec":{"size":1,"shade":"dark"}' \
    "$things/merge"

tap "a number that no client could read is refused" patch 400 'beyond the range of doubles' \
    "$things/merge?x" merge-patch+json '{"spec":{"size":1e999}}'
tap "one in an apply too" patch 400 'beyond the range of doubles' \
    "$things/apply?fieldManager=m" apply-patch+yaml \
    "{$thing,\"metadata\":{\"name\":\"apply\"},\"spec\":{\"size\":-1e999}}"
tap "a whole number is written as clients expect it" patch 200 '"spec":{"size":20,' \
    "$things/json?x" json-patch+json '[{"op":"replace","path":"/spec/size","value":2.0e1}]'
tap "in built-in kinds too" said 201 '"leaseDurationSeconds":15}' \
    /apis/coordination.k8s.io/v1/namespaces/default/leases -H "$json" \
    -d '{"metadata":{"name":"l"},"spec":{"leaseDurationSeconds":15.0}}'

annotate() { patch 200 '"name":"json"' "$things/json?x" merge-patch+json \
    "{\"metadata\":{\"annotations\":{\"a\":$1}}}"; }
version() { admin "$things/json" | jq -r '.metadata|.resourceVersion,.annotations'; }
version >version.before
tap "to take off what is not there changes nothing" annotate null
version >version.after
tap "and leaves no empty map behind" cmp version.before version.after
tap "an annotation is put on" annotate '"b"'
tap "and taken off" annotate null
tap "with its map" [ "$(version | tail -n 1)" = null ]

tap "an object gets a finalizer" patch 200 'a.b/c' "$things/merge?x" merge-patch+json \
    '{"metadata":{"finalizers":["a.b/c"]}}'
tap "the definition is deleted" said 200 '"deletionTimestamp"' "$crds/things.x.io" -X DELETE
only_merge() { [ "$(admin "$things" | jq -r '[.items[].metadata.name]|join(",")')" = merge ]; }
tap "all objects go but that one" until_true only_merge
tap "nothing new is created by POST" said 405 \
    'create not allowed while custom resource definition' "$things" -H "$json" \
    -d "{$thing,\"metadata\":{\"name\":\"new\"}}"
tap "nor by an apply" patch 405 'create not allowed while custom resource definition' \
    "$things/new?fieldManager=m" apply-patch+yaml "{$thing,\"metadata\":{\"name\":\"new\"}}"
tap "what is there can be applied to" patch 200 '"size":9' "$things/merge?fieldManager=m&force=1" \
    apply-patch+yaml "{$thing,\"metadata\":{\"name\":\"merge\"},\"spec\":{\"size\":9}}"
tap "a new definition has to wait" said 409 \
    'object is being deleted: customresourcedefinitions.apiextensions.k8s.io' \
    "$crds" -H "$json" -d @before.json
tap "the finalizer is taken off" patch 200 '"size":9' "$things/merge?x" merge-patch+json \
    '{"metadata":{"finalizers":null}}'
is_new() { said 201 '"generation":1' "$crds" -H "$json" -d @before.json; }
tap "and it has not to wait any longer" until_true is_new
tap "with no objects" said 200 '"items":[]' "$things"
tap "the server ends well" stop
tap_end
