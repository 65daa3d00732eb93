#!/bin/sh
# Many who push at once, GIT_PUSHERS: to one repository, where each has to fetch until it is its
# turn, and to as many repositories. Nothing is lost and nothing is admitted twice.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

pushers=${GIT_PUSHERS:-8}

# one_of_many N: adds a file and pushes until it is admitted.
one_of_many() {
    tree=tree-$1
    git clone -q "$(url catalog)" "$tree" && map "many-$1" >"$tree/$1.yaml" &&
        commit "many $1" || return 1
    until g push -q origin HEAD:main >"push-$1.out" 2>&1; do
        [ "$(date +%s)" -lt "$deadline" ] || return 1
        g fetch -q origin && g rebase -q origin/main >/dev/null 2>&1
    done
}

# all_push COMMAND: all of them at once; each succeeds.
all_push() {
    deadline=$(($(date +%s) + 300))
    rm -f failed-*
    for i in $(seq "$pushers"); do
        ("$1" "$i" >"log-$i" 2>&1 || : >"failed-$i") &
        echo $! >>pids
    done
    while read -r one; do wait "$one"; done <pids
    rm -f pids
    for i in $(seq "$pushers"); do
        if [ -e "failed-$i" ]; then
            cat "log-$i" "push-$i.out"
            return 1
        fi
    done
}

one_repository() {
    repository catalog "" >/dev/null 2>&1 && tree=catalog && map base >catalog/base.yaml &&
        change >/dev/null && all_push one_of_many
}

# One commit, and one object with one version, for each of them.
each_once() {
    git clone -q "$(url catalog)" all && is $((pushers + 1)) git -C all rev-list --count main &&
        is $((pushers + 1)) field repository catalog .status.resources && agree catalog main &&
        is "$pushers" sh -c "timeout 60 '$kubectl' -n shop get configmap -o name | grep -c many-"
}

one_of_its_own() {
    tree=own-$1
    repository "own-$1" "" && map "own-$1" >"$tree/map.yaml" && change >"push-$1.out" &&
        is 1 field configmap "own-$1" .data.x && agree "own-$1" main
}

many_repositories() { all_push one_of_its_own; }

start_server >/dev/null
open_shop >/dev/null
tap "many push to one repository" one_repository
tap "each is admitted once" each_once
tap "many push to a repository each" many_repositories
tap_end
