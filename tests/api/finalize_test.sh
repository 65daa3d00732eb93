#!/bin/sh
# A namespace goes when its spec.finalizers are gone: they have a door of their own.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
namespace=/api/v1/namespaces/team

# send METHOD PATH TYPE BODY STATUS TEXT: the answer has this status and text.
send() {
    send_got=$(admin "$2" -X "$1" -A test -H "Content-Type: application/$3" -d "$4" \
        -w '\n%{http_code}')
    case $send_got in
    *"$6"*"$5") return 0 ;;
    esac
    echo "$send_got"
    return 1
}
of() { echo "{\"metadata\":{\"name\":\"team\"},\"spec\":{\"finalizers\":[$1]}}"; }
kept='"spec":{"finalizers":["kubernetes"]}'

tap "a server starts" start
tap "a namespace" post /api/v1/namespaces Namespace '"metadata":{"name":"team"}'
tap "an update without a spec keeps it" send PUT $namespace json \
    '{"metadata":{"name":"team"}}' 200 "$kept"
tap "one with another spec does, too" send PUT $namespace json "$(of '')" 200 "$kept"
tap "and a patch" send PATCH $namespace merge-patch+json '{"spec":null}' 200 "$kept"
tap "status does not touch it" send PUT $namespace/status json \
    '{"metadata":{"name":"team"},"spec":{"finalizers":[]},"status":{"phase":"Active"}}' 200 "$kept"
tap "its own door does" send PUT $namespace/finalize json \
    "$(of '"kubernetes","example.com/x"')" 200 '["kubernetes","example.com/x"]'
labelled='{"metadata":{"name":"team","labels":{"a":"b"}},'
tap "and changes nothing else" send PUT $namespace/finalize json \
    "$labelled\"spec\":{\"finalizers\":[\"kubernetes\",\"example.com/x\"]}}" 200 \
    '"labels":{"kubernetes.io/metadata.name":"team"}'
tap "it cannot be patched" send PATCH $namespace/finalize merge-patch+json '{}' 405 MethodNotAllowed
tap "other kinds have none" send PUT /api/v1/namespaces/default/services/kubernetes/finalize json \
    '{}' 404 'could not find the requested resource'
tap "something in it" post $namespace/configmaps ConfigMap '"metadata":{"name":"a"}'
tap "it is deleted" send DELETE $namespace json '{}' 200 Terminating
# emptied: the server has done its part, and the other finalizer is left.
emptied() {
    admin $namespace -A test >emptied.out
    grep -q -F '"finalizers":["example.com/x"]' emptied.out
}
tap "the server takes its finalizer off" until_true emptied
tap "the last one goes" send PUT $namespace/finalize json "$(of '')" 200 ''
tap "and the namespace with it" send GET $namespace json '' 404 NotFound

# ---- an object that waits for its finalizers ----

held=/api/v1/namespaces/default/configmaps/held
version() { admin $held -A test | grep -o '"resourceVersion":"[0-9]*"'; }
# still METHOD TYPE BODY: it is answered with what there is, and there is no new version.
still() {
    still_was=$(version)
    send "$1" $held "$2" "$3" 200 "$still_was" && [ "$(version)" = "$still_was" ]
}
tap "an object with a finalizer" post /api/v1/namespaces/default/configmaps ConfigMap \
    '"metadata":{"name":"held","finalizers":["example.com/x"]}'
tap "is deleted, and waits" send DELETE $held json '{}' 200 deletionTimestamp
tap "a patch of nothing makes no event" still PATCH merge-patch+json '{}'
tap "nor does one that would take the deletion back" still PATCH merge-patch+json \
    '{"metadata":{"deletionTimestamp":null}}'
tap "nor an update with what is there" still PUT json \
    '{"metadata":{"name":"held","finalizers":["example.com/x"]}}'
tap "the server stops" stop
tap_end
