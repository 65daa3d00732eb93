#!/bin/sh
# Who owns which fields when managers use different versions of a kind, and when a version goes.
set -u
build=${1:?usage: apply_versions_test.sh BUILD_DIR}
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
json='Content-Type: application/json'
crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
schema='"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
"properties":{"a":{"type":"string"},"b":{"type":"string"},"l":{"type":"array",
"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object",
"required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"string"}}}}}}}}}'

# version NAME STORAGE
version() { echo "{\"name\":\"$1\",\"served\":true,\"storage\":$2,$schema}"; }
# redefine FILTER [SUBRESOURCE]: changes the definition as jq says.
redefine() {
    admin "$crds/ts.x.io" | jq -c "$1" >redefine.json
    [ "$(admin "$crds/ts.x.io${2-}" -X PUT -H "$json" -d @redefine.json -o redefine.out \
        -w '%{http_code}')" = 200 ] && return 0
    cat redefine.out
    return 1
}
# apply STATUS VERSION MANAGER SPEC
apply() {
    apply_code=$(admin "/apis/x.io/$2/ts/o?fieldManager=$3" -X PATCH -o apply.out \
        -w '%{http_code}' \
        -H 'Content-Type: application/apply-patch+yaml' \
        -d "{\"apiVersion\":\"x.io/$2\",\"kind\":\"T\",\"metadata\":{\"name\":\"o\"},\"spec\":$4}")
    [ "$apply_code" = "$1" ] && return 0
    cat apply.out
    return 1
}
# update VERSION MANAGER FILTER: replaces the object as jq says.
update() {
    admin "/apis/x.io/$1/ts/o" | jq -c "$3" >update.json
    [ "$(admin "/apis/x.io/$1/ts/o?fieldManager=$2" -X PUT -H "$json" -d @update.json \
        -o update.out -w '%{http_code}')" = 200 ] && return 0
    cat update.out
    return 1
}
# owners VERSION WANT: "manager/operation/version fields-of-spec" of all entries.
owners() {
    owners_are=$(admin "/apis/x.io/$1/ts/o" | jq -r '.metadata.managedFields[] |
        "\(.manager)/\(.operation)/\(.apiVersion | sub("x.io/"; "")) " +
        ([.fieldsV1."f:spec" // {} | keys[] | sub("f:"; "")] | join(","))' | sort | paste -sd '|' -)
    [ "$owners_are" = "$2" ] && return 0
    echo "wanted $2, got $owners_are"
    return 1
}
says() { grep -qF -e "$1" apply.out || { cat apply.out; return 1; }; }

tap "a server starts" start
tap "a definition has two versions" post $crds CustomResourceDefinition \
    "\"metadata\":{\"name\":\"ts.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":\"Cluster\",
    \"names\":{\"plural\":\"ts\",\"kind\":\"T\"},
    \"versions\":[$(version v1 true),$(version v2 false)]}"
tap "an object is applied in the first" apply 201 v1 A '{"a":"1","l":[{"k":"x","v":"1"}]}'
tap "read in the second, its fields are still owned in the first" owners v2 'A/Apply/v1 a,l'
tap "another manager meets them in the second" apply 409 v2 B '{"a":"2"}'
tap "as a conflict" says 'conflict with \"A\": .spec.a'
tap "and can add to the list" apply 200 v2 B '{"b":"2","l":[{"k":"y","v":"1"}]}'
tap "which both own" owners v1 'A/Apply/v1 a,l|B/Apply/v2 b,l'
tap "an applier that changes to the second version" apply 200 v2 A '{"l":[{"k":"x","v":"2"}]}'
tap "has one entry, and gives up what it leaves out" owners v1 'A/Apply/v2 l|B/Apply/v2 b,l'
tap "an update in the first" update v1 U '.spec.a = "u1"'
tap "and one in the second" update v2 U '.spec.b = "u2"'
tap "are two entries" owners v2 'A/Apply/v2 l|B/Apply/v2 l|U/Update/v1 a|U/Update/v2 b'
tap "an update takes from entries of other versions" update v2 U '.spec.a = "u3"'
tap "all that it changes" owners v1 'A/Apply/v2 l|B/Apply/v2 l|U/Update/v2 a,b'

tap "a third version is to be stored" redefine ".spec.versions = [$(version v3 true),
    $(version v2 false),$(version v1 false)]"
tap "and the object is" update v3 U '.spec.a = "u4"'
tap "nothing is stored in another" redefine '.status.storedVersions = ["v3"]' /status
tap "so that the others can go" redefine ".spec.versions = [$(version v3 true)]"
tap "their entries stay" owners v3 'A/Apply/v2 l|B/Apply/v2 l|U/Update/v2 b|U/Update/v3 a'
tap "and count" apply 409 v3 C '{"b":"9"}'
tap "under the version that they are of" says 'conflict with \"U\" using x.io/v2: .spec.b'
tap "an applier goes on where it was" apply 200 v3 A '{"l":[{"k":"x","v":"3"}]}'
tap "with the version of today" owners v3 'A/Apply/v3 l|B/Apply/v2 l|U/Update/v2 b|U/Update/v3 a'
tap "the server stops" stop
tap_end
