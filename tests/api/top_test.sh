#!/bin/sh
# vedette top: who uses the server, for people and for programs.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"

start --access-log off || exit 1
token=$("$vedette" token create --data data --user ann --groups system:masters)
path=/api/v1/namespaces/default/configmaps
watch stream -H "Authorization: Bearer $token" "$https$path?watch=1"
top() { "$vedette" top --data data --interval 20ms "$@"; }
# shows USER PATTERN: the line of a user.
shows() { top | grep -E -q "^$1 +$2\$"; }

tap "it has a heading" sh -c \
    "'$vedette' top --data data --interval 20ms |
        grep -q -x 'USER  *IN FLIGHT  *REQUESTS/S  *WATCHES  *QUEUED  *REFUSED'"
tap "a user's watch is seen" until_true shows ann '0 +[0-9.]+ +1 +[0-9.]+ (B|KiB) +0'
tap "who asks is there himself" shows admin '1 +[0-9.]+ +0 .* 0'
tap "those who hold more come first" sh -c "'$vedette' top --data data --interval 20ms |
    awk 'NR == 2 { exit \$1 != \"ann\" }'"
json() {
    top --output json >usage.json && node -e '
        const { users, more } = JSON.parse(require("fs").readFileSync("usage.json"));
        const ann = users.find(({ user }) => user === "ann");
        process.exit(ann.watches === 1 && ann.requestsTotal >= 1 && more === 0 ? 0 : 1);'
}
tap "programs get JSON" json

# One that asks all the time has a rate.
rate() {
    for _ in 1 2 3 4 5 6 7 8; do as "$token" "$path" -o /dev/null; done &
    "$vedette" top --data data --interval 300ms |
        awk '$1 == "ann" && $3 > 0 { found = 1 } END { exit !found }'
    rate_status=$?
    wait $!
    return $rate_status
}
tap "requests have a rate" until_true rate
three_tables() { [ "$(grep -c '^USER' tables)" -ge 3 ]; }
again() {
    timeout 20 "$vedette" top --data data --interval 20ms --watch >tables &
    top_id=$!
    until_true three_tables
    again_status=$?
    kill "$top_id"
    wait "$top_id" 2>/dev/null
    return $again_status
}
tap "it goes on if it is told so" again

# On a terminal a table is drawn over the last one, on a screen of its own, which an interrupt gives
# back.
cat >redraw.py <<'EOF'
import os, pty, select, signal, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], [sys.argv[1], "top", "--data", "data", "--interval", "20ms", "--watch"])
seen, deadline, sent = b"", time.time() + 60, False
while time.time() < deadline:
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
    if not sent and seen.count(b"IN FLIGHT") >= 3:
        os.write(terminal, b"\x03")  # Ctrl-C
        sent = True
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
good = (status == 0 and seen.startswith(b"\x1b[?1049h\x1b[?25l")
        and seen.count(b"\x1b[H") >= 3 and seen.endswith(b"\x1b[?25h\x1b[?1049l")
        and b"Ctrl-C ends it" in seen)
if not good:
    print(status, seen)
sys.exit(0 if good else 1)
EOF
if python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    tap "a terminal is drawn over, and given back" python3 redraw.py "$vedette"
fi

other=$("$vedette" token create --data data --user bob)
code_of() { [ "$(as "$1" /debug/usage -o body -w '%{http_code}')" = "$2" ]; }
tap "not everybody may ask" code_of "$other" 403
kill "$stream"
gone() { ! top | grep -E -q '^ann +[0-9]+ +[0-9.]+ +1 '; }
tap "a watch that is gone is gone" until_true gone
tap "the server stops" stop

without_server() {
    top >top.out 2>top.err && return 1
    grep -q '^vedette: no server answers at https://.*: is it running on data?$' top.err && return 0
    cat top.err
    return 1
}
tap "without a server it says so" without_server
without_folder() {
    "$vedette" top --data nowhere 2>top.err && return 1
    grep -q nowhere top.err
}
tap "without a folder, too" without_folder
tap_end
