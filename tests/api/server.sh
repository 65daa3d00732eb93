# shellcheck shell=sh
# Sourced by tests that ask a real server: starts one in $scratch, with curl as its administrator.
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
cd "$scratch" || exit 1
server=
streams=
# shellcheck disable=SC2086 # a list of processes
trap 'kill -9 $server $streams 2>/dev/null; rm -rf "$scratch"' EXIT

is_up() { grep -q '^ready ' out || ! kill -0 "$server" 2>/dev/null; }

# start OPTION...: a server on a free port, its URL in $https; plain HTTP, if $listen says so, in
# $http.
start() {
    : >out # the word of an earlier server must not be taken for this one's
    "$vedette" serve --data data --listen "${listen:-off}" --tls-listen 127.0.0.1:0 "$@" \
        >out 2>err &
    server=$!
    until_true is_up
    https=$(grep '^ready ' out | grep -o 'https://[^ ]*')
    # shellcheck disable=SC2034 # for the script that sources this
    http=$(grep '^ready ' out | grep -o 'http://[^ ]*')
    [ -n "$https" ] && return 0
    cat out err
    return 1
}

# stop: the server ends well.
stop() {
    kill "$server"
    wait "$server"
    stop_status=$?
    server=
    [ "$stop_status" -eq 0 ] || { cat err; return 1; }
}

# ask PATH ARGUMENT...: as anybody.
ask() {
    ask_path=$1
    shift
    curl -sS -m 60 --cacert data/pki/ca.crt "$@" "$https$ask_path"
}

# admin PATH ARGUMENT...: as the administrator.
admin() { ask "$@" --cert data/pki/admin.crt --key data/pki/admin.key; }

# said STATUS TEXT PATH ARGUMENT...: the administrator's answer has this status, and its head or
# body has the text.
said() {
    said_status=$1 said_text=$2
    shift 2
    admin "$@" -A test -D said.head -o said.body -w '%{http_code}' >said.code
    [ "$(cat said.code)" = "$said_status" ] &&
        cat said.head said.body | grep -qF -e "$said_text" && return 0
    echo "wanted $said_status and: $said_text"
    cat said.head said.body
    return 1
}

# as TOKEN PATH ARGUMENT...
as() {
    as_token=$1
    shift
    ask "$@" -H "Authorization: Bearer $as_token"
}

# post PATH KIND FIELDS: an object, as the administrator; must be created.
post() {
    case $1 in
    /apis/*) post_version=$(echo "$1" | cut -d / -f 3,4) ;;
    *) post_version=v1 ;;
    esac
    post_code=$(admin "$1" -o post.out -w '%{http_code}' -H 'Content-Type: application/json' \
        -d "{\"apiVersion\":\"$post_version\",\"kind\":\"$2\",$3}")
    [ "$post_code" = 201 ] && return 0
    cat post.out
    return 1
}

# watch FILE ARGUMENT...: `ask` in the background, its lines in FILE, its id in $stream.
watch() {
    watch_file=$1
    shift
    : >"$watch_file"
    curl -sS -N -m 120 --cacert data/pki/ca.crt "$@" >"$watch_file" 2>"$watch_file.err" &
    stream=$!
    streams="$streams $stream"
}

# configmap NAME
configmap() {
    post /api/v1/namespaces/default/configmaps ConfigMap "\"metadata\":{\"name\":\"$1\"}"
}
