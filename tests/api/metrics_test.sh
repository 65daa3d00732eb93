#!/bin/sh
# /metrics and the access log, as an operator meets them.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"

scrape() { admin /metrics >metrics; }
# shows LINE: a scrape has this line.
shows() {
    scrape && grep -q -x -F -e "$1" metrics && return 0
    echo "no line: $1"
    grep -F -e "${1%%[\{ ]*}" metrics
    return 1
}
# counts NAME: the value of a metric without labels, or with those given.
counts() {
    scrape
    awk -v name="$1" 'substr($0, 1, length(name) + 1) == name " " { print $NF }' metrics
}
more_than() { [ "$(counts "$1")" -gt "$2" ]; }
resource() {
    echo "verb=\"$1\",group=\"\",version=\"v1\",resource=\"configmaps\",subresource=\"\""
}

tap "a server starts" start --log-level info

# ---- who may ----

status_of() {
    status_of_want=$1
    shift
    [ "$("$@" -o body -w '%{http_code}')" = "$status_of_want" ] && return 0
    cat body
    return 1
}
token=$("$vedette" token create --data data --user ann)
tap "nobody may not" status_of 401 ask /metrics
tap "a user without the right may not" status_of 403 as "$token" /metrics
tap "and is told of it" grep -q -F 'User \"ann\" cannot get path \"/metrics\"' body
role='"metadata":{"name":"scraper"},"rules":[{"nonResourceURLs":["/metrics"],"verbs":["get"]}]'
binding='"metadata":{"name":"scraper"},"subjects":[{"kind":"User","name":"ann",
 "apiGroup":"rbac.authorization.k8s.io"}],"roleRef":{"kind":"ClusterRole","name":"scraper",
 "apiGroup":"rbac.authorization.k8s.io"}'
rbac=/apis/rbac.authorization.k8s.io/v1
tap "a role is made" post $rbac/clusterroles ClusterRole "$role"
tap "and bound" post $rbac/clusterrolebindings ClusterRoleBinding "$binding"
tap "then the user may" until_true status_of 200 as "$token" /metrics

# ---- the text ----

plain() {
    admin /metrics -D head >metrics && grep -q -i '^content-type: text/plain; version=0.0.4' head
}
tap "it is Prometheus' text" plain
# A line is a comment, or a name with labels and a number; each name has one HELP and one TYPE.
well_formed() {
    ! grep -v -E \
        '^(# (HELP|TYPE) [a-z_]+ .*|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)$' \
        metrics && [ -z "$(awk '/^# TYPE/ { print $3 }' metrics | uniq -d)" ]
}
tap "every line is well formed" well_formed
if command -v promtool >/dev/null; then
    tap "promtool reads it" promtool check metrics <./metrics
fi

# ---- requests ----

tap "a configmap is made" configmap a
tap "by its protocol" grep -q '^http_requests_total{protocol="HTTP/2.0"} [1-9]' metrics
tap "writes are counted" shows "apiserver_request_total{$(resource POST),code=\"201\"} 1"
tap "and timed" shows "apiserver_request_duration_seconds_count{$(resource POST)} 1"
missing() { status_of 404 admin /api/v1/namespaces/default/configmaps/none; }
tap "what is not there" missing
tap "is counted by its code" shows "apiserver_request_total{$(resource GET),code=\"404\"} 1"
made_up() {
    for n in 1 2 3; do
        admin "/apis/made.up$n/v1/things$n" >/dev/null
        admin "/api/v1/namespaces/default/configmaps/a/sub$n" >/dev/null
    done
    scrape && ! grep -e 'made.up' -e 'things' -e 'sub[123]' metrics
}
tap "clients cannot make labels up" made_up

# ---- watches ----

newest() { counts store_revision; }
path="$https/api/v1/namespaces/default/configmaps?watch=1"
as_admin="--cert data/pki/admin.crt --key data/pki/admin.key"
revision=$(newest)
# shellcheck disable=SC2086 # options
watch events $as_admin "$path&resourceVersion=$revision"
running="apiserver_longrunning_requests{$(resource WATCH)}"
tap "an open watch is seen" until_true shows "$running 1"
tap "as one that is synced" until_true sh -c \
    "curl -sS --cacert data/pki/ca.crt $as_admin $https/metrics |
        awk '/^watch_watchers.*synced/ && !/unsynced/ { n += \$NF } END { exit n != 1 }'"
