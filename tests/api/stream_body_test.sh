#!/bin/sh
# Request bodies that are read as they arrive, through a process and back, as curl and node send
# them: over HTTP/1.1 and HTTP/2, plain and through TLS. STREAM_MB is the length of the large ones,
# which is a multiple of what the memory may grow by.
set -u
script=$(cd "$(dirname "$0")" && pwd)/stream_body.mjs
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
build=$(cd "$build" && pwd)
program=$build/tests/body_server
mb=${STREAM_MB:-64}
cd "$scratch" || exit 1
server=
trap 'kill -9 $server 2>/dev/null; rm -rf "$scratch"' EXIT
command -v node >/dev/null || {
    echo "ok 1 # SKIP no node here"
    echo "1..1"
    exit 0
}

is_up() { grep -q '^ready ' out || ! kill -0 "$server" 2>/dev/null; }
start() {
    : >out
    "$program" >out 2>err &
    server=$!
    until_true is_up
    read -r _ http https ca <out
    [ -n "$ca" ] && return 0
    cat out err
    return 1
}
tap "a server starts" start

# The most memory that the server has had, in KiB; of a sanitizer's it says nothing.
memory() {
    grep -q 'sanitize=' "$build/build.ninja" && echo 0 && return
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$server/status"
}

head -c "${mb}M" /dev/urandom >large
head -c 3M /dev/urandom >small

# echoes FILE URL ARGUMENT...: what curl sends comes back.
echoes() {
    echoes_file=$1
    shift
    curl -sS -m 300 --cacert "$ca" -w '%{stderr}%{http_code} %{http_version}\n' "$@" 2>echoes.err |
        cmp - "$echoes_file" && grep -q '^200 ' echoes.err && return 0
    cat echoes.err
    return 1
}

tap "a first body, small" echoes small -T small "$http/up/cat"
tap "and through TLS" echoes small -T small "$https/up/cat"
before=$(memory)

tap "HTTP/1.1, with a length: $mb MB" echoes large -T large "$http/up/cat"
chunked() { echoes "$@" -X POST -T - <large; }
tap "HTTP/1.1, chunked" chunked large "$http/up/cat"
tap "HTTP/2" echoes large --http2-prior-knowledge -T large "$http/up/cat"
tap "HTTP/1.1 through TLS" echoes large --http1.1 -T large "$https/up/cat"
tap "HTTP/2 through TLS" echoes large --http2 -T large "$https/up/cat"
node_case() { silent node "$script" "$1" "$ca" "$2" "$mb"; }
tap "node, HTTP/2 through TLS" node_case "$https" large2
tap "node, HTTP/1.1" node_case "$http" large1

# What was streamed left nothing behind: read buffers, pipes and windows are all there is.
is_flat() {
    after=$(memory)
    echo "$before KiB before, $after KiB after"
    [ "$after" -le $((before + 16384)) ]
}
tap "memory stays flat" is_flat

tap "slow readers" node_case "$https" slowReader
tap "slow writers" node_case "$https" slowWriter
tap "fast streams beside a slow one" node_case "$https" several2
tap "a connection is kept over a hundred bodies" node_case "$http" keepAlive
tap "lengths and framing that lie" node_case "$http" lies
tap "clients that go in the middle" node_case "$http" cuts
tap "memory is still flat" is_flat

# answered STATUS URL ARGUMENT...: curl sends a large body, and the answer gets through.
answered() {
    answered_want=$1
    shift
    answered_got=$(curl -sS -m 60 --cacert "$ca" -o early.body -w '%{http_code}' "$@" 2>early.err)
    [ "$answered_got" = "$answered_want" ] && return 0
    echo "got $answered_got"
    cat early.err
    return 1
}
for protocol in --http1.1 --http2; do
    tap "an answer without a look at the body ($protocol)" \
        answered 403 "$protocol" -T large "$https/up/refuse"
    tap "an answer in the middle of it ($protocol)" \
        answered 409 "$protocol" -T large "$https/up/first"
done
tap "nothing is sent to who refuses, by a client that asks" \
    answered 403 --http1.1 -H 'Expect: 100-continue' -T large "$https/up/refuse"

# reused URL ARGUMENT...: two bodies over one connection.
reused() {
    reused_url=$1
    shift
    curl -sS -m 60 --cacert "$ca" "$@" -w '%{num_connects} ' -T small -o reused.1 "$reused_url" \
        -T small -o reused.2 "$reused_url" >reused.n && cmp reused.1 small && cmp reused.2 small &&
        [ "$(cat reused.n)" = "1 0 " ] && return 0
    cat reused.n
    return 1
}
tap "a connection is kept, HTTP/1.1" reused "$http/up/cat"
tap "a connection is kept, HTTP/2" reused "$https/up/cat" --http2

stop() {
    kill "$server"
    wait "$server"
    stop_status=$?
    server=
    cat err
    [ "$stop_status" -eq 0 ] && [ ! -s err ]
}
tap "the server stops, with nothing left" stop
tap_end
