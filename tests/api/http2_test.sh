#!/bin/sh
# HTTP/2, as curl, nghttp, h2load and node speak it: over TLS and, by prior knowledge, without.
set -u
script=$(cd "$(dirname "$0")" && pwd)/http2.mjs
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
for program in h2load nghttp node; do
    command -v $program >/dev/null || {
        echo "ok 1 # SKIP no $program here"
        echo "1..1"
        exit 0
    }
done

listen=127.0.0.1:0 # see server.sh
http=
start_both() {
    start "$@" && http=$(grep '^ready ' out | grep -o 'http://[^ ]*') &&
        [ -n "$http" ]
}
tap "a server starts" start_both

# ---- which protocol ----

# speaks VERSION URL ARGUMENT...: what curl says was spoken.
speaks() {
    speaks_want=$1
    shift
    speaks_got=$(curl -sS -m 60 -o /dev/null -w '%{http_version} %{http_code}' \
        --cacert data/pki/ca.crt "$@") && [ "$speaks_got" = "$speaks_want 200" ] && return 0
    echo "got $speaks_got"
    return 1
}
tap "TLS: HTTP/2 where the client can" speaks 2 "$https/readyz"
tap "TLS: HTTP/1.1 where it wants that" speaks 1.1 --http1.1 "$https/readyz"
tap "plain: HTTP/1.1" speaks 1.1 "$http/readyz"
tap "plain: HTTP/2 by prior knowledge" speaks 2 --http2-prior-knowledge "$http/readyz"
tap "plain: no upgrade, and no harm" speaks 1.1 --http2 "$http/readyz"
tap "the log says which" \
    until_true grep -q 'path=/readyz status=200.* protocol=HTTP/2.0 client=' err
tap "for both" grep -q 'path=/readyz status=200.* protocol=HTTP/1.1 client=' err

# ---- requests ----

gets_nghttp() { nghttp "$@" "$http/readyz" >nghttp.out 2>&1 && grep -q -x ok nghttp.out; }
tap "nghttp" gets_nghttp
tap "nghttp with small windows" gets_nghttp -w 4 -W 4
tap "nghttp with padding and a body that goes on" gets_nghttp -b 100 --continuation
printf x >body
token=$("$vedette" token create --data data --user somebody)
# waits_with TEXT ARGUMENT...: what nghttp, whose body waits to be asked for, is told first.
waits_with() {
    waits_text=$1
    shift
    nghttp -v -d body --expect-continue "$@" "$http/readyz" >nghttp.out 2>&1
    [ "$(grep -m 1 -o ':status: [0-9]*' nghttp.out)" = ":status: $waits_text" ]
}
tap "a body that the client waits with" waits_with 100 -H "authorization: Bearer $token"
tap "of somebody who is not known is not asked for" waits_with 401
head -c 5000000 /dev/zero >large
# too_large ARGUMENT...: curl finds out why, although it is still sending.
too_large() {
    too_large_got=$(admin /api/v1/namespaces/default/configmaps -w '%{http_version} %{http_code}' \
        -H 'Content-Type: application/json' -o large.out "$@") &&
        [ "$too_large_got" = "2 413" ] && grep -q RequestEntityTooLarge large.out && return 0
    echo "got $too_large_got"
    return 1
}
tap "a body that is too large" too_large --data-binary @large
tap "one that the client waits with" too_large -H 'Expect: 100-continue' --data-binary @large
tap "one of a length that is not known" too_large -X POST -T - <large
answers_all() {
    h2load "$@" >h2load.out 2>&1 && grep -q ' 0 failed, 0 errored, 0 timeout' h2load.out &&
        return 0
    cat h2load.out
    return 1
}
tap "h2load: many requests at a time" answers_all -n 20000 -c 10 -m 100 "$http/readyz"
tap "h2load: over TLS" answers_all -n 10000 -c 10 -m 100 "$https/readyz"

# ---- node ----

browse() { timeout 110 node "$script" "$https" data "$1"; }
tap "all verbs" browse verbs
tap "a thousand watches over ten connections" browse watches
tap "a large list through small windows" browse windows
tap "a storm of resets" browse storm
tap "the server is still there" speaks 2 "$https/readyz"

# ---- floods, with somebody else being served ----

# flood FRAME: in hexadecimal; many of it behind the preface, to the plain door.
flood() {
    # shellcheck disable=SC2016 # it is JavaScript
    node -e '
        const [port, hex, n] = process.argv.slice(1);
        const socket = require("net").connect(port, "127.0.0.1");
        const frame = Buffer.from(hex, "hex");
        let got = Buffer.alloc(0);
        socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        socket.write(Buffer.from("000000040000000000", "hex"));
        for (let i = 0; i < n; i++) socket.write(frame);
        socket.on("data", (part) => (got = Buffer.concat([got, part])));
        socket.on("error", () => {});
        socket.on("close", () => {
            for (let at = 0; at + 17 <= got.length; at += 9 + got.readUIntBE(at, 3))
                if (got[at + 3] === 7 && got[at + 16] === 11) process.exit(0);
            console.log(`no GOAWAY with ENHANCE_YOUR_CALM in ${got.length} bytes`);
            process.exit(1);
        });
        setTimeout(() => process.exit(1), 60000);
    ' "${http##*:}" "$1" 5000
}
tap "a flood of pings is told to calm down" flood 0000080600000000003132333435363738
tap "a flood of settings" flood 000000040000000000
tap "others are served" speaks 2 "$https/readyz"

# ---- the end ----

drains() {
    node "$script" "$https" data drain >drain.out 2>&1 &
    drains_pid=$!
    streams="$streams $drains_pid"
    until_true grep -q watching drain.out || { cat drain.out; return 1; }
    # In flight while the server is told: each is answered.
    h2load -n 100000 -c 2 -m 20 "$http/readyz" >h2load.out 2>&1 &
    drains_load=$!
    streams="$streams $drains_load"
    stop && wait $drains_pid && wait $drains_load && return 0
    cat drain.out h2load.out
    return 1
}
tap "a server that stops lets watches end in order" drains
tap "a server without HTTP/2 starts" start_both --http2-streams 0
tap "TLS: HTTP/1.1 only" speaks 1.1 "$https/readyz"
refuses_preface() { ! speaks 2 --http2-prior-knowledge "$http/readyz" 2>/dev/null; }
tap "plain: HTTP/1.1 only" refuses_preface
tap "the server stops" stop
tap_end