tap "it has resumed" shows 'watch_resume_total{result="ok"} 1'
tap "an object" configmap b
tap "comes" until_true grep -q '"name":"b"' events
tap "is counted as an event" until_true shows \
    'apiserver_watch_events_total{group="",version="v1",resource="configmaps"} 1'
tap "its way is timed" until_true shows 'watch_delivery_latency_seconds_count 1'
tap "nobody is behind" until_true sh -c \
    "curl -sS --cacert data/pki/ca.crt $as_admin $https/metrics |
        awk '/^watch_lag_revisions/ { n++; lag += \$NF } END { exit n == 0 || lag != 0 }'"
# shellcheck disable=SC2086 # options
watch ahead $as_admin "$path&resourceVersion=$(($(newest) + 1000))"
tap "a cursor in the future" until_true shows 'watch_resume_total{result="future"} 1'
tap "waits" until_true sh -c "curl -sS --cacert data/pki/ca.crt $as_admin $https/metrics |
        awk '/^watch_watchers.*ahead/ { n += \$NF } END { exit n != 1 }'"
# shellcheck disable=SC2086 # a list
kill $streams
tap "watches that were left are gone" until_true shows "$running 0"
tap "with their reason" shows 'watch_ended_total{reason="gone"} 2'

# ---- the store and the process ----

moved() {
    moved_before=$(counts store_commits_total)
    configmap c && [ "$(counts store_commits_total)" -eq $((moved_before + 1)) ]
}
tap "commits are counted" moved
# For its only client the loop waits for the disk itself.
alone() {
    alone_n=0
    while [ $alone_n -lt 40 ]; do
        alone_n=$((alone_n + 1))
        admin /api/v1/namespaces/default/configmaps/c -X PATCH -o /dev/null \
            -H 'Content-Type: application/merge-patch+json' -d "{\"data\":{\"n\":\"$alone_n\"}}"
    done
    more_than store_groups_by_proposer_total 0
}
tap "so are those that a loop has synced" alone
for name in store_revision store_objects store_window_events store_tail_events \
    store_groups_total store_file_bytes process_resident_memory_bytes; do
    tap "$name" more_than $name 0
done
replaced() {
    admin /api/v1/namespaces/default/configmaps/c -X PATCH -o /dev/null \
        -H 'Content-Type: application/merge-patch+json' -d '{"data":{"a":"b"}}'
    more_than store_tail_bytes 0
}
tap "store_tail_bytes, once a version was replaced" replaced
for name in store_read_only store_full store_damaged_versions; do tap "$name" shows "$name 0"; done
tap "store_refused_total" sh -c "! [ -z \"$(counts store_refused_total)\" ]"
tap "what runs" grep -q '^vedette_build_info{version="[0-9.]*",compiler="[^"]*"} 1$' metrics

# ---- the access log ----

logged() { grep -q -E -e "msg=request $1\$" err; }
end='duration_us=[0-9]+ bytes=[0-9]+ protocol=HTTP/2.0 client=127[.]0[.]0[.]1 user_agent=[^ ]+'
admin_name=$(grep -o 'user=[^ ]* verb=create' err | head -n 1 | sed 's/ .*//')
tap "the administrator has a name" [ -n "$admin_name" ]
tap "a write" until_true logged \
    "$admin_name verb=create resource=configmaps namespace=default status=201 $end"
tap "a read" until_true logged \
    "$admin_name verb=get resource=configmaps namespace=default name=none status=404 $end"
tap "a path" until_true logged "user=ann verb=get path=/metrics status=403 $end"
tap "a stranger" until_true logged "method=GET path=/metrics status=401 $end"
tap "a watch, at its end" until_true logged \
    "$admin_name verb=watch resource=configmaps namespace=default status=200 $end"
tap "no token is logged" sh -c "! grep -q -F '$token' err"
tap "the server stops" stop
tap_end
