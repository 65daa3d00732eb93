#!/bin/sh
# Nothing stays behind in a namespace that goes while others write into it.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
spaces=/api/v1/namespaces

# write_into NAMESPACE WRITER: creates until that is refused; what it was told last is in a file.
write_into() {
    write_n=0
    while write_n=$((write_n + 1)); do
        write_code=$(admin "$spaces/$1/configmaps" -o "write.$2" -w '%{http_code}' \
            -H 'Content-Type: application/json' -d "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",
            \"metadata\":{\"name\":\"c-$2-$write_n\"}}")
        [ "$write_code" = 201 ] || break
    done
    echo "$write_code" >"code.$2"
}
has_some() { admin "$spaces/$1/configmaps" | grep -q '"name": *"c-4-2"'; }
is_gone() { [ "$(admin "$spaces/$1" -o /dev/null -w '%{http_code}')" = 404 ]; }
# A round: four write, the namespace goes, and so does all that they have written.
round() {
    post $spaces Namespace "\"metadata\":{\"name\":\"$1\"}" || return 1
    writers=
    for writer in 1 2 3 4; do
        write_into "$1" $writer &
        writers="$writers $!"
    done
    until_true has_some "$1" || return 1
    admin "$spaces/$1" -X DELETE >/dev/null
    # shellcheck disable=SC2086 # a list of processes
    wait $writers
    grep -v -x '403\|404' code.1 code.2 code.3 code.4 && return 1
    until_true is_gone "$1" || return 1
    admin "/api/v1/configmaps?fieldSelector=metadata.namespace=$1" >left
    ! grep -q '"name": *"c-' left && return 0
    cat left
    return 1
}

tap "a server starts" start
for i in 1 2 3 4 5; do tap "round $i" round "round-$i"; done

# stays NAMESPACE: is not deleted, in earnest or for a trial.
stays() {
    for query in '' '?dryRun=All' '?propagationPolicy=Foreground'; do
        admin "$spaces/$1$query" -X DELETE -A test >stays.out
        grep -F "namespaces \\\"$1\\\" is forbidden: this namespace may not" stays.out >/dev/null ||
            { cat stays.out; return 1; }
    done
    admin "$spaces/$1" -A test | grep -q '"phase":"Active"'
}
for space in default kube-system kube-public; do tap "$space stays" stays $space; done
tap "the server stops" stop
tap_end
