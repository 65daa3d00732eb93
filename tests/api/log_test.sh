#!/bin/sh
# The server's log: short lines for people on a terminal, one line for each request elsewhere.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
unset NO_COLOR
TZ=UTC
export TZ
escape=$(printf '\033')

# ---- not on a terminal ----

tap "a server starts" start
tap "requests are logged in logfmt" until_true grep -q '^time=.* level=info msg=ready ' err
admin /api/v1/namespaces -o /dev/null -A 'an agent'
named='user=admin verb=list resource=namespaces .*client=127.0.0.1 user_agent="an agent"$'
tap "with the client's address and what it calls itself" until_true grep -q "$named" err
ask / -o /dev/null -A stranger/1
strange='status=401 .*client=127.0.0.1 user_agent=stranger/1$'
tap "those of strangers too" until_true grep -q "$strange" err
long=$(printf '%0400d' 0)
ask / -o /dev/null -A "$long"
cut() { grep -o 'user_agent=0*$' err | awk '{ exit length($0) != 11 + 256 }'; }
tap "a long name is cut" until_true cut

# A watch has forgotten its request when its client goes without a word.
watch stream --cert data/pki/admin.crt --key data/pki/admin.key -A watcher/2 \
    "$https/api/v1/namespaces?watch=1"
tap "a watch runs" until_true grep -q ADDED stream
kill -9 "$stream"
tap "its line has both" until_true grep -q 'verb=watch .*client=127.0.0.1 user_agent=watcher/2$' err
stop
tap "the access log can be closed" start --access-log off
admin /api/v1/namespaces -o /dev/null
stop
tap "then it has no requests" sh -c '! grep -q msg=request err && grep -q msg=stopped err'
tap "people's lines can be had in a file" start --log-format text --access-log on
admin /api/v1/namespaces -o /dev/null
stop
text() {
    grep -q '^[0-9:]\{8\} ready  urls=' err && grep -q '^[0-9:]\{8\} request  user=admin' err &&
        grep -q '^[0-9:]\{8\} stopped$' err && ! grep -q "$escape" err && return 0
    cat err
    return 1
}
tap "without colour, and with requests if they are wanted" text

# ---- on a terminal ----

# on_terminal OPTION...: a server with a terminal for stdout and stderr starts, is asked and stops;
# what was to be seen is in `seen`, its exit status in $seen_status. $TERM and NO_COLOR are taken.
on_terminal() {
    : >seen
    on_terminal_line="--data data --listen off --tls-listen 127.0.0.1:0 $*"
    script -q -e -f -c "exec '$vedette' serve $on_terminal_line" \
        seen </dev/null >/dev/null 2>&1 &
    server=$!
    until_true grep -q 'ready.*revision=' seen || return 1
    https=$(sed -n 's/^ready \(https:[^ ]*\).*/\1/p' seen | tr -d '\r')
    admin /api/v1/namespaces -o /dev/null || return 1
    kill "$(cat data/lock)"
    wait "$server"
    seen_status=$?
    server=
    tr -d '\r' <seen | grep -v '^Script ' >seen.lines
    return "$seen_status"
}
# lines: the log's lines, without colour.
lines() { sed "s/$escape\[[0-9;]*m//g" seen.lines | grep '^[0-9][0-9]:'; }
short() {
    lines >short.lines
    [ "$(wc -l <short.lines)" -eq 3 ] && sed -n 1p short.lines | grep -q ' ready  urls=' &&
        sed -n 2p short.lines | grep -q ' stopping  signal=SIGTERM$' &&
        sed -n 3p short.lines | grep -q ' stopped$' && return 0
    cat seen.lines
    return 1
}
coloured() { grep -q "$escape\[" seen.lines; }
if script -q -e -c true /dev/null </dev/null >/dev/null 2>&1; then
    TERM=xterm
    export TERM
    tap "on a terminal" on_terminal
    tap "there is a line for the start and two for the stop, and none for requests" short
    tap "in colour" coloured
    tap "with the access log" on_terminal --access-log on
    tap "there are requests" sh -c 'grep -q "user=admin verb=list resource=namespaces" seen.lines'
    plain() { NO_COLOR=1 on_terminal && short && ! coloured; }
    tap "NO_COLOR turns colour off" plain
    dumb() { TERM=dumb on_terminal && short && ! coloured; }
    tap "a dumb terminal gets none" dumb
    structured() {
        on_terminal --log-format logfmt && grep -q 'level=info msg=stopped$' seen.lines
    }
    tap "what is asked for is given" structured
    problem() {
        chmod o+w data && on_terminal
        problem_status=$?
        chmod o-w data
        [ "$problem_status" -eq 0 ] &&
            lines | grep -q ' warning: everybody may write into the data folder'
    }
    tap "a problem has a line" problem
fi
tap_end
