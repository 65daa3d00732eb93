#!/bin/sh
# kill -9 of the server at each step of a push, and of the git processes that work for one: refs and
# objects agree afterwards, and what was pushed is there whole or not at all.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog

# write N: the files of the n-th change: one object that is in all of them, one that comes, one that
# goes.
write() {
    map steady "$1" >catalog/steady.yaml
    rm -f "catalog/n$(($1 - 1)).yaml"
    map "n$1" >"catalog/n$1.yaml"
    commit "change $1"
}

# has N: the objects are those of the n-th change.
has() {
    is "$1" field configmap steady .data.x &&
        is "kube-root-ca.crt n$1 steady" sh -c \
            "timeout 60 '$kubectl' -n shop get configmap -o name | sed 's:.*/::' | xargs" &&
        agree catalog main && is 2 field repository catalog .status.resources
}

is_ready() { g ls-remote -q origin >/dev/null; }

restart() {
    wait "$pid" 2>/dev/null
    start_server >/dev/null && g remote set-url origin "$(url catalog)" && until_true is_ready
}

# dies_at POINT OUTCOME: the server dies at this failpoint of a push; then the push has happened or
# has not, and the next one does.
dies_at() {
    kill_server
    VEDETTE_FAILPOINT=$1:1 start_server >/dev/null || return 1
    until_true is_ready && write $((n + 1)) || return 1
    push origin main && return 1
    until_true is_gone && restart || return 1
    [ "$2" = happened ] && n=$((n + 1))
    has "$n" || return 1
    [ "$2" = happened ] || n=$((n + 1))
    push origin main && has "$n" && ! find data/git -name '*.lock' | grep .
}

# kill_once NAME: pushes, and kills the processes of git with this argument that it sees meanwhile.
kill_once() {
    write $((n + 1)) || return 1
    n=$((n + 1))
    g push origin main >push.out 2>&1 &
    pusher=$!
    while kill -0 "$pusher" 2>/dev/null; do
        for child in $(children_of "$pid"); do
            grep -qz -x -e "$1" "/proc/$child/cmdline" 2>/dev/null &&
                kill -9 "$child" 2>/dev/null && killed=$((killed + 1))
        done
    done
    wait "$pusher"
}

# git_dies NAME: some of them were killed; the server stays, and the next push happens.
git_dies() {
    killed=0
    until [ "$killed" -gt 0 ] || [ "$n" -gt 200 ]; do kill_once "$1"; done
    kill -0 "$pid" && [ "$killed" -gt 0 ] && until_true push origin main && has "$n"
}

# children_of PID: its children, and theirs.
children_of() {
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
        echo "$child"
        children_of "$child"
    done
}

start_server >/dev/null
open_shop >/dev/null
repository catalog "" >/dev/null 2>&1
n=1
write 1
tap "a push is admitted" push origin main
tap "and its objects are there" has 1
tap "the server dies before validation" dies_at git.before_validation not
tap "behind validation" dies_at git.after_validation not
tap "before the refs are locked" dies_at git.before_prepare not
tap "before the batch" dies_at git.before_batch not
tap "while the batch is committed" dies_at engine.before_commit not
tap "when the batch is durable" dies_at engine.after_commit happened
tap "behind the batch" dies_at git.after_batch happened
tap "when the refs are moved" dies_at git.after_refs happened
tap "receive-pack dies" git_dies receive-pack
tap "a hook dies" git_dies '.*/hooks/.*-receive'
tap "cat-file dies" git_dies cat-file
tap "update-ref dies" git_dies update-ref
tap_end
