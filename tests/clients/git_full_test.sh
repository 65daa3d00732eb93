#!/bin/sh
# A small disk: neither a fetch nor a push takes the last bytes, the store goes on, and a server
# whose disk is full starts.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"

# The test has a mount namespace of its own, for a disk of 24 MB.
if [ -z "${GIT_FULL_TEST:-}" ]; then
    rm -rf "$scratch"
    for unshare in "unshare -m" "unshare -rm"; do
        if $unshare true 2>/dev/null; then
            exec $unshare env GIT_FULL_TEST=1 sh "$0" "$@"
        fi
    done
    echo "ok 1 # SKIP there are no mount namespaces"
    echo "1..1"
    exit 0
fi
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"
mkdir data
mount -t tmpfs -o size=24m,mode=700 none data 2>/dev/null || skip_all "no disk can be mounted"

host_pid=
end_all() {
    for all_pid in $pid $host_pid; do
        kill -9 "$all_pid"
        wait "$all_pid"
    done 2>/dev/null
    umount data
    rm -rf "$scratch"
}
trap end_all EXIT

free_kib() { df --output=avail data | tail -n 1 | tr -d ' '; }
leaves_room() { [ "$(free_kib)" -ge 2300 ]; }
tells() { field repository "$1" .status.lastError | grep -q -i -e "$2"; }
leaves_nothing() { is "" find data/git -name 'tmp_*'; }
writes() { map "$1" | k apply -f -; }

large_remote() {
    git init -q --bare remotes/large.git &&
        git -C remotes/large.git symbolic-ref HEAD refs/heads/main && git init -q large &&
        head -c 32000000 /dev/urandom >large/large && tree=large && commit one &&
        g push -q ../remotes/large.git HEAD:main
}

fetch_is_ended() {
    k apply -f - <<REPOSITORY && until_true tells large "no space left" &&
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: large}
spec: {remote: {url: "$host/plain/large.git", branch: main, interval: 10s}}
REPOSITORY
        until_true leaves_nothing && until_true leaves_room && writes one &&
        k delete repository large --timeout=50s
}

push_is_ended() {
    repository pushed "" && cp large/large pushed/large && map two >pushed/two.yaml &&
        tree=pushed && commit large && refuses "no space left" push origin HEAD:main &&
        until_true leaves_nothing && until_true leaves_room && writes two
}
push_is_refused() {
    head -c $((($(free_kib) - 1500) * 1024)) /dev/zero >data/filler &&
        g rm -q large && g commit -q --amend -m small && rm -f two.yaml &&
        refuses "no space left" push origin HEAD:main && rm data/filler &&
        k delete configmap two && push origin HEAD:main
}

full_start() {
    kill_server
    http_door= https_door= # so that the kubeconfig has to change
    cat /dev/zero >data/filler 2>/dev/null
    start_server && grep -q 'admin.kubeconfig could not be written' err &&
        curl -sS -m 20 -f -H "Authorization: Bearer $token" "$http/api/v1/namespaces/shop" &&
        rm data/filler && kill -HUP "$pid" && until_true writes three
}

tap "a host of remotes" start_host
tap "a remote that is larger than the disk" large_remote
tap "the server starts" start_server
tap "a namespace and a token" open_shop
tap "a fetch that needs too much is ended" fetch_is_ended
tap "so is a push" push_is_ended
tap "a push to a disk that is nearly full is refused" push_is_refused
tap "a server whose disk is full starts" full_start
tap_end
