#!/bin/sh
# Hosted repositories under load: many clones at once, a large repository with flat memory, clients
# that stop reading or leave, and a server that is killed while it is cloned from.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git.sh
. "$(dirname "$0")/git.sh"

resident_kb() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status"; }

# all_end PID...: they all succeed.
all_end() {
    for all_pid; do
        wait "$all_pid" || return 1
    done
}

clone_fifty() {
    fifty=
    for i in $(seq 50); do
        git clone -q "$as_admin/default/small.git" "fifty/$i" 2>"fifty.$i.err" &
        fifty="$fifty $!"
    done
    # shellcheck disable=SC2086 # a list of processes
    all_end $fifty || { cat fifty.*.err; return 1; }
    [ "$(cat fifty/*/file3.txt | wc -l)" = 50 ]
}

# A file that cannot be compressed, so that all of it travels.
make_large() {
    repository large && git init -q -b main work.large || return 1
    for i in 1 2 3 4; do
        head -c 16777216 /dev/urandom >"work.large/part$i.bin" || return 1
    done
    # Nobody tries to make it smaller, neither here nor where it goes: that would take the time.
    git -C work.large config core.compression 0 &&
        git -C work.large config core.bigFileThreshold 1m && git -C work.large add . &&
        git -C work.large commit -q -m large && until_true condition_is large Ready True &&
        git -C work.large config pack.compression 0 && into_folder large main
}

clone_large() {
    before=$(resident_kb)
    git clone -q --no-checkout "$as_admin/default/large.git" large.clone || return 1
    after=$(resident_kb)
    [ "$(du -sk large.clone | cut -f 1)" -gt 64000 ] || return 1
    echo "resident memory: $before kB before, $after kB after"
    [ $((after - before)) -lt 16384 ]
}

push_large() {
    git -C work.large commit -q --allow-empty -m more && repository uploaded || return 1
    before=$(resident_kb)
    git -C work.large push -q "$as_admin/default/uploaded.git" main ||
        return 1
    after=$(resident_kb)
    echo "resident memory: $before kB before, $after kB after"
    [ $((after - before)) -lt 16384 ]
}

# refused_early URL: a push that is too large ends with git's reason, however much is left of it.
refused_early() {
    refuses 'pack exceeds maximum allowed size' timeout 60 git -C work.large push "$1" main &&
        [ "$refuses_status" -ne 124 ]
}

# stalled: a client that asks for all of the large repository and reads nothing of it; its process
# in $stalled. It speaks protocol version 0 with what git would send.
stalled() {
    head=$(git -C work.large rev-parse HEAD~1)
    line="want $head no-progress ofs-delta"
    printf '%04x%s\n00000009done\n' $((${#line} + 5)) "$line" >stalled.request
    mkfifo stalled.pipe
    curl -sS -m 120 -o stalled.pipe -u "x:$admin_token" --limit-rate 1 \
        -H 'Content-Type: application/x-git-upload-pack-request' \
        --data-binary @stalled.request "$http/default/large.git/git-upload-pack" 2>stalled.err &
    stalled=$!
    until_true is_serving
}
is_serving() { [ -n "$(git_processes)" ]; }

stall() {
    before=$(resident_kb)
    stalled || return 1
    curl -sS -f -m 20 "$http/livez" >/dev/null || return 1
    after=$(resident_kb)
    [ $((after - before)) -lt 16384 ] || return 1
    kill -9 "$stalled"
    wait "$stalled" 2>/dev/null
    until_true no_git_left
}

killed_while_cloning() {
    git clone -q "$as_admin/default/large.git" killed.clone 2>killed.err &
    cloning=$!
    until_true is_serving || return 1
    children=$(git_processes)
    kill_server
    wait "$cloning" && return 1
    # shellcheck disable=SC2086 # a list of processes
    until_true all_gone $children && start_server
}
all_gone() {
    for gone_pid; do
        kill -0 "$gone_pid" 2>/dev/null && return 1
    done
    return 0
}

tap "a server starts" start_server --log-level warn
tap "with users and a small repository" eval 'git_users && repository small && fill small 3'
tap "50 clones at once" clone_fifty
tap "no process is left of them" until_true no_git_left
tap "a repository of 64 MB" make_large
tap "is cloned with flat memory" clone_large
tap "and pushed with flat memory" push_large
tap "a repository that takes little" repository little '{"limits":{"packBytes":100000}}'
tap "refuses a large push early" refused_early "$as_admin/default/little.git"
tap "also over HTTP/2" refused_early "https://x:$admin_token@$https_door/default/little.git"
tap "a client that stops reading costs no memory, and its process goes with it" stall
tap "kill -9 of the server ends the clone and its git processes" killed_while_cloning
tap "afterwards it serves again" git clone -q "$as_admin/default/small.git" again
tap "the server stops in order" eval 'kill "$pid" && wait "$pid"'
tap_end
