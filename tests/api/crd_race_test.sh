#!/bin/sh
# Nothing stays behind of a kind whose definition goes while others create objects of it.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
definitions=/apis/apiextensions.k8s.io/v1/customresourcedefinitions

# define PLURAL KIND
define() {
    post $definitions CustomResourceDefinition "\"metadata\":{\"name\":\"$1.example.com\"},
        \"spec\":{\"group\":\"example.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"$1\",
        \"kind\":\"$2\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,
        \"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}"
}
# write_of PLURAL KIND WRITER: creates until that is refused; what it was told last is in a file.
write_of() {
    write_n=0
    while write_n=$((write_n + 1)); do
        write_code=$(admin "/apis/example.com/v1/$1" -o "write.$3" -w '%{http_code}' \
            -H 'Content-Type: application/json' -d "{\"apiVersion\":\"example.com/v1\",
            \"kind\":\"$2\",\"metadata\":{\"name\":\"c-$3-$write_n\"}}")
        [ "$write_code" = 201 ] || break
    done
    echo "$write_code" >"code.$3"
}
has_some() { admin "/apis/example.com/v1/$1" | grep -q '"name": *"c-4-2"'; }
is_gone() { [ "$(admin "$definitions/$1.example.com" -o /dev/null -w '%{http_code}')" = 404 ]; }
# A round: four write, the definition goes, and so does all that they have written: the same
# definition, made anew, has no objects.
round() {
    define "$1" "$2" || return 1
    writers=
    for writer in 1 2 3 4; do
        write_of "$1" "$2" $writer &
        writers="$writers $!"
    done
    until_true has_some "$1" || return 1
    admin "$definitions/$1.example.com" -X DELETE >/dev/null
    # shellcheck disable=SC2086 # a list of processes
    wait $writers
    grep -v -x '405\|404' code.1 code.2 code.3 code.4 && return 1
    until_true is_gone "$1" || return 1
    define "$1" "$2" || return 1
    admin "/apis/example.com/v1/$1" >left
    ! grep -q '"name": *"c-' left && return 0
    cat left
    return 1
}

tap "a server starts" start
for i in 1 2 3 4 5; do tap "round $i" round "things$i" "Thing$i"; done
tap "the server stops" stop
tap_end
