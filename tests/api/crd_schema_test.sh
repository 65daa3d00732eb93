#!/bin/sh
# Objects that were written under an older schema: whoever reads them sees them as the schema of
# today has them, without what it does not know and with its defaults.
set -u
build=${1:?usage: crd_schema_test.sh BUILD_DIR}
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
json='Content-Type: application/json'
merge='Content-Type: application/merge-patch+json'
crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
things=/apis/x.io/v1/namespaces/default/things
old='{"color":"red","size":1}'
new='{"shade":"dark","size":1}'

# definition FIELDS COLUMNS
definition() {
    cat <<END
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"things.x.io"},"spec":{"group":"x.io","scope":"Namespaced",
"names":{"plural":"things","kind":"Thing"},"versions":[
{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
"additionalPrinterColumns":[{"name":"Shade","type":"string","jsonPath":".spec.shade"}$2],
"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"size":{"type":"integer"},$1}},
"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}
END
}
# redefine FIELDS COLUMNS: replaces the definition's spec.
redefine() {
    definition "$1" "$2" >redefine.json
    admin "$crds/things.x.io" | jq -c --slurpfile new redefine.json '.spec = $new[0].spec' >put.json
    [ "$(admin "$crds/things.x.io" -X PUT -H "$json" -d @put.json -o put.out \
        -w '%{http_code}')" = 200 ] && return 0
    cat put.out
    return 1
}
# thing NAME
thing() {
    post "$things" Thing "\"metadata\":{\"name\":\"$1\",\"finalizers\":[\"x.io/f\"]},\"spec\":$old"
}
# is WANT FILTER PATH ARGUMENT...: what jq's filter finds in the answer.
is() {
    is_want=$1 is_filter=$2
    shift 2
    admin "$@" >is.out
    is_got=$(jq -S -c "$is_filter" is.out)
    [ "$is_got" = "$is_want" ] && return 0
    echo "wanted $is_want, got $is_got"
    cat is.out
    return 1
}
# seen FILE WANT FILTER: the lines of a watch, when they are there.
seen_now() {
    seen_n=$(printf '%s\n' "$2" | wc -l)
    [ "$(jq -S -c "$3" "$1" 2>/dev/null | head -n "$seen_n")" = "$2" ]
}
seen() {
    until_true seen_now "$@" && return 0
    cat "$1"
    return 1
}
watch_things() {
    watch_out=$1
    shift
    watch "$watch_out" --cert data/pki/admin.crt --key data/pki/admin.key "$@"
}
version_of() { admin "$1" | jq -r .metadata.resourceVersion; }

# What holds of the objects a and b, neither of which has been written since.
reads() {
    tap "get shows the object as the schema has it, $1" is "$new" .spec "$things/a"
    tap "list does, $1" is "[$new,$new]" '[.items[0:2][].spec]' "$things"
    tap "a table does, $1" is '["dark","dark"]' '[.rows[0:2][].cells[1]]' "$things" \
        -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io'
    tap "and it keeps its resourceVersion, $1" is "\"$written\"" .metadata.resourceVersion \
        "$things/a"
    watch_things "initial.$1" "$https$things?watch=1"
    tap "a watch begins with it, $1" seen "initial.$1" "$new" \
        'select(.object.metadata.name == "a") | .object.spec'
    watch_things "replay.$1" "$https$things?watch=1&resourceVersion=$before"
    tap "and so does one that replays its creation, $1" seen "replay.$1" "$new" \
        'select(.object.metadata.name == "a") | .object.spec'
}

tap "a server starts" start
definition '"color":{"type":"string"}' '' >define.json
admin "$crds" -H "$json" -d @define.json >/dev/null
before=$(version_of "$crds/things.x.io")
for name in a b c d e f; do tap "an object, $name" thing $name; done
written=$(version_of "$things/a")
tap "is shown as it was written" is "$old" .spec "$things/a"
tap "other columns change nothing" redefine '"color":{"type":"string"}' \
    ',{"name":"Size","type":"integer","jsonPath":".spec.size"}'
tap "of what is shown" is "$old" .spec "$things/a"
watch_things live "$https$things?watch=1&resourceVersion=$(version_of "$things")"
tap "the schema loses a field and gets one with a default" \
    redefine '"shade":{"type":"string","default":"dark"}' ''
reads live

tap "a patch begins with it" is "$new" .spec "$things/c" -X PATCH -H "$merge" \
    -d '{"metadata":{"labels":{"a":"b"}}}'
tap "and is no new generation" is 1 .metadata.generation "$things/c"
tap "a status begins with it" is "$new" .spec "$things/d/status" -X PATCH -H "$merge" \
    -d '{"status":{"x":1}}'
admin "$things/e" >e.json
tap "writing back what was read is no new generation" is '[1,"dark"]' \
    '[.metadata.generation,.spec.shade]' "$things/e" -X PUT -H "$json" -d @e.json
tap "but a new version, as it stores what was shown" [ "$(version_of "$things/e")" -gt "$written" ]
tap "a deletion begins with it" is "$new" .spec "$things/f" -X DELETE
tap "so that the marked object is as new as it looks" is "$new" .spec "$things/f"
tap "all that a watch has seen is like it" seen live "$new
$new
$new
$new" '.object.spec'

tap "the server stops" stop
tap "and starts again" start
reads restarted
admin "$things/a" -X DELETE >/dev/null
admin "$things/a" -X PATCH -H "$merge" -d '{"metadata":{"finalizers":null}}' >/dev/null
watch_things gone "$https$things?watch=1&resourceVersion=$written"
tap "the end of an object is told as it was shown" seen gone "$new" \
    'select(.type == "DELETED") | .object.spec'
tap "deleting all that are left marks them" is '"ThingList"' .kind "$things" -X DELETE
tap "as the schema has them" is "[$new]" '[.items[] | select(.metadata.name == "b") | .spec]' \
    "$things"

# ---- versions with schemas of their own ----

# of_version NAME STORAGE FIELDS
of_version() {
    echo "{\"name\":\"$1\",\"served\":true,\"storage\":$2,\"schema\":{\"openAPIV3Schema\":{
    \"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{$3}}}}}}"
}
tap "a definition has versions that differ" post "$crds" CustomResourceDefinition \
    "\"metadata\":{\"name\":\"boxes.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":\"Cluster\",
    \"names\":{\"plural\":\"boxes\",\"kind\":\"Box\"},\"versions\":[
    $(of_version v1 true '"a":{"type":"string"},"c":{"type":"string","default":"one"}'),
    $(of_version v2 false '"b":{"type":"string","default":"two"},"c":{"type":"string"}')]}"
tap "an object is created in the first" post /apis/x.io/v1/boxes Box \
    '"metadata":{"name":"first"},"spec":{"a":"x"}'
tap "and one in the second" post /apis/x.io/v2/boxes Box '"metadata":{"name":"second"},"spec":{}'
tap "the first shows both as it has them" is '[{"a":"x","c":"one"},{"c":"one"}]' '[.items[].spec]' \
    /apis/x.io/v1/boxes
tap "and the second with the defaults of what is stored" is '[{"c":"one"},{"c":"one"}]' \
    '[.items[].spec]' /apis/x.io/v2/boxes
tap "also one at a time" is '{"c":"one"}' .spec /apis/x.io/v2/boxes/first
tap "a patch through the second is answered as it is read" is '{"c":"one"}' .spec \
    /apis/x.io/v2/boxes/first -X PATCH -H "$merge" -d '{"metadata":{"labels":{"a":"b"}}}'
tap "so that the first has what is left" is '{"c":"one"}' .spec /apis/x.io/v1/boxes/first
tap "the server stops in the end" stop
tap_end
