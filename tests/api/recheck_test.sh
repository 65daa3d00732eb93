#!/bin/sh
# A watch ends when its right or its credential does (tests/api/stream_rights.mjs has the 5 s).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
rbac=/apis/rbac.authorization.k8s.io/v1

# bind NAME SUBJECT: may watch configmaps in default.
bind() {
    post $rbac/namespaces/default/rolebindings RoleBinding "\"metadata\":{\"name\":\"$1\"},
        \"subjects\":[$2],\"roleRef\":{\"kind\":\"Role\",\"name\":\"watcher\",
        \"apiGroup\":\"rbac.authorization.k8s.io\"}"
}
user() { echo "{\"kind\":\"User\",\"name\":\"$1\",\"apiGroup\":\"rbac.authorization.k8s.io\"}"; }
path=/api/v1/namespaces/default/configmaps
# watches FILE TOKEN: a watch that has begun. It may be refused until the server knows the binding.
watches() { until_true begins "$@"; }
begins() {
    watch "$1" -H "Authorization: Bearer $2" "$https$path?watch=1"
    until [ -s "$1" ] || is_over "$stream"; do sleep 0.02; done
    grep -q '"ADDED"' "$1"
}
# ended FILE STREAM STATUS: its last line is an error with this status, and the stream is complete.
is_over() { ! kill -0 "$1" 2>/dev/null; }
ended() {
    if ! until_true is_over "$2"; then
        echo "still open"
        cat "$1"
        return 1
    fi
    wait "$2" && tail -n 1 "$1" | grep -q "^{\"type\":\"ERROR\",\"object\":{.*\"code\":$3}}\$" &&
        return 0
    cat "$1" "$1.err"
    return 1
}
is_open() { kill -0 "$1"; }

tap "a server starts" start
tap "there is something to watch" configmap a
tap "and a role for it" post $rbac/namespaces/default/roles Role '"metadata":{"name":"watcher"},
    "rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["watch"]}]'
for name in ann bob cid; do tap "$name may" bind $name "$(user $name)"; done
ann=$("$vedette" token create --data data --user ann)
bob=$("$vedette" token create --data data --user bob)
cid=$("$vedette" token create --data data --user cid)
id_of() { "$vedette" token list --data data | awk -v user="$1" '$2 == user { print $1 }'; }

tap "ann watches" watches ann.events "$ann"
ann_stream=$stream
tap "bob watches" watches bob.events "$bob"
bob_stream=$stream
tap "cid watches" watches cid.events "$cid"
cid_stream=$stream
watch admin.events --cert data/pki/admin.crt --key data/pki/admin.key "$https$path?watch=1"
admin_stream=$stream
tap "the administrator watches" until_true grep -q '"ADDED"' admin.events

# ---- the right ----

admin $rbac/namespaces/default/rolebindings/ann -X DELETE >/dev/null
tap "a binding goes: 403 ends the watch" ended ann.events "$ann_stream" 403
tap "in Kubernetes' words" grep -q -F \
    'configmaps is forbidden: User \"ann\" cannot watch resource \"configmaps\"' ann.events

# ---- the credential ----

"$vedette" token revoke --data data --id "$(id_of bob)" >/dev/null
tap "a token is revoked: 401 ends the watch" ended bob.events "$bob_stream" 401
tap "the others stay" is_open "$cid_stream"
tap "and get what comes" configmap b
tap "at once" until_true grep -q '"name":"b"' cid.events
dan=$("$vedette" token create --data data --user cid --expires 3s)
tap "one with a token of 3 s watches" watches dan.events "$dan"
tap "it expires: 401 ends the watch" ended dan.events "$stream" 401

# ---- accounts ----

accounts=/api/v1/namespaces/default/serviceaccounts
tap "an account" post $accounts ServiceAccount '"metadata":{"name":"robot"}'
tap "may" bind robot '{"kind":"ServiceAccount","name":"robot","namespace":"default"}'
admin $accounts/robot/token -H 'Content-Type: application/json' -d \
    '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}' >token.out
robot=$(sed -n 's/.*"token": *"\([^"]*\)".*/\1/p' token.out)
tap "it watches" watches robot.events "$robot"
admin $accounts/robot -X DELETE >/dev/null
tap "it is deleted: 401 ends the watch" ended robot.events "$stream" 401

# ---- the rest ----

admin $rbac/namespaces/default/roles/watcher -X DELETE >/dev/null
tap "the role goes: 403 ends the watch" ended cid.events "$cid_stream" 403
tap "the administrator watches on" is_open "$admin_stream"
reasons() {
    admin /metrics >metrics
    grep -q -x 'watch_ended_total{reason="forbidden"} 2' metrics &&
        grep -q -x 'watch_ended_total{reason="unauthorized"} 3' metrics && return 0
    grep watch_ended metrics
    return 1
}
tap "the metrics say why" reasons
tap "the server stops" stop
tap_end
