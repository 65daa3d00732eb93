#!/bin/sh
# The folder of a hosted repository: what killed pushes leave in it goes, nobody pushes past the
# server, and old packs and objects are tidied up.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog
sender=

bare() { echo "$scratch/data/git/$(field repository "${1:-catalog}" .metadata.uid).git"; }
metric() { k get --raw /metrics | sed -n "s/^$1 //p"; }
metric_is() { [ "$(metric "$1")" = "$2" ]; }

# ---- pushes past the server ----

direct() {
    map one >catalog/one.yaml
    commit one
    refuses "push to the server's URL, not into its folder" g push "$where" HEAD:main &&
        refuses "push to the server's URL, not into its folder" g push "file://$where" HEAD:other &&
        push origin HEAD:main && agree catalog main
}

# A folder that was made before the server's settings were in it.
older() {
    kill_server
    git config -f "$where/config" --unset core.hooksPath &&
        git config -f "$where/config" uploadpack.allowTagInWant true && start_server || return 1
    until_true agree catalog main &&
        refuses "push to the server's URL, not into its folder" g push "$where" HEAD:other &&
        is true git config -f "$where/config" uploadpack.allowTagInWant
}

# ---- pushes that are killed ----

# begin_push: the beginning of a push, whose end does not come while $sender lives.
begin_push() {
    {
        printf '0074%040d %040d refs/heads/slow\000 report-status0000' 0 1
        printf 'PACK\000\000\000\002\000\000\000\001some bytes'
        sleep 60 &
        echo $! >sleep.pid
        wait
    } | curl -sS -m 60 -o slow.out -X POST -T - \
        -H 'Content-Type: application/x-git-receive-pack-request' \
        "$(url catalog)/git-receive-pack" >/dev/null 2>&1 &
    sender=$!
    until_true has_quarantine
}
quarantines() { find "$where/objects" -maxdepth 1 -name '*incoming-*'; }
has_quarantine() { [ -n "$(quarantines)" ]; }
no_quarantine() { [ -z "$(quarantines)" ]; }
no_git() { [ -z "$(cat /proc/"$pid"/task/*/children)" ]; }

# The process that serves the push leads the group of its own children.
killed_push() {
    begin_push || return 1
    for child in $(cat /proc/"$pid"/task/*/children); do kill -9 "-$child"; done
    kill "$(cat sleep.pid)"
    until_true no_quarantine && until_true no_git && map two >catalog/two.yaml && change
}

left_push() {
    begin_push && kill "$sender" "$(cat sleep.pid)" && until_true no_quarantine && until_true no_git
}

start_server >/dev/null
open_shop >/dev/null
repository catalog "" >/dev/null 2>&1
where=$(bare)
tap "nobody pushes past the server" direct
tap "nor into a folder of an older server" older
tap "what a killed push has sent is removed" killed_push
tap "so is what a client has sent that leaves" left_push
tap_end
