#!/bin/sh
# A watch outlives its server: after kill -9 it goes on from its last resourceVersion, without a
# list, and sees each change that it missed once and in order. A version that the window has passed
# gets one ERROR 410.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
command -v node >/dev/null || skip_all "no node here"

configmaps=/api/v1/namespaces/default/configmaps

# call METHOD PATH [BODY]: the answer's body; fails when the server refuses.
call() {
    curl -sS -f -m 60 -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
        -X "$1" ${3:+-d "$3"} "$http$2"
}

# object NAME VALUE: a ConfigMap's body.
object() {
    printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"},"data":{"v":"%s"}}' \
        "$1" "$2"
}
put() { call PUT "$configmaps/$1" "$(object "$1" "$2")" >/dev/null; }
post() { call POST "$configmaps" "$(object "$1" "$2")" >/dev/null; }

# list_version: the resourceVersion of now; the list's own comes before those of its items.
list_version() {
    call GET "$configmaps?limit=1" | grep -o '"resourceVersion": *"[0-9]*"' | head -n 1 |
        tr -d -c 0-9
}

# watch FILE VERSION [QUERY]: a stream into the file, until the stream ends.
watch() {
    node "$here/watch_client.mjs" \
        "$http$configmaps?watch=1&resourceVersion=$2${3:-}" "$token" >"$1" 2>&1 &
}
has() { grep -q -s -F -e "$2" "$1"; }
ended() { has "$1" '"type":"END"'; }

# changes FILE: what was seen, as words: TYPE/name=value.
changes() {
    sed -n 's/.*"type":"\([A-Z]*\)","name":"\([^"]*\)".*"value":"\([^"]*\)".*/\1\/\2=\3/p' "$1" |
        tr '\n' ' '
}

# saw FILE TEXT: these changes and no others.
saw() {
    saw_got=$(changes "$1")
    [ "$saw_got" = "$2 " ] && return 0
    echo "got:    $saw_got"
    echo "wanted: $2 "
    cat "$1"
    return 1
}
last_version() { sed -n 's/.*"version":"\([0-9]*\)".*/\1/p' "$1" | tail -n 1; }

# rising FILE...: no version twice, and none out of order.
rising() {
    sed -n 's/.*"version":"\([0-9]*\)".*/\1/p' "$@" >versions
    [ -s versions ] && sort -n -u versions | cmp - versions
}

make_token() {
    token=$("$vedette" token create --data data --user tester --groups system:masters) ||
        return 1
    [ -n "$token" ]
}

# ---- the stream, cut by a kill ----

first_part() {
    post a 0 && post b 0 || return 1
    watch one "$(list_version)"
    until_true has one '"type":"OPEN"' || return 1
    put a 1 && put b 1 && put a 2 || return 1
    until_true has one '"value":"2"' || return 1
    saw one 'MODIFIED/a=1 MODIFIED/b=1 MODIFIED/a=2'
}
cut() {
    kill_server
    until_true ended one
}

# missed: changes that the watch was not there for, before and after a second kill.
missed() {
    start_server || return 1
    put a 3 && post c 0 && call DELETE "$configmaps/b" >/dev/null || return 1
    kill_server
    start_server || return 1
    put c 1
}
missing_events() {
    watch two "$(last_version one)"
    until_true has two '"type":"OPEN"' || return 1
    put a 4 || return 1
    until_true has two '"value":"4"' || return 1
    saw two 'MODIFIED/a=3 ADDED/c=0 DELETED/b=1 MODIFIED/c=1 MODIFIED/a=4'
}

# from_the_start: the whole history again is the two parts, one after the other.
from_the_start() {
    first=$(sed -n 's/.*"version":"\([0-9]*\)".*/\1/p' one | head -n 1)
    watch all "$((first - 1))" '&timeoutSeconds=1'
    until_true ended all || return 1
    saw all "$(changes one)$(changes two | sed 's/ $//')"
}
no_relist() {
    watch again "$(last_version two)" '&timeoutSeconds=1'
    until_true ended again && [ -z "$(changes again)" ]
}

# ---- too old, and not yet ----

# passes: with a window of few events, the first version is soon behind it. The store compacts
# while it is written to, so the writes go on until the floor has moved.
is_passed() {
    put c "$(date +%N)" || return 1
    floor=$(call GET /metrics | sed -n 's/^store_floor_revision //p')
    [ "${floor:-0}" -ge "$first" ]
}
passes() {
    kill_server
    start_server --window-events 10 --tail-events 10 && until_true is_passed
}
one_410() {
    watch old "$first" '&timeoutSeconds=10'
    until_true ended old || return 1
    printf '%s\n' '{"type":"OPEN","status":200}' \
        '{"type":"ERROR","code":410,"reason":"Expired"}' '{"type":"END","status":200}' |
        diff - old
}
list_again() {
    watch fresh "$(list_version)"
    until_true has fresh '"type":"OPEN"' || return 1
    put a 99 || return 1
    until_true has fresh '"value":"99"' && saw fresh 'MODIFIED/a=99'
}
invalid() {
    curl -sS -m 60 -o body -w '%{http_code}' -H "Authorization: Bearer $token" \
        "$http$configmaps?watch=1&resourceVersion=abc" >code
    grep -q -x 400 code && grep -q '"status":"Failure"' body && return 0
    cat code body
    return 1
}

tap "a server starts" start_server
tap "a token" make_token
tap "a watch sees the changes" first_part
tap "it ends when the server is killed" cut
tap "the server starts again, twice, and things change" missed
tap "the watch goes on: what it missed, and what follows" missing_events
tap "in order, nothing twice" rising one two
tap "a replay from the start is the same" from_the_start
tap "a watch that is up to date gets nothing" no_relist
tap "the window passes the first version" passes
tap "it gets one 410, and the end" one_410
tap "a list and a watch go on from there" list_again
tap "a version that is none" invalid
tap_end
